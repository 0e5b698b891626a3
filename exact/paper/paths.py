"""Paths over the board and their local constraints (Jolivet 2008, figure 3), and the tree of a scan along a path.

The paper argues that the sum of the constraints is the number of inner edges whatever the path, so that only their
order matters. `scan_along` counts the nodes of a path, with identical pieces and equal orientations told apart.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from exact.piece_classes import allowed_placements
from instances.puzzle import GREY, Puzzle
from lns_support.jit import kernel

PATHS = ("rows", "snake", "diagonals", "spiral", "rim first", "chessboard")


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
        rim = _spiral(width, height)[: len(cells) - max(0, width - 2) * max(0, height - 2)]
        cells = rim + [cell for cell in cells if cell not in rim]
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
    place = {cell: at for at, cell in enumerate(order)}
    earlier = np.full((len(order), 4), -1, dtype=np.int32)
    for at, cell in enumerate(order):
        for side, other in puzzle.neighbours(cell):
            if place[other] < at:
                earlier[at, side] = place[other]
    per_level = np.zeros(len(order) + 1, dtype=np.int64)
    quads = np.ascontiguousarray(puzzle.oriented, dtype=np.int32)
    starts = np.cumsum([0, *map(len, lists)])
    solutions, exhausted = _scan(quads, np.concatenate(lists), starts, earlier, per_level, nodes)
    return int(per_level.sum()), int(solutions), per_level, bool(exhausted)


@kernel
def _scan(quads, values, starts, earlier, per_level, limit):  # type: ignore[no-untyped-def]
    """Depth-first search; returns the solutions, and whether the tree was searched to its end.

    ``values``: oriented pieces allowed at each level, level after level; ``earlier``: for each level and side, the
    level of the neighbour placed before, or -1.
    """
    cells = len(earlier)
    placed, following = np.zeros(cells, dtype=np.int32), np.zeros(cells, dtype=np.int64)
    used = np.zeros(len(quads) // 4, dtype=np.bool_)
    solutions, level, nodes = 0, 0, 1
    per_level[0] = 1
    following[0] = starts[0]
    while nodes < limit:
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
        if at == end:
            if level == 0:
                return solutions, True
            level -= 1
            used[placed[level] >> 2] = False
            continue
        nodes += 1
        per_level[level + 1] += 1
        if level + 1 == cells:
            solutions += 1
            continue
        placed[level] = values[at]
        used[values[at] >> 2] = True
        level += 1
        following[level] = starts[level]
    return solutions, False


def count_inner_blocks(puzzle: Puzzle, side: int, samples: int, seed: int) -> tuple[float, float]:
    """Estimate the number of blocks of ``side`` x ``side`` inner pieces with matching joints (Jolivet 2008, 2.5).

    Knuth's estimate: a random descent of the tree of a row scan, weighted by the product of its numbers of children, is
    an unbiased estimate of the number of leaves. Rotated copies of a block count once.

    Returns
    -------
    float, float
        The mean, and its standard error.
    """
    quads = np.ascontiguousarray(puzzle.oriented, dtype=np.int32)
    middle = puzzle.height // 2 * puzzle.width + puzzle.width // 2
    inner = np.array(allowed_placements(puzzle.with_clues([]), middle, all_four=True), dtype=np.int32)
    inner = inner[(quads[inner] != GREY).all(axis=1)]
    weights = _sample(quads, inner, side, samples, np.random.default_rng(seed).random((samples, side * side)))
    weights /= 4
    return float(weights.mean()), float(weights.std(ddof=1) / np.sqrt(samples))


@kernel
def _sample(quads, inner, side, samples, draws):  # type: ignore[no-untyped-def]
    """The weight of each random descent; ``draws``: numbers in [0, 1) that choose the children."""
    cells = side * side
    weights = np.zeros(samples)
    placed = np.zeros(cells, dtype=np.int64)
    fitting = np.zeros(len(inner), dtype=np.int64)
    for at in range(samples):
        weight = 1.0
        for cell in range(cells):
            count = 0
            for value in inner:
                if cell % side and quads[value, 3] != quads[placed[cell - 1], 1]:
                    continue
                if cell >= side and quads[value, 0] != quads[placed[cell - side], 2]:
                    continue
                is_free = True
                for before in range(cell):
                    is_free &= placed[before] >> 2 != value >> 2
                if is_free:
                    fitting[count] = value
                    count += 1
            weight *= count
            if count == 0:
                break
            placed[cell] = fitting[int(draws[at, cell] * count)]
        weights[at] = weight
    return weights
