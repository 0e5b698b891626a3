"""The stages of a search scheme (`exact.region.scheme`) in a dynamic search: the cells of a stage in any order.

As in `exact.region.kernel`, a stage that is split is two tasks, one for each part to begin with; the second waits on a
stack until the first has failed. The cap of a stage counts all mismatches so far.
"""

from __future__ import annotations

import numpy as np

from exact.colorpairs.explain import add_neighbour, add_placement
from exact.colorpairs.state import State
from exact.colorpairs.tables import Tables
from exact.region.dynamic_state import Spending
from exact.region.kernel import PENDING, TASKS, split_task
from exact.region.scheme import DIRECT, SearchScheme
from exact.region.state import RegionState
from lns_support.bits import lowest_bit
from lns_support.jit import inline_flat_kernel


@inline_flat_kernel
def start_stage(t: Tables, s: State, p: Spending, state: RegionState, scheme: SearchScheme, depth: int) -> bool:
    """Start the next pending task of a depth, split until a stage is filled directly. Returns False if none is left.

    The explanations of tasks that their check excludes are added to ``s.explanation``.
    """
    scalars = state.scalars
    while scalars[PENDING] > state.pending_before[depth]:
        scalars[PENDING] -= 1
        task = state.pending[scalars[PENDING]]
        while task >= 0:
            stage, most, following = state.task[task, 0], state.task[task, 1], state.task[task, 2]
            if state.task[task, 3]:
                if not _exceeds_share(t, s, p, scheme, stage, most):
                    break
                task = following
                continue
            allowed = most - state.spent[depth]
            if allowed < 0:
                explain_spent(t, s, p, state, depth)
                break
            share = scheme.share[stage, allowed] if allowed < scheme.share.shape[1] else DIRECT
            if share == DIRECT:
                p.stage[depth] = stage
                p.stage_left[depth] = scheme.length[stage]
                state.cap[depth] = most
                state.next_task[depth] = following
                return True
            task = split_task(state, scheme, stage, most, following, state.spent[depth], share, allowed)
    scalars[TASKS] = state.tasks_before[depth]
    return False


@inline_flat_kernel
def _exceeds_share(t: Tables, s: State, p: Spending, scheme: SearchScheme, stage: int, share: int) -> bool:
    """Whether part A of a split stage has more than ``share`` mismatches on joints that do not touch part B.

    Otherwise the first task has searched this refill. That depends on the pieces on A and on the cells before it.
    """
    before, own = scheme.parts[stage, 0], scheme.parts[stage, 1]  # filled before A; these cells and A
    begin = scheme.first_member[before]
    for i in range(begin, begin + scheme.length[before]):
        cell = scheme.members[i]
        for side in range(4):
            beyond = t.neighbour[cell * 4 + side]
            shown = t.quad[s.grid[cell] * 4 + side]
            if beyond < 0:
                share -= t.shown[cell * 4 + side] > 0 and shown != t.shown[cell * 4 + side]
            elif scheme.filled[own, beyond] and (side in (1, 2) or scheme.filled[before, beyond]):
                share -= shown != t.quad[s.grid[beyond] * 4 + (side ^ 2)]
    if share < 0:
        return True
    for word in range(t.words):
        cells = p.members[before * t.words + word]
        while cells:
            cell = (word << 6) + lowest_bit(cells)
            cells &= cells - np.uint64(1)
            add_placement(s, cell)
            for side in range(4):
                beyond = t.neighbour[cell * 4 + side]
                if beyond >= 0 and scheme.filled[own, beyond]:
                    add_placement(s, beyond)
    return False


@inline_flat_kernel
def explain_spent(t: Tables, s: State, p: Spending, state: RegionState, depth: int) -> None:
    """Add the decisions before ``depth`` that spent mismatches, and the pieces that these mismatches are with."""
    for earlier in range(depth):
        if state.level[earlier] == 0:
            continue
        cell = p.cell[earlier]
        add_placement(s, cell)
        for side in range(4):
            known = s.side[cell * 4 + side]
            if known > 0 and known != t.quad[s.grid[cell] * 4 + side]:
                add_neighbour(t, s, cell, side)
