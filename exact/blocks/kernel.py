"""Kernels of the grouping: making all 2x2 blocks of four given lists, and the row scan over blocks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns_support.jit import flat_kernel, inline_flat_kernel

NODES, SOLUTIONS, EXHAUSTED, LEVEL, DESCENDING, COUNTERS = 0, 1, 2, 3, 4, 5

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


@flat_kernel
def make_blocks(  # type: ignore[no-untyped-def]
    quads, top_left, top_right, right_start, low_left, low_start, low_right, corner_start, colours, out, limit
):
    """Fill ``out`` (room, 4) with the blocks of oriented pieces whose inner edges match; how many there are.

    Each list is sorted by the colours that its neighbours give it: ``top_right`` by its left colour, ``low_left`` by
    its upper, ``low_right`` by upper*colours + left; the ``start`` tables say where each begins. More than there is
    room for are counted and not written, more than ``limit`` not even counted: ``limit`` + 1 ends it.
    """
    found = 0
    for a in top_left:
        right, down = quads[a, 1], quads[a, 2]
        for at_b in range(right_start[right], right_start[right + 1]):
            b = top_right[at_b]
            if b >> 2 == a >> 2:
                continue
            for at_c in range(low_start[down], low_start[down + 1]):
                c = low_left[at_c]
                if c >> 2 == a >> 2 or c >> 2 == b >> 2:
                    continue
                key = quads[b, 2] * colours + quads[c, 1]
                for at_d in range(corner_start[key], corner_start[key + 1]):
                    d = low_right[at_d]
                    if d >> 2 == a >> 2 or d >> 2 == b >> 2 or d >> 2 == c >> 2:
                        continue
                    if found < len(out):
                        out[found, 0], out[found, 1], out[found, 2], out[found, 3] = a, b, c, d
                    found += 1
                    if found > limit:
                        return found
    return found


class BlockTables(NamedTuple):
    """``oriented`` (blocks, pieces a block); ``right``, ``down``, ``up``: number of the pair of colours on a side.

    Blocks of one class of cells and one left pair stand together, sorted by their upper pair, from
    ``start[class, left]`` to ``start[class, left + 1]``. ``class_of`` by place on the half-size board.
    """

    oriented: Ints
    up: Ints
    right: Ints
    down: Ints
    start: Longs
    class_of: Ints


class BlockState(NamedTuple):
    """By level: the block laid, the next to try, the end of its list. ``used`` by piece; ``per_level`` counts nodes."""

    laid: Longs
    next_try: Longs
    end_try: Longs
    used: npt.NDArray[np.bool_]
    per_level: Longs
    first: Longs
    counters: Longs


@inline_flat_kernel
def lower_bound(values, begin, end, wanted):  # type: ignore[no-untyped-def]
    """First place in [begin, end) whose value is at least ``wanted``."""
    while begin < end:
        middle = (begin + end) // 2
        if values[middle] < wanted:
            begin = middle + 1
        else:
            end = middle
    return begin


@flat_kernel
def scan(tables, state, width, budget, stop_at_first):  # type: ignore[no-untyped-def]
    """Go on for ``budget`` placements, to the end, or to the next solution; row by row, ``width`` blocks a row.

    Pair 0 is two grey sides, and the only one on the rim.
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
                        state.first[cell] = state.laid[cell]
                counters[SOLUTIONS] += 1
                counters[LEVEL] -= 1
                for k in range(size):
                    state.used[tables.oriented[state.laid[level - 1], k] >> 2] = False
                if stop_at_first:
                    break
                continue
            left = tables.right[state.laid[level - 1]] if level % width else 0
            up = tables.down[state.laid[level - width]] if level >= width else 0
            kind = tables.class_of[level]
            begin, end = tables.start[kind, left], tables.start[kind, left + 1]
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
                state.used[tables.oriented[state.laid[level - 1], k] >> 2] = False
            continue
        for k in range(size):
            state.used[tables.oriented[block, k] >> 2] = True
        state.laid[level] = block
        counters[NODES] += 1
        spent += 1
        state.per_level[level + 1] += 1
        counters[LEVEL] += 1
        counters[DESCENDING] = 1
