"""Texts line by line: strictly, as formats with a definition are read, or with any separators; and other shapes.

Those are groups of marks, words, pictures and letters.

No line vanishes: a reader uses a line, names it as left out (`left_out`), or refuses it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from lns.instances.errors import InputError
from lns.instances.formats.base import NearError
from lns.instances.formats.orders import ORDERS, clockwise
from lns.instances.puzzle import MAX_CELLS, MAX_COLOUR, Clue, Puzzle, canonical
from lns.instances.text import count_of, parse_integer, quoted

MAX_SIDE = 64  # of a square board: 64 * 64 = MAX_CELLS
MAX_NUMBER = 65_535
_MAX_LINES = 20_000  # blank lines included
_TOKEN = re.compile(r"[0-9]{1,18}|[A-Za-z_]+|[^\W\d_]+")
_COMMENT = re.compile(r"\s*(?:c(?:\s|$)|[;%])")
_ASSIGNED = re.compile(r"\s*[A-Za-z_][\w\s:\[\]]{0,80}=\s*(?=[\[{(])")  # `Tiles = [`, `const tiles: number[][] = [`
_BRACKET = re.compile(r"[\[({|]")
_EMPTY_FIELD = re.compile(r"(?<=,)(?=,)|^(?=,)|(?<=,)\s*$")
_SIGNED = re.compile(r"(?:^|[\s,;|(\[{=])[-+][0-9]")
_ORNAMENT = re.compile(r"[\s\[\](){}|,;]*|[-=_*+|/\\~:<>\s]{3,}")  # brackets and separators, or a ruled line
BRACKETED = re.compile(r"[\[({]((?:\s{0,9}[0-9]{1,6}\s{0,9}[,;\s]){3}\s{0,9}[0-9]{1,6})\s{0,9},?\s{0,9}[\])}]")
WORD_ORDER = "ulrd"  # of the sides in a word of Tetravex, unless counting refutes it
_WORD = re.compile(r"@?[0-9]{4}@?")
_Quads = list[list[int]]
_OTHER_SIDES = {3: "triangles", 6: "hexagons"}


def _numbered_lines(text: str) -> list[tuple[int, str]]:
    lines = text.split("\n", _MAX_LINES)
    if len(lines) > _MAX_LINES:
        raise InputError(f"more than {_MAX_LINES} lines; expected a puzzle or a board of at most {MAX_CELLS} cells")
    return list(enumerate(lines, start=1))


# -- strict formats ----------------------------------------------------------------------------------------------------


class Lines:
    """The lines of a text that are not blank, taken one after the other.

    Line numbers count from 1 and include blank lines. Every method raises InputError if the text is not as expected.
    """

    def __init__(self, text: str) -> None:
        rows = _numbered_lines(text)
        self._rows = [(number, row.strip()) for number, row in rows if row.strip()]
        self._next = 0
        self.last = max(1, len(rows) - (not rows[-1][1]))

    def __len__(self) -> int:
        """Number of lines that have not been taken."""
        return len(self._rows) - self._next

    def take(self, expected: str) -> tuple[int, str]:
        """(number, text) of the next line; ``expected`` says what is missing if there is none."""
        if not len(self):
            raise InputError(f"the file ends here; expected {expected}", line=self.last)
        self._next += 1
        return self._rows[self._next - 1]

    def numbers(self, bounds: Sequence[tuple[int, int]], what: str) -> tuple[int, list[int]]:
        """Take a line, called ``what`` in messages, of an integer within each of ``bounds``: its number, and they."""
        numbers = f"number{'s' * (len(bounds) > 1)}"
        line, row = self.take(f"{what} ({len(bounds)} {numbers})")
        tokens = row.split()
        if len(tokens) != len(bounds):
            said = f"{what} has {len(tokens)} entries, {quoted(row)}; expected {len(bounds)} whole {numbers}"
            raise InputError(said, line=line)
        return line, [parse_integer(token, *bound, what, line) for token, bound in zip(tokens, bounds, strict=True)]

    def quads(self, count: int, high: int = MAX_COLOUR) -> list[list[int]]:
        """Take the last ``count`` lines, a piece of four colours each."""
        quads = [self.numbers([(0, high)] * 4, f"piece {index + 1} of {count}")[1] for index in range(count)]
        self.end(f"{count} pieces")
        return quads

    def end(self, after: str) -> None:
        """Check that every line has been taken; ``after`` says what came before the next."""
        if len(self):
            line, row = self._rows[self._next]
            raise InputError(f"found {quoted(row)} after {after}; expected the end of the file", line=line)


def board_shape(width: int, height: int, line: int | None = None) -> None:
    """Raise InputError if a board of this shape has more than `MAX_CELLS` cells."""
    if width * height > MAX_CELLS:
        said = f"a board of {width} x {height} has {width * height} cells; expected at most {MAX_CELLS}"
        raise InputError(said, line=line)


def check_square(puzzle: Puzzle, format: str) -> None:
    """Raise InputError if the board is not square, for a format that states only one side."""
    if puzzle.width != puzzle.height:
        raise InputError(
            f"a board of {puzzle.width} x {puzzle.height}; {format} carries only squares (quads and json carry it)"
        )


def with_clues(puzzle: Puzzle, clues: Sequence[tuple[int, Clue]]) -> Puzzle:
    """``puzzle`` with clues, given as (line, clue). Raises InputError with the line of the first clue that is wrong."""

    def error_of(count: int) -> InputError | None:
        try:
            puzzle.with_clues(clue for _, clue in clues[:count])
        except InputError as error:
            return error
        return None

    if error_of(len(clues)) is not None:
        first = bisect_left(range(len(clues)), True, key=lambda count: error_of(count) is not None)
        raise InputError(getattr(error_of(first), "message", ""), line=clues[first - 1][0])
    return puzzle.with_clues(clue for _, clue in clues)


def first_rows(text: str, count: int) -> list[str]:
    """The first ``count`` lines that are not blank, to detect a format."""
    return list(islice((row.strip() for row in text[:100_000].split("\n") if row.strip()), count))


# -- any dialect -------------------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """A line with something on it."""

    line: int  # its number from 1
    tokens: tuple[str, ...]  # its words and numbers
    comment: str
    numbers: tuple[int, ...]  # the numbers alone
    text: str  # without its comment

    @property
    def only_numbers(self) -> bool:
        """Whether the row has numbers and no word."""
        return bool(self.tokens) and len(self.numbers) == len(self.tokens)


@lru_cache(maxsize=2)  # several readers try the same text
def rows_of(text: str) -> tuple[Row, ...]:
    """The rows of a text, comments (``#``, ``//``, ``c`` at the start) apart. Raises InputError if it is too long."""
    rows, signed = [], 0
    for number, raw in _numbered_lines(text):
        line, comment = code_and_comment(raw)
        signed = signed or (number if _SIGNED.search(line) else 0)
        code, line = line.strip(), _ASSIGNED.sub("", line, count=1)
        if "," in line and not _BRACKET.search(line):
            line = _EMPTY_FIELD.sub("_", line.strip())
        tokens = tuple(_TOKEN.findall(line)) or ((code,) if says(code) else ())
        if tokens or comment.strip():
            numbers = tuple(int(token) for token in tokens if token.isascii() and token.isdigit())
            rows.append(Row(number, tokens, comment.strip(), numbers, code))
    if signed:
        refuse_other_sides([row for row in rows if row.only_numbers])
        raise InputError("a number with a sign; expected whole numbers from 0", line=signed)
    return tuple(rows)


def code_and_comment(line: str) -> tuple[str, str]:
    """A line, and the comment on it."""
    code, mark, comment = line.partition("#")
    if not mark:
        code, _, comment = line.partition("//")
    return ("", code) if _COMMENT.match(code) else (code, comment)


def says(line: str) -> bool:
    """Whether a line has a word, a number, or marks that are no ornament."""
    return re.search(r"\w", line) is not None or not _ORNAMENT.fullmatch(line)


def refuse_other_sides(rows: Sequence[Row]) -> None:
    """Raise InputError for rows of three or of six sides, with or without a number of the piece before them."""
    counts = [len(row.numbers) for row in rows if row.numbers]
    usual = max(set(counts), key=counts.count, default=0)
    body = [row for row in rows if row.numbers and len(row.numbers) == usual]
    numbered = [row.numbers[0] for row in body] in (list(range(len(body))), list(range(1, len(body) + 1)))
    sides = usual - (numbered and usual > 3 and len(body) > 1)
    if sides in _OTHER_SIDES and len(body) > 2:
        raise NearError(
            f"{count_of(len(body), 'row')} of {sides} sides: these are {_OTHER_SIDES[sides]}; expected pieces of four "
            "sides",
            line=body[0].line,
        )


def left_out(lines: Iterable[tuple[int, str]]) -> tuple[str, ...]:
    """A note on lines, by number, of which nothing is used; none if there is no such line."""
    shown = dict(sorted(lines))
    if not shown:
        return ()
    starts = [number for number in shown if number - 1 not in shown]
    ends = [number for number in shown if number + 1 not in shown]
    spans = ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True))
    plural, such = ("s", "such as ") if len(shown) > 1 else ("", "")
    return (f"left out: line{plural} {spans} ({such}{quoted(next(iter(shown.values())).strip())})",)


