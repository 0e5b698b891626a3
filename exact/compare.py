"""Solvers compared on instances: runs that are planned, made once, and kept in a CSV file that is continued.

`compare` runs each solver in a process of its own, which shows its memory. The experiments of `lns.exact.paper` plan
other runs; `run_experiment` makes those that the file lacks.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path

from lns.exact import csv_records
from lns.exact.child_process import Emit, ExitReason, ProcessResult, run_in_process
from lns.exact.execution import Request
from lns.exact.kernels.cache import is_compiled
from lns.exact.outcome import Outcome, SolveStatus
from lns.exact.registry import find_solver
from lns.exact.solvers import solve_request
from lns.exact.text_table import aligned
from lns.instances.errors import InputError
from lns.instances.generate import uniform
from lns.instances.puzzle import Puzzle
from lns.instances.text import format_seconds

STARTUP_SECONDS = 60.0
"""Time beyond the limit that a child may take for its start and for what checks no clock."""

COMPILATION_SECONDS = 900.0
"""The same where it may have to compile. Solvers keep the limit of search themselves; this ends those that do not."""


@dataclass(frozen=True)
class ComparisonRow:
    """One solver on one instance. Numbers are -1 where nothing is known."""

    instance: str
    solver: str
    status: str  # of the outcome; or 'refused' or 'failed', with the sentence in the note
    solutions: int = -1
    nodes: int = -1
    seconds: float = -1.0  # of the search, without compilation
    megabytes: float = (
        -1.0
    )  # peak of the process, 150 of it Python and packages; or of the solver's own child if larger
    size: str = ""  # of the model: variables and clauses, items and options, or blocks
    note: str = ""  # why there is no outcome; in experiments also when and where it was measured
    question: str = ""  # what was asked, see `question_of`

    @property
    def is_finished(self) -> bool:
        """Whether the search was complete within its limits."""
        return self.status in (SolveStatus.SOLVED, SolveStatus.INFEASIBLE)


Finished = dict[tuple[str, str, str], ComparisonRow]
"""Rows by instance, solver and question."""


def question_of(request: Request, puzzle: Puzzle) -> str:
    """A request about ``puzzle`` in one line, limits and a hash of the puzzle included.

    Rows of a file are reused only for an equal line: the same instance name may later mean another puzzle.
    """
    parts = ["all solutions" if request.count_all else "first solution"]
    parts.append("no time limit" if request.seconds is None else f"{request.seconds:.12g} s")
    if request.memory is not None:
        parts.append(f"{request.memory / 1e6:.12g} MB")
    if request.fix_corner:
        parts.append("corner fixed")
    if request.sat_solver is not None:
        parts.append(request.sat_solver)
    return "; ".join([*parts, f"seed {request.seed}", f"sha256 {puzzle.sha256[:12]}"])


# -- planned runs -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlannedRun:
    """A run that can be executed later: ``make()`` returns its row.

    A row of a CSV file replaces the run only if its question is equal: what is computed, and within which limits. The
    ``limit`` of a search to its end, in words, is apart: a search that ended below it answers for every limit, and the
    row of one that was cut has the limit in its question.

    ``adapt``, if given, maps the rows of the same instance by solver to the run to be made in view of them, or None if
    it is not worth making. The methods of such runs must find the same number of solutions.
    """

    instance: str
    solver: str
    question: str
    make: Callable[[], ComparisonRow]
    limit: str = ""
    adapt: Callable[[Mapping[str, ComparisonRow]], PlannedRun | None] | None = None

    @property
    def cut_question(self) -> str:
        """The question of a row whose search was cut at ``limit``."""
        return f"{self.question}; {self.limit}" if self.limit else self.question

    def row_in(self, finished: Finished) -> ComparisonRow | None:
        """The row that replaces the run; None if there is none."""
        whole = finished.get((self.instance, self.solver, self.question))
        return whole or finished.get((self.instance, self.solver, self.cut_question))


def run_experiment(
    runs: Iterable[PlannedRun], output: Path | None, *, with_place: bool = True
) -> Iterator[ComparisonRow]:
    """Execute the runs that a CSV file does not hold yet, and append a row for each.

    Parameters
    ----------
    runs : iterable of PlannedRun
        The runs, in the order in which they are made.
    output : Path or None
        A CSV file; a row of it that answers a run replaces it (`PlannedRun.row_in`).
    with_place : bool
        Note in each row when and where it was measured.

    Yields
    ------
    ComparisonRow
        One for each run, in order.

    Raises
    ------
    InputError, OSError
        If the file holds something else, or nothing can be added to it; before the first run where possible.
    RuntimeError
        If two methods count different numbers of solutions of an instance.
    """
    finished = read_rows(output)
    if output is not None:
        csv_records.check_appendable(output)
    done: dict[str, dict[str, ComparisonRow]] = {}
    for planned in runs:
        of_instance = done.setdefault(planned.instance, {})
        run = planned if planned.adapt is None else planned.adapt(of_instance)
        if run is None:
            continue
        row = run.row_in(finished)
        if row is None:
            row = run.make()
            question = run.cut_question if row.status == SolveStatus.BUDGET_SPENT else run.question
            row = replace(row, question=question, note=row.note or (measured() if with_place else ""))
            if output is not None:
                csv_records.append(output, row)
        of_instance[run.solver] = row
        counts = {row.solutions for row in of_instance.values() if row.is_finished}
        if planned.adapt is not None and len(counts) > 1:
            raise RuntimeError(f"methods disagree on the solutions of {planned.instance}: {sorted(counts)}")
        yield row


def finished_rows(runs: Sequence[PlannedRun], output: Path) -> tuple[list[ComparisonRow], list[PlannedRun]]:
    """The rows of planned runs that a CSV file holds, and the runs that it lacks and that are worth making."""
    finished = read_rows(output)
    done: dict[str, dict[str, ComparisonRow]] = {}
    found, missing = [], []
    for planned in runs:
        of_instance = done.setdefault(planned.instance, {})
        run = planned if planned.adapt is None else planned.adapt(of_instance)
        if row := planned.row_in(finished) or (run and run.row_in(finished)):
            of_instance[planned.solver] = row
            found.append(row)
        elif run is not None:
            missing.append(planned)
    return found, missing


def read_rows(path: Path | None) -> Finished:
    """The rows of a CSV file. Raises InputError as `csv_records.read`."""
    rows = [] if path is None else csv_records.read(path, ComparisonRow)
    return {(row.instance, row.solver, row.question): row for row in rows}


def measured() -> str:
    """When and where a run was measured: time, processor, and the load beside it."""
    load = f", load {os.getloadavg()[0]:.0f}" if hasattr(os, "getloadavg") else ""
    return f"measured {datetime.now(UTC):%Y-%m-%d %H:%M} UTC on {_processor()}, {os.cpu_count()} cores{load}"


@cache
def _processor() -> str:
    """The model of the processor as Linux names it; elsewhere the architecture."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


