"""The tokenizer of the readers by evidence: rows of numbers or letters, without comments, separators and brackets."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from instances.formats.text import MAX_LINES
from instances.puzzle import MAX_CELLS
from lns_support.errors import InputError

MAX_NUMBER = 65_535
_TOKEN = re.compile(r"[0-9]{1,18}|[A-Za-z_]+|[^\W\d_]+")
_COMMENT = re.compile(r"\s*c(\s|$)")
_BRACKET = re.compile(r"[\[({]")
_EMPTY_FIELD = re.compile(r"(?<=,)(?=,)|^(?=,)|(?<=,)\s*$")
_SIGNED = re.compile(r"(?:^|\s)[-+][0-9]")
_BRACKETED = re.compile(r"[\[({]((?:\s{0,9}[0-9]{1,6}\s{0,9}[,;\s]){3}\s{0,9}[0-9]{1,6})\s{0,9},?\s{0,9}[\])}]")


class Row(NamedTuple):
    """A line with something on it.

    Attributes
    ----------
    line : int
        Its number from 1.
    tokens : tuple of str
        Its words and numbers.
    comment : str
    numbers : tuple of int
        The numbers alone.
    """

    line: int
    tokens: tuple[str, ...]
    comment: str
    numbers: tuple[int, ...]

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
    rows = []
    for number, raw in enumerate(lines, start=1):
        line, mark, comment = raw.partition("#")
        if not mark:
            line, _, comment = raw.partition("//")
        if _COMMENT.match(line):
            line, comment = "", line
        if "," in line and not _BRACKET.search(line):
            line = _EMPTY_FIELD.sub("_", line.strip())
        if _SIGNED.search(line):
            raise InputError("a number with a sign; expected whole numbers from 0", line=number)
        tokens = tuple(_TOKEN.findall(line))
        if tokens or comment.strip():
            numbers = tuple(int(token) for token in tokens if token.isascii() and token.isdigit())
            rows.append(Row(number, tokens, comment.strip(), numbers))
    return tuple(rows)


def bracketed_quads(text: str) -> list[list[int]]:
    """Four numbers in brackets, as in JSON, Python or JavaScript and in printed boards; in order."""
    return [[int(token) for token in re.findall("[0-9]+", found)] for found in _BRACKETED.findall(text)]


def colour_of_letter(letter: str) -> int:
    """'_' is 0 and so is 'a', the grey of viewer letters; upper case letters, beside '_', count from 1."""
    if letter == "_":
        return 0
    return ord(letter) - ord("a") if letter.islower() else ord(letter) - ord("A") + 1
