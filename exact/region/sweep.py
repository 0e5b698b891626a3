"""All starts of a schedule, one search after the other, in steps."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from exact.region.kernel import (
    BALANCE,
    BEST,
    FINISHED,
    FOUND,
    LOOK,
    NODES,
    NONE,
    OPEN,
    RUNNING,
    START,
    load_region,
    search_region,
    start_search,
)
from exact.region.order import set_order
from exact.region.state import RegionPlan, RegionWork
from lns_support.jit import flat_kernel


@flat_kernel
def begin_sweep(work: RegionWork) -> None:
    """The next `sweep` begins with the first start."""
    work.state[START] = 0
    work.state[RUNNING] = 0


@flat_kernel
def sweep(
    plan: RegionPlan,
    work: RegionWork,
    used: npt.NDArray[np.uint8],
    board: npt.NDArray[np.int32],
    order: npt.NDArray[np.int64],
    shifts: npt.NDArray[np.int64],
    curve: npt.NDArray[np.int64],
    total: int,
    r: int,
    balance: int,
    look: int,
    node_budget: int,
) -> tuple[int, int]:
    """Go on with the sweep for at most ``r`` mismatches for ``node_budget`` nodes; (status, nodes made).

    FOUND: ``work.found`` (by depth of ``plan.order``) has at most r mismatches, ``state[BEST]`` of them; NONE: no
    refill has at most r; OPEN: call again. ``balance``, ``look``: 0 switches a bound off.
    """
    state = work.state
    made = 0
    while state[START] < len(shifts):
        start = state[START]
        if not state[RUNNING]:
            set_order(plan, order, shifts[start])
            if not load_region(plan, work, used, board):
                return NONE, made
            state[BALANCE] = balance
            state[LOOK] = look
            for depth in range(len(order)):
                work.cap[depth] = min(r, r * curve[start, depth] // total)
            start_search(plan, work, r)
            state[RUNNING] = 1
        before = state[NODES]
        search_region(plan, work, before + node_budget - made)
        made += state[NODES] - before
        if state[BEST] >= 0:
            state[RUNNING] = 0
            return FOUND, made
        if not state[FINISHED]:
            return OPEN, made
        state[START] += 1
        state[RUNNING] = 0
    return NONE, made
