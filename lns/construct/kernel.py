"""Depth-first search of the constructor: a fixed cell order, a break schedule and colour quotas.

Up to the endgame, the left and the upper neighbour of each cell are filled before the cell, so the pieces to try are
read from a sorted candidate list (`lns.construct.candidates`). A prefix carries ``gain`` = favoured half-edges used -
BREAK_COST * breaks spent, and a piece may be placed only if the gain then is at least MIN_GAIN = quota floor -
BREAK_COST * breaks allowed, both at this depth. One comparison thus enforces both the break schedule and the quota.
Lists are sorted by gain, so the first candidate that takes the gain below MIN_GAIN ends the list, at last the sentinel.

From depth ``endgame_start`` to ``cut`` the cells are filled by `lns.construct.endgame`, from ``cut`` on by
`lns.construct.tail`. Two cells of the rim never mismatch each other before the cut. A rim piece is therefore skipped if
no free piece matches the colour that it shows to a rim cell filled later (the look-ahead).

Restarts under a high quota come to the same prefixes again and again. So prefixes whose trees were searched completely
are remembered, and their trees are not searched again.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from lns.construct import candidates as packed
from lns.construct import endgame, endgame_plan
from lns.construct.candidates import CandidateTables, Int64Array, breaks_spent, oriented_piece, padded_positions
from lns.construct.endgame import BUDGET, COUNTS_PER_DEPTH, DEPTH, EXHAUSTED, NODES, REACHED
from lns.construct.endgame_plan import EndgamePlan, EndgameState, PrefixState
from lns.construct.schedule import BreakSchedule
from lns.construct.tail import TailPlan, TailWorkspace, solve_tail
from lns.exact.kernels.jit import flat_kernel, inline_flat_kernel
from lns.instances.puzzle import DOWN, RIGHT, IntArray, Puzzle

MISMATCH_BINS = 16  # sampled exact tails are counted by their fewest mismatches, 0 to 15
TAIL_SAMPLE_NODES = 50_000  # least nodes of prefixes between two sampled exact tails
TAIL_SAMPLE_COST_FACTOR = 100  # least nodes between two sampled tails, in multiples of the nodes of the earlier tail
KEY_SAMPLE_DIVISOR = 2**11  # a frontier key is recorded if it is divisible by this
MAX_FRONTIER_KEYS = 2**15  # most frontier keys recorded in a restart: enough for 7e7 frontier prefixes, about 5e9 nodes
_HASH_FACTOR, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
_ROTATE_LEFT, _ROTATE_RIGHT = np.uint64(13), np.uint64(51)  # to rotate 64 bits left by 13, the bits of a piece index
SEARCHED_SIZE = 2**16  # prefixes remembered whose trees were searched: half a megabyte in a checkpoint
SEARCHED_WAYS = 4  # places in which a prefix may be remembered; the one with the smallest tree is overwritten
# the lowest bits of an entry are the size of the tree, the next ones the most mismatches for which it was searched
SIZE_BITS, MISMATCH_BITS = np.uint64(6), np.uint64(6)
MAX_MISMATCHES = 2**6 - 1  # more mismatches count as this many
NOT_STARTED = -1  # stands in place of the depth before the first call of a search
PREFIXES, TAIL_NODES, FOUND_MISMATCHES, NEXT_SAMPLE, COUNTERS = range(5)  # indexes into ``counters``, and its length


# A depth has one row of 8 words in the flat array ``PrefixPlan.depths``. The constants below are columns of a row.
DEPTH_WORDS = np.uint64(8)
POSITION: Any = np.uint64(0)  # padded position of the depth's cell, see `candidates.padded_positions`
MIN_GAIN: Any = np.uint64(1)  # least gain that a prefix must have once the depth's cell is filled
LIST_BASE: Any = np.uint64(2)  # index in ``CandidateTables.list_start`` where the lists of the depth's cell begin
LOOK_RIGHT: Any = np.uint64(3)  # LIST_BASE of the cell on the right, if look-ahead checks that cell, else -1
LOOK_DOWN: Any = np.uint64(4)  # LIST_BASE of the cell below, if look-ahead checks that cell, else -1
LEVEL_FROM: Any = np.uint64(5)  # length before this one at which prefixes are remembered; -1: not at this length
LEVEL_SALT: Any = np.uint64(6)  # hash of the view and of the quota that is still to be met; only at these lengths


class PrefixPlan(NamedTuple):
    """Read-only inputs of the search by candidate lists, which ends where the endgame begins."""

    tables: CandidateTables
    depths: Int64Array  # int64 (8 * cells,): a row of 8 words for each depth, columns from POSITION on
    heads: Int64Array  # int64 (lists,): first packed candidate of each list of ``CandidateTables.list_start``
    padded_width: int  # number of cells in a row of the padded board
    endgame_start: int  # depth at which the endgame begins
    cut: int  # depth at which a prefix is complete and its exact tail begins
    partition_depth: int  # length at which prefixes are partitioned among the islands; 0: every island searches all
    partition: int  # index of this island's part of the prefixes
    partitions: int  # number of parts into which the prefixes are partitioned
    mismatches: int  # most mismatches of a board for which the break schedule is made, at most `MAX_MISMATCHES`
    least_tree: int  # fewest nodes of a tree that is remembered once it was searched


class ConstructorPlan(NamedTuple):
    """Read-only inputs of `construct`, for one restart."""

    prefix: PrefixPlan
    endgame: EndgamePlan
    tail: TailPlan


class ConstructorState(NamedTuple):
    """Arrays that `construct` reads and writes."""

    prefix: PrefixState
    endgame: EndgameState
    tail: TailWorkspace
    found: Annotated[IntArray, "cells"]  # by depth: oriented piece of the board found
    # PREFIXES: prefixes that reached the cut; TAIL_NODES: placements in exact tails; FOUND_MISMATCHES: mismatches
    # of the board found; NEXT_SAMPLE: number of nodes from which on the next exact tail is sampled
    counters: Annotated[Int64Array, COUNTERS]
    prefixes_by_breaks: Annotated[Int64Array, packed.MAX_BREAKS]  # by breaks spent: prefixes that reached a tail
    # number of sampled exact tails by fewest mismatches found; the last entry counts the tails in which no completion
    # with fewer than MISMATCH_BINS mismatches was found
    tail_outcomes: Annotated[Int64Array, MISMATCH_BINS + 1]


def plan_depths(puzzle: Puzzle, schedule: BreakSchedule, base: IntArray, *, remembers: bool = False) -> Int64Array:
    """Return `PrefixPlan.depths`; ``base``: see `CandidateTables`.

    Once a rim cell is filled, look-ahead checks the rim cell on its right or below, if this neighbour is filled later,
    but not next: it must keep a candidate. Neighbours in the exact tail are not checked, since they may mismatch.

    If it ``remembers``, prefixes of two and more full rows, and those that reach the endgame, are remembered as far as
    cells are filled row by row.
    """
    rows = np.zeros((puzzle.cells, int(DEPTH_WORDS)), dtype=np.int64)
    rows[:, POSITION] = padded_positions(schedule.order, puzzle.width)
    rows[:, MIN_GAIN], rows[:, LIST_BASE] = schedule.least_gain, base
    rows[:, [LOOK_RIGHT, LOOK_DOWN, LEVEL_FROM]] = -1
    if remembers:
        before, start, view = 0, schedule.endgame_depth, repr(schedule.view).encode()
        by_rows = int(np.argmin(np.append(schedule.order == np.arange(puzzle.cells), False)))
        for length in sorted({*range(2 * puzzle.width, min(start, by_rows), puzzle.width), start}):
            if 2 * puzzle.width <= length <= by_rows:
                demand = schedule.quota_floor[length:]
                salt = crc32(demand.tobytes() + repr(schedule.favoured).encode(), 1) if demand.any() else 0
                rows[length - 1, [LEVEL_FROM, LEVEL_SALT]] = before, crc32(view, salt)
                before = length
    depth_of = {cell: depth for depth, cell in enumerate(schedule.order.tolist())}
    for cell, depth in depth_of.items():
        for column, side, neighbour in ((LOOK_RIGHT, RIGHT, cell + 1), (LOOK_DOWN, DOWN, cell + puzzle.width)):
            rim_joint = not puzzle.rim_sides(cell)[side] and not packed.may_break(puzzle, cell, side)
            if rim_joint and depth + 1 < depth_of[neighbour] < schedule.cut:
                rows[depth, column] = base[depth_of[neighbour]]
    return rows.ravel()


@inline_flat_kernel
def _all_used(at: int, candidates: Int64Array, used: npt.NDArray[np.uint8]) -> bool:
    """Return whether all pieces of the candidate list that begins at index ``at`` are used."""
    while used[np.uint64(candidates[np.uint64(at)] & packed.PIECE_MASK)]:
        at += 1
    return candidates[np.uint64(at)] >> packed.GAIN_SHIFT == packed.LIST_END_GAIN


@inline_flat_kernel
def _mix(key: np.uint64) -> np.uint64:
    """Return a hash of ``key``; each bit in the upper half of the hash depends on all bits of ``key``."""
    key *= _HASH_FACTOR
    return (key ^ key >> _HALF) * _HASH_FACTOR


@inline_flat_kernel
def _is_in_partition(plan: PrefixPlan, chosen: Int64Array, last: np.uint64, candidate: np.int64) -> bool:
    """Return whether the prefix of the first ``last`` cells and ``candidate`` belongs to this island's part."""
    key = np.uint64(candidate & packed.PIECE_MASK)
    for depth in range(last):
        key = (key << _ROTATE_LEFT | key >> _ROTATE_RIGHT) ^ np.uint64(chosen[depth] & packed.PIECE_MASK)
    return (_mix(key) >> _HALF) % np.uint64(plan.partitions) == np.uint64(plan.partition)


