"""Cuvillier & Szymkowiak 2010, chapter 4: minisat and five local searches by number of colours and of pieces.

References
----------
G. Cuvillier and J. Szymkowiak, "Résolution du jeu Eternity 2 avec les technologies SAT",
Université d'Artois, 2010, tables 4.1 to 4.6.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from exact.compare import ComparisonRow
from exact.paper.runs import PlannedRun, columns, rounded, solver_run
from instances.generate import uniform

# method -> (name in `exact.registry.SOLVERS`, solver of python-sat, table of the paper)
METHODS: dict[str, tuple[str, str | None, str]] = {
    "minisat": ("sat:triangles", "minisat22", "4.1"),
    "restricted": ("sat:triangles-restricted", None, "4.1, text"),
    "adaptnovelty+": ("sls:adaptnovelty+", None, "4.2"),
    "adaptg2wsat": ("sls:adaptg2wsat", None, "4.3"),
    "rsaps": ("sls:rsaps", None, "4.4"),
    "dcrwalk": ("sls:dcrwalk", None, "4.5"),
    "irots": ("sls:irots", None, "4.6"),
}

# table -> colours -> {pieces: (seconds of all solved, solved of 100)}; rows quoted in docs/papers
PAPER: dict[str, dict[int, dict[int, tuple[float, int]]]] = {
    "4.1": {2: {16: (0.74, 100), 25: (3.23, 100), 36: (1242.08, 100)},
            4: {16: (0.77, 100), 25: (13.45, 100), 36: (1068.07, 100)},
            5: {16: (0.76, 100), 25: (8.05, 100), 36: (4084.55, 100)},
            6: {16: (0.76, 100), 25: (5.55, 100), 36: (8324.54, 94)},
            8: {16: (0.77, 100), 25: (3.68, 100), 36: (1019.18, 100)},
            12: {16: (0.79, 100), 25: (3.19, 100), 36: (108.32, 100)}},
    "4.2": {2: {16: (0.50, 100), 25: (2.67, 100)},
            4: {16: (3.83, 100), 25: (5091.54, 100)},
            6: {16: (3.53, 100), 25: (2570.78, 100)},
            8: {16: (3.18, 100), 25: (1237.45, 100)},
            12: {16: (3.34, 100), 25: (411.57, 100)}},
    "4.3": {2: {16: (0.98, 100), 25: (3.48, 100)},
            4: {16: (3.96, 100), 25: (3948.46, 100)},
            6: {16: (4.90, 100), 25: (1168.63, 100)},
            8: {16: (4.77, 100), 25: (672.69, 100)},
            12: {16: (4.19, 100), 25: (586.28, 100)}},
    "4.4": {2: {16: (0.41, 100), 25: (1.16, 100)},
            4: {16: (5.20, 100), 25: (9084.00, 97)},
            6: {16: (5.87, 100), 25: (7711.59, 98)},
            8: {16: (4.84, 100), 25: (5613.97, 99)},
            12: {16: (4.80, 100), 25: (3717.22, 100)}},
    "4.5": {2: {9: (1528.95, 100), 16: (0.0, 0)},
            4: {9: (12458.94, 81), 16: (0.0, 0)},
            6: {9: (12022.89, 52), 16: (0.0, 0)}},
    "4.6": {2: {9: (2.07, 100), 16: (9506.42, 33)},
            4: {9: (40.55, 100), 16: (0.0, 0)},
            6: {9: (110.14, 100), 16: (0.0, 0)}},
}  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """The runs: ``per_size`` puzzles for each of ``sizes`` (sides of boards) and ``colours``, by all ``solvers``.

    ``seconds``: limit of a run, in processor time; ``seed``: seed of the first puzzle of each class, the next ones
    count up; ``solvers``: names of `exact.registry.SOLVERS`.
    """

    sizes: tuple[int, ...] = (3, 4, 5)
    colours: tuple[int, ...] = (2, 4, 5, 6, 8, 12)
    per_size: int = 3
    seconds: float = 5.0
    seed: int = 1
    solvers: tuple[str, ...] = tuple(solver for solver, _, _ in METHODS.values())


FULL = Plan((2, 3, 4, 5, 6, 7, 8), tuple(range(2, 18)), 100, 600.0)


def runs(plan: Plan) -> Iterator[PlannedRun]:
    """Plan all runs, also those of classes that a method is unlikely to solve: zeros in the tables are measured."""
    for side in plan.sizes:
        for colours in plan.colours:
            if colours > 2 * side * (side - 1):
                continue  # more colours than inner edges
            for index in range(plan.per_size):
                puzzle = uniform(side, side, colours, plan.seed + index).puzzle
                name = f"{side * side}-c{colours}-s{plan.seed + index}"
                for solver, sat_solver, _ in METHODS.values():
                    if solver not in plan.solvers:
                        continue
                    yield solver_run(name, puzzle, solver, plan.seconds, sat_solver)


def tables(rows: Sequence[ComparisonRow], plan: Plan) -> str:
    """The text of a table for each method: mean seconds and share solved, the paper's figures in brackets."""
    parts = []
    for method, (solver, _, table) in METHODS.items():
        if solver not in plan.solvers:
            continue
        lines = [["colours", *(f"{side * side} pieces" for side in plan.sizes)]]
        for colours in plan.colours:
            line = [str(colours)]
            for side in plan.sizes:
                chosen = [
                    row
                    for row in rows
                    if row.solver == solver and row.instance.startswith(f"{side * side}-c{colours}-")
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
        parts.append(f"table {table}: {method}, mean seconds and share solved (the paper's)\n" + columns(lines))
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
        if row.solver == "sat:triangles":
            points.setdefault(int(pieces), {}).setdefault(int(colours[1:]), []).append(row.seconds)
    for size, times in sorted(points.items()):
        means = [sum(times[colours]) / len(times[colours]) for colours in sorted(times)]
        axes.plot(sorted(times), means, marker="o", label=f"{size} pieces")
    axes.set(xlabel="colours", ylabel="mean seconds, minisat", yscale="log")
    if points:
        axes.legend()
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)
