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
SHAPES = ("damage", "blocks", "clusters", "bands")  # in the order in which the regions of a board are searched


def regions_by_shape(puzzle: Puzzle, board: Board) -> list[tuple[str, tuple[int, ...]]]:
    """Regions worth freeing, without repetition: (shape, cells), by shape in the order of `SHAPES`.

    "damage": the fewest whole rows, and the fewest whole columns, that hold all mismatches; "blocks": a rectangle
    around a mismatch; "clusters": two mismatches near each other, with what is between and around; "bands": damaged
    rows.
    """
    mismatches = verify(puzzle, board).mismatches
    found: dict[tuple[int, ...], str] = {}
    for cells in _bands_of_all_damage(puzzle, mismatches):
        found.setdefault(cells, "damage")
    for height, width in BLOCKS:
        for pair in mismatches:
            found.setdefault(_block(puzzle, pair, min(height, puzzle.height), min(width, puzzle.width)), "blocks")
    for cells in _clusters(puzzle, mismatches):
        found.setdefault(cells, "clusters")
    damaged = sorted({cell // puzzle.width for pair in mismatches for cell in pair})
    for thick in BANDS:
        for row in damaged:
            top = min(row, puzzle.height - thick)
            if top >= 0:
                found.setdefault(tuple(rows(puzzle, top, top + thick)), "bands")
    return [(shape, cells) for cells, shape in found.items() if len(cells) <= MOST_CELLS]


def _bands_of_all_damage(puzzle: Puzzle, mismatches: tuple[tuple[int, int], ...]) -> Iterator[tuple[int, ...]]:
    """The rows from the first to the last mismatch, and the columns."""
    if not mismatches:
        return
    row, column = np.divmod(np.array(mismatches), puzzle.width)
    top, left = int(row.min()), int(column.min())
    height, width = int(row.max()) - top + 1, int(column.max()) - left + 1
    yield tuple(window(puzzle, height, puzzle.width, top, 0))
    yield tuple(window(puzzle, puzzle.height, width, 0, left))


def _block(puzzle: Puzzle, pair: tuple[int, int], height: int, width: int) -> tuple[int, ...]:
    """The block of this size with the mismatch as near to its middle as the board allows."""
    row, column = divmod(pair[0], puzzle.width)
    top = min(max(0, row - (height - 1) // 2), puzzle.height - height)
    left = min(max(0, column - (width - 1) // 2), puzzle.width - width)
    return tuple(window(puzzle, height, width, top, left))


def _clusters(puzzle: Puzzle, mismatches: tuple[tuple[int, int], ...]) -> Iterator[tuple[int, ...]]:
    """Two mismatches near each other, the cells between them, and a halo around; ``mismatches`` from above down."""
    places = np.stack(np.divmod(np.array(mismatches, dtype=np.int64).reshape(-1, 2), puzzle.width), axis=1)
    low, high = places.min(axis=2), places.max(axis=2)  # by mismatch: row, column
    ends = np.searchsorted(low[:, 0], low[:, 0] + MOST_OF_CLUSTER // (1 + 2 * HALO))  # from there on too far down
    corner = np.array([puzzle.height, puzzle.width]) - 1
    found: dict[tuple[int, ...], None] = {}
    for i, end in enumerate(ends.tolist()):
        first, last = np.minimum(low[i], low[i + 1 : end]), np.maximum(high[i], high[i + 1 : end])
        small = (last - first + 1 + 2 * HALO).prod(axis=1) <= MOST_OF_CLUSTER
        boxes = np.hstack([np.maximum(first[small] - HALO, 0), np.minimum(last[small] + HALO, corner)])
        found.update(dict.fromkeys(map(tuple, boxes.tolist())))
    for top, left, bottom, right in found:
        yield tuple(window(puzzle, bottom - top + 1, right - left + 1, top, left))