@inline_flat_kernel
def _was_searched(
    plan: PrefixPlan, prefix: PrefixState, depth: np.uint64, candidate: np.int64, gain: np.int64, nodes: int
) -> bool:
    """Return whether the tree below the prefix that ends with ``candidate`` was searched; if not, note its key.

    What is below a prefix depends on its pieces, but not on where they lie; on the colours that its last cells show; on
    its breaks; and, before the end of the quota, on the quota to come. The tree counts as searched if that was done for
    as many mismatches or more, even with other unlock depths. ``nodes``: nodes of this restart.
    """
    depths, row, one = plan.depths, depth * DEPTH_WORDS, np.uint64(1)
    start = depths[row + LEVEL_FROM]
    pieces = prefix.piece_hash[start] + _mix(np.uint64(candidate & packed.PIECE_MASK) + one)
    for at in range(start, depth):
        pieces += _mix(np.uint64(prefix.chosen[at] & packed.PIECE_MASK) + one)
    shown = _mix(np.uint64(depths[row + LEVEL_SALT]) << MISMATCH_BITS | np.uint64(breaks_spent(gain)))
    shown += _mix(np.uint64(prefix.right[np.uint64(depths[row + POSITION])]) << _HALF)
    for back in range(plan.padded_width - 1):
        position = np.uint64(depths[(depth - np.uint64(back)) * DEPTH_WORDS + POSITION])
        shown += _mix(np.uint64(prefix.down[position]) << _HALF | np.uint64(back + 1))
    key = _mix(pieces ^ shown)
    key = (key ^ key >> _HALF) >> SIZE_BITS + MISMATCH_BITS << SIZE_BITS + MISMATCH_BITS
    length = depth + one
    prefix.piece_hash[length], prefix.level_key[length], prefix.level_nodes[length] = pieces, key, nodes
    first = _first_place(prefix, key)
    for place in range(first, first + SEARCHED_WAYS):
        entry = prefix.searched[place]
        if (entry ^ key) >> SIZE_BITS + MISMATCH_BITS == 0:
            return np.int64(entry >> SIZE_BITS) & MAX_MISMATCHES >= plan.mismatches
    return False


