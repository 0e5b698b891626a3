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

import numpy as np

from instances.eternity2 import recognise
from instances.formats import cells
from instances.formats.base import Document, Format, NearError, Source, Target, never
from instances.formats.e2pieces import (
    CLOCKWISE,
    clockwise,
    detect_order,
    in_order,
    in_words,
    is_refuted,
    order_without_turns,
)
from instances.formats.piece_index import PieceIndex
from instances.formats.piece_list import NO_FRAME, NO_TURNS, SIDE_OF_LETTER, PieceList, halves, is_bounded_header, parse
from instances.puzzle import GREY, MAX_CELLS, Clue, Puzzle, canonical, rotate
from instances.verify import verify
from lns_support.errors import InputError
from lns_support.text import count_of, printable, quoted

_MOST_COLOURS = 4000
_MACMAHON = 4  # colours of the usual sets of them, or fewer


@dataclass(frozen=True)
class Options:
    """What the name of the format says after its colon."""

    order: str | None = None
    shape: tuple[int, int] | None = None
    border: int | None = None
    framed: bool = True
    turns: bool = True


class NoRimError(NearError):
    """A list of pieces without a colour that may be the rim, and no word on a puzzle without frame."""


def read(source: Source) -> Document:
    options = parse_options(source.option)
    listed = parse(source.text)
    blocks = halves(listed.quads)
    if blocks is None:
        puzzle, _, notes = _puzzle(listed, options, source.name)
        return Document(FORMAT.name, puzzle, None, notes)
    return _puzzle_and_board(listed, blocks, options, source.name)


def _puzzle_and_board(listed: PieceList, blocks: Sequence[list[list[int]]], options: Options, name: str) -> Document:
    """The puzzle of the one block, the board of the other: that in which more sides match."""
    if listed.shape and options.shape is None:
        listed.shape = listed.shape[0], listed.shape[1] // (2 if listed.rules else 1)
    found = []
    for pieces, laid in (blocks, blocks[::-1]):
        puzzle, order, notes = _puzzle(replace(listed, quads=pieces, pinned=[]), options, name)
        for reading in cells.in_place(laid, puzzle.width, puzzle, name, orders=[order]):
            found.append((verify(puzzle, reading.board).score, puzzle, reading.board, notes))
    if not found:
        raise InputError("two blocks of the same pieces; expected one of them, or the second as a board of the first")
    _, puzzle, board, notes = max(found, key=lambda entry: entry[0])
    note = f"two blocks of the same {count_of(puzzle.piece_count, 'piece')}: the puzzle, and a board of it"
    return Document(FORMAT.name, puzzle, board, (note, *notes))


def parse_options(option: str | None) -> Options:
    """The parts of an option such as ``udlr,6x12,border=2``. Raises InputError for an unknown one."""
    values: dict[str, object] = {}
    for part in filter(None, (option or "").lower().split(",")):
        shape = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", part)
        border = re.fullmatch(r"border=([0-9]{1,5})", part)
        order = "".join(SIDE_OF_LETTER.get(letter, "?") for letter in part)
        if shape:
            values["shape"] = int(shape[1]), int(shape[2])
        elif border:
            values["border"] = int(border[1])
        elif part in ("unframed", "tetravex"):
            values |= {"framed": False, "turns": part == "unframed"}
        elif sorted(order) == sorted(CLOCKWISE):
            values["order"] = order
        else:
            raise InputError(
                f"option {quoted(part)} of {FORMAT.name}; expected a side order such as nesw or udlr, a shape such as "
                "6x12 (width x height), border=COLOUR, unframed or tetravex"
            )
    return Options(**values)  # type: ignore[arg-type]


# -- the puzzle --------------------------------------------------------------------------------------------------------


