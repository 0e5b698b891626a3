"""A randomised check of ColorPairs, the row scan and, on tiny puzzles, all complete solvers.

``python -m tests.fuzz_exact [SECONDS [SEED]]``
"""

from __future__ import annotations

import sys
import time
from dataclasses import fields

import numpy as np

from exact.colorpairs.options import Heuristic, Options
from exact.outcome import SolveStatus
from exact.solvers import count
from instances.generate import corner_cells, uniform
from instances.puzzle import Puzzle
from tests.exact.brute import count_solutions
from tests.exact.puzzles import small_puzzle
from tests.exact.test_agreement import counts

TINY = 9  # cells
SWITCHES = [field.name for field in fields(Options) if field.name != "heuristic"]


def main(seconds: float, seed: int = 0) -> int:
    """Compare for ``seconds``; the number of puzzles checked. Raises AssertionError with the seed of a disagreement."""
    random = np.random.default_rng(seed)
    end = time.monotonic() + seconds
    checked = 0
    while time.monotonic() < end:
        puzzle_seed = int(random.integers(1 << 30))
        puzzle = small_puzzle(puzzle_seed) if checked % 3 else _larger_puzzle(puzzle_seed)
        scanned = count(puzzle, solver="rowscan", nodes=2_000_000)
        if scanned.status not in (SolveStatus.SOLVED, SolveStatus.INFEASIBLE):
            continue
        if scanned.nodes < 20_000:
            assert count_solutions(puzzle) == scanned.solutions, (
                f"row scan against brute force, puzzle seed {puzzle_seed}"
            )
        for _ in range(4):
            options = Options(
                heuristic=Heuristic(int(random.integers(len(Heuristic)))),
                **{name: bool(random.integers(2)) for name in SWITCHES},
            )
            outcome = count(puzzle, options=options)
            assert outcome.solutions == scanned.solutions, (
                f"puzzle seed {puzzle_seed}: {outcome.solutions} by {options}, not {scanned}"
            )
        if puzzle.cells <= TINY:
            by_solver = counts(puzzle)
            assert set(by_solver.values()) == {scanned.solutions}, f"puzzle seed {puzzle_seed}: {by_solver}"
        checked += 1
    return checked


def _larger_puzzle(seed: int) -> Puzzle:
    """4x4 to 7x6 with the corners fixed: big enough for long jumps and chains of preemptions."""
    random = np.random.default_rng(seed)
    width, height = int(random.integers(4, 8)), int(random.integers(4, 7))
    colours = int(random.integers(4, 8))
    return uniform(width, height, colours, seed).with_clues(corner_cells(width, height)).puzzle


if __name__ == "__main__":
    arguments = [*sys.argv[1:], "60", "0"][:2] if len(sys.argv) < 3 else sys.argv[1:3]
    print(f"{main(float(arguments[0]), int(arguments[1]))} puzzles agree")
