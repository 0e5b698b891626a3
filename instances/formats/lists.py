"""Formats with a fixed definition: lists of numbers, words and pictures.

The lists of numbers are ``benoist``, ``quads``, ``e2pieces``, ``meta`` and ``csv16`` for puzzles, ``solution`` and
``meta-board`` for boards. ``tetravex`` and ``tetravex-board`` have words, ``picture`` has pictures of boards.

A file in ``benoist``, used by Cuvillier & Szymkowiak 2010 for square boards, has lines with the side of the square, the
number of colours and the number of hints, then the hints and the pieces. ``quads`` is for any rectangle: a line
``width height`` and the pieces, or a line ``width height clues N``, N clues and the pieces. ``e2pieces`` has only the
pieces of a square board. ``meta``, from the META 2010 contest, has a line ``rows columns`` and the pieces.

A hint or clue is a line ``row column piece rotation``, all counted from 1: rotation 1 is unturned, 2 to 4 are turned
clockwise. A piece is a line of colours ``up right down left``, 0 on the rim; an option names another side order. In
``meta`` the side order is clockwise from the bottom, but nothing in the file shows this: if the format is not named,
the file is read as ``quads``, that is, with each piece after half a turn, and with width and height exchanged.

A board is a line ``piece turn`` for each cell, row by row. ``solution`` counts both from 1; ``0 0`` is an empty cell or
a hole. ``meta-board`` counts both from 0; turn 0 is the orientation in which ``meta`` lists the piece, bottom side
first. ``meta-board:urdl`` is for boards of pieces that were read as ``quads``.

``csv16``, the CSV of 16-bit words, is for square boards with clues. The first row is the side of the square. Each
further row is a piece, ``top,right,bottom,left`` as 16 binary digits each; the rim is sixteen ones. Colours count from
0 in the file (``0000000000000000`` is a colour), so 1 is added to each. A row may go on with ``hint,x,y`` (x = column,
y = row, counted from 0), where hint = 1 places the piece on that cell, unturned; or with ``x,y,rotation`` (clockwise),
where ``0,0,0`` is no hint. ``csv16:hxy`` and ``csv16:xyr`` name the form of these columns.

Tetravex files have a line for each row of the board, and in it a word for each piece: four digits, up left right down;
``@`` before a word pins the piece to its place. A picture has three lines for each row: the upper colours, the left and
right colours of each piece, the lower colours. Words and pictures of a puzzle without frame count colours from 0.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.formats import cells, orders, pieces
from lns.instances.formats.base import Document, Format, Source, Target
from lns.instances.formats.orders import CLOCKWISE
from lns.instances.formats.shapes import MAX_SIDE, WORD_ORDER, Lines, first_rows, words_in
from lns.instances.puzzle import GREY, MAX_CELLS, MAX_COLOUR, Clue, Puzzle, check_shape, rotate
from lns.instances.text import parse_integer, quoted

_META_ORDER = "dlur"  # side order of META 2010: clockwise from the bottom
_WITH_CLUES = re.compile(r"\s*[0-9]+[ \t]+[0-9]+[ \t]+clues[ \t]+[0-9]+[ \t]*\n")
_HEADS: dict[str, tuple[tuple[str, ...], ...]] = {  # by format: what the numbers on each line before the pieces are
    "benoist": (("size",), ("colours",), ("hints",)),
    "quads": (("width", "height"),),
    "e2pieces": (),
    "meta": (("rows", "columns"),),
}
_SIDES = ("size", "width", "columns"), ("size", "height", "rows")  # names of the width and of the height in `_HEADS`
_WHAT = {"size": "the size of the board", "colours": "the number of colours", "hints": "the number of hints"}


def has_clues(text: str) -> bool:
    """Check whether a text begins with the header of ``quads`` with clues, which only this program writes."""
    return _WITH_CLUES.match(text) is not None


def _begins(text: str, *counts: int) -> bool:
    """Check whether the first nonblank lines have these ``counts`` of entries, and the first line has a number."""
    rows = [row.split() for row in first_rows(text, len(counts))]
    numbered = any(token[0].isdigit() or token[0] in "+-" for row in rows[:1] for token in row)
    return numbered and tuple(map(len, rows)) == counts


def _with_clues(puzzle: Puzzle, clues: Sequence[tuple[int, Clue]]) -> Puzzle:
    """Return ``puzzle`` with clues, given as (line number, clue). Raises InputError with the line of a wrong clue."""

    def error_of(count: int) -> str:
        try:
            puzzle.with_clues(clue for _, clue in clues[:count])
        except InputError as error:
            return error.message
        return ""

    if error_of(len(clues)):
        first = bisect_left(range(len(clues)), True, key=lambda count: error_of(count) != "")
        raise InputError(error_of(first), line=clues[first - 1][0])
    return puzzle.with_clues(clue for _, clue in clues)


def _written(rows: Iterable[Iterable[object]]) -> str:
    return "".join(" ".join(map(str, row)) + "\n" for row in rows)


# -- lists of pieces ---------------------------------------------------------------------------------------------------


def _read(form: str, source: Source) -> Document:
    heads, text, option = _HEADS[form], source.text, source.option
    if form == "quads" and has_clues(text):
        heads, text = (("width", "height", "clues"),), text.replace("clues", " ", 1)
    lines, line = Lines(text), 1
    head: dict[str, int] = {} if heads else {"size": math.isqrt(len(lines))}
    if not heads and not 0 < head["size"] ** 2 == len(lines) <= MAX_CELLS:
        said = f"{len(lines)} lines of pieces; expected the square of a number from 1 to {MAX_SIDE}"
        raise InputError(f"{said} (a rectangle needs a format that says its width and height)", line=lines.last)
    for names in heads:
        most = {"size": MAX_SIDE, "colours": MAX_COLOUR, "hints": head.get("size", 0) ** 2}
        bounds = [(int(name not in ("colours", "hints", "clues")), most.get(name, MAX_CELLS)) for name in names]
        line, numbers = lines.numbers(bounds, _WHAT.get(names[0], f"the header ({', '.join(names)})"))
        head |= zip(names, numbers, strict=True)
    width, height = (next(head[name] for name in names if name in head) for names in _SIDES)
    check_shape(width, height, line)
    count, clues = head.get("hints", head.get("clues", 0)), []
    for number in range(1, count + 1):
        what = f"{'hint' if 'hints' in head else 'clue'} {number} of {count} (row, column, piece, rotation)"
        bounds = [(1, height), (1, width), (1, width * height), (1, 4)]
        line, (row, column, piece, rotation) = lines.numbers(bounds, what)
        clues.append((line, Clue((row - 1) * width + column - 1, piece - 1, rotation - 1)))
    pieces_count, side = width * height, (0, head.get("colours", MAX_COLOUR))
    columns = [lines.numbers([side] * 4, f"piece {at + 1} of {pieces_count}")[1] for at in range(pieces_count)]
    lines.end(f"{pieces_count} pieces")
    order, notes = _META_ORDER if form == "meta" else CLOCKWISE, list[str]()
    if not heads:
        order, notes = orders.order_of_pieces(columns, option, form)
    elif option is not None:
        order = orders.checked_order(option, form)
    elif order == CLOCKWISE and 1 not in (width, height) and CLOCKWISE not in (others := orders.possible(columns)):
        # A board of one row or column has no corners by which the side order could be checked.
        ways = " or ".join(f"--puzzle-format {form}:{each}" for each in others)
        raise InputError(f"the sides are not clockwise from the top; expected the side order by name, such as {ways}")
    if form == "quads" and width != height and "clues" not in head:
        way = f"--puzzle-format pieces:{height}x{width} is the other way"
        notes.append(f"header read as width {width}, height {height} ({way})")
    quads = np.array(orders.clockwise(columns, order), dtype=np.int32)
    return Document(form, _with_clues(Puzzle(quads, width, height, name=source.name), clues), None, tuple(notes))


def _write(form: str, target: Target) -> str:
    puzzle, width = target.puzzle, target.puzzle.width
    order = orders.checked_order(target.option or (_META_ORDER if form == "meta" else CLOCKWISE), form)
    value = dict.fromkeys(_SIDES[0], width) | dict.fromkeys(_SIDES[1], puzzle.height)
    value |= {"colours": puzzle.colours, "hints": len(puzzle.clues)}
    heads: list[list[object]] = [[value[name] for name in names] for names in _HEADS[form]]
    if form == "quads" and puzzle.clues:
        heads[0] += ["clues", len(puzzle.clues)]
    if form in ("benoist", "quads"):
        heads += [[c.cell // width + 1, c.cell % width + 1, c.piece + 1, c.rotation + 1] for c in puzzle.clues]
    return _written([*heads, *orders.in_order(puzzle.pieces.tolist(), order)])


def _list(form: str, about: str, option: str | None = "ORDER", **more: Any) -> Format:
    return Format(form, "puzzle", about, partial(_read, form), partial(_write, form), option, **more)


BENOIST = _list(
    "benoist", "text of Benoist: size, colours, hints, pieces", square=True,
    looks_like=lambda text: _begins(text, 1) and not any("," in row for row in first_rows(text, 2)),
)  # fmt: skip
QUADS = _list(
    "quads", "'width height', then four clockwise colours for each piece; clues too",
    looks_like=lambda text: (_begins(text, 2) and not _begins(text, 2, 2)) or has_clues(text),
)  # fmt: skip
E2PIECES = _list(
    "e2pieces", "four colours a line; e2pieces:udlr names the side order", square=True, clues=False,
    looks_like=lambda text: _begins(text, 4),
)  # fmt: skip
META = _list("meta", "META 2010: 'rows columns', then bottom left top right", None, clues=False)


# -- CSV of 16-bit words ----------------------------------------------------------------------------------------------

_WORD = re.compile(r"[01]{16}")
_RIM = 0xFFFF
_FORMS = {"hxy": "hint,x,y", "xyr": "x,y,rotation"}


def _read_csv16(source: Source) -> Document:
    lines = Lines(source.text)
    _, [size] = lines.numbers([(1, MAX_SIDE)], "the size of the board")
    quads: list[list[int]] = []
    tails: list[tuple[int, int, list[str]]] = []  # (line number, piece, the three columns after the piece's sides)
    for piece in range(size * size):
        what = f"piece {piece + 1} of {size * size}"
        line, row = lines.take(f"{what} (top,right,bottom,left)")
        columns = [cell.strip() for cell in row.split(",")]
        if len(columns) not in (4, 7):
            said = f"{what} has {len(columns)} columns"
            raise InputError(f"{said}; expected top,right,bottom,left and perhaps hint,x,y", line=line)
        quads.append([_colour(word, line) for word in columns[:4]])
        tails += [(line, piece, columns[4:])] * (len(columns) > 4)
    lines.end(f"{size * size} pieces")
    puzzle, forms = Puzzle(np.array(quads, dtype=np.int32), size, size, name=source.name), [*_FORMS]
    if any(first not in ("0", "1") or (first == "0" and {*rest} != {"0"}) for _, _, (first, *rest) in tails):
        forms.reverse()  # column 5 does not look like ``hint``, so xyr is tried first
    errors = []
    for form in forms if source.option is None else [_checked_form(source.option)]:
        try:
            clued = _with_clues(puzzle, [*filter(None, (_hint(form, *tail, size) for tail in tails))])
        except InputError as error:
            errors.append(error)
            continue
        read_as = f"columns 5 to 7 read as {_FORMS[form]} ({CSV16.name}:hxy or {CSV16.name}:xyr names the form)"
        notes = ["colours counted from 1 instead of 0", *[read_as] * bool(clued.clues)]
        return Document(CSV16.name, clued, None, tuple(notes))
    raise errors[0]


def _checked_form(option: str) -> str:
    if option not in _FORMS:
        raise InputError(f"form {quoted(option)}; expected hxy (hint,x,y) or xyr (x,y,rotation)")
    return option


def _hint(form: str, line: int, piece: int, columns: Sequence[str], size: int) -> tuple[int, Clue] | None:
    """Return (line number, clue) of a hint in columns 5 to 7; None without a hint. Raises InputError for a bad hint."""
    if form == "hxy" and not parse_integer(columns[0], 0, 1, "the hint column", line):
        return None
    if form == "xyr" and all(re.fullmatch("0+", text) for text in columns):
        return None
    *place, turns = columns if form == "xyr" else (*columns[1:], "0")
    rotation = parse_integer(turns, 0, 3, "the rotation of the hint", line)
    x, y = (parse_integer(place[at], 0, size - 1, f"{'xy'[at]} of the hint", line) for at in (0, 1))
    return line, Clue(y * size + x, piece, rotation)


def _colour(word: str, line: int) -> int:
    """Return the colour that a binary word stands for: 0 for the rim, else the value of the word plus 1."""
    if not _WORD.fullmatch(word):
        raise InputError(f"found {quoted(word)}; expected a word of sixteen binary digits", line=line)
    value = int(word, 2)
    return GREY if value == _RIM else value + 1


def _write_csv16(target: Target) -> str:
    puzzle, form = target.puzzle, target.option or "hxy"
    if _checked_form(form) == "hxy" and any(clue.rotation for clue in puzzle.clues):
        target.notes.append(f"{CSV16.name} has no rotation for clues: their pieces are written as the clues turn them")
    clues = {clue.piece: clue for clue in puzzle.clues}
    rows = [str(puzzle.width)]
    for piece, quad in enumerate(puzzle.pieces.tolist()):
        clue = clues.get(piece, Clue(0, piece, 0))
        y, x = divmod(clue.cell, puzzle.width)
        turns, tail = clue.rotation, [int(piece in clues), x, y]
        if form == "xyr":
            turns, tail = 0, [x, y, clue.rotation]
            if piece in clues and not any(tail):  # an unturned clue on cell 0 would read 0,0,0, that is, no clue
                turns, tail[2] = 3, 1
                said = "has no unturned clue on the first cell: its piece is written turned"
                target.notes.append(f"{CSV16.name}:xyr {said}")
        words = [f"{_RIM if colour == GREY else colour - 1:016b}" for colour in rotate(quad, turns)]
        rows.append(",".join([*words, *map(str, tail)]))
    return "\n".join(rows) + "\n"


CSV16 = Format(
    "csv16", "puzzle", "CSV of 16-bit words, rim = all ones", _read_csv16, _write_csv16, "hxy or xyr",
    lambda text: any(re.match(r"[01]{8,}\s*,", row) for row in first_rows(text, 2)[1:]), square=True,
)  # fmt: skip


# -- boards as lists of piece and turn ---------------------------------------------------------------------------------


def _read_pairs(form: str, first: int, source: Source) -> Document:
    """Read the piece and turn of each cell, both counted from ``first``; if that is 1, ``0 0`` is an empty cell."""
    puzzle, lines = source.known(f"the format {form} names pieces"), Lines(source.text)
    count, offset = puzzle.piece_count, 0 if first else _turns_between(source.option)
    if len(lines) != puzzle.cells:
        expected = f"one for each cell of {puzzle.name} ({puzzle.width} x {puzzle.height})"
        raise InputError(f"{len(lines)} lines; expected {puzzle.cells}, {expected}", line=lines.last)
    bounds = [(0, count - 1 + first), (0, 3 + first)]
    rows = [lines.numbers(bounds, f"cell {cell} (piece, rotation)") for cell in range(puzzle.cells)]
    for cell, (line, (piece, turns)) in enumerate(rows):
        if (piece < first) != (turns < first):
            expected = f"expected piece 1 to {count} with rotation 1 to 4, or '0 0'"
            raise InputError(f"cell {cell} is '{piece} {turns}'; {expected}", line=line)
    pairs = [None if piece < first else (piece - first, (turns - first + offset) % 4) for _, (piece, turns) in rows]
    return Document(form, puzzle, Board.from_pairs(pairs, puzzle.width, puzzle.height))


def _write_meta_board(target: Target) -> str:
    offset = _turns_between(target.option)
    if (puzzle := target.puzzle).rules:
        raise InputError(f"{puzzle.name} is {puzzle.shape_and_rules}; {META_BOARD.name} carries no such rules")
    return _written((piece, (turns - offset) % 4) for piece, turns in target.full(META_BOARD.name))


def _turns_between(option: str | None) -> int:
    """Return the rotation, of a piece read in the side order ``option``, that META 2010 counts as unturned."""
    order = orders.checked_order(option or _META_ORDER, META_BOARD.name)
    if order not in CLOCKWISE + CLOCKWISE:
        raise InputError(f"side order {order}; expected a clockwise one such as {META_BOARD.name}:urdl")
    return (CLOCKWISE.index(_META_ORDER[0]) - CLOCKWISE.index(order[0])) % 4


SOLUTION = Format(
    "solution", "board", "'piece rotation' for each cell, from 1; 0 0 = empty", partial(_read_pairs, "solution", 1),
    lambda target: _written((0, 0) if pair is None else (pair[0] + 1, pair[1] + 1) for pair in target.laid.pairs()),
    looks_like=lambda text: _begins(text, 2, 2),
)  # fmt: skip
META_BOARD = Format(
    "meta-board", "board", "META 2010: 'piece turns' for each cell, from 0; meta-board:urdl if pieces were read so",
    partial(_read_pairs, "meta-board", 0), _write_meta_board, "ORDER",
)  # fmt: skip


# -- Tetravex and pictures: written here, read by the readers of dialects ----------------------------------------------


def _told(read: Callable[[Source], Document], option: str, source: Source) -> Document:
    """Read a source with ``read``, the reader of a dialect, in the convention that ``option`` names."""
    if WORD_ORDER in option and words_in(source.text) is None:
        raise InputError("no rows of words of four digits; expected two rows or more of as many words each")
    return read(replace(source, option=option))


def _write_tetravex(target: Target) -> str:
    """Return the pieces as words in the order of their indices, except that each clue's piece is on the clue's cell."""
    puzzle = target.puzzle
    if puzzle.copies:
        raise InputError(f"format {TETRAVEX.name} carries no copies; expected json")
    pinned = {clue.cell: clue.piece for clue in puzzle.clues}
    others = iter(sorted({*range(puzzle.cells)} - {*pinned.values()}))
    order = [pinned[cell] if cell in pinned else next(others) for cell in range(puzzle.cells)]
    text = _in_words(puzzle, puzzle.pieces[order].tolist(), TETRAVEX.name, pinned)
    if order != sorted(order):
        target.notes.append(f"{TETRAVEX.name} has pinned pieces on their cells: the pieces are renumbered")
    return text


def _write_tetravex_board(target: Target) -> str:
    text = _in_words(target.puzzle, target.laid.colours(target.puzzle).tolist(), TETRAVEX_BOARD.name)
    target.full(TETRAVEX_BOARD.name)
    return text


def _in_words(puzzle: Puzzle, quads: Sequence[Sequence[int]], format: str, pinned: Container[int] = ()) -> str:
    if puzzle.rules != ("no frame", "no turns") or min(puzzle.width, puzzle.height) < 2:
        carried = "carries only a Tetravex (no frame, no turns) of two rows and columns or more"
        raise InputError(f"{puzzle.name} is {puzzle.shape_and_rules}; {format} {carried}")
    if puzzle.colours > 10:
        raise InputError(f"{puzzle.colours} colours; {format} has a digit for 10 of them")
    digits = ["".join(str(colour - 1) for colour in columns) for columns in orders.in_order(quads, WORD_ORDER)]
    words = ["@" * (cell in pinned) + word for cell, word in enumerate(digits)]
    return _written(words[at : at + puzzle.width] for at in range(0, len(words), puzzle.width))


def _write_picture(target: Target) -> str:
    puzzle, width = target.puzzle, target.laid.width
    if puzzle.height < 2:
        raise InputError(f"a board of {width} x {puzzle.height}; {PICTURE.name} carries two rows or more")
    if not puzzle.framed or puzzle.cells == 1:  # four zeros may be a piece here, so no cell may be empty
        target.full(PICTURE.name)
    shown = (target.laid.colours(puzzle) - (not puzzle.framed)).clip(0).tolist()
    digits = len(str(max(map(max, shown))))
    lines = []
    for at in range(0, len(shown), width):
        row = shown[at : at + width]
        middle = "  ".join(f"{left:>{digits}} {right:>{digits}}" for _, right, _, left in row)
        upper, lower = ("  ".join(f"{quad[side]:^{2 * digits + 1}}" for quad in row).rstrip() for side in (0, 2))
        lines += [upper, middle, lower]
    return "\n".join(lines) + "\n"


TETRAVEX = Format(
    "tetravex", "puzzle", "Tetravex: words of four digits, up left right down",
    partial(_told, pieces.read, WORD_ORDER), _write_tetravex, rules=True,
)  # fmt: skip
TETRAVEX_BOARD = Format(
    "tetravex-board", "board", "a board of a Tetravex, as such words",
    partial(_told, cells.read, f"{WORD_ORDER},top"), _write_tetravex_board,
)  # fmt: skip
PICTURE = Format(
    "picture", "board", "three lines of colours for each row",
    partial(_told, cells.read, f"{CLOCKWISE},top"), _write_picture,
)  # fmt: skip
