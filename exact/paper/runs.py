"""Common parts of the experiments: plans, runs of solvers limited in processor time, and statistics of their rows.

An experiment is a module with the plans `PLAN` and `FULL` (the paper's scale), the function ``runs(plan)`` for
`lns.exact.compare.run_experiment`, the function ``tables(rows, plan)`` that returns the text to print, and in some
modules `PICTURES`. An instance is named CLASS-sSEED; tables have a line for each class.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from lns.exact.compare import ComparisonRow, PlannedRun, question_of, row_of
from lns.exact.execution import Request
from lns.exact.outcome import SolveStatus
from lns.exact.solvers import solve_request
from lns.exact.text_table import aligned
from lns.instances.errors import InputError
from lns.instances.generate import uniform
from lns.instances.puzzle import Puzzle

BUDGET_SPENT = str(SolveStatus.BUDGET_SPENT)
NAN = float("nan")


@dataclass(frozen=True)
class Plan:
    """The runs of an experiment: puzzles of some classes, each by all solvers."""

    sizes: tuple[int, ...]  # sides of boards; the longer side in `jolivet2008`, the width in `perrin_iq`
    solvers: tuple[str, ...]  # names of methods
    colours: tuple[int, ...] = ()  # numbers of colours, if the size does not determine them
    per_size: int = 1  # puzzles of each class
    seconds: float = 1.0  # limit of a run in processor time
    nodes: int = 0  # limit of a tree of `jolivet2008`; a larger tree is cut at it
    seed: int = 1  # seed of the first puzzle of each class; the seeds of the others follow
    all_colours: bool = False  # only puzzles in which all colours occur (`cuvillier2010`)
    trees: int = 0  # boards that a search for a hard or single-solution puzzle tries (`jolivet2008`)
    slow: int = 0  # puzzles of a class that the paper calls too slow for its method (`jolivet2008`)
    patience: float = 1.0  # factor of `seconds` for other solvers if the reference finishes (`benoist2008`)

    @property
    def seeds(self) -> range:
        """The seeds of the puzzles of a class."""
        return range(self.seed, self.seed + self.per_size)


def uniform_classes(plan: Plan) -> Iterator[tuple[int, int, int, Puzzle]]:
    """Yield side, colours, seed and puzzle of each uniform puzzle of a plan, without impossible numbers of colours."""
    for side, colours in product(plan.sizes, plan.colours):
        for seed in plan.seeds if colours <= 2 * side * (side - 1) else ():
            yield side, colours, seed, uniform(side, side, colours, seed, all_colours=plan.all_colours).puzzle


def solver_run(
    instance: str, puzzle: Puzzle, solver: str, request: Request, *, label: str = "", question: str = ""
) -> PlannedRun:
    """Plan a run of a solver in this process; its seconds are of processor time, without compilation and imports.

    ``label`` names the method in the row, and so its options; the default is ``solver``. The default ``question`` of
    the row is that of the request (`lns.exact.compare.question_of`).
    """
    label = label or solver
    question = question or f"{question_of(request, puzzle)}; processor time"

    def make() -> ComparisonRow:
        row = row_of(instance, label, lambda: solve_request(puzzle, replace(request, processor_time=True), solver))
        if "not installed" in row.note:
            raise InputError(row.note)
        return row

    return PlannedRun(instance, label, question, make)


Rows = Mapping[tuple[str, str], list[ComparisonRow]]
"""The rows of an experiment by class and solver; an empty list where there are none."""


def grouped(rows: Iterable[ComparisonRow]) -> Rows:
    """Group rows by class and solver."""
    found = defaultdict[tuple[str, str], list[ComparisonRow]](list)
    for row in rows:
        found[class_of(row), row.solver].append(row)
    return found


def class_of(row: ComparisonRow) -> str:
    """Return the name of a row's instance without its seed."""
    return re.sub(r"[- ]s[0-9]+$", "", row.instance)


def times(rows: Iterable[ComparisonRow]) -> list[float]:
    """Return the seconds of the rows with status 'solved'."""
    return [row.seconds for row in rows if row.status == "solved"]


def mean_of(values: Sequence[float]) -> float:
    """Return the arithmetic mean, or NaN without values."""
    return sum(values) / len(values) if values else NAN


def rounded(value: float) -> str:
    """Return a number as text for a table: '-' for NaN, two decimals below 10, one below 100, none above."""
    if value != value:
        return "-"
    return f"{value:,.2f}" if value < 10 else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def crossed(corner: str, rows: Mapping[str, Any], columns: Mapping[str, Any], cell: Callable[[Any, Any], str]) -> str:
    """Return an aligned table; ``rows`` and ``columns``: label -> value; ``cell``: (row, column value) -> text."""
    lines = [[label, *(cell(row, column) for column in columns.values())] for label, row in rows.items()]
    return aligned([[corner, *columns], *lines])
