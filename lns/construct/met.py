"""Which prefixes a run has met before: on small boards a high quota leaves so few that one shuffle after another meets
the same.

Of all prefixes a sample is remembered: those whose key, a hash of their pieces, has enough zeros at its end. Where
that gets too many, one zero more is asked for (M. Wegman's adaptive sampling; P. Flajolet, Computing 43, 1990), so that
memory is bounded and every prefix of the run counts alike.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from instances.errors import InputError

Keys = npt.NDArray[np.uint64]

MOST = 2**16  # keys that are remembered: half a megabyte of a checkpoint


class Met:
    """``keys``: uint64, ascending, each a multiple of ``rare``, a power of two."""

    def __init__(self, keys: Keys | None = None, rare: int = 1) -> None:
        self.keys: Keys = np.zeros(0, dtype=np.uint64) if keys is None else keys
        self.rare = rare

    @staticmethod
    def of(saved: Keys) -> Met:
        """From ``saved``; raises InputError where that was never saved."""
        rare, keys = int(saved[0]) if len(saved) else 0, saved[1:]
        if rare.bit_count() != 1 or len(keys) > MOST or (keys % np.uint64(rare)).any() or (keys[1:] <= keys[:-1]).any():
            raise InputError("the saved keys of prefixes are not in order")
        return Met(keys.copy(), rare)

    @property
    def saved(self) -> Keys:
        return np.append(np.uint64(self.rare), self.keys)

    def add(self, keys: Keys) -> float:
        """Remember ``keys``; the share of them that is new, one more that is new and was not sampled counted in."""
        keys = np.unique(self._sampled(keys))
        new = keys[~np.isin(keys, self.keys, assume_unique=True)]
        self.keys = np.sort(np.append(self.keys, new))
        while len(self.keys) > MOST:
            self.rare *= 2
            self.keys = self._sampled(self.keys)
        return (len(new) + 1) / (len(keys) + 1)

    def _sampled(self, keys: Keys) -> Keys:
        sampled: Keys = keys[keys % np.uint64(self.rare) == 0]
        return sampled
