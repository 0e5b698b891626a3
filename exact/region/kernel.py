"""Branch and bound over the refills of a region with at most r mismatches, on flat arrays without allocation.

Candidates are bit sets of oriented pieces: bit-sliced counting finds the pieces with exactly 0, 1, 2... mismatches on
the known joints of a cell (those with filled cells). The bounds are colour balance (`balance_bound`), look-ahead
(`_lookahead_fails`) and, if the search uses prices, the cost-to-go tables (`lns.exact.region.cost_to_go`).

Stages of a search scheme are filled one after the other (`lns.exact.region.scheme`). Call `start_search`, then
`search_region` until the search is finished.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lns.exact.colorpairs.state import counter
from lns.exact.kernels.bits import lowest_bit
from lns.exact.kernels.jit import flat_kernel, inline_flat_kernel
from lns.exact.region.cost_to_go import UNIT, look_up
from lns.exact.region.scheme import DIRECT, SearchScheme
from lns.exact.region.state import COLOUR_CLASSES, OUTSIDE, VACANT, RegionPlan, RegionState

NO_BITS = np.uint64(0)
NO_LEVEL = 5  # more than the mismatches that a cell can have
NO_TASK, STARTED, OVERSPENT, SEARCHED = range(4)  # outcomes of `next_stage`
_ONE = np.uint64(1)


@flat_kernel
def start_search(plan: RegionPlan, state: RegionState, scheme: SearchScheme, r_max: int) -> None:
    """Begin a search for at most ``r_max`` mismatches; caps are the limits in ``scheme``, if any, else from tasks."""
    counters = state.counters
    for word in range(len(state.free)):
        state.free[word] = state.free_before[word]
    state.balance[:] = state.deficit[:] = state.odd_balances[:] = 0
    state.balance[0] = state.balance_before[0]
    for colour in range(1, len(plan.colour_class)):
        change_balance(plan, state, colour, state.balance_before[colour])
    for each in (counter.DEPTH, counter.NODES, counter.EXHAUSTED, counter.RUNNING, counter.TASKS, counter.PENDING):
        counters[each] = 0
    counters[counter.BEST], counters[counter.ALLOWED] = -1, r_max
    state.spent[0], state.slot[0], state.level[0], state.bits[0] = 0, 0, NO_LEVEL, NO_BITS
    vacant = 0
    for number in range(len(plan.cells)):
        for side in range(4):
            vacant += plan.around[number, side] == VACANT
    state.bound[0] = balance_bound(state, vacant, counters[counter.SPARE])
    if state.bound[0] * counters[counter.BALANCE] > r_max:
        counters[counter.EXHAUSTED] = 1
    most = r_max if scheme.limit[len(scheme.limit) - 1] == 0 else 0
    begin_stages(state, np.uint64(0), add_task(state, 0, most, -1, 0))


@flat_kernel
def search_region(plan: RegionPlan, state: RegionState, scheme: SearchScheme, node_budget: int) -> None:
    """Continue until a refill is found (the next call seeks a better), all is searched or NODES is ``node_budget``."""
    counters = state.counters
    if counters[counter.EXHAUSTED]:
        return
    n, one = np.uint64(len(plan.cells)), np.uint64(1)
    depth, nodes, allowed = np.uint64(counters[counter.DEPTH]), counters[counter.NODES], counters[counter.ALLOWED]
    words = np.uint64(len(state.valid)) // np.uint64(len(plan.kind_of))
    bits_of = words * np.uint64(64)
    use_balance, priced, unit_limit = counters[counter.BALANCE], counters[counter.PRICED], counters[counter.UNITS]
    tables = state.tables
    while True:
        slot = np.uint64(state.slot[depth])
        bits = state.bits[depth]
        if bits == NO_BITS:
            bits = _next_candidates(plan, state, depth, slot, words, allowed)
            if bits == NO_BITS:
                if state.pending_before[depth] >= 0 and _start_stage(plan, state, scheme, depth):
                    continue
                if depth == 0:
                    counters[counter.EXHAUSTED] = 1
                    break
                depth -= one
                _remove_piece(plan, state, depth, words)
                continue
        if nodes >= node_budget:
            state.bits[depth] = bits
            break
        level = state.level[depth]
        total = state.spent[depth] + level
        if total > min(allowed, state.cap[depth]):  # possible after a refill was found, which lowered `allowed`
            state.bits[depth] = NO_BITS
            state.level[depth] = NO_LEVEL
            continue
        state.bits[depth] = bits & (bits - one)
        nodes += 1
        bit = np.uint64(state.word[depth] * 64 + lowest_bit(bits))
        deeper, pattern = depth + one, np.uint64(plan.pattern[slot])
        if priced:
            paid = tables.paid[depth] + level * UNIT + tables.price[pattern * bits_of + bit]
            after = np.uint64(tables.next_base[depth] + tables.next_offset[depth * bits_of + bit])
            if paid + tables.cost[after] > unit_limit:
                continue
            tables.paid[deeper] = paid
        state.chosen[depth] = np.int64(bit)
        at = (pattern * bits_of + bit) * np.uint64(4)
        changed = _change_balances(plan, state, slot, at, level, -1)
        state.placed[np.uint64(plan.order[slot])] = np.int64(at)
        state.spent[deeper] = total
        least = state.bound[depth]
        if changed:
            least = balance_bound(state, plan.vacant[slot], counters[counter.SPARE])
        state.bound[deeper] = least
        if total + least * use_balance > allowed:
            _change_balances(plan, state, slot, at, level, 1)
            continue
        if deeper == n:
            counters[counter.BEST] = total
            allowed = total - 1
            for number in range(n):
                state.refill[number] = state.oriented[np.uint64(state.placed[number]) >> np.uint64(2)]
            _change_balances(plan, state, slot, at, level, 1)
            if allowed < 0:
                counters[counter.EXHAUSTED] = 1
            break
        _toggle_piece(plan, state, pattern, bit, words)
        if plan.ends_stage[slot]:
            begin_stages(state, deeper, state.next_task[depth])
            entered = _start_stage(plan, state, scheme, deeper)
        else:
            state.slot[deeper] = np.int64(slot) + 1
            state.cap[deeper] = max(state.cap[depth], scheme.limit[slot + one])
            state.next_task[deeper] = state.next_task[depth]
            state.pending_before[deeper] = -1
            entered = not _lookahead_fails(plan, state, scheme, deeper, words, allowed)
            if entered:
                _start_depth(state, deeper)
        if entered:
            depth = deeper
        else:
            _remove_piece(plan, state, depth, words)
    counters[counter.DEPTH] = np.int64(depth)
    counters[counter.NODES] = nodes
    counters[counter.ALLOWED] = allowed


@inline_flat_kernel
def _next_candidates(plan: RegionPlan, state: RegionState, depth: Any, slot: Any, words: Any, allowed: int) -> Any:
    """Return the next non-empty word of a depth's candidates, fewest mismatches first; NO_BITS if none is left."""
    word, level = state.word[depth] + 1, state.level[depth]
    most = min(min(allowed, state.cap[depth]) - state.spent[depth], plan.known[slot])
    if state.counters[counter.PRICED]:
        most = min(most, state.tables.max_level[depth])
    while level <= most:
        while word < np.int64(words):
            bits = candidates(plan, state, slot, level, np.uint64(word), words)
            if bits:
                state.level[depth] = level
                state.word[depth] = word
                return bits
            word += 1
        level += 1
        word = 0
    return NO_BITS


