"""Benoist's text format, which Cuvillier & Szymkowiak 2010 use: square boards, with clues.

Lines: the size; the number of colours; the number of hints; for each hint ``row column piece rotation``, all counted
from 1 (rotation 1 is unturned, the others are clockwise); for each of the size * size pieces ``top right bottom left``,
0 = rim.
"""

from __future__ import annotations

import numpy as np

from instances.formats.base import Document, Format, Source, Target
from instances.formats.e2pieces import CLOCKWISE, checked_order, clockwise, in_order, order_of
from instances.formats.text import (
    MAX_SIDE,
    Lines,
    check_square,
    first_rows,
    quad_lines,
    starts_like_numbers,
    with_clues,
)
from instances.puzzle import MAX_COLOUR, Clue, Puzzle


def looks_like(text: str) -> bool:
    rows = first_rows(text, 2)
    return bool(rows) and starts_like_numbers(rows[0], 1) and not any("," in row for row in rows)


def read(source: Source) -> Document:
    lines = Lines(source.text)
    _, [size] = lines.numbers(1, [(1, MAX_SIDE)], "the size of the board")
    _, [colours] = lines.numbers(1, [(0, MAX_COLOUR)], "the number of colours")
    _, [hints] = lines.numbers(1, [(0, size * size)], "the number of hints")
    clues: list[tuple[int, Clue]] = []
    for index in range(hints):
        line, (row, column, piece, rotation) = lines.numbers(
            4,
            [(1, size), (1, size), (1, size * size), (1, 4)],
            f"hint {index + 1} of {hints} (row, column, piece, rotation)",
        )
        clues.append((line, Clue((row - 1) * size + column - 1, piece - 1, rotation - 1)))
    columns = quad_lines(lines, size * size, high=colours)
    order, notes = order_of(columns, source.option, FORMAT.name, clues=bool(clues))
    puzzle = Puzzle(np.array(clockwise(columns, order), dtype=np.int32), size, size, name=source.name)
    return Document(FORMAT.name, with_clues(puzzle, clues), None, notes)


def write(target: Target) -> str:
    puzzle = target.puzzle
    check_square(puzzle, FORMAT.name)
    rows = [[puzzle.width], [puzzle.colours], [len(puzzle.clues)]]
    for clue in puzzle.clues:
        row, column = divmod(clue.cell, puzzle.width)
        rows.append([row + 1, column + 1, clue.piece + 1, clue.rotation + 1])
    rows += in_order(puzzle.pieces.tolist(), checked_order(target.option or CLOCKWISE, FORMAT.name))
    return "".join(" ".join(map(str, row)) + "\n" for row in rows)


FORMAT = Format("benoist", "puzzle", "text of Benoist: size, colours, hints, pieces", looks_like, read, write, "ORDER")
