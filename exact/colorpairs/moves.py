"""Assign and unassign: Offer and Demand maintained in constant time (seed 000, 3.1 and 3.2).

The last placement only is ever undone, so what it added lies on top of each cell's list of pairs.
"""

from __future__ import annotations

from exact.colorpairs.state import CROWDED, UNKNOWN, State
from exact.colorpairs.tables import I32, SLOTS, Tables
from lns_support.bits import bit
from lns_support.jit import inline_flat_kernel

NO_CAUSE = -1


@inline_flat_kernel
def add_demand(t: Tables, s: State, cell: int, pair: int) -> int:
    """``cell`` joins Demand(pair); the pair when it now has more cells than pieces (contradiction), else NO_CAUSE."""
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
def show_side(t: Tables, s: State, cell: int, side: int, colour: int) -> int:
    """A neighbour of the empty ``cell`` (or the rim) now shows it ``colour``; a contradicted pair or NO_CAUSE."""
    base = cell * 4
    s.side[base + side] = colour
    known = s.known[cell] + 1
    s.known[cell] = known
    if known < 2:
        return NO_CAUSE
    if known == 2:
        s.surrounded[cell >> 6] ^= bit(cell)
        for direction in range(4):
            neighbour = t.neighbour[base + direction]
            if neighbour >= 0:
                s.beside[neighbour] += 1
    elif known == 3:
        s.crowded[cell >> 6] ^= bit(cell)
        s.counters[CROWDED] += 1
    cause = NO_CAUSE
    before = s.side[base + ((side + 3) & 3)]
    if before >= 0:
        cause = add_demand(t, s, cell, t.consecutive[before * t.colours + colour])
    after = s.side[base + ((side + 1) & 3)]
    if after >= 0 and cause < 0:
        cause = add_demand(t, s, cell, t.consecutive[colour * t.colours + after])
    across = s.side[base + ((side + 2) & 3)]
    if across >= 0 and cause < 0:
        cause = add_demand(t, s, cell, t.opposite[colour * t.colours + across])
    return cause


@inline_flat_kernel
def hide_side(t: Tables, s: State, cell: int, side: int, pairs_before: int) -> None:
    """Undo `show_side`: ``cell`` had ``pairs_before`` pairs."""
    word, mask = cell >> 6, bit(cell)
    for i in range(pairs_before, s.cell_pair_count[cell]):
        pair = s.cell_pairs[cell * SLOTS + i]
        s.demand[pair] -= 1
        s.demand_set[pair * t.words + word] ^= mask
    s.cell_pair_count[cell] = pairs_before
    known = s.known[cell]
    if known == 2:
        s.surrounded[word] ^= mask
        for direction in range(4):
            neighbour = t.neighbour[cell * 4 + direction]
            if neighbour >= 0:
                s.beside[neighbour] -= 1
    elif known == 3:
        s.crowded[word] ^= mask
        s.counters[CROWDED] -= 1
    s.known[cell] = known - 1
    s.side[cell * 4 + side] = UNKNOWN


@inline_flat_kernel
def occupy(t: Tables, s: State, cell: int, change: int) -> None:
    """``cell`` leaves (change -1) or rejoins (+1) the sets of empty cells."""
    word, mask = cell >> 6, bit(cell)
    for i in range(s.cell_pair_count[cell]):
        pair = s.cell_pairs[cell * SLOTS + i]
        s.demand[pair] += change
        s.demand_set[pair * t.words + word] ^= mask
    known = s.known[cell]
    if known >= 2:
        s.surrounded[word] ^= mask
        for direction in range(4):
            neighbour = t.neighbour[cell * 4 + direction]
            if neighbour >= 0:
                s.beside[neighbour] += change
        if known >= 3:
            s.crowded[word] ^= mask
            s.counters[CROWDED] += change


@inline_flat_kernel
def assign(t: Tables, s: State, cell: int, oriented: int, level: int, frame: int, colours: bool) -> tuple[int, int]:
    """Place ``oriented`` on ``cell`` at ``level``; (contradicted pair or NO_CAUSE, how many sides were shown).

    Stops at the first contradiction; `unassign` takes back exactly what was done. ``frame`` says where to note it.
    """
    piece = oriented >> 2
    s.grid[cell] = oriented
    s.where[piece] = cell
    s.level[cell] = level
    occupy(t, s, cell, -1)
    taker = s.preempted_by[piece]
    cause = NO_CAUSE
    for i in range(t.piece_pair_count[piece]):
        pair = t.piece_pairs[piece * SLOTS + i]
        offer = s.offer[pair] - 1
        s.offer[pair] = offer
        if taker and pair != taker:
            s.taken[pair] -= 1
        if s.demand[pair] > offer:
            cause = pair
    if colours:
        count_colours(t, s, cell, oriented, -1)
    shown = 0
    while cause < 0 and shown < 4:
        neighbour = t.neighbour[cell * 4 + shown]
        if neighbour >= 0 and s.grid[neighbour] < 0:
            s.undo_pairs[frame * 4 + shown] = s.cell_pair_count[neighbour]
            cause = show_side(t, s, neighbour, (shown + 2) & 3, t.quad[oriented * 4 + shown])
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
            hide_side(t, s, neighbour, (shown + 2) & 3, s.undo_pairs[frame * 4 + shown])
    if colours:
        count_colours(t, s, cell, oriented, 1)
    taker = s.preempted_by[piece]
    for i in range(t.piece_pair_count[piece]):
        pair = t.piece_pairs[piece * SLOTS + i]
        s.offer[pair] += 1
        if taker and pair != taker:
            s.taken[pair] += 1
    occupy(t, s, cell, 1)
    s.grid[cell] = -1
    s.where[piece] = -1


@inline_flat_kernel
def is_new(values: I32, start: int, index: int) -> bool:
    """Whether ``values[start + index]`` is none of the values before it from ``start`` on."""
    new = True
    for i in range(index):
        new &= values[start + i] != values[start + index]
    return new


@inline_flat_kernel
def count_colours(t: Tables, s: State, cell: int, oriented: int, change: int) -> None:
    """Single colours (3.2, 4.2) for a piece that is being placed (change -1) or taken back (+1).

    Called while the empty neighbours do not know the piece's colours.
    """
    piece = oriented >> 2
    for direction in range(4):
        colour = s.side[cell * 4 + direction]
        if colour > 0 and is_new(s.side, cell * 4, direction):
            s.asking[colour] += change
        colour = t.quad[piece * 16 + direction]
        if is_new(t.quad, piece * 16, direction):
            s.having[colour] += change
        colour = t.quad[oriented * 4 + direction]
        s.half_edges[colour] += change
        neighbour = t.neighbour[cell * 4 + direction]
        if neighbour < 0:
            continue
        if s.grid[neighbour] >= 0:
            s.wanted[colour] += change
        else:
            s.wanted[colour] -= change
            base = neighbour * 4
            shown = False
            for other in range(4):
                shown |= s.side[base + other] == colour
            if not shown:
                s.asking[colour] -= change
