"""The search of a band in static orders with cyclic spend curves: one search from each start of `SpendCurves`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from exact.region.kernel import EXHAUSTED, PAUSED
from exact.region.order import make_slots
from exact.region.scheme import RegionShape, SearchScheme, direct_scheme
from exact.region.spend_curves import SpendCurves
from exact.region.state import RegionState
from exact.region.static import StaticSearch


class CyclicSearch:
    """The searches of one region with the spend curves of a cyclic order, one after the other.

    Parameters
    ----------
    static : StaticSearch
        The search of the region by schemes; its state and bounds are used.
    curves : SpendCurves
        Order and spend curves.
    """

    NODE_COST = 1  # nodes in a fixed order that take as long as one node

    def __init__(self, static: StaticSearch, curves: SpendCurves) -> None:
        self.static, self.curves = static, curves
        self.state = static.state

    def copy(self, state: RegionState) -> CyclicSearch:
        """A search of the same region with its own state."""
        return CyclicSearch(self.static.copy(state), self.curves)

    def start(self, r: int) -> None:
        """Start the searches for at most ``r`` mismatches."""
        self.r = r
        self._next_start = 0
        self._running = False

    def advance(self, node_budget: int) -> tuple[int, int]:
        """Search up to ``node_budget`` nodes more; returns (status, nodes searched) as `StaticSearch.advance`."""
        searched = 0
        while self._next_start < len(self.curves.starts):
            if not self._running:
                if not self._start(self._next_start):
                    return EXHAUSTED, searched
                self._running = True
            status, nodes = self.static.advance(node_budget - searched)
            searched += nodes
            if status != EXHAUSTED:
                return status, searched
            self._next_start += 1
            self._running = False
            if searched >= node_budget:
                break
        return (EXHAUSTED if self._next_start == len(self.curves.starts) else PAUSED), searched

    def _start(self, start: int) -> bool:
        """Start the search from one start of the curves. Returns False if there are too few pieces of some kind."""
        order = np.roll(self.curves.order, -self.curves.starts[start])
        scheme, slots = _slots(self.static.shape, order.tobytes())
        limit = np.minimum(self.r, self.r * self.curves.curve[start] // self.curves.total)
        return self.static.load(scheme._replace(limit=limit), slots, self.r)


@lru_cache(maxsize=256)
def _slots(shape: RegionShape, order: bytes) -> tuple[SearchScheme, dict[str, Any]]:
    """The scheme of one order, an array of int64, and its arrays by slot."""
    scheme = direct_scheme(np.frombuffer(order, dtype=np.int64).copy())
    return scheme, make_slots(shape.plan, scheme)
