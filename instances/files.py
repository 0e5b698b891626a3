"""Reading of untrusted files up to a size limit, and atomic writing of files."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from lns.instances.errors import InputError
from lns.instances.text import printable

EXPECTED_FILE = "expected the name of a file"  # end of error messages about a path that names no file
_COMMENT = re.compile(r"(?<!\S)(?:#|//|(?<![^\r\n])(?:[;%]|c[ \t]))[^\r\n]*", re.ASCII)
_LATIN_1 = {0xDC00 + byte: byte for byte in range(0x80, 0x100)}  # surrogate for an undecodable byte -> that byte
MAX_BYTES = 4 * 2**20  # most bytes of an input file: about 50 times as many as a board of 4096 cells needs


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a file, read by `read_bytes` and decoded by `decode`."""
    return decode(read_bytes(path), printable(os.fspath(path)))


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a regular file of at most 4 MiB. Raises InputError for any other file."""
    where = printable(os.fspath(path))
    try:
        with open_to_read(path) as file:
            data = file.read(MAX_BYTES + 1) or b""  # None: no data yet, as in /proc/kmsg
            size = max(len(data), os.fstat(file.fileno()).st_size)
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(_reason(error), where) from None
    if size > MAX_BYTES:
        raise InputError(f"the file has {size} bytes; expected at most {MAX_BYTES}", where)
    return data


def open_to_read(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a regular file of any size for reading.

    The call never waits: neither for a writer of a pipe, nor for data of a kernel file such as /proc/kmsg.
    Raises InputError for a pipe, a device or a directory, and OSError if the file cannot be opened.
    """
    mode = Path(path).stat().st_mode
    if not stat.S_ISREG(mode):
        kind = "a directory; expected a file" if stat.S_ISDIR(mode) else "a pipe or a device; expected a regular file"
        raise InputError(f"this is {kind}", printable(os.fspath(path)))
    return open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)), "rb")  # noqa: PTH123


def decode(data: bytes, source: str) -> str:
    """Decode UTF-8 text, or UTF-16 text that begins with a byte order mark, of a file that messages call ``source``.

    In comments, bytes that are not UTF-8 are taken as Latin-1. Line ends become ``\\n``, and a byte order mark is
    removed. Raises InputError if the data hold a NUL byte or are in neither encoding.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            data = data.decode("utf-16").encode()
        except UnicodeError:
            raise InputError("the file begins like UTF-16 text and is none; expected UTF-8 text", source) from None
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise InputError("the file holds a NUL byte (binary, or UTF-16 text); expected UTF-8 text", source, line)
    text = data.decode(errors="surrogateescape").removeprefix("\ufeff")
    if not text.isascii():
        text = _COMMENT.sub(lambda comment: comment[0].translate(_LATIN_1), text)
    if wrong := re.search("[\udc80-\udcff]", text):
        line = text.count("\n", 0, wrong.start()) + 1
        raise InputError(f"byte 0x{_LATIN_1[ord(wrong[0])]:02x} is not UTF-8; expected UTF-8 text", source, line)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _reason(error: OSError | ValueError) -> str:
    """Return the part of an error message that says why a file cannot be read."""
    if not isinstance(error, OSError):
        return f"this is no name of a file; {EXPECTED_FILE}"
    return {
        errno.ENOENT: f"no such file; {EXPECTED_FILE}",
        errno.ENOTDIR: "no such file; a part of the path is a file, not a folder",
        errno.EACCES: "no permission to read this file",
        errno.EPERM: "no permission to read this file",
        errno.ELOOP: "the symbolic links form a loop; expected a file",
        errno.ENAMETOOLONG: f"the name is too long; {EXPECTED_FILE}",
    }.get(error.errno or 0, f"cannot be read: {error.strerror or error}")


def atomic_write(path: str | os.PathLike[str], data: str | bytes) -> None:
    """Write ``data`` to a file as `atomic_file` does; text is encoded as UTF-8."""
    with atomic_file(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)


@contextmanager
def atomic_file(path: str | os.PathLike[str], encoding: str | None = None) -> Iterator[IO[Any]]:
    """Yield a file to write to; readers of ``path`` see either its old content or its whole new content.

    The data goes to a temporary file in the same folder, which then replaces the target; file and folder are synced to
    disk. A symbolic link is replaced, not followed. The file takes text if ``encoding`` is given, else bytes. Raises
    OSError, which names ``path``, if writing fails; an old file is then unchanged, and no temporary file is left.
    """
    target = Path(path)
    # this is not the target's name with a suffix, as the target's name may already have the most bytes allowed, 255
    temporary = target.parent / f".lns-{os.getpid()}-{os.urandom(4).hex()}.tmp"
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    try:
        with temporary.open("xb" if encoding is None else "x", encoding=encoding) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from error
    finally:
        with suppress(OSError):  # the temporary file is gone if it has replaced the target
            temporary.unlink()


def write_output(path: str | os.PathLike[str], data: str | bytes) -> None:
    """Write ``data`` as `atomic_write` does, but to the file behind ``path`` if that is a symbolic link."""
    atomic_write(behind_links(path), data)


def behind_links(path: str | os.PathLike[str]) -> Path:
    """Return the file that a symbolic link leads to, which need not exist; ``path`` itself if it is no link."""
    return Path(os.path.realpath(path)) if Path(path).is_symlink() else Path(path)


def sync_folder(folder: Path) -> None:
    """Sync a folder to disk, so that a renaming in it survives a crash; do nothing where folders cannot be synced."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def is_new_or_empty(folder: Path) -> bool:
    """Return whether ``folder`` does not exist yet, or is an empty directory."""
    return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
