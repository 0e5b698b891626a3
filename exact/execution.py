"""What a solver is asked, and how that is carried out: by a paused search in this process, or in a child process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from lns.exact.child_process import Emit, ExitReason, run_in_process
from lns.exact.colorpairs.options import Options
from lns.exact.driver import STEP_SECONDS, PausedSearch, Progress, ProgressCallback, run_search
from lns.exact.outcome import Outcome, SolveStatus, require_solution
from lns.exact.piece_classes import distinct_count
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle

Item = TypeVar("Item")
Check = Callable[[], None]
"""Called between the steps of a long job; raises an exception to end it, such as `BuildingEnded`."""

REPORT_SECONDS = 0.2
"""Least time between two messages of a child that finds many boards."""


@dataclass(frozen=True)
class Request:
    """What is asked of a solver: the first solution or all of them, and within which limits.

    Parameters
    ----------
    count_all : bool
        Search for all solutions; otherwise for the first.
    nodes : int, optional
        Budget of nodes, in the solver's own unit (see `lns.exact.outcome.Outcome`). None is no limit.
    seconds : float, optional
        Budget of time, without compilation; building a model counts. None is no limit.
    options : Options
        Parts of ColorPairs to switch on or off. Other solvers ignore it.
    on_progress : callable, optional
        Called with a `lns.exact.driver.Progress` about every tenth of a second.
    memory : int, optional
        Limit in bytes on the address space, for solvers that run in a child process.
    sat_solver : str, optional
        python-sat's name of the SAT solver, for the solvers ``sat:...``.
    seed : int
        Random seed, for the local searches ``sls:...`` and for ``options.random_cell``.
    on_solution : callable, optional
        Called with each board found. A solver that distinguishes duplicate pieces may report boards that look equal.
    processor_time : bool
        Seconds are of processor time, both as a limit and in the answer: fair on a busy machine.
    fix_corner : bool
        Leave out rotated copies, by pinning a corner piece (see `lns.exact.corner_variants`).

    Raises
    ------
    InputError
        If a budget is negative or not a number.
    """

    count_all: bool = False
    nodes: int | None = None
    seconds: float | None = None
    options: Options = field(default_factory=Options)
    on_progress: ProgressCallback | None = None
    memory: int | None = None
    sat_solver: str | None = None
    seed: int = 0
    on_solution: Callable[[Board], None] | None = None
    processor_time: bool = False
    fix_corner: bool = False

    def __post_init__(self) -> None:
        for name in ("nodes", "seconds", "memory"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise InputError(f"a budget of {value} {name.replace('memory', 'bytes')}; expected 0 or more")


# -- in this process --------------------------------------------------------------------------------------------------


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
    """Measures how long building a model takes, reports progress, and ends it with the time of the request."""

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


def not_built(ended: BuildingEnded) -> Outcome:
    """The answer of a solver whose time ended before its model was built."""
    return Outcome(SolveStatus.BUDGET_SPENT, 0, 0, ended.seconds, None, {"model_unfinished": 1.0})


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
        self._first: Board | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._search, name)

    def first_board(self) -> Board | None:
        return self._first

    def advance(self, budget: int, stop_at_first: bool) -> None:
        """Go on for ``budget`` nodes or to the end, from solution to solution."""
        limit = self.nodes + budget
        while True:
            self._search.advance(limit - self.nodes, True)
            board = self._search.first_board()
            if board is not None:
                self.solutions += 1
                self._first = board if self._first is None else self._first
                self._search.reset_solutions()
                self._on_solution(board)
            if self.exhausted or self.nodes >= limit:
                return


def run_request(search: BoardSearch, request: Request) -> Outcome:
    """Run ``search`` as ``request`` says."""
    listed: Any = search if request.on_solution is None else SolutionLister(search, request.on_solution)
    status, seconds = run_search(
        listed,
        count_all=request.count_all,
        nodes=request.nodes,
        seconds=request.seconds,
        on_progress=request.on_progress,
        processor_time=request.processor_time,
    )
    return Outcome(status, listed.solutions, search.nodes, seconds, listed.first_board(), search.details)


def build_and_run(make: Callable[[Check], BoardSearch], puzzle: Puzzle, request: Request) -> Outcome:
    """`run_request` for a search whose building counts as its time, and which distinguishes duplicate pieces."""
    clock = BuildingClock(request)
    search = make(clock.check)
    built = clock.seconds
    answer = run_request(search, clock.left())
    return replace(answer, solutions=distinct_count(answer.solutions, puzzle), seconds=built + answer.seconds)


# -- in a child process -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SolverMessage:
    """The state of a child's search. A board is a list, piece*4 + rotation by cell.

    ``own_seconds`` and ``processor_seconds`` of the details are the time of model and search, without the start of
    Python and the import of the library.
    """

    solutions: int  # boards found that differ in their colours
    nodes: int | None
    placements: list[int] | None  # the first board found
    exhausted: bool  # in the last message: whether the search is complete
    details: dict[str, float]
    boards: list[list[int]] = field(default_factory=list)  # found since the last message, where all are to be listed


class SolverReporter:
    """Used in the child: verifies and counts the boards of a library, and sends messages to the parent.

    With ``duplicates_distinct`` the library finds a board once for each way to swap duplicate pieces; with
    ``list_boards`` all boards are sent, not only the first. ``found`` counts the boards of the library; the caller may
    add figures of the method to ``details`` at any time.
    """

    def __init__(
        self, emit: Emit, puzzle: Puzzle, solver: str, *, duplicates_distinct: bool = False, list_boards: bool = False
    ) -> None:
        self._emit, self._puzzle, self._solver = emit, puzzle, solver
        self._duplicates_distinct, self._list_boards = duplicates_distinct, list_boards
        self._began, self._processor_began, self._reported = time.perf_counter(), _processor_seconds(), 0.0
        self._unsent: list[list[int]] = []
        self._first: list[int] | None = None
        self.found = 0
        self.details: dict[str, float] = {}

    def add_board(self, board: Board, nodes: int | None) -> None:
        """Count a board that was found after ``nodes`` nodes. Raises RuntimeError if it is not a solution."""
        require_solution(self._puzzle, board, self._solver)
        placements = board.placements.tolist()
        self.found += 1
        self._first = placements if self._first is None else self._first
        if self._list_boards:
            self._unsent.append(placements)
        if self.found == 1 or time.perf_counter() - self._reported > REPORT_SECONDS:
            self.report(nodes)

    def report(self, nodes: int | None, *, exhausted: bool = False) -> None:
        """Send a message; the last one has ``exhausted`` set if the search is complete."""
        self._reported = time.perf_counter()
        times = {
            "own_seconds": self._reported - self._began,
            "processor_seconds": _processor_seconds() - self._processor_began,
        }
        solutions = distinct_count(self.found, self._puzzle) if self._duplicates_distinct else self.found
        self._emit(SolverMessage(solutions, nodes, self._first, exhausted, self.details | times, self._unsent))
        self._unsent = []


def _processor_seconds() -> float:
    """Processor time of this process and of its children that ended."""
    return sum(os.times()[:4])


def solve_in_child(
    task: Callable[..., None],
    puzzle: Puzzle,
    request: Request,
    *arguments: Any,
    prepare: Callable[[], None] | None = None,
) -> Outcome:
    """Run ``task(emit, puzzle, *arguments)`` in a child process within the limits of ``request``.

    The limits are of model and search: the start of Python, imports and compilation do not count. The task sends a
    `SolverMessage` now and then (see `SolverReporter`); the answer is what the last one says. Only a child that
    finished may have the status 'infeasible'. ``prepare``, and errors, as in `run_in_process`.
    """
    last = SolverMessage(0, None, None, False, {})

    def board_of(placements: list[int]) -> Board:
        return Board(np.array(placements, dtype=np.int32), puzzle.width, puzzle.height)

    def receive(message: SolverMessage) -> None:
        nonlocal last
        last = message
        for placements in message.boards:
            if request.on_solution is not None:
                request.on_solution(board_of(placements))

    limits: dict[str, Any] = {"seconds": request.seconds, "memory": request.memory, "processor": request.processor_time}
    ended = run_in_process(task, puzzle, *arguments, receive=receive, prepare=prepare, **limits)
    complete = ended.reason is ExitReason.FINISHED and last.exhausted
    if ended.reason is ExitReason.INTERRUPTED:
        status = SolveStatus.INTERRUPTED
    elif complete or (last.solutions and not request.count_all):
        status = SolveStatus.SOLVED if last.solutions else SolveStatus.INFEASIBLE
    else:
        status = SolveStatus.BUDGET_SPENT
    details = dict(last.details)
    if ended.peak_bytes:
        details["peak_megabytes"] = ended.peak_bytes / 1e6
    if ended.reason is ExitReason.MEMORY:
        details["memory_spent"] = 1.0
    own_seconds = details.pop("own_seconds", ended.seconds)
    if not request.processor_time:
        seconds = own_seconds if ended.reason is ExitReason.FINISHED else ended.seconds
    elif ended.reason is ExitReason.TIME and request.seconds is not None:
        seconds = request.seconds
    else:
        seconds = details.get("processor_seconds", 0.0)
    board = None if last.placements is None else board_of(last.placements)
    return Outcome(status, last.solutions, last.nodes, seconds, board, details)
