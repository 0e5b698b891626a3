"""Functions for texts: escaping of untrusted text, counts and times in words, and parsing of bounded integers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from lns.instances.errors import InputError

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")  # only ASCII digits, and at most 18, so that int() is fast


def quoted(text: str, limit: int = 40) -> str:
    """Return ``text`` in quotes for a message, cut after ``limit`` characters, with unprintable ones escaped."""
    return f"'{printable(text, limit)}'"


def printable(text: str, limit: int = 300, keep: str = "") -> str:
    """Return ``text``, cut after ``limit`` characters, with unprintable ones escaped except those in ``keep``."""
    cut = text if len(text) <= limit else text[:limit] + "…"
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in cut)


def escape_controls(text: str) -> str:
    """Return ``text`` with all unprintable characters but newlines and tabs escaped, for a terminal, a page or a log.

    Other control characters, escape sequences, bidirectional marks and lone surrogates (from a file name that is not
    UTF-8) are written as in Python strings.
    """
    return text if text.isprintable() else printable(text, len(text), keep="\n\t")


def cut_middle(text: str, width: int) -> str:
    """Return ``text``, shortened to ``width`` characters by an ellipsis in the middle if it is longer."""
    if len(text) <= width:
        return text
    end = (width - 1) // 2
    return f"{text[: width - 1 - end]}…{text[len(text) - end :]}"


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return the message that a name is unknown, with the most similar ``known`` name or, if none is similar, all."""
    names = [*known]
    near = get_close_matches(name, names, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"expected one of {', '.join(names)}"
    return f"unknown {what} '{name}': {hint}"


def count_of(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, such as "1 board" or "2,000 boards"; ``plural`` defaults to the noun with "s"."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def format_seconds(seconds: float) -> str:
    """Return seconds as text, to 3 digits, from 99.95 s on whole: "0.0123 s", "1,234 s"; "under 1 ms" below 0.5 ms."""
    if seconds < 0.0005:
        return "under 1 ms"
    return f"{seconds:,.0f} s" if seconds >= 99.95 else f"{seconds:#.3g} s"


def parse_integer(token: str, low: int, high: int, what: str, line: int | None = None) -> int:
    """Parse a whole number from ``low`` to ``high``: an optional sign and 1 to 18 ASCII digits.

    Raises InputError for other text; the message calls the number ``what`` and names the ``line`` of the source.
    """
    if _INTEGER.fullmatch(token) and low <= int(token) <= high:
        return int(token)
    raise InputError(f"{what} is {quoted(token)}; expected a whole number from {low} to {high}", line=line)
