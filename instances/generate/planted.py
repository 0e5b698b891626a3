"""What the generators share: joints of a grid, the cut into pieces, and the clues taken from the planted solution."""

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
    """A generated puzzle and the perfect board it was cut from."""

    puzzle: Puzzle
    solution: Board

    def with_clues(self, cells: Sequence[int]) -> Planted:
        """The same puzzle with the planted pieces of ``cells`` added to its clues."""
        pinned = {clue.cell for clue in self.puzzle.clues} | set(cells)
        clues = (Clue(cell, *divmod(int(self.solution.placements[cell]), 4)) for cell in pinned)
        return replace(self, puzzle=self.puzzle.with_clues(clues))


def clue_cells(width: int, height: int, count: int, seed: int = 0) -> list[int]:
    """``count`` cells for clues, in places like Eternity II's: the middle, then the four corners two cells in.

    On 16x16 these are its own cells 135, 34, 45, 210 and 221. Small boards move the four nearer to the corners;
    clues beyond the five lie on random cells. Raises InputError when the board has fewer cells than clues.
    """
    check_shape(width, height)
    if not 0 <= count <= width * height:
        raise InputError(f"{count} clues for a board of {width} x {height}; expected 0 to {width * height}")
    inset = max(0, min(2, (min(width, height) - 3) // 2))
    rows, columns = (inset, height - 1 - inset), (inset, width - 1 - inset)
    places = [height // 2 * width + (width - 1) // 2, *(row * width + column for row in rows for column in columns)]
    others = list(range(width * height))
    PortableRandom(seed).shuffle(others)
    return list(dict.fromkeys(places + others))[:count]


def corner_cells(width: int, height: int) -> list[int]:
    """The corners of the board (fewer than four on a board one cell wide)."""
    return sorted({0, width - 1, width * (height - 1), width * height - 1})


def check_shape(width: int, height: int) -> None:
    """Raises InputError for a board that no puzzle may have, before anything of its size is made."""
    if width < 1 or height < 1 or width * height > MAX_CELLS:
        raise InputError(f"a board of {width} x {height} (width x height); expected 1 to {MAX_CELLS} cells")


def check_colours(colours: int) -> None:
    """Raises InputError for a number of colours that cannot be."""
    if not 1 <= colours <= MAX_COLOUR:
        raise InputError(f"{colours} colours; expected 1 to {MAX_COLOUR}")


def plant(
    right: Sequence[int], down: Sequence[int], width: int, height: int, draws: PortableRandom, name: str
) -> Planted:
    """Cut a coloured grid into pieces, turned and shuffled.

    ``right``, ``down``: colour of the joint to the right of and below each cell, row-major; what they hold on the rim
    is replaced by grey. Colours are renumbered from 1 without gaps, in their order.
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
    draws.shuffle(cell_of)
    pieces = []
    placements = [0] * len(cell_of)
    for piece, cell in enumerate(cell_of):
        rotation = draws.below(4)  # how the piece must be turned to lie as planted
        pieces.append([number[colour] for colour in rotate(quads[cell], -rotation)])
        placements[cell] = piece * 4 + rotation
    puzzle = Puzzle(np.array(pieces, dtype=np.int32), width, height, name=name)
    return Planted(puzzle, Board(np.array(placements, dtype=np.int32), width, height))
