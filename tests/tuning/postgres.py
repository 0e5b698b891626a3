"""A PostgreSQL server for tests, in a folder of its own."""

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
from collections.abc import Iterator
from pathlib import Path

PASSWORD = "se:cret-w@rd"
QUOTED = "se%3Acret-w%40rd"  # in a URL


def binaries() -> str | None:
    """Folder of `initdb` and `postgres`; None if PostgreSQL is not installed."""
    found = shutil.which("initdb")
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"))  # noqa: PTH207
    return str(Path(found).resolve().parent) if found else next(iter(folders[::-1]), None)


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """A server with a password; the URL of its database."""
    folder = binaries()
    assert folder is not None
    user = "postgres" if os.getuid() == 0 else None  # the server refuses to run as root
    with tempfile.TemporaryDirectory() as place:
        data, word = Path(place) / "data", Path(place) / "word"
        word.write_text(PASSWORD)
        if user:
            for path in (Path(place), word):
                shutil.chown(path, user)
        subprocess.run(
            [f"{folder}/initdb", "-D", str(data), "-U", "lns", "-A", "scram-sha-256", "--pwfile", str(word), "-N"],
            check=True, capture_output=True, user=user, cwd=place,
        )  # fmt: skip
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = subprocess.Popen(
            [f"{folder}/postgres", "-D", str(data), "-p", str(port), "-h", "127.0.0.1", "-k", place, "-F"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, user=user, cwd=place,
        )  # fmt: skip
        try:
            end = time.monotonic() + 60
            ready = [f"{folder}/pg_isready", "-h", "127.0.0.1", "-p", str(port)]
            while subprocess.run(ready, capture_output=True).returncode:
                assert time.monotonic() < end and server.poll() is None, "PostgreSQL did not start"
                time.sleep(0.1)
            yield f"postgresql://lns:{QUOTED}@127.0.0.1:{port}/postgres"
        finally:
            server.send_signal(signal.SIGINT)  # without waiting for connections
            server.wait(30)
