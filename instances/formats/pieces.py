"""Piece lists in any dialect: numbers or letters, with or without size, id and type columns, comments, JSON, INI.

What the file does not say is inferred: the colour of the rim and the shape of the board from the number of rim pieces,
the side order from the border pieces. Notes report what was inferred; options can state it instead. ``pieces:nesw`` or
``pieces:udlr`` states the side order, ``6x12`` width and height, ``border=2`` the colour of the frame. ``unframed``
states that there is no frame, ``tetravex`` that pieces are not turned either. ``rim=B`` states the colour of the rim of
a board without frame, which sides inside may have too. ``mates`` or ``equal`` states whether sides that look like
halves match as halves (`lns.instances.formats.halves`) or as equal colours. Commas separate several options.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from lns.instances.errors import InputError
from lns.instances.eternity2 import recognise
from lns.instances.formats import orders, shapes
from lns.instances.formats.base import Document, Format, NearError, NoRimError, Quad, Source, Target
from lns.instances.formats.evidence import PieceIndex, in_place
from lns.instances.formats.halves import find_halves
from lns.instances.formats.orders import CLOCKWISE, clockwise, in_words
from lns.instances.formats.shapes import Listed, Row, is_bounded_header
from lns.instances.puzzle import GREY, MAX_CELLS, Clue, Puzzle
from lns.instances.text import count_of, printable, quoted

_SIZE = re.compile(r"(?:dimensions?|size|taille)\W*([0-9]{1,4})\s*[x×*]\s*([0-9]{1,4})", re.I)
_COUNT = re.compile(r"(?:ntiles|total)\D*([0-9]{1,4})", re.I)
_RULE = (
    rf"{shapes.NO_FRAME}|{shapes.NO_TURNS}|{shapes.ANY_NUMBER}|rim [0-9]{{1,4}}|mates(?: [0-9]{{1,4}}-[0-9]{{1,4}})+"
)
_RULES = re.compile(rf"sides up right down left, ((?:{_RULE})(?:, (?:{_RULE}))*)$")
_SIDES = re.compile(r"sides ((?:up|right|down|left)(?: (?:up|right|down|left)){3})\b")
_SHORTEST_RIM = 8  # number of rim sides of a 2 x 2 board, the smallest one with corners
_SHOWN = 5  # most missing ids that a message names
_MOST_COLOURS = 4000
_BY_NAME = "--puzzle-format pieces:"
# By the pattern of an option: a function that returns the fields of `_Options` that the option sets.
_OPTIONS: dict[str, Callable[[re.Match[str]], dict[str, Any]]] = {
    "([0-9]{1,4})x([0-9]{1,4})": lambda part: {"shape": (int(part[1]), int(part[2]))},
    "border=([0-9]{1,5})": lambda part: {"border": int(part[1])},
    "rim=(.+)": lambda part: {"rim": part[1], "framed": False},
    "mates|equal": lambda part: {"mates": part[0].lower() == "mates"},
    "unframed|tetravex": lambda part: {"turns": part[0].lower() == "unframed", "framed": False},
}
_Shape = tuple[int, int]


class _Options(NamedTuple):
    """What the options after the colon of the format's name state."""

    order: str | None = None
    shape: _Shape | None = None
    border: int | None = None
    framed: bool = True
    turns: bool = True
    rim: str | None = None  # colour of the rim of a puzzle without frame, as written in the file
    mates: bool | None = None


