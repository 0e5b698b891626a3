"""Edge matching as exact cover (Jolivet 2008, seed 003, 2.2): an option for each oriented piece on each cell.

Every option covers its piece and its cell. An inner edge is written in one of three codes:

- ``unary``: k items an edge; colour j is the set {j} to the upper or left piece, all but j to the other;
- ``binary``: about log2 k items; the bits of j, and their complement;
- ``colours``: one secondary item an edge, which takes j as its colour (Knuth's exact cover with colours, XCC).
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from exact.piece_multiplicity import allowed_placements
from instances.board import Board
from instances.puzzle import DOWN, GREY, RIGHT, Puzzle

IntArray = npt.NDArray[np.int32]
CODES = ("unary", "binary", "colours")
_FIRST = (RIGHT, DOWN)  # the sides that show a joint's colour itself; the piece beyond shows the complement


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


def matrix_nodes(puzzle: Puzzle, code: str, *, all_four: bool = False) -> int:
    """How many nodes `build` makes, without making them: options and their items by kind of cell."""
    shades, per_edge = _shades(puzzle, code)
    weight = np.zeros((4, int(puzzle.pieces.max()) + 1), dtype=np.int64)
    for side in range(4):
        for colour, shade in shades.items():
            weight[side, colour] = 1 if code == "colours" else len(_covered(shade, side, code, per_edge))
    clues = {clue.cell for clue in puzzle.clues}
    alike: dict[tuple[tuple[bool, ...], int], list[int]] = {}
    for cell in range(puzzle.cells):
        alike.setdefault((puzzle.rim_sides(cell), cell if cell in clues else -1), []).append(cell)
    nodes = 0
    for cells in alike.values():
        options = allowed_placements(puzzle, cells[0], all_four=all_four)
        nodes += len(cells) * (2 * len(options) + int(weight[range(4), puzzle.oriented[options]].sum()))
    return nodes


def build(puzzle: Puzzle, code: str, *, all_four: bool = False) -> CoverModel:
    """The options of ``puzzle``. ``all_four``: also the rotations of symmetric pieces that look the same."""
    shades, per_edge = _shades(puzzle, code)
    first_edge = 2 * puzzle.cells
    edge = _edge_numbers(puzzle)
    item, colour, begin = array("i"), array("i"), array("i", [0])  # lists would take five times as much
    cells, laid = array("i"), array("i")
    for cell in range(puzzle.cells):
        for oriented in allowed_placements(puzzle, cell, all_four=all_four):
            item.extend((oriented >> 2, puzzle.cells + cell))
            colour.extend((0, 0))
            for side in range(4):
                if (cell, side) not in edge:
                    continue
                shade = shades[int(puzzle.oriented[oriented, side])]
                base = first_edge + edge[cell, side] * per_edge
                if code == "colours":
                    item.append(base)
                    colour.append(1 + shade)
                    continue
                covered = _covered(shade, side, code, per_edge)
                item.extend(base + bit for bit in covered)
                colour.extend(0 for _ in covered)
            begin.append(len(item))
            cells.append(cell)
            laid.append(oriented)
    items = first_edge + puzzle.max_score * per_edge
    arrays = [np.array(values, dtype=np.int32) for values in (begin, item, colour, cells, laid)]
    return CoverModel(puzzle, first_edge if code == "colours" else items, items, *arrays)


def _shades(puzzle: Puzzle, code: str) -> tuple[dict[int, int], int]:
    """Numbers from 0 for the colours that occur, and the items an edge has in ``code``."""
    palette = [colour for colour in np.unique(puzzle.pieces).tolist() if colour != GREY]
    per_edge = {"unary": len(palette), "binary": max(0, len(palette) - 1).bit_length(), "colours": 1}[code]
    return {colour: number for number, colour in enumerate(palette)}, per_edge


def _covered(shade: int, side: int, code: str, per_edge: int) -> list[int]:
    """The items of an edge that a piece covers which shows ``shade`` there, in the codes without colours."""
    bits = range(per_edge)
    own = {shade} if code == "unary" else {bit for bit in bits if shade >> bit & 1}
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
