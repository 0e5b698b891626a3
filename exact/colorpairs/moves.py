"""Placing and removing pieces (`assign`, `unassign`), and deductions from the counts of single colours.

Numbers in parentheses are sections of Benoist & Bourreau 2008. The counts behind Offer and Demand of colour pairs (3.1,
3.2) and of single colours (3.2, 4.2) are updated at each move, in constant time. Only the last placement is ever
undone, so the colour pairs that it made a cell demand are the last ones in the cell's list.
"""

from __future__ import annotations

import numpy as np

from lns.exact.colorpairs.state import I32, SLOTS, UNKNOWN, State, Switches, Tables, counter
from lns.exact.kernels.bits import bit
from lns.exact.kernels.jit import inline_flat_kernel

NO_CAUSE = -1
# the cause of a contradiction is one integer: the index of a colour pair, or one of these constants plus a colour
CAUSE_COLOUR_DEMAND = 1 << 20
CAUSE_SHARED_EDGES = 2 << 20
CAUSE_CYCLE = 3 << 20


@inline_flat_kernel
def add_demand(t: Tables, s: State, cell: int, pair: int) -> int:
    """Add ``cell`` to Demand of a colour pair, once; return the pair if Demand then exceeds Offer, else NO_CAUSE."""
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
    """Record the colour that a side of an empty cell must match, and add the colour pairs that the cell now demands.

    With ``exact``, return the first pair that more cells demand than pieces offer, or NO_CAUSE; no further pair is
    added. Without ``exact`` all are added, and callers ignore the result.
    """
    base = cell * 4
    s.side[base + side] = colour
    known = s.known_sides[cell] + 1
    s.known_sides[cell] = known
    if known < 2:
        return NO_CAUSE
    change_known_sets(t, s, cell, known == 2, known == 3, 1)
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
def change_known_sets(t: Tables, s: State, cell: int, two: bool, three: bool, change: int) -> None:
    """Add ``cell`` to the sets of empty cells with enough known sides (``change`` 1), or remove it from them (-1).

    ``two``: change the set of cells with two or more known sides; ``three``: that of cells with three or more.
    """
    if two:
        s.surrounded[cell >> 6] ^= bit(cell)
        for direction in range(4):
            neighbour = t.neighbour[cell * 4 + direction]
            if neighbour >= 0:
                s.surrounded_neighbours[neighbour] += change
    if three:
        s.three_sided[cell >> 6] ^= bit(cell)
        s.counters[counter.THREE_SIDED] += change


@inline_flat_kernel
def hide_side(t: Tables, s: State, cell: int, side: int, pairs_before: int) -> None:
    """Undo `show_side` for a side of ``cell``, which demanded ``pairs_before`` colour pairs before that call."""
    word, mask = cell >> 6, bit(cell)
    for i in range(pairs_before, s.cell_pair_count[cell]):
        pair = s.cell_pairs[cell * SLOTS + i]
        s.demand[pair] -= 1
        s.demand_set[pair * t.words + word] ^= mask
    s.cell_pair_count[cell] = pairs_before
    known = s.known_sides[cell]
    change_known_sets(t, s, cell, known == 2, known == 3, -1)
    s.known_sides[cell] = known - 1
    s.side[cell * 4 + side] = UNKNOWN


@inline_flat_kernel
def update_empty_sets(t: Tables, s: State, cell: int, change: int) -> None:
    """Remove ``cell`` from every set that holds only empty cells (``change`` -1), or add it again (1)."""
    word, mask = cell >> 6, bit(cell)
    for i in range(s.cell_pair_count[cell]):
        pair = s.cell_pairs[cell * SLOTS + i]
        s.demand[pair] += change
        s.demand_set[pair * t.words + word] ^= mask
    change_known_sets(t, s, cell, s.known_sides[cell] >= 2, s.known_sides[cell] >= 3, change)