def read(source: Source) -> Document:
    options = _parse_options(source.option)
    halves = find_halves(source.text, options.mates)
    text = source.text if halves is None else halves.text
    marked = shapes.in_json(text) or shapes.bracketed(text) or shapes.words_in(text)
    listed = marked or _in_rows(shapes.rows_of(text))
    if halves is not None:
        listed.halves, listed.mates, listed.names = True, halves.mates, halves.numbers
        listed.notes = (halves.note, *listed.notes)
    whole = listed.usual_order == CLOCKWISE and math.prod(listed.shape or ()) == len(listed.quads)
    blocks = [listed] if whole else shapes.blocks(listed)
    notes = list[str]()
    if len(blocks) == 1:
        puzzle, _ = _puzzle(listed, options, source.name, notes)
        return Document(FORMAT.name, puzzle, None, tuple(notes))
    if listed.shape and options.shape is None:
        shape = listed.shape[0], listed.shape[1] // (2 if listed.rules else 1)
        blocks = [replace(block, shape=shape) for block in blocks]
    found = []  # readings of one block as the puzzle and of the other block as its board
    for pieces, laid in (blocks, blocks[::-1]):
        puzzle, order = _puzzle(pieces, options, source.name, notes := [])
        readings = in_place(replace(laid, width=puzzle.width, orders=[order]), puzzle, source.name)
        found += [(reading, notes) for reading in readings]
    if not found:
        raise InputError("two blocks of the same pieces; expected one of them, or the second as a board of the first")
    reading, notes = max(found, key=lambda entry: entry[0].found.score)
    note = f"two blocks of the same {count_of(reading.puzzle.piece_count, 'piece')}: the puzzle, and a board of it"
    return Document(FORMAT.name, reading.puzzle, reading.board, (note, *notes))


def _parse_options(option: str | None) -> _Options:
    """Parse an option such as ``udlr,6x12,border=2``. Raises InputError for an unknown part."""
    options = _Options()
    for part in filter(None, (option or "").split(",")):
        found = ((say, re.fullmatch(pattern, part, re.I)) for pattern, say in _OPTIONS.items())
        named = next((say(match) for say, match in found if match), {"order": _order_of(part)})
        if None in named.values():
            ways = "a side order such as nesw or udlr, a shape such as 6x12 (width x height), border=COLOUR, rim=COLOUR"
            said = f"option {quoted(part)} of {FORMAT.name}"
            raise InputError(f"{said}; expected {ways}, unframed, tetravex, mates or equal")
        options = options._replace(**named)
    return options


# -- rows of pieces ----------------------------------------------------------------------------------------------------


def _in_rows(rows: Sequence[Row]) -> Listed:
    """Return the pieces in rows of four sides, perhaps after id and type columns, and what the other rows state."""
    data = {row: columns for row in rows if (columns := _columns(row)) is not None}
    if not data:
        shapes.refuse_other_sides([(row.line, row.numbers) for row in rows if row.only_numbers])
        raise InputError("no line with the four sides of a piece; expected a puzzle or a board", line=1)
    widths = Counter(map(len, data.values()))
    width = max(widths, key=lambda columns: (widths[columns], columns))
    pieces = {row: columns for row, columns in data.items() if len(columns) == width}
    listed, unused, head = Listed([]), list[Row](), next(iter(pieces))
    if bounded := width == 4 and is_bounded_header(pieces[head], len(pieces) - 1):
        framed, _, *size = pieces.pop(head)
        listed.framed, listed.shape = framed == 1, (size[0], size[1])
        listed.notes = (f"header read as bounded, signed, width, height: {'framed' if framed else shapes.NO_FRAME}",)
    if width == 4:
        shapes.refuse_other_sides([(row.line, row.numbers) for row in pieces])
    named = _take_names(listed, [row for row in rows if row.line < head.line and not row.only_numbers], width)
    for row in rows:
        said, columns, count = _take_said(listed, row), data.get(row), len(row.tokens)
        if row in pieces or (bounded and row is head):
            continue
        if row.line <= head.line and row.only_numbers:
            if count > 2:
                raise InputError(f"{count} numbers before the pieces; expected a size or a piece", line=row.line)
            listed.header.append(row.numbers)
        elif row.line > head.line and columns is not None:
            raise InputError(f"{count} entries; expected {width} columns as in the other lines", line=row.line)
        elif row.line > head.line and (row.numbers or count > 1):
            what = f"{quoted(row.text)} among pieces of {width} columns"
            raise InputError(f"{what}; expected only pieces after the first", line=row.line)
        elif row.tokens and not said and row.tokens not in named:
            unused.append(row)
    listed.where, listed.quads = [row.line for row in pieces], [columns[-4:] for columns in pieces.values()]
    written = ["".join(row.tokens)[-4:] for row in pieces]
    if all(re.fullmatch("[A-Za-z_]{4}", word) for word in written):
        listed.names = dict(zip("".join(written), chain(*listed.quads), strict=True))
    listed.notes += shapes.left_out((row.line, row.text) for row in unused)
    if width > 4:
        _take_ids(listed, pieces)
    return listed


