"""The budget of a region re-solve, in nodes and seconds."""

from __future__ import annotations

import time

from exact.driver import StepSizer


class Budget:
    """A budget of nodes and of seconds, None = no limit.

    ``nodes``: nodes used so far; ``work``: the same, each weighted by what it costs.

    The search asks `step` for the size of its next step, and reports it to `use` afterwards.
    """

    def __init__(self, nodes: int | None, seconds: float | None) -> None:
        self.limit = nodes
        self.seconds = seconds
        self.nodes = self.work = 0
        self.sizer = StepSizer()
        self.start()

    def start(self) -> None:
        """Start the clock."""
        self.started = self._step_started = time.perf_counter()

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    @property
    def spent(self) -> bool:
        """Whether one of the limits is reached."""
        return (self.limit is not None and self.nodes >= self.limit) or (
            self.seconds is not None and self.elapsed >= self.seconds
        )

    def step(self, most: int) -> int:
        """The number of nodes of the next step, at most ``most``, and start its clock."""
        self._step_started = time.perf_counter()
        most = min(most, self.sizer.step)
        return most if self.limit is None else min(most, self.limit - self.nodes)

    def use(self, nodes: int, node_cost: int = 1) -> None:
        """Count the nodes of a finished step, each of cost ``node_cost``, and adapt the size of the next step."""
        now = time.perf_counter()
        self.nodes += nodes
        self.work += nodes * node_cost
        remaining = None if self.seconds is None else self.started + self.seconds - now
        self.sizer.update(nodes, now - self._step_started, remaining)
