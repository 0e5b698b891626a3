"""Requests to solvers, and their execution: by a paused search in this process, or in a child process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from lns.exact.child_process import Emit, ExitReason, run_in_process
from lns.exact.colorpairs.options import Options
from lns.exact.driver import STEP_SECONDS, PausedSearch, Progress, ProgressCallback, StepSizer
from lns.exact.outcome import Outcome, SolveStatus, require_solution
from lns.exact.piece_classes import distinct_count
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle

Item = TypeVar("Item")
REPORT_SECONDS = 0.2
"""Least seconds between two reports of a child process that finds many boards; its last report does not wait."""


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
        Parts of ColorPairs to switch on or off, also for 'auto', which uses it. Other solvers ignore them.
    on_progress : callable, optional
        Called with a `lns.exact.driver.Progress` about every tenth of a second, by solvers in this process only.
    memory : int, optional
        Limit in bytes on the address space, for solvers that run in a child process.
    sat_solver : str, optional
        python-sat's name of the SAT solver, for the solvers ``sat:...``.
    seed : int
        Random seed, for the local searches ``sls:...`` and for ``options.random_cell``.
    on_solution : callable, optional
        Called with each board found. A solver that tells duplicate pieces apart may report boards that look equal;
        `lns.exact.solve_request` passes on one of them.
    processor_time : bool
        Limit and report processor time, which is fair on a busy machine, instead of elapsed time.
    fix_corner : bool
        Leave out rotated copies of solutions by pinning a corner piece, where possible (`lns.exact.corner_variants`).

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


# -- execution in this process ----------------------------------------------------------------------------------------


class BuildingEnded(Exception):
    """Raised when the time limit of a request is reached while the solver is still building its model."""


class Clock:
    """Measures the time of a request, from the first `check` while its model is built to the end of the search.

    If no `check` is called while the model is built, which may include compilation, only the search is measured.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._now = time.process_time if request.processor_time else time.perf_counter
        self._began: float | None = None
        self._shown = 0.0

    @property
    def seconds(self) -> float:
        """Seconds measured so far, without work done by `leave_out`; the first read of this value starts the clock."""
        if self._began is None:
            self._began = self._shown = self._now()
        return self._now() - self._began

    def leave_out(self, work: Callable[[], None]) -> None:
        """Call ``work``, such as compilation, without counting its time."""
        before = self.seconds
        work()
        self._began = self._now() - before

    def check(self) -> None:
        """Report that the model is being built, and raise `BuildingEnded` if the time limit is reached."""
        request, seconds = self._request, self.seconds
        if request.seconds is not None and seconds >= request.seconds:
            raise BuildingEnded
        if request.on_progress is not None and self._now() - self._shown >= STEP_SECONDS:
            self._shown = self._now()
            request.on_progress(Progress(0, 0, seconds, 0.0, building=True))


_building: ContextVar[Clock | None] = ContextVar("clock of the request whose model is built", default=None)


def check_time() -> None:
    """Call `Clock.check` for the request whose model is being built, if there is one.

    Code that builds a model calls this function often enough to keep the time limit.
    """
    if (clock := _building.get()) is not None:
        clock.check()


def timed(items: Iterable[Item]) -> Iterator[Item]:
    """Yield ``items``, calling `check_time` before each, for a long loop that builds a model."""
    for item in items:
        check_time()
        yield item


def build_and_run(make: Callable[[], PausedSearch | Outcome], request: Request) -> Outcome:
    """Call ``make`` within the time of the request; then run the search that it made, or return the outcome it made."""
    clock = Clock(request)
    token = _building.set(clock)
    try:
        made = make()
    except BuildingEnded:
        return Outcome(SolveStatus.BUDGET_SPENT, 0, 0, clock.seconds, details={"model_unfinished": 1.0})
    finally:
        _building.reset(token)
    return made if isinstance(made, Outcome) else run_search(made, request, clock)


def run_search(search: PausedSearch, request: Request, clock: Clock | None = None) -> Outcome:
    """Run a paused search in steps of about 80 ms, until it has answered the request or spent a budget.

    The search may have been advanced before. ``clock`` may have been started when the solver began to build its model;
    by default time is measured from this call on. Ctrl-C ends the search with status 'interrupted'.
    """
    clock, told, first = clock or Clock(request), 0, None  # told: number of boards passed on; first: the first board

    def advance(budget: int) -> None:
        nonlocal told, first
        end = search.nodes + budget
        while True:
            search.advance(end - search.nodes, request.on_solution is not None or not request.count_all)
            if request.on_solution is None:
                return
            if (board := search.first_board()) is not None:
                told, first = told + 1, first or board
                search.reset_solutions()
                request.on_solution(board)
            if search.exhausted or search.nodes >= end:
                return

    clock.leave_out(lambda: advance(0))  # takes no nodes, but compiles the kernel or loads its machine code
    limit = None if request.nodes is None else search.nodes + request.nodes
    sizer, status = StepSizer(search.first_step), SolveStatus.BUDGET_SPENT
    try:
        while True:
            before, started = search.nodes, clock.seconds
            advance(sizer.step if limit is None else min(sizer.step, limit - before))
            spent, solutions = clock.seconds, told + search.solutions
            if search.exhausted or (solutions and not request.count_all):
                status = SolveStatus.SOLVED if solutions else SolveStatus.INFEASIBLE
                break
            if request.on_progress is not None:
                request.on_progress(Progress(search.nodes, solutions, spent, search.explored))
            is_over = request.seconds is not None and spent >= request.seconds
            if is_over or (limit is not None and search.nodes >= limit):
                break
            left = None if request.seconds is None else request.seconds - spent
            sizer.update(search.nodes - before, spent - started, left)
    except KeyboardInterrupt:
        status, spent = SolveStatus.INTERRUPTED, clock.seconds
    solutions, board = search.distinct(told + search.solutions), first or search.first_board()
    return Outcome(status, solutions, search.nodes, spent, board, search.details, answered_by=search.answered_by)


