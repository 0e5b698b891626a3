"""Knuth's dancing cells: exact cover with colours and copies on sparse sets, as a paused search that counts nodes.

The search is that of xcover's ``dancing_cells.py``, which counts no nodes; below, C2 to C9 are the steps of Knuth's
Algorithm C. The options left of item i are those of the nodes ``member[start[i]:start[i]+size[i]]``. An option is
removed by swapping its nodes to the ends of such slices, which then get shorter, so restoring the sizes undoes all
removals. An item that stands for a kind of equal pieces stays active until the last of these pieces is placed. The test
of zones of free cells is that of Perrin & Beaujard, "Rapport IA41 : IQ Puzzler Pro", section III.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lns.exact.driver import EXHAUSTED, NODES, SOLUTIONS
from lns.exact.kernels import allocate
from lns.exact.kernels.jit import flat_kernel, inline_flat_kernel

LEVEL, DESCENDING, PRUNED, BRANCHES, DEEPEST, COUNTERS = range(3, 9)
NOTHING = -1
SOLVED, STUCK = -1, -2
OPTIONAL = 1 << 20
"""Subtracted from `CoverState.need` of a kind of pieces that may be left over, so that its item need not be covered."""

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


class Problem(NamedTuple):
    """An exact cover problem. A *node* of the matrix is an item in an option. The items from ``kinds`` on are kinds of
    equal pieces; the last item of an option may be the kind of its piece.

    In the shapes O is the number of options, M of nodes, I of items, E of cells to be filled, K of kinds.
    """

    begin: Ints  # (O+1,): index of the first node of each option, and the number of nodes
    item: Ints  # (M,): item of each node
    option: Ints  # (M,): option of each node
    start: Ints  # (I+1,): where the nodes of each item begin in `listed` and in `CoverState.member`, then M
    listed: Ints  # (M,): all nodes, item after item
    colour: Ints  # (M,): colour of each node, 0 = none
    images: Ints  # (O,): number of symmetric placements that each option stands for; empty if each stands for one
    beside: Ints  # (E, 4): the cell on each side of each cell, -1 = none; the first E items are the cells
    pieces: Ints  # (K,): number of cells of a piece of each kind
    kinds: int  # index of the first item that is a kind of pieces
    zones: bool = False  # whether options are rejected that leave a zone of free cells which no pieces can fill
    dead_ends: bool = True  # whether options are rejected that leave an item which cannot be covered


def make_problem(begin: Ints, item: Ints, items: int, **fields: Any) -> Problem:
    """Make a `Problem` of ``items`` items; fields that ``fields`` does not give are set for plain exact cover."""
    none = np.zeros(0, dtype=np.int32)
    plain: dict[str, Any] = {"colour": np.zeros_like(item), "images": none, "pieces": none, "kinds": items}
    plain["beside"] = none.reshape(0, 4)
    return Problem(
        begin=begin,
        item=item,
        option=np.repeat(np.arange(len(begin) - 1, dtype=np.int32), np.diff(begin)),
        start=np.append(0, np.cumsum(np.bincount(item, minlength=items))).astype(np.int32),
        listed=np.argsort(item, kind="stable").astype(np.int32),
        **(plain | fields),
    )


class CoverState(NamedTuple):
    """The state of a paused search. A level is a number of chosen options. L: levels; for I, M, O, E see `Problem`."""

    size: Ints  # (I,): number of options left for each item
    member: Ints  # (M,): nodes, item after item; the removed nodes of an item come after its other nodes
    place: Ints  # (M,): index of each node in `member`
    active: Ints  # (I,): all items; the first `active_count[0]` are active, which means not covered yet
    active_at: Ints  # (I,): index of each item in `active`
    active_count: Ints  # (1,): number of active items
    need: Ints  # (I,): how often each item must still be covered (see also `OPTIONAL`); 0: secondary, takes a colour
    sizes: Annotated[Ints, ("L", "I")]  # by level, copy of `size` before an option is chosen
    actives: Annotated[Ints, "L"]  # by level, copy of `active_count` before an option is chosen
    chosen: Annotated[Ints, "L", NOTHING]  # by level, the option chosen or tried last, or NOTHING
    next_try: Annotated[Ints, "L"]  # by level, index in `tries` of the next option to try
    end_try: Annotated[Ints, "L"]  # by level, index in `tries` after the last option to try
    tries: Annotated[Ints, "L * options of an item"]  # the options to try, level after level
    rank: Ints  # (O,): rank of each option, by which an item's options are tried; empty: in the order of `member`
    per_level: Annotated[Longs, "L"]  # by level, number of nodes of the search tree
    first: Annotated[Ints, "L-1"]  # the options of the first solution
    seen: Annotated[npt.NDArray[np.bool_], "E"]  # in `zones_fit`, whether each cell is filled or in a zone found so far
    waiting: Annotated[Ints, "E"]  # in `zones_fit`, the cells of one zone in order of discovery
    sums: Annotated[npt.NDArray[np.bool_], "E+1"]  # in `zones_fit`: by n, whether some of the pieces left fill n cells
    counters: Annotated[Longs, COUNTERS]  # indexed by `NODES`, `SOLUTIONS`, `EXHAUSTED`, and `LEVEL` to `DEEPEST`


def new_state(problem: Problem, choices: int, need: Ints, *, rank: Ints | None = None, root: int = 0) -> CoverState:
    """Make the state in which no option is chosen; ``choices`` is the most options that a solution can have.

    ``root`` is 1 if the root of the search tree counts as a node, as in Jolivet 2008, else 0.
    """
    items, levels, cells = len(problem.start) - 1, choices + 1, len(problem.beside)
    size, place = np.diff(problem.start), np.empty_like(problem.listed)
    place[problem.listed] = np.arange(len(place), dtype=np.int32)
    sizes = {"I": items, "L": levels, "L-1": choices, "E": cells, "E+1": cells + 1}
    state = allocate(
        CoverState,
        sizes | {"L * options of an item": levels * int(size.max(initial=1))},
        size=size,
        member=problem.listed.copy(),
        place=place,
        active=np.arange(items, dtype=np.int32),
        active_at=np.arange(items, dtype=np.int32),
        active_count=np.array([items], dtype=np.int32),
        need=need.copy(),
        rank=np.zeros(0, dtype=np.int32) if rank is None else rank,
    )
    state.counters[DESCENDING], state.counters[NODES], state.per_level[0] = 1, root, root
    return state


def last_choice(state: CoverState) -> tuple[int, int, bool]:
    """Return the level of the option tried last, the option, and whether the search goes on below this option."""
    level = int(state.counters[LEVEL])
    stays = state.chosen[level] == NOTHING
    at = level - 1 if stays else level
    return at, int(state.chosen[at]), bool(stays)


@inline_flat_kernel
def deactivate(state, item):  # type: ignore[no-untyped-def]
    """Remove an item from the active items (C3)."""
    state.active_count[0] -= 1
    end = state.active_count[0]
    last, at = state.active[end], state.active_at[item]
    state.active[at], state.active_at[last] = last, at
    state.active[end], state.active_at[item] = item, end


@inline_flat_kernel
def remove_node(state, problem, node, item):  # type: ignore[no-untyped-def]
    """Remove a node by a swap to the end of its item's list; return False if the node was removed before, else True."""
    end = problem.start[item] + state.size[item] - 1
    at = state.place[node]
    if at > end:
        return False
    other = state.member[end]
    state.member[at], state.place[other] = other, at
    state.member[end], state.place[node] = node, end
    state.size[item] -= 1
    return True


