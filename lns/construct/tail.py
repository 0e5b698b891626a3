"""The exact tail: the cells left by a prefix, filled with the fewest mismatches, thousands of times a second.

This is a special case of the region search (`lns.exact.region`) that is small enough for one machine word: at most 16
free pieces, so 64 oriented pieces, one bit each. A cell has four sets of candidates, with 0, 1, 2 and 3 mismatches.
The bound by colour balance (for each colour, half-edges on free pieces minus half-edges that placed pieces ask for) is
updated in constant time for each placement.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from lns.construct.candidates import Bitsets, CellClass, Int64Array, fitting_pieces, outside_positions
from lns.exact.kernels import allocate
from lns.exact.kernels.bits import lowest_bit
from lns.exact.kernels.jit import flat_kernel, inline_flat_kernel
from lns.instances.puzzle import DOWN, LEFT, RIGHT, UP, IntArray, Puzzle

NOT_FOUND = -1  # stands in place of the number of mismatches if no refill was found
_ONE = np.uint64(1)
_NONE = np.uint64(0)
_PIECE_BITS = np.uint64(15)  # the bits of the four rotations of the first piece


class TailPlan(NamedTuple):
    """Read-only inputs of `solve_tail` for n pieces. The m cells of the tail have indexes from 0 in the fill order.

    In arrays of two columns the first belongs to the left (or right) side, the second to the upper (or lower) side. A
    third column belongs to the right side of a cell whose right neighbour is in the prefix. Index m stands for no cell.
    """

    outside: Int64Array  # int64 (m, 3): padded positions of neighbours in the prefix, see `outside_positions`
    next_cell: Int64Array  # int64 (m, 2): index of the tail cell on the right and of that below, m = none
    # uint64 (4n,): for each oriented piece, set of the tail cells whose rim sides and clue it fits; of rotations that
    # look alike, all but the first have an empty set
    cells_of: Bitsets
    is_elsewhere: npt.NDArray[np.uint8]  # uint8 (n,): 1 for the piece of a clue outside the tail, else 0
    quads: Int64Array  # int64 (4n, 4): by oriented piece and side: the colour shown
    mate: Int64Array  # int64 (colour_count,): by the colour that a right or lower side shows: the colour printed on it
    parity: int  # bit mask for a number of odd colours: all bits 1 if every colour is its own mate, else 0
    colour_count: int  # number of colours, grey included


class TailWorkspace(NamedTuple):
    """Arrays that `solve_tail` works in; nothing is kept between calls. A set has one bit for each oriented piece."""

    colour_sets: Annotated[Bitsets, (3, "colour_count")]  # by side (left, top, right) and colour: pieces that show it
    legal: Annotated[Bitsets, "m"]  # by cell: set of the oriented pieces that fit the cell's rim sides and clue
    known_colour: Annotated[Int64Array, ("m + 1", 3)]  # colours shown to each cell from left, above, right; 0: rim
    oriented_of_bit: Annotated[Int64Array, 64]
    balance: Annotated[Int64Array, "colour_count"]  # by colour: half-edges on free pieces, minus needs of open joints
    candidates: Annotated[Bitsets, ("m + 1", 4)]  # by depth and mismatches: set of candidates still to try
    free: Annotated[Bitsets, "m + 1"]  # by depth: set of the oriented pieces of free pieces
    mismatches: Annotated[Int64Array, "m + 1"]  # by depth: number of mismatches spent before it
    deficit: Annotated[Int64Array, "m + 1"]  # by depth: minus the sum of all negative balances
    odd_colours: Annotated[Int64Array, "m + 1"]  # by depth: number of colours with a positive, odd balance
    chosen_bit: Annotated[Int64Array, "m + 1"]  # by depth: bit index of the oriented piece placed
    found: Annotated[IntArray, "m"]  # by cell of the tail: oriented piece of the best refill


def plan_tail(puzzle: Puzzle, order: IntArray, cut: int) -> tuple[TailPlan, TailWorkspace]:
    """Make the arrays for the exact tail on the cells ``order[cut:]``, at most 16; ``order``: cells by depth."""
    cells = order[cut:].tolist()
    count, colour_count = len(cells), puzzle.colours + 1
    number_of = {cell: i for i, cell in enumerate(cells)}
    clues = {clue.cell: clue.oriented for clue in puzzle.clues}
    elsewhere = [clue.piece for clue in puzzle.clues if clue.cell not in number_of]
    cells_of = np.zeros(4 * puzzle.cells, dtype=np.uint64)
    next_cell = np.full((count, 2), count, dtype=np.int64)
    for i, cell in enumerate(cells):
        rim_sides = puzzle.rim_sides(cell)
        cells_of[fitting_pieces(puzzle, CellClass(rim_sides, clue=clues.get(cell, -1)))[0]] |= np.uint64(1 << i)
        for column, (side, neighbour) in enumerate(((RIGHT, cell + 1), (DOWN, cell + puzzle.width))):
            if not rim_sides[side]:
                next_cell[i, column] = number_of.get(neighbour, count)
    plan = TailPlan(
        outside=outside_positions(puzzle, order, cut, len(order)),
        next_cell=next_cell,
        cells_of=cells_of,
        is_elsewhere=np.isin(np.arange(puzzle.cells), elsewhere).astype(np.uint8),
        quads=puzzle.oriented.astype(np.int64),
        mate=puzzle.mate.astype(np.int64),
        parity=0 if puzzle.mates else -1,
        colour_count=colour_count,
    )
    return plan, allocate(TailWorkspace, {"m": count, "m + 1": count + 1, "colour_count": colour_count})


@inline_flat_kernel
def _set_up(
    plan: TailPlan, work: TailWorkspace, used: npt.NDArray[np.uint8], right: Int64Array, down: Int64Array
) -> np.uint64:
    """Give each free piece four bits, fill the sets and compute the colour balance; return the number of bits given."""
    work.colour_sets[:] = 0
    work.legal[:] = 0
    work.balance[:] = 0
    bits = np.uint64(0)
    for piece in range(len(used) - 1):
        if used[piece] or plan.is_elsewhere[piece]:
            continue
        for oriented in range(piece * 4, piece * 4 + 4):
            bit, left, up = _ONE << bits, plan.quads[oriented, LEFT], plan.quads[oriented, UP]
            work.balance[up] += 1
            work.oriented_of_bit[bits] = oriented
            bits += _ONE
            cells = plan.cells_of[oriented]
            while cells != _NONE:
                work.legal[np.uint64(lowest_bit(cells))] |= bit
                cells &= cells - _ONE
            work.colour_sets[0, left] |= bit
            work.colour_sets[1, up] |= bit
            work.colour_sets[2, plan.quads[oriented, RIGHT]] |= bit
    for i in range(len(plan.outside)):
        for column in range(3):
            position = plan.outside[i, column]
            if position >= 0:
                colour = down[position] if column == 1 else right[position] // plan.colour_count
                work.known_colour[i, column] = colour
                work.balance[colour] -= 1
    work.balance[0] = work.deficit[0] = work.odd_colours[0] = 0
    for colour in range(1, plan.colour_count):
        work.deficit[0] += max(np.int64(0), -work.balance[colour])
        work.odd_colours[0] += np.int64(work.balance[colour] > 0 and work.balance[colour] & 1)
    return bits


@inline_flat_kernel
def _bound(deficit: int, odd_colours: int) -> int:
    """Return the number of mismatches that the colour balance makes unavoidable, at least one per missing half-edge.

    Each colour with a positive, odd balance leaves one half-edge over. A mismatch at a missing half-edge uses up one of
    these leftovers, any other mismatch uses up two.
    """
    return deficit + max(0, (odd_colours - deficit + 1) >> 1)


@inline_flat_kernel
def _change_balance(balance: Int64Array, colour: int, change: int) -> tuple[int, int]:
    """Add ``change`` to a colour's balance; return the changes of the deficit and of the number of odd colours."""
    before = balance[colour]
    after = before + change
    balance[colour] = after
    deficit = max(np.int64(0), -after) - max(np.int64(0), -before)
    odd = np.int64(after > 0 and after & 1) - np.int64(before > 0 and before & 1)
    return deficit, odd


