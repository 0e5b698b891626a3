"""Counts of random puzzles against brute force: ``python -m tests.fuzz_exact [QUESTIONS [SEED]]``.

A question is a puzzle under random rules (`any_puzzle`) and a solver: ColorPairs with random options, the row scan,
and each of the others that takes the puzzle. Then its pieces get copies, and the solvers that take them are asked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np

from lns.exact.colorpairs.options import Heuristic, Options
from lns.exact.piece_classes import assignments_per_board
from lns.exact.solvers import count
from lns.instances.pairing import pairing
from lns.instances.puzzle import Puzzle
from tests.exact.brute import TooMany, count_solutions, rotated_copies_once
from tests.exact.counting import Counts, counts_of, proven
from tests.exact.puzzles import FEW, MOST, any_puzzle
from tests.fuzz_region import ask_all
from tests.instances.small_puzzles import with_copies

TINY = 9  # cells; on larger puzzles only the first solvers count
OPTIONS = 6  # random options of ColorPairs for each puzzle
SWITCHES = [field.name for field in fields(Options) if field.name != "heuristic"]


def others(puzzle: Puzzle, solutions: int) -> Counts:
    """The counts of the solvers that no option changes, by name."""
    swaps = assignments_per_board(puzzle)
    counts = counts_of(puzzle, 0 if swaps > FEW or puzzle.cells > TINY or solutions > FEW else 3)
    if swaps > FEW:
        return {name: count for name, count in counts.items() if name == "rowscan"}
    return {name: count for name, count in counts.items() if name not in ("colorpairs", "auto") or puzzle.copies}


def questions(seed: int) -> Iterator[tuple[Puzzle, str, Callable[[], int], int]]:
    """Without end: a puzzle, what is asked, the count to be checked, and that of brute force."""
    while True:
        rng, puzzle = np.random.default_rng([seed, 1]), any_puzzle(seed)
        try:
            expected = count_solutions(puzzle, MOST)
        except TooMany:
            seed += 1
            continue
        assert not expected or pairing(puzzle).best_possible == puzzle.max_score, f"pairing of puzzle {seed}"
        for number in range(OPTIONS):
            chosen: dict[str, Any] = {name: bool(rng.integers(2)) for name in SWITCHES if number}
            options = Options(heuristic=Heuristic(int(rng.integers(len(Heuristic)))), **chosen)
            yield puzzle, f"{seed}: {options}", lambda p=puzzle, o=options: proven(p, "colorpairs", o), expected
        every = others(puzzle, expected)
        for name in rng.permutation(list(every))[:3].tolist():
            yield puzzle, f"{seed}: {name}", every[name], expected
        if not (puzzle.clues or {*puzzle.rules} - {"mates"}):
            solver = str(rng.choice(["colorpairs", "rowscan"]))
            pinned = "fixed in" in count(puzzle, solver, fix_corner=True).convention
            wanted = rotated_copies_once(puzzle) if pinned else expected
            yield puzzle, f"{seed}: corner", lambda p=puzzle, s=solver: proven(p, s, fix_corner=True), wanted
        with suppress(TooMany):
            if (copied := with_copies(puzzle, seed)).copies:
                every = others(copied, expected := count_solutions(copied, MOST))
                for name in rng.permutation(list(every))[:3].tolist():
                    yield copied, f"{seed}: copies, {name}", every[name], expected
        seed += 1


def check(answer: Callable[[], int], expected: int) -> None:
    found = answer()
    assert found == expected, f"{found}, not {expected}"


def main(count_of_questions: int = 2_000, seed: int = 0) -> int:
    """Ask questions, and return how many were answered wrongly."""
    each = ((puzzle, f"puzzle {what}", partial(check, *asked)) for puzzle, what, *asked in questions(seed))
    return ask_all(each, count_of_questions)


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:3])) > 0)
