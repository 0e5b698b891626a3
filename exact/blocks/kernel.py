"""The kernel of grouping (Jolivet 2008, 2.3): the row scan over blocks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns_support.jit import flat_kernel, inline_flat_kernel

NODES, SOLUTIONS, EXHAUSTED, LEVEL, DESCENDING, COUNTERS = 0, 1, 2, 3, 4, 5

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


class BlockTables(NamedTuple):
    """The blocks of a puzzle. B: blocks; Q: numbered pairs of colours; a place is a cell of the board of blocks.

    Blocks of one place class and one left pair are consecutive, sorted by their upper pair. Pair 0 is two grey sides.
    """

    oriented: Ints  # (B, pieces of a block): the oriented pieces of a block
    up: Ints  # (B,): number of the pair of colours on the upper side
    right: Ints  # (B,): on the right side
    down: Ints  # (B,): on the lower side
    start: Longs  # (classes, Q+1): first block by place class and left pair, and the end
    class_of: Ints  # (places,): place class


class BlockState(NamedTuple):
    """The state of a paused scan over blocks. L: places; a level is the number of blocks placed."""

    placed: Longs  # (L,): the block on each place
    next_try: Longs  # (L,): by level, the next block to try
    end_try: Longs  # (L,): by level, the end of the blocks to try
    used: npt.NDArray[np.bool_]  # (pieces,): the piece is on the board
    per_level: Longs  # (L+1,): nodes by level
    first: Longs  # (L,): `placed` of the first solution
    counters: Longs  # (COUNTERS,): see the names above


@inline_flat_kernel
def lower_bound(values, begin, end, bound):  # type: ignore[no-untyped-def]
    """The first index in [begin, end) whose value is at least ``bound``, else ``end``."""
    while begin < end:
        middle = (begin + end) // 2
        if values[middle] < bound:
            begin = middle + 1
        else:
            end = middle
    return begin


@flat_kernel
def scan(tables, state, width, budget, stop_at_first):  # type: ignore[no-untyped-def]
    """Go on for ``budget`` nodes, or to the end, or to the next solution if ``stop_at_first``.

    Places are filled row by row, ``width`` blocks a row; a node is a placement.
    """
    counters = state.counters
    cells, size = len(tables.class_of), tables.oriented.shape[1]
    spent = 0
    while spent < budget and counters[EXHAUSTED] == 0:
        level = counters[LEVEL]
        if counters[DESCENDING] == 1:
            counters[DESCENDING] = 0
            if level == cells:
                if counters[SOLUTIONS] == 0:
                    for cell in range(cells):
                        state.first[cell] = state.placed[cell]
                counters[SOLUTIONS] += 1
                counters[LEVEL] -= 1
                for k in range(size):
                    state.used[tables.oriented[state.placed[level - 1], k] >> 2] = False
                if stop_at_first:
                    break
                continue
            left = tables.right[state.placed[level - 1]] if level % width else 0
            up = tables.down[state.placed[level - width]] if level >= width else 0
            place_class = tables.class_of[level]
            begin, end = tables.start[place_class, left], tables.start[place_class, left + 1]
            first = lower_bound(tables.up, begin, end, up)
            state.next_try[level] = first
            state.end_try[level] = lower_bound(tables.up, first, end, up + 1)
        block, end = state.next_try[level], state.end_try[level]
        while block < end:
            free = True
            for k in range(size):
                free &= not state.used[tables.oriented[block, k] >> 2]
            if free:
                break
            block += 1
        state.next_try[level] = block + 1
        if block >= end:
            if level == 0:
                counters[EXHAUSTED] = 1
                continue
            counters[LEVEL] -= 1
            for k in range(size):
                state.used[tables.oriented[state.placed[level - 1], k] >> 2] = False
            continue
        for k in range(size):
            state.used[tables.oriented[block, k] >> 2] = True
        state.placed[level] = block
        counters[NODES] += 1
        spent += 1
        state.per_level[level + 1] += 1
        counters[LEVEL] += 1
        counters[DESCENDING] = 1
