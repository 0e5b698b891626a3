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

from instances.puzzle import DOWN, LEFT, RIGHT, UP, IntArray, Puzzle
from lns.construct.candidates import first_of_equal_rotations, is_unclued_piece
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

    outside: npt.NDArray[np.int64]  # int64 (m, 2): padded position of the left and upper neighbour in the prefix, -1 =
    # none: a cell of the tail or the rim
    next_cell: npt.NDArray[np.int64]  # int64 (m, 2): tail cell on the right and below, m = none
    rim_pattern: npt.NDArray[np.int64]  # int64 (m,): of each cell
    clue: npt.NDArray[np.int64]  # int64 (m,): oriented piece of a clue on the cell, -1 = none
    is_first_rotation: npt.NDArray[np.uint8]  # uint8 (4n,): 0 for a rotation that looks like an earlier one
    quads: npt.NDArray[np.int64]  # int64 (4n, 4): colours of each oriented piece by side
    piece_rim_pattern: npt.NDArray[np.int64]  # int64 (4n,): of each oriented piece
    is_clue_piece: npt.NDArray[np.uint8]  # uint8 (n,): 1 for pieces of a clue anywhere
    colour_count: int  # number of colours, the rim's included


class TailWorkspace(NamedTuple):
    """Arrays that `solve_tail` works in; nothing is kept between calls. A set holds oriented pieces, by bits."""

    colour_sets: npt.NDArray[np.uint64]  # uint64 (2, colour_count): that show a colour on the left, on top
    legal: npt.NDArray[np.uint64]  # uint64 (m,): that a cell may take as far as the rim and clues are concerned
    known_colour: npt.NDArray[np.int64]  # int64 (m + 1, 2): colour shown to each cell from the left, from above
    oriented_of_bit: npt.NDArray[np.int64]  # int64 (64,)
    balance: npt.NDArray[np.int64]  # int64 (colour_count,): half-edges on free pieces minus those asked for
    candidates: npt.NDArray[np.uint64]  # uint64 (m + 1, 3): candidates still to try by depth and mismatches
    free: npt.NDArray[np.uint64]  # uint64 (m + 1,): free oriented pieces by depth
    mismatches: npt.NDArray[np.int64]  # int64 (m + 1,): spent before each depth
    deficit: npt.NDArray[np.int64]  # int64 (m + 1,): sum of the negative balances, as a positive number
    odd_colours: npt.NDArray[np.int64]  # int64 (m + 1,): number of colours with a positive, odd balance
    chosen_bit: npt.NDArray[np.int64]  # int64 (m + 1,): by depth
    found: npt.NDArray[np.int32]  # int32 (m,): oriented pieces of the best refill


