"""A tray as exact cover: an option for every place and orientation of every piece (seed 001, III)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from exact.polyominoes.shapes import Cell, Shape, neighbours, normal, orientations
from exact.polyominoes.tray import Tray
from lns_support.errors import InputError

IntArray = npt.NDArray[np.int32]
MAX_NODES = 10_000_000
"""Nodes of the matrix that a model may have: about a gigabyte."""


class Lists(NamedTuple):
    """``option`` by node; ``member``: nodes item by item, ``size`` from ``start`` on; ``place``: its inverse."""

    option: IntArray
    start: IntArray
    size: IntArray
    member: IntArray
    place: IntArray


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

    @cached_property
    def lists(self) -> Lists:
        """The options of each item, as every search begins with them."""
        size = np.bincount(self.item, minlength=self.cells + len(self.copies)).astype(np.int32)
        member = np.argsort(self.item, kind="stable").astype(np.int32)
        place = np.empty(len(self.item), dtype=np.int32)
        place[member] = np.arange(len(self.item), dtype=np.int32)
        option = np.repeat(np.arange(self.options, dtype=np.int32), np.diff(self.begin))
        return Lists(option, (np.cumsum(size) - size).astype(np.int32), size, member, place)

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
    alike: dict[Shape, list[str]] = {}
    for name, shape in tray.loose.items():
        alike.setdefault(orientations(shape)[0], []).append(name)
    place = np.full((len(tray.rows), max(map(len, tray.rows), default=0)), -1, dtype=np.int32)
    for number, cell in enumerate(tray.free):
        place[cell] = number
    places: list[IntArray] = []
    for shape in alike:
        places.append(_places(shape, place))
        if sum(one.size for one in places) > MAX_NODES:
            raise InputError(f"the pieces have too many places on this tray; expected at most {MAX_NODES:,} nodes")
    images = [np.ones(len(one), dtype=np.int32) for one in places]
    single = [kind for kind, names in enumerate(alike.values()) if len(names) == 1]
    if reduced and single:
        kind = max(single, key=lambda one: len(places[one]))
        places[kind], images[kind] = _representatives(places[kind], symmetries(tray.free))
    numbered = [np.insert(one, one.shape[1], kind, axis=1) for kind, one in enumerate(places, len(tray.free))]
    lengths = np.repeat([one.shape[1] for one in numbered], [len(one) for one in numbered])
    none = np.zeros(0, dtype=np.int32)  # a tray that is full already
    beside = [[_number(place, one) for one in neighbours(cell)] for cell in tray.free]
    return Model(
        tray,
        tuple(map(tuple, alike.values())),
        np.append(0, np.cumsum(lengths)).astype(np.int32),
        np.concatenate([none, *(one.ravel() for one in numbered)]),
        np.array([len(names) for names in alike.values()], dtype=np.int32),
        np.array([len(shape) for shape in alike], dtype=np.int32),
        tuple(alike),
        np.array(beside, dtype=np.int32).reshape(-1, 4),
        np.concatenate([none, *images]),
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


def _number(place: IntArray, cell: Cell) -> int:
    """Of a free cell; -1 for others, on the tray or not."""
    height, width = place.shape
    return int(place[cell]) if 0 <= cell[0] < height and 0 <= cell[1] < width else -1


def _places(shape: Shape, place: IntArray) -> IntArray:
    """The free cells that a piece may cover, (places, cells of the piece), orientation by orientation."""
    found = [np.zeros((0, len(shape)), dtype=np.int32)]
    for turned in orientations(shape):
        rows, columns = np.array(turned).T
        tops, lefts = (
            max(0, length - int(one.max())) for length, one in zip(place.shape, (rows, columns), strict=True)
        )
        top, left = np.indices((tops, lefts)).reshape(2, -1, 1)
        cells = place[top + rows, left + columns]
        found.append(cells[(cells >= 0).all(axis=1)])
    return np.concatenate(found)


def _representatives(places: IntArray, maps: list[list[int]]) -> tuple[IntArray, IntArray]:
    """Of the places that are images of one another the first, and how many each stands for."""
    images = np.sort(np.array(maps)[:, places], axis=2)  # map, place, cell
    kept, numbers = [], []
    for number, cells in enumerate(np.sort(places, axis=1).tolist()):
        orbit = {tuple(one) for one in images[:, number].tolist()}
        if min(orbit) == tuple(cells):
            kept.append(number)
            numbers.append(len(orbit))
    return places[kept], np.array(numbers, dtype=np.int32)
