"""Time in which this process ran: without those in which it was stopped (SIGSTOP) or the machine slept."""

from __future__ import annotations

import logging
import threading
import time

log = logging.getLogger("lns")

GAP_S = 5.0
"""A longer time between two looks at the clock, in which the process used no processor, is one in which it did not run.

A search looks several times a second.
"""
_WITH_SLEEP = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))


class RunningTime:
    """Measures durations by the monotonic clock, without the gaps in which this process did not run.

    It may be asked by several threads, and must be asked more often than every `GAP_S` seconds.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._gaps: list[tuple[float, float]] = []  # end by the monotonic clock, and seconds
        self._last = self._look()

    def since(self, began: float | None) -> float:
        """Seconds since the monotonic time ``began`` in which this process ran; 0 for None."""
        with self._lock:
            now, passed, used = look = self._look()
            seconds = passed - self._last[1]
            if seconds > GAP_S and used - self._last[2] < seconds / 2:
                self._gaps.append((now, now - self._last[0]))
                log.warning(
                    "the process did not run for %.0f s (it was stopped, or the machine slept); "
                    "they do not count as search",
                    seconds,
                )
            self._last = look
            if began is None:
                return 0.0
            return now - began - sum(min(gap, end - began) for end, gap in self._gaps if end > began)

    @staticmethod
    def _look() -> tuple[float, float, float]:
        """Monotonic time, time with that in which the machine slept, and processor time of this process."""
        passed = time.monotonic() if _WITH_SLEEP is None else time.clock_gettime(_WITH_SLEEP)
        return time.monotonic(), passed, time.process_time()