def _columns(row: Row) -> list[int] | None:
    """Return the numbers in a row that may be a piece: four sides, perhaps after an id and a type; else None."""
    tokens = row.tokens
    if len(tokens) in (1, 2) and len(row.numbers) == len(tokens) - 1 and re.fullmatch("[A-Za-z_]{4}", tokens[-1]):
        tokens = (*tokens[:-1], *tokens[-1])
    head, sides = tokens[:-4], tokens[-4:]
    if len(sides) < 4 or len(head) > 2 or not all(token.isdecimal() for token in head):
        return None
    if all(re.fullmatch("[A-Za-z_]", token) for token in sides):
        shown = list(map(shapes.colour_of_letter, sides))
    elif all(token == "_" or token.isdecimal() for token in sides):
        shown = [shapes.MAX_NUMBER if token == "_" else int(token) for token in sides]
    else:
        return None
    numbers = [*map(int, head), *shown]
    if max(numbers) > shapes.MAX_NUMBER:
        raise InputError(f"the number {max(numbers)}; expected at most {shapes.MAX_NUMBER}", line=row.line)
    return numbers


def _take_names(listed: Listed, before: Sequence[Row], columns: int) -> set[tuple[str, ...]]:
    """Store in ``listed`` the side order and the shape that the rows ``before`` the pieces name.

    Return the tokens of the rows used: at most one row with names of columns, and two rows with a named size each.
    """
    used = set()
    names = next((row.tokens for row in before if not row.numbers and len(row.tokens) >= 4), ())
    if len(names) == columns and (order := _order_of(name[:1] for name in names[-4:])):
        listed.order = order
        used.add(names)
    sized = [row for row in before if len(row.numbers) == 1 and len(row.tokens) == 2]
    sizes = {side: row for row in sized if (side := shapes.SIDE_OF_SIZE.get(row.tokens[0].lower()))}
    if len(sizes) == 2:
        listed.shape = sizes["width"].numbers[0], sizes["height"].numbers[0]
        used |= {row.tokens for row in sizes.values()}
    return used


def _order_of(letters: Iterable[str]) -> str | None:
    """Return the side order that four letters name, such as udlr, nesw or tblr; None unless each side is named once."""
    order = "".join(shapes.SIDE_OF_LETTER.get(letter.lower(), "?") for letter in letters)
    return order if sorted(order) == sorted(CLOCKWISE) else None


def _take_said(listed: Listed, row: Row) -> bool:
    """Store in ``listed`` the rules, side order, size and piece count that a row or its comment states.

    Return whether the row itself, without its comment, states a size or a piece count.
    """
    if rules := _RULES.search(row.comment):
        listed.rules, listed.framed = rules[1], shapes.NO_FRAME not in rules[1]
    if sides := _SIDES.search(row.comment):
        listed.order = _order_of(name[0] for name in sides[1].split()) or listed.order
    words = " ".join(row.tokens)
    if size := _SIZE.search(f"{words} {row.comment}"):
        listed.shape = listed.shape or (int(size[1]), int(size[2]))
    if count := _COUNT.search(f"{words} {row.comment}"):
        listed.count = listed.count or int(count[1])
    return bool(_SIZE.search(words) or _COUNT.search(words))


def _take_ids(listed: Listed, pieces: Mapping[Row, list[int]]) -> None:
    """Sort the pieces of ``listed`` by id, their first column, and check the types in the second column, if any."""
    ids, typed = [columns[0] for columns in pieces.values()], len(next(iter(pieces.values()))) == 6
    odd = _odd_types([columns[1:] for columns in pieces.values()]) if typed else []
    if typed and (len(set(ids)) < len(ids) or 4 * len(odd) > len(ids)):
        shapes.refuse_other_sides([(row.line, row.numbers) for row in pieces])
    if odd:
        piece, kind, *_ = pieces[row := [*pieces][odd[0]]]
        said = f"piece {piece} is of type {kind}, unlike others with as many grey sides; expected id, type, sides"
        raise NearError(said, line=row.line)
    if len(set(ids)) != len(ids):
        said = f"two pieces have the id {Counter(ids).most_common(1)[0][0]}; expected each once"
        raise InputError(said, line=listed.last)
    if missing := sorted({*range(min(1, *ids), min(max(ids), 5000) + 1)} - {*ids}):
        shown = ", ".join(map(str, missing[:_SHOWN]))
        listed.gaps = f"; missing: id {shown}"
        shown += ", …" * (len(missing) > _SHOWN)
        said = f"no piece has the id {shown}, up to {max(ids)}: the pieces are numbered in the order of their ids"
        listed.notes += (said,)
    if ids != sorted(ids):
        listed.quads = [quad for _, quad in sorted(zip(ids, listed.quads, strict=True))]
        listed.notes += ("pieces in the order of their ids",)
    if typed:
        listed.notes += ("the second column is the type of the piece, as its grey sides say",)


