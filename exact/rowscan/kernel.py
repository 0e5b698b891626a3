"""The inner loop of the row scan: nothing but table look-ups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lns_support.jit import kernel

DEPTH, NODES, SOLUTIONS, EXHAUSTED, DEEPEST = range(5)


class ScanState(NamedTuple):
    """Everything that a paused scan needs to go on.

    ``next_word``: uint32 by depth, position of the next candidate to try; ``chosen``: uint64, the word on cell c at
    index ``c + width``, so that index ``d`` holds the cell above depth d (zeros above row 0); ``free``: pieces left by
    kind + 1; ``first``: the first solution's words by cell; ``counters``: int64, see the names above.
    """

    next_word: npt.NDArray[np.uint32]
    chosen: npt.NDArray[np.uint64]
    free: npt.NDArray[np.int32]
    first: npt.NDArray[np.uint64]
    counters: npt.NDArray[np.int64]


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
    """Go on for ``budget`` placements, or to the end of the tree, or to the next solution when ``stop_at_first``.

    A node is a placement of a free candidate that fits its left and upper neighbour; the last cell's too.
    """
    kind_mask = np.uint64(0x1FFF)
    colour_mask = np.uint64(0xFFFF)
    down_shift = np.uint64(16)
    right_shift = np.uint64(32)
    one = np.uint64(1)
    above = np.uint64(width)
    last = np.uint64(len(bases) - 1)
    next_word, chosen, free, first, counters = state
    depth = np.uint64(counters[DEPTH])
    nodes = counters[NODES]
    limit = nodes + budget
    deepest = np.uint64(counters[DEEPEST])
    place = np.uint64(next_word[depth])
    while nodes < limit:
        word = candidates[place]
        place += one
        while free[word & kind_mask] == 0:
            word = candidates[place]
            place += one
        if word == 0:
            if depth == 0:
                counters[EXHAUSTED] = 1
                break
            depth -= one
            free[chosen[depth + above] & kind_mask] += 1
            place = np.uint64(next_word[depth])
            continue
        nodes += 1
        if depth == last:
            if counters[SOLUTIONS] == 0:
                for cell in range(len(first) - 1):
                    first[cell] = chosen[np.uint64(cell) + above]
                first[len(first) - 1] = word
            counters[SOLUTIONS] += 1
            if stop_at_first:
                break
            continue
        free[word & kind_mask] -= 1
        next_word[depth] = place
        chosen[depth + above] = word
        depth += one
        if depth > deepest:
            deepest = depth
        up = (chosen[depth] >> down_shift) & colour_mask
        place = np.uint64(starts[np.uint64(bases[depth]) + (word >> right_shift) + up])
    next_word[depth] = place
    counters[DEPTH] = depth
    counters[NODES] = nodes
    counters[DEEPEST] = deepest
