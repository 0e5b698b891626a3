"""Orders and spend curves that split "at most r mismatches" into cheap searches, without losing a refill.

Let the region's blocks (its columns, say) stand in a cycle and give each a share w of r. Charge every mismatch of a
refill to one block. If the refill has at most r mismatches in all, then *some* block can be the start from which, going
round, no prefix has more mismatches than its shares allow (the cycle lemma of Dvoretzky and Motzkin, 1947; the gas
station puzzle). So the region is searched once per start with the spend curve "after these blocks, at most that many
mismatches", and the searches together miss nothing. Each of them may spend only where it has gone far, where little is
left to choose; that is worth orders of magnitude (docs/windows.md).

A block with no share is never the first such start: dropping it keeps the sums of the others within theirs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from instances.puzzle import Puzzle

Ints = npt.NDArray[np.int64]

# blocks without a share at the beginning and at the end of the cycle; the first is tried first
_BARE_ENDS = ((1, 1), (2, 1), (0, 0), (0, 1), (0, 3), (1, 2))


@dataclass(frozen=True)
class Schedule:
    """``order`` (n,): numbers of the region's cells; the search from start i begins at position ``shifts[i]`` of that
    cycle and may have spent ``r * curve[i, depth] // total`` mismatches once ``depth`` is filled."""

    name: str
    order: Ints
    shifts: Ints
    curve: Ints
    total: int


def schedules(puzzle: Puzzle, cells: Ints, *, curves: bool = True) -> list[Schedule]:
    """The schedules worth trying for a region (its free cells on the board), the most promising first.

    Without ``curves``: only a single search along the region, mismatches allowed anywhere.
    """
    rows, columns = np.divmod(cells, puzzle.width)
    tall, wide = len(np.unique(rows)), len(np.unique(columns))
    axes = [("columns", columns, rows), ("rows", rows, columns)]
    if tall > wide:
        axes.reverse()
    if max(tall, wide) >= 2 * min(tall, wide):
        axes = axes[:1]
    if not curves or len(cells) < 2:
        name, along, across = axes[0]
        return [plain(np.lexsort((across, along)).astype(np.int64))]
    return [
        _spread(f"{name}{' back' if sign < 0 else ''}", np.lexsort((across, sign * along)), along, head, tail)
        for head, tail in _BARE_ENDS
        for name, along, across in axes
        for sign in (-1, 1)
        if max(tall, wide) >= head + tail + 3 or head + tail == 0
    ]


def plain(order: Ints) -> Schedule:
    """One search, mismatches allowed anywhere."""
    n = len(order)
    return Schedule("plain", order, np.zeros(1, dtype=np.int64), np.ones((1, n), dtype=np.int64), 1)


def _spread(name: str, order: npt.NDArray[np.intp], along: Ints, head: int, tail: int) -> Schedule:
    """Equal shares for all blocks but the first ``head`` and the last ``tail``; a block = equal values of ``along``."""
    n = len(order)
    line = along[order]
    begins = np.flatnonzero(np.concatenate(([True], line[1:] != line[:-1])))
    share = np.zeros(len(begins), dtype=np.int64)
    share[head : len(begins) - tail] = 1
    block = np.searchsorted(begins, np.arange(n), side="right") - 1
    starts = np.flatnonzero(share)
    shifts = begins[starts].astype(np.int64)
    curve = np.zeros((len(starts), n), dtype=np.int64)
    for i, start in enumerate(starts):
        so_far = np.cumsum(np.roll(share, -start))
        curve[i] = so_far[(block[(np.arange(n) + shifts[i]) % n] - start) % len(begins)]
    return Schedule(f"{name} {head}-{tail}", order.astype(np.int64), shifts, curve, int(share.sum()))
