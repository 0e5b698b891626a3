"""Uniform puzzles: every inner edge is coloured independently, or so that no colour is missing."""

from __future__ import annotations

from instances.generate.defaults import default_colours
from instances.generate.planted import Planted, check_colours, check_shape, plant
from instances.generate.portable_random import PortableRandom
from lns_support.errors import InputError


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
