"""What a slip schedule is worth, before it is run: a Markov chain over depth and slips spent (Verhaard's idea).

From measured mean numbers of exact and slipping children by depth follow the expected numbers of nodes and of full
boards by mismatches, up to a common factor; their ratio is the rate of boards a node.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from exact.jit import kernel

_TINY = 1e-300


@kernel
def boards_per_node(
    exact: npt.NDArray[np.float64],
    slipping: npt.NDArray[np.float64],
    unlock: npt.NDArray[np.int64],
    cut: int,
    mismatches: int,
    tail_cost: float,
) -> float:
    """Expected full boards with at most ``mismatches``, per node.

    ``exact``, ``slipping``: float64 (cells,), mean children of a prefix by depth. ``unlock``: depths, ascending, from
    which one slip more may have been spent; from ``cut`` on any number may.
    ``tail_cost``: nodes that one exact tail is worth.
    """
    cells = len(exact)
    now = np.zeros(mismatches + 1)
    now[0] = 1.0
    nodes = 0.0
    allowed = 0
    for depth in range(cells):
        while allowed < len(unlock) and unlock[allowed] <= depth:
            allowed += 1
        limit = min(mismatches, allowed if depth < cut else mismatches)
        for s in range(mismatches, -1, -1):
            if s > limit:
                now[s] = 0.0
            else:
                now[s] = now[s] * exact[depth] + (now[s - 1] * slipping[depth] if s > 0 else 0.0)
        total = now.sum()
        if total <= _TINY:
            return 0.0
        if depth < cut:
            nodes += total
            if depth == cut - 1:
                nodes += total * tail_cost
        if total > 1e100:  # the ratio stays, and nothing overflows
            now /= total
            nodes /= total
    return now.sum() / nodes if nodes > 0.0 else now.sum()  # no nodes: the tail is the whole board


@kernel
def best_unlocks(
    exact: npt.NDArray[np.float64],
    slipping: npt.NDArray[np.float64],
    start: npt.NDArray[np.int64],
    cut: int,
    mismatches: int,
    tail_cost: float,
) -> tuple[npt.NDArray[np.int64], float]:
    """Unlock depths with the highest rate, by coordinate search from ``start``; (depths, rate)."""
    best = start.copy()
    rate = boards_per_node(exact, slipping, best, cut, mismatches, tail_cost)
    improved = True
    while improved:
        improved = False
        for j in range(len(best)):
            for step in (1, -1, 2, -2, 4, -4, 8, -8, 16, -16, 32, -32):
                trial = best.copy()
                trial[j] = min(max(trial[j] + step, 1), cut)  # an unlock at the cut is none
                trial.sort()
                value = boards_per_node(exact, slipping, trial, cut, mismatches, tail_cost)
                if value > rate * 1.0001:
                    best, rate, improved = trial, value, True
    return best, rate
