"""Optuna's storage of a study: a journal in its directory, a database, or optuna's gRPC proxy for several machines.

The storage holds all data of a study: its trials and, as attributes of optuna's study, its plan and the runs that all
processes share.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import logging
import os
import re
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import optuna
from optuna.exceptions import StorageInternalError
from optuna.storages import BaseStorage
from optuna.storages.journal import BaseJournalBackend

from lns.instances.errors import InputError
from lns.instances.text import printable
from lns.runs.files import seal, unseal
from lns.tuning.objective import Trace

log = logging.getLogger("lns")

JOURNAL_FILE = "journal.log"
STORAGE_FILE = "storage.txt"  # file with the URL, without its password, of a storage other than the journal
MAX_BYTES = 2**28  # most bytes of a journal, enough for about 30,000 trials
ANSWER_S = 10  # seconds to wait for the first answer of a storage
RUN = "run "  # the name of each attribute that holds a run begins with this
SHARED_S = 10.0  # seconds between two reads of the runs of other machines
_HOST = r"[\w.,%-]+|\[[0-9a-f:]+\]"
_URL = re.compile(  # a URL may have at most one @, so that there is only one way to split it
    r"(?P<scheme>(?:postgresql|mysql)(?:\+\w+)?)://(?:(?P<user>[^:/?#@]+)(?::[^/?#@]*)?@)?"
    rf"(?P<place>(?:{_HOST})(?::[0-9]+)?/[^?#@]*)(?:\?[^#@]*)?"
    rf"|grpc://(?P<host>{_HOST}):(?P<port>[0-9]+)"
)
_DRIVERS = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql"}
_PIP_NAMES = {"psycopg": "'psycopg[binary]'", "pymysql": "'PyMySQL[rsa]'", "grpc": "grpcio"}  # module -> name for pip
_MODULES = {"sqlalchemy", "psycopg", "pymysql", "grpc", "alembic"}  # modules whose errors are errors of a storage
_LONGEST = 10_000  # most characters stored in one attribute; MySQL takes at most 65,535 bytes


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on the file ``path``. The operating system frees the lock if the process dies."""
    with path.open("ab") as file:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        yield  # closing the file frees the lock


class Journal(BaseJournalBackend):
    """Optuna's journal; an incomplete last line of a killed process is dropped before a new line is written.

    Only lines that set the state of a trial are flushed to the disk: the operating system also writes the lines of a
    killed process, and a dozen flushes per trial would take longer than the runs of a small study. ``line`` is the
    number of the last line that was read, counted from 1. A journal opened for ``reading`` is not changed.
    """

    def __init__(self, path: Path, *, reading: bool) -> None:
        self._path, self.line, self._offset = path, 0, 0
        if path.exists() and (size := path.stat().st_size) > MAX_BYTES:
            raise InputError(f"has {size} bytes; expected at most {MAX_BYTES}", path)
        if not reading:
            self.append_logs([])

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        if log_number_from != self.line:
            self.line = self._offset = 0
        with self._path.open("rb") as file:
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self.line, self._offset = self.line + 1, self._offset + len(line)
                try:
                    record = json.loads(line)
                except ValueError:
                    raise InputError("damaged: no record of optuna", self._path, self.line) from None
                if self.line > log_number_from:
                    yield record

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        try:
            with locked(self._path.with_suffix(".lock")), self._path.open("ab+") as file:
                if file.tell() and file.seek(-1, os.SEEK_END) >= 0 and file.read() != b"\n":
                    file.seek(0)
                    file.truncate(file.read().rfind(b"\n") + 1)
                    log.warning("%s: an incomplete last line was dropped", self._path)
                file.write("".join(json.dumps(record) + "\n" for record in logs).encode())
                file.flush()
                if any("state" in record for record in logs):
                    os.fsync(file.fileno())
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from error


# -- storages for several machines ------------------------------------------------------------------------------------


def connect(url: str) -> BaseStorage:
    """Connect to the storage at ``postgresql://USER@HOST/DATABASE``, ``mysql://...`` or ``grpc://HOST:PORT``.

    Raises InputError if the URL is of another kind, its driver is not installed, or the storage refuses.
    """
    expected = "postgresql://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE or grpc://HOST:PORT"
    if url.startswith("sqlite"):
        expected += ", or none for the journal file"
        raise InputError(f"SQLite is no storage for several machines; expected {expected}")
    if (parts := _URL.fullmatch(url)) is None:
        written = "; before the @ of the host, / ? # @ are written %2F %3F %23 %40" if "@" in url else ""
        raise InputError(f"no URL of a storage: {redact_url(url)}; expected {expected}{written}")
    scheme = parts["scheme"]
    with storage_errors(url, connecting=True):
        if scheme is None:
            proxy = optuna.storages.GrpcStorageProxy(host=parts["host"].strip("[]"), port=int(parts["port"]))
            proxy.wait_server_ready(timeout=ANSWER_S)
            return proxy
        engine = {"pool_pre_ping": True, "connect_args": {"connect_timeout": ANSWER_S}}
        return optuna.storages.RDBStorage(_DRIVERS.get(scheme, scheme) + url[len(scheme) :], engine_kwargs=engine)


