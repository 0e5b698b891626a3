"""The text of a piece list: finds the pieces, and what is said beside them, in the dialects in use.

`instances.formats.pieces` finds what they mean: the colour of the rim, the order of the sides, the shape.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from instances.formats.base import NearError
from instances.formats.e2pieces import CLOCKWISE, ORDERS, clockwise
from instances.formats.rows import (
    MAX_NUMBER,
    Row,
    bracketed_quads,
    code_and_comment,
    colour_of_letter,
    left_out,
    refuse_other_sides,
    rows_of,
)
from instances.puzzle import MAX_CELLS, canonical
from lns_support.errors import InputError
from lns_support.text import printable, quoted

SIDE_OF_LETTER = {
    "n": "u",
    "e": "r",
    "s": "d",
    "w": "l",
    "o": "l",
    "t": "u",
    "b": "d",
    "u": "u",
    "r": "r",
    "d": "d",
    "l": "l",
}
_SIZE = re.compile(r"(?:dimensions?|size|taille)\W*([0-9]{1,4})\s*[x×*]\s*([0-9]{1,4})", re.I)
NO_FRAME, NO_TURNS = "without frame", "without turns"
_RULES = re.compile(rf"sides up right down left, ({NO_FRAME}(?:, {NO_TURNS})?)$")
WORD_ORDER = "ulrd"  # of the sides in a word of Tetravex, unless counting refutes it
_WORD = re.compile(r"@?[0-9]{4}@?")
_SIDE_OF_SIZE = {
    name: side
    for side, names in {"width": "width cols columns w m", "height": "height rows h n"}.items()
    for name in names.split()
}
_HALF = re.compile(r"(?<![\w/])[A-Za-z]+/[A-Za-z]+(?![\w/])")
_SIDES = re.compile(r"sides ((?:up|right|down|left)(?: (?:up|right|down|left)){3})\b")
_SHORTEST_RIM = 8  # sides, of the smallest board with corners
_LABEL = re.compile(r"[A-Za-z]{1,3}[0-9]{1,4}")
_COUNT = re.compile(r"(?:ntiles|total)\D*([0-9]{1,4})", re.I)


@dataclass
class PieceList:
    """What a text holds before it is interpreted."""

    quads: list[list[int]]  # four columns of each piece, in order of the ids, or of the lines
    header: list[tuple[int, ...]] = field(default_factory=list)  # rows of numbers before the first piece
    shape: tuple[int, int] | None = None  # columns and rows, stated by name, not only by place
    order: str | None = None  # of the sides, stated by names of columns
    line: int = 1  # of the last piece
    missing: list[int] = field(default_factory=list)  # ids that are left out between the smallest and the largest
    count: int | None = None  # of the pieces, as stated
    placed: list[tuple[int, int, list[int]]] = field(default_factory=list)  # row, column, sides of tiles that lie
    rules: str = ""  # "without frame" and perhaps "without turns", of a list that `write` made or of words
    pinned: list[int] = field(default_factory=list)  # pieces that stay where they are listed
    usual_order: str = CLOCKWISE  # of the sides of such texts, where nothing names or refutes it
    notes: list[str] = field(default_factory=list)

    @property
    def gaps(self) -> str:
        """The ids that are missing, as a part of a sentence about the number of pieces."""
        return f"; missing: id {', '.join(map(str, self.missing[:5]))}" if self.missing else ""


def parse(text: str) -> PieceList:
    """Find the pieces in a text. Raises InputError if it holds none."""
    if text.lstrip().startswith("{"):
        return _parse_json(text)
    brackets, lines, notes = bracketed_quads(text)
    if len(brackets) >= 4:
        listed = PieceList(brackets, line=lines[-1], notes=[f"{len(brackets)} groups of four numbers in brackets"])
        listed.notes += notes
    elif (words := words_in_rows(text)) is not None:
        return _tetravex(words)
    else:
        listed = _parse_rows(rows_of(text))
    for row in rows_of(text) if not brackets else ():
        if rules := _RULES.search(row.comment):
            listed.rules = rules[1]
        if sides := _SIDES.search(row.comment):
            order = "".join(name[0] for name in sides[1].split())
            listed.order = order if sorted(order) == sorted(CLOCKWISE) else listed.order
        if size := _SIZE.search(f"{' '.join(row.tokens)} {row.comment}"):
            listed.shape = listed.shape or (int(size[1]), int(size[2]))
        if count := _COUNT.search(f"{' '.join(row.tokens)} {row.comment}"):
            listed.count = listed.count or int(count[1])
    return listed


def words_in_rows(text: str) -> list[list[str]] | None:
    """The words of four digits of a Tetravex, a row of them for each row of the board; None for another text.

    The words may stand on one line, after the size. Raises InputError if only few lines are none of that.
    """
    lines = [(number, code_and_comment(line)[0].split()) for number, line in enumerate(text.split("\n"), start=1)]
    lines = [(number, words) for number, words in lines if words]
    words = [word for _, line in lines for word in line]
    fitting = [_WORD.fullmatch(word) is not None for word in words]
    if not lines or len(words) > 2 * MAX_CELLS or len(words) < 4 or sum(fitting) < 0.8 * len(words):
        return None
    head = lines[0][1]
    side = int(head[0]) if re.fullmatch("[0-9]{1,2}", head[0]) else 0
    if side > 1 and len(words) == 1 + side * side and all(fitting[1:]):
        return [words[1 + at : 1 + at + side] for at in range(0, side * side, side)]
    widths = Counter(len(line) for _, line in lines)
    width = max(widths, key=widths.__getitem__)
    if width < 2 or len(lines) < 2:
        return None
    for number, line in lines:
        odd = next((word for word in line if not _WORD.fullmatch(word)), None)
        if odd is not None:
            raise NearError(f"{quoted(odd)} among words of four digits; expected such a word", line=number)
        if len(line) != width:
            raise NearError(f"{len(line)} words; expected {width} as in the other rows", line=number)
    return [line for _, line in lines]


def sides_of_words(rows: Sequence[Sequence[str]]) -> list[list[int]]:
    """The four digits of each word, in the order of the file."""
    return [[int(digit) for digit in word.strip("@")] for row in rows for word in row]


def _tetravex(rows: Sequence[Sequence[str]]) -> PieceList:
    listed = PieceList(sides_of_words(rows))
    listed.shape, listed.line = (len(rows[0]), len(rows)), len(rows)
    listed.rules = f"{NO_FRAME}, {NO_TURNS}"
    listed.usual_order = WORD_ORDER
    listed.pinned = [cell for cell, word in enumerate(word for row in rows for word in row) if "@" in word]
    listed.notes.append("words of four digits read as a Tetravex")
    return listed


# -- JSON of other programs --------------------------------------------------------------------------------------------


def _parse_json(text: str) -> PieceList:
    """The longest list of pieces, whatever its key; numbers beside it; a second list as the tiles that are placed."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("this is no JSON; expected an object with a list of pieces, four numbers each") from None
    if not any(isinstance(entry, list) for entry in value.values()):  # the list may be one level deeper
        inner = [entry for entry in value.values() if isinstance(entry, dict)]
        value = {key: entry for key, entry in value.items() if not isinstance(entry, dict)}
        value |= {key: entry for each in inner for key, entry in each.items()}
    lists = {key: entry for key, entry in value.items() if isinstance(entry, list) and entry}
    pieces = {key: quads for key, entry in lists.items() if (quads := _sides_of(entry)) is not None}
    placed = {key: entry for key, entry in lists.items() if isinstance(entry[0], dict) and _places_of(entry)}
    key = max(pieces.keys() - placed.keys() or pieces, key=lambda key: len(pieces[key]), default=None)
    if key is None:
        raise InputError("this JSON has no list of pieces; expected one, four numbers each")
    quads, odd = pieces[key], Counter(map(len, pieces[key]))
    if set(odd) != {4}:
        usual = max(odd, key=odd.__getitem__)
        at = next(at for at, quad in enumerate(quads) if usual != 4 or len(quad) != 4)
        raise NearError(f"entry {at} of {quoted(key)} has {len(quads[at])} sides; expected pieces of four sides")
    numbers = {name: entry for name, entry in value.items() if _is_small(entry) and entry}
    sizes = {side: name for name in numbers if (side := _SIDE_OF_SIZE.get(name.lower())) is not None}
    listed = PieceList([list(quad) for quad in quads])
    if {"width", "height"} <= sizes.keys():
        listed.shape = numbers[sizes["width"]], numbers[sizes["height"]]
        if listed.shape[0] != listed.shape[1] and len(sizes["width"]) == 1:
            listed.notes.append(
                f"{sizes['height']} rows and {sizes['width']} columns (--puzzle-format pieces:{listed.shape[1]}x"
                f"{listed.shape[0]} is the other way)"
            )
    used = {key, *(sizes.values() if listed.shape else ())}
    for name in placed.keys() - {key}:
        listed.placed += _places_of(placed[name])
        used.add(name)
    if rest := [printable(name, 20) for name in value if name not in used]:
        listed.notes.append(f"left out: {', '.join(rest[:8])}{', …' * (len(rest) > 8)} of the JSON")
    return listed


