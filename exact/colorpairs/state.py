"""The flat arrays of a ColorPairs search: constant tables, and the state from which a paused search goes on.

A search fills a whole board (`build_tables`) or a region (`lns.exact.region.plan.make_dynamic_state`). The tables of a
region have only its free pieces and freed cells, and the colours that the pieces around the region show to these cells.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lns.exact.colorpairs.options import Heuristic, Options
from lns.exact.kernels import allocate
from lns.exact.piece_classes import PieceClasses
from lns.instances.errors import InputError
from lns.instances.puzzle import GREY, LEFT, UP

I32 = npt.NDArray[np.int32]
U64 = npt.NDArray[np.uint64]
Colours = npt.NDArray[Any]
MAX_COLOURS = 4096
UNUSABLE = -2
SLOTS = 6  # most colour pairs of a piece or a cell: four on consecutive sides, two on opposite sides

UNKNOWN = -1
ROOT = -1  # level (depth in the search tree) of a clue, which is placed before any choice


Counters = namedtuple(
    "Counters",
    "NODES SOLUTIONS EXHAUSTED DEPTH FRAME_OPEN THREE_SIDED PREEMPTED CONTRADICTIONS PREEMPTIONS LEVELS_JUMPED "
    "SHAVING_TESTS DEEPEST BEST ALLOWED SPARE RUNNING BALANCE PRICED UNITS TASKS PENDING",
)
counter = Counters(*range(len(Counters._fields)))
"""The index of each counter in `State.counters`; the first are those of `lns.exact.driver`.

