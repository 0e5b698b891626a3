"""Random numbers that are the same on every machine and in every version of Python."""

from __future__ import annotations

import random
from collections.abc import MutableSequence
from typing import Any

from lns.instances.errors import InputError


class PortableRandom:
    """A seeded generator of whole numbers and shuffles.

    Python guarantees the sequence of ``Random(int).random()``, but not those of ``randrange``, ``shuffle`` or
    ``sample``; NumPy guarantees none across versions. So every number here is derived from ``random()``. ``int(random()
    * bound)`` never reaches ``bound`` and has a bias below bound / 2**53. Raises InputError if the seed is negative:
    Python's seeding drops the sign, so -7 would silently mean 7.
    """

    def __init__(self, seed: int) -> None:
        if seed < 0:
            raise InputError(f"seed {seed}; expected 0 or more")
        self._random = random.Random(seed)  # an int: the seeding by strings and bytes has changed between versions

    def below(self, bound: int) -> int:
        """A uniform whole number from 0 to ``bound - 1``."""
        return int(self._random.random() * bound)

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Shuffle a list in place (Fisher-Yates)."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]
