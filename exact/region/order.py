"""Giving a planned region another order, in place and without allocation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from exact.jit import flat_kernel

if TYPE_CHECKING:
    from exact.region.plan import RegionPlan


@flat_kernel
def set_order(plan: RegionPlan, order: npt.NDArray[np.int64], shift: int) -> None:
    """Write the arrays by depth of ``plan``: its cells, by number, in the cyclic order ``order`` from ``shift`` on."""
    n = len(order)
    plan.wild[:] = 0
    for depth in range(n):
        number = order[(depth + shift) % n]
        plan.order[depth] = number
        plan.pattern[depth] = plan.pattern_at[number]
        count = 0
        for asking in (True, False):
            for turn in range(4):
                side = (turn + 3) & 3  # left, up, right, down
                other = plan.around[number, side]
                if other == -1:
                    continue
                earlier = other == -2
                if other >= 0:
                    for before in range(depth):
                        if plan.order[before] == other:
                            earlier = True
                if earlier != asking:
                    continue
                plan.side[depth, count] = side
                plan.joint[depth, count] = plan.joint_at[number, side]
                plan.demand[depth, count] = 1 if other == -3 else 2
                if other == -3:
                    for before in range(depth + 1):
                        plan.wild[before] += 1
                count += 1
            if asking:
                plan.known[depth] = count
        plan.open[depth] = count - plan.known[depth]
