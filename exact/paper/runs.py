"""What the experiments share: planned runs, a CSV file of finished runs that is continued, and text tables."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Protocol

from exact.colorpairs.options import Options
from exact.compare import ComparisonRow, Question, outcome_row, read_rows
from exact.outcome import SolveStatus
from exact.request import Request
from exact.solvers import solve_request
from instances.generate import uniform
from instances.puzzle import Puzzle
from lns_support import csv_records
from lns_support.errors import InputError

BUDGET_SPENT = str(SolveStatus.BUDGET_SPENT)


@dataclass(frozen=True)
class PlannedRun:
    """A run of an experiment that can be executed later.

    Parameters
    ----------
    instance, solver : str
        Names of the instance and the method, as in the CSV row.
    question : str
        What is computed within which limits; a finished run is reused only if its question is equal.
    make : callable
        Executes the run and returns its `ComparisonRow`.
    """

    instance: str
    solver: str
    question: str
    make: Callable[[], ComparisonRow]


def run_experiment(runs: Iterable[PlannedRun], output: Path | None) -> Iterator[ComparisonRow]:
    """Execute the runs that a CSV file does not hold yet.

    Parameters
    ----------
    runs : iterable of PlannedRun
        Executed one after the other.
    output : Path or None
        CSV file. A row with the same instance, solver and question replaces the run; each new row is appended.

    Yields
    ------
    ComparisonRow
        One for each run, in order.
    """
    finished = read_rows(output)
    if output is not None:
        csv_records.check_appendable(output)
    for run in runs:
        row = finished.get((run.instance, run.solver, run.question))
        if row is None:
            row = run.make()
            row = replace(row, question=run.question, note=row.note or measured())
            if output is not None:
                csv_records.append(output, row)
        yield row


def finished_rows(runs: Sequence[PlannedRun], output: Path) -> tuple[list[ComparisonRow], list[PlannedRun]]:
    """The rows of planned runs that a CSV file holds, and the runs that it lacks."""
    finished = read_rows(output)
    found = [finished.get((run.instance, run.solver, run.question)) for run in runs]
    rows = [row for row in found if row is not None]
    return rows, [run for run, row in zip(runs, found, strict=True) if row is None]


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


class Classes(Protocol):
    """The fields of a plan with classes of uniform puzzles."""

    @property
    def sizes(self) -> tuple[int, ...]: ...
    @property
    def colours(self) -> tuple[int, ...]: ...
    @property
    def per_size(self) -> int: ...
    @property
    def seed(self) -> int: ...


def uniform_classes(plan: Classes, *, all_colours: bool = False) -> Iterator[tuple[int, int, int, Puzzle]]:
    """Side, colours, seed and puzzle of the uniform puzzles of a plan.

    Classes with more colours than inner edges are left out. With ``all_colours`` no puzzle lacks one of its colours.
    """
    for side in plan.sizes:
        for colours in plan.colours:
            if colours > 2 * side * (side - 1):
                continue
            for seed in range(plan.seed, plan.seed + plan.per_size):
                yield side, colours, seed, uniform(side, side, colours, seed, all_colours=all_colours).puzzle


def solver_run(
    instance: str,
    puzzle: Puzzle,
    solver: str,
    seconds: float,
    sat_solver: str | None = None,
    label: str = "",
    options: Options | None = None,
) -> PlannedRun:
    """Plan a search for the first solution by a solver of `exact.registry`.

    Kernels are compiled and libraries imported before the clock starts.

    Parameters
    ----------
    instance : str
        Name of the puzzle in the row.
    puzzle : Puzzle
    solver : str
        A name of `exact.registry.SOLVERS`.
    seconds : float
        Limit, in seconds of processor time.
    sat_solver : str, optional
        A solver of python-sat, or a program, for the methods ``sat:...``.
    label : str, optional
        The method's name in the row; by default ``solver``.
    options : Options, optional
        Parts of ColorPairs; ``label`` must tell them.
    """
    question = f"{Question(seconds=seconds, sat_solver=sat_solver).describe(puzzle)}; processor time"
    label = label or solver
    request = Request(
        seconds=seconds, sat_solver=sat_solver, processor_time=True, options=Options() if options is None else options
    )
    return PlannedRun(instance, label, question, partial(_first, instance, puzzle, solver, request, label))


def _first(instance: str, puzzle: Puzzle, solver: str, request: Request, label: str) -> ComparisonRow:
    try:
        outcome = solve_request(puzzle, request, solver)
    except InputError as error:
        if "not installed" in error.message:
            raise
        return ComparisonRow(instance, label, "refused", note=error.message)
    except ChildProcessError as error:
        return ComparisonRow(instance, label, "failed", note=str(error))
    if outcome.status == "interrupted":
        raise KeyboardInterrupt
    return outcome_row(instance, label, outcome)


def mean_of(values: Sequence[float]) -> float:
    """The arithmetic mean; NaN of no values."""
    return sum(values) / len(values) if values else float("nan")


def rounded(value: float) -> str:
    """A number as text for a table: '-' for NaN, two decimals below 10, one below 100, none above."""
    if value != value:
        return "-"
    return f"{value:,.2f}" if value < 10 else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
