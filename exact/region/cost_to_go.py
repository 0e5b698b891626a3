"""Cost-to-go tables of a region: lower bounds on the cost of the cells still open, by depth and colours of joints.

A joint of two cells of the region is open while only one of them is filled. If pieces could be reused, the least
mismatches of the open cells would depend only on the colours of the open joints, and dynamic programming over the cells
would find them. The rule that each piece is used once is relaxed by prices (Lagrangian relaxation): placing a piece
costs its price, and the sum of the prices of all free pieces is added to the allowed mismatches. A refill that uses no
piece twice pays at most that sum; a refill that repeats pieces may pay more (M. Held and R. M. Karp, "The
traveling-salesman problem and minimum spanning trees: Part II", Mathematical Programming 1, 1971).

Costs are counted in units of 1/UNIT mismatch. The table of a depth holds the least cost of the cells from that depth
on, for all colours of the joints open there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lns.exact.kernels import allocate
from lns.exact.kernels.jit import flat_kernel, inline_flat_kernel
from lns.exact.region.state import MAX_OPEN_JOINTS, CostTables, Ints, RegionPlan, RegionState

UNIT = 16  # cost of one mismatch, in units
INFINITE = 30_000  # a cost in units, greater than that of any refill of a region
MAX_ENTRIES = 72_000_000  # most entries of all tables together: 144 MB, of which only pages written to take memory
_ONE = np.uint64(1)


def make_cost_tables(plan: RegionPlan, pieces: Ints, bits: int, limit: int) -> CostTables:
    """Allocate the cost tables of a region, for any cell order. ``limit``: most entries of one table, 0 = no tables."""
    n, entries, places = (len(plan.cells), MAX_ENTRIES, len(plan.kind_of) * bits) if limit else (0, 0, 0)
    digit, radix = _number_colours(plan, pieces) if limit else np.zeros((2, 0), dtype=np.int64)
    sizes = {"n+1": n + 1, "n*bits": n * bits, "bits": bits, "entries": entries, "places": places, "limit": limit}
    return allocate(CostTables, sizes, digit=digit, radix=radix)


def _number_colours(plan: RegionPlan, pieces: Ints) -> tuple[Ints, Ints]:
    """Return the index of each colour within its colour class, and the number of colours that each joint can have."""
    oriented = (pieces[:, None] * 4 + np.arange(4)).ravel()
    digit = np.zeros(len(plan.colour_class), dtype=np.int64)
    sizes = np.zeros(int(plan.colour_class.max()) + 1, dtype=np.int64)
    for colour in np.setdiff1d(plan.quads[oriented], [0]).tolist():
        digit[colour] = sizes[plan.colour_class[colour]]
        sizes[plan.colour_class[colour]] += 1
    radix = np.ones(2 * len(plan.is_clue), dtype=np.int64)
    for pattern in range(len(plan.kind_of)):
        shown = plan.quads[oriented[plan.fits[pattern, oriented]][0]]
        here = plan.pattern_at == pattern
        for side in range(4):
            radix[plan.joint_at[here & (plan.around[:, side] >= 0), side]] = sizes[plan.colour_class[shown[side]]]
    return digit, radix


def plan_tables(plan: RegionPlan, tables: CostTables, limit: int) -> int:
    """Determine the open joints and the size of the cost table of every depth, for the cell order of ``plan``.

    Return roughly the number of steps that `fill_tables` will take; 0 if a table would have more than ``limit``
    entries, or all tables together more than MAX_ENTRIES, or a depth more than MAX_OPEN_JOINTS open joints.
    """
    n, steps, after = len(plan.cells), 0, 1
    tables.open_count[n] = tables.cost_start[n] = tables.min_start[n] = 0
    later: dict[int, int] = {}  # the joints open at the next depth, with their strides in its table
    for depth in range(n - 1, -1, -1):
        number, known, ends = plan.order[depth], plan.known[depth], plan.known[depth] + plan.open[depth]
        joints, sides = plan.joint[depth].tolist(), plan.side[depth, :known].tolist()
        earlier = [joint for joint, side in zip(joints, sides, strict=False) if plan.around[number, side] >= 0]
        carried = [joint for joint in later if joint not in joints[known:ends]]
        if len(earlier) + len(carried) > MAX_OPEN_JOINTS:
            return 0
        strides, size, combos = {}, 1, 1
        for joint in earlier:  # joints of this depth's cell that are open until it is filled
            strides[joint] = size
            size *= int(tables.radix[joint])
        row_size = size
        for i, joint in enumerate(carried):
            tables.carried_joint[depth, i], tables.next_stride[depth, i] = joint, later[joint]
            tables.rank_stride[depth, i], strides[joint] = combos, size
            combos *= int(tables.radix[joint])
            size *= int(tables.radix[joint])
        tables.cost_start[depth] = tables.cost_start[depth + 1] + after
        tables.min_start[depth] = tables.min_start[depth + 1] + combos
        if size > limit or tables.cost_start[depth] + size > MAX_ENTRIES:
            return 0
        tables.open_count[depth], tables.carried_count[depth] = len(strides), len(carried)
        tables.open_joint[depth, : len(strides)] = [*strides]
        tables.open_stride[depth, : len(strides)] = [*strides.values()]
        steps += combos * int(plan.cells_of_kind[plan.kind_of[plan.pattern[depth]]] * 4 + row_size)
        after, later = size, strides
    return steps


@flat_kernel
def fill_tables(plan: RegionPlan, state: RegionState, begin: int) -> None:
    """Fill the cost tables of the depths before ``begin``, the last first, each from the table of the next depth."""
    tables = state.tables
    if begin == len(plan.cells):
        tables.cost[tables.cost_start[begin]] = 0
    for back in range(begin):
        _fill_table(plan, state, begin - 1 - back)


@flat_kernel
def _fill_table(plan: RegionPlan, state: RegionState, depth: int) -> None:
    """Fill the cost table of a depth, a row for each combination of colours of the joints that stay open (carried)."""
    tables = state.tables
    cost, row, row_min = tables.cost, tables.row, tables.row_min
    candidate, odometer, radix = tables.candidate, tables.odometer, tables.radix
    pieces = _candidates(plan, state, depth)
    carried = tables.carried_count[depth]
    row_size = 1
    answered = tables.open_count[depth] - carried
    for i in range(answered):
        row_size *= radix[tables.open_joint[depth, i]]
    combos = 1
    for i in range(carried):
        combos *= radix[tables.carried_joint[depth, i]]
        odometer[i] = 0
    for combo in range(combos):
        to, source = tables.cost_start[depth] + combo * row_size, tables.cost_start[depth + 1]
        for i in range(carried):
            source += odometer[i] * tables.next_stride[depth, i]
        for k in range(row_size):
            row[k] = INFINITE
        low = np.int64(INFINITE)
        for m in range(pieces):
            value = cost[source + candidate[0, m]] + candidate[1, m]
            if value < row[candidate[2, m]]:
                row[candidate[2, m]] = value
            low = min(low, value - candidate[3, m])
        tables.min_cost[tables.min_start[depth + 1] + combo] = low
        stride = 1
        for i in range(answered):  # a joint of the cell may have another colour, which costs a mismatch
            span = stride * radix[tables.open_joint[depth, i]]
            for begin in range(0, row_size, span):
                for k in range(stride):
                    row_min[k] = row[begin + k]
                for other in range(begin + stride, begin + span, stride):
                    for k in range(stride):
                        row_min[k] = min(row_min[k], row[other + k])
                for other in range(begin, begin + span, stride):
                    for k in range(stride):
                        row[other + k] = min(row[other + k], row_min[k] + np.int16(UNIT))
            stride = span
        for k in range(row_size):
            cost[to + k] = row[k]
        for i in range(carried):  # go on to the next combination of colours of the carried joints
            odometer[i] += 1
            if odometer[i] < radix[tables.carried_joint[depth, i]]:
                break
            odometer[i] = 0


@flat_kernel
def _candidates(plan: RegionPlan, state: RegionState, depth: int) -> int:
    """Write four numbers of each candidate of a depth to ``candidate``; return the number of candidates.

    The numbers are the offset of the candidate in the table of the next depth, its cost (price and mismatches with
    pieces outside the region), its index in a row of the depth's own table, and the cost of these mismatches alone.
    """
    tables = state.tables
    number, pattern, known = plan.order[depth], plan.pattern[depth], plan.known[depth]
    words = len(state.valid) // len(plan.kind_of)
    bits = words * 64
    answered = tables.open_count[depth] - tables.carried_count[depth]
    count = 0
    for bit in range(bits):
        if not state.valid[pattern * words + (bit >> 6)] & (_ONE << np.uint64(bit & 63)):
            continue
        shows = (pattern * bits + bit) * 4
        cost, index, offset, misses = tables.price[pattern * bits + bit], 0, 0, 0
        for j in range(known):
            side = plan.side[depth, j]
            colour = state.shows[shows + side]
            if plan.around[number, side] < 0:
                misses += colour != state.joint_colour[plan.joint[depth, j]]
            for i in range(answered):
                if tables.open_joint[depth, i] == plan.joint[depth, j]:
                    index += tables.digit[colour] * tables.open_stride[depth, i]
        for j in range(known, known + plan.open[depth]):
            colour = state.shows[shows + plan.side[depth, j]]
            for i in range(tables.open_count[depth + 1]):
                if tables.open_joint[depth + 1, i] == plan.joint[depth, j]:
                    offset += tables.digit[colour] * tables.open_stride[depth + 1, i]
        tables.next_offset[depth * bits + bit] = offset
        tables.candidate[0, count] = offset
        tables.candidate[1, count] = cost + UNIT * misses
        tables.candidate[3, count] = UNIT * misses
        tables.candidate[2, count] = index
        count += 1
    return count


@inline_flat_kernel
def look_up(state: RegionState, depth: Any, allowed: Any) -> None:
    """Set a depth's ``next_base`` and ``max_level`` by its carried joints. ``allowed``: units a refill may cost."""
    tables = state.tables
    deeper = depth + _ONE
    base, rank = tables.cost_start[deeper], tables.min_start[deeper]
    for i in range(np.uint64(tables.carried_count[depth])):
        digit = tables.digit[np.uint64(state.joint_colour[np.uint64(tables.carried_joint[depth, i])])]
        base += digit * tables.next_stride[depth, i]
        rank += digit * tables.rank_stride[depth, i]
    tables.next_base[depth] = base
    tables.max_level[depth] = (allowed - tables.paid[depth] - tables.min_cost[np.uint64(rank)]) // UNIT