@inline_flat_kernel
def _start_stage(plan: RegionPlan, state: RegionState, scheme: SearchScheme, depth: Any) -> bool:
    """Start the next pending task of a depth, dropping useless ones (`next_stage`); return False if none is left."""
    while True:
        outcome, stage = next_stage(plan, state, scheme, depth)
        if outcome == STARTED:
            slot = scheme.first_slot[stage]
            state.slot[depth] = slot
            state.cap[depth] = max(state.cap[depth], scheme.limit[slot])
            _start_depth(state, depth)
            return True
        if outcome == NO_TASK:
            return False


@inline_flat_kernel
def _lookahead_fails(
    plan: RegionPlan, state: RegionState, scheme: SearchScheme, depth: Any, words: Any, allowed: int
) -> bool:
    """Return whether one mismatch for each cell of `ahead` without exact candidate would exceed a cap."""
    spent = state.spent[depth]
    slot = np.uint64(state.slot[depth])
    for i in range(np.uint64(plan.ahead.shape[1])):
        later = plan.ahead[slot, i]
        if later < 0:
            break
        cell = np.uint64(later)
        pattern = np.uint64(plan.pattern[cell])
        known = plan.ahead_known[slot, i]
        base = np.uint64(plan.kind_of[pattern]) * words
        has_candidate = False
        for word in range(words):
            pool = state.free[base + word] & state.valid[pattern * words + word]
            for j in range(np.uint64(known)):
                pool &= pieces_showing(plan, state, cell, j, pattern, word, words)
            if pool:
                has_candidate = True
                break
        if not has_candidate:
            spent += 1
            if spent > min(allowed, max(state.cap[depth], scheme.limit[cell])):
                return True
    return False


