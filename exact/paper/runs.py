"""What the experiments share: a plan, planned runs, a CSV file of finished runs that is continued, tables and plots.

An experiment is a module with the plans `PLAN` and `FULL` (the paper's scale) and the functions ``runs(plan)`` and
``tables(rows, plan)``, and ``plot(rows, path)`` or `PICTURES`. An instance is named CLASS-sSEED; tables have a line for
each class.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from lns.exact import csv_records
from lns.exact.compare import ComparisonRow, Question, outcome_row, read_rows
from lns.exact.execution import Request
from lns.exact.outcome import SolveStatus
from lns.exact.solvers import solve_request
from lns.exact.text_table import aligned
from lns.instances.errors import InputError
from lns.instances.generate import uniform
from lns.instances.puzzle import Puzzle
from lns.instances.text import format_seconds

BUDGET_SPENT = str(SolveStatus.BUDGET_SPENT)
NAN = float("nan")


@dataclass(frozen=True)
class Plan:
    """The runs of an experiment: puzzles of some classes, each by all solvers.

    Parameters
    ----------
    sizes : tuple of int
        Sides of boards; the longer side in `jolivet2008`, the width in `perrin_iq`.
    solvers : tuple of str
        Names of methods.
    colours : tuple of int
        Numbers of colours, where the size does not say it.
    per_size : int
        Puzzles of each class.
    seconds : float
        Limit of a run in processor time.
    nodes : int
        Limit of a tree of `jolivet2008`; a larger one is cut there.
    seed : int
        Seed of the first puzzle of each class; the next ones count up.
    all_colours : bool
        Only puzzles that lack none of their colours (`cuvillier2010`).
    trees : int
        Boards that a search for a hard or single-solution puzzle tries (`jolivet2008`).
    slow : int
        Puzzles of a class that the paper calls too slow for its method (`jolivet2008`).
    patience : float
        Factor of ``seconds`` for methods that are compared with the reference where it finishes (`benoist2008`).
    """

    sizes: tuple[int, ...]
    solvers: tuple[str, ...]
    colours: tuple[int, ...] = ()
    per_size: int = 1
    seconds: float = 1.0
    nodes: int = 0
    seed: int = 1
    all_colours: bool = False
    trees: int = 0
    slow: int = 0
    patience: float = 1.0

    @property
    def seeds(self) -> range:
        """The seeds of the puzzles of a class."""
        return range(self.seed, self.seed + self.per_size)


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
    adapt : callable, optional
        (rows of the same instance by solver) -> the run to be made in view of them; None: it is not worth making.
        The methods of such runs must find the same number of solutions.
    """

    instance: str
    solver: str
    question: str
    make: Callable[[], ComparisonRow]
    node_limit: int | None = None
    adapt: Callable[[Mapping[str, ComparisonRow]], PlannedRun | None] | None = None

    @property
    def cut_question(self) -> str:
        """The question of a row whose search was cut at ``node_limit``."""
        return self.question if self.node_limit is None else f"{self.question}; {self.node_limit} nodes"

    def row_in(self, finished: Mapping[tuple[str, str, str], ComparisonRow]) -> ComparisonRow | None:
        """The row that replaces the run, of rows by instance, solver and question; None if there is none."""
        whole = finished.get((self.instance, self.solver, self.question))
        return whole or finished.get((self.instance, self.solver, self.cut_question))

    def finish(self) -> ComparisonRow:
        """Execute the run; its row with the question, and with when and where it was measured."""
        row = self.make()
        question = self.cut_question if row.status == BUDGET_SPENT else self.question
        return replace(row, question=question, note=row.note or measured())


