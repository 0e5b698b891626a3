"""Solution lists: one line ``piece rotation`` for each cell, row by row, both counted from 1.

``0 0`` is an empty cell or a hole. The puzzle must be known to read one.
"""

from __future__ import annotations

from instances.board import Board
from instances.formats.base import Document, Format, Source, Target
from instances.formats.text import Lines, first_rows, starts_like_numbers
from lns_support.errors import InputError


def looks_like(text: str) -> bool:
    rows = first_rows(text, 2)
    return len(rows) == 2 and starts_like_numbers(rows[0], 2) and len(rows[1].split()) == 2


def read(source: Source) -> Document:
    puzzle = source.puzzle
    if puzzle is None:
        raise InputError("a solution list names pieces by number; expected the puzzle with it (--puzzle INSTANCE)")
    lines = Lines(source.text)
    if len(lines) != puzzle.cells:
        raise InputError(
            f"{len(lines)} lines; expected {puzzle.cells}, one for each cell of {puzzle.name} "
            f"({puzzle.width} x {puzzle.height})",
            line=lines.last,
        )
    pairs: list[tuple[int, int] | None] = []
    for cell in range(puzzle.cells):
        line, (piece, rotation) = lines.numbers(2, [(0, puzzle.piece_count), (0, 4)], f"cell {cell} (piece, rotation)")
        if (piece == 0) != (rotation == 0):
            raise InputError(
                f"cell {cell} is '{piece} {rotation}'; "
                f"expected piece 1 to {puzzle.piece_count} with rotation 1 to 4, or '0 0'",
                line=line,
            )
        pairs.append((piece - 1, rotation - 1) if piece else None)
    return Document(FORMAT.name, puzzle, Board.from_pairs(pairs, puzzle.width, puzzle.height))


def write(target: Target) -> str:
    assert target.board is not None
    return "".join("0 0\n" if pair is None else f"{pair[0] + 1} {pair[1] + 1}\n" for pair in target.board.pairs())


FORMAT = Format("solution", "board", "'piece rotation' for each cell, from 1; 0 0 = empty", looks_like, read, write)
