"""What a construction is asked to do: the order of the cells, where slips unlock, which colours must be used up when.

The quota curve has the shape of the record method's (Blackwood's engine), stated as shares of the cells filled and of
the favoured half-edges; its height, the favoured colours and the slips follow from the instance: see ``derive``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from instances.puzzle import IntArray, Puzzle
from lns.construct.endplan import MOST_PIECES
from lns.construct.word import SLIP

# (share of the cells filled, share of the favoured half-edges used by then); nothing is asked behind the last point
QUOTA_CURVE = (
    (16 / 256, 0.0),
    (26 / 256, 28 / 122),
    (56 / 256, 71 / 122),
    (76 / 256, 89 / 122),
    (102 / 256, 106 / 122),
    (160 / 256, 119 / 122),
)
QUOTA_END = QUOTA_CURVE[-1][0]


@dataclass(frozen=True)
class Quota:
    """Which colours must be used up early: ``favoured`` ones, along the curve at this ``height``; by default none."""

    favoured: tuple[int, ...] = ()
    height: float = 0.0

    def times(self, share: float) -> Quota:
        """The same at a share of the height."""
        return Quota(self.favoured, share * self.height) if share * self.height > 0 else Quota()

    def floor(self, puzzle: Puzzle) -> IntArray:
        """Favoured half-edges that must have been used once a depth is filled; shape (cells,)."""
        total = int(np.isin(puzzle.pieces, self.favoured).sum())
        depth = np.arange(puzzle.cells) / puzzle.cells
        at, share = zip(*QUOTA_CURVE, strict=True)
        floor = np.interp(depth, at, share) * total * self.height
        return np.where(depth <= at[-1], np.floor(floor), 0).astype(np.int32)

    def end(self, cells: int) -> int:
        """The first depth at which nothing is asked any more. Quotas and slips do not mix: no slip before it."""
        return round(cells * QUOTA_END) if self.height > 0 else 1


@dataclass(frozen=True)
class Schedule:
    """``order``: int32 cells by depth; ``unlock``: int64 ascending depths from which one slip more may have been spent;
    ``floor``: int32 favoured half-edges that must have been used, by depth; ``favoured``: colours; ``cut``: depth where
    the exact tail begins.
    """

    order: IntArray
    unlock: npt.NDArray[np.int64]
    floor: IntArray
    favoured: tuple[int, ...]
    cut: int

    @property
    def allowed(self) -> IntArray:
        """Slips that may have been spent once a depth is filled; shape (cells,)."""
        return np.searchsorted(self.unlock, np.arange(len(self.order)), side="right").astype(np.int32)

    @property
    def need(self) -> npt.NDArray[np.int64]:
        """Least gain by depth, as the kernel wants it."""
        return self.floor.astype(np.int64) - SLIP * self.allowed.astype(np.int64)

    @property
    def endgame(self) -> int:
        """Depth from which at most 64 pieces are free and no quota is asked for any more: see ``endgame``."""
        asked = np.flatnonzero(self.floor > 0)
        behind = int(asked[-1]) + 1 if len(asked) else 0
        return min(max(len(self.order) - MOST_PIECES, behind), self.cut)

    @property
    def may_slip(self) -> npt.NDArray[np.bool_]:
        """Depths at which some slip may be spent."""
        return self.allowed > 0


def favoured_colours(puzzle: Puzzle, rim: int, inner: int) -> tuple[int, ...]:
    """``rim`` rim colours and ``inner`` inner colours that the fewest pieces carry between them.

    Using them up early leaves pieces with fewer colours, and the fewer pieces carry them the sooner they are gone.
    """
    outer_colours, inner_colours = colour_classes(puzzle)
    carries = np.stack([(puzzle.pieces == colour).any(axis=1) for colour in range(puzzle.colours + 1)])
    best: tuple[int, tuple[int, ...]] | None = None
    for outer in combinations(outer_colours, min(rim, len(outer_colours))):
        for chosen in combinations(inner_colours, min(inner, len(inner_colours))):
            pieces = int(carries[list(outer + chosen)].any(axis=0).sum())
            if best is None or (pieces, outer + chosen) < best:
                best = (pieces, outer + chosen)
    return () if best is None else best[1]


def colour_classes(puzzle: Puzzle) -> tuple[list[int], list[int]]:
    """(rim colours, inner colours): rim colours show only along the rim, next to a grey side; the rest is inner."""
    quads = puzzle.pieces
    beside_grey = (np.roll(quads, 1, axis=1) == 0) | (np.roll(quads, -1, axis=1) == 0)
    along = set(np.unique(quads[beside_grey & (quads > 0)]).tolist())
    elsewhere = set(np.unique(quads[~beside_grey & (quads > 0)]).tolist())
    return sorted(along - elsewhere), sorted(elsewhere)