def one_of(count: int, what: str, number: int | None) -> tuple[str, ...]:
    """A note that a text holds several boards, of which one is read; none if it holds one."""
    chosen = "only the first is read" if number is None else f"number {number} is read"
    return (f"the text has {count} {what}; {chosen}",) if count > 1 else ()


# -- shapes that are no plain rows of numbers --------------------------------------------------------------------------


def found_in(text: str, pattern: re.Pattern[str], what: str) -> tuple[list[re.Match[str]], list[int], tuple[str, ...]]:
    """All matches of a pattern, the line of each, and a note on the lines without one.

    A match may begin on a line and end on a later one. Raises InputError for a number between the matches that is none.
    """
    code = "\n".join(code_and_comment(line)[0] for line in text.split("\n"))
    found = list(pattern.finditer(code))
    breaks = [at for at, letter in enumerate(code) if letter == "\n"]
    where = [bisect_left(breaks, match.start()) + 1 for match in found]
    used = {
        number + more for number, match in zip(where, found, strict=True) for more in range(match[0].count("\n") + 1)
    }
    remaining = pattern.sub(lambda match: "\n" * match[0].count("\n") or " ", code).split("\n")
    rest = {
        number: left
        for number, left in enumerate(remaining, start=1)
        if (re.search(r"\w", left) if number in used else says(left))
    }
    beside = used & rest.keys()
    for number, left in rest.items():
        odd = len(beside) < len(used) if number in used else used and min(used) < number < max(used)
        if odd and re.search("[0-9]", left):
            raise InputError(f"{quoted(left.strip())} among {what}; expected only such", line=number)
    return found, where, left_out(rest.items())


