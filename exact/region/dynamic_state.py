"""The state of a dynamic search: that of ColorPairs (`exact.colorpairs.state`), and what spending mismatches adds.

Pieces, cells and colours have the numbers of `exact.colorpairs.tables`: the freed pieces from 0, duplicates one after
the other; cells by their number in the region; colours without gaps. *Bits* of a set of oriented pieces are piece * 4 +
rotation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from exact.colorpairs.options import Heuristic, Options
from exact.colorpairs.state import State, Switches, empty_state
from exact.colorpairs.tables import I32, Tables, colours_by_axis, make_tables
from exact.region.scheme import SearchScheme
from exact.region.state import OUTSIDE, RIM, Ints, RegionPlan, Words
from lns_support.jit import flat_kernel

DOM_DEG = -1  # instead of a `Heuristic`: fewest candidates, divided by the open neighbours


class Parts(NamedTuple):
    """Parts of the search that can be switched off."""

    backjumping: bool
    pairs: bool  # the bound by Demand - Offer
    preemption: bool
    instantiation: bool
    heuristic: int  # DOM_DEG or a `Heuristic`
    switches: Switches  # for the functions of `exact.colorpairs.branching`


class Spending(NamedTuple):
    """What the search of a region of n cells with at most r mismatches needs in addition to the ColorPairs state.

    N: freed pieces, B: 64-bit words of a set of oriented pieces, W: of a set of cells.
    """

    origin: Ints  # int64 (4N,): the oriented piece of the puzzle
    twin: I32  # int32 (N,): the next duplicate of a piece, which may be placed once the piece is; -1 = none
    fit: Words  # uint64 (n*B,): oriented pieces whose grey sides fit a cell, each look once
    mask: Words  # uint64 (4*K*B,): oriented pieces with a colour on a side
    free: Words  # uint64 (B,): oriented pieces that may be placed
    placed: Words  # uint64 (B,): oriented pieces that are placed
    min_level: npt.NDArray[np.uint8]  # uint8 (n+2, n): row d+1: least mismatches of each open cell at depth d
    witness: I32  # int32 (n+2, n): row d+1: the bit of a free piece that has them, NO_BIT = unknown
    vacant: Ints  # int64 (n+1,): vacant joints of the open cells at a depth
    cell: Ints  # int64 (n+1,): the cell decided at a depth
    max_level: Ints  # int64 (n+1,): mismatches that it may have
    limit: Ints  # int64 (n+1,): what allows it no more: STAGE, REGION or NO_LIMIT
    stage: Ints  # int64 (n+1,): the stage that is filled at a depth
    stage_left: Ints  # int64 (n+1,): open cells of that stage
    members: Words  # uint64 (stages*W,): the cells of each stage
    own_pair: I32  # int32 (n,): the pair by which an open cell is counted, 0 = none
    pair_count: I32  # int32 (P,): open cells counted by a pair
    stage_pair_count: I32  # int32 (P,): those of the stage
    holder: I32  # int32 (N,): the cell, or n + the pair, that needs a piece; -1 = none
    reason: Words  # uint64 (N*W,): explanation of that, as a set of depths
    nothing_left: Words  # uint64 (W,): explanation why no mismatch is left to spend
    excluded: Words  # uint64 ((n+1)*B,): oriented pieces that other cells need, by depth


# Why a cell has no more mismatches, or a node no refill: the stage or the region allows none. Numbers of numpy, so that
# kernels are not compiled anew for each constant.
NO_LIMIT: Any = np.int64(0)
STAGE: Any = np.int64(1)
REGION: Any = np.int64(2)


class DynamicArrays(NamedTuple):
    """The arrays of a dynamic search."""

    tables: Tables
    pairs: State
    spending: Spending


def make_arrays(
    plan: RegionPlan, used: npt.NDArray[np.uint8], board: npt.NDArray[np.int32], heuristic: int, turns: bool
) -> DynamicArrays:
    """The arrays of a region, before its first cell is decided.

    ``used``: 1 for pieces outside the region; ``board``: oriented pieces by cell of the board; ``turns``: whether
    pieces may be turned.
    """
    free = np.flatnonzero((used == 0) & (plan.is_clue == 0) & (plan.kind_of_piece >= 0))
    group = np.where(plan.identical[free] >= 0, plan.identical[free], free)
    by_group = np.argsort(group, kind="stable")
    free, group = free[by_group], group[by_group]
    oriented = (free[:, None] * 4 + np.arange(4)).ravel()
    colours = colours_by_axis(plan.quads, turns, int(plan.quads.max()))
    outside = {int(joint): int(colours[board[cell], side]) for joint, cell, side in plan.outside}
    values = np.unique(np.concatenate([[0], colours[oriented].ravel(), list(outside.values())]).astype(np.int64))
    quads = np.searchsorted(values, colours[oriented])
    shown = np.full(plan.around.shape, -1, dtype=np.int32)
    shown[plan.around == RIM] = 0
    beyond = plan.around == OUTSIDE
    shown[beyond] = np.searchsorted(values, [outside[joint] for joint in plan.joint_at[beyond].tolist()])
    class_of_piece = np.unique(group, return_inverse=True)[1].tolist()
    options = Options(heuristic=Heuristic(max(heuristic, 0)), preemption=False)
    tables = make_tables(
        quads=quads[::4].tolist(),
        class_of_piece=class_of_piece,
        colours=len(values),
        neighbour=np.where(plan.around >= 0, plan.around, -1).astype(np.int32).ravel(),
        shown=shown.ravel(),
        turns=turns,
        opposite_pairs=True,
    )
    state = empty_state(tables, options)
    return DynamicArrays(tables, state, _spending(plan, tables, oriented, quads))


def _spending(plan: RegionPlan, tables: Tables, oriented: Ints, quads: Ints) -> Spending:
    n, pieces, words = len(plan.cells), tables.pieces, max(1, -(-len(oriented) // 64))

    def ints(*shape: int, kind: Any = np.int64) -> Any:
        return np.zeros(shape, dtype=kind)

    def sets(size: int) -> Words:
        return np.zeros(size, dtype=np.uint64)

    number = np.arange(len(oriented))

    def as_set(members: npt.NDArray[np.bool_]) -> Words:
        chosen, bits = number[members], sets(words)
        np.bitwise_or.at(bits, chosen >> 6, np.uint64(1) << (chosen & 63).astype(np.uint64))
        return bits

    looks = plan.distinct[oriented] > 0
    patterns = plan.pattern_of[oriented]
    by_pattern = [as_set(looks & (patterns == pattern)) for pattern in range(len(plan.kind_of))]
    mask = [as_set(quads[:, side] == colour) for side in range(4) for colour in range(tables.colours)]
    twin = np.full(pieces, -1, dtype=np.int32)
    later = np.flatnonzero(tables.previous_duplicate >= 0)
    twin[tables.previous_duplicate[later]] = later
    return Spending(
        origin=oriented.astype(np.int64),
        twin=twin,
        fit=np.concatenate([by_pattern[pattern] for pattern in plan.pattern_at]),
        mask=np.concatenate(mask),
        free=sets(words),
        placed=sets(words),
        min_level=ints(n + 2, n, kind=np.uint8),
        witness=np.full((n + 2, n), -1, dtype=np.int32),
        vacant=ints(n + 1),
        cell=ints(n + 1),
        max_level=ints(n + 1),
        limit=ints(n + 1),
        stage=ints(n + 1),
        stage_left=ints(n + 1),
        members=sets(0),
        own_pair=ints(n, kind=np.int32),
        pair_count=ints(len(tables.pair_first), kind=np.int32),
        stage_pair_count=ints(len(tables.pair_first), kind=np.int32),
        holder=ints(pieces, kind=np.int32),
        reason=sets(pieces * tables.words),
        nothing_left=sets(tables.words),
        excluded=sets((n + 1) * words),
    )


def members_of(scheme: SearchScheme, words: int) -> Words:
    """uint64 (stages*words,): the cells of each stage, as sets."""
    bits = np.zeros(len(scheme.length) * words, dtype=np.uint64)
    _write_members(scheme, words, bits)
    return bits


@flat_kernel
def _write_members(scheme: SearchScheme, words: int, bits: Words) -> None:
    """Write the result of `members_of`."""
    for stage in range(len(scheme.length)):
        for i in range(scheme.first_member[stage], scheme.first_member[stage] + scheme.length[stage]):
            number = scheme.members[i]
            bits[stage * words + (number >> 6)] |= np.uint64(1) << np.uint64(number & 63)
