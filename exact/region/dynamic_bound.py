"""The bound of a dynamic search at a node, and the choice of the cell to be decided next."""

from __future__ import annotations

from typing import Any

import numpy as np

from exact.colorpairs.branching import smallest_offer_pair, urgency
from exact.colorpairs.state import State
from exact.colorpairs.tables import Tables
from exact.region.dynamic_explain import NO_CELL, NO_MISMATCH, add_to_conflict, clear_explanation, explain_limit
from exact.region.dynamic_levels import count_candidates, is_free, known_colours, least_level
from exact.region.dynamic_moves import is_member
from exact.region.dynamic_pairs import count_deficits
from exact.region.dynamic_preempt import exclude_held, preempt
from exact.region.dynamic_state import DOM_DEG, NO_LIMIT, REGION, STAGE, Parts, Spending
from exact.region.kernel import ALLOWED
from exact.region.state import RegionState
from lns_support.jit import inline_flat_kernel

_WEIGHT = 60 << 4  # divisible by 1 to 5 (open neighbours + 1), and by 2 for each of 4 mismatches


@inline_flat_kernel
def bound_and_choose(
    t: Tables, s: State, p: Spending, state: RegionState, parts: Parts, preempts: bool | None, depth: int, words: int
) -> bool:
    """Bound the mismatches at a node and choose its cell. False if a cap is exceeded; the conflict set explains it.

    ``preempts``: None without preemption and instantiation, whose machine code is then left out.
    """
    limit, in_stage, in_region = _least_mismatches(t, s, p, state, depth, words)
    stage_cap = min(state.cap[depth], state.scalars[ALLOWED])
    stage_slack, region_slack = stage_cap - in_stage, state.scalars[ALLOWED] - in_region
    stage_deficit = region_deficit = 0
    if parts.pairs and limit == NO_LIMIT:
        stage_deficit, region_deficit = count_deficits(t, s, p, depth)
        if stage_deficit > stage_slack:
            limit = STAGE
        elif region_deficit > region_slack:
            limit = REGION
    if limit != NO_LIMIT:
        clear_explanation(t, s)
        explain_limit(t, s, p, state, depth, limit, NO_CELL, NO_MISMATCH, words)
        add_to_conflict(t, s, depth)
        return False
    single, exact = NO_CELL, NO_LIMIT
    if preempts is not None:
        if region_slack == 0:
            exact = REGION
        elif stage_slack == 0:
            exact = STAGE
        if exact != NO_LIMIT:
            failed, single = preempt(t, s, p, state, depth, exact, words)
            if failed != NO_CELL and parts.preemption:
                add_to_conflict(t, s, depth)
                return False
            if single != NO_CELL and not is_member(t, p, p.stage[depth], single):
                single = NO_CELL
        for word in range(words):
            p.excluded[depth * words + word] = np.uint64(0)
    limit = STAGE if stage_slack <= region_slack else REGION
    if stage_deficit > 1 or region_deficit > 1:  # a mismatch of the cell may reduce a deficit by one
        stage_slack -= max(0, stage_deficit - 1)
        region_slack -= max(0, region_deficit - 1)
        limit = STAGE if stage_slack <= region_slack else REGION
    slack = min(stage_slack, region_slack)
    cell = single if parts.instantiation else NO_CELL
    if cell == NO_CELL:
        cell = _choose(t, s, p, parts, depth, slack, words)
    level: Any = np.int64(p.min_level[depth + 1, cell])
    known = known_colours(s, cell)
    p.cell[depth] = cell
    state.level[depth] = level
    state.word[depth] = -1
    state.bits[depth] = np.uint64(0)
    p.max_level[depth] = min(known, level + slack)
    p.limit[depth] = limit if p.max_level[depth] < known else NO_LIMIT
    if preempts is not None and parts.preemption and exact != NO_LIMIT:
        p.max_level[depth] = level
        p.limit[depth] = exact if level < known else NO_LIMIT
        exclude_held(t, s, p, depth, cell, level, words)
        add_to_conflict(t, s, depth)
    return True


@inline_flat_kernel
def _least_mismatches(
    t: Tables, s: State, p: Spending, state: RegionState, depth: int, words: int
) -> tuple[int, int, int]:
    """The spent mismatches and the least ones of the open cells: (cap exceeded or NO_LIMIT, in the stage, in all)."""
    row = depth + 1
    stage = p.stage[depth]
    in_stage = in_region = state.spent[depth]
    region_cap = state.scalars[ALLOWED]
    stage_cap = min(state.cap[depth], region_cap)
    for cell in range(t.cells):
        level = p.min_level[depth, cell]  # it never decreases
        p.min_level[row, cell] = level
        p.witness[row, cell] = p.witness[depth, cell]
        if level and s.grid[cell] < 0:
            in_region += level
            if is_member(t, p, stage, cell):
                in_stage += level
    last = p.cell[depth - 1] if depth else 0
    for step in range(0 if depth else 4, t.cells + 4):
        cell = t.neighbour[last * 4 + step] if step < 4 else step - 4  # first the neighbours of the piece just placed
        if cell < 0 or s.grid[cell] >= 0:
            continue
        if step >= 4 and is_free(p, p.witness[row, cell]):
            continue  # a piece that had the least mismatches is still free
        if in_stage > stage_cap:
            return STAGE, in_stage, in_region
        if in_region > region_cap:
            return REGION, in_stage, in_region
        known = known_colours(s, cell)
        before: Any = np.int64(p.min_level[row, cell])
        if before >= known:
            continue
        level, witness = least_level(t, s, p, cell, before, known, words)
        p.witness[row, cell] = witness
        if level > before:
            p.min_level[row, cell] = level
            in_region += level - before
            if is_member(t, p, stage, cell):
                in_stage += level - before
    if in_stage > stage_cap:
        return STAGE, in_stage, in_region
    if in_region > region_cap:
        return REGION, in_stage, in_region
    return NO_LIMIT, in_stage, in_region


@inline_flat_kernel
def _choose(t: Tables, s: State, p: Spending, parts: Parts, depth: int, slack: int, words: int) -> Any:
    """The cell of the stage to be decided at ``depth``.

    DOM_DEG: the least weighted number of candidates, of which those with one more mismatch than necessary count half,
    with two more a quarter, and so on, divided by the number of open neighbours plus one (Bessiere & Regin 1996). A
    `Heuristic`: the pair of least urgency (Benoist & Bourreau 2008, 5.1), then by candidates.
    """
    best, fewest, urgent = NO_CELL, 1 << 60, 1e300
    for cell in range(t.cells):
        if s.grid[cell] >= 0 or not is_member(t, p, p.stage[depth], cell):
            continue
        if parts.heuristic != DOM_DEG:
            own = 1e200
            if s.cell_pair_count[cell]:
                own = urgency(t, s, parts.switches, smallest_offer_pair(s, parts.switches, cell))
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
            priority += weight * count_candidates(t, s, p, cell, more, words)
            weight >>= 1
            if priority >= fewest:
                break
        if priority < fewest:
            best, fewest = cell, priority
    return best
