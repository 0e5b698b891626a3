"""Balanced torus: near-equal colour counts on a torus, which is then cut open along the rim of the board."""

from __future__ import annotations

from instances.generate.defaults import default_colours
from instances.generate.planted import Planted, check_colours, check_shape, plant
from instances.generate.portable_random import PortableRandom


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
    order = list(range(1, colours + 1))
    random.shuffle(order)  # the first colours occur once more
    joints = [order[i % colours] for i in range(2 * n * n)]
    random.shuffle(joints)
    return plant(joints[: n * n], joints[n * n :], n, n, random, f"balanced-torus-{n}x{n}-c{colours}-s{seed}")