def groups_on_a_line(text: str, pattern: re.Pattern[str]) -> int:
    """How many groups the lines have that have any, if all have the same number; else 0."""
    lines = (code_and_comment(line)[0] for line in text.split("\n"))
    counts = {len(found) for line in lines if (found := pattern.findall(line))}
    return counts.pop() if len(counts) == 1 else 0


def bracketed_quads(text: str) -> tuple[_Quads, list[int], tuple[str, ...]]:
    """Four numbers in brackets, as in JSON, Python or JavaScript and in printed boards: quads, their lines, notes."""
    if not BRACKETED.search(text):
        return [], [], ()
    found, where, notes = found_in(text, BRACKETED, "four numbers in brackets")
    return [[int(token) for token in re.findall("[0-9]+", match[1])] for match in found], where, notes


def colour_of_letter(letter: str) -> int:
    """'_' is 0 and so is 'a', the grey of viewer letters; upper case letters, beside '_', count from 1."""
    if letter == "_":
        return 0
    return ord(letter) - ord("a") if letter.islower() else ord(letter) - ord("A") + 1


def picture_in(text: str) -> tuple[_Quads, int, tuple[str, ...]] | None:
    """Quads, width and notes of a picture of three lines a row: tops, then left and right of each, then bottoms."""
    lines: _Quads = []
    rest: list[tuple[int, str]] = []
    ended = False
    for number, line in enumerate(text.split("\n"), start=1):
        numbers = [int(token) for token in re.findall(r"[0-9]{1,5}", line)]
        ended |= bool(lines) and re.match(r"\s*[A-Za-z]", line) is not None
        if not ended and numbers and not re.search(r"[A-WYZa-z]", line):
            lines.append(numbers)
        elif line.strip() if ended else re.search(r"\w", code_and_comment(line)[0].replace("X", "")):
            rest.append((number, line))
    width = len(lines[0]) if lines else 0
    if len(lines) < 6 or [len(line) for line in lines] != [width, 2 * width, width] * (len(lines) // 3):
        return None
    quads = [
        [top[x], middle[2 * x + 1], bottom[x], middle[2 * x]]
        for top, middle, bottom in zip(lines[::3], lines[1::3], lines[2::3], strict=True)
        for x in range(width)
    ]
    return quads, width, left_out(rest)


def words_in_rows(text: str) -> list[list[str]] | None:
    """The words of four digits of a Tetravex, a row of them for each row of the board; None for another text.

    The words may stand on one line, after the size. Raises InputError if only few lines are none of that.
    """
    split = ((number, code_and_comment(line)[0].split()) for number, line in enumerate(text.split("\n"), start=1))
    rows = {number: words for number, words in split if words}
    words = [word for row in rows.values() for word in row]
    fitting = [_WORD.fullmatch(word) is not None for word in words]
    if len(words) > 2 * MAX_CELLS or len(words) < 4 or sum(fitting) < 0.8 * len(words):
        return None
    side = int(words[0]) if re.fullmatch("[0-9]{1,2}", words[0]) else 0
    if side > 1 and len(words) == 1 + side * side and all(fitting[1:]):
        return [words[1 + at : 1 + at + side] for at in range(0, side * side, side)]
    [(width, _)] = Counter(map(len, rows.values())).most_common(1)
    if width < 2 or len(rows) < 2:
        return None
    for number, row in rows.items():
        odd = next((word for word in row if not _WORD.fullmatch(word)), None)
        if odd is not None:
            raise NearError(f"{quoted(odd)} among words of four digits; expected such a word", line=number)
        if len(row) != width:
            raise NearError(f"{len(row)} words; expected {width} as in the other rows", line=number)
    return list(rows.values())


def sides_of_words(rows: Sequence[Sequence[str]]) -> _Quads:
    """The four digits of each word, in the order of the file."""
    return [[int(digit) for digit in word.strip("@")] for row in rows for word in row]


def halves(quads: Sequence[Sequence[int]]) -> tuple[_Quads, _Quads] | None:
    """Two blocks of the same pieces, in some order of their sides turned or not: a puzzle and its board; else None."""
    half = len(quads) // 2
    first, second = list(map(list, quads[:half])), list(map(list, quads[half:]))
    if half < 4 or 2 * half != len(quads):
        return None
    if first == second:
        if len(set(map(tuple, first))) == half:
            raise InputError(f"the same {half} pieces twice, in the same order; expected them once")
        return None
    shown = ([sorted(map(canonical, clockwise(block, order))) for block in (first, second)] for order in ORDERS)
    return (first, second) if any(one == two for one, two in shown) else None
