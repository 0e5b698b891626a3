"""A paused kernel behind the single interface: the first board, the number of all, or every board one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from exact.driver import PausedSearch, run_search
from exact.outcome import SolveStatus
from exact.request import Request
from instances.board import Board


class KeepsFirst(PausedSearch, Protocol):
    """A paused search that remembers the board of its first solution."""

    def first_board(self) -> Board | None: ...

    def reset_solutions(self) -> None:
        """Count solutions from 0 again, so that the next one becomes the first."""


class Listing:
    """``search`` with every solution handed to ``each`` as it is found."""

    def __init__(self, search: KeepsFirst, each: Callable[[Board], None]) -> None:
        self._search, self._each = search, each
        self.solutions = 0
        self.first: Board | None = None

    @property
    def nodes(self) -> int:
        return self._search.nodes

    @property
    def exhausted(self) -> bool:
        return self._search.exhausted

    @property
    def explored(self) -> float:
        return self._search.explored

    def advance(self, budget: int, stop_at_first: bool) -> None:
        """Go on for ``budget`` nodes or to the end, from solution to solution."""
        limit = self.nodes + budget
        while True:
            self._search.advance(limit - self.nodes, True)
            board = self._search.first_board()
            if board is not None:
                self.solutions += 1
                self.first = board if self.first is None else self.first
                self._search.reset_solutions()
                self._each(board)
            if self.exhausted or self.nodes >= limit:
                return


def enumerate_boards(search: KeepsFirst, request: Request) -> tuple[SolveStatus, int, float, Board | None]:
    """Run ``search`` as ``request`` says: (status, solutions, seconds, first board)."""
    driven = search if request.each is None else Listing(search, request.each)
    status, seconds = run_search(
        driven,
        count_all=request.count_all,
        nodes=request.nodes,
        seconds=request.seconds,
        report=request.report,
        processor=request.processor,
    )
    first = driven.first if isinstance(driven, Listing) else search.first_board()
    return status, driven.solutions, seconds, first
