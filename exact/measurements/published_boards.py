"""Collections of published boards: CSV files with a score and the letters of a viewer URL in each row."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from instances.board import Board
from instances.formats import load_board
from instances.puzzle import Puzzle
from lns_support.errors import InputError
from lns_support.files import read_text
from lns_support.text import quoted


def read_boards(path: Path, puzzle: Puzzle) -> list[tuple[int, Board]]:
    """Read a collection of published boards.

    Parameters
    ----------
    path : Path
        CSV file with the columns ``score`` and ``board_edges`` (the letters of a viewer URL).
    puzzle : Puzzle

    Returns
    -------
    list of (int, Board)
        Published score and board.

    Raises
    ------
    InputError
        If a column is missing, there is no row, or a row has no board of the puzzle.
    """
    boards = []
    for number, line in numbered_rows(path, ("score", "board_edges")):
        url = f"#puzzle=published&board_w={puzzle.width}&board_h={puzzle.height}&board_edges={line['board_edges']}"
        try:
            boards.append((int(line["score"]), load_board(url, puzzle)[1]))
        except ValueError as error:
            why = (
                error.message
                if isinstance(error, InputError)
                else f"score is {quoted(line['score'])}; expected a number"
            )
            raise InputError(why, path, number) from None
    if not boards:
        raise InputError("the file has no row with a board; expected 1 or more", path)
    return boards


def numbered_rows(path: Path, columns: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """The rows of a CSV file with the numbers of their lines.

    Parameters
    ----------
    path : Path
    columns : sequence of str
        Columns that the file must have; it may have more.

    Returns
    -------
    list of (int, dict of str to str)
        Line number, from 1, and values by column.

    Raises
    ------
    InputError
        If a column is missing, a line is too short or the file is not valid CSV.
    """
    reader = csv.DictReader(io.StringIO(read_text(path)), strict=True)
    lines: list[tuple[int, dict[str, str]]] = []
    try:
        missing = [column for column in columns if column not in (reader.fieldnames or ())]
        if missing:
            raise InputError(f"there is no column '{missing[0]}'; expected {', '.join(columns)}", path, 1)
        for line in reader:
            if None in line.values():
                raise InputError(f"the line is too short; expected {', '.join(columns)}", path, reader.line_num)
            lines.append((reader.line_num, line))
    except csv.Error as error:
        raise InputError(f"the file is not valid CSV: {error}", path) from None
    return lines
