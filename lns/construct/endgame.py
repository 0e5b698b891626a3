"""Search of the last cells before the exact tail, where few pieces are free and most breaks are spent.

In candidate lists most pieces are used by then and would have to be skipped one by one. With at most 64 free pieces a
piece is one bit, and bitwise operations find all candidates of a cell at once: for each colour and rotation there is
the set of the pieces that show it on the left, and the set of those that show it on top. The intersection of the two
sets of a cell holds its exact candidates, their difference those with a break.

A piece is refused at once if it leaves a later neighbour without a candidate (`EndgamePlan.look_ahead`). If the next
cell may not break, candidates that leave it without one are dropped together before they are tried; they count as nodes
all the same, as in a search that places them first. On the rim only pieces are placed after which the rim can still be
completed (`lns.construct.border_completion`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from instances.puzzle import DOWN, LEFT, RIGHT, UP
from lns.construct.border_completion import (
    ANCHOR,
    NO_RULE,
    pieces_after_reserving,
    set_anchor_colour,
    toggle_border_piece,
)
from lns.construct.endgame_plan import MAX_ENDGAME_PIECES, EndgamePlan, EndgameState, LookAhead
from lns.construct.packed_candidate import (
    BREAK_COST,
    DOWN_MASK,
    DOWN_SHIFT,
    MAX_BREAKS,
    PIECE_MASK,
    RIGHT_MASK,
    RIGHT_SHIFT,
    Bitsets,
    Int64Array,
)
from lns_support.bits import lowest_bit, popcount
from lns_support.jit import flat_kernel, inline_flat_kernel

REACHED, BUDGET, EXHAUSTED = 0, 1, 2  # status of a search
DEPTH, NODES = range(2)  # indexes of ``PrefixState.scalars``
COUNTS_PER_DEPTH = 2 * MAX_BREAKS  # node counters of a depth: exact placements, then breaking ones, by breaks spent
_NONE, _ONE, _TWO, _ALL = np.uint64(0), np.uint64(1), np.uint64(2), ~np.uint64(0)
_FOUR, _EIGHT = np.uint64(4), np.uint64(8)  # candidate sets of a level: four exact ones, then four breaking ones
_MATCHES_CLUES = 4  # bit of an index of ``class_sets``: 0 for the sets of pieces that match the clues beside the cell
_BREAK = 256  # in ``EndgameState.chosen``


@inline_flat_kernel
def _toggle_piece(plan: EndgamePlan, state: EndgameState, piece: int, bit: np.uint64) -> None:
    """Put a piece with this bit into all sets that it belongs to, or take it out of them."""
    has_bit = state.bit_of_piece[piece] >= 0
    unknown = plan.colour_count
    colours = len(state.down_sets) >> 2
    toggle_border_piece(plan.closing, state.closing, piece, bit)
    for rotation in range(4):
        oriented = piece * 4 + rotation
        if plan.first_set[oriented] == plan.first_set[oriented + 1]:
            continue
        state.left_sets[plan.side_offsets[oriented, LEFT] + rotation] ^= bit
        state.up_sets[plan.side_offsets[oriented, UP] + rotation] ^= bit
        state.down_sets[rotation * colours + (plan.side_offsets[oriented, DOWN] >> 2)] ^= bit
        for i in range(plan.first_set[oriented], plan.first_set[oriented + 1]):
            index = plan.set_indexes[i]
            state.class_sets[index] ^= bit
            if index & _MATCHES_CLUES:
                continue
            base = (index >> 3) * colours * colours
            for left in (plan.side_offsets[oriented, LEFT] >> 2, unknown):
                for up in (plan.side_offsets[oriented, UP] >> 2, unknown):
                    pair = base + left * colours + up
                    state.pair_sets[pair] = (state.pair_sets[pair] | bit) ^ (bit if has_bit else _NONE)


@flat_kernel
def assign_bit(plan: EndgamePlan, state: EndgameState, piece: int, bit: int) -> None:
    """Assign ``bit`` to ``piece``, which has none; the previous owner of the bit loses it."""
    mask = _ONE << np.uint64(bit)
    previous = state.piece_of_bit[bit]
    if previous >= 0:
        _toggle_piece(plan, state, previous, mask)
        state.bit_of_piece[previous] = -1
    _toggle_piece(plan, state, piece, mask)
    state.piece_of_bit[bit] = piece
    state.bit_of_piece[piece] = bit
    state.closing.far_colour[bit] = plan.closing.far_colour[piece]
    for rotation in range(4):
        index = bit * 4 + rotation
        oriented = piece * 4 + rotation
        state.oriented[index] = oriented
        state.right_offset[index] = plan.side_offsets[oriented, RIGHT]
        state.down_offset[index] = plan.side_offsets[oriented, DOWN]


@flat_kernel
def start_endgame(
    plan: EndgamePlan,
    state: EndgameState,
    used: npt.NDArray[np.uint8],
    right: Int64Array,
    down: Int64Array,
    breaks: int,
) -> None:
    """Start the endgame behind a prefix of ``endgame_start`` cells.

    Free pieces without a bit get those of used pieces. Making all sets anew would take as long as a hundred nodes, and
    on some boards an endgame starts every fifty.

    Parameters
    ----------
    used, right, down
        The prefix, as in `kernel.PrefixState`.
    breaks : int
        Breaks that the prefix has spent.
    """
    free, taken, missing = _NONE, _NONE, len(plan.piece_order) - plan.endgame_start
    for bit, piece in enumerate(state.piece_of_bit):
        if piece >= 0:
            is_free = np.uint64(1 - used[piece])  # without a branch, as none could be predicted
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
    state.free[0] = free
    state.breaks[0] = breaks
    if plan.closing.anchor_position >= 0:
        set_anchor_colour(state.closing, down[plan.closing.anchor_position])
    levels = len(plan.class_base)
    for i in range(levels):
        if plan.outside[i, 0] >= 0:
            state.shown_right[levels + i] = right[plan.outside[i, 0]] // plan.colour_count * 4
        if plan.outside[i, 1] >= 0:
            state.shown_down[levels + i] = down[plan.outside[i, 1]] * 4


@inline_flat_kernel
def _free_after(plan: EndgamePlan, state: EndgameState, level: np.uint64, bit: np.uint64) -> np.uint64:
    """Free pieces after the piece ``bit`` is placed on ``level``; 0 if the rim could not be completed then."""
    rule = plan.closing.rule[level]
    if rule == NO_RULE:
        return state.free[level] ^ bit
    if rule == ANCHOR:
        set_anchor_colour(state.closing, state.shown_down[level] >> 2)
        return state.free[level] ^ bit
    # along the left side the next cell of the rim is below; at the bottom, where the lower side is 0, on the right
    shown = state.shown_down[level] if state.shown_down[level] else state.shown_right[level]
    return pieces_after_reserving(plan.closing, state.closing, state.free, level, bit, shown >> 2)


@inline_flat_kernel
def _find_candidates(plan: EndgamePlan, state: EndgameState, level: np.uint64) -> None:
    """Find all candidates of ``level``."""
    left_sets, up_sets, class_sets, candidate_sets = (
        state.left_sets, state.up_sets, state.class_sets, state.candidate_sets
    )  # fmt: skip
    left = np.uint64(state.shown_right[np.uint64(plan.left_source[level])])
    up = np.uint64(state.shown_down[np.uint64(plan.up_source[level])])
    base = np.uint64(plan.class_base[level])
    free, clue_mask = state.free[level], plan.clue_mask[level]
    first = level * _EIGHT
    any_exact = any_breaking = _NONE
    if state.breaks[level] < plan.allowed_breaks[level]:
        left_may_break, up_may_break = plan.left_break_mask[level], plan.up_break_mask[level]
        for i in range(4):
            rotation = np.uint64(i)
            matches_left, matches_up = left_sets[left + rotation] | clue_mask, up_sets[up + rotation] | clue_mask
            fits = class_sets[base + rotation] & free
            fits_but_clue = class_sets[base + _FOUR + rotation] & free
            matches = matches_left & matches_up
            exact = matches & fits
            one_side = (matches_left & ~matches_up & up_may_break) | (matches_up & ~matches_left & left_may_break)
            breaking = (one_side & fits) | (matches & fits_but_clue)
            candidate_sets[first + rotation] = exact
            candidate_sets[first + _FOUR + rotation] = breaking
            any_exact |= exact
            any_breaking |= breaking
    else:
        for i in range(4):
            rotation = np.uint64(i)
            matches_left, matches_up = left_sets[left + rotation] | clue_mask, up_sets[up + rotation] | clue_mask
            exact = matches_left & matches_up & class_sets[base + rotation] & free
            candidate_sets[first + rotation] = exact
            any_exact |= exact
    state.candidates[level * _TWO] = any_exact
    state.candidates[level * _TWO + _ONE] = any_breaking


@inline_flat_kernel
def _drop_dead_ends(plan: EndgamePlan, state: EndgameState, level: np.uint64) -> tuple[int, int]:
    """Drop the candidates that leave the next cell without an exact candidate although it may not break.

    All of them are dropped at once: they are most of the candidates, such as pieces that break above a cell that may
    not. Returns how many exact and how many breaking ones were dropped.
    """
    following, breaks = level + _ONE, state.breaks[level]
    if plan.next_look_ahead.level[level] < 0 or plan.left_source[following] == np.int64(level):
        return 0, 0
    limit = plan.allowed_breaks[following]
    doubtful = state.candidates[level * _TWO + _ONE] if breaks + 1 >= limit else _NONE
    if breaks >= limit:
        doubtful |= state.candidates[level * _TWO]
    if doubtful == _NONE:
        return 0, 0
    free, pair_sets, down_sets = state.free[level], state.pair_sets, state.down_sets
    colours = np.uint64(len(down_sets)) >> _TWO
    row = np.uint64(plan.next_look_ahead.pair_base[level])
    row += colours * (np.uint64(state.shown_right[np.uint64(plan.next_look_ahead.left_source[level])]) >> _TWO)
    keep0 = keep1 = keep2 = keep3 = _NONE
    if plan.up_source[following] == np.int64(level):
        all_but_one = doubtful & (doubtful - _ONE)
        if all_but_one & (all_but_one - _ONE) == _NONE:  # one or two are faster tried
            return 0, 0
        for colour in range(colours):  # by colour and without a branch, so that it is vectorized
            has_candidate = _NONE - np.uint64((pair_sets[row + colour] & free) != _NONE)
            keep0 |= down_sets[colour] & has_candidate
            keep1 |= down_sets[colours + colour] & has_candidate
            keep2 |= down_sets[_TWO * colours + colour] & has_candidate
            keep3 |= down_sets[(_TWO + _ONE) * colours + colour] & has_candidate
    elif (
        pair_sets[row + (np.uint64(state.shown_down[np.uint64(plan.next_look_ahead.up_source[level])]) >> _TWO)] & free
    ):
        return 0, 0
    first_breaking = level * _EIGHT + _FOUR
    breaking_dropped = exact_dropped = 0
    if state.candidates[level * _TWO + _ONE]:  # else `_find_candidates` has not written those sets
        state.candidates[level * _TWO + _ONE], breaking_dropped = _intersect(
            state.candidate_sets, first_breaking, keep0, keep1, keep2, keep3
        )
    if breaks >= limit:
        state.candidates[level * _TWO], exact_dropped = _intersect(
            state.candidate_sets, first_breaking - _FOUR, keep0, keep1, keep2, keep3
        )
    return exact_dropped, breaking_dropped


@inline_flat_kernel
def _intersect(
    sets: Bitsets, first: np.uint64, keep0: np.uint64, keep1: np.uint64, keep2: np.uint64, keep3: np.uint64
) -> tuple[np.uint64, int]:
    """Intersect four sets, one a rotation, with ``keep0`` to ``keep3``: (their union, number of elements dropped)."""
    a, b, c, d = sets[first], sets[first + _ONE], sets[first + _TWO], sets[first + _TWO + _ONE]
    dropped = popcount(a & ~keep0) + popcount(b & ~keep1) + popcount(c & ~keep2) + popcount(d & ~keep3)
    a, b, c, d = a & keep0, b & keep1, c & keep2, d & keep3
    sets[first], sets[first + _ONE], sets[first + _TWO], sets[first + _TWO + _ONE] = a, b, c, d
    return a | b | c | d, dropped


@inline_flat_kernel
def _pop_rotation(
    state: EndgameState, level: np.uint64, with_break: np.uint64, bit: np.uint64, number: np.uint64
) -> np.uint64:
    """Take a piece, bit ``number``, off the candidates in the first rotation left to it; return that rotation."""
    sets, candidates = state.candidate_sets, state.candidates
    first = level * _EIGHT + with_break * _FOUR
    a, b, c, d = sets[first], sets[first + _ONE], sets[first + _TWO], sets[first + _TWO + _ONE]
    ab, abc = a | b, a | b | c
    rotation = ((~a >> number) & _ONE) + ((~ab >> number) & _ONE) + ((~abc >> number) & _ONE)
    sets[first + rotation] ^= bit
    several_rotations = (a & (b | c | d)) | (b & (c | d)) | (c & d)
    candidates[level * _TWO + with_break] ^= bit & ~several_rotations
    return np.uint64(rotation)


@inline_flat_kernel
def _look_ahead_fails(
    plan: EndgamePlan, state: EndgameState, look_ahead: LookAhead, level: np.uint64, free: np.uint64, breaks: int
) -> bool:
    """Whether the later cell checked by ``level`` must match exactly and has no candidate left.

    ``free``: free pieces and ``breaks``: breaks spent once ``level`` is filled.
    """
    later = look_ahead.level[level]
    if later < 0 or (breaks < plan.allowed_breaks[np.uint64(later)] and look_ahead.never_breaks[level] == 0):
        return False
    left = state.shown_right[np.uint64(look_ahead.left_source[level])]
    up = state.shown_down[np.uint64(look_ahead.up_source[level])]
    pair = look_ahead.pair_base[level] + ((left * (len(state.down_sets) >> 2) + up) >> 2)
    return bool((state.pair_sets[np.uint64(pair)] & free) == _NONE)


@inline_flat_kernel
def _enter_level(plan: EndgamePlan, state: EndgameState, level: np.uint64, child_counts: Int64Array) -> int:
    """Find the candidates of ``level`` and drop those that lead nowhere; return the number of dropped ones."""
    _find_candidates(plan, state, level)
    exact, breaking = _drop_dead_ends(plan, state, level)
    if exact + breaking:
        index = (np.uint64(plan.endgame_start) + level) * np.uint64(COUNTS_PER_DEPTH) + np.uint64(state.breaks[level])
        child_counts[index] += exact
        child_counts[index + np.uint64(MAX_BREAKS + 1)] += breaking
    return exact + breaking


@inline_flat_kernel
def _place_next_candidate(
    plan: EndgamePlan, state: EndgameState, level: np.uint64, child_counts: Int64Array
) -> tuple[bool, int]:
    """Place the next candidate of ``level`` that no look-ahead refuses: (whether there is one, nodes made)."""
    candidates = state.candidates
    counts = (np.uint64(plan.endgame_start) + level) * np.uint64(COUNTS_PER_DEPTH)
    nodes = 0
    while True:
        with_break = _NONE
        pieces = candidates[level * _TWO]
        if pieces == _NONE:
            with_break = _ONE
            pieces = candidates[level * _TWO + _ONE]
            if pieces == _NONE:
                return False, nodes
        bit = pieces & (~pieces + _ONE)
        number = np.uint64(lowest_bit(pieces))
        rotation = _pop_rotation(state, level, with_break, bit, number)
        placement = (number << _TWO) + rotation
        breaks = state.breaks[level] + np.int64(with_break)
        state.shown_right[level] = state.right_offset[placement]
        state.shown_down[level] = state.down_offset[placement]
        free = _free_after(plan, state, level, bit)
        if free == _NONE:
            continue
        if _look_ahead_fails(plan, state, plan.look_ahead, level, free, breaks):
            continue
        child_counts[counts + with_break * np.uint64(MAX_BREAKS) + np.uint64(breaks)] += 1
        nodes += 1
        if _look_ahead_fails(plan, state, plan.next_look_ahead, level, free, breaks):
            continue
        state.chosen[level] = np.int64(with_break * np.uint64(_BREAK) + placement)
        state.free[level + _ONE] = free
        state.breaks[level + _ONE] = breaks
        return True, nodes


@flat_kernel
def search_endgame(
    plan: EndgamePlan, state: EndgameState, scalars: Int64Array, child_counts: Int64Array, node_limit: int
) -> int:
    """Search on until all levels are filled, or until ``node_limit`` nodes were made in all calls together.

    ``scalars``, ``child_counts``: see `kernel.PrefixState`. Returns REACHED (the next call continues with the prefix
    after it), BUDGET, or EXHAUSTED, at depth ``endgame_start``.
    """
    levels = np.uint64(len(plan.class_base))
    level = np.uint64(scalars[DEPTH] - plan.endgame_start)
    nodes = scalars[NODES]
    status = EXHAUSTED
    backtrack = level == levels
    while True:
        if backtrack:
            if level == _NONE:
                break
            level -= _ONE
        else:
            nodes += _enter_level(plan, state, level, child_counts)
        placed, new_nodes = _place_next_candidate(plan, state, level, child_counts)
        nodes += new_nodes
        backtrack = not placed
        if placed:
            level += _ONE
            if level == levels:
                status = REACHED
                break
            if nodes >= node_limit:
                status = BUDGET
                break
    scalars[DEPTH] = plan.endgame_start + np.int64(level)
    scalars[NODES] = nodes
    return status


@flat_kernel
def place_pieces(
    plan: EndgamePlan,
    state: EndgameState,
    depth: int,
    cursor: Int64Array,
    chosen: Int64Array,
    gain: Int64Array,
    used: npt.NDArray[np.uint8],
    right: Int64Array,
    down: Int64Array,
) -> None:
    """Copy the endgame's placements up to ``depth`` to the arrays of `kernel.PrefixState`, for the exact tail."""
    for level in range(depth - plan.endgame_start):
        candidate = plan.packed[state.oriented[state.chosen[level] & (_BREAK - 1)]]
        cursor[plan.endgame_start + level] = state.chosen[level]
        chosen[plan.endgame_start + level] = candidate
        used[candidate & PIECE_MASK] = 1
        right[plan.position[level]] = (candidate >> RIGHT_SHIFT) & RIGHT_MASK
        down[plan.position[level]] = (candidate >> DOWN_SHIFT) & DOWN_MASK
    gain[depth] = gain[plan.endgame_start] - BREAK_COST * (state.breaks[depth - plan.endgame_start] - state.breaks[0])


