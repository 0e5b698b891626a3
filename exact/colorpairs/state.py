"""Everything that a paused ColorPairs search needs to go on, as flat arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from exact.colorpairs.options import Heuristic, Options
from exact.colorpairs.tables import I32, SLOTS, Tables

U64 = npt.NDArray[np.uint64]

# counters
DEPTH, NODES, SOLUTIONS, EXHAUSTED, TRYING, CROWDED, PREEMPTED = range(7)
CONTRADICTIONS, PREEMPTIONS, LEVELS_JUMPED, SHAVED, DEEPEST = range(7, 12)
COUNTERS = 12

UNKNOWN = -1
ROOT = -1  # level of a clue: no choice put it there


class Switches(NamedTuple):
    """`Options` as the kernels see them."""

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

    @classmethod
    def of(cls, options: Options) -> Switches:
        switches = cls(int(options.heuristic), *(bool(getattr(options, name)) for name in cls._fields[1:]))
        return switches._replace(motifs=options.motifs and options.heuristic is not Heuristic.ROW_MAJOR)


class State(NamedTuple):
    """Sets of cells, pieces and levels are bit vectors of ``words`` 64-bit words; "level" = depth of a placement.

    Board: ``grid[cell]`` = piece*4 + rotation or -1, ``where[piece]`` = cell or -1, ``level[cell]`` (`ROOT` for clues),
    ``side[cell*4 + side]`` = colour shown by a neighbour or the rim, -1 = unknown; ``known[cell]`` = how many.
    ColorPairs: ``offer[pair]`` = |Offer|, ``demand[pair]`` = |Demand|, ``demand_set`` = Demand as a set of cells,
    ``cell_pairs[cell*6 + i]``, ``cell_pair_count``: the pairs that a cell demands.
    Branching: ``surrounded`` = empty cells with two or more known sides, ``crowded`` = three or more (their number is
    counters[CROWDED]), ``beside[cell]`` = surrounded neighbours of a cell.
    Preemption: ``preempted_by[piece]`` = pair or 0, ``taken[pair]`` = nbPreempted: pieces of Offer taken by others;
    ``preempted`` = stack of pieces, ``preempted_mark[level]`` = its height before that level's preemptions;
    ``reason[pair]`` = explanation of the preemption by that pair, as a set of levels.
    Colours: ``half_edges[k]`` on free pieces, ``wanted[k]`` sides shown to empty cells, ``having[k]`` free pieces,
    ``asking[k]`` empty cells.
    Frames, by level: ``frame_cell``; ``frame_pair``, whose pieces were listed (-1 - colour for those of a colour);
    ``frame_next``, ``frame_end`` into ``values`` (piece*4 + rotation still to try; ``worth``: their probability);
    ``conflict`` = levels that explain the failures so far; ``undo_pairs[level*4 + side]`` = a neighbour's pair count.
    ``explanation``: the last contradiction's levels. ``chain``: colours of a rim chain. ``first``: a solution.
    """

    counters: npt.NDArray[np.int64]
    grid: I32
    where: I32
    level: I32
    side: I32
    known: I32
    offer: I32
    demand: I32
    demand_set: U64
    cell_pairs: I32
    cell_pair_count: I32
    surrounded: U64
    crowded: U64
    beside: I32
    preempted_by: I32
    taken: I32
    preempted: I32
    preempted_mark: I32
    reason: U64
    half_edges: I32
    wanted: I32
    having: I32
    asking: I32
    frame_cell: I32
    frame_pair: I32
    frame_next: I32
    frame_end: I32
    values: I32
    worth: npt.NDArray[np.float64]
    conflict: U64
    undo_pairs: I32
    explanation: U64
    chain: I32
    first: I32


def empty_state(tables: Tables, options: Options) -> State:
    """The empty board with its rim: no demand yet (see `exact.colorpairs.search.ColorPairs`)."""
    cells, pairs, words = tables.cells, len(tables.pair_first), tables.words

    def ints(*shape: int, fill: int = 0) -> I32:
        return np.full(int(np.prod(shape)), fill, dtype=np.int32)

    def bits(*shape: int) -> U64:
        return np.zeros(int(np.prod(shape)), dtype=np.uint64)

    offer = np.diff(tables.member_start).astype(np.int32)
    if not options.opposite:
        offer[tables.pair_span == 2] += 1 << 20  # so many pieces that the pair never says anything
    longest = int(np.diff(tables.entry_start).max(initial=0))
    colour_rows = tables.quad.reshape(-1, 4)[::4]
    return State(
        counters=np.zeros(COUNTERS, dtype=np.int64),
        grid=ints(cells, fill=-1),
        where=ints(cells, fill=-1),
        level=ints(cells, fill=ROOT),
        side=ints(cells, 4, fill=UNKNOWN),
        known=ints(cells),
        offer=offer,
        demand=ints(pairs),
        demand_set=bits(pairs, words),
        cell_pairs=ints(cells, SLOTS),
        cell_pair_count=ints(cells),
        surrounded=bits(words),
        crowded=bits(words),
        beside=ints(cells),
        preempted_by=ints(cells),
        taken=ints(pairs),
        preempted=ints(cells),
        preempted_mark=ints(cells + 1),
        reason=bits(pairs, words),
        half_edges=np.bincount(colour_rows.ravel(), minlength=tables.colours).astype(np.int32),
        wanted=ints(tables.colours),
        having=np.diff(tables.holder_start).astype(np.int32),
        asking=ints(tables.colours),
        frame_cell=ints(cells + 1, fill=-1),
        frame_pair=ints(cells + 1),
        frame_next=ints(cells + 1),
        frame_end=ints(cells + 1),
        values=ints((cells + 1) * max(longest, 4)),
        worth=np.zeros((cells + 1) * max(longest, 4)),
        conflict=bits(cells + 1, words),
        undo_pairs=ints(cells + 1, 4),
        explanation=bits(words),
        chain=ints(tables.rim_pieces + 2),
        first=ints(cells, fill=-1),
    )
