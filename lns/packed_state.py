"""A state of an island as compressed bytes, as it travels between machines."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import numpy.typing as npt

from lns.engine import State

_SUFFIX = ".npy"


class PackedState:
    """The arrays of a `State` in a compressed ``.npz`` without pickles.

    Parameters
    ----------
    data : bytes
        Content of the ``.npz``.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data

    @classmethod
    def of(cls, state: State) -> PackedState:
        """Pack a state. The tables of a search compress to about a hundredth."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, array in state.items():
                data = io.BytesIO()
                np.lib.format.write_array(data, np.asarray(array), version=(1, 0), allow_pickle=False)
                archive.writestr(name + _SUFFIX, data.getbuffer())
        return cls(buffer.getvalue())

    def unpacked(self) -> State:
        """The arrays by name."""
        with zipfile.ZipFile(io.BytesIO(self.data)) as archive:
            return {name.removesuffix(_SUFFIX): _array(archive, name) for name in archive.namelist()}


def unpacked(state: State | PackedState) -> State:
    """The state as a dict, whether it is packed or not."""
    return state.unpacked() if isinstance(state, PackedState) else state


def _array(archive: zipfile.ZipFile, name: str) -> npt.NDArray[np.generic]:
    array: npt.NDArray[np.generic] = np.lib.format.read_array(io.BytesIO(archive.read(name)), allow_pickle=False)
    return array
