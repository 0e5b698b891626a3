"""Why a dead end of the dynamic search holds: the decisions that suffice for it, as bit vectors over their depths.

A set E of decisions *explains* a dead end if no refill within the caps agrees with all of E.
- Line k over its cap. E: the decisions at both ends of each joint charged up to k; and for each open cell that the
  bound counts there with m > 0 mismatches, its decided neighbours and whoever holds a piece that would have fewer
  than m. A refill that agrees with E pays the charged joints. On such a cell it lays a piece that is free now and
  pays m at least, or one with fewer of which E holds every copy elsewhere, which cannot be. Too much in all. (Only so
  many joints and cells as exceed the cap; and as the m mismatches were there at some earlier depth already, the
  neighbours and holders of that time suffice.)
- Every piece refuted on the cell of depth d. E: what explained the refutations, without d; and what would explain
  line k over its cap if this cell had one mismatch more than its room (k: the line that gives no more). So E has
  whoever holds a piece that the room would admit, and a piece that it would not admit breaks line k. Where the room
  admits everything: the holders alone.
Of equal pieces one waits until the other lies (`exact.region.kernel.load_region`): a free one stands for those that
wait, so a piece has no free copy only if every copy is held.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from exact.region.candidates import candidates, group
from exact.region.dynamic_moves import DynamicState
from exact.region.state import RegionPlan, RegionWork
from lns_support.bits import bit, highest_bit, lowest_bit
from lns_support.jit import inline_flat_kernel

NO_LINE, UNBALANCED = -1, -2  # instead of a line over its cap: none; the colour balance is the reason

_ONE = np.uint64(1)


@inline_flat_kernel
def explain(
    plan: RegionPlan,
    work: RegionWork,
    laid: RegionWork,
    urgency: DynamicState,
    depth: Any,
    line: Any,
    cell: Any,
    missed: Any,
) -> None:
    """Add to the conflict of ``depth`` why ``line`` is over its cap, an open ``cell`` having ``missed`` mismatches.

    NO_LINE: only why no free piece has fewer. UNBALANCED: all decisions, for all of them made the balance.
    """
    if line == UNBALANCED:
        for earlier in range(depth):
            _blame(urgency, depth, np.int64(earlier))
        return
    if missed:
        _explain_cell(plan, work, laid, urgency, depth, cell, missed, line != NO_LINE)
    if line == NO_LINE:
        return
    lacking = urgency.cap[np.uint64(line)] + 1 - missed
    for earlier in range(depth):
        if lacking > 0 and work.level[earlier]:
            lacking -= _explain_charge(plan, work, urgency, depth, earlier, line)
    for other in range(np.uint64(len(plan.cells))):
        least = np.int64(urgency.least[depth + _ONE, other])
        counted = least and urgency.depth_of[other] < 0 and urgency.reach[other] <= line
        if lacking > 0 and counted and (not missed or other != cell):
            known = plan.known[other]
            plan.known[other] = _known_then(plan, urgency, depth, other)
            _explain_cell(plan, work, laid, urgency, depth, other, least, True)
            plan.known[other] = known
            lacking -= least


@inline_flat_kernel
def _known_then(plan: RegionPlan, urgency: DynamicState, depth: Any, cell: Any) -> Any:
    """How many joints an open cell knew at the depth from which on it has had as many mismatches as at ``depth``."""
    row = depth + _ONE
    while row > 1 and urgency.least[row - _ONE, cell] == urgency.least[depth + _ONE, cell]:
        row -= _ONE
    known = np.int64(0)
    for j in range(np.uint64(plan.known[cell])):
        beyond = plan.around[cell, np.uint64(plan.side[cell, j])]
        if beyond < 0 or urgency.depth_of[np.uint64(beyond)] + 1 < np.int64(row):
            known += 1
    return known


@inline_flat_kernel
def _explain_charge(
    plan: RegionPlan, work: RegionWork, urgency: DynamicState, depth: Any, earlier: Any, line: Any
) -> Any:
    """Blame a decision and its neighbours for what it charged up to ``line``; returns how much that is."""
    words = np.uint64(len(work.valid)) // np.uint64(len(plan.kind_of))
    cell = np.uint64(plan.order[earlier])
    at = np.uint64(plan.pattern[cell]) * words * np.uint64(64) + np.uint64(work.chosen[earlier])
    charged = np.int64(0)
    for j in range(np.uint64(plan.known[cell])):  # known when it was decided
        joint, side = np.uint64(plan.joint[cell, j]), np.uint64(plan.side[cell, j])
        if urgency.line[joint] <= line and work.joint_colour[joint] != work.shows[at * np.uint64(4) + side]:
            charged += 1
            _blame(urgency, depth, np.int64(earlier))
            if plan.around[cell, side] >= 0:
                _blame(urgency, depth, urgency.depth_of[np.uint64(plan.around[cell, side])])
    return charged


@inline_flat_kernel
def _explain_cell(
    plan: RegionPlan,
    work: RegionWork,
    laid: RegionWork,
    urgency: DynamicState,
    depth: Any,
    cell: Any,
    missed: Any,
    neighbours: bool,
) -> None:
    """Blame the neighbours of an open cell, and whoever holds a piece that would have fewer than ``missed``."""
    words = np.uint64(len(work.valid)) // np.uint64(len(plan.kind_of))
    if neighbours:
        for j in range(np.uint64(plan.known[cell])):
            beyond = plan.around[cell, np.uint64(plan.side[cell, j])]
            if beyond >= 0:
                _blame(urgency, depth, urgency.depth_of[np.uint64(beyond)])
    kind = np.uint64(plan.kind_of[np.uint64(plan.pattern[cell])])
    turns = plan.turns[kind]
    for level in range(missed):
        for word in range(words):
            bits = candidates(plan, laid, cell, level, word, words)
            while bits:
                start = np.uint64(lowest_bit(bits)) & ~np.uint64(turns - 1)
                _blame(urgency, depth, urgency.holder[(kind * words + word) * np.uint64(64) + start])
                bits &= ~group(np.int64(start), turns)


@inline_flat_kernel
def _blame(urgency: DynamicState, depth: Any, earlier: Any) -> None:
    urgency.conflict[depth, np.uint64(earlier >> 6)] |= bit(earlier)


@inline_flat_kernel
def full(urgency: DynamicState, depth: Any) -> bool:
    """Whether all earlier decisions are in the conflict of ``depth`` already, so that nothing more can be learnt."""
    last = depth >> np.uint64(6)
    for word in range(last):
        if ~urgency.conflict[depth, word]:
            return False
    return bool(urgency.conflict[depth, last] == (_ONE << (depth & np.uint64(63))) - _ONE)


@inline_flat_kernel
def deepest(urgency: DynamicState, depth: Any) -> Any:
    """The last decision in the conflict of ``depth``, -1 = none."""
    for back in range(np.uint64(urgency.conflict.shape[1])):
        word = np.uint64(urgency.conflict.shape[1]) - _ONE - back
        if urgency.conflict[depth, word]:
            return np.int64(word) * 64 + highest_bit(urgency.conflict[depth, word])
    return np.int64(-1)