def _odd_types(rows: Sequence[list[int]]) -> list[int]:
    """Return the indices of the rows (type, four sides) whose type is unusual for their number of rim sides.

    The rim colour is assumed to be the colour for which the fewest rows are unusual.
    """
    found = []
    for colour in {colour for row in rows for colour in row[1:]}:
        kinds = [(min(2, row[1:].count(colour)), row[0]) for row in rows]
        usual = dict(sorted(Counter(kinds), key=kinds.count))  # the most common type for each number of rim sides
        odd = [at for at, (sides, kind) in enumerate(kinds) if usual[sides] != kind]
        if sum(row[1:].count(colour) for row in rows) >= _SHORTEST_RIM:
            found.append(odd if len({*usual.values()}) == len(usual) else list(range(len(rows))))
    return min(found, key=len, default=[])


# -- the puzzle of a list of pieces ------------------------------------------------------------------------------------


def _puzzle(listed: Listed, options: _Options, name: str, notes: list[str]) -> tuple[Puzzle, str]:
    """Return the puzzle that a list of pieces states, and the side order of the list."""
    count = len(listed.quads)
    if count > MAX_CELLS:
        raise InputError(f"{count} pieces; expected at most {MAX_CELLS}", line=listed.last)
    used = {colour for quad in listed.quads for colour in quad}
    large = sorted(colour for colour in used if colour > _MOST_COLOURS)  # each of these gets an unused number
    unused = (number for number in range(len(used) + 1) if number not in used)
    number = {colour: colour for colour in used} | dict(zip(large, unused, strict=False))
    pairs = [(int(one), int(other)) for one, other in re.findall(r"([0-9]+)-([0-9]+)", listed.rules)]
    mates = () if options.mates is False else tuple(pairs) or listed.mates
    listed = replace(listed, quads=[[number[colour] for colour in quad] for quad in listed.quads], mates=mates)
    notes += listed.notes
    listed.shape = _shape(listed, options, notes)
    if options.framed and listed.framed:
        try:
            return _with_frame(listed, options, name, notes)
        except NoRimError:
            if not (listed.halves or (listed.names and listed.shape and GREY not in used)):
                raise
        way = f"{_BY_NAME}rim=COLOUR names the colour of a rim, tetravex forbids turns"
        notes.append(f"no colour is a rim by its count: without frame ({way})")
    return _without_frame(listed, options, name, notes)


def _without_frame(listed: Listed, options: _Options, name: str, notes: list[str]) -> tuple[Puzzle, str]:
    """Return the listed pieces as a puzzle without frame, where 0 is an ordinary colour, and the list's side order."""
    turns, count, shape = options.turns and shapes.NO_TURNS not in listed.rules, len(listed.quads), listed.shape
    if shape is None:
        side = math.isqrt(count)
        if side * side != count:
            raise NearError(f"{count} pieces without a size; expected one, as in {_BY_NAME}unframed,6x6")
        notes.append(f"no size stated: {side} wide, {side} high, as a square")
        shape = side, side
    stated = options.order or listed.order
    order = stated or listed.usual_order
    if stated is None and not turns:
        order, note = orders.order_without_turns(_pictures(listed), order, shape)
        notes.append(note)
    elif not listed.rules or options.order:
        named = "as given" if stated else "assumed"
        notes.append(f"side order {in_words(order)}, {named} ({_BY_NAME}ORDER,unframed names another)")
    if not listed.names:
        notes.append("colours counted from 1 instead of 0, as 0 is no rim")
    copies = (0,) * count if shapes.ANY_NUMBER in listed.rules else ()
    rim, unframed = _rim(listed, options), listed.renumbered(None)
    puzzle = unframed.made(order, *shape, name, framed=False, turns=turns, copies=copies, rim=rim)
    return puzzle.with_clues(Clue(cell, cell, 0) for cell in listed.pinned), order


