"""Common parts of the experiments: plans, runs of solvers limited in processor time, and statistics of result rows.

An experiment is a module with the plans `PLAN` (short) and `FULL` (the paper's scale), the function ``runs(plan)`` for
`lns.exact.compare.run_experiment`, the function ``tables(rows, plan)`` that returns the text to print, and in some
modules `PICTURES`. An instance is named after its class (such as 8x8-c7) and its seed: "8x8-c7-s1".
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
    """What an experiment runs: each solver on each puzzle of some classes, within limits."""

    sizes: tuple[int, ...]  # sides of the boards in cells; the longer side in `jolivet2008`, the width in `perrin_iq`
    solvers: tuple[str, ...]  # names of the solvers (or methods) to run
    colours: tuple[int, ...] = ()  # numbers of colours of the puzzles, if their size does not determine it
    per_size: int = 1  # number of puzzles of each class
    seconds: float = 1.0  # most processor time of a run, in seconds
    nodes: int = 0  # most nodes that the search of a tree makes (`jolivet2008`)
    seed: int = 1  # seed of the first puzzle of each class; the second puzzle has seed + 1, and so on
    all_colours: bool = False  # whether every colour has to occur in each puzzle (`cuvillier2010`)
    trees: int = 0  # number of boards that a search for a hard or single-solution puzzle tries (`jolivet2008`)
    slow: int = 0  # like `per_size`, where the paper calls a method too slow (`jolivet2008`)
    patience: float = 1.0  # factor of `seconds` of other solvers where ColorPairs finishes (`benoist2008`)

    @property
    def seeds(self) -> range:
        """The seeds of the puzzles of a class."""
        return range(self.seed, self.seed + self.per_size)


def uniform_classes(plan: Plan) -> Iterator[tuple[int, int, int, Puzzle]]:
    """Yield side, colours, seed and puzzle for each uniform puzzle, unless it has more colours than inner edges."""
    for side, colours in product(plan.sizes, plan.colours):
        for seed in plan.seeds if colours <= 2 * side * (side - 1) else ():
            yield side, colours, seed, uniform(side, side, colours, seed, all_colours=plan.all_colours).puzzle


def solver_run(
    instance: str, puzzle: Puzzle, solver: str, request: Request, *, label: str = "", question: str = ""
) -> PlannedRun:
    """Plan a run of a solver, timed in processor time without compilation and imports.

    ``label`` is the method's name in the result row, by default ``solver``; the same solver with other options needs
    another label. ``question`` says in the row what was asked, by default as `lns.exact.compare.question_of` does.
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
"""The result rows of an experiment by (class, solver); an empty list for a class and solver without rows."""


def grouped(rows: Iterable[ComparisonRow]) -> Rows:
    """Return the result rows grouped by (class, solver)."""
    found = defaultdict[tuple[str, str], list[ComparisonRow]](list)
    for row in rows:
        found[class_of(row.instance), row.solver].append(row)
    return found


def class_of(instance: str) -> str:
    """Return the class of an instance: its name without the seed."""
    return re.sub(r"[- ]s[0-9]+$", "", instance)


def times(rows: Iterable[ComparisonRow]) -> list[float]:
    """Return the seconds of the rows with status 'solved'."""
    return [row.seconds for row in rows if row.status == "solved"]


def mean_of(values: Sequence[float]) -> float:
    """Return the arithmetic mean of ``values``, or NaN if there are none."""
    return sum(values) / len(values) if values else NAN


def rounded(value: float) -> str:
    """Return a number as text for a table: '-' for NaN, two decimals below 10, one below 100, none from 100 on."""
    if value != value:
        return "-"
    return f"{value:,.2f}" if value < 10 else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def crossed(corner: str, rows: Mapping[str, Any], columns: Mapping[str, Any], cell: Callable[[Any, Any], str]) -> str:
    """Return an aligned table. ``rows``, ``columns``: label -> value; ``cell``: (row value, column value) -> entry."""
    lines = [[label, *(cell(row, column) for column in columns.values())] for label, row in rows.items()]
    return aligned([[corner, *columns], *lines])
