"""Reading a text file line by line, and checks that several text formats share."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import islice

from instances.puzzle import MAX_CELLS, MAX_COLOUR, Clue, Puzzle
from lns_support.errors import InputError
from lns_support.text import parse_integer, quoted

MAX_LINES = 20_000  # blank lines included
MAX_SIDE = 64  # of a square board: 64 * 64 = MAX_CELLS


class Lines:
    """The lines of a text that are not blank, taken one after the other.

    Line numbers count from 1 and include blank lines. Raises InputError if the text has more than `MAX_LINES` lines.
    """

    def __init__(self, text: str) -> None:
        rows = text.split("\n", MAX_LINES)
        if len(rows) > MAX_LINES:
            raise InputError(f"more than {MAX_LINES} lines; expected a puzzle or a board of at most {MAX_CELLS} cells")
        self._rows = [(number, row) for number, row in enumerate(rows, start=1) if row.strip()]
        self._next = 0
        self.last = max(1, len(rows) - (not rows[-1]))

    def __len__(self) -> int:
        """Number of lines that have not been taken."""
        return len(self._rows) - self._next

    def take(self, expected: str) -> tuple[int, str]:
        """(number, text) of the next line. Raises InputError if there is none; ``expected`` says what is missing."""
        if self._next == len(self._rows):
            raise InputError(f"the file ends here; expected {expected}", line=self.last)
        self._next += 1
        number, row = self._rows[self._next - 1]
        return number, row.strip()

    def numbers(self, count: int, bounds: Sequence[tuple[int, int]], what: str) -> tuple[int, list[int]]:
        """Take a line of ``count`` integers, each within its ``bounds``: its number and the integers.

        ``what`` is how messages call the line. Raises InputError if the text has ended or the line holds anything else.
        """
        number, row = self.take(f"{what} ({count} number{'s' * (count > 1)})")
        tokens = row.split()
        if len(tokens) != count:
            raise InputError(
                f"{what} has {len(tokens)} entries, {quoted(row)}; expected {count} whole number{'s' * (count > 1)}",
                line=number,
            )
        return number, [parse_integer(token, *bound, what, number) for token, bound in zip(tokens, bounds, strict=True)]

    def end(self, after: str) -> None:
        """Raise InputError if a line has not been taken; ``after`` says what came before it."""
        if self._next < len(self._rows):
            number, row = self._rows[self._next]
            raise InputError(f"found {quoted(row)} after {after}; expected the end of the file", line=number)


def quad_lines(lines: Lines, count: int, what: str = "piece", high: int = MAX_COLOUR) -> list[list[int]]:
    """Read four colours from each of the next ``count`` lines, which must be the last. Raises InputError."""
    quads = [lines.numbers(4, [(0, high)] * 4, f"{what} {index + 1} of {count}")[1] for index in range(count)]
    lines.end(f"{count} {what}s")
    return quads


def board_shape(width: int, height: int, line: int | None = None) -> None:
    """Raise InputError if a board of this shape has more than `MAX_CELLS` cells."""
    if width * height > MAX_CELLS:
        raise InputError(
            f"a board of {width} x {height} has {width * height} cells; expected at most {MAX_CELLS}", line=line
        )


def check_square(puzzle: Puzzle, format: str) -> None:
    """Raise InputError if the board is not square, for a format that states only one side."""
    if puzzle.width != puzzle.height:
        raise InputError(
            f"a board of {puzzle.width} x {puzzle.height}; {format} carries only squares (quads and json carry it)"
        )


def side_of_square(count: int, what: str, line: int | None = None) -> int:
    """The side of a square of ``count`` cells. Raises InputError if ``count`` is no square or too large."""
    side = math.isqrt(count)
    if side * side != count or not 1 <= side <= MAX_SIDE:
        raise InputError(
            f"{count} {what}; expected the square of a number from 1 to {MAX_SIDE} "
            "(a rectangle needs a format that says its width and height)",
            line=line,
        )
    return side


def with_clues(puzzle: Puzzle, clues: Sequence[tuple[int, Clue]]) -> Puzzle:
    """``puzzle`` with clues, given as (line, clue). Raises InputError with the line of the first clue that is wrong."""

    def error_of(count: int) -> InputError | None:
        try:
            puzzle.with_clues(clue for _, clue in clues[:count])
        except InputError as error:
            return error
        return None

    first = bisect_left(range(len(clues) + 1), True, key=lambda count: error_of(count) is not None)
    if (error := error_of(min(first, len(clues)))) is not None:
        raise InputError(error.message, line=clues[first - 1][0])
    return puzzle.with_clues(clue for _, clue in clues)


def first_rows(text: str, count: int = 3) -> list[str]:
    """The first ``count`` lines that are not blank, to detect a format."""
    return list(islice((row.strip() for row in text[:100_000].split("\n") if row.strip()), count))


def starts_like_numbers(row: str, count: int) -> bool:
    """Whether ``row`` has ``count`` entries of which at least one begins with a digit or a sign."""
    tokens = row.split()
    return len(tokens) == count and any(token[0].isdigit() or token[0] in "+-" for token in tokens)
