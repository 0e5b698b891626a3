"""The tokenizer of the readers by evidence: rows of numbers or letters, without comments, separators and brackets."""

from __future__ import annotations

import re
from typing import NamedTuple

from instances.formats.text import MAX_LINES
from instances.puzzle import MAX_CELLS
from lns_support.errors import InputError

MAX_NUMBER = 65_535
_TOKEN = re.compile(r"[0-9]{1,18}|[A-Za-z_]+|[^\W\d_]+")
_BRACKETED = re.compile(r"[\[({]((?:\s{0,9}[0-9]{1,6}\s{0,9}[,;\s]){3}\s{0,9}[0-9]{1,6})\s{0,9},?\s{0,9}[\])}]")


class Row(NamedTuple):
    """A line with something on it: its number from 1, its words and numbers, and its comment."""

    line: int
    tokens: tuple[str, ...]
    comment: str

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the row, words left out."""
        return tuple(int(token) for token in self.tokens if token.isascii() and token.isdigit())

    @property
    def only_numbers(self) -> bool:
        """Whether the row has numbers and no word."""
        return bool(self.tokens) and len(self.numbers) == len(self.tokens)


def rows_of(text: str) -> list[Row]:
    """The rows of a text, comments (``#``, ``//``, ``c`` at the start) apart. Raises InputError if it is too long."""
    lines = text.split("\n", MAX_LINES)
    if len(lines) > MAX_LINES:
        raise InputError(f"more than {MAX_LINES} lines; expected a puzzle or a board of at most {MAX_CELLS} cells")
    rows = []
    for number, raw in enumerate(lines, start=1):
        line, mark, comment = raw.partition("#")
        if not mark:
            line, _, comment = raw.partition("//")
        if re.match(r"\s*c(\s|$)", line):
            line, comment = "", line
        if "," in line and not re.search(r"[\[({]", line):
            line = re.sub(r"(?<=,)(?=,)|^(?=,)|(?<=,)\s*$", "_", line.strip())  # an empty field
        if re.search(r"(?:^|\s)[-+][0-9]", line):
            raise InputError("a number with a sign; expected whole numbers from 0", line=number)
        tokens = tuple(_TOKEN.findall(line))
        if tokens or comment.strip():
            rows.append(Row(number, tokens, comment.strip()))
    return rows


def bracketed_quads(text: str) -> list[list[int]]:
    """Four numbers in brackets, as in JSON, Python or JavaScript and in printed boards; in order."""
    return [[int(token) for token in re.findall("[0-9]+", found)] for found in _BRACKETED.findall(text)]


def colour_of_letter(letter: str) -> int:
    """'_' is 0 and so is 'a', the grey of viewer letters; upper case letters, beside '_', count from 1."""
    if letter == "_":
        return 0
    return ord(letter) - ord("a") if letter.islower() else ord(letter) - ord("A") + 1