@inline_flat_kernel
def _start_depth(state: RegionState, depth: Any) -> None:
    """Make a depth ready to try its candidates from the first one on."""
    state.level[depth] = 0
    state.word[depth] = -1
    state.bits[depth] = NO_BITS
    if state.counters[counter.PRICED]:
        look_up(state, depth, state.counters[counter.UNITS])


@inline_flat_kernel
def _toggle_piece(plan: RegionPlan, state: RegionState, pattern: Any, bit: Any, words: Any) -> None:
    """Remove a piece from the free pieces and add the next identical piece to them, or undo both."""
    kind = np.uint64(plan.kind_of[pattern])
    turns = plan.rotations[kind]
    state.free[kind * words + (bit >> np.uint64(6))] ^= rotation_bits(np.int64(bit), turns)
    identical = state.next_identical[kind * words * np.uint64(64) + (bit & ~np.uint64(turns - 1))]
    if identical >= 0:
        state.free[kind * words + np.uint64(identical >> 6)] ^= rotation_bits(identical, turns)


@inline_flat_kernel
def _remove_piece(plan: RegionPlan, state: RegionState, depth: Any, words: Any) -> None:
    """Remove the piece placed at ``depth`` and restore the colour balances and the free pieces."""
    slot, bit = np.uint64(state.slot[depth]), np.uint64(state.chosen[depth])
    pattern = np.uint64(plan.pattern[slot])
    at = (pattern * words * np.uint64(64) + bit) * np.uint64(4)
    _change_balances(plan, state, slot, at, state.level[depth], 1)
    _toggle_piece(plan, state, pattern, bit, words)


@inline_flat_kernel
def _change_balances(plan: RegionPlan, state: RegionState, slot: Any, at: Any, level: int, sign: int) -> bool:
    """Update colour balances for a piece placed (``sign`` -1) or removed (1); return whether the bound may change."""
    changed = level > 0
    first_open = np.uint64(plan.known[slot])
    if changed:
        for j in range(first_open):
            required = state.joint_colour[np.uint64(plan.joint[slot, j])]
            shown = state.shows[at + np.uint64(plan.side[slot, j])]
            if required != shown:
                change_balance(plan, state, required, -sign)
                change_balance(plan, state, shown, sign)
    for j in range(first_open, first_open + np.uint64(plan.open[slot])):
        colour = state.shows[at + np.uint64(plan.side[slot, j])]
        if sign < 0:
            state.joint_colour[np.uint64(plan.joint[slot, j])] = colour
        demand = plan.demand[slot, j]
        if state.balance[np.uint64(colour)] >= 1 - sign and demand == 2:
            state.balance[np.uint64(colour)] += 2 * sign
        else:
            change_balance(plan, state, colour, demand * sign)
            changed = True
    return changed


