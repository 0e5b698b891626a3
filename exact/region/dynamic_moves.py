"""The dynamic search's state, and its one move: laying a piece on an open cell and taking it back.

A plan that `by_number` has rewritten keeps its known joints by the number of a cell instead of by depth, so that
`exact.region.candidates` serves here too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from exact.region.balance import bound, shift
from exact.region.candidates import group
from exact.region.kernel import SPARE
from exact.region.state import OUTSIDE, RIM, WILD, Ints, RegionPlan, RegionWork, Words
from lns_support.jit import flat_kernel, inline_flat_kernel

_ONE = np.uint64(1)


class DynamicState(NamedTuple):
    """Room for the dynamic search of n cells, besides a `RegionWork`.

    By number of the cell: ``depth_of`` int64 (n,), depth of its decision, -1 = open; ``reach`` (n,), last line of its
    known joints. By depth: ``least`` uint8 (n+2, n), least mismatches of each open cell, one row later; ``room``
    (n+1,), mismatches that its cell may have; ``tight`` (n+1,), the line that gives it no more, or NO_LINE;
    ``conflict`` uint64 (n+1, words), the earlier decisions that explain what failed there. ``line``, by joint. By line,
    (n,): ``cap``; ``charged``; ``owed``, that and the bound; ``slack`` up to this line; ``left``, of this and all later
    ones. ``holder``, by kind and bit: depth at which a laid piece lies.
    """

    depth_of: Ints
    reach: Ints
    least: npt.NDArray[np.uint8]
    room: Ints
    tight: Ints
    conflict: Words
    line: Ints
    cap: Ints
    charged: Ints
    owed: Ints
    slack: Ints
    left: Ints
    holder: Ints


def make_dynamic_state(plan: RegionPlan, work: RegionWork) -> DynamicState:
    """Room for searches of ``plan``'s region."""
    n = len(plan.cells)

    def ints(size: int) -> Ints:
        return np.zeros(size, dtype=np.int64)

    return DynamicState(
        depth_of=ints(n),
        reach=ints(n),
        least=np.zeros((n + 2, n), dtype=np.uint8),
        room=ints(n + 1),
        tight=ints(n + 1),
        conflict=np.zeros((n + 1, (n + 63) // 64), dtype=np.uint64),
        line=ints(len(work.joint_colour)),
        cap=ints(n),
        charged=ints(n),
        owed=ints(n),
        slack=ints(n),
        left=ints(n),
        holder=ints(len(work.next_twin)),
    )


@flat_kernel
def by_number(plan: RegionPlan, urgency: DynamicState) -> None:
    """Rewrite ``plan``'s patterns and known joints by number of the cell, as before the first decision.

    ``urgency.line`` must be set. ``plan.open`` then counts the joints to open cells only.
    """
    plan.wild[0] = 0
    plan.known[:] = 0
    plan.open[:] = 0
    urgency.reach[:] = 0
    for cell in range(len(plan.cells)):
        plan.pattern[cell] = plan.pattern_at[cell]
        for side in range(4):
            if plan.around[cell, side] == OUTSIDE:
                _learn(plan, urgency, np.uint64(cell), side, plan.joint_at[cell, side])
            elif plan.around[cell, side] == WILD:
                plan.wild[0] += 1
            elif plan.around[cell, side] >= 0:
                plan.open[cell] += 1


@inline_flat_kernel
def lay(
    plan: RegionPlan, work: RegionWork, laid: RegionWork, urgency: DynamicState, depth: Any, cell: Any, piece: Any
) -> None:
    """Lay the oriented piece of bit ``piece``: balances, mismatches, what its neighbours now know, free pieces."""
    words = np.uint64(len(work.valid)) // np.uint64(len(plan.kind_of))
    pattern = np.uint64(plan.pattern[cell])
    at = pattern * words * np.uint64(64) + piece
    work.chosen[depth] = np.int64(piece)
    work.found[depth] = work.oriented[at]
    urgency.depth_of[cell] = np.int64(depth)
    wild = plan.wild[depth]
    for side in range(4):
        beyond = plan.around[cell, side]
        if beyond == RIM:
            continue
        shown = work.shows[at * np.uint64(4) + np.uint64(side)]
        joint = np.uint64(plan.joint_at[cell, side])
        if beyond == WILD:
            shift(plan, work, shown, -1)
            wild -= 1
        elif beyond == OUTSIDE or urgency.depth_of[np.uint64(beyond)] >= 0:
            asked = work.joint_colour[joint]
            if asked != shown:
                shift(plan, work, asked, 1)
                shift(plan, work, shown, -1)
                urgency.charged[np.uint64(urgency.line[joint])] += 1
        else:
            shift(plan, work, shown, -2)
            work.joint_colour[joint] = shown
            _learn(plan, urgency, np.uint64(beyond), side ^ 2, np.int64(joint))
            plan.open[np.uint64(beyond)] -= 1
    deeper = depth + _ONE
    plan.wild[deeper] = wild
    work.spent[deeper] = work.spent[depth] + work.level[depth]
    work.bound[deeper] = bound(plan, work, deeper, work.state[SPARE])
    kind = np.uint64(plan.kind_of[pattern])
    turns = plan.turns[kind]
    word = kind * words + (piece >> np.uint64(6))
    work.free[word] &= ~group(np.int64(piece), turns)
    laid.free[word] |= group(np.int64(piece), turns)
    start = kind * words * np.uint64(64) + (piece & ~np.uint64(turns - 1))
    urgency.holder[start] = np.int64(depth)
    twin = work.next_twin[start]
    if twin >= 0:
        work.free[kind * words + np.uint64(twin >> 6)] |= group(twin, turns)


@inline_flat_kernel
def take_back(plan: RegionPlan, work: RegionWork, laid: RegionWork, urgency: DynamicState, depth: Any) -> None:
    """Undo `lay`."""
    words = np.uint64(len(work.valid)) // np.uint64(len(plan.kind_of))
    cell, piece = np.uint64(plan.order[depth]), np.uint64(work.chosen[depth])
    pattern = np.uint64(plan.pattern[cell])
    at = pattern * words * np.uint64(64) + piece
    urgency.depth_of[cell] = -1
    for side in range(4):
        beyond = plan.around[cell, side]
        if beyond == RIM:
            continue
        shown = work.shows[at * np.uint64(4) + np.uint64(side)]
        joint = np.uint64(plan.joint_at[cell, side])
        if beyond == WILD:
            shift(plan, work, shown, 1)
        elif beyond == OUTSIDE or urgency.depth_of[np.uint64(beyond)] >= 0:
            asked = work.joint_colour[joint]
            if asked != shown:
                shift(plan, work, asked, -1)
                shift(plan, work, shown, 1)
                urgency.charged[np.uint64(urgency.line[joint])] -= 1
        else:
            shift(plan, work, shown, 2)
            _forget(plan, urgency, np.uint64(beyond))
            plan.open[np.uint64(beyond)] += 1
    kind = np.uint64(plan.kind_of[pattern])
    turns = plan.turns[kind]
    word = kind * words + (piece >> np.uint64(6))
    work.free[word] |= group(np.int64(piece), turns)
    laid.free[word] &= ~group(np.int64(piece), turns)
    twin = work.next_twin[kind * words * np.uint64(64) + (piece & ~np.uint64(turns - 1))]
    if twin >= 0:
        work.free[kind * words + np.uint64(twin >> 6)] &= ~group(twin, turns)


@inline_flat_kernel
def _learn(plan: RegionPlan, urgency: DynamicState, cell: Any, side: int, joint: Any) -> None:
    """A joint of an open cell becomes known."""
    known = np.uint64(plan.known[cell])
    plan.side[cell, known] = side
    plan.joint[cell, known] = joint
    plan.known[cell] += 1
    urgency.reach[cell] = max(urgency.reach[cell], urgency.line[np.uint64(joint)])


@inline_flat_kernel
def _forget(plan: RegionPlan, urgency: DynamicState, cell: Any) -> None:
    """The joint that became known last is open again."""
    plan.known[cell] -= 1
    reach = np.int64(0)
    for j in range(np.uint64(plan.known[cell])):
        reach = max(reach, urgency.line[np.uint64(plan.joint[cell, j])])
    urgency.reach[cell] = reach
