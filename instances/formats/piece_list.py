"""The text of a piece list: finds the pieces, and what is said beside them, in the dialects in use.

`lns.instances.formats.pieces` finds what they mean: the colour of the rim, the order of the sides, the shape.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from lns.instances.errors import InputError
from lns.instances.formats.base import NearError
from lns.instances.formats.lines import (
    MAX_NUMBER,
    WORD_ORDER,
    Row,
    bracketed_quads,
    colour_of_letter,
    left_out,
    refuse_other_sides,
    rows_of,
    sides_of_words,
    words_in_rows,
)  # fmt: skip
from lns.instances.formats.orders import CLOCKWISE
from lns.instances.text import printable, quoted

SIDE_OF_LETTER = {
    letter: side for side, letters in {"u": "unt", "r": "re", "d": "dsb", "l": "lwo"}.items() for letter in letters
}
_SIDE_OF_SIZE = {
    name: side
    for side, names in {"width": "width cols columns w m", "height": "height rows h n"}.items()
    for name in names.split()
}
_SIZE = re.compile(r"(?:dimensions?|size|taille)\W*([0-9]{1,4})\s*[x×*]\s*([0-9]{1,4})", re.I)
_COUNT = re.compile(r"(?:ntiles|total)\D*([0-9]{1,4})", re.I)
NO_FRAME, NO_TURNS = "without frame", "without turns"
_RULES = re.compile(rf"sides up right down left, ({NO_FRAME}(?:, {NO_TURNS})?)$")
_SIDES = re.compile(r"sides ((?:up|right|down|left)(?: (?:up|right|down|left)){3})\b")
_HALF = re.compile(r"(?<![\w/])[A-Za-z]+/[A-Za-z]+(?![\w/])")
_SHORTEST_RIM = 8  # sides, of the smallest board with corners
_LABEL = re.compile(r"[A-Za-z]{1,3}[0-9]{1,4}")
_SHOWN = 5  # missing ids that a sentence names


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
        return f"; missing: id {', '.join(map(str, self.missing[:_SHOWN]))}" if self.missing else ""


def parse(text: str) -> PieceList:
    """Find the pieces in a text. Raises InputError if it holds none."""
    if text.lstrip().startswith("{"):
        return _parse_json(text)
    quads, where, notes = bracketed_quads(text)
    if len(quads) >= 4:
        return PieceList(quads, line=where[-1], notes=[f"{len(quads)} groups of four numbers in brackets", *notes])
    if (words := words_in_rows(text)) is not None:
        return PieceList(
            sides_of_words(words),
            shape=(len(words[0]), len(words)),
            line=len(words),
            rules=f"{NO_FRAME}, {NO_TURNS}",
            pinned=[cell for cell, word in enumerate(word for row in words for word in row) if "@" in word],
            usual_order=WORD_ORDER,
            notes=["words of four digits read as a Tetravex"],
        )
    return _parse_rows(rows_of(text))


# -- JSON of other programs --------------------------------------------------------------------------------------------


def _parse_json(text: str) -> PieceList:
    """The longest list of pieces, whatever its key; numbers beside it; a second list as the tiles that are placed."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("this is no JSON; expected an object with a list of pieces, four numbers each") from None
    if not any(isinstance(entry, list) for entry in value.values()):  # the list may be one level deeper
        flat = {key: entry for key, entry in value.items() if not isinstance(entry, dict)}
        inner = [entry for entry in value.values() if isinstance(entry, dict)]
        value = flat | {key: entry for each in inner for key, entry in each.items()}
    lists = {key: entry for key, entry in value.items() if isinstance(entry, list) and entry}
    pieces = {key: quads for key, entry in lists.items() if (quads := _sides_of(entry)) is not None}
    placed = {key: tiles for key, entry in lists.items() if (tiles := _places_of(entry))}
    loose = [key for key in pieces if key not in placed] or list(pieces)
    key = max(loose, key=lambda key: len(pieces[key]), default=None)
    if key is None:
        raise InputError("this JSON has no list of pieces; expected one, four numbers each")
    counts = list(map(len, pieces[key]))
    if set(counts) != {4}:
        usual = Counter(counts).most_common(1)[0][0]
        at = next(at for at, count in enumerate(counts) if usual != 4 or count != 4)
        raise NearError(f"entry {at} of {quoted(key)} has {counts[at]} sides; expected pieces of four sides")
    sizes = {side: name for name, entry in value.items() if _is_small(entry) and entry and (side := _size_of(name))}
    listed = PieceList(pieces[key])
    if {"width", "height"} <= sizes.keys():
        width, height = listed.shape = value[sizes["width"]], value[sizes["height"]]
        if width != height and len(sizes["width"]) == 1:
            listed.notes.append(
                f"{sizes['height']} rows and {sizes['width']} columns (--puzzle-format pieces:{height}x{width} is the "
                "other way)"
            )
    placed.pop(key, None)
    listed.placed = [tile for tiles in placed.values() for tile in tiles]
    used = {key, *placed, *(sizes.values() if listed.shape else ())}
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
        found.append(list(entry))
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


