"""Servers of databases for tests, each in a folder of its own: PostgreSQL, and MariaDB, which speaks as MySQL."""

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
    folder, port = postgres_binaries(), _free_port()
    with _place("postgres") as (place, user):
        (place / "word").write_text(PASSWORD)
        if user:
            shutil.chown(place / "word", user)
        at = ["-D", f"{place}/data"]
        make = [f"{folder}/initdb", *at, "-U", "lns", "-A", "scram-sha-256", "--pwfile", f"{place}/word", "-N"]
        serve = [f"{folder}/postgres", *at, "-p", str(port), "-h", "127.0.0.1", "-k", str(place), "-F"]
        ask = [f"{folder}/pg_isready", "-h", "127.0.0.1", "-p", str(port)]
        with _server(make, serve, ask, user, place, signal.SIGINT):  # without waiting for connections
            yield f"postgresql://lns:{QUOTED}@127.0.0.1:{port}/postgres"


@contextlib.contextmanager
def mariadb() -> Iterator[str]:
    """A server with a password; the URL of its database."""
    port = _free_port()
    with _place("mysql") as (place, user):
        at = ["--no-defaults", f"--datadir={place}/data"]
        make = ["mariadb-install-db", *at, "--auth-root-authentication-method=normal", "--skip-test-db"]
        serve = ["mariadbd", *at, f"--socket={place}/socket", f"--port={port}", "--bind-address=127.0.0.1",
                 "--innodb-flush-log-at-trx-commit=0"]  # fmt: skip
        client = ["mariadb", "--no-defaults", "-S", f"{place}/socket", "-u", "root", "-e"]
        with _server(make, serve, [*client, "SELECT 1"], user, place, signal.SIGTERM):
            account = f"CREATE USER lns@127.0.0.1 IDENTIFIED BY '{PASSWORD}'"
            grant = "GRANT ALL ON tuning.* TO lns@127.0.0.1"
            subprocess.run([*client, f"CREATE DATABASE tuning; {account}; {grant}"], check=True)
            yield f"mysql://lns:{QUOTED}@127.0.0.1:{port}/tuning"


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


@contextlib.contextmanager
def _server(
    make: list[str], serve: list[str], ask: list[str], user: str | None, place: Path, ending: signal.Signals
) -> Iterator[None]:
    """Make a database, and serve it until ``ending`` is sent; ``ask`` succeeds as soon as the server answers."""
    subprocess.run(make, check=True, capture_output=True, user=user, cwd=place)
    server = subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, user=user, cwd=place)
    try:
        end = time.monotonic() + 60
        while subprocess.run(ask, capture_output=True).returncode:
            assert time.monotonic() < end and server.poll() is None, "the server did not start"
            time.sleep(0.1)
        yield
    finally:
        server.send_signal(ending)
        server.wait(60)