def _puzzle(listed: PieceList, options: Options, name: str) -> tuple[Puzzle, str, tuple[str, ...]]:
    """The puzzle, the order of its sides and notes."""
    notes = list(listed.notes)
    count = len(listed.quads)
    if count > MAX_CELLS:
        raise InputError(f"{count} pieces; expected at most {MAX_CELLS}", line=listed.line)
    framed = options.framed and NO_FRAME not in listed.rules
    turns = options.turns and NO_TURNS not in listed.rules
    for head in listed.header:
        if len(head) == 4 and is_bounded_header(head, count):
            framed = framed and head[0] == 1
            notes.append(f"header read as bounded, signed, width, height: {'framed' if framed else 'without frame'}")
    shape = _shape(listed, options, notes)
    quads = _without_gaps(listed.quads)
    if not framed:
        if shape is None:
            raise NearError(
                f"{count} pieces without a size; expected one, as in --puzzle-format {FORMAT.name}:unframed,6x6"
            )
        order = options.order or listed.order or listed.usual_order
        if options.order is None and listed.order is None and not turns:
            order, note = order_without_turns(quads, order, shape)
            notes.append(note)
        elif not listed.rules or options.order:
            named = "as given" if options.order or listed.order else "assumed"
            notes.append(
                f"side order {in_words(order)}, {named} (--puzzle-format {FORMAT.name}:ORDER,unframed names another)"
            )
        pieces = [[colour + 1 for colour in quad] for quad in clockwise(quads, order)]  # 0 is an ordinary colour
        notes.append("colours counted from 1 instead of 0, as 0 is no rim")
        puzzle = _checked(pieces, shape, name, listed, framed=False, turns=turns)
        return puzzle.with_clues(Clue(cell, cell, 0) for cell in listed.pinned), order, tuple(notes)
    border, fitting = _border(quads, shape, options, listed, notes)
    swapped = [[_swap(colour, border) for colour in quad] for quad in quads]
    order = _order(swapped, options, listed, notes)
    puzzle = _checked(clockwise(swapped, order), fitting, name, listed)
    known = recognise(puzzle)
    if known is not None and known.mirrored and options.order is None and listed.order is None:
        order = order.translate(str.maketrans("rl", "lr"))
        puzzle = _checked(clockwise(swapped, order), fitting, name, listed)
        notes[-1] = f"side order {in_words(order)}: the mirrored order shows the mirror image of Eternity II"
    if shape is None:
        way = f" (--puzzle-format {FORMAT.name}:{fitting[1]}x{fitting[0]} is the other way)" * (
            fitting[0] != fitting[1]
        )
        notes.append(f"no size stated: {fitting[0]} wide, {fitting[1]} high, by the rim pieces{way}")
    if listed.placed:
        puzzle = _with_placed(puzzle, [(y, x, [_swap(c, border) for c in tile]) for y, x, tile in listed.placed], order)
        twice = len(listed.placed) - len(puzzle.clues)
        again = f"; {twice} of {len(listed.placed)} say the same again" if twice else ""
        notes.append(f"{count_of(len(puzzle.clues), 'clue')}, the tiles that are placed{again}")
    return puzzle, order, tuple(notes)


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
        turns = next(turns for turns in range(4) if rotate(index.pieces[piece], turns) == tuple(quad))
        if clues.setdefault(cell, Clue(cell, piece, turns)) != Clue(cell, piece, turns):
            raise InputError(f"two tiles are placed at row {row}, column {column}; expected one")
    return puzzle.with_clues(clues.values())


def _without_gaps(quads: Sequence[Sequence[int]]) -> list[list[int]]:
    """The same quads; numbers above those that colours can have, as 65535 for grey, become numbers that are unused."""
    used = {colour for quad in quads for colour in quad}
    large = sorted(colour for colour in used if colour > _MOST_COLOURS)
    unused = (number for number in range(len(used) + 1) if number not in used)
    number = {colour: colour for colour in used} | dict(zip(large, unused, strict=False))
    return [[number[colour] for colour in quad] for quad in quads]


def _checked(
    pieces: Sequence[Sequence[int]],
    shape: tuple[int, int],
    name: str,
    listed: PieceList,
    framed: bool = True,
    turns: bool = True,
) -> Puzzle:
    try:
        return Puzzle(np.array(pieces, dtype=np.int32), *shape, name=name, framed=framed, turns=turns)
    except InputError as error:
        raise InputError(error.message, line=listed.line) from None


def _shape(listed: PieceList, options: Options, notes: list[str]) -> tuple[int, int] | None:
    """Width and height as named, else as stated in the file, else None. Raises InputError if pieces are missing."""
    count = len(listed.quads)
    colours = {colour for quad in listed.quads for colour in quad}
    stated: tuple[int, int] | None = options.shape or listed.shape
    sizes = [head for head in listed.header if len(head) < 4 and head != (0,)]
    if len(sizes) == 2 and len(sizes[0]) == len(sizes[1]) == 1 and sizes[0][0] * sizes[1][0] == count:
        sizes = [(sizes[0][0], sizes[1][0])]
    if (0,) in listed.header:
        notes.append("a header of 0: no hints")
    for head in listed.header:
        if len(head) == 4:
            stated = stated or (head[2], head[3])
    for head in sizes:
        if (
            len(head) == 1
            and head[0] in (count, len(colours), len(colours) - 1, max(colours))
            and head[0] ** 2 != count
        ):
            notes.append(f"a header of {head[0]}: the number of {'pieces' if head[0] == count else 'colours'}")
        elif len(head) == 1 and head[0] ** 2 == count and stated in (None, (head[0], head[0])):
            notes.append(f"a header of {head[0]}: the side of the board")
            stated = head[0], head[0]
        elif stated is None:
            stated = head[0], head[-1]
            if head[0] != head[-1] and head[0] * head[-1] == count:
                notes.append(
                    f"header read as width {head[0]}, height {head[1]} "
                    f"(--puzzle-format {FORMAT.name}:{head[1]}x{head[0]} is the other way)"
                )
        elif options.shape is None and sorted((head[0], head[-1])) != sorted(stated):
            raise InputError(
                f"a header of {' '.join(map(str, head))}, and a size of {stated[0]} x {stated[1]}; expected one"
            )
    if listed.count == count:
        notes.append(f"{count} pieces, as stated")
    expected = stated[0] * stated[1] if stated else listed.count
    if expected is not None and count != expected and not (stated is None and listed.count is None):
        corners = sum(list(quad).count(0) >= 2 for quad in listed.quads)
        short = f"; {corners} corner pieces" if corners < 4 else ""
        kind = InputError if listed.count is None else NearError  # a count with its name is no header of another format
        raise kind(f"{count} of {expected} pieces{listed.gaps}{short}; expected all {expected}", line=listed.line)
    return stated


