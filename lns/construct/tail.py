"""The exact tail: the last cells of a prefix, refilled with the fewest mismatches, thousands of times a second.

This is a special case of the region search (`exact.region`) that is small enough for one machine word: at most 16 free
pieces, so 64 oriented pieces, one bit each. The candidates of a cell with 0, 1 and 2 mismatches are three sets. The
bound by colour balance (for each colour, half-edges on free pieces minus those that placed pieces ask for) is updated
in constant time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from instances.puzzle import DOWN, GREY, LEFT, RIGHT, UP, IntArray, Puzzle
from lns.construct.candidates import Bitsets, Int64Array, first_of_equal_rotations, is_unclued_piece
from lns.construct.order import padded_positions
from lns_support.bits import lowest_bit
from lns_support.jit import flat_kernel, inline_flat_kernel

MAX_TAIL = 16
NOT_FOUND = -1  # mismatches where no refill was found
_ONE = np.uint64(1)
_NONE = np.uint64(0)
_PIECE_BITS = np.uint64(15)  # the four rotations of a piece


class TailPlan(NamedTuple):
    """Read-only inputs. Tail cells are numbered 0 to m-1 in the order in which they are filled; m = "no cell".

    A rim pattern is a number whose bit s is set if side s lies on the rim. In arrays of two columns the first belongs
    to the left (or right) side, the second to the upper (or lower) one.
    """

    outside: Int64Array  # int64 (m, 2): padded position of the left and upper neighbour in the prefix, -1 = none: a
    # cell of the tail or the rim
    next_cell: Int64Array  # int64 (m, 2): tail cell on the right and below, m = none
    rim_pattern: Int64Array  # int64 (m,): of each cell
    clue: Int64Array  # int64 (m,): oriented piece of a clue on the cell, -1 = none
    is_first_rotation: npt.NDArray[np.uint8]  # uint8 (4n,): 0 for a rotation that looks like an earlier one
    quads: Int64Array  # int64 (4n, 4): colours of each oriented piece by side
    piece_rim_pattern: Int64Array  # int64 (4n,): of each oriented piece
    is_clue_piece: npt.NDArray[np.uint8]  # uint8 (n,): 1 for pieces of a clue anywhere
    colour_count: int  # number of colours, the rim's included


class TailWorkspace(NamedTuple):
    """Arrays that `solve_tail` works in; nothing is kept between calls. A set holds oriented pieces, by bits."""

    colour_sets: Bitsets  # uint64 (2, colour_count): that show a colour on the left, on top
    legal: Bitsets  # uint64 (m,): that a cell may take as far as the rim and clues are concerned
    known_colour: Int64Array  # int64 (m + 1, 2): colour shown to each cell from the left, from above
    oriented_of_bit: Int64Array  # int64 (64,)
    balance: Int64Array  # int64 (colour_count,): half-edges on free pieces minus those asked for
    candidates: Bitsets  # uint64 (m + 1, 3): candidates still to try by depth and mismatches
    free: Bitsets  # uint64 (m + 1,): free oriented pieces by depth
    mismatches: Int64Array  # int64 (m + 1,): spent before each depth
    deficit: Int64Array  # int64 (m + 1,): sum of the negative balances, as a positive number
    odd_colours: Int64Array  # int64 (m + 1,): number of colours with a positive, odd balance
    chosen_bit: Int64Array  # int64 (m + 1,): by depth
    found: IntArray  # int32 (m,): oriented pieces of the best refill


def plan_tail(puzzle: Puzzle, order: IntArray, cut: int) -> tuple[TailPlan, TailWorkspace]:
    """Make the arrays for the tail ``order[cut:]``, at most MAX_TAIL cells; ``order``: int32 (cells,), by depth."""
    cells = order[cut:].tolist()
    count, width, colour_count = len(cells), puzzle.width, puzzle.colours + 1
    assert count <= MAX_TAIL
    number_of = {cell: i for i, cell in enumerate(cells)}
    clues = {clue.cell: clue.oriented for clue in puzzle.clues}
    outside = np.full((count, 2), -1, dtype=np.int64)
    next_cell = np.full((count, 2), count, dtype=np.int64)
    position = padded_positions(order[cut:], width)
    for i, cell in enumerate(cells):
        rim_sides = puzzle.rim_sides(cell)
        for column, (side, neighbour, step) in enumerate(((LEFT, cell - 1, 1), (UP, cell - width, width + 1))):
            if not rim_sides[side] and neighbour not in number_of:
                outside[i, column] = position[i] - step
        for column, (side, neighbour) in enumerate(((RIGHT, cell + 1), (DOWN, cell + width))):
            if not rim_sides[side]:
                next_cell[i, column] = number_of[neighbour]
    quads = puzzle.oriented.astype(np.int64)
    rim_sides_of_cells = np.array([puzzle.rim_sides(cell) for cell in cells], dtype=np.int64).reshape(-1, 4)
    plan = TailPlan(
        outside=outside,
        next_cell=next_cell,
        rim_pattern=(rim_sides_of_cells << np.arange(4)).sum(axis=1),
        clue=np.array([clues.get(cell, -1) for cell in cells], dtype=np.int64),
        is_first_rotation=first_of_equal_rotations(puzzle.oriented).astype(np.uint8),
        quads=quads,
        piece_rim_pattern=((quads == GREY) << np.arange(4)).sum(axis=1).astype(np.int64),
        is_clue_piece=(~is_unclued_piece(puzzle)).astype(np.uint8),
        colour_count=colour_count,
    )
    by_depth = count + 1
    workspace = TailWorkspace(
        colour_sets=np.zeros((2, colour_count), dtype=np.uint64),
        legal=np.zeros(count, dtype=np.uint64),
        known_colour=np.zeros((by_depth, 2), dtype=np.int64),
        oriented_of_bit=np.zeros(64, dtype=np.int64),
        balance=np.zeros(colour_count, dtype=np.int64),
        candidates=np.zeros((by_depth, 3), dtype=np.uint64),
        free=np.zeros(by_depth, dtype=np.uint64),
        mismatches=np.zeros(by_depth, dtype=np.int64),
        deficit=np.zeros(by_depth, dtype=np.int64),
        odd_colours=np.zeros(by_depth, dtype=np.int64),
        chosen_bit=np.zeros(by_depth, dtype=np.int64),
        found=np.zeros(count, dtype=np.int32),
    )
    return plan, workspace


@inline_flat_kernel
def _collect_free_pieces(plan: TailPlan, work: TailWorkspace, used: npt.NDArray[np.uint8]) -> np.uint64:
    """Give each free piece four bits and put it into the sets; count its half-edges. Returns the number of bits."""
    work.colour_sets[:] = 0
    work.legal[:] = 0
    work.balance[:] = 0
    cells, bits = len(plan.clue), np.uint64(0)
    for piece in range(len(used) - 1):
        if used[piece]:
            continue
        clue_cell = -1
        if plan.is_clue_piece[piece]:
            for i in range(cells):
                if plan.clue[i] >> 2 == piece:
                    clue_cell = i
            if clue_cell < 0:
                continue  # it is on a clue cell of the prefix
        for rotation in range(4):
            oriented, bit = piece * 4 + rotation, _ONE << bits
            work.balance[plan.quads[oriented, UP]] += 1
            work.oriented_of_bit[bits] = oriented
            bits += _ONE
            if clue_cell >= 0:
                if plan.clue[clue_cell] == oriented:
                    work.legal[clue_cell] |= bit
            elif plan.is_first_rotation[oriented]:
                for i in range(cells):
                    if plan.clue[i] < 0 and plan.rim_pattern[i] == plan.piece_rim_pattern[oriented]:
                        work.legal[i] |= bit
            work.colour_sets[0, plan.quads[oriented, LEFT]] |= bit
            work.colour_sets[1, plan.quads[oriented, UP]] |= bit
    return bits


@inline_flat_kernel
def _read_outside_colours(plan: TailPlan, work: TailWorkspace, right: Int64Array, down: Int64Array) -> None:
    """Note the colours that the prefix and the rim show to the tail, and count the half-edges that they ask for."""
    for i in range(len(plan.clue)):
        for column in range(2):
            position = plan.outside[i, column]
            if position >= 0:
                colour = right[position] // plan.colour_count if column == 0 else down[position]
                work.known_colour[i, column] = colour
                work.balance[colour] -= 1
            elif plan.rim_pattern[i] & (1 << (LEFT if column == 0 else UP)):
                work.known_colour[i, column] = 0
    work.balance[0] = 0
    work.deficit[0] = 0
    work.odd_colours[0] = 0
    for colour in range(1, plan.colour_count):
        work.deficit[0] += max(np.int64(0), -work.balance[colour])
        work.odd_colours[0] += np.int64(work.balance[colour] > 0 and work.balance[colour] & 1)


@inline_flat_kernel
def _bound(deficit: int, odd_colours: int) -> int:
    """Mismatches that the colour balance makes unavoidable.

    Each missing half-edge costs one. Half-edges match in pairs of a colour, so of each colour with an odd surplus one
    is left over: the mismatch of a missing half-edge takes up one of these, any other mismatch two.
    """
    return deficit + max(0, (odd_colours - deficit + 1) >> 1)


@inline_flat_kernel
def _change_balance(balance: Int64Array, colour: int, change: int) -> tuple[int, int]:
    """Add to one colour's balance; (change of the deficit, change of the number of odd colours)."""
    before = balance[colour]
    after = before + change
    balance[colour] = after
    deficit = max(np.int64(0), -after) - max(np.int64(0), -before)
    odd = np.int64(after > 0 and after & 1) - np.int64(before > 0 and before & 1)
    return deficit, odd


