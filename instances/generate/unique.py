"""Puzzles that have a single solution by construction, up to rotation of the whole board."""

from __future__ import annotations

from lns.instances.errors import InputError
from lns.instances.generate.planted import Planted, check_shape, plant
from lns.instances.generate.portable_random import PortableRandom

CONSTRUCTIONS = ("m+n-2", "max")


def unique(width: int, height: int, construction: str, seed: int = 0, attempt: int = 0) -> Planted:
    """Generate a candidate for a puzzle whose planted solution is the only one up to rotation (Jolivet 2008, 5.2).

    A tree search must check the candidate. The construction ``m+n-2``, named like ``max`` by its number of colours for
    a board of m x n, gives every line between two columns and every line between two rows a colour of its own. The
    paper proves the solution unique; that holds unless both sides are even, because then the middle line is its own
    mirror image and there are two solutions. Attempts from 1 on change the colour of one joint of the middle line.

    The construction ``max`` gives the lines between columns the colours 1 to m-1, the lines between rows the same
    colours, and the joints at the cells of a diagonal the last colour. The paper does not say which diagonal: attempts
    0 and 1 take one each, later attempts recolour further joints.

    The seed is that of the order and rotations of the pieces. Raises InputError if the construction is unknown or the
    board has a single row or column.
    """
    check_shape(width, height)
    if construction not in CONSTRUCTIONS:
        raise InputError(f"unknown construction '{construction}'; expected {' or '.join(CONSTRUCTIONS)}")
    if min(width, height) < 2:
        raise InputError(f"a board of {width} x {height}; expected at least two rows and two columns")
    cells = range(width * height)
    right = [1 + cell % width for cell in cells]
    if construction == "m+n-2":
        colours = width + height - 2
        down = [width + cell // width for cell in cells]
    else:
        colours = max(width, height)
        antidiagonal = attempt % 2 == 1
        down = [(height - 1 - cell // width if antidiagonal else 1 + cell // width) for cell in cells]
        for cell in cells:
            row, column = divmod(cell, width)
            if (row + column == min(width, height) - 1) if antidiagonal else (row == column):
                right[cell] = down[cell] = colours
    changes = attempt if construction == "m+n-2" else attempt // 2
    choices = PortableRandom(attempt)
    for _ in range(changes):
        row, column = choices.below(height), choices.below(width)
        if construction == "m+n-2":
            row, column = 0, width // 2 - 1
        joints = right if column < width - 1 else down
        joints[row * width + column] = 1 + choices.below(colours)
    return plant(right, down, width, height, PortableRandom(seed), f"unique-{width}x{height}-{construction}-s{seed}")