@flat_kernel
def remove_pieces(plan: EndgamePlan, depth: int, chosen: Int64Array, used: npt.NDArray[np.uint8]) -> None:
    """Mark the pieces that `place_pieces` placed up to ``depth`` as unused again."""
    for level in range(depth - plan.endgame_start):
        used[chosen[plan.endgame_start + level] & PIECE_MASK] = 0


@flat_kernel
def assign_bits(plan: EndgamePlan, state: EndgameState, pieces: Int64Array) -> bool:
    """Assign the bits of a saved ``piece_of_bit`` in a new ``state``; False if it is not a valid one."""
    if len(pieces) != MAX_ENDGAME_PIECES:
        return False
    for bit, piece in enumerate(pieces):
        if not -1 <= piece < len(state.bit_of_piece) or (piece >= 0 and state.bit_of_piece[piece] >= 0):
            return False
        if piece >= 0:
            assign_bit(plan, state, piece, bit)
    return True


@flat_kernel
def replay_cursors(plan: EndgamePlan, state: EndgameState, cursors: Int64Array) -> bool:
    """Place the candidates of saved ``cursors``, one a level, after `start_endgame`.

    Returns False if one of them is not a candidate.
    """
    for i in range(len(cursors)):
        level = np.uint64(i)
        cursor = cursors[i]
        if not 0 <= cursor < 2 * _BREAK:
            return False
        _find_candidates(plan, state, level)
        _drop_dead_ends(plan, state, level)
        placement = cursor & (_BREAK - 1)
        with_break, number, rotation = np.uint64(cursor // _BREAK), np.uint64(placement >> 2), np.uint64(placement & 3)
        if with_break and state.breaks[level] >= plan.allowed_breaks[level]:
            return False
        if not state.candidate_sets[level * _EIGHT + with_break * _FOUR + rotation] >> number & _ONE:
            return False
        if with_break:
            state.candidates[level * _TWO] = _NONE
        while True:  # pop all candidates before it, and it
            pieces = state.candidates[level * _TWO + with_break]
            popped = np.uint64(lowest_bit(pieces))
            popped_rotation = _pop_rotation(state, level, with_break, pieces & (~pieces + _ONE), popped)
            if popped == number and popped_rotation == rotation:
                break
        state.chosen[level] = cursor
        state.shown_right[level] = state.right_offset[placement]
        state.shown_down[level] = state.down_offset[placement]
        free = _free_after(plan, state, level, _ONE << number)
        if free == _NONE:
            return False
        state.free[level + _ONE] = free
        state.breaks[level + _ONE] = state.breaks[level] + np.int64(with_break)
    return True
