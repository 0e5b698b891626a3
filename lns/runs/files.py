"""Files of a run directory: names, JSON with a checksum, run.log, opening without following links; times in words."""

from __future__ import annotations

import io
import json
import logging
import os
import shutil
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import is_dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import IO, Any, get_args, get_origin, get_type_hints

from lns.instances.errors import InputError, named
from lns.instances.files import read_text
from lns.instances.formats.own_json import INSTANCE_COPY
from lns.instances.json_values import JsonFields, describe_found, json_object
from lns.instances.text import escape_controls, printable

log = logging.getLogger("lns")

SETTINGS, INSTANCE, PARAMETERS = "run.json", INSTANCE_COPY, "params.toml"
BEST, PICTURE, BOARDS, LOG, REPORT = "best.json", "best.svg", "boards.jsonl", "run.log", "report.html"
CHECKPOINT, STATUS, LOCK, STOP = "checkpoint.npz", "status.json", "lock", "stop"
FIRST_FILES = (LOCK, INSTANCE, PARAMETERS, SETTINGS, LOG, STATUS, CHECKPOINT)  # files of a run before its first board
STATUS_SCHEMA = 2
MAX_LOG_BYTES = 10 * 2**20  # most bytes of run.log; it is renamed before it has more
MAX_TEXT, MAX_NUMBER = 200, 2**63 - 1  # longest text and largest number of `from_json`, unless a type sets bounds

_REASONS = {
    "SIGINT": "interrupted by Ctrl-C",
    "SIGTERM": "ended by SIGTERM",
    "SIGHUP": "ended by SIGHUP, as a closed terminal sends it",
    "stopped": "stopped by lns stop",
}
_KINDS = {stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a directory", stat.S_IFIFO: "a pipe"}
_UNITS = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))


def open_regular(path: Path, flags: int, *, create: bool = True) -> IO[bytes]:
    """Open a regular file with ``os.O_*`` flags, without buffering; by default an absent file is created.

    A file with a second name (a hard link, as ``cp -al`` makes it) is replaced by a copy before it is opened to write,
    so that the content under the other name stays. Symbolic links are not followed, pipes not waited for. Raises
    InputError if the path is not a regular file, OSError if it cannot be opened.
    """
    with suppress(FileNotFoundError):
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"is {_KINDS.get(stat.S_IFMT(status.st_mode), 'a device')}; expected a regular file", path)
        if status.st_nlink > 1 and flags & (os.O_WRONLY | os.O_RDWR):
            temporary = path.with_name(f".lns-{os.getpid()}-{os.urandom(4).hex()}.tmp")
            try:
                shutil.copy2(path, temporary, follow_symlinks=False)
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags | (os.O_CREAT if create else 0), 0o666)
    mode = "ab" if flags & os.O_APPEND else "r+b" if flags & os.O_RDWR else "rb"
    return open(descriptor, mode, buffering=0)  # noqa: PTH123


# -- JSON with a checksum --------------------------------------------------------------------------------------------


def seal(values: dict[str, Any]) -> str:
    """Return a line of JSON whose last field is a checksum (CRC-32) of the text of the other fields."""
    return _with_sum(json.dumps(values))


def _with_sum(text: str) -> str:
    return f'{text[:-1]}, "sum": "{zlib.crc32(text.encode()):08x}"}}'


def unseal(text: str) -> dict[str, Any]:
    """Return the fields of a text that `seal` returned. Raises InputError if a character was changed."""
    line = text.rstrip("\n")
    content = line.rpartition(', "sum": "')[0] + "}"
    if line != _with_sum(content):
        raise InputError("damaged, or changed by hand: wrong checksum")
    return json_object(content)


def read_sealed(path: Path, schema: int | None = None) -> JsonFields:
    """Return the fields of a file sealed by `seal`. Raises InputError if it is absent, damaged or of another schema."""
    with named(path):
        fields = JsonFields(unseal(read_text(path)))
        if schema is not None:
            expect_schema(fields, schema)
        return fields


def expect_schema(fields: JsonFields, expected: int) -> None:
    """Raise InputError unless the field ``schema`` is ``expected``, the format that this version of lns reads."""
    schema = fields.integer("schema", 0, 10**6)
    if schema != expected:
        raise InputError(f"written by another version of lns (schema {schema}); this version reads schema {expected}")


