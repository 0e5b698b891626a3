"""How a request is carried out: a model built within its time, a paused search run to its end, every board listed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Protocol, TypeVar

from exact.driver import STEP_SECONDS, PausedSearch, Progress, run_search
from exact.outcome import Answer, SolveStatus
from exact.piece_classes import distinct_count
from exact.request import Request
from instances.board import Board
from instances.puzzle import Puzzle

Item = TypeVar("Item")
Check = Callable[[], None]
"""Called between the steps of a long job; raises an exception to end it, such as `BuildingEnded`."""


class BuildingEnded(Exception):
    """The time of a request ended while a model was built; ``seconds`` is how long that took."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"{seconds:.1f} s")
        self.seconds = seconds


def unlimited() -> None:
    """The `Check` of a job without a limit."""


def each_after(check: Check, items: Iterable[Item]) -> Iterator[Item]:
    """The items of a long job, ``check`` called before each."""
    for item in items:
        check()
        yield item


class BuildingClock:
    """Measures how long building a model takes, reports progress, and ends it with the time of the request.

    Parameters
    ----------
    request : Request
        Its budget of time and its callback of progress.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._clock = time.process_time if request.processor_time else time.perf_counter
        self._began = self._shown = self._clock()

    @property
    def seconds(self) -> float:
        """Seconds since the model was begun."""
        return self._clock() - self._began

    def check(self) -> None:
        """Raise `BuildingEnded` when the time is over."""
        now = self._clock()
        request = self._request
        if request.seconds is not None and now - self._began >= request.seconds:
            raise BuildingEnded(now - self._began)
        if request.on_progress is not None and now - self._shown >= STEP_SECONDS:
            self._shown = now
            request.on_progress(Progress(0, 0, now - self._began, 0.0, building=True))

    def left(self) -> Request:
        """The request with the time that is left after building."""
        if self._request.seconds is None:
            return self._request
        return replace(self._request, seconds=max(0.0, self._request.seconds - self.seconds))


def not_built(ended: BuildingEnded) -> Answer:
    """The answer of a solver whose time ended before its model was built."""
    return Answer(SolveStatus.BUDGET_SPENT, 0, 0, ended.seconds, None, {"model_unfinished": 1.0})


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
