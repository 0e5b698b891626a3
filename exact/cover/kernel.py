"""Knuth's dancing cells: exact cover with colours on sparse sets, as a paused search that counts nodes by level.

The search is that of xcover's ``dancing_cells.py``, which counts no nodes; C2 to C9 are the steps of Knuth's Algorithm
C. The options of an item are ``member[start[i]:start[i]+size[i]]``. Removing one swaps it behind the end, so restoring
the sizes undoes all removals. The kernels that take a state also serve `exact.polyominoes.kernel`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from exact.cover.model import CoverModel
from lns_support.jit import flat_kernel, inline_flat_kernel

NODES, SOLUTIONS, EXHAUSTED, LEVEL, DESCENDING, COUNTERS = 0, 1, 2, 3, 4, 5

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


class CoverState(NamedTuple):
    """The state of a paused search. A *node* of the matrix is an item of an option; a level is a number of choices.

    M: nodes of the matrix, I: items, L: levels.
    """

    option: Ints  # (M,): option of a node
    start: Ints  # (I,): where the list of an item begins in `member`
    size: Ints  # (I,): options left for an item
    member: Ints  # (M,): nodes, item after item
    place: Ints  # (M,): where a node is in `member`
    active: Ints  # (I,): items; the first `active_count[0]` are not covered
    active_at: Ints  # (I,): where an item is in `active`
    active_count: Ints  # (1,)
    sizes: Ints  # (L, I): by level, `size` before the choice
    actives: Ints  # (L,): by level, `active_count` before the choice
    chosen: Ints  # (L,): by level, the option chosen
    next_try: Ints  # (L+1,): by level, index in `tries` of the next option
    end_try: Ints  # (L+1,): by level, end of its options in `tries`
    tries: Ints  # options to try, level after level
    per_level: Longs  # (L,): nodes of the search tree by level
    first: Ints  # (C,): the options of the first solution
    counters: Longs  # (COUNTERS,): see the names above


def initial_state(model: CoverModel) -> CoverState:
    """The state with nothing chosen. The root counts as a node, as in Jolivet 2008."""
    nodes, levels = len(model.item), model.puzzle.cells + 1
    size = np.bincount(model.item, minlength=model.items).astype(np.int32)
    start = (np.cumsum(size) - size).astype(np.int32)
    member = np.argsort(model.item, kind="stable").astype(np.int32)
    place = np.empty(nodes, dtype=np.int32)
    place[member] = np.arange(nodes, dtype=np.int32)
    counters = np.zeros(COUNTERS, dtype=np.int64)
    counters[DESCENDING] = 1
    per_level = np.zeros(levels, dtype=np.int64)
    per_level[0] = counters[NODES] = 1
    return CoverState(
        option=np.repeat(np.arange(len(model.begin) - 1, dtype=np.int32), np.diff(model.begin)),
        start=start,
        size=size,
        member=member,
        place=place,
        active=np.arange(model.items, dtype=np.int32),
        active_at=np.arange(model.items, dtype=np.int32),
        active_count=np.array([model.items], dtype=np.int32),
        sizes=np.zeros((levels, model.items), dtype=np.int32),
        actives=np.zeros(levels, dtype=np.int32),
        chosen=np.zeros(levels, dtype=np.int32),
        next_try=np.zeros(levels + 1, dtype=np.int32),
        end_try=np.zeros(levels + 1, dtype=np.int32),
        tries=np.zeros(levels * int(size.max(initial=1)), dtype=np.int32),
        per_level=per_level,
        first=np.zeros(model.puzzle.cells, dtype=np.int32),
        counters=counters,
    )


@inline_flat_kernel
def deactivate(state, item):  # type: ignore[no-untyped-def]
    """C3: remove an item from the active items."""
    state.active_count[0] -= 1
    end = state.active_count[0]
    last, at = state.active[end], state.active_at[item]
    state.active[at], state.active_at[last] = last, at
    state.active[end], state.active_at[item] = item, end


@inline_flat_kernel
def remove_node(state, node, item):  # type: ignore[no-untyped-def]
    """Swap a node behind the end of the list of its item; False if it is behind it already."""
    end = state.start[item] + state.size[item] - 1
    at = state.place[node]
    if at > end:
        return False
    other = state.member[end]
    state.member[at], state.place[other] = other, at
    state.member[end], state.place[node] = node, end
    state.size[item] -= 1
    return True


@inline_flat_kernel
def save_lists(state, level):  # type: ignore[no-untyped-def]
    """Save the sizes of the lists before the choice at ``level``."""
    for item in range(len(state.size)):
        state.sizes[level, item] = state.size[item]
    state.actives[level] = state.active_count[0]


@inline_flat_kernel
def restore_lists(state, level):  # type: ignore[no-untyped-def]
    """C8: restore the sizes of the lists from before the choice at ``level``."""
    for item in range(len(state.size)):
        state.size[item] = state.sizes[level, item]
    state.active_count[0] = state.actives[level]


@inline_flat_kernel
def backtrack(state, level):  # type: ignore[no-untyped-def]
    """C9: go back one level; at the first level the search is complete."""
    if level == 0:
        state.counters[EXHAUSTED] = 1
    state.counters[LEVEL] -= 1


@inline_flat_kernel
def count_solution(state, level, multiplicity):  # type: ignore[no-untyped-def]
    """Count the options chosen below ``level`` as ``multiplicity`` solutions, keep the first, and go back."""
    if state.counters[SOLUTIONS] == 0:
        for earlier in range(level):
            state.first[earlier] = state.chosen[earlier]
    state.counters[SOLUTIONS] += multiplicity
    backtrack(state, level)


@inline_flat_kernel
def remove_option(state, begin, item, primary, option):  # type: ignore[no-untyped-def]
    """Remove an option from the lists of all active items; False if a primary item has none left."""
    feasible = True
    for node in range(begin[option], begin[option + 1]):
        i = item[node]
        if (
            state.active_at[i] < state.active_count[0]
            and remove_node(state, node, i)
            and state.size[i] == 0
            and i < primary
        ):
            feasible = False
    return feasible


@inline_flat_kernel
def commit(state, begin, item, colour, primary, option):  # type: ignore[no-untyped-def]
    """C6, C7: cover the items of an option; False if another item cannot be covered any more."""
    feasible = True
    for node in range(begin[option], begin[option + 1]):
        i, own_colour = item[node], colour[node]
        if state.active_at[i] >= state.active_count[0]:
            continue  # a secondary item that has this colour already
        deactivate(state, i)
        for at in range(state.start[i], state.start[i] + state.size[i]):
            other = state.member[at]
            if state.option[other] != option and (own_colour == 0 or colour[other] != own_colour):
                feasible &= remove_option(state, begin, item, primary, state.option[other])
    return feasible


@inline_flat_kernel
def choose(state, primary):  # type: ignore[no-untyped-def]
    """C2: the first active primary item with the fewest options; -1 if all are covered."""
    best, fewest = -1, np.int32(2147483647)
    for at in range(state.active_count[0]):
        i = state.active[at]
        if i < primary and (state.size[i] < fewest or (state.size[i] == fewest and i < best)):
            best, fewest = i, state.size[i]
    return best


@flat_kernel
def advance(state, begin, item, colour, primary, budget, stop_at_first):  # type: ignore[no-untyped-def]
    """Go on for ``budget`` nodes, or to the end, or to the next solution if ``stop_at_first``.

    ``begin``, ``item``, ``colour``, ``primary``: see `exact.cover.model.CoverModel`.
    """
    counters = state.counters
    spent = 0
    while spent < budget and counters[EXHAUSTED] == 0:
        level = counters[LEVEL]
        if counters[DESCENDING] == 1:
            counters[DESCENDING] = 0
            i = choose(state, primary)
            if i < 0:
                count_solution(state, level, 1)
                if stop_at_first:
                    break
                continue
            save_lists(state, level)
            at = state.end_try[level - 1] if level > 0 else 0
            state.next_try[level] = at
            for place in range(state.start[i], state.start[i] + state.size[i]):
                state.tries[at] = state.option[state.member[place]]
                at += 1
            state.end_try[level] = at
        if state.next_try[level] == state.end_try[level]:
            backtrack(state, level)
            continue
        option = state.tries[state.next_try[level]]
        state.next_try[level] += 1
        restore_lists(state, level)
        counters[NODES] += 1
        spent += 1
        state.per_level[level + 1] += 1
        if commit(state, begin, item, colour, primary, option):
            state.chosen[level] = option
            counters[LEVEL] += 1
            counters[DESCENDING] = 1
