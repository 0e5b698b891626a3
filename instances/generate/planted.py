"""What the generators share: cutting a coloured grid into pieces, and clues from the planted solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from instances.board import Board
from instances.generate.portable_random import PortableRandom
from instances.puzzle import MAX_CELLS, MAX_COLOUR, Clue, Puzzle, rotate
from lns_support.errors import InputError


@dataclass(frozen=True)
class Planted:
    """A generated puzzle and its planted solution.

    Attributes
    ----------
    puzzle : Puzzle
    solution : Board
        The perfect board that the pieces were cut from.
    """

    puzzle: Puzzle
    solution: Board

    def with_clues(self, cells: Sequence[int]) -> Planted:
        """Add clues.

        Parameters
        ----------
        cells : sequence of int
            Cells whose pieces in the solution become clues, besides the present ones.

        Returns
        -------
        Planted
            The same puzzle and solution with these clues.
        """
        clue_cells = {clue.cell for clue in self.puzzle.clues} | set(cells)
        clues = (Clue(cell, *divmod(int(self.solution.placements[cell]), 4)) for cell in clue_cells)
        return replace(self, puzzle=self.puzzle.with_clues(clues))


def clue_cells(width: int, height: int, count: int, seed: int = 0) -> list[int]:
    """Choose cells for clues as Eternity II has them.

    The first lies in the middle, the next four two cells inwards from the corners, nearer on small boards, and all
    further ones on random cells. On 16x16 the first five are those of Eternity II: 135, 34, 45, 210 and 221.

    Parameters
    ----------
    width, height : int
    count : int
        Number of clues.
    seed : int, optional
        Random seed of the cells beyond the first five.

    Returns
    -------
    list of int
        Distinct cells.

    Raises
    ------
    InputError
        If the shape is out of range or the board has fewer cells than ``count``.
    """
    check_shape(width, height)
    if not 0 <= count <= width * height:
        raise InputError(f"{count} clues for a board of {width} x {height}; expected 0 to {width * height}")
    inset = max(0, min(2, (min(width, height) - 3) // 2))
    rows, columns = (inset, height - 1 - inset), (inset, width - 1 - inset)
    preferred = [height // 2 * width + (width - 1) // 2, *(row * width + column for row in rows for column in columns)]
    others = list(range(width * height))
    PortableRandom(seed).shuffle(others)
    return list(dict.fromkeys(preferred + others))[:count]


def corner_cells(width: int, height: int) -> list[int]:
    """The cells in the corners of a board.

    Parameters
    ----------
    width, height : int

    Returns
    -------
    list of int
        Four cells in order; fewer on a board that is one cell wide or high.
    """
    return sorted({0, width - 1, width * (height - 1), width * height - 1})


def check_shape(width: int, height: int) -> None:
    """Raise InputError if a board of this shape has no cells or too many; called before arrays are allocated."""
    if width < 1 or height < 1 or width * height > MAX_CELLS:
        raise InputError(f"a board of {width} x {height} (width x height); expected 1 to {MAX_CELLS} cells")


def check_colours(colours: int) -> None:
    """Raise InputError if a number of colours is out of range."""
    if not 1 <= colours <= MAX_COLOUR:
        raise InputError(f"{colours} colours; expected 1 to {MAX_COLOUR}")


def plant(
    right: Sequence[int], down: Sequence[int], width: int, height: int, random: PortableRandom, name: str
) -> Planted:
    """Cut a coloured grid into pieces and shuffle and rotate them.

    Parameters
    ----------
    right, down : sequence of int
        Colour of the joint to the right of each cell and below it, row by row. Values on the rim are ignored: the rim
        becomes grey.
    width, height : int
    random : PortableRandom
        Draws the order and rotations of the pieces.
    name : str
        Name of the puzzle.

    Returns
    -------
    Planted
        Its colours are renumbered from 1 without gaps, in the same order.
    """
    quads = []
    for cell in range(width * height):
        row, column = divmod(cell, width)
        quads.append(
            (
                down[cell - width] if row > 0 else 0,
                right[cell] if column < width - 1 else 0,
                down[cell] if row < height - 1 else 0,
                right[cell - 1] if column > 0 else 0,
            )
        )
    number = {colour: i for i, colour in enumerate(sorted({0, *(colour for quad in quads for colour in quad)}))}
    cell_of = list(range(width * height))
    random.shuffle(cell_of)
    pieces = []
    placements = [0] * len(cell_of)
    for piece, cell in enumerate(cell_of):
        rotation = random.below(4)  # of the piece in the planted solution
        pieces.append([number[colour] for colour in rotate(quads[cell], -rotation)])
        placements[cell] = piece * 4 + rotation
    puzzle = Puzzle(np.array(pieces, dtype=np.int32), width, height, name=name)
    return Planted(puzzle, Board(np.array(placements, dtype=np.int32), width, height))
