"""The plan of a restart of the constructor (cell order, break schedule, quota), and how it is derived for a puzzle.

A *break schedule* is a list of unlock depths; from each of them on a prefix may have one break more than before. A
*quota* demands that a prefix has used up some half-edges of a few favoured colours by each depth (`quota_profile`).

Populations of prefixes, grown under a quota, give the mean number of children of a prefix by depth, without and with a
break (`measure_children`). For a number of mismatches, a coordinate search finds the break schedule with the most
expected boards per node (`best_schedule`). The first schedule of a run aims at the fewest mismatches for which at least
one board is forecast in ``horizon`` nodes.

The forecast is a Markov model of the search, an idea of Louis Verhaard. A state of the model is the depth of a prefix
with the number of its breaks. The mean numbers of children give the expected numbers of nodes and of full boards by
mismatches, up to a common factor; their ratio is the rate of boards per node. The model treats cells as independent.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, partial, reduce
from heapq import nsmallest
from itertools import combinations, product
from math import comb
from operator import or_

import numpy as np

from lns import node_equivalents
from lns.construct import candidates as packed
from lns.construct.candidates import FloatArray, Int64Array, build_tables, comb_order, is_from_right
from lns.construct.endgame_plan import MAX_ENDGAME_PIECES
from lns.construct.population import MAX_COUNTED_BREAKS, Reservoirs, grow_population, new_population
from lns.exact.kernels import allocate
from lns.exact.kernels.jit import kernel
from lns.instances.pairing import half_edges
from lns.instances.puzzle import IntArray, Puzzle
from lns.instances.symmetry import IDENTITY_VIEW, View
from lns.params import BeamParams, ConstructParams
from lns.rng import RandomState, generator

QUOTA_SHARE = 160 / 256  # share of the cells, from the first depth on, within which a quota holds
LARGE_BOARD = 256  # number of cells; on larger boards more inner colours are favoured
MAX_COLOUR_SETS = 300_000  # most sets of favoured colours compared, which takes a fraction of a second
SAMPLES = 8  # number of populations that are grown for one measurement of mean children
SMOOTHING_CELLS = 3  # mean children are averaged over this many cells of the same class before and after a cell
MIN_CHILDREN = 0.02  # least mean number of children: where no population had any, children are rare, not impossible
STEPS = (1, -1, 2, -2, 4, -4, 8, -8, 16, -16, 32, -32)  # changes of an unlock depth that `best_unlocks` tries
_TINY = 1e-300


def quota_end(cells: int) -> int:
    """Return the first depth of a board of ``cells`` cells at which no quota holds any more."""
    return round(cells * QUOTA_SHARE)


@dataclass(frozen=True)
class Quota:
    """The demand that a prefix uses up its favoured colours early. ``Quota()`` demands nothing."""

    favoured: tuple[int, ...] = ()
    profile: tuple[float, ...] = ()  # by depth: favoured half-edges that a prefix must have used at scale 1
    scale: float = 0.0  # factor by which ``profile`` is multiplied

    def scaled(self, factor: float) -> Quota:
        """Return this quota with its scale multiplied by ``factor``."""
        return Quota(self.favoured, self.profile, factor * self.scale) if factor * self.scale > 0 else Quota()

    def floor(self, cells: int) -> IntArray:
        """Return, by depth, how many favoured half-edges a prefix must have used once the depth is filled (int32)."""
        floor = np.zeros(cells, dtype=np.int32)
        end = self.end(cells)
        floor[:end] = np.floor(self.scale * np.array(self.profile[:end] or (0.0,)))
        return floor

    def end(self, cells: int) -> int:
        """Return the first depth at which the quota demands nothing and breaks are allowed; 1 without quota."""
        return quota_end(cells) if self.scale > 0 else 1


@dataclass(frozen=True)
class BreakSchedule:
    """The plan of one restart of the constructor: cell order, unlock depths, quota, cut and view."""

    order: IntArray  # int32 (cells,): cells in the order in which they are filled
    unlock: Int64Array  # int64 (breaks,): ascending depths from which on a prefix may have one break more
    quota_floor: IntArray  # int32 (cells,): by depth, favoured half-edges that a prefix must have used after filling it
    favoured: tuple[int, ...]  # favoured colours, whose half-edges the quota counts
    cut: int  # depth at which the exact tail begins
    endgame_from: int = 0  # the endgame does not begin before this depth, even where it could
    view: View = IDENTITY_VIEW  # symmetry from which the board is filled
    mismatches: int = 0  # most mismatches of a board for which the unlock depths are made

    @property
    def allowed(self) -> IntArray:
        """Most breaks that a prefix may have once each depth is filled; int32 (cells,)."""
        return np.searchsorted(self.unlock, np.arange(len(self.order)), side="right").astype(np.int32)

    @property
    def least_gain(self) -> Int64Array:
        """Least gain that a prefix must have, by depth: quota floor minus `BREAK_COST` for each break allowed."""
        return self.quota_floor.astype(np.int64) - packed.BREAK_COST * self.allowed.astype(np.int64)

    @property
    def endgame_depth(self) -> int:
        """Depth at which the endgame begins: with few free pieces, no quota left, and not before ``endgame_from``."""
        demand_end = int(np.flatnonzero(self.quota_floor > 0).max(initial=-1)) + 1
        return min(max(len(self.order) - MAX_ENDGAME_PIECES, demand_end, self.endgame_from), self.cut)


def favoured_colours(puzzle: Puzzle, border: int, inner: int) -> tuple[int, ...]:
    """Return the first set of `favoured_sets`, whose colours the fewest pieces carry."""
    return favoured_sets(puzzle, border, inner, 1)[0]


def favoured_sets(puzzle: Puzzle, border: int, inner: int, count: int) -> list[tuple[int, ...]]:
    """Return at most ``count`` sets of ``border`` border colours and ``inner`` inner colours to favour.

    If favoured colours are used up early, the pieces left have fewer colours. The fewer pieces carry a set's colours,
    the sooner these are used up; so sets are sorted by the number of pieces that carry any of their colours. If there
    are more sets than `MAX_COLOUR_SETS`, the colours on the most pieces are dropped. Above `LARGE_BOARD` cells, sets
    have more inner colours: up to a quarter of all inner colours, or until a set has about `BREAK_COST` half-edges.
    """
    carriers = [0] * (puzzle.colours + 1)  # by colour: set of the pieces that carry it, one bit for each piece
    for piece, quad in enumerate(puzzle.pieces.tolist()):
        for colour in quad:
            carriers[colour] |= 1 << piece

    def carried_by(colours: Iterable[int]) -> int:
        return reduce(or_, (carriers[colour] for colour in colours), 0).bit_count()

    border_colours, inner_colours = (
        sorted(colours, key=lambda colour: carried_by((colour,))) for colours in colour_classes(puzzle)
    )
    inner_half_edges = int(np.isin(puzzle.pieces, inner_colours).sum())
    most = min(len(inner_colours) // 4, packed.BREAK_COST * len(inner_colours) // max(1, inner_half_edges) - 1)
    inner = max(inner, min(math.floor(inner * puzzle.cells / LARGE_BOARD + 0.5), most))
    border, inner = min(border, len(border_colours)), min(inner, len(inner_colours))
    while comb(len(border_colours), border) * comb(len(inner_colours), inner) > MAX_COLOUR_SETS:
        more_choices = comb(len(border_colours), border) > comb(len(inner_colours), inner)
        (border_colours if more_choices else inner_colours).pop()
    parts = product(combinations(sorted(border_colours), border), combinations(sorted(inner_colours), inner))
    return nsmallest(count, (one + other for one, other in parts), key=lambda colours: (carried_by(colours), colours))


def colour_classes(puzzle: Puzzle) -> tuple[list[int], list[int]]:
    """Return the border colours, which occur only next to a grey side of a piece, and the inner colours."""
    along_rim, inside = half_edges(puzzle)
    return sorted(along_rim.keys() - inside.keys()), list(inside)


@dataclass(frozen=True)
class ChildMeans:
    """Mean number of children of a prefix, by depth."""

    exact: FloatArray  # float64 (cells,): mean number of children without a break
    breaking: FloatArray  # float64 (cells,): mean number of children with a break
    quota: Quota  # quota under which the prefixes were grown, or a higher one (`QuotaBandit.add_arm`)


@dataclass(frozen=True)
class ScheduleForecast:
    """The best break schedule for boards with a given number of mismatches, and its forecast rate of boards."""

    mismatches: int  # most mismatches of a board for which the schedule is made
    unlock: Int64Array  # int64 (breaks,): ascending unlock depths
    rate: float  # expected number, per node, of boards with at most ``mismatches`` mismatches


def cell_order(puzzle: Puzzle, params: ConstructParams, columns_from_right: int = 0) -> IntArray:
    """Return the comb order that ``params`` describe, int32 (cells,); the number of rows in the band is rounded up.

    ``columns_from_right``: see `comb_order`; if it is not 0, the corner size is 1 whatever ``params`` say.
    """
    skip, corner = params.column_major_skip, 1 if columns_from_right else params.corner_size
    return comb_order(puzzle.width, puzzle.height, _band_rows(puzzle, params), skip, corner, columns_from_right)


def _band_rows(puzzle: Puzzle, params: ConstructParams) -> int:
    return math.ceil(round(params.column_major_fraction * puzzle.height, 6))


def right_columns(puzzle: Puzzle, params: ConstructParams) -> int:
    """Return how many columns of the band to fill first, from the right (`comb_order`), because of a clue there.

    If these columns came last, hardly any prefix would pass the clue; if they come first, the prefixes that do not pass
    it cost few nodes. The result is 0 unless clues lie in both halves of the band, so that mirror images have a clue on
    the right, too; the band is in the endgame and after the end of the quota; the column filled last is in the exact
    tail; and the puzzle has no mates, with which a side seen from the right would have another colour.
    """
    rows = _band_rows(puzzle, params)
    band = (puzzle.height - rows) * puzzle.width  # depth at which the band begins
    columns = [clue.cell % puzzle.width for clue in puzzle.clues if clue.cell >= band]
    right = [column for column in columns if 2 * column >= puzzle.width]
    if not 0 < len(right) < len(columns) or puzzle.mates:
        return 0
    is_of_endgame = band >= max(puzzle.cells - MAX_ENDGAME_PIECES, quota_end(puzzle.cells))
    fits = is_of_endgame and rows <= params.tail and params.column_major_skip < min(right)
    return puzzle.width - min(right) if fits else 0


def tail_cut(puzzle: Puzzle, params: ConstructParams) -> int:
    """Return the depth at which the exact tail of the construction begins."""
    return max(0, puzzle.cells - params.tail)


def beam_tail_cut(puzzle: Puzzle, params: BeamParams) -> int:
    """Return the depth at which the exact tail of a beam begins; a tail is at most half of the board, rounded up."""
    return max(puzzle.cells - params.tail, puzzle.cells // 2)


def max_mismatches(puzzle: Puzzle, params: ConstructParams) -> int:
    """Return the most mismatches for which a schedule is made: the most breaks, and one for each cell of the tail."""
    return min(packed.MAX_BREAKS - 1 + puzzle.cells - tail_cut(puzzle, params), puzzle.max_score)


def measure_children(
    puzzle: Puzzle, order: IntArray, size: int, quota: Quota, random: RandomState
) -> ChildMeans | None:
    """Measure the mean number of children of a prefix by depth, with a few populations of ``size`` prefixes.

    ``order``: int32 (cells,), cells by depth. Returns None if no population survives the quota.
    """
    floor, cells = quota.floor(puzzle.cells), puzzle.cells
    tables = build_tables(puzzle, order, np.ones(cells, dtype=bool), quota.favoured, generator(random), cells)
    reservoirs = allocate(Reservoirs, {"ranks": MAX_COUNTED_BREAKS + 1, "capacity": size})
    samples = []
    for _ in range(SAMPLES):
        prefixes, children = (new_population(size, puzzle.width, puzzle.height) for _ in range(2))
        means = np.zeros((2, cells))
        reached = grow_population(tables, order, floor, prefixes, children, means, reservoirs, random)
        if reached == cells or quota == Quota():
            samples.append(means)
    if not samples:
        return None
    exact, breaking = (_smoothed(of_kind, tables.base) for of_kind in np.mean(samples, axis=0))
    return ChildMeans(exact, breaking, quota)


def _smoothed(children: FloatArray, cell_class: IntArray) -> FloatArray:
    """Return ``children``, by depth, as moving means over the nearest cells of the same cell class (inner, left, ...).

    The prefixes of a population share most of their pieces, so it is chance whether any of them has a child
    on a cell that few pieces fit.
    """
    smoothed = children.copy()
    for number in np.unique(cell_class):
        depths = np.flatnonzero(cell_class == number)
        for i, depth in enumerate(depths):
            near = depths[max(0, i - SMOOTHING_CELLS) : i + SMOOTHING_CELLS + 1]
            smoothed[depth] = max(MIN_CHILDREN, children[near].mean())
    return smoothed


def initial_forecast(children: ChildMeans, puzzle: Puzzle, params: ConstructParams) -> ScheduleForecast:
    """Return the forecast for the fewest mismatches that some schedule reaches once in ``params.horizon`` nodes.

    If none does, the forecast is for `max_mismatches`. The search by halving relies on rates that grow with mismatches.
    """
    most = max_mismatches(puzzle, params)
    forecast = cache(partial(best_schedule, children, puzzle, params))

    def is_reached(mismatches: int) -> bool:
        return mismatches == most or forecast(mismatches).rate * params.horizon >= 1

    low, high = 0, 0
    while not is_reached(high):
        low, high = high + 1, min(2 * high + 1, most)
    return forecast(bisect_left(range(most + 1), True, low, high, key=is_reached))


def best_schedule(
    children: ChildMeans,
    puzzle: Puzzle,
    params: ConstructParams,
    mismatches: int,
    tail_probabilities: FloatArray | None = None,
) -> ScheduleForecast:
    """Return the break schedule that is expected to make the most boards of at most ``mismatches`` mismatches per node.

    ``tail_probabilities``: float64 (MISMATCH_BINS,), for each k, probability that an exact tail has at most k
    mismatches. If None, the number of full boards after a prefix is forecast from ``children`` instead.
    """
    cut = tail_cut(puzzle, params)
    first = min(children.quota.end(puzzle.cells), cut)  # no break unlocks before the end of the quota
    most = min(mismatches, max_mismatches(puzzle, params))
    exact, breaking = children.exact, np.where(np.arange(puzzle.cells) < first, 0.0, children.breaking)
    breaks = min(mismatches, packed.MAX_BREAKS - 1)
    start = np.minimum(np.linspace(max(first, 0.3 * puzzle.cells), cut, breaks).astype(np.int64), cut)
    if tail_probabilities is None:
        finish = expected_completions(exact[cut:], breaking[cut:], most)
    else:
        finish = tail_probabilities[np.minimum(np.arange(most + 1), len(tail_probabilities) - 1)]
    unlock, rate = best_unlocks(exact[:cut], breaking[:cut], start, finish, node_equivalents.EXACT_TAIL)
    # no break is possible before ``first``, so earlier unlock depths become ``first``
    return ScheduleForecast(mismatches=mismatches, unlock=np.maximum(unlock[unlock < cut], first), rate=rate)


def expected_completions(exact: FloatArray, breaking: FloatArray, mismatches: int) -> FloatArray:
    """Return, for each k, how many completions of at most k mismatches to expect of a prefix, float64 (mismatches+1,).

    Any number of the remaining cells may break. ``exact``, ``breaking``: float64 (remaining cells,), mean number of
    children without and with a break at each of these cells; ``mismatches``: largest k.
    """
    boards = np.zeros(mismatches + 1)  # expected number of partial completions, by mismatches
    boards[0] = 1.0
    for exact_children, breaking_children in zip(exact, breaking, strict=True):
        boards[1:] = boards[1:] * exact_children + boards[:-1] * breaking_children
        boards[0] *= exact_children
    return np.asarray(np.cumsum(boards))


@kernel
def boards_per_node(
    exact: FloatArray, breaking: FloatArray, unlock: Int64Array, finish: FloatArray, tail_cost: float
) -> float:
    """Return the expected number, per node, of full boards with at most m mismatches.

    ``exact``, ``breaking``: float64 (cut,), mean number of children by depth, without and with a break; ``unlock``:
    int64 (breaks,), ascending depths from which on a prefix may have one break more; ``finish``: float64 (m + 1,), for
    each k, expected boards with at most k mismatches in the exact tail after one prefix; ``tail_cost``: cost of one
    exact tail in nodes.
    """
    cut, mismatches = len(exact), len(finish) - 1
    prefixes = np.zeros(mismatches + 1)  # expected number of prefixes up to the present depth, by breaks spent
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
        if total > 1e100:  # avoids overflow and keeps the ratio of boards to nodes
            prefixes /= total
            nodes /= total
    boards = (prefixes * finish[::-1]).sum()
    # if the cut is 0, the exact tail is the whole board and there are no nodes to divide by
    return float(boards / (nodes + prefixes.sum() * tail_cost) if cut else boards)


@kernel
def best_unlocks(
    exact: FloatArray, breaking: FloatArray, start: Int64Array, finish: FloatArray, tail_cost: float
) -> tuple[Int64Array, float]:
    """Return the unlock depths with the highest `boards_per_node`, by coordinate search from ``start``, and that rate.

    The depths ascend; a depth equal to the cut means that the break is never allowed.
    """
    cut = len(exact)
    best = start.copy()
    rate = boards_per_node(exact, breaking, best, finish, tail_cost)
    improved = True
    while improved:
        improved = False
        for j in range(len(best)):
            for step in STEPS:
                trial = best.copy()
                trial[j] = min(max(trial[j] + step, 1), cut)  # a break that unlocks at the cut is never allowed
                trial.sort()
                value = boards_per_node(exact, breaking, trial, finish, tail_cost)
                if value > rate * 1.0001:
                    best, rate, improved = trial, value, True
    return best, rate


def break_schedule(
    children: ChildMeans, forecast: ScheduleForecast, puzzle: Puzzle, params: ConstructParams, order: IntArray
) -> BreakSchedule:
    """Make the schedule that the constructor follows: ``forecast`` with cell order, quota, tail and endgame.

    Setting up an endgame is expensive. If all set-ups at the first depth possible would cost more than the search
    up to it, as where a rim column ends at that depth (10x25), the endgame begins at the later depth with the fewest
    prefixes; but not after the first break, because candidate lists with breaks are long, nor after the first cell
    filled from the right, because only the endgame can fill such cells.
    """
    quota, cut = children.quota, tail_cut(puzzle, params)
    schedule = BreakSchedule(
        order=order,
        unlock=np.maximum(forecast.unlock - params.break_shift, min(quota.end(puzzle.cells), cut)),
        quota_floor=quota.floor(puzzle.cells),
        favoured=quota.favoured,
        cut=cut,
        mismatches=forecast.mismatches,
    )
    from_right = np.flatnonzero(is_from_right(order, puzzle.width))
    first, first_break = schedule.endgame_depth, int(min((*schedule.unlock, *from_right), default=schedule.cut))
    # by depth, logarithm of the mean number of children; the running sums are logarithms of the expected prefixes
    log_children = np.log(children.exact, out=np.full(len(children.exact), -np.inf), where=children.exact > 0)
    prefixes = np.cumsum(log_children)
    setups = prefixes[first - 1] + math.log(node_equivalents.ENDGAME_SETUP)
    if first > 0 and first_break > first and setups > np.logaddexp.reduce(prefixes[:first]):
        first += int(prefixes[first - 1 : first_break].argmin())
    return replace(schedule, endgame_from=first)