The last nine serve only regions. BEST: mismatches of the refill found, -1 = none; ALLOWED: most mismatches of a refill;
SPARE: free pieces that a refill leaves over (plus some if colours have mates); RUNNING: next action of the dynamic
search; BALANCE, PRICED: 1 to use the bound by colour balance, by prices; UNITS: most that a refill may cost, in units
of 1/UNIT mismatch; TASKS: number of tasks in use; PENDING: height of the stack of pending tasks."""


class Tables(NamedTuple):
    """The sizes and constant arrays of a ColorPairs search. Duplicate pieces have consecutive indices.

    A *pair* is a colour pair: two colours on consecutive or on opposite sides. N: pieces, C: cells, P: colour pairs
    (index 0 stands for all pairs that no piece has), K: colours (0 = grey).
    """

    colours: int  # K: number of colours, grey included
    pieces: int  # N: number of pieces
    cells: int  # C: number of cells
    words: int  # W: number of 64-bit words of a bit set of cells
    rim_pieces: int  # number of pieces with a grey side
    quad: I32  # (N*16,): colour by piece, rotation and side; UNUSABLE in rotations in which no piece may be placed
    beyond: I32  # (N*16,): the colour that a neighbour must show to match; `quad` itself if no colour has a mate
    consecutive: I32  # (K*K,): index of the colour pair of two colours on consecutive sides, clockwise
    opposite: I32  # (K*K,): index of the colour pair of two colours on opposite sides, in either order
    pair_first: I32  # (P,): first colour of each colour pair
    pair_second: I32  # (P,): second colour of each colour pair
    pair_span: I32  # (P,): 1 for a colour pair of consecutive sides, 2 for one of opposite sides
    piece_pairs: I32  # (N*6,): the colour pairs of each piece, each once
    piece_pair_count: I32  # (N,): number of colour pairs of each piece
    pair_oriented: I32  # by colour pair: oriented pieces with the pair on sides 0 and `pair_span`; equal rotations once
    pair_oriented_start: I32  # (P+1,): index in `pair_oriented` where each colour pair begins; last, its length
    pair_piece: I32  # pieces with each colour pair, be they free (Offer) or placed (Unavailable, 3.1), pair after pair
    pair_piece_start: I32  # (P+1,): index in `pair_piece` where each colour pair begins; last, its length
    colour_piece: I32  # pieces with each colour, colour after colour; at the end all pieces, as colour K (any)
    colour_piece_start: I32  # (K+2,): index in `colour_piece` where each colour begins; last, its length
    colour_oriented: I32  # oriented pieces with each colour, listed as in `colour_piece`; equal rotations once
    colour_oriented_start: I32  # (K+2,): index in `colour_oriented` where each colour begins; last, its length
    neighbour: I32  # (C*4,): the neighbouring cell at each side of a cell, -1 = none
    shown: I32  # (C*4,): colour that a side of a cell must have from the start, 0 (grey) at frame and holes; -1 = any
    previous_duplicate: I32  # (N,): the duplicate of a piece with the next smaller index, -1 = none
    empty: int = 0  # number of cells that are empty before the search; 0 for a region, where it is not used


def build_tables(classes: PieceClasses, options: Options) -> tuple[Tables, list[int]]:
    """Return the tables of a whole board, and for each piece of the tables the index of its class in ``classes``.

    Raises InputError for more than `MAX_COLOURS` colours.
    """
    puzzle = classes.puzzle
    looks = classes.quads, puzzle.mate[classes.quads], np.full((1, 4), puzzle.rim)
    quads, mates, rim = (colours_by_axis(look, puzzle.turns, puzzle.colours) for look in looks)
    colours = np.unique(np.append(np.concatenate((quads, mates, rim)), GREY))
    if len(colours) > MAX_COLOURS:
        raise InputError(f"{len(colours) - 1} colours; ColorPairs takes at most {MAX_COLOURS - 1}")
    class_of_piece = [number for number, members in enumerate(classes.members) for _ in members]
    neighbour = np.full((puzzle.cells, 4), -1, dtype=np.int32)
    for cell in range(puzzle.cells):
        for side, other in puzzle.neighbours(cell):
            neighbour[cell, side] = other
    sides = (puzzle.required_sides(cell) for cell in range(puzzle.cells))
    required = np.array([[UNKNOWN if colour is None else colour for colour in four] for four in sides])
    shown = np.where(required > 0, np.searchsorted(colours, rim), required).astype(np.int32)
    shown[list(puzzle.holes)] = UNKNOWN
    tables = make_tables(
        quads=np.searchsorted(colours, quads)[class_of_piece],
        mates=np.searchsorted(colours, mates)[class_of_piece] if puzzle.mates else None,
        classes=np.array(class_of_piece),
        colours=len(colours),
        neighbour=neighbour.ravel(),
        shown=shown.ravel(),
        turns=puzzle.turns,
        opposite=options.opposite,
    )
    return tables, class_of_piece


def make_tables(
    *,
    quads: Colours,
    classes: Colours,
    colours: int,
    neighbour: I32,
    shown: I32,
    turns: bool,
    opposite: bool,
    mates: Colours | None = None,
) -> Tables:
    """Make the tables of any set of pieces and cells.

    ``quads``: (N, 4), colours of the unturned pieces, each from 0 to ``colours`` - 1; ``mates``: (N, 4), the colours
    that match ``quads``, None if every colour matches itself; ``classes``: (N,), equal for duplicate pieces, which are
    consecutive; ``neighbour``, ``shown``: as in `Tables`; ``turns``: whether pieces may be turned; ``opposite``: as in
    `Options`. Even if pieces may not be turned, a piece has the colour pairs of all its sides, because a cell
    demands a colour pair whichever of the cell's sides have the colours.
    """
    pieces = len(quads)
    rotations = (np.arange(4) - np.arange(4)[:, None]) & 3
    turned = quads.reshape(-1, 4)[:, rotations]  # colours by piece, rotation and side
    looks = (turned != turned[:, :1]).any(axis=2) | ~np.array(turns)  # which rotations look unlike all smaller ones
    looks[:, 0], looks[:, 3] = True, looks[:, 3] & looks[:, 2]
    first, second = np.repeat(turned[:, :, :1], 2, axis=2), turned[:, :, 1:3]
    listed = looks[:, :, None] & np.stack((np.ones_like(looks), turned[:, :, 0] <= turned[:, :, 2]), axis=2)
    piece, rotation, across = np.nonzero(listed)  # of two opposite sides, the smaller colour is listed first
    _, index, pair = np.unique(
        (across * colours + first[listed]) * colours + second[listed], return_index=True, return_inverse=True
    )
    number = np.argsort(np.argsort(index)) + 1  # colour pairs have indices from 1 on, as they first occur
    pair, index = number[pair], np.sort(index)
    pairs = len(index) + 1
    pair_colours = np.column_stack((first[listed], second[listed], across + 1))[index]
    by_colours = np.zeros((2, colours, colours), dtype=np.int32)
    by_colours[across, first[listed], second[listed]] = pair
    by_colours[1] = np.maximum(by_colours[1], by_colours[1].T)
    own = np.sort(np.unique(piece * pairs + pair, return_index=True)[1])  # where a colour pair of a piece occurs first
    count = np.bincount(piece[own], minlength=pieces)
    piece_pairs = np.zeros((pieces, SLOTS), dtype=np.int32)
    piece_pairs[piece[own], np.arange(len(own)) - (np.cumsum(count) - count)[piece[own]]] = pair[own]
    if not opposite:  # then two opposite colours that no piece has are no contradiction
        pair_colours = np.vstack((pair_colours, (0, 0, 2)))
        by_colours[1][by_colours[1] == 0] = pairs
        pairs += 1
    by_pair, own = np.argsort(pair, kind="stable"), own[np.argsort(pair[own], kind="stable")]
    has = (quads == np.arange(colours + 1)[:, None, None]).any(axis=2)
    has[colours] = True

    def starts(lists: Colours) -> I32:
        """Return where lists of these lengths begin if they follow each other, and the end of the last."""
        return np.concatenate(([0], np.cumsum(lists))).astype(np.int32)

    quad = turned.astype(np.int32)
    if not turns:
        quad[:, 1:] = UNUSABLE
    quad = quad.ravel()
    duplicate = np.append(False, classes[1:] == classes[:-1])[:pieces]
    pair_first, pair_second, pair_span = np.vstack(((0, 0, 0), pair_colours)).T.astype(np.int32, order="C")
    return Tables(
        colours=colours,
        pieces=pieces,
        cells=len(shown) // 4,
        words=(len(shown) // 4 + 63) // 64,
        rim_pieces=int((quads == GREY).any(axis=1).sum()),
        quad=quad,
        beyond=quad if mates is None else mates[:, rotations].astype(np.int32).ravel(),
        consecutive=by_colours[0].ravel(),
        opposite=by_colours[1].ravel(),
        pair_first=pair_first,
        pair_second=pair_second,
        pair_span=pair_span,
        piece_pairs=piece_pairs.ravel(),
        piece_pair_count=count.astype(np.int32),
        pair_oriented=(piece * 4 + rotation)[by_pair].astype(np.int32),
        pair_oriented_start=starts(np.bincount(pair, minlength=pairs)),
        pair_piece=piece[own].astype(np.int32),
        pair_piece_start=starts(np.bincount(pair[own], minlength=pairs)),
        colour_piece=np.nonzero(has)[1].astype(np.int32),
        colour_piece_start=starts(has.sum(axis=1)),
        colour_oriented=np.nonzero((has[:, :, None] & looks).reshape(len(has), -1))[1].astype(np.int32),
        colour_oriented_start=starts(has @ looks.sum(axis=1)),
        neighbour=neighbour,
        shown=shown,
        previous_duplicate=np.where(duplicate, np.arange(pieces) - 1, -1).astype(np.int32),
    )


def colours_by_axis(quads: Colours, turns: bool, most: int) -> Colours:
    """If pieces may not be turned, give their left and right sides other colours than their upper and lower sides.

    Left and right sides never touch upper and lower ones; with other colours, colour pairs exclude more pieces.
    ``most``: the largest colour, which is added to every colour but grey on left and right sides.
    """
    on_axis = np.array([False, True, False, True]) & ~np.array(turns) & (quads != GREY)
    split: Colours = quads + (on_axis * most).astype(quads.dtype)
    return split


class Switches(NamedTuple):
    """The `Options` that kernels read, as integers and bools, and two switches more."""

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
    pairs: bool = True  # whether a search of a region uses the bound by Demand - Offer of colour pairs
    colours: bool = False  # whether the counts of single colours are kept

    @classmethod
    def of(cls, options: Options) -> Switches:
        switches = cls(int(options.heuristic), *(bool(getattr(options, name)) for name in cls._fields[1:-2]))
        colours = options.single_colours or options.shared_edges or options.cycles
        motifs = options.motifs and options.heuristic is not Heuristic.ROW_MAJOR
        return switches._replace(motifs=motifs, colours=colours)


class State(NamedTuple):
    """The arrays that a ColorPairs search changes. N: pieces, C: cells, P: colour pairs, K: colours.

    A *level* is the depth of a placement in the search tree; clues have the level `ROOT`. Sets of cells or levels are
    bit sets of W = `Tables.words` 64-bit words.
    """

    counters: Annotated[npt.NDArray[np.int64], len(counter)]  # the counters, at the indices in `counter`
    # placements on the board
    grid: Annotated[I32, "C", -1]  # oriented piece on each cell, piece*4 + rotation; -1 = empty
    cell_of: Annotated[I32, "N", -1]  # cell of each piece, -1 = free
    level: Annotated[I32, "C", -1]  # level of the placement on each cell
    side: Annotated[I32, "C*4", UNKNOWN]  # colour that each side of a cell must have for its neighbour or the rim
    known_sides: Annotated[I32, "C"]  # number of known sides of each cell
    # colour pairs (Benoist & Bourreau 2008, 3.1 and 3.2)
    offer: I32  # (P,): |Offer|, the number of free pieces with each colour pair
    demand: Annotated[I32, "P"]  # |Demand|, the number of empty cells that demand each colour pair
    demand_set: Annotated[U64, "P*W"]  # Demand of each colour pair, as a set of cells
    cell_pairs: Annotated[I32, "C*6"]  # the colour pairs that each cell demands
    cell_pair_count: Annotated[I32, "C"]  # number of colour pairs that each cell demands
    # choice of the cell to branch on (Benoist & Bourreau 2008, 5.1)
    surrounded: Annotated[U64, "W"]  # the set of empty cells with two or more known sides
    three_sided: Annotated[U64, "W"]  # the set of empty cells with three or more known sides; THREE_SIDED is its size
    surrounded_neighbours: Annotated[I32, "C"]  # number of the neighbours of each cell that are in `surrounded`
    # preemption (Benoist & Bourreau 2008, 4.1)
    preempted_by: Annotated[I32, "N"]  # the colour pair that preempts each piece, 0 = none
    nb_preempted: Annotated[I32, "P"]  # number of free pieces of each colour pair that other colour pairs preempt
    preempted: Annotated[I32, "N"]  # stack of the preempted pieces; the counter PREEMPTED is its height
    preempted_height: Annotated[I32, "C+1"]  # by level, the height of the stack `preempted` before the level began
    preemption_reason: Annotated[U64, "P*W"]  # explanation of each colour pair's preemption, a set of levels
    # single colours (Benoist & Bourreau 2008, 3.2 and 4.2)
    half_edges: I32  # (K,): number of sides of free pieces with each colour
    demanded_edges: Annotated[I32, "K"]  # by colour: sides of empty cells that must show it to a placed piece
    colour_offer: I32  # (K,): number of free pieces with each colour
    colour_demand: Annotated[I32, "K"]  # number of empty cells with a known side of each colour but grey
    # stack frames of the search, by level
    frame_cell: Annotated[I32, "C+1", -1]  # the cell chosen at each level
    frame_pair: Annotated[I32, "C+1"]  # colour pair whose pieces each level tries; -1 - colour for a single colour
    frame_next: Annotated[I32, "C+1"]  # index in `values` of the oriented piece that each level tries next
    frame_end: Annotated[I32, "C+1"]  # index in `values` where the oriented pieces of each level end
    values: Annotated[I32, "values"]  # oriented pieces to try (piece*4 + rotation), level after level
    value_probability: Annotated[npt.NDArray[np.float64], "values"]  # probability by which each of `values` is sorted
    conflict: Annotated[U64, "(C+1)*W"]  # conflict set of each level: the levels that explain its failures so far
    pairs_before: Annotated[I32, "(C+1)*4"]  # `cell_pair_count` of each neighbour before a level's piece was placed
    # explanations, solutions and random choices
    explanation: Annotated[U64, "W"]  # the set of levels that explain the last contradiction
    chain: Annotated[I32, "rim_pieces+2"]  # colours that link the last chain of rim pieces found
    first_solution: Annotated[I32, "C", -1]  # `grid` of the first solution found
    random: U64  # (1,): state of the random number generator


def empty_state(tables: Tables, options: Options, *, any_pair: bool = True, seed: int = 0) -> State:
    """Make the state of the empty board, to which `lns.exact.colorpairs.kernel.prepare` adds the rim and the clues.

    ``any_pair``: whether at every node some cell demands a colour pair, as with a frame. ``seed``: a random seed.
    """
    cells, pairs, words, colours = tables.cells, len(tables.pair_first), tables.words, tables.colours
    offer = np.diff(tables.pair_piece_start).astype(np.int32)
    if not options.opposite:
        offer[tables.pair_span == 2] += 1 << 20  # more pieces than cells, so that these colour pairs cause no deduction
    longest = int(np.diff(tables.pair_oriented_start).max(initial=4))
    extra = 0
    if not any_pair:  # `values` also holds pieces of one colour, and all pieces where a connected part begins
        longest = max(longest, int(np.diff(tables.colour_oriented_start)[:-1].max(initial=0)))
        begins = (tables.neighbour.reshape(-1, 4)[:, [UP, LEFT]] < 0).all(axis=1)  # one or more in each connected part
        extra = 4 * tables.pieces * int(begins.sum())

    sizes = {"C": cells, "C+1": cells + 1, "C*4": cells * 4, "C*6": cells * SLOTS, "(C+1)*4": (cells + 1) * 4}
    sizes |= {"P": pairs, "P*W": pairs * words, "W": words, "(C+1)*W": (cells + 1) * words, "K": colours}
    sizes |= {"N": max(cells, tables.pieces), "rim_pieces+2": tables.rim_pieces + 2}
    return allocate(
        State,
        sizes | {"values": (cells + 1) * longest + extra},
        offer=offer,
        half_edges=np.bincount(tables.quad.reshape(-1, 4)[::4].ravel(), minlength=colours).astype(np.int32),
        colour_offer=np.diff(tables.colour_piece_start)[:-1].astype(np.int32),
        random=np.array([seed], dtype=np.uint64),
    )
