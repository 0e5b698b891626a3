"""Islands on a Dask cluster: rounds are tasks that are bound to a worker, which keeps the island between them.

The scheduler sees one task an island and round. States travel when a report asks for one: for a checkpoint, and before
an island moves. New bests and the signal to stop reach workers by separate calls.
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
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit

from lns import params as parameters
from lns import rounds
from lns.engine import PackedState
from lns.exact.optional_deps import require
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.text import count_of, printable
from lns.params import Params
from lns.rounds import NotKept, Report, Task
from lns.version import __version__
from lns.worker_pool import PARENT_SIGNALS, WorkerLost, Workers, WorkersGone

if TYPE_CHECKING:
    from distributed import Client
    from distributed import Future as DaskFuture

log = logging.getLogger("lns")

_T = TypeVar("_T")

ANSWER_S = 10.0  # for an answer of the scheduler
ROUND_S = 10.0
STATE_S = 60.0  # between two states of an island
WAIT_S = 60.0  # for the first worker
WATCH_S = 1.0  # between two looks at the workers of the cluster
GONE_S = 15.0  # without a connection to the scheduler, until the run stops
EMPTY_S = 300.0  # without any worker, until the run stops
THREADS = 32  # that receive reports, each of which waits for an answer of the scheduler
_LOGGERS = ("distributed", *(f"distributed.{part}" for part in ("client", "nanny", "worker", "core")), "tornado")


class _Host(NamedTuple):
    """A worker of the cluster that may search."""

    threads: int
    machine: str


class DaskWorkers(Workers):
    """Workers of a Dask cluster. `shutdown` releases what they keep; the client stays open.

    Raises InputError where the cluster has no worker, or one with other parameters or another version of lns, Python,
    numba or numpy.
    """

    first_round_s, round_s, grace_s = 2.0, ROUND_S, 30.0
    max_lost = 100  # machines go for other reasons than what is searched on them

    def __init__(self, client: Client, *, state_s: float = STATE_S) -> None:
        self.state_s = max(state_s, ROUND_S)
        self._scheduler: Any = client.scheduler
        self.address = str(getattr(client.scheduler, "address", ""))
        self._client, self._run = client, secrets.token_hex(8)
        self._lock = threading.RLock()
        self._hosts: dict[str, _Host] = {}
        self._refused: set[str] = set()  # other versions
        self._joining: set[str] = set()  # their versions are asked for
        self._home: dict[int, str] = {}  # address of the worker of each island
        self._kept: dict[int, int] = {}  # islands that their worker keeps, and after how many steps
        self._warm: set[str] = set()  # machines on which a round was finished: their kernels are compiled
        self._waiting: list[tuple[Future[Any], Callable[..., Any], Task]] = []
        self._running: dict[int, tuple[Future[Any], DaskFuture[Any], str]] = {}  # by number of the island
        self._serial = count()
        self._ended = threading.Event()
        self._closed = False
        self._connected_at = self._populated_at = time.monotonic()
        self._receivers = ThreadPoolExecutor(THREADS, thread_name_prefix="lns-cluster")
        self._join(self._first_workers(), strict=True)
        workers, threads = count_of(len(self._hosts), "worker"), count_of(self.capacity, "thread")
        log.info("cluster %s: %s, %s", self.address, workers, threads)
        self._watcher = threading.Thread(target=self._watch, name="lns-cluster", daemon=True)
        self._watcher.start()

    @property
    def capacity(self) -> int:  # type: ignore[override]
        """Threads of all workers."""
        with self._lock:
            return sum(host.threads for host in self._hosts.values())

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        """Search a round at the worker that keeps the island, or at one with room. After `shutdown` it fails at once.

        ``fn`` is `lns.rounds.run_round`, or another function of a `lns.rounds.Task`, the only argument.
        """
        future: Future[_T] = Future()
        with self._lock:
            if self._closed:
                _fail(future, WorkerLost("the search was ended"))
            else:
                self._waiting.append((future, fn, replace(args[0], run=self._run, keeps=True)))
        self._dispatch()
        return future

    def check(self) -> None:
        """Raise `WorkersGone` if the scheduler or all workers are gone."""
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
        """Give up the rounds under way."""
        self._ended.set()
        with self._lock:
            given_up = [future for future, *_ in (*self._running.values(), *self._waiting)]
            self._running.clear()
            self._waiting.clear()
        for future in given_up:
            _fail(future, WorkerLost("the search was ended"))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the rounds under way, and release what the workers keep. A second call does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self.kill()
        self._tell("forget").join(ANSWER_S if wait else 0.0)
        self._watcher.join(ANSWER_S if wait else 0.0)
        self._receivers.shutdown(wait=False, cancel_futures=True)

    def _dispatch(self) -> None:
        """Hand the waiting rounds to workers, as far as there are any."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
            busy = {self._hosts[address].machine for *_, address in self._running.values() if address in self._hosts}
            for future, function, task in waiting:
                address, task = self._placed(task)
                host = self._hosts.get(address)
                if host is None or (host.machine not in self._warm and host.machine in busy):
                    self._waiting.append((future, function, task))  # the first round on a machine compiles the kernels
                    continue
                busy.add(host.machine)
                self._send(future, function, task, address)

    def _placed(self, task: Task) -> tuple[str, Task]:
        """The worker of an island, "" if there is none, and the task for it."""
        number, home = task.number, self._home.get(task.number, "")
        load = Counter(self._home.values())
        free = [address for address, host in self._hosts.items() if load[address] < host.threads]
        if home in self._hosts and (not free or load[home] <= self._hosts[home].threads):
            return home, task
        if home in self._hosts and number in self._kept:  # it moves: first its state comes
            return home, replace(task, steps=0, incumbent=None, with_state=True, keeps=False)
        least = min(free or self._hosts, key=lambda at: (load[at] / self._hosts[at].threads, at), default="")
        if least:
            self._home[number] = least
        return least, task

    def _send(self, future: Future[Any], function: Callable[..., Any], task: Task, address: str) -> None:
        island = task.island
        if island is not None and self._kept.get(task.number) == island.steps:
            task = replace(task, island=replace(island, state={}), is_kept=True)
        elif island is not None and not island.state:
            _fail(future, WorkerLost(f"worker {address} does not keep island {task.number}"))
            return
        elif island is not None:
            task = replace(task, island=replace(island, state=PackedState.of(island.state)))
        sent = self._client.submit(
            _searched, function, task, key=f"lns-{self._run}-{task.number}-{next(self._serial)}", workers=[address],
            allow_other_workers=False, pure=False, retries=0,
        )  # fmt: skip
        self._running[task.number] = future, sent, address

        def receive_soon(_: object) -> None:
            with contextlib.suppress(RuntimeError):  # after `shutdown`
                self._receivers.submit(self._receive, task, sent, address)

        sent.add_done_callback(receive_soon)

    def _receive(self, task: Task, sent: DaskFuture[Any], address: str) -> None:
        """In a thread: pass on what a round returned or raised."""
        report: Report | None = None
        error: BaseException | None = None
        try:
            report = sent.result()
        except BaseException as failure:
            error = failure
        with self._lock:
            future, running, _ = self._running.get(task.number, (None, None, ""))
            if future is None or running is not sent:
                return  # given up
            del self._running[task.number]
            self._kept.pop(task.number, None)
            if report is not None:
                if host := self._hosts.get(address):
                    self._warm.add(host.machine)
                if not task.keeps:
                    self._home.pop(task.number, None)
                elif self._home.get(task.number) == address:
                    self._kept[task.number] = report.island.steps
        if report is not None:
            future.set_result(report)
        elif isinstance(error, Exception) and not _is_of_the_cluster(error):
            _fail(future, error)
        else:
            _fail(future, WorkerLost(f"worker {address} lost its round"))
        self._dispatch()

    def _threads(self) -> dict[str, int]:
        """Threads of each worker of the cluster, by its address."""
        return dict(self._client.sync(self._scheduler.ncores, callback_timeout=ANSWER_S))

    def _first_workers(self) -> dict[str, int]:
        """The workers, once there is one. Raises InputError if none comes."""
        end = time.monotonic() + WAIT_S
        if not (threads := self._threads()):
            log.info("waiting for the first worker of the cluster at %s", self.address)
        while not threads:
            if time.monotonic() > end:
                raise InputError(
                    f"the cluster at {self.address} has had no worker for {WAIT_S:.0f} s; expected some (dask worker)"
                )
            time.sleep(0.2)
            threads = self._threads()
        return threads

    def _watch(self) -> None:
        """Thread that sees who joins and who is gone."""
        while not self._ended.wait(WATCH_S):
            with contextlib.suppress(Exception):  # `check` says when there was no answer for long
                self._look()

    def _look(self) -> None:
        now = time.monotonic()
        if self._client.status != "running":
            return
        present = self._threads()
        self._connected_at = now
        with self._lock:
            gone = self._hosts.keys() - present.keys()
            for address in gone:
                del self._hosts[address]
            if self._hosts:
                self._populated_at = now
            lost = [number for number, address in self._home.items() if address in gone]
            for number in lost:
                del self._home[number]
                self._kept.pop(number, None)
            failed = [self._running.pop(number) for number in lost if number in self._running]
        for address in sorted(gone):
            log.warning("worker %s is gone", address)
        for future, sent, address in failed:
            _fail(future, WorkerLost(f"worker {address} is gone"))
            _in_thread(sent.cancel)
        self._refused &= present.keys()
        known = self._hosts.keys() | self._refused | self._joining
        joined = {address: threads for address, threads in present.items() if address not in known}

        def welcome() -> None:  # the next look tries again with those that do not answer
            try:
                self._join(joined, strict=False)
                self._dispatch()
            finally:
                self._joining -= joined.keys()

        if joined:
            self._joining |= joined.keys()
            _in_thread(welcome)
        if gone:
            self._dispatch()

    def _join(self, threads: dict[str, int], *, strict: bool) -> None:
        """Take over workers. One of another version is an InputError if ``strict``; else it is left out, and logged."""
        for address, problem in sorted(differences(self._client, list(threads)).items()):
            if strict:
                raise InputError(problem)
            log.warning("%s; it is left out", problem)
            self._refused.add(address)
        accepted = [address for address in threads if address not in self._refused]
        machines = self._client.run(platform.node, workers=accepted, on_error="ignore") if accepted else {}
        with self._lock:
            self._hosts |= {at: _Host(max(1, threads[at]), str(machine)) for at, machine in machines.items()}
        if not strict and machines:
            log.info("%s joined, %d in all", count_of(len(machines), "worker"), len(self._hosts))

    def _tell(self, what: str, *arguments: object) -> threading.Thread:
        """Call a method of `lns.rounds.Worker` in all workers, beside their tasks."""

        def tell() -> None:
            with self._lock:
                addresses = list(self._hosts)
            if addresses and self._client.status == "running":
                self._client.run(_told, what, self._run, *arguments, workers=addresses, on_error="ignore")

        return _in_thread(tell)


