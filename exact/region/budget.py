"""The budget of a region re-solve, and what its searches are expected to cost."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence

from exact.driver import StepSizer

_UNFINISHED = 3.0  # a search that was stopped is expected to take so many times the nodes that it had
_GROWTH = math.log(5.0)  # one more mismatch costs about five times as many nodes
_HOPELESS = 8.0  # a search whose estimated cost is so many times that of the best gets no turn


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


class SearchCosts:
    """What searches for at most r mismatches cost, in node equivalents, by the names of the searches."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, float]] = {}  # name of a search -> (r, cost)

    def record(self, name: str, r: int, cost: float, *, ended: bool = True) -> None:
        """Record what a search for at most ``r`` mismatches cost; one that has not ended is expected to cost more."""
        self._known[name] = r, cost if ended else _UNFINISHED * cost

    def of(self, name: str) -> float:
        """The cost that was recorded last."""
        return self._known[name][1]

    def ranked(self, names: Iterable[str], r: int) -> list[str]:
        """Names by the estimated cost at level ``r``; those not tried yet come last."""
        return sorted(names, key=lambda name: (name not in self._known, self._log_cost(name, r)))

    def worth_a_turn(self, names: Sequence[str], r: int) -> list[str]:
        """The searches whose estimated cost is at most `_HOPELESS` times the least one."""
        least = min(self._log_cost(name, r) for name in names)
        return [name for name in names if self._log_cost(name, r) <= least + math.log(_HOPELESS)]

    def _log_cost(self, name: str, r: int) -> float:
        """Logarithm of the estimated cost of a search for at most ``r`` mismatches."""
        level, cost = self._known.get(name, (r, 0.0))
        return math.log(max(1.0, cost)) + _GROWTH * (r - level)
