"""Which stems an island has met before: on small boards a high quota leaves so few that shuffles meet the same again.

A stem is a prefix up to the depth where lists of candidates end (`Schedule.endgame`). A sample is remembered: the
kernel leaves the keys, hashes of pieces, that RARE divides; where they get too many, those that twice as much divides
(M. Wegman's adaptive sampling; P. Flajolet, Computing 43, 1990). So memory is bounded, and the order does not matter.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lns.construct.kernel import KEY_SAMPLE_DIVISOR
from lns_support.errors import InputError

Keys = npt.NDArray[np.uint64]

MOST = 2**16  # keys that are remembered: half a megabyte of a checkpoint


class PrefixNovelty:
    """``keys``: uint64, ascending, each a multiple of ``rare``, a power of two."""

    def __init__(self) -> None:
        self.keys: Keys = np.zeros(0, dtype=np.uint64)
        self.rare = KEY_SAMPLE_DIVISOR

    def count(self, keys: Keys) -> tuple[int, int]:
        """(how many of the sampled ``keys`` are new, how many there are)."""
        keys = np.unique(self._sampled(keys))
        return len(keys) - int(np.isin(keys, self.keys, assume_unique=True).sum()), len(keys)

    def add(self, keys: Keys) -> None:
        self.keys = np.union1d(self.keys, self._sampled(keys))
        while len(self.keys) > MOST:
            self.rare *= 2
            self.keys = self._sampled(self.keys)

    def _sampled(self, keys: Keys) -> Keys:
        sampled: Keys = keys[keys % np.uint64(self.rare) == 0]
        return sampled

    # -- state -------------------------------------------------------------------------------------------------------

    def state(self) -> Keys:
        return np.append(np.uint64(self.rare), self.keys)

    def restore(self, state: Keys) -> None:
        """Go on from ``state``; raises InputError where no search can have left it."""
        rare, keys = int(state[0]) if len(state) else 0, state[1:]
        if (
            rare < KEY_SAMPLE_DIVISOR
            or rare.bit_count() != 1
            or len(keys) > MOST
            or (keys % np.uint64(rare)).any()
            or (keys[1:] <= keys[:-1]).any()
        ):
            raise InputError("the saved keys of stems are not in order")
        self.rare, self.keys = rare, keys.copy()