def _searched(function: Callable[[Task], Report], task: Task) -> Report:
    """In a worker: the report of a round as it travels."""
    report = function(task)
    if report.has_state:
        report = replace(report, island=replace(report.island, state=PackedState.of(report.island.state)))
    return replace(report, worker=0)


def _told(what: str, *arguments: object) -> None:
    """In a worker: call a method of what it keeps."""
    getattr(rounds.WORKER, what)(*arguments)


def _in_thread(call: Callable[[], object]) -> threading.Thread:
    """Make a call to the workers in a thread, as one that hangs would delay the search."""

    def attempt() -> None:
        with contextlib.suppress(Exception):  # a worker that is gone needs no news
            call()

    thread = threading.Thread(target=attempt, name="lns-cluster-call", daemon=True)
    thread.start()
    return thread


def _fail(future: Future[Any], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)


def _is_of_the_cluster(error: Exception) -> bool:
    """Whether a round failed with its worker or its connection, not by itself."""
    return isinstance(error, NotKept | OSError | TimeoutError) or type(error).__module__.startswith(
        ("distributed", "asyncio", "concurrent", "tornado")
    )


# -- the connection --------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def connected(address: str, workers: int | None = None) -> Iterator[Client]:
    """A client of the cluster at ``address``, closed on exit: of a scheduler (``tcp://HOST:PORT`` or ``tls://...``).

    The address ``local`` makes a cluster of ``workers`` processes on this machine, by default one for each core. Raises
    InputError if the address is none, nobody answers there, or Dask is not installed.
    """
    require("cluster", "--cluster")
    check_address(address)
    from distributed import Client, LocalCluster

    with contextlib.ExitStack() as stack:
        for logger in map(logging.getLogger, _LOGGERS):  # which tell in many lines what `lns` says in one
            stack.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.CRITICAL + 1)
        target: Any = address
        if address == "local":
            target = stack.enter_context(
                LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0")
            )
        try:
            client = stack.enter_context(Client(target, timeout=ANSWER_S, set_as_default=False))
        except Exception as error:  # of the network, of TLS, or of Dask's own checks
            why = printable((str(error) or type(error).__name__).splitlines()[0], 200)
            raise InputError(f"no Dask scheduler answers at {address} ({why}); expected one of this version") from None
        if address == "local":
            client.run(_ignore_signals)
        yield client


