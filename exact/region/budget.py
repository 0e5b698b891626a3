"""The budgets of a region re-solve."""

from __future__ import annotations

import time

from exact.driver import StepSizer


class Budget:
    """Counts nodes against a budget of nodes and one of seconds, None = no limit.

    ``step`` tells how far to go before the next look at the clock; ``count`` what came of it.
    """

    def __init__(self, nodes: int | None, seconds: float | None) -> None:
        self.limit = nodes
        self.seconds = seconds
        self.nodes = 0
        self.pace = StepSizer()
        self.start()

    def start(self) -> None:
        """Let the clock begin."""
        self.began = self._stepped = time.perf_counter()

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.began

    @property
    def spent(self) -> bool:
        return (self.limit is not None and self.nodes >= self.limit) or (
            self.seconds is not None and self.elapsed >= self.seconds
        )

    def step(self, most: int) -> int:
        """Nodes of the next step, at most ``most``."""
        self._stepped = time.perf_counter()
        most = min(most, self.pace.step)
        return most if self.limit is None else min(most, self.limit - self.nodes)

    def count(self, made: int) -> None:
        """A step is over and took ``made`` nodes."""
        now = time.perf_counter()
        self.nodes += made
        self.pace.update(made, now - self._stepped, None if self.seconds is None else self.began + self.seconds - now)
