"""Regions around the damage of a board, to be freed and re-solved exactly by `exact.region`.

Good boards are damaged in a few rows only; a perfect refill rarely exists, but one mismatch less sometimes does.
`regions_by_shape` lists all regions of a board for the loop, blocks from small to large, so that cheap gains come
first. `block`, `band`, `cluster`, `comb`, `path` and `donors` draw one region at random for an operator
of the large-neighbourhood search, so that a board's many regions get their turn by chance.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from exact.region.windows import rows, window, with_neighbours
from instances.board import Board
from instances.puzzle import IntArray, Puzzle
from lns.neighbourhoods.move import mismatched_pairs

BLOCKS = ((4, 4), (4, 5), (5, 4), (4, 6), (6, 4), (5, 5), (4, 7), (7, 4), (4, 8))  # rows x columns around a mismatch
BANDS = (1, 2)  # whole rows at once
MOST_CELLS, MOST_OF_CLUSTER = 64, 36  # larger ones are rarely proven within the nodes of a region
MOST_DRAWN = 48  # cells of a region that is drawn; larger ones are seldom searched far enough to be worth their nodes
COMB = 5  # cells; about as long as the columns of the comb order
DONORS = (4, 12)  # fewest, most
HALO = 1  # cells around a cluster
SHAPES = ("damage", "blocks", "clusters", "bands")  # in the order in which the regions of a board are searched


def regions_by_shape(puzzle: Puzzle, board: Board) -> list[tuple[str, tuple[int, ...]]]:
    """Regions worth freeing, without repetition: (shape, cells), by shape in the order of `SHAPES`.

    "damage": the fewest whole rows, and the fewest whole columns, that hold all mismatches; "blocks": a rectangle
    around a mismatch; "clusters": two mismatches near each other, with what is between and around; "bands": damaged
    rows.
    """
    mismatches = _row_by_row(mismatched_pairs(puzzle, board))
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


def _row_by_row(pairs: IntArray) -> list[tuple[int, int]]:
    return sorted((first, second) for first, second in pairs.tolist())


def _bands_of_all_damage(puzzle: Puzzle, mismatches: list[tuple[int, int]]) -> Iterator[tuple[int, ...]]:
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


def _clusters(puzzle: Puzzle, mismatches: list[tuple[int, int]]) -> Iterator[tuple[int, ...]]:
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


# -- regions that are drawn at random --------------------------------------------------------------------------------


def block(puzzle: Puzzle, board: Board, rng: np.random.Generator) -> list[int]:
    """A rectangle of three to seven cells either way, MOST_DRAWN at most, with a mismatch anywhere in it."""
    height, width = int(rng.integers(3, 8)), int(rng.integers(3, 8))
    return _rectangle(puzzle, _mismatch(puzzle, board, rng), height, min(width, MOST_DRAWN // height), rng)


def band(puzzle: Puzzle, board: Board, rng: np.random.Generator) -> list[int]:
    """One to three whole rows or columns with a mismatch, or as much of them as may be freed at once."""
    first, second = _mismatch(puzzle, board, rng)
    lines = int(rng.integers(1, 4))
    if rng.integers(2):
        return _rectangle(puzzle, (first, second), lines, min(puzzle.width, MOST_DRAWN // lines), rng)
    return _rectangle(puzzle, (first, second), min(puzzle.height, MOST_DRAWN // lines), lines, rng)


def cluster(puzzle: Puzzle, board: Board, rng: np.random.Generator) -> list[int]:
    """A mismatch, the others nearest to it, and one cell around each, as long as they fit."""
    pairs = mismatched_pairs(puzzle, board)
    centre = pairs[rng.integers(len(pairs)), 0]
    row, column = np.divmod(pairs[:, 0], puzzle.width)
    away = np.abs(row - centre // puzzle.width) + np.abs(column - centre % puzzle.width)
    cells: set[int] = set()
    for pair in pairs[np.argsort(away, kind="stable")[: int(rng.integers(2, 7))]]:
        wider = cells | with_neighbours(puzzle, pair.tolist())
        if len(wider) > MOST_DRAWN:
            break
        cells = wider
    return sorted(cells)


def comb(puzzle: Puzzle, board: Board, rng: np.random.Generator) -> list[int]:
    """Short neighbouring columns, or rows, like those that the comb order fills one by one; a mismatch among them."""
    pair, long = _mismatch(puzzle, board, rng), MOST_DRAWN // COMB
    height, width = (COMB, long) if rng.integers(2) else (long, COMB)
    return _rectangle(puzzle, pair, height, width, rng)


def path(puzzle: Puzzle, board: Board, rng: np.random.Generator) -> list[int]:
    """The cells on a path with one corner between two mismatches, and cells next to it if there is room."""
    pairs = mismatched_pairs(puzzle, board)
    start, end = (pairs[rng.integers(len(pairs)), 0] for _ in range(2))
    (row, column), (to_row, to_column) = divmod(int(start), puzzle.width), divmod(int(end), puzzle.width)
    down, across = (1 if to_row >= row else -1), (1 if to_column >= column else -1)
    if rng.integers(2):
        steps = [(r, column) for r in range(row, to_row, down)] + [
            (to_row, c) for c in range(column, to_column + across, across)
        ]
    else:
        steps = [(row, c) for c in range(column, to_column, across)] + [
            (r, to_column) for r in range(row, to_row + down, down)
        ]
    way = [r * puzzle.width + c for r, c in steps][:MOST_DRAWN]
    wide = with_neighbours(puzzle, way)
    return sorted(wide) if len(wide) <= MOST_DRAWN else way


def donors(puzzle: Puzzle, board: Board, rng: np.random.Generator) -> list[int]:
    """A small block with a mismatch, and cells from anywhere whose pieces show a colour that it misses."""
    pair = _mismatch(puzzle, board, rng)
    cells = set(_rectangle(puzzle, pair, int(rng.integers(3, 6)), int(rng.integers(3, 6)), rng))
    shown = board.colours(puzzle)
    side = 1 if pair[1] == pair[0] + 1 and pair[1] % puzzle.width else 2
    missed = [shown[pair[0], side], shown[pair[1], (side + 2) % 4]]
    showing = [cell for cell in np.flatnonzero(np.isin(shown, missed).any(axis=1)).tolist() if cell not in cells]
    count = min(len(showing), int(rng.integers(DONORS[0], DONORS[1] + 1)))
    return sorted(cells | set(rng.choice(showing, count, replace=False).tolist() if count else []))


def _mismatch(puzzle: Puzzle, board: Board, rng: np.random.Generator) -> tuple[int, int]:
    pairs = mismatched_pairs(puzzle, board)
    first, second = pairs[rng.integers(len(pairs))].tolist()
    return first, second


def _rectangle(puzzle: Puzzle, pair: tuple[int, int], height: int, width: int, rng: np.random.Generator) -> list[int]:
    """A rectangle of this size, cut to the board's, with one cell of ``pair`` in it."""
    row, column = divmod(pair[int(rng.integers(2))], puzzle.width)
    height, width = min(height, puzzle.height), min(width, puzzle.width)
    top, left = _first(row, height, puzzle.height, rng), _first(column, width, puzzle.width, rng)
    return window(puzzle, height, width, top, left)


def _first(at: int, length: int, whole: int, rng: np.random.Generator) -> int:
    """The first of ``length`` lines of ``whole`` with line ``at`` among them."""
    return int(rng.integers(max(0, at - length + 1), min(at, whole - length) + 1))
