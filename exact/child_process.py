"""Run a function in a child process that can be stopped at any moment.

`run_in_process` starts a new interpreter, calls a function there by name and passes on the messages that it sends.
Limits on time and memory also hold inside C code that checks no clock. They begin when the function is called: the
start of Python and the imports, with what these compile, take none of the time. Ctrl-C ends the child and keeps the
messages received so far. A crash is never taken for an answer: `run_in_process` raises an error or, if a limit on
memory is set, reports that this limit was reached.
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
"""Environment variables that keep linear algebra to one thread: OpenBLAS hangs if a thread gets no address space."""
_SILENT_SECONDS = 2.0  # if the child takes longer to start, a message is logged
_LONGEST_WAIT = 2_000_000.0  # longest time limit in seconds, because poll() takes milliseconds as a C int

log = logging.getLogger("lns")


class ExitReason(StrEnum):
    """Why a child process ended; a crash raises ChildProcessError or, if a limit on memory is set, counts as MEMORY."""

    FINISHED = "finished"
    TIME = "time limit"
    MEMORY = "memory limit"
    INTERRUPTED = "interrupted"
    ENOUGH = "ended by its receiver"


@dataclass(frozen=True)
class ProcessResult:
    """How a child process ended."""

    reason: ExitReason
    seconds: float  # wall-clock time from the start of the task to its end; 0 if the task never started
    peak_bytes: int  # largest resident memory of the child; 0 if unknown, as after a crash or on some systems


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

    The task sends a message by calling ``emit(message)``. This process calls ``receive`` with each message and ends the
    child if ``receive`` returns True. Messages and arguments are pickled.

    ``seconds`` limits wall-clock time from the start of the task, after the imports of its module and of the module
    ``prepare``; with ``processor``, ``seconds`` limits the child's processor time, rounded up to whole seconds.
    ``memory`` limits the child's address space in bytes, also from the start of the task, because a library that gets
    no memory while it is loaded may hang. A child that dies with ``memory`` set is taken to have reached this limit.

    Raises InputError if the task raised it or ``memory`` is less than the libraries take, and ChildProcessError if the
    task raised another exception than MemoryError, or the child crashed or was killed without a limit on memory.
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
            stdout=subprocess.DEVNULL,  # drops what libraries print
            stderr=errors,
            pass_fds=(write_end,),
            env=environment,
            start_new_session=True,  # so that Ctrl-C reaches the parent only
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
            reason = ExitReason.MEMORY  # the likely cause of the crash: many libraries crash when they get no memory
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
    """Pass the child's messages to ``receive`` until the child ends, its time is over, or ``receive`` returns True.

    Returns why the child ended or has to end, None if it sent no reason, and its peak memory in bytes, 0 if unknown.
    """
    while inbox.poll(None if deadline is None else max(0.0, deadline - time.perf_counter())):
        try:
            kind, content = inbox.recv()
        except (EOFError, pickle.UnpicklingError):
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # else the caller's kill could hide how the child died
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
    """Run the task pickled on stdin, as the main function of the child, and send its messages to the parent.

    The command-line arguments are the file descriptor for messages and the process id of the parent.
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
    os._exit(0)  # unloads no libraries, because some crash while they are unloaded


def _limit_memory(memory: int) -> None:
    """Limit this process to ``memory`` bytes of address space. Raises InputError if as many are in use already."""
    with suppress(ImportError):  # load OpenBLAS before the limit is set: it hangs if it gets no memory
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
    """Make Linux kill this process when its parent dies; other systems let this process go on.

    Ends this process at once if ``parent``, the process id of the parent, is given and the parent is already dead.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(1)


def yield_to_all() -> None:
    """Give this process, a child that has just started in a session of its own, the lowest priority.

    The session gets the lowest priority too, because Linux divides processor time among sessions first, and ``os.nice``
    acts only within a session. Also calls `die_with_parent`.
    """
    die_with_parent()
    with suppress(OSError):
        os.nice(19)
        Path("/proc/self/autogroup").write_text("19")


def peak_bytes(pid: int) -> int:
    """Return the largest resident memory of a running process in bytes, or 0 if the system does not report it.

    ``getrusage`` is not used: its peak includes memory of the parent, which the child shared before exec.
    """
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0
