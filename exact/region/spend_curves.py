"""Spend curves: split "at most r mismatches" into cheaper searches that together miss no refill.

The blocks of a region (its columns, say) form a cycle, and each block gets a share of r. Every mismatch of a refill is
charged to one block. If a refill has at most r mismatches, then from *some* block on, going round the cycle, no prefix
of blocks has more mismatches than its shares allow (the cycle lemma). So the region is searched once from each block,
with the spend curve "after these blocks, at most the sum of their shares". Each search allows mismatches only when much
of the region is filled and few candidates are left; docs/windows.md has measurements.

A block without a share need not be a start: without it, the prefix sums of the other blocks stay within their shares.

References
----------
A. Dvoretzky and T. Motzkin, "A problem of arrangements", Duke Mathematical Journal 14, 1947.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from exact.region.scheme import SearchScheme, direct_scheme
from exact.region.state import Ints
from instances.puzzle import Puzzle

# blocks without a share at the beginning and at the end of the cycle; the first pair is tried first
_BLOCKS_WITHOUT_SHARE = ((1, 1), (2, 1), (0, 0))


class SpendCurves(NamedTuple):
    """An order of n cells and the spend curve of each of its s starts.

    The search from start i may have spent ``r * curve[i, depth] // total`` mismatches once ``depth`` is filled.
    """

    order: Ints  # int64 (n,): numbers of the cells, a cyclic order
    starts: Ints  # int64 (s,): positions in `order` at which the searches begin
    curve: Ints  # int64 (s, n): sum of shares after each depth
    total: int  # sum of all shares
    ends: Ints  # int64 (blocks + 1,): where each block begins in `order`, and the end


def is_band(puzzle: Puzzle, cells: Ints) -> bool:
    """Whether a region is at least twice as long as wide and fills a rectangle but for at most a tenth of its cells."""
    rows, columns = (np.unique(part) for part in np.divmod(cells, puzzle.width))
    box = (np.ptp(rows) + 1) * (np.ptp(columns) + 1)
    longer, shorter = max(len(rows), len(columns)), min(len(rows), len(columns))
    return bool(longer >= 2 * shorter > 2 and 10 * len(cells) >= 9 * box)


def make_spend_curves(puzzle: Puzzle, cells: Ints) -> dict[str, SpendCurves]:
    """The spend curves worth trying for a region, by name, the most promising first.

    ``cells``: its free cells on the board.
    """
    rows, columns = np.divmod(cells, puzzle.width)
    height, width = len(np.unique(rows)), len(np.unique(columns))
    axes = [("columns", columns, rows), ("rows", rows, columns)]
    if height > width:
        axes.reverse()
    if max(height, width) >= 2 * min(height, width):
        axes = axes[:1]
    named = {}
    for head, tail in _BLOCKS_WITHOUT_SHARE:
        for name, along, across in axes:
            if head + tail > 0 and len(np.unique(along)) < head + tail + 3:
                continue
            for sign in (-1, 1):
                order = np.lexsort((across, sign * along)).astype(np.int64)
                title = f"{'back ' * (sign < 0)}by {name} {head}-{tail}"
                named[title] = _equal_shares(order, along[order], head, tail)
    return named


def block_scheme(curves: SpendCurves, start: int, r: int) -> tuple[SearchScheme, Ints]:
    """The blocks in the order of one start, as stages; the mismatches allowed after each, for at most ``r`` in all."""
    lengths = np.roll(np.diff(curves.ends), -int(np.flatnonzero(curves.ends == curves.starts[start])[0]))
    ends = np.cumsum(lengths)
    caps: Ints = np.minimum(r, r * curves.curve[start, ends - 1] // curves.total)
    return direct_scheme(np.roll(curves.order, -curves.starts[start]), ends - lengths), caps


def orders_from_both_ends(puzzle: Puzzle, cells: Ints) -> tuple[Ints, Ints]:
    """The two orders along the longer side of a region, from one end and from the other."""
    rows, columns = np.divmod(cells, puzzle.width)
    along, across = (columns, rows) if len(np.unique(rows)) <= len(np.unique(columns)) else (rows, columns)
    return np.lexsort((across, along)).astype(np.int64), np.lexsort((across, -along)).astype(np.int64)


def _equal_shares(order: Ints, block_of: Ints, head: int, tail: int) -> SpendCurves:
    """Equal shares for all cells except those of the first ``head`` and the last ``tail`` blocks.

    ``block_of``: by position in ``order``; consecutive equal values are a block.
    """
    n = len(order)
    ends = np.flatnonzero(np.concatenate(([True], block_of[1:] != block_of[:-1], [True])))
    share = np.ones(n, dtype=np.int64)
    share[: ends[head]] = 0
    share[ends[len(ends) - 1 - tail] :] = 0
    starts = ends[:-1][share[ends[:-1]] > 0].astype(np.int64)
    last_of_block = np.repeat(ends[1:], np.diff(ends)) - 1  # by position
    sums = np.cumsum(np.concatenate((share, share)))
    position = starts[:, None] + np.arange(n)
    end = last_of_block[position % n] + n * (position >= n)
    curve = sums[end] - sums[starts][:, None] + share[starts][:, None]
    return SpendCurves(order=order, starts=starts, curve=curve, total=int(share.sum()), ends=ends.astype(np.int64))
