"""Compare solvers on instances: plan runs, make each run once, and keep the results in a CSV file to continue later.

`run_experiment` executes the planned runs whose results the CSV file lacks. `compare` plans one run for each solver and
instance, in a process of its own so that memory is measured; the experiments of `lns.exact.paper` plan other runs.
"""

from __future__ import annotations

import csv
import io
import os
import platform
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from lns.exact.child_process import Emit
from lns.exact.execution import Request, solve_in_child
from lns.exact.kernels.cache import is_compiled
from lns.exact.outcome import Outcome, SolveStatus
from lns.exact.registry import find_solver
from lns.exact.solvers import solve_request
from lns.exact.text_table import aligned
from lns.instances.errors import InputError
from lns.instances.generate import uniform
from lns.instances.puzzle import Puzzle
from lns.instances.text import format_seconds

SPARE_SECONDS = 300.0
"""Seconds that the child process of a run may take beyond the time limit of the search, to load and compile code."""


@dataclass(frozen=True)
class ComparisonRow:
    """The result of one solver on one instance, as a row of a CSV file. Numbers that are not known are -1."""

    instance: str
    solver: str
    status: str  # status of the outcome; or 'refused' or 'failed', with the error message in `note`
    solutions: int = -1
    nodes: int = -1
    seconds: float = -1.0  # time of the search, without compilation
    megabytes: float = -1.0  # peak memory of the run's process (Python alone takes 150) or, if larger, of a child of it
    size: str = ""  # size of the solver's model, such as its numbers of variables and clauses
    note: str = ""  # the error, the limit met or a region's result; else, in experiments, when and where measured
    question: str = ""  # what was asked of the solver, see `question_of`

    @property
    def is_finished(self) -> bool:
        """Whether the search found its answer, solutions or a proof that there are none, within its limits."""
        return self.status in (SolveStatus.SOLVED, SolveStatus.INFEASIBLE)


def question_of(request: Request, puzzle: Puzzle) -> str:
    """Describe a request about ``puzzle`` in one line, with the limits on time and memory and a hash of the puzzle.

    `compare` reuses a row only if its question is this line, because an instance name may later mean another puzzle.
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

    A row of a CSV file replaces the run only if both have the same instance, solver and question (what is computed, and
    within which limits). For a search that is meant to run to its end, ``limit`` states the limit in words and
    ``question`` does not: the row of a search that ended is valid for every limit, and the row of a search that reached
    its limit has the limit appended to its question.
    """

    instance: str
    solver: str
    question: str
    make: Callable[[], ComparisonRow]
    limit: str = ""


Runs = Generator[PlannedRun, Any, None]
"""A generator of planned runs. It is sent the row of each run, so that later runs can depend on it; None if missing."""


def run_experiment(
    runs: Runs, output: Path | None, *, with_place: bool = True, missing: list[PlannedRun] | None = None
) -> Iterator[ComparisonRow]:
    """Execute the runs for which the CSV file ``output`` has no row, append their rows, and yield the rows of all runs.

    `PlannedRun` says which row replaces a run. With ``with_place``, new rows without a note get one that says when and
    where they were measured. If the list ``missing`` is given, no run is executed: the runs that the file lacks are
    appended to the list instead. Raises InputError if the file has other content than such rows, and OSError if it
    cannot be extended, where possible before the first run. Without ``output`` all runs are executed.
    """
    finished, row = read_rows(output), None
    if output is not None and missing is None:
        check_appendable(output)
    with suppress(StopIteration):
        while True:
            run = runs.send(row)
            cut_question = f"{run.question}; {run.limit}" if run.limit else run.question
            known = (finished.get((run.instance, run.solver, each)) for each in (run.question, cut_question))
            row = next(filter(None, known), None)
            if row is None and missing is not None:
                missing.append(run)
                continue
            if row is None:
                row = run.make()
                question = cut_question if row.status == SolveStatus.BUDGET_SPENT else run.question
                row = replace(row, question=question, note=row.note or (measured() if with_place else ""))
                if output is not None:
                    append_row(output, asdict(row))
            yield row


def read_rows(path: Path | None) -> dict[tuple[str, str, str], ComparisonRow]:
    """Return the rows of a CSV file by instance, solver and question; none if the file does not exist or is empty.

    Raises InputError if the folder of the file does not exist, or the file has other columns or a line that is no row.
    """
    if path is not None and not path.parent.is_dir():
        raise InputError("there is no such directory", path.parent)
    if path is None or not path.exists() or path.stat().st_size == 0:
        return {}
    types: dict[str, Any] = {"int": int, "float": float, "str": str}
    columns = {field.name: types[str(field.type)] for field in fields(ComparisonRow)}
    rows, line = list[ComparisonRow](), 1
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            if next(reader, None) != [*columns]:
                expected = f"({', '.join(columns)}); expected a new file or one that this version has written"
                raise InputError(f"other columns than expected {expected}", path, line)
            for values in filter(None, reader):
                line = reader.line_num
                rows.append(ComparisonRow(*(of(value) for of, value in zip(columns.values(), values, strict=True))))
    except InputError:
        raise
    except (ValueError, csv.Error):
        message = "this line is no record of a run; expected a value of the right type for each column"
        raise InputError(message, path, line) from None
    return {(row.instance, row.solver, row.question): row for row in rows}