@inline_flat_kernel
def assign(
    t: Tables, s: State, cell: int, oriented: int, level: int, frame: int, colours: bool, exact: bool
) -> tuple[int, int]:
    """Place an oriented piece on ``cell``; return (contradicted colour pair or NO_CAUSE, number of sides handled).

    The sides are handled clockwise from side 0: each is shown to the neighbour if that is empty. ``exact``: no mismatch
    is allowed, so this ends at a contradiction; else callers ignore the result. They pass a constant, so the compiler
    makes separate machine code. ``level``: depth of the placement in the search tree; ``frame``: index of the stack
    frame that records the changes for `unassign`; ``colours``: whether single colours are counted.
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
            cause = show_side(t, s, neighbour, (shown + 2) & 3, t.beyond[oriented * 4 + shown], exact)
        shown += 1
    return cause, shown


@inline_flat_kernel
def unassign(t: Tables, s: State, cell: int, shown: int, frame: int, colours: bool) -> None:
    """Undo the last `assign`, which filled ``cell``, handled ``shown`` sides and used stack frame ``frame``."""
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
    """Return whether ``values[start + index]`` does not occur in ``values[start : start + index]``."""
    is_first = True
    for i in range(index):
        is_first &= values[start + i] != values[start + index]
    return is_first


@inline_flat_kernel
def count_colours(t: Tables, s: State, cell: int, oriented: int, change: int) -> None:
    """Update counts of single colours before a piece shows its sides (``change`` -1) or after it hid them (1)."""
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
            colour = t.beyond[oriented * 4 + direction]
            s.demanded_edges[colour] -= change
            base = neighbour * 4
            shown = False
            for other in range(4):
                shown |= s.side[base + other] == colour
            if not shown:
                s.colour_demand[colour] -= change


@inline_flat_kernel
def colour_cause(t: Tables, s: State, w: Switches, oriented: int) -> int:
    """Return the cause of a contradiction in the counts of a just placed piece's colours, or NO_CAUSE."""
    for side in range(4):
        colour = t.quad[oriented * 4 + side]
        if colour == 0:
            continue
        mate = t.beyond[oriented * 4 + side]
        if w.single_colours and s.colour_demand[colour] > s.colour_offer[colour]:
            return int(CAUSE_COLOUR_DEMAND + colour)
        if w.single_colours and s.colour_demand[mate] > s.colour_offer[mate]:
            return int(CAUSE_COLOUR_DEMAND + mate)
        if w.shared_edges:
            inside = s.half_edges[colour] - s.demanded_edges[colour]  # sides of free pieces that must meet each other
            pieces = s.colour_offer[colour]
            # N squares share at most h(N) = 2 N - ceil(2 sqrt(N)) edges, each between two sides
            if inside < 0 or inside > 2 * (2 * pieces - int(np.ceil(2.0 * np.sqrt(pieces)))):
                return int(CAUSE_SHARED_EDGES + colour)
        if w.cycles and s.half_edges[colour] == 2 and s.demanded_edges[colour] == 0 and chain_colours(t, s, colour) > 0:
            return int(CAUSE_CYCLE + colour)
    return NO_CAUSE


@inline_flat_kernel
def place(t: Tables, s: State, w: Switches, cell: int, oriented: int, level: int) -> tuple[int, int]:
    """Place a piece, then test bounds on single colours; return (contradiction's cause or NO_CAUSE, sides handled)."""
    cause, shown = assign(t, s, cell, oriented, level, level, w.colours, True)
    if cause < 0 and w.colours:
        cause = colour_cause(t, s, w, oriented)
    return cause, shown


@inline_flat_kernel
def chain_colours(t: Tables, s: State, colour: int) -> int:
    """Return the number of pieces in the chain of free rim pieces through ``colour`` if it closes too early, else 0.

    Two free rim pieces are linked if they have the last two half-edges of a colour, both along the rim, and no cell
    demands the colour. A chain closes too early with fewer pieces than the rim (4.2). ``s.chain`` gets its colours.
    """
    start, length, piece = -1, 0, -1
    while colour and s.half_edges[colour] == 2 and s.demanded_edges[colour] == 0:
        s.chain[length] = colour
        length += 1
        following, exit_colour = -1, -1
        ends = 0
        for i in range(t.colour_piece_start[colour], t.colour_piece_start[colour + 1]):
            candidate = t.colour_piece[i]
            if s.cell_of[candidate] >= 0:
                continue
            other = rim_exit(t, candidate, colour)
            if other < 0:
                return 0
            ends += 1
            if start < 0:
                start = candidate
                piece = candidate
            elif candidate != piece:
                following = candidate
                exit_colour = other
        if ends != 2:
            return 0
        if following == start:
            return length if length < t.rim_pieces else 0
        piece, colour = following, exit_colour
        if length > t.rim_pieces:
            return 0
    return 0


@inline_flat_kernel
def rim_exit(t: Tables, piece: int, colour: int) -> int:
    """Return a rim piece's other colour along the rim; -1 unless it has ``colour`` once, on a side along the rim."""
    along, other = -1, 0
    for side in range(4):
        shown = t.quad[piece * 16 + side]
        beside_grey = t.quad[piece * 16 + ((side + 1) & 3)] == 0 or t.quad[piece * 16 + ((side + 3) & 3)] == 0
        if shown == colour:
            if along >= 0 or not beside_grey:
                return -1
            along = side
        elif shown and beside_grey and not other:
            other = shown
    return int(other) if along >= 0 else -1
