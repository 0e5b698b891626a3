"""Any solvers on any instances, each run in a process of its own: status, nodes, time, memory, size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from exact.outcome import Outcome
from exact.solvers import solve
from instances.puzzle import Puzzle
from lns_support import csv_records
from lns_support.child_process import Emit, ExitReason, run_in_process
from lns_support.errors import InputError


@dataclass(frozen=True)
class ComparisonRow:
    """``status``: that of the outcome, 'refused' (with the sentence in ``note``) or 'failed'; -1 where nothing is
    known.

    ``megabytes``: peak resident memory of the process, and of the solver's own child if that was larger; Python and its
    packages take about 150 of them. ``size``: variables/clauses, items/options or blocks. ``question``: what was asked,
    see `Question.describe`.
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
class Question:
    """What `compare` asks of every solver."""

    count_all: bool = False
    seconds: float | None = 60.0
    memory: int | None = None
    fix_corner: bool = False
    sat_solver: str | None = None
    seed: int = 0

    def describe(self, puzzle: Puzzle) -> str:
        """The question about ``puzzle``, limits and all, in a line: rows of a file answer only the line they carry."""
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
    """One row for each instance and solver, as they come; those in the file ``output`` whose question is the same one
    are not run again, the others stay beside the new ones.

    Raises InputError when the file holds something else.
    """
    done = read_rows(output)
    for name, puzzle in instances:
        asked = question.describe(puzzle)
        for solver in solvers:
            row = done.get((name, solver, asked))
            if row is None:
                row = replace(run_solver(name, puzzle, solver, question), question=asked)
                if output is not None:
                    csv_records.append(output, row)
            yield row


def run_solver(instance: str, puzzle: Puzzle, solver: str, question: Question) -> ComparisonRow:
    """Run one solver in a child process; a refusal or a crash becomes a row, Ctrl-C is passed on."""
    outcomes: list[Outcome] = []
    grace = None if question.seconds is None else question.seconds + 60.0  # starting, compiling, and its own children
    try:
        ended = run_in_process(
            _solve, puzzle, solver, question, receive=outcomes.append, seconds=grace, memory=question.memory
        )
    except InputError as error:
        return ComparisonRow(instance, solver, "refused", note=str(error))
    except ChildProcessError as error:
        return ComparisonRow(instance, solver, "failed", note=str(error))
    if ended.reason is ExitReason.INTERRUPTED:
        raise KeyboardInterrupt
    if not outcomes:
        return ComparisonRow(
            instance, solver, "budget spent", 0, -1, ended.seconds, ended.peak_bytes / 1e6, note=ended.reason
        )
    return outcome_row(instance, solver, outcomes[0], ended.peak_bytes / 1e6)


def outcome_row(instance: str, solver: str, found: Outcome, megabytes: float = -1.0) -> ComparisonRow:
    """The row of an outcome. ``megabytes``: peak of the process that called the solver, where that is known."""
    peak, size = max(megabytes, found.details.get("peak_megabytes", -1.0)), size_of(found.details)
    return ComparisonRow(instance, solver, str(found.status), found.solutions, found.nodes, found.seconds, peak, size)


def read_rows(path: Path | None) -> dict[tuple[str, str, str], ComparisonRow]:
    """The rows of a CSV made before, by instance, solver and question. Raises InputError as `records.read`."""
    return (
        {}
        if path is None
        else {(row.instance, row.solver, row.question): row for row in csv_records.read(path, ComparisonRow)}
    )


def short_hash(puzzle: Puzzle) -> str:
    """The puzzle of a question: an instance's name may come to mean another one."""
    return f"sha256 {puzzle.sha256[:12]}"


def _solve(emit: Emit, puzzle: Puzzle, solver: str, question: Question) -> None:
    """A child's task."""
    emit(
        solve(
            puzzle,
            solver=solver,
            count_all=question.count_all,
            seconds=question.seconds,
            fix_corner=question.fix_corner,
            memory=question.memory,
            sat_solver=question.sat_solver,
            seed=question.seed,
        )
    )


def size_of(details: dict[str, float]) -> str:
    """The size of a method's model in words."""
    pairs = (("variables", "clauses"), ("variables", "constraints"), ("items", "options"))
    for first, second in pairs:
        if first in details and second in details:
            return f"{details[first]:,.0f} {first}, {details[second]:,.0f} {second}"
    for single in ("variables", "blocks"):
        if single in details:
            return f"{details[single]:,.0f} {single}"
    return ""


def table(rows: Sequence[ComparisonRow]) -> str:
    """The rows as aligned text; '-' where a solver does not tell."""
    head = ["instance", "solver", "status", "solutions", "nodes", "seconds", "MB", "size"]
    body = [
        [
            row.instance,
            row.solver,
            row.status,
            f"{row.solutions:,}" if row.solutions >= 0 else "-",
            f"{row.nodes:,}" if row.nodes >= 0 else "-",
            f"{row.seconds:.3f}" if row.seconds >= 0 else "-",
            f"{row.megabytes:.0f}" if row.megabytes >= 0 else "-",
            row.note or row.size,
        ]
        for row in rows
    ]
    widths = [max(len(line[column]) for line in [head, *body]) for column in range(len(head))]
    right = {3, 4, 5, 6}
    return "\n".join(
        "  ".join(
            text.rjust(width) if column in right else text.ljust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in [head, *body]
    )
