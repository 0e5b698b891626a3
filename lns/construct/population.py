"""Populations of prefixes, which measure how many pieces fit at each depth, and the quota profile made of their counts.

A population grows cell by cell. The children of all prefixes are counted, and a random sample of the children is kept.
Two functions grow populations and differ in the children that they keep:

- `grow_population` keeps the children with the fewest breaks, so breaks are spent only where too few children fit
  without a break. The mean numbers of exact children (without a break) and of breaking children are the input of the
  model in `lns.construct.schedule`.
- `grow_strata` makes no breaks and keeps some children for each of the highest numbers of favoured half-edges used
  (splitting; H. Kahn, T. Harris, 1951), since a random sample would contain none of these rare prefixes.

The *quota profile* says how many favoured half-edges a prefix must have used at each depth to be worth its nodes. It
has two inputs: the mean children of a prefix by depth and half-edges used (`mean_children`), and an assumed value of a
prefix where the quota ends. Dynamic programming backwards over depth (R. Bellman, 1957) then finds the prefixes that
return more than they cost: those with at least a certain number of half-edges. The price of a node is set so high that
the whole search barely pays. As the computation treats cells as independent, the profile is too high or too low, though
its shape is right; the bandit over quota scales corrects the height (`lns.construct.quota_bandit`).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Annotated, NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d

from lns import node_equivalents
from lns.construct import candidates as packed
from lns.construct.candidates import MAX_FAVOURED, Bitsets, CandidateTables, FloatArray, Int64Array, breaks_spent
from lns.exact.kernels import allocate
from lns.exact.kernels.jit import flat_kernel, inline_flat_kernel
from lns.instances.puzzle import IntArray, Puzzle
from lns.rng import RandomState, generator, random_below, random_state

MAX_COUNTED_BREAKS = 255  # prefixes with more breaks are counted as if they had this many
STRIDE = 8  # where breaking children are counted but not kept, only one prefix in this many is examined
_LEAST_EXACT_GAIN = -(packed.BREAK_COST // 2)  # lies between the gains of candidates with and without a break
STRATA, PREFIXES_PER_STRATUM = 32, 512
SAMPLES = 4  # populations grown for one quota profile
MIN_PREFIXES_PER_STRATUM = 32  # least prefixes kept of a stratum, where PREFIXES_PER_STRATUM would take too long
RANDOM_SEED = 0  # seed of all populations for quota profiles, so that these do not depend on the seed of the run
# Natural logarithm of the factor by which one more favoured half-edge raises the value of a prefix at the end of the
# quota. Values from 0.1 to 0.4, and values of NODES_BEHIND from 100 to 100,000, change the profile by 1-3 half-edges.
LOG_VALUE_PER_HALF_EDGE = 0.2
NODES_BEHIND = 1000.0  # nodes that the search is assumed to take below a prefix that has passed the quota
SMOOTHING_HALF_EDGES = 3.0  # standard deviation of the smoothing of child counts over the half-edges used
ROOT_VALUE = 1e8  # value of the empty board, in nodes; were it small, one prefix at most would pass the first rows
TOLERANCE = 1e-9  # accuracy to which the logarithm of the price of a node is computed


class Population(NamedTuple):
    """Prefixes of equal length, one for each entry of the arrays; only the first entries are in use."""

    # by prefix and board row: colour that the row shows to its next cell, times colour_count; the same from ``height``
    # on for rows that are filled from the right
    right: Annotated[IntArray, ("size", "directions * height")]
    down: Annotated[IntArray, ("size", "width")]  # by prefix and board column: colour shown to the column's next cell
    used: Annotated[Bitsets, ("size", "words")]  # by prefix: set of the pieces used, one bit for each piece
    gain: Annotated[Int64Array, "size"]  # by prefix: gain of the prefix (`candidates`); in a beam its value (`beam`)


class Reservoirs(NamedTuple):
    """Random samples (reservoirs) of the children of one population, one sample for each rank.

    The rank of a child is its number of breaks or, in a stratified population, the index of its stratum.
    """

    parent: Annotated[Int64Array, ("ranks", "capacity")]  # index of each child's parent prefix
    candidate: Annotated[Int64Array, ("ranks", "capacity")]  # packed candidate that each child adds to its parent
    offered: Annotated[Int64Array, "ranks"]  # by rank: number of children offered so far


def new_population(size: int, width: int, height: int, directions: int = 2) -> Population:
    """Make a population of at most ``size`` prefixes of a width x height board; its first prefix is the empty board.

    ``directions``: 1 if no cell is filled from the right, else 2.
    """
    sizes = {"size": size, "directions * height": directions * height, "width": width}
    return allocate(Population, sizes | {"words": (width * height) // 64 + 1})


@inline_flat_kernel
def is_used(population: Population, i: int, piece: int) -> bool:
    """Return whether prefix ``i`` of a population has used ``piece``."""
    return bool(population.used[i, piece >> 6] >> np.uint64(piece & 63) & np.uint64(1))


@inline_flat_kernel
def append_child(
    current: Population, i: int, extended: Population, child: int, row: int, column: int, candidate: int
) -> None:
    """Write prefix ``i`` of ``current``, with ``candidate`` on its next cell, to prefix ``child`` of ``extended``.

    ``row``, ``column``: indexes of that cell in `Population.right` and ``down``. The caller sets the child's ``gain``.
    """
    for at in range(current.right.shape[1]):
        extended.right[child, at] = current.right[i, at]
    for at in range(current.down.shape[1]):
        extended.down[child, at] = current.down[i, at]
    for at in range(current.used.shape[1]):
        extended.used[child, at] = current.used[i, at]
    extended.right[child, row] = (candidate >> packed.RIGHT_SHIFT) & packed.RIGHT_MASK
    extended.down[child, column] = (candidate >> packed.DOWN_SHIFT) & packed.DOWN_MASK
    piece = candidate & packed.PIECE_MASK
    extended.used[child, piece >> 6] |= np.uint64(1) << np.uint64(piece & 63)


@inline_flat_kernel
def offer_to_reservoir(parent: int, candidate: int, rank: int, reservoirs: Reservoirs, random: RandomState) -> None:
    """Offer a child to the reservoir of ``rank``, which keeps each child offered with equal probability."""
    capacity = reservoirs.parent.shape[1]
    slot = reservoirs.offered[rank]
    reservoirs.offered[rank] += 1
    if slot >= capacity:
        slot = random_below(random, reservoirs.offered[rank])
    if slot < capacity:
        reservoirs.parent[rank, slot] = parent
        reservoirs.candidate[rank, slot] = candidate


@inline_flat_kernel
def _take_children(reservoirs: Reservoirs, current: Population, extended: Population, row: int, column: int) -> int:
    """Write the children in the reservoirs to ``extended``, lowest rank first, up to its size; return their number."""
    children = 0
    for rank in range(len(reservoirs.offered)):
        for slot in range(min(reservoirs.offered[rank], reservoirs.parent.shape[1])):
            if children == len(extended.gain):
                return children
            i, candidate = reservoirs.parent[rank, slot], reservoirs.candidate[rank, slot]
            append_child(current, i, extended, children, row, column, candidate)
            extended.gain[children] = current.gain[i] + (candidate >> packed.GAIN_SHIFT)
            children += 1
    return children


@flat_kernel
def grow_population(
    tables: CandidateTables,
    order: IntArray,
    quota_floor: IntArray,
    current: Population,
    extended: Population,
    means: FloatArray,
    reservoirs: Reservoirs,
    random: RandomState,
) -> int:
    """Grow a population from the empty board, count its children, and return the depth reached.

    ``tables``: candidate tables with breaks at every depth; ``quota_floor``: int32 (cells,), favoured half-edges that a
    prefix must have used once each depth is filled; ``current``, ``extended``: two new populations of equal size;
    ``means``: float64 (2, cells), receives the mean number of children by depth, without a break, then with a break.
    """
    list_start, candidates, base = tables.list_start, tables.candidates, tables.base
    size, width = len(current.gain), current.down.shape[1]
    offered = reservoirs.offered
    count = 1
    for depth in range(len(order)):
        row, column = tables.row[depth], order[depth] % width
        for rank in range(len(offered)):
            offered[rank] = 0
        exact = breaking = 0
        for i in range(count):
            breaks = breaks_spent(current.gain[i])
            favoured = current.gain[i] + breaks * packed.BREAK_COST
            at = list_start[base[depth] + current.right[i, row] + current.down[i, column]]
            while candidates[at] >> packed.GAIN_SHIFT >= _LEAST_EXACT_GAIN:
                candidate = candidates[at]
                at += 1
                enough = favoured + (candidate >> packed.GAIN_SHIFT) >= quota_floor[depth]
                if enough and not is_used(current, i, candidate & packed.PIECE_MASK):
                    exact += 1
                    offer_to_reservoir(i, candidate, min(breaks, MAX_COUNTED_BREAKS), reservoirs, random)
        # Prefixes are sorted by breaks. Once enough children with fewer breaks are known to fill the next population,
        # breaking children are no longer offered, only counted, for one prefix in STRIDE.
        i, rank, full = 0, -1, False
        while i < count:
            breaks = breaks_spent(current.gain[i]) + 1
            favoured = current.gain[i] + breaks * packed.BREAK_COST
            if not full and rank != min(breaks, MAX_COUNTED_BREAKS):
                rank = min(breaks, MAX_COUNTED_BREAKS)
                better = 0
                for fewer in range(rank):
                    better += offered[fewer]
                full = better >= size
            represented = min(STRIDE, count - i) if full else 1
            at = list_start[base[depth] + current.right[i, row] + current.down[i, column]]
            while candidates[at] >> packed.GAIN_SHIFT >= _LEAST_EXACT_GAIN:
                at += 1
            while candidates[at] >> packed.GAIN_SHIFT > packed.LIST_END_GAIN:
                candidate = candidates[at]
                at += 1
                enough = favoured + (candidate >> packed.GAIN_SHIFT) >= quota_floor[depth]
                if enough and not is_used(current, i, candidate & packed.PIECE_MASK):
                    breaking += represented
                    if not full:
                        offer_to_reservoir(i, candidate, rank, reservoirs, random)
            i += represented
        means[0, depth], means[1, depth] = exact / count, breaking / count
        count = _take_children(reservoirs, current, extended, row, column)
        if count == 0:
            return depth
        current, extended = extended, current
    return len(order)


@flat_kernel
def grow_strata(
    tables: CandidateTables,
    order: IntArray,
    current: Population,
    extended: Population,
    parents: Int64Array,
    children: Int64Array,
    reservoirs: Reservoirs,
    random: RandomState,
) -> tuple[int, int]:
    """Grow a stratified population from the empty board and count its children.

    ``tables``: candidate tables without breaks; ``parents``, ``children``: arrays of `ChildCounts`, to which the counts
    are added; ``reservoirs``: one for each stratum. Returns (depth reached, number of candidates of all prefixes).
    """
    list_start, candidates, base = tables.list_start, tables.candidates, tables.base
    width, strata = current.down.shape[1], len(reservoirs.offered)
    count, checks = 1, 0
    for depth in range(len(parents)):
        row, column = tables.row[depth], order[depth] % width
        highest = -1  # most favoured half-edges that any child of this depth has used
        for i in range(count):
            at = list_start[base[depth] + current.right[i, row] + current.down[i, column]]
            while candidates[at] >> packed.GAIN_SHIFT >= 0 and is_used(current, i, candidates[at] & packed.PIECE_MASK):
                at += 1
            if candidates[at] >> packed.GAIN_SHIFT >= 0:
                highest = max(highest, current.gain[i] + (candidates[at] >> packed.GAIN_SHIFT))
        if highest < 0:
            return depth, checks
        lowest = max(0, highest - strata + 1)
        for stratum in range(strata):
            reservoirs.offered[stratum] = 0
        for i in range(count):
            gain = current.gain[i]
            parents[depth, gain] += 1
            at = list_start[base[depth] + current.right[i, row] + current.down[i, column]]
            while candidates[at] >> packed.GAIN_SHIFT >= 0:
                favoured = candidates[at] >> packed.GAIN_SHIFT
                if not is_used(current, i, candidates[at] & packed.PIECE_MASK):
                    children[depth, gain, favoured] += 1
                    if gain + favoured >= lowest:
                        offer_to_reservoir(i, candidates[at], gain + favoured - lowest, reservoirs, random)
                at += 1
                checks += 1
        count = _take_children(reservoirs, current, extended, row, column)
        current, extended = extended, current
    return len(parents), checks


class ChildCounts(NamedTuple):
    """Numbers of prefixes and of their children, by depth and by favoured half-edges that the prefix has used."""

    parents: Int64Array  # int64 (depths, half_edges): number of prefixes
    # int64 (depths, half_edges, MAX_FAVOURED + 1): number of children, also by favoured half-edges of the piece added
    children: Int64Array
    reached: int  # the greatest depth that any of the populations reached
    checks: int  # number of candidates checked


@lru_cache(maxsize=512)  # a restored island needs the profiles of all its arms again
def quota_profile(puzzle: Puzzle, cells: tuple[int, ...], favoured: tuple[int, ...], cut: int) -> tuple[float, ...]:
    """Return, by depth, how many half-edges of ``favoured`` colours a prefix must have used; the number never falls.

    The profile is constant from depth ``cut`` on, where the quota ends. Measured prefixes respect the clues, unless
    none of them then reaches ``cut``. ``cells``: cells in the order in which they are filled.
    """
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
    """Count the children of SAMPLES stratified populations, without breaks and with the clues, below depth ``depths``.

    For each of the STRATA highest numbers of favoured half-edges used, up to PREFIXES_PER_STRATUM prefixes are kept,
    or fewer if a first, small population shows that checking candidates would take too long.
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
    reservoirs = allocate(Reservoirs, {"ranks": STRATA, "capacity": stratum_size})
    deepest = checks = 0
    for number in range(samples):
        random = random_state(RANDOM_SEED, number)
        no_breaks = np.zeros(puzzle.cells, dtype=bool)
        tables = packed.build_tables(puzzle, order, no_breaks, favoured, generator(random), puzzle.cells)
        current, extended = (new_population(STRATA * stratum_size, puzzle.width, puzzle.height) for _ in range(2))
        reached, checked = grow_strata(tables, order, current, extended, parents, children, reservoirs, random)
        deepest, checks = max(deepest, reached), checks + checked
    return ChildCounts(parents, children, deepest, checks)


