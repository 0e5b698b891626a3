"""The base of the encodings: numbers of variables and edges, exactly-one families, the board of a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

from exact.sat.clauses import Block, exactly_one_counters, exactly_one_pairs
from instances.board import Board
from instances.puzzle import DOWN, GREY, RIGHT, Puzzle

BoolArray = npt.NDArray[np.bool_]
Family = tuple[str, Iterable[Block]]
"""The meaning of some clauses, and their blocks."""


class Encoding(ABC):
    """A CNF formula whose models are the perfect boards of a puzzle. Clauses are made when they are iterated over.

    A board has one model or, because of auxiliary variables and duplicate pieces, several; `exclude` forbids all models
    of a board at once.

    Parameters
    ----------
    puzzle : Puzzle
    name : str
        Name of the encoding.
    pairwise : bool
        At-most-one constraints are written pair by pair; otherwise by Sinz's counters.

    Attributes
    ----------
    source : str
        Where it is published.
    variables : int
        Number of variables, which are numbered from 1.
    deciding : int
        Number of variables of pieces and orientations. They come first and determine all others.
    palette : list of int
        The colours that occur, grey first.
    colours : int
        Number of these colours; the formula numbers them from 0 (grey) without gaps.
    sides : ndarray of int32, shape (pieces, 4, 4)
        Colour number by piece, rotation and side.
    """

    source: str
    deciding: int

    def __init__(self, puzzle: Puzzle, name: str, pairwise: bool = False) -> None:
        self.puzzle, self.name, self._pairwise = puzzle, name, pairwise
        self.palette = np.unique(np.append(puzzle.pieces, GREY)).tolist()
        index = np.zeros(max(self.palette) + 1, dtype=np.int32)
        index[self.palette] = np.arange(len(self.palette))
        self.colours = len(self.palette)
        self.sides: Block = index[puzzle.oriented].reshape(puzzle.cells, 4, 4)
        self.variables = 0
        self._exactly_one: list[tuple[str, Block, int]] = []

    def new_variables(self, *shape: int) -> Block:
        """Number more variables, consecutively in the order of an array."""
        first = self.variables + 1
        self.variables += prod(shape)
        return np.arange(first, self.variables + 1, dtype=np.int32).reshape(shape)

    def exactly_one(self, name: str, groups: Block) -> None:
        """Add the family that exactly one variable of each row is true, with its auxiliary variables."""
        self._exactly_one.append((name, groups, self.variables + 1))
        if not self._pairwise:
            self.variables += groups.shape[0] * max(0, groups.shape[1] - 1)

    def families(self) -> Iterator[Family]:
        """The clauses by family."""
        for name, groups, first in self._exactly_one:
            yield name, exactly_one_pairs(groups) if self._pairwise else exactly_one_counters(groups, first)
        yield from self.constraints()

    @abstractmethod
    def constraints(self) -> Iterator[Family]:
        """The other families."""

    @abstractmethod
    def describe(self) -> list[str]:
        """The meaning of the variables, as lines of a comment."""

    @abstractmethod
    def placements(self, true: BoolArray) -> list[int]:
        """Oriented piece by cell; ``true[v]`` is the value of variable v."""

    @abstractmethod
    def colour_variables(self) -> Block:
        """The variable of a colour at a side of a cell; shape (cells, 4, colours)."""

    def channel(self) -> Iterator[Block]:
        """Clauses that define `colour_variables` where `families` does not; they may use further variables."""
        return iter(())

    def clauses(self) -> Iterator[Block]:
        """All clauses of the formula."""
        for _, blocks in self.families():
            yield from (block for block in blocks if len(block))

    def sizes(self) -> dict[str, int]:
        """Number of clauses by family."""
        counts: dict[str, int] = {}
        for name, blocks in self.families():
            counts[name] = counts.get(name, 0) + sum(len(block) for block in blocks)
        return counts

    def board(self, model: Iterable[int]) -> Board:
        """The board of a model given as literals; missing variables are false. The board is not verified."""
        true = np.zeros(self.variables + 1, dtype=np.bool_)
        literals = np.fromiter(model, dtype=np.int64)
        true[literals[(literals > 0) & (literals <= self.variables)]] = True
        return Board(np.array(self.placements(true), dtype=np.int32), self.puzzle.width, self.puzzle.height)

    def exclude(self, board: Board) -> list[int]:
        """A clause that forbids all boards with the colours of ``board`` on the edges that are not grey.

        So boards with swapped duplicate pieces or turned symmetric pieces are not found again. The formula must
        contain `channel`.
        """
        variable = self.colour_variables()
        quads = self.sides.reshape(-1, 4)[board.placements]
        seen = [(cell, side) for cell, side, _ in self.inner_edges] + self.free_sides
        return [-int(variable[cell, side, quads[cell, side]]) for cell, side in seen]

    @cached_property
    def allowed(self) -> BoolArray:
        """True if a piece fits a cell by `Puzzle.fits`, by cell, piece and rotation."""
        return np.array([self.puzzle.fits(cell).reshape(-1, 4) for cell in range(self.puzzle.cells)])

    @cached_property
    def lonely_cells(self) -> list[int]:
        """Cells without an inner edge: holes, and a cell all alone."""
        return [cell for cell in range(self.puzzle.cells) if not self.puzzle.neighbours(cell)]

    @cached_property
    def free_sides(self) -> list[tuple[int, int]]:
        """(cell, side) of every side on the rim that is not grey, of a board without frame."""
        return [
            (cell, side)
            for cell in range(self.puzzle.cells)
            for side, (on_rim, grey) in enumerate(
                zip(self.puzzle.rim_sides(cell), self.puzzle.grey_sides(cell), strict=True)
            )
            if on_rim and not grey
        ]

    @cached_property
    def edges(self) -> Block:
        """Number of the edge at each side of each cell, from 0, rim edges included; shape (cells, 4)."""
        width, height = self.puzzle.width, self.puzzle.height
        rows, columns = np.divmod(np.arange(self.puzzle.cells), width)
        upright = height * (width + 1)
        left = rows * (width + 1) + columns
        up = upright + rows * width + columns
        return np.stack([up, left + 1, up + width, left], axis=1).astype(np.int32)

    @property
    def edge_count(self) -> int:
        """Number of edges."""
        return self.puzzle.height * (self.puzzle.width + 1) + self.puzzle.width * (self.puzzle.height + 1)

    @cached_property
    def inner_edges(self) -> list[tuple[int, int, int]]:
        """Inner edges as (cell, its side, neighbour), side RIGHT or DOWN."""
        return [
            (cell, side, other)
            for cell in range(self.puzzle.cells)
            for side, other in self.puzzle.neighbours(cell)
            if side in (RIGHT, DOWN)
        ]
