"""Explanations of dead ends of the dynamic search: sets of decisions that suffice for them, as bit sets over depths.

A set E of decisions *explains* a dead end if no refill within the caps agrees with all of E.

- Segment k is over its cap. E: the decisions at both ends of each joint charged up to k; and for each open cell that
  the bound counts there with m > 0 mismatches, its decided neighbours and the decisions that placed a piece which would
  have fewer than m. Proof: a refill that agrees with E pays the charged joints. On such a cell it has either a piece
  that is free now, with m mismatches or more, or a piece with fewer, but E places every copy of that piece elsewhere.
  So it exceeds the cap. (Only as many joints and cells as exceed the cap are needed. If the m mismatches were there at
  an earlier depth already, the neighbours and placed pieces of that depth suffice.)
- Every candidate of the cell decided at depth d has failed. E: the explanations of these failures, without d; and the
  explanation of segment k over its cap if this cell had one mismatch more than its maximal level (k: the segment that
  allows no more). So E contains the decisions that placed pieces within the maximal level, and a piece above that level
  exceeds segment k. If no segment limits the cell: only the decisions that placed pieces.

Identical pieces become free one after the other (`exact.region.kernel.load_region`). A free one represents those that
are not free yet, so a piece has no free copy only if every copy is placed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from exact.region.candidates import candidates, rotation_bits
from exact.region.dynamic_moves import DynamicState
from exact.region.state import RegionPlan, RegionState
from lns_support.bits import bit, highest_bit, lowest_bit
from lns_support.jit import inline_flat_kernel

NO_SEGMENT, UNBALANCED = -1, -2  # instead of a segment: none is over its cap; the colour balance excludes a refill

_ONE = np.uint64(1)


@inline_flat_kernel
def explain(
    plan: RegionPlan,
    state: RegionState,
    placed: RegionState,
    dynamic: DynamicState,
    depth: Any,
    segment: Any,
    cell: Any,
    mismatches: Any,
) -> None:
    """Add the explanation of a dead end to the conflict set of ``depth``.

    ``segment`` is over its cap when the open ``cell`` has ``mismatches`` mismatches. NO_SEGMENT: explain only why no
    free piece has fewer. UNBALANCED: all decisions, since the balance depends on all of them.
    """
    if segment == UNBALANCED:
        for earlier in range(depth):
            _add_conflict(dynamic, depth, np.int64(earlier))
        return
    if mismatches:
        _explain_cell(plan, state, placed, dynamic, depth, cell, mismatches, segment != NO_SEGMENT)
    if segment == NO_SEGMENT:
        return
    deficit = dynamic.cap[np.uint64(segment)] + 1 - mismatches
    for earlier in range(depth):
        if deficit > 0 and state.level[earlier]:
            deficit -= _explain_charges(plan, state, dynamic, depth, earlier, segment)
    for other in range(np.uint64(len(plan.cells))):
        least = np.int64(dynamic.min_level[depth + _ONE, other])
        counted = least and dynamic.depth_of[other] < 0 and dynamic.last_segment[other] <= segment
        if deficit > 0 and counted and (not mismatches or other != cell):
            known = plan.known[other]
            plan.known[other] = _known_then(plan, dynamic, depth, other)
            _explain_cell(plan, state, placed, dynamic, depth, other, least, True)
            plan.known[other] = known
            deficit -= least


@inline_flat_kernel
def _known_then(plan: RegionPlan, dynamic: DynamicState, depth: Any, cell: Any) -> Any:
    """The number of known joints of an open cell at the depth where its least mismatches reached the present value."""
    row = depth + _ONE
    while row > 1 and dynamic.min_level[row - _ONE, cell] == dynamic.min_level[depth + _ONE, cell]:
        row -= _ONE
    known = np.int64(0)
    for j in range(np.uint64(plan.known[cell])):
        beyond = plan.around[cell, np.uint64(plan.side[cell, j])]
        if beyond < 0 or dynamic.depth_of[np.uint64(beyond)] + 1 < np.int64(row):
            known += 1
    return known


@inline_flat_kernel
def _explain_charges(
    plan: RegionPlan, state: RegionState, dynamic: DynamicState, depth: Any, earlier: Any, segment: Any
) -> Any:
    """Add a decision and its neighbours if it charged mismatches up to ``segment``; returns how many."""
    words = np.uint64(len(state.valid)) // np.uint64(len(plan.kind_of))
    cell = np.uint64(plan.order[earlier])
    at = np.uint64(plan.pattern[cell]) * words * np.uint64(64) + np.uint64(state.chosen[earlier])
    charged = np.int64(0)
    for j in range(np.uint64(plan.known[cell])):  # known when it was decided
        joint, side = np.uint64(plan.joint[cell, j]), np.uint64(plan.side[cell, j])
        if dynamic.segment[joint] <= segment and state.joint_colour[joint] != state.shows[at * np.uint64(4) + side]:
            charged += 1
            _add_conflict(dynamic, depth, np.int64(earlier))
            if plan.around[cell, side] >= 0:
                _add_conflict(dynamic, depth, dynamic.depth_of[np.uint64(plan.around[cell, side])])
    return charged


@inline_flat_kernel
def _explain_cell(
    plan: RegionPlan,
    state: RegionState,
    placed: RegionState,
    dynamic: DynamicState,
    depth: Any,
    cell: Any,
    mismatches: Any,
    neighbours: bool,
) -> None:
    """Add the neighbours of an open cell and the decisions that placed a piece with fewer than ``mismatches``."""
    words = np.uint64(len(state.valid)) // np.uint64(len(plan.kind_of))
    if neighbours:
        for j in range(np.uint64(plan.known[cell])):
            beyond = plan.around[cell, np.uint64(plan.side[cell, j])]
            if beyond >= 0:
                _add_conflict(dynamic, depth, dynamic.depth_of[np.uint64(beyond)])
    kind = np.uint64(plan.kind_of[np.uint64(plan.pattern[cell])])
    turns = plan.rotations[kind]
    for level in range(mismatches):
        for word in range(words):
            bits = candidates(plan, placed, cell, level, word, words)
            while bits:
                start = np.uint64(lowest_bit(bits)) & ~np.uint64(turns - 1)
                _add_conflict(dynamic, depth, dynamic.placed_depth[(kind * words + word) * np.uint64(64) + start])
                bits &= ~rotation_bits(np.int64(start), turns)


@inline_flat_kernel
def _add_conflict(dynamic: DynamicState, depth: Any, earlier: Any) -> None:
    """Add the decision at depth ``earlier`` to the conflict set of ``depth``."""
    dynamic.conflict[depth, np.uint64(earlier >> 6)] |= bit(earlier)


@inline_flat_kernel
def conflict_is_complete(dynamic: DynamicState, depth: Any) -> bool:
    """Whether the conflict set of ``depth`` has all earlier decisions already."""
    last = depth >> np.uint64(6)
    for word in range(last):
        if ~dynamic.conflict[depth, word]:
            return False
    return bool(dynamic.conflict[depth, last] == (_ONE << (depth & np.uint64(63))) - _ONE)


@inline_flat_kernel
def last_conflict(dynamic: DynamicState, depth: Any) -> Any:
    """The depth of the last decision in the conflict set of ``depth``, -1 = none."""
    for back in range(np.uint64(dynamic.conflict.shape[1])):
        word = np.uint64(dynamic.conflict.shape[1]) - _ONE - back
        if dynamic.conflict[depth, word]:
            return np.int64(word) * 64 + highest_bit(dynamic.conflict[depth, word])
    return np.int64(-1)
