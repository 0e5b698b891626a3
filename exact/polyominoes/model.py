"""A grid as an exact cover problem: an option for every position and orientation of every piece.

References
----------
A. Perrin and T. Beaujard, "Rapport IA41 : IQ Puzzler Pro", section III.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from lns.exact.cover.kernel import Problem, make_problem
from lns.exact.execution import Check, each_after, unlimited
from lns.exact.polyominoes.grid import Cell, Grid, Shape, neighbours, normal, orientations
from lns.instances.errors import InputError

IntArray = npt.NDArray[np.int32]
MAX_NODES = 10_000_000
"""Limit of the entries of a model, about a gigabyte."""


@dataclass(frozen=True)
class Model:
    """The options of a grid.

    Items 0 to ``cells`` - 1 are the free cells, row by row. The other items are the kinds of pieces: pieces of equal
    shape are one kind. A solution stands for as many fillings as the product of ``images`` of its options.
    """

    grid: Grid
    names: tuple[tuple[str, ...], ...]  # of the pieces of each kind
    begin: IntArray  # int32 (options + 1,): first node of each option, and the end
    item: IntArray  # int32 (nodes,): the item of each node; an option has its cells and then its kind
    copies: IntArray  # int32 (kinds,): pieces of each kind
    sizes: IntArray  # int32 (kinds,): cells of a piece of each kind
    shapes: tuple[Shape, ...]  # of each kind
    beside: IntArray  # int32 (cells, 4): the free cells next to each cell, -1 = none
    images: IntArray  # int32 (options,): positions that the option stands for by symmetry

    @cached_property
    def problem(self) -> Problem:
        """The problem for the kernel."""
        fields = {"images": self.images, "beside": self.beside, "pieces": self.sizes, "kinds": self.cells}
        return make_problem(self.begin, self.item, self.cells + len(self.copies), **fields)

    @property
    def cells(self) -> int:
        """Number of free cells."""
        return len(self.grid.free)

    @property
    def options(self) -> int:
        """Number of options."""
        return len(self.begin) - 1

    def filling(self, options: IntArray) -> tuple[str, ...]:
        """The picture with the pieces of a set of options."""
        unused = [list(names) for names in self.names]
        placed: dict[str, list[Cell]] = {}
        for option in options.tolist():
            *cells, kind = self.item[self.begin[option] : self.begin[option + 1]].tolist()
            placed[unused[kind - self.cells].pop(0)] = [self.grid.free[cell] for cell in cells]
        return self.grid.filled(placed)


def build_model(grid: Grid, *, reduced: bool = False, check: Check = unlimited) -> Model:
    """Make the exact cover model of a grid.

    Parameters
    ----------
    grid : Grid
    reduced : bool
        Break the symmetry of the free cells: of the positions of one piece that rotations and reflections of the free
        cells map onto each other, keep one. Every filling is an image of one that remains.
    check : callable
        Called between the shapes.

    Raises
    ------
    InputError
        If the model would have more than `MAX_NODES` nodes.
    """
    by_shape: dict[Shape, list[str]] = {}
    for name, shape in grid.loose.items():
        by_shape.setdefault(orientations(shape)[0], []).append(name)
    place = np.full((len(grid.rows), max(map(len, grid.rows), default=0)), -1, dtype=np.int32)
    for number, cell in enumerate(grid.free):
        place[cell] = number
    places: list[IntArray] = []
    for shape in each_after(check, by_shape):
        places.append(_places(shape, place))
        if sum(positions.size for positions in places) > MAX_NODES:
            raise InputError(f"the pieces have too many positions on this grid; expected at most {MAX_NODES:,} nodes")
    images = [np.ones(len(positions), dtype=np.int32) for positions in places]
    single = [kind for kind, names in enumerate(by_shape.values()) if len(names) == 1]
    if reduced and single:
        kind = max(single, key=lambda candidate: len(places[candidate]))
        places[kind], images[kind] = _representatives(places[kind], symmetries(grid.free))
    numbered = [np.insert(cells, cells.shape[1], kind, axis=1) for kind, cells in enumerate(places, len(grid.free))]
    lengths = np.repeat([nodes.shape[1] for nodes in numbered], [len(nodes) for nodes in numbered])
    none = np.zeros(0, dtype=np.int32)  # for a grid without free cells
    beside = [[_number(place, other) for other in neighbours(cell)] for cell in grid.free]
    return Model(
        grid,
        tuple(map(tuple, by_shape.values())),
        np.append(0, np.cumsum(lengths)).astype(np.int32),
        np.concatenate([none, *(nodes.ravel() for nodes in numbered)]),
        np.array([len(names) for names in by_shape.values()], dtype=np.int32),
        np.array([len(shape) for shape in by_shape], dtype=np.int32),
        tuple(by_shape),
        np.array(beside, dtype=np.int32).reshape(-1, 4),
        np.concatenate([none, *images]),
    )


def symmetries(cells: Sequence[Cell]) -> list[list[int]]:
    """The rotations and reflections that map ``cells`` onto themselves, each as the list of the cells' images."""
    place = {cell: number for number, cell in enumerate(normal(cells))} if cells else {}
    maps = []
    image = list(place)
    for _ in range(4):
        image = [(column, -row) for row, column in image]
        for turned in (image, [(row, -column) for row, column in image]):
            top, left = (min(ends, default=0) for ends in (zip(*turned, strict=True) if turned else ((), ())))
            numbers = [place.get((row - top, column - left), -1) for row, column in turned]
            if min(numbers, default=0) >= 0:
                maps.append(numbers)
    return maps


def _number(place: IntArray, cell: Cell) -> int:
    """The number of a free cell; -1 for any other cell, inside the grid or not."""
    height, width = place.shape
    return int(place[cell]) if 0 <= cell[0] < height and 0 <= cell[1] < width else -1


def _places(shape: Shape, place: IntArray) -> IntArray:
    """int32 (positions, cells of the piece): the free cells covered by each position of a piece, by orientation."""
    positions = [np.zeros((0, len(shape)), dtype=np.int32)]
    for turned in orientations(shape):
        rows, columns = np.array(turned).T
        tops, lefts = (
            max(0, length - int(ends.max())) for length, ends in zip(place.shape, (rows, columns), strict=True)
        )
        top, left = np.indices((tops, lefts)).reshape(2, -1, 1)
        cells = place[top + rows, left + columns]
        positions.append(cells[(cells >= 0).all(axis=1)])
    return np.concatenate(positions)


def _representatives(places: IntArray, maps: list[list[int]]) -> tuple[IntArray, IntArray]:
    """The first of each set of positions that are images of each other, and the sizes of these sets."""
    images = np.sort(np.array(maps)[:, places], axis=2)  # map, place, cell
    kept, numbers = [], []
    for number, cells in enumerate(np.sort(places, axis=1).tolist()):
        orbit = {tuple(image) for image in images[:, number].tolist()}
        if min(orbit) == tuple(cells):
            kept.append(number)
            numbers.append(len(orbit))
    return places[kept], np.array(numbers, dtype=np.int32)
