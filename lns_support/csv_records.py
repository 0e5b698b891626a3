"""Runs of an experiment as a CSV, a line each, written as they are made, so that an experiment can be continued."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lns_support.errors import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_R = TypeVar("_R", bound="DataclassInstance")

_KINDS: dict[Any, type[int] | type[float] | type[str]] = {"int": int, "float": float, "str": str}


def append(path: Path, record: DataclassInstance) -> None:
    """Add a line; the header first, where the file is new."""
    append_row(path, _columns(type(record)), asdict(record))


def append_row(path: Path, columns: Sequence[str], row: Mapping[str, object]) -> None:
    """Add a line of these columns, on a line of its own whatever the last one looks like.

    Raises OSError where the disk refuses; the file is then as before.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    with path.open("ab+", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        if size == 0:
            writer.writeheader()
        else:
            file.seek(size - 1)
            text.write("" if file.read() == b"\n" else "\n")
        writer.writerow(row)
        data = text.getvalue().encode()
        try:
            while data:
                data = data[file.write(data) :]
        except OSError:
            file.truncate(size)
            raise


def read(path: Path, kind: type[_R]) -> list[_R]:
    """The records in the file, none where there is no file yet. Fields of ``kind`` are int, float or str.

    Raises InputError for anything else than such records, and where no file could be made.
    """
    if not path.parent.is_dir():
        raise InputError("there is no such directory", path.parent)
    if not path.exists() or path.stat().st_size == 0:
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
            found = []
            for line in reader:
                if None in line.values() or None in line:
                    raise ValueError("too few fields, or too many")
                found.append(kind(**{name: make(line[name]) for name, make in kinds}))
            return found
        except (TypeError, UnicodeDecodeError, ValueError, csv.Error) as error:
            if isinstance(error, InputError):
                raise
            raise InputError("this line is no record of a run", path, reader.line_num) from None


def _columns(kind: type[DataclassInstance]) -> list[str]:
    return [field.name for field in fields(kind)]
