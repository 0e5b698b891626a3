"""A pool of good boards that differ: where a search that is stuck goes on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from instances.board import Board
from instances.puzzle import IntArray, Puzzle
from lns.engine import legal_score
from lns_support.errors import InputError


class Elites:
    """At most ``size`` full boards, any two of which differ on at least ``apart`` cells, the best first."""

    def __init__(self, puzzle: Puzzle, size: int, apart: int) -> None:
        self.puzzle, self.size, self.apart = puzzle, size, min(apart, max(1, puzzle.cells // 4))
        self.members: list[tuple[Board, int]] = []

    def add(self, board: Board, score: int) -> None:
        """Take ``board`` in, in place of all that are like it, unless one of those is better; the worst may go."""
        like = [member for member in self.members if member[0].distance(board) < self.apart]
        if any(known > score for _, known in like):
            return
        rest = [member for member in self.members if not any(member is one for one in like)]
        self.members = sorted([(board, score), *rest], key=lambda member: -member[1])[: self.size]

    def draw(self, chance: np.random.Generator) -> tuple[Board, int]:
        """(board, score) of a member, the better ones more often: by ranks."""
        ranks = np.arange(len(self.members), 0, -1.0)
        return self.members[int(chance.choice(len(ranks), p=ranks / ranks.sum()))]

    @property
    def full(self) -> bool:
        return len(self.members) >= self.size

    def state(self) -> IntArray:
        """Placements, shape (members, cells)."""
        none = np.zeros((0, self.puzzle.cells), dtype=np.int32)
        return np.array([board.placements for board, _ in self.members]) if self.members else none

    def restore(self, state: npt.NDArray[np.generic]) -> None:
        """Raises InputError for boards that are not full and legal, and for too many."""
        if len(state) > self.size:
            raise InputError(f"a saved pool of {len(state)} boards; expected at most {self.size}")
        self.members = [(board, legal_score(self.puzzle, board)) for board in map(self._board, state)]

    def _board(self, placements: npt.NDArray[np.generic]) -> Board:
        return Board(placements.astype(np.int32), self.puzzle.width, self.puzzle.height)
