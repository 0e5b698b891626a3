"""The inner loop of the row scan; see `exact.rowscan.tables` for the format of its tables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns_support.jit import kernel

DEPTH, NODES, SOLUTIONS, EXHAUSTED, DEEPEST = range(5)


class ScanState(NamedTuple):
    """The state of a paused scan. C: cells, W: width of the board."""

    next_index: npt.NDArray[np.uint32]  # (C,): by depth, index of the next candidate to try
    chosen: npt.NDArray[np.uint64]  # (C+W,): the candidate on cell c at c + W, so index d is the cell above cell d
    free: npt.NDArray[np.int32]  # (classes+1,): free pieces by class + 1
    first: npt.NDArray[np.uint64]  # (C,): the candidates of the first solution
    counters: npt.NDArray[np.int64]  # (5,): see the names above


@kernel
def scan(
    candidates: npt.NDArray[np.uint64],
    starts: npt.NDArray[np.uint32],
    bases: npt.NDArray[np.uint32],
    width: int,
    state: ScanState,
    budget: int,
    stop_at_first: bool,
) -> None:
    """Go on for ``budget`` nodes, or to the end of the tree, or to the next solution if ``stop_at_first``.

    A node is a placement of a free candidate that matches its left and upper neighbours; the last cell counts too.
    ``candidates``, ``starts``, ``bases``: see `exact.rowscan.tables.RowTables`.
    """
    class_mask = np.uint64(0x1FFF)
    colour_mask = np.uint64(0xFFFF)
    down_shift = np.uint64(16)
    right_shift = np.uint64(32)
    one = np.uint64(1)
    above = np.uint64(width)
    last = np.uint64(len(bases) - 1)
    next_index, chosen, free, first, counters = state
    depth = np.uint64(counters[DEPTH])
    nodes = counters[NODES]
    limit = nodes + budget
    deepest = np.uint64(counters[DEEPEST])
    index = np.uint64(next_index[depth])
    while nodes < limit:
        candidate = candidates[index]
        index += one
        while free[candidate & class_mask] == 0:
            candidate = candidates[index]
            index += one
        if candidate == 0:
            if depth == 0:
                counters[EXHAUSTED] = 1
                break
            depth -= one
            free[chosen[depth + above] & class_mask] += 1
            index = np.uint64(next_index[depth])
            continue
        nodes += 1
        if depth == last:
            if counters[SOLUTIONS] == 0:
                for cell in range(len(first) - 1):
                    first[cell] = chosen[np.uint64(cell) + above]
                first[len(first) - 1] = candidate
            counters[SOLUTIONS] += 1
            if stop_at_first:
                break
            continue
        free[candidate & class_mask] -= 1
        next_index[depth] = index
        chosen[depth + above] = candidate
        depth += one
        if depth > deepest:
            deepest = depth
        up = (chosen[depth] >> down_shift) & colour_mask
        index = np.uint64(starts[np.uint64(bases[depth]) + (candidate >> right_shift) + up])
    next_index[depth] = index
    counters[DEPTH] = depth
    counters[NODES] = nodes
    counters[DEEPEST] = deepest