@inline_flat_kernel
def remove_option(state, problem, option):  # type: ignore[no-untyped-def]
    """Remove an option from the lists of its active items; return whether all these items can still be covered."""
    feasible = True
    for node in range(problem.begin[option], problem.begin[option + 1]):
        i = problem.item[node]
        if state.active_at[i] < state.active_count[0] and remove_node(state, problem, node, i):
            feasible &= state.size[i] >= state.need[i]
    return feasible


@inline_flat_kernel
def commit(state, problem, option):  # type: ignore[no-untyped-def]
    """Cover the items of an option (C6, C7); return whether all other items can still be covered."""
    feasible = True
    for node in range(problem.begin[option], problem.begin[option + 1]):
        i, own_colour = problem.item[node], problem.colour[node]
        if state.active_at[i] >= state.active_count[0]:
            continue  # this is a secondary item that has the colour of the node already
        if i >= problem.kinds and state.need[i] & (OPTIONAL - 1) > 0:
            remove_node(state, problem, node, i)
            feasible &= state.size[i] >= state.need[i]
            continue
        deactivate(state, i)
        for at in range(problem.start[i], problem.start[i] + state.size[i]):
            other = state.member[at]
            if problem.option[other] != option and (own_colour == 0 or problem.colour[other] != own_colour):
                feasible &= remove_option(state, problem, problem.option[other])
    return feasible


@inline_flat_kernel
def choose(state, problem):  # type: ignore[no-untyped-def]
    """Return the first eligible item with fewest options (C2), SOLVED if all are covered, STUCK if none is eligible.

    An active item is eligible if exactly one more option must cover it. A kind with several pieces left is not: the
    search would choose the same options for these pieces in every order, and so find a solution several times. Without
    ``dead_ends``, items without options are not eligible, as in the report of Perrin & Beaujard.
    """
    best, fewest, is_open = -1, np.int32(2147483647), False
    for at in range(state.active_count[0]):
        i = state.active[at]
        is_open |= state.need[i] > 0
        if (
            state.need[i] == 1
            and (problem.dead_ends or state.size[i] > 0)
            and (state.size[i] < fewest or (state.size[i] == fewest and i < best))
        ):
            best, fewest = i, state.size[i]
    return best if best >= 0 else STUCK if is_open else SOLVED


