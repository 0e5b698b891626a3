"""Readers of boards and clues in any dialect. They choose the convention under which the board is most legal.

A text gives the colours of each cell, the piece and turn of each cell, or the place and turn of each piece; a turn is a
number of quarter turns. This module has a function for each layout. The first function that recognises the text reads
it in each convention; `lns.instances.formats.evidence` chooses the best reading, or raises an error if two different
boards are about as good. An option names a convention in the same words as the notes: ``cells:udlr``,
``cells:base0,ccw,bottom,turn2`` and so on.

Clues in a file of their own are lines ``piece row column turn`` or ``piece x y turn``; lines ``139=I8-Rot0`` (piece,
row letter, column, anticlockwise turns); or a list of cell types, in which a negative number is a clue. Conventions
that place only official clues of Eternity II are preferred, then those that count rows from the top, count turns from
the pieces as listed, and have the turn after the place. If the preferred conventions give different boards, the
caller must name one, such as ``clues:base1,yx,from0,cw``.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from lns.instances.errors import InputError
from lns.instances.eternity2 import held_clues
from lns.instances.formats import shapes
from lns.instances.formats.base import Document, Format, NearError, NeedsPuzzleError, Source, Target
from lns.instances.formats.evidence import CELLS, LISTED, NEAR, PLACES, Reading, best, by_number, in_place
from lns.instances.formats.shapes import Listed, Row, found_in, groups_on_a_line, rows_of
from lns.instances.puzzle import Puzzle
from lns.instances.text import count_of, quoted

_PAIR = re.compile(r"(?<![0-9])([0-9]{1,4})[ \t]*[/(:][ \t]*([0-9])(?![0-9])")
_COMPASS = re.compile(r"\$((?:(?:\.|[0-9]{1,4}[NESW]):)+(?:\.|[0-9]{1,4}[NESW])?):?;")
_CONVENTION = re.compile(r"^# (?:cells|clues):([a-z0-9,-]+)$", re.MULTILINE)  # a comment that names the convention
_WIDTHS = (8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 64)  # counts of numbers on a line with the colours of several cells
_EDITOR = re.compile(r"^[ \t]{0,20}([0-9]{1,4})[ \t]{0,20}=[ \t]{0,20}([A-Z])([0-9]{1,2})-Rot([0-3])", re.M)
_ORDERS = {  # words in a text that say which coordinate of a place comes first
    "yx": re.compile(r"\brow\W+(?:and\W+)?col", re.I),
    "xy": re.compile(r"\b(?:col(?:umn)?\W+(?:and\W+)?row|x\W+y)\b", re.I),
}
_MARKED = {
    "letters in place": shapes.letters,
    "tiles in place": shapes.in_json,
    "words of Tetravex": shapes.words_in,
    "a picture of a board": shapes.picture_in,
    "colours in brackets": shapes.bracketed,
}
_HEADER = "clues: piece from 1, row column from 0, clockwise turns"  # the first line, after '#' and the number of clues
_HEADER_LINE = re.compile(rf"^# ([0-9]{{1,4}}) {_HEADER}$", re.M)
_OWN = {"base1", "yx", "from0", "top", "cw", "turn0", "turn-last"}
_WRITTEN = ("base1", "base0"), ("top", "bottom"), ("cw", "ccw"), ("turn0", "turn1", "turn2", "turn3")
_ASKED = 4  # most conventions that an error message names
_ENOUGH = 6  # if the best reading of clues has at least this score, readings with a clearly lower score are dropped

_Notes = tuple[str, ...]


class _Found(NamedTuple):
    """What was found in a text: name of its layout, `Reading`s or listed pieces, notes, and number of boards."""

    form: str
    readings: Iterable[Reading] | Listed
    notes: _Notes = ()
    boards: int = 1


def read(source: Source) -> Document:
    try:
        return _read(source)
    except InputError:
        if source.puzzle is None and (lacking := clues_in(source.text)):
            raise NeedsPuzzleError(lacking) from None
        raise


def _read(source: Source) -> Document:
    form, readings, notes, boards = _compass(source) or _pairs(source) or _marked(source) or _rows(source)
    if isinstance(readings, Listed):
        notes += readings.notes
        laid = [readings] if readings.framed else shapes.blocks(readings)  # of two blocks, either may be the board
        readings = (each for one in laid for each in in_place(one, source.puzzle, source.name))
    wanted = _named(source)
    chosen = [reading for reading in readings if wanted <= reading.parts]
    if not chosen:
        of = "; expected a board" if source.puzzle is None else f" of {source.puzzle.name}; expected its pieces"
        raise InputError(f"{form}: no convention{' named so' * bool(wanted)} makes it a board{of}")
    reading = best(form, chosen, named=bool(wanted))
    first = f"{form}, read as {reading.name} (--format {FORMAT.name}:... names another convention)"
    return Document(FORMAT.name, reading.puzzle, reading.board, (first, *notes), boards=boards)


def _named(source: Source) -> set[str]:
    """Return the option's words or, if a comment names a convention that has all of them, the convention's words."""
    words = {*filter(None, (source.option or "").lower().split(","))}
    said = {*each[1].split(",")} if (each := _CONVENTION.search(source.text)) else set()
    return said if words <= said else words


# -- boards, with a function for each layout ---------------------------------------------------------------------------


def _by_cell(source: Source, form: str, pairs: Sequence[Sequence[int]], where: Sequence[int]) -> Iterator[Reading]:
    """Return the readings of a list of (piece, turn) for each cell; ``where`` has the line of each entry."""
    puzzle = source.known(f"{form}: the pieces are named")
    if len(pairs) != puzzle.cells:
        counts = Counter(where)
        short = next((line for line in counts if counts[line] != max(counts.values())), None)
        raise NearError(f"{len(pairs)} cells; expected {puzzle.cells} as in {puzzle.name}", line=short)
    rows = [(piece, cell % puzzle.width, cell // puzzle.width, turn) for cell, (piece, turn) in enumerate(pairs)]
    return by_number(puzzle, rows, where, CELLS)


def _compass(source: Source) -> _Found | None:
    """Recognise a board such as ``$12N:.:7E;``: piece and compass letter of each cell, a dot for an empty cell."""
    if not _COMPASS.search(source.text):
        return None
    form = "pieces with compass letters"
    boards, where, left = found_in(source.text, _COMPASS, form)
    at = source.place(len(boards))
    tokens = [token for token in boards[at][1].split(":") if token]
    pairs = [(-1, 0) if token == "." else (int(token[:-1]), "NESW".index(token[-1])) for token in tokens]
    return _Found(form, _by_cell(source, form, pairs, [where[at]] * len(pairs)), left, len(boards))


def _pairs(source: Source) -> _Found | None:
    """Recognise a board with ``12/3``, ``12(3)`` or ``12:3`` for each cell: its piece and turn."""
    form, puzzle, count = "piece and turn of each cell", source.puzzle, len(_PAIR.findall(source.text))
    if count <= 8 and (puzzle is None or count != puzzle.cells):
        return None
    found, where, left = found_in(source.text, _PAIR, "piece/turn")
    if left and not groups_on_a_line(source.text, _PAIR):
        return None
    return _Found(form, _by_cell(source, form, [(int(match[1]), int(match[2])) for match in found], where), left)


def _marked(source: Source) -> _Found | None:
    """Recognise a board that gives the colours of each cell in one of the `_MARKED` layouts."""
    found = ((form, shape(source.text)) for form, shape in _MARKED.items())
    return next((_Found(form, listed) for form, listed in found if listed is not None), None)


def _rows(source: Source) -> _Found:
    """Recognise rows of piece and turn, of x, y and turn, of piece, x, y and turn, or of the colours of some cells."""
    puzzle = source.puzzle
    header, body, left = _table(source)
    table, where = [row.numbers for row in body], [row.line for row in body]
    width, count = len(table[0]) if table else 0, len(table)
    full = puzzle is not None and count == puzzle.cells
    if width == 3 and puzzle is None and (len({row[:2] for row in table}) < count or max(row[2] for row in table) > 4):
        shapes.refuse_other_sides([(row.line, row.numbers) for row in body])
    if width == 2 and full:
        form = "piece and turn of each cell"
        return _Found(form, _by_cell(source, form, table, where), left)
    if width == 3 and (puzzle is None or count == puzzle.piece_count):
        form, rows = "place and turn of each piece", [(piece, *row) for piece, row in enumerate(table)]
        return _Found(form, by_number(source.known(f"{form}: the pieces are named"), rows, where, LISTED), left)
    if (width == 4 and (puzzle is None or full)) or (width in _WIDTHS and count > 1):
        quads = [list(row[at : at + 4]) for row in table for at in range(0, width, 4)]
        listed = Listed(quads, [line for line in where for _ in range(0, width, 4)], left, width=width // 4)
        if width > 4:
            return _Found("colours in place", listed)
        sizes = [(puzzle.width, puzzle.height)] if puzzle is not None else [header, (math.isqrt(count),) * 2]
        listed.width = next((size[0] for size in sizes if len(size) == 2 and math.prod(size) == count), 0)
        if (readings := in_place(listed, puzzle, source.name)) or puzzle is None:
            return _Found("colours in place", readings, left)
        return _Found("piece, column, row and turn", by_number(puzzle, table, where, PLACES), left)
    raise InputError("no board is recognised; expected colours in place, or pieces and turns with --puzzle")


def _table(source: Source) -> tuple[tuple[int, ...], list[Row], _Notes]:
    """Return the numbers of a header, if any, the rows below it, and notes. Raises InputError if row lengths differ."""
    puzzle, header = source.puzzle, None
    body, left = _number_rows(source.text, " among the numbers of a board; expected numbers only")
    widths = [len(row.numbers) for row in body]
    width = max(set(widths), key=widths.count, default=0)
    if widths[:1] not in ([], [width]) or (width == 2 and puzzle is not None and len(body) == puzzle.cells + 1):
        header, *body = body
    if (odd := next((row for row in body if len(row.numbers) != width), None)) is not None:
        kind = NearError if len(body) > 4 and puzzle is not None else InputError
        raise kind(f"{count_of(len(odd.numbers), 'number')}; expected {width} as in the other lines", line=odd.line)
    if header is None:
        return (), body, left
    sides = () if puzzle is None else (puzzle.width, puzzle.height)
    if puzzle is not None and header.numbers not in (sides, sides[::-1], (puzzle.piece_count,), (len(body),)):
        said = f"{quoted(header.text)} before a board of {puzzle.name}; expected its size"
        raise InputError(said, line=header.line)
    return header.numbers, body, (*left, f"line {header.line}: {header.text}, the size")


def _number_rows(text: str, expected: str, *, strict: bool = False) -> tuple[list[Row], _Notes]:
    """Return the rows of numbers, and a note on the rows with words before them, which are left out.

    Raises InputError, which ends in ``expected``, for words after the first row of numbers; with ``strict`` also for a
    row of words and numbers, and for any words if no row has only numbers.
    """
    rows = rows_of(text)
    numbers = [row for row in rows if row.only_numbers]
    words = [row for row in rows if row.tokens and not row.only_numbers]
    for row in words:
        if (numbers and row.line > numbers[0].line) or (strict and (row.numbers or not numbers)):
            shown = " ".join(row.tokens) if strict else row.text
            raise InputError(f"{quoted(shown)}{expected}", line=row.line)
    return numbers, shapes.left_out((row.line, row.text) for row in words)


def write(target: Target) -> str:
    """Return ``piece/turns`` for each cell, with a line for each row of the board; ``0/0`` is an empty cell or a hole.

    Pieces count from 1, turns are clockwise. An option may name another convention: ``base0`` (pieces from 0, only
    full boards), ``bottom`` (last row first), ``ccw`` (anticlockwise), ``turn1`` to ``turn3`` (the rotation written as
    0). For a puzzle without frame a comment names the convention, because no rim reveals it.
    """
    named = {*filter(None, (target.option or "").lower().split(","))}
    if unknown := sorted(named.difference(*_WRITTEN)):
        known = "base0 or base1, top or bottom, cw or ccw, turn0 to turn3"
        raise InputError(f"convention {quoted(unknown[0])}; expected {known}")
    base, end, sense, turn = convention = [max(named & {*words}, default=words[0]) for words in _WRITTEN]
    first, sign, offset = int(base == "base1"), -1 if sense == "ccw" else 1, int(turn[-1])
    pairs, width = target.laid.pairs(), target.laid.width
    if base == "base0":
        target.full(f"{FORMAT.name}:base0")
    if not target.puzzle.turns and (sense, turn) != ("cw", "turn0"):
        raise InputError(f"the pieces of {target.puzzle.name} are never turned; expected cw and turn0")
    entries = ["0/0" if pair is None else f"{pair[0] + first}/{sign * (pair[1] - offset) % 4}" for pair in pairs]
    lines = [" ".join(entries[at : at + width]) for at in range(0, len(entries), width)]
    said = [] if target.puzzle.framed else [f"# {FORMAT.name}:{','.join(convention)}"]
    return "\n".join([*said, *(lines[::-1] if end == "bottom" else lines)]) + "\n"


FORMAT = Format("cells", "board", "boards in any dialect, by evidence; written as id/turns", read, write, "CONVENTION")


# -- files of clues ----------------------------------------------------------------------------------------------------


def clues_in(text: str) -> str:
    """Return an error message if a text looks like clues, in any form that this module reads; else ''."""
    if cell_types(text) is not None:
        return "a list of cell types and clues; expected pieces with it (--puzzle INSTANCE)"
    rows: list[tuple[int, ...]] = []
    with suppress(InputError):
        rows = list({row.numbers: None for row in rows_of(text) if row.only_numbers})  # each row once, if repeated
    lines, odd = [row for row in rows if len(row) == 4 and row[3] <= 4], int(len(rows) > 8)
    columns = (({row[piece] for row in lines}, {row[at : at + 2] for row in lines}) for piece, at in ((0, 1), (2, 0)))
    different = max(min(len(pieces), len(places)) for pieces, places in columns)
    clues = len(lines) >= max(1, len(rows) - odd) and len(rows[0]) == 4 and different >= len(lines) - odd
    said = "these look like clues (piece, place, turn); expected a puzzle or a board: give them beside their puzzle, "
    return said + "as --clues FILE" if clues or _EDITOR.search(text) else ""


def read_clues(source: Source) -> Document:
    """Read clues as a partial board of the puzzle.

    Raises InputError if no convention makes the clues legal, or if the preferred ones give different boards.
    """
    puzzle, text = source.known("these are clues: the pieces are named"), source.text
    stated = _HEADER_LINE.search(text)
    wanted = _named(source) or (_OWN if stated else set())
    number, readings, notes = _clue_readings(text, puzzle)
    count = count_of(number, "clue")
    if stated and int(stated[1]) != number:
        raise InputError(f"{count}; expected {stated[1]} as the first line says")
    named = [each for each in readings if wanted <= each.parts]
    legal = [each for each in named if each.rank[0] == 0]
    if not legal:
        said = f"no convention{' named so' * bool(wanted)} makes the {count} legal on {puzzle.name}"
        raise _nearest_error(count, named) or InputError(f"{said}; expected clues of this puzzle")
    most = max(each.found.score for each in legal)
    legal = [each for each in legal if most < _ENOUGH or each.found.score >= NEAR * most]
    official = [each for each in legal if len(held_clues(puzzle, each.board)) == each.board.placed > 0]
    plain = [each for each in legal if _is_plain(each)]
    order = next((order for order, words in _ORDERS.items() if words.search(text)), "")
    chosen = official or [each for each in plain if order in each.parts] or plain or legal
    boards = len({each.board for each in chosen})
    if boards > 1:
        names = " or ".join(f"{CLUES.name}:{each.name}" for each in chosen[:_ASKED])
        said = f"{count}, which can be read in {boards} ways, among them {names}; expected one by name"
        raise NearError(f"{said}, as a first line '# {CLUES.name}:{chosen[0].name}'")
    first = f"{count}, read as {chosen[0].name} ('# {CLUES.name}:...' as a first line names another convention)"
    return Document(CLUES.name, puzzle, chosen[0].board, (first, *notes))


def _is_plain(reading: Reading) -> bool:
    return {"top", "turn0"} <= reading.parts and "turn-first" not in reading.parts


def _nearest_error(count: str, readings: Sequence[Reading]) -> InputError | None:
    """Return an error on a fault of the most legal reading; None without readings, or if even this has many faults."""
    nearest = min(readings, key=lambda each: (each.rank, not _is_plain(each)), default=None)
    if nearest is None:
        return None
    faults, lines = nearest.found.violations, [nearest.lines.get(cell, 0) for cell in nearest.found.faulty]
    if not nearest.odd and len(faults) > max(1, nearest.board.placed // 8):
        return None
    twice = [each for each in faults if "twice" in each]
    line, sentence = nearest.odd[0] if nearest.odd else (max(lines), (twice or faults)[0])
    return NearError(f"{count}, read as {nearest.name}: {sentence}", line=line or None)


def _clue_readings(text: str, puzzle: Puzzle) -> tuple[int, list[Reading], _Notes]:
    """Return the number of clues in a text, a `Reading` of all of them for each convention that is tried, and notes.

    Raises InputError for a text without clues.
    """
    if editor := list(_EDITOR.finditer(text)):
        where = [text.count("\n", 0, each.end()) + 1 for each in editor]
        table = [(int(each[1]), ord(each[2]) - ord("A") + 1, int(each[3]), -int(each[4]) % 4) for each in editor]
        readings = by_number(puzzle, table, where, PLACES)
        return len(table), [each for each in readings if _OWN - {"from0"} | {"from1"} <= each.parts], ()
    if (types := cell_types(text)) is not None and len(types) == puzzle.width**2 == puzzle.cells:
        if not (clues := [(cell, *divmod(-value, 256)) for cell, value in enumerate(types) if value < 0]):
            raise NearError("a list of cell types without a clue (no negative number); expected a clue")
        table = [(piece, cell % puzzle.width, cell // puzzle.width, turn) for cell, turn, piece in clues]
        return len(clues), list(by_number(puzzle, table, [0] * len(table), CELLS)), ()
    rows, notes = _clue_rows(text, puzzle)
    return len(rows), list(by_number(puzzle, [row.numbers for row in rows], [row.line for row in rows], PLACES)), notes


def _clue_rows(text: str, puzzle: Puzzle) -> tuple[Sequence[Row], _Notes]:
    """Return the rows of four numbers, repeated sections once, and notes on these and on rows that are no clues."""
    expected = "; expected a clue, piece row column turn, or a comment after #"
    rows, left = _number_rows(text, expected, strict=True)
    every = [row for row in rows if len(row.numbers) == 4]
    if not every:
        raise InputError("no clues are recognised; expected lines 'piece row column turn', or 139=I8-Rot0")
    table, agreeing = _without_repeats(every)
    notes = left + agreeing
    unplaced = [{*range(1, puzzle.piece_count + 1)} - {each.numbers[at] for each in table} for at in (0, 2)]
    for row in (row for row in rows if len(row.numbers) != 4):
        if row.line < every[0].line and row.numbers in ((len(table),), (puzzle.width,)):
            said = f"{row.text}, {'clues' if row.numbers == (len(table),) else 'the size'}"
        elif row.line > every[0].line and set(row.numbers) in unplaced:
            said = f"the {len(row.numbers)} pieces that are not placed"
        else:
            said = f"{quoted(row.text)} among clues; expected four numbers, piece row column turn"
            raise InputError(said, line=row.line)
        notes += (f"line {row.line}: {said}",)
    return table, notes


def _without_repeats(table: Sequence[Row]) -> tuple[Sequence[Row], _Notes]:
    """Return each row once, and a note, if all are repeated equally often; ``table`` if most are not repeated.

    Raises NearError if most rows, but not all, are repeated equally often.
    """
    counts = Counter(row.numbers for row in table)
    times = min(counts.values(), key=lambda times: (-list(counts.values()).count(times), times))
    if times == 1:
        return table, ()
    for row in (row for row in table[::-1] if counts[row.numbers] != times):
        said = f"{quoted(row.text)} is there {count_of(counts[row.numbers], 'time')}, most rows {times} times"
        raise NearError(f"{said}; expected sections of the same pieces", line=row.line)
    once = {row.numbers: row for row in table[::-1]}
    return [*once.values()][::-1], (f"{times} sections that agree, {count_of(len(once), 'piece')} each",)


def cell_types(text: str) -> list[int] | None:
    """Return the n * n cell types of a text that has the side n of a board, n border entries, then these; else None."""
    numbers = [] if re.search(r"[^0-9,\s-]", text) else [int(each) for each in re.findall(r"-?[0-9]{1,6}", text)]
    side = math.isqrt(len(numbers))
    return numbers[1 + side :] if side > 1 and numbers[0] == side and len(numbers) == 1 + side + side * side else None


def write_clues(target: Target) -> str:
    """Return a comment with the convention, then a line ``piece row column turn`` for each piece on the board."""
    if target.option:
        raise InputError(f"{CLUES.name} are written in one convention, which they name; expected no option")
    width, pairs = target.laid.width, enumerate(target.laid.pairs())
    lying = [f"{pair[0] + 1} {at // width} {at % width} {pair[1]}" for at, pair in pairs if pair]
    return "\n".join([f"# {len(lying)} {_HEADER}", *lying]) + "\n"


CLUES = Format(
    "clues", "board", "clues apart from the pieces: piece row column turn", read_clues, write_clues, "CONVENTION",
    lambda text: _HEADER_LINE.match(text) is not None,
)  # fmt: skip
