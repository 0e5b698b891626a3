"""Files of a run directory: names, JSON with a checksum, and opening that never follows a link or waits for a pipe."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import zlib
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from instances.formats.own_json import INSTANCE_COPY
from lns_support.errors import InputError
from lns_support.files import read_text
from lns_support.json_values import JsonFields, json_object

SETTINGS, INSTANCE, PARAMETERS = "run.json", INSTANCE_COPY, "params.toml"
BEST, PICTURE, BOARDS, LOG, REPORT = "best.json", "best.svg", "boards.jsonl", "run.log", "report.html"
CHECKPOINT, PREVIOUS = "checkpoint.npz", "checkpoint.previous.npz"
STATUS, LOCK, STOP = "status.json", "lock", "stop"
STATUS_SCHEMA = 2

_REASONS = {
    "SIGINT": "interrupted by Ctrl-C",
    "SIGTERM": "ended by SIGTERM",
    "SIGHUP": "ended by SIGHUP, as a closed terminal sends it",
    "stopped": "stopped by lns stop",
}
_BLOCK = 2**16  # bytes read at once
MAX_COPIED_BYTES = 2**32  # of a file with a second name; twice the largest log
_SEAL = re.compile(r', "sum": "([0-9a-f]{8})"\}\n?')
_SEAL_LENGTH = len(', "sum": "01234567"}')


def open_regular(path: Path, flags: int, *, create: bool = True) -> IO[bytes]:
    """Open a regular file without buffering; it is created if absent.

    A file with a second name (a hard link, as ``cp -al`` makes it) is replaced by a copy before it is written, so that
    the file of the other name keeps its content.

    Parameters
    ----------
    path : Path
        The file; symbolic links are refused, and pipes are not waited for.
    flags : int
        ``os.O_*`` flags.
    create : bool
        Create an absent file; else FileNotFoundError is raised.

    Returns
    -------
    binary file

    Raises
    ------
    InputError
        The name belongs to something else than a regular file, or the file is too large to be copied.
    OSError
        The file cannot be opened.
    """
    if path.is_symlink():
        raise InputError("is a symbolic link; expected a regular file", path)
    if path.is_dir():
        raise InputError("is a directory; expected a regular file", path)
    extra = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags | (os.O_CREAT if create else 0) | extra, 0o666)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise InputError("is not a regular file; expected one", path)
        if status.st_nlink > 1 and flags & (os.O_WRONLY | os.O_RDWR):
            if status.st_size > MAX_COPIED_BYTES:
                raise InputError(
                    f"has another name too (a hard link) and {status.st_size} bytes, too many to copy; "
                    "expected a file of its own",
                    path,
                )
            copy = _replace_by_copy(path, flags | extra)
            os.close(descriptor)
            descriptor = copy
    except BaseException:
        os.close(descriptor)
        raise
    mode = "ab" if flags & os.O_APPEND else "r+b" if flags & os.O_RDWR else "rb"
    return open(descriptor, mode, buffering=0)  # noqa: PTH123


def _replace_by_copy(path: Path, flags: int) -> int:
    """Replace a file by a copy of it, so that it has no other name; the descriptor of the copy."""
    temporary = path.with_name(f".lns-{os.getpid()}-{os.urandom(4).hex()}.tmp")
    try:
        shutil.copy2(path, temporary, follow_symlinks=False)
        descriptor = os.open(temporary, flags & ~(os.O_CREAT | os.O_EXCL))
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return descriptor


def whole_lines(descriptor: int) -> int:
    """Bytes of a file up to its last line end. What follows is incomplete: its writer was killed."""
    end = os.fstat(descriptor).st_size
    while end > 0:
        begin = max(0, end - _BLOCK)
        newline = os.pread(descriptor, end - begin, begin).rfind(b"\n")
        if newline >= 0:
            return begin + newline + 1
        end = begin
    return 0


def start_of_last_lines(descriptor: int, end: int, lines: int) -> int:
    """Byte at which the last ``lines`` lines before the byte ``end`` begin; ``end`` is the end of a line."""
    position, wanted = end, lines + 1  # the line end before the first of them
    while position > 0:
        begin = max(0, position - _BLOCK)
        block = os.pread(descriptor, position - begin, begin)
        if block.count(b"\n") < wanted:
            wanted -= block.count(b"\n")
            position = begin
            continue
        at = len(block)
        for _ in range(wanted):
            at = block.rindex(b"\n", 0, at)
        return begin + at + 1
    return 0


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte or raise OSError; ``os.write`` may write only a part when the disk fills up."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def seal(values: dict[str, Any]) -> str:
    """One line of JSON whose last field is a checksum (CRC-32) over the text of the others."""
    text = json.dumps(values)
    return f'{text[:-1]}, "sum": "{checksum(text):08x}"}}'


def checksum(text: str) -> int:
    """CRC-32 of a text."""
    return zlib.crc32(text.encode())


def is_sealed(line: str) -> bool:
    """Whether ``line`` ends with the right checksum."""
    seal_found = _SEAL.fullmatch(line, max(0, len(line) - _SEAL_LENGTH))
    return seal_found is not None and int(seal_found[1], 16) == checksum(line[:-_SEAL_LENGTH] + "}")


def unseal(text: str) -> JsonFields:
    """The fields of a text that `seal` wrote. Raises InputError if a character was changed."""
    line = text.rstrip("\n")
    if not is_sealed(line):
        raise InputError("damaged, or changed by hand: wrong checksum")
    return JsonFields(json_object(line))


def read_sealed(path: Path) -> JsonFields:
    """The fields of a file that `seal` wrote. Raises InputError, naming the file, if it is absent or damaged."""
    try:
        return unseal(read_text(path))
    except InputError as error:
        raise error.at(path) from None


def expect_schema(fields: JsonFields, expected: int) -> None:
    """Raises InputError unless the field ``schema`` is the one that this version of lns reads."""
    schema = fields.integer("schema", 0, 10**6)
    if schema != expected:
        raise InputError(f"written by another version of lns (schema {schema}); this version reads schema {expected}")


def utc_now() -> str:
    """The time of day (UTC) as text, to be shown; durations are measured by the monotonic clock."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def parse_time(text: str) -> datetime | None:
    """The time that `utc_now` wrote; None for any other text."""
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None


