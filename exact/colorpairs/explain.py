"""Why a contradiction holds: the levels whose placements suffice for it (seed 000, 5.2), as bit vectors.

Every function adds to ``s.explanation``. Rim and clues need no level: no choice put them there.
"""

from __future__ import annotations

from exact.colorpairs.colours import CAUSE_ASKING, CAUSE_CYCLE, CAUSE_SHARED, chain_colours
from exact.colorpairs.state import State
from exact.colorpairs.tables import Tables
from lns_support.bits import bit, lowest_bit
from lns_support.jit import inline_flat_kernel


@inline_flat_kernel
def blame(s: State, cell: int) -> None:
    """The placement on ``cell`` is part of the reason."""
    level = s.level[cell]
    if level >= 0:
        s.explanation[level >> 6] |= bit(level)


@inline_flat_kernel
def blame_side(t: Tables, s: State, cell: int, side: int) -> None:
    """The neighbour that shows ``side`` to ``cell`` is part of the reason (nothing for the rim)."""
    neighbour = t.neighbour[cell * 4 + (side & 3)]
    if neighbour >= 0:
        blame(s, neighbour)


@inline_flat_kernel
def blame_demand(t: Tables, s: State, cell: int, first: int, second: int, span: int) -> bool:
    """Blame the two neighbours that made ``cell`` demand a pair; False when its known sides do not.

    A filled cell still knows the sides that it knew when it was filled, so its neighbours there are older.
    """
    for side in range(4):
        if s.side[cell * 4 + side] == first and s.side[cell * 4 + ((side + span) & 3)] == second:
            blame_side(t, s, cell, side)
            blame_side(t, s, cell, side + span)
            return True
    return False


@inline_flat_kernel
def explain_missing_pair(t: Tables, s: State) -> None:
    """A cell demands a pair that no piece of the puzzle has: its two neighbours."""
    for word in range(t.words):
        cells = s.demand_set[word]
        if cells:
            cell = (word << 6) + lowest_bit(cells)
            for side in range(4):
                colour = s.side[cell * 4 + side]
                after = s.side[cell * 4 + ((side + 1) & 3)]
                across = s.side[cell * 4 + ((side + 2) & 3)]
                if colour >= 0 and after >= 0 and t.consecutive[colour * t.colours + after] == 0:
                    blame_side(t, s, cell, side)
                    blame_side(t, s, cell, side + 1)
                    return
                if colour >= 0 and across >= 0 and t.opposite[colour * t.colours + across] == 0:
                    blame_side(t, s, cell, side)
                    blame_side(t, s, cell, side + 2)
                    return


@inline_flat_kernel
def explain_pair(t: Tables, s: State, pair: int, with_taken: bool) -> None:
    """Why the cells of Demand(pair) need all pieces of Offer(pair), or more.

    Unavailable pieces: their placement, or, when older, the two neighbours that made their cell demand the pair
    (the cell then counts among the demanding ones). ``with_taken``: pieces preempted by other pairs were not counted;
    their recorded reasons join, and the older neighbours are left out of it, because a cell that demanded this pair may
    be one that the other pair claims.
    """
    first, second, span = t.pair_first[pair], t.pair_second[pair], t.pair_span[pair]
    for i in range(t.member_start[pair], t.member_start[pair + 1]):
        piece = t.member[i]
        cell = s.where[piece]
        if cell >= 0:
            own = s.level[cell]
            if own >= 0 and (with_taken or not blame_demand(t, s, cell, first, second, span)):
                s.explanation[own >> 6] |= bit(own)
        elif with_taken:
            add_reason(t, s, piece, pair)
    for word in range(t.words):
        cells = s.demand_set[pair * t.words + word]
        while cells:
            cell = (word << 6) + lowest_bit(cells)
            cells ^= bit(cell)
            blame_demand(t, s, cell, first, second, span)


@inline_flat_kernel
def add_reason(t: Tables, s: State, piece: int, pair: int) -> None:
    """The recorded reason why ``piece`` is preempted by a pair other than ``pair``, if it is."""
    taker = s.preempted_by[piece]
    if taker and taker != pair:
        for word in range(t.words):
            s.explanation[word] |= s.reason[taker * t.words + word]


@inline_flat_kernel
def explain_values(t: Tables, s: State, cell: int, pair: int, with_taken: bool) -> None:
    """Why ``cell`` had no other values: its neighbours, and where the other fitting pieces of ``pair`` are.

    ``pair`` < 0: the values were those of the single colour ``-1 - pair``.
    """
    for side in range(4):
        neighbour = t.neighbour[cell * 4 + side]
        if neighbour >= 0 and s.grid[neighbour] >= 0:
            blame(s, neighbour)
    if pair < 0:
        for i in range(t.holder_start[-1 - pair], t.holder_start[-pair]):
            where = s.where[t.holder[i]]
            if where >= 0:
                blame(s, where)
        return
    turn = position(t, s, cell, pair)
    for i in range(t.entry_start[pair], t.entry_start[pair + 1]):
        piece = t.entry[i] >> 2
        where = s.where[piece]
        if where < 0 and not with_taken:
            continue
        if fits(t, s, cell, piece * 4 + ((t.entry[i] + turn) & 3)):
            if where >= 0:
                blame(s, where)
            else:
                add_reason(t, s, piece, pair)


@inline_flat_kernel
def position(t: Tables, s: State, cell: int, pair: int) -> int:
    """The side from which on ``cell`` demands ``pair``."""
    for side in range(3):
        if (
            s.side[cell * 4 + side] == t.pair_first[pair]
            and s.side[cell * 4 + ((side + t.pair_span[pair]) & 3)] == t.pair_second[pair]
        ):
            return side
    return 3


@inline_flat_kernel
def fits(t: Tables, s: State, cell: int, oriented: int) -> bool:
    """Whether an oriented piece shows ``cell``'s known sides, and no grey inside the board."""
    for side in range(4):
        wanted = s.side[cell * 4 + side]
        shown = t.quad[oriented * 4 + side]
        if wanted != shown and (wanted >= 0 or shown == 0):
            return False
    return True


@inline_flat_kernel
def explain(t: Tables, s: State, cause: int, with_taken: bool) -> None:
    """``s.explanation`` := the levels that suffice for ``cause``, as told by `assign`, the filters or the bounds."""
    for word in range(t.words):
        s.explanation[word] = 0
    if cause == 0:
        explain_missing_pair(t, s)
    elif cause < CAUSE_ASKING:
        explain_pair(t, s, cause, with_taken)
    elif cause < CAUSE_SHARED:
        colour = cause - CAUSE_ASKING
        explain_colour(t, s, colour)
        for cell in range(t.cells):
            if s.grid[cell] < 0:
                for side in range(4):
                    if s.side[cell * 4 + side] == colour:
                        blame_side(t, s, cell, side)
                        break
    elif cause < CAUSE_CYCLE:
        explain_colour(t, s, cause - CAUSE_SHARED)
    else:
        length = chain_colours(t, s, cause - CAUSE_CYCLE)
        for i in range(length):
            explain_colour(t, s, s.chain[i])


@inline_flat_kernel
def explain_colour(t: Tables, s: State, colour: int) -> None:
    """All placements of pieces with ``colour``: they make the colour's free and demanded edges what they are."""
    for i in range(t.holder_start[colour], t.holder_start[colour + 1]):
        where = s.where[t.holder[i]]
        if where >= 0:
            blame(s, where)
