"""A paused search run as a `Request` says: to the first board, to the number of all, or with every board passed on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from exact.building import BuildingClock, Check
from exact.driver import PausedSearch, run_search
from exact.outcome import Answer
from exact.piece_classes import distinct_count
from exact.request import Request
from instances.board import Board
from instances.puzzle import Puzzle


class BoardSearch(PausedSearch, Protocol):
    """A paused search that keeps the board of its first solution, and figures of its method."""

    @property
    def details(self) -> dict[str, float]: ...

    def first_board(self) -> Board | None: ...

    def reset_solutions(self) -> None:
        """Count solutions from 0 again, so that the next one becomes the first."""


class SolutionLister:
    """A paused search that passes every solution of ``search`` to ``on_solution`` as it is found."""

    def __init__(self, search: BoardSearch, on_solution: Callable[[Board], None]) -> None:
        self._search, self._on_solution = search, on_solution
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
                self._on_solution(board)
            if self.exhausted or self.nodes >= limit:
                return


def run_request(search: BoardSearch, request: Request) -> Answer:
    """Run ``search`` as ``request`` says."""
    listed = search if request.on_solution is None else SolutionLister(search, request.on_solution)
    status, seconds = run_search(
        listed,
        count_all=request.count_all,
        nodes=request.nodes,
        seconds=request.seconds,
        on_progress=request.on_progress,
        processor_time=request.processor_time,
    )
    first = listed.first if isinstance(listed, SolutionLister) else search.first_board()
    return Answer(status, listed.solutions, search.nodes, seconds, first, search.details)


def build_and_run(make: Callable[[Check], BoardSearch], puzzle: Puzzle, request: Request) -> Answer:
    """`run_request` for a search whose building counts as its time, and which distinguishes duplicate pieces."""
    clock = BuildingClock(request)
    search = make(clock.check)
    built = clock.seconds
    answer = run_request(search, clock.left())
    return replace(answer, solutions=distinct_count(answer.solutions, puzzle), seconds=built + answer.seconds)
