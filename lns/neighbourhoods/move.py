"""What every neighbourhood looks like to the search: a board in, a move out."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from instances.board import Board
from instances.puzzle import IntArray, Puzzle
from lns.assignment import matched_edges


class Move(NamedTuple):
    """A full legal board and its score. ``nodes``: the work that it took, in placements of a re-solve."""

    board: Board
    score: int
    nodes: int


Operator = Callable[[Puzzle, Board, np.random.Generator, int], Move]
"""``operator(puzzle, board, chance, nodes)``: ``board`` is full and legal, ``nodes`` a budget that it keeps to, about.

Clues and rim hold, each piece lies once, and the score never falls, unless the operator's docstring says so.
All its state is ``chance``.
"""


def damage(puzzle: Puzzle, board: Board) -> IntArray:
    """Pairs of neighbouring cells that do not match: int32 (n, 2)."""
    quads = puzzle.oriented[board.placements].reshape(puzzle.height, puzzle.width, 4)
    cells = np.arange(puzzle.cells).reshape(puzzle.height, puzzle.width)
    across = quads[:, :-1, 1] != quads[:, 1:, 3]
    down = quads[:-1, :, 2] != quads[1:, :, 0]
    first = np.concatenate([cells[:, :-1][across], cells[:-1][down]])
    second = np.concatenate([cells[:, 1:][across], cells[1:][down]])
    return np.stack([first, second], axis=1).astype(np.int32)


def score_of(puzzle: Puzzle, board: Board) -> int:
    """Matched inner edges of a full board with a legal rim."""
    return matched_edges(puzzle, board.placements)
