"""A Markov model of the search: what a break schedule yields, before it is run.

The state is the depth of a prefix and the breaks it has spent. From the mean exact and breaking children by depth
follow the expected nodes and the expected full boards by mismatches, up to a common factor; their ratio is the rate of
boards per node. The model takes the cells for independent. The idea is Louis Verhaard's.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lns.construct.packed_candidate import FloatArray
from lns_support.jit import kernel

_TINY = 1e-300


def expected_completions(exact: FloatArray, breaking: FloatArray, mismatches: int) -> FloatArray:
    """Expected number of full boards behind a prefix, with at most k more mismatches; float64 (mismatches + 1,).

    Any number of the remaining cells may break.

    Parameters
    ----------
    exact, breaking : float64 (tail,)
        Mean children without and with a break, for each remaining cell.
    mismatches : int
        Largest k.
    """
    boards = np.zeros(mismatches + 1)  # by mismatches
    boards[0] = 1.0
    for exact_children, breaking_children in zip(exact, breaking, strict=True):
        boards[1:] = boards[1:] * exact_children + boards[:-1] * breaking_children
        boards[0] *= exact_children
    return np.asarray(np.cumsum(boards))


@kernel
def boards_per_node(
    exact: FloatArray,
    breaking: FloatArray,
    unlock: npt.NDArray[np.int64],
    finish: FloatArray,
    tail_cost: float,
) -> float:
    """Expected full boards with at most m mismatches, per node.

    Parameters
    ----------
    exact, breaking : float64 (cut,)
        Mean children of a prefix without and with a break, by depth.
    unlock : int64 (breaks,)
        Ascending depths from which on a prefix may have one break more.
    finish : float64 (m + 1,)
        Expected boards behind a prefix that reaches the exact tail, with at most k more mismatches.
    tail_cost : float
        Cost of one exact tail in nodes.
    """
    cut, mismatches = len(exact), len(finish) - 1
    prefixes = np.zeros(mismatches + 1)  # expected, by breaks spent
    prefixes[0] = 1.0
    nodes = 0.0
    allowed = 0
    for depth in range(cut):
        while allowed < len(unlock) and unlock[allowed] <= depth:
            allowed += 1
        limit = min(mismatches, allowed)
        for s in range(mismatches, -1, -1):
            if s > limit:
                prefixes[s] = 0.0
            else:
                prefixes[s] = prefixes[s] * exact[depth] + (prefixes[s - 1] * breaking[depth] if s > 0 else 0.0)
        total = prefixes.sum()
        if total <= _TINY:
            return 0.0
        nodes += total
        if total > 1e100:  # the ratio stays, and nothing overflows
            prefixes /= total
            nodes /= total
    boards = (prefixes * finish[::-1]).sum()
    return boards / (nodes + prefixes.sum() * tail_cost) if cut else boards  # no nodes: the tail is the whole board


@kernel
def best_unlocks(
    exact: FloatArray,
    breaking: FloatArray,
    start: npt.NDArray[np.int64],
    finish: FloatArray,
    tail_cost: float,
) -> tuple[npt.NDArray[np.int64], float]:
    """The unlock depths with the highest `boards_per_node`, by coordinate search from the depths ``start``.

    Returns
    -------
    unlock : int64 (breaks,)
        Ascending depths; one at the cut means that the break is never allowed.
    rate : float
        Their boards per node.
    """
    cut = len(exact)
    best = start.copy()
    rate = boards_per_node(exact, breaking, best, finish, tail_cost)
    improved = True
    while improved:
        improved = False
        for j in range(len(best)):
            for step in (1, -1, 2, -2, 4, -4, 8, -8, 16, -16, 32, -32):
                trial = best.copy()
                trial[j] = min(max(trial[j] + step, 1), cut)  # at the cut a break is never allowed
                trial.sort()
                value = boards_per_node(exact, breaking, trial, finish, tail_cost)
                if value > rate * 1.0001:
                    best, rate, improved = trial, value, True
    return best, rate