def _rim(listed: Listed, options: _Options) -> int:
    """Return the rim colour that the option or the file states for a puzzle without frame; 0 if none is stated."""
    said = re.search("rim ([0-9]+)", listed.rules)
    written = options.rim or (said[1] if said else None)
    if written is None:
        return GREY
    colour = listed.names.get(written, int(written) if written.isdecimal() else -1)
    if not any(colour in quad for quad in listed.quads):
        raise InputError(f"no piece has the colour {quoted(written)} of the rim; expected one as the file writes it")
    return colour + 1


def _pictures(listed: Listed) -> list[list[int]]:
    """Return the pieces with the same number for both halves of a picture, so that sides which match are equal."""
    picture = {other: one for one, other in listed.mates}
    return [[picture.get(colour, colour) for colour in quad] for quad in listed.quads]


def _with_frame(listed: Listed, options: _Options, name: str, notes: list[str]) -> tuple[Puzzle, str]:
    """Return the listed pieces as a puzzle with a frame, where the rim colour becomes 0, and the list's side order."""
    border, (width, height) = _border(listed, options)
    if border != GREY:
        notes.append(f"colour {border} is the rim, by its count: it changes places with 0")
    listed = listed.renumbered(border)
    strip = min(width, height) == 1
    order, found = orders.order_of_pieces(_pictures(listed), options.order, FORMAT.name, listed.order, strip=strip)
    puzzle = listed.made(order, width, height, name)
    known = recognise(puzzle)
    if known is not None and known.mirrored and options.order is None and listed.order is None:
        order = order.translate(str.maketrans("rl", "lr"))
        found = [f"side order {in_words(order)}: the mirrored order shows the mirror image of Eternity II"]
        puzzle = listed.made(order, width, height, name)
    notes += found
    if listed.shape is None:
        way = f" ({_BY_NAME}{height}x{width} is the other way)" * (width != height)
        notes.append(f"no size stated: {width} wide, {height} high, by the rim pieces{way}")
    if listed.placed:
        puzzle = _with_placed(puzzle, listed.placed, order)
        twice = len(listed.placed) - len(puzzle.clues)
        again = f"; {twice} of {len(listed.placed)} say the same again" if twice else ""
        notes.append(f"{count_of(len(puzzle.clues), 'clue')}, the tiles that are placed{again}")
    return puzzle, order


def _with_placed(puzzle: Puzzle, placed: Sequence[tuple[int, int, list[int]]], order: str) -> Puzzle:
    """Return the puzzle with the placed tiles of a text as clues; a tile placed twice on one cell is one clue."""
    quads: list[Quad | None] = [None] * puzzle.cells
    for row, column, tile in placed:
        if row >= puzzle.height or column >= puzzle.width or len(tile) != 4:
            raise InputError(f"a tile at row {row}, column {column}; expected a cell of the board, and four sides")
        cell, [(up, right, down, left)] = row * puzzle.width + column, clockwise([tile], order)
        if quads[cell] not in (None, (up, right, down, left)):
            raise InputError(f"two tiles are placed at row {row}, column {column}; expected one")
        quads[cell] = up, right, down, left
    pairs = PieceIndex(puzzle).board(quads)[0].pairs()
    return puzzle.with_clues(Clue(cell, *pair) for cell, pair in enumerate(pairs) if pair)


def _shape(listed: Listed, options: _Options, notes: list[str]) -> _Shape | None:
    """Return width and height as the option, or else the file, states them; else None. Checks the number of pieces."""
    count, colours = len(listed.quads), {colour for quad in listed.quads for colour in quad}
    stated: _Shape | None = options.shape or listed.shape
    if (0,) in listed.header:
        notes.append("a header of 0: no hints")
    sizes = [head for head in listed.header if head != (0,)]
    if [*map(len, sizes)] == [1, 1] and sizes[0][0] * sizes[1][0] == count:
        sizes = [sizes[0] + sizes[1]]
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
    expected = stated[0] * stated[1] if stated and shapes.ANY_NUMBER not in listed.rules else listed.count
    if expected is not None and count != expected:
        corners = sum(quad.count(0) >= 2 for quad in listed.quads)
        short = f"; {corners} corner pieces" if corners < 4 else ""
        kind = InputError if listed.count is None else NearError  # a stated count shows that this is a list of pieces
        said = f"{count} of {expected} pieces{listed.gaps}{short}; expected all {expected}"
        raise kind(said, line=listed.last)
    return stated


