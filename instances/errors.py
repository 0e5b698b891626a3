"""The exception for input that cannot be used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from typing import Self


class InputError(ValueError):
    """Bad input from outside the program: a file, a URL, an option.

    ``str(error)`` is the message with ``source:line: `` before it. The command line prints it and exits with status 2.

    Parameters
    ----------
    message : str
        One sentence without a final full stop: what was found, and what was expected.
    source : str or path, optional
        The file or URL that holds the input.
    line : int, optional
        Line in the source, counted from 1.
    """

    telling = 0  # of several errors about one text, only the one with the highest number is shown

    def __init__(self, message: str, source: str | PathLike[str] | None = None, line: int | None = None) -> None:
        self.message = message
        self.source = None if source is None else fspath(source)
        self.line = line
        where = "" if self.source is None else self.source + (f":{line}" if line else "") + ": "
        super().__init__(where + message)

    def at(self, source: str | PathLike[str], line: int | None = None) -> Self:
        """Return the same error with ``source``, and with ``line`` unless it has one; itself if it has a source."""
        if self.source is not None:
            return self
        return type(self)(self.message, source, line if self.line is None else self.line)


@contextmanager
def named(source: str | PathLike[str], failed: str = "") -> Iterator[None]:
    """An InputError in this block names the file or URL, if it names none yet.

    With ``failed``, such as "cannot be read", an OSError becomes an InputError that begins so.
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
    """The board cannot be used, although the puzzle and the options can."""