def _sides_of(entries: Sequence[object]) -> list[list[int]] | None:
    """The numbers of each entry, a list or an object that holds one or has a number for each side; else None."""
    found = []
    for entry in entries:
        if isinstance(entry, dict):
            inner = next((each for each in entry.values() if isinstance(each, list)), None)
            by_side = {SIDE_OF_LETTER.get(name[:1].lower()): each for name, each in entry.items() if _is_small(each)}
            entry = inner if inner is not None else [by_side[side] for side in CLOCKWISE if side in by_side]
        if not isinstance(entry, list) or not 3 <= len(entry) <= 6 or not all(map(_is_small, entry)):
            return None
        found.append(entry)
    return found


def _places_of(entries: Sequence[object]) -> list[tuple[int, int, list[int]]]:
    """Row, column and sides of each object that has a number beginning with r, one with c, and a list; else none."""
    found = []
    for entry in entries:
        if not isinstance(entry, dict):
            return []
        of = {name[:1].lower(): each for name, each in entry.items() if _is_small(each)}
        tile = next((each for each in entry.values() if isinstance(each, list) and all(map(_is_small, each))), None)
        row, column = of.get("r", of.get("y")), of.get("c", of.get("x"))
        if row is None or column is None or tile is None:
            return []
        found.append((row, column, list(tile)))
    return found


