"""A lock on an open file, which the system releases with the last process that has the file open, however that ends."""

from __future__ import annotations

import errno
from typing import IO


def try_lock(file: IO[bytes]) -> bool | None:
    """Lock the file itself; False when somebody else has, None where the system cannot."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES) else None
    return True


def unlock(file: IO[bytes]) -> None:
    """Unlock a file that `try_lock` has locked, for forked children too, and close it."""
    import fcntl

    with file:
        fcntl.flock(file.fileno(), fcntl.LOCK_UN)
