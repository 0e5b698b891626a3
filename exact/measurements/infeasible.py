"""Proofs that a puzzle has no solution, by encoding: `python -m lns.exact.measurements.infeasible SIDE ... -o CSV`.

Bailleux 2025, 3.1, asks whether the propagations that HALF-3 lacks are useless for such a proof too. The puzzles are
those of its experiment with the upper colours of two inner pieces swapped; each colour occurs as often as before.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from lns.exact.compare import ComparisonRow
from lns.exact.execution import Request
from lns.exact.paper.runs import PlannedRun, crossed, mean_of, rounded, run_experiment, solver_run
from lns.instances.errors import InputError
from lns.instances.generate import balanced_torus
from lns.instances.puzzle import Puzzle

SOLVERS = ("sat:half-3", "sat:half-2", "sat:full-2", "colorpairs")


def main(argv: Sequence[str] | None = None) -> int:
    """Print the mean processor time of the proofs and their number, by side and solver."""
    parser = argparse.ArgumentParser(prog="python -m lns.exact.measurements.infeasible", description=__doc__)
    parser.add_argument("sides", metavar="SIDE", type=int, nargs="+", help="rows of the boards")
    parser.add_argument("--per-size", metavar="N", type=int, default=10, help="puzzles of each side (default 10)")
    parser.add_argument("--seconds", metavar="S", type=float, default=60.0, help="limit of a run (default 60)")
    parser.add_argument("-o", "--output", metavar="CSV", type=Path, help="a row for each run; the file is continued")
    args = parser.parse_args(argv)
    if min(args.sides) < 4 or args.per_size < 1 or not args.seconds > 0:
        parser.error("expected sides of 4 or more, with two inner pieces to swap, at least 1 puzzle and more than 0 s")
    try:
        rows = list(run_experiment(planned_runs(args.sides, args.per_size, args.seconds), args.output))
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    sides = {f"{side}x{side}": side for side in args.sides}
    solvers = {solver: solver for solver in SOLVERS}
    print(crossed("mean seconds, proofs of puzzles", sides, solvers, lambda *key: _entry(rows, *key)))
    return 0


def planned_runs(sides: Sequence[int], per_size: int, seconds: float) -> Iterator[PlannedRun]:
    """A run of each solver on each puzzle."""
    for side in sides:
        for seed in range(1, per_size + 1):
            planted = balanced_torus(side, side, seed).puzzle
            puzzle = with_swapped_sides(planted)
            for solver in SOLVERS:
                request = Request(seconds=seconds, sat_solver="kissat404")
                yield solver_run(f"swapped-{planted.name}", puzzle, solver, request)


def with_swapped_sides(puzzle: Puzzle) -> Puzzle:
    """The puzzle with the upper colours of its first inner piece and of the next that has another one swapped.

    Raises InputError if no inner piece has another one.
    """
    pieces = puzzle.pieces.copy()
    inner = np.flatnonzero((pieces > 0).all(axis=1))
    other = next((piece for piece in inner if pieces[piece, 0] != pieces[inner[0], 0]), None)
    if other is None:
        raise InputError(f"{puzzle.name}: the upper colours of all inner pieces are equal; expected two to swap")
    pieces[[inner[0], other], 0] = pieces[[other, inner[0]], 0]
    return Puzzle(pieces, puzzle.width, puzzle.height)


def _entry(rows: Sequence[ComparisonRow], side: int, solver: str) -> str:
    board = f"swapped-balanced-torus-{side}x"
    chosen = [row for row in rows if row.solver == solver and row.instance.startswith(board)]
    proofs = [row.seconds for row in chosen if row.status == "infeasible"]
    return f"{rounded(mean_of(proofs))}, {len(proofs)} of {len(chosen)}"


if __name__ == "__main__":
    sys.exit(main())
