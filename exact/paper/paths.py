"""Paths over the board and their local constraints (Jolivet 2008, figure 3), and the tree of a scan along a path.

The paper argues that the sum of the constraints is the number of inner edges whatever the path, so that only their
order matters. `scan_along` counts the nodes of a path, with identical pieces and equal orientations told apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from exact.piece_multiplicity import allowed_placements
from instances.puzzle import Puzzle
from lns_support.jit import flat_kernel

PATHS = ("rows", "snake", "diagonals", "spiral", "rim first", "chessboard")
NODES, SOLUTIONS, LEVEL, DESCENDING, EXHAUSTED = range(5)


def path(name: str, width: int, height: int) -> list[int]:
    """The cells of a board in the order of a path of `PATHS`.

    ``rows`` is the paper's choice. ``chessboard`` visits cells of one colour first, which no neighbour constrains.
    """
    cells = [(row, column) for row in range(height) for column in range(width)]
    if name == "snake":
        cells.sort(key=lambda cell: (cell[0], cell[1] if cell[0] % 2 == 0 else -cell[1]))
    elif name == "diagonals":
        cells.sort(key=lambda cell: (cell[0] + cell[1], cell[0]))
    elif name == "spiral":
        cells = _spiral(width, height)
    elif name == "rim first":
        cells.sort(key=lambda cell: 0 < cell[0] < height - 1 and 0 < cell[1] < width - 1)
        rim = [cell for cell in _spiral(width, height) if not (0 < cell[0] < height - 1 and 0 < cell[1] < width - 1)]
        cells[: len(rim)] = rim
    elif name == "chessboard":
        cells.sort(key=lambda cell: (cell[0] + cell[1]) % 2)
    return [row * width + column for row, column in cells]


def _spiral(width: int, height: int) -> list[tuple[int, int]]:
    """The cells from the upper left corner inwards, clockwise."""
    left = {(row, column) for row in range(height) for column in range(width)}
    row, column, step = 0, 0, (0, 1)
    cells = []
    while left:
        cells.append((row, column))
        left.remove((row, column))
        if (row + step[0], column + step[1]) not in left:
            step = (step[1], -step[0])
        row, column = row + step[0], column + step[1]
    return cells


def constraints(order: list[int], puzzle: Puzzle) -> list[int]:
    """For each cell of a path, the number of its neighbours earlier on the path."""
    place = {cell: at for at, cell in enumerate(order)}
    return [sum(place[other] < at for _, other in puzzle.neighbours(cell)) for at, cell in enumerate(order)]


def scan_along(puzzle: Puzzle, order: list[int], nodes: int) -> tuple[int, int, npt.NDArray[np.int64], bool]:
    """Search the tree of a path to its end, or for ``nodes`` nodes.

    Returns
    -------
    nodes, solutions : int
        The empty board is a node.
    per_level : ndarray
        Nodes by number of pieces placed.
    exhausted : bool
    """
    lists = [np.array(allowed_placements(puzzle, cell, all_four=True), dtype=np.int32) for cell in order]
    starts = np.cumsum([0, *map(len, lists)])
    place = {cell: at for at, cell in enumerate(order)}
    earlier = np.full((len(order), 4), -1, dtype=np.int32)
    for at, cell in enumerate(order):
        for side, other in puzzle.neighbours(cell):
            if place[other] < at:
                earlier[at, side] = place[other]
    counters = np.zeros(5, dtype=np.int64)
    counters[NODES], counters[DESCENDING] = 1, 1
    per_level = np.zeros(len(order) + 1, dtype=np.int64)
    per_level[0] = 1
    quads: Any = np.ascontiguousarray(puzzle.oriented, dtype=np.int32)
    placed, following = np.zeros(len(order), dtype=np.int32), np.zeros(len(order), dtype=np.int64)
    used = np.zeros(puzzle.cells, dtype=np.bool_)
    _scan(quads, np.concatenate(lists), starts, earlier, placed, following, used, per_level, counters, nodes)
    return int(counters[NODES]), int(counters[SOLUTIONS]), per_level, bool(counters[EXHAUSTED])


@flat_kernel
def _scan(quads, values, starts, earlier, placed, following, used, per_level, counters, limit):  # type: ignore[no-untyped-def]
    """Depth-first search; ``earlier``: for each level and side, the level of the neighbour placed before, or -1."""
    cells = len(placed)
    level = counters[LEVEL]
    while counters[NODES] < limit:
        if counters[DESCENDING] == 1:
            counters[DESCENDING] = 0
            if level == cells:
                counters[SOLUTIONS] += 1
                level -= 1
                used[placed[level] >> 2] = False
                continue
            following[level] = starts[level]
        at, end = following[level], starts[level + 1]
        while at < end:
            value = values[at]
            fits = not used[value >> 2]
            for side in range(4):
                before = earlier[level, side]
                if fits and before >= 0:
                    fits = quads[value, side] == quads[placed[before], (side + 2) & 3]
            if fits:
                break
            at += 1
        following[level] = at + 1
        if at < end:
            placed[level] = values[at]
            used[values[at] >> 2] = True
            level += 1
            counters[NODES] += 1
            per_level[level] += 1
            counters[DESCENDING] = 1
        elif level == 0:
            counters[EXHAUSTED] = 1
            break
        else:
            level -= 1
            used[placed[level] >> 2] = False
    counters[LEVEL] = level