def _border(listed: Listed, options: _Options) -> tuple[int, _Shape]:
    """Return rim colour and shape that fit how many rim sides pieces have. NearError unless exactly one pair fits."""
    quads, count, shape = listed.quads, len(listed.quads), listed.shape
    used = sorted({colour for quad in quads for colour in quad} - {side for pair in listed.mates for side in pair})
    shapes = [shape] if shape else [(w, count // w) for w in range(1, count + 1) if not count % w and w * w >= count]
    found = []
    for colour in used if options.border is None else [options.border]:
        sides = [quad.count(colour) for quad in quads]
        for width, height in shapes:
            wanted = [2 * (width + height) - 8, 4, 0, 0]  # how many pieces must have 1, 2, 3 and 4 rim sides
            strip = min(width, height) < 2 and sum(sides) == 2 * (width + height)
            if strip or (min(width, height) > 1 and [sides.count(number) for number in (1, 2, 3, 4)] == wanted):
                found.append((colour, (width, height)))
    found = [entry for entry in found if entry[0] == GREY] or found
    if not found:
        zeros = sum(quad.count(0) for quad in quads)
        size = f" of {shape[0]} x {shape[1]}" if shape else ""
        said = f"{count} pieces{listed.gaps}; no colour is on as many sides as a rim{size} has (0 is on {zeros})"
        way = f"{_BY_NAME}unframed or {FORMAT.name}:tetravex; with rim=COLOUR for MacMahon's squares, where that colour"
        raise NoRimError(f"{said}; expected a frame, or the rules by name ({way} lies inside too)", line=listed.last)
    if len(found) > 1:
        names = " or ".join(f"{_BY_NAME}border={colour},{w}x{h}" for colour, (w, h) in found[:3])
        raise NearError(f"the pieces fit in several ways; expected one by name, {names}", line=listed.last)
    return found[0]


def write(target: Target) -> str:
    """Return a comment with size, side order and rules, then a line for each piece: its id, from 1, and its sides."""
    puzzle = target.puzzle
    options = _parse_options(target.option)
    order = options.order or CLOCKWISE
    if options != _Options(options.order):
        said = f"{FORMAT.name}:{printable(target.option or '')} says how pieces are read"
        raise InputError(f"{said}; expected at most a side order for writing, such as {FORMAT.name}:udlr")
    if puzzle.holes or any(puzzle.copies) or (puzzle.framed and (puzzle.copies or not puzzle.turns)):
        raise InputError(f"format {FORMAT.name} cannot say {' and '.join(puzzle.rules)}; expected json")
    first = int(not puzzle.framed)  # in texts, the colours of a puzzle without frame count from 0 instead of 1
    mates = "".join(f" {one - first}-{other - first}" for one, other in puzzle.mates)
    holds = {shapes.NO_FRAME: not puzzle.framed, shapes.NO_TURNS: not puzzle.turns}
    holds |= {shapes.ANY_NUMBER: bool(puzzle.copies), f"rim {puzzle.rim - 1}": bool(puzzle.rim)}
    holds |= {f"mates{mates}": bool(mates)}
    rules = "".join(f", {rule}" for rule, here in holds.items() if here)
    if rules and order != CLOCKWISE:
        raise InputError(f"a puzzle with such rules ({rules[2:]}) is written clockwise; expected no side order")
    lines = [f"# size: {puzzle.width}x{puzzle.height}, sides {in_words(order)}{rules}"]
    for number, columns in enumerate(orders.in_order(puzzle.pieces.tolist(), order), start=1):
        lines.append(f"{number} " + " ".join(str(colour - first) for colour in columns))
    return "\n".join(lines) + "\n"


FORMAT = Format(
    "pieces", "puzzle", "piece lists in any dialect, by evidence; pieces:udlr,6x12", read, write, "OPTIONS",
    clues=False, rules=True,
)  # fmt: skip
