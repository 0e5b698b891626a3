"""Measured fit probabilities: how many pieces fit at each depth, with and without a slip.

A population of prefixes is grown cell by cell. Of all children of all prefixes, those with the fewest slips survive, by
chance among equals, so that slips are spent only where the counting says that they are needed. What is counted on the
way, exact and slipping children a prefix, feeds the forecast (after Verhaard's Markov chain over depth and slips).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from exact.jit import inline_kernel, kernel
from lns.construct.tables import DOWN_AT, GAIN_AT, NEVER, PIECE_BITS, RIGHT_AT, RIGHT_BITS, SLIP, Tables
from lns.rng import RandomState, below

_PIECE_MASK = np.int64((1 << PIECE_BITS) - 1)
_DOWN_MASK = np.int64((1 << (RIGHT_AT - DOWN_AT)) - 1)
_RIGHT_MASK = np.int64((1 << RIGHT_BITS) - 1)
MOST_SLIPS = 255


class Population(NamedTuple):
    """Prefixes of equal length. ``right``: int32 (size, height) colour (times colours1) that each row shows to its next
    cell; ``down``: int32 (size, width); ``used``: uint64 (size, words) bits; ``gain``: int64 (size,)."""

    right: npt.NDArray[np.int32]
    down: npt.NDArray[np.int32]
    used: npt.NDArray[np.uint64]
    gain: npt.NDArray[np.int64]


class Tally(NamedTuple):
    """Mean children of a prefix by depth: float64 (cells,) that fit, and that fit but for one slip."""

    exact: npt.NDArray[np.float64]
    slipping: npt.NDArray[np.float64]


def new_population(size: int, width: int, height: int) -> Population:
    words = (width * height) // 64 + 1
    return Population(
        np.zeros((size, height), dtype=np.int32),
        np.zeros((size, width), dtype=np.int32),
        np.zeros((size, words), dtype=np.uint64),
        np.zeros(size, dtype=np.int64),
    )


@inline_kernel
def bear(now: Population, i: int, after: Population, born: int, row: int, column: int, word: int) -> None:
    """Prefix ``i`` of ``now`` with the candidate ``word`` on its next cell becomes prefix ``born`` of ``after``.

    Its ``gain`` is left to the caller.
    """
    after.right[born] = now.right[i]
    after.down[born] = now.down[i]
    after.used[born] = now.used[i]
    after.right[born, row] = (word >> RIGHT_AT) & _RIGHT_MASK
    after.down[born, column] = (word >> DOWN_AT) & _DOWN_MASK
    piece = word & _PIECE_MASK
    after.used[born, piece >> 6] |= np.uint64(1) << np.uint64(piece & 63)


@kernel
def grow(
    tables: Tables,
    order: npt.NDArray[np.int32],
    floor: npt.NDArray[np.int32],
    now: Population,
    after: Population,
    tally: Tally,
    parent: npt.NDArray[np.int64],
    word_of: npt.NDArray[np.int64],
    random: RandomState,
) -> int:
    """Grow from the empty board; fills ``tally``; returns the depth reached (all cells, unless nothing fits at all).

    ``tables`` list slips at every depth. ``parent``, ``word_of``: (256, size) room for children by slips.
    """
    size = len(now.gain)
    width = now.down.shape[1]
    alive = 1
    now.right[0, :] = 0
    now.down[0, :] = 0
    now.used[0, :] = 0
    now.gain[0] = 0
    seen = np.zeros(MOST_SLIPS + 1, dtype=np.int64)
    for depth in range(len(order)):
        row, column = order[depth] // width, order[depth] % width
        seen[:] = 0
        exact = slipping = 0
        for i in range(alive):
            start = tables.start[tables.base[depth] + now.right[i, row] + now.down[i, column]]
            spent = (SLIP - 1 - now.gain[i]) // SLIP
            favoured = now.gain[i] + spent * SLIP
            at = start
            while True:
                word = tables.words[at]
                at += 1
                gain = word >> GAIN_AT
                if gain == NEVER:
                    break
                piece = word & _PIECE_MASK
                if now.used[i, piece >> 6] >> np.uint64(piece & 63) & np.uint64(1):
                    continue
                slip = np.int64(gain < -(SLIP // 2))
                if favoured + gain + slip * SLIP < floor[depth]:
                    continue
                exact += 1 - slip
                slipping += slip
                total = min(spent + slip, np.int64(MOST_SLIPS))
                seen[total] += 1  # reservoir of children with this many slips
                slot = seen[total] - 1
                if slot >= size:
                    slot = below(random, seen[total])
                if slot < size:
                    parent[total, slot] = i
                    word_of[total, slot] = word
        tally.exact[depth] = exact / alive
        tally.slipping[depth] = slipping / alive
        born = 0
        for total in range(MOST_SLIPS + 1):
            for slot in range(min(seen[total], size)):
                if born == size:
                    break
                i = parent[total, slot]
                word = word_of[total, slot]
                bear(now, i, after, born, row, column, word)
                after.gain[born] = now.gain[i] + (word >> GAIN_AT)
                born += 1
        if born == 0:
            return depth
        alive = born
        now, after = after, now
    return len(order)
