"""Numbered lines of a text file, read one after the other: the base of every text format."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice

from instances.puzzle import MAX_CELLS, MAX_COLOUR, Clue, Puzzle
from lns_support.errors import InputError
from lns_support.text import parse_integer, quoted

MAX_LINES = 20_000  # blank ones too
MAX_SIDE = 64  # of a square: 64 * 64 = MAX_CELLS


class Lines:
    """The lines of a text that hold something, taken one after the other; numbers count every line, from 1.

    Raises InputError when there are too many.
    """

    def __init__(self, text: str) -> None:
        rows = text.split("\n", MAX_LINES)
        if len(rows) > MAX_LINES:
            raise InputError(f"more than {MAX_LINES} lines; expected a puzzle or a board of at most {MAX_CELLS} cells")
        self._rows = [(number, row) for number, row in enumerate(rows, start=1) if row.strip()]
        self._next = 0
        self.last = max(1, len(rows) - (not rows[-1]))

    def __len__(self) -> int:
        """How many lines are left."""
        return len(self._rows) - self._next

    def take(self, expected: str) -> tuple[int, str]:
        """(number, line) of the next line. Raises InputError at the end of the text."""
        if self._next == len(self._rows):
            raise InputError(f"the file ends here; expected {expected}", line=self.last)
        self._next += 1
        number, row = self._rows[self._next - 1]
        return number, row.strip()

    def numbers(self, count: int, bounds: Sequence[tuple[int, int]], what: str) -> tuple[int, list[int]]:
        """(number, integers) of the next line, which must hold ``count`` of them, each within its (low, high)."""
        number, row = self.take(f"{what} ({count} number{'s' * (count > 1)})")
        tokens = row.split()
        if len(tokens) != count:
            raise InputError(
                f"{what} has {len(tokens)} entries, {quoted(row)}; expected {count} whole number{'s' * (count > 1)}",
                line=number,
            )
        return number, [parse_integer(token, *bound, what, number) for token, bound in zip(tokens, bounds, strict=True)]

    def end(self, after: str) -> None:
        """Raises InputError when something follows."""
        if self._next < len(self._rows):
            number, row = self._rows[self._next]
            raise InputError(f"found {quoted(row)} after {after}; expected the end of the file", line=number)


def quad_lines(lines: Lines, count: int, what: str = "piece", high: int = MAX_COLOUR) -> list[list[int]]:
    """The next ``count`` lines of four colours, and then the end of the text."""
    quads = [lines.numbers(4, [(0, high)] * 4, f"{what} {index + 1} of {count}")[1] for index in range(count)]
    lines.end(f"{count} {what}s")
    return quads


def board_shape(width: int, height: int, line: int | None = None) -> None:
    """Raises InputError when a board of this shape has too many cells."""
    if width * height > MAX_CELLS:
        raise InputError(
            f"a board of {width} x {height} has {width * height} cells; expected at most {MAX_CELLS}", line=line
        )


def side_of_square(count: int, what: str, line: int | None = None) -> int:
    """The side of a square of ``count`` cells. Raises InputError when there is none."""
    side = math.isqrt(count)
    if side * side != count or not 1 <= side <= MAX_SIDE:
        raise InputError(
            f"{count} {what}; expected the square of a number from 1 to {MAX_SIDE} "
            "(a rectangle needs a format that says its width and height)",
            line=line,
        )
    return side


def with_clues(puzzle: Puzzle, clues: Sequence[tuple[int, Clue]]) -> Puzzle:
    """``puzzle`` with its clues, given as (line, clue). A clue that cannot be is reported with its line."""
    try:
        return puzzle.with_clues(clue for _, clue in clues)
    except InputError:
        good, bad = 0, len(clues)  # the first `good` clues pass, the first `bad` do not
        while bad - good > 1:
            middle = (good + bad) // 2
            try:
                puzzle.with_clues(clue for _, clue in clues[:middle])
                good = middle
            except InputError:
                bad = middle
        try:
            puzzle.with_clues(clue for _, clue in clues[:bad])
        except InputError as error:
            raise InputError(error.message, line=clues[bad - 1][0]) from None
        raise


def first_rows(text: str, count: int = 3) -> list[str]:
    """The first lines that hold something, for guessing a format."""
    return list(islice((row.strip() for row in text[:100_000].split("\n") if row.strip()), count))


def starts_like_numbers(row: str, count: int) -> bool:
    """Whether ``row`` has ``count`` entries of which at least one begins like a number."""
    tokens = row.split()
    return len(tokens) == count and any(token[0].isdigit() or token[0] in "+-" for token in tokens)
