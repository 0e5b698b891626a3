"""The order of the cells, and candidate tables: the pieces to try on a cell, by the colours on its left and above it.

The upper and the left neighbour of a cell come before the cell in the order. Some columns may be filled from the right
(`is_from_right`): for their cells, "left" and "right" change places in this text. The cells of the last column, between
the columns from the left and those from the right, then have three known sides. A *candidate* is all that a search
needs to know of an oriented piece, packed into one int64:

    bits  0-12  index of the piece
    bits 13-14  rotation
    bits 15-26  colour shown downwards
    bits 27-47  colour shown to the right, times the number of colours (as `CandidateTables.list_start` is indexed)
    bits 48-63  gain, signed: number of favoured half-edges, minus BREAK_COST if the candidate breaks

The gain of a prefix is the sum of its pieces' gains, which tells its favoured half-edges and breaks (`breaks_spent`).

Cells with an equal `CellClass` take the same pieces. A cell class has one candidate list for each pair of a left and an
upper colour. A list is sorted by breaks (none, then one), then by favoured half-edges (most first); equals are in
random order. A list ends with a sentinel: a candidate of the lowest gain, with a piece index that is never marked as
used. For look-ahead, classes of rim cells also have lists for one known colour, with 0 in place of the other colour.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns.exact.kernels.jit import inline_flat_kernel
from lns.instances.errors import InputError
from lns.instances.layout import Sides
from lns.instances.puzzle import DOWN, GREY, LEFT, RIGHT, UP, BoolArray, Clue, IntArray, Puzzle

BREAK_BITS = 10
BREAK_COST = 1 << BREAK_BITS  # gain lost by a break; more than the favoured half-edges of all pieces (`QuotaBandit`)
LIST_END_GAIN = -(2**15)  # gain of the sentinel at the end of a candidate list
MAX_FAVOURED = 4  # most favoured half-edges of one piece
MAX_BREAKS = 32  # a break schedule allows fewer breaks than this: the gain of 32 breaks is LIST_END_GAIN
MAX_COLOURS = 500

ROTATION_SHIFT, DOWN_SHIFT, RIGHT_SHIFT, GAIN_SHIFT = 13, 15, 27, 48
PIECE_MASK, DOWN_MASK, RIGHT_MASK = np.int64(2**13 - 1), np.int64(2**12 - 1), np.int64(2**21 - 1)

Int64Array = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Bitsets = npt.NDArray[np.uint64]  # arrays of sets with one bit for each possible member; a set is one or more uint64


def comb_order(
    width: int,
    height: int,
    column_major_rows: int,
    column_major_skip: int = 0,
    corner_size: int = 1,
    columns_from_right: int = 0,
) -> IntArray:
    """Return the comb order of a board: its cells in the order in which they are filled, int32 (width * height,).

    Upper rows are filled row by row. The band, the last ``column_major_rows`` rows (at least one), is filled column by
    column: first ``columns_from_right`` columns, from the right edge on; then ``column_major_skip`` columns at the left
    edge, which are filled row by row; then the other columns. The last ``corner_size`` of these other columns are
    filled by one row and one column in turn.
    """
    band = max(1, min(column_major_rows, height))
    top, first = height - band, max(0, min(columns_from_right, width - 1))
    order = [(row, column) for row in range(top) for column in range(width)]
    order += [(row, column) for column in range(width - 1, width - first - 1, -1) for row in range(top, height)]
    board_width, width = width, width - first
    skip = max(0, min(column_major_skip, width))
    corner = max(1, min(corner_size, width - skip)) if skip < width else 0
    order += [(row, column) for row in range(top, height) for column in range(skip)]
    order += [(row, column) for column in range(skip, width - corner) for row in range(top, height)]
    for first_row, first_column in zip(range(top, height), range(width - corner, width), strict=False):
        order += [(first_row, column) for column in range(first_column, width)]
        order += [(row, first_column) for row in range(first_row + 1, height)]
    return np.array([row * board_width + column for row, column in order], dtype=np.int32)


def is_from_right(order: IntArray, width: int) -> BoolArray:
    """Return, by depth, whether a cell of ``order`` comes before its left neighbour (is filled from the right)."""
    depth_of = np.empty(len(order), dtype=np.int64)
    depth_of[order] = np.arange(len(order))
    from_right: BoolArray = (order % width > 0) & (depth_of[order - 1] > np.arange(len(order)))
    return from_right


def padded_positions(order: IntArray, width: int) -> Int64Array:
    """Return the indexes of the cells of ``order`` in a padded board: one extra row above, one extra column at left."""
    row, column = np.divmod(order.astype(np.int64), width)
    return (row + 1) * (width + 1) + column + 1


def outside_positions(puzzle: Puzzle, order: IntArray, start: int, end: int) -> Int64Array:
    """Return the padded positions of neighbours of the cells at depths ``start`` to ``end`` - 1; int64 (depths, 3).

    A row of the array is for the left, the upper and the right neighbour: -1 without such a neighbour before ``start``.
    """
    position = padded_positions(order, puzzle.width)
    before = {cell: position[depth] for depth, cell in enumerate(order[:start].tolist())}
    outside = np.full((end - start, 3), -1, dtype=np.int64)
    for i, cell in enumerate(order[start:end].tolist()):
        for column, (side, neighbour) in enumerate(((LEFT, cell - 1), (UP, cell - puzzle.width), (RIGHT, cell + 1))):
            if not puzzle.rim_sides(cell)[side]:
                outside[i, column] = before.get(neighbour, -1)
    return outside


class CandidateTables(NamedTuple):
    """The candidate lists of all cell classes.

    The list of the cell of depth d, for the colours ``left`` and ``up`` shown to the cell, begins at index
    ``list_start[base[d] + left * colour_count + up]`` of ``candidates``.
    """

    list_start: IntArray  # int32 (classes * colour_count^2,): index in ``candidates`` where each list begins
    candidates: Int64Array  # int64: packed candidates, all lists one after the other
    base: IntArray  # int32 (cells,): by depth, index in ``list_start`` where the lists of the cell's class begin
    row: IntArray  # int32 (cells,): by depth, board row of the cell, plus the height if it is filled from the right
    colour_count: int  # number of colours, grey included


class CellClass(NamedTuple):
    """The properties of a cell that decide which pieces it takes."""

    rim_sides: Sides  # by side, whether the side lies on the rim
    clue_sides: tuple[tuple[int, int], ...] = ()  # (side, colour shown there) for each adjacent clue at a later depth
    break_sides: tuple[int, ...] = ()  # sides of the cell at which a piece may mismatch
    clue: int = -1  # oriented piece of the clue on the cell itself, -1 = no clue
    from_right: bool = False  # whether the cell is filled when the colour on its right, not on its left, is known

    @property
    def known_side(self) -> int:
        """The side, LEFT or RIGHT, that has a known colour besides the upper side when the cell is filled."""
        return RIGHT if self.from_right else LEFT


@inline_flat_kernel
def oriented_piece(candidate: np.int64) -> np.int64:
    """Return the oriented piece, piece * 4 + rotation, of a packed candidate."""
    return (candidate & PIECE_MASK) * 4 + ((candidate >> ROTATION_SHIFT) & 3)


@inline_flat_kernel
def breaks_spent(gain: int) -> int:
    """Return the number of breaks of a prefix, from the sum of the gains of its pieces."""
    return (BREAK_COST - 1 - gain) >> BREAK_BITS


def pack_candidates(
    puzzle: Puzzle, oriented: Int64Array, gain: Int64Array, from_right: BoolArray | bool = False
) -> Int64Array:
    """Return the packed candidates, int64 (n,), of oriented pieces, int64 (n,), with their gains, int64 (n,).

    ``from_right``: whether each candidate is for a cell filled from the right; its left colour is then stored in place
    of its right colour.
    """
    quads = puzzle.oriented[oriented].astype(np.int64)
    right, down = np.where(from_right, quads[:, LEFT], quads[:, RIGHT]) * (puzzle.colours + 1), quads[:, DOWN]
    rotation = oriented & 3
    return oriented >> 2 | rotation << ROTATION_SHIFT | down << DOWN_SHIFT | right << RIGHT_SHIFT | gain << GAIN_SHIFT


def check_colours(puzzle: Puzzle) -> None:
    """Raise InputError for too many colours: a cell class has a list for each pair of colours, which takes memory."""
    if puzzle.colours > MAX_COLOURS:
        raise InputError(f"{puzzle.name} has {puzzle.colours} colours; the optimizer takes at most {MAX_COLOURS}")


def may_break(puzzle: Puzzle, cell: int, side: int) -> bool:
    """Return whether ``side`` of ``cell`` may break: whether it is an inner edge but does not join two rim cells."""
    sides = puzzle.rim_sides(cell)
    neighbour = cell + (-puzzle.width, 1, puzzle.width, -1)[side]
    return not sides[side] and not (any(sides) and any(puzzle.rim_sides(neighbour)))


def build_tables(
    puzzle: Puzzle,
    order: IntArray,
    break_depths: BoolArray,
    favoured: tuple[int, ...],
    chance: np.random.Generator,
    cut: int,
) -> CandidateTables:
    """Build the candidate lists of all cells.

    ``order``: int32 (cells,), cells by depth; ``break_depths``: bool (cells,), by depth, whether the lists include
    candidates with one break; ``favoured``: colours whose half-edges count as gain; ``chance``: random generator that
    orders candidates of equal gain; ``cut``: depth at which the exact tail begins; clues from there on are ignored.
    """
    lists = (puzzle.colours + 1) ** 2  # number of candidate lists of one cell class
    clues = clues_before(puzzle, order, cut)
    numbers: dict[CellClass, int] = {}
    base = np.empty(puzzle.cells, dtype=np.int32)
    from_right = is_from_right(order, puzzle.width)
    for depth, cell in enumerate(order.tolist()):
        cell_class = cell_class_of(puzzle, cell, bool(break_depths[depth]), clues, bool(from_right[depth]))
        base[depth] = numbers.setdefault(cell_class, len(numbers)) * lists

    parts = [_class_candidates(puzzle, cell_class) for cell_class in numbers]
    keys = np.concatenate([number * lists + part[0] for number, part in enumerate(parts)])
    oriented, breaks = (np.concatenate([part[column] for part in parts]) for column in (1, 2))
    favoured_sides = np.isin(puzzle.pieces, favoured).sum(axis=1).astype(np.int64)[oriented >> 2]
    shows_left = np.repeat([cell_class.from_right for cell_class in numbers], [len(part[0]) for part in parts])
    candidates = pack_candidates(puzzle, oriented, favoured_sides - BREAK_COST * breaks, shows_left)
    by = np.lexsort((chance.random(len(keys)), -favoured_sides, breaks, keys))
    # each list ends with a sentinel; an empty list is only a sentinel: all empty lists share the sentinel at index 0
    used_keys, starts, sizes = np.unique(keys[by], return_index=True, return_counts=True)
    sentinels_before = 1 + np.arange(len(used_keys))
    sentinel = np.int64(puzzle.cells) | np.int64(LIST_END_GAIN) << np.int64(GAIN_SHIFT)
    packed = np.full(1 + len(candidates) + len(used_keys), sentinel, dtype=np.int64)
    packed[np.arange(len(candidates)) + np.repeat(sentinels_before, sizes)] = candidates[by]
    list_start = np.zeros(len(numbers) * lists, dtype=np.int32)
    list_start[used_keys] = starts + sentinels_before
    row = (order // puzzle.width + puzzle.height * from_right).astype(np.int32)
    return CandidateTables(list_start, packed, base, row, puzzle.colours + 1)


def cell_class_of(
    puzzle: Puzzle, cell: int, breaks: bool, clues: dict[int, Clue], from_right: bool = False
) -> CellClass:
    """Return the class of ``cell``; ``breaks``: whether its sides may break; ``clues``: clues to respect, by cell."""
    rim_sides = puzzle.rim_sides(cell)
    if cell in clues:
        return CellClass(rim_sides, clue=clues[cell].oriented, from_right=from_right)
    beside = (LEFT, cell - 1) if from_right else (RIGHT, cell + 1)
    clue_sides = tuple(
        (side, int(puzzle.oriented[clues[neighbour].oriented, (side + 2) % 4]))
        for side, neighbour in (beside, (DOWN, cell + puzzle.width))
        if not rim_sides[side] and neighbour in clues
    )
    known_sides = {UP, RIGHT if from_right else LEFT, *(side for side, _ in clue_sides)}
    break_sides = tuple(side for side in sorted(known_sides) if breaks and may_break(puzzle, cell, side))
    return CellClass(rim_sides, clue_sides, break_sides, from_right=from_right)


def _class_candidates(puzzle: Puzzle, cell_class: CellClass) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Return all candidates of one cell class that have at most one break.

    The three arrays have an entry for each candidate: the key of its list (left * colour_count + up), its oriented
    piece, and its number of breaks.
    """
    colour_count = puzzle.colours + 1
    if cell_class.clue >= 0:  # a clue fits whatever its neighbours show; a mismatch is a break of the neighbour
        every_key = np.arange(colour_count**2, dtype=np.int64)
        return every_key, np.full_like(every_key, cell_class.clue), np.zeros_like(every_key)

    quads = puzzle.oriented.astype(np.int64)
    pieces, clue_breaks = fitting_pieces(puzzle, cell_class)
    beside = cell_class.known_side
    left, up = quads[pieces, beside] * colour_count, quads[pieces, UP]
    lists = [(left + up, pieces, clue_breaks)]  # each entry: arrays of list keys, oriented pieces, breaks
    for known, unknown_side in ((left, UP), (up, beside)):
        if any(cell_class.rim_sides) and not cell_class.rim_sides[unknown_side]:
            lists.append((known, pieces, clue_breaks))
    exact = pieces[clue_breaks == 0]
    for side, step, other_side, other_step in ((beside, colour_count, UP, 1), (UP, 1, beside, colour_count)):
        if side in cell_class.break_sides:
            piece, colour = np.repeat(exact, colour_count - 1), np.tile(np.arange(1, colour_count), len(exact))
            differs = quads[piece, side] != colour
            piece, colour = piece[differs], colour[differs]
            lists.append((colour * step + quads[piece, other_side] * other_step, piece, np.ones_like(piece)))
    keys, oriented, breaks = (np.concatenate(columns) for columns in zip(*lists, strict=True))
    return keys, oriented, breaks


