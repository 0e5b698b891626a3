"""Cell numbers of parts of a board: rows, columns, rectangles, lists, and the cells around mismatches.

Cells are numbered from 0, row by row. Each function returns a list of cell numbers, as `lns.improve` takes it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lns.instances.arguments import checked
from lns.instances.errors import InputError
from lns.instances.text import count_of

if TYPE_CHECKING:
    from lns.instances.board import Board
    from lns.instances.puzzle import Puzzle

__all__ = ["around_mismatches", "columns", "parse", "rectangle", "rows"]

_SPAN = re.compile(r"(r?)([0-9]{1,5})(?:-([0-9]{1,5}))?")


@checked
def rows(puzzle: Puzzle, first: int, end: int) -> list[int]:
    """Return the cells of the rows ``first`` to ``end - 1``.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle that gives the size of the board.
    first, end : int
        First row and the row after the last one, counted from 0: ``rows(puzzle, 12, 16)`` gives the last four rows of
        a 16x16 board.

    Returns
    -------
    list of int
        Cell numbers in increasing order.

    Raises
    ------
    InputError
        The range is empty or leaves the board.
    """
    from lns.exact.region import windows

    return windows.rows(puzzle, first, end)


@checked
def columns(puzzle: Puzzle, first: int, end: int) -> list[int]:
    """Return the cells of the columns ``first`` to ``end - 1``.

    Parameters
    ----------
    puzzle : Puzzle
        As for `rows`.
    first, end : int
        First column and the column after the last one, counted from 0.

    Returns
    -------
    list of int
        Cell numbers in increasing order.

    Raises
    ------
    InputError
        As for `rows`.
    """
    return rectangle(puzzle, 0, first, puzzle.height, end - first)


@checked
def rectangle(puzzle: Puzzle, row: int, column: int, height: int, width: int) -> list[int]:
    """Return the cells of a rectangle.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle that gives the size of the board.
    row, column : int
        Row and column of the upper left cell, counted from 0.
    height, width : int
        Numbers of rows and of columns of the rectangle.

    Returns
    -------
    list of int
        Cell numbers in increasing order.

    Raises
    ------
    InputError
        The rectangle is empty or leaves the board.
    """
    if not (0 <= row < row + height <= puzzle.height and 0 <= column < column + width <= puzzle.width):
        raise InputError(
            f"a rectangle of {count_of(height, 'row')} and {count_of(width, 'column')} at row {row}, column {column}; "
            f"expected one inside the board of {puzzle.height} rows and {puzzle.width} columns"
        )
    return [(row + i) * puzzle.width + column + j for i in range(height) for j in range(width)]


@checked
def around_mismatches(puzzle: Puzzle, board: Board) -> list[int]:
    """Return the cells that touch a mismatch, together with their neighbours if all these are at most 64 cells.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle of the board.
    board : Board
        Board with the mismatches.

    Returns
    -------
    list of int
        Cell numbers in increasing order; empty for a board without a mismatch.

    Raises
    ------
    InputError
        The board has another shape than the puzzle.
    """
    from lns.exact.region import windows

    return windows.around_mismatches(puzzle, board)


@checked
def parse(text: str, puzzle: Puzzle) -> list[int]:
    """Return the cells in a text such as ``"3,4,10-20,r3,r5-7"``: cells, spans of cells, and rows (``r``).

    Parameters
    ----------
    text : str
        Comma-separated cells, rows and spans, all counted from 0; a span includes its last cell or row, as in r5-7.
    puzzle : Puzzle
        Puzzle that gives the size of the board.

    Returns
    -------
    list of int
        Cell numbers in the order of the text.

    Raises
    ------
    InputError
        The text is no such list, or it has a cell or row that is not on the board.
    """
    found: list[int] = []
    for part in text.split(","):
        match = _SPAN.fullmatch(part.strip())
        if not match or int(match[3] or match[2]) < int(match[2]):
            raise InputError(
                f"'{text}' is no list of cells; expected numbers from 0 like 3,4,10-20, rows like r3 or r3-5"
            )
        of_rows, first, last = bool(match[1]), int(match[2]), int(match[3] or match[2])
        size = puzzle.width if of_rows else 1
        if (last + 1) * size > puzzle.cells:
            what, end = ("row", puzzle.height - 1) if of_rows else ("cell", puzzle.cells - 1)
            raise InputError(f"the list names {what} {last}, off the board; expected 0 to {end}")
        found += range(first * size, (last + 1) * size)
    return found
