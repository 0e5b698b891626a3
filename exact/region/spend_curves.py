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
_BARE_ENDS = ((1, 1), (2, 1), (0, 0))


@dataclass(frozen=True)
class SpendCurves:
    """``order`` (n,): numbers of the region's cells; the search from start i begins at position ``shifts[i]`` of that
    cycle and may have spent ``r * curve[i, depth] // total`` mismatches once ``depth`` is filled."""

    name: str
    order: Ints
    shifts: Ints
    curve: Ints
    total: int


def schedules(puzzle: Puzzle, cells: Ints, *, curves: bool = True) -> list[SpendCurves]:
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
    found = []
    for head, tail in _BARE_ENDS:
        for name, along, across in axes:
            if head + tail > 0 and len(np.unique(along)) < head + tail + 3:
                continue
            for sign in (-1, 1):
                order = np.lexsort((across, sign * along)).astype(np.int64)
                title = f"{'back ' * (sign < 0)}by {name} {head}-{tail}"
                found.append(_spread(title, order, along[order], head, tail))
    return found


def both_ways(puzzle: Puzzle, cells: Ints) -> tuple[Ints, Ints]:
    """The two orders along the longer side of a region, from one end and from the other."""
    rows, columns = np.divmod(cells, puzzle.width)
    along, across = (columns, rows) if len(np.unique(rows)) <= len(np.unique(columns)) else (rows, columns)
    return np.lexsort((across, along)).astype(np.int64), np.lexsort((across, -along)).astype(np.int64)


def plain(order: Ints) -> SpendCurves:
    """One search, mismatches allowed anywhere."""
    n = len(order)
    return SpendCurves("plain", order, np.zeros(1, dtype=np.int64), np.ones((1, n), dtype=np.int64), 1)


def _spread(name: str, order: Ints, line: Ints, head: int, tail: int) -> SpendCurves:
    """Equal shares for all cells but those of the first ``head`` and the last ``tail`` lines.

    ``line``: by position in ``order``, equal values = one line, a block.
    """
    n = len(order)
    ends = np.flatnonzero(np.concatenate(([True], line[1:] != line[:-1], [True])))
    share = np.ones(n, dtype=np.int64)
    share[: ends[head]] = 0
    share[ends[len(ends) - 1 - tail] :] = 0
    shifts = ends[:-1][share[ends[:-1]] > 0].astype(np.int64)
    last = np.repeat(ends[1:], np.diff(ends)) - 1  # of each position's block
    so_far = np.cumsum(np.concatenate((share, share)))
    position = shifts[:, None] + np.arange(n)
    end = last[position % n] + n * (position >= n)
    curve = so_far[end] - so_far[shifts][:, None] + share[shifts][:, None]
    return SpendCurves(name, order, shifts, curve, int(share.sum()))
