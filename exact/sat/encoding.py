"""Formulas: families of clauses as streams of blocks, and what all encodings of a puzzle share.

A block is an int32 array of shape (clauses, literals), literals as in DIMACS. A stream holds one block in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from math import prod

import numpy as np
import numpy.typing as npt

from lns.instances.board import Board
from lns.instances.puzzle import DOWN, GREY, RIGHT, Puzzle

Block = npt.NDArray[np.int32]
BoolArray = npt.NDArray[np.bool_]
Family = tuple[str, Iterable[Block]]
"""The meaning of some clauses, and their blocks."""
_ROWS = 200_000  # clauses in a block, about


def clause(literals: Sequence[int] | Block) -> Block:
    """One clause as a block."""
    return np.asarray(literals, dtype=np.int32).reshape(1, -1)


def units(literals: Iterable[int] | Block) -> Block:
    """Unit clauses."""
    array = literals if isinstance(literals, np.ndarray) else np.fromiter(literals, dtype=np.int32)
    return np.ascontiguousarray(array, dtype=np.int32).reshape(-1, 1)


def exactly_one_counters(groups: Block, first_auxiliary: int) -> Iterator[Block]:
    """Exactly one variable of each row is true, by Sinz's sequential counter (CP 2005).

    For n variables it takes n-1 auxiliary variables s_1..s_{n-1} ("one of the first i is true"), 3n-4 clauses for at
    most one, and one clause for at least one.

    Parameters
    ----------
    groups : ndarray of int32, shape (groups, n)
        Variables.
    first_auxiliary : int
        Number of the first auxiliary variable; they are numbered row by row.

    Yields
    ------
    ndarray of int32
        Blocks of clauses.
    """
    yield from (groups[at : at + _ROWS // 8 + 1] for at in range(0, len(groups), _ROWS // 8 + 1))
    count, n = groups.shape
    if n == 1:
        return
    for at in range(0, count, max(1, _ROWS // n)):
        x = groups[at : at + max(1, _ROWS // n)]
        s = first_auxiliary + np.arange(at * (n - 1), (at + len(x)) * (n - 1), dtype=np.int32).reshape(len(x), n - 1)
        yield _pairs(-x[:, :-1], s)  # x_i -> s_i
        yield _pairs(-s[:, :-1], s[:, 1:])  # s_{i-1} -> s_i
        yield _pairs(-x[:, 1:], -s)  # x_i -> not s_{i-1}


def at_most_one_pairs(groups: Block) -> Iterator[Block]:
    """At most one variable of each row of ``groups`` is true, by n(n-1)/2 clauses of two literals."""
    first, second = np.triu_indices(groups.shape[1], 1)
    step = max(1, _ROWS // max(1, len(first)))
    for at in range(0, len(groups), step):
        rows = groups[at : at + step]
        yield _pairs(-rows[:, first], -rows[:, second])


def _pairs(left: Block, right: Block) -> Block:
    return np.stack([left.reshape(-1), right.reshape(-1)], axis=1)


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
            yield (
                name,
                chain([groups], at_most_one_pairs(groups)) if self._pairwise else exactly_one_counters(groups, first),
            )
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

    def channel(self) -> Iterable[Block]:
        """Clauses that define `colour_variables` where `families` does not; they may use further variables."""
        return ()

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
        cells = range(self.puzzle.cells)
        rim, grey = ([sides(cell) for cell in cells] for sides in (self.puzzle.rim_sides, self.puzzle.grey_sides))
        return [(cell, side) for cell in cells for side in range(4) if rim[cell][side] and not grey[cell][side]]

    @cached_property
    def edges(self) -> Block:
        """Number of the edge at each side of each cell, from 0, rim edges included; shape (cells, 4)."""
        width, height = self.puzzle.width, self.puzzle.height
        rows, columns = np.divmod(np.arange(self.puzzle.cells), width)
        upright = height * (width + 1)
        left = rows * (width + 1) + columns
        up = upright + rows * width + columns
        return np.stack([up, left + 1, up + width, left], axis=1).astype(np.int32)

    @cached_property
    def inner_edges(self) -> list[tuple[int, int, int]]:
        """Inner edges as (cell, its side, neighbour), side RIGHT or DOWN."""
        return [
            (cell, side, other)
            for cell in range(self.puzzle.cells)
            for side, other in self.puzzle.neighbours(cell)
            if side in (RIGHT, DOWN)
        ]
