"""A sweep in the dynamic order: the searches from all starts of `SpendCurves`, one after the other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from exact.region.dynamic_moves import make_dynamic_state, reset_plan
from exact.region.dynamic_search import BACKJUMPING, SEGMENTS, search_dynamic, start_dynamic
from exact.region.kernel import (
    BALANCE,
    BEST,
    EXHAUSTED,
    FINISHED,
    FOUND,
    NODES,
    PAUSED,
    RUNNING,
    START,
    load_region,
    start_search,
)
from exact.region.scheme import direct_scheme
from exact.region.spend_curves import SpendCurves
from exact.region.state import RIM, RegionPlan, RegionState

MAX_STEP = 400_000  # nodes of one step, 50 to 200 ms, so that time limits hold


class DynamicSearch:
    """Sweeps of one region in the dynamic order (`exact.region.dynamic_search`).

    The order of the spend curves defines only where mismatches may be spent.
    """

    def __init__(
        self,
        plan: RegionPlan,
        state: RegionState,
        used: npt.NDArray[np.uint8],
        board: npt.NDArray[np.int32],
        *,
        balance: int,
        backjumping: bool,
    ) -> None:
        self.plan, self.state, self.used, self.board = plan, state, used, board
        self.balance, self.backjumping = balance, backjumping
        self.scheme = direct_scheme(np.arange(len(plan.cells), dtype=np.int64))
        self.placed = state._replace(free=np.zeros_like(state.free))
        self.dynamic_state = make_dynamic_state(plan, state)

    def restart(self) -> None:
        """Let the next `sweep` begin with the first start."""
        self.state.scalars[[START, RUNNING]] = 0

    def sweep(self, curves: SpendCurves, r: int, node_budget: int) -> tuple[int, int]:
        """Continue a sweep for at most ``r`` mismatches by ``node_budget`` nodes. Returns (status, nodes searched).

        FOUND: ``state.refill`` has ``scalars[BEST]`` <= r mismatches. EXHAUSTED: no refill has at most r. PAUSED: call
        again.
        """
        scalars, searched = self.state.scalars, 0
        node_budget = min(node_budget, MAX_STEP)
        while scalars[START] < len(curves.starts):
            if not scalars[RUNNING]:
                if not self._start(curves, int(scalars[START]), r):
                    return EXHAUSTED, searched
                scalars[RUNNING] = 1
            before = int(scalars[NODES])
            search_dynamic(self.plan, self.state, self.placed, self.dynamic_state, before + node_budget - searched)
            searched += int(scalars[NODES]) - before
            if scalars[BEST] >= 0:
                scalars[RUNNING] = 0
                return FOUND, searched
            if not scalars[FINISHED]:
                return PAUSED, searched
            scalars[START] += 1
            scalars[RUNNING] = 0
        return EXHAUSTED, searched

    def _start(self, curves: SpendCurves, start: int, r: int) -> bool:
        """Start the search from one start of the curves. Returns False if there are too few pieces of some kind."""
        plan, state, dynamic = self.plan, self.state, self.dynamic_state
        if not load_region(plan, state, self.used, self.board):
            return False
        allowed = np.minimum(r, r * curves.curve[start] // curves.total)
        cap, segment = np.unique(allowed, return_inverse=True)  # one segment for each height of the curve
        segment_of = np.zeros(len(segment), dtype=np.int64)  # by number of the cell
        segment_of[np.roll(curves.order, -curves.starts[start])] = segment
        neighbour_segment = np.where(plan.around >= 0, segment_of[np.maximum(plan.around, 0)], 0)
        inner = plan.around != RIM
        dynamic.segment[plan.joint_at[inner]] = np.maximum(segment_of[:, None], neighbour_segment)[inner]
        dynamic.cap[: len(cap)] = cap
        reset_plan(plan, dynamic)
        state.scalars[[BALANCE, SEGMENTS, BACKJUMPING]] = self.balance, len(cap), self.backjumping
        start_search(plan, state, self.scheme, r)
        start_dynamic(plan, state, self.placed, dynamic)
        return True


class DynamicSweep:
    """The sweeps of a `DynamicSearch` with one of its spend curves, as a search to be started and advanced."""

    def __init__(self, search: DynamicSearch, curves: SpendCurves) -> None:
        self.search, self.curves = search, curves
        self.state = search.state

    def start(self, r: int) -> None:
        """Start a search for at most ``r`` mismatches."""
        self.r = r
        self.search.restart()

    def advance(self, node_budget: int) -> tuple[int, int]:
        """Search up to ``node_budget`` nodes more; returns (status, nodes searched) as `DynamicSearch.sweep`."""
        return self.search.sweep(self.curves, self.r, node_budget)
