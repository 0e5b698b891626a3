"""Text from outside: made fit for a message, and read as bounded integers."""

from __future__ import annotations

import re

from lns_support.errors import InputError

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")  # ASCII digits only, and few enough to be compared at once


def quoted(text: str, limit: int = 40) -> str:
    """``text`` for a message: quoted, control characters escaped, shortened."""
    return f"'{printable(text, limit)}'"


def printable(text: str, limit: int = 300) -> str:
    """``text`` without control characters (escaped) and not longer than a message bears."""
    cut = text if len(text) <= limit else text[:limit] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)


def parse_integer(token: str, low: int, high: int, what: str, line: int | None = None) -> int:
    """The number that ``token`` writes in ASCII digits. Raises InputError when it is none or out of bounds."""
    if _INTEGER.fullmatch(token):
        value = int(token)
        if low <= value <= high:
            return value
    raise InputError(f"{what} is {quoted(token)}; expected a whole number from {low} to {high}", line=line)
