"""Puzzles whose edges have random colours: uniform, balanced torus, without frame, Tetravex, and boards with holes.

The triangle and the diamond are the boards of Cuvillier & Szymkowiak 2010, section 3.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import lgamma, log

from instances.generate.defaults import default_colours
from instances.generate.planted import Planted, check_colours, check_shape, even_colours, plant, plant_quads
from instances.generate.portable_random import PortableRandom
from instances.puzzle import GREY, canonical, rotate
from lns_support.errors import InputError

Quad = tuple[int, int, int, int]


def uniform(
    width: int, height: int, colours: int | None = None, seed: int = 0, *, all_colours: bool = False
) -> Planted:
    """Generate a puzzle in which every inner edge has an independent, uniformly random colour.

    Parameters
    ----------
    width, height : int
    colours : int, optional
        Number of colours to draw from; `default_colours` by default. Colours that were not drawn are left out.
    seed : int, optional
        Random seed.
    all_colours : bool
        Give every colour a random inner edge before the others are drawn.

    Returns
    -------
    Planted

    Raises
    ------
    InputError
        If the shape, number of colours or seed is out of range, or with ``all_colours`` there are fewer inner edges.

    References
    ----------
    Benoist & Bourreau 2008, section 6.
    """
    check_shape(width, height)
    colours = default_colours(width, height) if colours is None else colours
    check_colours(colours)
    random = PortableRandom(seed)
    right = [1 + random.below(colours) for _ in range(width * height)]
    down = [1 + random.below(colours) for _ in range(width * height)]
    if all_colours:
        inner = [(right, cell) for cell in range(width * height) if (cell + 1) % width]
        inner += [(down, cell) for cell in range(width * (height - 1))]
        if colours > len(inner):
            raise InputError(f"{colours} colours on {len(inner)} inner edges; expected at most one for each edge")
        random.shuffle(inner)
        for colour, (edges, cell) in enumerate(inner[:colours], start=1):
            edges[cell] = colour
    return plant(right, down, width, height, random, f"uniform-{width}x{height}-c{colours}-s{seed}")


def balanced_torus(n: int, colours: int | None = None, seed: int = 0) -> Planted:
    """Generate a puzzle from a torus with balanced colours.

    Each of the m colours gets floor(2n²/m) of the 2n² joints of an n x n torus, or one more. Then the joints across the
    rim become grey. They took part in the balance, so the counts inside are only nearly equal.

    Parameters
    ----------
    n : int
        Number of rows and columns.
    colours : int, optional
        Number of colours; `default_colours` by default.
    seed : int, optional
        Random seed.

    Returns
    -------
    Planted

    Raises
    ------
    InputError
        If the size, number of colours or seed is out of range.

    References
    ----------
    Bailleux 2025, results: production of a random puzzle in three steps.
    """
    check_shape(n, n)
    colours = default_colours(n, n) if colours is None else colours
    check_colours(colours)
    random = PortableRandom(seed)
    joints = even_colours(range(1, colours + 1), 2 * n * n, random)
    return plant(joints[: n * n], joints[n * n :], n, n, random, f"balanced-torus-{n}x{n}-c{colours}-s{seed}")


# -- other rules -------------------------------------------------------------------------------------------------------


def unframed(width: int, height: int, colours: int | None = None, seed: int = 0) -> Planted:
    """Generate a puzzle without frame: the sides along the edge of the board have random colours too.

    Parameters
    ----------
    width, height : int
    colours : int, optional
        Number of colours to draw from; by default the one for which the expected number of solutions is nearest to 1.
    seed : int, optional
        Random seed.

    Returns
    -------
    Planted

    Raises
    ------
    InputError
        If the shape, number of colours or seed is out of range.
    """
    return _generate("unframed", width, height, (), colours, seed, framed=False, turns=True)


def tetravex(width: int, height: int, colours: int | None = None, seed: int = 0) -> Planted:
    """Generate a Tetravex: a puzzle without frame whose pieces may not be turned.

    Parameters
    ----------
    width, height, colours, seed
        As for `unframed`.

    Returns
    -------
    Planted

    Raises
    ------
    InputError
        If the shape, number of colours or seed is out of range.
    """
    return _generate("tetravex", width, height, (), colours, seed, framed=False, turns=False)


def triangle(side: int, colours: int | None = None, seed: int = 0) -> Planted:
    """Generate a puzzle on a triangle: rows of 1, 3, 5, ... cells, ``side`` of them, with a frame around.

    Parameters
    ----------
    side : int
        Number of rows; the board has ``side**2`` cells.
    colours, seed : int, optional
        As for `unframed`.

    Returns
    -------
    Planted

    Raises
    ------
    InputError
        If the side, number of colours or seed is out of range.
    """
    width, height = 2 * side - 1, side
    return _generate("triangle", width, height, triangle_holes(side), colours, seed, side=side)


def diamond(side: int, colours: int | None = None, seed: int = 0) -> Planted:
    """Generate a puzzle on a diamond: rows of 1, 3, ..., 2 * side - 1, ..., 3, 1 cells, with a frame around.

    Parameters
    ----------
    side : int
        Number of cells along each of its four sides; the board has ``side**2 + (side - 1)**2`` cells.
    colours, seed : int, optional
        As for `triangle`.

    Returns
    -------
    Planted

    Raises
    ------
    InputError
        As for `triangle`.
    """
    width = height = 2 * side - 1
    return _generate("diamond", width, height, diamond_holes(side), colours, seed, side=side)


def triangle_holes(side: int) -> tuple[int, ...]:
    """The holes of the rectangle of ``2 * side - 1`` x ``side`` cells around a triangle, whose tip is above."""
    width = 2 * side - 1
    return tuple(row * width + column for row in range(side) for column in range(width) if abs(column - side + 1) > row)


def diamond_holes(side: int) -> tuple[int, ...]:
    """The holes of the square of ``2 * side - 1`` cells a side around a diamond."""
    width = 2 * side - 1
    return tuple(
        row * width + column
        for row in range(width)
        for column in range(width)
        if abs(column - side + 1) + abs(row - side + 1) >= side
    )


def _generate(
    kind: str,
    width: int,
    height: int,
    holes: Sequence[int],
    colours: int | None,
    seed: int,
    *,
    framed: bool = True,
    turns: bool = True,
    side: int | None = None,
) -> Planted:
    if side is not None and side < 1:
        raise InputError(f"a {kind} of side {side}; expected 1 or more")
    check_shape(width, height)
    if colours is None:
        colours = _default_colours(_cut(width, height, holes, framed, lambda: 1), width, turns)
    check_colours(colours)
    limit, random = colours, PortableRandom(seed)
    quads = _cut(width, height, holes, framed, lambda: 1 + random.below(limit))
    size = f"{width}x{height}" if side is None else f"{side}"
    name = f"{kind}-{size}-c{colours}-s{seed}"
    return plant_quads(quads, width, height, random, name, holes=tuple(holes), framed=framed, turns=turns)


def _cut(width: int, height: int, holes: Sequence[int], framed: bool, colour: Callable[[], int]) -> list[Quad | None]:
    """The colours up, right, down, left of each cell with ``colour()`` on every edge; None for a hole.

    Grey are the sides towards holes and, with a frame, those along the edge of the board.
    """
    lost = set(holes)
    quads: list[Quad | None] = []
    for cell in range(width * height):
        row, column = divmod(cell, width)
        if cell in lost:
            quads.append(None)
            continue

        def side(exists: bool, other: int) -> int:
            """A new colour; grey towards a hole, and along a frame."""
            grey = other in lost if exists else framed
            return GREY if grey else colour()

        above = quads[cell - width] if row > 0 else None
        before = quads[cell - 1] if column > 0 else None
        up = above[2] if above is not None else side(row > 0, cell - width)
        left = before[1] if before is not None else side(column > 0, cell - 1)
        right, down = side(column < width - 1, cell + 1), side(row < height - 1, cell + width)
        quads.append((up, right, down, left))
    return quads


def _default_colours(cut: Sequence[Quad | None], width: int, turns: bool) -> int:
    """The number of colours for which the expected number of solutions of a random puzzle is nearest to 1.

    ``cut`` is the board with one colour, which tells the inner edges and the grey sides of each cell.
    """
    across = sum(
        here is not None and there is not None and (cell + 1) % width > 0
        for cell, (here, there) in enumerate(pairwise(cut))
    )
    down = sum(here is not None and there is not None for here, there in zip(cut, cut[width:], strict=False))
    joints = across + down
    grey = [tuple(colour == GREY for colour in quad) for quad in cut if quad is not None]
    alike = Counter(canonical(sides) if turns else sides for sides in grey)
    log_boards = sum(lgamma(count + 1) for count in alike.values())
    if turns:
        log_boards += sum(log(sum(rotate(sides, turn) == sides for turn in range(4))) for sides in grey)
    return min(range(1, max(1, joints) + 1), key=lambda colours: abs(log_boards - joints * log(colours)))
