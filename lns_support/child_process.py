"""Run a function in a child process that can be stopped at any moment.

`run_in_process` starts a new interpreter, calls a function there by name and passes on the messages that it sends.
Limits on time and memory also hold inside C code that checks no clock. Ctrl-C ends the child and keeps the messages
received so far. A child that crashes raises an error; a crash is never taken for an answer.
"""

from __future__ import annotations

import contextlib
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
from dataclasses import dataclass
from enum import StrEnum
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from lns_support.errors import InputError

Emit = Callable[[Any], None]
_SERVE = "from lns_support.child_process import serve; serve()"
_MESSAGE, _DONE, _MEMORY, _BAD_INPUT, _ERROR = range(5)
_POLL_SECONDS = 86_400.0  # poll() takes a C int of milliseconds, which is over after 24.8 days


class ExitReason(StrEnum):
    """How a child ended. A crash is no ending: it raises."""

    FINISHED = "finished"
    TIME = "time limit"
    MEMORY = "memory limit"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class ProcessResult:
    """``peak_bytes``: the child's largest resident memory, 0 where the system does not tell."""

    reason: ExitReason
    seconds: float
    peak_bytes: int


def run_in_process(
    task: Callable[..., None],
    *arguments: Any,
    receive: Callable[[Any], None],
    seconds: float | None = None,
    memory: int | None = None,
    processor: bool = False,
) -> ProcessResult:
    """Call ``task(emit, *arguments)`` in a fresh process; each emitted message goes to ``receive``.

    ``task`` is a function at the top of a module; arguments and messages are pickled. ``seconds`` counts from this
    call, or with ``processor`` the child's processor time, in whole seconds; ``memory`` is a limit on the child's
    address space in bytes. An InputError of the task is raised here again.
    Raises ChildProcessError when the child crashed or was killed from outside: nothing is known then. A child that dies
    under a memory limit is taken to have met it.
    """
    began = time.perf_counter()
    read_end, write_end = os.pipe()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with tempfile.TemporaryFile() as complaints, Connection(read_end, writable=False) as inbox:
        child = subprocess.Popen(
            [sys.executable, "-c", _SERVE, str(write_end)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,  # some libraries talk
            stderr=complaints,
            pass_fds=(write_end,),
            env=environment,
            start_new_session=True,  # Ctrl-C is for the parent to handle
        )
        os.close(write_end)
        try:
            assert child.stdin is not None
            with contextlib.suppress(BrokenPipeError), child.stdin as request:
                limit = math.ceil(seconds) if processor and seconds is not None else None
                request.write(pickle.dumps((task.__module__, task.__qualname__, arguments, memory, limit)))
            deadline = math.inf if processor or seconds is None else began + seconds
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
            complaints.seek(0)
            raise _crash(task, child.returncode, complaints.read().decode(errors="replace"))
    return ProcessResult(reason, time.perf_counter() - began, peak)


def _listen(
    inbox: Connection, pid: int, receive: Callable[[Any], None], deadline: float
) -> tuple[ExitReason | None, int]:
    """Messages until the child is done, dead (None) or out of time."""
    while True:
        left = max(0.0, deadline - time.perf_counter())
        if not inbox.poll(min(left, _POLL_SECONDS)):
            if left > _POLL_SECONDS:
                continue
            return ExitReason.TIME, peak_bytes(pid)
        try:
            kind, content = inbox.recv()
        except (EOFError, pickle.UnpicklingError):
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # its own exit status, before anybody kills it
            return None, 0
        if kind == _MESSAGE:
            receive(content)
        elif kind == _BAD_INPUT:
            raise InputError(content)
        elif kind == _ERROR:
            raise ChildProcessError(f"{content}; nothing is known about the puzzle")
        else:
            return (ExitReason.FINISHED if kind == _DONE else ExitReason.MEMORY), content


def _crash(task: Callable[..., None], returncode: int, complaints: str) -> Exception:
    reason = f"signal {-returncode} ({signal.Signals(-returncode).name})" if returncode < 0 else f"status {returncode}"
    lines = complaints.strip().splitlines()
    said = f" ({lines[-1]})" if lines else ""
    return ChildProcessError(
        f"the process of {task.__module__} ended with {reason}{said}; nothing is known about the puzzle"
    )


def serve() -> None:
    """The child's side: one task from stdin, messages to the pipe whose number is the only argument."""
    outbox = Connection(int(sys.argv[1]), readable=False)
    _die_with_parent()
    module, name, arguments, memory, processor_seconds = pickle.load(sys.stdin.buffer)
    if processor_seconds is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (processor_seconds, processor_seconds + 5))
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    try:
        task = getattr(__import__(module, fromlist=[name]), name)
        task(lambda message: outbox.send((_MESSAGE, message)), *arguments)
        last = (_DONE, peak_bytes(os.getpid()))
    except MemoryError:
        last = (_MEMORY, peak_bytes(os.getpid()))
    except InputError as error:
        last = (_BAD_INPUT, str(error))  # type: ignore[assignment]
    except Exception as error:
        last = (_ERROR, f"{type(error).__name__} in {module}: {error}")  # type: ignore[assignment]
    outbox.send(last)
    os._exit(0)  # some libraries crash while they are unloaded


def _die_with_parent() -> None:
    """Ask Linux to kill this process when its parent dies; elsewhere it ends with its task."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def peak_bytes(pid: int) -> int:
    """Largest resident memory of a live process in bytes (``getrusage`` would count the parent's before exec)."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0
