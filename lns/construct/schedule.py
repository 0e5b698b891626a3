"""What a restart of the constructor may do: the cell order, the break schedule, and the quota of favoured colours.

A *break schedule* is a list of unlock depths; at each of them a prefix may have one break more than before. A *quota*
demands that a prefix has used up some half-edges of a few favoured colours by each depth. Both follow from the
instance, see `lns.construct.quota_profile` and `lns.construct.schedule_search`.
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

from lns.construct.candidates import BREAK_COST, Int64Array
from lns.construct.endgame_plan import MAX_ENDGAME_PIECES
from lns.instances.puzzle import GREY, IntArray, Puzzle
from lns.instances.symmetry import IDENTITY_VIEW, View

QUOTA_SHARE = 160 / 256  # share of the cells within which a quota holds
LARGE_BOARD = 256  # cells; on larger boards more inner colours are favoured
MAX_COLOUR_SETS = 300_000  # sets of favoured colours that are compared, which takes a fraction of a second


def quota_end(cells: int) -> int:
    """First depth, on a board of ``cells`` cells, from which on no quota holds."""
    return round(cells * QUOTA_SHARE)


@dataclass(frozen=True)
class Quota:
    """Favoured colours that a prefix must use up early. ``Quota()`` demands nothing."""

    favoured: tuple[int, ...] = ()
    profile: tuple[float, ...] = ()  # half-edges of these colours that a prefix must show, by depth, at a scale of 1
    scale: float = 0.0  # factor on ``profile``

    def scaled(self, factor: float) -> Quota:
        """This quota with its scale multiplied by ``factor``."""
        return Quota(self.favoured, self.profile, factor * self.scale) if factor * self.scale > 0 else Quota()

    def floor(self, cells: int) -> IntArray:
        """Favoured half-edges that a prefix must have used once each depth is filled; int32 (cells,)."""
        floor = np.zeros(cells, dtype=np.int32)
        end = self.end(cells)
        floor[:end] = np.floor(self.scale * np.array(self.profile[:end] or (0.0,)))
        return floor

    def end(self, cells: int) -> int:
        """First depth from which on the quota demands nothing. No break is allowed before it."""
        return quota_end(cells) if self.scale > 0 else 1


@dataclass(frozen=True)
class BreakSchedule:
    """Everything that one restart of the constructor follows."""

    order: IntArray  # int32 (cells,): cells in the order in which they are filled
    unlock: Int64Array  # int64 (breaks,): ascending depths from which on a prefix may have one break more
    quota_floor: IntArray  # int32 (cells,): favoured half-edges that must have been used once each depth is filled
    favoured: tuple[int, ...]  # favoured colours
    cut: int  # depth at which the exact tail begins
    endgame_from: int = 0  # the endgame does not begin before this depth, even where it could
    view: View = IDENTITY_VIEW  # symmetry from which the board is filled

    @property
    def allowed(self) -> IntArray:
        """Breaks that a prefix may have once each depth is filled; int32 (cells,)."""
        return np.searchsorted(self.unlock, np.arange(len(self.order)), side="right").astype(np.int32)

    @property
    def least_gain(self) -> Int64Array:
        """Least gain of a prefix, by depth: favoured half-edges used minus `BREAK_COST` for each break."""
        return self.quota_floor.astype(np.int64) - BREAK_COST * self.allowed.astype(np.int64)

    @property
    def endgame_depth(self) -> int:
        """First depth at which the endgame can begin: few enough pieces are free, and the quota demands nothing."""
        demand_end = int(np.flatnonzero(self.quota_floor > 0).max(initial=-1)) + 1
        return min(max(len(self.order) - MAX_ENDGAME_PIECES, demand_end, self.endgame_from), self.cut)


def favoured_colours(puzzle: Puzzle, border: int, inner: int) -> tuple[int, ...]:
    """The first set of `favoured_sets`: the one whose colours the fewest pieces carry."""
    return favoured_sets(puzzle, border, inner, 1)[0]


def favoured_sets(puzzle: Puzzle, border: int, inner: int, count: int) -> list[tuple[int, ...]]:
    """At most ``count`` sets of ``border`` border colours and ``inner`` inner colours to favour.

    Using the favoured colours up early leaves pieces with fewer colours. The fewer pieces carry them, the sooner they
    are gone; so sets are ordered by the number of pieces that carry any of their colours. If there are more sets than
    `MAX_COLOUR_SETS`, the colours of most pieces are left out. Inner colours may be more, see `inner_colour_count`.
    """
    carriers = [0] * (puzzle.colours + 1)  # by colour, a bit for each piece
    for piece, quad in enumerate(puzzle.pieces.tolist()):
        for colour in quad:
            carriers[colour] |= 1 << piece

    def pieces_with(colours: Iterable[int]) -> int:
        return reduce(or_, (carriers[colour] for colour in colours), 0)

    border_colours, inner_colours = (
        sorted(colours, key=lambda colour: carriers[colour].bit_count()) for colours in colour_classes(puzzle)
    )
    border = min(border, len(border_colours))
    inner = min(inner_colour_count(puzzle, inner, inner_colours), len(inner_colours))
    while comb(len(border_colours), border) * comb(len(inner_colours), inner) > MAX_COLOUR_SETS:
        more_choices = comb(len(border_colours), border) > comb(len(inner_colours), inner)
        (border_colours if more_choices else inner_colours).pop()
    border_parts, inner_parts = (
        [(pieces_with(colours), colours) for colours in combinations(sorted(among), size)]
        for among, size in ((border_colours, border), (inner_colours, inner))
    )
    sets = (
        ((border_pieces | inner_pieces).bit_count(), border_part + inner_part)
        for border_pieces, border_part in border_parts
        for inner_pieces, inner_part in inner_parts
    )
    return [colours for _, colours in nsmallest(count, sets)]


def inner_colour_count(puzzle: Puzzle, inner: int, colours: Collection[int]) -> int:
    """Number of inner ``colours`` to favour.

    It is ``inner``; on boards of more than `LARGE_BOARD` cells it grows in proportion to them, up to a quarter of the
    colours, and only while a prefix's gain can tell their half-edges from a break (`BREAK_COST`).
    """
    half_edges = int(np.isin(puzzle.pieces, list(colours)).sum())
    most = min(len(colours) // 4, BREAK_COST * len(colours) // max(1, half_edges) - 1)
    return max(inner, min(math.floor(inner * puzzle.cells / LARGE_BOARD + 0.5), most))


def colour_classes(puzzle: Puzzle) -> tuple[list[int], list[int]]:
    """(border colours, inner colours). Border colours occur only next to a grey side of a piece."""
    quads = puzzle.pieces
    beside_grey = (np.roll(quads, 1, axis=1) == GREY) | (np.roll(quads, -1, axis=1) == GREY)
    border, inner = (set(np.unique(quads[where & (quads != GREY)]).tolist()) for where in (beside_grey, ~beside_grey))
    return sorted(border - inner), sorted(inner)
