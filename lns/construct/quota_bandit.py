"""Which search to make next: quotas in play, what is known of each, and the breaks that knowledge asks for.

A arm is one height of the quota of some favoured colours, on the board as it is seen from one side. The higher it is
the better the prefixes, up to a height where hardly any is left; where that is depends on the instance, and no
population of prefixes tells it well. So each shuffle that is searched is also measured:

- children by depth, as met by the search itself; they take the place of the population's (``derive.measure``), and the
  break schedule is derived again from them;
- how many breaks its prefixes have spent, and with how many mismatches the exact tails of a sample of them end: how
many
  boards of the score asked for are to be expected of the arm in a node, long before it has made one.

The next shuffle goes to the arm with most such boards a node, as far as that can be told (`worth`). Heights are
tried from the top down in coarse steps until new boards are to be expected, then between the best and the one above it,
as long as they differ by a half-edge, for the best arm lies close below one that is barren.

A high quota leaves so few prefixes that shuffles meet the same ones again, on a small board at once, on a large one
within minutes. So a arm counts by what it met for the first time of late (`frontier_keys`), and where that gets
little, the
board is seen from another side, or a half-edge less is asked for, which leaves many more, or other colours are
favoured: what more is expected of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from instances.puzzle import Puzzle
from instances.symmetry import IDENTITY_VIEW, View, puzzle_in_view
from lns.construct.arm_value import ASIDE, Evidence, by_colours, by_side, change, tempered, worth
from lns.construct.constructor import Constructor
from lns.construct.kernel import MISMATCH_BINS
from lns.construct.markov_model import expected_completions
from lns.construct.novelty import Keys, PrefixNovelty
from lns.construct.packed_candidate import BREAK_COST, MAX_BREAKS
from lns.construct.quota_arm import ALL, NEW, Floats, QuotaArm, chances, expected_boards, new_prefixes
from lns.construct.quota_profile import quota_profile
from lns.construct.schedule import BreakSchedule, Quota, favoured_sets, quota_end
from lns.construct.schedule_search import (
    ChildMeans,
    ScheduleForecast,
    best_schedule,
    break_schedule,
    cell_order,
    initial_forecast,
    measure_children,
    tail_cut,
)
from lns.engine import MAX_SAVED_COUNTER, State
from lns.params import ConstructParams
from lns.rng import RandomState, generator
from lns_support.errors import InputError

COARSE = (100, 95, 90, 85, 80, 70, 0)  # tried one below the other, in percent of `ConstructParams.quota`
MOST_PERCENT = 150
WIDE = 10  # percent; in wider gaps no height is tried
FINE = 0.5  # percent: heights are multiples of it
TRUST = 0.4  # shuffles of a arm, after which what is told by others is half forgotten
TRUST_SHARE = 1 / 400  # of all work; as much more
BRIEF = 1 / 8  # of `ConstructParams.restart_nodes`: a shuffle of so many shows what its height is worth;
OUTDONE = 0.25  # it ends there, if that is less than this share of what another arm of the same colours is worth
COLOUR_SETS = 32  # from which other colours to favour are drawn
MAX_ARMS = 256  # two or three heights of some sets of colours from eight sides; memory, and time to choose
_NUMBERS = (
    "view",
    "colour_set",
    "scale_percent",
    "node_equivalents",
    "restarts",
    "extra_breaks",
    "keys_seen",
    "keys_new",
)  # of a saved arm


class QuotaBandit:
    """All arms of a run; ``now``: the one being searched, by ``aim``.

    ``views``: from where the board may be seen under a quota, with rows as long from all of them. What is begun while
    nothing is known, and without a quota, is seen from the first.
    """

    def __init__(
        self, puzzle: Puzzle, params: ConstructParams, random: RandomState, views: Sequence[View] = (IDENTITY_VIEW,)
    ) -> None:
        self.puzzle, self.params, self.random, self.views = puzzle, params, random, tuple(views)
        sets: list[tuple[int, ...]] = []
        if params.quota_scale > 0:
            sets = favoured_sets(puzzle, params.border_colours, params.inner_colours, COLOUR_SETS)
        # more favoured half-edges would look like breaks
        self._colour_sets = [colours for colours in sets if 0 < np.isin(puzzle.pieces, colours).sum() < BREAK_COST]
        self.arms: list[QuotaArm] = []  # those tried, view by view, set by set, from the highest down
        self.current = 0
        self.tail_outcomes = np.zeros(MISMATCH_BINS + 1)  # of the sampled prefixes of all arms: `kernel.construct`
        self.frontier_keys = PrefixNovelty()
        self.forecast: ScheduleForecast | None = None

    def choose_schedule(self, mismatches: int) -> BreakSchedule:
        """The schedule to search next for boards of at most ``mismatches``.

        Schedules that are too strict make no boards at all, those that are too loose only waste some work; hence the
        parameter ``schedule_slack``.
        """
        mismatches = max(0, mismatches)  # a run that goes on after a perfect board looks for more of them
        self.current = self._next(mismatches)
        arm = self.arms[self.current]
        known = arm.shrunk_estimate()
        if all(arm.no_prefix_found for arm in self.arms):  # no word yet of what can be reached
            mismatches = initial_forecast(known, self.puzzle, self.params).mismatches
        wanted = min(mismatches + self.params.schedule_slack + arm.extra_breaks, self.puzzle.max_score)
        chance = self._chances(self.tail_outcomes) if self.tail_outcomes.any() else None
        self.forecast = best_schedule(known, self.puzzle, self.params, wanted, chance)
        return self.schedule()

    def schedule(self) -> BreakSchedule:
        """That of the present arm and aim."""
        assert self.forecast is not None
        arm = self.arms[self.current]
        made = break_schedule(arm.prior, self.forecast, self.puzzle, self.params)
        return replace(made, view=self.views[arm.view])

    def learn(self, built: Constructor) -> None:
        """The present arm was searched by ``built``."""
        frontier_keys = self._frontier_keys_of(built)
        self.arms[self.current].learn(built, *self.frontier_keys.count(frontier_keys))
        self.frontier_keys.add(frontier_keys)
        self.tail_outcomes += built.tail_outcomes

    def should_abandon(self, built: Constructor, mismatches: int) -> bool:
        """Whether the present shuffle, by ``built``, shows by now that others of its colours are worth far more."""
        now = self.arms[self.current]
        ours = by_colours(self.arms).get(now.colour_set, []) if now.scale_percent else []
        if len(ours) < 2 or built.no_prefix_found or built.nodes_since_restart < BRIEF * self.params.restart_nodes:
            return False
        work = self._works()
        work[self.current] += built.node_equivalents_since_restart
        values, _ = worth(self._evidence(self.boards(max(0, mismatches), built), work))
        return bool(values[self.current] < OUTDONE * values[ours].max())

    def _frontier_keys_of(self, built: Constructor) -> Keys:
        """Those that the present shuffle met; in a looser tree more may come of a stem, so that it is another one."""
        slack = np.uint64(self.arms[self.current].extra_breaks & 0xFFFF)
        return built.frontier_keys ^ (slack << np.uint64(48))

    def quota(self, percent: float, colour_set: int = 0, view: int = 0) -> Quota:
        """That of a height for a set of favoured colours, from one side; none at all at 0."""
        if not percent or colour_set >= len(self._colour_sets):
            return Quota()
        puzzle, colours = self.puzzle, self._colour_sets[colour_set]
        if puzzle.clues:  # without them it asks for the same from all sides
            puzzle = puzzle_in_view(puzzle, self.views[view])
        asked = quota_profile(puzzle, cell_order(puzzle, self.params), colours, quota_end(puzzle.cells))
        return Quota(colours, asked, self.params.quota_scale).scaled(percent / 100)

    @property
    def nodes_before(self) -> int:
        """Nodes of all shuffles that favoured the colours of the present one, from the same side."""
        now = self.arms[self.current]
        return int(sum(one.node_equivalents for one in self.arms if _same_side(one, now)))

    @property
    def no_prefix_found(self) -> bool:
        """Whether no height led to a prefix, not even without a quota."""
        arms = self.arms
        return all(one.restarts and one.no_prefix_found for one in arms) and any(one.scale_percent == 0 for one in arms)

    # -- which arm ------------------------------------------------------------------------------------------------

    def _next(self, mismatches: int) -> int:
        """The arm that promises most new boards in a node, or a new one: until boards come, and around the best."""
        if not self.arms:
            return self._begin(COARSE[0] if self._colour_sets else 0)
        boards = self.boards(mismatches)
        if not any(boards):
            return self._without_boards()
        evidence = self._evidence(boards, self._works())
        values, others = worth(evidence)
        best = int(np.argmax(values))
        return best if len(self.arms) >= MAX_ARMS else self._something_new(best, values, others, evidence)

    def _without_boards(self) -> int:
        """The coarse height below all others; where there is none the arm with least work."""
        lower = _coarse_below(min(arm.scale_percent for arm in self.arms))
        if lower is not None:
            return self._begin(lower)
        return min(range(len(self.arms)), key=lambda i: self.arms[i].node_equivalents)

    def _evidence(self, boards: Sequence[float], work: Floats) -> Evidence:
        """What `worth` is told."""
        trust = TRUST * self.params.restart_nodes + TRUST_SHARE * work.sum()
        return Evidence(self.arms, np.array(boards), work, trust)

    def _something_new(self, best: int, values: Floats, others: float, evidence: Evidence) -> int:
        """What is expected to be worth more than the best: a height beside the best one of some colours, the same
        from another side, or ``others``.

        Otherwise the best, by ``values``, what the arms are worth. One height below the lowest is tried where that
        is the best: not all instances are alike.
        """
        new: list[tuple[float, float, int, int]] = []  # (worth, percent, set of colours, view)
        sides = by_side(self.arms)
        for (view, colour_set), ours in sides.items():
            top = max(ours, key=values.__getitem__)
            arm, value = self.arms[top], float(values[top])
            if arm.no_prefix_found:
                continue
            # a tree that was searched whole holds all of those above it
            if (percent := self._above(top)) is not None and not arm.extra_breaks:
                told = tempered(evidence, change(arm, percent) * value, view, colour_set, percent)
                new.append((told, percent, colour_set, view))
            if (percent := self._below(top)) is not None and arm.novelty_rate > 0:
                promised = change(arm, percent) * value / arm.novelty_rate
                told = tempered(evidence, promised, view, colour_set, percent)
                new.append((told, percent, colour_set, view))
            aside = next((other for other in range(len(self.views)) if (other, colour_set) not in sides), None)
            if aside is not None and arm.novelty_rate > 0:
                told = tempered(evidence, ASIDE * value / arm.novelty_rate, aside, colour_set, arm.scale_percent)
                new.append((told, arm.scale_percent, colour_set, aside))
        unused = self._unused_sets()
        if unused:
            new.append((others, self.arms[best].scale_percent or COARSE[0], -1, 0))
        most, percent, colour_set, view = max(new, default=(0.0, 0, 0, 0))
        if most <= values[best]:
            lower = self._lower(best)
            return best if lower is None else self._begin(lower)
        if colour_set < 0:
            colour_set = unused[int(generator(self.random).integers(len(unused)))]
        return self._begin(percent, colour_set, view)

    def _works(self) -> Floats:
        return np.array([arm.node_equivalents for arm in self.arms])

    def _unused_sets(self) -> list[int]:
        """Sets of colours that no arm favours yet."""
        return sorted(set(range(len(self._colour_sets))) - {arm.colour_set for arm in self.arms})

    def _is_higher(self, i: int, other: int) -> bool:
        """Whether arm ``i`` is above another one of the same colours, from the same side."""
        return i < other and _same_side(self.arms[i], self.arms[other])

    def _above(self, i: int) -> float | None:
        """A height that was not tried between that of course ``i`` and the one above it, if they are not far apart.

        Above the highest the next one.
        """
        here = self.arms[i].scale_percent
        if i == 0 or not self._is_higher(i - 1, i):
            above = (here + 1 + FINE * more for more in range(int(WIDE / FINE)))
            return next((percent for percent in above if percent <= MOST_PERCENT and self._asks_else(percent, i)), None)
        gap = self.arms[i - 1].scale_percent - here
        middle = here + FINE * math.ceil(gap / FINE / 2)
        return middle if FINE < gap <= WIDE and self._asks_else(middle, i, i - 1) else None

    def _below(self, i: int) -> float | None:
        """The height next below arm ``i`` that was not tried."""
        lowest = i == len(self.arms) - 1 or not self._is_higher(i, i + 1)
        near = (i,) if lowest else (i, i + 1)
        end = 0.0 if lowest else self.arms[i + 1].scale_percent
        below = (self.arms[i].scale_percent - FINE * less for less in range(1, int(WIDE / FINE)))
        return next((percent for percent in below if percent > end and self._asks_else(percent, *near)), None)

    def _asks_else(self, percent: float, *near: int) -> bool:
        """Whether a height asks for another number of half-edges, where the quota ends, than the arms ``near`` it.

        They favour the same colours, from the same side. Half-edges are whole: heights close to each other ask for
        nearly the same.
        """
        cells, one = self.puzzle.cells, self.arms[near[0]]
        asked = self.quota(percent, one.colour_set, one.view).floor(cells).max()
        return all(asked != self.arms[i].prior.quota.floor(cells).max() for i in near)

    def _lower(self, i: int) -> int | None:
        """The coarse height below arm ``i``, if it is the lowest of the first colours; at 0 all colours are one."""
        first = [arm.scale_percent for arm in self.arms if arm.view == arm.colour_set == 0]
        return _coarse_below(self.arms[i].scale_percent) if i == len(first) - 1 else None

    def _begin(self, percent: float, colour_set: int = 0, view: int = 0) -> int:
        """A new arm; where no population lives under its quota, one that does under a lower one speaks for it."""
        puzzle, quota = puzzle_in_view(self.puzzle, self.views[view]), self.quota(percent, colour_set, view)
        for share in (1.0, 0.95, 0.9, 0.8, 0.0):
            fit = measure_children(puzzle, self.params, quota.scaled(share), self.random)
            if fit is not None:
                break
        assert fit is not None, "without a quota some population always lives"
        arm = QuotaArm.begin(view, colour_set, percent, ChildMeans(fit.exact, fit.breaking, quota))
        self.arms = sorted([*self.arms, arm], key=lambda one: (one.view, one.colour_set, -one.scale_percent))
        return self.arms.index(arm)

    # -- what is to be expected --------------------------------------------------------------------------------------

    def boards(self, mismatches: int, built: Constructor | None = None) -> list[float]:
        """Boards of at most so many mismatches to be expected of every arm, of all its prefixes.

        With those of the present shuffle, if it is ``built``.

        The ends of all arms are taken together, though those of high ones are a little better: most have too few.
        """
        spent, ends = [arm.prefixes_by_breaks[ALL] for arm in self.arms], self.tail_outcomes
        if built is not None:
            ends = ends + built.tail_outcomes
            spent[self.current] = spent[self.current] + built.prefixes_by_breaks
        chance = self._chances(ends)
        return [float(expected_boards(one, chance, mismatches)[-1]) for one in spent]

    def expected_best_score(self, built: Constructor) -> float | None:
        """The best score to be expected of all shuffles, that of ``built`` included, by their new prefixes.

        It is the sum over all scores of the chance that a board of at least that score is made. None: no prefix yet.
        """
        ends = self.tail_outcomes + built.tail_outcomes
        if not ends.any():
            return None
        spent = new_prefixes(built, *self.frontier_keys.count(self._frontier_keys_of(built)))
        for arm in self.arms:
            spent += arm.prefixes_by_breaks[NEW]
        chance = self._chances(ends)
        return float(-np.expm1(-expected_boards(spent, chance, self.puzzle.max_score - 1)).sum())

    def _chances(self, ends: Floats) -> Floats:
        """Of the tails of all arms; what is not met by those of the arm with most prefixes."""
        known, cut = (
            max(self.arms, key=lambda one: one.prefixes_by_breaks[ALL].sum()).shrunk_estimate(),
            tail_cut(self.puzzle, self.params),
        )
        return chances(ends, expected_completions(known.exact[cut:], known.breaking[cut:], MISMATCH_BINS - 1))

    # -- state -------------------------------------------------------------------------------------------------------

    def state(self) -> State:
        state = empty_state(self.puzzle)
        if self.arms and self.forecast is not None:
            state["fits"] = np.array([[one.prior.exact, one.prior.breaking, *one.child_counts] for one in self.arms])
            state["spent"] = np.array([one.prefixes_by_breaks for one in self.arms])
            state["ends"] = self.tail_outcomes.copy()
            state["numbers"] = np.array([[float(getattr(one, name)) for name in _NUMBERS] for one in self.arms])
            state["unlock"] = self.forecast.unlock
            state["aim"] = np.array([self.current, self.forecast.mismatches, self.forecast.rate])
            state["frontier_keys"] = self.frontier_keys.state()
        return state

    def restore(self, state: State) -> None:
        """Go on from ``state``; raises InputError for numbers that no search of this puzzle can have."""
        fits, spent, ends, numbers, aim = (
            np.asarray(state[name], dtype=np.float64) for name in ("fits", "spent", "ends", "numbers", "aim")
        )
        unlock = np.asarray(state["unlock"], dtype=np.int64)
        if not 0 < len(fits) == len(spent) == len(numbers) or len(aim) != 3 or len(ends) != MISMATCH_BINS + 1:
            raise InputError("the saved arms are of other parameters")
        for values in (fits, spent, ends, numbers, aim):
            if not ((values >= 0) & (values <= MAX_SAVED_COUNTER)).all():
                raise InputError("the saved arms have numbers out of range")
        if (
            len(unlock) >= MAX_BREAKS
            or (unlock < 0).any()
            or (unlock > self.puzzle.cells).any()
            or (np.diff(unlock) < 0).any()
        ):
            raise InputError("the saved break schedule is of another puzzle")
        now, mismatches, rate = aim.tolist()
        if not (now < len(fits) and now == int(now) and mismatches <= self.puzzle.max_score):
            raise InputError("the saved aim is out of range")
        saved = [dict(zip(_NUMBERS, row, strict=True)) for row in numbers.tolist()]
        quotas = [(one["view"], one["colour_set"], -one["scale_percent"]) for one in saved]
        if quotas != sorted({(round(view), round(one), FINE * round(height / FINE)) for view, one, height in quotas}):
            raise InputError("the saved arms have no heights that go down")
        if len(quotas) > MAX_ARMS + len(COARSE):
            raise InputError("the saved arms are more than any search has")
        views, colours, heights = zip(*quotas, strict=True)
        if max(views) >= len(self.views) or max(colours) >= max(1, len(self._colour_sets)):
            raise InputError("the saved arms favour colours, or see the board from sides, that no search does")
        if min(heights) < -MOST_PERCENT:
            raise InputError("the saved arms have heights that no search has")
        if any(one["keys_new"] > one["keys_seen"] for one in saved):
            raise InputError("the saved arms met more stems that are new than they met")
        self.frontier_keys.restore(np.asarray(state["frontier_keys"]))
        self.arms = []
        for row, made, one in zip(fits, spent, saved, strict=True):
            view, colour_set, percent = int(one["view"]), int(one["colour_set"]), one["scale_percent"]
            fit = ChildMeans(row[0], row[1], self.quota(percent, colour_set, view))
            arm = QuotaArm.begin(view, colour_set, percent, fit)
            arm.child_counts[:], arm.prefixes_by_breaks[:] = row[2:], made
            arm.restarts, arm.extra_breaks = int(one["restarts"]), int(one["extra_breaks"])
            arm.node_equivalents, arm.keys_seen, arm.keys_new = (
                one["node_equivalents"],
                one["keys_seen"],
                one["keys_new"],
            )
            self.arms.append(arm)
        self.tail_outcomes = ends.copy()
        self.current, self.forecast = int(now), ScheduleForecast(int(mismatches), unlock, rate)


def _same_side(one: QuotaArm, other: QuotaArm) -> bool:
    """Whether one of two arms searches what the other does, and more: the same colours, from the same side."""
    return (one.view, one.colour_set) == (other.view, other.colour_set)


def _coarse_below(percent: float) -> int | None:
    """The coarse height below a height."""
    return next((coarse for coarse in COARSE if coarse < percent), None)


def empty_state(puzzle: Puzzle) -> State:
    """What stands in a state before there are arms."""
    return {
        "fits": np.zeros((0, 6, puzzle.cells)),
        "spent": np.zeros((0, 2, MAX_BREAKS)),
        "ends": np.zeros(0),
        "numbers": np.zeros((0, len(_NUMBERS))),
        "unlock": np.zeros(0, dtype=np.int64),
        "aim": np.zeros(0),
        "frontier_keys": np.zeros(0, dtype=np.uint64),
    }