def _size_of(name: str) -> str | None:
    return _SIDE_OF_SIZE.get(name.lower())


# -- rows --------------------------------------------------------------------------------------------------------------


def _parse_rows(rows: Sequence[Row]) -> PieceList:
    """Rows of as many columns each: four sides, perhaps after an id, a type or a label; others say what they are."""
    _refuse_halves_of_pictures(rows)
    data = {row: columns for row in rows if (columns := _columns(row)) is not None}
    if not data:
        refuse_other_sides([row for row in rows if row.only_numbers])
        raise InputError("no line with the four sides of a piece; expected a puzzle or a board", line=1)
    widths = Counter(map(len, data.values()))
    width = max(widths, key=lambda columns: (widths[columns], columns))
    pieces = [(row, columns) for row, columns in data.items() if len(columns) == width]
    first = pieces[0][0].line
    before = [row for row in rows if row.line < first and row.tokens]
    listed = PieceList([], [row.numbers for row in before if row.only_numbers])
    if width == 4:
        if is_bounded_header(pieces[0][1], len(pieces) - 1):
            listed.header.append(tuple(pieces.pop(0)[1]))
        refuse_other_sides([row for row, _ in pieces])
    for row in rows:
        if wrong := _refusal(row, data.get(row), width, before=row.line < first):
            raise InputError(wrong, line=row.line)
    listed.line = pieces[-1][0].line
    labelled = any(_LABEL.fullmatch("".join(row.tokens[:2])) and len(row.tokens) == 6 for row, _ in pieces)
    words = [row for row in rows if row.tokens and (row not in data if row.line >= first else not row.only_numbers)]
    used = _take_names(listed, [row for row in before if not row.only_numbers], width + labelled)
    said = [row for row in rows if _take_said(listed, row)]
    listed.notes += left_out((row.line, row.text) for row in words if row.tokens not in used and row not in said)
    listed.quads = [columns[-4:] for _, columns in pieces]
    if width > 4:
        _take_ids(listed, pieces)
    elif labelled:
        listed.notes.append("the labels of the pieces are left out: they are numbered in the order of the lines")
    return listed


def _refusal(row: Row, piece: Sequence[int] | None, width: int, *, before: bool) -> str:
    """What is wrong with a row that is neither a size before the pieces nor a piece, nor a word; empty for others."""
    if before:
        many = row.only_numbers and len(row.numbers) > 2
        return f"{len(row.tokens)} numbers before the pieces; expected a size or a piece" if many else ""
    if piece is None and (row.numbers or len(row.tokens) > 1):
        return f"{quoted(row.text)} among pieces of {width} columns; expected only pieces after the first"
    if piece is not None and len(piece) != width:
        return f"{len(row.tokens)} entries; expected {width} columns as in the other lines"
    return ""