# -- execution in a child process -------------------------------------------------------------------------------------


class Reporter:
    """Verifies and counts boards that a library finds in a child process, and sends the `Outcome` so far to the parent.

    ``duplicates_distinct`` says that the library finds each board once for every way to swap duplicate pieces. If the
    request has an ``on_solution``, each board is sent too, after an outcome that counts it. ``found`` is the number of
    boards that the library found; the caller may add statistics of the search to ``details`` at any time.
    """

    def __init__(
        self, emit: Emit, puzzle: Puzzle, request: Request, solver: str, *, duplicates_distinct: bool = False
    ) -> None:
        self._emit, self._puzzle, self._request, self._solver = emit, puzzle, request, solver
        self._duplicates_distinct = duplicates_distinct
        self._began, self._processor_began, self._reported = time.perf_counter(), _processor_seconds(), 0.0
        self._first: Board | None = None
        self._unsent: list[Board] = []
        self.found = 0
        self.details: dict[str, float] = {}

    def add_board(self, board: Board, nodes: int | None) -> None:
        """Count a board found after ``nodes`` nodes (None: unknown). Raises RuntimeError if it is not a solution."""
        require_solution(self._puzzle, board, self._solver)
        self.found += 1
        self._first = self._first or board
        if self._request.on_solution is not None:
            self._unsent.append(board)
        if self.found == 1 or time.perf_counter() - self._reported > REPORT_SECONDS:
            self.report(nodes)

    def report(self, nodes: int | None, *, exhausted: bool = False) -> None:
        """Send the outcome so far to the parent; ``exhausted`` says, in the last call, that the search was complete."""
        self._reported = time.perf_counter()
        solutions = distinct_count(self.found, self._puzzle) if self._duplicates_distinct else self.found
        status = SolveStatus.BUDGET_SPENT
        if exhausted or (solutions and not self._request.count_all):
            status = SolveStatus.SOLVED if solutions else SolveStatus.INFEASIBLE
        details = self.details | {"processor_seconds": _processor_seconds() - self._processor_began}
        seconds = self._reported - self._began
        self._emit(Outcome(status, solutions, nodes, seconds, self._first, details))
        while self._unsent:
            self._emit(self._unsent.pop(0))


def _processor_seconds() -> float:
    """Return the processor time of this process and of its children that have ended."""
    return sum(os.times()[:4])


def send_boards(board: Board) -> None:
    """Do nothing. As ``on_solution`` of a child's request, this function makes the child send boards to the parent."""


def solve_in_child(
    task: Callable[..., None], puzzle: Any, request: Request, *arguments: Any, prepare: str = "", spare: float = 0.0
) -> Outcome:
    """Run ``task(emit, puzzle, request, *arguments)`` in a child process within the limits of ``request``.

    The limits hold for building the model and for the search; the start of Python and imports do not count. From time
    to time the task sends an `Outcome` with what is known so far (see `Reporter`). The last one is returned, adapted to
    how the child ended: 'infeasible' only if it finished. ``prepare`` and the errors are those of `run_in_process`.
    ``spare`` seconds are added to the child's time limit, for a task that itself keeps the limit of the request.
    """
    last = Outcome(SolveStatus.BUDGET_SPENT, 0, None, 0.0)

    def receive(message: Outcome | Board) -> None:
        nonlocal last
        if isinstance(message, Outcome):
            last = message
        elif request.on_solution is not None:
            request.on_solution(message)

    asked = replace(request, on_progress=None, on_solution=None if request.on_solution is None else send_boards)
    ended = run_in_process(
        task, puzzle, asked, *arguments, receive=receive, prepare=prepare, memory=request.memory,
        seconds=None if request.seconds is None else request.seconds + spare, processor=request.processor_time,
    )  # fmt: skip
    status, seconds, details = last.status, last.seconds, dict(last.details)
    if ended.reason is ExitReason.INTERRUPTED:
        status = SolveStatus.INTERRUPTED
    elif ended.reason is not ExitReason.FINISHED and (request.count_all or not last.solutions):
        status = SolveStatus.BUDGET_SPENT
    if ended.peak_bytes:
        details["peak_megabytes"] = max(details.get("peak_megabytes", 0.0), ended.peak_bytes / 1e6)
    if ended.reason is ExitReason.MEMORY:
        details["memory_spent"] = 1.0
    elif ended.reason is ExitReason.TIME and spare:
        details["spare_spent"] = 1.0
    if request.processor_time:
        seconds = details.get("processor_seconds", 0.0)
        if ended.reason is ExitReason.TIME and request.seconds is not None:
            seconds = request.seconds
    elif ended.reason is not ExitReason.FINISHED:
        seconds = ended.seconds
    return replace(last, status=status, seconds=seconds, details=details)
