"""A Dask cluster of processes on this machine."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGES = "127.0.0.1:0"  # of Dask itself; without it they listen on all addresses


class Cluster:
    """A scheduler and its workers, each a process without a nanny; ``options`` are for all of them, such as for TLS."""

    def __init__(self, folder: Path, options: list[str] | None = None, protocol: str = "tcp") -> None:
        self.folder, self._options, self._protocol = folder, options or [], protocol
        self.workers: list[subprocess.Popen[bytes]] = []
        self._file = folder / "scheduler.json"
        self.scheduler = self._start(
            "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--protocol", protocol,
            "--no-show", "--no-dashboard", "--dashboard-address", PAGES, "--scheduler-file", str(self._file),
        )  # fmt: skip
        end = time.monotonic() + 60
        while not self._file.exists() or not self._file.read_text().strip():
            assert time.monotonic() < end and self.scheduler.poll() is None, "the scheduler did not start"
            time.sleep(0.05)
        self.address: str = json.loads(self._file.read_text())["address"]

    def add(self, threads: int = 1, preload: str | None = None) -> subprocess.Popen[bytes]:
        """Start a worker; ``preload`` is Python that it executes before."""
        more: list[str] = []
        if preload is not None:
            script = self.folder / f"preload{len(self.workers)}.py"
            script.write_text(preload)
            more = ["--preload", str(script)]
        worker = self._start(
            "distributed.cli.dask_worker", self.address, "--nthreads", str(threads), "--no-nanny", "--no-dashboard",
            "--host", "127.0.0.1", "--dashboard-address", PAGES, "--local-directory", str(self.folder), *more,
        )  # fmt: skip
        self.workers.append(worker)
        return worker

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        log = (self.folder / "dask.log").open("ab")
        command = [sys.executable, "-m", module, *arguments, *self._options]
        with log:
            return subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)

    def close(self) -> None:
        for process in [*self.workers, self.scheduler]:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextlib.contextmanager
def dask_cluster(folder: Path, workers: int = 0, **options: Any) -> Iterator[Cluster]:
    """A cluster with a number of workers, dead afterwards."""
    cluster = Cluster(folder, **options)
    try:
        for _ in range(workers):
            cluster.add()
        yield cluster
    finally:
        cluster.close()
