"""Header and quads: ``width height``, then ``up right down left`` for each piece. Any rectangle.

With clues the header is ``width height clues N``, and N lines ``row column piece rotation`` follow it, all counted from
1 as in Benoist's format (rotation 1 is unturned, the others are clockwise).
"""

from __future__ import annotations

import re

import numpy as np

from instances.formats.base import Document, Format, Source, Target
from instances.formats.text import Lines, board_shape, first_rows, quad_lines, starts_like_numbers, with_clues
from instances.puzzle import MAX_CELLS, Clue, Puzzle

_WITH_CLUES = re.compile(r"[0-9]+\s+[0-9]+\s+clues\s+[0-9]+")


def has_clue_header(text: str) -> bool:
    """Whether the first line is ``width height clues N``, which no other format begins with."""
    head = first_rows(text, 1)
    return bool(head) and _WITH_CLUES.fullmatch(head[0].strip()) is not None


def looks_like(text: str) -> bool:
    rows = first_rows(text, 2)
    if has_clue_header(text):
        return True
    return bool(rows) and starts_like_numbers(rows[0], 2) and (len(rows) == 1 or len(rows[1].split()) != 2)


def read(source: Source) -> Document:
    has_clues = has_clue_header(source.text)
    lines = Lines(_WITH_CLUES.sub(_without_word, source.text, count=1) if has_clues else source.text)
    count = 0
    if has_clues:
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
    pieces = quad_lines(lines, cells)
    puzzle = Puzzle(np.array(pieces, dtype=np.int32), width, height, name=source.name)
    return Document(FORMAT.name, with_clues(puzzle, clues), None)


def _without_word(header: re.Match[str]) -> str:
    return header[0].replace("clues", " ")


def write(target: Target) -> str:
    puzzle = target.puzzle
    rows: list[list[int | str]] = [[puzzle.width, puzzle.height]]
    if puzzle.clues:
        rows[0] += ["clues", len(puzzle.clues)]
    for clue in puzzle.clues:
        row, column = divmod(clue.cell, puzzle.width)
        rows.append([row + 1, column + 1, clue.piece + 1, clue.rotation + 1])
    return "".join(" ".join(map(str, row)) + "\n" for row in [*rows, *puzzle.pieces.tolist()])


FORMAT = Format(
    "quads", "puzzle", "'width height', then four clockwise colours for each piece; clues too", looks_like, read, write
)
