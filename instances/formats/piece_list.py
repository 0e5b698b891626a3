"""The text of a piece list: finds the pieces, and what is said beside them, in the dialects in use.

`instances.formats.pieces` finds what they mean: the colour of the rim, the order of the sides, the shape.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from instances.formats.e2pieces import CLOCKWISE
from instances.formats.rows import MAX_NUMBER, Row, bracketed_quads, colour_of_letter, rows_of
from instances.puzzle import MAX_CELLS
from lns_support.errors import InputError
from lns_support.text import quoted

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
WORD_ORDER = "ulrd"  # of the sides in a word of Tetravex
_WORDS = re.compile(r"@?[0-9]{4}@?(?:\s+@?[0-9]{4}@?)*")
_SIDES = re.compile(r"sides ((?:up|right|down|left)(?: (?:up|right|down|left)){3})\b")
_LABEL = re.compile(r"[A-Za-z]{1,3}[0-9]{1,4}")
_COUNT = re.compile(r"(?:ntiles|total)\D*([0-9]{1,4})", re.I)


@dataclass
class PieceList:
    """What a text holds before it is interpreted.

    Attributes
    ----------
    quads : list of list of int
        Four columns of each piece, in order of the ids, or of the lines.
    header : list of tuple of int
        Rows of numbers before the first piece.
    shape : (int, int) or None
        Stated by name, not only by place: columns and rows.
    order : str or None
        Side order, stated by names of columns.
    line : int
        Of the last piece.
    missing : list of int
        Ids that are left out between the smallest and the largest.
    placed : list of (int, int, list of int)
        Row, column and colours, up right down left, of pieces that lie on the board.
    rules : str
        Of a list that `write` made for a puzzle without frame: "without frame" and perhaps "without turns".
    pinned : list of int
        Pieces that stay where they are listed.
    """

    quads: list[list[int]]
    header: list[tuple[int, ...]] = field(default_factory=list)
    shape: tuple[int, int] | None = None
    order: str | None = None
    line: int = 1
    missing: list[int] = field(default_factory=list)
    count: int | None = None
    placed: list[tuple[int, int, list[int]]] = field(default_factory=list)
    rules: str = ""
    pinned: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def parse(text: str) -> PieceList:
    """Find the pieces in a text. Raises InputError if it holds none."""
    if text.lstrip().startswith("{"):
        return _parse_json(text)
    brackets = bracketed_quads(text)
    if len(brackets) >= 4:
        return PieceList(brackets, notes=[f"{len(brackets)} groups of four numbers in brackets"])
    if (words := words_in_rows(text)) is not None:
        return _tetravex(words)
    rows = rows_of(text)
    listed = _parse_rows(rows)
    for row in rows:
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
    """The words of four digits of a Tetravex, a row of them for each row of the board; None for another text."""
    lines = [line.strip() for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    if len(lines) < 2 or not all(_WORDS.fullmatch(line) for line in lines) or len(lines) > MAX_CELLS:
        return None
    rows = [line.split() for line in lines]
    return rows if len({len(row) for row in rows}) == 1 and len(rows[0]) > 1 else None


def sides_of_words(rows: Sequence[Sequence[str]]) -> list[list[int]]:
    """The four digits of each word, in the order `WORD_ORDER`."""
    return [[int(digit) for digit in word.strip("@")] for row in rows for word in row]


def _tetravex(rows: Sequence[Sequence[str]]) -> PieceList:
    listed = PieceList(sides_of_words(rows))
    listed.shape, listed.order, listed.line = (len(rows[0]), len(rows)), WORD_ORDER, len(rows)
    listed.rules = f"{NO_FRAME}, {NO_TURNS}"
    listed.pinned = [cell for cell, word in enumerate(word for row in rows for word in row) if "@" in word]
    listed.notes.append("words of four digits read as a Tetravex, sides up left right down")
    return listed


def _parse_json(text: str) -> PieceList:
    try:
        value = json.loads(text)
        tiles = value["tiles"]
        quads = [list(map(_small, tile["edges"] if isinstance(tile, dict) else tile)) for tile in tiles]
        shape = _small(value.get("cols", value.get("width"))), _small(value.get("rows", value.get("height")))
        placed = [
            (_small(each["row"]), _small(each["col"]), list(map(_small, each["tile"])))
            for each in value.get("placed", [])
        ]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise InputError("this JSON has no list of pieces; expected rows, cols and tiles, four numbers each") from None
    if not quads or any(len(quad) != 4 for quad in quads):
        raise InputError("a tile of this JSON has not four sides; expected four numbers each")
    return PieceList(quads, shape=shape, placed=placed)


def _small(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_NUMBER:
        raise ValueError
    return value


def _parse_rows(rows: Sequence[Row]) -> PieceList:
    data = [(row, quad) for row in rows if (quad := _columns(row)) is not None]
    widths = Counter(len(quad) for _, quad in data)
    if not widths:
        raise InputError("no line with the four sides of a piece; expected a puzzle or a board", line=1)
    width = max(widths, key=lambda columns: (widths[columns], columns))
    pieces = [(row, quad) for row, quad in data if len(quad) == width]
    first = pieces[0][0].line
    header = [row.numbers for row in rows if row.line < first and row.only_numbers]
    if width == 4 and is_bounded_header(pieces[0][1], len(pieces) - 1):
        header.append(tuple(pieces.pop(0)[1]))
    if not pieces:
        raise InputError("the file has a header and no piece; expected lines with four sides each", line=first)
    last = pieces[-1][0].line
    for row in rows:
        if first < row.line < last and len(row.tokens) > 1 and _columns(row) is None:
            raise InputError(
                f"{quoted(' '.join(row.tokens))} among pieces of {width} columns; expected a piece", line=row.line
            )
    prose = next((row for row in rows if row.line > first and len(row.tokens) > 1 and not row.numbers), None)
    if prose is not None and _columns(prose) is None:
        raise InputError(
            f"found {quoted(' '.join(prose.tokens))}; expected only pieces after the first", line=prose.line
        )
    odd = next((row for row in rows if row.line < first and row.only_numbers and len(row.numbers) not in (1, 2)), None)
    if odd is not None:
        raise InputError(f"{len(odd.tokens)} numbers before the pieces; expected a size or a piece", line=odd.line)
    stray = next((row for row, quad in data if len(quad) != width and row.line > first), None)
    if stray is not None:
        raise InputError(
            f"{len(stray.tokens)} entries; expected {width} columns as in the other lines", line=stray.line
        )
    names = next((row.tokens for row in rows if row.line < first and not row.numbers and len(row.tokens) >= 4), ())
    order = "".join(SIDE_OF_LETTER.get(name[:1].lower(), "?") for name in names[-4:])
    labelled = any(_LABEL.fullmatch("".join(row.tokens[:2])) and len(row.tokens) == 6 for row, _ in pieces)
    order = order if len(names) == width + labelled else ""
    listed = PieceList([], header, None, order if sorted(order) == sorted(CLOCKWISE) else None, last)
    columns = [quad for _, quad in pieces]
    if width > 4:
        ids = [row[0] for row in columns]
        if len(set(ids)) != len(ids):
            raise InputError(
                f"two pieces have the id {Counter(ids).most_common(1)[0][0]}; expected each once", line=last
            )
        listed.missing = sorted({*range(min(1, *ids), min(max(ids), 5000) + 1)} - {*ids})
        if ids != sorted(ids):
            columns = [row for _, row in sorted(zip(ids, columns, strict=True))]
            listed.notes.append("pieces in the order of their ids")
        if width == 6:
            listed.notes.append("the second column, the type of the piece, is left out")
    elif labelled:
        listed.notes.append("the labels of the pieces are left out: they are numbered in the order of the lines")
    listed.quads = [row[-4:] for row in columns]
    return listed


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
