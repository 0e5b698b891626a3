"""Worker processes on this machine behind the ``concurrent.futures.Executor`` interface.

Unlike the pool of the standard library a process that dies costs only the task it had: its future fails with
`WorkerLost` and the next task gets a new process. There are only pipes between parent and workers, no locks and no
semaphores that a killed process could take with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import queue
import signal
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Executor, Future
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, TypeVar

_T = TypeVar("_T")
_Job = tuple[Future[Any], Callable[..., Any], tuple[Any, ...], dict[str, Any]]

# What a terminal or a service manager sends to the whole group: the parent ends the workers in order.
_FOR_THE_PARENT = {getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)}

_stop_flag: Any = None  # in a worker: memory shared with the parent


class WorkerLost(RuntimeError):
    """A worker process ended in the middle of a task. ``exitcode``: of the process, -9 = killed by signal 9.

    ``pid`` 0: it could not even be started, ``reason`` says why.
    """

    def __init__(self, pid: int, exitcode: int | None, reason: object = "") -> None:
        self.pid, self.exitcode = pid, exitcode
        super().__init__(
            f"worker {pid} ended with exit code {exitcode}" if pid else f"a worker could not be started: {reason}"
        )


def stop_requested() -> bool:
    """In a worker: whether the parent wants the task to end at its next step. False in any other process."""
    return _stop_flag is not None and bool(_stop_flag.value)


def is_worker() -> bool:
    """Whether this process is a worker of a `WorkerPool`."""
    return _stop_flag is not None


class RemoteTraceback(Exception):
    """What a worker said of the exception that its task raised: the cause of that exception in the parent."""


class WorkerPool(Executor):
    """``workers`` spawned processes, one task at a time each; started when first needed, replaced when they die."""

    def __init__(self, workers: int) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._flag = self._context.RawValue(ctypes.c_bool, False)
        self._tasks: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._processes: dict[int, SpawnProcess] = {}
        self._closed = False
        resource_tracker.ensure_running()  # starts here, or it would undo the blocked signals of the threads below
        self._threads = [threading.Thread(target=self._serve, args=(slot,), daemon=True) for slot in range(workers)]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        future: Future[_T] = Future()
        self._tasks.put((future, fn, args, kwargs))
        return future

    def ask_to_stop(self) -> None:
        """Tasks under way end at their next step (`stop_requested` in the workers turns True)."""
        self._flag.value = True

    def kill(self) -> None:
        """End every worker now; tasks under way fail."""
        self._closed = True
        for process in list(self._processes.values()):
            process.kill()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """No more tasks; idle workers leave. With ``wait`` until they have, after half a second by force.

        ``cancel_futures``: those of tasks that no worker has begun are cancelled; else they fail with `WorkerLost`.
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
            self._wait(0.5)  # the killed are gone at once, but have to be waited for

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _serve(self, slot: int) -> None:
        """The thread of one worker: hands it tasks and keeps it alive."""
        if hasattr(signal, "pthread_sigmask"):  # inherited by the worker, until it can ignore them
            signal.pthread_sigmask(signal.SIG_BLOCK, _FOR_THE_PARENT)
        pipe: Connection | None = None
        while (job := self._tasks.get()) is not None:
            future, function, args, kwargs = job
            if not future.set_running_or_notify_cancel():
                continue
            try:
                if pipe is None:
                    pipe = self._start(slot)
                pipe.send((function, args, kwargs))
                done, result, told = pipe.recv()
            except (EOFError, OSError) as error:
                process = self._processes.pop(slot, None)
                if process is not None:
                    process.join(1.0)
                pipe = None
                lost = WorkerLost(0, None, error) if process is None else WorkerLost(process.pid or 0, process.exitcode)
                future.set_exception(lost)
            except BaseException as error:  # a task that cannot be pickled, an answer that cannot be read
                future.set_exception(error)
            else:
                if not done:
                    result.__cause__ = RemoteTraceback(f"in the worker\n{told}")
                future.set_result(result) if done else future.set_exception(result)
        if pipe is not None:
            pipe.close()
            self._processes[slot].join()

    def _start(self, slot: int) -> Connection:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs, self._flag), daemon=True, name=f"island-{slot}")
        process.start()
        self._processes[slot] = process
        theirs.close()  # so that the end of the worker is the end of the pipe
        if self._closed:
            process.kill()
        return ours


def _work(pipe: Connection, flag: Any) -> None:
    """A worker's life: tasks from the pipe until it ends. Never outlives the parent."""
    global _stop_flag
    _stop_flag = flag
    for number in _FOR_THE_PARENT:
        signal.signal(number, signal.SIG_IGN)
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            function, args, kwargs = pipe.recv()
            try:
                answer = True, function(*args, **kwargs), ""
            except Exception as error:
                answer = False, error, traceback.format_exc()
            pipe.send(answer)


def _follow(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)
