"""The tasks of a search by a scheme (`exact.region.scheme`): which stage is filled from a depth on, and what instead.

A *task* is a stage to be filled and the most mismatches at its end; or, of a split stage, the check that part A, filled
after part B, has more mismatches of its own than its share. A stage that is split is two tasks, one for each part to
begin with; the second waits on a stack until the first has failed. The cap of a stage counts all mismatches so far.

Both searches, `exact.region.kernel` and `exact.region.dynamic_search`, fill stages by these tasks.
"""

from __future__ import annotations

from typing import Any

from exact.region import scalar
from exact.region.scheme import DIRECT, SearchScheme
from exact.region.state import OUTSIDE, RegionPlan, RegionState
from lns_support.jit import inline_flat_kernel

NO_TASK, STARTED, OVERSPENT, SEARCHED = range(4)  # what became of a task


@inline_flat_kernel
def begin_stages(state: RegionState, depth: Any, task: Any) -> None:
    """Make ``task`` the only one pending at a depth where a stage begins."""
    state.tasks_before[depth] = state.scalars[scalar.TASKS]
    state.pending_before[depth] = state.scalars[scalar.PENDING]
    state.pending[state.scalars[scalar.PENDING]] = task
    state.scalars[scalar.PENDING] += 1


@inline_flat_kernel
def next_stage(plan: RegionPlan, state: RegionState, scheme: SearchScheme, depth: Any) -> tuple[int, int]:
    """Take the next pending task of a depth; returns what became of it, and its stage.

    As long as the mismatches that the task has left call for a split of its stage, it becomes the first of two tasks.
    STARTED: the stage is to be filled, with the cap and the next task that are set for the depth. OVERSPENT: the task
    has no mismatch left. SEARCHED: an earlier task has searched these pieces already. NO_TASK: none was pending.
    """
    scalars = state.scalars
    if scalars[scalar.PENDING] == state.pending_before[depth]:
        scalars[scalar.TASKS] = state.tasks_before[depth]
        return NO_TASK, 0
    scalars[scalar.PENDING] -= 1
    task = state.pending[scalars[scalar.PENDING]]
    while True:
        stage, most, following = state.task[task, 0], state.task[task, 1], state.task[task, 2]
        if state.task[task, 3]:
            if not _exceeds_share(plan, state, scheme, stage, most):
                return SEARCHED, stage
            task = following
            continue
        spent = state.spent[depth]
        allowed = most - spent
        if allowed < 0:
            return OVERSPENT, stage
        share = scheme.share[stage, allowed] if allowed < scheme.share.shape[1] else DIRECT
        if share == DIRECT:
            state.cap[depth] = most
            state.next_task[depth] = following
            return STARTED, stage
        rest = allowed - 1 - share
        if share >= 0 and rest >= 0:  # part B first and the rest of the mismatches there; it waits
            check = add_task(state, stage, share, following, 1)
            second = add_task(state, scheme.parts[stage, 3], most, check, 0)
            state.pending[scalars[scalar.PENDING]] = add_task(state, scheme.parts[stage, 2], spent + rest, second, 0)
            scalars[scalar.PENDING] += 1
        first, own = (0, share) if share >= 0 else (2, rest)  # part A first, unless it has none
        second = add_task(state, scheme.parts[stage, first + 1], most, following, 0)
        task = add_task(state, scheme.parts[stage, first], spent + own, second, 0)


@inline_flat_kernel
def add_task(state: RegionState, stage: Any, most: Any, following: Any, check: int) -> Any:
    """Add a task; returns its number."""
    number = state.scalars[scalar.TASKS]
    state.scalars[scalar.TASKS] = number + 1
    state.task[number, 0] = stage
    state.task[number, 1] = most
    state.task[number, 2] = following
    state.task[number, 3] = check
    return number


@inline_flat_kernel
def _exceeds_share(plan: RegionPlan, state: RegionState, scheme: SearchScheme, stage: Any, share: Any) -> bool:
    """Whether part A of a split stage has more than ``share`` mismatches on joints that do not touch part B."""
    before, own = scheme.parts[stage, 0], scheme.parts[stage, 1]  # filled before A; these cells and A
    begin = scheme.first_member[before]
    for i in range(begin, begin + scheme.length[before]):
        number = scheme.members[i]
        at = state.placed[number]
        for side in range(4):
            beyond = plan.around[number, side]
            shown = state.shows[at + side]
            if beyond == OUTSIDE:
                share -= shown != state.joint_colour[plan.joint_at[number, side]]
            elif beyond >= 0 and scheme.filled[own, beyond] and (side in (1, 2) or scheme.filled[before, beyond]):
                share -= shown != state.shows[state.placed[beyond] + (side ^ 2)]
    return bool(share < 0)
