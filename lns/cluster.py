"""Islands on a Dask cluster: each round is a task bound to a worker, which keeps the engine for the next round.

The scheduler sees one task for each round of an island; the task and its result carry the state of the island. New
best boards and the signal to stop reach workers by separate calls.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import platform
import re
import secrets
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, InvalidStateError
from dataclasses import replace
from functools import partial
from importlib import metadata
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

from lns import params as parameters
from lns import rounds
from lns.exact.optional_deps import require
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.text import count_of, printable
from lns.params import Params
from lns.rounds import Task
from lns.version import __version__
from lns.worker_pool import PARENT_SIGNALS, WorkerLost, Workers, WorkersGone

if TYPE_CHECKING:
    from distributed import Client

log = logging.getLogger("lns")

_T = TypeVar("_T")

ANSWER_S = 10.0  # longest wait for an answer of the scheduler, in seconds
ROUND_S = 10.0
WAIT_S = 60.0  # seconds to wait for the first worker
WATCH_S = 1.0  # seconds between two checks of the workers of the cluster
GONE_S = 15.0  # the run stops after this number of seconds without a connection to the scheduler
EMPTY_S = 300.0  # the run stops after this number of seconds without any worker
_LOGGERS = (  # names of all loggers whose level Dask sets
    *("distributed", *(f"distributed.{part}" for part in ("client", "core", "gc", "nanny", "worker"))),
    *("tornado", "tornado.application"),
)


class DaskWorkers(Workers):
    """Workers of a Dask cluster. `shutdown` releases the engines that the workers keep, and leaves the client open.

    Raises InputError if the cluster has no worker, or a worker with another version of lns, Python, numba or numpy or
    with other default parameters than this process.
    """

    first_round_s, round_s, grace_s = 2.0, ROUND_S, 30.0
    max_lost = 100  # lost rounds in a row until an island is abandoned: many, as machines often leave a cluster

    def __init__(self, client: Client) -> None:
        self.address = str(getattr(client.scheduler, "address", ""))
        self._client, self._executor, self._run = client, client.get_executor(), secrets.token_hex(8)
        self._lock = threading.RLock()
        self._threads: dict[str, int] = {}  # worker's address -> number of its threads; accepted workers only
        self._home: dict[int, str] = {}  # number of an island -> address of the worker of its last round
        self._waiting: list[tuple[Future[Any], Callable[..., Any], Task]] = []  # rounds that wait for a worker
        self._running: dict[Future[Any], tuple[Future[Any], str]] = {}  # the caller's future -> (Dask's future, worker)
        self._serial = count()
        self._ended = threading.Event()
        self._connected_at = self._populated_at = time.monotonic()
        present = self._first_workers()
        self._asked = set(present)  # addresses of the workers that were asked for their versions
        self._join(present, strict=True)
        workers, threads = count_of(len(self._threads), "worker"), count_of(self.capacity, "thread")
        log.info("cluster %s: %s, %s", self.address, workers, threads)
        self._watcher = _in_thread(self._watch)

    @property
    def capacity(self) -> int:  # type: ignore[override]
        """Number of threads of all accepted workers together."""
        with self._lock:
            return sum(self._threads.values())

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        """Submit a round to a worker (`_worker_for`) as soon as there is one. After `kill` the round fails at once.

        ``fn`` is `lns.rounds.run_round`, or another function whose only argument is a `lns.rounds.Task`.
        """
        future: Future[_T] = Future()
        with self._lock:
            if self._ended.is_set():
                future.set_exception(WorkerLost("the search was ended"))
            else:
                self._waiting.append((future, fn, replace(args[0], run=self._run)))
                self._dispatch()
        return future

    def check(self) -> None:
        """Raise `WorkersGone` if the client is closed, or scheduler or workers have been away for too long.

        Too long means `GONE_S` seconds without the scheduler, or `EMPTY_S` seconds without any worker.
        """
        now = time.monotonic()
        if now - self._connected_at > GONE_S or self._client.status in ("closing", "closed"):
            raise WorkersGone(
                f"the scheduler at {self.address} is gone; what was found is saved, with the islands as of their last "
                "checkpoint, and lns resume continues it"
            )
        if now - self._populated_at > EMPTY_S:
            raise WorkersGone(f"the cluster at {self.address} has had no worker for {EMPTY_S:.0f} s; the run is saved")

    def announce(self, board: Board, score: int) -> None:
        self._tell("receive_incumbent", board, score)

    def ask_to_stop(self) -> None:
        self._tell("receive_stop")

    def kill(self) -> None:
        """Give up the running and waiting rounds; they fail with `WorkerLost`."""
        self._ended.set()
        with self._lock:
            given_up = [*self._running, *(future for future, *_ in self._waiting)]
            self._waiting.clear()
        for future in given_up:
            _fail(future, "the search was ended")

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Give up all rounds, and release the engines that the workers keep."""
        self.kill()
        for thread in (self._tell("receive_stop"), self._watcher):
            thread.join(ANSWER_S if wait else 0.0)

    def _dispatch(self) -> None:
        """Hand the waiting rounds to workers, if any worker is there. The caller holds the lock."""
        while self._threads and self._waiting:
            future, function, task = self._waiting.pop(0)
            address = self._home[task.number] = self._worker_for(task.number)
            sent = self._executor.submit(
                function, task, key=f"lns-{self._run}-{task.number}-{next(self._serial)}", workers=[address],
                allow_other_workers=False, pure=False, retries=0,
            )  # fmt: skip
            self._running[future] = sent, address
            sent.add_done_callback(partial(self._receive, future, address))

    def _worker_for(self, number: int) -> str:
        """Return the island's last worker or, if that left or only other workers have room, the least loaded one."""
        load = Counter(self._home.values())
        home = self._home.get(number, "")
        has_room = any(load[address] < threads for address, threads in self._threads.items())
        if home in self._threads and (load[home] <= self._threads[home] or not has_room):
            return home
        return min(self._threads, key=lambda at: (load[at] / self._threads[at], at))

    def _receive(self, future: Future[Any], address: str, sent: Future[Any]) -> None:
        """Pass the outcome of Dask's future ``sent`` on to the caller's ``future``, a lost worker as `WorkerLost`."""
        with self._lock:
            self._running.pop(future, None)
        error = None if sent.cancelled() else sent.exception()
        if sent.cancelled() or (error is not None and _is_of_the_cluster(error)):
            _fail(future, f"worker {address} lost its round")
            return
        with contextlib.suppress(InvalidStateError):  # raised if the round was given up meanwhile
            if error is None:
                future.set_result(sent.result())
            else:
                future.set_exception(error)

    def _first_workers(self) -> dict[str, int]:
        """Return each worker's number of threads by address, once there is one. Raises InputError if none comes."""
        if not (threads := self._client.ncores()):
            log.info("waiting for the first worker of the cluster at %s", self.address)
            with contextlib.suppress(TimeoutError):
                self._client.wait_for_workers(1, timeout=WAIT_S)
            if not (threads := self._client.ncores()):
                raise InputError(
                    f"the cluster at {self.address} has had no worker for {WAIT_S:.0f} s; expected some (dask worker)"
                )
        return dict(threads)

    def _watch(self) -> None:
        """Watch which workers join and which leave, every `WATCH_S` seconds until the end; runs in a thread."""
        while not self._ended.wait(WATCH_S):
            with contextlib.suppress(Exception):  # if the scheduler stays silent, `check` reports this
                self._look()

    def _look(self) -> None:
        present, now = dict(self._client.ncores()), time.monotonic()
        self._connected_at = now
        with self._lock:
            gone = self._threads.keys() - present.keys()
            self._threads = {at: threads for at, threads in self._threads.items() if at in present}
            if self._threads:
                self._populated_at = now
            lost = {future: sent for future, (sent, address) in self._running.items() if address in gone}
            self._home = {number: address for number, address in self._home.items() if address not in gone}
            joined = {address: threads for address, threads in present.items() if address not in self._asked}
            self._asked = set(present)
        for address in sorted(gone):
            log.warning("worker %s is gone", address)
        for future, sent in lost.items():
            _fail(future, "its worker is gone")
            _in_thread(sent.cancel)
        if joined:
            _in_thread(partial(self._join, joined, strict=False))

    def _join(self, threads: dict[str, int], *, strict: bool) -> None:
        """Accept the workers with the `versions` of this process; for others raise InputError (``strict``) or log."""
        problems = differences(self._client, list(threads))
        for _, problem in sorted(problems.items()):
            if strict:
                raise InputError(problem)
            log.warning("%s; it is left out", problem)
        accepted = {address: max(1, threads[address]) for address in threads.keys() - problems.keys()}
        with self._lock:
            self._threads |= accepted
            self._dispatch()
        if not strict and accepted:
            log.info("%s joined, %d in all", count_of(len(accepted), "worker"), len(self._threads))

    def _tell(self, what: str, *arguments: object) -> threading.Thread:
        """Start a thread that calls the method ``what`` of `lns.rounds.WORKER` in all workers, while they search."""

        def tell() -> None:
            with self._lock:
                addresses = list(self._threads)
            if addresses and self._client.status == "running":
                self._client.run(_told, what, self._run, *arguments, workers=addresses, on_error="ignore")

        return _in_thread(tell)


