"""Repeat chapter 4 of Cuvillier & Szymkowiak 2010: minisat and five local searches, by numbers of colours and pieces.

References
----------
J. Cuvillier and R. Szymkowiak, "Résolution du jeu Eternity 2 avec les technologies SAT",
Université d'Artois, 2010, tables 4.1 to 4.6.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from importlib.resources import files
from itertools import product

from lns.exact.compare import ComparisonRow, Runs
from lns.exact.execution import Request
from lns.exact.paper.runs import Plan, crossed, grouped, mean_of, rounded, solver_run, times, uniform_classes
from lns.exact.text_table import aligned

PROGRAM = "minisat"

# method -> (solver in `lns.exact.registry.SOLVERS`, SAT solver or None for the default, title, table of the paper)
METHODS: dict[str, tuple[str, str | None, str, str]] = {
    PROGRAM: ("sat:triangles", f"program:{PROGRAM}", "minisat, the program, which simplifies the formula", "4.1"),
    "sat:triangles": ("sat:triangles", "minisat22", "minisat of python-sat, which does not simplify", "4.1"),
    "cadical": ("sat:triangles", "cadical195", "CaDiCaL", "4.1"),
    "sat:triangles-restricted": (
        "sat:triangles-restricted", None, "CaDiCaL, decisions on pieces and orientations", "4.1, text"),
    **{
        f"sls:{rule}{suffix}": (f"sls:{rule}{suffix}", None, title + after, table)
        for rule, title, table in (
            ("adaptnovelty+", "AdaptNovelty+", "4.2"),
            ("adaptg2wsat", "AdaptG2WSAT", "4.3"),
            ("rsaps", "RSAPS", "4.4"),
            ("dcrwalk", "DCRWalk", "4.5"),
            ("irots", "IRoTS", "4.6"),
        )
        for suffix, after in (("", ", simplified formula"), ("-raw", ", formula as it is"))
    },
}  # fmt: skip
_SIZES = (4, 9, 16, 25, 36, 49, 64)


def _printed() -> dict[str, dict[int, dict[int, tuple[float, int]]]]:
    """Return the paper's tables: table -> colours -> pieces -> (total seconds of all solved puzzles, % solved)."""
    tables: dict[str, dict[int, dict[int, tuple[float, int]]]] = {}
    for line in (files("lns.exact.paper") / "cuvillier2010.txt").read_text().splitlines():
        first, *cells = line.split()
        if first == "table":
            table = tables.setdefault(cells[0], {})
        elif first != "#":
            found = [re.fullmatch(r"([0-9.]*)\(([0-9]+)\)", cell) for cell in cells]
            table[int(first)] = {
                size: (float(cell[1] or 0), int(cell[2])) for size, cell in zip(_SIZES, found, strict=False) if cell
            }
    return tables


PAPER = _printed()
PLAN = Plan(
    sizes=(3, 4, 5),
    solvers=tuple(method for method in METHODS if method != PROGRAM or shutil.which(PROGRAM)),
    colours=(2, 4, 5, 6, 8, 12),
    per_size=3,
    seconds=5.0,
)
FULL = Plan((2, 3, 4, 5, 6, 7, 8), tuple(METHODS), tuple(range(2, 18)), per_size=100, seconds=600.0)


def runs(plan: Plan) -> Runs:
    """Yield a planned run of each method on each puzzle, also of classes of which the paper solved none."""
    for side, colours, seed, puzzle in uniform_classes(plan):
        for method in plan.solvers:
            solver, sat_solver, _, _ = METHODS[method]
            request = Request(seconds=plan.seconds, sat_solver=sat_solver)
            yield solver_run(f"{side * side}-c{colours}-s{seed}", puzzle, solver, request, label=method)


def tables(rows: Sequence[ComparisonRow], plan: Plan) -> str:
    """Return as text, for each method, mean times and shares solved (in brackets the paper's), then mean nodes."""
    by_class = grouped(rows)
    parts = [
        f"Cuvillier & Szymkowiak 2010, chapter 4: {plan.per_size} puzzles for each class, "
        f"at most {plan.seconds:.0f} s of processor time each"
    ]
    colours, pieces = {str(k): k for k in plan.colours}, {f"{side * side} pieces": side * side for side in plan.sizes}
    for method in plan.solvers:
        _, _, title, table = METHODS[method]

        def cell(k: int, cells: int, method: str = method, table: str = table) -> str:
            chosen, paper = by_class[f"{cells}-c{k}", method], PAPER.get(table, {}).get(k, {}).get(cells)
            if not chosen:
                return "-"
            solved = times(chosen)
            known = "" if paper is None else f" ({rounded(paper[0] / paper[1])} s {paper[1]}%)" if paper[1] else " (0%)"
            return f"{rounded(mean_of(solved))} s " * bool(solved) + f"{100 * len(solved) // len(chosen)}%{known}"

        text = crossed("colours", colours, pieces, cell)
        parts.append(f"table {table}: {title}; mean seconds and share solved (the paper's)\n{text}")
    lines = [["mean decisions or steps of those solved", *plan.solvers]]
    for side, k in product(plan.sizes, plan.colours):
        own = [by_class[f"{side * side}-c{k}", method] for method in plan.solvers]
        steps = [[row.nodes for row in chosen if row.status == "solved" and row.nodes >= 0] for chosen in own]
        if any(steps):
            lines.append([f"{side * side} pieces, {k} colours", *(rounded(mean_of(nodes)) for nodes in steps)])
    return "\n\n".join([*parts, aligned(lines)])
