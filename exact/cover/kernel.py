"""Knuth's dancing cells: exact cover with colours and copies on sparse sets, as a paused search that counts nodes.

The search is that of xcover's ``dancing_cells.py``, which counts no nodes; C2 to C9 are the steps of Knuth's Algorithm
C. The options of item i are ``member[start[i]:start[i]+size[i]]``. Removing an option swaps it behind the end, so
restoring the sizes undoes all removals. The item of a kind of equal pieces stays active until the last of these pieces
is placed. The test of empty zones is that of Perrin & Beaujard, "Rapport IA41 : IQ Puzzler Pro", section III.
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
"""Subtracted from `CoverState.need` of a kind whose pieces may be left over, so that it need not be covered."""

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


class Problem(NamedTuple):
    """An exact cover problem. A *node* of the matrix is an item of an option. Items from ``kinds`` on are kinds of
    equal pieces; the last item of an option may be the kind of its piece.

    O: options, M: nodes, I: items, E: cells to be filled, K: kinds.
    """

    begin: Ints  # (O+1,): first node of each option, and the end of the last
    item: Ints  # (M,): item of a node
    option: Ints  # (M,): option of a node
    start: Ints  # (I+1,): where the list of an item begins in `listed` and in `CoverState.member`
    listed: Ints  # (M,): nodes, item after item
    colour: Ints  # (M,): colour of a node, 0 = none
    images: Ints  # (O,): solutions that an option stands for by symmetry; () = one each
    beside: Ints  # (E, 4): the cell on each side of a cell, -1 = none; cells are the first items
    pieces: Ints  # (K,): number of cells of a piece of each kind
    kinds: int  # the first item that is a kind
    zones: bool = False  # reject options that leave a zone of cells which no pieces can fill
    dead_ends: bool = True  # reject options that leave an item which cannot be covered


def make_problem(begin: Ints, item: Ints, items: int, **fields: Any) -> Problem:
    """Make a problem of ``items`` items; fields that are not given are set for plain exact cover."""
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
    """The state of a paused search; a level is the number of choices made before it. L: levels."""

    size: Ints  # (I,): number of options left for an item
    member: Ints  # (M,): nodes, item after item; removed nodes lie behind the rest of their item
    place: Ints  # (M,): index of a node in `member`
    active: Ints  # (I,): items; the first `active_count[0]` are active: not covered yet
    active_at: Ints  # (I,): index of an item in `active`
    active_count: Ints  # (1,): number of active items
    need: Ints  # (I,): how often an item must still be covered; 0 for a secondary item, which takes one colour
    sizes: Annotated[Ints, ("L", "I")]  # by level, `size` before the choice
    actives: Annotated[Ints, "L"]  # by level, `active_count` before the choice
    chosen: Annotated[Ints, "L", NOTHING]  # by level, the option chosen or tried last, or NOTHING
    next_try: Annotated[Ints, "L"]  # by level, index in `tries` of the next option
    end_try: Annotated[Ints, "L"]  # by level, where the options of the level end in `tries`
    tries: Annotated[Ints, "L * options of an item"]  # options to try, level after level
    rank: Ints  # (O,): options of an item are tried by increasing rank; () = as listed
    per_level: Annotated[Longs, "L"]  # nodes of the search tree by level
    first: Annotated[Ints, "L-1"]  # the options of the first solution
    seen: Annotated[npt.NDArray[np.bool_], "E"]  # workspace of `zones_fit`
    waiting: Annotated[Ints, "E"]  # workspace of `zones_fit`
    sums: Annotated[npt.NDArray[np.bool_], "E+1"]  # workspace of `zones_fit`
    counters: Annotated[Longs, COUNTERS]  # by the names above and those of `lns.exact.driver`


def new_state(problem: Problem, choices: int, need: Ints, *, rank: Ints | None = None, root: int = 0) -> CoverState:
    """Make the state with nothing chosen; ``choices``: most options of a solution.

    ``root`` is 1 if the root counts as a node, as in Jolivet 2008, else 0.
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
    """Return level and option of the choice tried last, and whether the search goes on below it."""
    level = int(state.counters[LEVEL])
    stays = state.chosen[level] == NOTHING
    at = level - 1 if stays else level
    return at, int(state.chosen[at]), bool(stays)


@inline_flat_kernel
def deactivate(state, item):  # type: ignore[no-untyped-def]
    """C3: remove an item from the active items."""
    state.active_count[0] -= 1
    end = state.active_count[0]
    last, at = state.active[end], state.active_at[item]
    state.active[at], state.active_at[last] = last, at
    state.active[end], state.active_at[item] = item, end


@inline_flat_kernel
def remove_node(state, problem, node, item):  # type: ignore[no-untyped-def]
    """Swap a node behind the end of its item's list; return False if it is there already."""
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
    """Remove an option from the lists of its active items; return False if one of them cannot be covered any more."""
    feasible = True
    for node in range(problem.begin[option], problem.begin[option + 1]):
        i = problem.item[node]
        if state.active_at[i] < state.active_count[0] and remove_node(state, problem, node, i):
            feasible &= state.size[i] >= state.need[i]
    return feasible


@inline_flat_kernel
def commit(state, problem, option):  # type: ignore[no-untyped-def]
    """C6, C7: cover the items of an option; return False if another item cannot be covered any more."""
    feasible = True
    for node in range(problem.begin[option], problem.begin[option + 1]):
        i, own_colour = problem.item[node], problem.colour[node]
        if state.active_at[i] >= state.active_count[0]:
            continue  # a secondary item that has this colour already
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
    """C2: return the first active item with the fewest options; SOLVED if all are covered, STUCK if none is eligible.

    An item is eligible if exactly one more option must cover it, so not a kind with several pieces left. Every solution
    is therefore found once, not once for each exchange of equal pieces. Without ``dead_ends``, items without an
    option are passed over, as in the report of Perrin & Beaujard.
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
    """Whether the size of every connected zone of free cells is a sum of sizes of remaining pieces (subset sum)."""
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
    """Write the options of an item to ``tries``, ordered by rank, and save the sizes of all lists before the choice."""
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
    """Count the solution of the options chosen at the levels before ``level``, and keep the first solution."""
    stands_for = 1
    for earlier in range(level):
        if len(problem.images):
            stands_for *= problem.images[state.chosen[earlier]]
        if state.counters[SOLUTIONS] == 0:
            state.first[earlier] = state.chosen[earlier]
    state.counters[SOLUTIONS] += stands_for


@inline_flat_kernel
def backtrack(state, level):  # type: ignore[no-untyped-def]
    """C9: go back one level; at the first level the search is complete."""
    if level == 0:
        state.counters[EXHAUSTED] = 1
    state.counters[LEVEL] -= 1


@inline_flat_kernel
def change_need(state, problem, option, change):  # type: ignore[no-untyped-def]
    """Change the number of pieces left of the kind of an option: -1 if one is placed, 1 if it is taken back."""
    last = problem.item[problem.begin[option + 1] - 1]
    if last >= problem.kinds:
        state.need[last] += change


@flat_kernel
def advance(state, problem, budget, stop_at_first):  # type: ignore[no-untyped-def]
    """Go on for ``budget`` nodes, or to the end, or to the next solution if ``stop_at_first``.

    A node is an option that is tried; a branch is the root or a node below which the search goes on.
    ``counters[PRUNED]`` counts the nodes that only the test of zones rejects.
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
        for item in range(len(state.size)):  # C8: restore the sizes
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
