"""Polyominoes: their cells and orientations, and the weights of Perrin & Beaujard (IQ Puzzler Pro, III)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

Cell = tuple[int, int]
"""Row and column, from 0."""

Shape = tuple[Cell, ...]
"""Cells in ascending order, translated so that the smallest row and the smallest column are 0."""


def normal(cells: Iterable[Cell]) -> Shape:
    """The shape of ``cells``, translated to row 0 and column 0."""
    ordered = sorted(set(cells))
    top, left = min(row for row, _ in ordered), min(column for _, column in ordered)
    return tuple((row - top, column - left) for row, column in ordered)


def orientations(shape: Shape) -> list[Shape]:
    """The distinct rotations and mirror images of a shape, at most eight, in ascending order."""
    images = set()
    for _ in range(4):
        shape = normal((column, -row) for row, column in shape)
        images |= {shape, normal((row, -column) for row, column in shape)}
    return sorted(images)


def neighbours(cell: Cell) -> tuple[Cell, Cell, Cell, Cell]:
    """The cells below, above, right and left of a cell, inside the grid or not."""
    row, column = cell
    return (row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)


def is_connected(cells: Iterable[Cell]) -> bool:
    """Whether the cells are connected by shared sides."""
    unreached = set(cells)
    waiting = [unreached.pop()]
    while waiting:
        reached = unreached.intersection(neighbours(waiting.pop()))
        unreached -= reached
        waiting += reached
    return not unreached


def bounding_box(cells: Iterable[Cell]) -> tuple[int, int]:
    """Height and width of the bounding box."""
    rows, columns = zip(*cells, strict=True)
    return max(rows) - min(rows) + 1, max(columns) - min(columns) + 1


def _compactness(shape: Shape) -> float:
    """The shorter side of the bounding box over the longer one."""
    return min(bounding_box(shape)) / max(bounding_box(shape))


def _perimeter(shape: Shape) -> int:
    """Sides of cells that face no cell of the shape. (The formula printed in the report is 0 for every shape.)"""
    return sum(other not in shape for cell in shape for other in neighbours(cell))


def _holes(shape: Shape) -> int:
    """Cells of the bounding box outside the shape, as in the report."""
    height, width = bounding_box(shape)
    return height * width - len(shape)


NO_WEIGHT = "none"
"""The name of no weight: pieces are tried in the order in which they are drawn."""

WEIGHTS: dict[str, Callable[[Shape], float]] = {
    "descender": len,
    "ascender": lambda shape: -len(shape),
    "compactness": _compactness,
    "compactness-inverse": lambda shape: -_compactness(shape),
    "perimeter": lambda shape: -_perimeter(shape),
    "perimeter-inverse": _perimeter,
    "holes": lambda shape: -_holes(shape),
    "holes-inverse": _holes,
}
"""Functions of the report by name. Pieces of the largest weight are tried first: large or small ones (descender,
ascender), compact or long ones, those of short or long perimeter, of few or many holes."""


def weight_named(name: str) -> Callable[[Shape], float]:
    """The weight of a name in `WEIGHTS`; equal for all pieces if it is `NO_WEIGHT`."""
    return WEIGHTS[name] if name != NO_WEIGHT else lambda shape: 0.0
