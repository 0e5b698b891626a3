"""Measured fit probabilities: how many pieces fit at each depth, with and without a break.

A population of prefixes is grown cell by cell. Of all children of all prefixes, those with the fewest breaks survive,
by
chance among equals, so that breaks are spent only where the counting says that they are needed. What is counted on the
way, exact and breaking children a prefix, feeds the forecast (after Verhaard's Markov chain over depth and breaks).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns.construct.candidate_tables import Tables
from lns.construct.packed_candidate import (
    BREAK_COST,
    DOWN_AT,
    DOWN_MASK,
    GAIN_AT,
    NEVER,
    PIECE_MASK,
    RIGHT_AT,
    RIGHT_MASK,
    breaks_spent,
)
from lns.rng import RandomState, random_below
from lns_support.jit import flat_kernel, inline_flat_kernel

MOST_TOLD = 255  # breaks that are told apart
COUNTED = 8  # prefixes for which one stands where breaks are only counted


class Population(NamedTuple):
    """Prefixes of equal length. ``right``: int32 (size, height) colour (times colours1) that each row shows to its next
    cell; ``down``: int32 (size, width); ``used``: uint64 (size, words) bits; ``gain``: int64 (size,)."""

    right: npt.NDArray[np.int32]
    down: npt.NDArray[np.int32]
    used: npt.NDArray[np.uint64]
    gain: npt.NDArray[np.int64]


class Tally(NamedTuple):
    """Mean children of a prefix by depth: float64 (cells,) that fit, and that fit but for one break."""

    exact: npt.NDArray[np.float64]
    breaking: npt.NDArray[np.float64]


class Room(NamedTuple):
    """Room for the children of one layer. ``parent``, ``word``: int64 (256, size), by breaks; ``seen``: int64 (256,)
    how
    many there were; ``behind``: int64 (size,) where the breaks of each prefix's list begin."""

    parent: npt.NDArray[np.int64]
    word: npt.NDArray[np.int64]
    seen: npt.NDArray[np.int64]
    behind: npt.NDArray[np.int64]


def new_room(size: int) -> Room:
    parent, word = (np.zeros((MOST_TOLD + 1, size), dtype=np.int64) for _ in range(2))
    return Room(parent, word, np.zeros(MOST_TOLD + 1, dtype=np.int64), np.zeros(size, dtype=np.int64))


def new_population(size: int, width: int, height: int) -> Population:
    words = (width * height) // 64 + 1
    return Population(
        np.zeros((size, height), dtype=np.int32),
        np.zeros((size, width), dtype=np.int32),
        np.zeros((size, words), dtype=np.uint64),
        np.zeros(size, dtype=np.int64),
    )


@inline_flat_kernel
def bear(now: Population, i: int, after: Population, born: int, row: int, column: int, word: int) -> None:
    """Prefix ``i`` of ``now`` with the candidate ``word`` on its next cell becomes prefix ``born`` of ``after``.

    Its ``gain`` is left to the caller.
    """
    for at in range(now.right.shape[1]):
        after.right[born, at] = now.right[i, at]
    for at in range(now.down.shape[1]):
        after.down[born, at] = now.down[i, at]
    for at in range(now.used.shape[1]):
        after.used[born, at] = now.used[i, at]
    after.right[born, row] = (word >> RIGHT_AT) & RIGHT_MASK
    after.down[born, column] = (word >> DOWN_AT) & DOWN_MASK
    piece = word & PIECE_MASK
    after.used[born, piece >> 6] |= np.uint64(1) << np.uint64(piece & 63)


@flat_kernel
def grow(
    tables: Tables,
    order: npt.NDArray[np.int32],
    floor: npt.NDArray[np.int32],
    now: Population,
    after: Population,
    tally: Tally,
    room: Room,
    random: RandomState,
) -> int:
    """Grow from the empty board; fills ``tally``; returns the depth reached (all cells, unless nothing fits at all).

    ``tables`` list breaks at every depth, behind the exact candidates.
    """
    starts, words, base = tables.start, tables.words, tables.base
    size = len(now.gain)
    width = now.down.shape[1]
    alive = 1
    for part in (now.right, now.down):
        for at in range(part.shape[1]):
            part[0, at] = 0
    for at in range(now.used.shape[1]):
        now.used[0, at] = np.uint64(0)
    now.gain[0] = 0
    seen, behind = room.seen, room.behind
    for depth in range(len(order)):
        row, column = order[depth] // width, order[depth] % width
        for total in range(MOST_TOLD + 1):
            seen[total] = 0
        exact = breaking = 0
        for i in range(alive):
            spent = breaks_spent(now.gain[i])
            favoured = now.gain[i] + spent * BREAK_COST
            total = min(spent, MOST_TOLD)
            at = starts[base[depth] + now.right[i, row] + now.down[i, column]]
            while True:
                word = words[at]
                gain = word >> GAIN_AT
                if gain < -(BREAK_COST // 2):
                    break
                at += 1
                piece = word & PIECE_MASK
                if now.used[i, piece >> 6] >> np.uint64(piece & 63) & np.uint64(1) or favoured + gain < floor[depth]:
                    continue
                exact += 1
                draw(i, word, total, room, random)
            behind[i] = at
        # prefixes stand by breaks: from the first on whose breaks are not needed any more, those are only counted, and
        # one prefix stands for some
        i, total, enough = 0, -1, False
        while i < alive:
            spent = breaks_spent(now.gain[i])
            favoured = now.gain[i] + (spent + 1) * BREAK_COST
            if not enough and total != min(spent + 1, MOST_TOLD):
                total = min(spent + 1, MOST_TOLD)
                better = 0
                for fewer in range(total):
                    better += seen[fewer]
                enough = better >= size
            stands_for = min(COUNTED, alive - i) if enough else 1
            at = behind[i]
            while True:
                word = words[at]
                gain = word >> GAIN_AT
                if gain == NEVER:
                    break
                at += 1
                piece = word & PIECE_MASK
                if now.used[i, piece >> 6] >> np.uint64(piece & 63) & np.uint64(1) or favoured + gain < floor[depth]:
                    continue
                breaking += stands_for
                if not enough:
                    draw(i, word, total, room, random)
            i += stands_for
        tally.exact[depth] = exact / alive
        tally.breaking[depth] = breaking / alive
        born = 0
        for total in range(MOST_TOLD + 1):
            for slot in range(min(seen[total], size)):
                if born == size:
                    break
                i = room.parent[total, slot]
                word = room.word[total, slot]
                bear(now, i, after, born, row, column, word)
                after.gain[born] = now.gain[i] + (word >> GAIN_AT)
                born += 1
        if born == 0:
            return depth
        alive = born
        now, after = after, now
    return len(order)


@inline_flat_kernel
def draw(
    i: int,
    word: int,
    total: int,
    room: Room,
    random: RandomState,
) -> None:
    """Put a child into the reservoir of number ``total``, say of breaks: each ends there with equal chance."""
    size = room.parent.shape[1]
    slot = room.seen[total]
    room.seen[total] += 1
    if slot >= size:
        slot = random_below(random, room.seen[total])
    if slot < size:
        room.parent[total, slot] = i
        room.word[total, slot] = word
