"""Files of records that several processes append to, and that survive a kill in the middle of a line.

A line is a JSON object with a checksum and with its place in the file, so a line that was changed, lost or moved is
named. What a killed process left behind the last line end is no line.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from optuna.storages.journal import BaseJournalBackend

from lns.runs.files import is_sealed, open_regular, seal, whole_lines, write_all
from lns_support.errors import InputError
from lns_support.json_values import json_object

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


class RecordFile:
    """A file of records.

    Parameters
    ----------
    path : Path
        The file. It need not exist; links are refused. A lock file is kept beside it.
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
        self._foreign = 0  # bytes of the last lines that were without a place: they may have come while one was written
        with contextlib.nullcontext() if reading else locked(self._lock):
            self._drop_partial_line()

    def new_records(self) -> Iterator[dict[str, Any]]:
        """The records that were not read yet; `lines` is the number of the line of the last one.

        Raises
        ------
        InputError
            A line is damaged; the message has its number.
        """
        file = self._open(os.O_RDONLY)
        if file is None:
            return
        with file, open(os.dup(file.fileno()), "rb") as buffered:  # noqa: PTH123
            buffered.seek(self._offset)
            while (raw := buffered.readline(MAX_LINE + 1)).endswith(b"\n"):
                self.lines += 1
                record = self._record(raw.decode(errors="replace").rstrip("\n"))
                self._offset += len(raw)
                yield record
        if len(raw) > MAX_LINE:
            raise InputError(f"damaged: a line of more than {MAX_LINE} bytes", self.path, self.lines + 1)

    def _record(self, line: str) -> dict[str, Any]:
        try:
            record, sealed = json_object(line), is_sealed(line)
        except InputError:
            raise InputError("damaged: no record", self.path, self.lines) from None
        if not sealed and not self._may_lack_checksum(record):
            raise InputError("damaged, or changed by hand: wrong checksum", self.path, self.lines)
        at = record.get("at") if sealed else self._offset
        if not isinstance(at, int) or not self._offset - self._foreign <= at <= self._offset:
            raise InputError("damaged: lines before this one are missing, added or moved", self.path, self.lines)
        self._foreign = 0 if sealed else self._foreign + len(line.encode()) + 1
        return record

    def _may_lack_checksum(self, record: dict[str, Any]) -> bool:
        return False

    def rewind(self) -> None:
        """Read from the beginning again."""
        self.lines = self._offset = self._foreign = 0

    def append(self, records: list[dict[str, Any]], *, durable: bool) -> None:
        """Append records, and flush them to the disk if ``durable``. An OSError names the file."""
        assert not self.reading, "opened only to be read"
        with locked(self._lock):
            self._drop_partial_line()
            try:
                with open_regular(self.path, os.O_WRONLY | os.O_APPEND) as file:
                    at, data = os.fstat(file.fileno()).st_size, b""
                    for record in records:
                        data += (seal(record | {"at": at + len(data)}) + "\n").encode()
                    write_all(file.fileno(), data)
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

    def _drop_partial_line(self) -> None:
        """Cut off what follows the last line end; only say so if nothing may be changed. The caller holds the lock."""
        file = self._open(os.O_RDONLY if self.reading else os.O_RDWR)
        if file is None:
            return
        with file:
            whole = whole_lines(file.fileno())
            if whole == os.fstat(file.fileno()).st_size:
                return
            if not self.reading:
                file.truncate(whole)
                os.fsync(file.fileno())
        log.warning("%s: an incomplete last line %s", self.path, "is left out" if self.reading else "was dropped")


class JournalFile(RecordFile, BaseJournalBackend):
    """Optuna's journal in a file of records.

    Only the end of a trial is flushed to the disk. What a killed process wrote is safe with the system, and a dozen
    flushes a trial would take longer than the runs of a small study.
    """

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        """The records from number ``log_number_from`` on, counted from 0."""
        if log_number_from < self.lines:
            self.rewind()
        for record in self.new_records():
            if self.lines > log_number_from:
                yield record

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Append records."""
        self.append(logs, durable=any("state" in record for record in logs))

    def _may_lack_checksum(self, record: dict[str, Any]) -> bool:
        """Optuna's own tools write without: a note in its dashboard, for example."""
        return "sum" not in record and {"op_code", "worker_id"} <= record.keys()
