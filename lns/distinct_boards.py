"""Counts distinct boards: boards that differ in few cells come from one prefix and count once, as one family."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lns.instances.puzzle import IntArray

MIN_DISTANCE = 20  # cells in which boards of different families differ at least; a quarter of a small board
_RECENT = 64  # boards of one family are mostly found one after the other: of several families a recent one is taken


def min_distance(cells: int) -> int:
    """Cells in which boards of different families differ at least, on a board of ``cells`` cells."""
    return max(1, min(MIN_DISTANCE, cells // 4))


class DistinctBoards:
    """One board of each family, numbered in the order of discovery.

    Attributes
    ----------
    count : int
        Number of families.
    """

    def __init__(self) -> None:
        self._boards: npt.NDArray[np.uint16] = np.zeros((0, 0), dtype=np.uint16)
        self.count = 0

    def find(self, placements: IntArray) -> int | None:
        """Find the family of a board.

        Parameters
        ----------
        placements : int array (cells,)
            Oriented piece of each cell.

        Returns
        -------
        int or None
            Number of the family; None if the board differs from the boards of all families.
        """
        if not self.count:
            return None
        placed = placements.astype(np.uint16)
        distance = np.count_nonzero(self._boards[: self.count] != placed, axis=1)
        near = np.flatnonzero(distance < min_distance(len(placed)))
        recent = near[near >= self.count - _RECENT]
        return int((recent if len(recent) else near)[0]) if len(near) else None

    def add(self, placements: IntArray) -> int:
        """Begin a family with this board; returns its number."""
        if self.count == len(self._boards):
            spare = np.zeros((max(_RECENT, self.count), len(placements)), dtype=np.uint16)
            self._boards = np.vstack([self._boards.reshape(-1, len(placements)), spare])
        self.replace(self.count, placements)
        self.count += 1
        return self.count - 1

    def replace(self, family: int, placements: IntArray) -> None:
        """Compare later boards with this board of ``family``."""
        self._boards[family] = placements
