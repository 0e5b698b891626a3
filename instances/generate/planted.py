"""Shared parts of the generators: random numbers, cutting of boards into pieces, clues, default numbers of colours.

With the default numbers of colours a random puzzle is expected to have about one solution. Few colours leave many
solutions, many colours leave forced moves. The hardest puzzles lie between, where the expected number of solutions
crosses 1 (Jolivet 2008, section 4.2; Ansótegui et al. 2008, "How hard is a commercial puzzle: the Eternity II
challenge").
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, MutableSequence, Sequence
from dataclasses import replace
from math import lgamma, log
from typing import Any, NamedTuple

import numpy as np

from lns.instances.board import EMPTY, Board
from lns.instances.errors import InputError
from lns.instances.layout import Layout
from lns.instances.puzzle import DOWN, GREY, LEFT, RIGHT, UP, Clue, Puzzle, canonical, check_shape, rotate


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
        self._random = random.Random(seed)  # an int, as versions of Python differ in seeding by text

    def below(self, bound: int) -> int:
        """Return a uniformly random whole number from 0 to ``bound - 1``."""
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
        """Return puzzle and solution with mates for ``pairs`` of the colours, drawn by ``seed``; a rim colour has none.

        A joint of such a colour then has this colour on one side and its mate on the other. Raises InputError if there
        are fewer colours or if pieces have copies.
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
            for side, required in enumerate(puzzle.required_sides(cell)):
                colour, other = int(puzzle.turned[oriented, side]), puzzle.beyond[cell][side]
                if required is None and colour in mate and (other < 0 or other > cell):
                    here = random.below(2) == 0
                    if here or other >= 0:
                        piece, turns = divmod(oriented if here else placements[other], 4)
                        pieces[piece, (side + 2 * (not here) - turns) % 4] = mate[colour]
        mated = replace(puzzle, pieces=pieces, mates=tuple(mate.items()), name=f"{puzzle.name}-m{pairs}")
        return self._replace(puzzle=mated)

    def with_clues(self, cells: Sequence[int]) -> Planted:
        """Return a copy whose puzzle has further clues: the pieces of the solution on ``cells``."""
        clue_cells = {clue.cell for clue in self.puzzle.clues} | set(cells)
        clues = (Clue(cell, *divmod(int(self.solution.placements[cell]), 4)) for cell in clue_cells)
        return self._replace(puzzle=self.puzzle.with_clues(clues))


