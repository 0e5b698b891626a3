"""What a long command needs around its work: signals, the log, a line that says how it stands."""

from __future__ import annotations

import _thread
import contextlib
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lns.runs.files import LOG, format_duration, open_regular
from lns_support.errors import InputError

log = logging.getLogger("lns")

AGAIN_S = 0.05  # after which a signal comes again
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextlib.contextmanager
def handled(interrupt: Callable[[int, object], None]) -> Iterator[None]:
    """Signals that end programs go to ``interrupt``; those ignored from outside stay so (nohup).

    What ``interrupt`` raises is lost where Python was called back from C, as by the compiler of the kernels: the signal
    then comes again, until it gets through.
    """
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    unraisable = sys.unraisablehook
    came: list[int] = []

    def handle(number: int, frame: object) -> None:
        came.append(number)
        interrupt(number, frame)

    def lost(what: Any) -> None:
        if came and issubclass(what.exc_type, (KeyboardInterrupt, SystemExit)):
            threading.Timer(AGAIN_S, _thread.interrupt_main, came[-1:]).start()
        else:
            unraisable(what)

    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, handle)
    sys.unraisablehook = lost
    try:
        yield
    finally:
        sys.unraisablehook = unraisable
        for number, handler in before.items():
            signal.signal(number, handler)


def leave(number: int, frame: object) -> None:
    """For `handled`, before there is anything to save: what is open is closed in order."""
    raise SystemExit(128 + number)


def interrupt(number: int, frame: object) -> None:
    """For `handled`, where a search tells what it has on Ctrl-C: SIGTERM and SIGHUP are no different."""
    raise KeyboardInterrupt


class LiveLine:
    """A live line on a terminal, a plain line now and then elsewhere, ever more seldom; on stderr.

    ``seconds``: the whole time, None where nobody knows. A terminal that is gone is no error: the work goes on.
    """

    def __init__(self, seconds: float | None, *, quiet: bool) -> None:
        self._seconds, self._quiet = seconds, quiet
        self._bar: Any = None
        self._redirect: Any = None
        self._next = 15.0

    def __enter__(self) -> LiveLine:
        if not self._quiet and sys.stderr.isatty():
            from tqdm import tqdm
            from tqdm.contrib.logging import logging_redirect_tqdm

            self._redirect = logging_redirect_tqdm([log])
            self._redirect.__enter__()
            self._bar = tqdm(
                total=round(self._seconds or 0) or None, unit="s", leave=False, file=sys.stderr, dynamic_ncols=True,
                bar_format="{desc} |{bar}|" if self._seconds else "{desc} [{elapsed}]",
            )  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            with contextlib.suppress(OSError):
                self._bar.close()
            self._redirect.__exit__(None, None, None)

    def show(self, line: str, elapsed: float, *, now: bool = False) -> None:
        """``elapsed``: seconds; ``now``: a plain line, too, need not wait for its turn."""
        if self._seconds is not None:
            line += f", {format_duration(max(0.0, self._seconds - elapsed))} left"
        if self._bar is not None:
            with contextlib.suppress(OSError):
                self._bar.set_description_str(line, refresh=False)
                self._bar.n = min(round(elapsed), self._bar.total or 0)
                self._bar.refresh()
        elif not self._quiet and (now or elapsed >= self._next):
            self._next = max(elapsed * 1.25, elapsed + 15.0)
            log.info("%8.1f s  %s", elapsed, line)


class RunLog(logging.Handler):
    """run.log: appended line by line; a disk that is full loses lines of the log, never the run."""

    def __init__(self, directory: Path) -> None:
        super().__init__()
        try:
            self._file = open_regular(directory / LOG, os.O_WRONLY | os.O_APPEND)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", directory / LOG) from None
        self.setFormatter(logging.Formatter("%(asctime)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(OSError):
            self._file.write(f"{self.format(record)}\n".encode(errors="backslashreplace"))

    def close(self) -> None:
        self._file.close()
        super().close()


class Screen(logging.StreamHandler[Any]):
    """The log on stderr; a terminal that is gone is no error."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__(sys.stderr)
        self.setLevel(logging.WARNING if quiet else logging.INFO)
        self.setFormatter(logging.Formatter("%(message)s"))

    def handleError(self, record: logging.LogRecord) -> None:
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)


@contextlib.contextmanager
def logged(directory: Path | None, *, quiet: bool) -> Iterator[None]:
    """The lns log goes to stderr unless quiet, and to run.log in ``directory``."""
    handlers: list[logging.Handler] = [Screen(quiet=quiet)]
    if directory is not None:
        handlers.append(RunLog(directory))
    level = log.level
    log.setLevel(logging.INFO)
    for handler in handlers:
        log.addHandler(handler)
    try:
        yield
    finally:
        log.setLevel(level)
        for handler in handlers:
            log.removeHandler(handler)
            handler.close()


@contextlib.contextmanager
def progress(seconds: float | None, *, quiet: bool) -> Iterator[LiveLine]:
    """The live line of a command that keeps no run; its plain lines go to stderr."""
    with logged(None, quiet=quiet), LiveLine(seconds, quiet=quiet) as line:
        yield line