@inline_flat_kernel
def _place(plan: TailPlan, work: TailWorkspace, depth: int, sign: int) -> tuple[int, int]:
    """Place the piece chosen at ``depth``: settle its left and upper joints, ask for those to the right and below.

    A ``sign`` of -1 instead of 1 removes it. Returns (change of the deficit, change of the number of odd colours).
    """
    oriented = work.oriented_of_bit[work.chosen_bit[depth]]
    deficit = odd = 0
    for column in range(2):
        known = work.known_colour[depth, column]
        shown = plan.quads[oriented, LEFT if column == 0 else UP]
        if known != shown:
            settled = _change_balance(work.balance, known, sign)
            spent = _change_balance(work.balance, shown, -sign)
            deficit += settled[0] + spent[0]
            odd += settled[1] + spent[1]
        following = plan.next_cell[depth, column]
        if following < len(plan.clue):
            colour = plan.quads[oriented, RIGHT if column == 0 else DOWN]
            work.known_colour[following, column] = colour
            asked = _change_balance(work.balance, colour, -2 * sign)
            deficit += asked[0]
            odd += asked[1]
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
    """Refill the tail with as few mismatches as possible.

    Parameters
    ----------
    used, right, down
        The prefix, as in `kernel.PrefixState`.
    allowed : int
        The most mismatches of a refill.
    node_limit : int
        The most placements.

    Returns
    -------
    mismatches : int
        Of the refill in ``work.found``; NOT_FOUND if none was found within the limits.
    nodes : int
        Placements made.
    """
    cells = len(plan.clue)
    bits = _collect_free_pieces(plan, work, used)
    _read_outside_colours(plan, work, right, down)
    best = NOT_FOUND
    nodes = 0
    if _bound(work.deficit[0], work.odd_colours[0]) > allowed:
        return best, nodes
    work.mismatches[0] = 0
    work.free[0] = ~_NONE if bits >= 64 else (_ONE << bits) - _ONE
    depth, entering = 0, True
    candidates = work.candidates
    while True:
        if entering:  # its candidates with 0, 1 and 2 mismatches
            pool = work.free[depth] & work.legal[depth]
            left = work.colour_sets[0, work.known_colour[depth, 0]]
            up = work.colour_sets[1, work.known_colour[depth, 1]]
            candidates[depth, 0] = pool & left & up
            candidates[depth, 1] = pool & (left ^ up)
            candidates[depth, 2] = pool & ~(left | up)
            entering = False
        most = min(2, allowed - work.mismatches[depth])  # mismatches of a candidate
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
        if mismatches + _bound(deficit, odd) > allowed:
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
