"""Measured fit probabilities: how many pieces fit at each depth, with and without a break.

A population of prefixes grows cell by cell. Of all children of all prefixes, those with the fewest breaks are kept, a
random choice among equals, so that breaks are spent only where too few children fit without one. The mean numbers of
exact and breaking children of a prefix are the input of `lns.construct.markov_model` (after Verhaard's Markov chain
over depth and breaks).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns.construct.candidate_tables import CandidateTables
from lns.construct.packed_candidate import (
    BREAK_COST,
    DOWN_MASK,
    DOWN_SHIFT,
    GAIN_SHIFT,
    LIST_END_GAIN,
    PIECE_MASK,
    RIGHT_MASK,
    RIGHT_SHIFT,
    breaks_spent,
)
from lns.rng import RandomState, random_below
from lns_support.jit import flat_kernel, inline_flat_kernel

MAX_COUNTED_BREAKS = 255  # prefixes with more breaks count as prefixes with this many
STRIDE = 8  # where breaking children are only counted, one prefix in this many is looked at


class Population(NamedTuple):
    """Prefixes of equal length, in the first elements of the arrays."""

    right: npt.NDArray[np.int32]  # int32 (size, height): colour that each row shows to its next cell, * colour_count
    down: npt.NDArray[np.int32]  # int32 (size, width): colour that each column shows to its next cell
    used: npt.NDArray[np.uint64]  # uint64 (size, words): pieces used, one bit a piece
    gain: npt.NDArray[np.int64]  # int64 (size,): see `lns.construct.packed_candidate`; in a beam the value


class PopulationMeans(NamedTuple):
    """Mean number of children of the prefixes of one population, by depth."""

    exact: npt.NDArray[np.float64]  # float64 (cells,): children without a break on the cell
    breaking: npt.NDArray[np.float64]  # float64 (cells,): children with one break


class Reservoirs(NamedTuple):
    """Random samples of the children of one layer, one sample for each number of breaks (reservoir sampling)."""

    parent: npt.NDArray[np.int64]  # int64 (reservoirs, capacity): index of each child's parent
    candidate: npt.NDArray[np.int64]  # int64 (reservoirs, capacity): packed candidate that each child adds
    offered: npt.NDArray[np.int64]  # int64 (reservoirs,): children offered so far
    break_start: npt.NDArray[np.int64]  # int64 (size,): by prefix, where the breaking candidates of its list begin


def new_reservoirs(size: int) -> Reservoirs:
    """Reservoirs for populations of ``size`` prefixes, by breaks."""
    count = MAX_COUNTED_BREAKS + 1
    return Reservoirs(
        parent=np.zeros((count, size), dtype=np.int64),
        candidate=np.zeros((count, size), dtype=np.int64),
        offered=np.zeros(count, dtype=np.int64),
        break_start=np.zeros(size, dtype=np.int64),
    )


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
    extended.right[child, row] = (candidate >> RIGHT_SHIFT) & RIGHT_MASK
    extended.down[child, column] = (candidate >> DOWN_SHIFT) & DOWN_MASK
    piece = candidate & PIECE_MASK
    extended.used[child, piece >> 6] |= np.uint64(1) << np.uint64(piece & 63)


@inline_flat_kernel
def offer_to_reservoir(parent: int, candidate: int, number: int, reservoirs: Reservoirs, random: RandomState) -> None:
    """Offer a child to the reservoir ``number``; each child offered ends up there with equal probability."""
    capacity = reservoirs.parent.shape[1]
    slot = reservoirs.offered[number]
    reservoirs.offered[number] += 1
    if slot >= capacity:
        slot = random_below(random, reservoirs.offered[number])
    if slot < capacity:
        reservoirs.parent[number, slot] = parent
        reservoirs.candidate[number, slot] = candidate


@flat_kernel
def grow_population(
    tables: CandidateTables,
    order: npt.NDArray[np.int32],
    quota_floor: npt.NDArray[np.int32],
    current: Population,
    extended: Population,
    means: PopulationMeans,
    reservoirs: Reservoirs,
    random: RandomState,
) -> int:
    """Grow a population from the empty board and count its children.

    Parameters
    ----------
    tables : CandidateTables
        Lists with breaks at every depth.
    order : int32 (cells,)
        Cells by depth.
    quota_floor : int32 (cells,)
        Favoured half-edges that a prefix must have used once each depth is filled.
    current, extended : Population
        Two populations of equal size, which are overwritten.
    means : PopulationMeans
        Receives the counts.
    reservoirs : Reservoirs
    random : RandomState

    Returns
    -------
    int
        The depth reached: the number of cells, unless no child of any prefix was left before.
    """
    list_start, candidates, base = tables.list_start, tables.candidates, tables.base
    size = len(current.gain)
    width = current.down.shape[1]
    count = 1
    for part in (current.right, current.down):
        for at in range(part.shape[1]):
            part[0, at] = 0
    for at in range(current.used.shape[1]):
        current.used[0, at] = np.uint64(0)
    current.gain[0] = 0
    offered, break_start = reservoirs.offered, reservoirs.break_start
    for depth in range(len(order)):
        row, column = order[depth] // width, order[depth] % width
        for number in range(MAX_COUNTED_BREAKS + 1):
            offered[number] = 0
        exact = breaking = 0
        for i in range(count):
            breaks = breaks_spent(current.gain[i])
            favoured = current.gain[i] + breaks * BREAK_COST
            number = min(breaks, MAX_COUNTED_BREAKS)
            at = list_start[base[depth] + current.right[i, row] + current.down[i, column]]
            while True:
                candidate = candidates[at]
                gain = candidate >> GAIN_SHIFT
                if gain < -(BREAK_COST // 2):
                    break
                at += 1
                if is_used(current, i, candidate & PIECE_MASK) or favoured + gain < quota_floor[depth]:
                    continue
                exact += 1
                offer_to_reservoir(i, candidate, number, reservoirs, random)
            break_start[i] = at
        # Prefixes are sorted by breaks. From the first one whose breaking children cannot be kept any more, as enough
        # children have fewer breaks, these are only counted, for one prefix in STRIDE.
        i, number, enough = 0, -1, False
        while i < count:
            breaks = breaks_spent(current.gain[i]) + 1
            favoured = current.gain[i] + breaks * BREAK_COST
            if not enough and number != min(breaks, MAX_COUNTED_BREAKS):
                number = min(breaks, MAX_COUNTED_BREAKS)
                better = 0
                for fewer in range(number):
                    better += offered[fewer]
                enough = better >= size
            represented = min(STRIDE, count - i) if enough else 1
            at = break_start[i]
            while True:
                candidate = candidates[at]
                gain = candidate >> GAIN_SHIFT
                if gain == LIST_END_GAIN:
                    break
                at += 1
                if is_used(current, i, candidate & PIECE_MASK) or favoured + gain < quota_floor[depth]:
                    continue
                breaking += represented
                if not enough:
                    offer_to_reservoir(i, candidate, number, reservoirs, random)
            i += represented
        means.exact[depth] = exact / count
        means.breaking[depth] = breaking / count
        children = 0
        for number in range(MAX_COUNTED_BREAKS + 1):
            for slot in range(min(offered[number], size)):
                if children == size:
                    break
                i = reservoirs.parent[number, slot]
                candidate = reservoirs.candidate[number, slot]
                append_child(current, i, extended, children, row, column, candidate)
                extended.gain[children] = current.gain[i] + (candidate >> GAIN_SHIFT)
                children += 1
        if children == 0:
            return depth
        count = children
        current, extended = extended, current
    return len(order)
