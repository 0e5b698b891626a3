"""JSON from outside: one object, its fields taken one by one, each bounded."""

from __future__ import annotations

import json
import math
from typing import Any

from lns_support.errors import InputError
from lns_support.text import quoted


def json_object(text: str) -> dict[str, Any]:
    """The object that ``text`` holds. Raises InputError for anything else, however nested or long its numbers."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}; expected an object", line=error.lineno
        ) from None
    except RecursionError:
        raise InputError("JSON nested too deeply; expected one object of numbers and lists") from None
    except ValueError:
        raise InputError("a number of thousands of digits; expected numbers that fit a board") from None
    if not isinstance(value, dict):
        raise InputError(f"{describe_found(value)}; expected a JSON object")
    return value


def describe_found(value: object) -> str:
    """``value`` for a message."""
    try:
        return "found " + quoted(json.dumps(value, ensure_ascii=True)[:60])
    except (RecursionError, ValueError):
        return "found something deeply nested or huge"


class JsonFields:
    """The fields of one JSON object. Every getter raises InputError naming the field, what was found and expected."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def get(self, name: str) -> Any:
        if name not in self._values:
            raise InputError(f"no field '{name}'; expected it in the JSON object")
        return self._values[name]

    def integer(self, name: str, low: int, high: int) -> int:
        return bounded_integer(self.get(name), low, high, f"'{name}'")

    def number(self, name: str, low: float, high: float) -> float:
        value = self.get(name)
        if (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and low <= value <= high
            and math.isfinite(value)
        ):
            return float(value)
        raise InputError(f"'{name}': {describe_found(value)}; expected a number from {low:g} to {high:g}")

    def text(self, name: str, limit: int, default: str | None = None) -> str:
        value = self._values.get(name, default) if default is not None else self.get(name)
        if isinstance(value, str) and len(value) <= limit:
            return value
        raise InputError(f"'{name}': {describe_found(value)}; expected a text of at most {limit} characters")

    def array(self, name: str, length: int | None = None, default: list[Any] | None = None) -> list[Any]:
        value = self._values.get(name, default) if default is not None else self.get(name)
        if not isinstance(value, list):
            raise InputError(f"'{name}': {describe_found(value)}; expected a list")
        if length is not None and len(value) != length:
            raise InputError(f"'{name}' has {len(value)} entries; expected {length}")
        return value


def bounded_integer(value: object, low: int, high: int, what: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
        return value
    raise InputError(f"{what}: {describe_found(value)}; expected a whole number from {low} to {high}")


def bounded_row(value: object, bounds: list[tuple[int, int]], what: str, names: str) -> list[int]:
    """A list of bounded integers of fixed length, such as [piece, rotation]."""
    if not isinstance(value, list) or len(value) != len(bounds):
        raise InputError(f"{what}: {describe_found(value)}; expected [{names}]")
    return [bounded_integer(entry, *bound, what) for entry, bound in zip(value, bounds, strict=True)]
