"""The exact tail: the last cells of a prefix, refilled with the fewest mismatches, thousands of times a second.

A special case of the region re-solve small enough for one machine word: at most 16 pieces, so 64 oriented pieces, one
bit each. The candidates of a cell with 0, 1 or 2 mismatches are three words, the bound by colour balance is kept up to
date in constant time (for each colour, half-edges on free pieces minus those asked for by what is placed).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from instances.puzzle import IntArray, Puzzle
from lns.construct.candidate_tables import first_of_equal_rotations
from lns.construct.order import padded
from lns_support.bits import lowest_bit
from lns_support.jit import flat_kernel, inline_flat_kernel

MAX_TAIL = 16
_ONE = np.uint64(1)
_NONE = np.uint64(0)


class TailPlan(NamedTuple):
    """What stays. Cells are numbered 0..m-1 in their order; m stands for "no cell".

    ``outside``: int64 (m, 2) padded positions whose colour is the left and the upper side, -1 = a cell of the tail or
    the rim shows it. ``next``: int64 (m, 2) cells on the right and below. ``grey``: int64 (m,) pattern of grey sides
    (bit s = side s). ``clue``: int64 (m,) oriented piece, -1 = none. ``first``: uint8 (4n,) 0 for a rotation that looks
    like an earlier one. ``quads``: int64 (4n, 4). ``pattern``: int64 (4n,) grey sides of each oriented piece.
    ``clue_piece``: uint8 (n,) 1 for pieces bound to a clue anywhere.
    """

    outside: npt.NDArray[np.int64]
    next: npt.NDArray[np.int64]
    grey: npt.NDArray[np.int64]
    clue: npt.NDArray[np.int64]
    first: npt.NDArray[np.uint8]
    quads: npt.NDArray[np.int64]
    pattern: npt.NDArray[np.int64]
    clue_piece: npt.NDArray[np.uint8]
    colours1: int


class TailWork(NamedTuple):
    """Room to work in, no state between calls. ``found``: int32 (m,) oriented pieces of the best refill."""

    showing: npt.NDArray[np.uint64]  # (2, colours1) oriented pieces with this colour on the left, on top
    legal: npt.NDArray[np.uint64]  # (m,) oriented pieces that keep the rim on this cell
    known: npt.NDArray[np.int64]  # (m+1, 2) colour on the left and on top of each cell
    oriented: npt.NDArray[np.int64]  # (64,) oriented piece of each bit
    balance: npt.NDArray[np.int64]  # (colours1,) half-edges on free pieces minus those asked for
    candidates: npt.NDArray[np.uint64]  # (m, 3) still to try, by mismatches
    free: npt.NDArray[np.uint64]  # (m+1,) bits of free pieces
    spent: npt.NDArray[np.int64]  # (m+1,)
    lacking: npt.NDArray[np.int64]  # (m+1,) sum of the negative balances
    odd: npt.NDArray[np.int64]  # (m+1,) number of positive odd balances
    bit: npt.NDArray[np.int64]  # (m,) bit chosen
    found: npt.NDArray[np.int32]


def plan_tail(puzzle: Puzzle, order: IntArray, cut: int) -> tuple[TailPlan, TailWork]:
    """For the cells ``order[cut:]``, at most MAX_TAIL of them."""
    cells = order[cut:].tolist()
    count = len(cells)
    assert count <= MAX_TAIL
    number = {cell: i for i, cell in enumerate(cells)}
    clues = {clue.cell: clue.piece * 4 + clue.rotation for clue in puzzle.clues}
    width = puzzle.width + 1
    outside = np.full((count, 2), -1, dtype=np.int64)
    following = np.full((count, 2), count, dtype=np.int64)
    grey = np.zeros(count, dtype=np.int64)
    for i, (cell, position) in enumerate(zip(cells, padded(order[cut:], puzzle.width).tolist(), strict=True)):
        sides = puzzle.rim_sides(cell)
        grey[i] = sum(side << s for s, side in enumerate(sides))
        for which, (side, other, place) in enumerate(
            ((3, cell - 1, position - 1), (0, cell - puzzle.width, position - width))
        ):
            if not sides[side] and other not in number:
                outside[i, which] = place
        for which, (side, other) in enumerate(((1, cell + 1), (2, cell + puzzle.width))):
            if not sides[side]:
                following[i, which] = number[other]
    quads = puzzle.oriented.astype(np.int64)
    bound = np.zeros(puzzle.cells, dtype=np.uint8)
    bound[[clue.piece for clue in puzzle.clues]] = 1
    plan = TailPlan(
        outside,
        following,
        grey,
        np.array([clues.get(cell, -1) for cell in cells], dtype=np.int64),
        first_of_equal_rotations(puzzle.oriented).astype(np.uint8),
        quads,
        ((quads == 0) << np.arange(4)).sum(axis=1).astype(np.int64),
        bound,
        puzzle.colours + 1,
    )
    work = TailWork(
        np.zeros((2, puzzle.colours + 1), dtype=np.uint64),
        np.zeros(count, dtype=np.uint64),
        np.zeros((count + 1, 2), dtype=np.int64),
        np.zeros(64, dtype=np.int64),
        np.zeros(puzzle.colours + 1, dtype=np.int64),
        np.zeros((count + 1, 3), dtype=np.uint64),
        np.zeros(count + 1, dtype=np.uint64),
        *(np.zeros(count + 1, dtype=np.int64) for _ in range(4)),
        np.zeros(count, dtype=np.int32),
    )
    return plan, work


@inline_flat_kernel
def _shift(balance: npt.NDArray[np.int64], colour: int, change: int) -> tuple[int, int]:
    """Add to one colour's balance; (change of what is lacking, change of the number of positive odd balances)."""
    before = balance[colour]
    after = before + change
    balance[colour] = after
    lacking = max(np.int64(0), -after) - max(np.int64(0), -before)
    odd = np.int64(after > 0 and after & 1) - np.int64(before > 0 and before & 1)
    return lacking, odd


