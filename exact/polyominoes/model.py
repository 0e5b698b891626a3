"""Filling a grid as an exact cover problem, the search for fillings, and its steps (Perrin & Beaujard, section III).

An option is a placement: a piece in an orientation at a position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns.exact.cover import kernel
from lns.exact.cover.kernel import Problem
from lns.exact.cover.search import PausedCover
from lns.exact.execution import timed
from lns.exact.polyominoes.grid import (
    WEIGHTS,
    Cell,
    Grid,
    Shape,
    check_weight,
    filling_errors,
    images,
    neighbours,
    normal,
    orientations,
)
from lns.instances.errors import InputError

IntArray = npt.NDArray[np.int32]
MAX_NODES = 10_000_000
"""Most cells of all options of a model together; such a model takes about a gigabyte of memory."""


@dataclass(frozen=True)
class Model:
    """The exact cover model of a grid.

    Items 0 to ``cells`` - 1 are the free cells, row by row. The other items are the kinds of pieces: pieces of equal
    shape are one kind. A solution stands for as many fillings as the product of ``images`` of its options.
    """

    grid: Grid
    names: tuple[tuple[str, ...], ...]  # names of the pieces of each kind
    begin: IntArray  # int32 (options + 1,): index of the first node of each option, and the number of nodes
    item: IntArray  # int32 (nodes,): the item of each node; the items of an option are its cells, then its kind
    shapes: tuple[Shape, ...]  # shape of the pieces of each kind
    beside: IntArray  # int32 (cells, 4): indices of the free cells next to each free cell, -1 = none
    images: IntArray  # int32 (options,): number of symmetric placements that the option stands for

    @cached_property
    def problem(self) -> Problem:
        """The model in the form that the kernel of `lns.exact.cover` takes."""
        sizes = np.array([len(shape) for shape in self.shapes], dtype=np.int32)
        fields = {"images": self.images, "beside": self.beside, "pieces": sizes, "kinds": self.cells}
        return kernel.make_problem(self.begin, self.item, self.cells + len(self.shapes), **fields)

    @property
    def copies(self) -> IntArray:
        """Number of pieces of each kind, int32 (kinds,)."""
        return np.array([len(names) for names in self.names], dtype=np.int32)

    @property
    def cells(self) -> int:
        """Number of free cells."""
        return len(self.grid.free)

    @property
    def options(self) -> int:
        """Number of options."""
        return len(self.begin) - 1

    def filling(self, options: IntArray) -> tuple[str, ...]:
        """Return the picture with the pieces of ``options``. Raises RuntimeError if it is not a valid filling."""
        unused = [list(names) for names in self.names]
        placed: dict[str, list[Cell]] = {}
        for option in options.tolist():
            *cells, kind = self.item[self.begin[option] : self.begin[option + 1]].tolist()
            placed[unused[kind - self.cells].pop(0)] = [self.grid.free[cell] for cell in cells]
        filling = self.grid.filled(placed)
        if errors := filling_errors(self.grid, filling):
            raise RuntimeError(f"the search returned an invalid filling: {'; '.join(errors)}")
        return filling


def build_model(grid: Grid, *, reduced: bool = False) -> Model:
    """Make the exact cover model of a grid.

    ``reduced`` breaks the symmetry of the free cells: of the placements of one piece that rotations and reflections of
    the free cells map onto each other, only one is kept. Every filling is an image of a filling that remains. The piece
    is the one with the most placements among those without an equal; if all have equals, nothing is left out.

    Raises InputError if the options would have more than `MAX_NODES` cells.
    """
    by_shape: dict[Shape, list[str]] = {}
    for name, shape in grid.loose.items():
        by_shape.setdefault(orientations(shape)[0], []).append(name)
    numbers = {cell: number for number, cell in enumerate(grid.free)}
    place = np.full((len(grid.rows), max(map(len, grid.rows), default=0)), -1, dtype=np.int32)
    for cell, number in numbers.items():
        place[cell] = number
    places: list[IntArray] = []
    for shape in timed(by_shape):
        places.append(_places(shape, place))
        if sum(positions.size for positions in places) > MAX_NODES:
            raise InputError(f"the pieces have too many positions on this grid; expected at most {MAX_NODES:,} nodes")
    stands_for = [np.ones(len(positions), dtype=np.int32) for positions in places]
    single = [kind for kind, names in enumerate(by_shape.values()) if len(names) == 1]
    if reduced and single:
        kind = max(single, key=lambda candidate: len(places[candidate]))
        places[kind], stands_for[kind] = _representatives(places[kind], symmetries(grid.free))
    numbered = [np.insert(cells, cells.shape[1], kind, axis=1) for kind, cells in enumerate(places, len(grid.free))]
    lengths = np.repeat([nodes.shape[1] for nodes in numbered], [len(nodes) for nodes in numbered])
    none = np.zeros(0, dtype=np.int32)  # so that there is something to concatenate for a grid without free cells
    beside = [[numbers.get(other, -1) for other in neighbours(cell)] for cell in grid.free]
    return Model(
        grid,
        tuple(map(tuple, by_shape.values())),
        np.append(0, np.cumsum(lengths)).astype(np.int32),
        np.concatenate([none, *(nodes.ravel() for nodes in numbered)]),
        tuple(by_shape),
        np.array(beside, dtype=np.int32).reshape(-1, 4),
        np.concatenate([none, *stands_for]),
    )


def symmetries(cells: Sequence[Cell]) -> list[list[int]]:
    """Return the rotations and reflections that map sorted ``cells`` onto themselves, as indices of the images."""
    place = {cell: number for number, cell in enumerate(normal(cells))}
    maps = ([place.get(cell, -1) for cell in image] for image in images(list(place)))
    return [numbers for numbers in maps if min(numbers) >= 0]


def _places(shape: Shape, place: IntArray) -> IntArray:
    """Return the indices of the free cells that each placement of a piece covers: int32 (placements, cells)."""
    positions = [np.zeros((0, len(shape)), dtype=np.int32)]
    for turned in orientations(shape):
        rows, columns = np.array(turned).T
        room = np.maximum(0, np.array(place.shape) - [rows.max(), columns.max()])
        top, left = np.indices(room).reshape(2, -1, 1)
        cells = place[top + rows, left + columns]
        positions.append(cells[(cells >= 0).all(axis=1)])
    return np.concatenate(positions)


def _representatives(places: IntArray, maps: list[list[int]]) -> tuple[IntArray, IntArray]:
    """Return the smallest of each set of placements that ``maps`` map onto each other, and the sizes of the sets."""
    mapped = np.sort(np.array(maps)[:, places], axis=2)  # axes: map, placement, cell
    orbits = [{tuple(image) for image in mapped[:, number].tolist()} for number in range(len(places))]
    kept = [min(orbit) == tuple(sorted(cells)) for orbit, cells in zip(orbits, places.tolist(), strict=True)]
    return places[kept], np.array([len(orbit) for orbit in orbits], dtype=np.int32)[kept]


# -- the search for fillings ----------------------------------------------------------------------------------------


class FillingSearch(PausedCover):
    """A paused search for fillings with one weight; for the parameters see `lns.exact.polyominoes.search.fill`."""

    first_step = 5  # nodes, each of which takes 10 ms on large grids

    def __init__(self, model: Model, weight: str, *, zones: bool = True, dead_ends: bool = True) -> None:
        check_weight(weight)
        self.model, self.weight = model, weight
        kind = model.item[model.begin[1:] - 1] - model.cells
        weigh = WEIGHTS.get(weight, lambda shape: 0.0)
        weights = np.array([weigh(shape) for shape in model.shapes], dtype=np.float64)
        rank = np.empty(model.options, dtype=np.int32)
        rank[np.argsort(-weights[kind], kind="stable")] = np.arange(model.options, dtype=np.int32)
        need = np.append(np.ones(model.cells, dtype=np.int32), model.copies)
        problem = model.problem._replace(zones=zones, dead_ends=dead_ends)
        super().__init__(problem, kernel.new_state(problem, int(model.copies.sum()), need, rank=rank))

    @property
    def pruned(self) -> int:
        """Number of placements that only the test of zones rejected."""
        return int(self.counters[kernel.PRUNED])

    @property
    def branches(self) -> int:
        """Number of placements after which the search went one level deeper, plus one for the start of the search."""
        return int(self.counters[kernel.BRANCHES])

    @property
    def deepest(self) -> int:
        """Largest number of pieces that the search had placed at one time."""
        return int(self.counters[kernel.DEEPEST])

    @property
    def ended(self) -> FillingSearch | None:
        """This search once it has a filling or is exhausted; None before."""
        return self if self.solutions or self.exhausted else None

    def first_filling(self) -> tuple[str, ...] | None:
        """Return the first filling, or None before it is found."""
        return self.model.filling(self.state.first) if self.solutions else None


class StepOutcome(IntEnum):
    """What became of a placement that the search tested."""

    STAYS = 0  # the piece stays, and the search goes one level deeper
    NO_PLACE = 1  # rejected: a free cell or a piece has no placement left
    ZONE = 2  # rejected: the placement leaves a zone of free cells that no pieces can fill
    FILLING = 3  # the piece completes a filling of the grid


class Step(NamedTuple):
    """A placement that the search tested. Pieces at its level and at deeper levels had been taken off before."""

    level: int  # number of pieces that the search had placed before this one
    piece: str
    cells: tuple[Cell, ...]
    outcome: StepOutcome


class StepRecorder:
    """Records the placements that a search tests, from the beginning of the search on."""

    def __init__(self, search: FillingSearch) -> None:
        self.search = search
        self.steps: list[Step] = []  # the tested placements so far

    def record(self, most: int, *, count_all: bool = False) -> None:
        """Search until ``most`` steps are recorded, or to the end, or, unless ``count_all``, to the first filling."""
        search = self.search
        while len(self.steps) < most and not search.exhausted and (count_all or not search.solutions):
            nodes, pruned, solutions = search.nodes, search.pruned, search.solutions
            search.advance(1, True)  # True: a filling ends the call, before the next placement is tested
            if search.nodes > nodes:
                self.steps.append(self._last(search.pruned > pruned))
            elif self.steps and search.solutions > solutions:  # the last step has filled the grid
                self.steps[-1] = self.steps[-1]._replace(outcome=StepOutcome.FILLING)

    def placed(self) -> list[tuple[str, tuple[Cell, ...]]]:
        """Return name and cells of each piece that the search has on the grid now."""
        levels = range(int(self.search.counters[kernel.LEVEL]))
        return [self._piece(level) for level in levels if self.search.state.chosen[level] != kernel.NOTHING]

    def _last(self, zone: bool) -> Step:
        """Return the placement tested last; ``zone`` says whether the test of zones rejected it."""
        level, _, stays = kernel.last_choice(self.search.state)
        rejected = StepOutcome.ZONE if zone else StepOutcome.NO_PLACE
        return Step(level, *self._piece(level), StepOutcome.STAYS if stays else rejected)

    def _piece(self, level: int) -> tuple[str, tuple[Cell, ...]]:
        """Return name and cells of the piece placed at ``level``; equal pieces get their names in order of level."""
        model, chosen = self.search.model, self.search.state.chosen
        kinds = [int(model.item[model.begin[chosen[i] + 1] - 1]) - model.cells for i in range(level + 1)]
        option = int(chosen[level])
        *cells, _ = model.item[model.begin[option] : model.begin[option + 1]].tolist()
        name = model.names[kinds[level]][kinds[:level].count(kinds[level])]
        return name, tuple(model.grid.free[cell] for cell in cells)
