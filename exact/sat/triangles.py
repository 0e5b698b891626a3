"""The encoding of Cuvillier & Szymkowiak 2010 (2.2.2): placements, orientations, and triangles of colour.

Each cell is four triangles; a triangle has a colour, and neighbours' triangles have the same. At-most-one
constraints are written pair by pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from exact.sat.clauses import Block, at_most_one_pairs, units
from exact.sat.encoding import BoolArray, Encoding, Family
from instances.puzzle import Puzzle


class Triangles(Encoding):
    """Variables p(piece, cell), o(piece, rotation), t(triangle, colour), numbered in this order as in the paper.

    The formulas printed in the paper are slightly larger than its count of clauses. These clauses have exactly its
    count for 256 pieces and 17 colours: every piece has one cell and every cell one piece; one of the two equal
    triangles of an inner edge has exactly one colour other than grey; a triangle on the rim is grey only. Grey inside
    the board needs no clause, because the rim uses all grey sides. A triangle on the rim of a board without frame has
    no clause of its own. Holes and their blanks have unit clauses only.
    """

    source = "Cuvillier & Szymkowiak 2010, 2.2.2"

    def __init__(self, puzzle: Puzzle) -> None:
        super().__init__(puzzle, "triangles")
        cells = puzzle.cells
        self.piece = self.new_variables(cells, cells)
        """Variable by piece and cell."""
        self.rotation = self.new_variables(cells, 4)
        """Variable by piece and rotation."""
        self.deciding = self.variables
        self.triangle = self.new_variables(cells, 4, self.colours)

    def constraints(self) -> Iterator[Family]:
        cells = [cell for cell in range(self.puzzle.cells) if cell not in self.puzzle.holes]
        pieces = self.puzzle.piece_count
        by_piece = np.ascontiguousarray(self.piece[:pieces, cells])
        by_cell = np.ascontiguousarray(by_piece.T)
        rotation = self.rotation[:pieces]
        inner = np.array([self.triangle[cell, side, 1:] for cell, side, _ in self.inner_edges], dtype=np.int32)
        rim = self.triangle[self._rim]
        yield "at least one piece a cell", [by_cell]
        yield "at least one cell a piece", [by_piece]
        yield "at most one piece a cell", at_most_one_pairs(by_cell)
        yield "at most one cell a piece", at_most_one_pairs(by_piece)
        yield "at least one rotation a piece", [rotation]
        yield "at most one rotation a piece", at_most_one_pairs(rotation)
        if len(inner):
            yield "at least one colour an inner edge", [inner]
            yield "at most one colour an inner edge", at_most_one_pairs(inner)
        yield "grey on the rim", [units(rim[:, 0]), units(-rim[:, 1:])]
        if not self.puzzle.turns:
            yield "no piece is turned", [units(-self.rotation[:, 1:])]
        yield "touching triangles are equal", self._equal()
        yield "pieces give colours", (self._colours_of(piece, cells) for piece in range(pieces))
        yield "clues", self._clues()
        if self.puzzle.holes:
            yield "blanks on holes only", [units(-self._elsewhere())]

    @property
    def _rim(self) -> BoolArray:
        return np.array([self.puzzle.grey_sides(cell) for cell in range(self.puzzle.cells)])

    def _equal(self) -> Iterator[Block]:
        for cell, side, neighbour in self.inner_edges:
            here, there = self.triangle[cell, side], self.triangle[neighbour, (side + 2) % 4]
            yield np.stack([-here, there], axis=1)
            yield np.stack([here, -there], axis=1)

    def _elsewhere(self) -> Block:
        """The variables of a blank on another cell than its hole, and of a piece on a hole."""
        wrong = np.zeros(self.piece.shape, dtype=np.bool_)
        wrong[self.puzzle.piece_count :] = True
        wrong[:, list(self.puzzle.holes)] = True
        for clue in self.puzzle.fixed:
            wrong[clue.piece, clue.cell] = False
        return self.piece[wrong]

    def _colours_of(self, piece: int, cells: Sequence[int]) -> Block:
        """'not p or not o or t' for a piece and ``cells``, all rotations and sides."""
        index, rotation, side = np.indices((len(cells), 4, 4)).reshape(3, -1)
        cell = np.array(cells)[index]
        colour = self.triangle[cell, side, self.sides[piece][rotation, side]]
        return np.stack([-self.piece[piece, cell], -self.rotation[piece, rotation], colour], axis=1)

    def _clues(self) -> Iterator[Block]:
        for clue in self.puzzle.fixed:
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

    def meaning(self, variable: int) -> tuple[str, int, int] | tuple[str, int, int, int]:
        """What a variable says: "piece" piece, cell; "rotation" piece, turns; or "triangle" cell, side, colour."""
        cells, number = self.puzzle.cells, variable - 1
        if number < cells * cells:
            return "piece", *divmod(number, cells)
        if number < self.deciding:
            return "rotation", *divmod(number - cells * cells, 4)
        triangle, colour = divmod(number - self.deciding, self.colours)
        return "triangle", *divmod(triangle, 4), self.palette[colour]

    def in_words(self, literal: int) -> str:
        """A literal, such as "piece 3 on row 1, column 2"; negative ones with "not"."""
        kind, first, second, *colour = self.meaning(abs(literal))
        no = "not " if literal < 0 else ""
        if kind == "piece":
            return f"piece {first + 1} {no}on {self.puzzle.cell_label(second)}"
        if kind == "rotation":
            return f"piece {first + 1} {no}turned {90 * second} degrees"
        side = ("upper", "right", "lower", "left")[second]
        return f"{side} triangle of {self.puzzle.cell_label(first)} {no}of colour {colour[0] or 'grey'}"

    def describe(self) -> list[str]:
        cells = self.puzzle.cells
        return [
            f"p(piece, cell) = 1 + piece*{cells} + cell: the piece is on the cell",
            f"o(piece, rotation) = {1 + cells * cells} + piece*4 + rotation: "
            "the piece has that many clockwise quarter turns",
            f"t(cell, side, colour) = {1 + cells * (cells + 4)} + (cell*4 + side)*{self.colours} + colour: "
            "side 0 up, 1 right, 2 down, 3 left; grey = 0, others by number",
        ]
