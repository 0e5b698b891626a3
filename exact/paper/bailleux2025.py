"""Repeat tables 4 to 7 of Bailleux 2025: the four SAT encodings on puzzles cut from a torus with balanced colours.

A puzzle of n x n cells has n colours besides grey, which follows from the paper's numbers of variables.

References
----------
O. Bailleux, "Quel codage CNF pour les contraintes de concordance de motifs d'Eternity II ?", 2025.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from lns.exact.compare import ComparisonRow, Runs, run_experiment
from lns.exact.execution import Request
from lns.exact.paper.runs import NAN, Plan, Rows, crossed, grouped, mean_of, rounded, solver_run, times
from lns.exact.sat.clauses import lines_of
from lns.exact.sat.encodings import encode
from lns.exact.text_table import aligned
from lns.instances.errors import InputError
from lns.instances.generate import balanced_torus
from lns.instances.puzzle import Puzzle

ENCODINGS = ("half-3", "full-2", "half-2", "full-4")
SAT_SOLVER = "kissat404"
PROVERS = ("sat:half-3", "sat:half-2", "sat:full-2", "colorpairs")  # names of the solvers compared by `proofs_text`

# The paper's results: encoding -> side of the board -> (thousands of variables, thousands of clauses, megabytes of the
# file, percentage of puzzles solved in 1000 s, mean seconds of the solved puzzles or None)
PAPER: dict[str, dict[int, tuple[float, float, float, int, float | None]]] = {
    "half-3": {5: (2.6, 15, 0.2, 100, 0.03), 6: (5.2, 31, 0.5, 100, 0.18), 7: (9.1, 57, 1.0, 100, 1.39),
               8: (15, 97, 1.7, 100, 20.2), 9: (24, 154, 2.7, 49, 380), 10: (35, 233, 4.5, 0, None)},
    "full-2": {5: (7.5, 23, 0.3, 100, 0.00), 6: (15, 48, 0.8, 100, 0.09), 7: (29, 90, 1.8, 100, 1.04),
               8: (49, 155, 3.8, 100, 27.8), 9: (79, 250, 7.6, 30, 425), 10: (120, 383, 14.0, 0, None)},
    "half-2": {5: (8, 28, 0.4, 100, 0.00), 6: (17, 58, 0.9, 100, 0.03), 7: (30, 107, 1.7, 100, 0.54),
               8: (51, 180, 3.1, 100, 28.6), 9: (82, 286, 5.0, 25, 530), 10: (124, 433, 7.8, 0, None)},
    "full-4": {5: (21, 64, 0.7, 100, 0.34), 6: (80, 230, 3.5, 100, 2.68), 7: (246, 736, 12.0, 100, 47.4),
               8: (672, 2010, 33.0, 37, 497), 9: (1470, 4420, 75.0, 0, None)},
}  # fmt: skip

PLAN = Plan((5, 6, 7), (*(f"sat:{name}" for name in ENCODINGS), "colorpairs", "rowscan"), per_size=5, seconds=20.0)
FULL = replace(PLAN, sizes=(5, 6, 7, 8, 9, 10), per_size=100, seconds=1000.0)


def runs(plan: Plan) -> Runs:
    """Yield a planned run of each solver of ``plan`` on each of its puzzles."""
    request = Request(seconds=plan.seconds, sat_solver=SAT_SOLVER)
    for n, seed in product(plan.sizes, plan.seeds):
        puzzle = balanced_torus(n, n, seed).puzzle
        for solver in plan.solvers:
            yield solver_run(puzzle.name, puzzle, solver, request)


def _class(n: int) -> str:
    return f"balanced-torus-{n}x{n}-c{n}"


def tables(rows: Sequence[ComparisonRow], plan: Plan) -> str:
    """Return as text tables 4 to 7 (last columns: the paper's figures), the spread of times, and the best solvers."""
    by_class = grouped(rows)
    lines = [["method", "size", "puzzles", "solved %", "min s", "mean s", "max s", "variables", "clauses", "file MB",
              "peak MB", "paper: %", "mean s", "variables", "clauses", "file MB"]]  # fmt: skip
    wanted = ((solver, n, by_class[_class(n), solver]) for solver, n in product(plan.solvers, plan.sizes))
    lines += [_line(solver, n, chosen) for solver, n, chosen in wanted if chosen]
    best = [["size", "best encoding", "solved", "mean s", "best other", "solved", "mean s"]]
    best += [[f"{n}x{n}", *_best(by_class, plan, n, "sat:"), *_best(by_class, plan, n, "")] for n in plan.sizes]
    return "\n\n".join([
        f"Bailleux 2025, tables 4 to 7: {SAT_SOLVER}, limit {plan.seconds:.0f} s of processor time\n"
        + aligned(lines, repeated=2),
        _spread(by_class, plan),
        "the best encoding and the best other solver, by size\n" + aligned(best),
    ])  # fmt: skip


def _line(solver: str, n: int, chosen: Sequence[ComparisonRow]) -> list[str]:
    """Return the entries of a table row: results ``chosen`` of a solver on puzzles of side ``n``, and the paper's."""
    seconds, encoding = times(chosen), solver.removeprefix("sat:")
    sizes = [re.sub(r"[^\d ]", "", row.size).split() for row in chosen if "clauses" in row.size]
    numbers = [mean_of([float(size[at]) / 1000 for size in sizes]) for at in (0, 1)]
    peak = max((row.megabytes for row in chosen if row.megabytes > 0), default=NAN)
    printed = ["-"] * 5
    if (known := PAPER.get(encoding, {}).get(n)) is not None:
        variables, clauses, file, share, mean = known
        printed = [str(share), "-" if mean is None else str(mean), f"{variables}k", f"{clauses}k", str(file)]
    return [
        *(solver, f"{n}x{n}", str(len(chosen)), f"{100 * len(seconds) / len(chosen):.0f}"),
        *map(rounded, (min(seconds, default=NAN), mean_of(seconds), max(seconds, default=NAN))),
        *(f"{value:,.1f}k" if value == value else "-" for value in numbers),
        *map(rounded, (_megabytes_of_file(encoding, n), peak)),
        *printed,
    ]


@cache
def _megabytes_of_file(encoding: str, n: int) -> float:
    """Return the megabytes of the DIMACS file of a puzzle of side ``n``; NaN if n > 10 or ``encoding`` is not known."""
    if encoding not in ENCODINGS or n > 10:
        return NAN
    formula = encode(encoding, balanced_torus(n, n, 1).puzzle)
    return sum(len(text) for block in formula.clauses() for text in lines_of(block)) / 1e6


def _spread(by_class: Rows, plan: Plan) -> str:
    """Return a table of how far the solving times of one size spread, by the two measures of the paper's section 3.

    The first is the largest time divided by the smallest. The second is the largest k such that each of the k fastest
    puzzles of a size took less time than each of the k slowest of the size before. The paper found k = 6 for its
    fastest encoding, from 8x8 to 9x9.
    """
    lines = [["spread of the solved", "size", "max / min", "solved faster than as many of the size before"]]
    for solver in plan.solvers:
        before: list[float] = []
        for n in plan.sizes:
            seconds = sorted(times(by_class[_class(n), solver]))
            if len(seconds) > 1:
                most = min(len(seconds), len(before))
                crossing = next((k for k in range(most) if seconds[k] >= before[-1 - k]), most)
                factor = rounded(seconds[-1] / max(seconds[0], 1e-6))
                paper = " (paper 100)" if (solver, n) == ("sat:half-3", 8) else ""
                told = " (paper 6)" if (solver, n) == ("sat:half-3", 9) else ""
                lines.append([solver, f"{n}x{n}", factor + paper, f"{crossing}{told}" if before else "-"])
            before = seconds
    return aligned(lines, repeated=2)


def _best(by_class: Rows, plan: Plan, n: int, kind: str) -> list[str]:
    """Return three table entries: the best solver on puzzles of side ``n``, how many it solved, and mean seconds.

    ``kind`` is "sat:" for the best encoding, "" for the best other solver. The best one solved the largest share of its
    puzzles, and among equal shares has the least mean seconds. Solvers that refused a puzzle are left out.
    """
    ranked = []
    for solver in (each for each in plan.solvers if each.startswith("sat:") == bool(kind)):
        chosen = by_class[_class(n), solver]
        if chosen and all(row.status != "refused" for row in chosen):
            solved = times(chosen)
            ranked.append((-len(solved) / len(chosen), mean_of(solved), solver, f"{len(solved)} of {len(chosen)}"))
    _, seconds, best, solved_of = min(ranked, default=(0.0, NAN, "-", "-"))
    return [best, solved_of, "-" if seconds != seconds else f"{seconds:.3f}"]


def proofs_text(sides: Sequence[int], per_size: int, seconds: float, output: Path | None) -> str:
    """Return a table for section 3.1: mean seconds and number of proofs that no solution exists, by side and solver.

    The paper asks whether the unit propagations that HALF-3 lacks are useless in such proofs too. The puzzles are like
    those of the experiment, but changed by `with_swapped_sides`; each colour occurs as often as before. New result rows
    go to the CSV file ``output``. Raises InputError if a side is smaller than 4.
    """
    if min(sides) < 4:
        raise InputError("expected sides of 4 or more, with two inner pieces to swap")
    request = Request(seconds=seconds, sat_solver=SAT_SOLVER)
    puzzles = [balanced_torus(side, side, seed).puzzle for side in sides for seed in range(1, per_size + 1)]
    swapped = [(f"swapped-{puzzle.name}", with_swapped_sides(puzzle)) for puzzle in puzzles]
    planned = (solver_run(name, puzzle, prover, request) for name, puzzle in swapped for prover in PROVERS)
    by_class = grouped(run_experiment(planned, output))

    def entry(side: int, prover: str) -> str:
        chosen = by_class[f"swapped-{_class(side)}", prover]
        proofs = [row.seconds for row in chosen if row.status == "infeasible"]
        return f"{rounded(mean_of(proofs))}, {len(proofs)} of {len(chosen)}"

    rows, columns = {f"{side}x{side}": side for side in sides}, {prover: prover for prover in PROVERS}
    return crossed("mean seconds, proofs of puzzles", rows, columns, entry)


def with_swapped_sides(puzzle: Puzzle) -> Puzzle:
    """Return a puzzle like ``puzzle`` in which two inner pieces have swapped the colours of their upper sides.

    The two are the first inner piece and the next one with another upper colour. Raises InputError if there is none.
    """
    pieces = puzzle.pieces.copy()
    inner = np.flatnonzero((pieces > 0).all(axis=1))
    other = next((piece for piece in inner if pieces[piece, 0] != pieces[inner[0], 0]), None)
    if other is None:
        raise InputError(f"{puzzle.name}: the upper colours of all inner pieces are equal; expected two to swap")
    pieces[[inner[0], other], 0] = pieces[[other, inner[0]], 0]
    return Puzzle(pieces, puzzle.width, puzzle.height)
