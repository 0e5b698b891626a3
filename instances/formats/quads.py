"""Header and quads: ``width height``, then ``up right down left`` for each piece. Any rectangle.

With clues the header is ``width height clues N``, and N lines ``row column piece rotation`` follow it, all counted from
1 as in Benoist's format (rotation 1 is unturned, the others are clockwise).
"""

from __future__ import annotations

import re

import numpy as np

from instances.formats.base import Document, Format, Source, Target
from instances.formats.e2pieces import CLOCKWISE, checked_order, clockwise, in_order, order_of
from instances.formats.text import Lines, board_shape, first_rows, quad_lines, starts_like_numbers, with_clues
from instances.puzzle import MAX_CELLS, Clue, Puzzle

_WITH_CLUES = re.compile(r"[0-9]+\s+[0-9]+\s+clues\s+[0-9]+")


def looks_like(text: str) -> bool:
    if has_clues(text):
        return True
    rows = first_rows(text, 2)
    return bool(rows) and starts_like_numbers(rows[0], 2) and (len(rows) == 1 or len(rows[1].split()) != 2)


def has_clues(text: str) -> bool:
    """Whether a text begins with the header of this format for clues, which no other program writes."""
    rows = first_rows(text, 1)
    return bool(rows) and _WITH_CLUES.fullmatch(rows[0].strip()) is not None


def read(source: Source) -> Document:
    with_header = has_clues(source.text)
    lines = Lines(_WITH_CLUES.sub(_without_word, source.text, count=1) if with_header else source.text)
    count = 0
    if with_header:
        line, (width, height, count) = lines.numbers(
            3, [(1, MAX_CELLS), (1, MAX_CELLS), (0, MAX_CELLS)], "the header (width, height, clues)"
        )
    else:
        line, (width, height) = lines.numbers(2, [(1, MAX_CELLS)] * 2, "the header (width, height)")
    board_shape(width, height, line)
    cells = width * height
    clues: list[tuple[int, Clue]] = []
    for index in range(count):
        line, (row, column, piece, rotation) = lines.numbers(
            4, [(1, height), (1, width), (1, cells), (1, 4)],
            f"clue {index + 1} of {count} (row, column, piece, rotation)",
        )  # fmt: skip
        clues.append((line, Clue((row - 1) * width + column - 1, piece - 1, rotation - 1)))
    columns = quad_lines(lines, cells)
    option = source.option
    if 1 in (width, height) and option is None:  # there are no corner pieces, by which another order would show
        option = CLOCKWISE
    order, notes = order_of(columns, option, FORMAT.name, clues=bool(clues))
    puzzle = Puzzle(np.array(clockwise(columns, order), dtype=np.int32), width, height, name=source.name)
    if width != height and not with_header:
        notes += (
            f"header read as width {width}, height {height} (--puzzle-format pieces:{height}x{width} is the other way)",
        )
    return Document(FORMAT.name, with_clues(puzzle, clues), None, notes)


def _without_word(header: re.Match[str]) -> str:
    return header[0].replace("clues", " ")


def write(target: Target) -> str:
    puzzle = target.puzzle
    quads = in_order(puzzle.pieces.tolist(), checked_order(target.option or CLOCKWISE, FORMAT.name))
    rows: list[list[int | str]] = [[puzzle.width, puzzle.height]]
    if puzzle.clues:
        rows[0] += ["clues", len(puzzle.clues)]
    for clue in puzzle.clues:
        row, column = divmod(clue.cell, puzzle.width)
        rows.append([row + 1, column + 1, clue.piece + 1, clue.rotation + 1])
    return "".join(" ".join(map(str, row)) + "\n" for row in rows) + "".join(
        " ".join(map(str, quad)) + "\n" for quad in quads
    )


FORMAT = Format(
    "quads",
    "puzzle",
    "'width height', then four clockwise colours for each piece; clues too",
    looks_like,
    read,
    write,
    "ORDER",
)
