"""Large neighbourhoods: regions around the damage, each re-solved exactly by `exact.region`.

Good boards are damaged in a few rows only; a perfect refill rarely exists, but one mismatch less sometimes does.
Blocks go from small to large, so that cheap gains come first; clusters and bands follow.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from exact.region.windows import rows, window
from instances.board import Board
from instances.puzzle import Puzzle
from instances.verify import verify

BLOCKS = ((4, 4), (4, 5), (5, 4), (4, 6), (6, 4), (5, 5), (4, 7), (7, 4), (4, 8))  # rows x columns around a mismatch
BANDS = (1, 2)  # whole rows at once
MOST_CELLS, MOST_OF_CLUSTER = 64, 36  # larger ones are rarely proven within the nodes of a region
HALO = 1  # cells around a cluster


def regions(puzzle: Puzzle, board: Board) -> list[tuple[int, ...]]:
    """Cells of each region worth freeing, without repetition: blocks around mismatches, clusters, damaged bands."""
    mismatches = verify(puzzle, board).mismatches
    found: dict[tuple[int, ...], None] = {}
    for height, width in BLOCKS:
        for pair in mismatches:
            found.setdefault(_block(puzzle, pair, min(height, puzzle.height), min(width, puzzle.width)))
    for cells in _clusters(puzzle, mismatches):
        found.setdefault(cells)
    damaged = sorted({cell // puzzle.width for pair in mismatches for cell in pair})
    for thick in BANDS:
        for row in damaged:
            top = min(row, puzzle.height - thick)
            if top >= 0:
                found.setdefault(tuple(rows(puzzle, top, top + thick)))
    return [cells for cells in found if len(cells) <= MOST_CELLS]


def _block(puzzle: Puzzle, pair: tuple[int, int], height: int, width: int) -> tuple[int, ...]:
    """The block of this size with the mismatch as near to its middle as the board allows."""
    row, column = divmod(pair[0], puzzle.width)
    top = min(max(0, row - (height - 1) // 2), puzzle.height - height)
    left = min(max(0, column - (width - 1) // 2), puzzle.width - width)
    return tuple(window(puzzle, height, width, top, left))


def _clusters(puzzle: Puzzle, mismatches: tuple[tuple[int, int], ...]) -> Iterator[tuple[int, ...]]:
    """Two mismatches near each other, the cells between them, and a halo around."""
    for i, first in enumerate(mismatches):
        for second in mismatches[i + 1 :]:
            down, across = (lines.tolist() for lines in np.divmod([*first, *second], puzzle.width))
            if (max(down) - min(down) + 1 + 2 * HALO) * (max(across) - min(across) + 1 + 2 * HALO) <= MOST_OF_CLUSTER:
                top, left = max(0, min(down) - HALO), max(0, min(across) - HALO)
                height = min(puzzle.height, max(down) + HALO + 1) - top
                width = min(puzzle.width, max(across) + HALO + 1) - left
                yield tuple(window(puzzle, height, width, top, left))
