"""Border completion: rim pieces that the last cells of the rim need are reserved for them.

Cells of the rim never mismatch each other before the exact tail. Behind a prefix the free pieces of the rim must
therefore form a path: along the bottom, round the last corner and up to the lowest piece of the right side that is
placed (the *anchor*). The comb order fills the *last stretch* of this path, from the anchor down and round the corner,
only when most rim pieces are used. So all sets of pieces that fill the stretch with matching joints (*closings*) are
listed once. Each rim piece placed elsewhere rules out the closings that need it. A piece after which none is left is
refused, and pieces that all closings left have in common are reserved.

A rim piece connects the colours of its two joints, and since all joints before matched, each colour is left as often as
it is entered. So a path of all free rim pieces exists only if they are connected with each other and with the rim
placed so far (Euler 1736; corners may still forbid it). A piece after which they are not connected is refused, too.

Boards whose rim would mismatch within the exact tail only are lost. They are fewer than the boards that the saved nodes
find (docs/ladder.md).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from instances.puzzle import DOWN, LEFT, RIGHT, UP, IntArray, Puzzle
from lns.construct.candidates import Bitsets, Int64Array
from lns.construct.order import padded_positions
from lns_support.bits import lowest_bit
from lns_support.jit import flat_kernel, inline_flat_kernel

MAX_CLOSINGS = 256
NO_RULE, ANCHOR, RESERVE, RELEASE = range(4)  # `ClosingPlan.rule`
COUNT, ANCHOR_COLOUR, FIRST, SCALARS = range(4)  # indexes of ``ClosingState.scalars``, and their number
NOT_LISTED = -1  # COUNT before the closings are listed
_NONE, _ONE, _ALL = np.uint64(0), np.uint64(1), ~np.uint64(0)


class ClosingPlan(NamedTuple):
    """Read-only inputs. A *near* colour points along the rim towards the anchor, a *far* colour away from it."""

    rule: Int64Array  # int64 (levels,): NO_RULE; ANCHOR on the anchor's cell; RESERVE on rim cells behind the anchor
    # that are not of the last stretch; RELEASE on the last of these, behind which nothing is reserved
    row: Int64Array  # int64 (levels,): how many cells with RESERVE or RELEASE come before
    rim_colours: Int64Array  # int64: colours whose connection is checked; none where the exact tail has rim cells
    # before the stretch, which may mismatch
    is_corner: npt.NDArray[np.uint8]  # uint8 (cells of the stretch,): from the anchor on, 1 on corners
    near_index: Int64Array  # int64 (pieces,): index of a rim piece's set in ClosingState.near_sets, -1 = none
    far_colour: Int64Array  # int64 (pieces,): -1 = not a rim piece
    anchor_level: int  # -1 = the anchor is placed before the endgame
    anchor_position: int  # padded position of the anchor in that case, else -1
    release_level: int  # level of RELEASE, -1 = there are no rules


class ClosingState(NamedTuple):
    """Sets of rim pieces, by their bits in the endgame, and the closings of the current prefix."""

    near_sets: Bitsets  # uint64 (2 colour_count,): edge pieces, then corner pieces, by near colour
    far_colour: Int64Array  # int64 (64,): by bit
    colour_sets: Bitsets  # uint64 (colour_count,): rim pieces with this colour at either end
    rim_pieces: Bitsets  # uint64 (1,): all rim pieces
    closings: Bitsets  # uint64 (2 MAX_CLOSINGS,): pieces of each closing; in two halves, as longer ones are made of
    # shorter ones
    end_colour: Int64Array  # int64 (2 MAX_CLOSINGS,): far colour of each closing's last piece
    reserved: Bitsets  # uint64 (rows + 1,): pieces reserved before each row
    scalars: Int64Array  # int64 (SCALARS,): COUNT of closings, ANCHOR_COLOUR below the anchor, FIRST closing's index


def plan_closing(puzzle: Puzzle, order: IntArray, start: int, cut: int) -> tuple[ClosingPlan, ClosingState]:
    """Make the arrays for an endgame from depth ``start`` to ``cut`` of ``order``, int32 (cells,).

    There are no rules (all NO_RULE) if the order leaves no stretch of the rim for the end, if a clue lies on the rim
    behind the anchor, or if the colours of the rim pieces do not pair up, so that the rim cannot be completed at all.
    """
    colour_count = puzzle.colours + 1
    near_colour, far_colour = _rim_colours(puzzle)
    rule, row = (np.zeros(max(0, cut - start), dtype=np.int64) for _ in range(2))
    stretch, reserving, tail = (
        _stretch(puzzle, order, start, cut) if _pair_up(near_colour, far_colour) else ([], [], [])
    )
    anchor_level = anchor_position = release_level = -1
    if stretch:
        depth_of = {cell: depth for depth, cell in enumerate(order.tolist())}
        for number, cell in enumerate(reserving):
            rule[depth_of[cell] - start], row[depth_of[cell] - start] = RESERVE, number
        release_level = depth_of[reserving[-1]] - start
        rule[release_level] = RELEASE
        anchor = stretch[0] - puzzle.width
        anchor_level = max(depth_of[anchor] - start, -1)
        if anchor_level >= 0:
            rule[anchor_level] = ANCHOR
        else:
            anchor_position = int(padded_positions(np.array([anchor]), puzzle.width)[0])
    is_corner_piece = (puzzle.pieces == 0).sum(axis=1) == 2
    near_index = np.where(near_colour >= 0, near_colour + colour_count * is_corner_piece, -1)
    near_index[[clue.piece for clue in puzzle.clues]] = -1
    plan = ClosingPlan(
        rule=rule,
        row=row,
        rim_colours=np.unique(far_colour[far_colour >= 0]) if not tail else np.zeros(0, dtype=np.int64),
        is_corner=np.array([cell == puzzle.cells - 1 for cell in stretch], dtype=np.uint8),
        near_index=near_index,
        far_colour=far_colour,
        anchor_level=anchor_level,
        anchor_position=anchor_position,
        release_level=release_level,
    )
    state = ClosingState(
        near_sets=np.zeros(2 * colour_count, dtype=np.uint64),
        far_colour=np.zeros(64, dtype=np.int64),
        colour_sets=np.zeros(colour_count, dtype=np.uint64),
        rim_pieces=np.zeros(1, dtype=np.uint64),
        closings=np.zeros(2 * MAX_CLOSINGS, dtype=np.uint64),
        end_colour=np.zeros(2 * MAX_CLOSINGS, dtype=np.int64),
        reserved=np.zeros(len(reserving) + 1, dtype=np.uint64),
        scalars=np.zeros(SCALARS, dtype=np.int64),
    )
    return plan, state


def _rim_colours(puzzle: Puzzle) -> tuple[Int64Array, Int64Array]:
    """(near colour, far colour) of each rim piece, both int64 (pieces,), -1 = not a rim piece."""
    near, far = (np.full(puzzle.cells, -1, dtype=np.int64) for _ in range(2))
    for oriented, quad in enumerate(puzzle.oriented.tolist()):  # as it lies on the right side or in its lower corner
        if quad[RIGHT] == 0 and quad[UP] != 0:
            near[oriented >> 2], far[oriented >> 2] = quad[UP], quad[DOWN] or quad[LEFT]
    return near, far


def _pair_up(near: Int64Array, far: Int64Array) -> bool:
    """Whether each colour occurs as often at the near end of a rim piece as at the far end of one."""
    return bool((np.sort(near) == np.sort(far)).all())


def _stretch(puzzle: Puzzle, order: IntArray, start: int, cut: int) -> tuple[list[int], list[int], list[int]]:
    """(cells of the last stretch, from the anchor on; rim cells of the endgame behind the anchor and before the
    stretch; rim cells of the exact tail before it).

    The stretch: cells of the right side that are filled after the first one of the bottom, the corner, and the cells of
    the bottom that are filled later than the first of these.
    """
    width, height = puzzle.width, puzzle.height
    depth_of = {cell: depth for depth, cell in enumerate(order.tolist())}
    right = range(width - 1, width * height, width)
    bottom = range(width * (height - 1), width * height - 1)
    left = range(0, width * (height - 1), width)
    first_bottom = depth_of[bottom[0]] if bottom else 0
    stretch = [cell for cell in right if depth_of[cell] > first_bottom]
    if min(width, height) < 2 or len(stretch) == height or depth_of[stretch[0]] < start:
        return [], [], []
    first, anchor = depth_of[stretch[0]], depth_of[stretch[0] - width]
    stretch += [cell for cell in reversed(bottom) if depth_of[cell] > first]
    others = [cell for cell in order.tolist() if cell in {*left, *bottom} - {*stretch} and depth_of[cell] > anchor]
    reserving = [cell for cell in others if start <= depth_of[cell] < cut]
    tail = [cell for cell in others if depth_of[cell] >= cut]
    clue_cells = {clue.cell for clue in puzzle.clues}
    if not reserving or depth_of[reserving[-1]] > first or clue_cells & {*stretch, *reserving}:
        return [], [], []
    return stretch, reserving, tail


@inline_flat_kernel
def toggle_border_piece(plan: ClosingPlan, state: ClosingState, piece: int, bit: np.uint64) -> None:
    """Put a piece with this bit into the sets that it belongs to, or take it out of them."""
    if plan.near_index[piece] >= 0:
        state.near_sets[plan.near_index[piece]] ^= bit
        state.rim_pieces[0] ^= bit
        near, far = plan.near_index[piece] % len(state.colour_sets), plan.far_colour[piece]
        state.colour_sets[near] ^= bit
        if near != far:
            state.colour_sets[far] ^= bit


@inline_flat_kernel
def set_anchor_colour(state: ClosingState, colour: int) -> None:
    """Note the colour that the anchor shows to the last stretch; closings are listed when they are first needed."""
    state.scalars[COUNT], state.scalars[ANCHOR_COLOUR] = NOT_LISTED, colour


@flat_kernel
def list_closings(plan: ClosingPlan, state: ClosingState, free: np.uint64) -> None:
    """List the closings of ``free`` pieces; if they are too many, those of a shorter stretch from the anchor on."""
    closings, end_colour = state.closings, state.end_colour
    corners = len(state.near_sets) >> 1
    first, count = 0, 1
    closings[0] = _NONE
    end_colour[0] = state.scalars[ANCHOR_COLOUR]
    for i in range(len(plan.is_corner)):
        set_base = corners * np.int64(plan.is_corner[i])
        next_first, next_count = MAX_CLOSINGS - first, 0
        for j in range(first, first + count):
            candidates = state.near_sets[end_colour[j] + set_base] & free & ~closings[j]
            while candidates != _NONE:
                bit = candidates & (~candidates + _ONE)
                candidates ^= bit
                if next_count < MAX_CLOSINGS:
                    closings[next_first + next_count] = closings[j] | bit
                    end_colour[next_first + next_count] = state.far_colour[np.uint64(lowest_bit(bit))]
                next_count += 1
        if next_count > MAX_CLOSINGS:
            break
        first, count = next_first, next_count
    state.scalars[COUNT], state.scalars[FIRST] = count, first


@inline_flat_kernel
def _is_connected(plan: ClosingPlan, state: ClosingState, free: np.uint64, colour: int) -> bool:
    """Whether all rim pieces among ``free`` can be reached from ``colour`` by joints of equal colour."""
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
def pieces_after_reserving(
    plan: ClosingPlan,
    state: ClosingState,
    free_behind_anchor: np.uint64,
    free: np.uint64,
    level: np.uint64,
    bit: np.uint64,
    colour: int,
) -> np.uint64:
    """Free pieces, without the reserved ones, after the piece ``bit`` is placed on a RESERVE or RELEASE cell.

    ``free_behind_anchor`` and ``free``: free pieces after the anchor was placed and before this level; ``colour``: what
    the piece shows to the next cell of the rim. Returns 0 if the rim could not be completed after this piece.
    """
    if state.scalars[COUNT] == NOT_LISTED:
        list_closings(plan, state, free_behind_anchor)
    row = np.uint64(plan.row[level])
    remaining = (free | state.reserved[row]) ^ bit
    if len(plan.rim_colours) and not _is_connected(plan, state, remaining, colour):
        return _NONE
    first, reserved = np.uint64(state.scalars[FIRST]), _ALL
    for i in range(np.uint64(state.scalars[COUNT])):  # without a branch, so that it is vectorized
        closing = state.closings[first + i]
        reserved &= closing | (_NONE - np.uint64((closing & ~remaining) != _NONE))
    if reserved == _ALL:
        return _NONE
    reserved = reserved if plan.rule[level] != RELEASE else _NONE
    state.reserved[row + _ONE] = reserved
    return np.uint64(remaining & ~reserved)