def check_address(address: str) -> None:
    """Raise InputError if ``address`` cannot be that of a cluster."""
    try:
        is_scheduler = bool(urlsplit(address).hostname and urlsplit(address).port)
    except ValueError:  # a port that is no number
        is_scheduler = False
    if address != "local" and not (is_scheduler and re.fullmatch(r"(tcp|tls)://[^/\s@]+", address)):
        raise InputError(
            f"no address of a cluster: {printable(address, 100)}; expected tcp://HOST:PORT, tls://HOST:PORT or local"
        )


def _ignore_signals() -> None:
    """In the main thread of a local worker: Ctrl-C in the terminal ends the search in order, not its workers."""
    for number in PARENT_SIGNALS - {signal.SIGTERM}:
        signal.signal(number, signal.SIG_IGN)


def is_client(executor: object) -> bool:
    """Whether ``executor`` is a client of Dask."""
    kinds = type(executor).__mro__
    return any(kind.__module__.startswith("distributed.") and kind.__name__ == "Client" for kind in kinds)


def parameter_digest() -> str:
    """Digest of the names and defaults of all parameters: equal in processes that search alike."""
    return hashlib.sha256(parameters.to_toml(Params()).encode()).hexdigest()[:12]


def differences(client: Client, addresses: list[str]) -> dict[str, str]:
    """A sentence on each worker that differs from this process in a version or in the parameters."""

    def described() -> dict[str, str]:  # travels as its code, for workers without this package
        try:
            from lns.cluster import parameter_digest
            from lns.version import __version__
        except ImportError:
            return {"lns": "", "parameters": ""}
        return {"lns": __version__, "parameters": parameter_digest()}

    versions: Any = client.get_versions(packages=["numba", "numpy"])
    packages = {at: versions["workers"].get(at, {}).get("packages", {}) for at in addresses}
    here = versions["client"]["packages"]
    own = described() | {name: str(here[name]) for name in ("python", "numba", "numpy")}
    alike = [at for at in addresses if packages[at].get("python") == here["python"]]  # others could not read the code
    answers = cast(dict[str, Any], client.run(described, workers=alike, on_error="ignore")) if alike else {}
    problems = {}
    for at, found in packages.items():
        has: dict[str, Any] = {"python": found.get("python")} | answers.get(at, {})
        has |= {name: found.get(name) for name in ("numba", "numpy")}
        if other := [name for name, version in has.items() if name != "parameters" and version != own[name]]:
            words = ", ".join(printable(f"{name} {has[name]}" if has[name] else f"no {name}", 60) for name in other)
            expected = ", ".join(f"{name} {own[name]}" for name in other)
            problems[at] = f"worker {at} has {printable(words, 200)}; expected {expected}, as here"
        elif has.get("parameters", own["parameters"]) != own["parameters"]:
            problems[at] = f"worker {at} has other parameters; expected the lns {__version__} that runs here"
    return problems