def _fail(future: Future[Any], why: str) -> None:
    """Let the round of ``future`` fail with `WorkerLost`, unless the round has ended already."""
    with contextlib.suppress(InvalidStateError):
        future.set_exception(WorkerLost(why))


def _told(what: str, *arguments: object) -> None:
    """Call the method ``what`` of `lns.rounds.WORKER` in this worker process."""
    getattr(rounds.WORKER, what)(*arguments)


def _in_thread(call: Callable[[], object]) -> threading.Thread:
    """Run ``call`` in a new thread and ignore its errors: a call to the cluster that hangs would delay the search."""

    def attempt() -> None:
        with contextlib.suppress(Exception):  # the scheduler or a worker may be gone
            call()

    thread = threading.Thread(target=attempt, name="lns-cluster", daemon=True)
    thread.start()
    return thread


def _is_of_the_cluster(error: BaseException) -> bool:
    """Return whether the error of a round comes from its worker or its connection, not from the search itself."""
    return isinstance(error, OSError | TimeoutError) or type(error).__module__.startswith(
        ("distributed", "asyncio", "concurrent", "tornado")
    )


# -- the connection to the cluster -----------------------------------------------------------------------------------


@contextlib.contextmanager
def connected(address: str, workers: int | None = None) -> Iterator[Client]:
    """Yield a client of the scheduler at ``address`` (``tcp://HOST:PORT`` or ``tls://...``), closed on exit.

    The address ``local`` makes a cluster of ``workers`` processes on this machine, by default one for each core. Raises
    InputError if the address is invalid, no scheduler answers there, or Dask is not installed.
    """
    require("cluster", "--cluster")
    check_address(address)
    from distributed import Client, LocalCluster

    with contextlib.ExitStack() as stack:
        for logger in map(logging.getLogger, _LOGGERS):  # muted, as `lns` reports the same events itself
            stack.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.CRITICAL + 1)
        target: Any = address
        if address == "local":
            target = stack.enter_context(
                LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0")
            )
        try:
            client = stack.enter_context(Client(target, timeout=ANSWER_S, set_as_default=False))
        except Exception as error:  # raised by the network, by TLS, or by Dask's own checks
            why = printable((str(error) or type(error).__name__).splitlines()[0], 200)
            raise InputError(f"no Dask scheduler answers at {address} ({why}); expected one of this version") from None
        if address == "local":
            client.run(_ignore_signals)
        yield client


