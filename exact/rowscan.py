"""The plain row-scan backtracker, which fills the cells row by row without deductions: the baseline of comparisons.

It is the "doc_smith backtracker" of Benoist & Bourreau 2008 (6) and the "zig-zag" of Jolivet 2008 (2.1). Its tables
list the candidates (oriented pieces) that fit, by cell class and by the colours to the left of and above the cell. A
candidate is one 64-bit integer: bits 0-12 hold the piece class + 1, bits 13-14 the rotation, bits 16-31 the lower
colour, bits 32-63 the right colour times ``colours``, the number of colours; colours are numbered without gaps, and a
colour with a mate is replaced by the mate. So three numbers add up to the index of a cell's list, without products or
look-ups: bits 32-63 of the candidate to the left, bits 16-31 of the candidate above, and the base of the cell. Sides
on the rim of a board without frame are stored as grey. The integer 0 ends every list; its bits name no piece class, but
count as a free one, so that one test stops the scan both at a free candidate and at the end of the list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from lns.exact.driver import EXHAUSTED, NODES, SOLUTIONS, CountedSearch, explored_share
from lns.exact.kernels import allocate
from lns.exact.kernels.jit import kernel
from lns.exact.piece_classes import PieceClasses, merge_duplicates
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import GREY, LEFT, UP, Puzzle, rotate

MAX_LISTS = 1 << 27
_SEEN = -1  # marks a side whose colour is part of a list's index, so that the candidates need no check of this side
CellClass = tuple[tuple[int | None, ...], tuple[bool, ...], tuple[int, int] | None]


@dataclass(frozen=True)
class RowTables:
    """The tables of a puzzle for the row scan. A *cell class* is a set of cells with equal lists of candidates."""

    classes: PieceClasses
    candidates: npt.NDArray[np.uint64]  # all lists of candidates, one after the other, each ended by 0
    starts: npt.NDArray[np.uint32]  # where each list starts, by ``cell_class*colours*colours + left*colours + up``
    bases: npt.NDArray[np.uint32]  # (cells,): ``cell_class*colours*colours`` of each cell
    free: npt.NDArray[np.int32]  # (piece classes + 1,): number of pieces of each class at index class + 1; 1 at index 0


def build_tables(puzzle: Puzzle) -> RowTables:
    """Build the tables of ``puzzle``. Raises InputError above `MAX_LISTS` lists, as with many colours and clues."""
    classes = merge_duplicates(puzzle)
    cell_classes: dict[CellClass, int] = {}
    class_of_cell = [
        cell_classes.setdefault(_cell_class(puzzle, classes, cell), len(cell_classes)) for cell in range(puzzle.cells)
    ]
    dense = {colour: index for index, colour in enumerate(np.unique(np.append(puzzle.oriented, GREY)).tolist())}
    colours = len(dense)
    if len(cell_classes) * colours * colours > MAX_LISTS:
        raise InputError(
            f"{colours} colours and {len(cell_classes)} classes of cells make a table of "
            f"{len(cell_classes) * colours**2} lists; the row scan takes at most {MAX_LISTS}"
        )
    own_cells = {piece_class for piece_class, _ in classes.clue_class.values()}  # piece classes of clues and holes
    others = [piece_class for piece_class in range(len(classes.quads)) if piece_class not in own_cells]
    loose = [(piece_class, rotation) for piece_class in others for rotation in classes.rotations(piece_class)]
    lists: dict[int, list[int]] = {}
    mate = puzzle.mate.tolist()
    for (sides, outer, clue), cell_class in cell_classes.items():
        for piece_class, rotation in loose if clue is None else [clue]:
            quad = rotate(classes.quads[piece_class].tolist(), rotation)
            both = zip(sides, quad, strict=True)
            if all(colour != GREY if side is None else side in (_SEEN, colour) for side, colour in both):
                up, right, down, left = (GREY if unseen else colour for unseen, colour in zip(outer, quad, strict=True))
                right, down = mate[right], mate[down]
                key = (cell_class * colours + dense[left]) * colours + dense[up]
                candidate = (piece_class + 1) | rotation << 13 | dense[down] << 16 | dense[right] * colours << 32
                lists.setdefault(key, []).append(candidate)
    starts, candidates = np.zeros(len(cell_classes) * colours * colours, dtype=np.uint32), [0]  # [0] is an empty list
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
    """Return what the candidates of a cell depend on besides the colours to its left and above, in three parts.

    The parts: by side, the colour that the rim or a clue beside it requires (None = any but grey) or `_SEEN`; whether
    each side is on the outer edge of a board without frame; piece class and rotation of a clue or hole here, or None.
    """
    sides = list(puzzle.required_sides(cell))
    for side, beyond in puzzle.neighbours(cell):
        if beyond in classes.clue_class:
            piece_class, rotation = classes.clue_class[beyond]
            sides[side] = int(puzzle.mate[rotate(classes.quads[piece_class].tolist(), rotation)[side ^ 2]])
    outer = tuple(rim and not grey for rim, grey in zip(puzzle.rim_sides(cell), puzzle.grey_sides(cell), strict=True))
    for side in (LEFT, UP):
        if not (outer[side] and puzzle.rim):
            sides[side] = _SEEN
    return tuple(sides), outer, classes.clue_class.get(cell)


DEPTH, DEEPEST, COUNTERS = range(3, 6)


class ScanState(NamedTuple):
    """The state of a paused row scan. In the shapes C is the number of cells, W the width of the board."""

    next_index: Annotated[npt.NDArray[np.uint32], "C"]  # by cell, index in `candidates` of the next one to try
    chosen: Annotated[npt.NDArray[np.uint64], "C+W"]  # candidate of cell c at index c + W; index c is the cell above c
    free: npt.NDArray[np.int32]  # (piece classes + 1,): free pieces of each class at index class + 1; 1 at index 0
    first: Annotated[npt.NDArray[np.uint64], "C"]  # by cell, the candidate in the first solution
    counters: Annotated[npt.NDArray[np.int64], COUNTERS]  # indexed by `NODES`, `SOLUTIONS` and so on to `DEEPEST`


@kernel
def scan(
    candidates: npt.NDArray[np.uint64],
    starts: npt.NDArray[np.uint32],
    bases: npt.NDArray[np.uint32],
    width: int,
    state: ScanState,
    budget: int,
    stop_at_first: bool,
) -> None:
    """Try ``budget`` more nodes; stop sooner when the tree ends or, if ``stop_at_first``, at the next solution.

    A node is a placement of a free candidate that matches its left and upper neighbours, also on the last cell.
    ``candidates``, ``starts``, ``bases``: see `lns.exact.rowscan.RowTables`.
    """
    class_mask, colour_mask = np.uint64(0x1FFF), np.uint64(0xFFFF)
    down_shift, right_shift = np.uint64(16), np.uint64(32)
    one, above, last = np.uint64(1), np.uint64(width), np.uint64(len(bases) - 1)
    next_index, chosen, free, first, counters = state
    depth, deepest = np.uint64(counters[DEPTH]), np.uint64(counters[DEEPEST])
    nodes = counters[NODES]
    limit = nodes + budget
    index = np.uint64(next_index[depth])
    while nodes < limit:
        candidate = candidates[index]
        index += one
        while free[candidate & class_mask] == 0:
            candidate = candidates[index]
            index += one
        if candidate == 0:
            if depth == 0:
                counters[EXHAUSTED] = 1
                break
            depth -= one
            free[chosen[depth + above] & class_mask] += 1
            index = np.uint64(next_index[depth])
            continue
        nodes += 1
        if depth == last:
            if counters[SOLUTIONS] == 0:
                for cell in range(len(first) - 1):
                    first[cell] = chosen[np.uint64(cell) + above]
                first[len(first) - 1] = candidate
            counters[SOLUTIONS] += 1
            if stop_at_first:
                break
            continue
        free[candidate & class_mask] -= 1
        next_index[depth] = index
        chosen[depth + above] = candidate
        depth += one
        if depth > deepest:
            deepest = depth
        up = (chosen[depth] >> down_shift) & colour_mask
        index = np.uint64(starts[np.uint64(bases[depth]) + (candidate >> right_shift) + up])
    next_index[depth] = index
    counters[DEPTH], counters[NODES], counters[DEEPEST] = depth, nodes, deepest


class RowScan(CountedSearch):
    """A paused row scan of ``puzzle``; `lns.exact.execution.run_search` runs it."""

    def __init__(self, puzzle: Puzzle) -> None:
        self.puzzle = puzzle
        self.tables = build_tables(puzzle)
        sizes = {"C": puzzle.cells, "C+W": puzzle.cells + puzzle.width}
        self.state = allocate(ScanState, sizes, free=self.tables.free.copy())
        self.counters = self.state.counters
        self.state.next_index[0] = self.tables.starts[self.tables.bases[0]]

    @property
    def explored(self) -> float:
        if self.exhausted:
            return 1.0
        state, tables, depth, levels = self.state, self.tables, int(self.counters[DEPTH]), list[tuple[int, int]]()
        for cell in range(depth + 1):
            left = state.chosen[cell + self.puzzle.width - 1] >> 32 if cell % self.puzzle.width else 0
            up = state.chosen[cell] >> 16 & 0xFFFF
            start = int(tables.starts[int(tables.bases[cell]) + int(left) + int(up)])
            length = int(np.argmin(tables.candidates[start:] != 0))
            levels.append((max(0, int(state.next_index[cell]) - start - (cell < depth)), length))
        return explored_share(levels)

    @property
    def details(self) -> dict[str, float]:
        return {"deepest": float(self.state.counters[DEEPEST] + (self.solutions > 0))}

    def advance(self, budget: int, stop_at_first: bool) -> None:
        if not self.exhausted:
            tables = self.tables
            scan(tables.candidates, tables.starts, tables.bases, self.puzzle.width, self.state, budget, stop_at_first)

    def first_board(self) -> Board | None:
        if self.solutions == 0:
            return None
        chosen = self.state.first
        return self.tables.classes.board((((chosen & 0x1FFF) - 1) * 4 + (chosen >> 13 & 3)).astype(np.int64).tolist())
