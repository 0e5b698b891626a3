"""Worker processes on this machine behind the ``concurrent.futures.Executor`` interface.

In contrast to the pool of the standard library, a worker that dies fails only its own task, with `WorkerLost`, and is
replaced. Parent and workers share pipes only: a killed process cannot leave a lock or a semaphore behind.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Executor, Future
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, TypeVar

from lns_support.errors import InputError
from lns_support.text import printable

_T = TypeVar("_T")
_Job = tuple[Future[Any], Callable[..., Any], tuple[Any, ...], dict[str, Any]]

# Sent to the whole process group by a terminal or service manager. Workers ignore them: the parent ends the workers.
_PARENT_SIGNALS = {getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)}

WORKER_NAME = "island-"  # with its number
UNGUARDED = 78  # exit status of a worker: the main module, which it imports, calls `lns.solve` without a guard

_stop_flag: Any = None  # in a worker: memory shared with the parent
_begin: Any = None  # likewise


class WorkerLost(RuntimeError):
    """A task is lost with its worker.

    Parameters
    ----------
    sentence : str
        How it was lost.
    exitcode : int, optional
        Exit code of the worker's process, if it ended on this machine; -9 if signal 9 killed it.
    """

    def __init__(self, sentence: str, exitcode: int | None = None) -> None:
        super().__init__(sentence)
        self.exitcode = exitcode


def stop_requested() -> bool:
    """Whether this process is a worker whose running task should end at its next step."""
    return _stop_flag is not None and bool(_stop_flag.value)


def mark_begin() -> None:
    """Tell the parent, if this process is a worker, that kernels are loaded and the search begins."""
    if _begin is not None and not _begin.value:
        _begin.value = time.monotonic()


def is_worker() -> bool:
    """Whether this process is a worker of a `WorkerPool`."""
    return _stop_flag is not None


class RemoteTraceback(Exception):
    """Traceback of a worker as text: the cause of the exception that its task raised."""


class WorkerPool(Executor):
    """A fixed number of spawned processes, each with one task at a time.

    A process is started for its first task and replaced when it dies.

    Parameters
    ----------
    workers : int
        Number of processes.

    Raises
    ------
    InputError
        No process could start: there is no shared memory, or the main module, which each imports, is in no file.
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
            self._flag = self._context.RawValue(ctypes.c_bool, False)
            self._begin = self._context.RawValue(ctypes.c_double, 0.0)
        except OSError as error:
            raise InputError(
                f"worker processes have no shared memory ({error.strerror}); expected a directory that can be "
                "written, as by `docker run --tmpfs /dev/shm`", error.filename,
            ) from None  # fmt: skip
        self._tasks: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._processes: dict[int, SpawnProcess] = {}
        self._closed = False
        resource_tracker.ensure_running()  # started later, it would unblock the signals that the threads below block
        self._threads = [threading.Thread(target=self._serve, args=(slot,), daemon=True) for slot in range(workers)]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        future: Future[_T] = Future()
        self._tasks.put((future, fn, args, kwargs))
        return future

    @property
    def began(self) -> float | None:
        """Monotonic time at which a worker first called `mark_begin`; None before."""
        return self._begin.value or None

    def ask_to_stop(self) -> None:
        """Make `stop_requested` true in the workers: running tasks end at their next step."""
        self._flag.value = True

    def kill(self) -> None:
        """Kill every worker process; running tasks fail with `WorkerLost`."""
        self._closed = True
        for process in list(self._processes.values()):
            process.kill()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all workers; running tasks have half a second, then their processes are killed.

        Parameters
        ----------
        wait : bool
            Whether to return only after the processes have ended.
        cancel_futures : bool
            Whether waiting tasks are cancelled; otherwise they fail with `WorkerLost`.
        """
        self.ask_to_stop()
        with contextlib.suppress(queue.Empty):
            while cancel_futures and (job := self._tasks.get_nowait()) is not None:
                job[0].cancel()
        for _ in self._threads:
            self._tasks.put(None)
        if wait:
            self._wait(0.5)
        self.kill()
        if wait:
            self._wait(0.5)  # reap the killed processes

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _serve(self, slot: int) -> None:
        """Thread of one worker: passes tasks to the process and replaces it when it dies."""
        if hasattr(signal, "pthread_sigmask"):  # inherited by the worker, until it can ignore them
            signal.pthread_sigmask(signal.SIG_BLOCK, _PARENT_SIGNALS)
        pipe: Connection | None = None
        while (job := self._tasks.get()) is not None:
            future, function, args, kwargs = job
            if not future.set_running_or_notify_cancel():
                continue
            try:
                if pipe is None:
                    pipe = self._start(slot)
                pipe.send((function, args, kwargs))
                done, result, worker_traceback = pipe.recv()
            except (EOFError, OSError) as error:
                process = self._processes.pop(slot, None)
                pipe = None
                if process is None:
                    future.set_exception(WorkerLost(f"a worker could not be started: {error}"))
                else:
                    process.join(1.0)
                    sentence = f"worker {process.pid} ended with exit code {process.exitcode}"
                    future.set_exception(WorkerLost(sentence, process.exitcode))
            except BaseException as error:  # the task cannot be pickled, or its result not unpickled
                future.set_exception(error)
            else:
                if not done:
                    result.__cause__ = RemoteTraceback(f"in the worker\n{worker_traceback}")
                future.set_result(result) if done else future.set_exception(result)
        if pipe is not None:
            pipe.close()
            self._processes[slot].join()

    def _start(self, slot: int) -> Connection:
        parent_end, worker_end = self._context.Pipe()
        process = self._context.Process(
            target=_work, args=(worker_end, self._flag, self._begin), daemon=True, name=f"{WORKER_NAME}{slot}"
        )
        process.start()
        self._processes[slot] = process
        worker_end.close()  # the pipe then ends with the worker
        if self._closed:
            process.kill()
        return parent_end


class InProcessExecutor(Executor):
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


def _work(pipe: Connection, flag: Any, begin: Any) -> None:
    """Main loop of a worker: run tasks from the pipe until the pipe or the parent ends."""
    global _stop_flag, _begin
    _stop_flag, _begin = flag, begin
    for number in _PARENT_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_exit_with, args=(parent,), daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            function, args, kwargs = pipe.recv()
            try:
                answer = True, function(*args, **kwargs), ""
            except Exception as error:
                answer = False, error, traceback.format_exc()
            pipe.send(answer)


def _exit_with(parent: multiprocessing.process.BaseProcess) -> None:
    """End this process when the parent ends."""
    parent.join()
    os._exit(1)