def check_address(address: str) -> None:
    """Raise InputError unless ``address`` is the address of a scheduler (see `connected`) or ``local``."""
    if not re.fullmatch(r"local|(tcp|tls)://(\[[0-9a-fA-F:.]+\]|[^/\s@:\[\]]+):[0-9]{1,5}", address):
        raise InputError(
            f"no address of a cluster: {printable(address, 100)}; expected tcp://HOST:PORT, tls://HOST:PORT or local"
        )


def _ignore_signals() -> None:
    """Ignore Ctrl-C and hang-up in this worker process: its parent ends the search in order, and then the workers."""
    for number in PARENT_SIGNALS - {signal.SIGTERM}:
        signal.signal(number, signal.SIG_IGN)


def versions() -> dict[str, str]:
    """Return the versions of lns, Python, numba and numpy and a digest of the default parameters, all by name."""
    packages = {name: metadata.version(name) for name in ("numba", "numpy")}
    digest = hashlib.sha256(parameters.to_toml(Params()).encode()).hexdigest()[:12]
    return {"lns": __version__, "python": platform.python_version(), **packages, "parameters": digest}


def differences(client: Client, addresses: list[str]) -> dict[str, str]:
    """Return, by address, a sentence on each worker whose `versions` differ from those of this process."""
    own, problems = versions(), {}
    answers: Any = client.run(versions, workers=addresses, on_error="return") if addresses else {}
    for at, found in answers.items():
        if not isinstance(found, dict):  # the call failed in this worker: ``found`` is the error
            problems[at] = f"worker {at} has no lns, or a much older one; expected lns {__version__}, as here"
        elif other := [name for name in own if name != "parameters" and found.get(name) != own[name]]:
            words = ", ".join(printable(f"{name} {found.get(name)}", 60) for name in other)
            expected = ", ".join(f"{name} {own[name]}" for name in other)
            problems[at] = f"worker {at} has {words}; expected {expected}, as here"
        elif found["parameters"] != own["parameters"]:
            problems[at] = f"worker {at} has other parameters; expected the lns {__version__} that runs here"
    return problems