def run_experiment(runs: Iterable[PlannedRun], output: Path | None) -> Iterator[ComparisonRow]:
    """Execute the runs that a CSV file does not hold yet, and append a row for each.

    Parameters
    ----------
    runs : iterable of PlannedRun
    output : Path or None
        A CSV file; a row of it that answers a run replaces it (`PlannedRun.row_in`).

    Yields
    ------
    ComparisonRow
        One for each run, in order.

    Raises
    ------
    InputError
        If the file has other columns.
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
            row = run.finish()
            if output is not None:
                csv_records.append(output, row)
        of_instance[run.solver] = row
        counts = {row.solutions for row in of_instance.values() if is_finished(row)}
        if planned.adapt is not None and len(counts) > 1:
            raise RuntimeError(f"methods disagree on the solutions of {planned.instance}: {sorted(counts)}")
        yield row


def finished_rows(runs: Sequence[PlannedRun], output: Path) -> tuple[list[ComparisonRow], list[PlannedRun]]:
    """The rows of planned runs that a CSV file holds, and the runs that it lacks and that are worth making."""
    finished = read_rows(output)
    found: dict[str, dict[str, ComparisonRow]] = {}
    all_found, missing = [], []
    for planned in runs:
        of_instance = found.setdefault(planned.instance, {})
        adapted = planned if planned.adapt is None else planned.adapt(of_instance)
        row = planned.row_in(finished) or (adapted and adapted.row_in(finished))
        if row:
            of_instance[planned.solver] = row
            all_found.append(row)
        elif adapted is not None:
            missing.append(planned)
    return all_found, missing


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


def uniform_classes(plan: Plan) -> Iterator[tuple[int, int, int, Puzzle]]:
    """Side, colours, seed and puzzle of the uniform puzzles of a plan, without impossible numbers of colours."""
    for side in plan.sizes:
        for colours in plan.colours:
            for seed in plan.seeds if colours <= 2 * side * (side - 1) else ():
                yield side, colours, seed, uniform(side, side, colours, seed, all_colours=plan.all_colours).puzzle


def solver_run(
    instance: str, puzzle: Puzzle, solver: str, request: Request, *, label: str = "", question: str = ""
) -> PlannedRun:
    """Plan a run of a solver of `lns.exact.registry`; compilation and imports do not count as its time.

    Parameters
    ----------
    instance : str
        Name of the puzzle in the row.
    puzzle : Puzzle
    solver : str
        A name of `lns.exact.registry.SOLVERS`.
    request : Request
        Its seconds are of processor time.
    label : str, optional
        The method's name in the row, which tells its options; by default ``solver``.
    question : str, optional
        The question of the row; by default the first solution within the limits of the request.
    """
    label = label or solver
    if not question:
        asked = Question(seconds=request.seconds, sat_solver=request.sat_solver)
        question = f"{asked.describe(puzzle)}; processor time"
    make = partial(_solved, instance, puzzle, solver, replace(request, processor_time=True), label)
    return PlannedRun(instance, label, question, make)


def _solved(instance: str, puzzle: Puzzle, solver: str, request: Request, label: str) -> ComparisonRow:
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


def describe(row: ComparisonRow) -> str:
    """Instance, method and result in one line."""
    spent = format_seconds(row.seconds) if row.seconds >= 0 else f"{row.nodes:,} nodes"
    return f"{row.instance} by {row.solver}: {row.status}, {spent}"


# -- rows by class, and their figures ---------------------------------------------------------------------------------


class Rows(dict[tuple[str, str], list[ComparisonRow]]):
    """The rows of an experiment by class and solver; an empty list where there are none."""

    def __init__(self, rows: Iterable[ComparisonRow]) -> None:
        super().__init__()
        for row in rows:
            self.setdefault((class_of(row), row.solver), []).append(row)

    def __missing__(self, key: tuple[str, str]) -> list[ComparisonRow]:
        return []


def class_of(row: ComparisonRow) -> str:
    """The name of an instance without its seed."""
    return re.sub(r"[- ]s[0-9]+$", "", row.instance)


def is_finished(row: ComparisonRow) -> bool:
    """Whether the search was complete within its limits."""
    return row.status in (SolveStatus.SOLVED, SolveStatus.INFEASIBLE)


def times(rows: Iterable[ComparisonRow]) -> list[float]:
    """The seconds of those that are solved."""
    return [row.seconds for row in rows if row.status == "solved"]


def mean_of(values: Sequence[float]) -> float:
    """The arithmetic mean; NaN of no values."""
    return sum(values) / len(values) if values else NAN


def rounded(value: float) -> str:
    """A number as text for a table: '-' for NaN, two decimals below 10, one below 100, none above."""
    if value != value:
        return "-"
    return f"{value:,.2f}" if value < 10 else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def crossed(
    corner: str, rows: Mapping[str, Any], columns: Mapping[str, Any], cell: Callable[[Any, Any], str], repeated: int = 1
) -> str:
    """An aligned table of rows and columns, label -> value each; ``cell``: (value of row, of column) -> text."""
    lines = [[label, *(cell(row, column) for column in columns.values())] for label, row in rows.items()]
    return aligned([[corner, *columns], *lines], repeated=repeated)


def plot_curves(path: Path, curves: Mapping[str, Mapping[Any, float]], xlabel: str, ylabel: str) -> None:
    """Draw curves, label -> x -> y on a logarithmic axis, to an image file. Needs matplotlib."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    for label, points in curves.items():
        axes.plot(sorted(points), [points[x] for x in sorted(points)], marker="o", label=label)
    axes.set(xlabel=xlabel, ylabel=ylabel, yscale="log")
    if curves:
        axes.legend()
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)
