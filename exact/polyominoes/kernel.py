"""Knuth's Algorithm X with dancing cells for pieces of which some are equal, and the test of empty zones.

As in ``exact.cover.kernel``, the nodes of item i are ``member[start[i]:start[i] + size[i]]``. Removing a node swaps it
behind the end, so restoring the sizes restores the lists. The item of a kind stays until its last copy is placed.

References
----------
A. Perrin and T. Beaujard, "Rapport IA41 : IQ Puzzler Pro", section III: the test of empty zones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from exact.cover.kernel import (
    DESCENDING,
    EXHAUSTED,
    LEVEL,
    NODES,
    backtrack,
    count_solution,
    deactivate,
    remove_node,
    restore_lists,
    save_lists,
)
from exact.polyominoes.model import Model
from exact.polyominoes.shapes import Shape
from lns_support.jit import flat_kernel, inline_flat_kernel

PRUNED, BRANCHES, DEEPEST, COUNTERS = 5, 6, 7, 8  # indices and length, after the counters of `exact.cover.kernel`
NOTHING = -1

Ints = npt.NDArray[np.int32]


class FillState(NamedTuple):
    """The state of a paused search. A level is the number of pieces placed before it."""

    option: Ints  # int32 (nodes,): the option of a node
    start: Ints  # int32 (items,): where the nodes of an item begin in `member`
    size: Ints  # int32 (items,): nodes of an item that are left
    member: Ints  # int32 (nodes,): nodes, item by item
    place: Ints  # int32 (nodes,): position of a node in `member`
    active: Ints  # int32 (items,): the items not covered yet come first
    active_at: Ints  # int32 (items,): position of an item in `active`
    active_count: Ints  # int32 (1,): items not covered yet
    copies: Ints  # int32 (kinds,): pieces of each kind not placed yet
    sizes: Ints  # int32 (levels, items): `size` before the choice at a level
    actives: Ints  # int32 (levels,): `active_count` before the choice at a level
    chosen: Ints  # int32 (levels,): option placed at a level, or NOTHING
    next_try: Ints  # int32 (levels,): next option of a level in `tries`
    end_try: Ints  # int32 (levels,): end of its options there
    tries: Ints  # int32: options to be tried, level by level
    rank: Ints  # int32 (options,): options of an item are tried in this order
    first: Ints  # int32 (levels - 1,): options of the first solution
    seen: npt.NDArray[np.bool_]  # bool (cells,): workspace of `zones_fit`
    waiting: Ints  # int32 (cells,): workspace of `zones_fit`
    sums: npt.NDArray[np.bool_]  # bool (cells + 1,): workspace of `zones_fit`
    counters: npt.NDArray[np.int64]  # int64 (COUNTERS,): see `exact.cover.kernel` and `advance`


def initial_state(model: Model, weight: Callable[[Shape], float]) -> FillState:
    """The state before the first placement; pieces of the largest ``weight`` will be tried first."""
    items, levels = model.cells + len(model.copies), int(model.copies.sum()) + 1
    lists = model.lists  # arrays that are never written are shared by all searches of the model
    kind = model.item[model.begin[1:] - 1] - model.cells
    order = np.argsort(-np.array([weight(shape) for shape in model.shapes], dtype=np.float64)[kind], kind="stable")
    rank = np.empty(model.options, dtype=np.int32)
    rank[order] = np.arange(model.options, dtype=np.int32)
    counters = np.zeros(COUNTERS, dtype=np.int64)
    counters[DESCENDING] = 1
    return FillState(
        option=lists.option,
        start=lists.start,
        size=lists.size.copy(),
        member=lists.member.copy(),
        place=lists.place.copy(),
        active=np.arange(items, dtype=np.int32),
        active_at=np.arange(items, dtype=np.int32),
        active_count=np.array([items], dtype=np.int32),
        copies=model.copies.copy(),
        sizes=np.zeros((levels, items), dtype=np.int32),
        actives=np.zeros(levels, dtype=np.int32),
        chosen=np.full(levels, NOTHING, dtype=np.int32),
        next_try=np.zeros(levels, dtype=np.int32),
        end_try=np.zeros(levels, dtype=np.int32),
        tries=np.zeros(levels * int(lists.size.max(initial=1)), dtype=np.int32),
        rank=rank,
        first=np.zeros(levels - 1, dtype=np.int32),
        seen=np.zeros(model.cells, dtype=np.bool_),
        waiting=np.zeros(model.cells, dtype=np.int32),
        sums=np.zeros(model.cells + 1, dtype=np.bool_),
        counters=counters,
    )


@inline_flat_kernel
def place_option(state, begin, item, cells, option):  # type: ignore[no-untyped-def]
    """Place the piece of an option. Returns False if some cell or some other piece has no option left."""
    alive = True
    for node in range(begin[option], begin[option + 1]):
        i = item[node]
        if i >= cells and state.copies[i - cells] > 0:
            remove_node(state, node, i)
            alive &= state.size[i] >= state.copies[i - cells]
            continue
        deactivate(state, i)
        for at in range(state.start[i], state.start[i] + state.size[i]):
            other = state.option[state.member[at]]
            if other == option:
                continue
            for other_node in range(begin[other], begin[other + 1]):
                j = item[other_node]
                if state.active_at[j] < state.active_count[0] and remove_node(state, other_node, j):
                    least = 1 if j < cells else state.copies[j - cells]
                    alive &= state.size[j] >= least
    return alive


@inline_flat_kernel
def choose_item(state, cells, dead_ends):  # type: ignore[no-untyped-def]
    """The first of the items with the fewest options; -1 when all pieces are placed.

    Without ``dead_ends`` items that have no option are passed over, as in the report; -1 also if no other is left.
    Kinds with more than one piece left are not chosen: exactly one option of a solution must cover the item, so that
    every solution is found once, whichever way equal pieces are swapped.
    """
    best, fewest = -1, np.int32(2147483647)
    for at in range(state.active_count[0]):
        i = state.active[at]
        if (
            (i < cells or state.copies[i - cells] == 1)
            and (dead_ends or state.size[i] > 0)
            and (state.size[i] < fewest or (state.size[i] == fewest and i < best))
        ):
            best, fewest = i, state.size[i]
    return best


@inline_flat_kernel
def zones_fit(state, beside, cells, sizes):  # type: ignore[no-untyped-def]
    """Whether the size of every connected zone of free cells is a sum of sizes of remaining pieces (subset sum)."""
    free = 0
    for cell in range(cells):
        state.seen[cell] = state.active_at[cell] >= state.active_count[0]
        free += not state.seen[cell]
    summed = False
    for first in range(cells):
        if state.seen[first]:
            continue
        state.seen[first] = True
        state.waiting[0] = first
        done, zone = 0, 1
        while done < zone:
            cell = state.waiting[done]
            done += 1
            for side in range(4):
                other = beside[cell, side]
                if other >= 0 and not state.seen[other]:
                    state.seen[other] = True
                    state.waiting[zone] = other
                    zone += 1
        if zone == free:
            return True
        if not summed:
            summed = True
            state.sums[0] = True
            for total in range(1, free + 1):
                state.sums[total] = False
            for kind in range(len(sizes)):
                for _ in range(state.copies[kind]):
                    for total in range(free, sizes[kind] - 1, -1):
                        state.sums[total] |= state.sums[total - sizes[kind]]
        if not state.sums[zone]:
            return False
    return True


@inline_flat_kernel
def collect_options(state, item, at):  # type: ignore[no-untyped-def]
    """Write the options of an item to ``tries`` from index ``at`` on, ordered by rank. Returns the end index."""
    end = at
    for place in range(state.start[item], state.start[item] + state.size[item]):
        option = state.option[state.member[place]]
        gap = end
        while gap > at and state.rank[state.tries[gap - 1]] > state.rank[option]:
            state.tries[gap] = state.tries[gap - 1]
            gap -= 1
        state.tries[gap] = option
        end += 1
    return end


@flat_kernel
def advance(state, begin, item, images, beside, cells, sizes, zones, dead_ends, budget, stop_at_first):  # type: ignore[no-untyped-def]
    """Continue the search for ``budget`` nodes, to its end, or to the next solution if ``stop_at_first``.

    A node is a tested placement, a branch is a placement after which the search goes on (and its start). ``zones``:
    whether `zones_fit` is tested; ``counters[PRUNED]`` counts the placements that it rejects although every cell and
    piece has an option left. ``dead_ends``: a placement is rejected if some cell or piece has no option left; without
    it the search goes on until no placement at all is left, as in the report.
    """
    counters = state.counters
    spent = 0
    while spent < budget and counters[EXHAUSTED] == 0:
        level = counters[LEVEL]
        if counters[DESCENDING] == 1:
            counters[DESCENDING] = 0
            counters[BRANCHES] += 1
            counters[DEEPEST] = max(counters[DEEPEST], level)
            i = choose_item(state, cells, dead_ends)
            if i < 0 and state.active_count[0] > 0:
                backtrack(state, level)
                continue
            if i < 0:
                stands_for = 1
                for earlier in range(level):
                    stands_for *= images[state.chosen[earlier]]
                count_solution(state, level, stands_for)
                if stop_at_first:
                    break
                continue
            save_lists(state, level)
            state.next_try[level] = state.end_try[level - 1] if level > 0 else 0
            state.end_try[level] = collect_options(state, i, state.next_try[level])
        if state.chosen[level] != NOTHING:
            state.copies[item[begin[state.chosen[level] + 1] - 1] - cells] += 1
            state.chosen[level] = NOTHING
        if state.next_try[level] == state.end_try[level]:
            backtrack(state, level)
            continue
        option = state.tries[state.next_try[level]]
        state.next_try[level] += 1
        restore_lists(state, level)
        counters[NODES] += 1
        spent += 1
        state.chosen[level] = option
        state.copies[item[begin[option + 1] - 1] - cells] -= 1
        if place_option(state, begin, item, cells, option) or not dead_ends:
            if zones and not zones_fit(state, beside, cells, sizes):
                counters[PRUNED] += 1
                continue
            counters[LEVEL] += 1
            counters[DESCENDING] = 1
