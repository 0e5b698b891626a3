"""The last cells of a prefix before its exact tail, where few pieces are free and most breaks are spent.

With at most 64 free pieces a piece is one bit. For each colour, four words (one a rotation) say which free pieces show
it on their left side, and four which show it on top: what two known colours have in common are the exact candidates of
a cell, what only one of them has are those with a break. In the candidate lists of ``lns.construct.kernel`` most pieces
are used by now, and must be passed over.

A piece is refused at once where the neighbour that it leaves for later has no candidate any more. Where the next cell
may not break, those that leave it without a candidate are passed over, most of them together (`_narrow`); they count as
nodes all the same, as they would be for a search that lays them first. On the rim only pieces are laid without which it
can still be closed: see ``lns.construct.border_completion``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from instances.puzzle import DOWN, LEFT, RIGHT, UP
from lns.construct.border_completion import IDLE, OPENS, anchored, spared, turn_over_rim
from lns.construct.endgame_plan import MOST_PIECES, Ahead, EndPlan, EndWork
from lns.construct.packed_candidate import (
    BREAK_COST,
    DOWN_AT,
    DOWN_MASK,
    MAX_BREAKS,
    PIECE_MASK,
    RIGHT_AT,
    RIGHT_MASK,
    Longs,
    Words,
)
from lns_support.bits import lowest_bit, popcount
from lns_support.jit import flat_kernel, inline_flat_kernel

REACHED, BUDGET, EXHAUSTED = 0, 1, 2
CENSUS = 2 * MAX_BREAKS  # counters a depth: exact placements, then breaking ones, by breaks spent
_NONE, _ONE, _TWO, _ALL = np.uint64(0), np.uint64(1), np.uint64(2), ~np.uint64(0)
_TURNS, _WORDS = np.uint64(4), np.uint64(8)  # words of a set of oriented pieces; the exact ones and the breaking ones


@inline_flat_kernel
def _turn_over(plan: EndPlan, work: EndWork, piece: int, one: np.uint64) -> None:
    """Put a piece into the sets that it belongs to, or take it out of them; ``one``: its bit."""
    within = work.bit_of[piece] >= 0
    unknown = plan.colours1
    places = len(work.below) >> 2
    turn_over_rim(plan.closing, work.closing, piece, one)
    for turn in range(4):
        oriented = piece * 4 + turn
        if plan.first_member[oriented] == plan.first_member[oriented + 1]:
            continue
        work.left[plan.sides[oriented, LEFT] + turn] ^= one
        work.up[plan.sides[oriented, UP] + turn] ^= one
        work.below[turn * places + (plan.sides[oriented, DOWN] >> 2)] ^= one
        for i in range(plan.first_member[oriented], plan.first_member[oriented + 1]):
            member = plan.member[i]
            work.fits[member] ^= one
            if member & 4:
                continue
            at = (member >> 3) * places * places
            for left in (plan.sides[oriented, LEFT] >> 2, unknown):
                for up in (plan.sides[oriented, UP] >> 2, unknown):
                    pair = at + left * places + up
                    work.pairs[pair] = (work.pairs[pair] | one) ^ (one if within else _NONE)


@flat_kernel
def give(plan: EndPlan, work: EndWork, piece: int, bit: int) -> None:
    """Give ``bit`` to ``piece``, which has none; whose it was before has none then."""
    one = _ONE << np.uint64(bit)
    before = work.piece_at[bit]
    if before >= 0:
        _turn_over(plan, work, before, one)
        work.bit_of[before] = -1
    _turn_over(plan, work, piece, one)
    work.piece_at[bit] = piece
    work.bit_of[piece] = bit
    work.closing.far[bit] = plan.closing.far[piece]
    for turn in range(4):
        place = bit * 4 + turn
        oriented = piece * 4 + turn
        work.oriented[place] = oriented
        work.right[place] = plan.sides[oriented, RIGHT]
        work.down[place] = plan.sides[oriented, DOWN]


@flat_kernel
def enter(plan: EndPlan, work: EndWork, used: npt.NDArray[np.uint8], right: Longs, down: Longs, spent: int) -> None:
    """Begin behind a prefix of ``begin`` cells that spent so many breaks.

    ``used``, ``right`` (times colours1), ``down``: as in `kernel.Prefix`. Free pieces without a bit get those of used
    ones: sets made anew would cost as much as a hundred nodes, and some boards come here every fifty.
    """
    free, given, without = _NONE, _NONE, len(plan.pieces) - plan.begin
    for bit, piece in enumerate(work.piece_at):
        if piece >= 0:
            is_free = np.uint64(1 - used[piece])  # no branch: it could not be foretold
            free |= is_free << np.uint64(bit)
            given |= _ONE << np.uint64(bit)
            without -= np.int64(is_free)
    if without > 0:
        for piece in plan.pieces:
            if (used[piece] == 0) & (work.bit_of[piece] < 0):
                bit = lowest_bit(~given if given != _ALL else ~free)
                give(plan, work, piece, bit)
                free |= _ONE << np.uint64(bit)
                given |= free
    work.free[0] = free
    work.spent[0] = spent
    if plan.closing.outside >= 0:
        anchored(work.closing, down[plan.closing.outside])
    levels = len(plan.kind)
    for i in range(levels):
        if plan.outside[i, 0] >= 0:
            work.shown_right[levels + i] = right[plan.outside[i, 0]] // plan.colours1 * 4
        if plan.outside[i, 1] >= 0:
            work.shown_down[levels + i] = down[plan.outside[i, 1]] * 4


@inline_flat_kernel
def _left(plan: EndPlan, work: EndWork, level: np.uint64, one: np.uint64) -> np.uint64:
    """The free pieces behind ``level`` when the piece of bit ``one`` is laid there; none: the rim needs it later."""
    rule = plan.closing.rule[level]
    if rule == IDLE:
        return work.free[level] ^ one
    if rule == OPENS:
        anchored(work.closing, work.shown_down[level] >> 2)
        return work.free[level] ^ one
    along = work.shown_down[level] if work.shown_down[level] else work.shown_right[level]  # 0 on the bottom: grey
    return spared(plan.closing, work.closing, work.free, level, one, along >> 2)


@inline_flat_kernel
def _open(plan: EndPlan, work: EndWork, level: np.uint64) -> None:
    """Find all candidates of ``level``, in the order of words and bits."""
    left_of, up_of, fits, sets = work.left, work.up, work.fits, work.sets
    left = np.uint64(work.shown_right[np.uint64(plan.left_at[level])])
    up = np.uint64(work.shown_down[np.uint64(plan.up_at[level])])
    kind = np.uint64(plan.kind[level])
    free, always = work.free[level], plan.always[level]
    first = level * _WORDS
    some = breaking = _NONE
    if work.spent[level] < plan.allowed[level]:
        left_breaks, up_breaks = plan.left_breaks[level], plan.up_breaks[level]
        for i in range(4):
            turn = np.uint64(i)
            a, b = left_of[left + turn] | always, up_of[up + turn] | always
            fit = fits[kind + turn] & free
            near = fits[kind + _TURNS + turn] & free
            exact = a & b & fit
            with_break = (((a & ~b & up_breaks) | (b & ~a & left_breaks)) & fit) | (a & b & near)
            sets[first + turn] = exact
            sets[first + _TURNS + turn] = with_break
            some |= exact
            breaking |= with_break
    else:
        for i in range(4):
            turn = np.uint64(i)
            a, b = left_of[left + turn] | always, up_of[up + turn] | always
            exact = a & b & fits[kind + turn] & free
            sets[first + turn] = exact
            some |= exact
    work.some[level * _TWO] = some
    work.some[level * _TWO + _ONE] = breaking


@inline_flat_kernel
def _narrow(plan: EndPlan, work: EndWork, level: np.uint64) -> tuple[int, int]:
    """Take off the candidates those that leave the next cell without an exact one, where it may not break.

    All at once, as most of them do: a piece that breaks, above a cell that may not. Returns how many: exact ones,
    breaking ones.
    """
    following, spent = level + _ONE, work.spent[level]
    if plan.next.level[level] < 0 or plan.left_at[following] == np.int64(level):
        return 0, 0
    limit = plan.allowed[following]
    candidates = work.some[level * _TWO + _ONE] if spent + 1 >= limit else _NONE
    if spent >= limit:
        candidates |= work.some[level * _TWO]
    if candidates == _NONE:
        return 0, 0
    free, pairs, below = work.free[level], work.pairs, work.below
    places = np.uint64(len(below)) >> _TWO
    row = np.uint64(plan.next.pairs[level])
    row += places * (np.uint64(work.shown_right[np.uint64(plan.next.left[level])]) >> _TWO)
    keep0 = keep1 = keep2 = keep3 = _NONE
    if plan.up_at[following] == np.int64(level):
        several = candidates & (candidates - _ONE)
        if several & (several - _ONE) == _NONE:  # one or two are sooner tried
            return 0, 0
        for colour in range(places):  # in vectors: no branch, and not by candidate
            answered = _NONE - np.uint64((pairs[row + colour] & free) != _NONE)
            keep0 |= below[colour] & answered
            keep1 |= below[places + colour] & answered
            keep2 |= below[_TWO * places + colour] & answered
            keep3 |= below[(_TWO + _ONE) * places + colour] & answered
    elif pairs[row + (np.uint64(work.shown_down[np.uint64(plan.next.up[level])]) >> _TWO)] & free:
        return 0, 0
    breaking = level * _WORDS + _TURNS
    breaks = exact = 0
    if work.some[level * _TWO + _ONE]:  # else `_open` has not written those sets
        work.some[level * _TWO + _ONE], breaks = _keep(work.sets, breaking, keep0, keep1, keep2, keep3)
    if spent >= limit:
        work.some[level * _TWO], exact = _keep(work.sets, breaking - _TURNS, keep0, keep1, keep2, keep3)
    return exact, breaks


@inline_flat_kernel
def _keep(
    sets: Words, first: np.uint64, keep0: np.uint64, keep1: np.uint64, keep2: np.uint64, keep3: np.uint64
) -> tuple[np.uint64, int]:
    """Keep these of four words, a rotation each: the pieces left in any of them, and how many were taken off."""
    a, b, c, d = sets[first], sets[first + _ONE], sets[first + _TWO], sets[first + _TWO + _ONE]
    dropped = popcount(a & ~keep0) + popcount(b & ~keep1) + popcount(c & ~keep2) + popcount(d & ~keep3)
    a, b, c, d = a & keep0, b & keep1, c & keep2, d & keep3
    sets[first], sets[first + _ONE], sets[first + _TWO], sets[first + _TWO + _ONE] = a, b, c, d
    return a | b | c | d, dropped


@inline_flat_kernel
def _take(
    sets: Words, some: Words, level: np.uint64, with_break: np.uint64, bit: np.uint64, number: np.uint64
) -> np.uint64:
    """Take a piece off the candidates, in the first of the rotations left to it; that rotation."""
    first = level * _WORDS + with_break * _TURNS
    a, b, c, d = sets[first], sets[first + _ONE], sets[first + _TWO], sets[first + _TWO + _ONE]
    b0, c0 = a | b, a | b | c
    turn = ((~a >> number) & _ONE) + ((~b0 >> number) & _ONE) + ((~c0 >> number) & _ONE)
    sets[first + turn] ^= bit
    twice = (a & (b | c | d)) | (b & (c | d)) | (c & d)
    some[level * _TWO + with_break] ^= bit & ~twice
    return np.uint64(turn)


@inline_flat_kernel
def _unanswered(plan: EndPlan, work: EndWork, ahead: Ahead, level: np.uint64, free: np.uint64, spent: int) -> bool:
    """Whether the one whom ``level`` asks needs an exact candidate and has none left, with ``spent`` breaks spent."""
    asked = ahead.level[level]
    if asked < 0 or (spent < plan.allowed[np.uint64(asked)] and ahead.strict[level] == 0):
        return False
    left = work.shown_right[np.uint64(ahead.left[level])]
    up = work.shown_down[np.uint64(ahead.up[level])]
    pair = ahead.pairs[level] + ((left * (len(work.below) >> 2) + up) >> 2)
    return bool((work.pairs[np.uint64(pair)] & free) == _NONE)


@flat_kernel
def search_end(
    plan: EndPlan,
    work: EndWork,
    scalars: Longs,
    census: Longs,
    node_limit: int,
) -> int:
    """Search on until all levels are filled, or ``node_limit`` nodes in all were made.

    ``scalars``: int64 [depth, nodes]; ``census``: see `kernel.Prefix`. Returns REACHED (the next call goes on behind),
    BUDGET or EXHAUSTED (depth ``begin``).
    """
    levels = np.uint64(len(plan.kind))
    level = np.uint64(scalars[0] - plan.begin)
    nodes = scalars[1]
    sets, some, chosen = work.sets, work.some, work.chosen
    free, spent, shown_right, shown_down = work.free, work.spent, work.shown_right, work.shown_down
    counted = np.uint64(plan.begin * CENSUS)
    status = EXHAUSTED
    back = level == levels
    while True:
        if back:
            if level == _NONE:
                break
            level -= _ONE
        else:
            _open(plan, work, level)
            exact, breaks = _narrow(plan, work, level)
            if exact + breaks:
                nodes += exact + breaks
                here = counted + level * np.uint64(CENSUS) + np.uint64(spent[level])
                census[here] += exact
                census[here + np.uint64(MAX_BREAKS + 1)] += breaks
        back = True
        while True:
            with_break = _NONE
            word = some[level * _TWO]
            if word == _NONE:
                with_break = _ONE
                word = some[level * _TWO + _ONE]
                if word == _NONE:
                    break
            bit = word & (~word + _ONE)
            number = np.uint64(lowest_bit(word))
            turn = _take(sets, some, level, with_break, bit, number)
            turned = (number << _TWO) + turn
            after = spent[level] + np.int64(with_break)
            shown_right[level] = work.right[turned]
            shown_down[level] = work.down[turned]
            left = _left(plan, work, level, bit)
            if left == _NONE:
                continue
            if _unanswered(plan, work, plan.ahead, level, left, after):
                continue
            census[counted + level * np.uint64(CENSUS) + with_break * np.uint64(MAX_BREAKS) + np.uint64(after)] += 1
            nodes += 1
            if _unanswered(plan, work, plan.next, level, left, after):
                continue
            chosen[level] = np.int64((with_break << np.uint64(8)) + turned)
            level += _ONE
            free[level] = left
            spent[level] = after
            back = False
            break
        if back:
            continue
        if level == levels:
            status = REACHED
            break
        if nodes >= node_limit:
            status = BUDGET
            break
    scalars[0] = plan.begin + np.int64(level)
    scalars[1] = nodes
    return status


@flat_kernel
def lay(
    plan: EndPlan,
    work: EndWork,
    depth: int,
    cursor: Longs,
    words: Longs,
    gain: Longs,
    used: npt.NDArray[np.uint8],
    right: Longs,
    down: Longs,
) -> None:
    """Write what is laid up to ``depth`` where the kernel has its prefix, for the tail and for a saved state."""
    for level in range(depth - plan.begin):
        word = plan.word[work.oriented[work.chosen[level] & 255]]
        cursor[plan.begin + level] = work.chosen[level]
        words[plan.begin + level] = word
        used[word & PIECE_MASK] = 1
        right[plan.position[level]] = (word >> RIGHT_AT) & RIGHT_MASK
        down[plan.position[level]] = (word >> DOWN_AT) & DOWN_MASK
    gain[depth] = gain[plan.begin] - BREAK_COST * (work.spent[depth - plan.begin] - work.spent[0])


@flat_kernel
def lift(plan: EndPlan, depth: int, words: Longs, used: npt.NDArray[np.uint8]) -> None:
    """Take what ``lay`` laid off ``used`` again."""
    for level in range(depth - plan.begin):
        used[words[plan.begin + level] & PIECE_MASK] = 0


@flat_kernel
def number_again(plan: EndPlan, work: EndWork, pieces: Longs) -> bool:
    """Give the bits of a saved ``piece_at`` to work that gave none yet; False where it is not one."""
    if len(pieces) != MOST_PIECES:
        return False
    for bit, piece in enumerate(pieces):
        if not -1 <= piece < len(work.bit_of) or (piece >= 0 and work.bit_of[piece] >= 0):
            return False
        if piece >= 0:
            give(plan, work, piece, bit)
    return True


@flat_kernel
def lay_again(plan: EndPlan, work: EndWork, cursors: Longs) -> bool:
    """Go down by saved ``cursors``, one a level, behind what ``enter`` began; False where one chooses no candidate."""
    for i in range(len(cursors)):
        level = np.uint64(i)
        cursor = cursors[i]
        if not 0 <= cursor < 512:
            return False
        _open(plan, work, level)
        _narrow(plan, work, level)
        with_break, number, turn = np.uint64(cursor >> 8), np.uint64((cursor & 255) >> 2), np.uint64(cursor & 3)
        if with_break and work.spent[level] >= plan.allowed[level]:
            return False
        if not work.sets[level * _WORDS + with_break * _TURNS + turn] >> number & _ONE:
            return False
        if with_break:
            work.some[level * _TWO] = _NONE
        while True:  # take all that come before it, and it
            bit = work.some[level * _TWO + with_break]
            bit &= ~bit + _ONE
            at = np.uint64(lowest_bit(bit))
            taken = _take(work.sets, work.some, level, with_break, bit, at)
            if at == number and taken == turn:
                break
        turned = cursor & 255
        work.chosen[level] = cursor
        work.shown_right[level] = work.right[turned]
        work.shown_down[level] = work.down[turned]
        left = _left(plan, work, level, _ONE << number)
        if left == _NONE:
            return False
        work.free[level + _ONE] = left
        work.spent[level + _ONE] = work.spent[level] + (cursor >> 8)
    return True
