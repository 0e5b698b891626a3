"""Parsers of text layouts: lines of strict formats, rows with any separators, and special layouts.

Special layouts are groups in brackets, words, pictures, and the JSON of other programs. Except for comments, no text is
dropped silently: a reader uses a line, reports it in a note (`left_out`), or raises an error.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from lns.instances.errors import InputError
from lns.instances.formats.base import NearError
from lns.instances.formats.orders import ALL_ORDERS, CLOCKWISE, ORDERS, clockwise
from lns.instances.json_values import json_object, left_out_fields
from lns.instances.puzzle import GREY, MAX_CELLS, Puzzle, canonical
from lns.instances.text import parse_integer, printable, quoted

MAX_SIDE = 64  # largest side of a square board, in cells: 64 * 64 = MAX_CELLS
MAX_NUMBER = 65_535
MAX_LINES = 20_000  # most lines of a text, blank lines included
_TOKEN = re.compile(r"[0-9]{1,18}|[A-Za-z_]+|[^\W\d_]+")
_COMMENT = re.compile(r"\s*(?:c(?:\s|$)(?!\s*\w\s+\w\s+\w\s*$)|[;%])")  # `c text` is a comment, `c b a d` a piece
_ASSIGNED = re.compile(r"[A-Za-z_][\w\s:\[\]]{0,80}=\s*(?=[\[{(])")  # such as `Tiles =` or `const t: number[][] =`
_BRACKET = re.compile(r"[\[({|]")
_EMPTY_FIELD = re.compile(r"(?<=,)(?=,)|^(?=,)|(?<=,)\s*$")
_SIGNED = re.compile(r"(?:^|[\s,;|(\[{=])[-+][0-9]")
_ORNAMENT = re.compile(r"[\s\[\](){}|,;]*|[-=_*+|/\\~:<>\s]{3,}")  # only brackets and separators, or a ruled line
BRACKETED = re.compile(r"[\[({]((?:\s{0,9}[0-9]{1,6}\s{0,9}[,;\s]){3}\s{0,9}[0-9]{1,6})\s{0,9},?\s{0,9}[\])}]")
WORD_ORDER = "ulrd"  # side order assumed for a Tetravex word, unless `order_without_turns` finds that only others fit
_WORD = re.compile(r"@?[0-9]{4}@?")
_QUAD = re.compile(r"(?<![\w])[A-Za-z_]{4}(?![\w])")
_OTHER_SIDES = {3: "triangular", 6: "hexagonal"}
SIDE_OF_LETTER = {
    letter: side for side, letters in {"u": "unt", "r": "re", "d": "dsb", "l": "lwo"}.items() for letter in letters
}
SIDE_OF_SIZE = dict.fromkeys(["width", "cols", "columns", "w", "m"], "width")
SIDE_OF_SIZE |= dict.fromkeys(["height", "rows", "h", "n"], "height")
NO_FRAME, NO_TURNS, ANY_NUMBER = "without frame", "without turns", "any number of each"


def _numbered_lines(text: str) -> list[tuple[int, str]]:
    lines = text.split("\n", MAX_LINES)
    if len(lines) > MAX_LINES:
        raise InputError(f"more than {MAX_LINES} lines; expected a puzzle or a board of at most {MAX_CELLS} cells")
    return list(enumerate(lines, start=1))


# -- lines of strict formats -------------------------------------------------------------------------------------------


class Lines:
    """The nonblank lines of a text, which methods take one after the other.

    Line numbers count from 1 and include blank lines. The methods raise InputError if the text is not as expected.
    """

    def __init__(self, text: str) -> None:
        rows = _numbered_lines(text)
        self._rows = [(number, row.strip()) for number, row in rows if row.strip()][::-1]  # last line first
        self.last = max(1, len(rows) - (not rows[-1][1]))

    def __len__(self) -> int:
        """Return the number of lines that have not been taken."""
        return len(self._rows)

    def take(self, expected: str) -> tuple[int, str]:
        """Take the next line; return its number and text. If no line is left, the error asks for ``expected``."""
        if not self._rows:
            raise InputError(f"the file ends here; expected {expected}", line=self.last)
        return self._rows.pop()

    def numbers(self, bounds: Sequence[tuple[int, int]], what: str) -> tuple[int, list[int]]:
        """Take a line of ``what``, with an integer within each of ``bounds``; return line number and integers."""
        numbers = f"number{'s' * (len(bounds) > 1)}"
        line, row = self.take(f"{what} ({len(bounds)} {numbers})")
        tokens = row.split()
        if len(tokens) != len(bounds):
            said = f"{what} has {len(tokens)} entries, {quoted(row)}; expected {len(bounds)} whole {numbers}"
            raise InputError(said, line=line)
        return line, [parse_integer(token, *bound, what, line) for token, bound in zip(tokens, bounds, strict=True)]

    def end(self, after: str) -> None:
        """Check that every line has been taken; the error says that a line follows ``after``."""
        for line, row in self._rows[-1:]:
            raise InputError(f"found {quoted(row)} after {after}; expected the end of the file", line=line)


def first_rows(text: str, count: int) -> list[str]:
    """Return the first ``count`` nonblank lines of a text, by which its format is detected."""
    return list(islice((row.strip() for row in text[:100_000].split("\n") if row.strip()), count))


# -- rows of any dialect -----------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """A line of a text, with words, numbers, other marks or a comment."""

    line: int  # the line number, from 1
    tokens: tuple[str, ...]  # the words and numbers of the line; if there are none, its other marks as one token
    comment: str
    numbers: tuple[int, ...]  # the tokens that are numbers
    text: str  # the line without its comment

    @property
    def only_numbers(self) -> bool:
        """True if the row has numbers and no word."""
        return bool(self.tokens) and len(self.numbers) == len(self.tokens)


@lru_cache(maxsize=2)  # since several readers try the same text
def rows_of(text: str) -> tuple[Row, ...]:
    """Return a `Row` for each line but `_ORNAMENT`. Raises InputError for too many lines or a number with a sign."""
    rows, signed = [], 0
    for number, raw in _numbered_lines(text):
        line, comment = code_and_comment(raw)
        signed = signed or (number if _SIGNED.search(line) else 0)
        code, line = line.strip(), _ASSIGNED.sub("", line, count=1)
        if "," in line and not _BRACKET.search(line):
            line = _EMPTY_FIELD.sub("_", line.strip())
        tokens = tuple(_TOKEN.findall(line)) or ((code,) if _says(code) else ())
        if tokens or comment.strip():
            numbers = tuple(int(token) for token in tokens if token.isascii() and token.isdigit())
            rows.append(Row(number, tokens, comment.strip(), numbers, code))
    if signed:
        refuse_other_sides([(row.line, row.numbers) for row in rows if row.only_numbers])
        raise InputError("a number with a sign; expected whole numbers from 0, or both +3 and -3", line=signed)
    return tuple(rows)


def code_and_comment(line: str) -> tuple[str, str]:
    """Return a line without its comment, and the comment, which follows ``#`` or ``//``.

    A line that begins with ; or % or the word c is all comment, unless it is a piece of four letters.
    """
    code, mark, comment = line.partition("#")
    if not mark:
        code, _, comment = line.partition("//")
    return ("", code) if _COMMENT.match(code) else (code, comment)


@lru_cache(maxsize=2)
def _code(text: str) -> tuple[str, ...]:
    """Return the lines of a text without their comments."""
    return tuple(code_and_comment(line)[0] for line in text.split("\n"))


def _says(line: str) -> bool:
    """Check whether a line has a word, a number, or marks other than brackets, separators and ruled lines."""
    return re.search(r"\w", line) is not None or not _ORNAMENT.fullmatch(line)


def refuse_other_sides(rows: Sequence[tuple[int | None, Sequence[object]]]) -> None:
    """Raise NearError if rows of three or six sides, perhaps after an id, are the most common, and three or more."""
    usual = max(Counter(len(sides) for _, sides in rows).most_common(1), default=(0, 0))[0]
    body = [(line, str(sides[0])) for line, sides in rows if len(sides) == usual > 0]
    numbered = [first for _, first in body] in ([str(at + base) for at in range(len(body))] for base in (0, 1))
    sides = usual - (numbered and usual > 3)
    if sides in _OTHER_SIDES and len(body) > 2:
        said = f"{len(body)} {_OTHER_SIDES[sides]} pieces ({sides} sides); expected squares"
        raise NearError(said, line=body[0][0])


def is_bounded_header(row: Sequence[int | str], count: int) -> bool:
    """Check for a header ``bounded signed width height``, that is, two flags (0 or 1) and a size of ``count`` cells."""
    numbers = [int(entry) if str(entry).isdecimal() else -1 for entry in row]
    return {*numbers[:2]} <= {0, 1} and count > 0 and numbers[2] * numbers[3] == count


def left_out(lines: Iterable[tuple[int, str]]) -> tuple[str, ...]:
    """Return a tuple with a note on unused lines, given as (line number, text); an empty tuple if there are none."""
    shown = dict(sorted(lines))
    if not shown:
        return ()
    starts = [number for number in shown if number - 1 not in shown]
    ends = [number for number in shown if number + 1 not in shown]
    spans = ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True))
    plural, such = ("s", "such as ") if len(shown) > 1 else ("", "")
    return (f"left out: line{plural} {spans} ({such}{quoted(next(iter(shown.values())).strip())})",)


# -- pieces, on lines or in special layouts ----------------------------------------------------------------------------


@dataclass
class Listed:
    """Pieces as a text states them, in a list or on a board, before their convention is known."""

    quads: list[list[int]]  # the four sides of each piece as listed; pieces in order of their ids, or else lines
    where: Sequence[int] = ()  # the line numbers of the pieces, ascending; empty for JSON
    notes: tuple[str, ...] = ()  # sentences on what was recognised and what is left out
    width: int = 0  # number of pieces in a row of the board, 0 if unknown
    shape: tuple[int, int] | None = None  # columns and rows of the board, if the text states both
    header: list[tuple[int, ...]] = field(default_factory=list)  # rows of numbers before the first piece
    order: str | None = None  # side order, if the text states it
    usual_order: str = CLOCKWISE  # side order assumed if the text states none and the colours allow it
    orders: Sequence[str] = ALL_ORDERS  # side orders that are tried if the pieces lie on a board
    gaps: str = ""  # clause that names missing ids, for an error on the number of pieces
    count: int | None = None  # number of pieces, if the text states it
    placed: list[tuple[int, int, list[int]]] = field(default_factory=list)  # row, column, sides of placed tiles
    rules: str = ""  # unusual rules in words, such as "without turns", as `pieces` writes them in its comment
    framed: bool = True  # whether the puzzle may have a frame
    halves: bool = False  # whether the sides look like halves
    mates: tuple[tuple[int, int], ...] = ()  # pairs of colours that match each other
    names: dict[str, int] = field(default_factory=dict)  # colour, by the half or letter that stands for it
    pinned: list[int] = field(default_factory=list)  # indices of pieces that are clues on the cells of the same indices

    @property
    def last(self) -> int | None:
        """The line number of the last piece, if known."""
        return self.where[-1] if self.where else None

    def renumbered(self, border: int | None) -> Listed:
        """Return a copy with colours ``border`` and 0 exchanged; for None (no frame), with all colours raised by 1."""

        def number(colour: int) -> int:
            return colour + 1 if border is None else {border: GREY, GREY: border}.get(colour, colour)

        return replace(
            self,
            quads=[[*map(number, quad)] for quad in self.quads],
            placed=[(row, column, [*map(number, tile)]) for row, column, tile in self.placed],
            mates=tuple((number(one), number(other)) for one, other in self.mates),
            names={name: number(colour) for name, colour in self.names.items()},
        )

    def made(self, order: str, width: int, height: int, name: str, **rules: Any) -> Puzzle:
        """Return the puzzle of the pieces, listed in the side order ``order``. Raises InputError if they make none."""
        written = {colour: printable(name, 20) for name, colour in self.names.items()}
        names = tuple(written.get(colour, "") for colour in range(max(written, default=-1) + 1))
        quads = np.array(clockwise(self.quads, order), dtype=np.int32)
        try:
            return Puzzle(quads, width, height, name=name, mates=self.mates, names=names, **rules)
        except InputError as error:
            raise InputError(error.message, line=self.last) from None


def found_in(text: str, pattern: re.Pattern[str], what: str) -> tuple[list[re.Match[str]], list[int], tuple[str, ...]]:
    """Return all matches of a pattern, the number of the line on which each begins, and a note on unmatched text.

    A match may end on a later line. A number on a line between matches raises InputError, which calls these ``what``;
    so does a number beside a match on its line, unless every line with a match has other text.
    """
    code = "\n".join(_code(text))
    found = list(pattern.finditer(code))
    breaks = [at for at, letter in enumerate(code) if letter == "\n"]
    where = [bisect_left(breaks, match.start()) + 1 for match in found]
    used = {line + more for line, match in zip(where, found, strict=True) for more in range(match[0].count("\n") + 1)}
    rest = {
        line: left
        for line, left in enumerate(pattern.sub(lambda each: "\n" * each[0].count("\n") or " ", code).split("\n"), 1)
        if (re.search(r"\w", left) if line in used else _says(left))
    }
    beside = used & rest.keys()
    for line, left in rest.items():
        odd = len(beside) < len(used) if line in used else used and min(used) < line < max(used)
        if odd and re.search("[0-9]", left):
            raise InputError(f"{quoted(left.strip())} among {what}; expected only such", line=line)
    return found, where, left_out(rest.items())


def groups_on_a_line(text: str, pattern: re.Pattern[str]) -> int:
    """Return how many matches of a pattern each line with a match has; 0 if these lines differ, or without a match."""
    counts = {len(found) for line in _code(text) if (found := pattern.findall(line))}
    return counts.pop() if len(counts) == 1 else 0


def bracketed(text: str) -> Listed | None:
    """Read pieces of four numbers in brackets each, as in JSON, Python or printed boards; None for another text."""
    if len(BRACKETED.findall("\n".join(_code(text)))) < 4:
        return None
    found, where, notes = found_in(text, BRACKETED, "four numbers in brackets")
    quads = [[int(token) for token in re.findall("[0-9]+", match[1])] for match in found]
    said = f"{len(quads)} groups of four numbers in brackets"
    return Listed(quads, where, (said, *notes), groups_on_a_line(text, BRACKETED))


def letters(text: str) -> Listed | None:
    """Read a board with four letters for each cell and equally many cells on each line; None for another text."""
    words = [word for word in _QUAD.findall(text) if word.islower() or word.isupper() or "_" in word]
    numbered = any(len(row.tokens) == 1 and row.only_numbers for row in rows_of(text)[:1])
    if len(words) < 4 or numbered or not (width := groups_on_a_line(text, _QUAD)):
        return None
    found, where, left = found_in(text, _QUAD, "four letters")
    names = {letter: colour_of_letter(letter) for match in found for letter in match[0]}
    return Listed([[names[letter] for letter in match[0]] for match in found], where, left, width=width, names=names)


def colour_of_letter(letter: str) -> int:
    """Return the colour of a letter: 0 for '_' and 'a' (grey in viewer URLs), 1 for 'b' and 'A', and so on."""
    if letter == "_":
        return 0
    return ord(letter) - ord("a") if letter.islower() else ord(letter) - ord("A") + 1


def picture_in(text: str) -> Listed | None:
    """Read a picture: lines of upper, left and right, lower colours for each row; else None, or NearError if near."""
    lines, rest, ended = list[tuple[int, list[int]]](), list[tuple[int, str]](), False
    for number, line in enumerate(text.split("\n"), start=1):
        numbers = [int(token) for token in re.findall(r"[0-9]{1,5}", line)]
        ended |= bool(lines) and re.match(r"\s*[A-Za-z]", line) is not None
        if not ended and numbers and not re.search(r"[A-WYZa-z]", line):
            lines.append((number, numbers))
        elif line.strip() if ended else re.search(r"\w", code_and_comment(line)[0].replace("X", "")):
            rest.append((number, line))
    width = len(lines[0][1]) if lines else 0
    wanted = [width, 2 * width, width] * (len(lines) // 3 + 1)
    if len(lines) < 6 or [len(line) for _, line in lines[:6]] != wanted[:6]:
        return None
    if odd := next((found for found, size in zip(lines, wanted, strict=False) if len(found[1]) != size), None):
        raise NearError(f"{len(odd[1])} numbers in a line of a picture of a board; expected as above", line=odd[0])
    if len(lines) % 3:
        raise NearError("a picture of a board ends within a row; expected three lines a row", line=lines[-1][0])
    quads, where = list[list[int]](), list[int]()
    for (number, top), (_, middle), (_, bottom) in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        quads += map(list, zip(top, middle[1::2], bottom, middle[::2], strict=True))
        where += [number] * width
    return Listed(quads, where, left_out(rest), width=width, orders=[CLOCKWISE])


def words_in(text: str) -> Listed | None:
    """Read Tetravex words of four digits, a line for each row of the board, or on any lines after the side of a square.

    Return None for another text, but raise NearError if only a few words or lines do not fit.
    """
    rows = {number: words for number, line in enumerate(_code(text), start=1) if (words := line.split())}
    words, where = [word for row in rows.values() for word in row], [line for line, row in rows.items() for _ in row]
    fitting = [_WORD.fullmatch(word) is not None for word in words]
    if len(words) > 2 * MAX_CELLS or len(words) < 4 or sum(fitting) < 0.8 * len(words):
        return None
    [(width, _)] = Counter(map(len, rows.values())).most_common(1)
    side = int(words[0]) if re.fullmatch("[0-9]{1,2}", words[0]) else 0
    if side > 1 and len(words) == 1 + side * side and all(fitting[1:]):
        words, where, width, rows = words[1:], where[1:], side, {}
    elif width < 2 or len(rows) < 2:
        return None
    for number, row in rows.items():
        odd = next((word for word in row if not _WORD.fullmatch(word)), None)
        if odd is not None:
            raise NearError(f"{quoted(odd)} among words of four digits; expected such a word", line=number)
        if len(row) != width:
            raise NearError(f"{len(row)} words; expected {width} as in the other rows", line=number)
    return Listed(
        [[int(digit) for digit in word.strip("@")] for word in words],
        where,
        notes=("words of four digits read as a Tetravex",),
        width=width,
        shape=(width, len(words) // width),
        usual_order=WORD_ORDER,
        orders=(WORD_ORDER, *ORDERS[:2]),
        rules=f"{NO_FRAME}, {NO_TURNS}",
        framed=False,
        pinned=[cell for cell, word in enumerate(words) if "@" in word],
    )


def blocks(listed: Listed) -> list[Listed]:
    """Return the halves of a list, puzzle and board, if they are the same pieces turned or reordered; else the list."""
    half, quads = len(listed.quads) // 2, listed.quads
    if half < 4 or 2 * half != len(quads):
        return [listed]
    if quads[:half] == quads[half:]:
        if len(set(map(tuple, quads[:half]))) == half:
            raise InputError(f"the same {half} pieces twice, in the same order; expected them once")
        return [listed]
    halves = [slice(None, half), slice(half, None)]
    shown = ([sorted(map(canonical, clockwise(quads[each], order))) for each in halves] for order in ORDERS)
    if not any(one == two for one, two in shown):
        return [listed]
    return [replace(listed, quads=quads[each], where=listed.where[each], pinned=[]) for each in halves]


def in_json(text: str) -> Listed | None:
    """Read the longest list of pieces in the JSON of another program; None for a text that is no JSON object.

    The list may have any key. Two other fields may hold the size of the board, and another list the placed tiles.
    """
    if not text.lstrip().startswith("{"):
        return None
    value = json_object(text)
    lists = {key: entry for key, entry in value.items() if isinstance(entry, list) and entry}
    pieces = {key: entry for key, entry in lists.items() if all(_is_row(each, 3, 6) for each in entry)}
    placed = {key: tiles for key, entry in lists.items() if None not in (tiles := [*map(_place_of, entry)])}
    key = max(pieces, key=lambda key: len(pieces[key]), default=None)
    if key is None:
        raise InputError("this JSON has no list of pieces; expected one, four numbers each")
    listed = Listed(pieces[key], placed=[tile for tiles in placed.values() for tile in tiles if tile])
    if odd := [(at, len(sides)) for at, sides in enumerate(listed.quads) if len(sides) != 4]:
        refuse_other_sides([(None, sides) for sides in listed.quads])
        raise NearError(f"entry {odd[0][0]} of {quoted(key)} has {odd[0][1]} sides; expected pieces of four sides")
    small = [name for name, entry in value.items() if _is_small(entry) and entry]
    sizes = {side: name for name in small if (side := SIDE_OF_SIZE.get(name.lower()))}
    used = {key, *placed}
    if {"width", "height"} <= sizes.keys():
        width, height = listed.shape = value[sizes["width"]], value[sizes["height"]]
        listed.width = width
        used |= {*sizes.values()}
        if width != height and len(sizes["width"]) == 1:
            way = f"(--puzzle-format pieces:{height}x{width} is the other way)"
            listed.notes = (f"{sizes['height']} rows and {sizes['width']} columns {way}",)
    listed.notes += left_out_fields(name for name in value if name not in used)
    return listed


def _place_of(entry: object) -> tuple[int, int, list[int]] | None:
    """Return row, column and sides of an object with keys r… and c… (or y… and x…) and a list of sides; else None."""
    if not isinstance(entry, dict):
        return None
    of = {name[:1].lower(): each for name, each in entry.items() if _is_small(each)}
    tile = next((each for each in entry.values() if _is_row(each, 0, MAX_NUMBER)), None)
    row, column = of.get("r", of.get("y")), of.get("c", of.get("x"))
    return None if row is None or column is None or tile is None else (row, column, list(tile))


def _is_row(entry: object, fewest: int, most: int) -> TypeGuard[list[int]]:
    """Check whether an entry is a list of ``fewest`` to ``most`` numbers, each from 0 to `MAX_NUMBER`."""
    return isinstance(entry, list) and fewest <= len(entry) <= most and all(map(_is_small, entry))


def _is_small(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_NUMBER
