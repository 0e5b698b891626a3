"""HALF-3 and HALF-2 (Bailleux 2025, 2.1.3, 2.1.4 and 2.3): each inner edge split in two halves by its colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from exact.sat.clauses import Block, clause, units
from exact.sat.encoding import OrientedPiece, PieceAndRotation
from instances.puzzle import Puzzle


class _Colours:
    """Variables C(edge, colour) of all edges, rim included; the two cells of an inner edge share them."""

    puzzle: Puzzle
    colours: int
    edges: Block
    edge_count: int
    colour: Block

    def number_colours(self, after: int) -> int:
        """Number the variables C from ``after + 1``; returns the last number."""
        self.colour = after + 1 + np.arange(self.edge_count * self.colours, dtype=np.int32).reshape(-1, self.colours)
        return after + self.edge_count * self.colours

    def colour_variables(self) -> Block:
        return self.colour[self.edges]

    def describe_colours(self) -> list[str]:
        width, height = self.puzzle.width, self.puzzle.height
        return [
            f"C(edge, colour) = {int(self.colour[0, 0])} + edge*{self.colours} + colour (grey = 0, others by number); "
            f"edge = row*{width + 1} + column for upright edges from the left, "
            f"then {height * (width + 1)} + row*{width} + column for level edges from above"
        ]


class Half3(_Colours, PieceAndRotation):
    """HALF-3: P, O and C; for each cell, piece, rotation and side the clause 'not P or not O or C'.

    Unit propagation deduces nothing about an edge before piece and rotation are known; in the paper it is the fastest.
    """

    name = "half-3"
    source = "Bailleux 2025, HALF-3"

    def __init__(self, puzzle: Puzzle) -> None:
        super().__init__(puzzle)
        cells = puzzle.cells
        self._counters = self.number_colours(self.variables) + 1
        self.variables = (
            self._counters
            - 1
            + (
                2 * self.auxiliaries(cells, cells)
                + self.auxiliaries(cells, 4)
                + self.auxiliaries(self.edge_count, self.colours)
            )
        )

    def families(self) -> Iterator[tuple[str, Iterable[Block]]]:
        cells, at = self.puzzle.cells, self._counters
        yield "one piece a cell", self.exactly_one(self.piece, at)
        at += self.auxiliaries(cells, cells)
        yield "one cell a piece", self.exactly_one(np.ascontiguousarray(self.piece.T), at)
        at += self.auxiliaries(cells, cells)
        yield "one rotation a cell", self.exactly_one(self.rotation, at)
        at += self.auxiliaries(cells, 4)
        yield "one colour an edge", self.exactly_one(self.colour, at)
        yield "pieces give colours", (self._half(cell) for cell in range(cells))
        yield "corners, rim and centre", self.rim()
        yield "clues", self.clues()

    def _half(self, cell: int) -> Block:
        """'not P or not O or C' for all pieces, rotations and sides."""
        piece, rotation, side = np.indices(self.sides.shape).reshape(3, -1)
        colour = self.colour[self.edges[cell, side], self.sides.reshape(-1)]
        return np.stack([-self.piece[cell, piece], -self.rotation[cell, rotation], colour], axis=1)

    def describe(self) -> list[str]:
        return super().describe() + self.describe_colours()


class Half2(_Colours, OrientedPiece):
    """HALF-2: Q and C, their binary constraint in support encoding (Gent 2002): unit propagation is arc consistent."""

    name = "half-2"
    source = "Bailleux 2025, HALF-2"

    def __init__(self, puzzle: Puzzle) -> None:
        super().__init__(puzzle)
        cells = puzzle.cells
        self._counters = self.number_colours(self.variables) + 1
        self.variables = (
            self._counters
            - 1
            + (2 * self.auxiliaries(cells, 4 * cells) + self.auxiliaries(self.edge_count, self.colours))
        )

    def families(self) -> Iterator[tuple[str, Iterable[Block]]]:
        cells, at = self.puzzle.cells, self._counters
        yield "one oriented piece a cell", self.exactly_one(self.by_cell(), at)
        at += self.auxiliaries(cells, 4 * cells)
        yield "one cell and rotation a piece", self.exactly_one(self.by_piece(), at)
        at += self.auxiliaries(cells, 4 * cells)
        yield "one colour an edge", self.exactly_one(self.colour, at)
        yield "pieces give colours", (self._supports_of_pieces(cell) for cell in range(cells))
        yield "colours need pieces", self._supports_of_colours()
        yield "corners, rim and centre", [units(-self.value[~self.allowed])]
        yield "clues", self.clues()

    def _supports_of_pieces(self, cell: int) -> Block:
        piece, rotation, side = np.indices(self.sides.shape).reshape(3, -1)
        colour = self.colour[self.edges[cell, side], self.sides.reshape(-1)]
        return np.stack([-self.value[cell, piece, rotation], colour], axis=1)

    def _supports_of_colours(self) -> Iterator[Block]:
        for cell in range(self.puzzle.cells):
            for side in range(4):
                for colour in range(self.colours):
                    supports = self.value[cell][self.sides[:, :, side] == colour]
                    yield clause([-int(self.colour[self.edges[cell, side], colour]), *supports])

    def describe(self) -> list[str]:
        return super().describe() + self.describe_colours()
