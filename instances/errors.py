"""The exceptions for input that cannot be used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from typing import Self


class InputError(ValueError):
    """Error for bad input from outside the program, such as a file, a URL or an option.

    ``str(error)`` is ``source:line: ``, if known, and the message. Commands print this text and exit with status 2.

    Parameters
    ----------
    message : str
        One sentence without a final full stop: what was found, and what was expected.
    source : str or path, optional
        The file or URL that holds the input.
    line : int, optional
        Line in the source, counted from 1.
    """

    telling = 0  # if every format refuses a text, only the error with the highest `telling` is shown

    def __init__(self, message: str, source: str | PathLike[str] | None = None, line: int | None = None) -> None:
        self.message = message
        self.source = None if source is None else fspath(source)
        self.line = line
        where = "" if self.source is None else self.source + (f":{line}" if line else "") + ": "
        super().__init__(where + message)

    def at(self, source: str | PathLike[str], line: int | None = None) -> Self:
        """Return this error if it has a source; else a copy with ``source``, and with ``line`` if it has no line."""
        if self.source is not None:
            return self
        return type(self)(self.message, source, line if self.line is None else self.line)


@contextmanager
def named(source: str | PathLike[str], failed: str = "") -> Iterator[None]:
    """Add ``source`` to every InputError that the body of this context raises without a source.

    With ``failed``, such as "cannot be read", turn an OSError into an InputError: ``failed`` and the system's reason.
    """
    try:
        yield
    except InputError as error:
        raise error.at(source) from None
    except OSError as error:
        if not failed:
            raise
        raise InputError(f"{failed}: {error.strerror}", source) from None


class BoardError(InputError):
    """Error for a board that cannot be used, although the puzzle and the options can."""
