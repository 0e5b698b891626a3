"""Cuvillier & Szymkowiak 2010, chapter 4: minisat and five local searches by number of colours and of pieces.

References
----------
G. Cuvillier and J. Szymkowiak, "Résolution du jeu Eternity 2 avec les technologies SAT",
Université d'Artois, 2010, tables 4.1 to 4.6.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from exact.compare import ComparisonRow
from exact.paper.runs import PlannedRun, columns, rounded, solver_run
from instances.generate import uniform

PROGRAM = "minisat"

# method -> (name in `exact.registry.SOLVERS`, its SAT solver, title, table of the paper)
METHODS: dict[str, tuple[str, str | None, str, str]] = {
    PROGRAM: ("sat:triangles", f"program:{PROGRAM}", "minisat, the program, which simplifies the formula first", "4.1"),
    "sat:triangles": ("sat:triangles", "minisat22", "minisat of python-sat, which does not", "4.1"),
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
    "sls:adaptnovelty+": ("sls:adaptnovelty+", None, "AdaptNovelty+", "4.2"),
    "sls:adaptg2wsat": ("sls:adaptg2wsat", None, "AdaptG2WSAT", "4.3"),
    "sls:rsaps": ("sls:rsaps", None, "RSAPS", "4.4"),
    "sls:dcrwalk": ("sls:dcrwalk", None, "DCRWalk", "4.5"),
    "sls:irots": ("sls:irots", None, "IRoTS", "4.6"),
}

PRINTED = {
    "4.1": """
        2 .14(100) .21(100) .74(100) 3.23(100) 1242.08(100) 4100.53(50) 37.66(7)
        3 .14(100) .22(100) .77(100) 6.03(100) 263.41(100) 3117.08(85) 1478.43(37)
        4 .15(100) .21(100) .77(100) 13.45(100) 1068.07(100) 7038.13(90) 4661.40(36)
        5 - .21(100) .76(100) 8.05(100) 4084.55(100) 346.31(9) (0)
        6 - .20(100) .76(100) 5.55(100) 8324.54(94) (0) (0)
        7 - .20(100) .77(100) 4.27(100) 3328.84(100) (0) (0)
        8 - .19(100) .77(100) 3.68(100) 1019.18(100) (0) (0)
        9 - .20(100) .78(100) 3.45(100) 344.43(100) 233.56(1) (0)
        10 - .18(100) .78(100) 3.33(100) 198.64(100) 44.07(3) (0)
        11 - .21(100) .77(100) 3.29(100) 104.43(100) 299.49(9) (0)
        12 - .20(100) .79(100) 3.19(100) 108.32(100) 2659.68(28) (0)
        13 - - .79(100) 3.19(100) 57.13(100) 3169.54(30) (0)
        14 - - .78(100) 3.17(100) 43.57(99) 8909.11(56) (0)
        15 - - .80(100) 3.17(100) 41.27(100) 12190.38(70) (0)
        16 - - .79(100) 3.18(100) 30.79(100) 12973.40(79) (0)
        17 - - .79(100) 3.17(100) 31.29(100) 10818.77(85) (0)
        """,
    "4.2": """
        2 0(100) 0(100) .50(100) 2.67(100) 7.36(100) 135.55(100) 458.81(1)
        3 0(100) 0(100) 4.52(100) 508.98(100) 5248.63(100) 649.37(2) (0)
        4 0(100) 0(100) 3.83(100) 5091.54(100) 388.85(1) (0) (0)
        5 - 0(100) 3.85(100) 4631.03(100) (0) (0) (0)
        6 - 0(100) 3.53(100) 2570.78(100) (0) (0) (0)
        7 - 0(100) 3.15(100) 1576.80(100) (0) (0) (0)
        8 - 0(100) 3.18(100) 1237.45(100) (0) (0) (0)
        9 - 0(100) 3.03(100) 760.71(100) (0) (0) (0)
        10 - 0(100) 3.25(100) 570.47(100) (0) (0) (0)
        11 - 0(100) 2.70(100) 495.66(100) (0) (0) (0)
        12 - .01(100) 3.34(100) 411.57(100) (0) (0) (0)
        13 - - 2.87(100) 398.69(100) (0) (0) (0)
        14 - - 3.39(100) 413.44(100) 104.50(1) (0) (0)
        15 - - 3.12(100) 401.83(100) (0) (0) (0)
        16 - - 2.54(100) 315.10(100) (0) (0) (0)
        17 - - 2.96(100) 278.71(100) (0) (0) (0)
        """,
    "4.3": """
        2 0(100) 0(100) .98(100) 3.48(100) 11.46(100) 50.30(100) 904.24(100)
        3 0(100) 0(100) 4.90(100) 187.15(100) 775.01(100) 14580.76(91) (0)
        4 0(100) 0(100) 3.96(100) 3948.46(100) 4940.72(21) (0) (0)
        5 - 0(100) 4.79(100) 1978.47(100) (0) (0) (0)
        6 - 0(100) 4.90(100) 1168.63(100) 147.18(1) (0) (0)
        7 - .01(100) 3.96(100) 1088.75(100) (0) (0) (0)
        8 - 0(100) 4.77(100) 672.69(100) 117.19(1) (0) (0)
        9 - 0(100) 3.64(100) 585.36(100) (0) (0) (0)
        10 - 0(100) 4.08(100) 514.66(100) (0) (0) (0)
        11 - 0(100) 4.28(100) 495.54(100) (0) (0) (0)
        12 - 0(100) 4.19(100) 586.28(100) (0) (0) (0)
        13 - - 3.87(100) 515.66(100) 1291.93(3) (0) (0)
        14 - - 4.07(100) 434.25(100) (0) (0) (0)
        15 - - 4.31(100) 465.90(100) 547.72(2) (0) (0)
        16 - - 4.20(100) 479.69(100) 354.40(1) (0) (0)
        17 - - 4.07(100) 480.57(100) 1254.24(3) (0) (0)
        """,
    "4.4": """
        2 0(100) 0(100) .41(100) 1.16(100) 2.85(100) 4.60(100) 8.23(100)
        3 0(100) .01(100) 4.32(100) 423.81(100) 1549.94(100) 4221.40(100) 12334.21(99)
        4 0(100) 0(100) 5.20(100) 9084.00(97) 747.26(5) 400.08(1) (0)
        5 - 0(100) 5.80(100) 9868.34(99) (0) (0) (0)
        6 - 0(100) 5.87(100) 7711.59(98) (0) (0) (0)
        7 - 0(100) 4.94(100) 6624.80(100) (0) (0) (0)
        8 - 0(100) 4.84(100) 5613.97(99) (0) (0) (0)
        9 - 0(100) 4.27(100) 6110.32(100) (0) (0) (0)
        10 - 0(100) 4.01(100) 4823.86(100) (0) (0) (0)
        11 - 0(100) 4.62(100) 4423.21(100) (0) (0) (0)
        12 - 0(100) 4.80(100) 3717.22(100) (0) (0) (0)
        13 - - 4.40(100) 3788.93(100) (0) (0) (0)
        14 - - 4.18(100) 3662.54(100) (0) (0) (0)
        15 - - 4.78(100) 3420.84(100) 605.90(1) (0) (0)
        16 - - 3.61(100) 3743.37(100) (0) (0) (0)
        17 - - 3.99(100) 2955.41(100) (0) (0) (0)
        """,
    "4.5": """
        2 .01(100) 1528.95(100) (0)
        3 .14(100) 11029.43(95) (0)
        4 .20(100) 12458.94(81) (0)
        5 - 11508.57(68) (0)
        6 - 12022.89(52) (0)
        7 - 10869.88(40) (0)
        8 - 10345.21(46) (0)
        9 - 9046.74(31) (0)
        10 - 7569.48(29) (0)
        11 - 5935.50(23) (0)
        12 - 6163.20(24) (0)
        13 - - (0)
        14 - - (0)
        15 - - (0)
        16 - - (0)
        17 - - (0)
        """,
    "4.6": """
        2 0(100) 2.07(100) 9506.42(33)
        3 0(100) 20.50(100) (0)
        4 0(100) 40.55(100) (0)
        5 - 67.19(100) (0)
        6 - 110.14(100) (0)
        7 - 114.51(100) (0)
        8 - 121.07(100) (0)
        9 - 164.16(100) (0)
        10 - 176.94(100) (0)
        11 - 197.28(100) (0)
        12 - 237.23(100) (0)
        13 - - (0)
        14 - - (0)
        15 - - (0)
        16 - - (0)
        17 - - (0)
        """,
}
"""Tables 4.1 to 4.6 as printed: a line for each number of colours, with the seconds of all solved and how many of 100
were solved, for 4, 9, 16, 25, 36, 49 and 64 pieces."""

_SIZES = (4, 9, 16, 25, 36, 49, 64)


def _read(text: str) -> dict[int, dict[int, tuple[float, int]]]:
    """A printed table: colours -> {pieces: (seconds of all solved, solved of 100)}."""
    table: dict[int, dict[int, tuple[float, int]]] = {}
    for line in text.split("\n"):
        colours, *cells = line.split() or [""]
        found = [
            (size, re.fullmatch(r"([0-9.]*)\(([0-9]+)\)", cell)) for size, cell in zip(_SIZES, cells, strict=False)
        ]
        if cells:
            table[int(colours)] = {size: (float(cell[1] or 0), int(cell[2])) for size, cell in found if cell}
    return table


PAPER = {table: _read(text) for table, text in PRINTED.items()}


@dataclass(frozen=True)
class Plan:
    """The runs: ``per_size`` puzzles for each of ``sizes`` (sides of boards) and ``colours``, by all ``solvers``.

    ``seconds``: limit of a run, in processor time; ``seed``: seed of the first puzzle of each class, the next ones
    count up; ``solvers``: keys of `METHODS`.
    """

    sizes: tuple[int, ...] = (3, 4, 5)
    colours: tuple[int, ...] = (2, 4, 5, 6, 8, 12)
    per_size: int = 3
    seconds: float = 5.0
    seed: int = 1
    solvers: tuple[str, ...] = tuple(method for method in METHODS if method != PROGRAM or shutil.which(PROGRAM))


FULL = Plan((2, 3, 4, 5, 6, 7, 8), tuple(range(2, 18)), 100, 600.0, solvers=tuple(METHODS))


def runs(plan: Plan) -> Iterator[PlannedRun]:
    """Plan all runs, also those of classes that a method is unlikely to solve: zeros in the tables are measured."""
    for side in plan.sizes:
        for colours in plan.colours:
            if colours > 2 * side * (side - 1):
                continue  # more colours than inner edges
            for index in range(plan.per_size):
                puzzle = uniform(side, side, colours, plan.seed + index).puzzle
                name = f"{side * side}-c{colours}-s{plan.seed + index}"
                for method in plan.solvers:
                    solver, sat_solver, _, _ = METHODS[method]
                    yield solver_run(name, puzzle, solver, plan.seconds, sat_solver, label=method)


def tables(rows: Sequence[ComparisonRow], plan: Plan) -> str:
    """The text of a table for each method: mean seconds and share solved, the paper's figures in brackets."""
    parts = []
    for method in plan.solvers:
        _, _, title, table = METHODS[method]
        lines = [["colours", *(f"{side * side} pieces" for side in plan.sizes)]]
        for colours in plan.colours:
            line = [str(colours)]
            for side in plan.sizes:
                chosen = [
                    row
                    for row in rows
                    if row.solver == method and row.instance.startswith(f"{side * side}-c{colours}-")
                ]
                times = [row.seconds for row in chosen if row.status == "solved"]
                if not chosen:
                    line.append("-")
                    continue
                paper = PAPER.get(table, {}).get(colours, {}).get(side * side)
                seconds = f"{rounded(sum(times) / len(times))} s " if times else ""
                known = ""
                if paper is not None:
                    known = f" ({rounded(paper[0] / paper[1])} s {paper[1]}%)" if paper[1] else " (0%)"
                line.append(f"{seconds}{100 * len(times) // len(chosen)}%{known}")
            lines.append(line)
        parts.append(f"table {table}: {title}; mean seconds and share solved (the paper's)\n" + columns(lines))
    head = (
        f"Cuvillier & Szymkowiak 2010, chapter 4: {plan.per_size} puzzles for each class, "
        f"at most {plan.seconds:.0f} s of processor time each\n\n"
    )
    return head + "\n\n".join(parts)


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
