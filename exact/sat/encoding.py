"""The base of the encodings: numbering of cells, pieces, colours and edges, clues, and the board of a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from exact.sat.clauses import Block, auxiliaries, clause, exactly_one_counters, exactly_one_pairs, units
from instances.board import Board
from instances.puzzle import DOWN, GREY, RIGHT, Puzzle

BoolArray = npt.NDArray[np.bool_]


class Encoding(ABC):
    """A CNF formula whose models are the perfect boards of a puzzle. Clauses are made when they are iterated over.

    A board has one model or, because of auxiliary variables and duplicate pieces, several; `exclude` forbids all models
    of a board at once.

    Attributes
    ----------
    name, source : str
        Name of the encoding, and where it is published.
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
    pairwise : bool
        Whether `exactly_one` forbids pairs instead of counting.
    """

    pairwise: ClassVar[bool] = False
    name: str
    source: str
    variables: int
    deciding: int

    def __init__(self, puzzle: Puzzle) -> None:
        self.puzzle = puzzle
        self.palette = np.unique(np.append(puzzle.pieces, GREY)).tolist()
        index = np.zeros(max(self.palette) + 1, dtype=np.int32)
        index[self.palette] = np.arange(len(self.palette))
        self.colours = len(self.palette)
        self.sides: Block = index[puzzle.oriented].reshape(puzzle.cells, 4, 4)

    @abstractmethod
    def families(self) -> Iterator[tuple[str, Iterable[Block]]]:
        """The clauses by family: (meaning of the family, its blocks)."""

    @abstractmethod
    def describe(self) -> list[str]:
        """The meaning of the variables, as lines of a comment."""

    @abstractmethod
    def placements(self, true: BoolArray) -> list[int]:
        """Oriented piece by cell; ``true[v]`` is the value of variable v."""

    @abstractmethod
    def colour_variables(self) -> Block:
        """The variable of a colour at a side of a cell; shape (cells, 4, colours)."""

    def exactly_one(self, groups: Block, first_auxiliary: int) -> Iterator[Block]:
        """Exactly one variable of each row is true: by Sinz's counters, or, with ``pairwise``, by all pairs."""
        return exactly_one_pairs(groups) if self.pairwise else exactly_one_counters(groups, first_auxiliary)

    def auxiliaries(self, groups: int, size: int) -> int:
        """How many auxiliary variables `exactly_one` takes for ``groups`` rows of ``size`` variables."""
        return 0 if self.pairwise else auxiliaries(groups, size)

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


class PieceAndRotation(Encoding):
    """Variables P (piece of a cell) and O (rotation of a cell), as in FULL-4 and HALF-3."""

    def __init__(self, puzzle: Puzzle) -> None:
        super().__init__(puzzle)
        cells = puzzle.cells
        self.piece: Block = 1 + np.arange(cells * cells, dtype=np.int32).reshape(cells, cells)
        self.rotation: Block = 1 + cells * cells + np.arange(4 * cells, dtype=np.int32).reshape(cells, 4)
        self.variables = self.deciding = cells * cells + 4 * cells

    def clues(self) -> Iterator[Block]:
        for clue in self.puzzle.fixed:
            yield units([int(self.piece[clue.cell, clue.piece]), int(self.rotation[clue.cell, clue.rotation])])

    def rim(self, cells: list[int] | None = None) -> Iterator[Block]:
        """Pieces that do not fit one of ``cells`` (default: all) are not on it; the others have an allowed rotation."""
        chosen = np.zeros(self.puzzle.cells, dtype=np.bool_)
        chosen[slice(None) if cells is None else cells] = True
        some, every = self.allowed.any(axis=2), self.allowed.all(axis=2)
        yield units(-self.piece[~some & chosen[:, None]])
        for cell, piece in np.argwhere(some & ~every & chosen[:, None]):
            yield clause([-int(self.piece[cell, piece]), *self.rotation[cell, self.allowed[cell, piece]]])

    def placements(self, true: BoolArray) -> list[int]:
        pieces, rotations = true[self.piece], true[self.rotation]
        return [
            int(pieces[cell].argmax()) * 4 + int(rotations[cell].argmax()) if pieces[cell].any() else -1
            for cell in range(self.puzzle.cells)
        ]

    def describe(self) -> list[str]:
        cells = self.puzzle.cells
        return [
            f"P(cell, piece) = 1 + cell*{cells} + piece: the piece is on the cell",
            f"O(cell, rotation) = {1 + cells * cells} + cell*4 + rotation: "
            "the piece on the cell has that many clockwise quarter turns",
        ]


class OrientedPiece(Encoding):
    """Variables Q (oriented piece of a cell), as in FULL-2 and HALF-2."""

    def __init__(self, puzzle: Puzzle) -> None:
        super().__init__(puzzle)
        cells = puzzle.cells
        self.value: Block = 1 + np.arange(4 * cells * cells, dtype=np.int32).reshape(cells, cells, 4)
        self.variables = self.deciding = 4 * cells * cells

    def clues(self) -> Iterator[Block]:
        for clue in self.puzzle.fixed:
            yield units([int(self.value[clue.cell, clue.piece, clue.rotation])])

    def by_cell(self) -> Block:
        """The variables of each cell, one row a cell; exactly one in a row is true."""
        return self.value.reshape(self.puzzle.cells, -1)

    def by_piece(self) -> Block:
        """The variables of each piece, one row a piece; exactly one in a row is true."""
        return np.ascontiguousarray(self.value.transpose(1, 0, 2)).reshape(self.puzzle.cells, -1)

    def placements(self, true: BoolArray) -> list[int]:
        values = true[self.by_cell()]
        return [int(row.argmax()) if row.any() else -1 for row in values]

    def describe(self) -> list[str]:
        return [
            f"Q(cell, piece, rotation) = 1 + cell*{4 * self.puzzle.cells} + piece*4 + rotation: "
            "the piece is on the cell with that many clockwise quarter turns"
        ]
