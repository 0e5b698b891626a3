"""Region search in a dynamic order (fewest candidates first) with conflict-directed backjumping; flat arrays.

A mismatch is charged to the *segment* of its joint. Up to each segment k the segments 0 to k may be charged at most
``cap[k]`` (a spend curve; with one segment, mismatches are allowed anywhere).

Bound: the charged mismatches, and for every open cell the least mismatches of a free piece on its known joints. Each
joint is counted once, since only one open cell knows it. The level of a cell is limited by what the bound leaves.

A dead end is explained by decisions (`exact.region.dynamic_explain`), of which one must change. The search jumps back
to the last of them, and the others are added to the explanation of the failed value there. An empty explanation proves
that there is no refill.

References
----------
P. Prosser, "Hybrid algorithms for the constraint satisfaction problem", Computational Intelligence 9, 1993 (conflict-
directed backjumping).
C. Bessiere and J.-C. Regin, "MAC and combined heuristics", CP 1996 (dom/deg).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from exact.region.candidates import candidates
from exact.region.dynamic_explain import NO_SEGMENT, UNBALANCED, conflict_is_complete, explain, last_conflict
from exact.region.dynamic_moves import DynamicState, place_piece, remove_piece
from exact.region.kernel import ALLOWED, BALANCE, BEST, DEPTH, FINISHED, NODES
from exact.region.state import RegionPlan, RegionState
from lns_support.bits import bit, lowest_bit, popcount
from lns_support.jit import flat_kernel, inline_flat_kernel

SEGMENTS, BACKJUMPING = 12, 13  # indices in state.scalars, after those of exact.region.kernel

_ONE = np.uint64(1)
_NO_BITS = np.uint64(0)
_WEIGHT = 60 << 4  # divisible by 1 to 5 (open neighbours + 1), and by 2 for each of 4 mismatches


@flat_kernel
def start_dynamic(plan: RegionPlan, state: RegionState, placed: RegionState, dynamic: DynamicState) -> None:
    """Start after `start_search`. ``placed`` is ``state`` with the set of placed pieces in the field ``free``."""
    placed.free[:] = _NO_BITS
    dynamic.depth_of[:] = -1
    dynamic.min_level[0] = 0
    dynamic.charged[:] = 0
    dynamic.conflict[0] = _NO_BITS
    state.spent[0] = 0
    if _bound_and_choose(plan, state, dynamic, np.uint64(0)) != NO_SEGMENT:
        state.scalars[FINISHED] = 1


@flat_kernel
def search_dynamic(
    plan: RegionPlan, state: RegionState, placed: RegionState, dynamic: DynamicState, node_budget: int
) -> None:
    """Continue until a refill is found (BEST), the search is complete (FINISHED) or NODES reach ``node_budget``."""
    scalars = state.scalars
    n = np.uint64(len(plan.cells))
    depth = np.uint64(scalars[DEPTH])
    nodes = scalars[NODES]
    while not scalars[FINISHED] and nodes < node_budget:
        cell = np.uint64(plan.order[depth])
        piece = _next_piece(plan, state, dynamic, depth, cell)
        if piece >= 0:
            nodes += 1
            place_piece(plan, state, placed, dynamic, depth, cell, np.uint64(piece))
            failed, mismatches = depth + _ONE, np.int64(0)
            dynamic.conflict[failed] = _NO_BITS
            segment = np.int64(UNBALANCED)
            if state.spent[failed] + state.bound[failed] * scalars[BALANCE] <= scalars[ALLOWED]:
                segment = _bound_and_choose(plan, state, dynamic, failed)
            if segment == NO_SEGMENT:
                depth = failed
                if depth == n:
                    scalars[BEST] = state.spent[n]
                    scalars[FINISHED] = 1
                continue
        else:
            failed, mismatches, segment = depth, dynamic.max_level[depth] + 1, dynamic.tight_segment[depth]
        target = np.int64(failed) - 1
        if scalars[BACKJUMPING] and not (target >= 0 and conflict_is_complete(dynamic, np.uint64(target))):
            explain(plan, state, placed, dynamic, failed, segment, cell, mismatches)
            target = last_conflict(dynamic, failed)
        if target < 0:
            scalars[FINISHED] = 1
            break
        depth = failed
        while np.int64(depth) > target:
            depth -= _ONE
            remove_piece(plan, state, placed, dynamic, depth)
        for word in range(np.uint64(dynamic.conflict.shape[1])):
            dynamic.conflict[depth, word] |= dynamic.conflict[failed, word]
        dynamic.conflict[depth, depth >> np.uint64(6)] &= ~bit(int(target))
    scalars[DEPTH] = np.int64(depth)
    scalars[NODES] = nodes


# -- bound and choice of the cell -------------------------------------------------------------------------------------


@inline_flat_kernel
def _bound_and_choose(plan: RegionPlan, state: RegionState, dynamic: DynamicState, depth: Any) -> Any:
    """Bound the remaining mismatches. Returns the first segment over its cap, or NO_SEGMENT after choosing a cell."""
    n = np.uint64(len(plan.cells))
    words = np.uint64(len(state.valid)) // np.uint64(len(plan.kind_of))
    deeper = depth + _ONE
    min_level, lower_bound = dynamic.min_level, dynamic.lower_bound
    for segment in range(np.uint64(state.scalars[SEGMENTS])):
        lower_bound[segment] = dynamic.charged[segment]
    for other in range(n):
        min_level[deeper, other] = min_level[depth, other]  # it never decreases
        if dynamic.depth_of[other] < 0 and min_level[depth, other]:
            lower_bound[np.uint64(dynamic.last_segment[other])] += min_level[depth, other]
    over = _first_exceeded(state, dynamic)
    last = np.uint64(plan.order[depth - _ONE]) if depth else np.uint64(0)
    for step in range(np.uint64(0) if depth else np.uint64(4), n + np.uint64(4)):
        if over != NO_SEGMENT:
            return over
        # first the neighbours of the piece just placed
        number = plan.around[last, step] if step < 4 else np.int64(step) - 4
        cell = np.uint64(number)
        if number < 0 or dynamic.depth_of[cell] >= 0:
            continue
        before = np.int64(min_level[deeper, cell])
        level = before
        while level < plan.known[cell] and not _has_candidate(plan, state, cell, level, words):
            level += 1
        if level > before:
            min_level[deeper, cell] = level
            lower_bound[np.uint64(dynamic.last_segment[cell])] += level - before
            over = _first_exceeded(state, dynamic)
    if over == NO_SEGMENT:
        _choose(plan, state, dynamic, depth)
    return over


@inline_flat_kernel
def _first_exceeded(state: RegionState, dynamic: DynamicState) -> Any:
    """The first segment up to which the lower bound exceeds the cap, or NO_SEGMENT."""
    total = np.int64(0)
    for segment in range(np.uint64(state.scalars[SEGMENTS])):
        total += dynamic.lower_bound[segment]
        if total > dynamic.cap[segment]:
            return np.int64(segment)
    return np.int64(NO_SEGMENT)


@inline_flat_kernel
def _choose(plan: RegionPlan, state: RegionState, dynamic: DynamicState, depth: Any) -> None:
    """Choose the cell to be decided at ``depth``; without an open cell ``order[depth]`` is unchanged.

    The cell with the least weighted number of candidates: candidates with one more mismatch than necessary count half,
    with two more a quarter, and so on; divided by the number of open neighbours plus one (dom/deg), times the last
    segment plus one, since early segments allow few mismatches.
    """
    words = np.uint64(len(state.valid)) // np.uint64(len(plan.kind_of))
    segments = np.uint64(state.scalars[SEGMENTS])
    total = np.int64(0)
    for segment in range(segments):
        total += dynamic.lower_bound[segment]
        dynamic.slack[segment] = dynamic.cap[segment] - total
    after = np.int64(4)
    for back in range(segments):
        after = min(after, dynamic.slack[segments - _ONE - back])
        dynamic.remaining[segments - _ONE - back] = after
    fewest = np.int64(1) << 60
    for cell in range(np.uint64(len(plan.cells))):
        weight = _WEIGHT // (1 + plan.open[cell]) * (1 + dynamic.last_segment[cell])
        if dynamic.depth_of[cell] >= 0 or weight >= fewest:
            continue
        tight = np.uint64(dynamic.last_segment[cell])
        level = np.int64(dynamic.min_level[depth + _ONE, cell])
        max_level = min(plan.known[cell], level + dynamic.remaining[tight])
        priority = np.int64(0)
        for more in range(level, max_level + 1):
            priority += weight * _count_candidates(plan, state, cell, more, words)
            weight >>= 1
            if priority >= fewest:
                break
        if priority < fewest:
            fewest = priority
            plan.order[depth] = np.int64(cell)
            dynamic.max_level[depth] = max_level
            state.level[depth] = level
            dynamic.tight_segment[depth] = NO_SEGMENT
            if max_level < plan.known[cell]:
                while dynamic.slack[tight] > dynamic.remaining[tight]:
                    tight += _ONE
                dynamic.tight_segment[depth] = np.int64(tight)
    state.word[depth] = -1
    state.bits[depth] = _NO_BITS


@inline_flat_kernel
def _has_candidate(plan: RegionPlan, state: RegionState, cell: Any, level: Any, words: Any) -> bool:
    """Whether some free piece has exactly ``level`` mismatches on the known joints of a cell."""
    bits = _NO_BITS
    for word in range(words):
        bits = bits | candidates(plan, state, cell, level, word, words)
    return bool(bits)


@inline_flat_kernel
def _count_candidates(plan: RegionPlan, state: RegionState, cell: Any, level: int, words: Any) -> Any:
    """The number of free oriented pieces with exactly ``level`` mismatches on the known joints of a cell."""
    count = np.int64(0)
    for word in range(words):
        count += popcount(candidates(plan, state, cell, level, word, words))
    return count


@inline_flat_kernel
def _next_piece(plan: RegionPlan, state: RegionState, dynamic: DynamicState, depth: Any, cell: Any) -> Any:
    """The bit of the next candidate of a cell, by increasing mismatches; -1 = no more within its maximal level."""
    words = np.uint64(len(state.valid)) // np.uint64(len(plan.kind_of))
    bits = state.bits[depth]
    while bits == _NO_BITS:
        state.word[depth] += 1
        if state.word[depth] == np.int64(words):
            state.word[depth] = 0
            state.level[depth] += 1
        if state.level[depth] > dynamic.max_level[depth]:
            return np.int64(-1)
        bits = candidates(plan, state, cell, state.level[depth], np.uint64(state.word[depth]), words)
    state.bits[depth] = bits & (bits - _ONE)
    return state.word[depth] * 64 + np.int64(lowest_bit(bits))
