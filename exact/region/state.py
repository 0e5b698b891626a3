"""The flat arrays of a region search: `RegionPlan` (fixed for an order) and the states that the searches change.

A *joint* is an inner edge of the board, numbered ``2*cell`` (right of the cell) or ``2*cell + 1`` (below the cell).
When a cell is filled, each of its joints is *known* (its colour is given by a filled cell), *open* (the cell beyond it
is filled later) or *vacant* (the cell beyond it stays empty, so the joint never counts as a mismatch).

A *pattern* says which sides of a cell must be grey (the others must not), and which must have the colour of a rim that
is not grey. A *kind* is the grey sides of a pattern up to rotation (inner, edge, corner). The oriented pieces with the
grey sides of a pattern are numbered by *bits*, 64 to a word; the rotations of a piece have consecutive bits of one
word. Pieces that also fit the rest of the pattern are valid.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from lns.exact.colorpairs.state import I32, counter

MAX_AHEAD = 8  # cells that the look-ahead tests at a depth
MAX_OPEN_JOINTS = 8  # open joints that a cost-to-go table can have
MAX_TASKS, MAX_PENDING = 4096, 1024  # at one time, see `lns.exact.region.scheme`
COLOUR_CLASSES = 4  # classes of colours that the colour balance distinguishes
Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.uint8]
# status of a search: not finished; finished without a refill; a refill is found
PAUSED, EXHAUSTED, FOUND = range(3)
_NO_SLOTS = np.zeros(0, dtype=np.int64)
NO_BIT = -1
RIM, OUTSIDE, VACANT = -1, -2, -3  # neighbours without a number: none; a filled cell; a cell that stays empty


class CostTables(NamedTuple):
    """The cost-to-go tables of a region of n cells (`lns.exact.region.cost_to_go`), in units of 1/UNIT mismatch.

    The table of a depth is indexed by the colours of the joints open there; that index is a sum of digit * stride.
    """

    cost: Annotated[npt.NDArray[np.int16], "entries"]  # least cost of the cells from a depth on, table after table
    cost_start: Annotated[Ints, "n+1"]  # where the table of a depth begins in `cost`
    open_count: Annotated[Ints, "n+1"]  # number of joints open at a depth
    open_joint: Annotated[Ints, ("n+1", MAX_OPEN_JOINTS)]  # joints open at a depth
    open_stride: Annotated[Ints, ("n+1", MAX_OPEN_JOINTS)]  # strides of these joints in the table of the depth
    carried_count: Annotated[Ints, "n+1"]  # number of joints open before and after the cell of a depth is filled
    carried_joint: Annotated[Ints, ("n+1", MAX_OPEN_JOINTS)]  # the joints that `carried_count` counts
    next_stride: Annotated[Ints, ("n+1", MAX_OPEN_JOINTS)]  # strides of these joints in the next table
    rank_stride: Annotated[Ints, ("n+1", MAX_OPEN_JOINTS)]  # strides of the carried joints in `min_cost`
    next_base: Annotated[Ints, "n+1"]  # index in `cost` from the colours of the carried joints, without `next_offset`
    min_cost: Annotated[npt.NDArray[np.int16], "entries"]  # least cost after a depth plus the price of its piece
    min_start: Annotated[Ints, "n+1"]  # `min_start[d + 1]` is where the entries of depth d begin in `min_cost`
    max_level: Annotated[Ints, "n+1"]  # mismatches that the cell of a depth may have
    next_offset: Annotated[npt.NDArray[np.int32], "n*bits"]  # offset in the next table, by depth and bit
    price: Annotated[Ints, "places"]  # price of the piece, in units, by pattern, bit
    paid: Annotated[Ints, "n+1"]  # units spent before a depth, mismatches and prices
    digit: Ints  # int64 (colours + 1,): number of a colour within its class
    radix: Ints  # int64 (joints,): number of colours that a joint can have
    row: Annotated[npt.NDArray[np.int16], "limit"]  # workspace of `_fill_table`
    row_min: Annotated[npt.NDArray[np.int16], "limit"]  # workspace of `_fill_table`
    odometer: Annotated[Ints, MAX_OPEN_JOINTS]  # workspace of `_fill_table`
    candidate: Annotated[Ints, (4, "bits")]  # workspace of `_fill_table`, see `_candidates`


class RegionPlan(NamedTuple):
    """A region of n free cells and the orders in which they are filled. p patterns, k kinds.

    Arrays by slot (`lns.exact.region.scheme.SearchScheme`) are made by `lns.exact.region.plan.with_slots`; before, they
    are empty. The others are made by `lns.exact.region.plan.plan_region`. In a plan with one order, slots are depths.
    """

    cells: Ints  # int64 (n,): the cells of the board; a cell's index is its number in the region
    pattern_at: Ints  # int64 (n,): pattern of each cell
    around: Ints  # int64 (n, 4): number of the neighbour on each side, or RIM, OUTSIDE, VACANT
    joint_at: Ints  # int64 (n, 4): joint on each side of a cell
    kind_of: Ints  # int64 (p,): kind of a pattern
    rotations: Ints  # int64 (k,): rotations of a piece of this kind with the same grey sides
    cells_of_kind: Ints  # int64 (k,): number of cells of this kind
    outside: Ints  # int64 (o, 3): joint, filled cell beyond it, that cell's side
    is_clue: Flags  # uint8 (pieces,): 1 if the piece belongs to a clue
    quads: Ints  # int64 (4 * pieces, 4): colours of the oriented pieces
    fits: npt.NDArray[np.bool_]  # bool (p, 4 * pieces): which oriented pieces fit the cells of a pattern
    kind_of_piece: Ints  # int64 (pieces,): kind of a piece, -1 = fits no cell of the region
    distinct: Flags  # uint8 (4 * pieces,): 0 if an earlier rotation has the same colours
    identical: Ints  # int64 (pieces,): number of a set of identical pieces, -1 = unique
    colour_class: Ints  # int64 (colours + 1,): colours of different classes cannot meet on a joint of the region
    # arrays by slot
    order: Ints = _NO_SLOTS  # int64 (slots,): number of the slot's cell
    ends_stage: Ints = _NO_SLOTS  # int64 (slots,): 1 for the last slot of a stage
    pattern: Ints = _NO_SLOTS  # int64 (slots,): pattern of the cell
    known: Ints = _NO_SLOTS  # int64 (slots,): number of known joints of the cell
    open: Ints = _NO_SLOTS  # int64 (slots,): number of open and vacant joints of the cell
    side: Ints = _NO_SLOTS  # int64 (slots, 4): sides of the cell, those with known joints first
    joint: Ints = _NO_SLOTS  # int64 (slots, 4): joints on these sides
    demand: Ints = _NO_SLOTS  # int64 (slots, 4): half-edges that leave the balance: 2 for an open joint, 1 for a vacant
    vacant: Ints = _NO_SLOTS  # int64 (slots,): vacant joints of the cells still open once the slot is filled
    # int64 (slots, MAX_AHEAD): next slots of the stage whose cells have two known joints or more, -1 = none
    ahead: Ints = _NO_SLOTS
    ahead_known: Ints = _NO_SLOTS  # int64 (slots, MAX_AHEAD): number of known joints of these cells


class RegionState(NamedTuple):
    """The state of a search; it carries nothing from one region to the next. Tasks: see `lns.exact.region.scheme`."""

    mask: Words  # uint64: oriented pieces that show a colour, by pattern, side, colour, word
    valid: Words  # uint64: distinct oriented pieces by pattern, word
    free: Annotated[Words, "kinds*words"]  # pieces that may be placed, by kind, word
    free_before: Annotated[Words, "kinds*words"]  # `free` before the first piece is placed
    oriented: Annotated[Ints, "patterns*bits"]  # oriented piece by pattern, bit
    shows: Annotated[Ints, "patterns*bits*4"]  # colour by pattern, bit, side
    next_identical: Annotated[Ints, "kinds*bits", -1]  # bit of the next identical piece, by kind, bit
    joint_colour: Annotated[Ints, "joints"]  # colour of a known joint
    balance: Annotated[Ints, "colours"]  # half-edges on free pieces minus half-edges that joints require
    balance_before: Annotated[Ints, "colours"]  # `balance` before the first piece is placed
    deficit: Annotated[Ints, COLOUR_CLASSES]  # sum of the negative balances, as a positive number
    odd_balances: Annotated[Ints, COLOUR_CLASSES]  # number of positive odd balances
    spent: Annotated[Ints, "n+1"]  # mismatches before a depth
    bound: Annotated[Ints, "n+1"]  # lower bound on mismatches from a depth on, by colour balance
    level: Annotated[Ints, "n+1"]  # mismatches of the candidates tried at a depth
    word: Annotated[Ints, "n+1"]  # word of the candidates tried at a depth
    bits: Annotated[Words, "n+1"]  # candidates of `word` not tried yet
    chosen: Annotated[Ints, "n+1"]  # bit of the piece placed at a depth
    slot: Annotated[Ints, "n+1"]  # slot filled at a depth
    cap: Annotated[Ints, "n+1"]  # mismatches allowed once a depth is filled
    task: Annotated[Ints, (MAX_TASKS, 4)]  # stage; most mismatches, or share of a check; next task or -1; 1 for a check
    placed: Annotated[Ints, "n"]  # by cell of the region: index in `shows` of side 0 of its piece
    next_task: Annotated[Ints, "n+1"]  # the task after the stage that is filled at a depth
    tasks_before: Annotated[Ints, "n+1"]  # number of tasks made before a depth, if a stage begins there
    pending: Annotated[Ints, MAX_PENDING]  # stack of tasks to be tried if the current one fails
    pending_before: Annotated[Ints, "n+1"]  # height of that stack before a depth, if a stage begins there
    counters: Annotated[Ints, len(counter)]  # indexed by `lns.exact.colorpairs.state.counter`
    refill: Annotated[npt.NDArray[np.int32], "n"]  # the refill found: oriented pieces by cell of the region
    tables: CostTables  # empty unless the search uses prices


class Spending(NamedTuple):
    """What a dynamic search with at most r mismatches needs in addition to the ColorPairs state and `RegionState`.

    It has its own sets of oriented pieces: with those of `RegionState`, separate for each pattern and kind, a node
    takes 3% to 15% longer.

    N: freed pieces, B: 64-bit words of a set of oriented pieces, W: words of a set of cells. The search indexes `shows`
    and `placed` of `RegionState` by the bits of these sets (`lns.exact.region.plan.make_dynamic_state`).
    """

    origin: Ints  # int64 (4N,): the oriented piece of the puzzle, by bit
    fit: Words  # uint64 (n*B,): oriented pieces that fit a cell's rim sides, equal rotations once
    mask: Words  # uint64 (4*K*B,): oriented pieces with a colour on a side
    free: Words  # uint64 (B,): oriented pieces that may be placed
    min_level: Annotated[Flags, ("n+2", "n")]  # row d+1: least mismatches of each open cell at depth d
    witness: Annotated[I32, ("n+2", "n"), NO_BIT]  # row d+1: the bit of a free piece with these mismatches
    vacant: Annotated[Ints, "n+1"]  # number of vacant joints of the open cells at a depth
    cell: Annotated[Ints, "n+1"]  # the cell decided at a depth
    max_level: Annotated[Ints, "n+1"]  # most mismatches of this cell
    limit: Annotated[Ints, "n+1"]  # what sets `max_level`: STAGE, REGION or NO_LIMIT
    stage: Annotated[Ints, "n+1"]  # the stage that is filled at a depth
    stage_left: Annotated[Ints, "n+1"]  # number of its open cells
    members: Annotated[Words, 0]  # the cells of each stage, as bit sets
    own_pair: Annotated[I32, "n"]  # the pair by which an open cell is counted, 0 = none
    pair_count: Annotated[I32, "P"]  # number of open cells counted by a pair
    stage_pair_count: Annotated[I32, "P"]  # number of open cells of the stage counted by a pair
    holder: Annotated[I32, "N"]  # the cell, or n + the pair, that needs a piece; -1 = none
    reason: Annotated[Words, "N*W"]  # explanation why a piece is needed, as a set of depths
    nothing_left: Annotated[Words, "W"]  # explanation why no mismatch is left to spend
    excluded: Annotated[Words, "(n+1)*B"]  # oriented pieces that other cells need, by depth
