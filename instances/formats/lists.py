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

import math
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

import numpy as np

from instances.board import Board
from instances.formats import orders
from instances.formats.base import Document, Format, Source, Target, never
from instances.formats.lines import MAX_SIDE, Lines, board_shape, check_square, first_rows, with_clues
from instances.formats.orders import CLOCKWISE
from instances.puzzle import MAX_CELLS, MAX_COLOUR, Clue, Puzzle
from lns_support.errors import InputError
from lns_support.text import count_of

_META_ORDER = "dlur"  # clockwise from the bottom
_WITH_CLUES = re.compile(r"[0-9]+\s+[0-9]+\s+clues\s+[0-9]+")


def has_clues(text: str) -> bool:
    """Whether a text begins with the header of ``quads`` for clues, which no other program writes."""
    rows = first_rows(text, 1)
    return bool(rows) and _WITH_CLUES.fullmatch(rows[0]) is not None


def _begins(text: str, count: int) -> list[str]:
    """The first two rows, if the first has ``count`` entries of which at least one begins with a digit or a sign."""
    rows = first_rows(text, 2)
    tokens = rows[0].split() if rows else []
    fits = len(tokens) == count and any(token[0].isdigit() or token[0] in "+-" for token in tokens)
    return rows if fits else []


# -- puzzles -----------------------------------------------------------------------------------------------------------


class _List(NamedTuple):
    """A list of pieces: what the numbers before them are, by line; none on a format for squares alone."""

    name: str
    heads: tuple[tuple[str, ...], ...]
    order: str | None = None  # of the sides, if the format fixes it

    @property
    def square(self) -> bool:
        """Whether it carries only squares."""
        return self.heads[:1] in ((), (("size",),))

    @property
    def carries_clues(self) -> bool:
        """Whether it has a place for clues."""
        return self.name in ("benoist", "quads")


_LISTS = {
    "benoist": _List("benoist", (("size",), ("colours",), ("hints",))),
    "quads": _List("quads", (("width", "height"),)),
    "e2pieces": _List("e2pieces", ()),
    "meta": _List("meta", (("rows", "columns"),), _META_ORDER),
}
_WHAT = {"size": "the size of the board", "colours": "the number of colours", "hints": "the number of hints"}


def _read(form: _List, source: Source) -> Document:
    heads, text = form.heads, source.text
    if form.name == "quads" and has_clues(text):
        heads, text = (("width", "height", "clues"),), text.replace("clues", " ", 1)
    lines, line = Lines(text), 1
    head: dict[str, int] = {} if heads else {"size": math.isqrt(len(lines))}
    if not heads and not 0 < head["size"] ** 2 == len(lines) <= MAX_CELLS:
        raise InputError(
            f"{len(lines)} lines of pieces; expected the square of a number from 1 to {MAX_SIDE} "
            "(a rectangle needs a format that says its width and height)",
            line=lines.last,
        )
    for names in heads:
        most = {"size": MAX_SIDE, "colours": MAX_COLOUR, "hints": head.get("size", 0) ** 2}
        bounds = [(int(name not in ("colours", "hints", "clues")), most.get(name, MAX_CELLS)) for name in names]
        line, numbers = lines.numbers(bounds, _WHAT.get(names[0], f"the header ({', '.join(names)})"))
        head |= zip(names, numbers, strict=True)
    width, height = (next(head[name] for name in names if name in head) for names in _SIDES)
    board_shape(width, height, line)
    count = head.get("hints", head.get("clues", 0))
    what = "hint" if "hints" in head else "clue"
    clues = [_clue(lines, f"{what} {index + 1} of {count}", width, height) for index in range(count)]
    columns = lines.quads(width * height, head.get("colours", MAX_COLOUR))
    order, notes = _order(form, columns, source.option, strip=1 in (width, height), clues=bool(clues))
    if form.name == "quads" and width != height and "clues" not in head:
        way = f"--puzzle-format pieces:{height}x{width} is the other way"
        notes += (f"header read as width {width}, height {height} ({way})",)
    quads = np.array(orders.clockwise(columns, order), dtype=np.int32)
    return Document(form.name, with_clues(Puzzle(quads, width, height, name=source.name), clues), None, notes)


_SIDES = ("size", "width", "columns"), ("size", "height", "rows")


def _clue(lines: Lines, name: str, width: int, height: int) -> tuple[int, Clue]:
    bounds = [(1, height), (1, width), (1, width * height), (1, 4)]
    line, (row, column, piece, rotation) = lines.numbers(bounds, f"{name} (row, column, piece, rotation)")
    return line, Clue((row - 1) * width + column - 1, piece - 1, rotation - 1)


def _order(
    form: _List, columns: orders.Quads, option: str | None, *, strip: bool, clues: bool
) -> tuple[str, tuple[str, ...]]:
    """The order of the sides: as fixed, as named, or detected; and notes."""
    if form.order is not None:
        return form.order, ()
    if form.heads:  # a strip has no corner pieces, by which another order would show
        named = CLOCKWISE if strip and option is None and form.name == "quads" else option
        return orders.order_of(columns, named, form.name, clues=clues)
    order = orders.detect_order(columns) if option is None else orders.checked_order(option, form.name)
    found = f"detected (clockwise assumed, as the pieces do not show a mirror image; {form.name}:ORDER sets the order)"
    return order, (f"side order {orders.in_words(order)}, {found if option is None else 'as given'}",)


