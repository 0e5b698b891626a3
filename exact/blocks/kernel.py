"""Kernels of grouping (Jolivet 2008, 2.3): all 2x2 blocks from four lists of pieces, and the row scan over blocks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns_support.jit import flat_kernel, inline_flat_kernel

NODES, SOLUTIONS, EXHAUSTED, LEVEL, DESCENDING, COUNTERS = 0, 1, 2, 3, 4, 5

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


class CornerLists(NamedTuple):
    """The oriented pieces (piece*4 + rotation) allowed on the four cells of a 2x2 block. K: colours with grey.

    Each list is sorted by the colours that the neighbours inside the block determine.
    """

    top_left: Ints
    top_right: Ints  # sorted by left colour
    top_right_start: Longs  # (K+1,): where each left colour begins
    bottom_left: Ints  # sorted by upper colour
    bottom_left_start: Longs  # (K+1,): where each upper colour begins
    bottom_right: Ints  # sorted by upper*K + left
    bottom_right_start: Longs  # (K*K+1,): where each of these keys begins


@flat_kernel
def make_blocks(quads, lists, colours, out, limit):  # type: ignore[no-untyped-def]
    """Write the blocks whose inner edges match to ``out``; returns how many there are.

    ``quads``: colours by oriented piece and side; ``out``: int32 (size, 4), top left, top right, bottom left, bottom
    right. Blocks that do not fit into ``out`` are counted only. The kernel stops at ``limit`` + 1 blocks.
    """
    count = 0
    for a in lists.top_left:
        right, down = quads[a, 1], quads[a, 2]
        for at_b in range(lists.top_right_start[right], lists.top_right_start[right + 1]):
            b = lists.top_right[at_b]
            if b >> 2 == a >> 2:
                continue
            for at_c in range(lists.bottom_left_start[down], lists.bottom_left_start[down + 1]):
                c = lists.bottom_left[at_c]
                if c >> 2 == a >> 2 or c >> 2 == b >> 2:
                    continue
                key = quads[b, 2] * colours + quads[c, 1]
                for at_d in range(lists.bottom_right_start[key], lists.bottom_right_start[key + 1]):
                    d = lists.bottom_right[at_d]
                    if d >> 2 == a >> 2 or d >> 2 == b >> 2 or d >> 2 == c >> 2:
                        continue
                    if count < len(out):
                        out[count, 0], out[count, 1], out[count, 2], out[count, 3] = a, b, c, d
                    count += 1
                    if count > limit:
                        return count
    return count


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
