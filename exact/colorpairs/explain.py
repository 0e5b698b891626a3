"""Explanations: sets of levels whose placements suffice for a contradiction (Benoist & Bourreau 2008, 5.2).

A level is the depth of a placement in the search tree. Most functions add levels to the bit set ``s.explanation``. Rim
and clues are never added, as they are not choices. The *conflict set* of a level collects, from the explanations of all
failures there so far, the smaller levels.
"""

from __future__ import annotations

import numpy as np

from lns.exact.colorpairs.moves import CAUSE_COLOUR_DEMAND, CAUSE_CYCLE, CAUSE_SHARED_EDGES, chain_colours
from lns.exact.colorpairs.state import U64, State, Tables
from lns.exact.kernels.bits import bit, highest_bit, lowest_bit
from lns.exact.kernels.jit import inline_flat_kernel

NO_BITS = np.uint64(0)


@inline_flat_kernel
def clear(t: Tables, sets: U64, row: int) -> None:
    """Empty the bit set with index ``row`` in the array ``sets``."""
    for word in range(t.words):
        sets[row * t.words + word] = NO_BITS


@inline_flat_kernel
def add(t: Tables, sets: U64, row: int, others: U64, other: int) -> None:
    """Add the bit set with index ``other`` in the array ``others`` to that with index ``row`` in the array ``sets``."""
    for word in range(t.words):
        sets[row * t.words + word] |= others[other * t.words + word]


@inline_flat_kernel
def add_to_conflict(t: Tables, s: State, level: int) -> None:
    """Add ``s.explanation`` to the conflict set of ``level``."""
    add(t, s.conflict, level, s.explanation, 0)


@inline_flat_kernel
def last_conflict(s: State, words: int, level: int) -> int:
    """Return the deepest level in the conflict set of ``level``; -1 if the set is empty."""
    for back in range(words):
        word = words - 1 - back
        if s.conflict[level * words + word]:
            return int(word * 64 + highest_bit(s.conflict[level * words + word]))
    return -1


@inline_flat_kernel
def explains_level(s: State, level: int) -> bool:
    """Return whether ``s.explanation`` contains ``level``."""
    return bool(s.explanation[level >> 6] & bit(level))


@inline_flat_kernel
def add_placement(s: State, cell: int) -> None:
    """Add the level of the placement on ``cell`` to ``s.explanation``, unless it is a clue."""
    level = s.level[cell]
    if level >= 0:
        s.explanation[level >> 6] |= bit(level)


@inline_flat_kernel
def add_piece(s: State, piece: int) -> None:
    """Add the level of the placement of ``piece`` to ``s.explanation``, if the piece is placed."""
    cell = s.cell_of[piece]
    if cell >= 0:
        add_placement(s, cell)


@inline_flat_kernel
def add_neighbour(t: Tables, s: State, cell: int, side: int) -> None:
    """Add the placement on the neighbour of ``cell`` at ``side`` to ``s.explanation``; nothing at the rim."""
    neighbour = t.neighbour[cell * 4 + (side & 3)]
    if neighbour >= 0:
        add_placement(s, neighbour)


@inline_flat_kernel
def add_demanding_neighbours(t: Tables, s: State, cell: int, first: int, second: int, span: int) -> bool:
    """Add the two neighbours that make ``cell`` demand a colour pair to ``s.explanation``.

    ``first``, ``second``: the colours; ``span``: 1 if on consecutive sides, 2 if on opposite ones. Return whether known
    sides of the cell have the colours. If the cell is filled, these neighbours were filled before it.
    """
    for side in range(4):
        if s.side[cell * 4 + side] == first and s.side[cell * 4 + ((side + span) & 3)] == second:
            add_neighbour(t, s, cell, side)
            add_neighbour(t, s, cell, side + span)
            return True
    return False


@inline_flat_kernel
def explain_missing_pair(t: Tables, s: State) -> None:
    """Explain why a cell demands a colour pair that no piece has, by the two neighbours with these colours."""
    for word in range(t.words):
        cells = s.demand_set[word]
        if cells:
            cell = (word << 6) + lowest_bit(cells)
            for side in range(4):
                colour = s.side[cell * 4 + side]
                for span in range(1, 3):
                    other = s.side[cell * 4 + ((side + span) & 3)]
                    pairs = t.consecutive if span == 1 else t.opposite
                    if colour >= 0 and other >= 0 and pairs[colour * t.colours + other] == 0:
                        add_neighbour(t, s, cell, side)
                        add_neighbour(t, s, cell, side + span)
                        return


