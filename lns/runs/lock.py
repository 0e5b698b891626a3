"""The lock of a run directory: one process at a time. The system releases it with the process; the file names it."""

from __future__ import annotations

import json
import logging
import os
import socket
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from lns.runs.files import LOCK, STATUS, open_regular, utc_now
from lns_support.errors import InputError
from lns_support.file_lock import try_lock
from lns_support.files import open_to_read, read_text
from lns_support.json_values import JsonFields, json_object
from lns_support.text import printable

log = logging.getLogger("lns")

OBSERVATION_S = 12.0  # longer than two heartbeats (status.json)
LEFT_BEHIND_S = 60.0  # age of a status.json that no process writes any more
STALE_FILE_S = 3600.0  # age of an abandoned temporary file; generous, as the clocks of machines differ


@dataclass(frozen=True)
class Holder:
    """The process that holds a lock."""

    pid: int
    host: str  # name of the machine
    boot: str  # id of the machine's last start; "" if unknown
    started: str  # start of the process in clock ticks, to recognise a pid that is used again; "" if unknown
    since: str  # time of day at which it took the lock, UTC
    space: str = ""  # pid namespace, as containers may share the host's name; "" if unknown

    @classmethod
    def me(cls) -> Holder:
        """This process."""
        return cls(os.getpid(), socket.gethostname(), _boot(), _started(os.getpid()), utc_now(), _space())

    @property
    def is_here(self) -> bool:
        """Whether the process belongs to this machine since its last start, and to this pid namespace."""
        return self.host == socket.gethostname() and self.boot == _boot() and self.space in ("", _space())

    @property
    def is_elsewhere(self) -> bool:
        """Whether the process cannot be observed: it belongs to another machine or to another container."""
        return self.host != socket.gethostname() or (self.boot == _boot() and not self.is_here)

    @property
    def is_alive(self) -> bool:
        """Whether the process runs; known only if `is_here`."""
        return self.is_here and process_is_alive(self.pid) and (not self.started or _started(self.pid) == self.started)

    def __str__(self) -> str:
        return f"process {self.pid} on {printable(self.host, 60)} since {printable(self.since, 30)}"


def read_holder(directory: Path) -> Holder | None:
    """The process that holds the lock, or held it when the machine went down; None if it is free or unreadable."""
    try:
        text = read_text(directory / LOCK)
        if not text.strip():
            return None
        fields = JsonFields(json_object(text))
        pid = fields.integer("pid", 1, 2**31 - 1)
        host, boot, started, since = (fields.text(name, 200) for name in ("host", "boot", "started", "since"))
        return Holder(pid, host, boot, started, since, fields.text("space", 200, ""))
    except InputError:
        return None


class Lock:
    """The lock of a run directory, held until `release`.

    Parameters
    ----------
    directory : Path
        Run directory.

    Attributes
    ----------
    stale : Holder or None
        Process of the last session, if that did not end in order; None once another session has begun.

    Raises
    ------
    InputError
        Another process holds the directory.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / LOCK
        if self._path.is_file() and self._path.lstat().st_nlink > 1 and not is_free(directory):  # no copy takes a lock
            raise InputError(f"a run is under way here ({read_holder(directory) or 'another process'})", directory)
        self._file = open_regular(self._path, os.O_RDWR)
        try:
            self.stale = self._take(directory)
        except BaseException:
            self._file.close()
            raise

    def _take(self, directory: Path) -> Holder | None:
        """Take the lock; the holder that it names if the last session did not end in order."""
        holder = read_holder(directory)
        locked = try_lock(self._file)
        # if its start is unknown, the pid may be used again: the lock of the system decides then, where there is one
        alive = holder is not None and holder.is_alive and (locked is None or holder.started != "")
        if locked is False or alive:
            who = str(holder) if holder is not None else "another process"
            raise InputError(f"a run is under way here ({who}); watch it, or stop it with `lns stop`", directory)
        if holder is not None and holder.is_elsewhere and not _was_left_behind(directory):
            log.warning(
                "the lock names %s, which cannot be seen from here: looking for up to %.0f s whether its run still "
                "writes", holder, OBSERVATION_S,
            )  # fmt: skip
            if _still_writes(directory):
                raise InputError(f"a run is under way here ({holder}): {STATUS} still changes", directory)
        self._write(json.dumps(Holder.me().__dict__))
        clear_temporaries(directory)
        return holder

    def is_in_place(self) -> bool:
        """Whether the locked file is still the one in the directory, so that the directory was not replaced."""
        try:
            there, here = self._path.lstat(), os.fstat(self._file.fileno())
        except (OSError, ValueError):  # removed, or released
            return False
        return os.path.samestat(there, here)

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()

    def release(self) -> None:
        """Release the lock. The file stays, empty; if it were removed, two processes could lock two files of its name.

        If this session has not begun, the file names the crashed process again.
        """
        if not self._file.closed:
            try:
                self._write("" if self.stale is None else json.dumps(self.stale.__dict__))
            finally:
                self._file.close()

    def _write(self, text: str) -> None:
        self._file.seek(0)
        self._file.write(text.encode())
        self._file.truncate()
        os.fsync(self._file.fileno())


def is_free(directory: Path) -> bool:
    """Whether the system says that no process of this machine holds the lock, whatever the file names."""
    try:
        with open_to_read(directory / LOCK) as file:
            return try_lock(file) is True
    except (OSError, InputError):
        return False


def clear_temporaries(directory: Path) -> None:
    """Remove the temporary files of killed processes. The caller holds the lock of the directory."""
    for path in directory.glob(".lns-*.tmp"):
        with suppress(OSError):
            if time.time() - path.lstat().st_mtime > STALE_FILE_S:
                path.unlink()


def is_held_elsewhere(directory: Path) -> bool:
    """Whether a process that cannot be observed here holds the lock and still writes.

    Takes up to 12 s if it does not and status.json is less than a minute old.
    """
    holder = read_holder(directory)
    return holder is not None and holder.is_elsewhere and not _was_left_behind(directory) and _still_writes(directory)


def _was_left_behind(directory: Path) -> bool:
    """Whether status.json is much older than a heartbeat.

    Its time is compared with that of a file which is made now in the same directory, not with the clock of this
    machine, as clocks of machines differ.
    """
    age = _age(directory / STATUS)
    return age is not None and age > LEFT_BEHIND_S


def _still_writes(directory: Path) -> bool:
    """Whether status.json changes while it is observed."""
    end = time.monotonic() + OBSERVATION_S
    first = _stamp(directory / STATUS)
    while time.monotonic() < end:
        time.sleep(0.2)
        if _stamp(directory / STATUS) != first:
            return True
    return False


def _age(path: Path) -> float | None:
    """Seconds from the last change of a file until now, by the clock of its file system; None if that is unknown."""
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".lns-", suffix=".tmp") as probe:
            return os.fstat(probe.fileno()).st_mtime - path.stat().st_mtime
    except OSError:
        return None


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_ino


def process_is_alive(pid: int) -> bool:
    """Whether a process of this machine runs; a zombie does not."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return _stat(pid)[:1] != ["Z"]


def _started(pid: int) -> str:
    """Start of a process, in clock ticks since the start of the machine; "" if unknown."""
    fields = _stat(pid)
    return fields[19] if len(fields) > 19 else ""


def _stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat behind the name of the program: the state first."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _space() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
