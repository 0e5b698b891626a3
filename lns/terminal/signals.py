"""Handling of the signals that end programs: SIGINT (Ctrl-C), SIGTERM and SIGHUP."""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

RESEND_S = 0.05  # seconds until a signal whose exception was lost is sent again
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def signal_handler(handler: Callable[[int, object], None]) -> Iterator[list[int]]:
    """Install ``handler`` for SIGINT, SIGTERM and SIGHUP; restore the previous handlers when the context ends.

    Yields the list of signal numbers received so far. A signal that the parent process ignores (as nohup does with
    SIGHUP) stays ignored. Python drops what ``handler`` raises inside a callback from C, for example while numba
    compiles. If that is a KeyboardInterrupt or SystemExit, the signal is sent again until the exception gets through.
    """
    previous = {number: signal.getsignal(number) for number in _SIGNALS}
    previous_hook = sys.unraisablehook
    received: list[int] = []

    def handle(number: int, frame: object) -> None:
        received.append(number)
        handler(number, frame)

    def resend(dropped: Any) -> None:
        if received and issubclass(dropped.exc_type, (KeyboardInterrupt, SystemExit)):
            threading.Timer(RESEND_S, _thread.interrupt_main, received[-1:]).start()
        else:
            previous_hook(dropped)

    for number, before in previous.items():
        if before is not signal.SIG_IGN:
            signal.signal(number, handle)
    sys.unraisablehook = resend
    try:
        yield received
    finally:
        sys.unraisablehook = previous_hook
        for number, before in previous.items():
            signal.signal(number, before)


def exit_on_signal(number: int, frame: object) -> None:
    """End the program with status 128 + ``number``: a handler for the time before there is a result to save."""
    raise SystemExit(128 + number)


def interrupt_on_signal(number: int, frame: object) -> None:
    """Raise KeyboardInterrupt, as Ctrl-C does: a handler for searches that end with a report of their state."""
    raise KeyboardInterrupt