# -- runs of solvers --------------------------------------------------------------------------------------------------


def compare(
    instances: Sequence[tuple[str, Puzzle]], solvers: Sequence[str], request: Request, output: Path | None = None
) -> Iterator[ComparisonRow]:
    """Run each solver on each instance, (name, puzzle), in a process of its own; a row for each, as it is made.

    Rows of the CSV file with the same instance, solver and question are reused; new rows are added. Raises InputError
    and OSError as `run_experiment`.
    """
    processes = SolverProcesses()
    planned = (
        PlannedRun(name, solver, question_of(request, puzzle), partial(processes.run, name, puzzle, solver, request))
        for name, puzzle in instances
        for solver in solvers
    )
    return run_experiment(planned, output, with_place=False)


class SolverProcesses:
    """Runs solvers, each in a child process of its own, so that none has the time or memory of a compilation.

    The first child of each solver has long to start, since it may compile what `is_compiled` does not see. So has every
    child of a library, which may compile each time.
    """

    def __init__(self) -> None:
        self._tried: set[str] = set()  # on four pieces
        self._started: set[str] = set()

    def run(self, instance: str, puzzle: Puzzle, solver: str, request: Request) -> ComparisonRow:
        """The row of one solver on one instance; a refusal or a crash is a row too, Ctrl-C is passed on."""
        startup = COMPILATION_SECONDS if self._may_compile(solver) else STARTUP_SECONDS
        limit = None if request.seconds is None else request.seconds + startup
        try:
            ended, outcome = _in_child(puzzle, solver, request, limit, request.memory)
        except (InputError, ChildProcessError) as error:
            return refusal(instance, solver, error)
        self._started.add(solver)
        megabytes = ended.peak_bytes / 1e6
        if outcome is None:
            status = str(SolveStatus.BUDGET_SPENT)
            return ComparisonRow(instance, solver, status, 0, -1, ended.seconds, megabytes, note=ended.reason)
        return outcome_row(instance, solver, outcome, megabytes)

    def _may_compile(self, solver: str) -> bool:
        """Whether a child may compile. Before its first one, a solver that would is run on four pieces."""
        entry = find_solver(solver)

        def compiles() -> bool:
            return entry.extra is not None or (entry.kernel_module is not None and not is_compiled(entry.kernel_module))

        if compiles() and solver not in self._tried:
            self._tried.add(solver)
            with suppress(InputError, ChildProcessError):  # which the run itself reports
                _in_child(uniform(2, 2).puzzle, solver, Request(), COMPILATION_SECONDS)
        return solver not in self._started or compiles()  # where no machine code can be saved


