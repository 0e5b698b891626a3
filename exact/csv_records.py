"""Records in a CSV file, appended one by one, so that an interrupted experiment can be continued.

A record is an instance of a dataclass whose fields are of type int, float or str.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lns.instances.errors import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_R = TypeVar("_R", bound="DataclassInstance")

_FIELD_TYPES: dict[Any, type[int] | type[float] | type[str]] = {"int": int, "float": float, "str": str}


def append_row(path: Path, row: Mapping[str, object]) -> None:
    """Append a row, column -> value, on a line of its own even if the last line was cut off.

    A new or empty file gets a header first. Raises OSError, which names ``path``, if the file cannot be written; it is
    then unchanged.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, [*row], lineterminator="\n")
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
        except OSError as error:
            file.truncate(size)
            raise OSError(error.errno, error.strerror, str(path)) from error


def check_appendable(path: Path) -> None:
    """Open a file as `append_row` will, before a long run. Raises OSError, which names it, if it cannot be opened.

    A new file is not left behind.
    """
    is_new = not path.exists()
    path.open("ab").close()
    if is_new:
        path.unlink()


def read(path: Path, record_type: type[_R]) -> list[_R]:
    """Read all records, of a dataclass, of a file, in order; none if the file does not exist or is empty.

    Raises InputError if the folder does not exist, the columns are not the fields of ``record_type``, or a line is no
    such record.
    """
    if not path.parent.is_dir():
        raise InputError("there is no such directory", path.parent)
    if not path.exists() or path.stat().st_size == 0:
        return []
    types = [_FIELD_TYPES[field.type] for field in fields(record_type)]
    columns, line = [field.name for field in fields(record_type)], 1
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            if next(reader, None) != columns:
                expected = f"({', '.join(columns)}); expected a new file or one that this version has written"
                raise InputError(f"other columns than expected {expected}", path, line)
            records = []
            for values in reader:
                line = reader.line_num
                if values:
                    converted = [convert(value) for convert, value in zip(types, values, strict=True)]
                    records.append(record_type(*converted))
            return records
    except (UnicodeDecodeError, ValueError, csv.Error) as error:
        if isinstance(error, InputError):
            raise
        message = "this line is no record of a run; expected a value of the right type for each column"
        raise InputError(message, path, line) from None
