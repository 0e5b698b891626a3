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
def count_deficits(t: Tables, s: State, p: Spending, depth: int) -> tuple[int, int]:
    """The sums of the deficits of all pairs, over the open cells of the stage and over those of the region."""
    for cell in range(t.cells):
        p.pair_count[p.own_pair[cell]] = 0
        p.stage_pair_count[p.own_pair[cell]] = 0
        p.own_pair[cell] = 0
    in_stage = in_region = 0
    for cell in range(t.cells):
        if s.cell_pair_count[cell] == 0 or s.grid[cell] >= 0 or p.min_level[depth + 1, cell]:
            continue
        pair = _own_pair(s, cell)
        p.own_pair[cell] = pair
        p.pair_count[pair] += 1
        in_region += p.pair_count[pair] > s.offer[pair]
        if is_member(t, p, p.stage[depth], cell):
            p.stage_pair_count[pair] += 1
            in_stage += p.stage_pair_count[pair] > s.offer[pair]
    return in_stage, in_region


@inline_flat_kernel
def count_pairs(t: Tables, s: State, p: Spending, depth: int, limit: int, skipped: int) -> None:
    """Count the open cells of a stage or of the region (``limit``) by their pairs, without the cell ``skipped``."""
    for cell in range(t.cells):
        p.pair_count[p.own_pair[cell]] = 0
        p.own_pair[cell] = 0
    for cell in range(t.cells):
        if s.cell_pair_count[cell] == 0 or s.grid[cell] >= 0 or cell == skipped or p.min_level[depth + 1, cell]:
            continue
        if limit == STAGE and not is_member(t, p, p.stage[depth], cell):
            continue
        pair = _own_pair(s, cell)
        p.own_pair[cell] = pair
        p.pair_count[pair] += 1


@inline_flat_kernel
def _own_pair(s: State, cell: int) -> int:
    """The pair by which a cell is counted: the one that has fewest pieces for its demand."""
    best, least = 0, 1 << 30
    for i in range(s.cell_pair_count[cell]):
        pair = s.cell_pairs[cell * SLOTS + i]
        if s.offer[pair] - s.demand[pair] < least:
            best, least = pair, s.offer[pair] - s.demand[pair]
    return best