@inline_flat_kernel
def explain_pair(t: Tables, s: State, pair: int, with_preempted: bool) -> None:
    """Explain why a colour pair has at least as many demanding cells as free pieces, |Demand| >= |Offer|.

    A demanding cell is explained by the two neighbours with the colours; a placed piece of the colour pair by its
    placement or, if its cell demanded the colour pair, by the two earlier neighbours of that cell. ``with_preempted``:
    pieces that other colour pairs preempt were not counted as free. Then the recorded reasons of these preemptions are
    added, and a placed piece is explained by its placement, because another colour pair may need its cell.
    """
    first, second, span = t.pair_first[pair], t.pair_second[pair], t.pair_span[pair]
    for i in range(t.pair_piece_start[pair], t.pair_piece_start[pair + 1]):
        piece = t.pair_piece[i]
        cell = s.cell_of[piece]
        if cell >= 0:
            own = s.level[cell]
            if own >= 0 and (with_preempted or not add_demanding_neighbours(t, s, cell, first, second, span)):
                s.explanation[own >> 6] |= bit(own)
        elif with_preempted:
            add_preemption_reason(t, s, piece, pair)
    for word in range(t.words):
        cells = s.demand_set[pair * t.words + word]
        while cells:
            cell = (word << 6) + lowest_bit(cells)
            cells ^= bit(cell)
            add_demanding_neighbours(t, s, cell, first, second, span)


@inline_flat_kernel
def add_preemption_reason(t: Tables, s: State, piece: int, pair: int) -> None:
    """Add the recorded reason why a colour pair other than ``pair`` preempts ``piece``, if one does."""
    preempting = s.preempted_by[piece]
    if preempting and preempting != pair:
        add(t, s.explanation, 0, s.preemption_reason, preempting)


@inline_flat_kernel
def explain_values(t: Tables, s: State, cell: int, pair: int, with_preempted: bool) -> None:
    """Explain why no oriented pieces but those listed may be placed on ``cell``, which demands a colour pair.

    The reasons are the cell's filled neighbours, and the placements of other pieces with the colour pair that would
    fit. If ``pair`` < 0, the pieces were listed for the single colour ``-1 - pair``, where K stands for any.
    ``with_preempted``: pieces that other colour pairs preempt were not listed.
    """
    for side in range(4):
        neighbour = t.neighbour[cell * 4 + side]
        if neighbour >= 0 and s.grid[neighbour] >= 0:
            add_placement(s, neighbour)
    if pair < 0:
        explain_colour(t, s, -1 - pair)
        return
    turn = demand_side(t, s, cell, pair)
    for i in range(t.pair_oriented_start[pair], t.pair_oriented_start[pair + 1]):
        piece = t.pair_oriented[i] >> 2
        placed_on = s.cell_of[piece]
        if placed_on < 0 and not with_preempted:
            continue
        if fits(t, s, cell, piece * 4 + ((t.pair_oriented[i] + turn) & 3)):
            if placed_on >= 0:
                add_placement(s, placed_on)
            else:
                add_preemption_reason(t, s, piece, pair)


@inline_flat_kernel
def demand_side(t: Tables, s: State, cell: int, pair: int) -> int:
    """Return the side of ``cell`` that must show the first colour of ``pair``, a colour pair that the cell demands."""
    for side in range(3):
        after = s.side[cell * 4 + ((side + t.pair_span[pair]) & 3)]
        if s.side[cell * 4 + side] == t.pair_first[pair] and after == t.pair_second[pair]:
            return side
    return 3


@inline_flat_kernel
def fits(t: Tables, s: State, cell: int, oriented: int) -> bool:
    """Return whether an oriented piece matches the known sides of ``cell`` and shows no grey on the unknown ones."""
    for side in range(4):
        wanted = s.side[cell * 4 + side]
        shown = t.quad[oriented * 4 + side]
        if wanted != shown and (wanted >= 0 or shown <= 0):
            return False
    return True


@inline_flat_kernel
def explain_cause(t: Tables, s: State, cause: int, with_preempted: bool) -> None:
    """Set ``s.explanation`` to levels that suffice for ``cause``: a colour pair, or a CAUSE constant plus a colour."""
    clear(t, s.explanation, 0)
    if cause == 0:
        explain_missing_pair(t, s)
    elif cause < CAUSE_COLOUR_DEMAND:
        explain_pair(t, s, cause, with_preempted)
    elif cause < CAUSE_SHARED_EDGES:
        colour = cause - CAUSE_COLOUR_DEMAND
        explain_colour(t, s, colour)
        for cell in range(t.cells):
            if s.grid[cell] < 0:
                for side in range(4):
                    if s.side[cell * 4 + side] == colour:
                        add_neighbour(t, s, cell, side)
                        break
    elif cause < CAUSE_CYCLE:
        explain_colour(t, s, cause - CAUSE_SHARED_EDGES)
    else:
        length = chain_colours(t, s, cause - CAUSE_CYCLE)
        for i in range(length):
            explain_colour(t, s, s.chain[i])


@inline_flat_kernel
def explain_colour(t: Tables, s: State, colour: int) -> None:
    """Add the placements of all pieces with ``colour``, on which the free and demanded half-edges depend."""
    for i in range(t.colour_piece_start[colour], t.colour_piece_start[colour + 1]):
        add_piece(s, t.colour_piece[i])
