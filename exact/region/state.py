"""The flat arrays of a region search: `RegionPlan`, fixed for a cell order, and the states that searches change.

A *joint* is an inner edge, with the index ``2*cell`` (right of the cell) or ``2*cell + 1`` (below the cell), or an
outer side that may have any colour. When a cell is filled, each of the cell's joints is *known* (a filled cell gives
the colour), *open* (the cell beyond is filled later) or *vacant* (nothing is ever placed beyond: no mismatch counts).

A *pattern* says which sides of a cell must be grey (the others must not), and which must have the colour of a rim that
is not grey. A *kind* is the grey sides of a pattern up to rotation (inner, edge, corner). Each oriented piece with the
grey sides of a pattern has a *bit* in sets of 64-bit words; the rotations of a piece have consecutive bits of one word.
Oriented pieces that have the pattern's rim colours too are *valid*.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from lns.exact.colorpairs.state import I32, counter

MAX_AHEAD = 8  # most cells that the look-ahead tests at a depth
MAX_OPEN_JOINTS = 8  # most open joints of a cost-to-go table
MAX_TASKS, MAX_PENDING = 4096, 1024  # most tasks, and most that are pending, at one time (`lns.exact.region.scheme`)
COLOUR_CLASSES = 4  # number of classes of colours that the colour balance distinguishes
Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.uint8]
# status of a search: not finished; finished without a refill; a refill is found
PAUSED, EXHAUSTED, FOUND = range(3)
_NO_SLOTS = np.zeros(0, dtype=np.int64)
NO_BIT = -1
RIM, OUTSIDE, VACANT = -1, -2, -3  # beyond a side, if no cell of the region: the rim; a filled cell; a vacant place


class CostTables(NamedTuple):
    """The cost-to-go tables of a region of n cells (`lns.exact.region.cost_to_go`), in units of 1/UNIT mismatch.

    A depth's table has an entry for each combination of colours of the joints open there: index sum(digit * stride).
    """

    cost: Annotated[npt.NDArray[np.int16], "entries"]  # least cost of the cells from each depth on, table after table
    cost_start: Annotated[Ints, "n+1"]  # index in `cost` where the table of each depth begins
    open_count: Annotated[Ints, "n+1"]  # number of joints open at each depth
    open_joint: Annotated[Ints, ("n+1", MAX_OPEN_JOINTS)]  # the joints open at each depth
    open_stride: Annotated[Ints, ("n+1", MAX_OPEN_JOINTS)]  # strides of the joints in `open_joint` in the depth's table
    carried_count: Annotated[Ints, "n+1"]  # number of carried joints, open before and after a depth's cell is filled
    carried_joint: Annotated[Ints, ("n+1", MAX_OPEN_JOINTS)]  # the carried joints of each depth
    next_stride: Annotated[Ints, ("n+1", MAX_OPEN_JOINTS)]  # strides of the carried joints in the next depth's table
    rank_stride: Annotated[Ints, ("n+1", MAX_OPEN_JOINTS)]  # strides of the carried joints in `min_cost`
    next_base: Annotated[Ints, "n+1"]  # index in `cost` of the next depth's entry, before `next_offset` is added
    min_cost: Annotated[npt.NDArray[np.int16], "entries"]  # by carried joints: least price plus cost after the depth
    min_start: Annotated[Ints, "n+1"]  # `min_start[d + 1]` is where the entries of depth d begin in `min_cost`
    max_level: Annotated[Ints, "n+1"]  # most mismatches that the cell of each depth may have
    next_offset: Annotated[npt.NDArray[np.int32], "n*bits"]  # offset in the next depth's table, by depth and bit
    price: Annotated[Ints, "places"]  # price of the oriented piece, in units, by pattern and bit
    paid: Annotated[Ints, "n+1"]  # units spent before each depth, on mismatches and prices
    digit: Ints  # int64 (colours + 1,): index of each colour within its class
    radix: Ints  # int64 (joints,): number of colours that each joint can have
    row: Annotated[npt.NDArray[np.int16], "limit"]  # workspace of `_fill_table`
    row_min: Annotated[npt.NDArray[np.int16], "limit"]  # workspace of `_fill_table`
    odometer: Annotated[Ints, MAX_OPEN_JOINTS]  # workspace of `_fill_table`
    candidate: Annotated[Ints, (4, "bits")]  # workspace of `_fill_table`, written by `_candidates`


class RegionPlan(NamedTuple):
    """A region of n free cells, with p patterns and k kinds, and the orders in which its cells are filled.

    Arrays by slot (`lns.exact.region.scheme.SearchScheme`) are made by `lns.exact.region.plan.with_slots`; before, they
    are empty. The others are made by `lns.exact.region.plan.plan_region`. With one cell order, slots are depths.
    """

    cells: Ints  # int64 (n,): the region's cells on the board; their indices in this array stand for them elsewhere
    pattern_at: Ints  # int64 (n,): pattern of each cell
    around: Ints  # int64 (n, 4): index of the neighbour on each side, or RIM, OUTSIDE, VACANT
    joint_at: Ints  # int64 (n, 4): joint on each side of each cell, 0 if there is none
    kind_of: Ints  # int64 (p,): kind of each pattern
    rotations: Ints  # int64 (k,): number of rotations that keep the grey sides of a piece of each kind
    cells_of_kind: Ints  # int64 (k,): number of cells of each kind
    outside: Ints  # int64 (o, 3): for each joint with a filled cell outside: joint, that cell, that cell's side
    is_clue: Flags  # uint8 (pieces,): 1 for the pieces of clues and the blanks of holes
    quads: Ints  # int64 (4 * pieces, 4): colours of the oriented pieces
    fits: npt.NDArray[np.bool_]  # bool (p, 4 * pieces): which oriented pieces fit the cells of each pattern
    kind_of_piece: Ints  # int64 (pieces,): kind of each piece, -1 = no cell of the region has the piece's kind
    distinct: Flags  # uint8 (4 * pieces,): 1 for the first of equal rotations; without turns only for rotation 0
    identical: Ints  # int64 (pieces,): equal for identical pieces, -1 = no other piece is identical
    colour_class: Ints  # int64 (colours + 1,): class of each colour; colours of different classes never meet on a joint
    # arrays by slot of a search scheme
    order: Ints = _NO_SLOTS  # int64 (slots,): index of the cell that each slot fills
    ends_stage: Ints = _NO_SLOTS  # int64 (slots,): 1 for the last slot of a stage
    pattern: Ints = _NO_SLOTS  # int64 (slots,): pattern of each slot's cell
    known: Ints = _NO_SLOTS  # int64 (slots,): number of joints of each slot's cell known before it is filled
    open: Ints = _NO_SLOTS  # int64 (slots,): number of open and vacant joints of each slot's cell
    side: Ints = _NO_SLOTS  # int64 (slots, 4): sides of each slot's cell, those with known joints first
    joint: Ints = _NO_SLOTS  # int64 (slots, 4): joints on the sides in `side`
    demand: Ints = _NO_SLOTS  # int64 (slots, 4): half-edges taken from a colour's balance: 2 if open, 1 if vacant
    vacant: Ints = _NO_SLOTS  # int64 (slots,): number of vacant joints of the cells still open after each slot
    # int64 (slots, MAX_AHEAD): slots of the stage, from this one on, whose cells have two known joints now; -1 = none
    ahead: Ints = _NO_SLOTS
    ahead_known: Ints = _NO_SLOTS  # int64 (slots, MAX_AHEAD): number of known joints of the cells of `ahead`


class RegionState(NamedTuple):
    """The state of a search of one region, made anew for each region. Tasks: see `lns.exact.region.scheme`."""

    mask: Words  # uint64: bit sets of oriented pieces that show a colour, by pattern, side, colour, word
    valid: Words  # uint64: bit sets of valid oriented pieces, equal rotations once, by pattern, word
    free: Annotated[Words, "kinds*words"]  # bit sets of the pieces that may be placed, by kind and word
    free_before: Annotated[Words, "kinds*words"]  # `free` before the first piece is placed
    oriented: Annotated[Ints, "patterns*bits"]  # oriented piece by pattern and bit
    shows: Annotated[Ints, "patterns*bits*4"]  # colour by pattern, bit and side
    next_identical: Annotated[Ints, "kinds*bits", -1]  # bit of the next identical piece by kind and bit, -1 = none
    joint_colour: Annotated[Ints, "joints"]  # colour of each joint, once one of its cells is filled
    balance: Annotated[Ints, "colours"]  # by colour: half-edges on free pieces minus half-edges that joints require
    balance_before: Annotated[Ints, "colours"]  # `balance` before the first piece is placed
    deficit: Annotated[Ints, COLOUR_CLASSES]  # by colour class: sum of the negative balances, as a positive number
    odd_balances: Annotated[Ints, COLOUR_CLASSES]  # by colour class: number of positive odd balances
    spent: Annotated[Ints, "n+1"]  # mismatches spent before each depth
    bound: Annotated[Ints, "n+1"]  # lower bound on the mismatches from each depth on, by colour balance
    level: Annotated[Ints, "n+1"]  # number of mismatches of the candidates now tried at each depth
    word: Annotated[Ints, "n+1"]  # index of the bit set's word whose candidates are tried at each depth
    bits: Annotated[Words, "n+1"]  # the candidates of that word that were not tried yet
    chosen: Annotated[Ints, "n+1"]  # bit of the oriented piece placed at each depth
    slot: Annotated[Ints, "n+1"]  # slot that is filled at each depth
    cap: Annotated[Ints, "n+1"]  # most mismatches allowed once a depth is filled, those spent before included
    task: Annotated[Ints, (MAX_TASKS, 4)]  # stage; most mismatches (of a check: share); next task or -1; 1 for a check
    placed: Annotated[Ints, "n"]  # by cell of the region: index in `shows` of side 0 of the piece on it
    next_task: Annotated[Ints, "n+1"]  # the task that follows once the stage is filled, by depth
    tasks_before: Annotated[Ints, "n+1"]  # number of tasks made before a depth at which a stage begins
    pending: Annotated[Ints, MAX_PENDING]  # stack of the tasks to be tried if the current task fails
    pending_before: Annotated[Ints, "n+1"]  # height of the stack `pending` before a depth, -1 if no stage begins there
    counters: Annotated[Ints, len(counter)]  # the counters, at the indices in `lns.exact.colorpairs.state.counter`
    refill: Annotated[npt.NDArray[np.int32], "n"]  # the refill found: oriented piece by cell of the region
    tables: CostTables  # cost-to-go tables, empty unless the search uses prices


class Spending(NamedTuple):
    """The arrays that a dynamic search of a region has besides the ColorPairs state and `RegionState`.

    N: free pieces, B: 64-bit words of a bit set of oriented pieces, W: words of a set of cells. One bit set of
    oriented pieces serves all patterns and kinds; with those of `RegionState`, separate for each, a node would take 3%
    to 15% longer. In this search, `shows` of `RegionState` has entries by bit of these sets
    (`lns.exact.region.plan.make_dynamic_state`) and side, and `placed` has indices of these entries.
    """

    origin: Ints  # int64 (4N,): the puzzle's oriented piece for each bit
    fit: Words  # uint64 (n*B,): oriented pieces that fit the pattern of each cell, equal rotations once
    mask: Words  # uint64 (4*K*B,): oriented pieces with each colour on each side
    free: Words  # uint64 (B,): oriented pieces that may be placed
    min_level: Annotated[Flags, ("n+2", "n")]  # row d+1: least mismatches of each open cell at depth d
    witness: Annotated[I32, ("n+2", "n"), NO_BIT]  # row d+1: bit of a free piece with the least mismatches on each cell
    vacant: Annotated[Ints, "n+1"]  # number of vacant joints of the cells that are open at each depth
    cell: Annotated[Ints, "n+1"]  # the cell decided at each depth
    max_level: Annotated[Ints, "n+1"]  # most mismatches that the cell decided at each depth may have
    limit: Annotated[Ints, "n+1"]  # the cap that sets `max_level`: STAGE, REGION or NO_LIMIT
    stage: Annotated[Ints, "n+1"]  # the stage that is filled at each depth
    stage_left: Annotated[Ints, "n+1"]  # number of open cells of the stage at each depth
    members: Annotated[Words, 0]  # the cells of each stage, as bit sets
    own_pair: Annotated[I32, "n"]  # the colour pair by which each open cell is counted, 0 = none
    pair_count: Annotated[I32, "P"]  # number of open cells counted by each colour pair
    stage_pair_count: Annotated[I32, "P"]  # number of open cells of the stage counted by each colour pair
    holder: Annotated[I32, "N"]  # the cell, or n + the colour pair, that needs each piece; -1 = none
    reason: Annotated[Words, "N*W"]  # explanation why each piece is needed, as a set of depths
    nothing_left: Annotated[Words, "W"]  # explanation why no mismatch is left to spend, as a set of depths
    excluded: Annotated[Words, "(n+1)*B"]  # by depth, the set of oriented pieces that other cells need
