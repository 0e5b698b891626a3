"""A file of lines that several processes append to, and that survives a kill in the middle of a line."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from lns.runs.files import open_regular, whole_lines, write_all
from lns_support.errors import InputError

log = logging.getLogger("lns")

MAX_BYTES = 2**28  # of a file, about 30,000 trials or 200,000 runs
MAX_LINE = 2**20  # bytes of a line


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on the file ``path``. The system frees it if the process dies."""
    with open_regular(path, os.O_RDWR) as file:
        try:
            import fcntl
        except ImportError:  # no such locks on this system: use one process a study
            yield
            return
        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        yield  # closing the file frees the lock


class AppendFile:
    """A file of lines. What a killed process left behind the last line end is no line.

    Parameters
    ----------
    path : Path
        The file. It need not exist; links are refused.
    reading : bool
        Change nothing: an incomplete last line is left out, but stays in the file.

    Attributes
    ----------
    lines : int
        Number of lines read so far.

    Raises
    ------
    InputError
        The name belongs to something else than a regular file, or the file is too large.
    """

    def __init__(self, path: Path, *, reading: bool = False) -> None:
        self.path, self.reading = path, reading
        self.lines = 0
        self._lock = path.with_suffix(".lock")
        self._offset = 0  # bytes read so far
        if reading:
            self._warn_of_partial_line()
        else:
            with locked(self._lock):
                self._drop_partial_line()

    def new_lines(self) -> Iterator[bytes]:
        """The whole lines that were not read yet; `lines` is the number of the last one."""
        file = self._open(os.O_RDONLY)
        if file is None:
            return
        with file, open(os.dup(file.fileno()), "rb") as buffered:  # noqa: PTH123
            buffered.seek(self._offset)
            while (raw := buffered.readline(MAX_LINE + 1)).endswith(b"\n"):
                self._offset += len(raw)
                self.lines += 1
                yield raw
        if len(raw) > MAX_LINE:
            raise InputError(f"damaged: a line of more than {MAX_LINE} bytes", self.path, self.lines + 1)

    def rewind(self) -> None:
        """Read from the beginning again."""
        self.lines = self._offset = 0

    def append(self, text: str, *, durable: bool) -> None:
        """Append whole lines, and flush them to the disk if ``durable``. An OSError names the file."""
        assert not self.reading, "opened only to be read"
        with locked(self._lock):
            self._drop_partial_line()
            try:
                with open_regular(self.path, os.O_WRONLY | os.O_APPEND) as file:
                    write_all(file.fileno(), text.encode())
                    if durable:
                        os.fsync(file.fileno())
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(self.path)) from error

    def _open(self, flags: int) -> IO[bytes] | None:
        """The file, None if it does not exist. Raises InputError unless it is of a usable size."""
        try:
            file = open_regular(self.path, flags, create=False)
        except FileNotFoundError:
            return None
        size = os.fstat(file.fileno()).st_size
        if size > MAX_BYTES:
            file.close()
            raise InputError(f"has {size} bytes; expected at most {MAX_BYTES}", self.path)
        return file

    def _warn_of_partial_line(self) -> None:
        file = self._open(os.O_RDONLY)
        if file is not None:
            with file:
                if whole_lines(file.fileno()) < os.fstat(file.fileno()).st_size:
                    log.warning("%s: an incomplete last line is left out", self.path)

    def _drop_partial_line(self) -> None:
        """Cut off what follows the last line end. The caller holds the lock of the file."""
        file = self._open(os.O_RDWR)
        if file is None:
            return
        with file:
            whole = whole_lines(file.fileno())
            if whole == os.fstat(file.fileno()).st_size:
                return
            file.truncate(whole)
            os.fsync(file.fileno())
        log.warning("%s: an incomplete last line was dropped", self.path)
