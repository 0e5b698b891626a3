"""Append-only files that several processes share and that survive a kill in the middle of a line.

`RunStore` keeps every finished run, so that none is repeated: those of the defaults, of a trial that was killed, of the
validation. `JournalFile` protects the file of optuna in the same way.
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

RunKey = tuple[str, str, int]
"""What identifies a run: (digest of the parameters, sha256 of the puzzle, seed)."""


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


def drop_partial_line(path: Path) -> bool:
    """Cut off what follows the last line end, which a killed process left; whether there was any.

    The caller holds the lock of the file.
    """
    if not path.exists():
        return False
    with path.open("r+b") as file:
        whole = whole_lines(file.fileno())
        if whole == file.seek(0, os.SEEK_END):
            return False
        file.truncate(whole)
        os.fsync(file.fileno())
    log.warning("%s: an incomplete last line was dropped", path)
    return True


class RunStore:
    """The finished runs of a study.

    Parameters
    ----------
    path : Path
        The file, created by the first run; a lock file is kept beside it.

    Raises
    ------
    InputError
        A line of the file is damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = path.with_suffix(".lock")
        self._offset = 0  # bytes read so far
        self.lines = 0  # lines read so far, one for each finished run
        self._runs: dict[RunKey, Trace] = {}
        with locked(self._lock):
            drop_partial_line(path)
        self.refresh()

    def get(self, key: RunKey) -> Trace | None:
        """The run with ``key``, None if there is none."""
        return self._runs.get(key)

    def add(self, key: RunKey, trace: Trace) -> None:
        """Store a run, unless one that is as long is stored already."""
        stored = self._runs.get(key)
        if stored is not None and stored.covers(trace.nodes):
            return
        line = seal(
            {"params": key[0], "puzzle": key[1], "seed": key[2], "best_scores": trace.best_scores, "nodes": trace.nodes,
             "exhausted": trace.exhausted, "seconds": trace.seconds, "wall_s": trace.wall_s,
             "expected_scores": trace.expected_scores}
        )  # fmt: skip
        with locked(self._lock):
            _append(self._path, line + "\n", durable=True)
        self._runs[key] = trace

    def refresh(self) -> None:
        """Read what other processes have added. Raises InputError with the number of a damaged line."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._offset)
            for raw in file:
                if not raw.endswith(b"\n"):
                    break  # another process is writing it
                self._offset += len(raw)
                self.lines += 1
                self._store_line(raw.decode(errors="replace").rstrip("\n"))

    def _store_line(self, line: str) -> None:
        try:
            key, trace = _parse(line)
        except InputError as error:
            raise error.at(self._path, self.lines) from None
        stored = self._runs.get(key)
        if stored is None or not stored.covers(trace.nodes):
            self._runs[key] = trace


def _parse(line: str) -> tuple[RunKey, Trace]:
    fields = unseal(line)
    key = fields.text("params", 64), fields.text("puzzle", 64), fields.integer("seed", 0, 2**63)
    best_scores = tuple((int(score), int(at)) for score, at in fields.array("best_scores"))
    nodes, exhausted = fields.integer("nodes", 0, 2**63), bool(fields.get("exhausted"))
    seconds, wall_s = (fields.number(name, 0.0, 1e9) for name in ("seconds", "wall_s"))
    expected_scores = tuple((float(score), int(at)) for score, at in fields.array("expected_scores"))
    trace = Trace(
        best_scores=best_scores, nodes=nodes, exhausted=exhausted, seconds=seconds, wall_s=wall_s,
        expected_scores=expected_scores,
    )  # fmt: skip
    return key, trace


class JournalFile(JournalFileBackend):
    """Optuna's journal in a file. An incomplete last line is dropped before anything is written after it.

    Only the end of a trial is flushed to the disk. What a killed process wrote is safe with the system, and a dozen
    flushes a trial would take longer than the runs of a small study.

    Parameters
    ----------
    path : Path
        The file; a lock file is kept beside it.

    Raises
    ------
    InputError
        A line is no record of a journal; the message has its number.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._guard = path, path.with_suffix(".lock")
        with locked(self._guard):
            drop_partial_line(path)
            _check(path)
        super().__init__(str(path))

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        text = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in logs)
        with locked(self._guard):
            _append(self._path, text, durable=any("state" in record for record in logs))


def _append(path: Path, text: str, *, durable: bool) -> None:
    """Append ``text``, and flush it to the disk if ``durable``."""
    drop_partial_line(path)
    with path.open("ab", buffering=0) as file:
        write_all(file.fileno(), text.encode())
        if durable:
            os.fsync(file.fileno())


def _check(path: Path) -> None:
    """Raise InputError with the number of the first line that is no record of a journal."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            try:
                record = json.loads(raw)
                valid = isinstance(record, dict) and isinstance(record.get("op_code"), int)
            except ValueError:
                valid = False
            if not valid:
                raise InputError("damaged, or no journal of a study; expected a record of optuna", path, number)
