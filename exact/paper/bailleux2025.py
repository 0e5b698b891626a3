"""Bailleux 2025, section 3: the four SAT encodings on balanced toroidal puzzles, tables 4 to 7.

References
----------
O. Bailleux, "Quel codage CNF pour les contraintes de concordance de motifs d'Eternity II ?", 2025.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from exact.compare import ComparisonRow
from exact.paper.runs import PlannedRun, mean_of, rounded, solver_run
from exact.sat.dimacs import lines_of
from exact.sat.encodings import encode
from instances.generate import balanced_torus
from lns_support.text_table import aligned

ENCODINGS = ("half-3", "full-2", "half-2", "full-4")

# encoding -> size -> (thousands of variables, of clauses, % solved in 1000 s, mean seconds of those solved)
PAPER: dict[str, dict[int, tuple[float, float, int, float | None]]] = {
    "half-3": {5: (2.6, 15, 100, 0.03), 6: (5.2, 31, 100, 0.18), 7: (9.1, 57, 100, 1.39), 8: (15, 97, 100, 20.2),
               9: (24, 154, 49, 380), 10: (35, 233, 0, None)},
    "full-2": {5: (7.5, 23, 100, 0.00), 6: (15, 48, 100, 0.09), 7: (29, 90, 100, 1.04), 8: (49, 155, 100, 27.8),
               9: (79, 250, 30, 425), 10: (120, 383, 0, None)},
    "half-2": {5: (8, 28, 100, 0.00), 6: (17, 58, 100, 0.03), 7: (30, 107, 100, 0.54), 8: (51, 180, 100, 28.6),
               9: (82, 286, 25, 530), 10: (124, 433, 0, None)},
    "full-4": {5: (21, 64, 100, 0.34), 6: (80, 230, 100, 2.68), 7: (246, 736, 100, 47.4), 8: (672, 2010, 37, 497),
               9: (1470, 4420, 0, None)},
}  # fmt: skip


# encoding -> megabytes of the formula as a file, sides 5 to 10
PAPER_FILES = {
    "half-3": (0.2, 0.5, 1.0, 1.7, 2.7, 4.5),
    "full-2": (0.3, 0.8, 1.8, 3.8, 7.6, 14.0),
    "half-2": (0.4, 0.9, 1.7, 3.1, 5.0, 7.8),
    "full-4": (0.7, 3.5, 12.0, 33.0, 75.0),
}


@dataclass(frozen=True)
class Plan:
    """The runs: ``per_size`` puzzles for each of ``sizes`` (sides), each by all ``solvers``.

    ``seconds``: limit of a run, in processor time; ``seed``: seed of the first puzzle of each size, the next ones count
    up; ``sat_solver``: the solver of python-sat for the encodings; ``solvers``: names of `exact.registry.SOLVERS`.
    """

    sizes: tuple[int, ...] = (5, 6, 7)
    per_size: int = 5
    seconds: float = 20.0
    seed: int = 1
    sat_solver: str = "kissat404"
    solvers: tuple[str, ...] = (*(f"sat:{name}" for name in ENCODINGS), "colorpairs", "rowscan")


FULL = Plan(sizes=(5, 6, 7, 8, 9, 10), per_size=100, seconds=1000.0)


def runs(plan: Plan) -> Iterator[PlannedRun]:
    """Plan all runs. A puzzle of side n has n colours, as the paper's numbers of variables imply."""
    for n in plan.sizes:
        for index in range(plan.per_size):
            puzzle = balanced_torus(n, n, plan.seed + index).puzzle
            for solver in plan.solvers:
                yield solver_run(puzzle.name, puzzle, solver, plan.seconds, plan.sat_solver)


