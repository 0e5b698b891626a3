"""What an operator of the large-neighbourhood search is: a function from a board to a move."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from instances.board import Board
from instances.puzzle import IntArray, Puzzle
from lns.assignment import matched_edges


class Move(NamedTuple):
    """Result of an operator."""

    board: Board  # full and legal; the given board if nothing was found
    score: int  # matched inner edges of ``board``
    nodes: int  # cost in placements of a region re-solve in fixed orders


Operator = Callable[[Puzzle, Board, np.random.Generator, int], Move]
"""``operator(puzzle, board, rng, nodes)``: changes a board and returns the changed one.

``board`` is full and legal; ``nodes`` is a budget in placements of a region re-solve, kept approximately. Clues, border
and the set of pieces are kept. The score does not fall, unless the operator's docstring says so. ``rng`` is the only
state: the same arguments give the same move.
"""


def mismatched_pairs(puzzle: Puzzle, board: Board) -> IntArray:
    """Pairs of neighbouring cells whose edge does not match.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle of the board.
    board : Board
        Full board.

    Returns
    -------
    int32 array (mismatches, 2)
        Horizontal pairs first, each row-major.
    """
    colours = puzzle.oriented[board.placements].reshape(puzzle.height, puzzle.width, 4)
    cells = np.arange(puzzle.cells).reshape(puzzle.height, puzzle.width)
    across = colours[:, :-1, 1] != colours[:, 1:, 3]
    down = colours[:-1, :, 2] != colours[1:, :, 0]
    first = np.concatenate([cells[:, :-1][across], cells[:-1][down]])
    second = np.concatenate([cells[:, 1:][across], cells[1:][down]])
    return np.stack([first, second], axis=1).astype(np.int32)


def score_of(puzzle: Puzzle, board: Board) -> int:
    """Matched inner edges of a full board with a legal border."""
    return matched_edges(puzzle, board.placements)
