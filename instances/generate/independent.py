"""Uniform puzzles: every inner edge coloured on its own (seed 000, section 6)."""

from __future__ import annotations

from instances.generate.defaults import default_colours
from instances.generate.planted import Planted, check_colours, check_shape, plant
from instances.generate.portable_random import PortableRandom


def uniform(width: int, height: int, colours: int | None = None, seed: int = 0) -> Planted:
    """Each inner edge of the grid gets a colour drawn uniformly from 1..``colours``; pieces turned and shuffled.

    Benoist & Bourreau 2008 (seed 000), section 6. Without ``colours``: `default_colours`.
    Raises InputError for a shape, number of colours or seed that cannot be.
    """
    check_shape(width, height)
    colours = default_colours(width, height) if colours is None else colours
    check_colours(colours)
    draws = PortableRandom(seed)
    right = [1 + draws.below(colours) for _ in range(width * height)]
    down = [1 + draws.below(colours) for _ in range(width * height)]
    return plant(right, down, width, height, draws, f"uniform-{width}x{height}-c{colours}-s{seed}")
