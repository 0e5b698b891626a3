"""The search of one lane (thread) of a card: depth-first below a prefix, with the lists of `lns.construct.candidates`.

`search_lane` is one function for four uses: compiled for the processor, in plain Python, in numba's CUDA simulator, and
on a card (`lns.gpu.card`). Between a lane's prefix and the cut it visits the same nodes as
`lns.construct.kernel.search_lists`, but at most PREFIX_NODES for each prefix. A turn, one pass of its loop, tests a
candidate, goes back one cell or takes a new prefix, so the lanes of a warp stay in step at any depth. A lane that
reaches the cut waits, with its prefix in its stack, until the host has read the stack. So the prefixes that come to
the cut depend only on the prefixes that the lanes take and on the number of turns of each launch.

Arrays of lanes have the lane as their last index, flattened: entry ``i`` of a lane is at ``i * lanes + lane``, so the
lanes of a warp read neighbouring words.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns.construct import candidates as packed
from lns.construct.kernel import DEPTH_WORDS, LIST_BASE, LOOK_DOWN, LOOK_RIGHT, MIN_GAIN, POSITION, PrefixPlan
from lns.exact.kernels.jit import flat_kernel

# Masks and shifts of a candidate in 32 bits: piece in bits 0-8, rotation 9-10, colour shown downwards 11-16 and to the
# right 17-22, favoured half-edges 23-25, breaks 26-31. The sentinel that ends a list has 32 breaks, which stand for the
# gain `packed.LIST_END_GAIN`.
PIECE, COLOUR, FAVOURED, BREAKS = 511, 63, 7, 63
ROTATION_AT, DOWN_AT, RIGHT_AT, FAVOURED_AT, BREAKS_AT = 9, 11, 17, 23, 26
BREAK_COST, ONE = packed.BREAK_COST, np.uint32(1)

ROW = 5  # words of a depth in `LanePlan.rows`: position, least gain, base of its lists, two bases for look-ahead or -1
ROW_POSITION, ROW_GAIN, ROW_BASE, ROW_RIGHT, ROW_DOWN = range(ROW)
LANES, FIRST, CUT, WIDTH, COLOURS, SLOTS, TURNS, PREFIX_NODES, WORDS, SIZES = range(10)  # indexes of `LanePlan.sizes`
# rows of `LaneState.scalars`: depth of the next cell, or NO_PREFIX; index of the next candidate; gain of the prefix;
# number of prefixes taken from the queue; nodes left for the present one; nodes and turns of the last launch; whether
# the lane waits at the cut
DEPTH, AT, GAIN, TAKEN, LEFT, NODES, WORKED, AT_CUT, SCALARS = range(9)
NO_PREFIX = -1

# Indexes are unsigned, and variables kept between turns have 32 bits. By default numba computes with 64 bits and tests
# whether each index is negative, which takes a quarter more instructions and 20 more registers on a card.
U32, I32 = np.uint32, np.int32
Int32Array = npt.NDArray[np.int32]


class LanePlan(NamedTuple):
    """Read-only inputs of all lanes."""

    # int32 (SIZES,): number of lanes, depth of their prefixes, cut, width of the padded board, number of colours (with
    # the rim's), slots in a lane's queue, turns of a launch, most nodes below a prefix, words of a lane's used pieces
    sizes: Int32Array
    rows: Int32Array  # int32 (depths * ROW,): ROW words for each depth, see ROW
    list_start: Int32Array  # int32: index of the first candidate of each list, as in `packed.CandidateTables`
    candidates: Int32Array  # int32: packed candidates of all lists, list after list


class LaneState(NamedTuple):
    """Arrays that the lanes read and write."""

    scalars: Int32Array  # int32 (SCALARS, lanes): for each lane, the numbers that DEPTH to AT_CUT index
    queue: Int32Array  # int32 (slots, first depth, lanes): waiting prefixes, with entries as in ``stack``
    stack: Int32Array  # int32 (cut, lanes): by depth, index of the candidate that is placed there, plus one
    shown: npt.NDArray[np.uint16]  # uint16 (positions, lanes): colour shown to the right | colour shown downwards << 8
    used: npt.NDArray[np.uint32]  # uint32 (words, lanes): bit by piece index, 1 if used; the sentinel's bit stays 0


def lane_plan(plan: PrefixPlan, first: int, *, lanes: int, slots: int, turns: int, prefix_nodes: int) -> LanePlan:
    """Return the tables of the construction in the form for lanes; these search from depth ``first`` to the cut."""
    tables, cells = plan.tables, len(plan.depths) // int(DEPTH_WORDS)
    columns = [int(column) for column in (POSITION, MIN_GAIN, LIST_BASE, LOOK_RIGHT, LOOK_DOWN)]
    one, count = tables.candidates, tables.colour_count
    gain = one >> packed.GAIN_SHIFT
    breaks = -(gain // BREAK_COST)  # a candidate with one break has a gain from -BREAK_COST to -1
    breaks[gain >= 0] = 0
    favoured = gain + BREAK_COST * breaks
    word = one & packed.PIECE_MASK
    word |= (one >> packed.ROTATION_SHIFT & 3) << ROTATION_AT
    word |= (one >> packed.DOWN_SHIFT & packed.DOWN_MASK) << DOWN_AT
    word |= (one >> packed.RIGHT_SHIFT & packed.RIGHT_MASK) // count << RIGHT_AT
    word |= favoured << FAVOURED_AT | breaks << BREAKS_AT
    sizes = [lanes, first, plan.cut, plan.padded_width, count, slots, turns, prefix_nodes, cells // 32 + 1]
    return LanePlan(
        np.array(sizes, dtype=np.int32),
        np.ascontiguousarray(plan.depths.reshape(cells, -1)[:, columns], dtype=np.int32).ravel(),
        tables.list_start,
        word.astype(np.uint32).view(np.int32),
    )


def lane_state(plan: LanePlan, positions: int) -> LaneState:
    """Return the state of lanes that have no prefix yet; ``positions`` is the number of cells of the padded board."""
    rows = SCALARS, plan.sizes[SLOTS] * plan.sizes[FIRST], plan.sizes[CUT], positions, plan.sizes[WORDS]
    kinds = np.int32, np.int32, np.int32, np.uint16, np.uint32
    lanes = plan.sizes[LANES]
    state = LaneState(*(np.zeros(count * lanes, kind) for count, kind in zip(rows, kinds, strict=True)))
    state.scalars[:lanes] = NO_PREFIX
    return state


@flat_kernel
def search_lane(
    lane: int,
    sizes: Int32Array,
    rows: Int32Array,
    list_start: Int32Array,
    candidates: Int32Array,
    scalars: Int32Array,
    queue: Int32Array,
    stack: Int32Array,
    shown: npt.NDArray[np.uint16],
    used: npt.NDArray[np.uint32],
    stride: int,
    slot: int,
) -> None:
    """Continue the search of one lane for the turns of a launch, or until it comes to the cut or has no prefix left.

    The arguments are the fields of `LanePlan` and `LaneState`; word ``i`` of the lane's used pieces is
    ``used[i * stride + slot]``, an array that may be in faster memory than the others.
    """
    lanes, first, cut, width, colours = sizes[LANES], sizes[FIRST], sizes[CUT], sizes[WIDTH], sizes[COLOURS]
    depth, at, gain = scalars[DEPTH * lanes + lane], scalars[AT * lanes + lane], scalars[GAIN * lanes + lane]
    taken, left = scalars[TAKEN * lanes + lane], scalars[LEFT * lanes + lane]
    nodes, turn, back = I32(0), I32(0), scalars[AT_CUT * lanes + lane] != 0
    scalars[AT_CUT * lanes + lane] = 0
    turns = sizes[TURNS]
    while turn < turns:
        turn = I32(turn + 1)
        if depth == NO_PREFIX:  # place the next prefix of the lane's queue
            if taken == sizes[SLOTS]:
                break
            for number in range(sizes[WORDS]):
                used[U32(number * stride + slot)] = 0
            gain, depth = I32(0), I32(0)
            while depth < first:
                at = queue[U32((taken * first + depth) * lanes + lane)]
                candidate = candidates[U32(at - 1)]
                piece = candidate & PIECE
                used[U32((piece >> 5) * stride + slot)] |= ONE << U32(piece & 31)
                shown[U32(rows[U32(depth * ROW + ROW_POSITION)] * lanes + lane)] = np.uint16(
                    (candidate >> RIGHT_AT & COLOUR) | (candidate >> DOWN_AT & COLOUR) << 8
                )
                stack[U32(depth * lanes + lane)] = at
                gain = I32(
                    gain + (candidate >> FAVOURED_AT & FAVOURED) - BREAK_COST * (candidate >> BREAKS_AT & BREAKS)
                )
                depth = I32(depth + 1)
            taken, left = I32(taken + 1), sizes[PREFIX_NODES]
            row = U32(depth * ROW)
            here = rows[U32(row + ROW_POSITION)] * lanes + lane
            key = (shown[U32(here - lanes)] & 255) * colours + (shown[U32(here - width * lanes)] >> 8)
            at = list_start[U32(rows[U32(row + ROW_BASE)] + key)]
            continue
        if not back:
            candidate = candidates[U32(at)]
            piece = candidate & PIECE
            word, bit = U32((piece >> 5) * stride + slot), U32(ONE << U32(piece & 31))
            if used[word] & bit:
                at = I32(at + 1)
                continue
            new_gain = I32(
                gain + (candidate >> FAVOURED_AT & FAVOURED) - BREAK_COST * (candidate >> BREAKS_AT & BREAKS)
            )
            row = U32(depth * ROW)
            back = new_gain < rows[U32(row + ROW_GAIN)]  # the list ends, or the schedule forbids its other candidates
        if back:
            back = False
            if depth == first:
                depth = I32(NO_PREFIX)
                continue
            depth = I32(depth - 1)
            at = stack[U32(depth * lanes + lane)]
            candidate = candidates[U32(at - 1)]
            piece = candidate & PIECE
            used[U32((piece >> 5) * stride + slot)] &= ~(ONE << U32(piece & 31))
            gain = I32(gain - (candidate >> FAVOURED_AT & FAVOURED) + BREAK_COST * (candidate >> BREAKS_AT & BREAKS))
            continue
        at = I32(at + 1)
        used[word] |= bit
        right, down = candidate >> RIGHT_AT & COLOUR, candidate >> DOWN_AT & COLOUR
        dead = False  # whether a later cell of the rim has no free piece that matches
        for look in range(2):
            base = rows[U32(row + ROW_RIGHT + look)]
            if base >= 0 and not dead:
                index = list_start[U32(base + (right * colours if look == 0 else down))]
                other = candidates[U32(index)]
                while used[U32(((other & PIECE) >> 5) * stride + slot)] >> U32(other & 31) & ONE:
                    index += 1
                    other = candidates[U32(index)]
                dead = other < 0  # true if the loop reached the sentinel of the list
        if dead:
            used[word] &= ~bit
            continue
        stack[U32(depth * lanes + lane)] = at
        shown[U32(rows[U32(row + ROW_POSITION)] * lanes + lane)] = np.uint16(right | down << 8)
        nodes, left, depth, gain = I32(nodes + 1), I32(left - 1), I32(depth + 1), new_gain
        if depth == cut:
            scalars[AT_CUT * lanes + lane] = 1
            break
        row = U32(depth * ROW)
        here = rows[U32(row + ROW_POSITION)] * lanes + lane
        key = (shown[U32(here - lanes)] & 255) * colours + (shown[U32(here - width * lanes)] >> 8)
        at = list_start[U32(rows[U32(row + ROW_BASE)] + key)]
        if left <= 0:
            depth = I32(NO_PREFIX)
    scalars[DEPTH * lanes + lane], scalars[AT * lanes + lane], scalars[GAIN * lanes + lane] = depth, at, gain
    scalars[TAKEN * lanes + lane], scalars[LEFT * lanes + lane] = taken, left
    scalars[NODES * lanes + lane], scalars[WORKED * lanes + lane] = nodes, turn
