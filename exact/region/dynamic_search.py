"""The dynamic search of a region: the most urgent cell first, conflict-directed backjumping; flat arrays.

A plan that `by_number` has rewritten keeps its known joints by the number of a cell instead of by depth, so that
`exact.region.candidates` serves here too. A mismatch is charged to the *line* of its joint; up to every line k the
lines 0 to k may be charged ``cap[k]`` at most (a spend curve; one line alone = mismatches anywhere).

Bound: what is charged, and for every open cell the least mismatches of a free piece against its known joints, each
joint counted once since only one open cell knows it. A cell's room is what the bound leaves it.

A dead end is explained by decisions (`exact.region.dynamic_explain`), of which some must change. All after the deepest
of them are taken back at once, and the others are added to what is known against its cell; where there is none, there
is no refill.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from exact.region.candidates import candidates
from exact.region.dynamic_explain import NO_LINE, UNBALANCED, deepest, explain, full
from exact.region.dynamic_moves import DynamicState, lay, take_back
from exact.region.kernel import ALLOWED, BALANCE, BEST, DEPTH, FINISHED, NODES
from exact.region.state import RegionPlan, RegionWork
from lns_support.bits import bit, lowest_bit, popcount
from lns_support.jit import flat_kernel, inline_flat_kernel

LINES, BACKJUMPING = 12, 13  # places in work.state, after those of exact.region.kernel

_ONE = np.uint64(1)
_NO_BITS = np.uint64(0)
_SHARES = 60 << 4  # divisible by 1 to 5 open neighbours, and by 2 for each of 4 mismatches


@flat_kernel
def start_dynamic(plan: RegionPlan, work: RegionWork, laid: RegionWork, urgency: DynamicState) -> None:
    """Stand at the root, after `start_search`; ``laid`` is ``work`` with the laid pieces in place of the free."""
    laid.free[:] = _NO_BITS
    urgency.depth_of[:] = -1
    urgency.least[0] = 0
    urgency.charged[:] = 0
    urgency.conflict[0] = _NO_BITS
    work.spent[0] = 0
    if _survey(plan, work, urgency, np.uint64(0)) != NO_LINE:
        work.state[FINISHED] = 1


@flat_kernel
def search_dynamic(
    plan: RegionPlan, work: RegionWork, laid: RegionWork, urgency: DynamicState, node_budget: int
) -> None:
    """Go on until a refill is found (state BEST), all is searched (FINISHED) or NODES reach ``node_budget``."""
    state = work.state
    n = np.uint64(len(plan.cells))
    depth = np.uint64(state[DEPTH])
    nodes = state[NODES]
    while not state[FINISHED] and nodes < node_budget:
        cell = np.uint64(plan.order[depth])
        piece = _next_piece(plan, work, urgency, depth, cell)
        if piece >= 0:
            nodes += 1
            lay(plan, work, laid, urgency, depth, cell, np.uint64(piece))
            failed, missed = depth + _ONE, np.int64(0)
            urgency.conflict[failed] = _NO_BITS
            line = np.int64(UNBALANCED)
            if work.spent[failed] + work.bound[failed] * state[BALANCE] <= state[ALLOWED]:
                line = _survey(plan, work, urgency, failed)
            if line == NO_LINE:
                depth = failed
                if depth == n:
                    state[BEST] = work.spent[n]
                    state[FINISHED] = 1
                continue
        else:
            failed, missed, line = depth, urgency.room[depth] + 1, urgency.tight[depth]
        target = np.int64(failed) - 1
        if state[BACKJUMPING] and not (target >= 0 and full(urgency, np.uint64(target))):
            explain(plan, work, laid, urgency, failed, line, cell, missed)
            target = deepest(urgency, failed)
        if target < 0:
            state[FINISHED] = 1
            break
        depth = failed
        while np.int64(depth) > target:
            depth -= _ONE
            take_back(plan, work, laid, urgency, depth)
        for word in range(np.uint64(urgency.conflict.shape[1])):
            urgency.conflict[depth, word] |= urgency.conflict[failed, word]
        urgency.conflict[depth, depth >> np.uint64(6)] &= ~bit(int(target))
    state[DEPTH] = np.int64(depth)
    state[NODES] = nodes


# -- bound and urgency -------------------------------------------------------------------------------------------------


@inline_flat_kernel
def _survey(plan: RegionPlan, work: RegionWork, urgency: DynamicState, depth: Any) -> Any:
    """Bound what is to come: the first line over its cap, or NO_LINE after `_choose` entered ``depth``."""
    n = np.uint64(len(plan.cells))
    words = np.uint64(len(work.valid)) // np.uint64(len(plan.kind_of))
    deeper = depth + _ONE
    least, owed = urgency.least, urgency.owed
    for line in range(np.uint64(work.state[LINES])):
        owed[line] = urgency.charged[line]
    for each in range(n):
        least[deeper, each] = least[depth, each]  # never fewer than before
        if urgency.depth_of[each] < 0 and least[depth, each]:
            owed[np.uint64(urgency.reach[each])] += least[depth, each]
    over = _line_over(work, urgency)
    last = np.uint64(plan.order[depth - _ONE]) if depth else np.uint64(0)
    for step in range(np.uint64(0) if depth else np.uint64(4), n + np.uint64(4)):
        if over != NO_LINE:
            return over
        # the neighbours of what was just laid first
        number = plan.around[last, step] if step < 4 else np.int64(step) - 4
        cell = np.uint64(number)
        if number < 0 or urgency.depth_of[cell] >= 0:
            continue
        before = np.int64(least[deeper, cell])
        level = before
        while level < plan.known[cell] and not _offered(plan, work, cell, level, words):
            level += 1
        if level > before:
            least[deeper, cell] = level
            owed[np.uint64(urgency.reach[cell])] += level - before
            over = _line_over(work, urgency)
    if over == NO_LINE:
        _choose(plan, work, urgency, depth)
    return over


@inline_flat_kernel
def _line_over(work: RegionWork, urgency: DynamicState) -> Any:
    """The first line up to which more is owed than its cap."""
    total = np.int64(0)
    for line in range(np.uint64(work.state[LINES])):
        total += urgency.owed[line]
        if total > urgency.cap[line]:
            return np.int64(line)
    return np.int64(NO_LINE)


@inline_flat_kernel
def _choose(plan: RegionPlan, work: RegionWork, urgency: DynamicState, depth: Any) -> None:
    """Enter ``depth`` with the most urgent open cell; ``order[depth]`` stays as it is where none is open.

    Urgent: few candidates (each mismatch more than needed halves what they count) and many open neighbours, as dom/deg
    (Bessiere and Regin 1996); and an early line, where little may be spent.
    """
    words = np.uint64(len(work.valid)) // np.uint64(len(plan.kind_of))
    lines = np.uint64(work.state[LINES])
    total = np.int64(0)
    for line in range(lines):
        total += urgency.owed[line]
        urgency.slack[line] = urgency.cap[line] - total
    after = np.int64(4)
    for back in range(lines):
        after = min(after, urgency.slack[lines - _ONE - back])
        urgency.left[lines - _ONE - back] = after
    fewest = np.int64(1) << 60
    for cell in range(np.uint64(len(plan.cells))):
        weight = _SHARES // (1 + plan.open[cell]) * (1 + urgency.reach[cell])
        if urgency.depth_of[cell] >= 0 or weight >= fewest:
            continue
        tight = np.uint64(urgency.reach[cell])
        level = np.int64(urgency.least[depth + _ONE, cell])
        room = min(plan.known[cell], level + urgency.left[tight])
        dynamic = np.int64(0)
        for more in range(level, room + 1):
            dynamic += weight * _count(plan, work, cell, more, words)
            weight >>= 1
            if dynamic >= fewest:
                break
        if dynamic < fewest:
            fewest = dynamic
            plan.order[depth] = np.int64(cell)
            urgency.room[depth] = room
            work.level[depth] = level
            urgency.tight[depth] = NO_LINE
            if room < plan.known[cell]:
                while urgency.slack[tight] > urgency.left[tight]:
                    tight += _ONE
                urgency.tight[depth] = np.int64(tight)
    work.word[depth] = -1
    work.bits[depth] = _NO_BITS


@inline_flat_kernel
def _offered(plan: RegionPlan, work: RegionWork, cell: Any, level: Any, words: Any) -> bool:
    """Whether some free piece has exactly ``level`` mismatches."""
    bits = _NO_BITS
    for word in range(words):
        bits = bits | candidates(plan, work, cell, level, word, words)
    return bool(bits)


@inline_flat_kernel
def _count(plan: RegionPlan, work: RegionWork, cell: Any, level: int, words: Any) -> Any:
    """How many free oriented pieces have exactly ``level`` mismatches against the known joints of a cell."""
    count = np.int64(0)
    for word in range(words):
        count += popcount(candidates(plan, work, cell, level, word, words))
    return count


@inline_flat_kernel
def _next_piece(plan: RegionPlan, work: RegionWork, urgency: DynamicState, depth: Any, cell: Any) -> Any:
    """The bit of the next piece for the cell, those with the fewest mismatches first; -1 = no more within its room."""
    words = np.uint64(len(work.valid)) // np.uint64(len(plan.kind_of))
    bits = work.bits[depth]
    while bits == _NO_BITS:
        work.word[depth] += 1
        if work.word[depth] == np.int64(words):
            work.word[depth] = 0
            work.level[depth] += 1
        if work.level[depth] > urgency.room[depth]:
            return np.int64(-1)
        bits = candidates(plan, work, cell, work.level[depth], np.uint64(work.word[depth]), words)
    work.bits[depth] = bits & (bits - _ONE)
    return work.word[depth] * 64 + np.int64(lowest_bit(bits))
