"""The arrays by slot of a region plan: which joints of a cell are known when it is filled, and which stay open."""

from __future__ import annotations

from typing import Any

import numpy as np

from exact.region.scheme import SearchScheme, direct_scheme
from exact.region.state import MAX_AHEAD, OUTSIDE, VACANT, Ints, RegionPlan
from lns_support.jit import flat_kernel, inline_flat_kernel


def empty_slots(count: int) -> dict[str, Any]:
    """The arrays by slot of a plan with ``count`` slots, to be filled."""
    by_slot = ("order", "ends_stage", "pattern", "known", "open", "vacant")
    by_side = ("side", "joint", "demand")
    return {
        **{name: np.zeros(count, dtype=np.int64) for name in by_slot},
        **{name: np.zeros((count, 4), dtype=np.int64) for name in by_side},
        "ahead": np.full((count, MAX_AHEAD), -1, dtype=np.int64),
        "ahead_known": np.zeros((count, MAX_AHEAD), dtype=np.int64),
    }


def make_slots(plan: RegionPlan, scheme: SearchScheme) -> dict[str, Any]:
    """The arrays by slot of a scheme, for `RegionPlan._replace`."""
    slots = empty_slots(len(scheme.cells))
    _write_slots(plan._replace(**slots), scheme, np.zeros(len(plan.cells), dtype=np.int64))
    return slots


def with_order(plan: RegionPlan, order: Ints) -> RegionPlan:
    """The plan to be filled in one order, so that slots are depths."""
    return plan._replace(**make_slots(plan, direct_scheme(order)))


@inline_flat_kernel
def _append_joint(plan: RegionPlan, slot: int, count: int, number: int, side: int, demand: int) -> int:
    """Append a joint to the lists of a slot; returns their new length."""
    plan.side[slot, count] = side
    plan.joint[slot, count] = plan.joint_at[number, side]
    plan.demand[slot, count] = demand
    return count + 1


@flat_kernel
def _write_slots(plan: RegionPlan, scheme: SearchScheme, place: Ints) -> None:
    """Write the arrays by slot of ``plan``.

    ``place``: workspace by number of the cell: 0 = filled before the stage, k = its k-th cell, more = open.
    """
    for stage in range(len(scheme.first_slot)):
        begin = scheme.first_slot[stage]
        if begin < 0:
            continue
        length = scheme.length[stage]
        vacant = 0
        for number in range(len(place)):
            place[number] = 0 if scheme.filled[stage, number] else len(place) + 1
            if place[number]:
                for side in range(4):
                    vacant += plan.around[number, side] == VACANT
        for k in range(length):
            place[scheme.cells[begin + k]] = k + 1
        for k in range(length):
            vacant -= _write_slot(plan, begin + k, scheme.cells[begin + k], place)
            plan.vacant[begin + k] = vacant
        plan.ends_stage[begin + length - 1] = 1
        _write_ahead(plan, begin, length, place)


@inline_flat_kernel
def _write_slot(plan: RegionPlan, slot: int, number: int, place: Ints) -> int:
    """Write the joints of a slot, known ones first, as they become known; returns the number of vacant ones."""
    plan.order[slot] = number
    plan.pattern[slot] = plan.pattern_at[number]
    here = place[number]
    count = 0
    last = -1
    while True:  # joints to filled cells: those outside the region (-1), before the stage (0), then in its order
        following = here
        for turn in range(4):
            side = (turn + 3) & 3  # left, up, right, down
            beyond = plan.around[number, side]
            if beyond < 0 and beyond != OUTSIDE:
                continue
            time = -1 if beyond == OUTSIDE else place[beyond]
            if time == last:
                count = _append_joint(plan, slot, count, number, side, 2)
            elif time > last:
                following = min(following, time)
        if following >= here:
            break
        last = following
    plan.known[slot] = count
    vacant = 0
    for turn in range(4):
        side = (turn + 3) & 3
        beyond = plan.around[number, side]
        if beyond == VACANT:
            count = _append_joint(plan, slot, count, number, side, 1)
            vacant += 1
        elif beyond >= 0 and place[beyond] > here:
            count = _append_joint(plan, slot, count, number, side, 2)
    plan.open[slot] = count - plan.known[slot]
    return vacant


@inline_flat_kernel
def _write_ahead(plan: RegionPlan, begin: int, length: int, place: Ints) -> None:
    """Write, for the look-ahead, the next slots of a stage whose cells have two known joints or more."""
    for k in range(length):
        count = 0
        for later in range(begin + k, begin + length):
            known = 0
            for j in range(plan.known[later]):
                beyond = plan.around[plan.order[later], plan.side[later, j]]
                known += beyond == OUTSIDE or place[beyond] <= k
            if known >= 2 and count < plan.ahead.shape[1]:
                plan.ahead[begin + k, count] = later
                plan.ahead_known[begin + k, count] = known
                count += 1
