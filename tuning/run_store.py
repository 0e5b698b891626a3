"""Append-only files that several processes share and that survive being killed in the middle of a line.

`RunStore` keeps every run that was finished, so that nothing is run twice: not the defaults, not a trial that was
killed
half-way, not the validation. `RunFile` gives optuna's file the same care.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from optuna.storages.journal import JournalFileBackend

from lns.runs.files import open_regular, seal, unseal, whole_lines, write_all
from lns_support.errors import InputError
from tuning.objective import Trace

log = logging.getLogger("lns")

Key = tuple[str, str, int]
"""(digest of the parameters, sha256 of the puzzle, seed) of a run."""


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Only one process at a time; the system lets go when the process dies, however it dies."""
    with open_regular(path, os.O_RDWR) as file:
        try:
            import fcntl
        except ImportError:  # no such locks here: one process a study then
            yield
            return
        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        yield  # closing the file frees the lock


def drop_torn_line(path: Path) -> bool:
    """Cut off what follows the last line end: what a killed process left. To be called under the file's lock."""
    if not path.exists():
        return False
    with path.open("r+b") as file:
        whole = whole_lines(file.fileno())
        if whole == file.seek(0, os.SEEK_END):
            return False
        file.truncate(whole)
        os.fsync(file.fileno())
    log.warning("%s: a torn last line was dropped", path)
    return True


class RunStore:
    """The finished runs of a study, by `Key`; read again as others add to it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = path.with_suffix(".lock")
        self._read_to = 0
        self.lines = 0  # read so far: with each finished run there is one more
        self._runs: dict[Key, Trace] = {}
        with locked(self._lock):
            drop_torn_line(path)
        self.refresh()

    def get(self, key: Key) -> Trace | None:
        return self._runs.get(key)

    def add(self, key: Key, trace: Trace) -> None:
        """Keep a run; the longer one where there is one already."""
        known = self._runs.get(key)
        if known is not None and known.covers(trace.work):
            return
        line = seal(
            {"params": key[0], "puzzle": key[1], "seed": key[2], "rises": trace.rises, "work": trace.work,
             "ended": trace.ended, "seconds": trace.seconds, "wall_s": trace.wall_s, "hopes": trace.hopes}
        )  # fmt: skip
        with locked(self._lock):
            _append(self._path, line + "\n", durable=True)
        self._runs[key] = trace

    def refresh(self) -> None:
        """Take note of what other processes added. Raises InputError naming the line that is damaged."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._read_to)
            for raw in file:
                if not raw.endswith(b"\n"):
                    break  # another process is writing it
                self._read_to += len(raw)
                self.lines += 1
                self._take(raw.decode(errors="replace").rstrip("\n"))

    def _take(self, line: str) -> None:
        try:
            key, trace = _read(line)
        except InputError as error:
            raise error.at(self._path, self.lines) from None
        known = self._runs.get(key)
        if known is None or not known.covers(trace.work):
            self._runs[key] = trace


def _read(line: str) -> tuple[Key, Trace]:
    fields = unseal(line)
    key = fields.text("params", 64), fields.text("puzzle", 64), fields.integer("seed", 0, 2**63)
    rises = tuple((int(score), int(at)) for score, at in fields.array("rises"))
    work, ended = fields.integer("work", 0, 2**63), bool(fields.get("ended"))
    seconds, wall_s = (fields.number(name, 0.0, 1e9) for name in ("seconds", "wall_s"))
    hopes = tuple((float(score), int(at)) for score, at in fields.array("hopes"))
    return key, Trace(rises, work, ended, seconds, wall_s, hopes)


class RunFile(JournalFileBackend):
    """Optuna's journal in a file. A torn last line is dropped before anything is written after it.

    Only the end of a trial waits for the disk: what a killed process wrote is safe with the system, and a dozen waits
    a trial would cost more than the runs of a small study. Raises InputError naming the first line that is no record.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._guard = path, path.with_suffix(".lock")
        with locked(self._guard):
            drop_torn_line(path)
            _check(path)
        super().__init__(str(path))

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        text = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in logs)
        with locked(self._guard):
            _append(self._path, text, durable=any("state" in record for record in logs))


def _append(path: Path, text: str, *, durable: bool) -> None:
    drop_torn_line(path)
    with path.open("ab", buffering=0) as file:
        write_all(file.fileno(), text.encode())
        if durable:
            os.fsync(file.fileno())


def _check(path: Path) -> None:
    """Raises InputError naming the first line that is no record of a journal."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            try:
                record = json.loads(raw)
                whole = isinstance(record, dict) and isinstance(record.get("op_code"), int)
            except ValueError:
                whole = False
            if not whole:
                raise InputError("damaged, or no journal of a study; expected a record of optuna's", path, number)