def _is_small(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_NUMBER


# -- rows --------------------------------------------------------------------------------------------------------------


def halves(quads: Sequence[Sequence[int]]) -> tuple[list[list[int]], list[list[int]]] | None:
    """Two blocks of the same pieces, in some order of their sides turned or not: a puzzle and its board; else None."""
    half = len(quads) // 2
    blocks = [list(map(list, quads[:half])), list(map(list, quads[half:]))]
    if half < 4 or 2 * half != len(quads):
        return None
    for order in ORDERS:
        one, two = (sorted(map(canonical, clockwise(block, order))) for block in blocks)
        if one == two and blocks[0] != blocks[1]:
            return blocks[0], blocks[1]
    if blocks[0] == blocks[1] and len(set(map(tuple, blocks[0]))) == half:
        raise InputError(f"the same {half} pieces twice, in the same order; expected them once")
    return None


def _parse_rows(rows: Sequence[Row]) -> PieceList:
    _refuse_halves_of_pictures(rows)
    data = [(row, quad) for row in rows if (quad := _columns(row)) is not None]
    widths = Counter(len(quad) for _, quad in data)
    if not widths:
        refuse_other_sides([row for row in rows if row.only_numbers])
        raise InputError("no line with the four sides of a piece; expected a puzzle or a board", line=1)
    width = max(widths, key=lambda columns: (widths[columns], columns))
    pieces = [(row, quad) for row, quad in data if len(quad) == width]
    first = pieces[0][0].line
    header = [row.numbers for row in rows if row.line < first and row.only_numbers]
    if width == 4 and is_bounded_header(pieces[0][1], len(pieces) - 1):
        header.append(tuple(pieces.pop(0)[1]))
    if width == 4:
        refuse_other_sides([row for row, _ in pieces])
    if not pieces:
        raise InputError("the file has a header and no piece; expected lines with four sides each", line=first)
    held, last = {row.line for row, _ in data if row.line >= first}, pieces[-1][0].line
    odd = next((row for row in rows if row.line < first and row.only_numbers and len(row.numbers) not in (1, 2)), None)
    if odd is not None:
        raise InputError(f"{len(odd.tokens)} numbers before the pieces; expected a size or a piece", line=odd.line)
    others = [row for row in rows if row.tokens and row.line > first and row.line not in held]
    for row in others:
        if row.numbers or len(row.tokens) > 1:
            raise InputError(
                f"{quoted(row.text)} among pieces of {width} columns; expected only pieces after the first",
                line=row.line,
            )
    stray = next((row for row, quad in data if len(quad) != width and row.line > first), None)
    if stray is not None:
        raise InputError(
            f"{len(stray.tokens)} entries; expected {width} columns as in the other lines", line=stray.line
        )
    before = [row for row in rows if row.line < first and row.tokens and not row.only_numbers]
    names = next((row.tokens for row in before if not row.numbers and len(row.tokens) >= 4), ())
    order = "".join(SIDE_OF_LETTER.get(name[:1].lower(), "?") for name in names[-4:])
    labelled = any(_LABEL.fullmatch("".join(row.tokens[:2])) and len(row.tokens) == 6 for row, _ in pieces)
    order = order if len(names) == width + labelled and sorted(order) == sorted(CLOCKWISE) else ""
    listed = PieceList([], header, None, order or None, last)
    sizes = {
        side: row
        for row in before
        if len(row.numbers) == 1 and len(row.tokens) == 2 and (side := _SIDE_OF_SIZE.get(row.tokens[0].lower()))
    }
    if len(sizes) == 2:
        listed.shape = sizes["width"].numbers[0], sizes["height"].numbers[0]
    used = {row.line for row in sizes.values() if listed.shape}
    listed.notes += left_out(
        (row.line, row.text)
        for row in [*before, *others]
        if row.line not in used
        and not (order and row.tokens == names)
        and not _SIZE.search(" ".join(row.tokens))
        and not _COUNT.search(" ".join(row.tokens))
    )
    columns = [quad for _, quad in pieces]
    if width > 4:
        ids = [row[0] for row in columns]
        odd_types = _odd_types([row[1:] for row in columns]) if width == 6 else []
        if width == 6 and (len(set(ids)) < len(ids) or 4 * len(odd_types) > len(ids)):
            refuse_other_sides([row for row, _ in pieces])
        if odd_types:
            row, quad = pieces[odd_types[0]]
            said = (
                f"piece {quad[0]} is of type {quad[1]}, unlike others with as many grey sides; expected id, type, sides"
            )
            raise NearError(said, line=row.line)
        if len(set(ids)) != len(ids):
            raise InputError(
                f"two pieces have the id {Counter(ids).most_common(1)[0][0]}; expected each once", line=last
            )
        listed.missing = sorted({*range(min(1, *ids), min(max(ids), 5000) + 1)} - {*ids})
        if listed.missing:
            listed.notes.append(
                f"no piece has the id {', '.join(map(str, listed.missing[:5]))}{', …' * (len(listed.missing) > 5)}, up "
                f"to {max(ids)}: the pieces are numbered in the order of their ids"
            )
        if ids != sorted(ids):
            columns = [row for _, row in sorted(zip(ids, columns, strict=True))]
            listed.notes.append("pieces in the order of their ids")
        if width == 6:
            listed.notes.append("the second column is the type of the piece, as its grey sides say")
    elif labelled:
        listed.notes.append("the labels of the pieces are left out: they are numbered in the order of the lines")
    listed.quads = [row[-4:] for row in columns]
    return listed


def _odd_types(rows: Sequence[Sequence[int]]) -> list[int]:
    """The rows whose first column is not what those say that have as many sides of the rim, whatever its colour."""
    found: list[list[int]] = []
    for colour, count in Counter(colour for row in rows for colour in row[1:]).items():
        if count >= _SHORTEST_RIM:
            sides = [min(2, row[1:].count(colour)) for row in map(list, rows)]
            kinds = Counter(zip(sides, (row[0] for row in rows), strict=True))
            usual = {side: kind for (side, kind), _ in sorted(kinds.items(), key=lambda entry: entry[1])}
            odd = [at for at, row in enumerate(rows) if usual[sides[at]] != row[0]]
            found.append(odd if len({*usual.values()}) == len(usual) else list(range(len(rows))))
    return min(found, key=len, default=[])


def _refuse_halves_of_pictures(rows: Sequence[Row]) -> None:
    """Raise InputError for pieces whose sides are halves of pictures: `R/T` meets `R/B`, or `A` meets `a`."""
    slashed = [row for row in rows if len(_HALF.findall(row.text)) == 4]
    words = [row for row in rows if re.fullmatch("[A-Za-z]{4}", row.tokens[-1] if row.tokens else "")]
    letters = {letter for row in words for letter in row.tokens[-1]}
    cased = len(letters) > 3 and letters == {letter.swapcase() for letter in letters}
    for found, such in ((slashed, "such as R/T and R/B"), (words if cased else [], "such as A and a")):
        if len(found) > 2 and 2 * len(found) > sum(bool(row.tokens) for row in rows):
            raise NearError(
                f"sides {such} are the halves of pictures, each of which meets the other half; expected sides that "
                "match the same side",
                line=found[0].line,
            )


def _columns(row: Row) -> list[int] | None:
    """The columns of a row that may be a piece: four sides, after an id, or after an id and a type."""
    tokens = row.tokens
    if (
        len(tokens) <= 2
        and tokens
        and re.fullmatch(r"[A-Za-z_]{4}", tokens[-1])
        and len(tokens[:-1]) == len(row.numbers)
    ):
        tokens = (*tokens[:-1], *tokens[-1])
    if not 4 <= len(tokens) <= 6:
        return None
    head, sides = tokens[:-4], tokens[-4:]
    if len(head) == 2 and _LABEL.fullmatch("".join(head)) and all(token.isdecimal() for token in sides):
        head, tokens = (), sides  # a label such as A1
    if not all(token.isdecimal() for token in head):
        return None
    if all(token.isdecimal() for token in sides):
        numbers = [int(token) for token in tokens]
    elif all(re.fullmatch(r"[A-Za-z_]", token) for token in sides):
        numbers = [*map(int, head), *map(colour_of_letter, sides)]
    elif all(token == "_" or token.isdecimal() for token in sides):
        numbers = [*map(int, head), *(MAX_NUMBER if token == "_" else int(token) for token in sides)]
    else:
        return None
    if max(numbers) > MAX_NUMBER:
        raise InputError(f"the number {max(numbers)}; expected at most {MAX_NUMBER}", line=row.line)
    return numbers


def is_bounded_header(row: Sequence[int], count: int) -> bool:
    """Whether a row of four is the header ``bounded signed width height`` of so many pieces."""
    return row[0] in (0, 1) and row[1] in (0, 1) and count > 0 and row[2] * row[3] == count
