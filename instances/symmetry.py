"""The board seen from another side: puzzles and boards after quarter turns or in a mirror; same pieces, same scores."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from instances.board import EMPTY, Board
from instances.puzzle import Clue, Puzzle

_MIRRORED = (0, 3, 2, 1)  # where a piece's colours, up, right, down and left, go in a mirror


class View(NamedTuple):
    """After so many clockwise quarter turns; then left and right exchanged, if ``mirrored``."""

    turns: int = 0
    mirrored: bool = False


IDENTITY_VIEW = View()


@lru_cache(maxsize=8)
def rotate_puzzle(puzzle: Puzzle, turns: int) -> Puzzle:
    """The puzzle whose board is that of ``puzzle`` after ``turns`` clockwise quarter turns."""
    cells = np.rot90(np.arange(puzzle.cells).reshape(puzzle.height, puzzle.width), -turns)
    at = np.argsort(cells.reshape(-1))  # old cell -> new cell
    clues = tuple(Clue(int(at[clue.cell]), clue.piece, (clue.rotation + turns) % 4) for clue in puzzle.clues)
    return Puzzle(puzzle.pieces, cells.shape[1], cells.shape[0], clues, puzzle.name)


def rotate_board(board: Board, turns: int) -> Board:
    """A board, partial or full, after ``turns`` clockwise quarter turns, or back again (negative)."""
    grid = np.rot90(board.placements.reshape(board.height, board.width), -turns)
    laid = np.where(grid < 0, EMPTY, grid // 4 * 4 + (grid + turns) % 4)
    return Board(laid, grid.shape[1], grid.shape[0])


@lru_cache(maxsize=16)
def puzzle_in_view(puzzle: Puzzle, view: View) -> Puzzle:
    """The puzzle as it is seen from ``view``. A mirrored piece keeps its number, and its rotations run backwards."""
    turned = rotate_puzzle(puzzle, view.turns) if view.turns else puzzle
    if not view.mirrored:
        return turned
    clues = tuple(Clue(_mirrored(clue.cell, turned.width), clue.piece, -clue.rotation % 4) for clue in turned.clues)
    return Puzzle(turned.pieces[:, _MIRRORED], turned.width, turned.height, clues, turned.name)


def board_from_view(board: Board, view: View) -> Board:
    """The board of the puzzle, partial or full, that looks like ``board`` from ``view``."""
    return rotate_board(_mirrored_board(board) if view.mirrored else board, -view.turns)


def _mirrored_board(board: Board) -> Board:
    grid = board.placements.reshape(board.height, board.width)[:, ::-1]
    return Board(np.where(grid < 0, EMPTY, grid // 4 * 4 + -grid % 4), board.width, board.height)


def _mirrored(cell: int, width: int) -> int:
    return cell + width - 1 - 2 * (cell % width)
