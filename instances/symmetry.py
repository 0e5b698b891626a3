"""Rotations and reflections of puzzles and boards. None of them changes the score of a board."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lns.instances.board import EMPTY, Board
from lns.instances.errors import InputError
from lns.instances.puzzle import Clue, IntArray, Puzzle, read_only

_REFLECTED_SIDES = (0, 3, 2, 1)  # sides of a piece in their order after a reflection, which exchanges right and left


class View(NamedTuple):
    """A symmetry of the board: a rotation, followed by a reflection if ``mirrored``."""

    turns: int = 0  # number of clockwise quarter turns, which are applied first
    mirrored: bool = False  # whether left and right are exchanged after the turns


IDENTITY_VIEW = View()


def rotate_puzzle(puzzle: Puzzle, turns: int) -> Puzzle:
    """Return the puzzle with its board turned by ``turns`` clockwise quarter turns; see `puzzle_in_view`."""
    return puzzle_in_view(puzzle, View(turns))


def rotate_board(board: Board, turns: int) -> Board:
    """Return the board after ``turns`` clockwise quarter turns, which may be negative; see `board_in_view`."""
    return board_in_view(board, View(turns))


@lru_cache(maxsize=16)
def puzzle_in_view(puzzle: Puzzle, view: View) -> Puzzle:
    """Return the puzzle as seen from a view: clues and holes move with the board.

    An odd number of turns exchanges width and height. Pieces keep their numbers; in a mirrored view the left and right
    sides of every piece are exchanged. Raises InputError for any view but the identity if pieces may not be turned.
    """
    turns, mirrored = view
    if turns % 4 == 0 and not mirrored:
        return puzzle
    if not puzzle.turns:
        raise InputError(f"{puzzle.name} has no other view: its pieces may not be turned, so neither may its board")
    old_cells = np.rot90(np.arange(puzzle.cells).reshape(puzzle.height, puzzle.width), -turns)
    height, width = old_cells.shape
    new_cell = np.argsort((old_cells[:, ::-1] if mirrored else old_cells).reshape(-1)).tolist()
    sense = -1 if mirrored else 1
    return replace(
        puzzle,
        pieces=puzzle.pieces[:, _REFLECTED_SIDES] if mirrored else puzzle.pieces,
        width=width,
        height=height,
        clues=tuple(Clue(new_cell[c.cell], c.piece, sense * (c.rotation + turns) % 4) for c in puzzle.clues),
        holes=tuple(new_cell[cell] for cell in puzzle.holes),
    )


def board_in_view(board: Board, view: View) -> Board:
    """Transform a board, partial or full, of a puzzle to a board of ``puzzle_in_view(puzzle, view)``.

    A blank may then lie on another hole than the one on which `Board.with_blanks` puts that blank.
    """
    grid, sense = np.rot90(board.placements.reshape(board.height, board.width), -view.turns), 1
    if view.mirrored:
        grid, sense = grid[:, ::-1], -1
    placements = np.where(grid < 0, EMPTY, grid // 4 * 4 + sense * (grid + view.turns) % 4)
    return Board(placements, grid.shape[1], grid.shape[0])


def board_from_view(board: Board, view: View) -> Board:
    """Undo `board_in_view`: transform a board of ``puzzle_in_view(puzzle, view)`` to a board of the puzzle."""
    return board_in_view(board, view if view.mirrored else View(-view.turns))  # a mirrored view undoes itself


@lru_cache(maxsize=16)
def cells_from_view(puzzle: Puzzle, view: View) -> IntArray:
    """Return, for each cell of ``puzzle_in_view(puzzle, view)``, its cell of ``puzzle``: read-only int32 (cells,)."""
    seen = puzzle_in_view(puzzle, view)
    numbered = Board(4 * np.arange(puzzle.cells, dtype=np.int32), seen.width, seen.height)
    return read_only(np.argsort(board_from_view(numbered, view).placements >> 2).astype(np.int32))
