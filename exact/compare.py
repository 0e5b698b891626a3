"""Solvers compared on instances, each run in a process of its own: status, nodes, time, memory, size of the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from lns.exact import csv_records
from lns.exact.child_process import Emit, ExitReason, run_in_process
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
    """One solver on one instance. Numbers are -1 where nothing is known.

    Parameters
    ----------
    instance, solver : str
        Names.
    status : str
        That of the outcome, 'refused' or 'failed' (with the sentence in ``note``), or 'budget spent'.
    solutions, nodes : int
        As in `lns.exact.outcome.Outcome`.
    seconds : float
        Time of the search, without compilation.
    megabytes : float
        Peak resident memory of the process, or of the solver's own child if that is larger. Python and its packages
        take about 150 MB of it.
    size : str
        Size of the model: variables and clauses, items and options, or blocks.
    note : str
        Why there is no outcome.
    question : str
        What was asked, see `Question.describe`.
    """

    instance: str
    solver: str
    status: str
    solutions: int = -1
    nodes: int = -1
    seconds: float = -1.0
    megabytes: float = -1.0
    size: str = ""
    note: str = ""
    question: str = ""


@dataclass(frozen=True)
class Question(Request):
    """The request to every solver of a comparison; with ``fix_corner`` rotated copies are left out."""

    seconds: float | None = 60.0
    fix_corner: bool = False

    def describe(self, puzzle: Puzzle) -> str:
        """The question about ``puzzle`` in one line, limits and a hash of the puzzle included.

        Rows of a file are reused only for an equal line.
        """
        parts = ["all solutions" if self.count_all else "first solution"]
        parts.append("no time limit" if self.seconds is None else f"{self.seconds:.12g} s")
        if self.memory is not None:
            parts.append(f"{self.memory / 1e6:.12g} MB")
        if self.fix_corner:
            parts.append("corner fixed")
        if self.sat_solver is not None:
            parts.append(self.sat_solver)
        return "; ".join([*parts, f"seed {self.seed}", short_hash(puzzle)])


def compare(
    instances: Sequence[tuple[str, Puzzle]], solvers: Sequence[str], question: Question, output: Path | None = None
) -> Iterator[ComparisonRow]:
    """Run each solver on each instance.

    Parameters
    ----------
    instances : sequence of (str, Puzzle)
        Names and puzzles.
    solvers : sequence of str
        Names of `lns.exact.registry.all_solvers`.
    question : Question
        First solution or all, and limits.
    output : Path, optional
        A CSV file. Rows in it with the same instance, solver and question are reused; new rows are added.

    Yields
    ------
    ComparisonRow
        One for each instance and solver, as it is made.

    Raises
    ------
    InputError
        If the file holds something else.
    OSError
        If nothing can be added to the file; it names the file, and comes before the first run where possible.
    """
    existing = read_rows(output)
    if output is not None:
        csv_records.check_appendable(output)
    for name, puzzle in instances:
        described = question.describe(puzzle)
        for solver in solvers:
            row = existing.get((name, solver, described))
            if row is None:
                row = replace(run_solver(name, puzzle, solver, question), question=described)
                if output is not None:
                    csv_records.append(output, row)
            yield row


def run_solver(instance: str, puzzle: Puzzle, solver: str, question: Question) -> ComparisonRow:
    """Run one solver in a child process; a refusal or a crash becomes a row, Ctrl-C is passed on."""
    outcomes: list[Outcome] = []
    entry, startup = find_solver(solver), STARTUP_SECONDS
    if entry.extra is not None or (entry.kernel_module is not None and not is_compiled(entry.kernel_module)):
        compile_solver(solver)  # its kernels are not on disk, or it is a library, which may compile each time
        startup = COMPILATION_SECONDS
    limit = None if question.seconds is None else question.seconds + startup
    try:
        ended = run_in_process(
            _solve, puzzle, solver, question, receive=outcomes.append, seconds=limit, memory=question.memory
        )
    except InputError as error:
        return ComparisonRow(instance, solver, "refused", note=str(error))
    except ChildProcessError as error:
        return ComparisonRow(instance, solver, "failed", note=str(error))
    if ended.reason is ExitReason.INTERRUPTED:
        raise KeyboardInterrupt
    megabytes = ended.peak_bytes / 1e6
    if not outcomes:
        status = str(SolveStatus.BUDGET_SPENT)
        return ComparisonRow(instance, solver, status, 0, -1, ended.seconds, megabytes, note=ended.reason)
    return outcome_row(instance, solver, outcomes[0], megabytes)


@cache
def compile_solver(solver: str) -> None:
    """Run ``solver`` on four pieces, so that no limit and no figure of memory is that of its compilation."""
    small, question = uniform(2, 2).puzzle, Question()
    with suppress(InputError, ChildProcessError):  # which the run itself reports
        ended = run_in_process(
            _solve, small, solver, question, receive=lambda outcome: None, seconds=COMPILATION_SECONDS
        )
        if ended.reason is ExitReason.INTERRUPTED:
            raise KeyboardInterrupt


def outcome_row(instance: str, solver: str, outcome: Outcome, megabytes: float = -1.0) -> ComparisonRow:
    """The row of an outcome. ``megabytes``: peak of the process that called the solver, where that is known."""
    return ComparisonRow(
        instance,
        solver,
        str(outcome.status),
        outcome.solutions,
        outcome.nodes,
        outcome.seconds,
        max(megabytes, outcome.details.get("peak_megabytes", -1.0)),
        size_of(outcome.details),
    )


def read_rows(path: Path | None) -> dict[tuple[str, str, str], ComparisonRow]:
    """The rows of a CSV file by (instance, solver, question). Raises InputError as `csv_records.read`."""
    rows = [] if path is None else csv_records.read(path, ComparisonRow)
    return {(row.instance, row.solver, row.question): row for row in rows}


def short_hash(puzzle: Puzzle) -> str:
    """The puzzle in a question: the same instance name may later mean another puzzle."""
    return f"sha256 {puzzle.sha256[:12]}"


def _solve(emit: Emit, puzzle: Puzzle, solver: str, question: Question) -> None:
    """The task of the child process."""
    emit(solve_request(puzzle, question, solver, fix_corner=question.fix_corner))


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


def table(rows: Sequence[ComparisonRow]) -> str:
    """The rows as aligned text; '-' where a number is not known, no column of sizes where no row has one."""
    head = ["instance", "solver", "status", "solutions", "nodes", "seconds", "MB", "size"]
    body = [
        [
            row.instance,
            row.solver,
            row.status,
            _solutions_in_words(row),
            f"{row.nodes:,}" if row.nodes >= 0 else "-",
            format_seconds(row.seconds).removesuffix(" s") if row.seconds >= 0 else "-",
            f"{row.megabytes:.0f}" if row.megabytes >= 0 else "-",
            row.note or row.size,
        ]
        for row in rows
    ]
    if not any(line[-1] for line in body):
        head, body = head[:-1], [line[:-1] for line in body]
    return aligned([head, *body], left=(0, 1, 2, 7), repeated=2)


def _solutions_in_words(row: ComparisonRow) -> str:
    """How many solutions there are, as far as the search tells: one that was cut off before the first tells nothing."""
    if row.status in (SolveStatus.SOLVED, SolveStatus.INFEASIBLE):
        return f"{row.solutions:,}"
    return f"at least {row.solutions:,}" if row.solutions > 0 else "-"