def _take_names(listed: PieceList, before: Sequence[Row], columns: int) -> set[tuple[str, ...]]:
    """Take the names of the columns and the sizes by name from the rows before the pieces; which rows are used."""
    used = set()
    names = next((row.tokens for row in before if not row.numbers and len(row.tokens) >= 4), ())
    order = "".join(SIDE_OF_LETTER.get(name[:1].lower(), "?") for name in names[-4:])
    if len(names) == columns and sorted(order) == sorted(CLOCKWISE):
        listed.order = order
        used.add(names)
    sizes = {
        side: row
        for row in before
        if len(row.numbers) == 1 and len(row.tokens) == 2 and (side := _size_of(row.tokens[0]))
    }
    if len(sizes) == 2:
        listed.shape = sizes["width"].numbers[0], sizes["height"].numbers[0]
        used |= {row.tokens for row in sizes.values()}
    return used


def _take_said(listed: PieceList, row: Row) -> bool:
    """Take what a row and the comment on it say of rules, sides, size and count; whether the row says size or count."""
    if rules := _RULES.search(row.comment):
        listed.rules = rules[1]
    if sides := _SIDES.search(row.comment):
        order = "".join(name[0] for name in sides[1].split())
        listed.order = order if sorted(order) == sorted(CLOCKWISE) else listed.order
    words = " ".join(row.tokens)
    if size := _SIZE.search(f"{words} {row.comment}"):
        listed.shape = listed.shape or (int(size[1]), int(size[2]))
    if count := _COUNT.search(f"{words} {row.comment}"):
        listed.count = listed.count or int(count[1])
    return bool(_SIZE.search(words) or _COUNT.search(words))


def _take_ids(listed: PieceList, pieces: Sequence[tuple[Row, list[int]]]) -> None:
    """Put the pieces in the order of their ids, the first column; a second one is their type."""
    ids = [columns[0] for _, columns in pieces]
    typed = len(pieces[0][1]) == 6
    if typed:
        odd = _odd_types([columns[1:] for _, columns in pieces])
        if len(set(ids)) < len(ids) or 4 * len(odd) > len(ids):
            refuse_other_sides([row for row, _ in pieces])
        if odd:
            row, (piece, kind, *_) = pieces[odd[0]]
            said = f"piece {piece} is of type {kind}, unlike others with as many grey sides; expected id, type, sides"
            raise NearError(said, line=row.line)
    if len(set(ids)) != len(ids):
        said = f"two pieces have the id {Counter(ids).most_common(1)[0][0]}; expected each once"
        raise InputError(said, line=listed.line)
    listed.missing = sorted({*range(min(1, *ids), min(max(ids), 5000) + 1)} - {*ids})
    if listed.missing:
        shown = ", ".join(map(str, listed.missing[:_SHOWN])) + ", …" * (len(listed.missing) > _SHOWN)
        listed.notes.append(
            f"no piece has the id {shown}, up to {max(ids)}: the pieces are numbered in the order of their ids"
        )
    if ids != sorted(ids):
        listed.quads = [quad for _, quad in sorted(zip(ids, listed.quads, strict=True))]
        listed.notes.append("pieces in the order of their ids")
    if typed:
        listed.notes.append("the second column is the type of the piece, as its grey sides say")


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
    if len(tokens) in (1, 2) and len(row.numbers) == len(tokens) - 1 and re.fullmatch(r"[A-Za-z_]{4}", tokens[-1]):
        tokens = (*tokens[:-1], *tokens[-1])
    head, sides = tokens[:-4], tokens[-4:]
    if len(head) == 2 and _LABEL.fullmatch("".join(head)) and all(token.isdecimal() for token in sides):
        head = ()  # a label such as A1
    if all(re.fullmatch(r"[A-Za-z_]", token) for token in sides):
        shown = list(map(colour_of_letter, sides))
    elif all(token == "_" or token.isdecimal() for token in sides):
        shown = [MAX_NUMBER if token == "_" else int(token) for token in sides]
    else:
        return None
    if len(sides) < 4 or len(head) > 2 or not all(token.isdecimal() for token in head):
        return None
    numbers = [*map(int, head), *shown]
    if max(numbers) > MAX_NUMBER:
        raise InputError(f"the number {max(numbers)}; expected at most {MAX_NUMBER}", line=row.line)
    return numbers


def is_bounded_header(row: Sequence[int], count: int) -> bool:
    """Whether a row of four is the header ``bounded signed width height`` of so many pieces."""
    return row[0] in (0, 1) and row[1] in (0, 1) and count > 0 and row[2] * row[3] == count
