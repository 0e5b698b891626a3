"""Demand - Offer in a dynamic search: of the cells that demand a pair, more than its free pieces have a mismatch.

A cell is counted once, by one of its pairs, and only if some free piece matches all its known sides; other cells count
by their least mismatches. Then the deficits of all pairs, and the least mismatches of all cells, add up to a bound.
"""

from __future__ import annotations

from exact.colorpairs.state import State
from exact.colorpairs.tables import SLOTS, Tables
from exact.region.dynamic_moves import is_member
from exact.region.dynamic_state import STAGE, Spending
from lns_support.jit import inline_flat_kernel


@inline_flat_kernel
def count_pairs(t: Tables, s: State, p: Spending, depth: int, limit: int, skipped: int) -> int:
    """Count the open cells of a stage or of the region by their pairs; returns the sum of the deficits.

    The cell ``skipped`` is not counted.
    """
    for cell in range(t.cells):
        p.pair_count[p.own_pair[cell]] = 0
        p.own_pair[cell] = 0
    deficit = 0
    for cell in range(t.cells):
        pairs = s.cell_pair_count[cell]
        if pairs == 0 or s.grid[cell] >= 0 or cell == skipped or p.min_level[depth + 1, cell]:
            continue
        if limit == STAGE and not is_member(t, p, p.stage[depth], cell):
            continue
        best, least = 0, 1 << 30
        for i in range(pairs):
            pair = s.cell_pairs[cell * SLOTS + i]
            if s.offer[pair] - s.demand[pair] < least:
                best, least = pair, s.offer[pair] - s.demand[pair]
        p.own_pair[cell] = best
        p.pair_count[best] += 1
        deficit += p.pair_count[best] > s.offer[best]
    return deficit
