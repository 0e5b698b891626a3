"""Candidate tables: the pieces to try on a cell, in order, for each pair of known colours (left, up).

Cells that take the same pieces form a *cell class*: the same sides on the rim, the same colours required by clues
next to them, the same sides that may break. A class has one candidate list for each pair of colours. A candidate is one
int64 (`lns.construct.packed_candidate`). In a list candidates without a break come first, then those with more favoured
half-edges; ties are in random order. Each list ends with a sentinel of the lowest gain on a piece number that is never
used, so that a search needs no test for the end of a list (`lns.construct.kernel`).

Cells of the rim also have lists for one known colour alone: there colour 0 stands for an unknown colour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from instances.puzzle import DOWN, GREY, LEFT, RIGHT, UP, Clue, IntArray, Puzzle
from lns.construct.packed_candidate import BREAK_COST, GAIN_SHIFT, LIST_END_GAIN, Int64Array, pack_candidates
from lns_support.errors import InputError

MAX_COLOURS = 500


class CandidateTables(NamedTuple):
    """The candidate lists of all cell classes.

    The list of a class, a left and an upper colour begins at
    ``candidates[list_start[base + left * colour_count + up]]``, with ``base`` = class number * colour_count^2.
    """

    list_start: npt.NDArray[np.int32]  # int32 (classes * colour_count^2,): first candidate of each list
    candidates: npt.NDArray[np.int64]  # int64: packed candidates, all lists one after the other
    base: npt.NDArray[np.int32]  # int32 (cells,): where the lists of each depth's cell begin in list_start
    colour_count: int  # number of colours, the rim's included


@dataclass(frozen=True)
class CellClass:
    """What decides the pieces that a cell takes.

    Parameters
    ----------
    rim_sides : tuple of bool
        By side, whether it lies on the rim.
    clue_sides : tuple of (int, int)
        (side, colour) that a clue on the right or below shows to the cell.
    break_sides : tuple of int
        Sides at which the cell may mismatch.
    clue : int
        Oriented piece of a clue on the cell itself, -1 = none.
    """

    rim_sides: tuple[bool, bool, bool, bool]
    clue_sides: tuple[tuple[int, int], ...]
    break_sides: tuple[int, ...]
    clue: int = -1


def check_colours(puzzle: Puzzle) -> None:
    """Raise InputError if the lists, colours x colours for a cell class, would not fit into memory."""
    if puzzle.colours > MAX_COLOURS:
        raise InputError(f"{puzzle.name} has {puzzle.colours} colours; the optimizer takes at most {MAX_COLOURS}")


def may_break(puzzle: Puzzle, cell: int, side: int) -> bool:
    """Whether ``side`` of ``cell`` may mismatch: an inner edge, unless it joins two cells of the rim along it."""
    sides = puzzle.rim_sides(cell)
    if sides[side]:
        return False
    row, column = divmod(cell, puzzle.width)
    row_step, column_step = ((-1, 0), (0, 1), (1, 0), (0, -1))[side]
    neighbour_sides = puzzle.rim_sides((row + row_step) * puzzle.width + column + column_step)
    return not (any(sides) and any(neighbour_sides))


def rim_look_ahead(puzzle: Puzzle, order: IntArray, base: npt.NDArray[np.int32], cut: int) -> Int64Array:
    """For each cell of the rim, the later rim cells that its piece must leave a candidate for.

    Parameters
    ----------
    order : int32 (cells,)
        Cells by depth.
    base : int32 (cells,)
        `CandidateTables.base`.
    cut : int
        Depth at which the exact tail begins; its cells may mismatch and are not checked.

    Returns
    -------
    int64 (cells, 2)
        By depth, ``base`` of the rim cell on the right (column 0) and below (column 1) if it is filled later, but not
        next; -1 = nothing to check.
    """
    look_ahead = np.full((puzzle.cells, 2), -1, dtype=np.int64)
    depth_of = {cell: depth for depth, cell in enumerate(order.tolist())}
    for cell, depth in depth_of.items():
        for column, (side, later) in enumerate(((RIGHT, cell + 1), (DOWN, cell + puzzle.width))):
            if (
                not puzzle.rim_sides(cell)[side]
                and not may_break(puzzle, cell, side)
                and depth + 1 < depth_of[later] < cut
            ):
                look_ahead[depth, column] = base[depth_of[later]]
    return look_ahead


def build_tables(
    puzzle: Puzzle,
    order: IntArray,
    break_depths: npt.NDArray[np.bool_],
    favoured: tuple[int, ...],
    chance: np.random.Generator,
    cut: int,
) -> CandidateTables:
    """Build the candidate lists of all cells.

    Parameters
    ----------
    order : int32 (cells,)
        Cells by depth.
    break_depths : bool (cells,)
        Depths whose lists include candidates with one break.
    favoured : tuple of int
        Colours whose half-edges count as gain.
    chance : numpy.random.Generator
        Orders candidates that are equal otherwise.
    cut : int
        Depth from which the exact tail fills the cells: clues behind it are not looked at.
    """
    colour_count = puzzle.colours + 1
    clues = clues_before(puzzle, order, cut)
    numbers: dict[CellClass, int] = {}
    base = np.empty(puzzle.cells, dtype=np.int32)
    for depth, cell in enumerate(order.tolist()):
        cell_class = cell_class_of(puzzle, cell, bool(break_depths[depth]), clues)
        base[depth] = numbers.setdefault(cell_class, len(numbers)) * colour_count**2

    unclued = is_unclued_piece(puzzle)
    favoured_sides = np.isin(puzzle.pieces, favoured).sum(axis=1).astype(np.int64)
    all_keys, all_candidates, all_breaks = [], [], []
    for cell_class, number in numbers.items():
        keys, oriented, breaks = _class_candidates(puzzle, cell_class, unclued)
        gain = favoured_sides[oriented >> 2] - BREAK_COST * breaks
        all_keys.append(number * colour_count**2 + keys)
        all_candidates.append(pack_candidates(puzzle.oriented[oriented], oriented, gain, colour_count))
        all_breaks.append(breaks)
    list_start, candidates = _sorted_lists(
        np.concatenate(all_keys),
        np.concatenate(all_candidates),
        np.concatenate(all_breaks),
        len(numbers) * colour_count**2,
        puzzle.cells,
        chance,
    )
    return CandidateTables(list_start=list_start, candidates=candidates, base=base, colour_count=colour_count)


def cell_class_of(puzzle: Puzzle, cell: int, breaks: bool, clues: dict[int, Clue]) -> CellClass:
    """The class of ``cell``; ``breaks``: whether it may break at all; ``clues``: by cell, those to respect."""
    rim_sides = puzzle.rim_sides(cell)
    if cell in clues:
        return CellClass(rim_sides, (), (), clues[cell].oriented)
    clue_sides = tuple(
        (side, int(puzzle.oriented[clues[neighbour].oriented, (side + 2) % 4]))
        for side, neighbour in ((RIGHT, cell + 1), (DOWN, cell + puzzle.width))
        if not rim_sides[side] and neighbour in clues
    )
    known_sides = {UP, LEFT, *(side for side, _ in clue_sides)}
    break_sides = tuple(side for side in sorted(known_sides) if breaks and may_break(puzzle, cell, side))
    return CellClass(rim_sides, clue_sides, break_sides)


def _class_candidates(
    puzzle: Puzzle, cell_class: CellClass, unclued: npt.NDArray[np.bool_]
) -> tuple[Int64Array, Int64Array, Int64Array]:
    """All candidates of one cell class, each with at most one break.

    Returns (left * colour_count + up of the list, oriented piece, breaks), three arrays of equal length.
    """
    colour_count = puzzle.colours + 1
    quads = puzzle.oriented
    if cell_class.clue >= 0:  # the pieces beside it match it, or have been charged for the break
        every_key = np.arange(colour_count**2, dtype=np.int64)
        return every_key, np.full_like(every_key, cell_class.clue), np.zeros_like(every_key)

    pieces, clue_breaks = fitting_pieces(puzzle, cell_class, unclued)
    left, up = quads[pieces, LEFT].astype(np.int64) * colour_count, quads[pieces, UP].astype(np.int64)
    keys, oriented, breaks = [left + up], [pieces], [clue_breaks]
    for known, unknown_side in ((left, UP), (up, LEFT)):
        if any(cell_class.rim_sides) and not cell_class.rim_sides[unknown_side]:
            keys.append(known)
            oriented.append(pieces)
            breaks.append(clue_breaks)

    exact = pieces[clue_breaks == 0]
    for side, step, other_side, other_step in ((LEFT, colour_count, UP, 1), (UP, 1, LEFT, colour_count)):
        if side not in cell_class.break_sides:
            continue
        grid_piece, grid_colour = (
            axis.ravel() for axis in np.meshgrid(exact, np.arange(1, colour_count), indexing="ij")
        )
        differs = quads[grid_piece, side] != grid_colour
        grid_piece, grid_colour = grid_piece[differs], grid_colour[differs].astype(np.int64)
        keys.append(grid_colour * step + quads[grid_piece, other_side].astype(np.int64) * other_step)
        oriented.append(grid_piece)
        breaks.append(np.ones(len(grid_piece), dtype=np.int64))
    return np.concatenate(keys), np.concatenate(oriented), np.concatenate(breaks)


def fitting_pieces(
    puzzle: Puzzle, cell_class: CellClass, unclued: npt.NDArray[np.bool_]
) -> tuple[Int64Array, Int64Array]:
    """The oriented pieces that a cell class takes, whatever lies on the left and above.

    Parameters
    ----------
    unclued : bool (pieces,)
        `is_unclued_piece`: only these pieces are taken.

    Returns
    -------
    oriented : int64 (n,)
    breaks : int64 (n,)
        Mismatches of each with a clue on the right or below, 0 or 1.
    """
    if cell_class.clue >= 0:
        return np.array([cell_class.clue], dtype=np.int64), np.zeros(1, dtype=np.int64)
    quads = puzzle.oriented
    fits = unclued.repeat(4) & ((quads == GREY) == np.array(cell_class.rim_sides)).all(axis=1)
    fits &= first_of_equal_rotations(quads)
    breaks = np.zeros(len(quads), dtype=np.int64)
    for side, colour in cell_class.clue_sides:
        breaks += quads[:, side] != colour
        if side not in cell_class.break_sides:
            fits &= quads[:, side] == colour
    oriented = np.flatnonzero(fits & (breaks <= 1)).astype(np.int64)
    return oriented, breaks[oriented]


def clues_before(puzzle: Puzzle, order: IntArray, cut: int) -> dict[int, Clue]:
    """By cell, the clues at depths below ``cut``; the exact tail counts the mismatches of later ones itself."""
    filled = set(order[:cut].tolist())
    return {clue.cell: clue for clue in puzzle.clues if clue.cell in filled}


def is_unclued_piece(puzzle: Puzzle) -> npt.NDArray[np.bool_]:
    """Whether each piece belongs to no clue; bool (pieces,)."""
    unclued = np.ones(puzzle.cells, dtype=bool)
    unclued[[clue.piece for clue in puzzle.clues]] = False
    return unclued


def first_of_equal_rotations(quads: IntArray) -> npt.NDArray[np.bool_]:
    """False for a rotation that looks like an earlier one of the same piece: a symmetric piece is tried once.

    ``quads``: int32 (4 * pieces, 4), colours of the oriented pieces; returns bool (4 * pieces,).
    """
    rotations = quads.reshape(-1, 4, 4)
    first = np.ones(rotations.shape[:2], dtype=bool)
    for rotation in range(1, 4):
        for earlier in range(rotation):
            first[:, rotation] &= (rotations[:, rotation] != rotations[:, earlier]).any(axis=1)
    return first.ravel()


def _sorted_lists(
    keys: Int64Array,
    candidates: Int64Array,
    breaks: Int64Array,
    list_count: int,
    unused_piece: int,
    chance: np.random.Generator,
) -> tuple[npt.NDArray[np.int32], Int64Array]:
    """Sort candidates into lists by ``keys``: (`CandidateTables.list_start`, `CandidateTables.candidates`).

    Each list ends with a sentinel on ``unused_piece``; all empty lists share the one at index 0.
    """
    sentinel = np.int64(unused_piece) | np.int64(LIST_END_GAIN) << np.int64(GAIN_SHIFT)
    favoured_sides = (candidates >> GAIN_SHIFT) + BREAK_COST * breaks
    by = np.lexsort((chance.random(len(keys)), -favoured_sides, breaks, keys))
    keys, candidates = keys[by], candidates[by]
    used_keys, starts, sizes = np.unique(keys, return_index=True, return_counts=True)
    sentinels_before = 1 + np.arange(len(used_keys))
    packed = np.full(1 + len(candidates) + len(used_keys), sentinel, dtype=np.int64)
    packed[np.arange(len(candidates)) + np.repeat(sentinels_before, sizes)] = candidates
    list_start = np.zeros(list_count, dtype=np.int32)
    list_start[used_keys] = starts + sentinels_before
    return list_start, packed
