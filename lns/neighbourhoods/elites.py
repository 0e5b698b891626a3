"""A pool of good boards that differ from each other: a search that no longer improves continues from one of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from instances.board import Board
from instances.puzzle import IntArray, Puzzle
from lns.engine import legal_score
from lns_support.errors import InputError


class Elites:
    """At most ``size`` full boards with their scores, the best first.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle of the boards.
    size : int
        Boards at most.
    distance : int
        Cells in which any two of them differ at least; at most a quarter of the board.
    """

    def __init__(self, puzzle: Puzzle, size: int, distance: int) -> None:
        self.puzzle, self.size, self.distance = puzzle, size, min(distance, max(1, puzzle.cells // 4))
        self.members: list[tuple[Board, int]] = []

    def add(self, board: Board, score: int) -> None:
        """Add a board. It replaces all boards that are too similar to it; if one of those is better, it is not added.

        If the pool is full, the worst board leaves.
        """
        similar = [member for member in self.members if member[0].distance(board) < self.distance]
        if any(other > score for _, other in similar):
            return
        rest = [member for member in self.members if not any(member is other for other in similar)]
        self.members = sorted([(board, score), *rest], key=lambda member: -member[1])[: self.size]

    def draw(self, rng: np.random.Generator) -> tuple[Board, int]:
        """A random member and its score; the probability falls linearly with the rank."""
        ranks = np.arange(len(self.members), 0, -1.0)
        return self.members[int(rng.choice(len(ranks), p=ranks / ranks.sum()))]

    @property
    def full(self) -> bool:
        """Whether the pool holds ``size`` boards."""
        return len(self.members) >= self.size

    def state(self) -> IntArray:
        """Placements of the members, int32 (members, cells)."""
        none = np.zeros((0, self.puzzle.cells), dtype=np.int32)
        return np.array([board.placements for board, _ in self.members]) if self.members else none

    def restore(self, state: npt.NDArray[np.generic]) -> None:
        """Continue from `state`. Raises InputError for boards that are not full and legal, and for too many."""
        if len(state) > self.size:
            raise InputError(f"checkpoint: {len(state)} elites; expected at most {self.size}")
        self.members = [(board, legal_score(self.puzzle, board)) for board in map(self._board, state)]

    def _board(self, placements: npt.NDArray[np.generic]) -> Board:
        return Board(placements.astype(np.int32), self.puzzle.width, self.puzzle.height)