@flat_kernel
def solve_tail(
    plan: TailPlan,
    work: TailWork,
    used: npt.NDArray[np.uint8],
    right: npt.NDArray[np.int64],
    down: npt.NDArray[np.int64],
    allowed: int,
    node_limit: int,
) -> tuple[int, int]:
    """Refill the tail with at most ``allowed`` mismatches, as few as possible, within ``node_limit`` nodes.

    ``used``, ``right``, ``down``: the prefix (``right`` holds colours times colours1). Returns (mismatches, nodes);
    mismatches is -1 when there is no such refill or none was found in time; otherwise ``work.found`` holds it.
    """
    count = len(plan.grey)
    colours1 = plan.colours1
    showing, legal, known, balance = work.showing, work.legal, work.known, work.balance
    candidates, free, spent, lacking, odd = work.candidates, work.free, work.spent, work.lacking, work.odd
    nxt, quads, oriented_of, bit_at = plan.next, plan.quads, work.oriented, work.bit

    showing[:] = 0
    legal[:] = 0
    balance[:] = 0
    bits = np.uint64(0)
    for piece in range(len(used) - 1):
        if used[piece]:
            continue
        here = -1  # the tail cell of this piece's clue
        if plan.clue_piece[piece]:
            for i in range(count):
                if plan.clue[i] >> 2 == piece:
                    here = i
            if here < 0:
                continue  # it lies on a clue cell outside
        for side in range(4):
            balance[quads[piece * 4, side]] += 1
        for rotation in range(4):
            oriented = piece * 4 + rotation
            one = _ONE << bits
            oriented_of[bits] = oriented
            bits += _ONE
            if plan.first[oriented] or here >= 0:
                for i in range(count):
                    if here < 0 and plan.clue[i] < 0 and plan.grey[i] == plan.pattern[oriented]:
                        legal[i] |= one
                if here >= 0 and plan.clue[here] == oriented:
                    legal[here] |= one
            showing[0, quads[oriented, 3]] |= one
            showing[1, quads[oriented, 0]] |= one
    for i in range(count):
        for which in range(2):
            place = plan.outside[i, which]
            if place >= 0:
                colour = right[place] // colours1 if which == 0 else down[place]
                known[i, which] = colour
                balance[colour] -= 1
            elif plan.grey[i] & (8 if which == 0 else 1):
                known[i, which] = 0
    balance[0] = 0
    lacking[0] = 0
    odd[0] = 0
    for colour in range(1, colours1):
        lacking[0] += max(np.int64(0), -balance[colour])
        odd[0] += np.int64(balance[colour] > 0 and balance[colour] & 1)

    best = -1
    nodes = 0
    spent[0] = 0
    if lacking[0] + max(np.int64(0), (odd[0] - lacking[0] + 1) >> 1) > allowed:
        return best, nodes
    free[0] = ~_NONE if bits >= 64 else (_ONE << bits) - _ONE
    depth = 0
    entering = True
    while True:
        if entering:
            pool = free[depth] & legal[depth]
            left = showing[0, known[depth, 0]]
            top = showing[1, known[depth, 1]]
            candidates[depth, 0] = pool & left & top
            candidates[depth, 1] = pool & (left ^ top)
            candidates[depth, 2] = pool & ~(left | top)
            entering = False
        room = allowed - spent[depth]
        misses = 0
        while misses < 3 and misses <= room and candidates[depth, misses] == _NONE:
            misses += 1
        if misses == 3 or misses > room:
            if depth == 0:
                break
            depth -= 1
            _undo(plan, work, depth)
            continue
        if nodes >= node_limit:
            break
        word = candidates[depth, misses]
        candidates[depth, misses] = word & (word - _ONE)
        bit = np.uint64(lowest_bit(word))
        oriented = oriented_of[bit]
        nodes += 1
        # the joints to the left and on top are settled, those to the right and below are asked for now
        d_lacking = lacking[depth]
        d_odd = odd[depth]
        for which in range(2):
            asked = known[depth, which]
            shown = quads[oriented, 3 if which == 0 else 0]
            if asked != shown:
                change = _shift(balance, asked, 1)
                d_lacking += change[0]
                d_odd += change[1]
                change = _shift(balance, shown, -1)
                d_lacking += change[0]
                d_odd += change[1]
            following = nxt[depth, which]
            if following < count:
                colour = quads[oriented, 1 if which == 0 else 2]
                known[following, which] = colour
                change = _shift(balance, colour, -2)
                d_lacking += change[0]
                d_odd += change[1]
        bit_at[depth] = np.int64(bit)
        total = spent[depth] + misses
        if total + d_lacking + max(np.int64(0), (d_odd - d_lacking + 1) >> 1) > allowed:
            _undo(plan, work, depth)
            continue
        if depth + 1 == count:
            best = total
            for i in range(count):
                work.found[i] = oriented_of[bit_at[i]]
            allowed = total - 1
            _undo(plan, work, depth)
            if allowed < 0:
                break
            continue
        lacking[depth + 1] = d_lacking
        odd[depth + 1] = d_odd
        spent[depth + 1] = total
        free[depth + 1] = free[depth] & ~(np.uint64(15) << (bit & ~np.uint64(3)))
        depth += 1
        entering = True
    return best, nodes


@inline_flat_kernel
def _undo(plan: TailPlan, work: TailWork, depth: int) -> None:
    """Give back what the piece on ``depth`` changed in the balances."""
    oriented = work.oriented[work.bit[depth]]
    count = len(plan.grey)
    for which in range(2):
        asked = work.known[depth, which]
        shown = plan.quads[oriented, 3 if which == 0 else 0]
        if asked != shown:
            work.balance[asked] -= 1
            work.balance[shown] += 1
        if plan.next[depth, which] < count:
            work.balance[plan.quads[oriented, 1 if which == 0 else 2]] += 2
