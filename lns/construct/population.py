"""Measured fit probabilities: how many pieces fit at each depth, with and without a break.

A population of prefixes grows cell by cell. All children of all prefixes are counted, and a random sample of them is
kept. Two populations differ in what they prefer:

- `grow_population` keeps the children with the fewest breaks, so breaks are spent only where too few children fit
  without one. The mean numbers of exact and breaking children of a prefix are the input of the Markov model in
  `lns.construct.schedule` (after Verhaard's Markov chain over depth and breaks).
- `grow_strata` makes no breaks and keeps some children of each of the highest numbers of favoured half-edges
  (splitting; H. Kahn, T. Harris, 1951), since a random sample would contain none of these rare prefixes. Its counts
  are the input of `lns.construct.quota_profile`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns.construct import candidates as packed
from lns.construct.candidates import CandidateTables, FloatArray, Int64Array, breaks_spent
from lns.exact.kernels.jit import flat_kernel, inline_flat_kernel
from lns.instances.puzzle import IntArray
from lns.rng import RandomState, random_below

MAX_COUNTED_BREAKS = 255  # prefixes with more breaks count as prefixes with this many
STRIDE = 8  # where breaking children are only counted, one prefix in this many is looked at
_LEAST_EXACT_GAIN = -(packed.BREAK_COST // 2)  # of a candidate without a break


class Population(NamedTuple):
    """Prefixes of equal length, in the first elements of the arrays."""

    right: IntArray  # int32 (size, height): colour that each row shows to its next cell, * colour_count
    down: IntArray  # int32 (size, width): colour that each column shows to its next cell
    used: npt.NDArray[np.uint64]  # uint64 (size, words): pieces used, one bit a piece
    gain: Int64Array  # int64 (size,): see `lns.construct.candidates`; in a beam the value


class Reservoirs(NamedTuple):
    """Random samples of the children of one layer, one sample for each rank (reservoir sampling).

    The rank of a child is its number of breaks, or its stratum.
    """

    parent: Int64Array  # int64 (ranks, capacity): index of each child's parent
    candidate: Int64Array  # int64 (ranks, capacity): packed candidate that each child adds
    offered: Int64Array  # int64 (ranks,): children offered so far


def new_reservoirs(size: int, ranks: int = MAX_COUNTED_BREAKS + 1) -> Reservoirs:
    """Reservoirs of ``size`` children each."""
    parent, candidate = np.zeros((2, ranks, size), dtype=np.int64)
    return Reservoirs(parent, candidate, offered=np.zeros(ranks, dtype=np.int64))


def new_population(size: int, width: int, height: int) -> Population:
    """A population of at most ``size`` prefixes of a width x height board; its first prefix is the empty board."""
    return Population(
        right=np.zeros((size, height), dtype=np.int32),
        down=np.zeros((size, width), dtype=np.int32),
        used=np.zeros((size, (width * height) // 64 + 1), dtype=np.uint64),
        gain=np.zeros(size, dtype=np.int64),
    )


@inline_flat_kernel
def is_used(population: Population, i: int, piece: int) -> bool:
    """Whether prefix ``i`` has used ``piece``."""
    return bool(population.used[i, piece >> 6] >> np.uint64(piece & 63) & np.uint64(1))


@inline_flat_kernel
def append_child(
    current: Population, i: int, extended: Population, child: int, row: int, column: int, candidate: int
) -> None:
    """Write prefix ``i`` of ``current``, with ``candidate`` on its next cell, to prefix ``child`` of ``extended``.

    Its ``gain`` is left to the caller.
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
    """Offer a child to the reservoir of ``rank``: all that are offered have the same chance to be kept."""
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
    """Write the children in the reservoirs to ``extended``, by rank, while there is room; return their number."""
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

    That is the number of cells, unless no child of any prefix was left before.

    Parameters
    ----------
    tables : CandidateTables
        Lists with breaks at every depth.
    order : int32 (cells,)
        Cells by depth.
    quota_floor : int32 (cells,)
        Favoured half-edges that a prefix must have used once each depth is filled.
    current, extended : Population
        Two new populations of equal size.
    means : float64 (2, cells)
        Receives the mean children of a prefix by depth: those without a break, then those with one.
    reservoirs : Reservoirs
    random : RandomState
    """
    list_start, candidates, base = tables.list_start, tables.candidates, tables.base
    size, width = len(current.gain), current.down.shape[1]
    offered = reservoirs.offered
    count = 1
    for depth in range(len(order)):
        row, column = order[depth] // width, order[depth] % width
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
        # Prefixes are sorted by breaks. From the first one whose breaking children cannot be kept any more, as enough
        # children have fewer breaks, these are only counted, for one prefix in STRIDE.
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

    ``tables`` list no breaks. The counts are added to ``parents`` and ``children``, see `quota_profile.ChildCounts`;
    ``current`` and ``extended`` are two new populations of equal size; ``reservoirs`` are one for each stratum. Returns
    (depth reached, candidates checked, those of used pieces included).
    """
    list_start, candidates, base = tables.list_start, tables.candidates, tables.base
    width, strata = current.down.shape[1], len(reservoirs.offered)
    count, checks = 1, 0
    for depth in range(len(parents)):
        row, column = order[depth] // width, order[depth] % width
        highest = -1  # favoured half-edges used, of all children
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
