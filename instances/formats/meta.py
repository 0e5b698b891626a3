"""The form of the META 2010 contest: ``meta`` for pieces and ``meta-board`` for full boards.

Pieces: ``rows columns``, then four colours for each piece, clockwise from the bottom: bottom, left, top, right; grey is
0. Boards: a line ``piece turns`` for each cell, row by row, both from 0, clockwise turns of the piece as listed.

Nothing in a piece file shows that its sides begin at the bottom. Read as clockwise from the top, as any program reads
it, it holds the same pieces, each turned twice; ``meta-board:urdl`` is the form of its boards.
"""

from __future__ import annotations

import numpy as np

from instances.board import Board
from instances.formats.base import Document, Format, Source, Target
from instances.formats.e2pieces import CLOCKWISE, checked_order, clockwise, in_order
from instances.formats.text import Lines, board_shape, quad_lines
from instances.puzzle import MAX_CELLS, Puzzle
from lns_support.errors import InputError
from lns_support.text import count_of

ORDER = "dlur"  # clockwise from the bottom


def looks_like(text: str) -> bool:
    """Never: the files look like ``quads`` and like a solution list, and are read so unless named."""
    return False


def read_pieces(source: Source) -> Document:
    lines = Lines(source.text)
    line, (height, width) = lines.numbers(2, [(1, MAX_CELLS)] * 2, "the header (rows, columns)")
    board_shape(width, height, line)
    quads = clockwise(quad_lines(lines, width * height), ORDER)
    return Document(PIECES.name, Puzzle(np.array(quads, dtype=np.int32), width, height, name=source.name), None)


def write_pieces(target: Target) -> str:
    puzzle = target.puzzle
    if puzzle.clues:
        target.notes.append(f"{PIECES.name} carries no clues: {len(puzzle.clues)} left out")
    rows = [[puzzle.height, puzzle.width], *in_order(puzzle.pieces.tolist(), ORDER)]
    return "".join(" ".join(map(str, row)) + "\n" for row in rows)


def read_board(source: Source) -> Document:
    puzzle, offset = source.puzzle, _offset(source.option)
    if puzzle is None:
        raise InputError("this format names pieces by number; expected the puzzle with it (--puzzle INSTANCE)")
    lines = Lines(source.text)
    pairs: list[tuple[int, int] | None] = []
    for cell in range(puzzle.cells):
        bounds = [(0, puzzle.piece_count - 1), (0, 3)]
        _, (piece, turns) = lines.numbers(2, bounds, f"cell {cell} (piece, turns)")
        pairs.append((piece, (turns + offset) % 4))
    lines.end(count_of(puzzle.cells, "cell"))
    return Document(BOARD.name, puzzle, Board.from_pairs(pairs, puzzle.width, puzzle.height))


def write_board(target: Target) -> str:
    assert target.board is not None
    pairs, offset = target.board.pairs(), _offset(target.option)
    if target.puzzle.rules:
        raise InputError(f"{target.puzzle.name} is {target.puzzle.shape_and_rules}; {BOARD.name} carries no such rules")
    if None in pairs:
        raise InputError(
            f"{count_of(pairs.count(None), 'cell')} without a piece; {BOARD.name} carries only full boards"
        )
    return "".join(f"{pair[0]} {(pair[1] - offset) % 4}\n" for pair in pairs if pair is not None)


def _offset(option: str | None) -> int:
    """Turns between a piece as it lies with no turns and as it was read, with its sides in the order of ``option``."""
    order = checked_order(option or ORDER, BOARD.name)
    if order not in CLOCKWISE + CLOCKWISE:
        raise InputError(f"side order {order}; expected a clockwise one such as {BOARD.name}:urdl")
    return (CLOCKWISE.index(ORDER[0]) - CLOCKWISE.index(order[0])) % 4


PIECES = Format(
    "meta", "puzzle", "META 2010: 'rows columns', then bottom left top right", looks_like, read_pieces, write_pieces
)
BOARD = Format(
    "meta-board",
    "board",
    "META 2010: 'piece turns' for each cell, from 0; meta-board:urdl if pieces were read so",
    looks_like,
    read_board,
    write_board,
    "ORDER",
)
