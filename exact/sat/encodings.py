"""The encodings of Bailleux 2025 (2.1, 2.3) and of Cuvillier & Szymkowiak 2010 (2.2.2), and all encodings by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from lns.exact.sat.encoding import Block, BoolArray, Encoding, Family, at_most_one_pairs, clause, units
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle

Ints = npt.NDArray[np.signedinteger[Any]]


class Bailleux(Encoding):
    """The four encodings of Bailleux 2025. Sizes agree with the paper's figures 4 to 7.

    The piece and the rotation of a cell have variables of their own (P and O), or, if ``merged``, each oriented piece
    has one (Q). FULL writes an inner edge as one constraint in extension, by supports (Gent 2002; with P and O the
    generalised ones of Bacchus 2007, each tuple having a support variable for each of its four values). Its pairs
    contain only oriented pieces that the rim allows on their cells, so the rim needs no clauses of its own: a value
    without a support becomes a unit clause. HALF (``half``) splits the edge in two halves by the colours of edges (C),
    which are variables: HALF-3 has the clauses 'not P or not O or C' only, from which unit propagation deduces nothing
    about an edge before piece and rotation are known; HALF-2 also supports, so that it is arc consistent.

    Attributes
    ----------
    piece, rotation : ndarray of int32, shape (cells, cells) and (cells, 4)
        Variables P and O by cell, unless ``merged``.
    value : ndarray of int32, shape (cells, cells, 4)
        Variables Q by cell, if ``merged``.
    colour : ndarray of int32, shape (edges, colours)
        Variables C of all edges, rim included; the two cells of an inner edge share them. In FULL only `exclude` needs
        them; they come behind all other variables.
    """

    piece: Block
    rotation: Block
    value: Block
    colour: Block

    def __init__(self, puzzle: Puzzle, name: str, *, merged: bool, half: bool, pairwise: bool = False) -> None:
        super().__init__(puzzle, name, pairwise)
        self.source = f"Bailleux 2025, {name.removesuffix('-pairs').upper()}"
        self.merged, self.half = merged, half
        cells, edges = puzzle.cells, int(self.edges.max()) + 1
        if merged:
            self.value = self.new_variables(cells, cells, 4)
        else:
            self.piece, self.rotation = self.new_variables(cells, cells), self.new_variables(cells, 4)
        self.deciding = self.variables
        if half:
            self.colour = self.new_variables(edges, self.colours)
        if merged:
            self.exactly_one("one oriented piece a cell", self.value.reshape(cells, -1))
            by_piece = np.ascontiguousarray(self.value.transpose(1, 0, 2)).reshape(cells, -1)
            self.exactly_one("one cell and rotation a piece", by_piece)
        else:
            self.exactly_one("one piece a cell", self.piece)
            self.exactly_one("one cell a piece", np.ascontiguousarray(self.piece.T))
            self.exactly_one("one rotation a cell", self.rotation)
        if half:
            self.exactly_one("one colour an edge", self.colour)
            return
        self._first_support = self.variables + 1
        if not merged:
            self.variables += 4 * sum(int(self._matching(*edge).sum()) for edge in self.inner_edges)
        colours = np.arange(edges * self.colours, dtype=np.int32).reshape(edges, self.colours)
        self.colour = self.variables + 1 + colours

    def constraints(self) -> Iterator[Family]:
        if self.half:
            yield "pieces give colours", self._give_colours()
            if self.merged:
                yield "colours need pieces", self._colours_need_pieces()
        elif self.merged:
            yield "inner edges", self._edges_in_extension()
        else:
            yield "supports imply their tuples", (block for edge in self._tuples() for block in _implied(*edge[1:]))
            yield "values need supports", (block for edge in self._tuples() for block in _supported(*edge))
        if self.half or self.lonely_cells:
            cells = range(self.puzzle.cells) if self.half else self.lonely_cells
            yield "corners, rim and centre", self._forbid(cells)
        yield "clues", self._clues()

    def colour_variables(self) -> Block:
        return self.colour[self.edges]

    def channel(self) -> Iterable[Block]:
        return () if self.half else self._give_colours()

    def placements(self, true: BoolArray) -> list[int]:
        if self.merged:
            return [int(row.argmax()) if row.any() else -1 for row in true[self.value].reshape(self.puzzle.cells, -1)]
        pieces, rotations = true[self.piece], true[self.rotation]
        return [
            int(pieces[cell].argmax()) * 4 + int(rotations[cell].argmax()) if pieces[cell].any() else -1
            for cell in range(self.puzzle.cells)
        ]

    def describe(self) -> list[str]:
        cells, width, height = self.puzzle.cells, self.puzzle.width, self.puzzle.height
        merged = [
            f"Q(cell, piece, rotation) = 1 + cell*{4 * cells} + piece*4 + rotation: "
            "the piece is on the cell with that many clockwise quarter turns"
        ]
        apart = [
            f"P(cell, piece) = 1 + cell*{cells} + piece: the piece is on the cell",
            f"O(cell, rotation) = {1 + cells * cells} + cell*4 + rotation: "
            "the piece on the cell has that many clockwise quarter turns",
        ]
        colours = [
            f"C(edge, colour) = {int(self.colour[0, 0])} + edge*{self.colours} + colour (grey = 0, others by number); "
            f"edge = row*{width + 1} + column for upright edges from the left, "
            f"then {height * (width + 1)} + row*{width} + column for level edges from above",
        ]
        return (merged if self.merged else apart) + (colours if self.half else [])

    def _negated(self, cell: int, piece: Ints, rotation: Ints) -> list[Block]:
        """The negated variables that together say which piece in which rotation is on a cell."""
        if self.merged:
            return [-self.value[cell, piece, rotation]]
        return [-self.piece[cell, piece], -self.rotation[cell, rotation]]

    def _give_colours(self) -> Iterator[Block]:
        """For each cell, piece, rotation and side: they imply the colour of the edge."""
        colour = self.colour_variables()
        piece, rotation, side = np.indices(self.sides.shape).reshape(3, -1)
        for cell in range(self.puzzle.cells):
            shown = colour[cell, side, self.sides.reshape(-1)]
            yield np.stack([*self._negated(cell, piece, rotation), shown], axis=1)

    def _forbid(self, cells: Sequence[int]) -> Iterator[Block]:
        """Clauses that keep what does not fit off some cells."""
        if self.merged:
            yield units(-self.value[cells][~self.allowed[cells]])
            return
        chosen = np.zeros((self.puzzle.cells, 1), dtype=np.bool_)
        chosen[cells] = True
        some, every = self.allowed.any(axis=2), self.allowed.all(axis=2)
        yield units(-self.piece[~some & chosen])
        for cell, piece in np.argwhere(some & ~every & chosen):
            yield clause([-int(self.piece[cell, piece]), *self.rotation[cell, self.allowed[cell, piece]]])

    def _clues(self) -> Iterator[Block]:
        """Clauses of clues and holes."""
        for clue in self.puzzle.fixed:
            negated = self._negated(clue.cell, np.array([clue.piece]), np.array([clue.rotation]))
            yield units(-np.concatenate(negated))

    def _colours_need_pieces(self) -> Iterator[Block]:
        for cell in range(self.puzzle.cells):
            for side in range(4):
                for colour in range(self.colours):
                    supports = self.value[cell][self.sides[:, :, side] == colour]
                    yield clause([-int(self.colour[self.edges[cell, side], colour]), *supports])

    def _matching(self, cell: int, side: int, neighbour: int) -> BoolArray:
        """Which pairs of oriented pieces match across an inner edge; shape (4 cells, 4 cells)."""
        here, there = self.sides[:, :, side].reshape(-1), self.sides[:, :, (side + 2) % 4].reshape(-1)
        piece = np.repeat(np.arange(self.puzzle.cells), 4)
        match: BoolArray = (here[:, None] == there[None, :]) & (piece[:, None] != piece[None, :])
        match &= self.allowed[cell].reshape(-1, 1) & self.allowed[neighbour].reshape(1, -1)
        return match

    def _edges_in_extension(self) -> Iterator[Block]:
        """FULL-2: each oriented piece on one side of an edge needs one of those that match it on the other."""
        for cell, side, neighbour in self.inner_edges:
            match = self._matching(cell, side, neighbour)
            here, there = self.value[cell].reshape(-1), self.value[neighbour].reshape(-1)
            for values, others, rows in ((here, there, match), (there, here, match.T)):
                for value, row in zip(values, rows, strict=True):
                    yield clause([-int(value), *others[row]])

    def _tuples(self) -> Iterator[tuple[list[Block], Block, Block]]:
        """FULL-4, by edge: the variables of P, O, P', O', their values in each tuple, and the support variables."""
        first = self._first_support
        for cell, side, neighbour in self.inner_edges:
            here, there = np.nonzero(self._matching(cell, side, neighbour))
            domains = [self.piece[cell], self.rotation[cell], self.piece[neighbour], self.rotation[neighbour]]
            chosen = (here // 4, here % 4, there // 4, there % 4)
            values = np.stack([domain[at] for domain, at in zip(domains, chosen, strict=True)], axis=1)
            yield domains, values, first + np.arange(4 * len(here), dtype=np.int32).reshape(-1, 4)
            first += 4 * len(here)


def _implied(values: Block, supports: Block) -> Iterator[Block]:
    """FULL-4: a support variable implies the three other values of its tuple."""
    for own, other in permutations(range(4), 2):
        yield np.stack([-supports[:, own], values[:, other]], axis=1)


def _supported(domains: list[Block], values: Block, supports: Block) -> Iterator[Block]:
    """FULL-4: a value implies one of its support variables."""
    for own, domain in enumerate(domains):
        order = np.argsort(values[:, own], kind="stable")
        bounds = np.searchsorted(values[order, own], np.append(domain, domain[-1] + 1))
        for value, begin, end in zip(domain, bounds[:-1], bounds[1:], strict=True):
            yield clause([-int(value), *supports[order[begin:end], own]])


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


_BAILLEUX = {"full-4": (False, False), "full-2": (True, False), "half-3": (False, True), "half-2": (True, True)}
ENCODINGS: dict[str, Callable[[Puzzle], Encoding]] = {
    **{
        name + suffix: partial(Bailleux, name=name + suffix, merged=merged, half=half, pairwise=bool(suffix))
        for suffix in ("", "-pairs")
        for name, (merged, half) in _BAILLEUX.items()
    },
    "triangles": Triangles,
}


def encode(name: str, puzzle: Puzzle) -> Encoding:
    """The encoding of a puzzle, by its name in `ENCODINGS`. Raises InputError if the name is unknown."""
    if name not in ENCODINGS:
        near = get_close_matches(name, ENCODINGS, n=1)
        hint = f"did you mean '{near[0]}'?" if near else "expected one of " + ", ".join(ENCODINGS)
        raise InputError(f"unknown encoding '{name}': {hint}")
    return ENCODINGS[name](puzzle)
