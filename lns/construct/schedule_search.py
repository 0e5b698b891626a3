"""From an instance to a schedule: measure how pieces fit, forecast what schedules are worth, take the best.

1. Under one quota populations of prefixes are grown (``probe``): mean exact and breaking children
   by depth.
2. Of all break schedules for a score the one with most boards a node (``forecast``) is taken.
3. The first score aimed at is the highest one that some schedule promises once in ``horizon`` nodes.

Which quota is searched when is for ``arms`` to say, by what searches find. Nothing here knows Eternity II; on its
pieces the rule finds, within a few cells, the schedule of the record holders.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from instances.puzzle import IntArray, Puzzle
from lns import node_equivalents
from lns.construct import candidate_tables, markov_model, population
from lns.construct.order import comb_order
from lns.construct.packed_candidate import MAX_BREAKS
from lns.construct.schedule import BreakSchedule, Quota
from lns.params import BeamParams, ConstructParams
from lns.rng import RandomState, generator

SAMPLES = 8
WINDOW = 3  # cells of one kind, before and behind, that a measurement is averaged over
LEAST = 0.02  # what no population has met is rare, not impossible


@dataclass(frozen=True)
class ChildMeans:
    """Mean children of a prefix by depth, float64 (cells,): exact and breaking ones, under ``quota``."""

    exact: npt.NDArray[np.float64]
    breaking: npt.NDArray[np.float64]
    quota: Quota


@dataclass(frozen=True)
class ScheduleForecast:
    """The best schedule for one score: ``unlock`` depths, and the full boards of that score it promises per node."""

    mismatches: int
    unlock: npt.NDArray[np.int64]
    rate: float


def cell_order(puzzle: Puzzle, params: ConstructParams) -> IntArray:
    """The comb order of ``params``. A begun row belongs to the band whole."""
    rows = math.ceil(round(params.column_major_fraction * puzzle.height, 6))
    return comb_order(puzzle.width, puzzle.height, rows, params.column_major_skip, params.corner_size)


def tail_cut(puzzle: Puzzle, params: ConstructParams) -> int:
    """Depth where the exact tail begins."""
    return max(0, puzzle.cells - params.tail)


def beam_tail_cut(puzzle: Puzzle, params: BeamParams) -> int:
    """The same for a beam, whose exact tail is never more than half of the board."""
    return max(puzzle.cells - params.tail, puzzle.cells // 2)


def max_mismatches(puzzle: Puzzle, params: ConstructParams) -> int:
    """That a schedule can spend: its breaks, and one in each cell of the exact tail."""
    return min(MAX_BREAKS - 1 + puzzle.cells - tail_cut(puzzle, params), puzzle.max_score)


def measure_children(puzzle: Puzzle, params: ConstructParams, quota: Quota, random: RandomState) -> ChildMeans | None:
    """Mean children by depth from a few populations; None when every one of them starves under this quota."""
    order = cell_order(puzzle, params)
    floor = quota.floor(puzzle.cells)
    cells, size = puzzle.cells, params.population
    everywhere = np.ones(cells, dtype=bool)
    room = population.new_reservoirs(size)
    made = candidate_tables.build_tables(puzzle, order, everywhere, quota.favoured, generator(random), cells)
    tallies = []
    for _ in range(SAMPLES):
        now, after = (population.new_population(size, puzzle.width, puzzle.height) for _ in range(2))
        tally = population.MeanChildren(*(np.zeros(cells) for _ in range(2)))
        reached = population.grow_population(made, order, floor, now, after, tally, room, random)
        if reached == cells or quota == Quota():
            tallies.append(tally)
    if not tallies:
        return None
    return ChildMeans(
        _smooth(np.mean([tally.exact for tally in tallies], axis=0), made.base),
        _smooth(np.mean([tally.breaking for tally in tallies], axis=0), made.base),
        quota,
    )


def _smooth(children: npt.NDArray[np.float64], kind: IntArray) -> npt.NDArray[np.float64]:
    """Moving means over cells of the same kind (inner, left edge, ...).

    The prefixes of one population share most of their pieces: whether a rare cell finds one is luck of the whole.
    """
    smooth = children.copy()
    for one in np.unique(kind):
        depths = np.flatnonzero(kind == one)
        for i, depth in enumerate(depths):
            smooth[depth] = max(LEAST, children[depths[max(0, i - WINDOW) : i + WINDOW + 1]].mean())
    return smooth


def initial_forecast(fit: ChildMeans, puzzle: Puzzle, params: ConstructParams) -> ScheduleForecast:
    """The fewest mismatches that some schedule reaches once in ``horizon`` nodes; by bisection, as rates only grow.

    As many as a schedule can spend, where none reaches any so often.
    """
    most = max_mismatches(puzzle, params)

    def reached(mismatches: int) -> ScheduleForecast | None:
        aim = best_schedule(fit, puzzle, params, mismatches)
        return aim if aim.rate * params.horizon >= 1 or mismatches == most else None

    low, high = -1, 0
    while (aim := reached(high)) is None:
        low, high = high, min(2 * high + 1, most)
    while high - low > 1:
        middle = (low + high) // 2
        found = reached(middle)
        if found is None:
            low = middle
        else:
            high, aim = middle, found
    return aim


def best_schedule(
    fit: ChildMeans,
    puzzle: Puzzle,
    params: ConstructParams,
    mismatches: int,
    chance: npt.NDArray[np.float64] | None = None,
) -> ScheduleForecast:
    """The break schedule with the most full boards of at most ``mismatches`` per node.

    ``chance``: that an exact tail ends with at most k mismatches; None: ``fit`` tells, and counts all boards of a tail.
    """
    cut = tail_cut(puzzle, params)
    spent = min(mismatches, max_mismatches(puzzle, params))
    breaks = min(mismatches, MAX_BREAKS - 1)
    first = _first_break(fit.quota, puzzle, params)
    breaking = np.where(np.arange(puzzle.cells) < first, 0.0, fit.breaking)
    start = np.linspace(max(first, 0.3 * puzzle.cells), cut, breaks).astype(np.int64)  # the search moves them anyway
    start = np.minimum(start, cut)
    if chance is None:
        finish = markov_model.expected_completions(fit.exact[cut:], breaking[cut:], spent)
    else:
        finish = chance[np.minimum(np.arange(spent + 1), len(chance) - 1)]
    unlock, rate = markov_model.best_unlocks(
        fit.exact[:cut], breaking[:cut], start, finish, node_equivalents.EXACT_TAIL
    )
    return ScheduleForecast(
        mismatches, np.maximum(unlock[unlock < cut], first), rate
    )  # before ``first`` the forecast sees none


def _first_break(quota: Quota, puzzle: Puzzle, params: ConstructParams) -> int:
    """The first depth at which a break may unlock."""
    return min(quota.end(puzzle.cells), tail_cut(puzzle, params))


def break_schedule(fit: ChildMeans, aim: ScheduleForecast, puzzle: Puzzle, params: ConstructParams) -> BreakSchedule:
    """The schedule that the constructor runs."""
    schedule = BreakSchedule(
        cell_order(puzzle, params),
        np.maximum(aim.unlock - params.break_shift, _first_break(fit.quota, puzzle, params)),
        fit.quota.floor(puzzle.cells),
        fit.quota.favoured,
        tail_cut(puzzle, params),
    )
    return replace(schedule, endgame_from=_endgame_from(fit, schedule))


def _endgame_from(fit: ChildMeans, schedule: BreakSchedule) -> int:
    """Where the endgame is begun behind few prefixes: some orders have most of theirs where it could begin first.

    That is so where a column of the rim ends there (10x25). Before the first break only, for lists with breaks are
    long.
    """
    least, first_break = schedule.endgame_depth, int(min(schedule.unlock, default=schedule.cut))
    prefixes = np.cumsum(np.log(fit.exact))  # logarithms of those expected, of so many cells and one more
    if least == 0 or prefixes[least - 1] + math.log(node_equivalents.ENDGAME_SETUP) <= np.logaddexp.reduce(
        prefixes[:least]
    ):
        return least
    return least + int(prefixes[least - 1 : first_break].argmin()) if first_break > least else least
