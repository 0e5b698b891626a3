"""What the experiments share: planned runs, a CSV file of finished runs that is continued, and text tables."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
        What is computed, and within which limits; a row of a CSV file replaces the run only if its question is equal.
    make : callable
        Executes the run and returns its `ComparisonRow`.
    node_limit : int, optional
        Limit of a search of a whole tree, not stated in ``question``. A tree that ended below it answers for every
        limit; the row of one that was cut has the limit in its question.
    """

    instance: str
    solver: str
    question: str
    make: Callable[[], ComparisonRow]
    node_limit: int | None = None

    @property
    def cut_question(self) -> str:
        """The question of a row whose search was cut at ``node_limit``."""
        return self.question if self.node_limit is None else f"{self.question}; {self.node_limit} nodes"

    def row_in(self, finished: Mapping[tuple[str, str, str], ComparisonRow]) -> ComparisonRow | None:
        """The row that replaces the run, of rows by instance, solver and question; None if there is none."""
        asked = (self.question, self.cut_question)
        rows = (finished.get((self.instance, self.solver, question)) for question in asked)
        return next((row for row in rows if row is not None), None)

    def finish(self) -> ComparisonRow:
        """Execute the run; its row with the question, and with when and where it was measured."""
        row = self.make()
        question = self.cut_question if row.status == BUDGET_SPENT else self.question
        return replace(row, question=question, note=row.note or measured())


def run_experiment(runs: Iterable[PlannedRun], output: Path | None) -> Iterator[ComparisonRow]:
    """Execute the runs that a CSV file does not hold yet.

    Parameters
    ----------
    runs : iterable of PlannedRun
        Executed one after the other.
    output : Path or None
        CSV file. A row that answers a run replaces it (`PlannedRun.row_in`); each new row is appended.

    Yields
    ------
    ComparisonRow
        One for each run, in order.
    """
    finished = read_rows(output)
    if output is not None:
        csv_records.check_appendable(output)
    for run in runs:
        row = run.row_in(finished)
        if row is None:
            row = run.finish()
            if output is not None:
                csv_records.append(output, row)
        yield row


def finished_rows(runs: Sequence[PlannedRun], output: Path) -> tuple[list[ComparisonRow], list[PlannedRun]]:
    """The rows of planned runs that a CSV file holds, and the runs that it lacks."""
    finished = read_rows(output)
    found = [run.row_in(finished) for run in runs]
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
