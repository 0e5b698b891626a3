"""One run at a time in a directory: a lock that the system releases with the process, and says who holds it."""

from __future__ import annotations

import json
import os
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from lns.runs.files import LOCK, STATUS, open_regular, utc_now
from lns_support.errors import InputError
from lns_support.file_lock import try_lock
from lns_support.files import read_text
from lns_support.json_values import JsonFields, json_object
from lns_support.text import printable

SIGNS_OF_LIFE_S = 12.0  # longer than two beats of status.json
LEFT_BEHIND_S = 3600.0  # a temporary file lives for moments; clocks of machines that share a disk may differ


@dataclass(frozen=True)
class Holder:
    """The process that holds a lock. ``boot``, ``started``: so that a pid used again is told apart; "" if unknown.

    ``space``: where its pid counts, since containers may share a host's name; "" if unknown.
    """

    pid: int
    host: str
    boot: str
    started: str
    since: str
    space: str = ""

    @classmethod
    def me(cls) -> Holder:
        return cls(os.getpid(), socket.gethostname(), _boot(), _started(os.getpid()), utc_now(), _space())

    @property
    def is_here(self) -> bool:
        """Whether the process is, or was, of this machine since it was last started, and its pid counts here."""
        return self.host == socket.gethostname() and self.boot == _boot() and self.space in ("", _space())

    @property
    def is_elsewhere(self) -> bool:
        """Whether nothing is known here of the process: of another machine, or of another container on this one."""
        return self.host != socket.gethostname() or (self.boot == _boot() and not self.is_here)

    @property
    def is_alive(self) -> bool:
        """Whether the process runs; only known where `is_here`."""
        return self.is_here and process_is_alive(self.pid) and (not self.started or _started(self.pid) == self.started)

    def __str__(self) -> str:
        return f"process {self.pid} on {printable(self.host, 60)} since {printable(self.since, 30)}"


def read_holder(directory: Path) -> Holder | None:
    """Who holds the lock, or held it when the machine went down; None when it is free. Never raises."""
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
    """Holds a run directory while open. Raises InputError when another process holds it."""

    def __init__(self, directory: Path) -> None:
        self._file = open_regular(directory / LOCK, os.O_RDWR)
        holder = read_holder(directory)
        grasped = try_lock(self._file)
        # without its start a pid may be used again: then the lock of the system is believed, where there is one
        lives = holder is not None and holder.is_alive and (grasped is None or holder.started != "")
        if grasped is False or lives:
            self._file.close()
            who = str(holder) if holder is not None else "another process"
            raise InputError(f"a run is under way here ({who}); watch it, or stop it with `lns stop`", directory)
        if holder is not None and holder.is_elsewhere and _shows_life(directory):
            self._file.close()
            raise InputError(f"a run is under way here ({holder}): {STATUS} still changes", directory)
        self.stale = holder  # of a session that did not end in order; None once another has begun
        self._write(json.dumps(Holder.me().__dict__))
        clear_temporaries(directory)

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()

    def release(self) -> None:
        """The file stays, empty: removing it would let two processes hold locks on two files of that name.

        A holder that died is named there again, for whoever comes next.
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


def clear_temporaries(directory: Path) -> None:
    """Remove what killed processes left of files that they were writing. To be called under the directory's lock."""
    for path in directory.glob(".lns-*.tmp"):
        with suppress(OSError):
            if time.time() - path.lstat().st_mtime > LEFT_BEHIND_S:
                path.unlink()


def is_held_elsewhere(directory: Path) -> bool:
    """Whether a process of which nothing is known here holds the lock and still writes; takes up to 12 s to say no."""
    holder = read_holder(directory)
    return holder is not None and holder.is_elsewhere and _shows_life(directory)


def _shows_life(directory: Path) -> bool:
    """Whether a run on another machine still writes here: its beat is watched, since clocks may differ."""
    heartbeat = directory / STATUS
    end = time.monotonic() + SIGNS_OF_LIFE_S
    first = _stamp(heartbeat)
    while time.monotonic() < end:
        time.sleep(0.2)
        if _stamp(heartbeat) != first:
            return True
    return False


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_ino


def process_is_alive(pid: int) -> bool:
    """Whether a process of this machine runs; the dead that nobody has buried do not."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return _stat(pid)[:1] != ["Z"]


def _started(pid: int) -> str:
    """When a process started, in ticks since the machine did; "" where the system does not say."""
    fields = _stat(pid)
    return fields[19] if len(fields) > 19 else ""


def _stat(pid: int) -> list[str]:
    """/proc/PID/stat after the name (which may hold spaces): state first."""
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
