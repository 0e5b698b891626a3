"""Random draws that are the same on every machine and under every Python version."""

from __future__ import annotations

import random
from collections.abc import MutableSequence
from typing import Any

from lns_support.errors import InputError


class PortableRandom:
    """A seeded source of whole numbers and shuffles.

    Python promises that ``Random(int).random()`` never changes its sequence, and promises nothing of the kind for
    ``randrange``, ``shuffle`` or ``sample``; NumPy's generators make no promise across versions at all. So everything
    here is drawn through ``random()`` alone. ``int(random() * bound)`` is exact enough (bias below bound / 2**53) and
    cannot reach ``bound``.

    Raises InputError for a negative seed: Python's own seeding drops the sign, so -7 would silently mean 7.
    """

    def __init__(self, seed: int) -> None:
        if seed < 0:
            raise InputError(f"seed {seed}; expected 0 or more")
        self._random = random.Random(seed)  # an int: strings and bytes go through a seeding that has changed before

    def below(self, bound: int) -> int:
        """A whole number from 0 to ``bound - 1``, uniform."""
        return int(self._random.random() * bound)

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Fisher-Yates, in place."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]
