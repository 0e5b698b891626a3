"""Where the rounds of islands are searched: `Workers`, an executor of ``concurrent.futures`` that can be told more.

`WorkerPool` has processes on this machine, `InProcessExecutor` has none, `lns.cluster.DaskWorkers` has a cluster, and
`UserExecutor` is any other executor.

In contrast to the pool of the standard library, a worker of `WorkerPool` that dies fails only its own task, with
`WorkerLost`, and is replaced. Parent and workers share pipes only: a killed process cannot leave a lock behind.
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

# Sent to the whole process group by a terminal or service manager. Workers ignore them: the parent ends the workers.
PARENT_SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}

WORKER_NAME = "island-"  # with its number
UNGUARDED = 78  # exit status of a worker: the main module, which it imports, calls `lns.solve` without a guard
ROUND_S = 2.0

_shared: Any = None  # in a worker process: memory shared with the parent, [whether to stop, when the search began]


def stop_requested() -> bool:
    """Whether this process is a worker whose running task should end at its next step."""
    return _shared is not None and bool(_shared[0])


def mark_begin() -> None:
    """Tell the parent, if this process is a worker, that kernels are loaded and the search begins."""
    if _shared is not None and not _shared[1]:
        _shared[1] = time.monotonic()


def is_worker() -> bool:
    """Whether this process is a worker of a `WorkerPool`."""
    return _shared is not None


class WorkersGone(InputError):
    """No worker can be reached any more, and none will come."""


class WorkerLost(RuntimeError):
    """A task is lost with its worker; ``exitcode`` is that of its process, if it ended on this machine."""

    def __init__(self, sentence: str, exitcode: int | None = None) -> None:
        super().__init__(sentence)
        self.exitcode = exitcode


class Workers(Executor):
    """An executor that searches rounds for an `lns.islands.Archipelago`. What it cannot be told does nothing."""

    first_round_s = 0.5  # length of the first round of an island
    round_s = ROUND_S  # and of the later ones
    grace_s = 1.0  # that rounds under way have at the end; a worker that compiles or hangs is then killed
    max_lost = 5  # rounds of an island that may be lost in a row; it is then abandoned
    capacity = 0  # islands that can be searched side by side at present; 0 if that is not known
    began: float | None = None  # monotonic time at which the first worker began to search, if it is known

    def check(self) -> None:
        """Raise `WorkersGone` if no round can be searched any more."""

    def announce(self, board: Board, score: int) -> None:
        """Tell the rounds under way the best board; returns at once."""

    def ask_to_stop(self) -> None:
        """End the rounds under way at their next step; returns at once."""

    def kill(self) -> None:
        """End the rounds under way now; they fail with `WorkerLost`."""


class UserExecutor(Workers):
    """Another executor, which stays open and keeps no island."""

    grace_s = 2 * ROUND_S

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        return self._executor.submit(fn, *args, **kwargs)


class InProcessExecutor(Workers):
    """Runs every task in the calling process, at once.

    For a single island without a worker process: in a notebook, in a debugger, and with operators that are registered
    in this process only. A running round is not interrupted by `lns.islands.Archipelago.stop`.
    """

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        future: Future[_T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class WorkerPool(Workers):
    """Spawned processes with one task at a time each, started for its first task and replaced when they die.

    Raises InputError where none could start: without shared memory, or if the main module, which each imports, is in no
    file.
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
        self._workers: dict[int, tuple[Connection, SpawnProcess]] = {}  # by the thread that serves it
        self._closed = False
        resource_tracker.ensure_running()  # started later, it would unblock the signals that the threads block
        blocking = signal.SIG_BLOCK, PARENT_SIGNALS  # inherited by the workers, until they can ignore them
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
        """End all workers; running tasks have half a second, then they and those that wait fail with `WorkerLost`.

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
        """In a thread: let its worker, which is started if there is none, do a task."""
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
        worker_end.close()  # the pipe then ends with the worker
        self._workers[thread] = parent_end, process
        if self._closed:  # meanwhile
            process.kill()
        return parent_end, process


def _work(pipe: Connection, shared: Any) -> None:
    """Main loop of a worker: run tasks from the pipe until the pipe or the parent ends."""
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