def _border(
    quads: Sequence[Sequence[int]], shape: tuple[int, int] | None, options: Options, listed: PieceList, notes: list[str]
) -> tuple[int, tuple[int, int]]:
    """The colour of the rim and the shape, by the number of pieces with one and two sides of it."""
    count = len(quads)
    used = sorted({colour for quad in quads for colour in quad})
    candidates = used if options.border is None else [options.border]
    found: list[tuple[int, tuple[int, int]]] = []
    for colour in candidates:
        sides = sum(list(quad).count(colour) for quad in quads)
        shapes = [shape] if shape else [(w, count // w) for w in _divisors(count) if w >= count // w]
        for width, height in shapes:
            if sides == 2 * (width + height) and _rim_fits(quads, colour, width, height):
                found.append((colour, (width, height)))
    found = [entry for entry in found if entry[0] == GREY] or found
    if not found:
        zeros = sum(list(quad).count(0) for quad in quads)
        size = f" of {shape[0]} x {shape[1]}" if shape else ""
        few = len(used) <= _MACMAHON and 0 not in used and count >= 9
        macmahon = " (MacMahon's squares, whose rim has a colour that lies inside too, are not read)"
        raise NoRimError(
            f"{count} pieces{listed.gaps}; no colour is on as many sides as a rim{size} has (0 is on {zeros}); "
            f"expected a frame{macmahon * few}, or the rules by name (--puzzle-format {FORMAT.name}:unframed or "
            f"{FORMAT.name}:tetravex)",
            line=listed.line,
        )
    if len(found) > 1:
        names = " or ".join(f"--puzzle-format {FORMAT.name}:border={colour},{w}x{h}" for colour, (w, h) in found[:3])
        raise NearError(f"the pieces fit in several ways; expected one by name, {names}", line=listed.line)
    [(border, fitting)] = found
    if border != GREY:
        notes.append(f"colour {border} is the rim, by its count: it changes places with 0")
    return border, fitting


def _divisors(count: int) -> list[int]:
    return [width for width in range(1, count + 1) if count % width == 0]


def _rim_fits(quads: Sequence[Sequence[int]], colour: int, width: int, height: int) -> bool:
    """Whether so many pieces have one side, and two, of this colour, as corners and borders of the board need."""
    if min(width, height) < 2:
        return True
    sides = Counter(list(quad).count(colour) for quad in quads)
    return sides[2] == 4 and sides[1] == 2 * (width + height) - 8 and not sides[3] and not sides[4]


def _swap(colour: int, border: int) -> int:
    return GREY if colour == border else border if colour == GREY else colour


def _order(quads: Sequence[Sequence[int]], options: Options, listed: PieceList, notes: list[str]) -> str:
    if options.order is not None:
        notes.append(f"side order {in_words(options.order)}, as given")
        return options.order
    if listed.order is not None:
        if not is_refuted(quads, listed.order):
            notes.append(f"side order {in_words(listed.order)}, as the file names it")
            return listed.order
        notes.append(f"the file names the sides {in_words(listed.order)}, in which its pieces make no board")
    order = detect_order(quads)
    notes.append(
        f"side order {in_words(order)}, detected (the pieces do not show a mirror image; {FORMAT.name}:ORDER names one)"
    )
    return order


def write(target: Target) -> str:
    """Ids from 1, then up right down left, under a comment with the size."""
    puzzle = target.puzzle
    if puzzle.clues:
        target.notes.append(f"{FORMAT.name} carries no clues: {len(puzzle.clues)} left out")
    options = parse_options(target.option)
    order = options.order or CLOCKWISE
    if options != Options(options.order):
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
    for number, columns in enumerate(in_order(puzzle.pieces.tolist(), order), start=1):
        lines.append(f"{number} " + " ".join(str(colour - bool(rules)) for colour in columns))
    return "\n".join(lines) + "\n"


FORMAT = Format(
    "pieces", "puzzle", "piece lists in any dialect, by evidence; pieces:udlr,6x12", never, read, write, "OPTIONS"
)
