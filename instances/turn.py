"""The board seen from another side: puzzles and boards after quarter turns; same pieces, same scores."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from instances.board import EMPTY, Board
from instances.puzzle import Clue, Puzzle


@lru_cache(maxsize=8)
def turned_puzzle(puzzle: Puzzle, turns: int) -> Puzzle:
    """The puzzle whose board is that of ``puzzle`` after ``turns`` clockwise quarter turns."""
    cells = np.rot90(np.arange(puzzle.cells).reshape(puzzle.height, puzzle.width), -turns)
    at = np.argsort(cells.reshape(-1))  # old cell -> new cell
    clues = tuple(Clue(int(at[clue.cell]), clue.piece, (clue.rotation + turns) % 4) for clue in puzzle.clues)
    return Puzzle(puzzle.pieces, cells.shape[1], cells.shape[0], clues, puzzle.name)


def turned_board(board: Board, turns: int) -> Board:
    """A board, partial or full, after ``turns`` clockwise quarter turns, or back again (negative)."""
    grid = np.rot90(board.placements.reshape(board.height, board.width), -turns)
    laid = np.where(grid < 0, EMPTY, grid // 4 * 4 + (grid + turns) % 4)
    return Board(laid, grid.shape[1], grid.shape[0])
