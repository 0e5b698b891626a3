"""The bound by colour balance: for each colour, half-edges on free pieces minus half-edges that joints ask for."""

from __future__ import annotations

from typing import Any

import numpy as np

from exact.region.state import PARTS, RegionPlan, RegionWork
from lns_support.jit import inline_flat_kernel


@inline_flat_kernel
def shift(plan: RegionPlan, work: RegionWork, colour: int, change: int) -> None:
    """Change one colour's balance, and with it what its part lacks and how many odd balances it has."""
    c = np.uint64(colour)
    part = np.uint64(plan.part[c])
    before = work.balance[c]
    after = before + change
    work.balance[c] = after
    work.lacking[part] += max(np.int64(0), -after) - max(np.int64(0), -before)
    work.odd[part] += (after & 1 if after > 0 else 0) - (before & 1 if before > 0 else 0)


@inline_flat_kernel
def bound(plan: RegionPlan, work: RegionWork, depth: Any, spare: int) -> Any:
    """Mismatches still to come at least, by colour balance, when ``spare`` pieces will be left over.

    Every half-edge lacking is one mismatch; every mismatch changes two balances, so it settles at most two of the
    lacking half-edges and odd balances of its part.
    """
    total = np.int64(0)
    loose = plan.wild[depth] + spare * 4
    for part in range(np.uint64(PARTS)):
        lacking = work.lacking[part]
        total += max(lacking, (lacking + work.odd[part] - loose + 1) >> 1)
    return total
