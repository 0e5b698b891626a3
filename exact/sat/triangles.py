"""The encoding of Cuvillier & Szymkowiak 2010 (seed 004, 2.2.2): placements, orientations, and triangles of colour.

Each cell is four triangles; a triangle has a colour, and neighbours' triangles have the same. Everything that is
"exactly one" is written pair by pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from exact.sat.clauses import Block, at_most_one_pairs, units
from exact.sat.encoding import BoolArray, Encoding
from instances.puzzle import Puzzle


class Triangles(Encoding):
    """p(piece, cell), o(piece, rotation), t(triangle, colour); numbered in this order, as in the seed.

    The seed prints formulas that are slightly larger than its count of clauses. This reading has exactly its count for
    256 pieces and 17 colours: every piece has a cell and every cell a piece; of the two triangles of a joint, which are
    equal, one says that it has exactly one colour other than grey; a triangle on the rim is grey and nothing else.
    Grey inside needs no clause: the rim uses up all grey sides.
    """

    name = "triangles"
    source = "seed 004, 2.2.2"

    def __init__(self, puzzle: Puzzle) -> None:
        super().__init__(puzzle)
        cells = puzzle.cells
        self.piece: Block = 1 + np.arange(cells * cells, dtype=np.int32).reshape(cells, cells)
        """Variable by piece and cell."""
        self.rotation: Block = 1 + cells * cells + np.arange(4 * cells, dtype=np.int32).reshape(cells, 4)
        """Variable by piece and rotation."""
        self.deciding = cells * (cells + 4)
        triangles = 1 + self.deciding + np.arange(4 * cells * self.colours, dtype=np.int32)
        self.triangle: Block = triangles.reshape(cells, 4, -1)
        self.variables = self.deciding + 4 * cells * self.colours

    def families(self) -> Iterator[tuple[str, Iterable[Block]]]:
        by_cell = np.ascontiguousarray(self.piece.T)
        joints = np.array([self.triangle[cell, side, 1:] for cell, side, _ in self.joints], dtype=np.int32)
        rim = self.triangle[self._rim]
        yield "at least one piece a cell", [by_cell]
        yield "at least one cell a piece", [self.piece]
        yield "at most one piece a cell", at_most_one_pairs(by_cell)
        yield "at most one cell a piece", at_most_one_pairs(self.piece)
        yield "at least one rotation a piece", [self.rotation]
        yield "at most one rotation a piece", at_most_one_pairs(self.rotation)
        if len(joints):
            yield "at least one colour a joint", [joints]
            yield "at most one colour a joint", at_most_one_pairs(joints)
        yield "grey on the rim", [units(rim[:, 0]), units(-rim[:, 1:])]
        yield "touching triangles are equal", self._equal()
        yield "pieces give colours", (self._given(piece) for piece in range(self.puzzle.cells))
        yield "clues", self._clues()

    @property
    def _rim(self) -> BoolArray:
        return np.array([self.puzzle.rim_sides(cell) for cell in range(self.puzzle.cells)])

    def _equal(self) -> Iterator[Block]:
        for cell, side, neighbour in self.joints:
            here, there = self.triangle[cell, side], self.triangle[neighbour, (side + 2) % 4]
            yield np.stack([-here, there], axis=1)
            yield np.stack([here, -there], axis=1)

    def _given(self, piece: int) -> Block:
        """'not p or not o or t' for all cells, rotations and sides."""
        cell, rotation, side = np.indices((self.puzzle.cells, 4, 4)).reshape(3, -1)
        colour = self.triangle[cell, side, self.sides[piece][rotation, side]]
        return np.stack([-self.piece[piece, cell], -self.rotation[piece, rotation], colour], axis=1)

    def _clues(self) -> Iterator[Block]:
        for clue in self.puzzle.clues:
            yield units([int(self.piece[clue.piece, clue.cell]), int(self.rotation[clue.piece, clue.rotation])])

    def colour_variables(self) -> Block:
        return self.triangle

    def placements(self, true: BoolArray) -> list[int]:
        pieces, rotations = true[self.piece], true[self.rotation]
        return [
            int(pieces[:, cell].argmax()) * 4 + int(rotations[pieces[:, cell].argmax()].argmax())
            if pieces[:, cell].any()
            else -1
            for cell in range(self.puzzle.cells)
        ]

    def describe(self) -> list[str]:
        cells = self.puzzle.cells
        return [
            f"p(piece, cell) = 1 + piece*{cells} + cell: the piece lies on the cell",
            f"o(piece, rotation) = {1 + cells * cells} + piece*4 + rotation: it has that many clockwise quarter turns",
            f"t(cell, side, colour) = {1 + cells * (cells + 4)} + (cell*4 + side)*{self.colours} + colour: "
            "side 0 up, 1 right, 2 down, 3 left; grey = 0, others by number",
        ]
