"""Small random puzzles under all rules, solvable or not, and their solutions; tasks of child processes."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np

from lns.exact.execution import Request
from lns.exact.outcome import Outcome
from lns.exact.piece_classes import assignments_per_board
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle
from tests.exact.brute import Look, TooMany, all_boards
from tests.instances.small_puzzles import of_any_rules

MOST = 20_000  # placements of brute force; puzzles that need more are left out
FEW = 200  # solutions, or ways to swap identical pieces in one; most solvers find each alone


def small_puzzle(seed: int, most: int = 20) -> Puzzle:
    """A puzzle of at most so many cells under random rules; a third has one side in another colour."""
    rng = np.random.default_rng(seed)
    puzzle, _ = of_any_rules(seed, most=most, unusual=0.3)
    inner = np.argwhere(puzzle.pieces > 0)
    if rng.random() < 0.3 and len(inner):
        pieces = puzzle.pieces.copy()
        row, side = inner[int(rng.integers(len(inner)))]
        pieces[row, side] = int(rng.integers(1, max(9, puzzle.colours + 1)))
        with suppress(InputError):  # two clues side by side that do not match now, or one without the rim's colour
            puzzle = replace(puzzle, pieces=pieces)
    return puzzle


def small_puzzles(number: int, most: int = 12) -> Iterator[tuple[Puzzle, frozenset[Look]]]:
    """So many of the small puzzles that have few solutions, and these."""
    seed = 0
    while number:
        puzzle, seed = small_puzzle(seed, most), seed + 1
        with suppress(TooMany):
            boards = all_boards(puzzle, MOST)
            if max(assignments_per_board(puzzle), len(boards)) <= FEW:
                number -= 1
                yield puzzle, boards


def last_message(task: Callable[..., None], puzzle: Puzzle, request: Request, *arguments: object) -> Outcome:
    """What the task of a child process says at last, called in this process."""
    messages: list[Outcome] = []
    task(messages.append, puzzle, request, *arguments)
    return messages[-1]
