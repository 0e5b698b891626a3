"""Lists of ``piece turn`` for each cell, row by row, of a puzzle that must be known: ``solution`` and ``meta-board``.

``solution`` counts both from 1; ``0 0`` is an empty cell or a hole. ``meta-board``, the form of the META 2010 contest,
counts both from 0, clockwise turns of the piece as listed; ``meta-board:urdl`` is the form of the boards of pieces that
were read as ``quads``.
"""

from __future__ import annotations

from instances.board import Board
from instances.formats.base import Document, Format, Source, Target, never
from instances.formats.e2pieces import CLOCKWISE, checked_order
from instances.formats.headed import META_ORDER
from instances.formats.text import Lines, first_rows, starts_like_numbers
from instances.puzzle import Puzzle
from lns_support.errors import InputError
from lns_support.text import count_of


def looks_like(text: str) -> bool:
    rows = first_rows(text, 2)
    return len(rows) == 2 and starts_like_numbers(rows[0], 2) and len(rows[1].split()) == 2


def _known(source: Source, what: str) -> Puzzle:
    if source.puzzle is None:
        raise InputError(f"{what} names pieces by number; expected the puzzle with it (--puzzle INSTANCE)")
    return source.puzzle


def read(source: Source) -> Document:
    puzzle = _known(source, "a solution list")
    lines = Lines(source.text)
    if len(lines) != puzzle.cells:
        raise InputError(
            f"{len(lines)} lines; expected {puzzle.cells}, one for each cell of {puzzle.name} "
            f"({puzzle.width} x {puzzle.height})",
            line=lines.last,
        )
    pairs: list[tuple[int, int] | None] = []
    limits = [(0, puzzle.piece_count), (0, 4)]
    rows = [lines.numbers(2, limits, f"cell {cell} (piece, rotation)") for cell in range(puzzle.cells)]
    for cell, (line, (piece, rotation)) in enumerate(rows):
        if (piece == 0) != (rotation == 0):
            raise InputError(
                f"cell {cell} is '{piece} {rotation}'; "
                f"expected piece 1 to {puzzle.piece_count} with rotation 1 to 4, or '0 0'",
                line=line,
            )
        pairs.append((piece - 1, rotation - 1) if piece else None)
    return Document(FORMAT.name, puzzle, Board.from_pairs(pairs, puzzle.width, puzzle.height))


def _read_meta(source: Source) -> Document:
    puzzle, offset = _known(source, "this format"), _offset(source.option)
    lines = Lines(source.text)
    pairs: list[tuple[int, int] | None] = []
    for cell in range(puzzle.cells):
        _, (piece, turns) = lines.numbers(2, [(0, puzzle.piece_count - 1), (0, 3)], f"cell {cell} (piece, turns)")
        pairs.append((piece, (turns + offset) % 4))
    lines.end(count_of(puzzle.cells, "cell"))
    return Document(META.name, puzzle, Board.from_pairs(pairs, puzzle.width, puzzle.height))


def write(target: Target) -> str:
    assert target.board is not None
    return "".join("0 0\n" if pair is None else f"{pair[0] + 1} {pair[1] + 1}\n" for pair in target.board.pairs())


def _write_meta(target: Target) -> str:
    assert target.board is not None
    pairs, offset = target.board.pairs(), _offset(target.option)
    if target.puzzle.rules:
        raise InputError(f"{target.puzzle.name} is {target.puzzle.shape_and_rules}; {META.name} carries no such rules")
    if None in pairs:
        raise InputError(f"{count_of(pairs.count(None), 'cell')} without a piece; {META.name} carries only full boards")
    return "".join(f"{pair[0]} {(pair[1] - offset) % 4}\n" for pair in pairs if pair is not None)


def _offset(option: str | None) -> int:
    """Turns between a piece as it lies with no turns and as it was read, with its sides in the order of ``option``."""
    order = checked_order(option or META_ORDER, META.name)
    if order not in CLOCKWISE + CLOCKWISE:
        raise InputError(f"side order {order}; expected a clockwise one such as {META.name}:urdl")
    return (CLOCKWISE.index(META_ORDER[0]) - CLOCKWISE.index(order[0])) % 4


FORMAT = Format("solution", "board", "'piece rotation' for each cell, from 1; 0 0 = empty", looks_like, read, write)
META = Format(
    "meta-board", "board", "META 2010: 'piece turns' for each cell, from 0; meta-board:urdl if pieces were read so",
    never, _read_meta, _write_meta, "ORDER",
)  # fmt: skip
