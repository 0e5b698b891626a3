"""The lock of a run directory, held by one process at a time; the system releases it when that process ends."""

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

OBSERVATION_S = 12.0  # seconds to watch whether status.json changes; longer than two intervals of the heartbeat
LEFT_BEHIND_S = 60.0  # age in seconds above which a status.json counts as abandoned
STALE_FILE_S = 3600.0  # age in seconds at which a temporary file counts as abandoned; long, as machines' clocks differ


@dataclass(frozen=True)
class Holder:
    """The process that took a lock, as the lock file describes it; the process may have ended since."""

    pid: Annotated[int, 1, 2**31 - 1]
    host: str  # name of the machine
    boot: str  # id of the machine's last start, given by the system; "" if unknown
    started: str  # start of the process in clock ticks, which tells apart processes of one pid; "" if unknown
    since: str  # date and time (UTC) at which the process took the lock
    space: str = ""  # pid namespace, which tells apart containers of one host name; "" if unknown

    @classmethod
    def me(cls) -> Holder:
        """Return the holder that describes this process."""
        return cls(os.getpid(), socket.gethostname(), _boot(), _started(os.getpid()), utc_now(), _space())

    @property
    def is_here(self) -> bool:
        """Whether the process belongs to this start of this machine and to the pid namespace of the present process."""
        return self.host == socket.gethostname() and self.boot == _boot() and self.space in ("", _space())

    @property
    def is_elsewhere(self) -> bool:
        """Whether the process cannot be observed from here, as it belongs to another machine or another container."""
        return self.host != socket.gethostname() or (self.boot == _boot() and not self.is_here)

    @property
    def is_alive(self) -> bool:
        """Whether the process is known to run; always False unless `is_here`."""
        return self.is_here and process_is_alive(self.pid) and self.started in ("", _started(self.pid))

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host[:60]} since {self.since[:30]}"


def read_holder(directory: Path) -> Holder | None:
    """Return the process that the lock file names, alive or not; None if the file names none or cannot be read."""
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
        # `open_regular` copies a lock file that has a second name; the copy could be locked even if the file is locked
        if self._path.is_file() and self._path.lstat().st_nlink > 1 and not is_free(directory):
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
            self.stale = holder  # process of the last session if it crashed; None once a new search begins
            self._write(Holder.me())
            clear_temporaries(directory)
        except BaseException:
            self._file.close()
            raise

    def is_in_place(self) -> bool:
        """Return whether the directory still has the locked file, and so was not removed or replaced."""
        try:
            return os.path.samestat(self._path.lstat(), os.fstat(self._file.fileno()))
        except (OSError, ValueError):  # the file was removed, or the lock released
            return False

    def close(self) -> None:
        """Release the lock. The lock file stays, empty: if it were removed, two processes could lock different files.

        If the last session crashed and this session has not begun its search, the file names the crashed process again.
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
    """Return whether the system reports that no process of this machine has the lock; the file may still name one."""
    try:
        with open_to_read(directory / LOCK) as file:
            return try_lock(file) is True
    except (OSError, InputError):
        return False


def clear_temporaries(directory: Path) -> None:
    """Remove temporary files older than `STALE_FILE_S`, left by killed processes. The caller holds the lock."""
    for path in directory.glob(".lns-*.tmp"):
        with suppress(OSError):
            if time.time() - path.lstat().st_mtime > STALE_FILE_S:
                path.unlink()


def is_held_elsewhere(directory: Path) -> bool:
    """Return whether a process that cannot be observed here holds the lock and still writes status.json.

    Waits up to 12 s for a write, unless status.json is more than a minute old. The age is the difference to the time of
    a file made now in the same directory, as the clocks of machines differ.
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
    """Return whether the process ``pid`` of this machine runs; False for a zombie."""
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
    """Return the fields of /proc/PID/stat behind the program name, the process state first; [] if it cannot be read."""
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
