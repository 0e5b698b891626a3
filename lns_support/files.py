"""Files: read with bounds, written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from lns_support.errors import InputError
from lns_support.text import printable

MAX_BYTES = 4 * 2**20  # the largest board takes a fiftieth of it


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a regular file: UTF-8 (a BOM is dropped), line ends as ``\\n``.

    Raises InputError for everything else: no such file, directory, pipe, device, loop of links, no permission,
    over 4 MiB, NUL bytes, UTF-16, not UTF-8. Never waits for a pipe.
    """
    return decode(read_bytes(path), printable(os.fspath(path)))


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Up to 4 MiB of a regular file. Raises InputError as `read_text`."""
    name = os.fspath(path)
    where = printable(name)
    try:
        kind = Path(name).stat()
        if stat.S_ISDIR(kind.st_mode):
            raise InputError("this is a directory; expected a file", where)
        if not stat.S_ISREG(kind.st_mode):
            raise InputError("this is a pipe or a device; expected a regular file", where)
        if kind.st_size > MAX_BYTES:
            raise InputError(f"the file has {kind.st_size} bytes; expected at most {MAX_BYTES}", where)
        with open(os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:  # noqa: PTH123
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(_why(error), where) from None
    if len(data) > MAX_BYTES:
        raise InputError(f"the file has more than {MAX_BYTES} bytes; expected at most that", where)
    return data


def decode(data: bytes, source: str) -> str:
    """UTF-8 text with ``\\n`` line ends. Raises InputError for anything else."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError("the file is UTF-16 text; expected UTF-8", source)
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise InputError("the file holds a NUL byte (binary, or UTF-16 text); expected UTF-8 text", source, line)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"byte 0x{data[error.start]:02x} is not UTF-8; expected UTF-8 text", source, line) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _why(error: OSError | ValueError) -> str:
    if not isinstance(error, OSError):
        return "this is no name of a file; expected a file, a viewer URL or the name of a shipped instance"
    return {
        errno.ENOENT: "no such file; expected a file, a viewer URL or the name of a shipped instance",
        errno.ENOTDIR: "no such file; a part of the path is a file, not a folder",
        errno.EACCES: "no permission to read this file",
        errno.EPERM: "no permission to read this file",
        errno.ELOOP: "the symbolic links form a loop; expected a file",
        errno.ENAMETOOLONG: "the name is too long; expected a file, a viewer URL or the name of a shipped instance",
    }.get(error.errno or 0, f"cannot be read: {error.strerror or error}")


def atomic_write(path: str | os.PathLike[str], data: str | bytes) -> None:
    """Replace the file at ``path`` whole: temporary file in the same folder, fsync, replace, fsync of the folder.

    Whoever reads ``path`` sees the old content or the new, never a part. Raises OSError naming ``path``; the old
    file is then untouched and no temporary file is left. Nothing is written through a link: it is replaced.
    """
    target = Path(path)
    content = data.encode() if isinstance(data, str) else data
    temporary = target.parent / f".lns-{os.getpid()}-{os.urandom(4).hex()}.tmp"  # a target may use all 255 bytes
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)
        try:
            with open(descriptor, "wb") as file:  # noqa: PTH123
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(target.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from error


def sync_folder(folder: Path) -> None:
    """Make the renaming itself durable, where the system lets folders be synced."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)
