"""The log of a run: run.log in its directory."""

from __future__ import annotations

import contextlib
import logging
import os
from pathlib import Path

from lns.runs.files import LOG, open_regular
from lns_support.errors import InputError
from lns_support.text import escape_controls

MAX_LOG_BYTES = 10 * 2**20  # of run.log, before it is renamed


class SafeFormatter(logging.Formatter):
    """Escapes control characters of the messages, which may name files and operators of a stranger."""

    def format(self, record: logging.LogRecord) -> str:
        return escape_controls(super().format(record))


class RunLog(logging.Handler):
    """Appends the log to run.log in ``directory``. A full disk loses lines of the log and never ends the run.

    A run.log of more than `MAX_LOG_BYTES` becomes run.log.1, in place of an older one.
    """

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self._path = directory / LOG
        try:
            self._file = open_regular(self._path, os.O_WRONLY | os.O_APPEND)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", self._path) from None
        self.setFormatter(SafeFormatter("%(asctime)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(OSError):
            if os.fstat(self._file.fileno()).st_size > MAX_LOG_BYTES:
                self._rotate()
            self._file.write(f"{self.format(record)}\n".encode(errors="backslashreplace"))

    def _rotate(self) -> None:
        """Begin a new file; the old one is kept under another name, unless somebody has removed or renamed it."""
        with contextlib.suppress(FileNotFoundError):
            self._path.replace(self._path.with_name(f"{LOG}.1"))
        old, self._file = self._file, open_regular(self._path, os.O_WRONLY | os.O_APPEND)
        old.close()

    def close(self) -> None:
        self._file.close()
        super().close()
