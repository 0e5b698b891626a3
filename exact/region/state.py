"""The flat arrays of a region search: what it knows before it starts, and its room to work in.

A *joint* is an inner edge of the board, numbered ``2*cell`` (right of the cell) and ``2*cell + 1`` (below it). When a
cell is filled, each of its joints is *known* (the colour asked for comes from outside or from an earlier cell), *open*
(a later cell will have to answer) or *wild* (beyond it a cell that stays empty: counts nothing).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

AHEAD = 8  # cells looked at before their turn
TRACKED = 8  # joints that the bound of `exact.region.cost_to_go` follows at a depth, at most
PARTS = 4  # classes of colours that are told apart by the bound
Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
RIM, OUTSIDE, WILD = -1, -2, -3


class Rest(NamedTuple):
    """Tables for a region of n free cells in one order, with so many colourings per depth at most.

    ``need`` int16: the tables, that of depth d from ``at[d]`` on. ``joint``, ``stride`` (n+1, TRACKED): the joints
    open at a depth, ``tracked`` (n+1,) of them. ``carry``, ``carry_stride`` (n, TRACKED): those of the next depth
    that are open before this one's cell is filled, ``carried`` (n,) of them; ``carry_here``: their stride here;
    ``carry_turn``: their stride in ``least``. ``least`` int16, from ``first[d]`` on: the least that the cells
    from depth d on cost, and the price of the cell before them, by what is open before that one is filled.
    ``opens`` int32, by depth and bit: what the piece adds to the place in the next table; ``price``, by pattern and
    bit. Written by a search: ``paid`` (n+1,) units before a depth; ``keep`` (n+1,) place in the next table without the
    piece; ``top`` (n+1,) mismatches that the cell may have.
    ``digit`` (colours1,): number of a colour among those that free pieces show in its part; ``radix``, by joint.
    ``line``, ``lows`` int16, ``turn``, ``piece`` (4, bits): room to work in.
    """

    need: npt.NDArray[np.int16]
    at: Ints
    tracked: Ints
    joint: Ints
    stride: Ints
    carried: Ints
    carry: Ints
    carry_stride: Ints
    carry_here: Ints
    carry_turn: Ints
    keep: Ints
    least: npt.NDArray[np.int16]
    first: Ints
    top: Ints
    opens: npt.NDArray[np.int32]
    price: Ints
    paid: Ints
    digit: Ints
    radix: Ints
    line: npt.NDArray[np.int16]
    lows: npt.NDArray[np.int16]
    turn: Ints
    piece: Ints


class RegionPlan(NamedTuple):
    """A region and the order in which its n free cells are filled; p patterns of grey sides, k kinds of pieces.

    By number of the cell: ``cells`` int64 (n,) on the board; ``pattern_at`` (n,); ``around`` (n, 4) number of the
    neighbour, or RIM, OUTSIDE, WILD; ``joint_at`` (n, 4).
    By depth, written by `set_order`: ``order`` (n,) number of the cell; ``pattern``; ``known``, ``open`` (n,) how many
    joints; ``side``, ``joint`` (n, 4) the known ones first, then the others; ``demand`` (n, 4) half-edges that leave
    the balance, 2 for an open joint, 1 for a wild one; ``wild`` (n+1,) wild joints still to come; ``ahead``,
    ``ahead_known`` (n, AHEAD) the next depths whose cells have two known joints or more before their turn, -1 = none,
    and how many.
    ``kind_of`` (p,): kind of a pattern, that is the pattern up to rotation; ``turns`` (k,): oriented pieces that a
    piece of this kind has per pattern; ``need`` (k,) cells of this kind.
    ``outside`` (o, 3): joint, cell beyond it, that cell's side; ``of_clue`` uint8 (pieces,): bound to a clue.
    ``quads`` (4*pieces, 4); ``pattern_of`` (4*pieces,) and ``kind_of_piece`` (pieces,), -1 = fits no cell here;
    ``first`` uint8 (4*pieces,): 0 for a rotation that looks like an earlier one; ``twin`` (pieces,): number of a set of
    equal pieces, -1 = alone. ``part`` (colours1,): colours of different parts never meet on a joint of this region.
    """

    cells: Ints
    pattern_at: Ints
    around: Ints
    joint_at: Ints
    order: Ints
    pattern: Ints
    known: Ints
    open: Ints
    side: Ints
    joint: Ints
    demand: Ints
    wild: Ints
    ahead: Ints
    ahead_known: Ints
    kind_of: Ints
    turns: Ints
    need: Ints
    outside: Ints
    of_clue: npt.NDArray[np.uint8]
    quads: Ints
    pattern_of: Ints
    kind_of_piece: Ints
    first: npt.NDArray[np.uint8]
    twin: Ints
    part: Ints


class RegionWork(NamedTuple):
    """Room for one search; no state between two regions but ``cap``, which belongs to the caller.

    ``cap`` int64 (n+1,): mismatches that may have been spent once a depth is filled; no limit when made. ``found``
    int32 (n,): the best refill, oriented pieces by depth. ``state``: scalars of the (paused) search, see
    `exact.region.kernel`.
    ``mask``: oriented pieces, one bit each, by pattern, side, colour and word; ``valid`` by pattern and word; ``free``
    by kind and word. ``rest``: tables of what the rest costs, empty unless a search is priced.
    """

    mask: Words
    valid: Words
    free: Words
    oriented: Ints
    shows: Ints
    next_twin: Ints
    last_twin: Ints
    pieces: Ints
    joint_colour: Ints
    balance: Ints
    lacking: Ints
    odd: Ints
    spent: Ints
    bound: Ints
    level: Ints
    word: Ints
    bits: Words
    chosen: Ints
    cap: Ints
    state: Ints
    found: npt.NDArray[np.int32]
    rest: Rest