@inline_flat_kernel
def zones_fit(state, problem):  # type: ignore[no-untyped-def]
    """Return whether each zone (connected free cells) is alone or as large as some of the pieces left are together."""
    cells, free = len(problem.beside), 0
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
                other = problem.beside[cell, side]
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
            for kind in range(len(problem.pieces)):
                for _ in range(state.need[problem.kinds + kind]):
                    for total in range(free, problem.pieces[kind] - 1, -1):
                        state.sums[total] |= state.sums[total - problem.pieces[kind]]
        if not state.sums[zone]:
            return False
    return True


@inline_flat_kernel
def list_tries(state, problem, item, level):  # type: ignore[no-untyped-def]
    """Write an item's options to ``state.tries``, sorted by rank if there are ranks; save the sizes of all lists."""
    begin = state.end_try[level - 1] if level > 0 else 0
    end = begin
    for place in range(problem.start[item], problem.start[item] + state.size[item]):
        option = problem.option[state.member[place]]
        gap = end
        while len(state.rank) and gap > begin and state.rank[state.tries[gap - 1]] > state.rank[option]:
            state.tries[gap] = state.tries[gap - 1]
            gap -= 1
        state.tries[gap] = option
        end += 1
    state.next_try[level], state.end_try[level] = begin, end
    for other in range(len(state.size)):
        state.sizes[level, other] = state.size[other]
    state.actives[level] = state.active_count[0]


@inline_flat_kernel
def count_solution(state, problem, level):  # type: ignore[no-untyped-def]
    """Count the solution made at the levels before ``level``, with its symmetric images; store the first solution."""
    stands_for = 1
    for earlier in range(level):
        if len(problem.images):
            stands_for *= problem.images[state.chosen[earlier]]
        if state.counters[SOLUTIONS] == 0:
            state.first[earlier] = state.chosen[earlier]
    state.counters[SOLUTIONS] += stands_for


@inline_flat_kernel
def backtrack(state, level):  # type: ignore[no-untyped-def]
    """Go back one level (C9); at level 0, also mark the search as exhausted."""
    if level == 0:
        state.counters[EXHAUSTED] = 1
    state.counters[LEVEL] -= 1


@inline_flat_kernel
def change_need(state, problem, option, change):  # type: ignore[no-untyped-def]
    """Add ``change`` to the number of pieces left of an option's kind: -1 if one is placed, 1 if one is taken off."""
    last = problem.item[problem.begin[option + 1] - 1]
    if last >= problem.kinds:
        state.need[last] += change


@flat_kernel
def advance(state, problem, budget, stop_at_first):  # type: ignore[no-untyped-def]
    """Try ``budget`` more nodes; stop sooner when the search ends or, if ``stop_at_first``, at the next solution.

    A node is an option that is tried. ``counters[BRANCHES]`` counts the root and the nodes below which the search goes
    on, ``counters[PRUNED]`` the nodes that only the test of zones rejects.
    """
    counters = state.counters
    spent = 0
    while spent < budget and counters[EXHAUSTED] == 0:
        level = counters[LEVEL]
        if counters[DESCENDING] == 1:
            counters[DESCENDING] = 0
            counters[BRANCHES] += 1
            counters[DEEPEST] = max(counters[DEEPEST], level)
            i = choose(state, problem)
            if i < 0:
                if i == SOLVED:
                    count_solution(state, problem, level)
                backtrack(state, level)
                if i == SOLVED and stop_at_first:
                    break
                continue
            list_tries(state, problem, i, level)
        if state.chosen[level] != NOTHING:
            change_need(state, problem, state.chosen[level], 1)
            state.chosen[level] = NOTHING
        if state.next_try[level] == state.end_try[level]:
            backtrack(state, level)
            continue
        option = state.tries[state.next_try[level]]
        state.next_try[level] += 1
        for item in range(len(state.size)):  # C8: restore the sizes of all lists
            state.size[item] = state.sizes[level, item]
        state.active_count[0] = state.actives[level]
        counters[NODES] += 1
        spent += 1
        state.per_level[level + 1] += 1
        state.chosen[level] = option
        change_need(state, problem, option, -1)
        if commit(state, problem, option) or not problem.dead_ends:
            if problem.zones and not zones_fit(state, problem):
                counters[PRUNED] += 1
                continue
            counters[LEVEL] += 1
            counters[DESCENDING] = 1
