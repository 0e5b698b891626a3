"""Encodings of edge matching as SAT, of Bailleux 2025 (sections 2.1, 2.3) and Cuvillier & Szymkowiak 2010 (2.2.2)."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import chain, permutations
from math import prod
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from lns.exact.registry import solver_for
from lns.exact.sat.clauses import (
    Block,
    at_most_counter,
    at_most_one_pairs,
    clause,
    exactly_one_counters,
    exactly_one_pairs,
    lines_of,
    units,
)  # fmt: skip
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import DOWN, GREY, RIGHT, Puzzle
from lns.instances.text import unknown

BoolArray = npt.NDArray[np.bool_]
Family = tuple[str, Iterable[Block]]
"""A family of clauses (clauses of one kind): their meaning in words, and their blocks."""


class Encoding(ABC):
    """A CNF formula whose models are the perfect boards of a puzzle. Its clauses are generated on iteration.

    Because of auxiliary variables and duplicate pieces, several models may stand for one board; the clause that
    `exclude` returns forbids all of them.
    """

    source: str  # paper, and place in it, where the encoding is published
    variables = 0  # number of variables made so far, which are numbered from 1
    deciding: int  # the variables from 1 to this one say pieces and rotations, and determine all others
    placing: tuple[Block, ...]  # arrays by (cell, piece, rotation): that is placed if the variables there are all true
    shown: Block  # (cells, 4, colours): the variable that says that a side of a cell has a colour
    palette: list[int]  # the colours that occur, grey first; the formula uses their indexes in this list
    sides: Block  # (pieces, 4, 4): index in `palette` of the colour by piece, rotation and side
    inner_edges: list[tuple[int, int, int]]  # cell, RIGHT or DOWN, and the neighbour on that side, of each inner edge
    pieces: int  # number of pieces, the blanks of holes included

    def __init__(self, puzzle: Puzzle, name: str) -> None:
        self.puzzle, self.name = puzzle, name
        self.palette = np.unique(np.append(puzzle.oriented, GREY)).tolist()
        self.colours = len(self.palette)
        self.sides = np.searchsorted(self.palette, puzzle.oriented).astype(np.int32).reshape(-1, 4, 4)
        around = ((cell, side, other) for cell in range(puzzle.cells) for side, other in puzzle.neighbours(cell))
        self.inner_edges = [edge for edge in around if edge[1] in (RIGHT, DOWN)]
        self.pieces = len(puzzle.pieces)

    def new_variables(self, *shape: int) -> Block:
        """Return an array of new variables of the given shape, numbered consecutively, the last index fastest."""
        first = self.variables + 1
        self.variables += prod(shape)
        return np.arange(first, self.variables + 1, dtype=np.int32).reshape(shape)

    @abstractmethod
    def families(self) -> Iterator[Family]:
        """Yield all clauses of the formula by family."""

    @abstractmethod
    def describe(self) -> list[str]:
        """Return lines of text that explain the variables, for the comment of a DIMACS file."""

    def channel(self) -> Iterable[Block]:
        """Return the clauses that define the variables `shown`, or none if those of `families` do."""
        return ()

    def absent(self, cell: Any, piece: Any, rotation: Any) -> list[Block]:
        """Return literals of which at least one is true unless the piece lies on the cell in that rotation."""
        shape = (self.puzzle.cells, self.pieces, 4)
        return [-np.broadcast_to(variable, shape)[cell, piece, rotation] for variable in self.placing]

    def clues(self) -> Iterator[Block]:
        """Return the clauses that put clues and blanks of holes on their cells."""
        return (-units(self.absent(clue.cell, clue.piece, clue.rotation)) for clue in self.puzzle.fixed)

    def colours_of(self, cell: Any, piece: Any) -> Block:
        """Return clauses by which a piece shows its colours on a cell in each rotation; cell or piece can be arrays."""
        at, rotation, side = np.indices((np.size(cell) * np.size(piece), 4, 4)).reshape(3, -1)
        cell, piece = (np.broadcast_to(number, at.max() + 1)[at] for number in (cell, piece))
        shown = self.shown[cell, side, self.sides[piece, rotation, side]]
        return np.stack([*self.absent(cell, piece, rotation), shown], axis=1)

    def clauses(self) -> Iterator[Block]:
        """Yield all clauses of the formula, in blocks."""
        return (block for _, blocks in self.families() for block in blocks if len(block))

    def sizes(self) -> dict[str, int]:
        """Return the number of clauses in each family, by the meaning of the family."""
        return {name: sum(map(len, blocks)) for name, blocks in self.families()}

    def write(self, file: IO[str]) -> int:
        """Write the formula as DIMACS CNF, with comments that explain it, and return the number of clauses."""
        sizes, puzzle = self.sizes(), self.puzzle  # clauses are generated twice: counted for the header, then written
        clauses = sum(sizes.values())
        lines = [
            f"encoding {self.name} ({self.source}) of {puzzle.name}",
            f"board {puzzle.width} x {puzzle.height} (width x height), sha256 {puzzle.sha256}",
            "cells row by row, pieces in file order, rotations in clockwise quarter turns, all from 0",
            *self.describe(),
            *(["right and lower sides have the mates of their colours"] if puzzle.mates else []),
            *(f"{count} clauses: {name}" for name, count in sizes.items() if count),
        ]
        file.writelines(f"c {re.sub(r'[^ -~]', ' ', line)}\n" for line in lines)
        file.write(f"p cnf {self.variables} {clauses}\n")
        file.writelines(text for block in self.clauses() for text in lines_of(block))
        return clauses

    def board(self, model: Iterable[int]) -> Board:
        """Return the board of a model given as literals, without verifying it. Missing variables are false."""
        literals = np.fromiter(model, dtype=np.int64)
        true = np.isin(np.arange(self.variables + 1), literals)
        placed = np.logical_and.reduce(np.broadcast_arrays(*(true[variable] for variable in self.placing)))
        by_cell = placed.reshape(self.puzzle.cells, -1)
        placements = np.where(by_cell.any(axis=1), by_cell.argmax(axis=1), -1).astype(np.int32)
        return Board(placements, self.puzzle.width, self.puzzle.height)

    def exclude(self, board: Board) -> list[int]:
        """Return a clause that forbids all boards with the colours of ``board`` on the edges that are not grey.

        So boards that differ from ``board`` only by swapped duplicate pieces or turned symmetric pieces are forbidden
        too. The formula must contain the clauses of `channel`.
        """
        cell, side = self._seen_sides.T
        colour = self.sides.reshape(-1, 4)[board.placements[cell], side]
        return [-int(variable) for variable in self.shown[cell, side, colour]]

    @cached_property
    def _seen_sides(self) -> Block:
        """The (cell, side) of each edge that `exclude` compares: inner edges, then edges on a rim that is not grey."""
        cells = range(self.puzzle.cells)
        rim, grey = (np.array([sides(c) for c in cells]) for sides in (self.puzzle.rim_sides, self.puzzle.grey_sides))
        inner = np.array([edge[:2] for edge in self.inner_edges], dtype=np.int32).reshape(-1, 2)
        return np.concatenate([inner, np.argwhere(rim & ~grey).astype(np.int32)])


class Bailleux(Encoding):
    """The four encodings of Bailleux 2025. Numbers of variables and clauses agree with the paper's tables 4 to 7.

    FULL-4 and HALF-3 have variables for the piece (P) and for the rotation (O) on each cell; FULL-2 and HALF-2 (both
    ``merged``) have variables for the oriented piece (Q). FULL lists, for each inner edge, the pairs of oriented pieces
    that match there and that the rim allows on the two cells: a variable implies one of the pairs that have it (Gent
    2002; in FULL-4 generalised supports, Bacchus 2007, with four new variables for each pair). So the rim needs
    no clauses of its own: a variable without such pairs becomes false by a unit clause. HALF (``half``) instead has
    variables for the colours of edges (C). HALF-3 has only the clauses 'not P or not O or C', from which unit
    propagation deduces nothing about an edge before piece and rotation are known; HALF-2 also demands pieces that have
    each colour, so that unit propagation achieves arc consistency. "Exactly one variable is true" is written with
    Sinz's counters or, if ``pairwise``, with a clause for each two variables.
    """

    piece: Block  # (cells, pieces): the variables P (piece on a cell), unless ``merged``
    rotation: Block  # (cells, 4): the variables O (rotation on a cell), unless ``merged``
    value: Block  # (cells, pieces, 4): the variables Q (oriented piece on a cell), if ``merged``
    edges: Block  # (cells, 4): index of the edge at each side of a cell; edges on the rim have an index too
    colour: Block  # (edges, colours): the variables C (colour of an edge); in FULL only for counting (`channel`)

    def __init__(self, puzzle: Puzzle, name: str, *, merged: bool, half: bool, pairwise: bool = False) -> None:
        super().__init__(puzzle, name)
        self.source = f"Bailleux 2025, {name.removesuffix('-pairs').upper()}"
        self.merged, self.half, self._pairwise = merged, half, pairwise
        self._counted: list[tuple[str, Callable[[], Iterator[Block]]]] = []
        self._copies: list[tuple[Block, int, int]] = []
        cells, width, height = puzzle.cells, puzzle.width, puzzle.height
        row, column = np.divmod(np.arange(cells, dtype=np.int32), width)
        left, up = row * (width + 1) + column, height * (width + 1) + row * width + column
        self.edges = np.stack([up, left + 1, up + width, left], axis=1)
        self._allowed = np.array([puzzle.fits(cell).reshape(-1, 4) for cell in range(cells)])
        if merged:
            self.value = self.new_variables(cells, self.pieces, 4)
            self.placing = (self.value,)
        else:
            self.piece, self.rotation = self.new_variables(cells, self.pieces), self.new_variables(cells, 4)
            self.placing = self.piece[:, :, None], self.rotation[:, None, :]
        self.deciding = self.variables
        shape = int(self.edges.max()) + 1, self.colours
        if half:
            self.colour = self.new_variables(*shape)
        if merged:
            self.exactly_one("one oriented piece a cell", self.value.reshape(cells, -1))
            rows = self.value.transpose(1, 0, 2).reshape(self.pieces, -1)
            self.each_piece("one cell and rotation a piece", rows)
        else:
            self.exactly_one("one piece a cell", self.piece)
            self.each_piece("one cell a piece", np.ascontiguousarray(self.piece.T))
            self.exactly_one("one rotation a cell", self.rotation)
        self._first_support = self.variables + 1
        if half:
            self.exactly_one("one colour an edge", self.colour)
        else:
            if not merged:
                self.variables += 4 * sum(int(self._matching(*edge).sum()) for edge in self.inner_edges)
            self.colour = self.variables + 1 + np.arange(prod(shape), dtype=np.int32).reshape(shape)
        self.shown = self.colour[self.edges]

    def exactly_one(self, name: str, groups: Block) -> None:
        """Add the family of clauses ``name``, by which exactly one variable of each row of ``groups`` is true."""
        if self._pairwise:
            self._counted.append((name, partial(exactly_one_pairs, groups)))
        else:
            self._counted.append((name, partial(exactly_one_counters, groups, self.variables + 1)))
            self.variables += groups.shape[0] * max(0, groups.shape[1] - 1)

    def each_piece(self, name: str, groups: Block) -> None:
        """Add clauses that put each piece on one cell or, in a puzzle with copies, on no more cells than it has copies.

        Each row of ``groups`` has the variables of a piece.
        """
        if not self.puzzle.copies:
            self.exactly_one(name, groups)
            return
        for row, most in zip(groups, self.puzzle.limits.tolist(), strict=True):
            if most < self.puzzle.cells:
                self._copies.append((row, most, self.variables + 1))
                self.variables += len(row) * most

    def families(self) -> Iterator[Family]:
        for name, blocks in self._counted:
            yield name, blocks()
        yield "no more of a piece than its copies", chain.from_iterable(at_most_counter(*each) for each in self._copies)
        if self.half:
            yield "pieces give colours", self._give_colours()
            if self.merged:
                needed = (
                    clause([-self.shown[cell, side, colour], *self.value[cell][self.sides[:, :, side] == colour]])
                    for cell, side, colour in np.ndindex(self.shown.shape)
                )
                yield "colours need pieces", needed
        elif self.merged:
            yield "inner edges", self._edges_in_extension()
        else:
            implied = (
                np.stack([-supports[:, own], values[:, other]], axis=1)
                for _, values, supports in self._tuples()
                for own, other in permutations(range(4), 2)
            )
            yield "supports imply their tuples", implied
            yield "values need supports", (block for edge in self._tuples() for block in _supported(*edge))
        # FULL needs the clauses of `_forbid` only for cells without an inner edge: holes, and cells without neighbours
        cells = [cell for cell in range(self.puzzle.cells) if self.half or not self.puzzle.neighbours(cell)]
        if cells:
            yield "corners, rim and centre", self._forbid(cells)
        yield "clues", self.clues()

    def channel(self) -> Iterable[Block]:
        return () if self.half else self._give_colours()

    def describe(self) -> list[str]:
        cells, width, height = self.puzzle.cells, self.puzzle.width, self.puzzle.height
        merged = [
            f"Q(cell, piece, rotation) = 1 + cell*{4 * self.pieces} + piece*4 + rotation: "
            "the piece is on the cell with that many clockwise quarter turns"
        ]
        apart = [
            f"P(cell, piece) = 1 + cell*{self.pieces} + piece: the piece is on the cell",
            f"O(cell, rotation) = {1 + cells * self.pieces} + cell*4 + rotation: "
            "the piece on the cell has that many clockwise quarter turns",
        ]
        colours = [
            f"C(edge, colour) = {int(self.colour[0, 0])} + edge*{self.colours} + colour (grey = 0, others by number); "
            f"edge = row*{width + 1} + column for upright edges from the left, "
            f"then {height * (width + 1)} + row*{width} + column for level edges from above",
        ]
        return (merged if self.merged else apart) + (colours if self.half else [])

    def _give_colours(self) -> Iterator[Block]:
        """Yield clauses by which the piece and rotation on a cell imply the colours of its edges."""
        return (self.colours_of(cell, np.arange(self.pieces)) for cell in range(self.puzzle.cells))

    def _forbid(self, cells: Sequence[int]) -> Iterator[Block]:
        """Yield clauses that forbid, on each of ``cells``, the oriented pieces that the cell does not allow."""
        if self.merged:
            yield units(-self.value[cells][~self._allowed[cells]])
            return
        allowed = self._allowed[cells]
        some, every = allowed.any(axis=2), allowed.all(axis=2)
        yield units(-self.piece[cells][~some])
        for at, piece in np.argwhere(some & ~every):
            yield clause([-self.piece[cells[at], piece], *self.rotation[cells[at], allowed[at, piece]]])

    def _matching(self, cell: int, side: int, neighbour: int) -> BoolArray:
        """Return which pairs of oriented pieces fit on both cells of an edge and match, bool (4*pieces, 4*pieces)."""
        here, there = self.sides[:, :, side].reshape(-1), self.sides[:, :, side ^ 2].reshape(-1)
        piece, again = np.repeat(np.arange(self.pieces), 4), np.repeat(self.puzzle.limits > 1, 4)
        match: BoolArray = (here[:, None] == there[None, :]) & (again | (piece[:, None] != piece[None, :]))
        match &= self._allowed[cell].reshape(-1, 1) & self._allowed[neighbour].reshape(1, -1)
        return match

    def _edges_in_extension(self) -> Iterator[Block]:
        """Yield the clauses of FULL-2: an oriented piece on one side of an edge needs a matching piece on the other."""
        for cell, side, neighbour in self.inner_edges:
            match = self._matching(cell, side, neighbour)
            here, there = self.value[cell].reshape(-1), self.value[neighbour].reshape(-1)
            for values, others, rows in ((here, there, match), (there, here, match.T)):
                yield from (clause([-value, *others[row]]) for value, row in zip(values, rows, strict=True))

    def _tuples(self) -> Iterator[tuple[list[Block], Block, Block]]:
        """Yield for each inner edge in FULL-4: all P and O of both cells; by pair, its P and O and new variables."""
        first = self._first_support
        for cell, side, neighbour in self.inner_edges:
            here, there = np.nonzero(self._matching(cell, side, neighbour))
            domains = [self.piece[cell], self.rotation[cell], self.piece[neighbour], self.rotation[neighbour]]
            chosen = (here // 4, here % 4, there // 4, there % 4)
            values = np.stack([domain[at] for domain, at in zip(domains, chosen, strict=True)], axis=1)
            yield domains, values, first + np.arange(4 * len(here), dtype=np.int32).reshape(-1, 4)
            first += 4 * len(here)


def _supported(domains: list[Block], values: Block, supports: Block) -> Iterator[Block]:
    """Yield the clauses of FULL-4 by which each variable P or O implies one of its support variables."""
    for own, domain in enumerate(domains):
        order = np.argsort(values[:, own], kind="stable")
        bounds = np.searchsorted(values[order, own], np.append(domain, domain[-1] + 1))
        for value, begin, end in zip(domain, bounds[:-1], bounds[1:], strict=True):
            yield clause([-value, *supports[order[begin:end], own]])


class Triangles(Encoding):
    """An encoding with variables p(piece, cell), o(piece, rotation), t(triangle, colour), in the paper's order.

    A triangle is the quarter of a cell at one of its sides. The formulas printed in the paper have slightly more
    clauses than the paper counts. This encoding has exactly the number counted for 256 pieces and 17 colours: every
    piece has one cell and every cell one piece; one of the two equal triangles of an inner edge has exactly one colour
    other than grey; a triangle on the rim has grey and no other colour. Grey inside the board needs no clause, because
    the rim uses all grey sides. Without frame, triangles on the rim have no clauses, unless the rim has a fixed colour.
    If a colour has a mate, its variable for a right or lower triangle means that the triangle has the mate. Holes and
    their blanks have unit clauses only.
    """

    source = "Cuvillier & Szymkowiak 2010, 2.2.2"

    def __init__(self, puzzle: Puzzle) -> None:
        super().__init__(puzzle, "triangles")
        cells = puzzle.cells
        self.piece, self.rotation = self.new_variables(cells, cells), self.new_variables(cells, 4)  # first index: piece
        self.placing = self.piece.T[:, :, None], self.rotation[None, :, :]
        self.deciding = self.variables
        self.shown = self.new_variables(cells, 4, self.colours)

    def families(self) -> Iterator[Family]:
        puzzle = self.puzzle
        cells = [cell for cell in range(puzzle.cells) if cell not in puzzle.holes]
        by_piece = np.ascontiguousarray(self.piece[: puzzle.piece_count, cells])
        by_cell = np.ascontiguousarray(by_piece.T)
        rotation = self.rotation[: puzzle.piece_count]
        required = np.array([puzzle.required_sides(cell) for cell in range(puzzle.cells)], dtype=np.float64)
        cell, side = np.nonzero(np.isfinite(required))  # sides with a required colour: on the rim or towards holes
        colour = required[cell, side].astype(np.int32)
        colour = np.where(np.isin(side, (RIGHT, DOWN)), puzzle.mate[colour], colour)
        rim, own = self.shown[cell, side], np.array(self.palette) == colour[:, None]
        yield "at least one piece a cell", [by_cell]
        yield "at least one cell a piece", [by_piece]
        yield "at most one piece a cell", at_most_one_pairs(by_cell)
        yield "at most one cell a piece", at_most_one_pairs(by_piece)
        yield "at least one rotation a piece", [rotation]
        yield "at most one rotation a piece", at_most_one_pairs(rotation)
        if self.inner_edges:
            inner = np.array([self.shown[cell, side, 1:] for cell, side, _ in self.inner_edges], dtype=np.int32)
            yield "at least one colour an inner edge", [inner]
            yield "at most one colour an inner edge", at_most_one_pairs(inner)
        yield f"{'colour' if puzzle.rim else 'grey'} on the rim", [units(rim[own]), units(-rim[~own])]
        if not puzzle.turns:
            yield "no piece is turned", [units(-self.rotation[:, 1:])]
        touching = ((self.shown[cell, side], self.shown[other, side ^ 2]) for cell, side, other in self.inner_edges)
        equal = (np.stack([-sign * here, sign * there], axis=1) for here, there in touching for sign in (1, -1))
        yield "touching triangles are equal", equal
        yield "pieces give colours", (self.colours_of(np.array(cells), piece) for piece in range(puzzle.piece_count))
        yield "clues", self.clues()
        if puzzle.holes:
            wrong = np.zeros(self.piece.shape, dtype=np.bool_)  # true: a blank outside its hole, a piece on a hole
            wrong[puzzle.piece_count :] = True
            wrong[:, list(puzzle.holes)] = True
            for clue in puzzle.fixed:
                wrong[clue.piece, clue.cell] = False
            yield "blanks on holes only", [units(-self.piece[wrong])]

    def meaning(self, variable: int) -> tuple[str, int, int] | tuple[str, int, int, int]:
        """Return what a variable means, such as ("piece", piece, cell) or ("triangle", cell, side, colour)."""
        cells, number = self.puzzle.cells, variable - 1
        if number < cells * cells:
            return "piece", *divmod(number, cells)
        if number < self.deciding:
            return "rotation", *divmod(number - cells * cells, 4)
        triangle, number = divmod(number - self.deciding, self.colours)
        (cell, side), colour = divmod(triangle, 4), self.palette[number]
        return "triangle", cell, side, int(self.puzzle.mate[colour]) if side in (RIGHT, DOWN) else colour

    def in_words(self, literal: int) -> str:
        """Return a literal in words, such as "piece 3 on row 1, column 2"; a negative literal has "not"."""
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
    """Encode a puzzle by the encoding ``name``. Raises InputError if it is unknown or cannot take the puzzle."""
    if name not in ENCODINGS:
        raise InputError(unknown("encoding", name, ENCODINGS))
    solver_for(f"sat:{name}", puzzle, count_all=False)
    return ENCODINGS[name](puzzle)
