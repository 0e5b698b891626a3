"""A tray as exact cover: an option for every place and orientation of every piece (seed 001, III)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from exact.polyominoes.shapes import Cell, Shape, neighbours, normal, orientations
from exact.polyominoes.tray import Tray
from instances.errors import InputError

IntArray = npt.NDArray[np.int32]
MAX_NODES = 30_000_000
"""Nodes of the matrix that a model may have: about a gigabyte."""


@dataclass(frozen=True)
class Model:
    """Items 0..``cells``-1 are the free cells, row by row; then the kinds: pieces that are equal are one kind.

    ``item``: one entry a node, options one after the other, each its cells and then its kind; ``begin``: first node of
    each option, and the end. ``names``: pieces by kind; ``copies``, ``sizes``: int32 pieces and cells of each kind.
    ``shapes``: by kind. ``beside``: int32 (cells, 4) the cells next to each, -1 for none.
    ``images``: int32 by option; a solution stands for as many fillings as the product of its options' says.
    """

    tray: Tray
    names: tuple[tuple[str, ...], ...]
    begin: IntArray
    item: IntArray
    copies: IntArray
    sizes: IntArray
    shapes: tuple[Shape, ...]
    beside: IntArray
    images: IntArray

    @property
    def cells(self) -> int:
        return len(self.tray.free)

    @property
    def options(self) -> int:
        return len(self.begin) - 1

    def filling(self, options: IntArray) -> tuple[str, ...]:
        """The picture that a set of options makes."""
        waiting = [list(names) for names in self.names]
        laid: dict[str, list[Cell]] = {}
        for option in options.tolist():
            *cells, kind = self.item[self.begin[option] : self.begin[option + 1]].tolist()
            laid[waiting[kind - self.cells].pop(0)] = [self.tray.free[cell] for cell in cells]
        return self.tray.filled(laid)


def build(tray: Tray, *, reduced: bool = False) -> Model:
    """The options of ``tray``. Raises InputError where they are too many.

    ``reduced``: of the places that one piece has, only one of each that are images of one another, where the free
    cells are turned or mirrored onto themselves: every filling is an image of one that is left.
    """
    place = {cell: number for number, cell in enumerate(tray.free)}
    alike: dict[Shape, list[str]] = {}
    for name, shape in tray.loose.items():
        alike.setdefault(orientations(shape)[0], []).append(name)
    places: list[list[tuple[int, ...]]] = []
    for shape in alike:
        places.append(_places(shape, place, tray))
        if sum(len(one) * len(one[0]) for one in places if one) > MAX_NODES:
            raise InputError(f"the pieces have too many places on this tray; expected at most {MAX_NODES:,} nodes")
    images = [[1] * len(one) for one in places]
    single = [kind for kind, names in enumerate(alike.values()) if len(names) == 1]
    if reduced and single:
        kind = max(single, key=lambda one: len(places[one]))
        places[kind], images[kind] = _representatives(places[kind], symmetries(tray.free))
    item, begin = array("i"), array("i", [0])
    for number, found in enumerate(places, len(place)):
        for cells in found:
            item.extend((*cells, number))
            begin.append(len(item))
    beside = [[place.get(one, -1) for one in neighbours(cell)] for cell in tray.free]
    return Model(
        tray,
        tuple(map(tuple, alike.values())),
        np.array(begin, dtype=np.int32),
        np.array(item, dtype=np.int32),
        np.array([len(names) for names in alike.values()], dtype=np.int32),
        np.array([len(shape) for shape in alike], dtype=np.int32),
        tuple(alike),
        np.array(beside, dtype=np.int32).reshape(-1, 4),
        np.array([one for counts in images for one in counts], dtype=np.int32),
    )


def symmetries(cells: Sequence[Cell]) -> list[list[int]]:
    """The rotations and mirror images that map ``cells`` onto themselves; each: the number of every cell's image."""
    place = {cell: number for number, cell in enumerate(normal(cells))} if cells else {}
    found = []
    image = list(place)
    for _ in range(4):
        image = [(column, -row) for row, column in image]
        for turned in (image, [(row, -column) for row, column in image]):
            top, left = (min(ends, default=0) for ends in (zip(*turned, strict=True) if turned else ((), ())))
            numbers = [place.get((row - top, column - left), -1) for row, column in turned]
            if min(numbers, default=0) >= 0:
                found.append(numbers)
    return found


def _places(shape: Shape, place: dict[Cell, int], tray: Tray) -> list[tuple[int, ...]]:
    """The free cells that a piece may cover, for every orientation and place."""
    found = []
    for turned in orientations(shape):
        for top, line in enumerate(tray.rows):
            for left in range(len(line)):
                cells = tuple(place.get((top + row, left + column), -1) for row, column in turned)
                if min(cells) >= 0:
                    found.append(cells)
    return found


def _representatives(places: list[tuple[int, ...]], maps: list[list[int]]) -> tuple[list[tuple[int, ...]], list[int]]:
    """Of the places that are images of one another the first, and how many each stands for."""
    kept, images = [], []
    for cells in places:
        orbit = {tuple(sorted(one[cell] for cell in cells)) for one in maps}
        if min(orbit) == tuple(sorted(cells)):
            kept.append(cells)
            images.append(len(orbit))
    return kept, images
