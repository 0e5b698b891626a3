"""How pieces fit by depth and by favoured half-edges used: a population stratified by that number.

Prefixes that have used many favoured half-edges are rare, and a random sample of prefixes would contain none. So at
each depth up to PREFIXES_PER_STRATUM prefixes are kept of each of the STRATA highest numbers used, a random choice
among equals (splitting; H. Kahn, T. Harris, 1951).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from instances.puzzle import IntArray, Puzzle
from lns import node_equivalents
from lns.construct.candidate_tables import CandidateTables, build_tables
from lns.construct.packed_candidate import GAIN_SHIFT, MAX_FAVOURED, PIECE_MASK
from lns.construct.population import (
    Population,
    Reservoirs,
    append_child,
    is_used,
    new_population,
    offer_to_reservoir,
)
from lns.rng import RandomState, generator, random_state
from lns_support.jit import flat_kernel, inline_flat_kernel

STRATA, PREFIXES_PER_STRATUM = 32, 512
SAMPLES = 4  # populations that are counted
MIN_PREFIXES_PER_STRATUM = 32  # where candidate lists are long (few colours, many pieces), to bound the time
RANDOM_SEED = 0  # the same in every run: the counts are a property of the puzzle


class ChildCounts(NamedTuple):
    """Prefixes and their children, counted by depth and by favoured half-edges that the prefix has used."""

    parents: npt.NDArray[np.int64]  # int64 (depths, numbers): prefixes
    children: npt.NDArray[np.int64]  # int64 (depths, numbers, MAX_FAVOURED + 1): their children, by favoured half-edges
    # of the piece added


def count_children(puzzle: Puzzle, order: IntArray, favoured: tuple[int, ...], depths: int) -> tuple[ChildCounts, int]:
    """Count the children of SAMPLES stratified populations that respect the clues and make no break.

    Parameters
    ----------
    puzzle : Puzzle
    order : int32 (cells,)
        Cells by depth.
    favoured : tuple of int
        Favoured colours.
    depths : int
        Number of cells to fill.

    Returns
    -------
    counts : ChildCounts
        Of all populations together.
    reached : int
        The greatest depth that one of them reached.
    """
    _, _, checks = _count(puzzle, order, favoured, depths, 1, MIN_PREFIXES_PER_STRATUM)
    size = MIN_PREFIXES_PER_STRATUM * node_equivalents.MAX_PROFILE_CHECKS // (SAMPLES * max(1, checks))
    size = min(max(MIN_PREFIXES_PER_STRATUM, size), PREFIXES_PER_STRATUM)
    counts, reached, _ = _count(puzzle, order, favoured, depths, SAMPLES, size)
    return counts, reached


def _count(
    puzzle: Puzzle, order: IntArray, favoured: tuple[int, ...], depths: int, samples: int, stratum_size: int
) -> tuple[ChildCounts, int, int]:
    """As `count_children`, with ``stratum_size`` prefixes of each stratum; also returns the candidates checked."""
    numbers = int(np.isin(puzzle.pieces, favoured).sum()) + 1
    counts = ChildCounts(
        parents=np.zeros((depths, numbers), dtype=np.int64),
        children=np.zeros((depths, numbers, MAX_FAVOURED + 1), dtype=np.int64),
    )
    reservoirs = Reservoirs(
        parent=np.zeros((STRATA, stratum_size), dtype=np.int64),
        candidate=np.zeros((STRATA, stratum_size), dtype=np.int64),
        offered=np.zeros(STRATA, dtype=np.int64),
        break_start=np.zeros(0, dtype=np.int64),  # there are no breaks
    )
    current, extended = (new_population(STRATA * stratum_size, puzzle.width, puzzle.height) for _ in range(2))
    deepest = checks = 0
    for number in range(samples):
        random = random_state(RANDOM_SEED, number)
        no_breaks = np.zeros(puzzle.cells, dtype=bool)
        tables = build_tables(puzzle, order, no_breaks, favoured, generator(random), puzzle.cells)
        for part in current:
            part[0] = 0
        reached, checked = grow_strata(tables, order, current, extended, counts, reservoirs, random)
        deepest, checks = max(deepest, reached), checks + checked
    return counts, deepest, checks


@flat_kernel
def grow_strata(
    tables: CandidateTables,
    order: npt.NDArray[np.int32],
    current: Population,
    extended: Population,
    counts: ChildCounts,
    reservoirs: Reservoirs,
    random: RandomState,
) -> tuple[int, int]:
    """Grow a stratified population from the empty board, the first prefix of ``current``; add to ``counts``.

    ``tables`` list no breaks, and the most favoured piece first. Returns (depth reached, candidates checked, those of
    used pieces included).
    """
    list_start, candidates, base = tables.list_start, tables.candidates, tables.base
    width, strata = current.down.shape[1], len(reservoirs.offered)
    prefix_count, checks = 1, 0
    for depth in range(len(counts.parents)):
        row, column = order[depth] // width, order[depth] % width
        highest = -1
        for i in range(prefix_count):
            start = list_start[base[depth] + current.right[i, row] + current.down[i, column]]
            at = _next_unused(start, i, candidates, current)
            if candidates[at] >> GAIN_SHIFT >= 0:
                highest = max(highest, current.gain[i] + (candidates[at] >> GAIN_SHIFT))
        if highest < 0:
            return depth, checks
        lowest = max(0, highest - strata + 1)
        for stratum in range(strata):
            reservoirs.offered[stratum] = 0
        for i in range(prefix_count):
            gain = current.gain[i]
            counts.parents[depth, gain] += 1
            start = list_start[base[depth] + current.right[i, row] + current.down[i, column]]
            at = _next_unused(start, i, candidates, current)
            while candidates[at] >> GAIN_SHIFT >= 0:
                favoured = candidates[at] >> GAIN_SHIFT
                counts.children[depth, gain, favoured] += 1
                if gain + favoured >= lowest:
                    offer_to_reservoir(i, candidates[at], gain + favoured - lowest, reservoirs, random)
                at = _next_unused(at + 1, i, candidates, current)
            checks += at - start
        children = 0
        for stratum in range(strata):
            for slot in range(min(reservoirs.offered[stratum], reservoirs.parent.shape[1])):
                i = reservoirs.parent[stratum, slot]
                append_child(current, i, extended, children, row, column, reservoirs.candidate[stratum, slot])
                extended.gain[children] = lowest + stratum
                children += 1
        prefix_count = children
        current, extended = extended, current
    return len(counts.parents), checks


@inline_flat_kernel
def _next_unused(at: int, i: int, candidates: npt.NDArray[np.int64], population: Population) -> int:
    """The first index from ``at`` on whose piece prefix ``i`` has not used, or that of the end of the list."""
    while candidates[at] >> GAIN_SHIFT >= 0:
        if not is_used(population, i, candidates[at] & PIECE_MASK):
            break
        at += 1
    return at
