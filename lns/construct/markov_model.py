"""What a break schedule is worth, before it is run: a Markov chain over depth and breaks spent (Verhaard's idea).

From measured mean numbers of exact and breaking children by depth follow the expected numbers of nodes and of full
boards by mismatches, up to a common factor; their ratio is the rate of boards a node.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lns_support.jit import kernel

Floats = npt.NDArray[np.float64]

_TINY = 1e-300


def expected_completions(exact: Floats, breaking: Floats, mismatches: int) -> Floats:
    """Expected full boards of a prefix with at most k mismatches more, float64 (mismatches + 1,).

    ``exact``, ``breaking``: mean children of the cells behind it, (tail,); there any number may break.
    """
    ends = np.zeros(mismatches + 1)
    ends[0] = 1.0
    for fitting, missing in zip(exact, breaking, strict=True):
        ends[1:] = ends[1:] * fitting + ends[:-1] * missing
        ends[0] *= fitting
    return np.asarray(np.cumsum(ends))


@kernel
def boards_per_node(
    exact: npt.NDArray[np.float64],
    breaking: npt.NDArray[np.float64],
    unlock: npt.NDArray[np.int64],
    finish: npt.NDArray[np.float64],
    tail_cost: float,
) -> float:
    """Expected full boards with at most m mismatches, per node.

    ``exact``, ``breaking``: float64 (cut,), mean children of a prefix by depth. ``unlock``: depths, ascending, from
    which one break more may have been spent. ``finish``: float64 (m + 1,), expected boards of a whole prefix with at
    most k mismatches more. ``tail_cost``: nodes that one exact tail is worth.
    """
    cut, mismatches = len(exact), len(finish) - 1
    now = np.zeros(mismatches + 1)
    now[0] = 1.0
    nodes = 0.0
    allowed = 0
    for depth in range(cut):
        while allowed < len(unlock) and unlock[allowed] <= depth:
            allowed += 1
        limit = min(mismatches, allowed)
        for s in range(mismatches, -1, -1):
            if s > limit:
                now[s] = 0.0
            else:
                now[s] = now[s] * exact[depth] + (now[s - 1] * breaking[depth] if s > 0 else 0.0)
        total = now.sum()
        if total <= _TINY:
            return 0.0
        nodes += total
        if total > 1e100:  # the ratio stays, and nothing overflows
            now /= total
            nodes /= total
    boards = (now * finish[::-1]).sum()
    return boards / (nodes + now.sum() * tail_cost) if cut else boards  # no nodes: the tail is the whole board


@kernel
def best_unlocks(
    exact: npt.NDArray[np.float64],
    breaking: npt.NDArray[np.float64],
    start: npt.NDArray[np.int64],
    finish: npt.NDArray[np.float64],
    tail_cost: float,
) -> tuple[npt.NDArray[np.int64], float]:
    """Unlock depths with the highest rate, by coordinate search from ``start``; (depths, rate)."""
    cut = len(exact)
    best = start.copy()
    rate = boards_per_node(exact, breaking, best, finish, tail_cost)
    improved = True
    while improved:
        improved = False
        for j in range(len(best)):
            for step in (1, -1, 2, -2, 4, -4, 8, -8, 16, -16, 32, -32):
                trial = best.copy()
                trial[j] = min(max(trial[j] + step, 1), cut)  # an unlock at the cut is none
                trial.sort()
                value = boards_per_node(exact, breaking, trial, finish, tail_cost)
                if value > rate * 1.0001:
                    best, rate, improved = trial, value, True
    return best, rate
