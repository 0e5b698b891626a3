"""Reading of untrusted JSON: one object, whose fields are read by name and checked for type and bounds."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from lns.instances.errors import InputError
from lns.instances.text import printable, quoted


def json_object(text: str) -> dict[str, Any]:
    """Parse a JSON object. Raises InputError for any other text, deep nesting, or numbers of thousands of digits."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}; expected an object"
        raise InputError(message, line=error.lineno) from None
    except RecursionError:
        raise InputError("JSON is nested too deeply; expected one object of numbers and lists") from None
    except ValueError:
        raise InputError("JSON holds a number of thousands of digits; expected numbers that fit a board") from None
    if not isinstance(value, dict):
        raise InputError(f"{describe_found(value)}; expected a JSON object")
    return value


def left_out_fields(names: Iterable[str]) -> tuple[str, ...]:
    """Return a tuple with a note on the fields ``names`` that were not used; an empty tuple if there are none."""
    shown = [printable(name, 20) for name in names]
    return (f"left out: {', '.join(shown[:8])}{', …' * (len(shown) > 8)} of the JSON",) if shown else ()


def describe_found(value: object) -> str:
    """Return "found 'VALUE'" for a message: ``value`` as JSON, cut after 40 characters; words if that is impossible."""
    try:
        return "found " + quoted(json.dumps(value, ensure_ascii=True)[:60])
    except (RecursionError, ValueError):
        return "found something deeply nested or huge"


class JsonFields:
    """The fields of one JSON object, as `json_object` returns it, read by name.

    Every method raises InputError if the field has another type or size than expected, or is missing and no
    ``default`` is given; the message names the field, what was found and what was expected.
    """

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values
        self.used: set[str] = set()  # names of the fields that were read

    def get(self, name: str, default: Any = None) -> Any:
        """Return the field ``name`` without a check of its type or size."""
        self.used.add(name)
        if name not in self.values and default is None:
            raise InputError(f"no field '{name}'; expected it in the JSON object")
        return self.values.get(name, default)

    def integer(self, name: str, low: int, high: int, default: int | None = None) -> int:
        """Return the field ``name``, which must be a whole number from ``low`` to ``high``."""
        return bounded_integer(self.get(name, default), low, high, f"'{name}'")

    def number(self, name: str, low: float, high: float) -> float:
        """Return the field ``name``, which must be a finite number from ``low`` to ``high``."""
        value = self.get(name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (is_number and low <= value <= high and math.isfinite(value)):
            raise InputError(f"'{name}': {describe_found(value)}; expected a number from {low:g} to {high:g}")
        return float(value)

    def text(self, name: str, limit: int, default: str | None = None) -> str:
        """Return the field ``name``, which must be a text of at most ``limit`` characters."""
        value = self.get(name, default)
        if not isinstance(value, str) or len(value) > limit:
            raise InputError(f"'{name}': {describe_found(value)}; expected a text of at most {limit} characters")
        return value

    def boolean(self, name: str, default: bool | None = None) -> bool:
        """Return the field ``name``, which must be true or false."""
        value = self.get(name, default)
        if not isinstance(value, bool):
            raise InputError(f"'{name}': {describe_found(value)}; expected true or false")
        return value

    def array(self, name: str, length: int | None = None, default: list[Any] | None = None) -> list[Any]:
        """Return the field ``name``, which must be a list; of exactly ``length`` entries if that is given."""
        value = self.get(name, default)
        if not isinstance(value, list):
            raise InputError(f"'{name}': {describe_found(value)}; expected a list")
        if length is not None and len(value) != length:
            raise InputError(f"'{name}' has {len(value)} entries; expected {length}")
        return value

    def integers(self, name: str, low: int, high: int, default: list[Any] | None = None) -> list[int]:
        """Return the field ``name``, which must be a list of whole numbers from ``low`` to ``high``."""
        entries = enumerate(self.array(name, default=default))
        return [bounded_integer(entry, low, high, f"entry {at} of '{name}'") for at, entry in entries]

    def rows(
        self, name: str, bounds: list[tuple[int, int]], names: str, length: int | None = None, each: str = "entry"
    ) -> list[list[int]]:
        """Return the field ``name``, a list of lists that `bounded_row` checks; [] if missing and ``length`` is None.

        Messages call an inner list ``each`` with the index of that list, and the numbers in it ``names``.
        """
        entries = enumerate(self.array(name, length, [] if length is None else None))
        return [bounded_row(entry, bounds, f"{each} {at} of '{name}'", names) for at, entry in entries]


def bounded_integer(value: object, low: int, high: int, what: str) -> int:
    """Return ``value`` if it is a whole number from ``low`` to ``high``; else raise InputError about ``what``."""
    if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
        return value
    raise InputError(f"{what}: {describe_found(value)}; expected a whole number from {low} to {high}")


def bounded_row(value: object, bounds: list[tuple[int, int]], what: str, names: str) -> list[int]:
    """Return ``value`` if it is a list of whole numbers, each within its own ``bounds``; else raise InputError.

    The message calls the list ``what`` and its numbers ``names``, such as 'piece, rotation'.
    """
    if not isinstance(value, list) or len(value) != len(bounds):
        raise InputError(f"{what}: {describe_found(value)}; expected [{names}]")
    return [bounded_integer(entry, *bound, what) for entry, bound in zip(value, bounds, strict=True)]