def clue_cells(width: int, height: int, count: int, seed: int = 0, *, holes: Sequence[int] = ()) -> list[int]:
    """Choose ``count`` distinct cells for clues, outside the ``holes``, the first of them like those of Eternity II.

    The first cell lies in the middle, the next four lie two cells inwards from the corners (less on small boards), and
    all further cells are drawn by ``seed``. On 16x16 the first five are those of Eternity II: 135, 34, 45, 210 and 221.
    Raises InputError if the shape is out of range or the board has fewer than ``count`` cells.
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
    """Return the corner cells of a board in ascending order: four, or fewer if the board is one cell wide or high."""
    return sorted({0, width - 1, width * (height - 1), width * height - 1})


def even_colours(first: int, colours: int, count: int, random: PortableRandom) -> list[int]:
    """Return a shuffled list of ``count`` colours, in which ``colours`` colours from ``first`` on are equally frequent.

    If ``count`` is no multiple of ``colours``, some random colours occur once more than the others.
    """
    order = list(range(first, first + colours))
    random.shuffle(order)  # the first colours in this order may occur once more than the others
    drawn = [order[i % len(order)] for i in range(count)]
    random.shuffle(drawn)
    return drawn


def plant(
    right: Sequence[int], down: Sequence[int], width: int, height: int, random: PortableRandom, name: str
) -> Planted:
    """Cut a framed board into pieces; ``right`` and ``down`` are the colours of joints right of and below each cell."""
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
    """Colour the edges of a board, cut it into pieces, and shuffle and rotate the pieces.

    On a board without frame all sides on the outer edge have the colour ``rim`` if that is not grey. The function
    ``colour(cell, side)`` gives the colour of every other edge that is not grey; it is called once for an edge, cell by
    cell, for the sides of a cell in the order up, left, right, down. Colours are then renumbered from 1 without gaps.
    ``random`` draws the order of the pieces and, if pieces may be turned (``turns``), their rotations.
    """
    quads = np.zeros((board.cells, 4), dtype=np.int32)
    for cell in range(board.cells):
        grey, beyond = board.grey_sides(cell), board.beyond[cell]
        for side in (UP, LEFT, RIGHT, DOWN):
            if side in (UP, LEFT) and beyond[side] >= 0:
                quads[cell, side] = quads[beyond[side], side ^ 2]
            elif not grey[side]:
                quads[cell, side] = (beyond[side] < 0 and rim) or colour(cell, side)
    cell_of = [cell for cell in range(board.cells) if cell not in board.holes]
    random.shuffle(cell_of)
    rotations = [random.below(4) if turns else 0 for _ in cell_of]  # rotation of each piece in the solution
    pieces = [np.roll(quads[cell], -rotation) for cell, rotation in zip(cell_of, rotations, strict=True)]
    placements = np.full(board.cells, EMPTY)
    placements[cell_of] = 4 * np.arange(len(cell_of)) + rotations
    rules: dict[str, Any] = {"holes": board.holes, "framed": board.framed, "turns": turns, "rim": rim}
    puzzle = Puzzle(np.array(pieces), board.width, board.height, name=name, **rules).renumbered()
    return Planted(puzzle, Board(placements, board.width, board.height).with_blanks(puzzle))


# -- default numbers of colours ----------------------------------------------------------------------------------------


def joints_by_class(width: int, height: int) -> tuple[list[int], list[int]]:
    """Return the joints along the rim, between two cells that touch the same side of the board, and all other joints.

    Joint ``2 * cell`` lies to the right of a cell, ``2 * cell + 1`` below that cell.
    """
    joints = np.arange(2 * width * height).reshape(height, width, 2)
    across, down = joints[:, :-1, 0], joints[:-1, :, 1]
    rim = {*across[[0, -1]].ravel().tolist(), *down[:, [0, -1]].ravel().tolist()}
    return sorted(rim), sorted({*across.ravel().tolist(), *down.ravel().tolist()} - rim)


def default_colours(
    width: int, height: int, *, holes: tuple[int, ...] = (), framed: bool = True, turns: bool = True, rim: int = GREY
) -> int:
    """Return the default number of colours of a puzzle that has the same colours along the rim as inside.

    With this number, the expected number of solutions of a random puzzle is nearest to 1. On a framed board the number
    is 4 for 6x6, 8 for 10x10, 15 for 16x16. The other arguments are rules as in `Puzzle`.
    """
    board = Layout(width, height, holes, framed=framed)
    joints = board.max_score + (2 * (width + height) if rim else 0)
    log_boards = _log_arrangements(board, turns=turns)
    return min(range(1, max(1, joints) + 1), key=lambda colours: abs(log_boards - joints * log(colours)))


def default_like_e2(
    width: int, height: int, rim_colours: int | None = None, inner_colours: int | None = None
) -> tuple[int, int]:
    """Return two numbers of colours, along the rim and inside, for a puzzle like Eternity II; a given number is kept.

    The number along the rim is 2 + (mean side) / 5, rounded, which fits Eternity II (16x16: 5) and the META 2010
    puzzles (10x10: 4, 12x12: 4, 14x14: 5). The number inside is the one for which the expected number of solutions is
    nearest to 1: 17 for 16x16, as in Eternity II, and 10, 13, 15 where META 2010 has 10, 12, 15. On small boards both
    numbers are large enough that all pieces can differ.
    """
    rim_joints, inner_joints = map(len, joints_by_class(width, height))
    if rim_colours is None:
        rim_colours = min(rim_joints, (width + height + 25) // 10)
        while rim_colours < rim_joints and missing_kinds(width, height, rim_colours, max(1, inner_joints)):
            rim_colours += 1
    if inner_colours is None:
        rim = rim_colours
        enough = [i for i in range(1, inner_joints + 1) if not missing_kinds(width, height, rim, i)]
        candidates = enough or range(1, inner_joints + 1)
        # log of the number of arrangements times the probability that random joints along the rim match
        log_boards = _log_arrangements(Layout(width, height)) + _log_pairing_probability(rim_joints, rim)
        expected = {inner: log_boards + _log_pairing_probability(inner_joints, inner) for inner in candidates}
        inner_colours = min(expected, key=lambda inner: abs(expected[inner]), default=0)
    return rim_colours, inner_colours


def missing_kinds(width: int, height: int, rim: int, inner: int) -> list[tuple[str, int, int]]:
    """Return (name, number needed, number that exist) for each kind of piece, such as corner, of which too few exist.

    Only pieces that differ up to rotation and are not rotationally symmetric are counted.
    """
    classes = [
        ("corner", 4, rim**2),
        ("edge", 2 * (width + height - 4), rim**2 * inner),
        ("inner", (width - 2) * (height - 2), (inner**4 - inner**2) // 4),
    ]
    if min(width, height) == 1:
        # most edges of an open trail in the complete graph of the colours: the middle pieces are the edges of a trail
        walk = rim * (rim - 1) // 2 - (1 if rim % 2 else (rim - 2) // 2)
        length = max(width, height)
        classes = [("end", 2, rim), ("middle", length - 2, walk)] if length > 1 else [("grey", 1, 0)]
    return [(name, needed, exist) for name, needed, exist in classes if exist < needed]


def _log_arrangements(board: Layout, *, turns: bool = True) -> float:
    """Return the natural log of the number of full boards with grey exactly where required, rotated boards included."""
    grey = [board.grey_sides(cell) for cell in range(board.cells) if cell not in board.holes]
    kinds = Counter(canonical(sides) if turns else sides for sides in grey)
    log_boards = sum(lgamma(count + 1) for count in kinds.values())
    if turns:
        log_boards += sum(log(sum(rotate(sides, turn) == sides for turn in range(4))) for sides in grey)
    return log_boards


def _log_pairing_probability(joints: int, colours: int) -> float:
    """Return the log of the probability that a random pairing of 2 * joints half-edges joins only equal colours.

    The numbers of half-edges of two colours differ by 0 or 2.
    """
    if joints == 0:
        return 0.0
    each, extra = divmod(joints, colours)
    log_ways = lgamma(joints + 1) - lgamma(2 * joints + 1)
    for count, how_many in ((each + 1, extra), (each, colours - extra)):
        log_ways += how_many * (lgamma(2 * count + 1) - lgamma(count + 1))
    return log_ways