def mean_children(parents: Int64Array, children: Int64Array) -> FloatArray:
    """Return the mean number of children by depth, half-edges used and half-edges added; float64 (depths, n, favoured).

    ``parents``, ``children``: see `ChildCounts`. The means are smoothed over the half-edges used. Prefixes with fewer
    half-edges than any counted prefix get the means of the lowest number counted; those with more than any get the
    means of the highest number counted, but no children that add half-edges.
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
    """Return, by depth, the fewest favoured half-edges with which a prefix is worth its nodes; int32 (depths,).

    ``children``: float64 (depths, n, favoured), see `mean_children`.
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
    # ``high``, since ``low`` may leave no prefix that is worth its node on a large board
    return backward_induction(children, value_at_end(high))[0]


def backward_induction(children: FloatArray, value: FloatArray) -> tuple[IntArray, float]:
    """Find the prefixes that are worth their node, by dynamic programming backwards over depth.

    Values are natural logarithms of nodes, since on large boards numbers of nodes have hundreds of digits.
    ``children``: see `mean_children`; ``value``: float64 (n,), value of a prefix at the last depth, by half-edges used.
    Returns (by depth, fewest half-edges with which a prefix is worth its node, int32 (depths,), n if no prefix is;
    value of the empty board). Prefixes with many more half-edges may have too few pieces left to be worth their node;
    they are dropped here, too, though the returned numbers cannot show that.
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
        net = _log_expm1(value)  # logarithm of the value minus one node, that of the prefix itself
        value = np.full(numbers, -np.inf)
        for more in range(min(favoured, numbers)):
            parents = value[: numbers - more]
            np.logaddexp(parents, log_children[depth, : numbers - more, more] + net[more:], out=parents)
    return least, float(value[0])


def _log_expm1(exponent: FloatArray) -> FloatArray:
    """Return log(exp(x) - 1) of each x; -inf where x <= 0."""
    result = np.full(exponent.shape, -np.inf)
    positive = exponent > 0
    result[positive] = exponent[positive] + np.log(-np.expm1(-exponent[positive]))
    return result
