"""Branch and bound over the refills of a region with at most r mismatches; flat arrays, no allocation.

Candidates are bit sets of oriented pieces: those with exactly 0, 1, 2... mismatches on the known joints, by bit-sliced
counting. Bounds: colour balance (`exact.region.balance`), look-ahead (`_lookahead_fails`) and, if the search uses
prices, the cost-to-go tables (`exact.region.cost_to_go`).

Stages of a search scheme (`exact.region.scheme`) are filled one after the other. A stage that is split is two tasks,
one for each part to begin with; the second waits on a stack until the first has failed (`_start_stage`).

Call `load_region` and `start_search`, then `search_region` until a refill is found or the search is finished.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from exact.region.balance import balance_bound, change_balance
from exact.region.candidates import candidates, pieces_showing, rotation_bits
from exact.region.cost_to_go import UNIT, look_up
from exact.region.scheme import DIRECT, SearchScheme
from exact.region.state import OUTSIDE, VACANT, RegionPlan, RegionState
from lns_support.bits import lowest_bit
from lns_support.jit import flat_kernel, inline_flat_kernel

# status of a search: to be continued; all searched without a refill; a refill found
PAUSED, EXHAUSTED, FOUND = range(3)

# indices in state.scalars
DEPTH, NODES, BEST, ALLOWED, SPARE, FINISHED, BALANCE, RUNNING, LOOKAHEAD, PRICED, UNITS = range(11)
TASKS, PENDING = 14, 15  # tasks made; height of the stack of pending tasks

_ONE = np.uint64(1)
_NO_BITS = np.uint64(0)


@flat_kernel
def load_region(
    plan: RegionPlan, state: RegionState, used: npt.NDArray[np.uint8], board: npt.NDArray[np.int32]
) -> bool:
    """Load the free pieces and the colours around the region into ``state``.

    ``used``: uint8 (pieces,), 1 for pieces outside the region; ``board``: int32 (cells,), oriented pieces. Returns
    False if there are fewer pieces of some kind than cells, or more than the arrays can hold.
    """
    n = len(plan.cells)
    kinds = len(plan.rotations)
    patterns = len(plan.kind_of)
    colours1 = len(plan.colour_class)
    words = len(state.valid) // patterns if patterns else 1
    bits = words * 64
    state.mask[:] = _NO_BITS
    state.valid[:] = _NO_BITS
    state.free[:] = _NO_BITS
    state.balance[:] = 0
    state.piece_count[:] = 0
    state.next_identical[:] = -1
    state.last_identical[:] = -1
    for piece in range(len(used)):
        kind = plan.kind_of_piece[piece]
        if used[piece] or plan.is_clue[piece] or kind < 0:
            continue
        turns = plan.rotations[kind]
        start = state.piece_count[kind] * turns
        if start + turns > bits:
            return False
        state.piece_count[kind] += 1
        for side in range(4):
            state.balance[plan.quads[piece * 4, side]] += 1
        for pattern in range(patterns):
            if plan.kind_of[pattern] != kind:
                continue
            bit = start
            for oriented in range(piece * 4, piece * 4 + 4):
                if plan.pattern_of[oriented] != pattern:
                    continue
                mask = _ONE << np.uint64(bit & 63)
                at = pattern * bits + bit
                state.oriented[at] = oriented
                if plan.distinct[oriented]:
                    state.valid[pattern * words + (bit >> 6)] |= mask
                for side in range(4):
                    colour = plan.quads[oriented, side]
                    state.shows[at * 4 + side] = colour
                    state.mask[((pattern * 4 + side) * colours1 + colour) * words + (bit >> 6)] |= mask
                bit += 1
        identical = plan.identical[piece]
        if (
            identical >= 0 and state.last_identical[identical] >= 0
        ):  # not free before the identical piece before it is placed
            state.next_identical[kind * bits + state.last_identical[identical]] = start
        else:
            state.free[kind * words + (start >> 6)] |= rotation_bits(start, turns)
        if identical >= 0:
            state.last_identical[identical] = start
    total = 0
    for kind in range(kinds):
        total += state.piece_count[kind]
        if state.piece_count[kind] < plan.cells_of_kind[kind]:
            return False
    for i in range(len(plan.outside)):
        colour = plan.quads[board[plan.outside[i, 1]], plan.outside[i, 2]]
        state.joint_colour[plan.outside[i, 0]] = colour
        state.balance[colour] -= 1
    state.scalars[SPARE] = total - n
    state.scalars[BALANCE] = 1
    state.scalars[LOOKAHEAD] = 1
    state.scalars[PRICED] = 0
    state.balance[0] = 1 << 40
    return True


@flat_kernel
def start_search(plan: RegionPlan, state: RegionState, scheme: SearchScheme, r_max: int) -> None:
    """Start a search of a loaded region for refills with at most ``r_max`` mismatches, by the stages of ``scheme``.

    If the scheme has limits, they alone say how many mismatches are allowed at a slot.
    """
    scalars = state.scalars
    state.deficit[:] = 0
    state.odd_balances[:] = 0
    for colour in range(1, len(plan.colour_class)):
        part, half_edges = plan.colour_class[colour], state.balance[colour]
        if half_edges < 0:
            state.deficit[part] -= half_edges
        elif half_edges & 1:
            state.odd_balances[part] += 1
    scalars[DEPTH] = 0
    scalars[NODES] = 0
    scalars[BEST] = -1
    scalars[ALLOWED] = r_max
    state.spent[0] = 0
    vacant = 0
    for number in range(len(plan.cells)):
        for side in range(4):
            vacant += plan.around[number, side] == VACANT
    state.bound[0] = balance_bound(state, vacant, scalars[SPARE])
    scalars[FINISHED] = 0
    if len(plan.cells) == 0:
        scalars[FINISHED] = 1
        if r_max >= 0:
            scalars[BEST] = 0
    elif state.bound[0] * scalars[BALANCE] > r_max:
        scalars[FINISHED] = 1
    else:
        scalars[TASKS] = 0
        scalars[PENDING] = 0
        most = r_max if scheme.limit[len(scheme.limit) - 1] == 0 else 0
        begin_stages(state, np.uint64(0), add_task(state, 0, most, -1, 0))
        if not _start_stage(plan, state, scheme, np.uint64(0)):
            scalars[FINISHED] = 1


@flat_kernel
def search_region(plan: RegionPlan, state: RegionState, scheme: SearchScheme, node_budget: int) -> None:
    """Continue until a refill is found, the search is complete (FINISHED) or NODES reach ``node_budget``.

    BEST: mismatches of the refill found, -1 = none; the next call searches for fewer.
    """
    scalars = state.scalars
    if scalars[FINISHED]:
        return
    n = np.uint64(len(plan.cells))
    one = np.uint64(1)
    depth = np.uint64(scalars[DEPTH])
    nodes = scalars[NODES]
    allowed = scalars[ALLOWED]
    balance = state.balance
    patterns = np.uint64(len(plan.kind_of))
    words = np.uint64(len(state.valid)) // patterns
    bits_of = words * np.uint64(64)
    use_balance = scalars[BALANCE]
    lookahead = scalars[LOOKAHEAD]
    priced = scalars[PRICED]
    unit_limit = scalars[UNITS]
    tables = state.tables
    while True:
        slot = np.uint64(state.slot[depth])
        bits = state.bits[depth]
        if bits == _NO_BITS:
            # the next word of candidates with this level, or the next level
            word = state.word[depth] + 1
            level = state.level[depth]
            most = min(min(allowed, state.cap[depth]) - state.spent[depth], plan.known[slot])
            if priced:
                most = min(most, tables.max_level[depth])
            while level <= most:
                while word < np.int64(words):
                    bits = candidates(plan, state, slot, level, np.uint64(word), words)
                    if bits:
                        break
                    word += 1
                if bits:
                    break
                level += 1
                word = 0
            if bits == _NO_BITS:
                if state.pending_before[depth] >= 0 and _start_stage(plan, state, scheme, depth):
                    continue
                if depth == 0:
                    scalars[FINISHED] = 1
                    break
                depth -= one
                _remove_piece(plan, state, depth, bits_of)
                continue
            state.level[depth] = level
            state.word[depth] = word
        if nodes >= node_budget:
            state.bits[depth] = bits
            break
        level = state.level[depth]
        total = state.spent[depth] + level
        if total > min(allowed, state.cap[depth]):  # a refill found in between has lowered `allowed`
            state.bits[depth] = _NO_BITS
            state.level[depth] = 5
            continue
        state.bits[depth] = bits & (bits - one)
        nodes += 1
        bit = np.uint64(state.word[depth] * 64 + lowest_bit(bits))
        if priced:
            paid = tables.paid[depth] + level * UNIT + tables.price[np.uint64(plan.pattern[slot]) * bits_of + bit]
            if (
                paid + tables.cost[np.uint64(tables.next_base[depth] + tables.next_offset[depth * bits_of + bit])]
                > unit_limit
            ):
                continue
            tables.paid[depth + one] = paid
        state.chosen[depth] = np.int64(bit)
        at = (np.uint64(plan.pattern[slot]) * bits_of + bit) * np.uint64(4)
        changed = False
        if level:
            for j in range(np.uint64(plan.known[slot])):
                required = state.joint_colour[np.uint64(plan.joint[slot, j])]
                shown = state.shows[at + np.uint64(plan.side[slot, j])]
                if required != shown:
                    change_balance(plan, state, required, 1)
                    change_balance(plan, state, shown, -1)
            changed = True
        first_open = np.uint64(plan.known[slot])
        for j in range(first_open, first_open + np.uint64(plan.open[slot])):
            colour = state.shows[at + np.uint64(plan.side[slot, j])]
            state.joint_colour[np.uint64(plan.joint[slot, j])] = colour
            demand = plan.demand[slot, j]
            if balance[np.uint64(colour)] >= 2 and demand == 2:
                balance[np.uint64(colour)] -= 2
            else:
                change_balance(plan, state, colour, -demand)
                changed = True
        deeper = depth + one
        state.placed[np.uint64(plan.order[slot])] = np.int64(at)
        state.spent[deeper] = total
        least = state.bound[depth]
        if changed:
            least = balance_bound(state, plan.vacant[slot], scalars[SPARE])
        state.bound[deeper] = least
        if total + least * use_balance > allowed:
            _remove_piece(plan, state, depth, bits_of)
            continue
        if deeper == n:
            scalars[BEST] = total
            allowed = total - 1
            for d in range(n):
                filled = np.uint64(state.slot[d])
                state.refill[np.uint64(plan.order[filled])] = state.oriented[
                    np.uint64(plan.pattern[filled] * np.int64(bits_of) + state.chosen[d])
                ]
            _remove_piece(plan, state, depth, bits_of)
            if allowed < 0:
                scalars[FINISHED] = 1
            break
        kind = np.uint64(plan.kind_of[np.uint64(plan.pattern[slot])])
        turns = plan.rotations[kind]
        state.free[kind * words + (bit >> np.uint64(6))] &= ~rotation_bits(np.int64(bit), turns)
        identical = state.next_identical[kind * bits_of + (bit & ~np.uint64(turns - 1))]
        if identical >= 0:
            state.free[kind * words + np.uint64(identical >> 6)] |= rotation_bits(identical, turns)
        if plan.ends_stage[slot]:
            begin_stages(state, deeper, state.next_task[depth])
            if not _start_stage(plan, state, scheme, deeper):
                _remove_piece(plan, state, depth, bits_of)
                continue
        else:
            state.slot[deeper] = np.int64(slot) + 1
            state.cap[deeper] = max(state.cap[depth], scheme.limit[slot + one])
            state.next_task[deeper] = state.next_task[depth]
            state.pending_before[deeper] = -1
            if lookahead and _lookahead_fails(plan, state, scheme, deeper, words, allowed):
                _remove_piece(plan, state, depth, bits_of)
                continue
            _start_depth(state, deeper)
        depth = deeper
    scalars[DEPTH] = np.int64(depth)
    scalars[NODES] = nodes
    scalars[ALLOWED] = allowed


@inline_flat_kernel
def add_task(state: RegionState, stage: Any, most: Any, following: Any, check: int) -> Any:
    """Make a task, to be followed by the task ``following``; returns its number."""
    task = state.scalars[TASKS]
    state.scalars[TASKS] = task + 1
    state.task[task, 0] = stage
    state.task[task, 1] = most
    state.task[task, 2] = following
    state.task[task, 3] = check
    return task


@inline_flat_kernel
def split_task(
    state: RegionState,
    scheme: SearchScheme,
    stage: Any,
    most: Any,
    following: Any,
    spent: Any,
    share: Any,
    allowed: Any,
) -> Any:
    """Make two tasks of one that has ``allowed`` mismatches left after ``spent``; returns the one to begin with.

    The first begins with part A of the stage and at most ``share`` mismatches there; the second, pushed on the stack,
    with part B and the rest. If one of the two has none left, the other is the only one.
    """
    rest = allowed - 1 - share
    if share >= 0 and rest >= 0:
        check = add_task(state, stage, share, following, 1)
        second = add_task(state, scheme.parts[stage, 3], most, check, 0)
        second = add_task(state, scheme.parts[stage, 2], spent + rest, second, 0)
        state.pending[state.scalars[PENDING]] = second
        state.scalars[PENDING] += 1
    first, own = (0, share) if share >= 0 else (2, rest)
    second = add_task(state, scheme.parts[stage, first + 1], most, following, 0)
    return add_task(state, scheme.parts[stage, first], spent + own, second, 0)


@inline_flat_kernel
def begin_stages(state: RegionState, depth: Any, task: Any) -> None:
    """Make ``task`` the only one pending at a depth where a stage begins."""
    state.tasks_before[depth] = state.scalars[TASKS]
    state.pending_before[depth] = state.scalars[PENDING]
    state.pending[state.scalars[PENDING]] = task
    state.scalars[PENDING] += 1


@inline_flat_kernel
def _start_stage(plan: RegionPlan, state: RegionState, scheme: SearchScheme, depth: Any) -> bool:
    """Start filling the stage of the next pending task of a depth. Returns False if no task is pending there.

    Take the task on top of the stack. As long as the mismatches that it has left call for a split of its stage, make it
    the first of two tasks and push the second on the stack. A task that has overspent, or a check that finds
    that an earlier task has searched these pieces already, is dropped, and the next one is taken.
    """
    scalars = state.scalars
    while scalars[PENDING] > state.pending_before[depth]:
        scalars[PENDING] -= 1
        task = state.pending[scalars[PENDING]]
        while task >= 0:
            stage, most, following = state.task[task, 0], state.task[task, 1], state.task[task, 2]
            if state.task[task, 3]:
                if not _exceeds_share(plan, state, scheme, stage, most):
                    break
                task = following
                continue
            allowed = most - state.spent[depth]
            if allowed < 0:
                break
            share = scheme.share[stage, allowed] if allowed < scheme.share.shape[1] else DIRECT
            if share == DIRECT:
                state.slot[depth] = scheme.first_slot[stage]
                state.cap[depth] = max(most, scheme.limit[scheme.first_slot[stage]])
                state.next_task[depth] = following
                _start_depth(state, depth)
                return True
            task = split_task(state, scheme, stage, most, following, state.spent[depth], share, allowed)
    scalars[TASKS] = state.tasks_before[depth]
    return False


@inline_flat_kernel
def _exceeds_share(plan: RegionPlan, state: RegionState, scheme: SearchScheme, stage: Any, share: Any) -> bool:
    """Whether part A of a split stage has more than ``share`` mismatches on joints that do not touch part B."""
    before, own = scheme.parts[stage, 0], scheme.parts[stage, 1]  # filled before A; these cells and A
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


@inline_flat_kernel
def _lookahead_fails(
    plan: RegionPlan, state: RegionState, scheme: SearchScheme, depth: Any, words: Any, allowed: int
) -> bool:
    """Whether the later cells of a stage that have no exact candidate will spend more mismatches than it allows."""
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
    """Reset the candidates of a depth."""
    state.level[depth] = 0
    state.word[depth] = -1
    state.bits[depth] = _NO_BITS
    if state.scalars[PRICED]:
        look_up(state, depth, state.scalars[UNITS])


@inline_flat_kernel
def _remove_piece(plan: RegionPlan, state: RegionState, depth: Any, bits_of: Any) -> None:
    """Remove the piece placed at ``depth``: restore balances and free pieces."""
    bit = np.uint64(state.chosen[depth])
    slot = np.uint64(state.slot[depth])
    pattern = np.uint64(plan.pattern[slot])
    at = (pattern * bits_of + bit) * np.uint64(4)
    first_open = np.uint64(plan.known[slot])
    if state.level[depth]:
        for j in range(first_open):
            required = state.joint_colour[np.uint64(plan.joint[slot, j])]
            shown = state.shows[at + np.uint64(plan.side[slot, j])]
            if required != shown:
                change_balance(plan, state, required, -1)
                change_balance(plan, state, shown, 1)
    for j in range(first_open, first_open + np.uint64(plan.open[slot])):
        colour = state.shows[at + np.uint64(plan.side[slot, j])]
        demand = plan.demand[slot, j]
        if state.balance[np.uint64(colour)] >= 0 and demand == 2:
            state.balance[np.uint64(colour)] += 2
        else:
            change_balance(plan, state, colour, demand)
    kind = np.uint64(plan.kind_of[pattern])
    words = bits_of >> np.uint64(6)
    turns = plan.rotations[kind]
    state.free[kind * words + (bit >> np.uint64(6))] |= rotation_bits(np.int64(bit), turns)
    identical = state.next_identical[kind * bits_of + (bit & ~np.uint64(turns - 1))]
    if identical >= 0:
        state.free[kind * words + np.uint64(identical >> 6)] &= ~rotation_bits(identical, turns)