# -- tasks of a search scheme -----------------------------------------------------------------------------------------


@inline_flat_kernel
def begin_stages(state: RegionState, depth: Any, task: Any) -> None:
    """Make ``task`` the only pending task of a depth at which a stage begins."""
    state.tasks_before[depth] = state.counters[counter.TASKS]
    state.pending_before[depth] = state.counters[counter.PENDING]
    state.pending[state.counters[counter.PENDING]] = task
    state.counters[counter.PENDING] += 1


@inline_flat_kernel
def next_stage(plan: RegionPlan, state: RegionState, scheme: SearchScheme, depth: Any) -> tuple[int, int]:
    """Take the next pending task of a depth; return an outcome and the stage of the task.

    While the scheme splits the stage for the mismatches left, the first task of the split takes the task's place.
    STARTED: the stage is to be filled, with the cap and the next task that are set for the depth. OVERSPENT: more
    mismatches are spent than the task allows. SEARCHED: the search that fills part A first has covered the refills
    with these placements. NO_TASK: none was pending.
    """
    counters = state.counters
    if counters[counter.PENDING] == state.pending_before[depth]:
        counters[counter.TASKS] = state.tasks_before[depth]
        return NO_TASK, 0
    counters[counter.PENDING] -= 1
    task = state.pending[counters[counter.PENDING]]
    while True:
        stage, most, following = state.task[task, 0], state.task[task, 1], state.task[task, 2]
        if state.task[task, 3]:
            if not _exceeds_share(plan, state, scheme, stage, most):
                return SEARCHED, stage
            task = following
            continue
        spent = state.spent[depth]
        allowed = most - spent
        if allowed < 0:
            return OVERSPENT, stage
        share = scheme.share[stage, allowed] if allowed < scheme.share.shape[1] else DIRECT
        if share == DIRECT:
            state.cap[depth] = most
            state.next_task[depth] = following
            return STARTED, stage
        rest = allowed - 1 - share
        if share >= 0 and rest >= 0:  # the tasks that begin with part B wait on the stack
            check = add_task(state, stage, share, following, 1)
            second = add_task(state, scheme.parts[stage, 3], most, check, 0)
            state.pending[counters[counter.PENDING]] = add_task(state, scheme.parts[stage, 2], spent + rest, second, 0)
            counters[counter.PENDING] += 1
        first, own = (0, share) if share >= 0 else (2, rest)  # fill part A first, unless its share is -1
        second = add_task(state, scheme.parts[stage, first + 1], most, following, 0)
        task = add_task(state, scheme.parts[stage, first], spent + own, second, 0)


@inline_flat_kernel
def add_task(state: RegionState, stage: Any, most: Any, following: Any, check: int) -> Any:
    """Write a new task to ``state.task`` and return its index."""
    number = state.counters[counter.TASKS]
    state.counters[counter.TASKS] = number + 1
    state.task[number, 0] = stage
    state.task[number, 1] = most
    state.task[number, 2] = following
    state.task[number, 3] = check
    return number


@inline_flat_kernel
def _exceeds_share(plan: RegionPlan, state: RegionState, scheme: SearchScheme, stage: Any, share: Any) -> bool:
    """Return whether part A of a split stage has over ``share`` mismatches on known joints not touching part B."""
    before, own = scheme.parts[stage, 0], scheme.parts[stage, 1]  # the stages of part A and of part B after A
    begin = scheme.first_member[before]
    for i in range(begin, begin + scheme.length[before]):
        number = scheme.members[i]
        at = state.placed[number]
        for side in range(4):
            beyond = plan.around[number, side]
            shown = state.shows[at + side]
            if beyond == OUTSIDE:
                share -= shown != state.joint_colour[plan.joint_at[number, side]]
            elif beyond >= 0 and scheme.filled[own, beyond] and (side in (1, 2) or scheme.filled[before, beyond]):
                share -= shown != state.shows[state.placed[beyond] + (side ^ 2)]
    return bool(share < 0)