def append_row(path: Path, row: Mapping[str, object]) -> None:
    """Append a row (column -> value) to a CSV file, on a new line even if the last line of the file has no end.

    A new or empty file gets a header first. Raises OSError, which names ``path``, if the file cannot be written; the
    file is then unchanged.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, [*row], lineterminator="\n")
    with path.open("ab+", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        if size == 0:
            writer.writeheader()
        elif file.seek(size - 1) and file.read() != b"\n":
            text.write("\n")
        writer.writerow(row)
        data = text.getvalue().encode()
        try:
            while data:
                data = data[file.write(data) :]
        except OSError as error:
            file.truncate(size)
            raise OSError(error.errno, error.strerror, str(path)) from error


def check_appendable(path: Path) -> None:
    """Raise OSError, which names the file, if `append_row` could not open the file; leave no new file behind."""
    is_new = not path.exists()
    path.open("ab").close()
    if is_new:
        path.unlink()


def measured() -> str:
    """Return in words when and where a run is measured: the time now, the processor, and the load of the machine."""
    place = f"{_processor()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.0f}"
    return f"measured {datetime.now(UTC):%Y-%m-%d %H:%M} UTC on {place}"


@cache
def _processor() -> str:
    """Return the processor's model as Linux names it, or the architecture where no model is named."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


# -- runs of solvers --------------------------------------------------------------------------------------------------


def compare(
    instances: Sequence[tuple[str, Puzzle]], solvers: Sequence[str], request: Request, output: Path | None = None
) -> Iterator[ComparisonRow]:
    """Run each solver on each instance (name, puzzle), each time in a new process, and yield the row of each run.

    Rows of the CSV file ``output`` with the same instance, solver and question are reused; rows of other runs are
    appended to the file. Raises InputError and OSError as `run_experiment`, and InputError for an unknown solver.
    """
    planned = (
        PlannedRun(name, solver, question_of(request, puzzle), partial(run_solver, name, puzzle, solver, request))
        for name, puzzle in instances
        for solver in solvers
    )
    return run_experiment(planned, output, with_place=False)


def run_solver(instance: str, puzzle: Puzzle, solver: str, request: Request) -> ComparisonRow:
    """Run a known solver on one instance in a child process; return the row, also if the solver refuses or crashes."""
    _compile(solver)
    return row_of(instance, solver, lambda: solve_in_child(_solve, puzzle, request, solver, spare=SPARE_SECONDS))


@cache
def _compile(solver: str) -> None:
    """Run a solver on four pieces if it may have to be compiled, so that no row includes the cost of compilation."""
    entry = find_solver(solver)
    if entry.extra is not None or (entry.kernel_module is not None and not is_compiled(entry.kernel_module)):
        row_of("", solver, lambda: solve_in_child(_solve, uniform(2, 2).puzzle, Request(seconds=SPARE_SECONDS), solver))


def _solve(emit: Emit, puzzle: Puzzle, request: Request, solver: str) -> None:
    """Solve a puzzle and send the outcome to the parent, as the task of a child process."""
    emit(solve_request(puzzle, request, solver))


def row_of(instance: str, solver: str, solve: Callable[[], Outcome]) -> ComparisonRow:
    """Call ``solve`` and return the row of its outcome, or a row with the error of a solver that refused or failed.

    Raises KeyboardInterrupt if Ctrl-C ended the search.
    """
    try:
        outcome = solve()
    except (InputError, ChildProcessError) as error:
        status = "refused" if isinstance(error, InputError) else "failed"
        return ComparisonRow(instance, solver, status, note=str(error))
    if outcome.status is SolveStatus.INTERRUPTED:
        raise KeyboardInterrupt
    details, nodes = outcome.details, -1 if outcome.nodes is None else outcome.nodes
    figures = (str(outcome.status), outcome.solutions, nodes, outcome.seconds, details.get("peak_megabytes", -1.0))
    model = next((names for names in _SIZES if details.keys() >= {*names}), ())
    size = ", ".join(f"{details[name]:,.0f} {name}" for name in model)
    limits = {"memory_spent": "memory limit", "spare_spent": "time limit"}
    note = "" if size else "".join(note for name, note in limits.items() if name in details)
    return ComparisonRow(instance, solver, *figures, size, note)


_SIZES = (("variables", "clauses"), ("variables", "constraints"), ("items", "options"), ("variables",), ("blocks",))
"""Names of entries of `Outcome.details` that give the size of a model; the first group that is complete is used."""


def describe(row: ComparisonRow) -> str:
    """Return one line of text with a row's instance, solver, status, and seconds (nodes if the time is unknown)."""
    spent = f", {row.nodes:,} nodes" if is_known(row.nodes) else ""
    spent = f", {format_seconds(row.seconds)}" if is_known(row.seconds) else spent
    return f"{row.instance} by {row.solver}: {row.status}{spent}"


def table(rows: Sequence[ComparisonRow]) -> str:
    """Return the rows as an aligned table, '-' for unknown numbers; the last column (note or size) is optional."""
    head = ["instance", "solver", "status", "solutions", "nodes", "seconds", "MB", "size"]

    def found(row: ComparisonRow) -> str:
        if row.is_finished:
            return f"{row.solutions:,}"
        return f"at least {row.solutions:,}" if is_known(row.solutions) and row.solutions else "-"

    body = [
        [
            row.instance,
            row.solver,
            row.status,
            found(row),
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


def is_known(number: float | None) -> bool:
    """Return whether a number of a row is known; unknown numbers are None in rows of `lns.compare`, -1 in files."""
    return number is not None and number >= 0
