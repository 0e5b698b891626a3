"""Search of the last cells before the exact tail, where few pieces are free and most breaks are spent.

At these cells most pieces of a candidate list are used and would have to be skipped one by one. With at most 64 free
pieces each piece is one bit, and bitwise operations find all candidates of a cell at once: for each colour and rotation
one set holds the pieces that show the colour on the left, another set the pieces that show it on top. Of the free
pieces with the right grey sides, those in both sets for the known colours of the cell are exact candidates (without a
break); those in only one of the two sets are breaking candidates, if that break is allowed.

A piece is refused at once if it leaves a later neighbour without a candidate (`endgame_plan.LATER`). If the next cell
may not break, most candidates that leave that cell without a matching piece are dropped before they are tried, but
count as nodes. A rim piece is refused if the rim could then not be completed (`lns.construct.endgame_plan`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lns.construct import endgame_plan as at
from lns.construct.candidates import MAX_BREAKS, Bitsets, Int64Array
from lns.construct.endgame_plan import ClosingPlan, ClosingState, EndgamePlan, EndgameState, assign_bit
from lns.exact.kernels.bits import lowest_bit, popcount
from lns.exact.kernels.jit import flat_kernel, inline_flat_kernel

REACHED, BUDGET, EXHAUSTED = 0, 1, 2  # what a search returns: prefix found, node limit reached, no prefix left
DEPTH, NODES = range(2)  # indexes of ``PrefixState.scalars``
COUNTS_PER_DEPTH = 2 * MAX_BREAKS  # counters of a depth: by breaks spent, first placements without a break, then with
_NOT_LISTED = -1  # stands in place of the number of closings (sets that complete the rim) before they are listed
_NONE, _ONE, _TWO, _ALL = np.uint64(0), np.uint64(1), np.uint64(2), ~np.uint64(0)
_THREE, _FOUR = np.uint64(3), np.uint64(4)
_BREAK = np.uint64(256)  # flag in the column CHOSEN: the candidate breaks
_NOTHING = np.uint64(512)  # returned by `_take_candidate` if no candidate is left


@flat_kernel
def start_endgame(
    plan: EndgamePlan,
    state: EndgameState,
    used: npt.NDArray[np.uint8],
    right: Int64Array,
    down: Int64Array,
    breaks: int,
) -> None:
    """Start the endgame after a prefix of ``endgame_start`` cells that has spent ``breaks`` breaks.

    ``used``, ``right``, ``down``: the prefix, see `PrefixState`. Free pieces without a bit get unassigned bits or those
    of used pieces: to make all sets anew would take as long as a hundred nodes, and on some boards an endgame starts
    every fifty nodes.
    """
    free, taken, missing = _NONE, _NONE, len(plan.piece_order) - plan.endgame_start
    for bit, piece in enumerate(state.piece_of_bit):
        if piece >= 0:
            is_free = np.uint64(1 - used[piece])  # without a branch, which the processor would mispredict
            free |= is_free << np.uint64(bit)
            taken |= _ONE << np.uint64(bit)
            missing -= np.int64(is_free)
    if missing > 0:
        for piece in plan.piece_order:
            if (used[piece] == 0) & (state.bit_of_piece[piece] < 0):
                bit = lowest_bit(~taken if taken != _ALL else ~free)
                assign_bit(plan, state, piece, bit)
                free |= _ONE << np.uint64(bit)
                taken |= free
    state.levels[at.FREE] = free
    state.levels[at.BREAKS] = breaks
    if plan.closing.anchor_position >= 0:
        set_anchor_colour(state.closing, down[plan.closing.anchor_position])
    levels = len(plan.position)
    for i in range(levels):
        row = np.uint64(levels + i) * at.ROW_WORDS
        if plan.outside[i, 0] >= 0:  # false for a cell filled from the right: its left neighbour comes later
            state.levels[row + at.SHOWN_RIGHT] = right[plan.outside[i, 0]] // plan.colour_count * 4
        if plan.outside[i, 1] >= 0:
            state.levels[row + at.SHOWN_DOWN] = down[plan.outside[i, 1]] * 4


# -- completing the rim ----------------------------------------------------------------------------------------------


@inline_flat_kernel
def set_anchor_colour(state: ClosingState, colour: int) -> None:
    """Set the colour that the anchor shows downwards, and mark the closings, which depend on it, as not listed."""
    state.scalars[at.COUNT], state.scalars[at.ANCHOR_COLOUR] = _NOT_LISTED, colour


@flat_kernel
def list_closings(plan: ClosingPlan, state: ClosingState, free: np.uint64) -> None:
    """List the closings: all sets of ``free`` pieces that complete the rim from the anchor down and round the corner.

    If more than `MAX_CLOSINGS` sets fill some first cells of that stretch, list only the sets that fill one cell fewer.
    """
    closings, end_colour = state.closings, state.end_colour
    corners = len(state.near_sets) >> 1
    first, count = 0, 1
    closings[0] = _NONE
    end_colour[0] = state.scalars[at.ANCHOR_COLOUR]
    for i in range(len(plan.is_corner)):
        set_base = corners * np.int64(plan.is_corner[i])
        next_first, next_count = at.MAX_CLOSINGS - first, 0
        for j in range(first, first + count):
            candidates = state.near_sets[end_colour[j] + set_base] & free & ~closings[j]
            while candidates != _NONE:
                bit = candidates & (~candidates + _ONE)
                candidates ^= bit
                if next_count < at.MAX_CLOSINGS:
                    closings[next_first + next_count] = closings[j] | bit
                    end_colour[next_first + next_count] = state.far_colour[np.uint64(lowest_bit(bit))]
                next_count += 1
        if next_count > at.MAX_CLOSINGS:
            break
        first, count = next_first, next_count
    state.scalars[at.COUNT], state.scalars[at.FIRST] = count, first


@inline_flat_kernel
def _is_connected(plan: ClosingPlan, state: ClosingState, free: np.uint64, colour: int) -> bool:
    """Return whether every rim piece in ``free`` is linked to ``colour`` by a chain of such pieces sharing colours."""
    rim = free & state.rim_pieces[0]
    reached = state.colour_sets[colour] & rim
    before = _NONE
    while reached != rim and reached != before:
        before = reached
        for i in range(len(plan.rim_colours)):
            joined = state.colour_sets[plan.rim_colours[i]] & rim
            if joined & reached:
                reached |= joined
    return bool(reached == rim)


@inline_flat_kernel
def _free_after(plan: EndgamePlan, state: EndgameState, row: np.uint64, chosen: np.uint64) -> np.uint64:
    """Return the set of pieces that are free and not reserved once ``chosen`` is placed on the level of ``row``.

    Return the empty set (0) if the rim could then no longer be completed.
    """
    levels, closing, work = state.levels, plan.closing, state.closing
    rule, bit = plan.levels[row + at.RULE] % at.RULES, _ONE << (chosen >> _TWO)
    if rule == at.NO_RULE:
        return levels[row + at.FREE] ^ bit
    if rule == at.ANCHOR:
        set_anchor_colour(work, np.int64(levels[row + at.SHOWN_DOWN] >> _TWO))
        return levels[row + at.FREE] ^ bit
    if work.scalars[at.COUNT] == _NOT_LISTED:
        list_closings(closing, work, levels[np.uint64(closing.anchor_level + 1) * at.ROW_WORDS + at.FREE])
    number = np.uint64(closing.row[row >> at.ROW_SHIFT])
    remaining = (levels[row + at.FREE] | work.reserved[number]) ^ bit
    # colour shown to the next rim cell, which is below on the left side of the board, and on the right along the bottom
    shown = levels[row + at.SHOWN_DOWN] if levels[row + at.SHOWN_DOWN] else levels[row + at.SHOWN_RIGHT]
    if len(closing.rim_colours) and not _is_connected(closing, work, remaining, np.int64(shown >> _TWO)):
        return _NONE
    first, reserved = np.uint64(work.scalars[at.FIRST]), _ALL
    for i in range(np.uint64(work.scalars[at.COUNT])):  # a loop without a branch, so that it is vectorized
        pieces = work.closings[first + i]
        reserved &= pieces | (_NONE - np.uint64((pieces & ~remaining) != _NONE))
    if reserved == _ALL:
        return _NONE
    reserved = reserved if rule != at.RELEASE else _NONE
    work.reserved[number + _ONE] = reserved
    return np.uint64(remaining & ~reserved)


# -- candidates of a level -------------------------------------------------------------------------------------------


@inline_flat_kernel
def _find_candidates(plan: EndgamePlan, state: EndgameState, row: np.uint64) -> tuple[int, int]:
    """Find the candidates of the level of ``row``, and drop dead ends from them as `_drop_dead_ends` does.

    Returns (number of exact candidates dropped, number of breaking candidates dropped).
    """
    left_sets, up_sets, class_sets, here, levels = (
        state.left_sets, state.up_sets, state.class_sets, plan.levels, state.levels
    )  # fmt: skip
    left = levels[here[row + at.LEFT_SOURCE] + at.SHOWN_RIGHT] + here[row + at.RULE] // at.RULES
    up = levels[here[row + at.UP_SOURCE] + at.SHOWN_DOWN]
    base = here[row + at.CLASS_BASE]
    free, clue_mask = levels[row + at.FREE], here[row + at.CLUE_MASK]
    first = row + at.CANDIDATE_SETS
    any_exact = any_breaking = _NONE
    if levels[row + at.BREAKS] < here[row + at.ALLOWED_BREAKS]:
        left_may_break, up_may_break = here[row + at.LEFT_BREAK_MASK], here[row + at.UP_BREAK_MASK]
        for i in range(4):
            rotation = np.uint64(i)
            matches_left, matches_up = left_sets[left + rotation] | clue_mask, up_sets[up + rotation] | clue_mask
            fits = class_sets[base + rotation] & free
            fits_but_clue = class_sets[base + _FOUR + rotation] & free
            matches = matches_left & matches_up
            exact = matches & fits
            one_side = (matches_left & ~matches_up & up_may_break) | (matches_up & ~matches_left & left_may_break)
            breaking = (one_side & fits) | (matches & fits_but_clue)
            levels[first + rotation] = exact
            levels[first + _FOUR + rotation] = breaking
            any_exact |= exact
            any_breaking |= breaking
    else:
        for i in range(4):
            rotation = np.uint64(i)
            matches_left, matches_up = left_sets[left + rotation] | clue_mask, up_sets[up + rotation] | clue_mask
            exact = matches_left & matches_up & class_sets[base + rotation] & free
            levels[first + rotation] = exact
            any_exact |= exact
    levels[row + at.CANDIDATES] = any_exact
    levels[row + at.CANDIDATES + _ONE] = any_breaking
    return _drop_dead_ends(plan, state, row)


@inline_flat_kernel
def _drop_dead_ends(plan: EndgamePlan, state: EndgameState, row: np.uint64) -> tuple[int, int]:
    """Drop the candidates after which the next cell has no exact candidate and may not break.

    Most candidates are such dead ends, for example breaking pieces above a cell that may not break, so all are dropped
    at once, but one or two in doubt may be kept. Returns (number of exact, number of breaking candidates dropped).
    """
    levels, following = state.levels, row + at.NEXT
    breaks, limit = levels[row + at.BREAKS], plan.levels[following + at.LIMIT]
    doubtful = levels[row + at.CANDIDATES + _ONE] if breaks + _ONE >= limit else _NONE
    if breaks >= limit:
        doubtful |= levels[row + at.CANDIDATES]
    if doubtful == _NONE or plan.levels[following + at.LEFT_OF] == row:
        return 0, 0
    free, pair_sets, down_sets = levels[row + at.FREE], state.pair_sets, state.down_sets
    colours = np.uint64(len(down_sets)) >> _TWO
    pair = plan.levels[following + at.PAIR_BASE]
    pair += colours * (levels[plan.levels[following + at.LEFT_OF] + at.SHOWN_RIGHT] >> _TWO)
    above = plan.levels[following + at.ABOVE]
    keep0 = keep1 = keep2 = keep3 = _NONE
    if above == row:
        all_but_one = doubtful & (doubtful - _ONE)
        if all_but_one & (all_but_one - _ONE) == _NONE:  # it is faster to try one or two doubtful candidates
            return 0, 0
        for colour in range(colours):  # a loop without a branch, so that it is vectorized
            has_candidate = _NONE - np.uint64((pair_sets[pair + colour] & free) != _NONE)
            keep0 |= down_sets[colour] & has_candidate
            keep1 |= down_sets[colours + colour] & has_candidate
            keep2 |= down_sets[_TWO * colours + colour] & has_candidate
            keep3 |= down_sets[_THREE * colours + colour] & has_candidate
    elif pair_sets[pair + (levels[above + at.SHOWN_DOWN] >> _TWO)] & free:
        return 0, 0
    exact_dropped, breaking_dropped, keep = 0, 0, (keep0, keep1, keep2, keep3)
    if levels[row + at.CANDIDATES + _ONE]:  # if there are none, the sets of breaking candidates are out of date
        breaking_dropped = _intersect(levels, row, _ONE, keep)
    if breaks >= limit:
        exact_dropped = _intersect(levels, row, _NONE, keep)
    return exact_dropped, breaking_dropped


@inline_flat_kernel
def _intersect(levels: Bitsets, row: np.uint64, with_break: np.uint64, keep: tuple[np.uint64, ...]) -> int:
    """Drop exact (``with_break`` 0) or breaking (1) candidates not in ``keep``, sets by rotation; return how many."""
    first = row + at.CANDIDATE_SETS + with_break * _FOUR
    a, b, c, d = levels[first], levels[first + _ONE], levels[first + _TWO], levels[first + _THREE]
    dropped = popcount(a & ~keep[0]) + popcount(b & ~keep[1]) + popcount(c & ~keep[2]) + popcount(d & ~keep[3])
    a, b, c, d = a & keep[0], b & keep[1], c & keep[2], d & keep[3]
    levels[first], levels[first + _ONE], levels[first + _TWO], levels[first + _THREE] = a, b, c, d
    levels[row + at.CANDIDATES + with_break] = a | b | c | d
    return dropped


@inline_flat_kernel
def _take_candidate(plan: EndgamePlan, state: EndgameState, row: np.uint64) -> np.uint64:
    """Take the next candidate out of the sets of the level of ``row``, and store its right and lower colour in the row.

    Exact candidates come first, and each piece in the first rotation that is still to be tried. Returns the candidate
    in the form of the column CHOSEN, or _NOTHING if no candidate is left.
    """
    levels = state.levels
    with_break, pieces = _NONE, levels[row + at.CANDIDATES]
    if pieces == _NONE:
        with_break, pieces = _ONE, levels[row + at.CANDIDATES + _ONE]
        if pieces == _NONE:
            return _NOTHING
    bit, number = pieces & (~pieces + _ONE), np.uint64(lowest_bit(pieces))
    first = row + at.CANDIDATE_SETS + with_break * _FOUR
    a, b, c, d = levels[first], levels[first + _ONE], levels[first + _TWO], levels[first + _THREE]
    ab, abc = a | b, a | b | c
    rotation = ((~a >> number) & _ONE) + ((~ab >> number) & _ONE) + ((~abc >> number) & _ONE)
    levels[first + rotation] ^= bit
    several_rotations = (a & (b | c | d)) | (b & (c | d)) | (c & d)
    levels[row + at.CANDIDATES + with_break] ^= bit & ~several_rotations
    placement = (number << _TWO) + rotation
    shown = placement * _TWO + plan.levels[row + at.RULE] // at.RULES
    levels[row + at.SHOWN_RIGHT], levels[row + at.SHOWN_DOWN] = (
        state.side_offsets[shown],
        state.side_offsets[shown + _ONE],
    )
    return with_break * _BREAK + placement


@inline_flat_kernel
def _is_stuck(plan: EndgamePlan, state: EndgameState, ahead: np.uint64, free: np.uint64, breaks: np.uint64) -> bool:
    """Return whether a cell ahead that must match exactly has no candidate left.

    ``ahead``: index of the column NEXT or LATER in the row of the level that is being filled; ``free``: set of free
    pieces, ``breaks``: breaks spent, both once that level is filled.
    """
    here, levels = plan.levels, state.levels
    if breaks < here[ahead + at.LIMIT]:
        return False
    left, up = levels[here[ahead + at.LEFT_OF] + at.SHOWN_RIGHT], levels[here[ahead + at.ABOVE] + at.SHOWN_DOWN]
    pair = here[ahead + at.PAIR_BASE] + ((left * (np.uint64(len(state.down_sets)) >> _TWO) + up) >> _TWO)
    return bool((state.pair_sets[pair] & free) == _NONE)


# -- the search ------------------------------------------------------------------------------------------------------


@flat_kernel
def search_endgame(
    plan: EndgamePlan, state: EndgameState, scalars: Int64Array, child_counts: Int64Array, node_limit: int
) -> int:
    """Continue the search until all levels are filled, or ``node_limit`` nodes were made in all calls together.

    ``scalars``, ``child_counts``: see `PrefixState`. Returns REACHED if all levels are filled (the next call looks for
    the next such prefix); BUDGET at the node limit; EXHAUSTED, back at ``endgame_start``, if no prefix is left.
    """
    end = np.uint64(len(plan.position)) * at.ROW_WORDS
    row = np.uint64(scalars[DEPTH] - plan.endgame_start) * at.ROW_WORDS
    nodes, status = scalars[NODES], EXHAUSTED
    backtrack = row == end
    while True:
        if backtrack:
            if row == _NONE:
                break
            row -= at.ROW_WORDS
        spent = state.levels[row + at.BREAKS]
        counts = (np.uint64(plan.endgame_start) + (row >> at.ROW_SHIFT)) * np.uint64(COUNTS_PER_DEPTH) + spent
        if not backtrack:
            exact, breaking = _find_candidates(plan, state, row)
            if exact + breaking:
                child_counts[counts] += exact
                child_counts[counts + np.uint64(MAX_BREAKS + 1)] += breaking
                nodes += exact + breaking
        backtrack = True
        while backtrack:  # until a candidate passes all tests, or no candidate is left
            chosen = _take_candidate(plan, state, row)
            if chosen == _NOTHING:
                break
            free, with_break = _free_after(plan, state, row, chosen & (_BREAK - _ONE)), np.uint64(chosen >= _BREAK)
            if free == _NONE or _is_stuck(plan, state, row + at.LATER, free, spent + with_break):
                continue
            child_counts[counts + with_break * np.uint64(MAX_BREAKS + 1)] += 1
            nodes += 1
            if not _is_stuck(plan, state, row + at.NEXT, free, spent + with_break):
                state.levels[row + at.CHOSEN] = chosen
                state.levels[row + at.ROW_WORDS + at.FREE] = free
                state.levels[row + at.ROW_WORDS + at.BREAKS] = spent + with_break
                backtrack = False
        if not backtrack:
            row += at.ROW_WORDS
            if row == end:
                status = REACHED
                break
            if nodes >= node_limit:
                status = BUDGET
                break
    scalars[DEPTH] = plan.endgame_start + np.int64(row >> at.ROW_SHIFT)
    scalars[NODES] = nodes
    return status
