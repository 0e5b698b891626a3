"""Assign and unassign: Offer and Demand are maintained in constant time (Benoist & Bourreau 2008, 3.1 and 3.2).

Only the last placement is ever undone, so the pairs that it added are the last ones in the list of each cell.
"""

from __future__ import annotations

from exact.colorpairs.state import THREE_SIDED, UNKNOWN, State
from exact.colorpairs.tables import I32, SLOTS, Tables
from lns_support.bits import bit
from lns_support.jit import inline_flat_kernel

NO_CAUSE = -1


@inline_flat_kernel
def add_demand(t: Tables, s: State, cell: int, pair: int) -> int:
    """Add ``cell`` to Demand(pair); returns the pair if it now has more cells than pieces, else NO_CAUSE."""
    count = s.cell_pair_count[cell]
    for i in range(count):
        if s.cell_pairs[cell * SLOTS + i] == pair:
            return NO_CAUSE
    s.cell_pairs[cell * SLOTS + count] = pair
    s.cell_pair_count[cell] = count + 1
    s.demand_set[pair * t.words + (cell >> 6)] ^= bit(cell)
    s.demand[pair] += 1
    return pair if s.demand[pair] > s.offer[pair] else NO_CAUSE


@inline_flat_kernel
def show_side(t: Tables, s: State, cell: int, side: int, colour: int, exact: bool) -> int:
    """Set a known side of the empty ``cell``; returns a contradicted pair or NO_CAUSE.

    ``exact``: no mismatch may be spent, so stop at the first contradiction.
    """
    base = cell * 4
    s.side[base + side] = colour
    known = s.known_sides[cell] + 1
    s.known_sides[cell] = known
    if known < 2:
        return NO_CAUSE
    if known == 2:
        s.surrounded[cell >> 6] ^= bit(cell)
        for direction in range(4):
            neighbour = t.neighbour[base + direction]
            if neighbour >= 0:
                s.surrounded_neighbours[neighbour] += 1
    elif known == 3:
        s.three_sided[cell >> 6] ^= bit(cell)
        s.counters[THREE_SIDED] += 1
    cause = NO_CAUSE
    before = s.side[base + ((side + 3) & 3)]
    if before >= 0:
        cause = add_demand(t, s, cell, t.consecutive[before * t.colours + colour])
    after = s.side[base + ((side + 1) & 3)]
    if after >= 0 and (cause < 0 or not exact):
        cause = add_demand(t, s, cell, t.consecutive[colour * t.colours + after])
    across = s.side[base + ((side + 2) & 3)]
    if across >= 0 and (cause < 0 or not exact):
        cause = add_demand(t, s, cell, t.opposite[colour * t.colours + across])
    return cause


@inline_flat_kernel
def hide_side(t: Tables, s: State, cell: int, side: int, pairs_before: int) -> None:
    """Undo `show_side`; ``cell`` had ``pairs_before`` pairs before it."""
    word, mask = cell >> 6, bit(cell)
    for i in range(pairs_before, s.cell_pair_count[cell]):
        pair = s.cell_pairs[cell * SLOTS + i]
        s.demand[pair] -= 1
        s.demand_set[pair * t.words + word] ^= mask
    s.cell_pair_count[cell] = pairs_before
    known = s.known_sides[cell]
    if known == 2:
        s.surrounded[word] ^= mask
        for direction in range(4):
            neighbour = t.neighbour[cell * 4 + direction]
            if neighbour >= 0:
                s.surrounded_neighbours[neighbour] -= 1
    elif known == 3:
        s.three_sided[word] ^= mask
        s.counters[THREE_SIDED] -= 1
    s.known_sides[cell] = known - 1
    s.side[cell * 4 + side] = UNKNOWN


@inline_flat_kernel
def update_empty_sets(t: Tables, s: State, cell: int, change: int) -> None:
    """Remove ``cell`` from the sets of empty cells (change -1) or add it again (+1)."""
    word, mask = cell >> 6, bit(cell)
    for i in range(s.cell_pair_count[cell]):
        pair = s.cell_pairs[cell * SLOTS + i]
        s.demand[pair] += change
        s.demand_set[pair * t.words + word] ^= mask
    known = s.known_sides[cell]
    if known >= 2:
        s.surrounded[word] ^= mask
        for direction in range(4):
            neighbour = t.neighbour[cell * 4 + direction]
            if neighbour >= 0:
                s.surrounded_neighbours[neighbour] += change
        if known >= 3:
            s.three_sided[word] ^= mask
            s.counters[THREE_SIDED] += change


