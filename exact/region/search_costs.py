"""Estimates of what the searches of a region cost, learnt from what they have cost at other levels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

_UNFINISHED = 3.0  # a search that was stopped is expected to take so many times the nodes that it had
_GROWTH = math.log(5.0)  # one more mismatch costs about five times as many nodes
_HOPELESS = 8.0  # a search whose estimated cost is so many times that of the best gets no turn


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
