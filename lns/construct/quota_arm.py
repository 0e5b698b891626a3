"""One arm: what the shuffles of one quota have taught, and what boards are to be expected of its prefixes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lns.construct.constructor import Constructor
from lns.construct.kernel import MISMATCH_BINS
from lns.construct.packed_candidate import MAX_BREAKS
from lns.construct.schedule import Quota
from lns.construct.schedule_search import ChildMeans

Floats = npt.NDArray[np.float64]

SHY = 0.9  # share of a population's exact children that a search has, in the eighth of the board behind the quota: what
# lives on in a population fits there by luck
FEW = 10  # ends that tell a chance
LEAST = 1e-300  # to divide by
PRIOR = 100_000.0  # nodes that the population's word is worth
LOOSER = 0.25  # boards a node of a tree with one break more, in those of the tree that was searched whole
ALL, NEW = range(2)
_EXACT, _PARENTS, _BREAKING, _ROOM = range(4)


@dataclass(eq=False)
class QuotaArm:
    """What is known of one quota. ``colour_set``: number of the set of favoured colours. ``percent``: the height.
    ``view``: number of the side from which the board is seen.

    ``fit``: what the populations say. ``census``: float64 (4, cells) by depth: exact children met, nodes that could
    have them, breaking children, nodes that had a break left. ``spent``: float64 (2, MAX_BREAKS) prefixes by breaks
    spent, ALL and those that came of NEW stems. ``work``: nodes. ``slack``: trees that were searched
    whole, each a reason to allow one mismatch more. ``met``, ``new``: sampled frontier prefixes, and those of them that
    were new; each restart counts
    twice as much as the one before.
    """

    view: int
    colour_set: int
    scale_percent: float
    prior: ChildMeans
    child_counts: Floats
    prefixes_by_breaks: Floats
    node_equivalents: float = 0.0
    restarts: int = 0
    extra_breaks: int = 0
    keys_seen: float = 0.0
    keys_new: float = 0.0

    @staticmethod
    def begin(view: int, colour_set: int, percent: float, fit: ChildMeans) -> QuotaArm:
        cells = len(fit.exact)
        return QuotaArm(view, colour_set, percent, fit, np.zeros((4, cells)), np.zeros((2, MAX_BREAKS)))

    @property
    def half_edges(self) -> float:
        """Favoured half-edges that it asks for where its quota ends."""
        quota = self.prior.quota
        return max(quota.profile[-1:], default=0.0) * quota.scale  # a profile never falls

    @property
    def novelty_rate(self) -> float:
        """What another shuffle is expected to be worth, in what those so far were worth."""
        return _share(self.keys_new, self.keys_seen) * LOOSER**self.extra_breaks

    def learn(self, built: Constructor, new: int, met: int) -> None:
        """Add the shuffle that ``built`` has just searched; of ``met`` sampled stems ``new`` were new."""
        schedule, cells = built.schedule, len(built.schedule.order)
        self.restarts += 1
        self.prefixes_by_breaks[ALL] += built.prefixes_by_breaks
        fresh = new_prefixes(built, new, met)
        # a looser tree holds all of those before it
        self.prefixes_by_breaks[NEW] = (
            np.maximum(self.prefixes_by_breaks[NEW], fresh) if built.exhausted else self.prefixes_by_breaks[NEW] + fresh
        )
        # a tree that is soon searched whole is no reason to search it again and again
        self.node_equivalents += max(built.node_equivalents_since_restart, built.params.restart_nodes_without_prefix)
        if built.exhausted:
            self.extra_breaks += 1
            self.keys_seen = self.keys_new = 0.0  # a looser tree is another one
        elif met:
            self.keys_seen, self.keys_new = self.keys_seen / 2 + met, self.keys_new / 2 + new
        if built.no_prefix_found:
            return  # a subtree that dies early says little of those that live
        counted = built.prefix.child_counts.reshape(cells, 2, MAX_BREAKS).astype(np.float64)
        exact, breaking = counted[:, 0], counted[:, 1]
        parents = np.zeros((cells, MAX_BREAKS))  # nodes that stood before each depth, by breaks spent
        parents[0, 0] = 1.0
        parents[1:] = (exact + breaking)[:-1]
        parents[schedule.cut :] = 0.0  # their children are the tail's, which are not counted
        room = np.arange(MAX_BREAKS) < schedule.allowed[:, None]
        self.child_counts += [exact.sum(1), parents.sum(1), breaking.sum(1), np.where(room, parents, 0.0).sum(1)]

    @property
    def no_prefix_found(self) -> bool:
        """Whether no prefix came of it yet."""
        return not self.child_counts.any()

    def shrunk_estimate(self) -> ChildMeans:
        """The fit with everything that was met since."""
        exact, quota, cells = self.prior.exact.copy(), self.prior.quota, len(self.prior.exact)
        if quota != Quota():
            exact[quota.end(cells) : quota.end(cells) + cells // 8] *= SHY
        exact = (self.child_counts[_EXACT] + PRIOR * exact) / (self.child_counts[_PARENTS] + PRIOR)
        breaking = (self.child_counts[_BREAKING] + PRIOR * self.prior.breaking) / (self.child_counts[_ROOM] + PRIOR)
        return ChildMeans(exact, breaking, quota)


def _share(new: float, met: float) -> float:
    """Of stems that are new; one that was not sampled is taken for new."""
    return (new + 1) / (met + 1)


def new_prefixes(built: Constructor, new: int, met: int) -> Floats:
    """Prefixes of a shuffle by breaks spent that came of new stems, (MAX_BREAKS,), if they came as those of old ones
    did."""
    return built.prefixes_by_breaks.astype(np.float64) * _share(new, met)


def expected_boards(spent: Floats, chance: Floats, most: int) -> Floats:
    """Boards of at most 0 to ``most`` mismatches to be expected of prefixes by breaks ``spent``, (most + 1,).

    ``chance``: see `chances`.
    """
    ends: Floats = chance[np.minimum(np.arange(most + 1), MISMATCH_BINS - 1)]
    return np.convolve(spent, ends)[: most + 1]


def chances(ends: Floats, finish: Floats) -> Floats:
    """Chance that an exact tail ends with at most k mismatches, (ENDS,), by sampled ``ends``.

    Where fewer than FEW ended so well they fall as ``finish`` does, the forecast of the same (`forecast.finishing`):
    its level is far too high, as it takes cells for independent, but it falls as those chances do that can be measured.
    """
    met = np.cumsum(ends)
    chance: Floats = met / max(1.0, met[-1])
    chance[MISMATCH_BINS] = 1.0
    falls = finish[:MISMATCH_BINS] / np.maximum(np.append(finish[1:MISMATCH_BINS], finish[MISMATCH_BINS - 1]), LEAST)
    for k in range(MISMATCH_BINS - 1, -1, -1):
        if met[k] < FEW:
            chance[k] = chance[k + 1] * falls[k]
    return chance[:MISMATCH_BINS]
