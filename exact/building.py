"""The time that building a model takes counts towards the budget of a request, and it can be interrupted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from exact.driver import STEP_SECONDS, Progress
from exact.outcome import Answer, SolveStatus
from exact.request import Request

Item = TypeVar("Item")
Check = Callable[[], None]
"""Called between the steps of a long job; raises an exception to end it, such as `BuildingEnded`."""


class BuildingEnded(Exception):
    """The time of a request ended while a model was built; ``seconds`` is how long that took."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"{seconds:.1f} s")
        self.seconds = seconds


def unlimited() -> None:
    """The `Check` of a job without a limit."""


def each_after(check: Check, items: Iterable[Item]) -> Iterator[Item]:
    """The items of a long job, ``check`` called before each."""
    for item in items:
        check()
        yield item


class BuildingClock:
    """Measures how long building a model takes, reports progress, and ends it with the time of the request.

    Parameters
    ----------
    request : Request
        Its budget of time and its callback of progress.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._clock = time.process_time if request.processor_time else time.perf_counter
        self._began = self._shown = self._clock()

    @property
    def seconds(self) -> float:
        """Seconds since the model was begun."""
        return self._clock() - self._began

    def check(self) -> None:
        """Raise `BuildingEnded` when the time is over."""
        now = self._clock()
        request = self._request
        if request.seconds is not None and now - self._began >= request.seconds:
            raise BuildingEnded(now - self._began)
        if request.on_progress is not None and now - self._shown >= STEP_SECONDS:
            self._shown = now
            request.on_progress(Progress(0, 0, now - self._began, 0.0, building=True))

    def left(self) -> Request:
        """The request with the time that is left after building."""
        if self._request.seconds is None:
            return self._request
        return replace(self._request, seconds=max(0.0, self._request.seconds - self.seconds))


def not_built(ended: BuildingEnded) -> Answer:
    """The answer of a solver whose time ended before its model was built."""
    return Answer(SolveStatus.BUDGET_SPENT, 0, 0, ended.seconds, None, {"model_unfinished": 1.0})
