"""What a construction is asked to do: the order of the cells, where breaks unlock, which colours must be used up when.

Which colours, how fast and where breaks unlock follows from the instance: see ``profile`` and ``derive``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import reduce
from heapq import nsmallest
from itertools import combinations
from math import comb
from operator import or_

import numpy as np
import numpy.typing as npt

from instances.puzzle import IntArray, Puzzle
from instances.symmetry import IDENTITY_VIEW, View
from lns.construct.endgame_plan import MAX_ENDGAME_PIECES
from lns.construct.packed_candidate import BREAK_COST

QUOTA_END = 160 / 256  # share of the cells behind which no quota asks for anything
LARGE = 256  # cells of a board, above which more inner colours are favoured
MOST_CHOICES = 300_000  # sets of favoured colours that are compared: a fraction of a second


def quota_end(cells: int) -> int:
    """The first depth at which no quota asks for anything any more."""
    return round(cells * QUOTA_END)


@dataclass(frozen=True)
class Quota:
    """Which colours must be used up early: ``favoured`` ones, by default none. A prefix of each depth must have used
    ``height`` times the half-edges of ``profile`` (`lns.construct.quota_profile`)."""

    favoured: tuple[int, ...] = ()
    profile: tuple[float, ...] = ()
    scale: float = 0.0

    def scaled(self, share: float) -> Quota:
        """The same at a share of the height."""
        return Quota(self.favoured, self.profile, share * self.scale) if share * self.scale > 0 else Quota()

    def floor(self, cells: int) -> IntArray:
        """Favoured half-edges that must have been used once a depth is filled; shape (cells,)."""
        asked = np.zeros(cells, dtype=np.int32)
        end = self.end(cells)
        asked[:end] = np.floor(self.scale * np.array(self.profile[:end] or (0.0,)))
        return asked

    def end(self, cells: int) -> int:
        """The first depth at which nothing is asked any more. Quotas and breaks do not mix: no break before it."""
        return quota_end(cells) if self.scale > 0 else 1


@dataclass(frozen=True)
class BreakSchedule:
    """``order``: int32 cells by depth; ``unlock``: int64 ascending depths from which one break more may have been
    spent;
    ``floor``: int32 favoured half-edges that must have been used, by depth; ``favoured``: colours; ``cut``: depth where
    the exact tail begins; ``endgame_from``: depth before which no endgame begins, even where it could; ``view``: from
    where the board is seen that is filled so.
    """

    order: IntArray
    unlock: npt.NDArray[np.int64]
    quota_floor: IntArray
    favoured: tuple[int, ...]
    cut: int
    endgame_from: int = 0
    view: View = IDENTITY_VIEW

    @property
    def allowed(self) -> IntArray:
        """Breaks that may have been spent once a depth is filled; shape (cells,)."""
        return np.searchsorted(self.unlock, np.arange(len(self.order)), side="right").astype(np.int32)

    @property
    def least_gain(self) -> npt.NDArray[np.int64]:
        """Least gain by depth, as the kernel wants it."""
        return self.quota_floor.astype(np.int64) - BREAK_COST * self.allowed.astype(np.int64)

    @property
    def endgame_depth(self) -> int:
        """Depth from ``endgame_from`` on where at most 64 pieces are free and no quota is left: see ``endgame``."""
        asked = np.flatnonzero(self.quota_floor > 0)
        behind = int(asked[-1]) + 1 if len(asked) else 0
        return min(max(len(self.order) - MAX_ENDGAME_PIECES, behind, self.endgame_from), self.cut)

    @property
    def may_break(self) -> npt.NDArray[np.bool_]:
        """Depths at which some break may be spent."""
        return self.allowed > 0


def favoured_colours(puzzle: Puzzle, rim: int, inner: int) -> tuple[int, ...]:
    """``rim`` rim colours and ``inner`` inner colours, or as many as are `scaled`, that the fewest pieces carry between
    them.

    Using them up early leaves pieces with fewer colours, and the fewer pieces carry them the sooner they are gone.
    """
    return favoured_sets(puzzle, rim, inner, 1)[0]


def favoured_sets(puzzle: Puzzle, rim: int, inner: int, most: int) -> list[tuple[int, ...]]:
    """At most so many sets of ``rim`` rim colours and `scaled` ``inner`` ones, from that of the fewest pieces on.

    Where there are more than MOST_CHOICES such sets, the colours of most pieces are out of the question.
    """
    carriers = [0] * (puzzle.colours + 1)  # by colour, a bit a piece
    for piece, quad in enumerate(puzzle.pieces.tolist()):
        for colour in quad:
            carriers[colour] |= 1 << piece

    def together(colours: Iterable[int]) -> int:
        return reduce(or_, (carriers[colour] for colour in colours), 0)

    outer, within = (sorted(one, key=lambda colour: carriers[colour].bit_count()) for one in colour_classes(puzzle))
    rim, inner = min(rim, len(outer)), min(scaled(puzzle, inner, within), len(within))
    while comb(len(outer), rim) * comb(len(within), inner) > MOST_CHOICES:
        larger = outer if comb(len(outer), rim) > comb(len(within), inner) else within
        larger.pop()
    behind = [(together(chosen), chosen) for chosen in combinations(sorted(within), inner)]
    sets = (
        ((first | second).bit_count(), ahead + chosen)
        for ahead in combinations(sorted(outer), rim)
        for first in (together(ahead),)
        for second, chosen in behind
    )
    return [chosen for _, chosen in nsmallest(most, sets)]


def scaled(puzzle: Puzzle, inner: int, colours: Collection[int]) -> int:
    """How many inner ``colours`` to favour: ``inner``; on a board of more than LARGE cells more, in proportion to them.

    More than ``inner`` only up to a quarter of the colours, and not so many that their half-edges look like breaks.
    """
    shown = int(np.isin(puzzle.pieces, list(colours)).sum())
    most = min(len(colours) // 4, BREAK_COST * len(colours) // max(1, shown) - 1)
    return max(inner, min(math.floor(inner * puzzle.cells / LARGE + 0.5), most))


def colour_classes(puzzle: Puzzle) -> tuple[list[int], list[int]]:
    """(rim colours, inner colours): rim colours show only along the rim, next to a grey side; the rest is inner."""
    quads = puzzle.pieces
    beside_grey = (np.roll(quads, 1, axis=1) == 0) | (np.roll(quads, -1, axis=1) == 0)
    along = set(np.unique(quads[beside_grey & (quads > 0)]).tolist())
    elsewhere = set(np.unique(quads[~beside_grey & (quads > 0)]).tolist())
    return sorted(along - elsewhere), sorted(elsewhere)
