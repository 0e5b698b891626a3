"""Records in a CSV file, appended one by one, so that an interrupted experiment can be continued.

A record is an instance of a dataclass whose fields are of type int, float or str.
"""

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

_FIELD_TYPES: dict[Any, type[int] | type[float] | type[str]] = {"int": int, "float": float, "str": str}


def append(path: Path, record: DataclassInstance) -> None:
    """Append a record to a file.

    Parameters
    ----------
    path : Path
        The file; a new or empty one gets a header first.
    record : dataclass instance

    Raises
    ------
    OSError
        If the file cannot be written; it is then unchanged.
    """
    append_row(path, _columns(type(record)), asdict(record))


def append_row(path: Path, columns: Sequence[str], row: Mapping[str, object]) -> None:
    """Append a row to a file, on a line of its own even if the last line was cut off.

    Parameters
    ----------
    path : Path
        The file; a new or empty one gets a header first.
    columns : sequence of str
        All columns, in order.
    row : mapping of str to object
        A value for each column.

    Raises
    ------
    OSError
        If the file cannot be written, which is then unchanged; it names ``path``.
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
        except OSError as error:
            file.truncate(size)
            raise OSError(error.errno, error.strerror, str(path)) from error


def check_appendable(path: Path) -> None:
    """Open a file as `append` will, before a long run whose records go there. A new file is not left behind.

    Raises
    ------
    OSError
        If nothing can be appended; it names ``path``.
    """
    is_new = not path.exists()
    path.open("ab").close()
    if is_new:
        path.unlink()


def read(path: Path, record_type: type[_R]) -> list[_R]:
    """Read all records of a file.

    Parameters
    ----------
    path : Path
    record_type : type
        The dataclass of the records.

    Returns
    -------
    list
        The records in order; empty if the file does not exist or is empty.

    Raises
    ------
    InputError
        If the folder does not exist, the columns are not the fields of ``record_type``, or a line is no such record.
    """
    if not path.parent.is_dir():
        raise InputError("there is no such directory", path.parent)
    if not path.exists() or path.stat().st_size == 0:
        return []
    types = [(field.name, _FIELD_TYPES[field.type]) for field in fields(record_type)]
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        try:
            if reader.fieldnames != _columns(record_type):
                raise InputError(
                    f"other columns than expected ({', '.join(_columns(record_type))}); expected a new file or one "
                    "that this version has written",
                    path,
                    1,
                )
            records = []
            for line in reader:
                if None in line.values() or None in line:
                    raise ValueError("too few fields, or too many")
                records.append(record_type(**{name: convert(line[name]) for name, convert in types}))
            return records
        except (TypeError, UnicodeDecodeError, ValueError, csv.Error) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                "this line is no record of a run; expected a value of the right type for each column",
                path,
                reader.line_num,
            ) from None


def _columns(record_type: type[DataclassInstance]) -> list[str]:
    return [field.name for field in fields(record_type)]
