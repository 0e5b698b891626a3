"""Lists of numbers by definition: ``benoist``, ``quads``, ``e2pieces`` and ``meta`` hold puzzles, ``solution`` and
``meta-board`` boards.

``benoist``, which Cuvillier & Szymkowiak 2010 use, is for squares: lines with the size, the number of colours and the
number of hints; the hints; the pieces. ``quads`` is for any rectangle: ``width height``, or ``width height clues N``
with N clues; the pieces. ``e2pieces`` has the pieces of a square alone. ``meta``, the form of the META 2010 contest:
``rows columns``; the pieces.

A hint or clue is ``row column piece rotation``, from 1, rotation 1 unturned and the others clockwise. A piece is ``up
right down left``, 0 = rim, or as an option names the order; in ``meta`` it is clockwise from the bottom. Nothing in a
file of ``meta`` shows that: read as ``quads``, as any program reads it, it holds the same pieces, each turned twice.

A board is ``piece turn`` for each cell, row by row. ``solution`` counts both from 1; ``0 0`` is an empty cell or a
hole. ``meta-board`` counts both from 0, turns of the piece as listed; ``meta-board:urdl`` is the form of the boards of
pieces that were read as ``quads``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from instances.board import Board
from instances.formats import orders
from instances.formats.base import Document, Format, Source, Target, never
from instances.formats.orders import CLOCKWISE
from instances.formats.text import (
    MAX_SIDE,
    Lines,
    board_shape,
    check_square,
    first_rows,
    side_of_square,
    starts_like_numbers,
    with_clues,
)  # fmt: skip
from instances.puzzle import MAX_CELLS, MAX_COLOUR, Clue, Puzzle
from lns_support.errors import InputError
from lns_support.text import count_of

_META_ORDER = "dlur"  # clockwise from the bottom
_WITH_CLUES = re.compile(r"[0-9]+\s+[0-9]+\s+clues\s+[0-9]+")


# -- puzzles -----------------------------------------------------------------------------------------------------------


def has_clues(text: str) -> bool:
    """Whether a text begins with the header of ``quads`` for clues, which no other program writes."""
    rows = first_rows(text, 1)
    return bool(rows) and _WITH_CLUES.fullmatch(rows[0]) is not None


def _looks_like_benoist(text: str) -> bool:
    rows = first_rows(text, 2)
    return bool(rows) and starts_like_numbers(rows[0], 1) and not any("," in row for row in rows)


def _looks_like_quads(text: str) -> bool:
    rows = first_rows(text, 2)
    headed = bool(rows) and starts_like_numbers(rows[0], 2) and (len(rows) == 1 or len(rows[1].split()) != 2)
    return headed or has_clues(text)


def _looks_like_e2pieces(text: str) -> bool:
    rows = first_rows(text, 1)
    return bool(rows) and starts_like_numbers(rows[0], 4)


def _read_benoist(source: Source) -> Document:
    lines = Lines(source.text)
    _, [size] = lines.numbers(1, [(1, MAX_SIDE)], "the size of the board")
    _, [colours] = lines.numbers(1, [(0, MAX_COLOUR)], "the number of colours")
    _, [hints] = lines.numbers(1, [(0, size * size)], "the number of hints")
    clues = _clue_lines(lines, hints, size, size, "hint")
    columns = lines.quads(size * size, high=colours)
    order, notes = orders.order_of(columns, source.option, BENOIST.name, clues=bool(clues))
    return Document(BENOIST.name, with_clues(_puzzle(columns, order, size, size, source), clues), None, notes)


def _read_quads(source: Source) -> Document:
    with_header = has_clues(source.text)
    lines = Lines(_WITH_CLUES.sub(lambda header: header[0].replace("clues", " "), source.text, count=int(with_header)))
    bounds, what = [(1, MAX_CELLS)] * 2 + [(0, MAX_CELLS)] * with_header, ", clues" * with_header
    line, (width, height, *counts) = lines.numbers(len(bounds), bounds, f"the header (width, height{what})")
    board_shape(width, height, line)
    clues = _clue_lines(lines, sum(counts), width, height, "clue")
    columns = lines.quads(width * height)
    strip = 1 in (width, height)  # it has no corner pieces, by which another order would show
    option = CLOCKWISE if strip and source.option is None else source.option
    order, notes = orders.order_of(columns, option, QUADS.name, clues=bool(clues))
    if width != height and not with_header:
        way = f"--puzzle-format pieces:{height}x{width} is the other way"
        notes += (f"header read as width {width}, height {height} ({way})",)
    return Document(QUADS.name, with_clues(_puzzle(columns, order, width, height, source), clues), None, notes)


def _read_e2pieces(source: Source) -> Document:
    lines = Lines(source.text)
    side = side_of_square(len(lines), "lines of pieces", lines.last)
    columns = lines.quads(side * side)
    if source.option is None:
        order = orders.detect_order(columns)
        found = (
            "detected (clockwise assumed, as the pieces do not show a mirror image; "
            f"{E2PIECES.name}:ORDER sets the order)"
        )
    else:
        order, found = orders.checked_order(source.option, E2PIECES.name), "as given"
    note = f"side order {orders.in_words(order)}, {found}"
    return Document(E2PIECES.name, _puzzle(columns, order, side, side, source), None, (note,))


def _read_meta(source: Source) -> Document:
    lines = Lines(source.text)
    line, (height, width) = lines.numbers(2, [(1, MAX_CELLS)] * 2, "the header (rows, columns)")
    board_shape(width, height, line)
    columns = lines.quads(width * height)
    return Document(META.name, _puzzle(columns, _META_ORDER, width, height, source), None)


def _puzzle(columns: Sequence[Sequence[int]], order: str, width: int, height: int, source: Source) -> Puzzle:
    return Puzzle(np.array(orders.clockwise(columns, order), dtype=np.int32), width, height, name=source.name)


def _clue_lines(lines: Lines, count: int, width: int, height: int, what: str) -> list[tuple[int, Clue]]:
    clues = []
    bounds = [(1, height), (1, width), (1, width * height), (1, 4)]
    for index in range(count):
        name = f"{what} {index + 1} of {count} (row, column, piece, rotation)"
        line, (row, column, piece, rotation) = lines.numbers(4, bounds, name)
        clues.append((line, Clue((row - 1) * width + column - 1, piece - 1, rotation - 1)))
    return clues


def _write_benoist(target: Target) -> str:
    puzzle = target.puzzle
    check_square(puzzle, BENOIST.name)
    return _pieces(target, BENOIST.name, [[puzzle.width], [puzzle.colours], [len(puzzle.clues)], *_clues(puzzle)])


def _write_quads(target: Target) -> str:
    puzzle = target.puzzle
    clues = ["clues", len(puzzle.clues)] if puzzle.clues else []
    return _pieces(target, QUADS.name, [[puzzle.width, puzzle.height, *clues], *_clues(puzzle)])


def _write_e2pieces(target: Target) -> str:
    check_square(target.puzzle, E2PIECES.name)
    target.leave_out_clues(E2PIECES.name)
    return _pieces(target, E2PIECES.name, [])


def _write_meta(target: Target) -> str:
    target.leave_out_clues(META.name)
    return _pieces(target, META.name, [[target.puzzle.height, target.puzzle.width]], _META_ORDER)


def _clues(puzzle: Puzzle) -> list[list[int]]:
    return [
        [clue.cell // puzzle.width + 1, clue.cell % puzzle.width + 1, clue.piece + 1, clue.rotation + 1]
        for clue in puzzle.clues
    ]


def _pieces(target: Target, format: str, head: Sequence[Sequence[object]], order: str = CLOCKWISE) -> str:
    order = orders.checked_order(target.option or order, format)
    rows = [*head, *orders.in_order(target.puzzle.pieces.tolist(), order)]
    return "".join(" ".join(map(str, row)) + "\n" for row in rows)


# -- boards ------------------------------------------------------------------------------------------------------------


def _looks_like_solution(text: str) -> bool:
    rows = first_rows(text, 2)
    return len(rows) == 2 and starts_like_numbers(rows[0], 2) and len(rows[1].split()) == 2


def _known(source: Source, what: str) -> Puzzle:
    if source.puzzle is None:
        raise InputError(f"{what} names pieces by number; expected the puzzle with it (--puzzle INSTANCE)")
    return source.puzzle


def _read_solution(source: Source) -> Document:
    puzzle = _known(source, "a solution list")
    lines = Lines(source.text)
    if len(lines) != puzzle.cells:
        raise InputError(
            f"{len(lines)} lines; expected {puzzle.cells}, one for each cell of {puzzle.name} "
            f"({puzzle.width} x {puzzle.height})",
            line=lines.last,
        )
    bounds = [(0, puzzle.piece_count), (0, 4)]
    rows = [lines.numbers(2, bounds, f"cell {cell} (piece, rotation)") for cell in range(puzzle.cells)]
    for cell, (line, (piece, rotation)) in enumerate(rows):
        if (piece == 0) != (rotation == 0):
            raise InputError(
                f"cell {cell} is '{piece} {rotation}'; "
                f"expected piece 1 to {puzzle.piece_count} with rotation 1 to 4, or '0 0'",
                line=line,
            )
    pairs = [(piece - 1, rotation - 1) if piece else None for _, (piece, rotation) in rows]
    return Document(SOLUTION.name, puzzle, Board.from_pairs(pairs, puzzle.width, puzzle.height))


def _read_meta_board(source: Source) -> Document:
    puzzle, offset = _known(source, "this format"), _turns_between(source.option)
    lines, bounds = Lines(source.text), [(0, puzzle.piece_count - 1), (0, 3)]
    rows = [lines.numbers(2, bounds, f"cell {cell} (piece, turns)")[1] for cell in range(puzzle.cells)]
    lines.end(count_of(puzzle.cells, "cell"))
    pairs = [(piece, (turns + offset) % 4) for piece, turns in rows]
    return Document(META_BOARD.name, puzzle, Board.from_pairs(pairs, puzzle.width, puzzle.height))


def _write_solution(target: Target) -> str:
    return "".join("0 0\n" if pair is None else f"{pair[0] + 1} {pair[1] + 1}\n" for pair in target.pairs())


def _write_meta_board(target: Target) -> str:
    offset = _turns_between(target.option)
    if target.puzzle.rules:
        said = f"{target.puzzle.name} is {target.puzzle.shape_and_rules}; {META_BOARD.name} carries no such rules"
        raise InputError(said)
    return "".join(f"{piece} {(turns - offset) % 4}\n" for piece, turns in target.full(META_BOARD.name))


def _turns_between(option: str | None) -> int:
    """Turns between a piece as it lies with no turns and as it was read, with its sides in the order of ``option``."""
    order = orders.checked_order(option or _META_ORDER, META_BOARD.name)
    if order not in CLOCKWISE + CLOCKWISE:
        raise InputError(f"side order {order}; expected a clockwise one such as {META_BOARD.name}:urdl")
    return (CLOCKWISE.index(_META_ORDER[0]) - CLOCKWISE.index(order[0])) % 4


BENOIST = Format(
    "benoist", "puzzle", "text of Benoist: size, colours, hints, pieces", _looks_like_benoist, _read_benoist,
    _write_benoist, "ORDER",
)  # fmt: skip
QUADS = Format(
    "quads", "puzzle", "'width height', then four clockwise colours for each piece; clues too", _looks_like_quads,
    _read_quads, _write_quads, "ORDER",
)  # fmt: skip
E2PIECES = Format(
    "e2pieces", "puzzle", "four colours a line; e2pieces:udlr names the side order", _looks_like_e2pieces,
    _read_e2pieces, _write_e2pieces, "ORDER",
)  # fmt: skip
META = Format("meta", "puzzle", "META 2010: 'rows columns', then bottom left top right", never, _read_meta, _write_meta)
SOLUTION = Format(
    "solution", "board", "'piece rotation' for each cell, from 1; 0 0 = empty", _looks_like_solution, _read_solution,
    _write_solution,
)  # fmt: skip
META_BOARD = Format(
    "meta-board", "board", "META 2010: 'piece turns' for each cell, from 0; meta-board:urdl if pieces were read so",
    never, _read_meta_board, _write_meta_board, "ORDER",
)  # fmt: skip
