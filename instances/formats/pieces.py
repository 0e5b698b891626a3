"""Piece lists in any dialect: numbers or letters, with or without size, id and type columns, comments, JSON, INI.

What the file does not say is found by evidence: the colour of the rim by the counts of rim sides, the order of the
sides by the corners, the shape by the number of rim pieces. Everything found is said in a note, and an option names it
instead: ``pieces:nesw`` or ``pieces:udlr`` an order of the sides, ``6x12`` a width and height, ``border=2`` the colour
of the rim, ``unframed`` and ``tetravex`` the rules; several with commas.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lns.instances.errors import InputError
from lns.instances.eternity2 import recognise
from lns.instances.formats import orders
from lns.instances.formats.base import Document, Format, NearError, Source, Target, never
from lns.instances.formats.evidence import Laid, in_place
from lns.instances.formats.lines import halves
from lns.instances.formats.matching import PieceIndex
from lns.instances.formats.orders import CLOCKWISE, clockwise, in_words
from lns.instances.formats.piece_list import NO_FRAME, NO_TURNS, SIDE_OF_LETTER, PieceList, is_bounded_header, parse
from lns.instances.puzzle import GREY, MAX_CELLS, Clue, Puzzle, canonical, rotate
from lns.instances.text import count_of, printable, quoted

_MOST_COLOURS = 4000
_MACMAHON = 4  # colours of the usual sets of them, or fewer
_BY_NAME = "--puzzle-format pieces:"
_Shape = tuple[int, int]


@dataclass(frozen=True)
class _Options:
    """What the name of the format says after its colon."""

    order: str | None = None
    shape: _Shape | None = None
    border: int | None = None
    framed: bool = True
    turns: bool = True


class NoRimError(NearError):
    """A list of pieces without a colour that may be the rim, and no word on a puzzle without frame."""


def read(source: Source) -> Document:
    options = _parse_options(source.option)
    listed = parse(source.text)
    if (blocks := halves(listed.quads)) is None:
        puzzle, _, notes = _puzzle(listed, options, source.name)
        return Document(FORMAT.name, puzzle, None, notes)
    if listed.shape and options.shape is None:
        listed.shape = listed.shape[0], listed.shape[1] // (2 if listed.rules else 1)
    found = []  # the puzzle of the one block, the board of the other
    for pieces, laid in (blocks, blocks[::-1]):
        puzzle, order, notes = _puzzle(replace(listed, quads=pieces, pinned=[]), options, source.name)
        readings = in_place(Laid(laid, puzzle.width, orders=[order]), puzzle, source.name)
        found += [(reading, notes) for reading in readings]
    if not found:
        raise InputError("two blocks of the same pieces; expected one of them, or the second as a board of the first")
    reading, notes = max(found, key=lambda entry: entry[0].found.score)
    note = f"two blocks of the same {count_of(reading.puzzle.piece_count, 'piece')}: the puzzle, and a board of it"
    return Document(FORMAT.name, reading.puzzle, reading.board, (note, *notes))


def _parse_options(option: str | None) -> _Options:
    """The parts of an option such as ``udlr,6x12,border=2``. Raises InputError for an unknown one."""
    options = _Options()
    for part in filter(None, (option or "").lower().split(",")):
        order = "".join(SIDE_OF_LETTER.get(letter, "?") for letter in part)
        if shape := re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", part):
            options = replace(options, shape=(int(shape[1]), int(shape[2])))
        elif border := re.fullmatch(r"border=([0-9]{1,5})", part):
            options = replace(options, border=int(border[1]))
        elif part in ("unframed", "tetravex"):
            options = replace(options, framed=False, turns=part == "unframed")
        elif sorted(order) == sorted(CLOCKWISE):
            options = replace(options, order=order)
        else:
            raise InputError(
                f"option {quoted(part)} of {FORMAT.name}; expected a side order such as nesw or udlr, a shape such as "
                "6x12 (width x height), border=COLOUR, unframed or tetravex"
            )
    return options


# -- the puzzle --------------------------------------------------------------------------------------------------------


def _puzzle(listed: PieceList, options: _Options, name: str) -> tuple[Puzzle, str, tuple[str, ...]]:
    """The puzzle, the order of its sides and notes."""
    count = len(listed.quads)
    if count > MAX_CELLS:
        raise InputError(f"{count} pieces; expected at most {MAX_CELLS}", line=listed.line)
    listed = replace(listed, quads=_without_gaps(listed.quads), notes=list(listed.notes))
    framed = options.framed and NO_FRAME not in listed.rules
    for head in listed.header:
        if len(head) == 4 and is_bounded_header(head, count):
            framed = framed and head[0] == 1
            rim = "framed" if framed else "without frame"
            listed.notes.append(f"header read as bounded, signed, width, height: {rim}")
    shape = _shape(listed, options)
    puzzle, order = (_with_frame if framed else _without_frame)(listed, options, shape, name)
    return puzzle, order, tuple(listed.notes)


def _checked(listed: PieceList, order: str, shape: _Shape, name: str, **rules: Any) -> Puzzle:
    quads = np.array(clockwise(listed.quads, order), dtype=np.int32)
    try:
        return Puzzle(quads, *shape, name=name, **rules)
    except InputError as error:
        raise InputError(error.message, line=listed.line) from None


def _without_frame(listed: PieceList, options: _Options, shape: _Shape | None, name: str) -> tuple[Puzzle, str]:
    """The puzzle and the order of its sides, where 0 is a colour as any other."""
    turns = options.turns and NO_TURNS not in listed.rules
    if shape is None:
        count = len(listed.quads)
        raise NearError(f"{count} pieces without a size; expected one, as in {_BY_NAME}unframed,6x6")
    stated = options.order or listed.order
    order = stated or listed.usual_order
    if stated is None and not turns:
        order, note = orders.order_without_turns(listed.quads, order, shape)
        listed.notes.append(note)
    elif not listed.rules or options.order:
        named = "as given" if stated else "assumed"
        listed.notes.append(f"side order {in_words(order)}, {named} ({_BY_NAME}ORDER,unframed names another)")
    listed.notes.append("colours counted from 1 instead of 0, as 0 is no rim")
    listed.quads = [[colour + 1 for colour in quad] for quad in listed.quads]
    puzzle = _checked(listed, order, shape, name, framed=False, turns=turns)
    return puzzle.with_clues(Clue(cell, cell, 0) for cell in listed.pinned), order


def _with_frame(listed: PieceList, options: _Options, shape: _Shape | None, name: str) -> tuple[Puzzle, str]:
    """The puzzle and the order of its sides, with the colour of the rim as 0."""
    border, (width, height) = _border(listed, options, shape)
    if border != GREY:
        listed.notes.append(f"colour {border} is the rim, by its count: it changes places with 0")
    listed.quads = [_swapped(quad, border) for quad in listed.quads]
    order, found = _order(listed, options)
    puzzle = _checked(listed, order, (width, height), name)
    known = recognise(puzzle)
    if known is not None and known.mirrored and options.order is None and listed.order is None:
        order = order.translate(str.maketrans("rl", "lr"))
        found = ": the mirrored order shows the mirror image of Eternity II"
        puzzle = _checked(listed, order, (width, height), name)
    listed.notes.append(f"side order {in_words(order)}{found}")
    if shape is None:
        way = f" ({_BY_NAME}{height}x{width} is the other way)" * (width != height)
        listed.notes.append(f"no size stated: {width} wide, {height} high, by the rim pieces{way}")
    if listed.placed:
        puzzle = _with_placed(puzzle, [(y, x, _swapped(tile, border)) for y, x, tile in listed.placed], order)
        twice = len(listed.placed) - len(puzzle.clues)
        again = f"; {twice} of {len(listed.placed)} say the same again" if twice else ""
        listed.notes.append(f"{count_of(len(puzzle.clues), 'clue')}, the tiles that are placed{again}")
    return puzzle, order


def _with_placed(puzzle: Puzzle, placed: Sequence[tuple[int, int, list[int]]], order: str) -> Puzzle:
    """The puzzle with the placed tiles as clues; a tile placed twice on one cell is one clue."""
    clues: dict[int, Clue] = {}
    index = PieceIndex(puzzle)
    for row, column, tile in placed:
        if row >= puzzle.height or column >= puzzle.width or len(tile) != 4:
            raise InputError(f"a tile at row {row}, column {column}; expected a cell of the board, and four sides")
        [quad] = clockwise([tile], order)
        cell = row * puzzle.width + column
        used = {clue.piece for clue in clues.values() if clue.cell != cell}
        piece = next((piece for piece in index.by_colours.get(canonical(quad), ()) if piece not in used), None)
        if piece is None:
            raise InputError(f"the tile placed at row {row}, column {column} is none of the tiles, or placed elsewhere")
        clue = Clue(cell, piece, next(turns for turns in range(4) if rotate(index.pieces[piece], turns) == tuple(quad)))
        if clues.setdefault(cell, clue) != clue:
            raise InputError(f"two tiles are placed at row {row}, column {column}; expected one")
    return puzzle.with_clues(clues.values())


def _without_gaps(quads: Sequence[Sequence[int]]) -> list[list[int]]:
    """The same quads; numbers above those that colours can have, as 65535 for grey, become numbers that are unused."""
    used = {colour for quad in quads for colour in quad}
    large = sorted(colour for colour in used if colour > _MOST_COLOURS)
    unused = (number for number in range(len(used) + 1) if number not in used)
    number = {colour: colour for colour in used} | dict(zip(large, unused, strict=False))
    return [[number[colour] for colour in quad] for quad in quads]


def _swapped(quad: Sequence[int], border: int) -> list[int]:
    return [{GREY: border, border: GREY}.get(colour, colour) for colour in quad]


def _shape(listed: PieceList, options: _Options) -> _Shape | None:
    """Width and height as named, else as stated in the file, else None. Raises InputError if pieces are missing."""
    notes, count = listed.notes, len(listed.quads)
    colours = {colour for quad in listed.quads for colour in quad}
    stated: _Shape | None = options.shape or listed.shape
    if (0,) in listed.header:
        notes.append("a header of 0: no hints")
    for head in listed.header:
        if len(head) == 4:
            stated = stated or (head[2], head[3])
    sizes = [head for head in listed.header if len(head) < 4 and head != (0,)]
    if len(sizes) == 2 and len(sizes[0]) == len(sizes[1]) == 1 and sizes[0][0] * sizes[1][0] == count:
        sizes = [(sizes[0][0], sizes[1][0])]
    for head in sizes:
        first, last, square = head[0], head[-1], head[0] ** 2 == count
        if len(head) == 1 and not square and first in (count, len(colours), len(colours) - 1, max(colours)):
            notes.append(f"a header of {first}: the number of {'pieces' if first == count else 'colours'}")
        elif len(head) == 1 and square and stated in (None, (first, first)):
            notes.append(f"a header of {first}: the side of the board")
            stated = first, first
        elif stated is None:
            stated = first, last
            if first != last and first * last == count:
                notes.append(f"header read as width {first}, height {last} ({_BY_NAME}{last}x{first} is the other way)")
        elif options.shape is None and sorted((first, last)) != sorted(stated):
            said = f"a header of {' '.join(map(str, head))}, and a size of {stated[0]} x {stated[1]}; expected one"
            raise InputError(said)
    if listed.count == count:
        notes.append(f"{count} pieces, as stated")
    expected = stated[0] * stated[1] if stated else listed.count
    if expected is not None and count != expected:
        corners = sum(list(quad).count(0) >= 2 for quad in listed.quads)
        short = f"; {corners} corner pieces" if corners < 4 else ""
        kind = InputError if listed.count is None else NearError  # a count with its name is no header of another format
        raise kind(f"{count} of {expected} pieces{listed.gaps}{short}; expected all {expected}", line=listed.line)
    return stated


def _border(listed: PieceList, options: _Options, shape: _Shape | None) -> tuple[int, _Shape]:
    """The colour of the rim and the shape, by the number of pieces with one and two sides of it."""
    quads, count = listed.quads, len(listed.quads)
    used = sorted({colour for quad in quads for colour in quad})
    shapes = [shape] if shape else [(w, count // w) for w in range(1, count + 1) if not count % w and w * w >= count]
    found = [
        (colour, each)
        for colour in (used if options.border is None else [options.border])
        for sides in [Counter(list(quad).count(colour) for quad in quads)]
        for each in shapes
        if _rim_fits(sides, *each)
    ]
    found = [entry for entry in found if entry[0] == GREY] or found
    if not found:
        zeros = sum(list(quad).count(0) for quad in quads)
        size = f" of {shape[0]} x {shape[1]}" if shape else ""
        macmahon = len(used) <= _MACMAHON and 0 not in used and count >= 9
        raise NoRimError(
            f"{count} pieces{listed.gaps}; no colour is on as many sides as a rim{size} has (0 is on {zeros}); "
            "expected a frame"
            + " (MacMahon's squares, whose rim has a colour that lies inside too, are not read)" * macmahon
            + f", or the rules by name ({_BY_NAME}unframed or {FORMAT.name}:tetravex)",
            line=listed.line,
        )
    if len(found) > 1:
        names = " or ".join(f"{_BY_NAME}border={colour},{w}x{h}" for colour, (w, h) in found[:3])
        raise NearError(f"the pieces fit in several ways; expected one by name, {names}", line=listed.line)
    return found[0]


def _rim_fits(sides: Counter[int], width: int, height: int) -> bool:
    """Whether so many pieces have each number of sides of a colour, as corners and borders of the board need."""
    if sum(number * pieces for number, pieces in sides.items()) != 2 * (width + height):
        return False
    return min(width, height) < 2 or (
        sides[2] == 4 and sides[1] == 2 * (width + height) - 8 and not sides[3] and not sides[4]
    )


def _order(listed: PieceList, options: _Options) -> tuple[str, str]:
    """The order of the sides, and how it was found."""
    if options.order is not None:
        return options.order, ", as given"
    if listed.order is not None:
        if not orders.is_refuted(listed.quads, listed.order):
            return listed.order, ", as the file names it"
        said = f"the file names the sides {in_words(listed.order)}, in which its pieces make no board"
        listed.notes.append(said)
    order = orders.detect_order(listed.quads)
    return order, f", detected (the pieces do not show a mirror image; {FORMAT.name}:ORDER names one)"


def write(target: Target) -> str:
    """Ids from 1, then up right down left, under a comment with the size."""
    puzzle = target.puzzle
    target.leave_out_clues(FORMAT.name)
    options = _parse_options(target.option)
    order = options.order or CLOCKWISE
    if options != _Options(options.order):
        raise InputError(
            f"{FORMAT.name}:{printable(target.option or '')} says how pieces are read; expected at most a side order "
            f"for writing, such as {FORMAT.name}:udlr"
        )
    if puzzle.holes or (not puzzle.turns and puzzle.framed):
        raise InputError(f"format {FORMAT.name} cannot say {' and '.join(puzzle.rules)}; expected json")
    rules = "" if puzzle.framed else f", {NO_FRAME}" + ("" if puzzle.turns else f", {NO_TURNS}")
    if rules and order != CLOCKWISE:
        raise InputError(f"a puzzle {NO_FRAME} is written clockwise from the top; expected no side order")
    lines = [f"# size: {puzzle.width}x{puzzle.height}, sides {in_words(order)}{rules}"]
    for number, columns in enumerate(orders.in_order(puzzle.pieces.tolist(), order), start=1):
        lines.append(f"{number} " + " ".join(str(colour - bool(rules)) for colour in columns))
    return "\n".join(lines) + "\n"


FORMAT = Format(
    "pieces", "puzzle", "piece lists in any dialect, by evidence; pieces:udlr,6x12", never, read, write, "OPTIONS"
)
