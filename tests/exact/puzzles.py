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


def any_puzzle(seed: int, largest: int = 20) -> Puzzle:
    """A puzzle of at most ``largest`` cells under random rules; a third has one side in another colour."""
    rng = np.random.default_rng(seed)
    puzzle, _ = of_any_rules(seed, most=largest, unusual=0.3)
    inner = np.argwhere(puzzle.pieces > 0)
    if rng.random() < 0.3 and len(inner):
        pieces = puzzle.pieces.copy()
        row, side = inner[int(rng.integers(len(inner)))]
        pieces[row, side] = int(rng.integers(1, max(9, puzzle.colours + 1)))
        with suppress(InputError):  # two clues side by side that do not match now, or one without the rim's colour
            puzzle = replace(puzzle, pieces=pieces)
    return puzzle


def small_puzzles(number: int, largest: int = 12, seed: int = 0) -> Iterator[tuple[Puzzle, frozenset[Look]]]:
    """So many of these puzzles that have few solutions, and these, which brute force finds soon."""
    while number:
        puzzle, seed = any_puzzle(seed, largest), seed + 1
        with suppress(TooMany):
            boards = all_boards(puzzle, MOST)
            if max(assignments_per_board(puzzle), len(boards)) <= FEW:
                number -= 1
                yield puzzle, boards


def small_puzzle(seed: int, largest: int = 12) -> Puzzle:
    """The first of them from a seed on."""
    return next(small_puzzles(1, largest, seed))[0]


def last_message(task: Callable[..., None], puzzle: Puzzle, request: Request, *arguments: object) -> Outcome:
    """What the task of a child process says at last, called in this process."""
    messages: list[Outcome] = []
    task(messages.append, puzzle, request, *arguments)
    return messages[-1]
