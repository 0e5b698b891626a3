"""Balanced torus: near-equal colours on a torus, cut open along the rim (seed 002, results)."""

from __future__ import annotations

from instances.generate.defaults import default_colours
from instances.generate.planted import Planted, check_colours, check_shape, plant
from instances.generate.portable_random import PortableRandom


def balanced_torus(n: int, colours: int | None = None, seed: int = 0) -> Planted:
    """An n x n torus on whose 2n² joints each colour lies floor(2n²/m) times or once more; then the rim turns grey.

    Bailleux 2025 (seed 002): production of a random puzzle in three steps. The joints across the rim take part in the
    balance, so what is left inside is only nearly balanced. Without ``colours``: `default_colours`.
    Raises InputError for a size, number of colours or seed that cannot be.
    """
    check_shape(n, n)
    colours = default_colours(n, n) if colours is None else colours
    check_colours(colours)
    draws = PortableRandom(seed)
    order = list(range(1, colours + 1))
    draws.shuffle(order)  # which colours occur once more
    joints = [order[i % colours] for i in range(2 * n * n)]
    draws.shuffle(joints)
    return plant(joints[: n * n], joints[n * n :], n, n, draws, f"balanced-torus-{n}x{n}-c{colours}-s{seed}")
