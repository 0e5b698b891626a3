"""Puzzles with a single solution by construction (Jolivet 2008, seed 003, 5.2), up to rotation of the whole board."""

from __future__ import annotations

from instances.generate.planted import Planted, check_shape, plant
from instances.generate.portable_random import PortableRandom
from lns_support.errors import InputError

CONSTRUCTIONS = ("m+n-2", "max")


def unique(width: int, height: int, construction: str, seed: int = 0, attempt: int = 0) -> Planted:
    """A candidate for a puzzle whose only solution, up to rotation, is the planted one; a tree search has to judge it.

    ``m+n-2``: each line between two columns and each line between two rows has a colour of its own. The seed proves
    this unique; it is, unless both sides are even: then the middle line is its own mirror image and there are two
    solutions. Attempts from 1 on change the colour of one joint there.

    ``max``: lines between columns take the colours 1 to m-1, lines between rows the same colours again, and the joints
    at the cells of a diagonal the last one. The seed does not say which diagonal; attempts 0 and 1 take one each, later
    ones add a joint or more of another colour.

    ``seed`` shuffles and turns the pieces. Raises InputError for another construction or a board of a single row or
    column.
    """
    check_shape(width, height)
    if construction not in CONSTRUCTIONS:
        raise InputError(f"unknown construction '{construction}'; expected {' or '.join(CONSTRUCTIONS)}")
    if min(width, height) < 2:
        raise InputError(f"a construction for {width} x {height}; expected at least two rows and two columns")
    cells = range(width * height)
    right = [1 + cell % width for cell in cells]
    if construction == "m+n-2":
        colours = width + height - 2
        down = [width + cell // width for cell in cells]
    else:
        colours = max(width, height)
        backwards = attempt % 2 == 1
        down = [(height - 1 - cell // width if backwards else 1 + cell // width) for cell in cells]
        for cell in cells:
            row, column = divmod(cell, width)
            if (row + column == min(width, height) - 1) if backwards else (row == column):
                right[cell] = down[cell] = colours
    changes = attempt if construction == "m+n-2" else attempt // 2
    chance = PortableRandom(attempt)
    for _ in range(changes):
        row, column = chance.below(height), chance.below(width)
        if construction == "m+n-2":
            row, column = 0, width // 2 - 1
        joints = right if column < width - 1 else down
        joints[row * width + column] = 1 + chance.below(colours)
    return plant(right, down, width, height, PortableRandom(seed), f"unique-{width}x{height}-{construction}-s{seed}")
