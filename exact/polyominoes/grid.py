"""Grids and the polyominoes that fill them: weights of polyominoes, grids as text, and a check of fillings.

References
----------
A. Perrin and T. Beaujard, "Rapport IA41 : IQ Puzzler Pro", section III: the weights.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import prod
from pathlib import Path

from lns.instances.errors import InputError, named
from lns.instances.files import read_text

FREE, BLOCKED = ".", "#"
MAX_CELLS = 10_000
Cell = tuple[int, int]
"""Row and column of a cell, counted from 0."""

Shape = tuple[Cell, ...]
"""Cells of a polyomino in ascending order, translated so that the smallest row and the smallest column are 0."""


def normal(cells: Iterable[Cell]) -> Shape:
    """Return ``cells`` as a shape, translated so that the smallest row and the smallest column are 0."""
    ordered = sorted(set(cells))
    top, left = min(row for row, _ in ordered), min(column for _, column in ordered)
    return tuple((row - top, column - left) for row, column in ordered)


def orientations(shape: Shape) -> list[Shape]:
    """Return the distinct rotations and mirror images of a shape, at most eight, in ascending order."""
    return sorted(set(map(normal, images(shape))))


def images(cells: Sequence[Cell]) -> Iterator[list[Cell]]:
    """Yield the eight images of ``cells`` under rotations and reflections; the cells of an image keep their order.

    Each image is translated so that the smallest row and the smallest column are 0.
    """
    for _ in range(4):
        cells = [(column, -row) for row, column in cells]
        for image in (cells, [(row, -column) for row, column in cells]):
            top, left = map(min, zip(*image, strict=True))
            yield [(row - top, column - left) for row, column in image]


def neighbours(cell: Cell) -> tuple[Cell, Cell, Cell, Cell]:
    """Return the cells below, above, right and left of a cell, inside the grid or not."""
    row, column = cell
    return (row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)


def is_connected(cells: Iterable[Cell]) -> bool:
    """Return whether the cells are connected through shared sides."""
    unreached = set(cells)
    waiting = [unreached.pop()]
    while waiting:
        reached = unreached.intersection(neighbours(waiting.pop()))
        unreached -= reached
        waiting += reached
    return not unreached


def bounding_box(cells: Iterable[Cell]) -> tuple[int, int]:
    """Return height and width, in cells, of the bounding box of ``cells``."""
    rows, columns = zip(*cells, strict=True)
    return max(rows) - min(rows) + 1, max(columns) - min(columns) + 1


def _compactness(shape: Shape) -> float:
    """Return the shorter side of the shape's bounding box divided by the longer side."""
    return min(bounding_box(shape)) / max(bounding_box(shape))


def _perimeter(shape: Shape) -> int:
    """Count the sides of cells that face no cell of the shape. (The formula that Perrin & Beaujard print gives 0.)"""
    return sum(other not in shape for cell in shape for other in neighbours(cell))


NO_WEIGHT = "none"
"""The name for no weight: pieces are tried in the order in which the grid lists them."""

WEIGHTS: dict[str, Callable[[Shape], float]] = {
    "descender": len,
    "ascender": lambda shape: -len(shape),
    "compactness": _compactness,
    "compactness-inverse": lambda shape: -_compactness(shape),
    "perimeter": lambda shape: -_perimeter(shape),
    "perimeter-inverse": _perimeter,
    "holes": lambda shape: len(shape) - prod(bounding_box(shape)),  # minus the number of box cells outside the shape
    "holes-inverse": lambda shape: prod(bounding_box(shape)) - len(shape),
}
"""The weight functions of Perrin & Beaujard by name. Pieces of the largest weight are tried first: by the first weight
of this dictionary large pieces, by the next ones small, compact, and long pieces, those with a short and with a long
perimeter, and those with few and with many holes (cells of the bounding box outside the piece)."""

RACE = "race"
"""The name for a race: searches with all `WEIGHTS` take turns until one of them has a filling or ends without one."""


def check_weight(name: str) -> None:
    """Raise InputError if ``name`` is neither a key of `WEIGHTS` nor `NO_WEIGHT`."""
    if name not in (NO_WEIGHT, *WEIGHTS):
        raise InputError(f"unknown weight '{name}'; expected {RACE}, {', '.join(WEIGHTS)} or {NO_WEIGHT}")


# -- grids -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Grid:
    """A grid to be filled with polyominoes: its picture and its pieces.

    The picture is ``rows``, with one character per cell: ``.`` (`FREE`) is to be filled, ``#`` (`BLOCKED`) is outside
    the grid, and any other character is the name of the piece that covers the cell.
    """

    rows: tuple[str, ...]
    pieces: Mapping[str, Shape]  # all pieces by one-character name, including pieces already placed

    @cached_property
    def free(self) -> tuple[Cell, ...]:
        """The cells to be filled, row by row."""
        return tuple(cells_of(self.rows).get(FREE, ()))

    @cached_property
    def loose(self) -> dict[str, Shape]:
        """The pieces not placed yet, by name."""
        placed = cells_of(self.rows)
        return {name: shape for name, shape in self.pieces.items() if name not in placed}

    def filled(self, placed: Mapping[str, Sequence[Cell]]) -> tuple[str, ...]:
        """Return the picture with more pieces on it; ``placed`` maps names of pieces to their cells."""
        canvas = [list(row) for row in self.rows]
        for name, cells in placed.items():
            for row, column in cells:
                canvas[row][column] = name
        return tuple(map("".join, canvas))


