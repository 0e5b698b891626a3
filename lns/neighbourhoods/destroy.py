"""Operators that free some cells around the damage and re-solve them exactly (`exact.region`).

They differ in the shape of what they free; each draws one region, so that a board's many regions get their turn by
chance. Where no refill is better, another one as good is often taken: the next regions then see another board.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from exact.region.resolve import RegionOptions, resolve
from exact.region.windows import window, with_neighbours
from instances.board import EMPTY, Board
from instances.puzzle import Puzzle
from lns.neighbourhoods.move import Move, Operator, mismatched_pairs

MOST_CELLS = 48  # larger regions are seldom searched far enough to be worth their nodes
BAND = 5  # cells; about as long as the columns of the comb order
DONORS = (4, 12)  # fewest, most
_NO_PRICES = RegionOptions(prices=False)
SIDEWAYS = 0.5  # share of the re-solves without a gain after which a refill as good is looked for


def destroy_and_repair(choose: Callable[[Puzzle, Board, np.random.Generator], list[int]]) -> Operator:
    """The operator that re-solves what ``choose`` draws; a board without damage stays as it is."""

    def operator(puzzle: Puzzle, board: Board, rng: np.random.Generator, nodes: int) -> Move:
        if not len(mismatched_pairs(puzzle, board)):
            return Move(board, puzzle.max_score, 0)
        cells = choose(puzzle, board, rng)
        result = resolve(puzzle, board, cells, nodes=nodes, options=_NO_PRICES)
        if result.improved or rng.random() >= SIDEWAYS:
            return Move(result.board, result.score, result.nodes)
        other = _another(puzzle, board, cells, result.score, nodes)
        return other._replace(nodes=result.nodes + other.nodes)

    return operator


def _another(puzzle: Puzzle, board: Board, cells: list[int], score: int, nodes: int) -> Move:
    """The first refill of ``cells`` that the search finds with ``score``, the score of ``board``, or more."""
    placed = board.placements.copy()
    placed[cells] = EMPTY
    emptied = Board(placed, puzzle.width, puzzle.height)
    result = resolve(puzzle, emptied, cells, target=score, nodes=nodes, options=_NO_PRICES)
    if result.score < score or result.board.placed < board.placed:
        return Move(board, score, result.nodes)
    return Move(result.board, result.score, result.nodes)


def block(puzzle: Puzzle, board: Board, rng: np.random.Generator) -> list[int]:
    """A rectangle of three to seven cells either way, MOST_CELLS at most, with a mismatch anywhere in it."""
    height, width = int(rng.integers(3, 8)), int(rng.integers(3, 8))
    return _around(puzzle, _mismatch(puzzle, board, rng), height, min(width, MOST_CELLS // height), rng)


def band(puzzle: Puzzle, board: Board, rng: np.random.Generator) -> list[int]:
    """One to three whole rows or columns with a mismatch, or as much of them as may be freed at once."""
    first, second = _mismatch(puzzle, board, rng)
    lines = int(rng.integers(1, 4))
    if rng.integers(2):
        return _around(puzzle, (first, second), lines, min(puzzle.width, MOST_CELLS // lines), rng)
    return _around(puzzle, (first, second), min(puzzle.height, MOST_CELLS // lines), lines, rng)


def cluster(puzzle: Puzzle, board: Board, rng: np.random.Generator) -> list[int]:
    """A mismatch, the others nearest to it, and one cell around each, as long as they fit."""
    pairs = mismatched_pairs(puzzle, board)
    centre = pairs[rng.integers(len(pairs)), 0]
    row, column = np.divmod(pairs[:, 0], puzzle.width)
    away = np.abs(row - centre // puzzle.width) + np.abs(column - centre % puzzle.width)
    cells: set[int] = set()
    for pair in pairs[np.argsort(away, kind="stable")[: int(rng.integers(2, 7))]]:
        wider = cells | with_neighbours(puzzle, pair.tolist())
        if len(wider) > MOST_CELLS:
            break
        cells = wider
    return sorted(cells)


def comb(puzzle: Puzzle, board: Board, rng: np.random.Generator) -> list[int]:
    """Short neighbouring columns, or rows, like those that the comb order fills one by one; a mismatch among them."""
    pair, long = _mismatch(puzzle, board, rng), MOST_CELLS // BAND
    height, width = (BAND, long) if rng.integers(2) else (long, BAND)
    return _around(puzzle, pair, height, width, rng)


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
    way = [r * puzzle.width + c for r, c in steps][:MOST_CELLS]
    wide = with_neighbours(puzzle, way)
    return sorted(wide) if len(wide) <= MOST_CELLS else way


def donors(puzzle: Puzzle, board: Board, rng: np.random.Generator) -> list[int]:
    """A small block with a mismatch, and cells from anywhere whose pieces show a colour that it misses."""
    pair = _mismatch(puzzle, board, rng)
    cells = set(_around(puzzle, pair, int(rng.integers(3, 6)), int(rng.integers(3, 6)), rng))
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


def _around(puzzle: Puzzle, pair: tuple[int, int], height: int, width: int, rng: np.random.Generator) -> list[int]:
    """A rectangle of this size, cut to the board's, with one cell of ``pair`` in it."""
    row, column = divmod(pair[int(rng.integers(2))], puzzle.width)
    height, width = min(height, puzzle.height), min(width, puzzle.width)
    top, left = _first(row, height, puzzle.height, rng), _first(column, width, puzzle.width, rng)
    return window(puzzle, height, width, top, left)


def _first(at: int, length: int, whole: int, rng: np.random.Generator) -> int:
    """The first of ``length`` lines of ``whole`` with line ``at`` among them."""
    return int(rng.integers(max(0, at - length + 1), min(at, whole - length) + 1))
