"""The constant tables of a ColorPairs search: oriented pieces, colour pairs and their pieces, neighbours of cells.

A search fills a whole board (`build_tables`) or a region of one (`exact.region.dynamic_state.make_arrays`); the
tables then hold only the freed pieces, and the sides that laid pieces show to the cells of the region.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from exact.colorpairs.options import Options
from exact.piece_classes import PieceClasses, distinct_rotations
from instances.puzzle import GREY, Puzzle, rotate
from lns_support.errors import InputError

I32 = npt.NDArray[np.int32]
Colours = npt.NDArray[Any]
MAX_COLOURS = 4096
UNUSABLE = -2
SLOTS = 6  # most pairs of a piece or a cell: four consecutive, two opposite


class Tables(NamedTuple):
    """Sizes and flat arrays for the kernels. Pieces are numbered class by class, so duplicates are consecutive.

    N: pieces, C: cells, P: pairs (pair 0 stands for pairs that no piece has), K: colours (0 = grey).
    """

    colours: int  # K
    pieces: int  # N
    cells: int  # C
    words: int  # 64-bit words of a set of cells
    rim_pieces: int  # pieces with a grey side
    quad: I32  # (N*16,): colour by piece, rotation and side; UNUSABLE in a rotation in which no piece may be placed
    consecutive: I32  # (K*K,): the pair (k1, k2) of consecutive sides, clockwise
    opposite: I32  # (K*K,): the pair (k1, k2) of opposite sides, symmetric
    pair_first: I32  # (P,): first colour of a pair
    pair_second: I32  # (P,): second colour of a pair
    pair_span: I32  # (P,): 1 for consecutive, 2 for opposite sides
    piece_pairs: I32  # (N*6,): the pairs of a piece, each once
    piece_pair_count: I32  # (N,): how many
    pair_oriented: I32  # piece*4 + rotation with the pair's colours on sides 0 and `pair_span`, pair after pair
    pair_oriented_start: I32  # (P+1,): where each pair begins; orientations that look equal occur once
    pair_piece: I32  # the pieces of a pair, each once: Offer and Unavailable together (3.1), pair after pair
    pair_piece_start: I32  # (P+1,)
    colour_piece: I32  # the pieces that have a colour, colour after colour, then all pieces (for the colour K)
    colour_piece_start: I32  # (K+2,)
    neighbour: I32  # (C*4,): the cell at each side, -1 beyond the rim or for a hole
    shown: I32  # (C*4,): colour shown to a side of a cell before the search: 0 by the rim; -1 = none
    previous_duplicate: I32  # (N,): the duplicate numbered before a piece, -1 = none


def build_tables(classes: PieceClasses, options: Options) -> tuple[Tables, list[int]]:
    """The tables, and the piece class of each piece. Raises InputError for more than `MAX_COLOURS` colours."""
    puzzle = classes.puzzle
    quads, colours = _dense_colours(classes)
    class_of_piece = [number for number, members in enumerate(classes.members) for _ in members]
    tables = make_tables(
        quads=[quads[number] for number in class_of_piece],
        class_of_piece=class_of_piece,
        colours=colours,
        neighbour=_neighbours(puzzle),
        shown=_shown_by_the_rim(puzzle),
        turns=puzzle.turns,
        opposite_pairs=options.opposite,
    )
    return tables, class_of_piece


def make_tables(
    *,
    quads: Sequence[Sequence[int]],
    class_of_piece: list[int],
    colours: int,
    neighbour: I32,
    shown: I32,
    turns: bool,
    opposite_pairs: bool,
) -> Tables:
    """The tables of any set of pieces and cells.

    ``quads``: the colours of each piece unturned, numbered 0 to ``colours`` - 1; ``class_of_piece``: equal for
    duplicates, which are consecutive; ``neighbour``, ``shown``: as in `Tables`; ``turns``: whether pieces may be
    turned; ``opposite_pairs``: as `Options.opposite`. A piece has its pairs on all sides, also if it may not be turned:
    a cell demands a pair by the colours of its sides, wherever they are.
    """
    pieces = len(class_of_piece)
    oriented = [[rotate(quad, rotation) for rotation in range(4)] for quad in quads]
    quad_table = np.array(oriented, dtype=np.int32).reshape(-1, 4, 4)
    if not turns:
        quad_table[:, 1:] = UNUSABLE

    consecutive = np.zeros(colours * colours, dtype=np.int32)
    opposite = np.zeros(colours * colours, dtype=np.int32)
    pair_colours = [(0, 0, 0)]  # first, second, span; pair 0: no piece has it
    pair_oriented: list[list[int]] = [[]]
    piece_pairs = np.zeros((pieces, SLOTS), dtype=np.int32)
    piece_pair_count = np.zeros(pieces, dtype=np.int32)
    pair_pieces: list[list[int]] = [[]]
    for piece in range(pieces):
        own: list[int] = []
        for rotation in distinct_rotations(quads[piece]) if turns else range(4):
            quad = oriented[piece][rotation]
            for span, table in ((1, consecutive), (2, opposite)):
                first, second = quad[0], quad[span]
                if span == 2 and first > second:
                    continue  # opposite pairs are unordered: listed with the smaller colour first
                pair = int(table[first * colours + second])
                if not pair:
                    pair = len(pair_colours)
                    table[first * colours + second] = pair
                    if span == 2:
                        table[second * colours + first] = pair
                    pair_colours.append((first, second, span))
                    pair_oriented.append([])
                    pair_pieces.append([])
                pair_oriented[pair].append(piece * 4 + rotation)
                if pair not in own:
                    own.append(pair)
                    pair_pieces[pair].append(piece)
        piece_pairs[piece, : len(own)] = own
        piece_pair_count[piece] = len(own)

    if not opposite_pairs:  # no deduction from opposite colours that no piece has either
        pair_colours.append((0, 0, 2))
        pair_oriented.append([])
        pair_pieces.append([])
        opposite[opposite == 0] = len(pair_colours) - 1

    colour_pieces = [[piece for piece in range(pieces) if colour in quads[piece]] for colour in range(colours)]
    colour_pieces.append(list(range(pieces)))
    previous = [p - 1 if p and class_of_piece[p] == class_of_piece[p - 1] else -1 for p in range(pieces)]
    oriented_flat, oriented_start = _flat(pair_oriented)
    piece_flat, piece_start = _flat(pair_pieces)
    colour_flat, colour_start = _flat(colour_pieces)
    first, second, span = np.array(pair_colours, dtype=np.int32).T
    return Tables(
        colours=colours,
        pieces=pieces,
        cells=len(shown) // 4,
        words=(len(shown) // 4 + 63) // 64,
        rim_pieces=sum(GREY in quad for quad in quads),
        quad=quad_table.reshape(-1),
        consecutive=consecutive,
        opposite=opposite,
        pair_first=np.ascontiguousarray(first),
        pair_second=np.ascontiguousarray(second),
        pair_span=np.ascontiguousarray(span),
        piece_pairs=piece_pairs.reshape(-1),
        piece_pair_count=piece_pair_count,
        pair_oriented=oriented_flat,
        pair_oriented_start=oriented_start,
        pair_piece=piece_flat,
        pair_piece_start=piece_start,
        colour_piece=colour_flat,
        colour_piece_start=colour_start,
        neighbour=neighbour,
        shown=shown,
        previous_duplicate=np.array(previous, dtype=np.int32),
    )


def _dense_colours(classes: PieceClasses) -> tuple[list[list[int]], int]:
    """The quads of the piece classes with colours numbered 0..K-1, grey 0, and K."""
    quads = colours_by_axis(classes.quads, classes.puzzle.turns, int(classes.quads.max()))
    colours = np.unique(np.append(quads, GREY))
    if len(colours) > MAX_COLOURS:
        raise InputError(f"{len(colours) - 1} colours; ColorPairs takes at most {MAX_COLOURS - 1}")
    return np.searchsorted(colours, quads).tolist(), len(colours)


def colours_by_axis(quads: Colours, turns: bool, most: int) -> Colours:
    """Quads in which left and right sides have other colours than upper and lower ones, if pieces may not be turned.

    Such sides never touch, so that pairs then say more. ``most``: the largest colour, which is added; grey stays grey.
    """
    on_axis = np.array([False, True, False, True]) & ~np.array(turns) & (quads != GREY)
    split: Colours = quads + (on_axis * most).astype(quads.dtype)
    return split


def _flat(lists: list[list[int]]) -> tuple[I32, I32]:
    """All items one after the other, and where each list begins, with the end."""
    starts = np.cumsum([0] + [len(items) for items in lists]).astype(np.int32)
    return np.array([item for items in lists for item in items], dtype=np.int32), starts


def _neighbours(puzzle: Puzzle) -> I32:
    """The cell at each side of each cell, -1 where there is none."""
    table = np.full((puzzle.cells, 4), -1, dtype=np.int32)
    for cell in range(puzzle.cells):
        for side, other in puzzle.neighbours(cell):
            table[cell, side] = other
    return table.reshape(-1)


def _shown_by_the_rim(puzzle: Puzzle) -> I32:
    """0 for each side of each cell that must be grey, holes left out; -1 for the other sides."""
    table = np.array([puzzle.grey_sides(cell) for cell in range(puzzle.cells)], dtype=np.int32) - 1
    table[list(puzzle.holes)] = -1
    return table.reshape(-1)
