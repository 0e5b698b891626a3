"""Small random puzzles, solvable or not, with duplicate and symmetric pieces and clues; tasks of child processes."""

from collections.abc import Callable

import numpy as np

from lns.exact.execution import Request
from lns.exact.outcome import Outcome
from lns.instances.errors import InputError
from lns.instances.generate import uniform
from lns.instances.puzzle import Clue, Puzzle


def small_puzzle(seed: int, largest: int = 16) -> Puzzle:
    """A random puzzle of at most ``largest`` cells; it has few colours, so duplicates and symmetry are common."""
    random = np.random.default_rng(seed)
    shapes = [(w, h) for w in range(1, 7) for h in range(1, 7) if 2 <= w * h <= largest]
    width, height = shapes[int(random.integers(len(shapes)))]
    planted = uniform(
        width, height, int(random.integers(1 if width * height <= 6 else 2, 5)), int(random.integers(1 << 30))
    )
    puzzle = planted.puzzle
    if random.random() < 0.4:  # one side gets another colour: often there is no solution then
        pieces = puzzle.pieces.copy()
        inner = np.argwhere(pieces > 0)
        row, side = inner[int(random.integers(len(inner)))]
        pieces[row, side] = int(random.integers(1, 5))
        return Puzzle(pieces, width, height)
    clues = [
        Clue(cell, *divmod(int(planted.solution.placements[cell]), 4))
        for cell in range(puzzle.cells)
        if random.random() < 0.12
    ]
    try:
        return puzzle.with_clues(clues)
    except InputError:
        return puzzle


def last_message(task: Callable[..., None], puzzle: Puzzle, request: Request, *arguments: object) -> Outcome:
    """What the task of a child process says at last, called in this process."""
    messages: list[Outcome] = []
    task(messages.append, puzzle, request, *arguments)
    return messages[-1]
