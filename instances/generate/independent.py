"""Uniform puzzles: every inner edge is coloured independently."""

from __future__ import annotations

from instances.generate.defaults import default_colours
from instances.generate.planted import Planted, check_colours, check_shape, plant
from instances.generate.portable_random import PortableRandom


def uniform(width: int, height: int, colours: int | None = None, seed: int = 0) -> Planted:
    """Generate a puzzle in which every inner edge has an independent, uniformly random colour.

    Parameters
    ----------
    width, height : int
    colours : int, optional
        Number of colours to draw from; `default_colours` by default. Colours that were not drawn are left out.
    seed : int, optional
        Random seed.

    Returns
    -------
    Planted

    Raises
    ------
    InputError
        If the shape, number of colours or seed is out of range.

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
    return plant(right, down, width, height, random, f"uniform-{width}x{height}-c{colours}-s{seed}")