def _write(form: _List, target: Target) -> str:
    puzzle, width = target.puzzle, target.puzzle.width
    if form.square:
        check_square(puzzle, form.name)
    if not form.carries_clues:
        target.leave_out_clues(form.name)
    order = orders.checked_order(target.option or form.order or CLOCKWISE, form.name)
    value = {"size": width, "colours": puzzle.colours, "hints": len(puzzle.clues)}
    value |= dict(
        zip(("width", "columns", "height", "rows"), (width, width, puzzle.height, puzzle.height), strict=True)
    )
    heads: list[list[object]] = [[value[name] for name in names] for names in form.heads]
    if form.name == "quads" and puzzle.clues:
        heads[0] += ["clues", len(puzzle.clues)]
    if form.carries_clues:
        heads += [[c.cell // width + 1, c.cell % width + 1, c.piece + 1, c.rotation + 1] for c in puzzle.clues]
    return _written([*heads, *orders.in_order(puzzle.pieces.tolist(), order)])


def _written(rows: Iterable[Iterable[object]]) -> str:
    return "".join(" ".join(map(str, row)) + "\n" for row in rows)


def _format(name: str, about: str, looks_like: Callable[[str], bool], option: str | None = "ORDER") -> Format:
    form = _LISTS[name]
    return Format(name, "puzzle", about, looks_like, partial(_read, form), partial(_write, form), option)


def _looks_like_quads(text: str) -> bool:
    rows = _begins(text, 2)
    return (bool(rows) and (len(rows) == 1 or len(rows[1].split()) != 2)) or has_clues(text)


BENOIST = _format(
    "benoist",
    "text of Benoist: size, colours, hints, pieces",
    lambda text: bool(rows := _begins(text, 1)) and not any("," in row for row in rows),
)
QUADS = _format("quads", "'width height', then four clockwise colours for each piece; clues too", _looks_like_quads)
E2PIECES = _format(
    "e2pieces", "four colours a line; e2pieces:udlr names the side order", lambda text: bool(_begins(text, 4))
)
META = _format("meta", "META 2010: 'rows columns', then bottom left top right", never, None)


# -- boards ------------------------------------------------------------------------------------------------------------


def _looks_like_solution(text: str) -> bool:
    rows = _begins(text, 2)
    return len(rows) == 2 and len(rows[1].split()) == 2


def _read_solution(source: Source) -> Document:
    puzzle, lines = source.known("a solution list names pieces"), Lines(source.text)
    if len(lines) != puzzle.cells:
        raise InputError(
            f"{len(lines)} lines; expected {puzzle.cells}, one for each cell of {puzzle.name} "
            f"({puzzle.width} x {puzzle.height})",
            line=lines.last,
        )
    bounds = [(0, puzzle.piece_count), (0, 4)]
    rows = [lines.numbers(bounds, f"cell {cell} (piece, rotation)") for cell in range(puzzle.cells)]
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
    puzzle, offset = source.known("this format names pieces"), _turns_between(source.option)
    lines, bounds = Lines(source.text), [(0, puzzle.piece_count - 1), (0, 3)]
    rows = [lines.numbers(bounds, f"cell {cell} (piece, turns)")[1] for cell in range(puzzle.cells)]
    lines.end(count_of(puzzle.cells, "cell"))
    pairs = [(piece, (turns + offset) % 4) for piece, turns in rows]
    return Document(META_BOARD.name, puzzle, Board.from_pairs(pairs, puzzle.width, puzzle.height))


def _write_solution(target: Target) -> str:
    return _written((0, 0) if pair is None else (pair[0] + 1, pair[1] + 1) for pair in target.laid.pairs())


def _write_meta_board(target: Target) -> str:
    offset = _turns_between(target.option)
    if target.puzzle.rules:
        said = f"{target.puzzle.name} is {target.puzzle.shape_and_rules}; {META_BOARD.name} carries no such rules"
        raise InputError(said)
    return _written((piece, (turns - offset) % 4) for piece, turns in target.full(META_BOARD.name))


def _turns_between(option: str | None) -> int:
    """Turns between a piece as it lies with no turns and as it was read, with its sides in the order of ``option``."""
    order = orders.checked_order(option or _META_ORDER, META_BOARD.name)
    if order not in CLOCKWISE + CLOCKWISE:
        raise InputError(f"side order {order}; expected a clockwise one such as {META_BOARD.name}:urdl")
    return (CLOCKWISE.index(_META_ORDER[0]) - CLOCKWISE.index(order[0])) % 4


SOLUTION = Format(
    "solution", "board", "'piece rotation' for each cell, from 1; 0 0 = empty", _looks_like_solution, _read_solution,
    _write_solution,
)  # fmt: skip
META_BOARD = Format(
    "meta-board", "board", "META 2010: 'piece turns' for each cell, from 0; meta-board:urdl if pieces were read so",
    never, _read_meta_board, _write_meta_board, "ORDER",
)  # fmt: skip
