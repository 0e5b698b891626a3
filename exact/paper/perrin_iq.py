"""Repeat the report of Perrin & Beaujard on the game IQ Puzzler Pro: weights of pieces, empty zones, and large grids.

A weight ranks the pieces to try; a zone is a connected part of the free cells. The report shows its levels of the game
as pictures only. Here a level is one shipped with this project (`lns.exact.polyominoes.levels`), or a random filling
of the game of which only some pieces are kept. A large grid is cut into pieces at random as in the report. A node is a
tested placement, as in the report, whose search tests more placements, because it goes on when a cell or a piece has
no placement left. The methods ``...-no-dead-ends`` go on too; if no two pieces are equal, they search as the report
does, but without the cache in which the report keeps which zones can be filled.

References
----------
A. Perrin and T. Beaujard, "Rapport IA41 : IQ Puzzler Pro", sections III (algorithm, weights, zones) and VI (grids).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from statistics import median

from lns.exact.compare import ComparisonRow, PlannedRun, Runs
from lns.exact.outcome import SolveStatus
from lns.exact.paper.runs import BUDGET_SPENT, NAN, Plan, Rows, grouped, rounded
from lns.exact.polyominoes.grid import NO_WEIGHT, RACE, WEIGHTS, Grid, render
from lns.exact.polyominoes.levels import TIERS, cut_grid, levels, random_level
from lns.exact.polyominoes.search import fill, fill_by_library
from lns.exact.text_table import aligned

LIBRARY = "xcover"
METHODS = (
    RACE, *WEIGHTS, "descender-no-zones", NO_WEIGHT, "none-no-zones", "none-no-zones-no-dead-ends", "none-no-dead-ends",
    "descender-no-zones-no-dead-ends", "descender-no-dead-ends", LIBRARY,
)  # fmt: skip
"""A name is a weight, "none" or "race" (all weights), with "-no-" before each test left out; the last is a library. The
four before the library are versions of the report's search: without weight and test of zones, with that test, with a
weight, and with both (the final version)."""

# (width, height) of a large grid -> result in the report: solved or not, or tested placements and time
GRIDS: dict[tuple[int, int], str] = {
    (12, 6): "solved",
    (12, 12): "4,313 in 1 s",
    (16, 10): "37; 6,396 in 5 s",
    (60, 5): "solved",
    (60, 6): "not in 840,000, 15 min",
}
PLACED = (0, 4, 8)
"""How many pieces already lie on a random level. The report does not say how many lie on its levels."""
PLAN = Plan((11, 12, 16, 60), METHODS, per_size=10, seconds=5.0)  # processor time, but elapsed time for the library
FULL = replace(PLAN, per_size=50, seconds=900.0)


def classes(plan: Plan) -> dict[str, str]:
    """Return the classes of grids in ``plan``: name -> result in the report, '-' if it has none."""
    game = [f"game, {placed} placed" for placed in PLACED] + [f"level, {tier}" for tier in TIERS]
    cut = {f"{wide}x{high}": result for (wide, high), result in GRIDS.items() if wide in plan.sizes}
    return (dict.fromkeys(game, "-") if 11 in plan.sizes else {}) | cut


def grids(plan: Plan, name: str) -> dict[int, Grid]:
    """Return the grids of the class ``name``: seed, or index of a shipped level (from 1) -> grid.

    A class of shipped levels is a tier (see `lns.exact.polyominoes.levels`) and has at most six grids. The game without
    placed pieces is the same grid for every seed, so it is used once.
    """
    kind, _, detail = name.partition(", ")
    if kind == "level":
        shipped = [grid for level, grid in levels().items() if level.startswith(f"{detail}-")]
        return dict(enumerate(shipped[: plan.per_size], 1))
    if kind == "game":
        placed = int(detail.split()[0])
        return {seed: random_level(placed, seed) for seed in (plan.seeds if placed else plan.seeds[:1])}
    width, height = map(int, name.split("x"))
    return {seed: cut_grid(width, height, seed)[0] for seed in plan.seeds}


def runs(plan: Plan) -> Runs:
    """Yield a planned run of each method on each grid of each class."""
    for name in classes(plan):
        for number, grid in grids(plan, name).items():
            digest = sha256(render(grid).encode()).hexdigest()[:12]
            question = f"first filling; {plan.seconds:.12g} s; sha256 {digest}"
            for method in plan.solvers:
                instance = f"{name} s{number}"
                yield PlannedRun(instance, method, question, partial(_measure, instance, grid, method, plan.seconds))


def _measure(instance: str, grid: Grid, method: str, seconds: float) -> ComparisonRow:
    """Search for a filling of ``grid`` and return the result as a row. Raises KeyboardInterrupt if interrupted."""
    if method == LIBRARY:
        result = fill_by_library(grid, seconds=seconds)
    else:
        weight, *without = method.split("-no-")
        parts = {"zones": "zones" not in without, "dead_ends": "dead-ends" not in without}
        result = fill(grid, weight, **parts, seconds=seconds, processor_time=True)
    if result.status is SolveStatus.INTERRUPTED:
        raise KeyboardInterrupt
    nodes = -1 if result.nodes is None else result.nodes
    figures = (str(result.status), result.solutions, nodes, result.seconds)
    return ComparisonRow(instance, method, *figures, size=f"{result.options:,} placements")


def tables(rows: Sequence[ComparisonRow], plan: Plan) -> str:
    """Return two tables as text: median of tested placements and median time, by class of grids and method."""
    return (
        f"Perrin & Beaujard: {plan.seconds:g} s for each run; median of the placements tested, and in brackets how many"
        " grids were not filled in time (report: one grid each)\n"
        f"{_table(grouped(rows), plan, 'nodes')}\n\n"
        f"median milliseconds\n{_table(grouped(rows), plan, 'seconds')}"
    )


def _table(by_class: Rows, plan: Plan, what: str) -> str:
    methods = [method for method in plan.solvers if what == "seconds" or method != LIBRARY]
    lines = [["class", "grids", *methods, "report"]]
    for name, result in classes(plan).items():
        lines.append([name, str(max(len(by_class[name, method]) for method in plan.solvers))])
        for chosen in (by_class[name, method] for method in methods):
            failed = sum(row.status == BUDGET_SPENT for row in chosen)
            middle = median([row.nodes if what == "nodes" else 1000 * row.seconds for row in chosen] or [NAN])
            text = f"{middle:,.0f}" if what == "nodes" and chosen else rounded(middle)
            is_open = chosen and 2 * failed >= len(chosen)
            lines[-1].append(f"{'>' if is_open else ''}{text}{f' ({failed} not)' if failed else ''}")
        lines[-1].append(result)
    return aligned(lines)
