"""Branch and bound over the refills of a region with at most r mismatches; flat arrays, no allocation.

Candidates come from sets of oriented pieces, one bit each: those with exactly 0, 1, 2... mismatches against the known
joints by bit-sliced counting. Bounds: colour balance (`exact.region.balance`), cells ahead that no free piece can match
(`_starved`), and, when the search is priced, what the rest costs with reusable pieces (`exact.region.cost_to_go`).

`load_region`, `start_search`, then `search_region` until a refill is found or all is searched. The caller may tighten
``work.cap`` (mismatches that may have been spent once a depth is filled): the answer is then about the refills that
keep to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from exact.region.balance import bound, shift
from exact.region.candidates import candidates, group, showing
from exact.region.cost_to_go import UNIT, look_up
from exact.region.state import RegionPlan, RegionWork
from lns_support.bits import lowest_bit
from lns_support.jit import flat_kernel, inline_flat_kernel

# how a sweep of searches stands: paused or out of nodes; all searched and nothing found; a refill found
OPEN, NONE, FOUND = range(3)

# places in work.state
DEPTH, NODES, BEST, ALLOWED, SPARE, FINISHED, BALANCE, START, RUNNING, LOOK, PRICED, ROOM = range(12)

_ONE = np.uint64(1)
_NO_BITS = np.uint64(0)


@flat_kernel
def load_region(plan: RegionPlan, work: RegionWork, used: npt.NDArray[np.uint8], board: npt.NDArray[np.int32]) -> bool:
    """Fill the workspace for the pieces that are free and the colours around the region; a few microseconds.

    Returns False when some kind of piece (inner, edge, corner) is too few for its cells, or too many for the workspace.
    """
    n = len(plan.cells)
    kinds = len(plan.turns)
    patterns = len(plan.kind_of)
    colours1 = len(plan.part)
    words = len(work.valid) // patterns if patterns else 1
    bits = words * 64
    work.mask[:] = _NO_BITS
    work.valid[:] = _NO_BITS
    work.free[:] = _NO_BITS
    work.balance[:] = 0
    work.pieces[:] = 0
    work.next_twin[:] = -1
    work.last_twin[:] = -1
    for piece in range(len(used)):
        kind = plan.kind_of_piece[piece]
        if used[piece] or plan.of_clue[piece] or kind < 0:
            continue
        turns = plan.turns[kind]
        start = work.pieces[kind] * turns
        if start + turns > bits:
            return False
        work.pieces[kind] += 1
        for side in range(4):
            work.balance[plan.quads[piece * 4, side]] += 1
        for pattern in range(patterns):
            if plan.kind_of[pattern] != kind:
                continue
            bit = start
            for oriented in range(piece * 4, piece * 4 + 4):
                if plan.pattern_of[oriented] != pattern:
                    continue
                one = _ONE << np.uint64(bit & 63)
                at = pattern * bits + bit
                work.oriented[at] = oriented
                if plan.first[oriented]:
                    work.valid[pattern * words + (bit >> 6)] |= one
                for side in range(4):
                    colour = plan.quads[oriented, side]
                    work.shows[at * 4 + side] = colour
                    work.mask[((pattern * 4 + side) * colours1 + colour) * words + (bit >> 6)] |= one
                bit += 1
        twin = plan.twin[piece]
        if twin >= 0 and work.last_twin[twin] >= 0:  # waits until the equal piece before it lies
            work.next_twin[kind * bits + work.last_twin[twin]] = start
        else:
            work.free[kind * words + (start >> 6)] |= group(start, turns)
        if twin >= 0:
            work.last_twin[twin] = start
    total = 0
    for kind in range(kinds):
        total += work.pieces[kind]
        if work.pieces[kind] < plan.need[kind]:
            return False
    for i in range(len(plan.outside)):
        colour = plan.quads[board[plan.outside[i, 1]], plan.outside[i, 2]]
        work.joint_colour[plan.outside[i, 0]] = colour
        work.balance[colour] -= 1
    work.state[SPARE] = total - n
    work.state[BALANCE] = 1
    work.state[LOOK] = 1
    work.state[PRICED] = 0
    work.balance[0] = 1 << 40
    return True


@flat_kernel
def start_search(plan: RegionPlan, work: RegionWork, r_max: int) -> None:
    """Stand at the root of a loaded region, looking for at most ``r_max`` mismatches. ``work.cap`` is left as it is."""
    state = work.state
    work.lacking[:] = 0
    work.odd[:] = 0
    for colour in range(1, len(plan.part)):
        part, half_edges = plan.part[colour], work.balance[colour]
        if half_edges < 0:
            work.lacking[part] -= half_edges
        elif half_edges & 1:
            work.odd[part] += 1
    state[DEPTH] = 0
    state[NODES] = 0
    state[BEST] = -1
    state[ALLOWED] = r_max
    work.spent[0] = 0
    work.bound[0] = bound(plan, work, 0, state[SPARE])
    state[FINISHED] = 0
    if len(plan.cells) == 0:
        state[FINISHED] = 1
        if r_max >= 0:
            state[BEST] = 0
    elif work.bound[0] * state[BALANCE] > r_max:
        state[FINISHED] = 1
    else:
        _enter(plan, work, np.uint64(0))


@flat_kernel
def search_region(plan: RegionPlan, work: RegionWork, node_budget: int) -> None:
    """Go on until a refill is found, all is searched (state FINISHED) or the state's NODES reach ``node_budget``.

    BEST: mismatches of the last refill found, -1 = none; the next call looks for fewer.
    """
    state = work.state
    if state[FINISHED]:
        return
    n = np.uint64(len(plan.cells))
    one = np.uint64(1)
    depth = np.uint64(state[DEPTH])
    nodes = state[NODES]
    allowed = state[ALLOWED]
    balance = work.balance
    patterns = np.uint64(len(plan.kind_of))
    words = np.uint64(len(work.valid)) // patterns
    bits_of = words * np.uint64(64)
    use_balance = state[BALANCE]
    look = state[LOOK]
    priced = state[PRICED]
    units = state[ROOM]
    rest = work.rest
    while True:
        bits = work.bits[depth]
        if bits == _NO_BITS:
            # the next word of this many misses, or one miss more
            word = work.word[depth] + 1
            level = work.level[depth]
            room = min(min(allowed, work.cap[depth]) - work.spent[depth], plan.known[depth])
            if priced:
                room = min(room, rest.top[depth])
            while level <= room:
                while word < np.int64(words):
                    bits = candidates(plan, work, depth, level, np.uint64(word), words)
                    if bits:
                        break
                    word += 1
                if bits:
                    break
                level += 1
                word = 0
            if bits == _NO_BITS:
                if depth == 0:
                    state[FINISHED] = 1
                    break
                depth -= one
                _take_back(plan, work, depth, bits_of)
                continue
            work.level[depth] = level
            work.word[depth] = word
        if nodes >= node_budget:
            work.bits[depth] = bits
            break
        level = work.level[depth]
        total = work.spent[depth] + level
        if total > min(allowed, work.cap[depth]):  # a find has lowered what is allowed
            work.bits[depth] = _NO_BITS
            work.level[depth] = 5
            continue
        work.bits[depth] = bits & (bits - one)
        nodes += 1
        bit = np.uint64(work.word[depth] * 64 + lowest_bit(bits))
        if priced:
            paid = rest.paid[depth] + level * UNIT + rest.price[np.uint64(plan.pattern[depth]) * bits_of + bit]
            if paid + rest.need[np.uint64(rest.keep[depth] + rest.opens[depth * bits_of + bit])] > units:
                continue
            rest.paid[depth + one] = paid
        work.chosen[depth] = np.int64(bit)
        at = (np.uint64(plan.pattern[depth]) * bits_of + bit) * np.uint64(4)
        changed = False
        if level:
            for j in range(np.uint64(plan.known[depth])):
                asked = work.joint_colour[np.uint64(plan.joint[depth, j])]
                shown = work.shows[at + np.uint64(plan.side[depth, j])]
                if asked != shown:
                    shift(plan, work, asked, 1)
                    shift(plan, work, shown, -1)
            changed = True
        first_open = np.uint64(plan.known[depth])
        for j in range(first_open, first_open + np.uint64(plan.open[depth])):
            colour = work.shows[at + np.uint64(plan.side[depth, j])]
            work.joint_colour[np.uint64(plan.joint[depth, j])] = colour
            demand = plan.demand[depth, j]
            if balance[np.uint64(colour)] >= 2 and demand == 2:
                balance[np.uint64(colour)] -= 2
            else:
                shift(plan, work, colour, -demand)
                changed = True
        deeper = depth + one
        work.spent[deeper] = total
        least = work.bound[depth]
        if changed:
            least = bound(plan, work, deeper, state[SPARE])
        work.bound[deeper] = least
        if total + least * use_balance > allowed:
            _take_back(plan, work, depth, bits_of)
            continue
        if deeper == n:
            state[BEST] = total
            allowed = total - 1
            for d in range(n):
                work.found[d] = work.oriented[np.uint64(plan.pattern[d] * np.int64(bits_of) + work.chosen[d])]
            _take_back(plan, work, depth, bits_of)
            if allowed < 0:
                state[FINISHED] = 1
            break
        kind = np.uint64(plan.kind_of[np.uint64(plan.pattern[depth])])
        turns = plan.turns[kind]
        work.free[kind * words + (bit >> np.uint64(6))] &= ~group(np.int64(bit), turns)
        twin = work.next_twin[kind * bits_of + (bit & ~np.uint64(turns - 1))]
        if twin >= 0:
            work.free[kind * words + np.uint64(twin >> 6)] |= group(twin, turns)
        if look and _starved(plan, work, deeper, words, allowed):
            _take_back(plan, work, depth, bits_of)
            continue
        depth = deeper
        _enter(plan, work, depth)
    state[DEPTH] = np.int64(depth)
    state[NODES] = nodes
    state[ALLOWED] = allowed


@inline_flat_kernel
def _starved(plan: RegionPlan, work: RegionWork, depth: Any, words: Any, allowed: int) -> bool:
    """Whether cells that no free piece can match without a miss will spend more than some depth allows."""
    spent = work.spent[depth]
    for i in range(np.uint64(plan.ahead.shape[1])):
        later = plan.ahead[depth, i]
        if later < 0:
            break
        cell = np.uint64(later)
        pattern = np.uint64(plan.pattern[cell])
        known = plan.ahead_known[depth, i]
        base = np.uint64(plan.kind_of[pattern]) * words
        offered = False
        for word in range(words):
            pool = work.free[base + word] & work.valid[pattern * words + word]
            for j in range(np.uint64(known)):
                pool &= showing(plan, work, cell, j, pattern, word, words)
            if pool:
                offered = True
                break
        if not offered:
            spent += 1
            if spent > min(allowed, work.cap[cell]):
                return True
    return False


@inline_flat_kernel
def _enter(plan: RegionPlan, work: RegionWork, depth: Any) -> None:
    work.level[depth] = 0
    work.word[depth] = -1
    work.bits[depth] = _NO_BITS
    if work.state[PRICED]:
        look_up(work, depth, work.state[ROOM])


@inline_flat_kernel
def _take_back(plan: RegionPlan, work: RegionWork, depth: Any, bits_of: Any) -> None:
    """Undo the piece on ``depth``: balances and free pieces."""
    bit = np.uint64(work.chosen[depth])
    pattern = np.uint64(plan.pattern[depth])
    at = (pattern * bits_of + bit) * np.uint64(4)
    first_open = np.uint64(plan.known[depth])
    if work.level[depth]:
        for j in range(first_open):
            asked = work.joint_colour[np.uint64(plan.joint[depth, j])]
            shown = work.shows[at + np.uint64(plan.side[depth, j])]
            if asked != shown:
                shift(plan, work, asked, -1)
                shift(plan, work, shown, 1)
    for j in range(first_open, first_open + np.uint64(plan.open[depth])):
        colour = work.shows[at + np.uint64(plan.side[depth, j])]
        demand = plan.demand[depth, j]
        if work.balance[np.uint64(colour)] >= 0 and demand == 2:
            work.balance[np.uint64(colour)] += 2
        else:
            shift(plan, work, colour, demand)
    kind = np.uint64(plan.kind_of[pattern])
    words = bits_of >> np.uint64(6)
    turns = plan.turns[kind]
    work.free[kind * words + (bit >> np.uint64(6))] |= group(np.int64(bit), turns)
    twin = work.next_twin[kind * bits_of + (bit & ~np.uint64(turns - 1))]
    if twin >= 0:
        work.free[kind * words + np.uint64(twin >> 6)] &= ~group(twin, turns)
