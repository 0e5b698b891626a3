"""Boards near the best, waiting for their regions to be re-solved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from instances.board import Board
from instances.puzzle import IntArray, Puzzle
from lns.engine import State, legal_score
from lns_support.errors import InputError


@dataclass
class Candidate:
    """A full board whose regions are re-solved one after the other.

    Attributes
    ----------
    board : Board
        The board.
    score : int
        Its score.
    order : int32 (cells,) or None
        Cells in the order in which the construction filled them; None for a board that was made otherwise.
    done : int
        Number of its regions that were re-solved or passed over.
    """

    board: Board
    score: int
    order: IntArray | None = None
    done: int = 0


class Candidates:
    """At most ``size`` candidates, the best first; of equal ones the latest first.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle of the boards.
    size : int
        Boards at most.
    """

    def __init__(self, puzzle: Puzzle, size: int) -> None:
        self.puzzle, self.size = puzzle, size
        self.members: list[Candidate] = []

    def add(self, candidate: Candidate) -> None:
        """Add a board; if there is no room, the worst one leaves."""
        if any(member.board == candidate.board for member in self.members):
            return
        self.members = sorted([candidate, *self.members], key=lambda member: -member.score)[: self.size]

    def remove(self, candidate: Candidate) -> None:
        """Remove a candidate, if it is one of the members."""
        self.members = [member for member in self.members if member is not candidate]

    def keep(self, low: int, high: int) -> None:
        """Remove all boards with a score below ``low`` or above ``high``."""
        self.members = [member for member in self.members if low <= member.score <= high]

    def state(self) -> State:
        """Boards, orders (-1: none) and progress, one row each: int32 (members, cells) twice, int64 (members,)."""
        none = np.full(self.puzzle.cells, -1, dtype=np.int32)
        empty = np.zeros((0, self.puzzle.cells), dtype=np.int32)
        members = self.members
        return {
            "boards": np.array([member.board.placements for member in members]) if members else empty,
            "orders": np.array([none if m.order is None else m.order for m in members]) if members else empty,
            "done": np.array([member.done for member in members], dtype=np.int64),
        }

    def restore(self, state: State) -> None:
        """Continue from `state`. Raises InputError for illegal boards, orders that are none, and too many."""
        boards, orders, done = (np.asarray(state[name]) for name in ("boards", "orders", "done"))
        if not len(boards) == len(orders) == len(done) <= self.size:
            raise InputError(f"checkpoint: {len(boards)} candidates; expected at most {self.size}, with orders")
        self.members = []
        cells = np.arange(self.puzzle.cells)
        for placements, order, count in zip(boards, orders, done.tolist(), strict=True):
            known = bool((order >= 0).all())
            if (known and not np.array_equal(np.sort(order), cells)) or not (known or (order == -1).all()):
                raise InputError("checkpoint: the order of a candidate does not name each cell once")
            if not 0 <= count <= 2**31:
                raise InputError(f"checkpoint: a candidate has {count} regions done; expected 0 to 2**31")
            board = Board(placements.astype(np.int32), self.puzzle.width, self.puzzle.height)
            score = legal_score(self.puzzle, board)
            self.members.append(Candidate(board, score, order.astype(np.int32) if known else None, count))