# -- candidates of a cell as bit sets ----------------------------------------------------------------------------------


@inline_flat_kernel
def pieces_showing(plan: RegionPlan, state: RegionState, slot: Any, j: Any, pattern: Any, word: Any, words: Any) -> Any:
    """Return the oriented pieces that match the ``j``-th known joint of a slot's cell, as a word of a bit set."""
    colour = np.uint64(state.joint_colour[np.uint64(plan.joint[slot, j])])
    side = np.uint64(plan.side[slot, j])
    return state.mask[((pattern * np.uint64(4) + side) * np.uint64(len(plan.colour_class)) + colour) * words + word]


@inline_flat_kernel
def candidates(plan: RegionPlan, state: RegionState, slot: Any, level: int, word: Any, words: Any) -> Any:
    """Return the free oriented pieces with ``level`` mismatches on a cell's known joints, as one word of a bit set."""
    pattern = np.uint64(plan.pattern[slot])
    pool = state.free[np.uint64(plan.kind_of[pattern]) * words + word] & state.valid[pattern * words + word]
    known = plan.known[slot]
    if known == 0:
        return pool
    a = pieces_showing(plan, state, slot, np.uint64(0), pattern, word, words)
    if known == 1:
        return pool & (a if level == 0 else ~a)
    b = pieces_showing(plan, state, slot, np.uint64(1), pattern, word, words)
    if known == 2:
        if level == 0:
            return pool & a & b
        return pool & ((a ^ b) if level == 1 else ~(a | b))
    # count the matched joints of all 64 oriented pieces at once, as binary digits: ones, twos, fours
    c = pieces_showing(plan, state, slot, np.uint64(2), pattern, word, words)
    ones = a ^ b ^ c
    twos = (a & b) | ((a ^ b) & c)
    fours = NO_BITS
    if known == 4:
        d = pieces_showing(plan, state, slot, np.uint64(3), pattern, word, words)
        carry = ones & d
        ones ^= d
        fours = twos & carry
        twos ^= carry
    matches = known - level
    if matches == 4:
        return pool & fours
    return pool & ~fours & (twos if matches & 2 else ~twos) & (ones if matches & 1 else ~ones)


@inline_flat_kernel
def rotation_bits(bit: Any, turns: int) -> Any:
    """Return the bits of all ``turns`` rotations of a piece, of which ``bit`` is one, as a mask of their word."""
    return ((_ONE << np.uint64(turns)) - _ONE) << np.uint64((bit & ~(turns - 1)) & 63)


# -- colour balance: half-edges on free pieces minus half-edges that the joints require --------------------------------


@inline_flat_kernel
def change_balance(plan: RegionPlan, state: RegionState, colour: int, change: int) -> None:
    """Change the balance of a colour, and with it the deficit and the number of odd balances of its colour class."""
    c = np.uint64(colour)
    colour_class = np.uint64(plan.colour_class[c])
    before = state.balance[c]
    after = before + change
    state.balance[c] = after
    state.deficit[colour_class] += max(np.int64(0), -after) - max(np.int64(0), -before)
    state.odd_balances[colour_class] += (after & 1 if after > 0 else 0) - (before & 1 if before > 0 else 0)


@inline_flat_kernel
def balance_bound(state: RegionState, vacant: Any, spare: int) -> Any:
    """Return a lower bound on the mismatches to come, from the colour balances.

    ``vacant``: vacant joints of open cells; ``spare``: counter SPARE. Every missing half-edge is a mismatch. Joints
    match half-edges in pairs, so the odd one of a balance needs a vacant joint, a spare piece or a mismatch. A mismatch
    changes two balances, so it removes at most two of a class's missing half-edges and odd balances.
    """
    total = np.int64(0)
    slack = vacant + spare * 4
    for colour_class in range(np.uint64(COLOUR_CLASSES)):
        deficit = state.deficit[colour_class]
        total += max(deficit, (deficit + state.odd_balances[colour_class] - slack + 1) >> 1)
    return total
