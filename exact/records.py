"""Runs of an experiment as a CSV, a line each, written as they are made, so that an experiment can be continued."""

from __future__ import annotations

import csv
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from instances.errors import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_R = TypeVar("_R", bound="DataclassInstance")

_KINDS: dict[Any, type[int] | type[float] | type[str]] = {"int": int, "float": float, "str": str}


def append(path: Path, record: DataclassInstance) -> None:
    """Add a line; the header first, where the file is new."""
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, _columns(type(record)), lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(asdict(record))


def read(path: Path, kind: type[_R]) -> list[_R]:
    """The records in the file, none where there is no file yet. Fields of ``kind`` are int, float or str.

    Raises InputError for anything else than such records, and where no file could be made.
    """
    if not path.parent.is_dir():
        raise InputError("there is no such directory", path.parent)
    if not path.exists():
        return []
    kinds = [(field.name, _KINDS[field.type]) for field in fields(kind)]
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        try:
            if reader.fieldnames != _columns(kind):
                raise InputError(
                    f"other columns than expected ({', '.join(_columns(kind))}): these are no such runs, or those of "
                    "an older version; expected a new file",
                    path,
                    1,
                )
            return [kind(**{name: make(line[name]) for name, make in kinds}) for line in reader]
        except (TypeError, UnicodeDecodeError, ValueError, csv.Error) as error:
            if isinstance(error, InputError):
                raise
            raise InputError("this line is no record of a run", path, reader.line_num) from None


def _columns(kind: type[DataclassInstance]) -> list[str]:
    return [field.name for field in fields(kind)]
