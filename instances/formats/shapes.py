"""Shapes of texts that are no plain rows of numbers: groups of marks, words, pictures, letters."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from instances.formats.base import NearError
from instances.formats.lines import code_and_comment, left_out, says
from instances.formats.orders import ORDERS, clockwise
from instances.puzzle import MAX_CELLS, canonical
from lns_support.errors import InputError
from lns_support.text import quoted

BRACKETED = re.compile(r"[\[({]((?:\s{0,9}[0-9]{1,6}\s{0,9}[,;\s]){3}\s{0,9}[0-9]{1,6})\s{0,9},?\s{0,9}[\])}]")
WORD_ORDER = "ulrd"  # of the sides in a word of Tetravex, unless counting refutes it
_WORD = re.compile(r"@?[0-9]{4}@?")
_Quads = list[list[int]]


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
