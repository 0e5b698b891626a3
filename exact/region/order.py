"""Set the order in which a region is filled, in place."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from exact.region.state import OUTSIDE, VACANT, RegionPlan
from lns_support.jit import flat_kernel, inline_flat_kernel


@inline_flat_kernel
def _append_joint(plan: RegionPlan, depth: int, count: int, number: int, side: int, demand: int) -> int:
    """Append a joint to the lists of a depth; returns their new length."""
    plan.side[depth, count] = side
    plan.joint[depth, count] = plan.joint_at[number, side]
    plan.demand[depth, count] = demand
    return count + 1


@flat_kernel
def set_order(plan: RegionPlan, order: npt.NDArray[np.int64], shift: int) -> None:
    """Write the arrays by depth of ``plan``.

    ``order``: int64 (n,), numbers of the cells, a cyclic order; it begins at position ``shift``.
    """
    n = len(order)
    plan.vacant[:] = 0
    for depth in range(n):
        number = order[(depth + shift) % n]
        plan.order[depth] = number
        plan.pattern[depth] = plan.pattern_at[number]
        count = 0
        for turn in range(4):  # joints to filled cells outside the region
            side = (turn + 3) & 3  # left, up, right, down
            if plan.around[number, side] == OUTSIDE:
                count = _append_joint(plan, depth, count, number, side, 2)
        for before in range(depth):  # then joints to earlier cells, in the order in which they become known
            for side in range(4):
                if plan.around[number, side] == plan.order[before]:
                    count = _append_joint(plan, depth, count, number, side, 2)
        plan.known[depth] = count
        for turn in range(4):
            side = (turn + 3) & 3
            other = plan.around[number, side]
            if other == VACANT:
                for before in range(depth + 1):
                    plan.vacant[before] += 1
                count = _append_joint(plan, depth, count, number, side, 1)
            elif other >= 0:
                earlier = False
                for before in range(depth):
                    earlier |= plan.order[before] == other
                if not earlier:
                    count = _append_joint(plan, depth, count, number, side, 2)
        plan.open[depth] = count - plan.known[depth]
    # for the look-ahead: the next cells in the order that have two known joints or more
    plan.ahead[:] = -1
    for depth in range(n):
        count = 0
        for later in range(depth, n):
            known = 0
            for j in range(plan.known[later]):
                side = plan.side[later, j]
                other = plan.around[plan.order[later], side]
                placed = other == OUTSIDE
                for before in range(depth):
                    placed |= plan.order[before] == other
                known += placed
            if known >= 2 and count < plan.ahead.shape[1]:
                plan.ahead[depth, count] = later
                plan.ahead_known[depth, count] = known
                count += 1
