"""The tokenizer of the readers by evidence: rows of numbers or letters, without comments, separators and brackets.

No line vanishes: a reader uses a line, names it as left out (`left_out`), or refuses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from instances.formats.base import NearError
from instances.formats.text import MAX_LINES
from instances.puzzle import MAX_CELLS
from lns_support.errors import InputError
from lns_support.text import count_of, quoted

MAX_NUMBER = 65_535
_TOKEN = re.compile(r"[0-9]{1,18}|[A-Za-z_]+|[^\W\d_]+")
_COMMENT = re.compile(r"\s*(?:c(?:\s|$)|[;%])")
_ASSIGNED = re.compile(r"\s*[A-Za-z_][\w\s:\[\]]{0,80}=\s*(?=[\[{(])")  # `Tiles = [`, `const tiles: number[][] = [`
_BRACKET = re.compile(r"[\[({|]")
_EMPTY_FIELD = re.compile(r"(?<=,)(?=,)|^(?=,)|(?<=,)\s*$")
_SIGNED = re.compile(r"(?:^|[\s,;|(\[{=])[-+][0-9]")
BRACKETED = re.compile(r"[\[({]((?:\s{0,9}[0-9]{1,6}\s{0,9}[,;\s]){3}\s{0,9}[0-9]{1,6})\s{0,9},?\s{0,9}[\])}]")
_OTHER_SIDES = {3: "triangles", 6: "hexagons"}


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
    lines = text.split("\n", MAX_LINES)
    if len(lines) > MAX_LINES:
        raise InputError(f"more than {MAX_LINES} lines; expected a puzzle or a board of at most {MAX_CELLS} cells")
    rows, signed = [], 0
    for number, raw in enumerate(lines, start=1):
        line, comment = code_and_comment(raw)
        signed = signed or (number if _SIGNED.search(line) else 0)
        text, line = line.strip(), _ASSIGNED.sub("", line, count=1)
        if "," in line and not _BRACKET.search(line):
            line = _EMPTY_FIELD.sub("_", line.strip())
        tokens = tuple(_TOKEN.findall(line))
        if tokens or comment.strip():
            numbers = tuple(int(token) for token in tokens if token.isascii() and token.isdigit())
            rows.append(Row(number, tokens, comment.strip(), numbers, text))
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


def refuse_other_sides(rows: Sequence[Row]) -> None:
    """Raise InputError for rows of three or of six sides, with or without a number of the piece before them."""
    rows = [row for row in rows if row.numbers]
    counts = [len(row.numbers) for row in rows]
    usual = max(set(counts), key=counts.count, default=0)
    body = [row for row in rows if len(row.numbers) == usual]
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
    shown = sorted({number: text.strip() for number, text in lines}.items())
    spans: list[list[int]] = []
    for number, _ in shown:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    named = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)
    such = "such as " if len(shown) > 1 else ""
    return (f"left out: line{'s' * (len(shown) > 1)} {named} ({such}{quoted(shown[0][1])})",) if shown else ()


def one_of(count: int, what: str, number: int | None) -> tuple[str, ...]:
    """A note that a text holds several boards, of which one is read; none if it holds one."""
    chosen = "only the first is read" if number is None else f"number {number} is read"
    return (f"the text has {count} {what}; {chosen}",) if count > 1 else ()


def found_in(text: str, pattern: re.Pattern[str], what: str) -> tuple[list[tuple[int, re.Match[str]]], tuple[str, ...]]:
    """All matches of a pattern, each with its line, and a note on the lines without one.

    A match may begin on a line and end on a later one. Raises InputError for a number between the matches that is none.
    """
    code = "\n".join(code_and_comment(line)[0] for line in text.split("\n"))
    found, line, at = [], 1, 0
    for match in pattern.finditer(code):
        line, at = line + code.count("\n", at, match.start()), match.start()
        found.append((line, match))
    used = {number + more for number, match in found for more in range(match[0].count("\n") + 1)}
    remaining = pattern.sub(lambda match: "\n" * match[0].count("\n") or " ", code).split("\n")
    rest = {number: left for number, left in enumerate(remaining, start=1) if re.search(r"\w", left)}
    beside = [number for number in rest if number in used]
    for number, left in rest.items():
        within = bool(used) and min(used) < number < max(used) and re.search("[0-9]", left)
        odd = number in used and len(beside) < len(used) and re.search(r"[0-9]", left)
        if odd or (within and number not in used):
            raise InputError(f"{quoted(left.strip())} among {what}; expected only such", line=number)
    return found, left_out((number, left) for number, left in rest.items())


def bracketed_quads(text: str) -> tuple[list[list[int]], list[int], tuple[str, ...]]:
    """Four numbers in brackets, as in JSON, Python or JavaScript and in printed boards: quads, their lines, notes."""
    if not BRACKETED.search(text):
        return [], [], ()
    found, notes = found_in(text, BRACKETED, "four numbers in brackets")
    quads = [[int(token) for token in re.findall("[0-9]+", match[1])] for _, match in found]
    return quads, [line for line, _ in found], notes


def colour_of_letter(letter: str) -> int:
    """'_' is 0 and so is 'a', the grey of viewer letters; upper case letters, beside '_', count from 1."""
    if letter == "_":
        return 0
    return ord(letter) - ord("a") if letter.islower() else ord(letter) - ord("A") + 1


def picture_in(text: str) -> tuple[list[list[int]], int, tuple[str, ...]] | None:
    """Quads, width and notes of a picture of three lines a row: tops, then left and right of each, then bottoms."""
    lines: list[list[int]] = []
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
    if (
        len(lines) < 6
        or len(lines) % 3
        or any(len(line) != width * (2 if at % 3 == 1 else 1) for at, line in enumerate(lines))
    ):
        return None
    quads = []
    for top, middle, bottom in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        quads += [[top[x], middle[2 * x + 1], bottom[x], middle[2 * x]] for x in range(width)]
    return quads, width, left_out(rest)
