"""The state of a paused ColorPairs search, as flat arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from exact.colorpairs.options import Heuristic, Options
from exact.colorpairs.tables import I32, SLOTS, Tables

U64 = npt.NDArray[np.uint64]

# counters
DEPTH, NODES, SOLUTIONS, EXHAUSTED, FRAME_OPEN, THREE_SIDED, PREEMPTED = range(7)
CONTRADICTIONS, PREEMPTIONS, LEVELS_JUMPED, SHAVING_TESTS, DEEPEST = range(7, 12)
COUNTERS = 12

UNKNOWN = -1
ROOT = -1  # level of a clue, which is placed before any choice


class Switches(NamedTuple):
    """`Options` in the form that the kernels take."""

    heuristic: int
    motifs: bool
    instantiation: bool
    preemption: bool
    backjumping: bool
    shaving: bool
    values: bool
    single_colours: bool
    shared_edges: bool
    cycles: bool
    random_cell: bool

    @classmethod
    def of(cls, options: Options) -> Switches:
        switches = cls(int(options.heuristic), *(bool(getattr(options, name)) for name in cls._fields[1:]))
        return switches._replace(motifs=options.motifs and options.heuristic is not Heuristic.ROW_MAJOR)


class State(NamedTuple):
    """The arrays of a paused search. A *level* is the depth of a placement in the tree; clues have the level `ROOT`.

    Sets of cells or levels are bit vectors of W = `Tables.words` 64-bit words. C: cells, P: pairs, K: colours.
    """

    counters: npt.NDArray[np.int64]  # (COUNTERS,): see the names above
    # the board
    grid: I32  # (C,): piece*4 + rotation on a cell, -1 = empty
    cell_of: I32  # (N,): cell of a piece, -1 = free
    level: I32  # (C,): level of the placement on a cell
    side: I32  # (C*4,): colour that a neighbour or the rim shows to a side of a cell, -1 = unknown
    known_sides: I32  # (C,): how many sides of a cell are known
    # ColorPairs (3.1, 3.2)
    offer: I32  # (P,): |Offer(pair)|
    demand: I32  # (P,): |Demand(pair)|
    demand_set: U64  # (P*W,): Demand(pair) as a set of cells
    cell_pairs: I32  # (C*6,): the pairs that a cell demands
    cell_pair_count: I32  # (C,): how many
    # branching (5.1)
    surrounded: U64  # (W,): empty cells with two or more known sides
    three_sided: U64  # (W,): empty cells with three or more; their number is counters[THREE_SIDED]
    surrounded_neighbours: I32  # (C,): neighbours of a cell in `surrounded`
    # preemption (4.1)
    preempted_by: I32  # (N,): the pair that preempts a piece, 0 = none
    nb_preempted: I32  # (P,): pieces of Offer(pair) that other pairs preempt
    preempted: I32  # (N,): stack of preempted pieces; its height is counters[PREEMPTED]
    preempted_height: I32  # (C+1,): by level, the height of that stack before the preemptions of the level
    preemption_reason: U64  # (P*W,): explanation of the preemption by a pair, as a set of levels
    # single colours (3.2, 4.2)
    half_edges: I32  # (K,): sides of free pieces with a colour
    demanded_edges: I32  # (K,): known sides of empty cells with a colour
    colour_offer: I32  # (K,): free pieces with a colour
    colour_demand: I32  # (K,): empty cells with a known side of a colour
    # frames of the search, by level
    frame_cell: I32  # (C+1,): the cell chosen
    frame_pair: I32  # (C+1,): the pair whose pieces were listed; -1 - colour where it was a single colour
    frame_next: I32  # (C+1,): index of the next value to try
    frame_end: I32  # (C+1,): end of the level's values
    values: I32  # piece*4 + rotation to try, level after level
    value_probability: npt.NDArray[np.float64]  # the probability of each value
    conflict: U64  # ((C+1)*W,): levels that explain the failures so far
    pairs_before: I32  # ((C+1)*4,): `cell_pair_count` of the neighbour at each side before the placement
    # other
    explanation: U64  # (W,): levels that explain the last contradiction
    chain: I32  # (rim pieces + 2,): colours of a chain of rim pieces
    first_solution: I32  # (C,): `grid` of the first solution
    random: U64  # (1,): state of the random choices


def empty_state(tables: Tables, options: Options, *, any_pair: bool = True, seed: int = 0) -> State:
    """The state of the empty board, before the rim and the clues are placed (see `exact.colorpairs.kernel.prepare`).

    ``any_pair``: at every node some cell demands a pair, because the board has a frame. ``seed``: for random choices.
    """
    cells, pairs, words = tables.cells, len(tables.pair_first), tables.words

    def ints(*shape: int, fill: int = 0) -> I32:
        return np.full(int(np.prod(shape)), fill, dtype=np.int32)

    def bits(*shape: int) -> U64:
        return np.zeros(int(np.prod(shape)), dtype=np.uint64)

    pieces = max(cells, tables.pieces)
    offer = np.diff(tables.pair_piece_start).astype(np.int32)
    if not options.opposite:
        offer[tables.pair_span == 2] += 1 << 20  # more pieces than cells, so the pair causes no deduction
    longest = int(np.diff(tables.pair_oriented_start).max(initial=0))
    extra = 0
    if not any_pair:  # values of single colours, and of all pieces at the start of each part of the board
        longest = max(longest, 4 * int(np.diff(tables.colour_piece_start)[:-1].max(initial=0)))
        extra = 4 * tables.pieces * _parts(tables.neighbour)
    colour_rows = tables.quad.reshape(-1, 4)[::4]
    return State(
        counters=np.zeros(COUNTERS, dtype=np.int64),
        grid=ints(cells, fill=-1),
        cell_of=ints(pieces, fill=-1),
        level=ints(cells, fill=ROOT),
        side=ints(cells, 4, fill=UNKNOWN),
        known_sides=ints(cells),
        offer=offer,
        demand=ints(pairs),
        demand_set=bits(pairs, words),
        cell_pairs=ints(cells, SLOTS),
        cell_pair_count=ints(cells),
        surrounded=bits(words),
        three_sided=bits(words),
        surrounded_neighbours=ints(cells),
        preempted_by=ints(pieces),
        nb_preempted=ints(pairs),
        preempted=ints(pieces),
        preempted_height=ints(cells + 1),
        preemption_reason=bits(pairs, words),
        half_edges=np.bincount(colour_rows.ravel(), minlength=tables.colours).astype(np.int32),
        demanded_edges=ints(tables.colours),
        colour_offer=np.diff(tables.colour_piece_start).astype(np.int32),
        colour_demand=ints(tables.colours),
        frame_cell=ints(cells + 1, fill=-1),
        frame_pair=ints(cells + 1),
        frame_next=ints(cells + 1),
        frame_end=ints(cells + 1),
        values=ints((cells + 1) * max(longest, 4) + extra),
        value_probability=np.zeros((cells + 1) * max(longest, 4) + extra),
        conflict=bits(cells + 1, words),
        pairs_before=ints(cells + 1, 4),
        explanation=bits(words),
        chain=ints(tables.rim_pieces + 2),
        first_solution=ints(cells, fill=-1),
        random=np.array([seed], dtype=np.uint64),
    )


def _parts(neighbour: I32) -> int:
    """Number of connected parts of the board; a hole counts as one."""
    table = neighbour.reshape(-1, 4)
    unseen = set(range(len(table)))
    parts = 0
    while unseen:
        parts += 1
        waiting = [unseen.pop()]
        while waiting:
            around = {int(other) for other in table[waiting.pop()] if other >= 0} & unseen
            unseen -= around
            waiting += around
    return parts