def tables(rows: Sequence[ComparisonRow], plan: Plan) -> str:
    """The text of tables 4 to 7: a line for each method and size, with the paper's figures in the last columns."""
    lines = [["method", "size", "puzzles", "solved %", "min s", "mean s", "max s", "variables", "clauses", "file MB",
              "peak MB", "paper: %", "mean s", "variables", "clauses", "file MB"]]  # fmt: skip
    for solver in plan.solvers:
        for n in plan.sizes:
            chosen = _of(rows, solver, n)
            if not chosen:
                continue
            times = [row.seconds for row in chosen if row.status == "solved"]
            sizes = [re.sub(r"[^\d ]", "", row.size).split() for row in chosen if "clauses" in row.size]
            variables, clauses = (mean_of([float(size[at]) / 1000 for size in sizes]) for at in (0, 1))
            encoding = solver.removeprefix("sat:")
            paper = PAPER.get(encoding, {}).get(n)
            file, files = megabytes_of_file(encoding, n), PAPER_FILES.get(encoding, ())
            peaks = [row.megabytes for row in chosen if row.megabytes > 0]
            lines.append(
                [
                    solver,
                    f"{n}x{n}",
                    str(len(chosen)),
                    f"{100 * len(times) / len(chosen):.0f}",
                    rounded(min(times, default=float("nan"))),
                    rounded(mean_of(times)),
                    rounded(max(times, default=float("nan"))),
                    *(f"{value:,.1f}k" if value == value else "-" for value in (variables, clauses)),
                    rounded(file),
                    rounded(max(peaks, default=float("nan"))),
                    *(["-"] * 5 if paper is None else [str(paper[2]), "-" if paper[3] is None else str(paper[3])]),
                    *([] if paper is None else [f"{paper[0]}k", f"{paper[1]}k"]),
                    *([] if paper is None else [str(files[n - 5]) if n - 5 < len(files) else "-"]),
                ]
            )
    head = f"Bailleux 2025, tables 4 to 7: {plan.sat_solver}, limit {plan.seconds:.0f} s of processor time\n"
    return head + aligned(lines, repeated=2) + "\n\n" + spread(rows, plan) + "\n\n" + best(rows, plan)


@cache
def megabytes_of_file(encoding: str, n: int) -> float:
    """The formula of one puzzle of side ``n`` as a DIMACS file, without comments, in megabytes; NaN if it is none."""
    if encoding not in ENCODINGS or n > 10:
        return float("nan")
    formula = encode(encoding, balanced_torus(n, n, 1).puzzle)
    return sum(len(text) for block in formula.clauses() for text in lines_of(block)) / 1e6


def spread(rows: Sequence[ComparisonRow], plan: Plan) -> str:
    """How far the times of one size spread, in the two ways of the paper's section 3.

    The largest time over the smallest; and the largest number k such that k puzzles of a size are solved faster than k
    puzzles of the size before (the paper, with its fastest encoding: 6 of 9x9 and 8x8).
    """
    lines = [["spread of the solved", "size", "max / min", "solved faster than as many of the size before"]]
    for solver in plan.solvers:
        before: list[float] = []
        for n in plan.sizes:
            times = sorted(row.seconds for row in _of(rows, solver, n) if row.status == "solved")
            if len(times) > 1:
                pairs = zip(times, reversed(before), strict=False)
                crossing = next(
                    (k for k, (fast, slow) in enumerate(pairs) if fast >= slow), min(len(times), len(before))
                )
                factor = rounded(times[-1] / max(times[0], 1e-6))
                paper = " (paper 100)" if (solver, n) == ("sat:half-3", 8) else ""
                told = " (paper 6)" if (solver, n) == ("sat:half-3", 9) else ""
                lines.append([solver, f"{n}x{n}", factor + paper, f"{crossing}{told}" if before else "-"])
            before = times
    return aligned(lines, repeated=2)


def best(rows: Sequence[ComparisonRow], plan: Plan) -> str:
    """A table by size: the best encoding beside the best other solver. Best: most puzzles solved, then least time."""
    lines = [["size", "best encoding", "solved", "mean s", "best other", "solved", "mean s"]]
    for n in plan.sizes:
        line = [f"{n}x{n}"]
        for encoding in (True, False):
            ranked = []
            for solver in plan.solvers:
                chosen = _of(rows, solver, n)
                if chosen and solver.startswith("sat:") == encoding and all(row.status != "refused" for row in chosen):
                    times = [row.seconds for row in chosen if row.status == "solved"]
                    ranked.append((-len(times) / len(chosen), mean_of(times), solver, f"{len(times)} of {len(chosen)}"))
            _, seconds, solver, solved = min(ranked, default=(0.0, float("nan"), "-", "-"))
            line += [solver, solved, "-" if seconds != seconds else f"{seconds:.3f}"]
        lines.append(line)
    return "the best encoding and the best other solver, by size\n" + aligned(lines)


def _of(rows: Sequence[ComparisonRow], solver: str, n: int) -> list[ComparisonRow]:
    return [row for row in rows if row.solver == solver and row.instance.startswith(f"balanced-torus-{n}x{n}-")]


def plot(rows: Sequence[ComparisonRow], path: Path) -> None:
    """Draw the mean seconds by size, a curve for each method, to the image file ``path``. Needs matplotlib."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    for solver in dict.fromkeys(row.solver for row in rows):
        times: dict[int, list[float]] = {}
        for row in rows:
            if row.solver == solver and row.status == "solved":
                times.setdefault(int(row.instance.split("-")[2].split("x")[0]), []).append(row.seconds)
        axes.plot(sorted(times), [mean_of(times[n]) for n in sorted(times)], marker="o", label=solver)
    axes.set(xlabel="side of the board", ylabel="mean seconds of those solved", yscale="log")
    axes.legend()
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)
