"""A sweep: the searches from all starts of `SpendCurves`, one after the other, in steps."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from exact.region.kernel import (
    BALANCE,
    BEST,
    EXHAUSTED,
    FINISHED,
    FOUND,
    LOOKAHEAD,
    NODES,
    PAUSED,
    RUNNING,
    START,
    load_region,
    search_region,
    start_search,
)
from exact.region.order import set_order
from exact.region.spend_curves import SpendCurves
from exact.region.state import RegionPlan, RegionState
from lns_support.jit import flat_kernel


@flat_kernel
def reset_sweep(state: RegionState) -> None:
    """Let the next `sweep` begin with the first start."""
    state.scalars[START] = 0
    state.scalars[RUNNING] = 0


@flat_kernel
def sweep(
    plan: RegionPlan,
    state: RegionState,
    used: npt.NDArray[np.uint8],
    board: npt.NDArray[np.int32],
    curves: SpendCurves,
    r: int,
    balance: int,
    lookahead: int,
    node_budget: int,
) -> tuple[int, int]:
    """Continue a sweep for at most ``r`` mismatches by ``node_budget`` nodes. Returns (status, nodes searched).

    FOUND: ``state.refill`` (by depth of ``plan.order``) has ``scalars[BEST]`` <= r mismatches. EXHAUSTED: no refill has
    at most r. PAUSED: call again. ``balance``, ``lookahead``: 0 switches that bound off.
    """
    scalars = state.scalars
    searched = 0
    while scalars[START] < len(curves.starts):
        start = scalars[START]
        if not scalars[RUNNING]:
            set_order(plan, curves.order, curves.starts[start])
            if not load_region(plan, state, used, board):
                return EXHAUSTED, searched
            scalars[BALANCE] = balance
            scalars[LOOKAHEAD] = lookahead
            for depth in range(len(curves.order)):
                state.cap[depth] = min(r, r * curves.curve[start, depth] // curves.total)
            start_search(plan, state, r)
            scalars[RUNNING] = 1
        before = scalars[NODES]
        search_region(plan, state, before + node_budget - searched)
        searched += scalars[NODES] - before
        if scalars[BEST] >= 0:
            scalars[RUNNING] = 0
            return FOUND, searched
        if not scalars[FINISHED]:
            return PAUSED, searched
        scalars[START] += 1
        scalars[RUNNING] = 0
    return EXHAUSTED, searched
