"""Families of boards: those that differ in few cells come from one prefix, and count once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from instances.puzzle import IntArray

MIN_DISTANCE = 20  # cells in which boards of different families differ at least; a quarter of a small board
_RECENT = 64  # boards of one family mostly come one after the other
_EVERY = 4  # cells that are compared first: boards that differ in enough of them need no second look


def min_distance(cells: int) -> int:
    """In how many cells boards of different families differ at least, on a board of so many."""
    return max(1, min(MIN_DISTANCE, cells // 4))


class DistinctBoards:
    """One board of each family, numbered as they came; a new one is compared with all of them."""

    def __init__(self) -> None:
        self._boards: npt.NDArray[np.uint16] = np.zeros((0, 0), dtype=np.uint16)
        self._some = self._boards
        self.count = 0

    def find(self, placements: IntArray) -> int | None:
        """The family that a board belongs to; None: it is the first of another."""
        placed = placements.astype(np.uint16)
        recent = max(0, self.count - _RECENT)
        for first, end in ((recent, self.count), (0, recent)):
            if first == end:
                continue
            some = np.count_nonzero(self._some[first:end] != placed[::_EVERY], axis=1)
            near = first + np.flatnonzero(some < min_distance(len(placed)))
            apart = np.count_nonzero(self._boards[near] != placed, axis=1)
            alike = near[apart < min_distance(len(placed))]
            if len(alike):
                return int(alike[0])
        return None

    def add(self, placements: IntArray) -> int:
        """The number of a new family, of which this is the board that others are compared with."""
        if self.count == len(self._boards):
            room = np.zeros((max(_RECENT, self.count), len(placements)), dtype=np.uint16)
            self._boards = np.vstack([self._boards.reshape(-1, len(placements)), room])
            self._some = np.ascontiguousarray(self._boards[:, ::_EVERY])
        self.replace(self.count, placements)
        self.count += 1
        return self.count - 1

    def replace(self, family: int, placements: IntArray) -> None:
        """Compare others with this board of ``family`` from now on."""
        self._boards[family] = placements
        self._some[family] = placements[::_EVERY]
