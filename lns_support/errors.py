"""The one exception for input that cannot be used: one sentence, naming file and line where there are any."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Self


class InputError(ValueError):
    """Bad input from outside: a file, a URL, an option.

    ``message`` says what was found and what was expected, in one sentence without a final full stop.
    ``str(error)`` puts ``source:line: `` before it. The command line prints that sentence and exits with 2.
    """

    def __init__(self, message: str, source: str | PathLike[str] | None = None, line: int | None = None) -> None:
        self.message = message
        self.source = None if source is None else fspath(source)
        self.line = line
        where = "" if self.source is None else self.source + (f":{line}" if line else "") + ": "
        super().__init__(where + message)

    def at(self, source: str | PathLike[str], line: int | None = None) -> Self:
        """The same error with its place filled in, where it has none yet."""
        if self.source is not None:
            return self
        return type(self)(self.message, source, line if self.line is None else self.line)


class BoardError(InputError):
    """What cannot be used is the board, as far as the puzzle and the options go."""