def redact_url(url: str) -> str:
    """Return the URL as it is shown and saved: without its password, and without its query, which may have a password.

    If ``url`` is no URL of a storage, a password may be anywhere in it, so only the scheme is returned.
    """
    if (parts := _URL.fullmatch(url)) is None:
        scheme = re.match(r"[a-z0-9+.]+://", url)
        return f"{scheme[0] if scheme else ''}…"
    if parts["scheme"] is None:
        return url
    user = "" if parts["user"] is None else f"{parts['user']}@"
    return printable(f"{parts['scheme']}://{user}{parts['place']}", 200)


@contextlib.contextmanager
def storage_errors(url: str | None, *, connecting: bool = False) -> Iterator[None]:
    """Turn errors of the storage at ``url`` (all errors if ``connecting``) into InputErrors that hide the password."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        modules, own = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}, StorageInternalError
        is_of_storage = isinstance(error, ConnectionError | ImportError | own) or bool(modules & _MODULES)
        package = error.name if isinstance(error, ImportError) else None
        if isinstance(error, RuntimeError) and "'cryptography' package is required" in str(error):
            package = "cryptography"  # PyMySQL needs this package for passwords of MySQL 8
        if url is None or not (package or is_of_storage or connecting):
            raise
        place = f"the storage {redact_url(url)}"
        if package:
            raise InputError(
                f"{place} needs {package}, which is not installed (extra 'storage'): "
                f"pip install {_PIP_NAMES.get(package, package)}, or make install in a checkout"
            ) from None
        if not is_of_storage:  # the error's message may contain characters of the password
            raise InputError(f"{place}: its URL cannot be used ({type(error).__name__})") from None
        reason = str(error.__cause__ or error).strip().partition("\n")[0] or type(error).__name__
        words = [set(re.findall(r"\w+", text)) for text in (redact_url(url), f"{url} {unquote(url)}")]
        secrets = words[1] - words[0]  # words of the URL that may be parts of a password
        reason = re.sub(r"\w+", lambda word: "***" if word[0] in secrets else word[0], reason)
        raise InputError(f"{place} refuses: {printable(reason, 300)}") from None


# -- attributes of optuna's study -------------------------------------------------------------------------------------


def put_text(study: optuna.Study, name: str, text: str) -> None:
    """Store a text as an attribute. The parts of a long text are stored before ``name``, so that readers find all."""
    if len(text) <= _LONGEST:
        study.set_user_attr(name, text)
        return
    digest = hashlib.sha256(text.encode()).hexdigest()[:32]
    parts = {f"part {digest} {at}": text[at : at + _LONGEST] for at in range(0, len(text), _LONGEST)}
    for part, content in parts.items():
        study.set_user_attr(part, content)
    study.set_user_attr(name, list(parts))


def get_texts(study: optuna.Study, kind: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each attribute whose name begins with ``kind``."""
    attributes = study.user_attrs
    for name, value in attributes.items():
        if name.startswith(kind):
            parts = [attributes.get(str(part), "") for part in value] if isinstance(value, list) else [value]
            yield name, "".join(map(str, parts))


class Runs:
    """Runs that all processes share: of the defaults, on held-out pairs, and the long runs of the first trials.

    These runs are attributes of optuna's ``study``, which are read at most once in ``every_s`` seconds.
    """

    def __init__(self, study: optuna.Study, every_s: float) -> None:
        self._study, self._every_s, self._looked = study, every_s, -every_s
        self._runs: dict[str, tuple[str, Trace]] = {}  # name of the attribute -> (its text, the run)
        self.refresh()

    def __len__(self) -> int:
        return len(self._runs)

    def get(self, key: str) -> Trace | None:
        """Return the run with ``key``, or None if there is no such run."""
        return self._runs.get(key, ("", None))[1]

    def add(self, key: str, trace: Trace) -> None:
        """Store a run, unless a stored run with this key is at least as long."""
        stored = self.get(key)
        if stored is None or not stored.covers(trace.nodes):
            text = seal(asdict(trace))
            put_text(self._study, key, text)
            self._runs[key] = text, trace

    def refresh(self) -> None:
        """Read the runs that other processes have added. Raises InputError for a run whose checksum is wrong."""
        if time.monotonic() - self._looked < self._every_s:
            return
        self._looked = time.monotonic()
        for name, text in get_texts(self._study, RUN):
            if name not in self._runs or self._runs[name][0] != text:
                values = unseal(text)
                rows = {row: tuple(map(tuple, values[row])) for row in ("best_scores", "worths")}
                self._runs[name] = text, Trace(**values | rows)
