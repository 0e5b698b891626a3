"""Executors that search the rounds of islands: `Workers`, a ``concurrent.futures`` executor with more methods.

`WorkerPool` uses processes on this machine, `InProcessExecutor` the calling process, `lns.cluster.DaskWorkers` a
cluster, and `UserExecutor` any other executor.

Unlike in the pool of the standard library, a worker of `WorkerPool` that dies fails only its own task, with
`WorkerLost`, and is replaced. Parent and workers share no locks, which a killed process could leave locked.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lns.instances.errors import InputError
from lns.instances.text import printable

if TYPE_CHECKING:
    from lns.instances.board import Board

_T = TypeVar("_T")

# Signals that a terminal or service manager sends to all processes of a group. Workers ignore them: the parent process
# ends its workers.
PARENT_SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}

WORKER_NAME = "island-"  # the name of a worker process is this text and a number, from 0
UNGUARDED = 78  # exit status of a worker whose main module calls `lns.solve` outside of ``if __name__ == "__main__"``
ROUND_S = 2.0

_shared: Any = None  # in a worker process, shared with its parent: [stop flag, monotonic time when search began, or 0]


def stop_requested() -> bool:
    """Return whether this process is a worker whose running task should end at its next step."""
    return _shared is not None and bool(_shared[0])


def mark_begin() -> None:
    """Tell the parent, if this process is a worker, that kernels are loaded and the search begins."""
    if _shared is not None and not _shared[1]:
        _shared[1] = time.monotonic()


def is_worker() -> bool:
    """Return whether this process is a worker of a `WorkerPool`."""
    return _shared is not None


class WorkersGone(InputError):
    """Raised if no worker can be reached any more, and none is expected to come."""


class WorkerLost(RuntimeError):
    """Raised for a task lost with its worker; ``exitcode`` is set if a worker process of this machine has ended."""

    def __init__(self, sentence: str, exitcode: int | None = None) -> None:
        super().__init__(sentence)
        self.exitcode = exitcode


class Workers(Executor):
    """Base of the executors that search rounds for an `lns.islands.Archipelago`; its own methods do nothing."""

    first_round_s = 0.5  # seconds of the first round of an island
    round_s = ROUND_S  # seconds of later rounds
    grace_s = 1.0  # seconds that running rounds have to end after a search, before workers are killed
    max_lost = 5  # after this number of lost rounds in a row an island is abandoned
    capacity = 0  # number of islands that can be searched at the same time now; 0 if unknown
    began: float | None = None  # monotonic time at which the first worker began to search, if known

    def check(self) -> None:
        """Raise `WorkersGone` if no round can be searched any more."""

    def announce(self, board: Board, score: int) -> None:
        """Tell the running rounds the best board of all islands; return at once."""

    def ask_to_stop(self) -> None:
        """Ask the running rounds to end at their next step; return at once."""

    def kill(self) -> None:
        """End the running rounds now; they fail with `WorkerLost`."""


class UserExecutor(Workers):
    """An executor of the user, which stays open. Its workers keep no engines between rounds."""

    grace_s = 2 * ROUND_S

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        return self._executor.submit(fn, *args, **kwargs)


class InProcessExecutor(Workers):
    """Runs every task in the calling process, at once.

    Serves a single island without a worker process: in a notebook, in a debugger, and with operators that are
    registered only in this process. `lns.islands.Archipelago.stop` does not interrupt a running round.
    """

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        future: Future[_T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class WorkerPool(Workers):
    """Spawned worker processes, each with one task at a time; started when needed and replaced when they die.

    Raises InputError if no worker could start: without shared memory, or if the main module, which each worker imports,
    is not in a file.
    """

    def __init__(self, workers: int) -> None:
        main = sys.modules["__main__"]
        script = getattr(main, "__file__", None)
        if script is not None and main.__spec__ is None and not Path(script).exists():
            raise InputError(
                "worker processes import the script, which was read from here; expected it in a file, as in "
                "`python script.py`", printable(script),
            )  # fmt: skip
        self._context = multiprocessing.get_context("spawn")
        try:
            self._shared = self._context.RawArray(ctypes.c_double, 2)
        except OSError as error:
            raise InputError(
                f"worker processes have no shared memory ({error.strerror}); expected a directory that can be "
                "written, as by `docker run --tmpfs /dev/shm`", error.filename,
            ) from None  # fmt: skip
        self._workers: dict[int, tuple[Connection, SpawnProcess]] = {}  # serving thread -> (pipe to worker, worker)
        self._closed = False
        resource_tracker.ensure_running()  # here, since a later start would unblock the signals that the threads block
        blocking = signal.SIG_BLOCK, PARENT_SIGNALS  # workers inherit the block, until they ignore these signals
        self._threads = ThreadPoolExecutor(workers, initializer=signal.pthread_sigmask, initargs=blocking)

    @property
    def began(self) -> float | None:  # type: ignore[override]
        return self._shared[1] or None

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        return self._threads.submit(self._run, fn, args, kwargs)

    def ask_to_stop(self) -> None:
        self._shared[0] = 1

    def kill(self) -> None:
        self._closed = True
        for _, process in list(self._workers.values()):
            process.kill()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all workers; running tasks have half a second, then they and waiting tasks fail with `WorkerLost`.

        ``wait``: return only after the processes have ended.
        """
        self.ask_to_stop()
        timer = threading.Timer(0.5, self.kill)
        timer.daemon = True
        timer.start()
        self._threads.shutdown(wait)
        if wait:
            timer.cancel()
            self.kill()
            for _, process in self._workers.values():
                process.join()

    def _run(self, *call: Any) -> Any:
        """Run a task in the worker process of this thread, which is started if need be; return the task's result."""
        if self._closed:
            raise WorkerLost("the workers were ended")
        thread = threading.get_ident()
        try:
            pipe, process = self._workers.get(thread) or self._start(thread)
            pipe.send(call)
            result, error = pipe.recv()
        except (EOFError, OSError) as failure:
            if thread not in self._workers:
                raise WorkerLost(f"a worker could not be started: {failure}") from None
            _, process = self._workers.pop(thread)
            process.join(1.0)
            sentence = f"worker {process.pid} ended with exit code {process.exitcode}"
            raise WorkerLost(sentence, process.exitcode) from None
        if error is not None:
            raise error
        return result

    def _start(self, thread: int) -> tuple[Connection, SpawnProcess]:
        parent_end, worker_end = self._context.Pipe()
        name = f"{WORKER_NAME}{len(self._workers)}"
        process = self._context.Process(target=_work, args=(worker_end, self._shared), daemon=True, name=name)
        process.start()
        worker_end.close()  # so that the pipe breaks if the worker ends
        self._workers[thread] = parent_end, process
        if self._closed:  # `kill` was called during the start
            process.kill()
        return parent_end, process


def _work(pipe: Connection, shared: Any) -> None:
    """Run tasks from the pipe until it is closed or the parent ends; this is the main loop of a worker process."""
    global _shared
    _shared = shared
    for number in PARENT_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_exit_with, args=(parent,), daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            function, args, kwargs = pipe.recv()
            try:
                answer: tuple[Any, Exception | None] = function(*args, **kwargs), None
            except Exception as error:
                error.add_note(f"in the worker\n{traceback.format_exc()}")
                answer = None, error
            pipe.send(answer)


def _exit_with(parent: multiprocessing.process.BaseProcess) -> None:
    """End this process when the parent ends."""
    parent.join()
    os._exit(1)
