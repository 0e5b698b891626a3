"""A full board in a moment, for a search that ends before its first step has made one."""

from __future__ import annotations

import numpy as np

from lns.engine import FoundBoard, verified_board
from lns.instances.board import Board
from lns.instances.puzzle import Puzzle

ORIGIN = "greedy"
"""Origin of the board in reports. No search is given this board, which a longer first step would not have known."""


def greedy_board(puzzle: Puzzle) -> FoundBoard:
    """Fill the board row by row, each cell with the free piece that matches most of the placed neighbours.

    Of equal pieces the first is taken. A piece fits the grey sides of the cells of one kind only, and there are as many
    pieces as cells of each kind, so that a piece is left for each cell.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle of any rules.

    Returns
    -------
    FoundBoard
        A full legal board that keeps the clues.
    """
    quads = puzzle.oriented
    placed = np.full(puzzle.cells, -1, dtype=np.int32)
    free = np.ones(4 * puzzle.cells, dtype=bool)
    for clue in puzzle.fixed:
        placed[clue.cell] = clue.oriented
        free[4 * clue.piece : 4 * clue.piece + 4] = False
    for cell in np.flatnonzero(placed < 0).tolist():
        matches = np.zeros(4 * puzzle.cells, dtype=np.int8)
        for side, neighbour in puzzle.neighbours(cell):
            if placed[neighbour] >= 0:
                matches += quads[:, side] == quads[placed[neighbour], (side + 2) % 4]
        piece = int(np.where(free & puzzle.fits(cell), matches, -1).argmax())
        placed[cell] = piece
        free[piece - piece % 4 : piece - piece % 4 + 4] = False
    return verified_board(puzzle, Board(placed, puzzle.width, puzzle.height), ORIGIN)
