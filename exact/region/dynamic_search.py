"""ColorPairs for regions: a tree search over flat arrays for a refill with at most r mismatches.

The arrays, moves, colour pairs and explanations are those of ColorPairs (`lns.exact.colorpairs`), which allows no
mismatch. To allow mismatches, the search adds:

- Stages of a search scheme (`lns.exact.region.scheme`), which limit where mismatches are spent. The cells of a stage
  are decided in a dynamic order (`_choose`).
- A bound: the sum of the mismatches spent, the least mismatches of a free piece on each open cell, and the deficits of
  colour pairs on open cells whose least is 0 (`lns.exact.region.dynamic_explain.count_pairs`).
- Preemption and instantiation where a stage or the region has no mismatch left to spend.

A set of decisions (placements) explains a dead end (`lns.exact.region.dynamic_explain`): one of them must change. The
search undoes decisions back to the last one of the set, whose piece has thus failed, and adds the others to the
conflict set of its depth. On the way it stops at a depth where another task of a stage is pending. An empty explanation
proves that there is no refill (P. Prosser, "Hybrid algorithms for the constraint satisfaction problem", Computational
Intelligence 9, 1993).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lns.exact.colorpairs import explain
from lns.exact.colorpairs.branching import smallest_offer_pair, urgency
from lns.exact.colorpairs.moves import assign, unassign
from lns.exact.colorpairs.state import State, Switches, Tables, counter
from lns.exact.kernels.bits import bit, lowest_bit, popcount
from lns.exact.kernels.jit import flat_kernel, inline_flat_kernel
from lns.exact.region import dynamic_explain as reasons
from lns.exact.region.dynamic_explain import NO_CELL, NO_LIMIT, REGION, STAGE, is_member, known_colours
from lns.exact.region.kernel import NO_TASK, SEARCHED, STARTED, balance_bound, begin_stages, change_balance, next_stage
from lns.exact.region.scheme import SearchScheme
from lns.exact.region.state import OUTSIDE, RIM, VACANT, RegionPlan, RegionState, Spending

DOM_DEG = -1  # stands for no `Heuristic`: choose the cell with least candidates / (open neighbours + 1)
_NO_BITS = np.uint64(0)
_WEIGHT = 60 << 4  # weight of a candidate; divisible by 1 to 5 (open neighbours + 1), then four times by 2

# the next action of the search: start a task of a stage; bound a node; try a candidate; jump back
_START, _BOUND, _TRY, _JUMP = range(4)


@flat_kernel
def search_dynamic(
    t: Tables,
    s: State,
    p: Spending,
    plan: RegionPlan,
    state: RegionState,
    scheme: SearchScheme,
    w: Switches,
    preempts: bool | None,
    node_budget: int,
) -> None:
    """Continue until a refill is found (BEST), the search is complete (EXHAUSTED) or NODES reach ``node_budget``.

    These three are counters of ``state``. ``preempts``: None to leave out preemption and instantiation with their
    machine code. Call `lns.exact.region.kernel.start_search` first.
    """
    counters = state.counters
    depth = failed = counters[counter.DEPTH]
    nodes = counters[counter.NODES]
    action = counters[counter.RUNNING]
    while not counters[counter.EXHAUSTED]:
        if action == _TRY:
            if nodes >= node_budget:
                break
            oriented = _next_candidate(t, s, p, state, depth)
            if oriented >= 0:
                nodes += 1
                place_piece(t, s, p, plan, state, depth, p.cell[depth], oriented)
                depth += 1
                action = _enter(t, s, p, state, depth)
                failed = depth
                continue
            if w.backjumping and not _conflict_is_complete(t, s, depth):
                explain.clear(t, s.explanation, 0)
                reasons.explain_limit(t, s, p, state, depth, p.limit[depth], p.cell[depth], p.max_level[depth] + 1)
                explain.add_to_conflict(t, s, depth)
        elif action == _START:
            explain.clear(t, s.explanation, 0)
            started = _start_stage(t, s, p, plan, state, scheme, depth)
            explain.add_to_conflict(t, s, depth)
            failed = depth
            action = _BOUND if started else _JUMP
            continue
        elif action == _BOUND:
            if _bound_and_choose(t, s, p, state, w, preempts, depth):
                action = _TRY
                continue
        else:
            depth, action = _jump(t, s, p, plan, state, w, failed)
            continue
        failed = depth
        action = _START if state.pending_before[depth] >= 0 else _JUMP
    counters[counter.DEPTH] = depth
    counters[counter.NODES] = nodes
    counters[counter.RUNNING] = action


@inline_flat_kernel
def _start_stage(
    t: Tables, s: State, p: Spending, plan: RegionPlan, state: RegionState, scheme: SearchScheme, depth: int
) -> bool:
    """Start the next pending task of a depth, explain why earlier ones were dropped; return False if none is left."""
    while True:
        outcome, stage = next_stage(plan, state, scheme, depth)
        if outcome == STARTED:
            p.stage[depth] = stage
            p.stage_left[depth] = scheme.length[stage]
            return True
        if outcome == NO_TASK:
            return False
        if outcome == SEARCHED:
            reasons.explain_check(t, s, p, scheme, stage)
        else:
            reasons.explain_spent(t, s, p, state, depth)


@inline_flat_kernel
def _enter(t: Tables, s: State, p: Spending, state: RegionState, depth: int) -> int:
    """Begin the node at ``depth``, after a placement, and return the next action of the search."""
    explain.clear(t, s.conflict, depth)
    state.pending_before[depth] = -1
    if state.spent[depth] + state.bound[depth] * state.counters[counter.BALANCE] > state.counters[counter.ALLOWED]:
        for earlier in range(depth):
            s.conflict[depth * t.words + (earlier >> 6)] |= bit(earlier)
        return _JUMP
    if depth == t.cells:
        state.counters[counter.BEST] = state.spent[depth]
        state.counters[counter.EXHAUSTED] = 1
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
    t: Tables, s: State, p: Spending, plan: RegionPlan, state: RegionState, w: Switches, failed: int
) -> tuple[int, int]:
    """Undo decisions to the last one that explains a dead end, or to a pending task; return depth and next action."""
    depth = failed
    target = explain.last_conflict(s, t.words, failed) if w.backjumping else failed - 1
    while depth > target:
        if depth < failed and state.pending_before[depth] >= 0:
            explain.add(t, s.conflict, depth, s.conflict, failed)
            if state.counters[counter.PENDING] > state.pending_before[depth]:
                return depth, _START
            failed = depth
            target = explain.last_conflict(s, t.words, failed) if w.backjumping else failed - 1
        if state.pending_before[depth] >= 0:
            state.counters[counter.PENDING] = state.pending_before[depth]
            state.counters[counter.TASKS] = state.tasks_before[depth]
        depth -= 1
        if depth < 0:
            state.counters[counter.EXHAUSTED] = 1
            return 0, _JUMP
        cell = p.cell[depth]
        _toggle_piece(t, p, s.grid[cell] >> 2)
        unassign(t, s, cell, 4, depth, False)
        _change_balances(s, plan, state, cell, 1)
    explain.add(t, s.conflict, depth, s.conflict, failed)
    s.conflict[depth * t.words + (depth >> 6)] &= ~bit(depth)
    return depth, _TRY


@inline_flat_kernel
def _conflict_is_complete(t: Tables, s: State, depth: int) -> bool:
    """Return whether the conflict set of ``depth`` already has the decisions of all smaller depths."""
    for word in range(depth >> 6):
        if ~s.conflict[depth * t.words + word]:
            return False
    return bool(s.conflict[depth * t.words + (depth >> 6)] == bit(depth) - np.uint64(1))


@inline_flat_kernel
def _next_candidate(t: Tables, s: State, p: Spending, state: RegionState, depth: int) -> int:
    """Return the next oriented piece to try on the cell of a depth, fewest mismatches first; -1 after the last."""
    words = len(p.free)
    bits = state.bits[depth]
    while bits == _NO_BITS:
        state.word[depth] += 1
        if state.word[depth] == words:
            state.word[depth] = 0
            state.level[depth] += 1
        if state.level[depth] > p.max_level[depth]:
            return -1
        word = state.word[depth]
        bits = reasons.candidates(t, s, p, p.cell[depth], state.level[depth], word) & ~p.excluded[depth * words + word]
    state.bits[depth] = bits & (bits - np.uint64(1))
    return int(state.word[depth] * 64 + lowest_bit(bits))


@inline_flat_kernel
def _bound_and_choose(
    t: Tables, s: State, p: Spending, state: RegionState, w: Switches, preempts: bool | None, depth: int
) -> bool:
    """Bound the mismatches at a node and choose a cell; return False at a dead end that the conflict set explains."""
    limit, in_stage, in_region = _least_mismatches(t, s, p, state, depth)
    stage_slack = min(state.cap[depth], state.counters[counter.ALLOWED]) - in_stage
    region_slack = state.counters[counter.ALLOWED] - in_region
    stage_deficit = region_deficit = 0
    if w.pairs and limit == NO_LIMIT:
        stage_deficit, region_deficit = reasons.count_pairs(t, s, p, depth, NO_CELL)
        if stage_deficit > stage_slack:
            limit = STAGE
        elif region_deficit > region_slack:
            limit = REGION
    if limit != NO_LIMIT:
        explain.clear(t, s.explanation, 0)
        reasons.explain_limit(t, s, p, state, depth, limit, NO_CELL, reasons.NO_MISMATCH)
        explain.add_to_conflict(t, s, depth)
        return False
    cell, exact = NO_CELL, NO_LIMIT
    if preempts is not None:
        if region_slack == 0:
            exact = REGION
        elif stage_slack == 0:
            exact = STAGE
        if exact != NO_LIMIT:
            failed, single = reasons.preempt(t, s, p, state, depth, exact)
            if failed != NO_CELL and w.preemption:
                explain.add_to_conflict(t, s, depth)
                return False
            if single != NO_CELL and w.instantiation and is_member(t, p, p.stage[depth], single):
                cell = single
        for word in range(len(p.free)):
            p.excluded[depth * len(p.free) + word] = _NO_BITS
    stage_slack -= max(0, stage_deficit - 1)  # a mismatch of the chosen cell may reduce a deficit by one
    region_slack -= max(0, region_deficit - 1)
    limit = STAGE if stage_slack <= region_slack else REGION
    slack = min(stage_slack, region_slack)
    if cell == NO_CELL:
        cell = _choose(t, s, p, w, depth, slack)
    level: Any = np.int64(p.min_level[depth + 1, cell])
    known = known_colours(s, cell)
    p.cell[depth] = cell
    state.level[depth] = level
    state.word[depth] = -1
    state.bits[depth] = _NO_BITS
    p.max_level[depth] = min(known, level + slack)
    p.limit[depth] = limit if p.max_level[depth] < known else NO_LIMIT
    if preempts is not None and w.preemption and exact != NO_LIMIT:
        p.max_level[depth] = level
        p.limit[depth] = exact if level < known else NO_LIMIT
        explain.clear(t, s.explanation, 0)
        reasons.only_piece(t, s, p, cell, level, True)
        for piece in range(t.pieces):
            if reasons.is_held(t, p, piece, cell):
                p.excluded[depth * len(p.free) + (piece >> 4)] |= reasons.turns_of(piece)
        explain.add_to_conflict(t, s, depth)
    return True


@inline_flat_kernel
def _least_mismatches(t: Tables, s: State, p: Spending, state: RegionState, depth: int) -> tuple[int, int, int]:
    """Update ``min_level``; return (exceeded cap or NO_LIMIT, mismatches of the stage, of the region).

    These are the mismatches spent so far plus the least mismatches of the open cells.
    """
    row = depth + 1
    stage = p.stage[depth]
    in_stage = in_region = state.spent[depth]
    region_cap = state.counters[counter.ALLOWED]
    stage_cap = min(state.cap[depth], region_cap)
    for cell in range(t.cells):
        level = p.min_level[depth, cell]  # the least mismatches of a cell never decrease with the depth
        p.min_level[row, cell] = level
        p.witness[row, cell] = p.witness[depth, cell]
        if level and s.grid[cell] < 0:
            in_region += level
            if is_member(t, p, stage, cell):
                in_stage += level
    last = p.cell[depth - 1] if depth else 0
    for step in range(0 if depth else 4, t.cells + 4):
        cell = t.neighbour[last * 4 + step] if step < 4 else step - 4  # first the neighbours of the last piece
        if cell < 0 or s.grid[cell] >= 0:
            continue
        seen = p.witness[row, cell]
        if step >= 4 and seen >= 0 and p.free[seen >> 6] & bit(seen):
            continue  # a free piece is known that still has the least mismatches
        if in_stage > stage_cap or in_region > region_cap:
            break
        known = known_colours(s, cell)
        before: Any = np.int64(p.min_level[row, cell])
        if before >= known:
            continue
        level, witness = reasons.least_level(t, s, p, cell, before, known)
        p.witness[row, cell] = witness
        if level > before:
            p.min_level[row, cell] = level
            in_region += level - before
            if is_member(t, p, stage, cell):
                in_stage += level - before
    limit = STAGE if in_stage > stage_cap else REGION if in_region > region_cap else NO_LIMIT
    return limit, in_stage, in_region


@inline_flat_kernel
def _choose(t: Tables, s: State, p: Spending, w: Switches, depth: int, slack: int) -> Any:
    """Choose the cell of the stage that is decided next. ``slack``: mismatches left beyond the least of all open cells.

    DOM_DEG: the cell with the least weighted number of candidates, divided by its open neighbours plus one (Bessiere &
    Regin 1996). A candidate with one mismatch more than the least counts half, with two more a quarter, and so on. With
    a `Heuristic`: the cell whose colour pair has the least `urgency`; of equals the one that DOM_DEG prefers.
    """
    best, fewest, urgent = NO_CELL, 1 << 60, 1e300
    for cell in range(t.cells):
        if s.grid[cell] >= 0 or not is_member(t, p, p.stage[depth], cell):
            continue
        if w.heuristic != DOM_DEG:
            own = 1e200
            if s.cell_pair_count[cell]:
                own = urgency(t, s, w, smallest_offer_pair(s, w, cell))
            if own > urgent:
                continue
            if own < urgent:
                urgent, fewest = own, 1 << 60
        open_neighbours = 0
        for side in range(4):
            neighbour = t.neighbour[cell * 4 + side]
            open_neighbours += neighbour >= 0 and s.grid[neighbour] < 0
        weight = _WEIGHT // (1 + open_neighbours)
        level: Any = np.int64(p.min_level[depth + 1, cell])
        priority = 0
        for more in range(level, min(known_colours(s, cell), level + slack) + 1):
            for word in range(len(p.free)):
                priority += weight * popcount(reasons.candidates(t, s, p, cell, more, word))
            weight >>= 1
            if priority >= fewest:
                break
        if priority < fewest:
            best, fewest = cell, priority
    return best


# -- moves: those of ColorPairs, with colour balances and free pieces ------------------------------------------------


@inline_flat_kernel
def place_piece(
    t: Tables, s: State, p: Spending, plan: RegionPlan, state: RegionState, depth: int, cell: int, oriented: int
) -> None:
    """Place an oriented piece on a cell: update colour pairs, known sides, colour balances and free pieces."""
    piece = oriented >> 2
    state.placed[cell] = oriented * 4
    vacant = p.vacant[depth] - _change_balances(s, plan, state, cell, -1)
    assign(t, s, cell, oriented, depth, depth, False, False)
    state.refill[cell] = p.origin[oriented]
    p.vacant[depth + 1] = vacant
    state.spent[depth + 1] = state.spent[depth] + state.level[depth]
    state.bound[depth + 1] = balance_bound(state, vacant, state.counters[counter.SPARE])
    _toggle_piece(t, p, piece)


@inline_flat_kernel
def _toggle_piece(t: Tables, p: Spending, piece: int) -> None:
    """Remove a piece from the free pieces and add its next duplicate to them, or undo both."""
    p.free[piece >> 4] ^= reasons.turns_of(piece)
    if reasons.has_twin(t, piece):
        p.free[(piece + 1) >> 4] ^= reasons.turns_of(piece + 1)


@inline_flat_kernel
def _change_balances(s: State, plan: RegionPlan, state: RegionState, cell: int, change: int) -> int:
    """Update balances before a placement (``change`` -1) or after a removal (1); return how many joints are vacant."""
    vacant = 0
    for side in range(4):
        beyond = plan.around[cell, side]
        if beyond == RIM:
            continue
        colour = state.shows[state.placed[cell] + side]
        joint = plan.joint_at[cell, side]
        if beyond == VACANT:
            change_balance(plan, state, colour, change)
            vacant += 1
        elif beyond == OUTSIDE or s.grid[beyond] >= 0:
            required = state.joint_colour[joint]
            if required != colour:
                change_balance(plan, state, required, -change)
                change_balance(plan, state, colour, change)
        else:
            change_balance(plan, state, colour, 2 * change)
            state.joint_colour[joint] = colour
    return vacant
