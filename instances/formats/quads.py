"""Header and quads: ``width height``, then ``up right down left`` for each piece. Any rectangle, no clues."""

from __future__ import annotations

import numpy as np

from instances.formats.base import Document, Format, Source, Target
from instances.formats.text import Lines, board_shape, first_rows, quad_lines, starts_like_numbers
from instances.puzzle import MAX_CELLS, Puzzle


def looks_like(text: str) -> bool:
    rows = first_rows(text, 2)
    return bool(rows) and starts_like_numbers(rows[0], 2) and (len(rows) == 1 or len(rows[1].split()) != 2)


def read(source: Source) -> Document:
    lines = Lines(source.text)
    line, (width, height) = lines.numbers(2, [(1, MAX_CELLS)] * 2, "the header (width, height)")
    board_shape(width, height, line)
    pieces = quad_lines(lines, width * height)
    return Document(FORMAT.name, Puzzle(np.array(pieces, dtype=np.int32), width, height, name=source.name), None)


def write(target: Target) -> str:
    puzzle = target.puzzle
    if puzzle.clues:
        target.notes.append(f"{FORMAT.name} carries no clues: {len(puzzle.clues)} left out")
    rows = [[puzzle.width, puzzle.height], *puzzle.pieces.tolist()]
    return "".join(" ".join(map(str, row)) + "\n" for row in rows)


FORMAT = Format(
    "quads", "puzzle", "'width height', then four clockwise colours for each piece", looks_like, read, write
)