@inline_flat_kernel
def _settle(work: TailWorkspace, known: int, shown: int, sign: int) -> tuple[int, int]:
    """Update the balance for a joint that is now filled: drop its need for ``known``, spend a half-edge of ``shown``.

    ``known`` and ``shown`` are colours; ``sign`` is 1, or -1 to undo the update. Returns (change of the deficit, change
    of the number of odd colours).
    """
    if known == shown:
        return 0, 0
    settled, spent = _change_balance(work.balance, known, sign), _change_balance(work.balance, shown, -sign)
    return settled[0] + spent[0], settled[1] + spent[1]


@inline_flat_kernel
def _place(plan: TailPlan, work: TailWorkspace, depth: int, sign: int) -> tuple[int, int]:
    """Place the piece chosen at ``depth``: settle its joints with filled cells, add the needs of its open joints.

    If ``sign`` is -1 instead of 1, remove the piece. Returns (change of the deficit, change of the number of odd
    colours).
    """
    oriented = work.oriented_of_bit[work.chosen_bit[depth]]
    deficit = odd = 0
    if plan.outside[depth, 2] >= 0:
        deficit, odd = _settle(work, work.known_colour[depth, 2], plan.quads[oriented, RIGHT], sign)
    for column in range(2):
        settled = _settle(
            work, work.known_colour[depth, column], plan.quads[oriented, LEFT if column == 0 else UP], sign
        )
        deficit += settled[0]
        odd += settled[1]
        following = plan.next_cell[depth, column]
        if following < len(plan.outside):
            colour = plan.quads[oriented, RIGHT if column == 0 else DOWN]
            work.known_colour[following, column] = colour
            asked = _change_balance(work.balance, colour, -sign)
            used = _change_balance(work.balance, plan.mate[colour], -sign)
            deficit += asked[0] + used[0]
            odd += asked[1] + used[1]
    return deficit, odd


