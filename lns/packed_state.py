"""A state of an island as compressed bytes, as it travels between machines."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass

import numpy as np

from lns.engine import State


@dataclass(frozen=True)
class PackedState:
    """The arrays of a `State` in a compressed ``.npz`` without pickles: a file's content as ``data``."""

    data: bytes

    @classmethod
    def of(cls, state: State | PackedState) -> PackedState:
        """Pack a state, if it is not packed. The tables of a search compress to about a hundredth."""
        if isinstance(state, PackedState):
            return state
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, array in state.items():
                with archive.open(f"{name}.npy", "w") as file:
                    np.lib.format.write_array(file, np.asarray(array), version=(1, 0), allow_pickle=False)
        return cls(buffer.getvalue())

    def unpacked(self) -> State:
        """The arrays by name."""
        with np.load(io.BytesIO(self.data), allow_pickle=False) as arrays:
            return dict(arrays)


def unpacked(state: State | PackedState) -> State:
    """The state as a dict, whether it is packed or not."""
    return state.unpacked() if isinstance(state, PackedState) else state
