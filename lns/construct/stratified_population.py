"""How pieces fit by depth and by favoured half-edges used: a population with room for every number of them.

Prefixes that have used many are rare, and a population drawn by chance alone would hold none. So at each depth up to
EACH prefixes live on of each of the STRATA highest numbers used, drawn by chance among equals (splitting; H. Kahn,
T. Harris, 1951).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from instances.puzzle import IntArray, Puzzle
from lns import node_equivalents
from lns.construct import candidate_tables
from lns.construct.candidate_tables import Tables
from lns.construct.packed_candidate import GAIN_AT, MOST_FAVOURED, PIECE_MASK
from lns.construct.population import Population, Room, bear, draw, new_population
from lns.rng import RandomState, generator, random_state
from lns_support.jit import flat_kernel, inline_flat_kernel

STRATA, EACH = 32, 512
SAMPLES = 4
LEAST = 32  # instead of EACH, where lists of candidates are long (few colours, many pieces) and work is to be bounded
SEED = 0  # the same for every run: what is measured belongs to the puzzle

Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Census(NamedTuple):
    """``parents``: int64 (depths, numbers) prefixes looked at by depth and favoured half-edges used; ``children``:
    int64 (depths, numbers, MOST_FAVOURED + 1) their children, by those that the next piece has."""

    parents: Longs
    children: Longs


def count(puzzle: Puzzle, order: IntArray, favoured: tuple[int, ...], depths: int) -> tuple[Census, int]:
    """(census of SAMPLES populations of ``puzzle``, its clues respected and no break made; depths that they
    reached)."""
    _, _, looks = _count(puzzle, order, favoured, depths, 1, LEAST)
    each = LEAST * node_equivalents.MAX_PROFILE_CHECKS // (SAMPLES * max(1, looks))
    census, reached, _ = _count(puzzle, order, favoured, depths, SAMPLES, min(max(LEAST, each), EACH))
    return census, reached


def _count(
    puzzle: Puzzle, order: IntArray, favoured: tuple[int, ...], depths: int, samples: int, each: int
) -> tuple[Census, int, int]:
    """As `count`, with the number of candidates looked at; ``each``: prefixes of each number used that live on."""
    numbers = int(np.isin(puzzle.pieces, favoured).sum()) + 1
    census = Census(
        np.zeros((depths, numbers), dtype=np.int64), np.zeros((depths, numbers, MOST_FAVOURED + 1), dtype=np.int64)
    )
    parent, word = (np.zeros((STRATA, each), dtype=np.int64) for _ in range(2))
    seen, none = np.zeros(STRATA, dtype=np.int64), np.zeros(0, dtype=np.int64)
    room = Room(parent, word, seen, none)  # by favoured half-edges instead of breaks
    now, after = (new_population(STRATA * each, puzzle.width, puzzle.height) for _ in range(2))
    furthest = looks = 0
    for number in range(samples):
        random = random_state(SEED, number)
        nowhere = np.zeros(puzzle.cells, dtype=bool)
        made = candidate_tables.build(puzzle, order, nowhere, favoured, generator(random), puzzle.cells)
        for part in now:
            part[0] = 0
        reached, looked = grow(made, order, now, after, census, room, random)
        furthest, looks = max(furthest, reached), looks + looked
    return census, furthest, looks


@flat_kernel
def grow(
    tables: Tables,
    order: npt.NDArray[np.int32],
    now: Population,
    after: Population,
    census: Census,
    room: Room,
    random: RandomState,
) -> tuple[int, int]:
    """Grow the empty board, the first prefix of ``now``, through the depths of ``census``.

    (How many of them it reached; how many candidates were looked at, those used already too.)

    ``tables`` list no breaks, and the most favoured piece first.
    """
    starts, words, base = tables.start, tables.words, tables.base
    width, strata = now.down.shape[1], len(room.seen)
    alive, looks = 1, 0
    for depth in range(len(census.parents)):
        row, column = order[depth] // width, order[depth] % width
        highest = -1
        for i in range(alive):
            at = _next_free(starts[base[depth] + now.right[i, row] + now.down[i, column]], i, words, now)
            if words[at] >> GAIN_AT >= 0:
                highest = max(highest, now.gain[i] + (words[at] >> GAIN_AT))
        if highest < 0:
            return depth, looks
        lowest = max(0, highest - strata + 1)
        for stratum in range(strata):
            room.seen[stratum] = 0
        for i in range(alive):
            gain = now.gain[i]
            census.parents[depth, gain] += 1
            start = starts[base[depth] + now.right[i, row] + now.down[i, column]]
            at = _next_free(start, i, words, now)
            while words[at] >> GAIN_AT >= 0:
                favoured = words[at] >> GAIN_AT
                census.children[depth, gain, favoured] += 1
                if gain + favoured >= lowest:
                    draw(i, words[at], gain + favoured - lowest, room, random)
                at = _next_free(at + 1, i, words, now)
            looks += at - start
        born = 0
        for stratum in range(strata):
            for slot in range(min(room.seen[stratum], room.parent.shape[1])):
                i = room.parent[stratum, slot]
                bear(now, i, after, born, row, column, room.word[stratum, slot])
                after.gain[born] = lowest + stratum
                born += 1
        alive = born
        now, after = after, now
    return len(census.parents), looks


@inline_flat_kernel
def _next_free(at: int, i: int, words: npt.NDArray[np.int64], now: Population) -> int:
    """The first place from ``at`` on whose piece prefix ``i`` has not used, or the end of the list."""
    while words[at] >> GAIN_AT >= 0:
        piece = words[at] & PIECE_MASK
        if not now.used[i, piece >> 6] >> np.uint64(piece & 63) & np.uint64(1):
            break
        at += 1
    return at