@flat_kernel
def solve_tail(
    plan: TailPlan,
    work: TailWorkspace,
    used: npt.NDArray[np.uint8],
    right: Int64Array,
    down: Int64Array,
    allowed: int,
    node_limit: int,
) -> tuple[int, int]:
    """Fill the tail with as few mismatches as possible, at most ``allowed``, in at most ``node_limit`` placements.

    ``used``, ``right``, ``down``: the prefix, as in `endgame_plan.PrefixState`. Returns (mismatches of the refill in
    ``work.found``, or NOT_FOUND if no refill was found within the limits; number of placements made).
    """
    cells = len(plan.outside)
    bits = _set_up(plan, work, used, right, down)
    best = NOT_FOUND
    nodes = 0
    if _bound(work.deficit[0], work.odd_colours[0] & plan.parity) > allowed:
        return best, nodes
    work.mismatches[0] = 0
    work.free[0] = ~_NONE if bits >= 64 else (_ONE << bits) - _ONE
    depth, entering = 0, True
    candidates = work.candidates
    while True:
        if entering:  # make the sets of candidates of this depth with 0, 1, 2 and 3 mismatches
            pool = work.free[depth] & work.legal[depth]
            left = work.colour_sets[0, work.known_colour[depth, 0]]
            up = work.colour_sets[1, work.known_colour[depth, 1]]
            all_match, one_differs, both_differ = pool & left & up, pool & (left ^ up), pool & ~(left | up)
            right_matches = ~_NONE if plan.outside[depth, 2] < 0 else work.colour_sets[2, work.known_colour[depth, 2]]
            candidates[depth, 0] = all_match & right_matches
            candidates[depth, 1] = (all_match & ~right_matches) | (one_differs & right_matches)
            candidates[depth, 2] = (one_differs & ~right_matches) | (both_differ & right_matches)
            candidates[depth, 3] = both_differ & ~right_matches
            entering = False
        most = min(3, allowed - work.mismatches[depth])  # most mismatches that a candidate may have here
        misses = 0
        while misses <= most and candidates[depth, misses] == _NONE:
            misses += 1
        if misses > most:
            if depth == 0:
                break
            depth -= 1
            _place(plan, work, depth, -1)
            continue
        if nodes >= node_limit:
            break
        pieces = candidates[depth, misses]
        candidates[depth, misses] = pieces & (pieces - _ONE)
        bit = np.uint64(lowest_bit(pieces))
        nodes += 1
        work.chosen_bit[depth] = np.int64(bit)
        change = _place(plan, work, depth, 1)
        deficit, odd = work.deficit[depth] + change[0], work.odd_colours[depth] + change[1]
        mismatches = work.mismatches[depth] + misses
        if mismatches + _bound(deficit, odd & plan.parity) > allowed:
            _place(plan, work, depth, -1)
        elif depth + 1 == cells:
            best, allowed = mismatches, mismatches - 1
            for i in range(cells):
                work.found[i] = work.oriented_of_bit[work.chosen_bit[i]]
            _place(plan, work, depth, -1)
            if allowed < 0:
                break
        else:
            work.deficit[depth + 1], work.odd_colours[depth + 1] = deficit, odd
            work.mismatches[depth + 1] = mismatches
            work.free[depth + 1] = work.free[depth] & ~(_PIECE_BITS << (bit & ~np.uint64(3)))
            depth, entering = depth + 1, True
    return best, nodes
