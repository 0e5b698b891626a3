"""What a quota asks for at each depth: the favoured half-edges from which on a prefix is worth its nodes.

With the mean children of a prefix by depth and favoured half-edges used (`strata`), and what a prefix is worth where
the quota ends, dynamic programming says which prefixes bring more than they cost: those from some number used on.
Nodes are so dear that the whole search is worth little more than they cost. That takes cells for independent, as the
forecast of breaks does, so its level is off; arms find the height at which a search flows (`arms`).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.ndimage import gaussian_filter1d

from instances.puzzle import IntArray, Puzzle
from lns.construct import stratified_population
from lns.construct.packed_candidate import Int64Array
from lns.construct.stratified_population import FloatArray

# From 0.1 to 0.4, and from 100 nodes to 100,000, what is asked for changes by one to three half-edges
WORTH = 0.2  # of one favoured half-edge more where the quota ends: the logarithm of a factor
BEHIND = 1000.0  # nodes that a prefix takes behind that depth
SPREAD = 3.0  # half-edges used, over which children are averaged: the highest numbers were met by few prefixes
# What the empty board is worth, in nodes. Were it nothing, the first rows would be left with one way through them.
ROOT = 1e8
WITHIN = 1e-9  # of a logarithm


def quota_profile(puzzle: Puzzle, order: IntArray, favoured: tuple[int, ...], cut: int) -> tuple[float, ...]:
    """Favoured half-edges asked for by depth, (cells,), never falling, up to depth ``cut``.

    Clues count, unless no prefix of the measurement passes them.
    """
    return _profile(puzzle, tuple(order.tolist()), favoured, cut)


@lru_cache(maxsize=512)  # an island that is restored, every few seconds in some runs, needs those of all its arms
def _profile(puzzle: Puzzle, cells: tuple[int, ...], favoured: tuple[int, ...], cut: int) -> tuple[float, ...]:
    order = np.array(cells, dtype=np.int32)
    census, reached = stratified_population.count_children(puzzle, order, favoured, cut)
    if reached < cut and puzzle.clues:
        census, reached = stratified_population.count_children(puzzle.with_clues(()), order, favoured, cut)
    asked = np.zeros(puzzle.cells)
    if reached:
        children = mean_children(census.parents[:reached], census.children[:reached])
        asked[:reached] = np.maximum.accumulate(min_half_edges(children))
        asked[reached:] = asked[reached - 1]
    return tuple(asked.tolist())


def mean_children(parents: Int64Array, children: Int64Array) -> FloatArray:
    """Children of a prefix by depth, half-edges used, and those of the next piece; shape of ``children``.

    Averaged over neighbouring numbers; below the lowest met as there, above the highest as there without favoured ones.
    """
    near = gaussian_filter1d(parents.astype(np.float64), SPREAD, axis=1, mode="constant")
    mean: FloatArray = gaussian_filter1d(children.astype(np.float64), SPREAD, axis=1, mode="constant")
    mean /= np.maximum(near, np.finfo(np.float64).tiny)[:, :, None]
    for depth, met in enumerate(parents > 0):
        numbers = np.flatnonzero(met)
        mean[depth, : numbers[0]] = mean[depth, numbers[0]]
        mean[depth, numbers[-1] + 1 :, 0] = mean[depth, numbers[-1], 0]
        mean[depth, numbers[-1] + 1 :, 1:] = 0.0
    return mean


def min_half_edges(children: FloatArray) -> IntArray:
    """Half-edges from which on a prefix is worth its nodes, once each depth is filled: int (depths,).

    ``children``: float64 (depths, numbers, favoured half-edges of the next piece).
    """
    numbers = np.arange(children.shape[1])

    def at_the_end(level: float) -> FloatArray:
        return math.log(BEHIND) + _log_expm1(level + WORTH * (numbers - numbers[-1]))

    def gain(level: float) -> float:
        return backward_induction(children, at_the_end(level))[1] - math.log(ROOT)

    low, high = -1.0, 1.0
    while gain(high) < 0:
        low, high = high, 2 * high
    while high - low > WITHIN:
        middle = (low + high) / 2
        low, high = (middle, high) if gain(middle) < 0 else (low, middle)
    return backward_induction(children, at_the_end(high))[
        0
    ]  # not the other end, where on a large board nothing may be worth a node


def backward_induction(children: FloatArray, worth: FloatArray) -> tuple[IntArray, float]:
    """(half-edges from which on a prefix is worth more than its node, by depth; what the empty board is worth).

    ``worth``: of prefixes of all depths, by half-edges used, in nodes. It and what is returned are logarithms: on large
    boards the numbers are of hundreds of digits. Prefixes with more that are not worth their node, as hardly a piece is
    left to come, count as dropped. R. Bellman, Dynamic Programming, 1957.
    """
    depths, numbers, favoured = children.shape
    asked = np.full(depths, numbers, dtype=np.int32)
    with np.errstate(divide="ignore"):
        mean = np.log(children)
    for depth in range(depths - 1, -1, -1):
        pays = np.flatnonzero(worth > 0)
        if not len(pays):
            return asked, -np.inf
        asked[depth] = pays[0]
        kept = _log_expm1(worth)  # less its node
        worth = np.full(numbers, -np.inf)
        for more in range(min(favoured, numbers)):
            here = worth[: numbers - more]
            np.logaddexp(here, mean[depth, : numbers - more, more] + kept[more:], out=here)
    return asked, float(worth[0])


def _log_expm1(exponent: FloatArray) -> FloatArray:
    """log(exp(x) - 1), and -inf where x is not above 0."""
    less = np.full(exponent.shape, -np.inf)
    above = exponent > 0
    less[above] = exponent[above] + np.log(-np.expm1(-exponent[above]))
    return less
