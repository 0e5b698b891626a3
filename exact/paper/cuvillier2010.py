"""Cuvillier & Szymkowiak 2010, chapter 4: minisat and five local searches by number of colours and of pieces.

References
----------
J. Cuvillier and R. Szymkowiak, "Résolution du jeu Eternity 2 avec les technologies SAT",
Université d'Artois, 2010, tables 4.1 to 4.6.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from exact.compare import ComparisonRow
from exact.paper.runs import PlannedRun, mean_of, rounded, solver_run, uniform_classes
from lns_support.text_table import aligned

PROGRAM = "minisat"

# method -> (name in `exact.registry.SOLVERS`, its SAT solver, title, table of the paper)
METHODS: dict[str, tuple[str, str | None, str, str]] = {
    PROGRAM: ("sat:triangles", f"program:{PROGRAM}", "minisat, the program, which simplifies the formula", "4.1"),
    "sat:triangles": ("sat:triangles", "minisat22", "minisat of python-sat, which does not simplify", "4.1"),
    "cadical": ("sat:triangles", "cadical195", "CaDiCaL", "4.1"),
    "cdcl": ("sat:triangles", "cdcl", "the CDCL search of this project, all variables alike", "4.1"),
    "interval": (
        "sat:triangles-restricted",
        "cdcl",
        "the same, decisions on pieces and orientations first",
        "4.1, text",
    ),
    "sat:triangles-restricted": (
        "sat:triangles-restricted",
        None,
        "CaDiCaL, decisions on pieces and orientations",
        "4.1, text",
    ),
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
}

_SIZES = (4, 9, 16, 25, 36, 49, 64)


def _printed() -> dict[str, dict[int, dict[int, tuple[float, int]]]]:
    """The printed tables: number of the table -> colours -> {pieces: (seconds of all solved, solved of 100)}."""
    tables: dict[str, dict[int, dict[int, tuple[float, int]]]] = {}
    for line in (files("exact.paper") / "cuvillier2010.txt").read_text().splitlines():
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


@dataclass(frozen=True)
class Plan:
    """The runs: ``per_size`` puzzles for each of ``sizes`` (sides of boards) and ``colours``, by all ``solvers``.

    ``seconds``: limit of a run, in processor time; ``seed``: seed of the first puzzle of each class, the next ones
    count up; ``all_colours``: every puzzle has all its colours; ``solvers``: keys of `METHODS`.
    """

    sizes: tuple[int, ...] = (3, 4, 5)
    colours: tuple[int, ...] = (2, 4, 5, 6, 8, 12)
    per_size: int = 3
    seconds: float = 5.0
    seed: int = 1
    all_colours: bool = False
    solvers: tuple[str, ...] = tuple(method for method in METHODS if method != PROGRAM or shutil.which(PROGRAM))


FULL = Plan((2, 3, 4, 5, 6, 7, 8), tuple(range(2, 18)), 100, 600.0, solvers=tuple(METHODS))


def runs(plan: Plan) -> Iterator[PlannedRun]:
    """Plan all runs, also those of classes that a method is unlikely to solve: zeros in the tables are measured."""
    for side, colours, seed, puzzle in uniform_classes(plan, all_colours=plan.all_colours):
        for method in plan.solvers:
            solver, sat_solver, _, _ = METHODS[method]
            name = f"{side * side}-c{colours}-s{seed}"
            yield solver_run(name, puzzle, solver, plan.seconds, sat_solver, label=method)


def tables(rows: Sequence[ComparisonRow], plan: Plan) -> str:
    """The text of a table for each method, the paper's figures in brackets, and a table of decisions and steps."""
    parts = []
    for method in plan.solvers:
        _, _, title, table = METHODS[method]
        lines = [["colours", *(f"{side * side} pieces" for side in plan.sizes)]]
        for colours in plan.colours:
            line = [str(colours)]
            for side in plan.sizes:
                chosen, solved = _class(rows, method, side, colours)
                if not chosen:
                    line.append("-")
                    continue
                paper = PAPER.get(table, {}).get(colours, {}).get(side * side)
                seconds = f"{rounded(mean_of([row.seconds for row in solved]))} s " if solved else ""
                known = ""
                if paper is not None:
                    known = f" ({rounded(paper[0] / paper[1])} s {paper[1]}%)" if paper[1] else " (0%)"
                line.append(f"{seconds}{100 * len(solved) // len(chosen)}%{known}")
            lines.append(line)
        parts.append(f"table {table}: {title}; mean seconds and share solved (the paper's)\n" + aligned(lines))
    head = (
        f"Cuvillier & Szymkowiak 2010, chapter 4: {plan.per_size} puzzles for each class, "
        f"at most {plan.seconds:.0f} s of processor time each\n\n"
    )
    return head + "\n\n".join([*parts, nodes(rows, plan)])


def nodes(rows: Sequence[ComparisonRow], plan: Plan) -> str:
    """The text of a table of the mean decisions (local search: steps) of those solved, by class and method."""
    lines = [["mean decisions or steps of those solved", *plan.solvers]]
    for side in plan.sizes:
        for colours in plan.colours:
            line = [f"{side * side} pieces, {colours} colours"]
            for method in plan.solvers:
                _, solved = _class(rows, method, side, colours)
                line.append(rounded(mean_of([row.nodes for row in solved if row.nodes >= 0])))
            if set(line[1:]) != {"-"}:
                lines.append(line)
    return aligned(lines)


def _class(
    rows: Sequence[ComparisonRow], method: str, side: int, colours: int
) -> tuple[list[ComparisonRow], list[ComparisonRow]]:
    """The rows of a method in a class, and those of them that are solved."""
    chosen = [row for row in rows if row.solver == method and row.instance.startswith(f"{side * side}-c{colours}-")]
    return chosen, [row for row in chosen if row.status == "solved"]


def plot(rows: Sequence[ComparisonRow], path: Path) -> None:
    """Draw minisat's mean time by number of colours, a curve for each size, to the image file ``path``.

    The peak lies near the square root of the number of pieces. Needs matplotlib.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    points: dict[int, dict[int, list[float]]] = {}
    for row in rows:
        pieces, colours, _ = row.instance.split("-")
        if row.solver == PROGRAM:
            points.setdefault(int(pieces), {}).setdefault(int(colours[1:]), []).append(row.seconds)
    for size, times in sorted(points.items()):
        means = [sum(times[colours]) / len(times[colours]) for colours in sorted(times)]
        axes.plot(sorted(times), means, marker="o", label=f"{size} pieces")
    axes.set(xlabel="colours", ylabel="mean seconds, minisat", yscale="log")
    if points:
        axes.legend()
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)