def plan_tail(puzzle: Puzzle, order: IntArray, cut: int) -> tuple[TailPlan, TailWorkspace]:
    """Make the arrays for the tail ``order[cut:]``, at most MAX_TAIL cells; ``order``: int32 (cells,), by depth."""
    cells = order[cut:].tolist()
    count = len(cells)
    assert count <= MAX_TAIL
    number_of = {cell: i for i, cell in enumerate(cells)}
    clues = {clue.cell: clue.oriented for clue in puzzle.clues}
    width = puzzle.width
    outside = np.full((count, 2), -1, dtype=np.int64)
    next_cell = np.full((count, 2), count, dtype=np.int64)
    rim_pattern = np.zeros(count, dtype=np.int64)
    for i, (cell, position) in enumerate(zip(cells, padded_positions(order[cut:], width).tolist(), strict=True)):
        rim_sides = puzzle.rim_sides(cell)
        rim_pattern[i] = sum(on_rim << side for side, on_rim in enumerate(rim_sides))
        for column, (side, neighbour, step) in enumerate(((LEFT, cell - 1, 1), (UP, cell - width, width + 1))):
            if not rim_sides[side] and neighbour not in number_of:
                outside[i, column] = position - step
        for column, (side, neighbour) in enumerate(((RIGHT, cell + 1), (DOWN, cell + width))):
            if not rim_sides[side]:
                next_cell[i, column] = number_of[neighbour]
    quads = puzzle.oriented.astype(np.int64)
    plan = TailPlan(
        outside=outside,
        next_cell=next_cell,
        rim_pattern=rim_pattern,
        clue=np.array([clues.get(cell, -1) for cell in cells], dtype=np.int64),
        is_first_rotation=first_of_equal_rotations(puzzle.oriented).astype(np.uint8),
        quads=quads,
        piece_rim_pattern=((quads == 0) << np.arange(4)).sum(axis=1).astype(np.int64),
        is_clue_piece=(~is_unclued_piece(puzzle)).astype(np.uint8),
        colour_count=puzzle.colours + 1,
    )
    workspace = TailWorkspace(
        colour_sets=np.zeros((2, puzzle.colours + 1), dtype=np.uint64),
        legal=np.zeros(count, dtype=np.uint64),
        known_colour=np.zeros((count + 1, 2), dtype=np.int64),
        oriented_of_bit=np.zeros(64, dtype=np.int64),
        balance=np.zeros(puzzle.colours + 1, dtype=np.int64),
        candidates=np.zeros((count + 1, 3), dtype=np.uint64),
        free=np.zeros(count + 1, dtype=np.uint64),
        mismatches=np.zeros(count + 1, dtype=np.int64),
        deficit=np.zeros(count + 1, dtype=np.int64),
        odd_colours=np.zeros(count + 1, dtype=np.int64),
        chosen_bit=np.zeros(count + 1, dtype=np.int64),
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
        for side in range(4):
            work.balance[plan.quads[piece * 4, side]] += 1
        for rotation in range(4):
            oriented = piece * 4 + rotation
            bit = _ONE << bits
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
def _read_outside_colours(
    plan: TailPlan, work: TailWorkspace, right: npt.NDArray[np.int64], down: npt.NDArray[np.int64]
) -> None:
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
def _find_candidates(work: TailWorkspace, depth: int) -> None:
    """Find the candidates of the cell at ``depth`` with 0, 1 and 2 mismatches."""
    pool = work.free[depth] & work.legal[depth]
    left = work.colour_sets[0, work.known_colour[depth, 0]]
    up = work.colour_sets[1, work.known_colour[depth, 1]]
    work.candidates[depth, 0] = pool & left & up
    work.candidates[depth, 1] = pool & (left ^ up)
    work.candidates[depth, 2] = pool & ~(left | up)


@inline_flat_kernel
def _change_balance(balance: npt.NDArray[np.int64], colour: int, change: int) -> tuple[int, int]:
    """Add to one colour's balance; (change of the deficit, change of the number of odd colours)."""
    before = balance[colour]
    after = before + change
    balance[colour] = after
    deficit = max(np.int64(0), -after) - max(np.int64(0), -before)
    odd = np.int64(after > 0 and after & 1) - np.int64(before > 0 and before & 1)
    return deficit, odd


@inline_flat_kernel
def _place(plan: TailPlan, work: TailWorkspace, depth: int, oriented: int) -> tuple[int, int]:
    """Place an oriented piece: settle its left and upper joints, ask for those to the right and below.

    Returns (deficit, odd colours) after it.
    """
    deficit = work.deficit[depth]
    odd = work.odd_colours[depth]
    for column in range(2):
        known = work.known_colour[depth, column]
        shown = plan.quads[oriented, LEFT if column == 0 else UP]
        if known != shown:
            change = _change_balance(work.balance, known, 1)
            deficit += change[0]
            odd += change[1]
            change = _change_balance(work.balance, shown, -1)
            deficit += change[0]
            odd += change[1]
        following = plan.next_cell[depth, column]
        if following < len(plan.clue):
            colour = plan.quads[oriented, RIGHT if column == 0 else DOWN]
            work.known_colour[following, column] = colour
            change = _change_balance(work.balance, colour, -2)
            deficit += change[0]
            odd += change[1]
    return deficit, odd


@inline_flat_kernel
def _remove(plan: TailPlan, work: TailWorkspace, depth: int) -> None:
    """Undo what the piece at ``depth`` changed in the balances."""
    oriented = work.oriented_of_bit[work.chosen_bit[depth]]
    for column in range(2):
        known = work.known_colour[depth, column]
        shown = plan.quads[oriented, LEFT if column == 0 else UP]
        if known != shown:
            work.balance[known] -= 1
            work.balance[shown] += 1
        if plan.next_cell[depth, column] < len(plan.clue):
            work.balance[plan.quads[oriented, RIGHT if column == 0 else DOWN]] += 2


@flat_kernel
def solve_tail(
    plan: TailPlan,
    work: TailWorkspace,
    used: npt.NDArray[np.uint8],
    right: npt.NDArray[np.int64],
    down: npt.NDArray[np.int64],
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
    depth = 0
    entering = True
    candidates = work.candidates
    while True:
        if entering:
            _find_candidates(work, depth)
            entering = False
        most = min(2, allowed - work.mismatches[depth])  # mismatches of a candidate
        misses = 0
        while misses <= most and candidates[depth, misses] == _NONE:
            misses += 1
        if misses > most:
            if depth == 0:
                break
            depth -= 1
            _remove(plan, work, depth)
            continue
        if nodes >= node_limit:
            break
        pieces = candidates[depth, misses]
        candidates[depth, misses] = pieces & (pieces - _ONE)
        bit = np.uint64(lowest_bit(pieces))
        nodes += 1
        work.chosen_bit[depth] = np.int64(bit)
        deficit, odd = _place(plan, work, depth, work.oriented_of_bit[bit])
        mismatches = work.mismatches[depth] + misses
        if mismatches + _bound(deficit, odd) > allowed:
            _remove(plan, work, depth)
            continue
        if depth + 1 == cells:
            best = mismatches
            for i in range(cells):
                work.found[i] = work.oriented_of_bit[work.chosen_bit[i]]
            allowed = mismatches - 1
            _remove(plan, work, depth)
            if allowed < 0:
                break
            continue
        work.deficit[depth + 1] = deficit
        work.odd_colours[depth + 1] = odd
        work.mismatches[depth + 1] = mismatches
        work.free[depth + 1] = work.free[depth] & ~(_PIECE_BITS << (bit & ~np.uint64(3)))
        depth += 1
        entering = True
    return best, nodes