def from_json(kind: Any, value: object, name: str) -> Any:
    """Return a value read from JSON as an object of the type ``kind``; error messages call the value ``name``.

    ``kind`` is ``int``, ``float`` or ``str``; a list, tuple or dict of such types; or a dataclass with fields of such
    types. ``Annotated[kind, low, high]`` bounds a number, or the length of a text; without bounds numbers are from 0 to
    2**63 - 1, and texts have at most 200 characters. In JSON a dataclass is an object, or a list of all its values; a
    dict is an object, or a list of lists, each a key and the value or its fields. Control characters in texts are
    escaped. Raises InputError for a value of another type or out of bounds.
    """
    origin, inner = get_origin(kind), get_args(kind)
    expected = "a list or an object with all its fields"
    try:
        if kind is Any or (isinstance(kind, type) and kind not in (int, float, str) and isinstance(value, kind)):
            return value
        given: Any = value
        if origin in (list, tuple):
            kinds = inner if origin is tuple and inner[-1] is not ... else inner[:1] * len(given)
            return origin(from_json(each, one, name) for each, one in zip(kinds, given, strict=True))
        if origin is dict:
            if isinstance(value, list):
                given = {key: rest if is_dataclass(inner[1]) else rest[0] for key, *rest in value}
            return {from_json(inner[0], key, name): from_json(inner[1], one, name) for key, one in given.items()}
        if isinstance(kind, type) and is_dataclass(kind):
            hints = _hints(kind)
            given = value if isinstance(value, dict) else dict(zip(hints, given, strict=True))
            return kind(**{key: from_json(hint, given[key], key) for key, hint in hints.items() if key in given})
        kind, low, high = inner or (kind, 0, MAX_TEXT if kind is str else MAX_NUMBER)
        if kind is str and isinstance(value, str) and low <= len(value) <= high:
            return printable(value, high)[:high]
        if kind is not str and isinstance(value, int | kind) and not isinstance(value, bool) and low <= value <= high:
            return kind(value)  # NaN is refused, as it is not within bounds
        expected = f"a text of {low} to {high} characters" if kind is str else f"a number from {low} to {high}"
    except (TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
    raise InputError(f"'{name}': {describe_found(value)}; expected {expected}")


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


# -- run.log ---------------------------------------------------------------------------------------------------------


class SafeFormatter(logging.Formatter):
    """Formatter that escapes control characters in messages: names of files and operators may come from a stranger."""

    def format(self, record: logging.LogRecord) -> str:
        return escape_controls(super().format(record))


class RunLog(RotatingFileHandler):
    """Handler that appends log messages to run.log in ``directory``; on a full disk lines are lost without an error.

    Before run.log exceeds `MAX_LOG_BYTES`, it is renamed to run.log.1, in place of an older run.log.1. Raises
    InputError if the file cannot be opened.
    """

    def __init__(self, directory: Path) -> None:
        with named(directory / LOG, "cannot be written"):
            super().__init__(directory / LOG, maxBytes=MAX_LOG_BYTES, backupCount=1)
        self.setFormatter(SafeFormatter("%(asctime)s %(message)s"))

    def _open(self) -> io.TextIOWrapper:
        file = open_regular(Path(self.baseFilename), os.O_WRONLY | os.O_APPEND)
        return io.TextIOWrapper(io.BufferedWriter(file), encoding="utf-8", errors="backslashreplace")

    def close(self) -> None:
        """Close the file; lines for which the disk has no room are lost."""
        with suppress(OSError):
            super().close()

    def handleError(self, record: logging.LogRecord) -> None:
        """Ignore an error of writing; the line is lost."""


@contextmanager
def logged_by(handler: logging.Handler) -> Iterator[None]:
    """Send messages of the logger ``lns``, from INFO on, also to ``handler``, which is closed at the context's end."""
    level = log.level
    log.addHandler(handler)
    if log.getEffectiveLevel() > logging.INFO:
        log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.setLevel(level)
        log.removeHandler(handler)
        handler.close()


# -- times and reasons in words --------------------------------------------------------------------------------------


def utc_now() -> str:
    """Return the present date and time (UTC) as text for display; durations are measured by the monotonic clock."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def parse_time(text: str) -> datetime | None:
    """Return the date and time in a text that `utc_now` made; None for any other text."""
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None


def format_duration(seconds: float) -> str:
    """Return a duration in words, in at most two units, such as '8 s', '3 min 20 s', '2 h 3 min' or '6 d 2 h'."""
    whole = round(seconds)
    for (unit, size), (smaller, part) in pairwise(_UNITS):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {unit}" + (f" {rest} {smaller}" if rest else "")
    return f"{whole} s"


def time_ago(text: str) -> str:
    """Return how long ago the time in a text of `utc_now` was, such as "now" or "12 min ago"; "" for any other text."""
    then = parse_time(text)
    if then is None:
        return ""
    seconds = (datetime.now(UTC) - then).total_seconds()
    return "now" if seconds < 10 else f"{' '.join(format_duration(seconds).split()[:2])} ago"


def local_time(text: str) -> str:
    """Return a text of `utc_now` converted to local time, such as "25 Nov 14:05"; any other text unchanged."""
    then = parse_time(text)
    return text if then is None else f"{then.astimezone():%d %b %H:%M}".lstrip("0")


def origin_in_words(origin: str) -> str:
    """Return the name of the part of the engine that made a board, with an explanation for "certificate"."""
    return f"{origin}: a better refill of a window that was to be proven" if origin == "certificate" else origin


def reason_in_words(why: str, *, has_target: bool) -> str:
    """Return in words why a session ended; ``why`` is the recorded reason, such as "SIGINT" or "time over".

    ``has_target`` says whether the user gave a target; otherwise the target was the best possible score.
    """
    if why == "target reached" and not has_target:
        return "no better board is possible"
    return _REASONS.get(why, why)
