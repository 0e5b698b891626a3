"""The encodings of Bailleux 2025 (2.1 and 2.3), and all encodings by name.

The piece and the rotation of a cell have variables of their own (P and O), or each oriented piece has one (Q). FULL
writes an inner edge as one constraint in extension; its pairs contain only oriented pieces that the rim allows on their
cells, so the rim needs no clauses of its own: a value without a support becomes a unit clause. HALF splits the edge in
two halves by the colours of edges (C), which are variables. Sizes agree with the paper's figures 4 to 7.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from functools import cached_property, partial
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from exact.sat.clauses import Block, clause, units
from exact.sat.encoding import BoolArray, Encoding, Family
from exact.sat.triangles import Triangles
from instances.puzzle import Puzzle
from lns_support.errors import InputError

Ints = npt.NDArray[np.signedinteger[Any]]


class _Bailleux(Encoding):
    """What the four encodings share."""

    colour: Block
    """Variables C(edge, colour) of all edges, rim included; the two cells of an inner edge share them."""

    @abstractmethod
    def place_pieces(self) -> None:
        """Add the families that put pieces on cells."""

    @abstractmethod
    def negated(self, cell: int, piece: Ints, rotation: Ints) -> list[Block]:
        """The negated variables that together say which piece in which rotation is on a cell."""

    @abstractmethod
    def forbid(self, cells: Sequence[int]) -> Iterator[Block]:
        """Clauses that keep what does not fit off some cells."""

    @abstractmethod
    def clues(self) -> Iterator[Block]:
        """Clauses of clues and holes."""

    def colour_variables(self) -> Block:
        return self.colour[self.edges]

    def give_colours(self) -> Iterator[Block]:
        """For each cell, piece, rotation and side: they imply the colour of the edge."""
        colour = self.colour_variables()
        piece, rotation, side = np.indices(self.sides.shape).reshape(3, -1)
        for cell in range(self.puzzle.cells):
            shown = colour[cell, side, self.sides.reshape(-1)]
            yield np.stack([*self.negated(cell, piece, rotation), shown], axis=1)


class PieceAndRotation(_Bailleux):
    """Variables P (piece of a cell) and O (rotation of a cell)."""

    def __init__(self, puzzle: Puzzle, name: str, pairwise: bool = False) -> None:
        super().__init__(puzzle, name, pairwise)
        self.piece = self.new_variables(puzzle.cells, puzzle.cells)
        self.rotation = self.new_variables(puzzle.cells, 4)
        self.deciding = self.variables

    def place_pieces(self) -> None:
        self.exactly_one("one piece a cell", self.piece)
        self.exactly_one("one cell a piece", np.ascontiguousarray(self.piece.T))
        self.exactly_one("one rotation a cell", self.rotation)

    def negated(self, cell: int, piece: Ints, rotation: Ints) -> list[Block]:
        return [-self.piece[cell, piece], -self.rotation[cell, rotation]]

    def clues(self) -> Iterator[Block]:
        for clue in self.puzzle.fixed:
            yield units([int(self.piece[clue.cell, clue.piece]), int(self.rotation[clue.cell, clue.rotation])])

    def forbid(self, cells: Sequence[int]) -> Iterator[Block]:
        chosen = np.zeros((self.puzzle.cells, 1), dtype=np.bool_)
        chosen[cells] = True
        some, every = self.allowed.any(axis=2), self.allowed.all(axis=2)
        yield units(-self.piece[~some & chosen])
        for cell, piece in np.argwhere(some & ~every & chosen):
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


class OrientedPiece(_Bailleux):
    """Variables Q (oriented piece of a cell)."""

    def __init__(self, puzzle: Puzzle, name: str, pairwise: bool = False) -> None:
        super().__init__(puzzle, name, pairwise)
        self.value = self.new_variables(puzzle.cells, puzzle.cells, 4)
        self.by_cell = self.value.reshape(puzzle.cells, -1)
        self.deciding = self.variables

    def place_pieces(self) -> None:
        self.exactly_one("one oriented piece a cell", self.by_cell)
        by_piece = np.ascontiguousarray(self.value.transpose(1, 0, 2)).reshape(self.puzzle.cells, -1)
        self.exactly_one("one cell and rotation a piece", by_piece)

    def negated(self, cell: int, piece: Ints, rotation: Ints) -> list[Block]:
        return [-self.value[cell, piece, rotation]]

    def clues(self) -> Iterator[Block]:
        for clue in self.puzzle.fixed:
            yield units([int(self.value[clue.cell, clue.piece, clue.rotation])])

    def forbid(self, cells: Sequence[int]) -> Iterator[Block]:
        yield units(-self.value[cells][~self.allowed[cells]])

    def placements(self, true: BoolArray) -> list[int]:
        return [int(row.argmax()) if row.any() else -1 for row in true[self.by_cell]]

    def describe(self) -> list[str]:
        return [
            f"Q(cell, piece, rotation) = 1 + cell*{4 * self.puzzle.cells} + piece*4 + rotation: "
            "the piece is on the cell with that many clockwise quarter turns"
        ]


class _Full(_Bailleux):
    """An inner edge as one constraint in extension. Only `exclude` needs the colours, behind all other variables."""

    @cached_property
    def colour(self) -> Block:  # type: ignore[override]
        count = self.edge_count * self.colours
        return self.variables + 1 + np.arange(count, dtype=np.int32).reshape(-1, self.colours)

    def channel(self) -> Iterator[Block]:
        return self.give_colours()

    def constraints(self) -> Iterator[Family]:
        yield from self.in_extension()
        if self.lonely_cells:
            yield "corners, rim and centre", self.forbid(self.lonely_cells)
        yield "clues", self.clues()

    @abstractmethod
    def in_extension(self) -> Iterator[Family]:
        """The families of the inner edges."""

    def matching(self, cell: int, side: int, neighbour: int) -> BoolArray:
        """Which pairs of oriented pieces match across an inner edge; shape (4 cells, 4 cells)."""
        here, there = self.sides[:, :, side].reshape(-1), self.sides[:, :, (side + 2) % 4].reshape(-1)
        piece = np.repeat(np.arange(self.puzzle.cells), 4)
        match: BoolArray = (here[:, None] == there[None, :]) & (piece[:, None] != piece[None, :])
        match &= self.allowed[cell].reshape(-1, 1) & self.allowed[neighbour].reshape(1, -1)
        return match


class Full2(_Full, OrientedPiece):
    """FULL-2: Q, and the inner edges as binary constraints in support encoding (Gent 2002)."""

    source = "Bailleux 2025, FULL-2"

    def __init__(self, puzzle: Puzzle, name: str = "full-2", pairwise: bool = False) -> None:
        super().__init__(puzzle, name, pairwise)
        self.place_pieces()

    def in_extension(self) -> Iterator[Family]:
        yield "inner edges", self._supports()

    def _supports(self) -> Iterator[Block]:
        for cell, side, neighbour in self.inner_edges:
            match = self.matching(cell, side, neighbour)
            here, there = self.by_cell[cell], self.by_cell[neighbour]
            for values, others, rows in ((here, there, match), (there, here, match.T)):
                for value, row in zip(values, rows, strict=True):
                    yield clause([-int(value), *others[row]])


class Full4(_Full, PieceAndRotation):
    """FULL-4: P, O, and the inner edges as constraints of arity 4 in generalised support encoding (Bacchus 2007).

    Each tuple (P, O, P', O') has a support variable for each of its four values, which implies the other three. A value
    implies one of its support variables.
    """

    source = "Bailleux 2025, FULL-4"

    def __init__(self, puzzle: Puzzle, name: str = "full-4", pairwise: bool = False) -> None:
        super().__init__(puzzle, name, pairwise)
        self.place_pieces()
        self._first_support = self.variables + 1
        self.variables += 4 * sum(int(self.matching(*edge).sum()) for edge in self.inner_edges)

    def in_extension(self) -> Iterator[Family]:
        yield "supports imply their tuples", (block for edge in self._tuples() for block in self._implied(*edge[1:]))
        yield "values need supports", (block for edge in self._tuples() for block in self._supported(*edge))

    def _tuples(self) -> Iterator[tuple[list[Block], Block, Block]]:
        """By inner edge: the variables of P, O, P', O', their values in each tuple, and the support variables."""
        first = self._first_support
        for cell, side, neighbour in self.inner_edges:
            here, there = np.nonzero(self.matching(cell, side, neighbour))
            domains = [self.piece[cell], self.rotation[cell], self.piece[neighbour], self.rotation[neighbour]]
            chosen = (here // 4, here % 4, there // 4, there % 4)
            values = np.stack([domain[at] for domain, at in zip(domains, chosen, strict=True)], axis=1)
            yield domains, values, first + np.arange(4 * len(here), dtype=np.int32).reshape(-1, 4)
            first += 4 * len(here)

    @staticmethod
    def _implied(values: Block, supports: Block) -> Iterator[Block]:
        for own, other in permutations(range(4), 2):
            yield np.stack([-supports[:, own], values[:, other]], axis=1)

    @staticmethod
    def _supported(domains: list[Block], values: Block, supports: Block) -> Iterator[Block]:
        for own, domain in enumerate(domains):
            order = np.argsort(values[:, own], kind="stable")
            bounds = np.searchsorted(values[order, own], np.append(domain, domain[-1] + 1))
            for value, begin, end in zip(domain, bounds[:-1], bounds[1:], strict=True):
                yield clause([-int(value), *supports[order[begin:end], own]])


class _Half(_Bailleux):
    """An inner edge as two halves, which meet in the colour of the edge."""

    def colour_edges(self) -> None:
        """Number the variables C, place the pieces, and one colour an edge."""
        self.colour = self.new_variables(self.edge_count, self.colours)
        self.place_pieces()
        self.exactly_one("one colour an edge", self.colour)

    def constraints(self) -> Iterator[Family]:
        yield "pieces give colours", self.give_colours()
        yield from self.need_pieces()
        yield "corners, rim and centre", self.forbid(range(self.puzzle.cells))
        yield "clues", self.clues()

    def need_pieces(self) -> Iterator[Family]:
        """The family that a colour needs a piece, if there is one."""
        return iter(())

    def describe(self) -> list[str]:
        width, height = self.puzzle.width, self.puzzle.height
        return [
            *super().describe(),  # type: ignore[safe-super]
            f"C(edge, colour) = {int(self.colour[0, 0])} + edge*{self.colours} + colour (grey = 0, others by number); "
            f"edge = row*{width + 1} + column for upright edges from the left, "
            f"then {height * (width + 1)} + row*{width} + column for level edges from above",
        ]


class Half3(_Half, PieceAndRotation):
    """HALF-3: P, O and C; for each cell, piece, rotation and side the clause 'not P or not O or C'.

    Unit propagation deduces nothing about an edge before piece and rotation are known; in the paper it is the fastest.
    """

    source = "Bailleux 2025, HALF-3"

    def __init__(self, puzzle: Puzzle, name: str = "half-3", pairwise: bool = False) -> None:
        super().__init__(puzzle, name, pairwise)
        self.colour_edges()


class Half2(_Half, OrientedPiece):
    """HALF-2: Q and C, their binary constraint in support encoding (Gent 2002): unit propagation is arc consistent."""

    source = "Bailleux 2025, HALF-2"

    def __init__(self, puzzle: Puzzle, name: str = "half-2", pairwise: bool = False) -> None:
        super().__init__(puzzle, name, pairwise)
        self.colour_edges()

    def need_pieces(self) -> Iterator[Family]:
        yield "colours need pieces", self._supports()

    def _supports(self) -> Iterator[Block]:
        for cell in range(self.puzzle.cells):
            for side in range(4):
                for colour in range(self.colours):
                    supports = self.value[cell][self.sides[:, :, side] == colour]
                    yield clause([-int(self.colour[self.edges[cell, side], colour]), *supports])


_BAILLEUX: dict[str, Callable[..., Encoding]] = {"full-4": Full4, "full-2": Full2, "half-3": Half3, "half-2": Half2}
ENCODINGS: dict[str, Callable[[Puzzle], Encoding]] = {
    **_BAILLEUX,
    "triangles": Triangles,
    **{f"{name}-pairs": partial(make, name=f"{name}-pairs", pairwise=True) for name, make in _BAILLEUX.items()},
}


def encode(name: str, puzzle: Puzzle) -> Encoding:
    """The encoding of a puzzle, by its name in `ENCODINGS`. Raises InputError if the name is unknown."""
    if name not in ENCODINGS:
        near = get_close_matches(name, ENCODINGS, n=1)
        hint = f"did you mean '{near[0]}'?" if near else "expected one of " + ", ".join(ENCODINGS)
        raise InputError(f"unknown encoding '{name}': {hint}")
    return ENCODINGS[name](puzzle)
