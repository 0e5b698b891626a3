"""Polyominoes: their cells and orientations, and the weights by which the report tries them (seed 001, II and III)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

Cell = tuple[int, int]
"""Row and column, from 0."""

Shape = tuple[Cell, ...]
"""Cells in ascending order, moved so that the least row and the least column are 0."""


def normal(cells: Iterable[Cell]) -> Shape:
    """The shape that ``cells`` have, wherever they are."""
    known = sorted(set(cells))
    top, left = min(row for row, _ in known), min(column for _, column in known)
    return tuple((row - top, column - left) for row, column in known)


def orientations(shape: Shape) -> list[Shape]:
    """Its rotations and mirror images, in ascending order, each once: at most eight."""
    found = set()
    for _ in range(4):
        shape = normal((column, -row) for row, column in shape)
        found |= {shape, normal((row, -column) for row, column in shape)}
    return sorted(found)


def neighbours(cell: Cell) -> tuple[Cell, Cell, Cell, Cell]:
    """Down, up, right and left of it, on the tray or not."""
    row, column = cell
    return (row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)


def is_connected(cells: Iterable[Cell]) -> bool:
    """Whether every cell is reached from every other one, side by side."""
    left = set(cells)
    waiting = [left.pop()]
    while waiting:
        beside = left.intersection(neighbours(waiting.pop()))
        left -= beside
        waiting += beside
    return not left


def _box(shape: Shape) -> tuple[int, int]:
    return max(row for row, _ in shape) + 1, max(column for _, column in shape) + 1


def _compactness(shape: Shape) -> float:
    return min(_box(shape)) / max(_box(shape))


def _perimeter(shape: Shape) -> int:
    """Sides that face no cell of the shape; the report's formula for it is 0 for every shape."""
    return sum(beside not in shape for cell in shape for beside in neighbours(cell))


def _holes(shape: Shape) -> int:
    """Cells of its box that it leaves free, as the report counts them."""
    height, width = _box(shape)
    return height * width - len(shape)


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
"""What is tried first has the largest weight: large or small pieces, compact or long ones, those of short or of long
rims, of few or of many holes. Names are the report's."""
