"""ColorPairs for regions: a tree search for a refill with at most r mismatches; flat arrays.

State, moves, pairs and the record of explanations are those of ColorPairs (`exact.colorpairs`); a region without
mismatches is the case r = 0. What spending adds:

- Stages of a search scheme (`exact.region.scheme`) limit where mismatches are spent. The cells of a stage are decided
  in a dynamic order (`exact.region.dynamic_bound`).
- Bound: the spent mismatches, for every open cell the least mismatches of a free piece on its known sides, and Demand -
  Offer of pairs over the other cells, each counted once (`exact.region.dynamic_pairs`).
- Preemption and instantiation where a stage or the region has no mismatch left (`exact.region.dynamic_preempt`).

A dead end is explained by decisions (`exact.region.dynamic_explain`), of which one must change. The search jumps back
to the last of them, and the others are added to the explanation of the failed value there. It stops at a depth where
another task of a stage is pending. An empty explanation proves that there is no refill.

References
----------
T. Benoist and E. Bourreau, "La programmation par contraintes à l'attaque d'Eternity II", JFPC 2008.
P. Prosser, "Hybrid algorithms for the constraint satisfaction problem", Computational Intelligence 9, 1993 (conflict-
directed backjumping).
C. Bessiere and J.-C. Regin, "MAC and combined heuristics", CP 1996 (dom/deg).
"""

from __future__ import annotations

import numpy as np

from exact.colorpairs.state import State
from exact.colorpairs.tables import Tables
from exact.region.dynamic_bound import bound_and_choose
from exact.region.dynamic_explain import (
    add_to_conflict,
    clear_explanation,
    conflict_is_complete,
    explain_all,
    explain_limit,
    last_conflict,
)
from exact.region.dynamic_levels import candidates
from exact.region.dynamic_moves import place_piece, remove_piece
from exact.region.dynamic_stages import start_stage
from exact.region.dynamic_state import Parts, Spending
from exact.region.kernel import (
    ALLOWED,
    BALANCE,
    BEST,
    DEPTH,
    FINISHED,
    NODES,
    PENDING,
    RUNNING,
    TASKS,
    add_task,
    begin_stages,
)
from exact.region.scheme import SearchScheme
from exact.region.state import RegionPlan, RegionState
from lns_support.bits import bit, lowest_bit
from lns_support.jit import flat_kernel, inline_flat_kernel

_NO_BITS = np.uint64(0)


# what the search does next: try a candidate; bound a node; start a task of a stage; jump back
_TRY, _BOUND, _START, _JUMP = range(4)


@flat_kernel
def start_dynamic(t: Tables, s: State, p: Spending, state: RegionState, r: int) -> None:
    """Start a search for at most ``r`` mismatches, after `exact.region.kernel.start_search`."""
    p.min_level[0] = 0
    state.spent[0] = 0
    state.scalars[TASKS] = 0
    state.scalars[PENDING] = 0
    state.scalars[RUNNING] = _START
    _clear_conflict(t, s, 0)
    begin_stages(state, 0, add_task(state, 0, r, -1, 0))


@flat_kernel
def search_dynamic(
    t: Tables,
    s: State,
    p: Spending,
    plan: RegionPlan,
    state: RegionState,
    scheme: SearchScheme,
    parts: Parts,
    preempts: bool | None,
    node_budget: int,
) -> None:
    """Continue until a refill is found (BEST), the search is complete (FINISHED) or NODES reach ``node_budget``."""
    scalars = state.scalars
    words = len(p.free)
    depth = failed = scalars[DEPTH]
    nodes = scalars[NODES]
    action = scalars[RUNNING]
    while not scalars[FINISHED]:
        if action == _TRY:
            if nodes >= node_budget:
                break
            oriented = _next_candidate(t, s, p, state, depth, words)
            if oriented >= 0:
                nodes += 1
                place_piece(t, s, p, plan, state, depth, p.cell[depth], oriented)
                depth += 1
                action = _enter(t, s, p, state, depth)
                failed = depth
            else:
                if parts.backjumping and not conflict_is_complete(s, t.words, depth):
                    clear_explanation(t, s)
                    mismatches = p.max_level[depth] + 1
                    explain_limit(t, s, p, state, depth, p.limit[depth], p.cell[depth], mismatches, words)
                    add_to_conflict(t, s, depth)
                failed = depth
                action = _START if state.pending_before[depth] >= 0 else _JUMP
        elif action == _START:
            clear_explanation(t, s)
            started = start_stage(t, s, p, state, scheme, depth)
            add_to_conflict(t, s, depth)
            failed = depth
            action = _BOUND if started else _JUMP
        elif action == _BOUND:
            if bound_and_choose(t, s, p, state, parts, preempts, depth, words):
                action = _TRY
            else:
                failed = depth
                action = _START if state.pending_before[depth] >= 0 else _JUMP
        else:
            depth, action = _jump(t, s, p, plan, state, parts, failed)
    scalars[DEPTH] = depth
    scalars[NODES] = nodes
    scalars[RUNNING] = action


