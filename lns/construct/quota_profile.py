"""The quota profile: how many favoured half-edges a prefix must have used at each depth to be worth its nodes.

Two things are known: the mean children of a prefix by depth and favoured half-edges used (`count_children`), and what a
prefix is worth where the quota ends. Dynamic programming backwards over depth then tells which prefixes return more
than they cost: those with at least a certain number of half-edges. The price of a node is set so high that the whole
search barely pays.

This takes cells for independent, as the Markov forecast of breaks does, so the level of the profile is not right. The
bandit over quota scales corrects it (`lns.construct.quota_bandit`).

References
----------
R. Bellman, "Dynamic Programming", 1957.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d

from lns import node_equivalents
from lns.construct.candidates import MAX_FAVOURED, FloatArray, Int64Array, build_tables
from lns.construct.population import grow_strata, new_population, new_reservoirs
from lns.instances.puzzle import IntArray, Puzzle
from lns.rng import generator, random_state

STRATA, PREFIXES_PER_STRATUM = 32, 512
SAMPLES = 4  # populations that are counted
MIN_PREFIXES_PER_STRATUM = 32  # where candidate lists are long (few colours, many pieces), to bound the time
RANDOM_SEED = 0  # the same in every run: the counts are a property of the puzzle
# With LOG_VALUE_PER_HALF_EDGE from 0.1 to 0.4, and NODES_BEHIND from 100 to 100,000, the profile changes by one to
# three half-edges.
LOG_VALUE_PER_HALF_EDGE = 0.2  # logarithm of the factor in value of one favoured half-edge more where the quota ends
NODES_BEHIND = 1000.0  # nodes that a prefix takes behind that depth
SMOOTHING_HALF_EDGES = 3.0  # standard deviation of the smoothing over half-edges, since few prefixes have used many
ROOT_VALUE = 1e8  # value of the empty board in nodes; with 0 only a single way would be left through the first rows
TOLERANCE = 1e-9  # of the logarithm of the price of a node


class ChildCounts(NamedTuple):
    """Prefixes and their children, counted by depth and by favoured half-edges that the prefix has used."""

    parents: Int64Array  # int64 (depths, numbers): prefixes
    children: Int64Array  # int64 (depths, numbers, MAX_FAVOURED + 1): their children, by favoured half-edges of the
    # piece added
    reached: int  # the greatest depth that a population reached
    checks: int  # candidates checked


def quota_profile(puzzle: Puzzle, order: IntArray, favoured: tuple[int, ...], cut: int) -> tuple[float, ...]:
    """Favoured half-edges that a prefix must have used, by depth; never falling, constant from ``cut`` on.

    Parameters
    ----------
    puzzle : Puzzle
        The puzzle. Its clues count, unless no prefix of the measurement gets past them.
    order : int32 (cells,)
        Cells in the order in which they are filled.
    favoured : tuple of int
        Favoured colours.
    cut : int
        Depth at which the quota ends.
    """
    return _profile(puzzle, tuple(order.tolist()), favoured, cut)


@lru_cache(maxsize=512)  # a restored island needs the profiles of all its arms again
def _profile(puzzle: Puzzle, cells: tuple[int, ...], favoured: tuple[int, ...], cut: int) -> tuple[float, ...]:
    order = np.array(cells, dtype=np.int32)
    counts = count_children(puzzle, order, favoured, cut)
    if counts.reached < cut and puzzle.clues:
        counts = count_children(puzzle.with_clues(()), order, favoured, cut)
    profile = np.zeros(puzzle.cells)
    if reached := counts.reached:
        children = mean_children(counts.parents[:reached], counts.children[:reached])
        profile[:reached] = np.maximum.accumulate(min_half_edges(children))
        profile[reached:] = profile[reached - 1]
    return tuple(profile.tolist())


def count_children(puzzle: Puzzle, order: IntArray, favoured: tuple[int, ...], depths: int) -> ChildCounts:
    """Count the children of SAMPLES stratified populations that respect the clues and make no break.

    At each of the first ``depths`` depths of ``order`` up to PREFIXES_PER_STRATUM prefixes are kept of each of the
    STRATA highest numbers of half-edges used.
    """
    checks = _count(puzzle, order, favoured, depths, 1, MIN_PREFIXES_PER_STRATUM).checks
    size = MIN_PREFIXES_PER_STRATUM * node_equivalents.MAX_PROFILE_CHECKS // (SAMPLES * max(1, checks))
    size = min(max(MIN_PREFIXES_PER_STRATUM, size), PREFIXES_PER_STRATUM)
    return _count(puzzle, order, favoured, depths, SAMPLES, size)


def _count(
    puzzle: Puzzle, order: IntArray, favoured: tuple[int, ...], depths: int, samples: int, stratum_size: int
) -> ChildCounts:
    numbers = int(np.isin(puzzle.pieces, favoured).sum()) + 1
    parents = np.zeros((depths, numbers), dtype=np.int64)
    children = np.zeros((depths, numbers, MAX_FAVOURED + 1), dtype=np.int64)
    reservoirs = new_reservoirs(stratum_size, STRATA)
    deepest = checks = 0
    for number in range(samples):
        random = random_state(RANDOM_SEED, number)
        no_breaks = np.zeros(puzzle.cells, dtype=bool)
        tables = build_tables(puzzle, order, no_breaks, favoured, generator(random), puzzle.cells)
        current, extended = (new_population(STRATA * stratum_size, puzzle.width, puzzle.height) for _ in range(2))
        reached, checked = grow_strata(tables, order, current, extended, parents, children, reservoirs, random)
        deepest, checks = max(deepest, reached), checks + checked
    return ChildCounts(parents, children, deepest, checks)


def mean_children(parents: Int64Array, children: Int64Array) -> FloatArray:
    """Mean children of a prefix, smoothed over the half-edges used; float64 (depths, half_edges, favoured).

    Below the lowest number of half-edges counted the means are those of the lowest. Above the highest they are those of
    the highest, without children that add favoured half-edges. ``parents``, ``children``: see `ChildCounts`.
    """
    near = gaussian_filter1d(parents.astype(np.float64), SMOOTHING_HALF_EDGES, axis=1, mode="constant")
    mean: FloatArray = gaussian_filter1d(children.astype(np.float64), SMOOTHING_HALF_EDGES, axis=1, mode="constant")
    mean /= np.maximum(near, np.finfo(np.float64).tiny)[:, :, None]
    for depth, counted in enumerate(parents > 0):
        numbers = np.flatnonzero(counted)
        mean[depth, : numbers[0]] = mean[depth, numbers[0]]
        mean[depth, numbers[-1] + 1 :, 0] = mean[depth, numbers[-1], 0]
        mean[depth, numbers[-1] + 1 :, 1:] = 0.0
    return mean


def min_half_edges(children: FloatArray) -> IntArray:
    """Least favoured half-edges with which a prefix is worth its nodes, by depth; int32 (depths,).

    ``children``: float64 (depths, half_edges, favoured), see `mean_children`.
    """
    numbers = np.arange(children.shape[1])

    def value_at_end(level: float) -> FloatArray:
        return math.log(NODES_BEHIND) + _log_expm1(level + LOG_VALUE_PER_HALF_EDGE * (numbers - numbers[-1]))

    def gain(level: float) -> float:
        return backward_induction(children, value_at_end(level))[1] - math.log(ROOT_VALUE)

    low, high = -1.0, 1.0
    while gain(high) < 0:
        low, high = high, 2 * high
    while high - low > TOLERANCE:
        middle = (low + high) / 2
        low, high = (middle, high) if gain(middle) < 0 else (low, middle)
    # not ``low``, with which on a large board no prefix may be worth a node
    return backward_induction(children, value_at_end(high))[0]


def backward_induction(children: FloatArray, value: FloatArray) -> tuple[IntArray, float]:
    """Which prefixes are worth their node, by dynamic programming backwards over depth.

    All values are natural logarithms of nodes, since on large boards they have hundreds of digits.

    Parameters
    ----------
    children : float64 (depths, half_edges, favoured)
        Mean children, see `mean_children`.
    value : float64 (half_edges,)
        Value of a prefix at the last depth, by favoured half-edges used.

    Returns
    -------
    least : int32 (depths,)
        Least favoured half-edges with which a prefix is worth more than its node, once each depth is filled;
        ``half_edges`` where none is. A prefix with more that is not worth its node, since hardly any piece is left for
        it, counts as dropped.
    root : float
        Value of the empty board.
    """
    depths, numbers, favoured = children.shape
    least = np.full(depths, numbers, dtype=np.int32)
    with np.errstate(divide="ignore"):
        log_children = np.log(children)
    for depth in range(depths - 1, -1, -1):
        worthwhile = np.flatnonzero(value > 0)
        if not len(worthwhile):
            return least, -np.inf
        least[depth] = worthwhile[0]
        net = _log_expm1(value)  # less the node of the prefix
        value = np.full(numbers, -np.inf)
        for more in range(min(favoured, numbers)):
            parents = value[: numbers - more]
            np.logaddexp(parents, log_children[depth, : numbers - more, more] + net[more:], out=parents)
    return least, float(value[0])


def _log_expm1(exponent: FloatArray) -> FloatArray:
    """log(exp(x) - 1) of each x; -inf where x <= 0."""
    result = np.full(exponent.shape, -np.inf)
    positive = exponent > 0
    result[positive] = exponent[positive] + np.log(-np.expm1(-exponent[positive]))
    return result
