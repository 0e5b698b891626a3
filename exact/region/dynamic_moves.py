"""The state of a dynamic search, and its move: place a piece on an open cell, and remove it.

`reset_plan` rewrites a plan so that known joints are stored by the number of the cell instead of by depth; with it the
functions of `exact.region.candidates` take the number of a cell as ``depth``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from exact.region.balance import balance_bound, change_balance
from exact.region.candidates import rotation_bits
from exact.region.kernel import SPARE
from exact.region.state import OUTSIDE, RIM, VACANT, Ints, RegionPlan, RegionState, Words
from lns_support.jit import flat_kernel, inline_flat_kernel

_ONE = np.uint64(1)


class DynamicState(NamedTuple):
    """The state of a dynamic search of n cells, in addition to a `RegionState`.

    A *segment* is a set of joints whose mismatches share an allowance of the spend curve.
    """

    depth_of: Ints  # int64 (n,): depth at which a cell was decided, -1 = open, by number
    last_segment: Ints  # int64 (n,): last segment of the known joints of a cell, by number
    min_level: npt.NDArray[np.uint8]  # uint8 (n+2, n): row d+1: least mismatches of each open cell at depth d
    vacant: Ints  # int64 (n+1,): vacant joints of the open cells at a depth
    max_level: Ints  # int64 (n+1,): mismatches that the cell decided at a depth may have
    tight_segment: Ints  # int64 (n+1,): the segment that allows it no more, or NO_SEGMENT
    conflict: Words  # uint64 (n+1, words): earlier decisions that explain the failures at a depth
    segment: Ints  # int64 (joints,): segment of a joint
    cap: Ints  # int64 (n,): mismatches allowed on all segments up to this one
    charged: Ints  # int64 (n,): mismatches on the known joints of a segment
    lower_bound: Ints  # int64 (n,): `charged` plus the least mismatches of open cells
    slack: Ints  # int64 (n,): `cap` minus the lower bound of all segments up to this one
    remaining: Ints  # int64 (n,): least slack of this and all later segments
    placed_depth: Ints  # int64: depth at which a piece was placed, by kind and first bit


def make_dynamic_state(plan: RegionPlan, state: RegionState) -> DynamicState:
    """Allocate the dynamic state of ``plan``'s region."""
    n = len(plan.cells)

    def ints(size: int) -> Ints:
        return np.zeros(size, dtype=np.int64)

    return DynamicState(
        depth_of=ints(n),
        last_segment=ints(n),
        min_level=np.zeros((n + 2, n), dtype=np.uint8),
        vacant=ints(n + 1),
        max_level=ints(n + 1),
        tight_segment=ints(n + 1),
        conflict=np.zeros((n + 1, (n + 63) // 64), dtype=np.uint64),
        segment=ints(len(state.joint_colour)),
        cap=ints(n),
        charged=ints(n),
        lower_bound=ints(n),
        slack=ints(n),
        remaining=ints(n),
        placed_depth=ints(len(state.next_identical)),
    )


@flat_kernel
def reset_plan(plan: RegionPlan, dynamic: DynamicState) -> None:
    """Rewrite the patterns and known joints of ``plan`` by number of the cell, as before the first decision.

    ``dynamic.segment`` must be set. ``plan.open`` then counts the joints to open cells only.
    """
    dynamic.vacant[0] = 0
    plan.known[:] = 0
    plan.open[:] = 0
    dynamic.last_segment[:] = 0
    for cell in range(len(plan.cells)):
        plan.pattern[cell] = plan.pattern_at[cell]
        for side in range(4):
            if plan.around[cell, side] == OUTSIDE:
                _add_known_joint(plan, dynamic, np.uint64(cell), side, plan.joint_at[cell, side])
            elif plan.around[cell, side] == VACANT:
                dynamic.vacant[0] += 1
            elif plan.around[cell, side] >= 0:
                plan.open[cell] += 1


@inline_flat_kernel
def place_piece(
    plan: RegionPlan, state: RegionState, placed: RegionState, dynamic: DynamicState, depth: Any, cell: Any, piece: Any
) -> None:
    """Place the oriented piece of bit ``piece`` on a cell: update balances, mismatches, known joints, free pieces."""
    words = np.uint64(len(state.valid)) // np.uint64(len(plan.kind_of))
    pattern = np.uint64(plan.pattern[cell])
    at = pattern * words * np.uint64(64) + piece
    state.chosen[depth] = np.int64(piece)
    state.refill[cell] = state.oriented[at]
    dynamic.depth_of[cell] = np.int64(depth)
    vacant = dynamic.vacant[depth]
    for side in range(4):
        beyond = plan.around[cell, side]
        if beyond == RIM:
            continue
        shown = state.shows[at * np.uint64(4) + np.uint64(side)]
        joint = np.uint64(plan.joint_at[cell, side])
        if beyond == VACANT:
            change_balance(plan, state, shown, -1)
            vacant -= 1
        elif beyond == OUTSIDE or dynamic.depth_of[np.uint64(beyond)] >= 0:
            required = state.joint_colour[joint]
            if required != shown:
                change_balance(plan, state, required, 1)
                change_balance(plan, state, shown, -1)
                dynamic.charged[np.uint64(dynamic.segment[joint])] += 1
        else:
            change_balance(plan, state, shown, -2)
            state.joint_colour[joint] = shown
            _add_known_joint(plan, dynamic, np.uint64(beyond), side ^ 2, np.int64(joint))
            plan.open[np.uint64(beyond)] -= 1
    deeper = depth + _ONE
    dynamic.vacant[deeper] = vacant
    state.spent[deeper] = state.spent[depth] + state.level[depth]
    state.bound[deeper] = balance_bound(state, vacant, state.scalars[SPARE])
    kind = np.uint64(plan.kind_of[pattern])
    turns = plan.rotations[kind]
    word = kind * words + (piece >> np.uint64(6))
    state.free[word] &= ~rotation_bits(np.int64(piece), turns)
    placed.free[word] |= rotation_bits(np.int64(piece), turns)
    start = kind * words * np.uint64(64) + (piece & ~np.uint64(turns - 1))
    dynamic.placed_depth[start] = np.int64(depth)
    identical = state.next_identical[start]
    if identical >= 0:
        state.free[kind * words + np.uint64(identical >> 6)] |= rotation_bits(identical, turns)


@inline_flat_kernel
def remove_piece(plan: RegionPlan, state: RegionState, placed: RegionState, dynamic: DynamicState, depth: Any) -> None:
    """Undo `place_piece`."""
    words = np.uint64(len(state.valid)) // np.uint64(len(plan.kind_of))
    cell, piece = np.uint64(plan.order[depth]), np.uint64(state.chosen[depth])
    pattern = np.uint64(plan.pattern[cell])
    at = pattern * words * np.uint64(64) + piece
    dynamic.depth_of[cell] = -1
    for side in range(4):
        beyond = plan.around[cell, side]
        if beyond == RIM:
            continue
        shown = state.shows[at * np.uint64(4) + np.uint64(side)]
        joint = np.uint64(plan.joint_at[cell, side])
        if beyond == VACANT:
            change_balance(plan, state, shown, 1)
        elif beyond == OUTSIDE or dynamic.depth_of[np.uint64(beyond)] >= 0:
            required = state.joint_colour[joint]
            if required != shown:
                change_balance(plan, state, required, -1)
                change_balance(plan, state, shown, 1)
                dynamic.charged[np.uint64(dynamic.segment[joint])] -= 1
        else:
            change_balance(plan, state, shown, 2)
            _remove_known_joint(plan, dynamic, np.uint64(beyond))
            plan.open[np.uint64(beyond)] += 1
    kind = np.uint64(plan.kind_of[pattern])
    turns = plan.rotations[kind]
    word = kind * words + (piece >> np.uint64(6))
    state.free[word] |= rotation_bits(np.int64(piece), turns)
    placed.free[word] &= ~rotation_bits(np.int64(piece), turns)
    identical = state.next_identical[kind * words * np.uint64(64) + (piece & ~np.uint64(turns - 1))]
    if identical >= 0:
        state.free[kind * words + np.uint64(identical >> 6)] &= ~rotation_bits(identical, turns)


@inline_flat_kernel
def _add_known_joint(plan: RegionPlan, dynamic: DynamicState, cell: Any, side: int, joint: Any) -> None:
    """Append a joint to the known joints of an open cell."""
    known = np.uint64(plan.known[cell])
    plan.side[cell, known] = side
    plan.joint[cell, known] = joint
    plan.known[cell] += 1
    dynamic.last_segment[cell] = max(dynamic.last_segment[cell], dynamic.segment[np.uint64(joint)])


@inline_flat_kernel
def _remove_known_joint(plan: RegionPlan, dynamic: DynamicState, cell: Any) -> None:
    """Remove the last known joint of an open cell."""
    plan.known[cell] -= 1
    reach = np.int64(0)
    for j in range(np.uint64(plan.known[cell])):
        reach = max(reach, dynamic.segment[np.uint64(plan.joint[cell, j])])
    dynamic.last_segment[cell] = reach