def _in_child(
    puzzle: Puzzle, solver: str, request: Request, seconds: float | None, memory: int | None = None
) -> tuple[ProcessResult, Outcome | None]:
    """How a child that runs a solver ended, and its outcome if there is one. Raises KeyboardInterrupt after Ctrl-C."""
    outcomes: list[Outcome] = []
    ended = run_in_process(_solve, puzzle, solver, request, receive=outcomes.append, seconds=seconds, memory=memory)
    if ended.reason is ExitReason.INTERRUPTED:
        raise KeyboardInterrupt
    return ended, outcomes[0] if outcomes else None


def _solve(emit: Emit, puzzle: Puzzle, solver: str, request: Request) -> None:
    """The task of the child process."""
    emit(solve_request(puzzle, request, solver))


def refusal(instance: str, solver: str, error: Exception) -> ComparisonRow:
    """The row of a solver that refuses an instance or fails on it."""
    return ComparisonRow(instance, solver, "refused" if isinstance(error, InputError) else "failed", note=str(error))


def outcome_row(instance: str, solver: str, outcome: Outcome, megabytes: float = -1.0) -> ComparisonRow:
    """The row of an outcome. ``megabytes``: peak of the process that called the solver, where that is known."""
    return ComparisonRow(
        instance,
        solver,
        str(outcome.status),
        outcome.solutions,
        -1 if outcome.nodes is None else outcome.nodes,
        outcome.seconds,
        max(megabytes, outcome.details.get("peak_megabytes", -1.0)),
        size_of(outcome.details),
    )


def size_of(details: dict[str, float]) -> str:
    """The size of a solver's model in words, from its details; empty if there is none."""
    pairs = (("variables", "clauses"), ("variables", "constraints"), ("items", "options"))
    for first, second in pairs:
        if first in details and second in details:
            return f"{details[first]:,.0f} {first}, {details[second]:,.0f} {second}"
    for single in ("variables", "blocks"):
        if single in details:
            return f"{details[single]:,.0f} {single}"
    return ""


def describe(row: ComparisonRow) -> str:
    """Instance, method and result in one line."""
    spent = f", {row.nodes:,} nodes" if is_known(row.nodes) else ""
    spent = f", {format_seconds(row.seconds)}" if is_known(row.seconds) else spent
    return f"{row.instance} by {row.solver}: {row.status}{spent}"


def table(rows: Sequence[ComparisonRow]) -> str:
    """The rows as aligned text; '-' where a number is not known, no column of sizes where no row has one."""
    head = ["instance", "solver", "status", "solutions", "nodes", "seconds", "MB", "size"]
    body = [
        [
            row.instance,
            row.solver,
            row.status,
            _solutions_in_words(row),
            f"{row.nodes:,}" if is_known(row.nodes) else "-",
            format_seconds(row.seconds).removesuffix(" s") if is_known(row.seconds) else "-",
            f"{row.megabytes:.0f}" if is_known(row.megabytes) else "-",
            row.note or row.size,
        ]
        for row in rows
    ]
    if not any(line[-1] for line in body):
        head, body = head[:-1], [line[:-1] for line in body]
    return aligned([head, *body], left=(0, 1, 2, 7), repeated=2)


def _solutions_in_words(row: ComparisonRow) -> str:
    """How many solutions there are, as far as the search tells: one that was cut off before the first tells nothing."""
    if row.is_finished:
        return f"{row.solutions:,}"
    return f"at least {row.solutions:,}" if is_known(row.solutions) and row.solutions else "-"


def is_known(number: float | None) -> bool:
    """Whether a number of a row is known; in the rows of `lns.compare` None is not, in those of a file -1."""
    return number is not None and number >= 0