@inline_flat_kernel
def assign(
    t: Tables, s: State, cell: int, oriented: int, level: int, frame: int, colours: bool, exact: bool
) -> tuple[int, int]:
    """Place ``oriented`` on ``cell`` at ``level``; returns (contradicted pair or NO_CAUSE, number of sides shown).

    ``exact``: no mismatch may be spent, so it stops at the first contradiction. Callers pass a constant, for which the
    compiler makes its own machine code. `unassign` undoes exactly what was done; ``frame`` is where it is recorded.
    """
    piece = oriented >> 2
    s.grid[cell] = oriented
    s.cell_of[piece] = cell
    s.level[cell] = level
    update_empty_sets(t, s, cell, -1)
    preempting = s.preempted_by[piece]
    cause = NO_CAUSE
    for i in range(t.piece_pair_count[piece]):
        pair = t.piece_pairs[piece * SLOTS + i]
        offer = s.offer[pair] - 1
        s.offer[pair] = offer
        if preempting and pair != preempting:
            s.nb_preempted[pair] -= 1
        if s.demand[pair] > offer:
            cause = pair
    if colours:
        count_colours(t, s, cell, oriented, -1)
    shown = 0
    while (cause < 0 or not exact) and shown < 4:
        neighbour = t.neighbour[cell * 4 + shown]
        if neighbour >= 0 and s.grid[neighbour] < 0:
            s.pairs_before[frame * 4 + shown] = s.cell_pair_count[neighbour]
            cause = show_side(t, s, neighbour, (shown + 2) & 3, t.quad[oriented * 4 + shown], exact)
        shown += 1
    return cause, shown


@inline_flat_kernel
def unassign(t: Tables, s: State, cell: int, shown: int, frame: int, colours: bool) -> None:
    """Undo the last `assign`, of which ``shown`` sides had been shown."""
    oriented = s.grid[cell]
    piece = oriented >> 2
    while shown > 0:
        shown -= 1
        neighbour = t.neighbour[cell * 4 + shown]
        if neighbour >= 0 and s.grid[neighbour] < 0:
            hide_side(t, s, neighbour, (shown + 2) & 3, s.pairs_before[frame * 4 + shown])
    if colours:
        count_colours(t, s, cell, oriented, 1)
    preempting = s.preempted_by[piece]
    for i in range(t.piece_pair_count[piece]):
        pair = t.piece_pairs[piece * SLOTS + i]
        s.offer[pair] += 1
        if preempting and pair != preempting:
            s.nb_preempted[pair] += 1
    update_empty_sets(t, s, cell, 1)
    s.grid[cell] = -1
    s.cell_of[piece] = -1


@inline_flat_kernel
def is_first_occurrence(values: I32, start: int, index: int) -> bool:
    """True if ``values[start + index]`` does not occur between ``start`` and it."""
    is_first = True
    for i in range(index):
        is_first &= values[start + i] != values[start + index]
    return is_first


@inline_flat_kernel
def count_colours(t: Tables, s: State, cell: int, oriented: int, change: int) -> None:
    """Update the counts of single colours (3.2, 4.2) for a piece that is placed (change -1) or removed (+1).

    Called while the sides of the empty neighbours towards the piece are not set.
    """
    piece = oriented >> 2
    for direction in range(4):
        colour = s.side[cell * 4 + direction]
        if colour > 0 and is_first_occurrence(s.side, cell * 4, direction):
            s.colour_demand[colour] += change
        colour = t.quad[piece * 16 + direction]
        if is_first_occurrence(t.quad, piece * 16, direction):
            s.colour_offer[colour] += change
        colour = t.quad[oriented * 4 + direction]
        s.half_edges[colour] += change
        neighbour = t.neighbour[cell * 4 + direction]
        if neighbour < 0:
            continue
        if s.grid[neighbour] >= 0:
            s.demanded_edges[colour] += change
        else:
            s.demanded_edges[colour] -= change
            base = neighbour * 4
            shown = False
            for other in range(4):
                shown |= s.side[base + other] == colour
            if not shown:
                s.colour_demand[colour] -= change
