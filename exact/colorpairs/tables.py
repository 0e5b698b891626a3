"""What never changes during a search: oriented pieces, colour pairs and their members, the board's neighbours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from exact.colorpairs.options import Options
from exact.piece_classes import PieceClasses
from instances.puzzle import GREY, rotate
from lns_support.errors import InputError

I32 = npt.NDArray[np.int32]
MAX_COLOURS = 4096
SLOTS = 6  # pairs of a piece or of a cell: four consecutive, two opposite


class Tables(NamedTuple):
    """Flat arrays for the kernels. A *piece* here is a member of a kind: twins are neighbours in the numbering.

    ``quad[(piece*4 + rotation)*4 + side]``: colour, dense numbers, 0 = grey.
    ``consecutive[k1*K + k2]``, ``opposite[k1*K + k2]``: number of the pair, 0 where no piece has it.
    ``pair_first``, ``pair_second``, ``pair_span`` (1 consecutive, 2 opposite): a pair's colours.
    ``piece_pairs[piece*6 + i]``, ``piece_pair_count``: the pairs of a piece, each once.
    ``entry``: ``piece*4 + rotation`` so that side 0 shows the pair's first colour, side ``span`` its second; those of
    pair p from ``entry_start[p]`` to ``entry_start[p+1]``; orientations that look alike once.
    ``member``, ``member_start``: the pieces of a pair, each once: Offer(p) and Unavailable(p) together.
    ``holder``, ``holder_start``: the pieces that have a colour.
    ``neighbour[cell*4 + side]``: cell, -1 beyond the rim. ``twin``: the identical piece before this one, -1 = none.
    """

    colours: int
    pieces: int
    cells: int
    words: int
    rim_pieces: int
    quad: I32
    consecutive: I32
    opposite: I32
    pair_first: I32
    pair_second: I32
    pair_span: I32
    piece_pairs: I32
    piece_pair_count: I32
    entry: I32
    entry_start: I32
    member: I32
    member_start: I32
    holder: I32
    holder_start: I32
    neighbour: I32
    twin: I32


def build_tables(kinds: PieceClasses, options: Options) -> tuple[Tables, list[int]]:
    """The tables, and the kind of each piece."""
    puzzle = kinds.puzzle
    quads, colours = _dense_colours(kinds)
    kind_of_piece = [kind for kind, members in enumerate(kinds.members) for _ in members]
    pieces = len(kind_of_piece)
    oriented = [[rotate(quads[kind], rotation) for rotation in range(4)] for kind in kind_of_piece]

    consecutive = np.zeros(colours * colours, dtype=np.int32)
    opposite = np.zeros(colours * colours, dtype=np.int32)
    described = [(0, 0, 0)]  # pair 0: no piece has it
    entries: list[list[int]] = [[]]
    piece_pairs = np.zeros((pieces, SLOTS), dtype=np.int32)
    piece_pair_count = np.zeros(pieces, dtype=np.int32)
    members: list[list[int]] = [[]]
    for piece, kind in enumerate(kind_of_piece):
        own: list[int] = []
        for rotation in kinds.rotations(kind):
            quad = oriented[piece][rotation]
            for span, table in ((1, consecutive), (2, opposite)):
                first, second = quad[0], quad[span]
                if span == 2 and first > second:
                    continue  # opposite pairs are unordered: listed with the smaller colour first
                pair = int(table[first * colours + second])
                if not pair:
                    pair = len(described)
                    table[first * colours + second] = pair
                    if span == 2:
                        table[second * colours + first] = pair
                    described.append((first, second, span))
                    entries.append([])
                    members.append([])
                entries[pair].append(piece * 4 + rotation)
                if pair not in own:
                    own.append(pair)
                    members[pair].append(piece)
        piece_pairs[piece, : len(own)] = own
        piece_pair_count[piece] = len(own)

    if not options.opposite:  # opposite colours that no piece has must stay silent too
        described.append((0, 0, 2))
        entries.append([])
        members.append([])
        opposite[opposite == 0] = len(described) - 1

    holders = [[p for p in range(pieces) if colour in oriented[p][0]] for colour in range(colours)]
    twin = [p - 1 if p and kind_of_piece[p] == kind_of_piece[p - 1] else -1 for p in range(pieces)]
    entry, entry_start = _flat(entries)
    member, member_start = _flat(members)
    holder, holder_start = _flat(holders)
    first, second, span = np.array(described, dtype=np.int32).T
    return Tables(
        colours=colours,
        pieces=pieces,
        cells=puzzle.cells,
        words=(puzzle.cells + 63) // 64,
        rim_pieces=sum(GREY in quad[0] for quad in oriented),
        quad=np.array(oriented, dtype=np.int32).reshape(-1),
        consecutive=consecutive,
        opposite=opposite,
        pair_first=np.ascontiguousarray(first),
        pair_second=np.ascontiguousarray(second),
        pair_span=np.ascontiguousarray(span),
        piece_pairs=piece_pairs.reshape(-1),
        piece_pair_count=piece_pair_count,
        entry=entry,
        entry_start=entry_start,
        member=member,
        member_start=member_start,
        holder=holder,
        holder_start=holder_start,
        neighbour=_neighbours(puzzle.width, puzzle.height),
        twin=np.array(twin, dtype=np.int32),
    ), kind_of_piece


def _dense_colours(kinds: PieceClasses) -> tuple[list[list[int]], int]:
    """The kinds' colours numbered 0..K-1, grey 0, and K."""
    colours = np.unique(np.append(kinds.quads, GREY))
    if len(colours) > MAX_COLOURS:
        raise InputError(f"{len(colours) - 1} colours; ColorPairs takes at most {MAX_COLOURS - 1}")
    return np.searchsorted(colours, kinds.quads).tolist(), len(colours)


def _flat(lists: list[list[int]]) -> tuple[I32, I32]:
    starts = np.cumsum([0] + [len(items) for items in lists]).astype(np.int32)
    return np.array([item for items in lists for item in items], dtype=np.int32), starts


def _neighbours(width: int, height: int) -> I32:
    cell = np.arange(width * height, dtype=np.int32).reshape(height, width)
    table = np.full((height, width, 4), -1, dtype=np.int32)
    table[1:, :, 0] = cell[:-1]
    table[:, :-1, 1] = cell[:, 1:]
    table[:-1, :, 2] = cell[1:]
    table[:, 1:, 3] = cell[:, :-1]
    return table.reshape(-1)
