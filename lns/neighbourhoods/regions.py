"""Regions of a board that are worth freeing, listed by kind.

Good boards have their mismatches in a few rows. A region rarely has a perfect refill, but sometimes a refill with one
mismatch less. Windows that hold many mismatches have such a refill more often, so `windows` lists these first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, product

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from lns.exact.region.windows import window, with_neighbours
from lns.instances.board import Board
from lns.instances.puzzle import DOWN, GREY, RIGHT, IntArray, Puzzle
from lns.loop.pool import Member
from lns.neighbourhoods.move import mismatched_pairs
from lns.params import NeighbourhoodsParams

Cells = tuple[int, ...]

COMB = (5, 9)  # rows and columns of a window of short columns, like those that the comb order fills one by one
DONATED_TO = ((3, 3), (3, 4), (4, 3), (4, 4))  # (rows, columns) of the blocks that get donors
DONORS = (4, 8, 12)  # numbers of donors, cells elsewhere, that are freed with a block
NEAREST = range(2, 7)  # numbers of mismatches in a cluster
SHORTEST_SIDE, LONGEST_SIDE = 3, 12  # shortest and longest side of a block, in cells
HALO = 1  # width, in cells, of the margin of a box around two mismatches


class Regions:
    """The neighbourhoods of a run: each method lists regions of one kind, of sizes that the parameters allow."""

    def __init__(self, params: NeighbourhoodsParams) -> None:
        self.least, self.most, self.lines = params.least_cells, params.most_cells, params.band_lines

    def last(self, puzzle: Puzzle, member: Member, size: int) -> Iterator[Cells]:
        """Yield the last ``size`` cells that the construction filled; nothing if no construction made the board."""
        if member.order is not None:
            yield tuple(member.order[-size:].tolist())

    def blocks(self, puzzle: Puzzle, member: Member, least: int, most: int) -> Iterator[Cells]:
        """Return rectangles of ``least`` to ``most`` cells that touch a mismatch.

        Sides have 3 to 12 cells, or fewer if the board has a side under 3. The parameters limit the cells further.
        """
        shapes = [
            (height, width)
            for height, width in product(range(1, LONGEST_SIDE + 1), repeat=2)
            if height >= min(SHORTEST_SIDE, puzzle.height) and width >= min(SHORTEST_SIDE, puzzle.width)
            if max(least, self.least) <= height * width <= min(most, self.most)
        ]
        return windows(puzzle, member.board, shapes)

    def combs(self, puzzle: Puzzle, member: Member) -> Iterator[Cells]:
        """Return windows of the shape `COMB`, with short columns like those of the comb order, or of `COMB` turned."""
        return windows(puzzle, member.board, [shape for shape in (COMB, COMB[::-1]) if COMB[0] * COMB[1] <= self.most])

    def bands(self, puzzle: Puzzle, member: Member) -> Iterator[Cells]:
        """Yield bands of neighbouring whole rows or columns with a mismatch, the thinnest bands first."""
        for lines in range(1, self.lines + 1):
            shapes = [(lines, puzzle.width), (puzzle.height, lines)]
            fitting = [(height, width) for height, width in shapes if height * width <= self.most]
            yield from windows(puzzle, member.board, fitting)

    def damage(self, puzzle: Puzzle, member: Member) -> Iterator[Cells]:
        """Yield the fewest neighbouring whole rows, and the fewest such columns, that hold all mismatches, if any."""
        pairs = mismatched_pairs(puzzle, member.board)
        if not len(pairs):
            return
        row, column = np.divmod(pairs, puzzle.width)
        top, left = int(row.min()), int(column.min())
        height, width = int(row.max()) - top + 1, int(column.max()) - left + 1
        both = window(puzzle, height, puzzle.width, top, 0), window(puzzle, puzzle.height, width, 0, left)
        yield from (tuple(cells) for cells in both if len(cells) <= self.most)

    def clusters(self, puzzle: Puzzle, member: Member) -> Iterator[Cells]:
        """Yield, smallest first, groups of close mismatches with the cells around, and boxes around two mismatches."""
        pairs = mismatched_pairs(puzzle, member.board)
        found = [*self._nearest(puzzle, pairs), *self._boxes(puzzle, pairs)]
        yield from sorted(dict.fromkeys(cells for cells in found if self.least <= len(cells) <= self.most), key=len)

    def _nearest(self, puzzle: Puzzle, pairs: IntArray) -> Iterator[Cells]:
        row, column = np.divmod(pairs[:, 0], puzzle.width)
        for centre in range(len(pairs)):
            nearest = np.argsort(np.abs(row - row[centre]) + np.abs(column - column[centre]), kind="stable")
            for count in NEAREST:
                yield tuple(sorted(with_neighbours(puzzle, pairs[nearest[:count]].ravel().tolist())))

    def _boxes(self, puzzle: Puzzle, pairs: IntArray) -> Iterator[Cells]:
        row, column = np.divmod(pairs, puzzle.width)
        low, high = np.array([row.min(axis=1), column.min(axis=1)]), np.array([row.max(axis=1), column.max(axis=1)])
        corner = np.array([puzzle.height, puzzle.width]) - 1
        for first, second in combinations(range(len(pairs)), 2):
            top, left = np.maximum(np.minimum(low[:, first], low[:, second]) - HALO, 0).tolist()
            bottom, right = np.minimum(np.maximum(high[:, first], high[:, second]) + HALO, corner).tolist()
            if (bottom - top + 1) * (right - left + 1) <= self.most:
                yield tuple(window(puzzle, bottom - top + 1, right - left + 1, top, left))

    def paths(self, puzzle: Puzzle, member: Member) -> Iterator[Cells]:
        """Yield paths with one corner between two close mismatches, widened by all neighbours if the size allows."""
        starts = mismatched_pairs(puzzle, member.board)[:, 0]
        row, column = np.divmod(starts, puzzle.width)
        away = np.abs(row[:, None] - row) + np.abs(column[:, None] - column)
        near = np.argwhere(np.triu(away < self.most, k=1))
        for first, second in near[np.argsort(away[tuple(near.T)], kind="stable")].tolist():
            for way in _paths(puzzle.width, int(starts[first]), int(starts[second])):
                wide = sorted(with_neighbours(puzzle, way))
                cells = tuple(wide if len(wide) <= self.most else way)
                if self.least <= len(cells) <= self.most:
                    yield cells

    def donors(self, puzzle: Puzzle, member: Member) -> Iterator[Cells]:
        """Yield small blocks with a mismatch, each with donors: cells elsewhere with colours that the block lacks."""
        shown, pairs = member.board.colours(puzzle), mismatched_pairs(puzzle, member.board)
        side = np.where((pairs[:, 1] == pairs[:, 0] + 1) & (pairs[:, 1] % puzzle.width > 0), RIGHT, DOWN)
        missed = puzzle.mate[np.stack([shown[pairs[:, 0], side], shown[pairs[:, 1], (side + 2) % 4]], axis=1)]
        for block in windows(puzzle, member.board, DONATED_TO):
            inside = np.zeros(puzzle.cells, dtype=bool)
            inside[list(block)] = True
            is_missed = np.zeros(puzzle.colours + 1, dtype=bool)
            is_missed[missed[inside[pairs].any(axis=1)]] = True
            is_missed[GREY] = False
            showing = is_missed[shown].sum(axis=1)
            showing[inside] = 0
            donors = np.argsort(-showing, kind="stable")[: np.count_nonzero(showing)].tolist()
            for count in DONORS:
                if count <= len(donors) and self.least <= len(block) + count <= self.most:
                    yield tuple(sorted([*block, *donors[:count]]))


def windows(puzzle: Puzzle, board: Board, shapes: Iterable[tuple[int, int]]) -> Iterator[Cells]:
    """Yield all windows of ``shapes`` (rows, columns) that touch a mismatch: most mismatches first, then smallest."""
    across = np.zeros((puzzle.height, puzzle.width + 1), dtype=np.int64)  # 1 for a mismatch on the left of a cell
    down = np.zeros((puzzle.height + 1, puzzle.width), dtype=np.int64)  # 1 for a mismatch above a cell
    for first, second in mismatched_pairs(puzzle, board).tolist():
        row, column = divmod(second, puzzle.width)
        (down if second == first + puzzle.width else across)[row, column] += 1
    found = []
    for height, width in dict.fromkeys(shapes):
        if height <= puzzle.height and width <= puzzle.width:
            in_rows = sliding_window_view(across, (height, width + 1)).sum(axis=(2, 3))
            damage = in_rows + sliding_window_view(down, (height + 1, width)).sum(axis=(2, 3))
            top, left = np.nonzero(damage)
            size = np.full(len(top), height), np.full(len(top), width)
            found.append(np.stack([-damage[top, left], size[0] * size[1], top, left, *size], axis=1))
    ordered = np.concatenate(found) if found else np.zeros((0, 6), dtype=np.int64)
    for _, _, top, left, height, width in ordered[np.lexsort(ordered.T[::-1])].tolist():
        yield tuple(window(puzzle, height, width, top, left))


def _paths(width: int, start: int, end: int) -> list[list[int]]:
    """Return both paths of cells with one corner from ``start`` to ``end``: down or up first, and sideways first."""
    (row, column), (to_row, to_column) = divmod(start, width), divmod(end, width)
    rows = [*range(row, to_row, 1 if to_row >= row else -1), to_row]
    columns = [*range(column, to_column, 1 if to_column >= column else -1), to_column]
    down_first = [r * width + column for r in rows[:-1]] + [to_row * width + c for c in columns]
    return [down_first, [row * width + c for c in columns[:-1]] + [r * width + to_column for r in rows]]
