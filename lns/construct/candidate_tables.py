"""Candidate tables: for each kind of cell and each pair of known colours (left, up), the pieces to try, in order.

A candidate is one int64 word: see ``lns.construct.packed_candidate``. Lists end with a word of the lowest gain on a
piece that is
never used, so that the end needs no test of its own: see ``lns.construct.kernel``. Inside a list: fewest breaks first,
then most favoured half-edges, then chance.

A rim cell also has lists for the colour of one neighbour alone: colour 0 stands for "not known yet" there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from instances.puzzle import DOWN, GREY, LEFT, RIGHT, UP, Clue, IntArray, Puzzle
from lns.construct.packed_candidate import BREAK_COST, GAIN_AT, NEVER, Longs, pack
from lns_support.errors import InputError

MAX_COLOURS = 500


class Tables(NamedTuple):
    """Flat arrays for the kernel; ``colours1`` = number of colours with grey.

    ``start``: int32, (kinds * colours1 * colours1,): first word of the list of kind*colours1^2 + left*colours1 + up.
    ``words``: int64. ``base``: int32 (cells,), kind*colours1^2 by depth.
    """

    start: npt.NDArray[np.int32]
    words: npt.NDArray[np.int64]
    base: npt.NDArray[np.int32]
    colours1: int


@dataclass(frozen=True)
class Kind:
    """What the pieces of a cell have in common: grey sides, colours that clues beside it ask for, where it may
    break."""

    grey: tuple[bool, bool, bool, bool]
    wanted: tuple[tuple[int, int], ...]  # (side, colour) asked for by a clue on the right or below
    breaks: tuple[int, ...]  # sides at which this cell may mismatch
    clue: int = -1  # the oriented piece of a clue on this cell


def check_colours(puzzle: Puzzle) -> None:
    """Raises InputError where the lists, colours x colours of them a kind of cell, would not fit into memory."""
    if puzzle.colours > MAX_COLOURS:
        raise InputError(f"{puzzle.name} has {puzzle.colours} colours; the optimizer takes at most {MAX_COLOURS}")


def may_break(puzzle: Puzzle, cell: int, side: int) -> bool:
    """Whether a break on ``side`` of ``cell`` is affordable: never between two rim cells along the rim."""
    grey = puzzle.rim_sides(cell)
    if grey[side]:
        return False
    row, column = divmod(cell, puzzle.width)
    drow, dcolumn = ((-1, 0), (0, 1), (1, 0), (0, -1))[side]
    other = puzzle.rim_sides((row + drow) * puzzle.width + column + dcolumn)
    return not (any(grey) and any(other))


def rim_ahead(puzzle: Puzzle, order: IntArray, base: npt.NDArray[np.int32], cut: int) -> Longs:
    """Whom a piece on the rim asks whether a neighbour along the rim is left: int64 (cells, 2) by depth, -1 = nobody.

    Column 0: ``base`` of the rim cell on the right, if it is filled later but not next; column 1: of that below. From
    ``cut`` on the exact tail fills the cells, and may mismatch even there.
    """
    ahead = np.full((puzzle.cells, 2), -1, dtype=np.int64)
    place = {cell: depth for depth, cell in enumerate(order.tolist())}
    for cell, depth in place.items():
        for which, (side, other) in enumerate(((RIGHT, cell + 1), (DOWN, cell + puzzle.width))):
            if (
                not puzzle.rim_sides(cell)[side]
                and not may_break(puzzle, cell, side)
                and depth + 1 < place[other] < cut
            ):
                ahead[depth, which] = base[place[other]]
    return ahead


def build(
    puzzle: Puzzle,
    order: IntArray,
    break_depths: npt.NDArray[np.bool_],
    favoured: tuple[int, ...],
    chance: np.random.Generator,
    cut: int,
) -> Tables:
    """Tables for the cells in ``order``; those at depths where ``break_depths`` is True also list breaks.

    ``favoured``: colours whose half-edges count as gain. ``chance`` shuffles what is equal otherwise. ``cut``: depth
    from which another search fills the cells.
    """
    colours1 = puzzle.colours + 1
    clues = clues_before(puzzle, order, cut)
    kinds: dict[Kind, int] = {}
    base = np.empty(puzzle.cells, dtype=np.int32)
    for depth, cell in enumerate(order.tolist()):
        kind = kind_of(puzzle, cell, bool(break_depths[depth]), clues)
        base[depth] = kinds.setdefault(kind, len(kinds)) * colours1 * colours1

    free = not_of_clues(puzzle)
    gain = np.isin(puzzle.pieces, favoured).sum(axis=1).astype(np.int64)
    keys, words, breaks = [], [], []
    for kind, number in kinds.items():
        kind_keys, oriented, kind_breaks = _candidates(puzzle, kind, free)
        keys.append(number * colours1 * colours1 + kind_keys)
        breaks.append(kind_breaks)
        words.append(
            pack(puzzle.oriented[oriented], oriented, gain[oriented >> 2] - BREAK_COST * kind_breaks, colours1)
        )
    return _lists(
        np.concatenate(keys), np.concatenate(words), np.concatenate(breaks), len(kinds), base, colours1, chance, puzzle
    )


def kind_of(puzzle: Puzzle, cell: int, breaks: bool, clues: dict[int, Clue]) -> Kind:
    grey = puzzle.rim_sides(cell)
    if cell in clues:
        clue = clues[cell]
        return Kind(grey, (), (), clue.piece * 4 + clue.rotation)
    wanted = []
    for side, other in ((RIGHT, cell + 1), (DOWN, cell + puzzle.width)):
        if not grey[side] and other in clues:
            clue = clues[other]
            wanted.append((side, int(puzzle.oriented[clue.piece * 4 + clue.rotation][(side + 2) % 4])))
    asked = {side for side, _ in wanted}
    allowed = [
        side for side in range(4) if breaks and may_break(puzzle, cell, side) and (side in (UP, LEFT) or side in asked)
    ]
    return Kind(grey, tuple(wanted), tuple(allowed))


def _candidates(puzzle: Puzzle, kind: Kind, free: npt.NDArray[np.bool_]) -> tuple[Longs, Longs, Longs]:
    """(key left*colours1+up, oriented piece, breaks) of all candidates of one kind of cell; at most one break each."""
    colours1 = puzzle.colours + 1
    quads = puzzle.oriented
    every_key = np.arange(colours1 * colours1, dtype=np.int64)
    if kind.clue >= 0:  # its neighbours were chosen to fit, or have paid for the break
        none = np.zeros_like(every_key)
        return every_key, none + kind.clue, none

    oriented, missed = fitting(puzzle, kind, free)
    left, up = quads[oriented, LEFT].astype(np.int64) * colours1, quads[oriented, UP].astype(np.int64)
    keys, found, breaks = [left + up], [oriented], [missed]
    for known, unknown in ((left, UP), (up, LEFT)):
        if any(kind.grey) and not kind.grey[unknown]:
            keys.append(known)
            found.append(oriented)
            breaks.append(missed)

    exact = oriented[missed == 0]
    for side, step in ((LEFT, colours1), (UP, 1)):
        if side not in kind.breaks:
            continue
        grid_piece, grid_colour = (axis.ravel() for axis in np.meshgrid(exact, np.arange(1, colours1), indexing="ij"))
        differs = quads[grid_piece, side] != grid_colour
        grid_piece, grid_colour = grid_piece[differs], grid_colour[differs].astype(np.int64)
        other = UP if side == LEFT else LEFT
        keys.append(grid_colour * step + quads[grid_piece, other].astype(np.int64) * (colours1 if step == 1 else 1))
        found.append(grid_piece)
        breaks.append(np.ones(len(grid_piece), dtype=np.int64))
    return np.concatenate(keys), np.concatenate(found), np.concatenate(breaks)


def fitting(puzzle: Puzzle, kind: Kind, free: npt.NDArray[np.bool_]) -> tuple[Longs, Longs]:
    """(oriented pieces that one kind of cell takes, mismatches of each with a clue to come: 0 or 1)."""
    if kind.clue >= 0:
        return np.array([kind.clue], dtype=np.int64), np.zeros(1, dtype=np.int64)
    quads = puzzle.oriented
    fits = free.repeat(4) & ((quads == GREY) == np.array(kind.grey)).all(axis=1)
    fits &= first_of_equal_rotations(quads)
    missed = np.zeros(len(quads), dtype=np.int64)
    for side, colour in kind.wanted:
        missed += quads[:, side] != colour
        if side not in kind.breaks:
            fits &= quads[:, side] == colour
    oriented = np.flatnonzero(fits & (missed <= 1)).astype(np.int64)
    return oriented, missed[oriented]


def clues_before(puzzle: Puzzle, order: IntArray, cut: int) -> dict[int, Clue]:
    """By cell, the clues that are met before ``cut``. The exact tail counts the mismatches of later ones itself."""
    met = set(order[:cut].tolist())
    return {clue.cell: clue for clue in puzzle.clues if clue.cell in met}


def not_of_clues(puzzle: Puzzle) -> npt.NDArray[np.bool_]:
    """Which pieces are bound to no clue; shape (pieces,)."""
    free = np.ones(puzzle.cells, dtype=bool)
    free[[clue.piece for clue in puzzle.clues]] = False
    return free


def first_of_equal_rotations(quads: IntArray) -> npt.NDArray[np.bool_]:
    """False for a rotation of a piece that looks like an earlier one: a symmetric piece is tried once."""
    turns = quads.reshape(-1, 4, 4)
    first = np.ones(turns.shape[:2], dtype=bool)
    for rotation in range(1, 4):
        for earlier in range(rotation):
            first[:, rotation] &= (turns[:, rotation] != turns[:, earlier]).any(axis=1)
    return first.ravel()


def _lists(
    keys: Longs,
    words: Longs,
    breaks: Longs,
    kinds: int,
    base: npt.NDArray[np.int32],
    colours1: int,
    chance: np.random.Generator,
    puzzle: Puzzle,
) -> Tables:
    """Sort the candidates into lists, each closed by a sentinel; all empty lists share one."""
    end = np.int64(puzzle.cells) | np.int64(NEVER) << np.int64(GAIN_AT)
    favoured = (words >> GAIN_AT) + BREAK_COST * breaks
    by = np.lexsort((chance.random(len(keys)), -favoured, breaks, keys))
    keys, words = keys[by], words[by]
    lists, starts, sizes = np.unique(keys, return_index=True, return_counts=True)
    rank = np.repeat(np.arange(len(lists)), sizes)
    packed = np.full(1 + len(words) + len(lists), end, dtype=np.int64)  # word 0: the empty list
    packed[1 + np.arange(len(words)) + rank] = words
    index = np.zeros(kinds * colours1 * colours1, dtype=np.int32)
    index[lists] = 1 + starts + np.arange(len(lists))
    return Tables(index, packed, base, colours1)
