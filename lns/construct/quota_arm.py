"""The arms of the bandit: what the restarts under each quota have shown, and the rate of new boards to expect.

Estimates from few restarts are noisy, since a few frontier prefixes in a hundred lead to most of the boards. So the
rate of each arm is shrunk towards a prior that is derived from the other arms:

- From an arm with another quota scale in the same view: a scale that needs one more favoured half-edge is expected to
  have `RATE_PER_HALF_EDGE` times the rate, as fewer restarts lead anywhere, but those that do lead further. The factor
  is lower if hardly any prefix of the other arm would have passed the higher quota (`Evidence.surplus_factor`). For one
  half-edge less, the rate is divided by `RATE_PER_HALF_EDGE`, but fewer nodes are needed before the end of the quota.
- From the arm without a quota, which has prefixes even if no arm with a quota found any in short first restarts. These
  may have had bad luck, so such arms are tried again, with the prior of a quota of `MAX_EXTRA_HALF_EDGES`.
- From an arm with the same quota scale in another view: another view reaches other prefixes, or continues the same
  prefixes elsewhere. So an untried view starts at `OTHER_VIEW_DISCOUNT` times the rate that a tried view has while no
  prefixes repeat, and boards expected in the tried view count in the new view, times the same factor.
- From arms with other colours: untried colours start at a weighted mean of the rates of the tried colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lns.construct.candidates import MAX_BREAKS, FloatArray, Int64Array
from lns.construct.constructor import SURPLUS_BINS, Constructor
from lns.construct.kernel import KEY_SAMPLE_DIVISOR
from lns.construct.schedule import ChildMeans, Quota
from lns.engine import Saved

# Factor on the mean number of exact children that populations show in the eighth of the board after the quota's end.
# This number is too high there, since a population keeps only prefixes that happen to fit.
PRIOR_EXACT_FACTOR = 0.9
PRIOR_NODES = 100_000.0  # nodes at a depth that weigh as much as the prior of the mean number of children there
RATE_FACTOR_PER_EXTRA_BREAK = 0.25  # factor on an arm's rate of new boards for each of its extra breaks
RATE_PER_HALF_EDGE = 1.6  # factor on the prior of an arm's rate for each favoured half-edge more that its quota demands
PASSING_COST = 0.3  # factor on the nodes needed to get past a quota, for each favoured half-edge less that it demands
MAX_EXTRA_HALF_EDGES = 3.0  # the prior of an arm's rate rises for at most this many half-edges more
ENOUGH_SURPLUS = 0.05  # a higher quota has its full prior if at least this share of the known prefixes would pass it
SAME_SCALE_HALF_EDGES = 0.25  # quota scales that differ by fewer than this many half-edges count as equal
OTHER_VIEW_DISCOUNT = 0.8  # factor from the rate of a tried view to an untried view; weight of boards of other views
BEST_COLOURS_WEIGHT = 0.25  # weight of the best colour set in the prior of untried sets; other colour sets weigh 1
MAX_KEYS = 2**16  # most frontier keys kept by an island: half a megabyte in a checkpoint
_EXACT, _PARENTS, _BREAKING, _BREAKING_PARENTS = range(4)  # indexes of the rows of `QuotaArm.child_counts`

Keys = npt.NDArray[np.uint64]


@dataclass(eq=False)
class QuotaArm(Saved):
    """One quota configuration: view, favoured colours and quota scale, with all that was observed of it."""

    SAVED = (
        "node_equivalents", "restarts", "extra_breaks", "keys_seen", "keys_new", "child_counts", "prefixes_by_breaks",
        "surplus_counts",
    )  # fmt: skip
    view: int  # index of the view from which the board is filled (`QuotaBandit`)
    colour_set: int  # index of the set of favoured colours (`QuotaBandit`)
    scale_percent: float  # quota scale, in percent of the parameter ``construct.quota_scale``; 0 means no quota
    prior: ChildMeans  # mean number of children by depth, measured by populations before any search
    node_equivalents: float = 0.0  # cost of all ended restarts of the arm, with a minimum for each restart (`learn`)
    restarts: int = 0
    extra_breaks: int = 0  # number of trees searched completely; after each, the arm's restarts may have a break more
    keys_seen: float = 0.0  # weighted number of sampled frontier keys; weights halve at each later restart with keys
    keys_new: float = 0.0  # new keys among ``keys_seen``, weighted in the same way

    def __post_init__(self) -> None:
        # by depth: children without a break, their possible parents, children with a break, parents with a break left
        self.child_counts = np.zeros((4, len(self.prior.exact)))
        self.prefixes_by_breaks = np.zeros(MAX_BREAKS)  # by breaks spent: prefixes that reached the exact tail
        self.surplus_counts = np.zeros(SURPLUS_BINS)  # sum of `Constructor.surplus_counts` over the restarts

    @property
    def half_edges(self) -> float:
        """Number of favoured half-edges, not rounded, that a prefix must have used where the quota ends."""
        quota = self.prior.quota
        return max(quota.profile[-1:], default=0.0) * quota.scale  # the last number of a profile is its largest

    @property
    def novelty_rate(self) -> float:
        """Expected rate of new boards of the next restart, relative to the average of the restarts so far."""
        return (self.keys_new + 1) / (self.keys_seen + 1) * RATE_FACTOR_PER_EXTRA_BREAK**self.extra_breaks

    def learn(self, constructor: Constructor, new: int, seen: int) -> None:
        """Add the results of an ended restart; ``new`` of its ``seen`` sampled frontier keys were new."""
        schedule, cells = constructor.schedule, len(constructor.schedule.order)
        self.restarts += 1
        self.surplus_counts += constructor.surplus_counts
        self.prefixes_by_breaks += constructor.arrays.prefixes_by_breaks
        # with a minimum, as an arm with a small tree that costs hardly anything would be chosen again and again
        spent, least = constructor.statistics.node_equivalents, constructor.params.restart_nodes_without_prefix
        self.node_equivalents += max(spent, least)
        if constructor.exhausted:
            self.extra_breaks += 1
            self.keys_seen = self.keys_new = 0.0  # the next tree, with a break more, has other prefixes
        elif seen:
            self.keys_seen, self.keys_new = self.keys_seen / 2 + seen, self.keys_new / 2 + new
        if constructor.no_prefix_found:
            return  # the counts of a tree that dies early would be biased
        counts = constructor.prefix.child_counts.reshape(cells, 2, MAX_BREAKS).astype(np.float64)
        parents = np.zeros((cells, MAX_BREAKS))  # by depth and breaks spent: prefixes that end just before the depth
        parents[0, 0], parents[1:] = 1.0, counts[:-1].sum(axis=1)
        parents[schedule.cut :] = 0.0  # children within exact tails are not counted
        may_break = np.arange(MAX_BREAKS) < schedule.allowed[:, None]
        rows = counts[:, 0], parents, counts[:, 1], np.where(may_break, parents, 0.0)
        self.child_counts += [row.sum(1) for row in rows]

    @property
    def no_prefix_found(self) -> bool:
        """Whether no restart of the arm has reached an exact tail yet."""
        return not self.child_counts.any()

    @property
    def share_before_quota_end(self) -> float:
        """Share of the arm's cost without the nodes after the end of the quota; 0 until an exact tail is reached."""
        if self.no_prefix_found or not self.node_equivalents:
            return 0.0
        nodes_by_depth = self.child_counts[_EXACT] + self.child_counts[_BREAKING]
        behind = nodes_by_depth[self.prior.quota.end(len(self.prior.exact)) :].sum()
        return float(max(0.0, 1 - behind / self.node_equivalents))

    def shrunk_estimate(self) -> ChildMeans:
        """Return the mean number of children by depth: the observed means, shrunk towards the prior."""
        exact, quota, cells = self.prior.exact.copy(), self.prior.quota, len(self.prior.exact)
        if quota != Quota():
            exact[quota.end(cells) : quota.end(cells) + cells // 8] *= PRIOR_EXACT_FACTOR
        counts = self.child_counts
        exact = (counts[_EXACT] + PRIOR_NODES * exact) / (counts[_PARENTS] + PRIOR_NODES)
        breaking = (counts[_BREAKING] + PRIOR_NODES * self.prior.breaking) / (counts[_BREAKING_PARENTS] + PRIOR_NODES)
        return ChildMeans(exact, breaking, quota)


class PrefixNovelty:
    """A sample of the keys of the frontier prefixes that an island has searched before.

    A frontier prefix goes up to the depth at which the endgame begins; its key is a hash of its pieces. Restarts that
    reach old prefixes make no new boards. Only keys divisible by ``divisor``, a power of two, are kept. The divisor is
    doubled when keys get too many (adaptive sampling by M. Wegman: P. Flajolet, "On adaptive sampling", Computing 43,
    1990).
    """

    def __init__(self) -> None:
        self.keys: Keys = np.zeros(0, dtype=np.uint64)  # the keys kept, in ascending order
        self.divisor = KEY_SAMPLE_DIVISOR  # a power of two; exactly the keys divisible by it are kept

    def add(self, keys: Keys) -> tuple[int, int]:
        """Add those of ``keys`` that `divisor` divides; return (how many of these are new, how many are distinct)."""
        before, keys = len(self.keys), np.unique(self._sampled(keys))
        self.keys = np.union1d(self.keys, keys)
        new = len(self.keys) - before
        while len(self.keys) > MAX_KEYS:
            self.divisor *= 2
            self.keys = self._sampled(self.keys)
        return new, len(keys)

    def novelty(self, keys: Keys) -> float:
        """Return the share of ``keys`` that are new, of those that `divisor` divides; 1 if there are none."""
        keys = self._sampled(keys)
        new = np.searchsorted(self.keys, keys, "left") == np.searchsorted(self.keys, keys, "right")
        return float(new.mean()) if len(keys) else 1.0

    def _sampled(self, keys: Keys) -> Keys:
        sampled: Keys = keys[keys % np.uint64(self.divisor) == 0]
        return sampled

    def state(self) -> Keys:
        """Return an array of the divisor and the keys, uint64 (1 + keys,)."""
        return np.append(np.uint64(self.divisor), self.keys)

    def restore(self, state: Keys) -> None:
        """Continue from an array that `state` returned."""
        self.divisor, self.keys = int(state[0]), state[1:].copy()


class Evidence:
    """What was observed of some arms, and the rates of new boards per node equivalent that follow from it.

    ``boards``: number of boards to expect of the prefixes of each arm; ``cost``: node equivalents spent on each arm;
    both float64 (arms,); ``prior_weight``: node equivalents that weigh as much as the prior. In arrays with two axes,
    the arm of the first axis is evidence on the arm, or on the quota scale in percent, of the second axis.
    """

    def __init__(self, arms: Sequence[QuotaArm], boards: FloatArray, cost: FloatArray, prior_weight: float) -> None:
        self.arms, self.boards, self.cost, self.prior_weight = arms, boards, cost, prior_weight
        self._view, self._colours, self._scale, self._half_edges, self._before_quota_end = (
            np.array([getattr(arm, name) for arm in arms])[:, None]
            for name in ("view", "colour_set", "scale_percent", "half_edges", "share_before_quota_end")
        )

    def rates(self) -> tuple[FloatArray, float]:
        """Return the new boards to expect per node equivalent, for each arm's next restart and for untried colours.

        The rate for untried colours is a mean over the best arm of each tried colour set; the best one has less weight.
        """
        view, colours, scales = self._view[:, 0], self._colours[:, 0], self._scale[:, 0]
        with_quota, weight = scales > 0, self.prior_weight
        observed = self.boards / np.maximum(self.cost, weight)
        tried = dict.fromkeys(colours[with_quota].tolist())
        best_by_colours = [float(observed[with_quota & (colours == one)].max()) for one in tried]
        best_excess = (1 - BEST_COLOURS_WEIGHT) * max(best_by_colours, default=0.0)
        untried = (sum(best_by_colours) - best_excess) / max(1, len(best_by_colours))
        novelty = np.array([arm.novelty_rate for arm in self.arms])

        # whether an arm (first axis) informs another arm with a quota (second axis): if both favour the same colours
        informs = (self._colours == colours) & with_quota & ~np.eye(len(colours), dtype=bool)
        # prefixes under a higher quota scale are among those under a lower scale, so the same share is new under both
        is_higher = self._extra_half_edges(scales) > 0
        share = np.where(self._view != view, OTHER_VIEW_DISCOUNT, np.where(is_higher, novelty[:, None], 1.0))
        prior = np.where(informs, observed[:, None] * share * self.prior_factor(scales), 0.0).max(axis=0)
        prior[prior == 0] = untried
        prior = self.shrunk(prior, view, colours, scales)
        return novelty * (self.boards + prior * weight) / (self.cost + weight), untried

    def shrunk(
        self,
        prior: FloatArray | float,
        view: Int64Array | int,
        colour_set: Int64Array | int,
        scales: FloatArray | float,
    ) -> FloatArray:
        """Return the expected rates of arms, which may not exist yet, from their ``prior`` rates; float64 (arms,).

        Observations of the same quota scale and colours from other views count, discounted, as if made in ``view``.
        """
        same_scale = np.abs(self._extra_half_edges(scales)) < SAME_SCALE_HALF_EDGES
        related = same_scale & (self._view != view) & (self._colours == colour_set) & (np.asarray(scales) > 0)
        boards, cost, weight = self.boards @ related, self.cost @ related, self.prior_weight
        rate: FloatArray = (OTHER_VIEW_DISCOUNT * boards + prior * weight) / np.maximum(cost + weight, 1.0)
        return np.where(cost > 0, rate, prior)

    def prior_factor(self, scales: FloatArray | float) -> FloatArray:
        """Return the factor from each arm's rate to the prior of ``scales`` of its colours, float64 (arms, scales).

        The factor depends on the half-edges demanded, the known surpluses, and the nodes that a lower quota saves.
        """
        extra, before = self._extra_half_edges(scales), self._before_quota_end
        rate = RATE_PER_HALF_EDGE ** np.minimum(MAX_EXTRA_HALF_EDGES, extra)
        cheaper = PASSING_COST ** np.maximum(0.0, -extra)
        return np.asarray(rate * self.surplus_factor(scales) * (1 / (1 - before + before * cheaper)))

    def surplus_factor(self, scales: FloatArray | float) -> FloatArray:
        """Return a part of `prior_factor`: below 1 where hardly any known prefix would pass the quota of ``scales``.

        The known prefixes of an arm are those under its own quota scale and colours, from all views.
        """
        is_same = np.abs(self._extra_half_edges(self._scale[:, 0])) < SAME_SCALE_HALF_EDGES
        is_same &= self._colours == self._colours[:, 0]
        surplus: FloatArray = is_same.T @ np.array([arm.surplus_counts for arm in self.arms])
        more = np.clip(np.rint(self._extra_half_edges(scales)), 0, SURPLUS_BINS - 1).astype(np.int64)
        with_surplus = surplus[:, ::-1].cumsum(axis=1)[:, ::-1]  # prefixes with a surplus of at least 0, 1, ...
        share: FloatArray = (np.take_along_axis(with_surplus, more, axis=1) + 1) / (with_surplus[:, :1] + 1)
        return np.minimum(1.0, share / ENOUGH_SURPLUS)

    def _extra_half_edges(self, scales: FloatArray | float) -> FloatArray:
        """Return how many favoured half-edges more ``scales`` demand than each arm does, float64 (arms, scales).

        An arm without a quota counts as if it demanded `MAX_EXTRA_HALF_EDGES` fewer half-edges than any scale.
        """
        extra: FloatArray = self._half_edges * (scales / np.where(self._scale > 0, self._scale, 1.0) - 1)
        return np.where(self._scale > 0, extra, MAX_EXTRA_HALF_EDGES)
