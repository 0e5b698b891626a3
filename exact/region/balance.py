"""The colour balance: for each colour, half-edges on free pieces minus half-edges that the joints require."""

from __future__ import annotations

from typing import Any

import numpy as np

from exact.region.state import COLOUR_CLASSES, RegionPlan, RegionState
from lns_support.jit import inline_flat_kernel


@inline_flat_kernel
def change_balance(plan: RegionPlan, state: RegionState, colour: int, change: int) -> None:
    """Change the balance of a colour, and the deficit and the number of odd balances of its class."""
    c = np.uint64(colour)
    colour_class = np.uint64(plan.colour_class[c])
    before = state.balance[c]
    after = before + change
    state.balance[c] = after
    state.deficit[colour_class] += max(np.int64(0), -after) - max(np.int64(0), -before)
    state.odd_balances[colour_class] += (after & 1 if after > 0 else 0) - (before & 1 if before > 0 else 0)


@inline_flat_kernel
def balance_bound(state: RegionState, vacant: Any, spare: int) -> Any:
    """Lower bound on the mismatches still to come, for ``vacant`` joints of open cells and ``spare`` pieces too many.

    Every missing half-edge is a mismatch. Every mismatch changes two balances, so it removes at most two of the missing
    half-edges and odd balances of its class.
    """
    total = np.int64(0)
    slack = vacant + spare * 4
    for colour_class in range(np.uint64(COLOUR_CLASSES)):
        deficit = state.deficit[colour_class]
        total += max(deficit, (deficit + state.odd_balances[colour_class] - slack + 1) >> 1)
    return total
