"""Tables of the row scan: for each cell class and pair of known colours, the oriented pieces that fit, contiguous.

A candidate is one 64-bit word: bits 0-12 kind + 1, bits 13-14 rotation, bits 16-31 its lower colour, bits 32-63 its
right colour times ``colours``. So the key of the next list is a sum of two shifted words: no multiplication, no lookup
of colours while scanning. The word 0 ends every list; kind 0 does not exist and is "always free", so that one test
stops the scan at free candidates and at the end alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from exact.piece_classes import PieceClasses, merge_duplicates
from instances.puzzle import GREY, Puzzle, rotate
from lns_support.errors import InputError

MAX_LISTS = 1 << 27
_ANY = -1  # a right or lower side whose neighbour is not known: any colour but grey


@dataclass(frozen=True)
class RowTables:
    """``candidates``: uint64 words, list after list, each ended by 0.

    ``starts``: uint32 by ``class*colours*colours + left*colours + up``, index of the list's first word.
    ``bases``: uint32 by cell, ``class*colours*colours``. ``free``: int32 by kind + 1, pieces of that kind.
    """

    kinds: PieceClasses
    candidates: npt.NDArray[np.uint64]
    starts: npt.NDArray[np.uint32]
    bases: npt.NDArray[np.uint32]
    free: npt.NDArray[np.int32]


def build_tables(puzzle: Puzzle) -> RowTables:
    """Raises InputError when the table of lists would pass `MAX_LISTS` entries (very many colours and clues)."""
    kinds = merge_duplicates(puzzle)
    classes: dict[tuple[int, int, int], int] = {}
    class_of_cell = [classes.setdefault(_class_of(puzzle, kinds, cell), len(classes)) for cell in range(puzzle.cells)]
    dense = {colour: index for index, colour in enumerate(np.unique(np.append(puzzle.pieces, GREY)).tolist())}
    colours = len(dense)
    if len(classes) * colours * colours > MAX_LISTS:
        raise InputError(
            f"{colours} colours and {len(classes)} kinds of cells make a table of {len(classes) * colours**2} lists; "
            f"the row scan takes at most {MAX_LISTS}"
        )
    lists: dict[int, list[int]] = {}
    for (right_need, down_need, only), number in classes.items():
        for kind in range(len(kinds.quads)) if only < 0 else (only >> 2,):
            if only < 0 and kinds.members[kind][0][0] in {clue.piece for clue in puzzle.clues}:
                continue  # a clue piece lies on its own cell only
            for rotation in kinds.rotations(kind) if only < 0 else (only & 3,):
                up, right, down, left = rotate(kinds.quads[kind].tolist(), rotation)
                if _fits(right, right_need) and _fits(down, down_need):
                    key = (number * colours + dense[left]) * colours + dense[up]
                    word = (kind + 1) | rotation << 13 | dense[down] << 16 | dense[right] * colours << 32
                    lists.setdefault(key, []).append(word)
    starts = np.zeros(len(classes) * colours * colours, dtype=np.uint32)  # word 0: the empty list
    words = [0]
    for key in sorted(lists):
        starts[key] = len(words)
        words += [*lists[key], 0]
    return RowTables(
        kinds,
        np.array(words, dtype=np.uint64),
        starts,
        np.array(class_of_cell, dtype=np.uint32) * np.uint32(colours * colours),
        np.append(np.int32(1), kinds.counts).astype(np.int32),
    )


def _class_of(puzzle: Puzzle, kinds: PieceClasses, cell: int) -> tuple[int, int, int]:
    """(need of the right side, need of the lower side, oriented kind of a clue or -1): cells with equal lists."""
    _, right_rim, down_rim, _ = puzzle.rim_sides(cell)
    clue = kinds.clue_kind.get(cell)
    right = GREY if right_rim else _demand_of_clue(kinds, cell + 1, 3)
    down = GREY if down_rim else _demand_of_clue(kinds, cell + puzzle.width, 0)
    return right, down, -1 if clue is None else clue[0] * 4 + clue[1]


def _demand_of_clue(kinds: PieceClasses, cell: int, side: int) -> int:
    clue = kinds.clue_kind.get(cell)
    return _ANY if clue is None else rotate(kinds.quads[clue[0]].tolist(), clue[1])[side]


def _fits(colour: int, need: int) -> bool:
    return colour != GREY if need == _ANY else colour == need
