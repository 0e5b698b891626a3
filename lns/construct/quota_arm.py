"""One arm of the bandit: what the restarts under one quota have shown, and the boards to expect of its prefixes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lns.construct.candidates import MAX_BREAKS, FloatArray
from lns.construct.constructor import SURPLUS_BINS, Constructor
from lns.construct.kernel import MISMATCH_BINS
from lns.construct.schedule import Quota
from lns.construct.schedule_search import ChildMeans

PRIOR_EXACT_FACTOR = 0.9  # on a prior's exact children in the eighth of the board behind the quota: there populations
# show too many, since only prefixes that happen to fit survive in them
PRIOR_NODES = 100_000.0  # nodes of search that weigh as much as the prior
MIN_TAILS = 10  # sampled tails that a probability needs
TINY = 1e-300  # avoids a division by 0
RATE_FACTOR_PER_EXTRA_BREAK = 0.25  # new boards per node of a tree with one break more, relative to the tree before
ALL, NEW = range(2)  # rows of `QuotaArm.prefixes_by_breaks`
_EXACT, _PARENTS, _BREAKING, _BREAKING_PARENTS = range(4)  # rows of `QuotaArm.child_counts`


@dataclass(eq=False)
class QuotaArm:
    """One quota configuration: view, favoured colours and quota scale, with all that was observed of it.

    Attributes
    ----------
    view : int
        Number of the view from which the board is filled.
    colour_set : int
        Number of the set of favoured colours.
    scale_percent : float
        Quota scale, in percent of the parameter ``construct.quota_scale``; 0 means no quota.
    prior : ChildMeans
        Mean children by depth, measured by populations before any search.
    node_equivalents : float
        What all restarts of the arm cost.
    restarts : int
        Restarts so far.
    extra_breaks : int
        Trees that were searched completely; each allows one break more from then on.
    keys_seen, keys_new : float
        Sampled frontier prefixes, and those that were new; the weight of a restart halves with each one after it.
    child_counts : float64 (4, cells)
        By depth: exact children, nodes that could have them, breaking children, nodes that had a break left.
    prefixes_by_breaks : float64 (2, MAX_BREAKS)
        Prefixes that reached the exact tail, by breaks spent: row ALL all of them, row NEW those behind new frontier
        prefixes.
    surplus_counts : float64 (SURPLUS_BINS,)
        A sample of the prefixes that got past the quota, by the favoured half-edges used beyond those it demands.
    """

    view: int
    colour_set: int
    scale_percent: float
    prior: ChildMeans
    node_equivalents: float = 0.0
    restarts: int = 0
    extra_breaks: int = 0
    keys_seen: float = 0.0
    keys_new: float = 0.0
    child_counts: FloatArray = field(init=False)
    prefixes_by_breaks: FloatArray = field(init=False)
    surplus_counts: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.child_counts = np.zeros((4, len(self.prior.exact)))
        self.prefixes_by_breaks = np.zeros((2, MAX_BREAKS))
        self.surplus_counts = np.zeros(SURPLUS_BINS)

    @property
    def half_edges(self) -> float:
        """Favoured half-edges that a prefix must have used where the quota ends."""
        quota = self.prior.quota
        return max(quota.profile[-1:], default=0.0) * quota.scale  # a profile never falls

    @property
    def novelty_rate(self) -> float:
        """Expected new boards per node of the next restart, relative to the average of the restarts so far.

        The share of frontier prefixes that were new of late, times a factor for each complete tree.
        """
        return _new_share(self.keys_new, self.keys_seen) * RATE_FACTOR_PER_EXTRA_BREAK**self.extra_breaks

    def learn(self, constructor: Constructor, new: int, seen: int) -> None:
        """Add the restart that ``constructor`` has ended; ``new`` of its ``seen`` sampled frontier keys were new."""
        schedule, cells = constructor.schedule, len(constructor.schedule.order)
        self.restarts += 1
        self.surplus_counts += constructor.surplus_counts
        self.prefixes_by_breaks[ALL] += constructor.prefixes_by_breaks
        fresh, before = new_prefixes_by_breaks(constructor, new, seen), self.prefixes_by_breaks[NEW]
        # a tree with more breaks contains all trees before it
        self.prefixes_by_breaks[NEW] = np.maximum(before, fresh) if constructor.exhausted else before + fresh
        # the minimum keeps small trees that are searched completely from being chosen again and again
        self.node_equivalents += max(
            constructor.node_equivalents_since_restart, constructor.params.restart_nodes_without_prefix
        )
        if constructor.exhausted:
            self.extra_breaks += 1
            self.keys_seen = self.keys_new = 0.0  # the tree with one break more has other prefixes
        elif seen:
            self.keys_seen, self.keys_new = self.keys_seen / 2 + seen, self.keys_new / 2 + new
        if constructor.no_prefix_found:
            return  # counts of a subtree that dies early are biased
        counts = constructor.prefix.child_counts.reshape(cells, 2, MAX_BREAKS).astype(np.float64)
        exact, breaking = counts[:, 0], counts[:, 1]
        parents = np.zeros((cells, MAX_BREAKS))  # nodes before each depth, by breaks spent
        parents[0, 0] = 1.0
        parents[1:] = (exact + breaking)[:-1]
        parents[schedule.cut :] = 0.0  # the children of exact tails are not counted
        may_break = np.arange(MAX_BREAKS) < schedule.allowed[:, None]
        self.child_counts += [
            exact.sum(1),
            parents.sum(1),
            breaking.sum(1),
            np.where(may_break, parents, 0.0).sum(1),
        ]

    @property
    def no_prefix_found(self) -> bool:
        """Whether no restart has reached an exact tail yet."""
        return not self.child_counts.any()

    @property
    def share_before_quota_end(self) -> float:
        """Share of the cost in placements before the end of the quota; 0 before any prefix was found."""
        if self.no_prefix_found or not self.node_equivalents:
            return 0.0
        nodes_by_depth = self.child_counts[_EXACT] + self.child_counts[_BREAKING]
        behind = nodes_by_depth[self.prior.quota.end(len(self.prior.exact)) :].sum()
        return float(max(0.0, 1 - behind / self.node_equivalents))

    def shrunk_estimate(self) -> ChildMeans:
        """Mean children by depth: the observed means, shrunk towards the prior."""
        exact, quota, cells = self.prior.exact.copy(), self.prior.quota, len(self.prior.exact)
        if quota != Quota():
            exact[quota.end(cells) : quota.end(cells) + cells // 8] *= PRIOR_EXACT_FACTOR
        counts = self.child_counts
        exact = (counts[_EXACT] + PRIOR_NODES * exact) / (counts[_PARENTS] + PRIOR_NODES)
        breaking = (counts[_BREAKING] + PRIOR_NODES * self.prior.breaking) / (counts[_BREAKING_PARENTS] + PRIOR_NODES)
        return ChildMeans(exact, breaking, quota)


def _new_share(new: float, seen: float) -> float:
    """Share of frontier prefixes that are new; a restart without any sampled key counts as all new."""
    return (new + 1) / (seen + 1)


def new_prefixes_by_breaks(constructor: Constructor, new: int, seen: int) -> FloatArray:
    """Prefixes of the present restart behind new frontier prefixes, by breaks spent; float64 (MAX_BREAKS,).

    Estimated by the share ``new`` / ``seen`` of its sampled frontier keys.
    """
    return constructor.prefixes_by_breaks.astype(np.float64) * _new_share(new, seen)


def expected_boards(prefixes_by_breaks: FloatArray, probabilities: FloatArray, most: int) -> FloatArray:
    """Expected number of boards with at most 0, 1, ..., ``most`` mismatches; float64 (most + 1,).

    Parameters
    ----------
    prefixes_by_breaks : float64 (MAX_BREAKS,)
        Prefixes that reached the exact tail, by breaks spent.
    probabilities : float64 (MISMATCH_BINS,)
        See `tail_probabilities`.
    most : int
        Largest number of mismatches of interest.
    """
    ends: FloatArray = probabilities[np.minimum(np.arange(most + 1), MISMATCH_BINS - 1)]
    return np.convolve(prefixes_by_breaks, ends)[: most + 1]


def tail_probabilities(outcomes: FloatArray, completions: FloatArray) -> FloatArray:
    """Probability that an exact tail ends with at most k mismatches; float64 (MISMATCH_BINS,).

    Where fewer than `MIN_TAILS` sampled tails ended with k or fewer, the probability is extrapolated: it falls from k+1
    to k by the factor by which ``completions`` falls. The level of that forecast is far too high, since it takes cells
    for independent, but its slope agrees with the probabilities that can be measured.

    Parameters
    ----------
    outcomes : float64 (MISMATCH_BINS + 1,)
        Sampled tails by their fewest mismatches; the last entry counts those without a result.
    completions : float64 (MISMATCH_BINS,)
        The forecast, see `lns.construct.schedule_search.expected_completions`.
    """
    reached = np.cumsum(outcomes)
    probability: FloatArray = reached / max(1.0, reached[-1])
    probability[MISMATCH_BINS] = 1.0
    slope = completions[:MISMATCH_BINS] / np.maximum(
        np.append(completions[1:MISMATCH_BINS], completions[MISMATCH_BINS - 1]), TINY
    )
    for k in range(MISMATCH_BINS - 1, -1, -1):
        if reached[k] < MIN_TAILS:
            probability[k] = probability[k + 1] * slope[k]
    return probability[:MISMATCH_BINS]
