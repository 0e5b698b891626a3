"""Display of the progress and the log of a long command on stderr."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from lns.runs.files import SafeFormatter, format_duration, logged_by
from lns.terminal.output import wrapped

log = logging.getLogger("lns")

WAIT_S = 10.0  # without a terminal: seconds until an activity is first logged


class LiveLine:
    """One line of progress on stderr: redrawn in place on a terminal, else logged at growing intervals.

    Until the first call of `show`, and from each call of `begin` to the next of `show`, the line names the current
    activity, the seconds since it began, and how many numba kernels were compiled in these seconds, if any. A terminal
    that was closed is no error: the work goes on. ``seconds``: time limit of the command; ``kernels``: about how many
    kernels a first run compiles, 0 if unknown; ``in_notebook``: whether to show the progress bar of notebooks.
    """

    def __init__(self, seconds: float | None, *, quiet: bool, kernels: int = 0, in_notebook: bool = False) -> None:
        self._seconds, self._quiet, self._kernels, self._in_notebook = seconds, quiet, kernels, in_notebook
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._closing = contextlib.ExitStack()
        self._bar: Any = None
        self._next = 15.0  # elapsed seconds from which on `show` may log its next line
        self.begin("starting")

    def __enter__(self) -> LiveLine:
        if self._quiet:
            return self
        threading.Thread(target=self._tell_waiting, name="lns-progress", daemon=True).start()
        if self._in_notebook or sys.stderr.isatty():
            from tqdm.contrib.logging import logging_redirect_tqdm

            self._closing.enter_context(logging_redirect_tqdm([log]))
            self._bar = import_module("tqdm.auto" if self._in_notebook else "tqdm").tqdm(
                desc=self._activity, total=round(self._seconds or 0) or None, unit="s", leave=False, file=sys.stderr,
                dynamic_ncols=True, bar_format="{desc} |{bar}|" if self._seconds else "{desc} [{elapsed}]",
            )  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._ended.set()
        if self._bar is not None:
            with contextlib.suppress(OSError):
                self._bar.close()
        self._closing.close()

    def begin(self, activity: str) -> None:
        """Show ``activity`` and the time since this call, until the next call of this method or of `show`."""
        with self._lock:
            self._activity: str | None = activity
            self._began, self._next_wait = time.monotonic(), WAIT_S

    def _tell_waiting(self) -> None:
        """Show the current activity and how many kernels were compiled since it began: the work of a thread."""
        if self._ended.wait(1.0):
            return
        from lns.exact.kernels.cache import saved_kernels

        before, began = saved_kernels(), self._began
        while not self._ended.wait(1.0):
            if began != self._began:  # another activity has begun: count anew
                before, began = saved_kernels(), self._began
            compiled = saved_kernels() - before if self._activity is not None else 0
            with self._lock:
                if self._activity is None or self._ended.is_set():
                    continue
                waited, words = time.monotonic() - self._began, [self._activity]
                if compiled > 0:
                    total = f" of about {self._kernels}" if self._kernels > compiled else ""
                    words = [*(words if words != ["starting"] else []), f"compiling kernels, once: {compiled}{total}"]
                line = f"{'; '.join(words)}, {format_duration(waited)}"
                if self._bar is not None:
                    self._draw(line)
                elif waited >= self._next_wait:
                    self._next_wait = max(waited * 1.25, waited + WAIT_S)
                    log.info("%s", line)

    def show(self, line: str, elapsed: float, *, now: bool = False) -> None:
        """Show ``line`` and, with a time limit, the time left; without a terminal log these, seldom unless ``now``.

        ``elapsed``: seconds since the command began.
        """
        with self._lock:
            self._activity = None
            if self._seconds is not None:
                line += f", {format_duration(max(0.0, self._seconds - elapsed))} left"
            if self._bar is not None:
                self._bar.n = min(round(elapsed), self._bar.total or 0)
                self._draw(line)
            elif not self._quiet and (now or elapsed >= self._next):
                self._next = max(elapsed * 1.25, elapsed + 15.0)
                log.info("%8.1f s  %s", elapsed, line)

    def _draw(self, line: str) -> None:
        """Redraw the bar under this object's lock, not tqdm's, which stays locked once the terminal is gone."""
        with contextlib.suppress(OSError):
            self._bar.set_description_str(line, refresh=False)
            self._bar.refresh(nolock=True)


class _ScreenLog(logging.StreamHandler[Any]):
    """A logging handler that writes to stderr and ignores a closed terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return wrapped(super().format(record), sys.stderr)

    def handleError(self, record: logging.LogRecord) -> None:
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)


def screen_log(*, quiet: bool) -> contextlib.AbstractContextManager[None]:
    """Return a context in which the log of `lns` goes to stderr; if ``quiet``, only warnings and errors."""
    handler = _ScreenLog(sys.stderr)
    handler.setLevel(logging.WARNING if quiet else logging.INFO)
    handler.setFormatter(SafeFormatter("%(message)s"))
    return logged_by(handler)


@contextlib.contextmanager
def live_line(seconds: float | None, *, quiet: bool) -> Iterator[LiveLine]:
    """Yield a `LiveLine` while the log goes to stderr, for commands that keep no run directory."""
    with screen_log(quiet=quiet), LiveLine(seconds, quiet=quiet) as line:
        yield line