def fitting_pieces(puzzle: Puzzle, cell_class: CellClass) -> tuple[Int64Array, Int64Array]:
    """Return the oriented pieces that fit a cell class, its left and upper colours left aside, int64 (n,).

    Also return how many adjacent clues at later depths each of them mismatches, 0 or 1, int64 (n,). Left out are pieces
    of clues elsewhere, and rotations of a piece that look like an earlier rotation.
    """
    if cell_class.clue >= 0:
        return np.array([cell_class.clue], dtype=np.int64), np.zeros(1, dtype=np.int64)
    quads, rotations = puzzle.oriented, puzzle.oriented.reshape(-1, 4, 4)
    same = (rotations[:, :, None] == rotations[:, None]).all(axis=-1)  # indexes: piece, rotation, other rotation
    is_tried = ~np.tril(same, -1).any(axis=-1)  # by piece and rotation: whether no earlier rotation looks alike
    is_tried[[clue.piece for clue in puzzle.clues]] = False
    fits = is_tried.ravel() & ((quads == GREY) == np.array(cell_class.rim_sides)).all(axis=1)
    breaks = np.zeros(len(quads), dtype=np.int64)
    for side, colour in cell_class.clue_sides:
        breaks += quads[:, side] != colour
        if side not in cell_class.break_sides:
            fits &= quads[:, side] == colour
    oriented = np.flatnonzero(fits & (breaks <= 1)).astype(np.int64)
    return oriented, breaks[oriented]


def clues_before(puzzle: Puzzle, order: IntArray, cut: int) -> dict[int, Clue]:
    """Return, by cell, the clues at depths below ``cut``; the exact tail itself places the clues on later cells."""
    filled = set(order[:cut].tolist())
    return {clue.cell: clue for clue in puzzle.clues if clue.cell in filled}
