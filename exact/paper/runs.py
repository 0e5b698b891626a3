"""What the experiments of seeds 002, 003 and 004 share: runs one after the other, kept in a CSV that is continued."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from exact.compare import ComparisonRow, Question, outcome_row, read_rows
from exact.request import Request
from exact.solvers import solve_request
from instances.puzzle import Puzzle
from lns_support import csv_records
from lns_support.errors import InputError

GAVE_UP = "budget spent"


@dataclass(frozen=True)
class PlannedRun:
    """One run to make: the row's names and question, and what makes the row."""

    instance: str
    solver: str
    question: str
    make: Callable[[], ComparisonRow]


def run_experiment(runs: Iterable[PlannedRun], output: Path | None) -> Iterator[ComparisonRow]:
    """The rows of ``runs``; those in the file ``output``, with the same question, not made again, new ones added."""
    done = read_rows(output)
    for run in runs:
        row = done.get((run.instance, run.solver, run.question))
        if row is None:
            row = replace(run.make(), question=run.question)
            if output is not None:
                csv_records.append(output, row)
        yield row


def solver_run(instance: str, puzzle: Puzzle, solver: str, seconds: float, sat_solver: str | None = None) -> PlannedRun:
    """The run for the first solution by a solver of the single interface; ``seconds`` are of processor time.

    Kernels are compiled, and libraries imported, off the clock.
    """
    question = f"{Question(seconds=seconds, sat_solver=sat_solver).describe(puzzle)}; processor time"
    return PlannedRun(instance, solver, question, partial(_first, instance, puzzle, solver, seconds, sat_solver))


def _first(instance: str, puzzle: Puzzle, solver: str, seconds: float, sat_solver: str | None) -> ComparisonRow:
    try:
        found = solve_request(puzzle, Request(seconds=seconds, sat_solver=sat_solver, processor_time=True), solver)
    except InputError as error:
        if "not installed" in error.message:
            raise
        return ComparisonRow(instance, solver, "refused", note=error.message)
    except ChildProcessError as error:
        return ComparisonRow(instance, solver, "failed", note=str(error))
    if found.status == "interrupted":
        raise KeyboardInterrupt
    return outcome_row(instance, solver, found)


def columns(lines: Sequence[Sequence[str]]) -> str:
    """Aligned text, the first column to the left."""
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            text.rjust(width) if at else text.ljust(width)
            for at, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def rounded(value: float) -> str:
    """A number for a table: '-' for none, three digits below ten."""
    if value != value:
        return "-"
    return f"{value:,.2f}" if value < 10 else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