@inline_flat_kernel
def _enter(t: Tables, s: State, p: Spending, state: RegionState, depth: int) -> int:
    """Begin a new node; returns what to do next."""
    _clear_conflict(t, s, depth)
    state.pending_before[depth] = -1
    if state.spent[depth] + state.bound[depth] * state.scalars[BALANCE] > state.scalars[ALLOWED]:
        clear_explanation(t, s)
        explain_all(s, depth)
        add_to_conflict(t, s, depth)
        return _JUMP
    if depth == t.cells:
        state.scalars[BEST] = state.spent[depth]
        state.scalars[FINISHED] = 1
        return _JUMP
    left = p.stage_left[depth - 1] - 1
    if left == 0:
        begin_stages(state, depth, state.next_task[depth - 1])
        return _START
    p.stage[depth] = p.stage[depth - 1]
    p.stage_left[depth] = left
    state.cap[depth] = state.cap[depth - 1]
    state.next_task[depth] = state.next_task[depth - 1]
    return _BOUND


@inline_flat_kernel
def _jump(
    t: Tables, s: State, p: Spending, plan: RegionPlan, state: RegionState, parts: Parts, failed: int
) -> tuple[int, int]:
    """Undo decisions to the last one that explains the dead end, or to a pending task; (depth, what to do next)."""
    depth = failed
    target = last_conflict(s, t.words, failed) if parts.backjumping else failed - 1
    while depth > target:
        if depth < failed and state.pending_before[depth] >= 0:
            _merge_conflict(t, s, depth, failed)
            if state.scalars[PENDING] > state.pending_before[depth]:
                return depth, _START
            failed = depth
            target = last_conflict(s, t.words, failed) if parts.backjumping else failed - 1
        if state.pending_before[depth] >= 0:
            state.scalars[PENDING] = state.pending_before[depth]
            state.scalars[TASKS] = state.tasks_before[depth]
        depth -= 1
        if depth < 0:
            state.scalars[FINISHED] = 1
            return 0, _JUMP
        remove_piece(t, s, p, plan, state, depth)
    _merge_conflict(t, s, depth, failed)
    s.conflict[depth * t.words + (depth >> 6)] &= ~bit(depth)
    return depth, _TRY


@inline_flat_kernel
def _merge_conflict(t: Tables, s: State, depth: int, failed: int) -> None:
    """Add the conflict set of a deeper dead end."""
    for word in range(t.words):
        s.conflict[depth * t.words + word] |= s.conflict[failed * t.words + word]


@inline_flat_kernel
def _clear_conflict(t: Tables, s: State, depth: int) -> None:
    for word in range(t.words):
        s.conflict[depth * t.words + word] = _NO_BITS


@inline_flat_kernel
def _next_candidate(t: Tables, s: State, p: Spending, state: RegionState, depth: int, words: int) -> int:
    """The next oriented piece for the cell of a depth, by increasing mismatches; -1 = none within its maximal level."""
    bits = state.bits[depth]
    while bits == _NO_BITS:
        state.word[depth] += 1
        if state.word[depth] == words:
            state.word[depth] = 0
            state.level[depth] += 1
        if state.level[depth] > p.max_level[depth]:
            return -1
        word = state.word[depth]
        bits = candidates(t, s, p, p.free, p.cell[depth], state.level[depth], word, words)
        bits &= ~p.excluded[depth * words + word]
    state.bits[depth] = bits & (bits - np.uint64(1))
    return int(state.word[depth] * 64 + lowest_bit(bits))
