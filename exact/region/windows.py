"""Regions to re-solve: rows, rectangles, cells around mismatches, donors; and a sweep over all windows of a shape.

Rows and columns count from 0. `lns.cells` documents the regions for users.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from lns.exact.region.options import RegionOptions
from lns.exact.region.region_search import Reports
from lns.exact.region.resolve import RegionResult, RegionStatus, resolve
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import DOWN, LEFT, RIGHT, UP, Puzzle
from lns.instances.text import count_of
from lns.instances.verify import verify

_DEFAULTS = RegionOptions()
_MAX_AROUND = 64  # most cells around mismatches; if more, only cells that touch a mismatch are taken


def rows(puzzle: Puzzle, first: int, end: int) -> list[int]:
    """Return the cells of the rows ``first`` to ``end`` - 1. Raises InputError for no row or a row off the board."""
    if not 0 <= first < end <= puzzle.height:
        raise InputError(
            f"rows {first}-{end - 1} of a board with {puzzle.height} rows; expected A-B with "
            f"0 <= A <= B <= {puzzle.height - 1}"
        )
    return list(range(first * puzzle.width, end * puzzle.width))


def window(puzzle: Puzzle, height: int, width: int, row: int, column: int) -> list[int]:
    """Return the cells of a rectangle whose upper left cell is given, without a test that it lies on the board."""
    return [(row + i) * puzzle.width + column + j for i in range(height) for j in range(width)]


def around_mismatches(puzzle: Puzzle, board: Board) -> list[int]:
    """Return the cells that touch a mismatch, and their neighbours if that makes no more than 64 cells."""
    touched = sorted({cell for pair in verify(puzzle, board).mismatches for cell in pair})
    wide = with_neighbours(puzzle, touched)
    return sorted(wide) if len(wide) <= _MAX_AROUND else touched


def with_neighbours(puzzle: Puzzle, cells: Iterable[int]) -> set[int]:
    """Return the set of the given cells and their neighbours on the board."""
    return {near for cell in cells for near in (cell, *(other for _, other in puzzle.neighbours(cell)))}


def choose_donors(puzzle: Puzzle, board: Board, cells: list[int], count: int) -> list[int]:
    """Choose ``count`` cells outside ``cells`` whose pieces have the most sides that fit mismatched sides in ``cells``.

    The chosen cells touch neither ``cells`` nor each other. Raises InputError if fewer than ``count`` such cells exist.
    """
    region = set(cells)
    colours = board.colours(puzzle)
    mismatched = np.zeros(puzzle.colours + 1)  # by colour: number of mismatched sides that the colour would match
    for first, second in verify(puzzle, board).mismatches:
        if first in region or second in region:
            side, facing = (DOWN, UP) if second == first + puzzle.width else (RIGHT, LEFT)
            np.add.at(mismatched, puzzle.mate[colours[[first, second], [side, facing]]], 1)
    mismatched[0] = 0
    excluded = region | {clue.cell for clue in puzzle.fixed}
    candidates = [cell for cell in range(puzzle.cells) if cell not in excluded and colours[cell, 0] >= 0]
    chosen: list[int] = []
    blocked = with_neighbours(puzzle, region)
    for cell in sorted(candidates, key=lambda cell: (-mismatched[colours[cell]].sum(), cell)):
        if len(chosen) < count and cell not in blocked:
            chosen.append(cell)
            blocked |= with_neighbours(puzzle, [cell])
    if len(chosen) < count:
        raise InputError(
            f"{count} donors; expected at most {len(chosen)}, the cells apart from the region and from each other"
        )
    return chosen


@dataclass(frozen=True)
class WindowResult:
    """The result of one window of `sweep_windows`; ``row``, ``column``: those of its upper left cell."""

    row: int
    column: int
    result: RegionResult

    @property
    def outcome(self) -> str:
        """What a map of the sweep shows of this window: "improved", "proven" or "open"."""
        return "improved" if self.result.improved else "proven" if self.result.proven else "open"


def check_shape(puzzle: Puzzle, height: int, width: int) -> None:
    """Raise InputError if no window of this shape (in cells) fits the board."""
    if not (1 <= height <= puzzle.height and 1 <= width <= puzzle.width):
        raise InputError(
            f"a window of {count_of(height, 'row')} and {count_of(width, 'column')} does not fit a board of "
            f"{count_of(puzzle.height, 'row')} and {count_of(puzzle.width, 'column')}"
        )


def sweep_windows(
    puzzle: Puzzle,
    board: Board,
    height: int,
    width: int,
    *,
    nodes: int | None = None,
    options: RegionOptions = _DEFAULTS,
    seconds: Callable[[], float | None] = lambda: None,
    on_improve: Callable[[Board], None] | None = None,
) -> Iterator[WindowResult]:
    """Re-solve all windows of a shape, row by row, each on the best board that the windows before it have found.

    ``nodes``: budget of each window; ``seconds``: called before each window, returns the seconds left, or None without
    a limit; the sweep ends when they are 0 or less; ``on_improve``: called with every better board, verified, when it
    is found. Ctrl-C ends the sweep with the window then searched. Raises InputError if no window fits the board.
    """
    check_shape(puzzle, height, width)
    for row in range(puzzle.height - height + 1):
        for column in range(puzzle.width - width + 1):
            remaining = seconds()
            if remaining is not None and remaining <= 0:
                return
            cells, reports = window(puzzle, height, width, row, column), Reports(improve=on_improve)
            result = resolve(puzzle, board, cells, nodes=nodes, seconds=remaining, options=options, reports=reports)
            board = result.board
            yield WindowResult(row, column, result)
            if result.status == RegionStatus.INTERRUPTED:
                return
