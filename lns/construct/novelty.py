"""Which frontier prefixes an island has searched before.

A frontier prefix is a prefix up to the depth at which the endgame begins (`BreakSchedule.endgame_depth`). Under a high
quota a small board has so few of them that restarts reach the same ones again, and then they make no new boards.

Each frontier prefix has a key, a hash of its pieces. Only a sample is kept, the keys divisible by a power of two that
doubles when there are too many; so memory is bounded, and the result does not depend on the order of the keys.

References
----------
Adaptive sampling by M. Wegman: P. Flajolet, "On adaptive sampling", Computing 43, 1990.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lns.construct.kernel import KEY_SAMPLE_DIVISOR
from lns_support.errors import InputError

Keys = npt.NDArray[np.uint64]

MAX_KEYS = 2**16  # half a megabyte of a checkpoint


class PrefixNovelty:
    """A sample of the frontier keys seen so far.

    Attributes
    ----------
    keys : uint64 (keys,)
        Ascending keys.
    divisor : int
        A power of two; exactly the keys that it divides are kept.
    """

    def __init__(self) -> None:
        self.keys: Keys = np.zeros(0, dtype=np.uint64)
        self.divisor = KEY_SAMPLE_DIVISOR

    def count(self, keys: Keys) -> tuple[int, int]:
        """(number of sampled ``keys`` not seen before, number of sampled ``keys``), repetitions counted once."""
        keys = np.unique(self._sampled(keys))
        return len(keys) - int(np.isin(keys, self.keys, assume_unique=True).sum()), len(keys)

    def add(self, keys: Keys) -> None:
        """Add the sampled ones of ``keys``."""
        self.keys = np.union1d(self.keys, self._sampled(keys))
        while len(self.keys) > MAX_KEYS:
            self.divisor *= 2
            self.keys = self._sampled(self.keys)

    def _sampled(self, keys: Keys) -> Keys:
        sampled: Keys = keys[keys % np.uint64(self.divisor) == 0]
        return sampled

    # -- state -------------------------------------------------------------------------------------------------------

    def state(self) -> Keys:
        """The divisor, then the keys; uint64."""
        return np.append(np.uint64(self.divisor), self.keys)

    def restore(self, state: Keys) -> None:
        """Continue from ``state``; raises InputError for one that `state` cannot return."""
        divisor, keys = int(state[0]) if len(state) else 0, state[1:]
        if (
            divisor < KEY_SAMPLE_DIVISOR
            or divisor.bit_count() != 1
            or len(keys) > MAX_KEYS
            or (keys % np.uint64(divisor)).any()
            or (keys[1:] <= keys[:-1]).any()
        ):
            raise InputError("checkpoint: frontier keys are not ascending multiples of their divisor")
        self.divisor, self.keys = divisor, keys.copy()
