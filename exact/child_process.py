"""Run a function in a child process that can be stopped at any moment.

`run_in_process` starts a new interpreter, calls a function there by name and passes on the messages that it sends.
Limits on time and memory also hold inside C code that checks no clock. They begin when the function is called: the
start of Python, imports and compilation do not count. Ctrl-C ends the child and keeps the messages
received so far. A child that crashes raises an error; a crash is never taken for an answer.
"""

from __future__ import annotations

import logging
import math
import os
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from lns.instances.errors import InputError

Emit = Callable[[Any], None]
_SERVE = "from lns.exact.child_process import serve; serve()"
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Each thread of a linear algebra library takes address space; OpenBLAS hangs if it gets none."""
_SILENT_SECONDS = 2.0  # a start that takes longer is logged
_LONGEST_WAIT = 2_000_000.0  # seconds of a limit: poll() counts milliseconds in a C int

log = logging.getLogger("lns")


class ExitReason(StrEnum):
    """Why a child process ended. A crash is not among them: it raises an error."""

    FINISHED = "finished"
    TIME = "time limit"
    MEMORY = "memory limit"
    INTERRUPTED = "interrupted"
    ENOUGH = "ended by its receiver"


@dataclass(frozen=True)
class ProcessResult:
    """How a child process ended."""

    reason: ExitReason
    seconds: float  # of wall-clock time from the start of the task to the end; 0 if the task was not started
    peak_bytes: int  # largest resident memory of the child; 0 if the system does not report it


def run_in_process(
    task: Callable[..., None],
    *arguments: Any,
    receive: Callable[[Any], object],
    seconds: float | None = None,
    memory: int | None = None,
    processor: bool = False,
    prepare: str = "",
) -> ProcessResult:
    """Call ``task(emit, *arguments)``, a function at the top level of a module, in a new process.

    The task sends a message by calling ``emit(message)``; ``receive`` is called with each in this process, and ends the
    child by returning True. Messages and arguments are pickled.

    ``seconds`` limits wall-clock time from the start of the task on, when its module and the module ``prepare`` are
    imported; with ``processor`` it limits the child's processor time, rounded up to whole seconds. ``memory`` limits
    the child's address space in bytes, also from the start of the task on: a library that gets no memory while it is
    loaded may hang. A child that dies under it is taken to have reached it.

    Raises InputError if the task raised one, and ChildProcessError if it raised another exception, or the child crashed
    or was killed; the result is then unknown.
    """
    read_end, write_end = os.pipe()
    environment = os.environ | _ONE_THREAD | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    started: float | None = None
    with (
        tempfile.TemporaryFile() as request,
        tempfile.TemporaryFile() as errors,
        Connection(read_end, writable=False) as inbox,
    ):
        pickle.dump((prepare, task, arguments, memory, seconds if processor else None), request)
        request.seek(0)
        child = subprocess.Popen(
            [sys.executable, "-c", _SERVE, str(write_end), str(os.getpid())],
            stdin=request,
            stdout=subprocess.DEVNULL,  # some libraries print
            stderr=errors,
            pass_fds=(write_end,),
            env=environment,
            start_new_session=True,  # Ctrl-C is for the parent to handle
        )
        os.close(write_end)
        try:
            if not inbox.poll(_SILENT_SECONDS):
                log.info(
                    "the search has not begun: what it needs is being loaded, the first time also compiled; no time "
                    "counts"
                )
                inbox.poll(None)
            started = time.perf_counter()
            deadline = None if processor or seconds is None else started + min(seconds, _LONGEST_WAIT)
            reason, peak = _listen(inbox, child.pid, receive, deadline)
        except KeyboardInterrupt:
            reason, peak = ExitReason.INTERRUPTED, peak_bytes(child.pid)
        finally:
            child.kill()
            child.wait()
        if child.returncode == -signal.SIGXCPU:
            reason = ExitReason.TIME
        if reason is None and memory is not None:
            reason = ExitReason.MEMORY  # many libraries crash when they get no memory
        if reason is None:
            code = child.returncode
            how = f"status {code}" if code >= 0 else f"signal {-code} ({signal.Signals(-code).name})"
            errors.seek(0)
            if said := errors.read().decode(errors="replace").strip():
                how += f" ({said.splitlines()[-1]})"
            raise ChildProcessError(f"the process of {task.__module__} ended with {how}; its result is unknown")
    return ProcessResult(reason, 0.0 if started is None else time.perf_counter() - started, peak)


def _listen(
    inbox: Connection, pid: int, receive: Callable[[Any], object], deadline: float | None
) -> tuple[ExitReason | None, int]:
    """Pass messages on until the child ends or its time is over.

    Returns the reason, None for a crash, and the peak memory in bytes.
    """
    while inbox.poll(None if deadline is None else max(0.0, deadline - time.perf_counter())):
        try:
            kind, content = inbox.recv()
        except (EOFError, pickle.UnpicklingError):
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # keep its own exit status: the caller kills it next
            return None, 0
        if kind == "message":
            if receive(content):
                return ExitReason.ENOUGH, peak_bytes(pid)
        elif kind == "bad input":
            raise InputError(content)
        elif kind == "error":
            raise ChildProcessError(f"{content}; its result is unknown")
        elif kind != "ready":
            return (ExitReason.FINISHED if kind == "done" else ExitReason.MEMORY), content
    return ExitReason.TIME, peak_bytes(pid)


def serve() -> None:
    """The child's main function: run the task on stdin and send messages to the parent.

    The arguments of the process are the number of the pipe for messages, and the parent's process id.
    """
    outbox = Connection(int(sys.argv[1]), readable=False)
    die_with_parent(int(sys.argv[2]))
    prepare, task, arguments, memory, processor_seconds = pickle.load(sys.stdin.buffer)
    final: tuple[str, Any]
    try:
        if prepare:
            import_module(prepare)
        if memory is not None:
            _limit_memory(memory)
        if processor_seconds is not None:
            limit = math.ceil(time.process_time() + processor_seconds)
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        outbox.send(("ready", None))
        task(lambda message: outbox.send(("message", message)), *arguments)
        final = "done", peak_bytes(os.getpid())
    except MemoryError:
        final = "memory", peak_bytes(os.getpid())
    except InputError as error:
        final = "bad input", str(error)
    except Exception as error:
        final = "error", f"{type(error).__name__} in {task.__module__}: {error}"
    outbox.send(final)
    os._exit(0)  # some libraries crash while they are unloaded


def _limit_memory(memory: int) -> None:
    """Limit the address space of this process, whose libraries are loaded. Raises InputError if they take it all."""
    with suppress(ImportError):  # numba loads it late, and OpenBLAS hangs if it gets no memory
        import_module("scipy.linalg.cython_blas")
    with suppress(OSError):
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        if taken >= memory:
            raise InputError(
                f"a limit of {memory // 10**6} MB of memory; expected more than {taken // 10**6} MB, "
                "which the libraries take"
            )
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def die_with_parent(parent: int | None = None) -> None:
    """Make Linux kill this process when its parent dies; on other systems it ends with its task.

    Ends this process if ``parent``, the parent's process id, is given and that process is dead already.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(1)


def yield_to_all() -> None:
    """At the start of a child in a session of its own: lowest priority, and `die_with_parent`.

    Linux shares time among sessions first, so that ``os.nice`` counts only within one.
    """
    die_with_parent()
    with suppress(OSError):
        os.nice(19)
        Path("/proc/self/autogroup").write_text("19")


def peak_bytes(pid: int) -> int:
    """Largest resident memory of a running process in bytes; 0 if the system does not report it.

    ``getrusage`` would include the parent's memory before exec.
    """
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0