@flat_kernel
def add_cheapest_refill(plan: RegionPlan, state: RegionState, uses: Ints) -> None:
    """Add to ``uses``, int64 (pieces,), how often each piece occurs in a cheapest refill that may repeat pieces."""
    tables = state.tables
    words = len(state.valid) // len(plan.kind_of)
    bits = words * 64
    for depth in range(len(plan.cells)):
        look_up(state, np.uint64(depth), 0)
        base = tables.next_base[depth]
        pattern = plan.pattern[depth]
        least, chosen = 1 << 40, 0
        for bit in range(bits):
            if not state.valid[pattern * words + (bit >> 6)] & (_ONE << np.uint64(bit & 63)):
                continue
            units = tables.price[pattern * bits + bit] + tables.cost[base + tables.next_offset[depth * bits + bit]]
            for j in range(plan.known[depth]):
                joint, side = plan.joint[depth, j], plan.side[depth, j]
                if state.shows[(pattern * bits + bit) * 4 + side] != state.joint_colour[joint]:
                    units += UNIT
            if units < least:
                least, chosen = units, bit
        at = pattern * bits + chosen
        uses[state.oriented[at] >> 2] += 1
        for j in range(plan.known[depth], plan.known[depth] + plan.open[depth]):
            state.joint_colour[plan.joint[depth, j]] = state.shows[at * 4 + plan.side[depth, j]]
