"""Edge matching as exact cover (Jolivet 2008, 2.2): an option for each oriented piece on each cell.

Every option covers its piece and its cell. An inner edge is written in one of three codes (``k`` colours):

- ``unary``: k items an edge; for colour j the upper or left piece covers item j, the other piece all others;
- ``binary``: about log2 k items; one piece covers those of the bits of j, the other their complement;
- ``colours``: one secondary item an edge, which takes j as its colour (Knuth's exact cover with colours, XCC).
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from exact.building import Check, unlimited
from exact.cover.kernel import Problem
from exact.piece_multiplicity import allowed_placements
from instances.board import Board
from instances.puzzle import DOWN, GREY, RIGHT, Puzzle, Sides

IntArray = npt.NDArray[np.int32]
CODES = ("unary", "binary", "colours")
_FIRST = (
    RIGHT,
    DOWN,
)  # the piece on this side of an edge covers the colour's own items, the piece beyond the complement


@dataclass(frozen=True)
class CoverModel:
    """An exact cover problem. Items are numbered: pieces, cells, edges; a *node* is an item of an option.

    Parameters
    ----------
    puzzle : Puzzle
    primary : int
        Items 0 to ``primary`` - 1 must be covered exactly once; the others are secondary and take one colour.
    items : int
        Number of all items.
    begin : ndarray of int32, shape (options + 1,)
        First node of each option, and the end.
    item, colour : ndarray of int32, shape (nodes,)
        The item of each node, and its colour (0 = none), option after option.
    cell, oriented : ndarray of int32, shape (options,)
        The cell of each option, and the oriented piece (piece*4 + rotation) that it places there.
    """

    puzzle: Puzzle
    primary: int
    items: int
    begin: IntArray
    item: IntArray
    colour: IntArray
    cell: IntArray
    oriented: IntArray

    @property
    def problem(self) -> Problem:
        """The problem for the kernel; no item has copies."""
        none = np.zeros(0, dtype=np.int32)
        return Problem(
            begin=self.begin,
            item=self.item,
            colour=self.colour,
            images=none,
            beside=none.reshape(0, 4),
            pieces=none,
            primary=self.primary,
            kinds=self.items,
            zones=False,
            dead_ends=True,
        )

    def board(self, options: npt.NDArray[np.int32] | list[int]) -> Board:
        """The board of a set of options."""
        placements = np.full(self.puzzle.cells, -1, dtype=np.int32)
        placements[self.cell[options]] = self.oriented[options]
        return Board(placements, self.puzzle.width, self.puzzle.height)


def matrix_nodes(puzzle: Puzzle, code: str, *, all_four: bool = False) -> int:
    """How many nodes `build` makes, computed without making them."""
    numbers, per_edge = _colour_numbers(puzzle, code)
    weight = np.zeros((4, int(puzzle.pieces.max()) + 1), dtype=np.int64)
    for side in range(4):
        for colour, number in numbers.items():
            weight[side, colour] = 1 if code == "colours" else len(_covered(number, side, code, per_edge))
    fixed = {clue.cell for clue in puzzle.fixed}
    similar_cells: dict[tuple[Sides, Sides, int], list[int]] = {}
    for cell in range(puzzle.cells):
        kind = puzzle.rim_sides(cell), puzzle.grey_sides(cell), cell if cell in fixed else -1
        similar_cells.setdefault(kind, []).append(cell)
    nodes = 0
    for (rim, _, _), cells in similar_cells.items():
        options = allowed_placements(puzzle, cells[0], all_four=all_four)
        inner = [side for side in range(4) if not rim[side]]
        nodes += len(cells) * (2 * len(options) + int(weight[inner, puzzle.oriented[options][:, inner]].sum()))
    return nodes


def build(puzzle: Puzzle, code: str, *, all_four: bool = False, check: Check = unlimited) -> CoverModel:
    """The exact cover problem of a puzzle.

    Parameters
    ----------
    puzzle : Puzzle
    code : str
        One of `CODES`.
    all_four : bool
        Include the rotations of symmetric pieces that look equal.
    check : callable
        Called for each cell.
    """
    numbers, per_edge = _colour_numbers(puzzle, code)
    first_edge = 2 * puzzle.cells
    edge = _edge_numbers(puzzle)
    item, colour, begin = array("i"), array("i"), array("i", [0])  # lists would take five times as much
    cells, placed = array("i"), array("i")
    for cell in range(puzzle.cells):
        check()
        for oriented in allowed_placements(puzzle, cell, all_four=all_four):
            item.extend((oriented >> 2, puzzle.cells + cell))
            colour.extend((0, 0))
            for side in range(4):
                if (cell, side) not in edge:
                    continue
                number = numbers[int(puzzle.oriented[oriented, side])]
                base = first_edge + edge[cell, side] * per_edge
                if code == "colours":
                    item.append(base)
                    colour.append(1 + number)
                    continue
                covered = _covered(number, side, code, per_edge)
                item.extend(base + bit for bit in covered)
                colour.extend(0 for _ in covered)
            begin.append(len(item))
            cells.append(cell)
            placed.append(oriented)
    items = first_edge + puzzle.max_score * per_edge
    return CoverModel(
        puzzle=puzzle,
        primary=first_edge if code == "colours" else items,
        items=items,
        begin=np.array(begin, dtype=np.int32),
        item=np.array(item, dtype=np.int32),
        colour=np.array(colour, dtype=np.int32),
        cell=np.array(cells, dtype=np.int32),
        oriented=np.array(placed, dtype=np.int32),
    )


def _colour_numbers(puzzle: Puzzle, code: str) -> tuple[dict[int, int], int]:
    """The colours that occur, numbered from 0, and the number of items of an edge in ``code``."""
    palette = [colour for colour in np.unique(puzzle.pieces).tolist() if colour != GREY]
    per_edge = {"unary": len(palette), "binary": max(0, len(palette) - 1).bit_length(), "colours": 1}[code]
    return {colour: number for number, colour in enumerate(palette)}, per_edge


def _covered(number: int, side: int, code: str, per_edge: int) -> list[int]:
    """The items of an edge that a piece with colour ``number`` at ``side`` covers, in the codes without colours."""
    bits = range(per_edge)
    own = {number} if code == "unary" else {bit for bit in bits if number >> bit & 1}
    return [bit for bit in bits if (bit in own) == (side in _FIRST)]


def _edge_numbers(puzzle: Puzzle) -> dict[tuple[int, int], int]:
    """Number of the inner edge at each side of each cell."""
    numbers: dict[tuple[int, int], int] = {}
    for cell in range(puzzle.cells):
        grey = puzzle.rim_sides(cell)
        for side, other in ((1, cell + 1), (2, cell + puzzle.width)):
            if not grey[side]:
                numbers[cell, side] = numbers[other, (side + 2) % 4] = len(numbers) // 2
    return numbers
