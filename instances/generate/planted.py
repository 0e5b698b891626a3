"""What the generators share: random numbers, a board coloured and cut into pieces, clues from the solution."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, MutableSequence, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from lns.instances.board import EMPTY, Board
from lns.instances.errors import InputError
from lns.instances.layout import Layout
from lns.instances.puzzle import DOWN, GREY, LEFT, MAX_COLOUR, RIGHT, UP, Clue, Puzzle, check_shape


class PortableRandom:
    """A seeded generator of random numbers that are the same on every machine and in every version of Python.

    Python guarantees the sequence of ``Random(int).random()``, but not those of ``randrange``, ``shuffle`` or
    ``sample``; NumPy guarantees none across versions. So every number here is derived from ``random()``. ``int(random()
    * bound)`` never reaches ``bound`` and has a bias below bound / 2**53. Raises InputError if the seed is negative:
    Python's seeding drops the sign, so -7 would silently mean 7.
    """

    def __init__(self, seed: int) -> None:
        if seed < 0:
            raise InputError(f"seed {seed}; expected 0 or more")
        self._random = random.Random(seed)  # an int: the seeding by strings and bytes has changed between versions

    def below(self, bound: int) -> int:
        """A uniform whole number from 0 to ``bound - 1``."""
        return int(self._random.random() * bound)

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Shuffle a list in place (Fisher-Yates)."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]


class Planted(NamedTuple):
    """A generated puzzle and its planted solution.

    Attributes
    ----------
    puzzle : Puzzle
        The generated puzzle.
    solution : Board
        The perfect board that the pieces were cut from.
    """

    puzzle: Puzzle
    solution: Board

    def with_mates(self, pairs: int, seed: int = 0) -> Planted:
        """The same puzzle with mates for so many of its colours, but for that of a rim; a ``seed`` draws them.

        A joint of such a colour has it on one side and its mate on the other. Raises InputError if there are too few.
        """
        puzzle, placements = self.puzzle, self.solution.placements.tolist()
        colours = [colour for colour in range(1, puzzle.colours + 1) if colour != puzzle.rim]
        if not 0 <= pairs <= len(colours):
            raise InputError(f"mates for {pairs} colours of {puzzle.name}; expected 0 to {len(colours)}")
        if not pairs:
            return self
        if puzzle.copies:
            raise InputError(f"mates for the tiles of {puzzle.name}, of which any number may be used; expected none")
        random, pieces = PortableRandom(seed), puzzle.pieces.copy()
        random.shuffle(colours)
        mate = {colour: puzzle.colours + 1 + number for number, colour in enumerate(sorted(colours[:pairs]))}
        for cell, oriented in enumerate(placements):
            beyond = dict(puzzle.neighbours(cell))
            for side, required in enumerate(puzzle.required_sides(cell)):
                colour = int(puzzle.turned[oriented, side])
                if required is None and beyond.get(side, cell) >= cell and colour in mate:
                    here = random.below(2) == 0
                    if here or side in beyond:
                        piece, turns = divmod(oriented if here else placements[beyond[side]], 4)
                        pieces[piece, (side + 2 * (not here) - turns) % 4] = mate[colour]
        mated = replace(puzzle, pieces=pieces, mates=tuple(mate.items()), name=f"{puzzle.name}-m{pairs}")
        return self._replace(puzzle=mated)

    def with_clues(self, cells: Sequence[int]) -> Planted:
        """The same puzzle with the pieces of the solution on ``cells`` as clues, besides the present ones."""
        clue_cells = {clue.cell for clue in self.puzzle.clues} | set(cells)
        clues = (Clue(cell, *divmod(int(self.solution.placements[cell]), 4)) for cell in clue_cells)
        return self._replace(puzzle=self.puzzle.with_clues(clues))


def clue_cells(width: int, height: int, count: int, seed: int = 0, *, holes: Sequence[int] = ()) -> list[int]:
    """Choose ``count`` distinct cells for clues as Eternity II has them, but for the ``holes``.

    The first lies in the middle, the next four two cells inwards from the corners, nearer on small boards, and all
    further ones on random cells of a ``seed``. On 16x16 the first five are those of Eternity II: 135, 34, 45, 210 and
    221. Raises InputError if the shape is out of range or the board has fewer cells.
    """
    check_shape(width, height)
    room = width * height - len(holes)
    if not 0 <= count <= room:
        raise InputError(f"{count} clues for a board of {width} x {height}; expected 0 to {room}")
    inset = max(0, min(2, (min(width, height) - 3) // 2))
    rows, columns = (inset, height - 1 - inset), (inset, width - 1 - inset)
    preferred = [height // 2 * width + (width - 1) // 2, *(row * width + column for row in rows for column in columns)]
    others = list(range(width * height))
    PortableRandom(seed).shuffle(others)
    return [cell for cell in dict.fromkeys(preferred + others) if cell not in holes][:count]


def corner_cells(width: int, height: int) -> list[int]:
    """The cells in the corners of a board in order: four, fewer on a board that is one cell wide or high."""
    return sorted({0, width - 1, width * (height - 1), width * height - 1})


def check_colours(colours: int) -> None:
    """Raise InputError if a number of colours is out of range."""
    if not 1 <= colours <= MAX_COLOUR:
        raise InputError(f"{colours} colours; expected 1 to {MAX_COLOUR}")


def even_colours(colours: Iterable[int], count: int, random: PortableRandom) -> list[int]:
    """So many colours in random order; the counts of two colours differ by at most one."""
    order = list(colours)
    random.shuffle(order)  # the first colours occur once more
    drawn = [order[i % len(order)] for i in range(count)]
    random.shuffle(drawn)
    return drawn


def plant(
    right: Sequence[int], down: Sequence[int], width: int, height: int, random: PortableRandom, name: str
) -> Planted:
    """`plant_board` with a frame; ``right`` and ``down`` are the colours of the joints right of and below each cell."""
    return plant_board(Layout(width, height), lambda cell, at: (right if at == RIGHT else down)[cell], random, name)


def plant_board(
    board: Layout,
    colour: Callable[[int, int], int],
    random: PortableRandom,
    name: str,
    *,
    turns: bool = True,
    rim: int = GREY,
) -> Planted:
    """Colour the edges of a board, cut it into pieces, and shuffle and rotate these.

    ``colour`` gives the colour of the edge on a side of a cell; it is called once for each edge that is not grey, cell
    by cell, in the order up, left, right, down. On a board without frame the outer edge has the colour ``rim`` if that
    is not grey. Colours are then renumbered from 1 without gaps. ``random`` draws the order of the pieces and, if they
    may be turned (``turns``), their rotations.
    """
    quads = np.zeros((board.cells, 4), dtype=np.int32)
    for cell in range(board.cells):
        grey, beyond = board.grey_sides(cell), dict(board.neighbours(cell))
        for side in (UP, LEFT, RIGHT, DOWN):
            if side in (UP, LEFT) and side in beyond:
                quads[cell, side] = quads[beyond[side], side ^ 2]
            elif not grey[side]:
                quads[cell, side] = (side not in beyond and rim) or colour(cell, side)
    cell_of = [cell for cell in range(board.cells) if cell not in board.holes]
    random.shuffle(cell_of)
    rotations = [random.below(4) if turns else 0 for _ in cell_of]  # of the pieces in the planted solution
    pieces = [np.roll(quads[cell], -rotation) for cell, rotation in zip(cell_of, rotations, strict=True)]
    placements = np.full(board.cells, EMPTY)
    placements[cell_of] = 4 * np.arange(len(cell_of)) + rotations
    rules: dict[str, Any] = {"holes": board.holes, "framed": board.framed, "turns": turns, "rim": rim}
    puzzle = Puzzle(np.array(pieces), board.width, board.height, name=name, **rules).renumbered()
    return Planted(puzzle, Board(placements, board.width, board.height).with_blanks(puzzle))
