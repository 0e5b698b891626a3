"""Search of the last cells before the exact tail, where few pieces are free and most breaks are spent.

In candidate lists most pieces are used by then and would have to be skipped one by one. With at most 64 free pieces a
piece is one bit, and bitwise operations find all candidates of a cell at once: for each colour and rotation there is
the set of the pieces that show it on the left, and the set of those that show it on top. The intersection of the two
sets of a cell holds its exact candidates, their difference those with a break.

A piece is refused at once if it leaves a later neighbour without a candidate (`endgame_plan.LATER_LIMIT`). If the next
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
from lns.construct.candidates import (
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
from lns.construct.endgame_plan import (
    ALLOWED_BREAKS,
    BREAKS,
    CANDIDATE_SETS,
    CANDIDATES,
    CHOSEN,
    CLASS_BASE,
    CLUE_MASK,
    FREE,
    LATER_LEFT,
    LATER_LIMIT,
    LATER_PAIR_BASE,
    LATER_UP,
    LEFT_BREAK_MASK,
    LEFT_SOURCE,
    MAX_ENDGAME_PIECES,
    NEXT_LIMIT,
    PAIR_BASE,
    ROW_SHIFT,
    ROW_WORDS,
    RULE,
    SHOWN_DOWN,
    SHOWN_RIGHT,
    UP_BREAK_MASK,
    UP_SOURCE,
    EndgamePlan,
    EndgameState,
)
from lns_support.bits import lowest_bit, popcount
from lns_support.jit import flat_kernel, inline_flat_kernel

REACHED, BUDGET, EXHAUSTED = 0, 1, 2  # status of a search
DEPTH, NODES = range(2)  # indexes of ``PrefixState.scalars``
COUNTS_PER_DEPTH = 2 * MAX_BREAKS  # node counters of a depth: exact placements, then breaking ones, by breaks spent
_NONE, _ONE, _TWO, _ALL = np.uint64(0), np.uint64(1), np.uint64(2), ~np.uint64(0)
_FOUR = np.uint64(4)
_MATCHES_CLUES = 4  # bit of an index of ``class_sets``: 0 for the sets of pieces that match the clues beside the cell
_BREAK = np.uint64(256)  # in the column CHOSEN


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
        state.side_offsets[2 * index] = plan.side_offsets[oriented, RIGHT]
        state.side_offsets[2 * index + 1] = plan.side_offsets[oriented, DOWN]


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
    state.levels[FREE] = free
    state.levels[BREAKS] = breaks
    if plan.closing.anchor_position >= 0:
        set_anchor_colour(state.closing, down[plan.closing.anchor_position])
    levels = len(plan.position)
    for i in range(levels):
        row = np.uint64(levels + i) * ROW_WORDS
        if plan.outside[i, 0] >= 0:
            state.levels[row + SHOWN_RIGHT] = right[plan.outside[i, 0]] // plan.colour_count * 4
        if plan.outside[i, 1] >= 0:
            state.levels[row + SHOWN_DOWN] = down[plan.outside[i, 1]] * 4


@inline_flat_kernel
def _free_after(plan: EndgamePlan, state: EndgameState, row: np.uint64, bit: np.uint64) -> np.uint64:
    """Free pieces after the piece ``bit`` is placed on the level of ``row``; 0 if the rim could not be completed."""
    rule, free = plan.levels[row + RULE], state.levels[row + FREE]
    if rule == NO_RULE:
        return free ^ bit
    if rule == ANCHOR:
        set_anchor_colour(state.closing, np.int64(state.levels[row + SHOWN_DOWN] >> _TWO))
        return free ^ bit
    # along the left side the next cell of the rim is below; at the bottom, where the lower side is 0, on the right
    shown = state.levels[row + SHOWN_DOWN] if state.levels[row + SHOWN_DOWN] else state.levels[row + SHOWN_RIGHT]
    behind_anchor = state.levels[np.uint64(plan.closing.anchor_level + 1) * ROW_WORDS + FREE]
    return pieces_after_reserving(
        plan.closing, state.closing, behind_anchor, free, row >> ROW_SHIFT, bit, np.int64(shown >> _TWO)
    )


@inline_flat_kernel
def _find_candidates(plan: EndgamePlan, state: EndgameState, row: np.uint64) -> None:
    """Find all candidates of the level of ``row``."""
    left_sets, up_sets, class_sets, here, levels = (
        state.left_sets, state.up_sets, state.class_sets, plan.levels, state.levels
    )  # fmt: skip
    left = levels[here[row + LEFT_SOURCE] + SHOWN_RIGHT]
    up = levels[here[row + UP_SOURCE] + SHOWN_DOWN]
    base = here[row + CLASS_BASE]
    free, clue_mask = levels[row + FREE], here[row + CLUE_MASK]
    first = row + CANDIDATE_SETS
    any_exact = any_breaking = _NONE
    if levels[row + BREAKS] < here[row + ALLOWED_BREAKS]:
        left_may_break, up_may_break = here[row + LEFT_BREAK_MASK], here[row + UP_BREAK_MASK]
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
    levels[row + CANDIDATES] = any_exact
    levels[row + CANDIDATES + _ONE] = any_breaking


@inline_flat_kernel
def _drop_dead_ends(plan: EndgamePlan, state: EndgameState, row: np.uint64) -> tuple[int, int]:
    """Drop the candidates that leave the next cell without an exact candidate although it may not break.

    All of them are dropped at once: they are most of the candidates, such as pieces that break above a cell that may
    not. Returns how many exact and how many breaking ones were dropped.
    """
    levels = state.levels
    following, breaks, limit = row + ROW_WORDS, levels[row + BREAKS], plan.levels[row + NEXT_LIMIT]
    doubtful = levels[row + CANDIDATES + _ONE] if breaks + _ONE >= limit else _NONE
    if breaks >= limit:
        doubtful |= levels[row + CANDIDATES]
    if doubtful == _NONE or plan.levels[following + LEFT_SOURCE] == row:
        return 0, 0
    free, pair_sets, down_sets = levels[row + FREE], state.pair_sets, state.down_sets
    colours = np.uint64(len(down_sets)) >> _TWO
    pair = plan.levels[following + PAIR_BASE]
    pair += colours * (levels[plan.levels[following + LEFT_SOURCE] + SHOWN_RIGHT] >> _TWO)
    above = plan.levels[following + UP_SOURCE]
    keep0 = keep1 = keep2 = keep3 = _NONE
    if above == row:
        all_but_one = doubtful & (doubtful - _ONE)
        if all_but_one & (all_but_one - _ONE) == _NONE:  # one or two are faster tried
            return 0, 0
        for colour in range(colours):  # by colour and without a branch, so that it is vectorized
            has_candidate = _NONE - np.uint64((pair_sets[pair + colour] & free) != _NONE)
            keep0 |= down_sets[colour] & has_candidate
            keep1 |= down_sets[colours + colour] & has_candidate
            keep2 |= down_sets[_TWO * colours + colour] & has_candidate
            keep3 |= down_sets[(_TWO + _ONE) * colours + colour] & has_candidate
    elif pair_sets[pair + (levels[above + SHOWN_DOWN] >> _TWO)] & free:
        return 0, 0
    first_breaking = row + CANDIDATE_SETS + _FOUR
    breaking_dropped = exact_dropped = 0
    if levels[row + CANDIDATES + _ONE]:  # else `_find_candidates` has not written those sets
        levels[row + CANDIDATES + _ONE], breaking_dropped = _intersect(
            levels, first_breaking, keep0, keep1, keep2, keep3
        )
    if breaks >= limit:
        levels[row + CANDIDATES], exact_dropped = _intersect(levels, first_breaking - _FOUR, keep0, keep1, keep2, keep3)
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
    state: EndgameState, row: np.uint64, with_break: np.uint64, bit: np.uint64, number: np.uint64
) -> np.uint64:
    """Take a piece, bit ``number``, off the candidates in the first rotation left to it; return that rotation."""
    levels = state.levels
    first = row + CANDIDATE_SETS + with_break * _FOUR
    a, b, c, d = levels[first], levels[first + _ONE], levels[first + _TWO], levels[first + _TWO + _ONE]
    ab, abc = a | b, a | b | c
    rotation = ((~a >> number) & _ONE) + ((~ab >> number) & _ONE) + ((~abc >> number) & _ONE)
    levels[first + rotation] ^= bit
    several_rotations = (a & (b | c | d)) | (b & (c | d)) | (c & d)
    levels[row + CANDIDATES + with_break] ^= bit & ~several_rotations
    return np.uint64(rotation)


@inline_flat_kernel
def _has_candidate(
    state: EndgameState, pair_base: np.uint64, left_source: np.uint64, up_source: np.uint64, free: np.uint64
) -> bool:
    """Whether a cell has an exact candidate among ``free`` pieces."""
    left, up = state.levels[left_source + SHOWN_RIGHT], state.levels[up_source + SHOWN_DOWN]
    pair = pair_base + ((left * (np.uint64(len(state.down_sets)) >> _TWO) + up) >> _TWO)
    return bool((state.pair_sets[pair] & free) != _NONE)


@inline_flat_kernel
def _later_cell_fails(
    plan: EndgamePlan, state: EndgameState, row: np.uint64, free: np.uint64, breaks: np.uint64
) -> bool:
    """Whether the later neighbour of a level must match exactly and has no candidate left.

    ``free``: free pieces and ``breaks``: breaks spent once the level is filled.
    """
    here = plan.levels
    return bool(breaks >= here[row + LATER_LIMIT]) and not _has_candidate(
        state, here[row + LATER_PAIR_BASE], here[row + LATER_LEFT], here[row + LATER_UP], free
    )


@inline_flat_kernel
def _next_cell_fails(
    plan: EndgamePlan, state: EndgameState, row: np.uint64, free: np.uint64, breaks: np.uint64
) -> bool:
    """The same of the next cell."""
    here, following = plan.levels, row + ROW_WORDS
    return bool(breaks >= here[row + NEXT_LIMIT]) and not _has_candidate(
        state, here[following + PAIR_BASE], here[following + LEFT_SOURCE], here[following + UP_SOURCE], free
    )


@inline_flat_kernel
def _first_count(plan: EndgamePlan, row: np.uint64) -> np.uint64:
    """Index in ``child_counts`` of the counters of a level."""
    return (np.uint64(plan.endgame_start) + (row >> ROW_SHIFT)) * np.uint64(COUNTS_PER_DEPTH)


@inline_flat_kernel
def _enter_level(plan: EndgamePlan, state: EndgameState, row: np.uint64, child_counts: Int64Array) -> int:
    """Find the candidates of a level and drop those that lead nowhere; return the number of dropped ones."""
    _find_candidates(plan, state, row)
    exact, breaking = _drop_dead_ends(plan, state, row)
    if exact + breaking:
        index = _first_count(plan, row) + state.levels[row + BREAKS]
        child_counts[index] += exact
        child_counts[index + np.uint64(MAX_BREAKS + 1)] += breaking
    return exact + breaking


@inline_flat_kernel
def _place_next_candidate(
    plan: EndgamePlan, state: EndgameState, row: np.uint64, child_counts: Int64Array
) -> tuple[bool, int]:
    """Place the next candidate of a level that no look-ahead refuses: (whether there is one, nodes made)."""
    levels = state.levels
    counts = _first_count(plan, row)
    nodes = 0
    while True:
        with_break = _NONE
        pieces = levels[row + CANDIDATES]
        if pieces == _NONE:
            with_break = _ONE
            pieces = levels[row + CANDIDATES + _ONE]
            if pieces == _NONE:
                return False, nodes
        bit = pieces & (~pieces + _ONE)
        number = np.uint64(lowest_bit(pieces))
        rotation = _pop_rotation(state, row, with_break, bit, number)
        placement = (number << _TWO) + rotation
        breaks = levels[row + BREAKS] + with_break
        levels[row + SHOWN_RIGHT] = state.side_offsets[placement * _TWO]
        levels[row + SHOWN_DOWN] = state.side_offsets[placement * _TWO + _ONE]
        free = _free_after(plan, state, row, bit)
        if free == _NONE:
            continue
        if _later_cell_fails(plan, state, row, free, breaks):
            continue
        child_counts[counts + with_break * np.uint64(MAX_BREAKS) + breaks] += 1
        nodes += 1
        if _next_cell_fails(plan, state, row, free, breaks):
            continue
        levels[row + CHOSEN] = with_break * _BREAK + placement
        levels[row + ROW_WORDS + FREE] = free
        levels[row + ROW_WORDS + BREAKS] = breaks
        return True, nodes


@flat_kernel
def search_endgame(
    plan: EndgamePlan, state: EndgameState, scalars: Int64Array, child_counts: Int64Array, node_limit: int
) -> int:
    """Search on until all levels are filled, or until ``node_limit`` nodes were made in all calls together.

    ``scalars``, ``child_counts``: see `kernel.PrefixState`. Returns REACHED (the next call continues with the prefix
    after it), BUDGET, or EXHAUSTED, at depth ``endgame_start``.
    """
    end = np.uint64(len(plan.position)) * ROW_WORDS
    row = np.uint64(scalars[DEPTH] - plan.endgame_start) * ROW_WORDS
    nodes = scalars[NODES]
    status = EXHAUSTED
    backtrack = row == end
    while True:
        if backtrack:
            if row == _NONE:
                break
            row -= ROW_WORDS
        else:
            nodes += _enter_level(plan, state, row, child_counts)
        placed, new_nodes = _place_next_candidate(plan, state, row, child_counts)
        nodes += new_nodes
        backtrack = not placed
        if placed:
            row += ROW_WORDS
            if row == end:
                status = REACHED
                break
            if nodes >= node_limit:
                status = BUDGET
                break
    scalars[DEPTH] = plan.endgame_start + np.int64(row >> ROW_SHIFT)
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
        placement = state.levels[np.uint64(level) * ROW_WORDS + CHOSEN]
        candidate = plan.packed[state.oriented[placement & (_BREAK - _ONE)]]
        cursor[plan.endgame_start + level] = placement
        chosen[plan.endgame_start + level] = candidate
        used[candidate & PIECE_MASK] = 1
        right[plan.position[level]] = (candidate >> RIGHT_SHIFT) & RIGHT_MASK
        down[plan.position[level]] = (candidate >> DOWN_SHIFT) & DOWN_MASK
    spent = state.levels[np.uint64(depth - plan.endgame_start) * ROW_WORDS + BREAKS] - state.levels[BREAKS]
    gain[depth] = gain[plan.endgame_start] - BREAK_COST * np.int64(spent)


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
    levels = state.levels
    for i in range(len(cursors)):
        row = np.uint64(i) * ROW_WORDS
        if not 0 <= cursors[i] < 2 * np.int64(_BREAK):
            return False
        cursor = np.uint64(cursors[i])
        _find_candidates(plan, state, row)
        _drop_dead_ends(plan, state, row)
        placement = cursor & (_BREAK - _ONE)
        with_break, number, rotation = np.uint64(cursor >= _BREAK), placement >> _TWO, placement & (_FOUR - _ONE)
        if with_break and levels[row + BREAKS] >= plan.levels[row + ALLOWED_BREAKS]:
            return False
        if not levels[row + CANDIDATE_SETS + with_break * _FOUR + rotation] >> number & _ONE:
            return False
        if with_break:
            levels[row + CANDIDATES] = _NONE
        while True:  # pop all candidates before it, and it
            pieces = levels[row + CANDIDATES + with_break]
            popped = np.uint64(lowest_bit(pieces))
            popped_rotation = _pop_rotation(state, row, with_break, pieces & (~pieces + _ONE), popped)
            if popped == number and popped_rotation == rotation:
                break
        levels[row + CHOSEN] = cursor
        levels[row + SHOWN_RIGHT] = state.side_offsets[placement * _TWO]
        levels[row + SHOWN_DOWN] = state.side_offsets[placement * _TWO + _ONE]
        free = _free_after(plan, state, row, _ONE << number)
        if free == _NONE:
            return False
        levels[row + ROW_WORDS + FREE] = free
        levels[row + ROW_WORDS + BREAKS] = levels[row + BREAKS] + with_break
    return True
