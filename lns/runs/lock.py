"""The lock of a run directory, for one process at a time, released by the system when that process ends."""

from __future__ import annotations

import json
import logging
import os
import socket
import tempfile
import time
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from lns.exact.file_lock import try_lock
from lns.instances.errors import InputError
from lns.instances.files import open_to_read, read_text
from lns.instances.json_values import json_object
from lns.runs.files import LOCK, STATUS, from_json, open_regular, utc_now

log = logging.getLogger("lns")

OBSERVATION_S = 12.0  # time to see whether status.json changes: longer than two heartbeats
LEFT_BEHIND_S = 60.0  # a status.json of this age is no longer written by any process
STALE_FILE_S = 3600.0  # a temporary file of this age is abandoned; long, as the clocks of machines differ


@dataclass(frozen=True)
class Holder:
    """The process that holds a lock."""

    pid: Annotated[int, 1, 2**31 - 1]
    host: str  # name of the machine
    boot: str  # id of the machine's last start; "" if unknown
    started: str  # start of the process in clock ticks, to recognise a pid that is used again; "" if unknown
    since: str  # date and time at which it took the lock, UTC
    space: str = ""  # pid namespace, as containers may share the host's name; "" if unknown

    @classmethod
    def me(cls) -> Holder:
        """Return the holder that describes this process."""
        return cls(os.getpid(), socket.gethostname(), _boot(), _started(os.getpid()), utc_now(), _space())

    @property
    def is_here(self) -> bool:
        """Whether the process has this host, boot and pid namespace."""
        return self.host == socket.gethostname() and self.boot == _boot() and self.space in ("", _space())

    @property
    def is_elsewhere(self) -> bool:
        """Whether the process cannot be observed: it belongs to another machine or to another container."""
        return self.host != socket.gethostname() or (self.boot == _boot() and not self.is_here)

    @property
    def is_alive(self) -> bool:
        """Whether the process runs; known only if `is_here`."""
        return self.is_here and process_is_alive(self.pid) and self.started in ("", _started(self.pid))

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host[:60]} since {self.since[:30]}"


def read_holder(directory: Path) -> Holder | None:
    """Return the process that the lock file names, alive or crashed; None if the file names none or is unreadable."""
    try:
        holder: Holder = from_json(Holder, json_object(read_text(directory / LOCK)), LOCK)
    except InputError:
        return None
    return holder


class Lock:
    """The lock of a run directory, held until `close`. Raises InputError if another process holds it."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / LOCK
        holder = read_holder(directory)
        in_use = f"a run is under way here ({holder or 'another process'})"
        if self._path.is_file() and self._path.lstat().st_nlink > 1 and not is_free(directory):  # else we lock a copy
            raise InputError(in_use, directory)
        self._file = open_regular(self._path, os.O_RDWR)
        try:
            locked = try_lock(self._file)
            if locked is False or (locked is None and holder is not None and holder.is_alive):
                raise InputError(f"{in_use}; watch it, or stop it with `lns stop`", directory)
            if holder is not None and holder.is_elsewhere:
                log.warning("the lock names %s, which cannot be seen from here: looking whether its run still writes",
                            holder)  # fmt: skip
                if is_held_elsewhere(directory):
                    raise InputError(f"{in_use}: {STATUS} still changes", directory)
            self.stale = holder  # process of a crashed last session; None after a new one begins
            self._write(Holder.me())
            clear_temporaries(directory)
        except BaseException:
            self._file.close()
            raise

    def is_in_place(self) -> bool:
        """Whether the locked file is still the one in the directory, so that the directory was not replaced."""
        try:
            return os.path.samestat(self._path.lstat(), os.fstat(self._file.fileno()))
        except (OSError, ValueError):  # the file was removed, or the lock released
            return False

    def close(self) -> None:
        """Release the lock. The file stays, empty: after a removal two processes could lock two files of this name.

        If this session has not begun its search, the file names the crashed process again.
        """
        with closing(self._file):
            if not self._file.closed:
                self._write(self.stale)

    def _write(self, holder: Holder | None) -> None:
        self._file.seek(0)
        self._file.write(b"" if holder is None else json.dumps(asdict(holder)).encode())
        self._file.truncate()
        os.fsync(self._file.fileno())


def is_free(directory: Path) -> bool:
    """Whether the system reports that no process of this machine holds the lock; the file may still name one."""
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

    Waits up to 12 s for a write if status.json is less than a minute old. The age is measured against a file made now
    in the same directory, as the clocks of machines differ.
    """
    holder = read_holder(directory)
    if holder is None or not holder.is_elsewhere:
        return False
    with suppress(OSError), tempfile.NamedTemporaryFile(dir=directory, prefix=".lns-", suffix=".tmp") as probe:
        if os.fstat(probe.fileno()).st_mtime - (directory / STATUS).stat().st_mtime > LEFT_BEHIND_S:
            return False
    stamps, end = set[tuple[int, int]](), time.monotonic() + OBSERVATION_S
    while time.monotonic() < end and len(stamps) < 2:
        with suppress(OSError):
            status = (directory / STATUS).stat()
            stamps.add((status.st_mtime_ns, status.st_ino))
        time.sleep(0.2)
    return len(stamps) > 1


def process_is_alive(pid: int) -> bool:
    """Whether the process ``pid`` of this machine runs; False for a zombie."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return _stat(pid)[:1] != ["Z"]


def _started(pid: int) -> str:
    """Return the start of a process, in clock ticks since the start of the machine; "" if unknown."""
    return "".join(_stat(pid)[19:20])


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat after the name of the program; the first is the state."""
    return _read(f"/proc/{pid}/stat").rpartition(")")[2].split()


def _boot() -> str:
    return _read("/proc/sys/kernel/random/boot_id").strip()


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""


def _space() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""
