"""Windows: which cells a question frees, and the sweep over all windows of a shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from exact.region.options import RegionOptions
from exact.region.resolve import resolve
from exact.region.result import OnImprove, RegionResult, RegionStatus
from instances.board import Board
from instances.puzzle import DOWN, LEFT, RIGHT, UP, Puzzle
from instances.verify import verify
from lns_support.errors import InputError

_DEFAULTS = RegionOptions()
_AROUND_LIMIT = 64  # cells; with more, only the cells that touch a mismatch are freed


def rows(puzzle: Puzzle, first: int, end: int) -> list[int]:
    """The cells of rows ``first`` to ``end - 1``. Raises InputError for an empty range or one off the board."""
    if not 0 <= first < end <= puzzle.height:
        raise InputError(
            f"rows {first}:{end} of a board with {puzzle.height} rows; expected a range A:B with "
            f"0 <= A < B <= {puzzle.height} (B itself is left out)"
        )
    return list(range(first * puzzle.width, end * puzzle.width))


def window(puzzle: Puzzle, height: int, width: int, row: int, column: int) -> list[int]:
    """The cells of a rectangle whose upper left cell is (row, column)."""
    return [(row + i) * puzzle.width + column + j for i in range(height) for j in range(width)]


def around_mismatches(puzzle: Puzzle, board: Board) -> list[int]:
    """The cells that touch a mismatch, with their neighbours where that makes at most 64 cells."""
    touched = sorted({cell for pair in verify(puzzle, board).mismatches for cell in pair})
    wide = with_neighbours(puzzle, touched)
    return sorted(wide) if len(wide) <= _AROUND_LIMIT else touched


def with_neighbours(puzzle: Puzzle, cells: Iterable[int]) -> set[int]:
    """``cells`` and their neighbours."""
    return {around for cell in cells for around in (cell, *(other for _, other in puzzle.neighbours(cell)))}


def choose_donors(puzzle: Puzzle, board: Board, cells: list[int], count: int) -> list[int]:
    """``count`` cells elsewhere whose pieces carry most of the colours that meet wrongly in the region.

    No two of them, and none of them and the region, are neighbours: each is one piece that can be traded.
    """
    region = set(cells)
    colours = board.colours(puzzle)
    wanted = np.zeros(puzzle.colours + 1)
    for one, other in verify(puzzle, board).mismatches:
        if one in region or other in region:
            side, facing = (DOWN, UP) if other == one + puzzle.width else (RIGHT, LEFT)
            wanted[colours[one, side]] += 1
            wanted[colours[other, facing]] += 1
    wanted[0] = 0
    clues = {clue.cell for clue in puzzle.clues}
    worth = {
        cell: float(wanted[colours[cell]].sum())
        for cell in range(puzzle.cells)
        if cell not in region and cell not in clues and board.placements[cell] >= 0
    }
    chosen: list[int] = []
    blocked = with_neighbours(puzzle, region)
    for cell in sorted(worth, key=lambda cell: (-worth[cell], cell)):
        if len(chosen) == count:
            break
        if cell not in blocked:
            chosen.append(cell)
            blocked |= with_neighbours(puzzle, [cell])
    if len(chosen) < count:
        raise InputError(f"{count} donors; only {len(chosen)} cells lie apart from the region and from each other")
    return chosen


@dataclass(frozen=True)
class WindowResult:
    """What was found out about one window (its upper left cell) of a sweep."""

    row: int
    column: int
    result: RegionResult


def check_shape(puzzle: Puzzle, height: int, width: int) -> None:
    """Raises InputError where no window of this shape fits the board."""
    if not (1 <= height <= puzzle.height and 1 <= width <= puzzle.width):
        raise InputError(
            f"a window of {height}x{width} (height x width) does not fit a board of {puzzle.height}x{puzzle.width}"
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
    on_improve: OnImprove | None = None,
) -> Iterator[WindowResult]:
    """Re-solve all windows of a shape, row by row, each on the board as the ones before have improved it.

    ``nodes``: budget of each window; ``options``, ``on_improve``: as for `resolve`; ``seconds()``: what is
    left for the rest, asked before each window, the sweep ends at 0. Windows with no free cell are passed over as
    proven. Raises InputError when no window fits.
    """
    check_shape(puzzle, height, width)
    for row in range(puzzle.height - height + 1):
        for column in range(puzzle.width - width + 1):
            left = seconds()
            if left is not None and left <= 0:
                return
            cells = window(puzzle, height, width, row, column)
            answer = resolve(puzzle, board, cells, nodes=nodes, seconds=left, options=options, on_improve=on_improve)
            board = answer.board
            yield WindowResult(row, column, answer)
            if answer.status == RegionStatus.INTERRUPTED:
                return