@inline_flat_kernel
def _first_place(prefix: PrefixState, key: np.uint64) -> int:
    """Return the index of the first of the `SEARCHED_WAYS` places in which the prefix of ``key`` may be remembered."""
    return np.int64((key >> _HALF) % np.uint64(len(prefix.searched) // SEARCHED_WAYS)) * SEARCHED_WAYS


@inline_flat_kernel
def _remember(plan: PrefixPlan, prefix: PrefixState, length: np.uint64, nodes: int) -> None:
    """Remember that the tree below the prefix of ``length`` cells was searched completely, if it was not small.

    ``nodes``: nodes of this restart. The entry of the smallest tree among the prefix's places is overwritten.
    """
    one, size, key = np.uint64(1), np.uint64(0), prefix.level_key[length]
    tree = nodes - prefix.level_nodes[length]
    if tree < plan.least_tree:
        return
    while tree:
        tree >>= 1
        size += one
    largest = (one << SIZE_BITS) - one
    first = _first_place(prefix, key)
    chosen = first
    for place in range(first, first + SEARCHED_WAYS):
        entry = prefix.searched[place]
        if (entry ^ key) >> SIZE_BITS + MISMATCH_BITS == 0:
            chosen = place
            break
        if entry & largest < prefix.searched[chosen] & largest:
            chosen = place
    prefix.searched[chosen] = key | np.uint64(plan.mismatches) << SIZE_BITS | size


@flat_kernel
def search_lists(plan: PrefixPlan, prefix: PrefixState, node_limit: int) -> int:
    """Continue the search by candidate lists up to the next prefix of ``plan.endgame_start`` cells (a frontier prefix).

    Returns REACHED: such a prefix is in ``prefix.chosen``, and the next call looks for the next one; BUDGET:
    ``node_limit`` nodes were made in all calls together; EXHAUSTED: no further prefix exists.
    """
    list_start, candidates = plan.tables.list_start, plan.tables.candidates
    heads, depths = plan.heads, plan.depths
    cursor, chosen, gain, used = prefix.cursor, prefix.chosen, prefix.gain, prefix.used
    right, down, child_counts = prefix.right, prefix.down, prefix.child_counts
    endgame_start = np.uint64(plan.endgame_start)
    one = np.uint64(1)
    last_partitioned = np.uint64(plan.partition_depth) - one  # a partition_depth of 0 wraps around to a huge depth
    width = np.uint64(plan.padded_width)
    depth = np.uint64(prefix.scalars[DEPTH])
    nodes = prefix.scalars[NODES]
    if prefix.scalars[DEPTH] == NOT_STARTED:
        depth = np.uint64(0)
        if endgame_start == 0:
            prefix.scalars[DEPTH] = 0
            return REACHED
    elif depth == endgame_start:
        if endgame_start == 0:
            return EXHAUSTED
        if depths[(depth - one) * DEPTH_WORDS + LEVEL_FROM] >= 0:
            _remember(plan, prefix, depth, nodes)
        depth -= one
        used[np.uint64(chosen[depth] & packed.PIECE_MASK)] = 0
    status = EXHAUSTED
    at, gain_here = np.uint64(cursor[depth]), gain[depth]
    candidate = candidates[at]  # the loop begins with a candidate that is already read
    while True:
        while used[np.uint64(candidate & packed.PIECE_MASK)]:
            at += one
            candidate = candidates[at]
        new_gain = gain_here + (candidate >> packed.GAIN_SHIFT)
        row = depth * DEPTH_WORDS
        if new_gain >= depths[row + MIN_GAIN]:
            at += one
            here = np.uint64(depths[row + POSITION])
            used[np.uint64(candidate & packed.PIECE_MASK)] = 1
            right[here] = (candidate >> packed.RIGHT_SHIFT) & packed.RIGHT_MASK
            down[here] = (candidate >> packed.DOWN_SHIFT) & packed.DOWN_MASK
            look_right, look_down = depths[row + LOOK_RIGHT], depths[row + LOOK_DOWN]
            if (
                (look_right >= 0 and _all_used(list_start[look_right + right[here]], candidates, used))
                or (look_down >= 0 and _all_used(list_start[look_down + down[here]], candidates, used))
                or (depth == last_partitioned and not _is_in_partition(plan, chosen, depth, candidate))
                or (depths[row + LEVEL_FROM] >= 0 and _was_searched(plan, prefix, depth, candidate, new_gain, nodes))
            ):
                used[np.uint64(candidate & packed.PIECE_MASK)] = 0
                candidate = candidates[at]
                continue
            cursor[depth] = np.int64(at)
            chosen[depth] = candidate
            # counters of placements with a break (a negative packed candidate) are MAX_BREAKS columns after the others
            column = np.uint64((candidate >> 63) & packed.MAX_BREAKS) + np.uint64(breaks_spent(new_gain))
            child_counts[depth * np.uint64(COUNTS_PER_DEPTH) + column] += 1
            nodes += 1
            depth += one
            gain_here = new_gain
            gain[depth] = new_gain
            if depth == endgame_start:
                status = REACHED
                break
            following = np.uint64(depths[row + DEPTH_WORDS + POSITION])
            key = depths[row + DEPTH_WORDS + LIST_BASE] + right[following - one] + down[following - width]
            at = np.uint64(list_start[np.uint64(key)])
            candidate = heads[np.uint64(key)]
            if nodes >= node_limit:
                cursor[depth] = np.int64(at)
                status = BUDGET
                break
        else:
            if depth == 0:
                break
            if depths[(depth - one) * DEPTH_WORDS + LEVEL_FROM] >= 0:
                _remember(plan, prefix, depth, nodes)
            depth -= one
            used[np.uint64(chosen[depth] & packed.PIECE_MASK)] = 0
            at, gain_here = np.uint64(cursor[depth]), gain[depth]
            candidate = candidates[at]
    prefix.scalars[DEPTH] = np.int64(depth)
    prefix.scalars[NODES] = nodes
    return status


@flat_kernel
def place_pieces(plan: EndgamePlan, state: EndgameState, prefix: PrefixState, depth: int) -> None:
    """Copy the endgame's placements at depths below ``depth`` to ``prefix``, and set the gain of that length."""
    for level in range(depth - plan.endgame_start):
        at, position = plan.endgame_start + level, plan.position[level]
        row = np.uint64(level) * endgame_plan.ROW_WORDS
        placement = state.levels[row + endgame_plan.CHOSEN]
        first = len(plan.packed) >> 1 if plan.levels[row + endgame_plan.RULE] >= endgame_plan.RULES else 0
        candidate = plan.packed[first + state.oriented[placement & np.uint64(255)]]
        prefix.cursor[at], prefix.chosen[at] = placement, candidate
        prefix.used[candidate & packed.PIECE_MASK] = 1
        prefix.right[position] = (candidate >> packed.RIGHT_SHIFT) & packed.RIGHT_MASK
        prefix.down[position] = (candidate >> packed.DOWN_SHIFT) & packed.DOWN_MASK
    last = np.uint64(depth - plan.endgame_start) * endgame_plan.ROW_WORDS
    spent = state.levels[last + endgame_plan.BREAKS] - state.levels[endgame_plan.BREAKS]
    prefix.gain[depth] = prefix.gain[plan.endgame_start] - packed.BREAK_COST * np.int64(spent)


@flat_kernel
def remove_pieces(plan: EndgamePlan, depth: int, chosen: Int64Array, used: npt.NDArray[np.uint8]) -> None:
    """Mark the pieces that `place_pieces` copied, at depths below ``depth``, as unused again."""
    for level in range(depth - plan.endgame_start):
        used[chosen[plan.endgame_start + level] & packed.PIECE_MASK] = 0


@inline_flat_kernel
def _record_frontier_key(prefix: PrefixState, length: int) -> None:
    """Record the key of the frontier prefix of ``length`` cells if `KEY_SAMPLE_DIVISOR` divides it and there is room.

    The key is a hash of the last four pieces and of ever sparser earlier pieces (6, 9, 13, 19, ... cells from the end),
    so that another restart that comes to the same prefix records the same key.
    """
    chosen, frontier_keys = prefix.chosen, prefix.frontier_keys
    if length == 0:  # the empty board gets no key, as every restart comes to it
        return
    key, back = np.uint64(length), 1
    while back <= length:
        key = (key << _ROTATE_LEFT | key >> _ROTATE_RIGHT) ^ np.uint64(chosen[length - back] & packed.PIECE_MASK)
        back += max(1, back >> 1)
    key = _mix(key)
    key ^= key >> _HALF
    if key & np.uint64(KEY_SAMPLE_DIVISOR - 1) == 0 and frontier_keys[0] < MAX_FRONTIER_KEYS:
        frontier_keys[0] += np.uint64(1)
        frontier_keys[frontier_keys[0]] = key


@flat_kernel
def next_prefix(plan: ConstructorPlan, state: ConstructorState, node_limit: int) -> int:
    """Continue the search, by candidate lists and then by the endgame, up to the next prefix of ``cut`` cells.

    Returns REACHED, BUDGET or EXHAUSTED as `search_lists` does.
    """
    endgame_start, has_endgame = plan.prefix.endgame_start, plan.prefix.endgame_start < plan.prefix.cut
    prefix, scalars = state.prefix, state.prefix.scalars
    while scalars[NODES] < node_limit or not has_endgame:
        if scalars[DEPTH] > endgame_start:  # the search stands within the endgame
            remove_pieces(plan.endgame, scalars[DEPTH], prefix.chosen, prefix.used)
        else:
            status = search_lists(plan.prefix, prefix, node_limit)
            if status != REACHED:
                return status
            _record_frontier_key(prefix, endgame_start)
            if not has_endgame:
                return REACHED
            breaks = breaks_spent(prefix.gain[endgame_start])
            endgame.start_endgame(plan.endgame, state.endgame, prefix.used, prefix.right, prefix.down, breaks)
        status = endgame.search_endgame(plan.endgame, state.endgame, scalars, prefix.child_counts, node_limit)
        if status != EXHAUSTED:
            place_pieces(plan.endgame, state.endgame, prefix, scalars[DEPTH])
            return status
    return BUDGET


@flat_kernel
def construct(
    plan: ConstructorPlan, state: ConstructorState, max_mismatches: int, node_limit: int, tail_node_limit: int
) -> int:
    """Make prefixes and search exact tails of those with few enough breaks (and of a sample) until a board is found.

    ``max_mismatches``: most mismatches of the board; ``node_limit``: most nodes of prefixes in all calls together, plus
    nodes of exact tails in this call; ``tail_node_limit``: most nodes of one exact tail. Returns REACHED, with a board
    in ``state.found`` and its mismatches in ``state.counters``, or BUDGET or EXHAUSTED as `search_lists` does.
    """
    prefix, counters, found = state.prefix, state.counters, state.found
    cut = plan.prefix.cut
    tail_nodes_before = counters[TAIL_NODES]
    while True:
        status = next_prefix(plan, state, node_limit - (counters[TAIL_NODES] - tail_nodes_before))
        if status != REACHED:
            return status
        counters[PREFIXES] += 1
        breaks = breaks_spent(prefix.gain[cut])
        state.prefixes_by_breaks[breaks] += 1
        if prefix.scalars[NODES] >= counters[NEXT_SAMPLE]:
            mismatches, nodes = solve_tail(
                plan.tail, state.tail, prefix.used, prefix.right, prefix.down, MISMATCH_BINS - 1, tail_node_limit
            )
            counters[TAIL_NODES] += nodes
            counters[NEXT_SAMPLE] = prefix.scalars[NODES] + max(TAIL_SAMPLE_NODES, TAIL_SAMPLE_COST_FACTOR * nodes)
            state.tail_outcomes[mismatches if mismatches >= 0 else MISMATCH_BINS] += 1
        if breaks > max_mismatches:
            continue
        mismatches, nodes = solve_tail(
            plan.tail, state.tail, prefix.used, prefix.right, prefix.down, max_mismatches - breaks, tail_node_limit
        )
        counters[TAIL_NODES] += nodes
        if mismatches >= 0:
            for depth in range(cut):
                found[depth] = oriented_piece(prefix.chosen[depth])
            for i in range(len(found) - cut):
                found[cut + i] = state.tail.found[i]
            counters[FOUND_MISMATCHES] = breaks + mismatches
            return REACHED
        if prefix.scalars[NODES] + counters[TAIL_NODES] - tail_nodes_before >= node_limit:
            return BUDGET
