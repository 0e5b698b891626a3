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
Commands = Callable[[str, int], tuple[list[str], list[str], list[str]]]
"""Of a folder and a port: what makes a database, what serves it, and what succeeds as soon as the server answers."""


def missing(kind: str) -> str | None:
    """Why there is no server of a kind, 'postgresql' or 'mysql', in a sentence; None if there can be one."""
    if kind == "postgresql":
        return None if _postgres_folder() else "PostgreSQL is not installed"
    return None if shutil.which("mariadbd") else "MariaDB is not installed"


def _postgres_folder() -> str:
    """Folder of `initdb` and `postgres`, with a slash; empty if PostgreSQL is not installed."""
    found = [shutil.which("initdb"), *sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))[::-1]]  # noqa: PTH207
    return next((f"{Path(path).resolve().parent}/" for path in found if path), "")


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """A server with a password; the URL of its database."""

    def commands(place: str, port: int) -> tuple[list[str], list[str], list[str]]:
        folder, at = _postgres_folder(), ["-D", f"{place}/data"]
        make = [f"{folder}initdb", *at, "-U", "lns", "-A", "scram-sha-256", "--pwfile", f"{place}/word", "-N"]
        serve = [f"{folder}postgres", *at, "-p", str(port), "-h", "127.0.0.1", "-k", place, "-F"]
        return make, serve, [f"{folder}pg_isready", "-h", "127.0.0.1", "-p", str(port)]

    with _server("postgres", commands, signal.SIGINT) as (_, port):  # it does not wait for connections
        yield f"postgresql://lns:{QUOTED}@127.0.0.1:{port}/postgres"


@contextlib.contextmanager
def mariadb() -> Iterator[str]:
    """A server with a password; the URL of its database."""

    def client(place: str, statement: str) -> list[str]:
        return ["mariadb", "--no-defaults", "-S", f"{place}/socket", "-u", "root", "-e", statement]

    def commands(place: str, port: int) -> tuple[list[str], list[str], list[str]]:
        at = ["--no-defaults", f"--datadir={place}/data"]
        make = ["mariadb-install-db", *at, "--auth-root-authentication-method=normal", "--skip-test-db"]
        serve = ["mariadbd", *at, f"--socket={place}/socket", f"--port={port}", "--bind-address=127.0.0.1",
                 "--innodb-flush-log-at-trx-commit=0"]  # fmt: skip
        return make, serve, client(place, "SELECT 1")

    with _server("mysql", commands, signal.SIGTERM) as (place, port):
        account = f"CREATE USER lns@127.0.0.1 IDENTIFIED BY '{PASSWORD}'; GRANT ALL ON tuning.* TO lns@127.0.0.1"
        subprocess.run(client(place, f"CREATE DATABASE tuning; {account}"), check=True)
        yield f"mysql://lns:{QUOTED}@127.0.0.1:{port}/tuning"


SERVERS: dict[str, Callable[[], AbstractContextManager[str]]] = {"postgresql": postgres, "mysql": mariadb}


@contextlib.contextmanager
def _server(account: str, commands: Commands, ending: signal.Signals) -> Iterator[tuple[str, int]]:
    """A server until ``ending`` is sent to it, its folder and its port; run by ``account`` if this is root."""
    user = account if os.getuid() == 0 else None
    with tempfile.TemporaryDirectory() as place, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        free.close()
        (Path(place) / "word").write_text(PASSWORD)
        for path in (place, f"{place}/word") if user else ():
            shutil.chown(path, account)
        make, serve, ask = commands(place, port)
        subprocess.run(make, check=True, capture_output=True, user=user, cwd=place)
        server = subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, user=user, cwd=place)
        try:
            end = time.monotonic() + 60
            while subprocess.run(ask, capture_output=True).returncode:
                assert time.monotonic() < end and server.poll() is None, "the server did not start"
                time.sleep(0.1)
            yield place, port
        finally:
            server.send_signal(ending)
            server.wait(60)
