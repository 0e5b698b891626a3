"""A limit on the processor time of a job that checks no clock."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator


class TimeOver(Exception):
    """Raised in a job under `processor_limit`."""


@contextlib.contextmanager
def processor_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeOver` in what runs under this context after ``seconds`` of processor time of this process.

    It is raised between two calls of compiled code. Without effect outside the main thread, and on systems without
    such timers.
    """

    def end(number: int, frame: object) -> None:
        raise TimeOver

    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, max(seconds, 1e-3), 0.2)  # again, as an exception in a callback is dropped
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
