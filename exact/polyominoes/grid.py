"""A grid, the pieces that fill it, and the independent check of a filling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from exact.polyominoes.shapes import Cell, Shape, normal, orientations

FREE, BLOCKED = ".", "#"
MAX_CELLS = 10_000


@dataclass(frozen=True)
class Grid:
    """A grid to be filled with polyominoes.

    Parameters
    ----------
    rows : tuple of str
        The picture, one character for each cell: ``.`` (`FREE`) is to be filled, ``#`` (`BLOCKED`) is outside the
        grid, any other character is covered by the piece of that name.
    pieces : mapping of str to Shape
        All pieces by their one-character names, including those already placed.
    """

    rows: tuple[str, ...]
    pieces: Mapping[str, Shape]

    @cached_property
    def free(self) -> tuple[Cell, ...]:
        """The cells to be filled, row by row."""
        return tuple(cells_of(self.rows).get(FREE, ()))

    @cached_property
    def loose(self) -> dict[str, Shape]:
        """The pieces not placed yet."""
        placed = cells_of(self.rows)
        return {name: shape for name, shape in self.pieces.items() if name not in placed}

    def filled(self, placed: Mapping[str, Sequence[Cell]]) -> tuple[str, ...]:
        """The picture with more pieces on it, given by name and cells."""
        canvas = [list(row) for row in self.rows]
        for name, cells in placed.items():
            for row, column in cells:
                canvas[row][column] = name
        return tuple(map("".join, canvas))


def filling_errors(grid: Grid, filling: Sequence[str]) -> list[str]:
    """Check a filling, independently of any search.

    Parameters
    ----------
    grid : Grid
    filling : sequence of str
        Rows of piece names, as in ``Grid.rows``.

    Returns
    -------
    list of str
        A sentence for each error; empty if ``filling`` is a filling of ``grid``.
    """
    if [len(row) for row in filling] != [len(row) for row in grid.rows]:
        return ["the filling has another shape than the grid"]
    pairs = [pair for old, new in zip(grid.rows, filling, strict=True) for pair in zip(old, new, strict=True)]
    errors = []
    if any(before not in (FREE, after) for before, after in pairs):
        errors.append("a blocked cell or a placed piece was changed")
    cells = cells_of(filling)
    if FREE in cells:
        errors.append(f"{len(cells[FREE])} cells are free")
    for name, shape in grid.pieces.items():
        if name not in cells:
            errors.append(f"piece {name} is missing")
        elif normal(cells[name]) not in orientations(shape):
            errors.append(f"piece {name} has another shape")
    unknown = cells.keys() - grid.pieces.keys() - {FREE, BLOCKED}
    return errors + [f"there is no piece {name}" for name in sorted(unknown)]


def cells_of(rows: Sequence[str]) -> dict[str, list[Cell]]:
    """The cells of each character of a picture, row by row."""
    cells: dict[str, list[Cell]] = {}
    for row, line in enumerate(rows):
        for column, sign in enumerate(line):
            cells.setdefault(sign, []).append((row, column))
    return cells
