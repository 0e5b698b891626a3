"""Edge matching as exact cover (Jolivet 2008, seed 003, 2.2): an option for each oriented piece on each cell.

Every option covers its piece and its cell. An inner edge is written in one of three codes:

- ``unary``: k items an edge; colour j is the set {j} to the upper or left piece, all but j to the other;
- ``binary``: about log2 k items; the bits of j, and their complement;
- ``colours``: one secondary item an edge, which takes j as its colour (Knuth's exact cover with colours, XCC).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from exact.twins import choices
from instances.board import Board
from instances.puzzle import GREY, Puzzle

IntArray = npt.NDArray[np.int32]
CODES = ("unary", "binary", "colours")


@dataclass(frozen=True)
class CoverModel:
    """Items 0..``primary``-1 must be covered once, the others take one colour; pieces come first, then cells, then
    edges.

    ``item``, ``colour``: one entry a node, options one after the other; ``begin``: first node of each option, and the
    end.
    ``cell``, ``oriented``: what each option lays.
    """

    puzzle: Puzzle
    primary: int
    items: int
    begin: IntArray
    item: IntArray
    colour: IntArray
    cell: IntArray
    oriented: IntArray

    def board(self, options: npt.NDArray[np.int32] | list[int]) -> Board:
        """The board that a set of options lays."""
        placements = np.full(self.puzzle.cells, -1, dtype=np.int32)
        placements[self.cell[options]] = self.oriented[options]
        return Board(placements, self.puzzle.width, self.puzzle.height)


def build(puzzle: Puzzle, code: str, *, all_four: bool = False) -> CoverModel:
    """The options of ``puzzle``. ``all_four``: also the rotations of symmetric pieces that look the same."""
    palette = [colour for colour in np.unique(puzzle.pieces).tolist() if colour != GREY]
    dense = {colour: number for number, colour in enumerate(palette)}
    per_edge = {"unary": len(palette), "binary": max(0, len(palette) - 1).bit_length(), "colours": 1}[code]
    first_edge = 2 * puzzle.cells
    edge = _edge_numbers(puzzle)
    item: list[int] = []
    colour: list[int] = []
    begin = [0]
    cells: list[int] = []
    laid: list[int] = []
    for cell in range(puzzle.cells):
        for oriented in choices(puzzle, cell, all_four=all_four):
            item += [oriented >> 2, puzzle.cells + cell]
            colour += [0, 0]
            for side in range(4):
                if (cell, side) not in edge:
                    continue
                shade = dense[int(puzzle.oriented[oriented, side])]
                base = first_edge + edge[cell, side] * per_edge
                if code == "colours":
                    item.append(base)
                    colour.append(1 + shade)
                    continue
                upper_or_left = side in (1, 2)
                bits = range(per_edge)
                own = {shade} if code == "unary" else {bit for bit in bits if shade >> bit & 1}
                covered = [bit for bit in bits if (bit in own) == upper_or_left]
                item += [base + bit for bit in covered]
                colour += [0] * len(covered)
            begin.append(len(item))
            cells.append(cell)
            laid.append(oriented)
    items = first_edge + puzzle.max_score * per_edge
    arrays = [np.array(values, dtype=np.int32) for values in (begin, item, colour, cells, laid)]
    return CoverModel(puzzle, first_edge if code == "colours" else items, items, *arrays)


def _edge_numbers(puzzle: Puzzle) -> dict[tuple[int, int], int]:
    """Number of the inner edge at each side of each cell."""
    numbers: dict[tuple[int, int], int] = {}
    for cell in range(puzzle.cells):
        grey = puzzle.grey_sides(cell)
        for side, other in ((1, cell + 1), (2, cell + puzzle.width)):
            if not grey[side]:
                numbers[cell, side] = numbers[other, (side + 2) % 4] = len(numbers) // 2
    return numbers
