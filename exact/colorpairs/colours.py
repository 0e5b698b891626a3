"""Deductions from single colours: demand and offer (3.2), shared edges and closed rim chains (4.2).

Sections are those of Benoist & Bourreau 2008.
"""

from __future__ import annotations

from exact.colorpairs.moves import NO_CAUSE, assign
from exact.colorpairs.state import State, Switches
from exact.colorpairs.tables import Tables
from lns_support.jit import inline_flat_kernel

# causes of a contradiction: a pair's number, or one of these plus the colour
CAUSE_COLOUR_DEMAND = 1 << 20
CAUSE_SHARED_EDGES = 2 << 20
CAUSE_CYCLE = 3 << 20


@inline_flat_kernel
def most_shared_edges(pieces: int) -> int:
    """h(N): the largest number of edges that N square tiles can share (4.2)."""
    s = 0
    while (s + 1) * (s + 1) <= pieces:
        s += 1
    rest = pieces - s * s
    shared = 2 * s * (s - 1)
    if rest > s:
        return shared + 2 * rest - 2
    if rest > 0:
        return shared + 2 * rest - 1
    return shared


@inline_flat_kernel
def colour_cause(t: Tables, s: State, w: Switches, oriented: int) -> int:
    """The cause of a contradiction in the colours of the piece just placed, or NO_CAUSE."""
    for side in range(4):
        colour = t.quad[oriented * 4 + side]
        if colour == 0:
            continue
        if w.single_colours and s.colour_demand[colour] > s.colour_offer[colour]:
            return int(CAUSE_COLOUR_DEMAND + colour)
        if w.shared_edges:
            inside = s.half_edges[colour] - s.demanded_edges[colour]  # half-edges that must be joined to each other
            if inside < 0 or inside > 2 * most_shared_edges(s.colour_offer[colour]):
                return int(CAUSE_SHARED_EDGES + colour)
        if w.cycles and s.half_edges[colour] == 2 and s.demanded_edges[colour] == 0 and chain_colours(t, s, colour) > 0:
            return int(CAUSE_CYCLE + colour)
    return NO_CAUSE


@inline_flat_kernel
def place(t: Tables, s: State, w: Switches, cell: int, oriented: int, level: int, colours: bool) -> tuple[int, int]:
    """`assign` in the frame of its level, then the bounds on single colours if they are switched on.

    Returns (cause or NO_CAUSE, sides shown).
    """
    cause, shown = assign(t, s, cell, oriented, level, level, colours, True)
    if cause < 0 and colours:
        cause = colour_cause(t, s, w, oriented)
    return cause, shown


@inline_flat_kernel
def chain_colours(t: Tables, s: State, colour: int) -> int:
    """Length of the chain of free rim pieces from ``colour`` if it closes before the rim is full, else 0 (4.2).

    Two free rim pieces are linked if the last two half-edges of a colour are theirs, along the rim, and no cell demands
    the colour. The colours of the chain are written to ``s.chain``.
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
            along = rim_side(t, candidate, colour)
            if along < 0:
                return 0
            ends += 1
            if start < 0:
                start = candidate
                piece = candidate
            elif candidate != piece:
                following = candidate
                exit_colour = other_rim_colour(t, candidate, along)
        if ends != 2:
            return 0
        if following == start:
            return length if length < t.rim_pieces else 0
        piece, colour = following, exit_colour
        if length > t.rim_pieces:
            return 0
    return 0


@inline_flat_kernel
def rim_side(t: Tables, piece: int, colour: int) -> int:
    """The side along the rim on which a rim piece has ``colour``.

    -1 if the colour is not along the rim, or occurs more than once.
    """
    along = -1
    for side in range(4):
        if t.quad[piece * 16 + side] == colour:
            beside_grey = t.quad[piece * 16 + ((side + 1) & 3)] == 0 or t.quad[piece * 16 + ((side + 3) & 3)] == 0
            if along >= 0 or not beside_grey:
                return -1
            along = side
    return along


@inline_flat_kernel
def other_rim_colour(t: Tables, piece: int, along: int) -> int:
    """The colour of the other side along the rim of a rim piece (edge or corner)."""
    for side in range(4):
        if side != along and t.quad[piece * 16 + side] != 0:
            beside_grey = t.quad[piece * 16 + ((side + 1) & 3)] == 0 or t.quad[piece * 16 + ((side + 3) & 3)] == 0
            if beside_grey:
                return int(t.quad[piece * 16 + side])
    return 0
