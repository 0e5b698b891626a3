"""A multi-armed bandit over quota configurations: which one the next restart of the constructor searches.

An arm is one quota scale for one set of favoured colours, on the board as seen from one view. Pulling an arm means one
restart, which measures the mean number of children by depth; the next break schedule is derived from these means. The
prefixes of an arm, counted by breaks spent, and a sample of all exact tails, counted by mismatches, give the number of
boards to expect of the arm, long before it makes one.

The value of an arm is its expected rate of new boards per node (`lns.construct.quota_arm`). Scales are tried from the
top down in coarse steps until boards are to be expected. Then scales next to the best one are tried in smaller steps,
down to one favoured half-edge. Restarts pass over the trees that were searched (`lns.construct.kernel`); but a lower
scale also has the prefixes of the higher ones, so only new frontier prefixes count (`PrefixNovelty`). When new prefixes
get rare, a new arm is tried if its expected rate is higher: another view, a lower scale, or other colours.
docs/explanation/bandit.md says more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lns.construct import schedule as schedules
from lns.construct.candidates import BREAK_COST, FloatArray
from lns.construct.constructor import Constructor
from lns.construct.kernel import MISMATCH_BINS
from lns.construct.population import quota_profile
from lns.construct.quota_arm import OTHER_VIEW_DISCOUNT, Evidence, Keys, PrefixNovelty, QuotaArm
from lns.construct.schedule import BreakSchedule, ChildMeans, Quota, ScheduleForecast, quota_end
from lns.engine import State
from lns.instances.puzzle import Puzzle
from lns.instances.symmetry import IDENTITY_VIEW, View, puzzle_in_view
from lns.params import ConstructParams
from lns.rng import RandomState, generator

COARSE_SCALES = (100, 95, 90, 85, 80, 70, 0)  # quota scales in percent of `ConstructParams.quota_scale`, tried in turn
MAX_SCALE = 150  # largest quota scale in percent
MAX_GAP = 10  # in percent: no quota scale is tried between two scales that are further apart than this
SCALE_STEP = 0.5  # in percent: all quota scales are multiples of this
PRIOR_RESTARTS = 0.4  # a prior rate weighs as much as this many restarts plus PRIOR_SHARE of the cost of all arms
PRIOR_SHARE = 1 / 400  # share of the cost of all arms that adds to the weight of a prior rate, see PRIOR_RESTARTS
MIN_RESTART_SHARE = 1 / 8  # a restart is not abandoned before this share of `ConstructParams.restart_nodes`
ABANDON_RATIO = 0.6  # a restart is abandoned if its arm's rate is below this share of the best rate of its colours
COLOUR_SETS = 32  # most sets of favoured colours from which arms are made
MAX_ARMS = 256  # most arms: some scales and colour sets from eight views; bounds memory and the time to choose
MIN_TAILS = 10  # a probability is measured, not forecast, if at least this many sampled exact tails support it


class QuotaBandit:
    """All arms of an island, and the choice among them.

    ``views``: symmetries from which the board may be filled under a quota, all with rows of the same length; the first
    arm, and the arm without a quota, use the first view. ``random``: state of the engine's random generator.
    ``both_ends``: whether the band may be filled from both ends (`right_columns`).
    """

    def __init__(
        self,
        puzzle: Puzzle,
        params: ConstructParams,
        random: RandomState,
        views: Sequence[View] = (IDENTITY_VIEW,),
        *,
        both_ends: bool = True,
    ) -> None:
        self.puzzle, self.params, self.random, self.views = puzzle, params, random, tuple(views)
        self.order = schedules.cell_order(puzzle, params, schedules.right_columns(puzzle, params) if both_ends else 0)
        sets: list[tuple[int, ...]] = []
        if params.quota_scale > 0:
            sets = schedules.favoured_sets(puzzle, params.border_colours, params.inner_colours, COLOUR_SETS)
        # only colour sets with fewer half-edges than BREAK_COST, so that half-edges and breaks can be read off a gain
        self._colour_sets = [colours for colours in sets if 0 < np.isin(puzzle.pieces, colours).sum() < BREAK_COST]
        self.arms: list[QuotaArm] = []  # ordered by view, then colour set, then decreasing quota scale
        self.current = 0  # index of the arm that is being searched
        self.forecast: ScheduleForecast | None = None  # forecast from which the present break schedule is made
        self.tail_outcomes = np.zeros(MISMATCH_BINS + 1)  # sum of `ConstructorState.tail_outcomes` over the restarts
        self.frontier_keys = PrefixNovelty()

    def choose_schedule(self, mismatches: int) -> BreakSchedule:
        """Choose an arm for the next restart, and derive its break schedule for boards of ``mismatches`` mismatches.

        The schedule allows for ``schedule_slack`` and the arm's extra breaks more: a break too few leaves no board, one
        too many only costs nodes. While no arm has reached an exact tail, a forecast replaces ``mismatches``.
        """
        mismatches = max(0, mismatches)  # after a perfect board, the search is for other perfect boards
        self.current = self._choose_arm(mismatches)
        arm = self.arms[self.current]
        children = arm.shrunk_estimate()
        if all(arm.no_prefix_found for arm in self.arms):  # no arm shows yet which scores can be reached
            mismatches = schedules.initial_forecast(children, self.puzzle, self.params).mismatches
        wanted = min(mismatches + self.params.schedule_slack + arm.extra_breaks, self.puzzle.max_score)
        probabilities = self._tail_probabilities(self.tail_outcomes) if self.tail_outcomes.any() else None
        self.forecast = schedules.best_schedule(children, self.puzzle, self.params, wanted, probabilities)
        return self.schedule()

    def schedule(self) -> BreakSchedule:
        """Return the break schedule of the present arm and forecast."""
        assert self.forecast is not None
        arm = self.arms[self.current]
        schedule = schedules.break_schedule(arm.prior, self.forecast, self.puzzle, self.params, self.order)
        return replace(schedule, view=self.views[arm.view])

    def learn(self, constructor: Constructor) -> None:
        """Update the present arm with the results of the ended restart ``constructor``."""
        arm = self.arms[self.current]
        arm.learn(constructor, *self.frontier_keys.add(self._keys(constructor)))
        self.tail_outcomes += constructor.arrays.tail_outcomes

    def _keys(self, constructor: Constructor) -> Keys:
        """Return the sampled frontier keys of the present restart, as they are remembered."""
        # with a break more a frontier prefix has more continuations, so its key then depends on the extra breaks
        return constructor.frontier_keys ^ (np.uint64(self.arms[self.current].extra_breaks & 0xFFFF) << np.uint64(48))

    def should_end(self, constructor: Constructor, mismatches: int) -> bool:
        """Return whether to end the present restart, as another one is expected to have more boards per node.

        Until `Constructor.restart_due`, it ends if its arm's rate, with its own share of new prefixes, is far below the
        best of its colours; after that, if its own rate of late is not above every arm's. This is when to leave a place
        whose yield varies: E. L. Charnov, "Optimal foraging, the marginal value theorem" (1976).
        """
        arm, wanted, due = self.arms[self.current], max(0, mismatches), constructor.restart_due
        is_young = constructor.nodes < MIN_RESTART_SHARE * self.params.restart_nodes
        if constructor.no_prefix_found or constructor.exhausted or is_young or not (due or arm.scale_percent):
            return due
        new = self.frontier_keys.novelty(self._keys(constructor))
        if due:
            outcomes = self.tail_outcomes + constructor.arrays.tail_outcomes
            (boards,), cost = self._boards([constructor.recent[:-1]], outcomes, wanted), constructor.recent[-1]
            return bool(new * boards / cost <= self._evidence(wanted, constructor).rates()[0].max())
        # only arms of the same colours: arms of other colours say nothing about the present arm
        related = [i for i, other in enumerate(self.arms) if other.scale_percent and other.colour_set == arm.colour_set]
        rates, _ = self._evidence(wanted, constructor, related).rates()
        new *= (arm.keys_seen + 1) / (arm.keys_new + 1)  # against the share that is in the arm's rate
        return bool(new * rates[related.index(self.current)] < ABANDON_RATIO * rates.max())

    def quota(self, scale_percent: float, colour_set: int = 0, view: int = 0) -> Quota:
        """Return the quota of an arm with these properties; empty for a scale of 0 or a colour set that is missing."""
        if not scale_percent or colour_set >= len(self._colour_sets):
            return Quota()
        puzzle, colours = self.puzzle, self._colour_sets[colour_set]
        if puzzle.clues:  # without clues the profile is the same from every view
            puzzle = puzzle_in_view(puzzle, self.views[view])
        profile = quota_profile(puzzle, tuple(self.order.tolist()), colours, quota_end(puzzle.cells))
        return Quota(colours, profile, self.params.quota_scale).scaled(scale_percent / 100)

    @property
    def no_prefix_found(self) -> bool:
        """Whether all arms, including the one without a quota, were tried and none has reached an exact tail."""
        failed = all(arm.restarts and arm.no_prefix_found for arm in self.arms)
        return failed and any(arm.scale_percent == 0 for arm in self.arms)

    def _choose_arm(self, mismatches: int) -> int:
        """Return the index of the arm, old or new, with the highest expected rate of new boards.

        While no boards are expected: of a new arm with the next coarse scale or, after the last, of the cheapest arm.
        """
        if not self.arms:
            return self.add_arm(COARSE_SCALES[0] if self._colour_sets else 0)
        evidence = self._evidence(mismatches)
        if not evidence.boards.any():
            least = min(arm.scale_percent for arm in self.arms)
            lower = next((coarse for coarse in COARSE_SCALES if coarse < least), None)
            return int(evidence.cost.argmin()) if lower is None else self.add_arm(lower)
        rates, untried = evidence.rates()
        best = int(np.argmax(rates))
        return best if len(self.arms) >= MAX_ARMS else self._best_or_new(best, rates, untried, evidence)

    def _evidence(
        self, mismatches: int, constructor: Constructor | None = None, members: Sequence[int] | None = None
    ) -> Evidence:
        """Return the evidence on the arms of indexes ``members`` (None: all) and on the present restart, if given."""
        cost = np.array([arm.node_equivalents for arm in self.arms])
        if constructor is not None:
            cost[self.current] += constructor.statistics.node_equivalents
        boards = np.array(self.boards(mismatches, constructor))
        prior_weight = PRIOR_RESTARTS * self.params.restart_nodes + PRIOR_SHARE * cost.sum()
        chosen = list(range(len(self.arms)) if members is None else members)
        return Evidence([self.arms[i] for i in chosen], boards[chosen], cost[chosen], prior_weight)

    def _best_or_new(self, best: int, rates: FloatArray, untried: float, evidence: Evidence) -> int:
        """Return the index of the arm ``best``, or of a new arm with a higher expected rate.

        A new arm has a scale next to the best scale of some colours and view, or that best scale in another view, or
        colours that no arm favours. If no new arm is better and ``best`` has the lowest scale of the first colours and
        view, an arm with the next lower coarse scale is added, if there is one.
        """
        candidates: list[tuple[float, float, int, int]] = []  # new arms: (expected rate, scale, colour set, view)
        tried = {(arm.view, arm.colour_set) for arm in self.arms if arm.scale_percent}

        def add(prior: float, scale: float, colour_set: int, view: int) -> None:
            candidates.append((float(evidence.shrunk(prior, view, colour_set, scale)[0]), scale, colour_set, view))

        for view, colour_set in tried:
            members = self._arms_of(view, colour_set)
            top = max((i for i in members if self.arms[i].scale_percent), key=rates.__getitem__)
            arm, rate = self.arms[top], float(rates[top])
            if arm.no_prefix_found:
                continue
            # no higher scale after a tree was searched completely, as that tree contains the trees of all higher scales
            if (scale := self._scale_above(top, members)) is not None and not arm.extra_breaks:
                add(float(evidence.prior_factor(scale)[top, 0]) * rate, scale, colour_set, view)
            if arm.novelty_rate == 0:
                continue
            if (scale := self._scale_below(top, members)) is not None:
                add(float(evidence.prior_factor(scale)[top, 0]) * rate / arm.novelty_rate, scale, colour_set, view)
            other = next((i for i in range(len(self.views)) if (i, colour_set) not in tried), None)
            if other is not None:
                add(OTHER_VIEW_DISCOUNT * rate / arm.novelty_rate, arm.scale_percent, colour_set, other)
        unused = sorted(set(range(len(self._colour_sets))) - {arm.colour_set for arm in self.arms})
        if unused:
            candidates.append((untried, self.arms[best].scale_percent or COARSE_SCALES[0], -1, 0))
        most, scale, colour_set, view = max(candidates, default=(0.0, 0, 0, 0))
        if most <= rates[best]:
            # coarse scales only for the first colours and view: at the last scale, 0, neither colours nor view matter
            least = self.arms[best].scale_percent if best == self._arms_of(0, 0)[-1] else 0
            lower = next((coarse for coarse in COARSE_SCALES if coarse < least), None)
            return best if lower is None else self.add_arm(lower)
        if colour_set < 0:
            colour_set = unused[int(generator(self.random).integers(len(unused)))]
        return self.add_arm(scale, colour_set, view)

    def _arms_of(self, view: int, colour_set: int) -> list[int]:
        """Return the indexes of the arms of a view and a colour set, by falling quota scale."""
        return [i for i, arm in enumerate(self.arms) if (arm.view, arm.colour_set) == (view, colour_set)]

    def _scale_above(self, i: int, members: list[int]) -> float | None:
        """Return an untried quota scale between arm ``i`` and the next higher arm, or above the highest arm, or None.

        Between two arms the middle is taken, or a lower scale if few prefixes of arm ``i`` would pass the middle scale.
        ``members``: indexes of the arms of the same view and colours.
        """
        scale = self.arms[i].scale_percent
        if i == members[0]:
            above = (scale + 1 + SCALE_STEP * steps for steps in range(int(MAX_GAP / SCALE_STEP)))
            return next((higher for higher in above if higher <= MAX_SCALE and self._differs(higher, i)), None)
        none = np.zeros(len(self.arms))
        evidence = Evidence(self.arms, none, none, 1.0)
        found, higher = None, self.arms[i - 1].scale_percent
        while SCALE_STEP < higher - scale <= MAX_GAP and (found is None or evidence.surplus_factor(found)[i, 0] < 1):
            higher = scale + SCALE_STEP * math.ceil((higher - scale) / SCALE_STEP / 2)
            if not self._differs(higher, i, i - 1):
                break
            found = higher
        return found

    def _scale_below(self, i: int, members: list[int]) -> float | None:
        """Return the next untried quota scale below that of arm ``i``, or None if there is none."""
        is_lowest = i == members[-1]
        neighbours = (i,) if is_lowest else (i, i + 1)
        end = 0.0 if is_lowest else self.arms[i + 1].scale_percent
        below = (self.arms[i].scale_percent - SCALE_STEP * steps for steps in range(1, int(MAX_GAP / SCALE_STEP)))
        return next((lower for lower in below if lower > end and self._differs(lower, *neighbours)), None)

    def _differs(self, scale_percent: float, *neighbours: int) -> bool:
        """Return whether a scale demands another whole number of half-edges than each of the arms ``neighbours``."""
        cells, first = self.puzzle.cells, self.arms[neighbours[0]]
        half_edges = self.quota(scale_percent, first.colour_set, first.view).floor(cells).max()
        return all(half_edges != self.arms[i].prior.quota.floor(cells).max() for i in neighbours)

    def add_arm(self, scale_percent: float, colour_set: int = 0, view: int = 0) -> int:
        """Add an arm, measure its prior by populations, and return its index; the indexes of later arms grow by 1.

        If no population survives the arm's quota, the prior is measured under a lower quota.
        """
        puzzle, quota = puzzle_in_view(self.puzzle, self.views[view]), self.quota(scale_percent, colour_set, view)
        for share in (1.0, 0.95, 0.9, 0.8, 0.0):
            children = schedules.measure_children(
                puzzle, self.order, self.params.population, quota.scaled(share), self.random
            )
            if children is not None:
                break
        assert children is not None, "without a quota the measurement always has a result"
        arm = QuotaArm(view, colour_set, scale_percent, ChildMeans(children.exact, children.breaking, quota))
        self.arms = sorted([*self.arms, arm], key=lambda arm: (arm.view, arm.colour_set, -arm.scale_percent))
        return self.arms.index(arm)

    def boards(self, mismatches: int, constructor: Constructor | None = None) -> list[float]:
        """Return, for each arm, the number of boards of at most ``mismatches`` mismatches to expect of its prefixes.

        ``constructor``: the present restart, whose prefixes and tails are added, or None. The sampled exact tails of
        all arms are taken together, since most arms have too few of their own.
        """
        prefixes, outcomes = [arm.prefixes_by_breaks for arm in self.arms], self.tail_outcomes
        if constructor is not None:
            outcomes = outcomes + constructor.arrays.tail_outcomes
            prefixes[self.current] = prefixes[self.current] + constructor.arrays.prefixes_by_breaks
        return self._boards(prefixes, outcomes, mismatches)

    def _boards(self, prefixes: Sequence[FloatArray], outcomes: FloatArray, mismatches: int) -> list[float]:
        """Return the boards to expect of each array of prefixes by breaks, from the ``outcomes`` of sampled tails."""
        ends = self._tail_probabilities(outcomes)[np.minimum(np.arange(mismatches + 1), MISMATCH_BINS - 1)]
        return [float(np.convolve(by_breaks, ends)[mismatches]) for by_breaks in prefixes]

    def _tail_probabilities(self, outcomes: FloatArray) -> FloatArray:
        """Return, for each k, the probability that an exact tail has at most k mismatches; float64 (MISMATCH_BINS,).

        If fewer than `MIN_TAILS` of the sampled ``outcomes`` (see `ConstructorState`) have at most k mismatches, the
        ratio of the probabilities for k and k+1 is forecast, from the child counts of the arm with the most prefixes.
        The forecast takes cells as independent: its probabilities are far too high, but their ratios are realistic.
        """
        arm = max(self.arms, key=lambda arm: arm.prefixes_by_breaks.sum())
        children, cut = arm.shrunk_estimate(), schedules.tail_cut(self.puzzle, self.params)
        completions = schedules.expected_completions(children.exact[cut:], children.breaking[cut:], MISMATCH_BINS - 1)
        reached = np.cumsum(outcomes)
        probability: FloatArray = reached / max(1.0, reached[-1])
        probability[MISMATCH_BINS] = 1.0
        slope = completions / np.maximum(np.append(completions[1:], completions[-1]), np.finfo(float).tiny)
        for k in range(MISMATCH_BINS - 1, -1, -1):
            if reached[k] < MIN_TAILS:
                probability[k] = probability[k + 1] * slope[k]
        return probability[:MISMATCH_BINS]

    def state(self) -> State:
        """Return all that a bandit of the same puzzle and parameters needs to continue, once a schedule was chosen."""
        assert self.forecast is not None
        arms = {name: np.array([getattr(arm, name) for arm in self.arms]) for name in QuotaArm.SAVED}
        return arms | {
            "made": np.array([(arm.view, arm.colour_set, arm.scale_percent) for arm in self.arms]),
            "priors": np.array([(arm.prior.exact, arm.prior.breaking) for arm in self.arms]),
            "tail_outcomes": self.tail_outcomes.copy(),
            "unlock": self.forecast.unlock,
            "forecast": np.array([self.current, self.forecast.mismatches, self.forecast.rate]),
            "frontier_keys": self.frontier_keys.state(),
        }

    def restore(self, state: State) -> None:
        self.arms = []
        for i, (view, colour_set, scale) in enumerate(state["made"].tolist()):
            exact, breaking = state["priors"][i]
            prior = ChildMeans(exact, breaking, self.quota(scale, int(colour_set), int(view)))
            self.arms.append(QuotaArm(int(view), int(colour_set), scale, prior))
            self.arms[-1].restore({name: state[name][i] for name in QuotaArm.SAVED})
        current, mismatches, rate = state["forecast"].tolist()
        self.current = int(current)
        self.forecast = ScheduleForecast(int(mismatches), state["unlock"].astype(np.int64), rate)
        self.tail_outcomes[:] = state["tail_outcomes"]
        self.frontier_keys.restore(state["frontier_keys"].astype(np.uint64))
