"""No test sees what a study of the user has proved, and a search starts processes only where a test asks for it.

`lns solve` takes the parameters that a study proved from the user's configuration.
"""

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from lns import islands
from lns.worker_pool import InProcessExecutor, WorkerPool

_FOLDER = TemporaryDirectory(prefix="lns-tests-config-")
os.environ["XDG_CONFIG_HOME"] = _FOLDER.name  # also for fixtures of modules, and for processes
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"  # of a test's own thread of gRPC, whose handler may abort a forked child
_NUMBERS = itertools.count()


@pytest.fixture(autouse=True)
def config_home(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's configuration in this test: a directory of its own, which is made by the first file in it."""
    path = Path(_FOLDER.name, str(next(_NUMBERS)))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(path))
    return path


class _ThisProcess(InProcessExecutor):
    """The process of the test, in rounds so short that rules end a search soon."""

    round_s = 0.2

    def __init__(self, workers: int) -> None: ...


@pytest.fixture(scope="session", autouse=True)
def without_waits() -> Iterator[None]:
    """Islands are searched in this process, as a worker needs seconds to begin, and no file waits for the disk."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(islands, "WorkerPool", _ThisProcess)
        monkeypatch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def compiled() -> None:
    """In a first run two processes of pytest compile the kernels of the engines from both ends: neither waits."""
    from lns.exact.kernels.cache import is_compiled
    from lns.warmup import warm_up

    process = os.environ.get("PYTEST_XDIST_WORKER", "")
    if process and not is_compiled("lns.exact.region.dynamic_search"):
        warm_up("auto", turn=int(process.removeprefix("gw")))


@pytest.fixture
def worker_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Islands are searched in processes of their own, as those of a user are."""
    monkeypatch.setattr(islands, "WorkerPool", WorkerPool)
