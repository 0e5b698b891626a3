"""Servers of databases for tests, each in a folder of its own: PostgreSQL, and MariaDB, which speaks as MySQL."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

PASSWORD = "se:cret-w@rd"
QUOTED = "se%3Acret-w%40rd"  # in a URL


def missing(kind: str) -> str | None:
    """Why there is no server of a kind, 'postgresql' or 'mysql', in a sentence; None if there can be one."""
    if kind == "postgresql":
        return None if postgres_binaries() else "PostgreSQL is not installed"
    return None if shutil.which("mariadbd") else "MariaDB is not installed"


def postgres_binaries() -> str | None:
    """Folder of `initdb` and `postgres`; None if PostgreSQL is not installed."""
    found = shutil.which("initdb")
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"))  # noqa: PTH207
    return str(Path(found).resolve().parent) if found else next(iter(folders[::-1]), None)


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """A server with a password; the URL of its database."""
    folder = postgres_binaries()
    assert folder is not None
    with _place("postgres") as (place, user):
        data, word = place / "data", place / "word"
        word.write_text(PASSWORD)
        if user:
            shutil.chown(word, user)
        subprocess.run(
            [f"{folder}/initdb", "-D", str(data), "-U", "lns", "-A", "scram-sha-256", "--pwfile", str(word), "-N"],
            check=True, capture_output=True, user=user, cwd=place,
        )  # fmt: skip
        port = _free_port()
        server = subprocess.Popen(
            [f"{folder}/postgres", "-D", str(data), "-p", str(port), "-h", "127.0.0.1", "-k", str(place), "-F"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, user=user, cwd=place,
        )  # fmt: skip
        try:
            _await_answer(server, [f"{folder}/pg_isready", "-h", "127.0.0.1", "-p", str(port)])
            yield f"postgresql://lns:{QUOTED}@127.0.0.1:{port}/postgres"
        finally:
            server.send_signal(signal.SIGINT)  # without waiting for connections
            server.wait(30)


@contextlib.contextmanager
def mariadb() -> Iterator[str]:
    """A server with a password; the URL of its database."""
    with _place("mysql") as (place, user):
        data, at = place / "data", str(place / "socket")
        subprocess.run(
            ["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal",
             "--skip-test-db"], check=True, capture_output=True, user=user, cwd=place,
        )  # fmt: skip
        port = _free_port()
        server = subprocess.Popen(
            ["mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={at}", f"--port={port}",
             "--bind-address=127.0.0.1", "--innodb-flush-log-at-trx-commit=0"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, user=user, cwd=place,
        )  # fmt: skip
        try:
            client = ["mariadb", "--no-defaults", "-S", at, "-u", "root", "-e"]
            _await_answer(server, [*client, "SELECT 1"])
            account = f"CREATE USER lns@127.0.0.1 IDENTIFIED BY '{PASSWORD}'"
            subprocess.run(
                [*client, f"CREATE DATABASE tuning; {account}; GRANT ALL ON lns.tuning.* TO lns@127.0.0.1"], check=True
            )
            yield f"mysql://lns:{QUOTED}@127.0.0.1:{port}/tuning"
        finally:
            server.terminate()
            server.wait(60)


SERVERS: dict[str, Callable[[], AbstractContextManager[str]]] = {"postgresql": postgres, "mysql": mariadb}


@contextlib.contextmanager
def _place(user: str) -> Iterator[tuple[Path, str | None]]:
    """A folder, and who runs the server there: ``user`` if this is root, as which no server runs; else None."""
    owner = user if os.getuid() == 0 else None
    with tempfile.TemporaryDirectory() as name:
        if owner:
            shutil.chown(name, owner)
        yield Path(name), owner


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _await_answer(server: subprocess.Popen[bytes], ask: list[str]) -> None:
    end = time.monotonic() + 60
    while subprocess.run(ask, capture_output=True).returncode:
        assert time.monotonic() < end and server.poll() is None, "the server did not start"
        time.sleep(0.1)