def filling_errors(grid: Grid, filling: Sequence[str]) -> list[str]:
    """Check a filling without code of the search; return a sentence for each error, none if the filling is valid."""
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
    """Return the cells of each character of a picture, row by row."""
    cells: dict[str, list[Cell]] = {}
    for row, line in enumerate(rows):
        for column, sign in enumerate(line):
            cells.setdefault(sign, []).append((row, column))
    return cells


# -- grids as text -----------------------------------------------------------------------------------------------------

_GAME = (
    "NN..  PPP  F..  WW.  YYYY  SS.  TTT  VVV  LLLL  UUU  JJJ  CC",
    ".NNN  PP.  FFF  .WW  .Y..  .SS  .T.  V..  L...  U.U  J..  C.",
    "           .F.  ..W                  V..                    ",
)
_SPANS = [slice(*piece.span()) for piece in re.finditer(r"\S+", _GAME[0])]
IQ_PUZZLER_PRO = "...........\n" * 5 + "".join(
    "\n" + "\n".join(row[at] for row in _GAME).rstrip() + "\n" for at in _SPANS
)
"""The game IQ Puzzler Pro in the format of `parse`: its empty grid and its pieces."""


def load(path: str | Path) -> Grid:
    """Read a grid from a text file in the format of `parse`. Raises InputError as `parse`, with the file's name."""
    if not Path(path).is_file():
        raise InputError("no such file; expected the picture of a grid", path)
    with named(path):
        return parse(read_text(path))


def parse(text: str) -> Grid:
    """Read a grid from text: its picture, then a picture of each piece in its own character, with blank lines between.

    In the picture of the grid ``.`` is free, ``#`` outside the grid, and any other character a piece already placed. If
    no pieces are drawn, the grid has the pieces of IQ Puzzler Pro. Raises InputError if the text is not of this form
    (with the line, if one is to blame), or if the pieces not placed yet do not have as many cells as are free.
    """
    blocks = _blocks(text)
    if not blocks:
        raise InputError("nothing is drawn here; expected a grid of '.', '#' and pieces")
    (first, rows), *piece_blocks = blocks
    if sum(map(len, rows)) > MAX_CELLS:
        raise InputError(f"the grid has {sum(map(len, rows)):,} cells; expected at most {MAX_CELLS:,}")
    for number, row in enumerate(rows, first):
        if len(row) != len(rows[0]):
            raise InputError(f"a row of {len(row)} cells; expected {len(rows[0])}, as in the first", line=number)
    pieces: dict[str, Shape] = {}
    for line, piece in piece_blocks:
        name, shape = _piece(line, piece)
        if name in pieces:
            raise InputError(f"piece {name} is drawn twice; expected another character for another piece", line=line)
        pieces[name] = shape
    grid = Grid(tuple(rows), pieces or parse(IQ_PUZZLER_PRO).pieces)
    _check(grid, first)
    return grid


def render(grid: Grid) -> str:
    """Return a grid as text that `parse` reads."""
    pictures = ["\n".join(grid.rows)]
    for name, shape in grid.pieces.items():
        height, width = bounding_box(shape)
        rows = ("".join(name if (row, column) in shape else FREE for column in range(width)) for row in range(height))
        pictures.append("\n".join(rows))
    return "\n\n".join(pictures) + "\n"


def _blocks(text: str) -> list[tuple[int, list[str]]]:
    """Return, for each block of lines between blank lines, the line number of its first line (from 1) and its lines."""
    rows = [line.rstrip() for line in text.split("\n")]
    for number, row in enumerate(rows, 1):
        for sign in row:
            if sign.isspace() or not sign.isprintable():
                raise InputError(f"{sign!r} inside a picture; expected '.' for an empty cell", line=number)
    groups = groupby(enumerate(rows, 1), key=lambda numbered: bool(numbered[1]))
    blocks = [[*block] for is_drawn, block in groups if is_drawn]
    return [(block[0][0], [row for _, row in block]) for block in blocks]


def _piece(line: int, rows: Sequence[str]) -> tuple[str, Shape]:
    """Return name and shape of a drawn piece. Raises InputError if ``rows`` do not show exactly one connected piece."""
    cells = cells_of(rows)
    cells.pop(FREE, None)
    if len(cells) != 1 or BLOCKED in cells:
        raise InputError(
            f"a piece is drawn with {' '.join(sorted(cells)) or FREE}; expected one character besides '.'", line=line
        )
    [(name, own_cells)] = cells.items()
    if not is_connected(own_cells):
        raise InputError(f"piece {name} has separate parts; expected cells connected by their sides", line=line)
    return name, normal(own_cells)


def _check(grid: Grid, first: int) -> None:
    """Raise InputError if a placed piece is unknown or misshapen, or the other pieces have too many or too few cells.

    ``first`` is the line number of the first row of the picture.
    """
    for name, cells in cells_of(grid.rows).items():
        line = first + cells[0][0]
        if name not in (FREE, BLOCKED, *grid.pieces):
            raise InputError(f"there is no piece {name}; expected one of {' '.join(grid.pieces)}", line=line)
        if name in grid.pieces and normal(cells) not in orientations(grid.pieces[name]):
            raise InputError(f"piece {name} is placed here with another shape than it has", line=line)
    loose = sum(map(len, grid.loose.values()))
    if loose != len(grid.free):
        raise InputError(
            f"the pieces not placed yet cover {loose} cells; expected {len(grid.free)}, the number of free cells"
        )
