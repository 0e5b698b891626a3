"""Tables of the row scan: by cell class and pair of known colours, the oriented pieces that fit, one after the other.

A candidate is one 64-bit number: bits 0-12 piece class + 1, bits 13-14 rotation, bits 16-31 its lower colour, bits
32-63 its right colour times ``colours``. So the index of the next list is a sum of two shifted candidates: the scan
multiplies nothing and looks up no colours. A side on the rim of a board without frame counts as grey in them. The
number 0 ends every list; piece class 0 does not exist and always counts as free, so that one test stops the scan at a
free candidate and at the end of the list.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from exact.piece_classes import PieceClasses, merge_duplicates
from instances.puzzle import DOWN, GREY, RIGHT, Puzzle, rotate
from lns_support.errors import InputError

MAX_LISTS = 1 << 27
_ANY = -1  # a right or lower side whose neighbour is not known: any colour but grey
_FREE = -2  # a side on the rim of a board without frame: any colour but grey, which no neighbour sees
CellClass = tuple[int, int, bool, bool, int]


@dataclass(frozen=True)
class RowTables:
    """The tables of a puzzle. A *cell class* is a set of cells with equal lists of candidates.

    Parameters
    ----------
    classes : PieceClasses
        The piece classes of the puzzle.
    candidates : ndarray of uint64
        List after list, each ended by 0.
    starts : ndarray of uint32
        Index of a list's first candidate, by ``cell_class*colours*colours + left*colours + up``.
    bases : ndarray of uint32, shape (cells,)
        ``cell_class*colours*colours`` by cell.
    free : ndarray of int32, shape (classes + 1,)
        Number of pieces by piece class + 1.
    """

    classes: PieceClasses
    candidates: npt.NDArray[np.uint64]
    starts: npt.NDArray[np.uint32]
    bases: npt.NDArray[np.uint32]
    free: npt.NDArray[np.int32]


def build_tables(puzzle: Puzzle) -> RowTables:
    """The tables of ``puzzle``. Raises InputError if there are more than `MAX_LISTS` lists (many colours and clues)."""
    classes = merge_duplicates(puzzle)
    cell_classes: dict[CellClass, int] = {}
    class_of_cell = [
        cell_classes.setdefault(_cell_class(puzzle, classes, cell), len(cell_classes)) for cell in range(puzzle.cells)
    ]
    dense = {colour: index for index, colour in enumerate(np.unique(np.append(puzzle.pieces, GREY)).tolist())}
    colours = len(dense)
    if len(cell_classes) * colours * colours > MAX_LISTS:
        raise InputError(
            f"{colours} colours and {len(cell_classes)} classes of cells make a table of "
            f"{len(cell_classes) * colours**2} lists; the row scan takes at most {MAX_LISTS}"
        )
    clue_pieces = {clue.piece for clue in puzzle.fixed}
    lists: dict[int, list[int]] = {}
    for (right_side, down_side, left_free, up_free, clue), cell_class in cell_classes.items():
        for piece_class in range(len(classes.quads)) if clue < 0 else (clue >> 2,):
            if clue < 0 and classes.members[piece_class][0][0] in clue_pieces:
                continue  # a clue piece goes on its own cell only
            for rotation in classes.rotations(piece_class) if clue < 0 else (clue & 3,):
                up, right, down, left = rotate(classes.quads[piece_class].tolist(), rotation)
                if _matches(right, right_side) and _matches(down, down_side):
                    left, up = GREY if left_free else left, GREY if up_free else up
                    right, down = GREY if right_side == _FREE else right, GREY if down_side == _FREE else down
                    key = (cell_class * colours + dense[left]) * colours + dense[up]
                    candidate = (piece_class + 1) | rotation << 13 | dense[down] << 16 | dense[right] * colours << 32
                    lists.setdefault(key, []).append(candidate)
    starts = np.zeros(len(cell_classes) * colours * colours, dtype=np.uint32)  # index 0: the empty list
    candidates = [0]
    for key in sorted(lists):
        starts[key] = len(candidates)
        candidates += [*lists[key], 0]
    return RowTables(
        classes=classes,
        candidates=np.array(candidates, dtype=np.uint64),
        starts=starts,
        bases=np.array(class_of_cell, dtype=np.uint32) * np.uint32(colours * colours),
        free=np.append(np.int32(1), classes.counts).astype(np.int32),
    )


def _cell_class(puzzle: Puzzle, classes: PieceClasses, cell: int) -> CellClass:
    """What the list of a cell depends on besides its left and upper colour.

    (Required colour of the right side: GREY, that of a clue, _ANY or _FREE; of the lower side; whether the left side is
    free; the upper side; class*4 + rotation of the clue on the cell or -1.)
    """
    rims = zip(puzzle.rim_sides(cell), puzzle.grey_sides(cell), strict=True)
    required = [_ANY if not rim else GREY if grey else _FREE for rim, grey in rims]
    for side, beyond in ((RIGHT, cell + 1), (DOWN, cell + puzzle.width)):
        if required[side] == _ANY and beyond in classes.clue_class:
            piece_class, rotation = classes.clue_class[beyond]
            required[side] = rotate(classes.quads[piece_class].tolist(), rotation)[side ^ 2]
    clue = classes.clue_class.get(cell)
    up, right, down, left = required
    return right, down, left == _FREE, up == _FREE, -1 if clue is None else clue[0] * 4 + clue[1]


def _matches(colour: int, side: int) -> bool:
    return colour != GREY if side in (_ANY, _FREE) else colour == side
