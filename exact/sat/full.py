"""FULL-4 and FULL-2 (Bailleux 2025, 2.1.1, 2.1.2 and 2.3.2): each inner edge as one constraint in extension.

The pairs in extension contain only oriented pieces that the rim allows on their cells, so the rim needs no clauses of
its own: a value without a support becomes a unit clause. The sizes agree with the paper's figures 5 and 7.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from exact.sat.clauses import Block, clause, units
from exact.sat.encoding import BoolArray, Encoding, OrientedPiece, PieceAndRotation
from instances.puzzle import Puzzle


class _WithoutColours(Encoding):
    """A formula without colours. Extra variables, determined by the pieces, are used by `exclude` only."""

    def colour_variables(self) -> Block:
        count = self.edge_count * self.colours
        by_edge = self.variables + 1 + np.arange(count, dtype=np.int32).reshape(-1, self.colours)
        return by_edge[self.edges]

    def matching(self, cell: int, side: int, neighbour: int) -> BoolArray:
        """Which pairs of oriented pieces match across an inner edge; shape (4 cells, 4 cells)."""
        here, there = self.sides[:, :, side].reshape(-1), self.sides[:, :, (side + 2) % 4].reshape(-1)
        piece = np.repeat(np.arange(self.puzzle.cells), 4)
        match: BoolArray = (here[:, None] == there[None, :]) & (piece[:, None] != piece[None, :])
        match &= self.allowed[cell].reshape(-1, 1) & self.allowed[neighbour].reshape(1, -1)
        return match


class Full2(_WithoutColours, OrientedPiece):
    """FULL-2: Q, and the inner edges as binary constraints in support encoding (Gent 2002)."""

    name = "full-2"
    source = "Bailleux 2025, FULL-2"

    def __init__(self, puzzle: Puzzle) -> None:
        super().__init__(puzzle)
        self._counters = self.variables + 1
        self.variables += 2 * self.auxiliaries(puzzle.cells, 4 * puzzle.cells)

    def families(self) -> Iterator[tuple[str, Iterable[Block]]]:
        cells, at = self.puzzle.cells, self._counters
        yield "one oriented piece a cell", self.exactly_one(self.by_cell(), at)
        yield (
            "one cell and rotation a piece",
            self.exactly_one(self.by_piece(), at + self.auxiliaries(cells, 4 * cells)),
        )
        yield "inner edges", self._supports()
        if self.lonely_cells:
            yield "corners, rim and centre", [units(-self.value[self.lonely_cells][~self.allowed[self.lonely_cells]])]
        yield "clues", self.clues()

    def _supports(self) -> Iterator[Block]:
        for cell, side, neighbour in self.inner_edges:
            match = self.matching(cell, side, neighbour)
            here, there = self.by_cell()[cell], self.by_cell()[neighbour]
            for value, row in zip(here, match, strict=True):
                yield clause([-int(value), *there[row]])
            for value, column in zip(there, match.T, strict=True):
                yield clause([-int(value), *here[column]])

    def channel(self) -> Iterator[Block]:
        colour = self.colour_variables()
        piece, rotation, side = np.indices(self.sides.shape).reshape(3, -1)
        for cell in range(self.puzzle.cells):
            variable = colour[cell, side, self.sides.reshape(-1)]
            yield np.stack([-self.value[cell, piece, rotation], variable], axis=1)


class Full4(_WithoutColours, PieceAndRotation):
    """FULL-4: P, O, and the inner edges as constraints of arity 4 in generalised support encoding (Bacchus 2007).

    Each tuple (P, O, P', O') has a support variable for each of its four values, which implies the other three. A value
    implies one of its support variables.
    """

    name = "full-4"
    source = "Bailleux 2025, FULL-4"

    def __init__(self, puzzle: Puzzle) -> None:
        super().__init__(puzzle)
        cells = puzzle.cells
        self._counters = self.variables + 1
        self._supports = self._counters + 2 * self.auxiliaries(cells, cells) + self.auxiliaries(cells, 4)
        tuples = sum(int(self.matching(*edge).sum()) for edge in self.inner_edges)
        self.variables = self._supports - 1 + 4 * tuples

    def families(self) -> Iterator[tuple[str, Iterable[Block]]]:
        cells, at = self.puzzle.cells, self._counters
        yield "one piece a cell", self.exactly_one(self.piece, at)
        at += self.auxiliaries(cells, cells)
        yield "one cell a piece", self.exactly_one(np.ascontiguousarray(self.piece.T), at)
        at += self.auxiliaries(cells, cells)
        yield "one rotation a cell", self.exactly_one(self.rotation, at)
        yield "supports imply their tuples", (block for blocks in self._inner_edges(True) for block in blocks)
        yield "values need supports", (block for blocks in self._inner_edges(False) for block in blocks)
        if self.lonely_cells:
            yield "corners, rim and centre", self.rim(self.lonely_cells)
        yield "clues", self.clues()

    def _inner_edges(self, imply: bool) -> Iterator[Iterator[Block]]:
        """By inner edge: the clauses of its support variables if ``imply``, else those of its values."""
        first = self._supports
        for cell, side, neighbour in self.inner_edges:
            here, there = np.nonzero(self.matching(cell, side, neighbour))
            values = np.stack(
                [
                    self.piece[cell, here // 4],
                    self.rotation[cell, here % 4],
                    self.piece[neighbour, there // 4],
                    self.rotation[neighbour, there % 4],
                ],
                axis=1,
            ).astype(np.int32)
            supports = first + np.arange(4 * len(values), dtype=np.int32).reshape(-1, 4)
            first += 4 * len(values)
            if imply:
                yield self._tuples(values, supports)
            else:
                yield self._values(cell, neighbour, values, supports)

    @staticmethod
    def _tuples(values: Block, supports: Block) -> Iterator[Block]:
        for own in range(4):
            for other in range(4):
                if other != own:
                    yield np.stack([-supports[:, own], values[:, other]], axis=1)

    def _values(self, cell: int, neighbour: int, values: Block, supports: Block) -> Iterator[Block]:
        variables = (self.piece[cell], self.rotation[cell], self.piece[neighbour], self.rotation[neighbour])
        for own, domain in enumerate(variables):
            order = np.argsort(values[:, own], kind="stable")
            bounds = np.searchsorted(values[order, own], np.append(domain, domain[-1] + 1))
            for value, begin, end in zip(domain, bounds[:-1], bounds[1:], strict=True):
                yield clause([-int(value), *supports[order[begin:end], own]])

    def channel(self) -> Iterator[Block]:
        colour = self.colour_variables()
        piece, rotation, side = np.indices(self.sides.shape).reshape(3, -1)
        for cell in range(self.puzzle.cells):
            variable = colour[cell, side, self.sides.reshape(-1)]
            yield np.stack([-self.piece[cell, piece], -self.rotation[cell, rotation], variable], axis=1)