_UNITS = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))


def format_duration(seconds: float) -> str:
    """A duration as text in its two largest units, such as '8 s', '3 min 20 s', '2 h 3 min' or '6 d 2 h'."""
    whole = round(seconds)
    for (unit, size), (smaller, part) in pairwise(_UNITS):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {unit}" + (f" {rest} {smaller}" if rest else "")
    return f"{whole} s"


def time_ago(text: str) -> str:
    """How long ago the time was that `utc_now` wrote, such as "12 min ago"; "" for any other text."""
    then = parse_time(text)
    if then is None:
        return ""
    seconds = (datetime.now(UTC) - then).total_seconds()
    for unit, size in _UNITS[:-1]:
        if seconds >= size:
            return f"{seconds // size:.0f} {unit} ago"
    return "now" if seconds < 10 else f"{seconds:.0f} s ago"


def local_time(text: str) -> str:
    """The time that `utc_now` wrote, on the clock of this machine, such as "25 Nov 14:05"; any other text as it is."""
    then = parse_time(text)
    return text if then is None else f"{then.astimezone():%d %b %H:%M}".lstrip("0")


def reason_in_words(why: str, *, has_target: bool) -> str:
    """Why a session ended, for a person: signals are named by what sends them.

    ``has_target``: the user gave one; else the target is the best possible score.
    """
    if why == "target reached" and not has_target:
        return "no better board is possible"
    return _REASONS.get(why, why)
