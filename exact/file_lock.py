"""Exclusive locks on open files.

The system releases a lock when the last process that has the file open ends, however it ends.
"""

from __future__ import annotations

import errno
import fcntl
from typing import IO


def try_lock(file: IO[bytes]) -> bool | None:
    """Try once to lock an open file; the lock lasts until `unlock`, or until no process has this open file any more.

    Returns True if the file is locked now, False if another process holds the lock, None if the file cannot be locked.
    """
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in (errno.EWOULDBLOCK, errno.EACCES) else None
    return True


def unlock(file: IO[bytes]) -> None:
    """Release the lock that `try_lock` got, also for forked children that inherited the file, and close the file."""
    with file:
        fcntl.flock(file.fileno(), fcntl.LOCK_UN)
