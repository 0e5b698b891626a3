"""The value of each arm: its expected rate of new boards per node, from its own observations and those of other arms.

Estimates from few restarts are noisy, since a few frontier prefixes in a hundred lead to most of the boards. So the
rate of each arm is shrunk towards a prior that the other arms with the same colours give:

- Another quota scale, same view. A scale that needs one favoured half-edge more may have `RATE_PER_HALF_EDGE` times the
  rate, because fewer of its restarts lead anywhere but those lead further; less where hardly any prefix of this arm
  would have passed the other's quota (`surplus_counts`). One that needs a half-edge less has a rate that is lower by
  the same factor, but its prefixes cost less: `PASSING_COST` times the nodes before the end of the quota.
- No quota. It has prefixes where all scales found none in their first restarts. As these are short, they may have had
  no luck: each scale may still have the rate of `MAX_EXTRA_HALF_EDGES` half-edges more, and is tried again.
- The same quota scale, another view. Other prefixes are reached, or the same ones are continued elsewhere, so an
  untried view starts at `OTHER_VIEW_DISCOUNT` times the fresh rate of this one, and its boards count with that weight.
- Colours that were not tried start at a mean of the rates of those that were.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lns.construct.candidates import FloatArray
from lns.construct.constructor import SURPLUS_BINS
from lns.construct.quota_arm import QuotaArm

RATE_PER_HALF_EDGE = 1.6  # prior factor on the rate for each favoured half-edge more
PASSING_COST = 0.3  # factor on the nodes it takes to get past the quota, for each favoured half-edge less
MAX_EXTRA_HALF_EDGES = 1.2  # a prior assumes a gain for at most this many half-edges more
ENOUGH_SURPLUS = 0.05  # share of the prefixes under a quota that a higher one must let pass for its full prior
SAME_SCALE_HALF_EDGES = 0.25  # quota scales of two views that differ by fewer half-edges count as equal
OTHER_VIEW_DISCOUNT = 0.8  # prior rate of an untried view, and weight of boards seen from another view
BEST_COLOURS_WEIGHT = 0.25  # weight of the best colours in the prior of untried ones; that of the others is 1


class Evidence(NamedTuple):
    """What was observed of all arms."""

    arms: Sequence[QuotaArm]
    boards: FloatArray  # float64 (arms,): boards to expect of the prefixes of each arm
    cost: FloatArray  # float64 (arms,): node equivalents that these prefixes took
    prior_weight: float  # node equivalents that weigh as much as the prior


def arm_rates(evidence: Evidence) -> tuple[FloatArray, float]:
    """Expected new boards per node equivalent of the next restart.

    Returns
    -------
    rates : float64 (arms,)
        Rate of each arm.
    untried : float
        Prior rate of colours that were not tried: a mean over the colours that were, each at its best arm. The best
        colours weigh less, since they are the best of several.
    """
    arms, boards, cost, weight = evidence
    observed = boards / np.maximum(cost, weight)
    best_by_colours = [float(observed[members].max()) for members in arms_by_colours(arms).values()]
    best_excess = (1 - BEST_COLOURS_WEIGHT) * max(best_by_colours, default=0.0)
    untried = (sum(best_by_colours) - best_excess) / max(1, len(best_by_colours))
    novelty = np.array([arm.novelty_rate for arm in arms])
    view, colours = (np.array([getattr(arm, name) for arm in arms]) for name in ("view", "colour_set"))
    half_edges, scale = _half_edges_and_scale(arms)

    # [i, j]: arm i informs arm j, which has a quota, if both favour the same colours
    informs = (colours[:, None] == colours) & (scale > 0)
    np.fill_diagonal(informs, False)
    other_view = view[:, None] != view
    extra = _extra_half_edges(half_edges[:, None], scale[:, None], scale)
    # prefixes under a higher scale are among those under a lower one, so as much of them is old; another view is fresh
    share = np.where(other_view, OTHER_VIEW_DISCOUNT, np.where(extra > 0, novelty[:, None], 1.0))
    factor = _rate_factor(extra) * _surplus_factor(surplus_counts(arms), extra) * _cost_factor(arms, extra)
    prior = np.where(informs, observed[:, None] * share * factor, 0.0).max(axis=0)
    prior[prior == 0] = untried
    same_scale = informs & other_view & (np.abs(extra) < SAME_SCALE_HALF_EDGES)
    prior = _shrunk(prior, boards @ same_scale, cost @ same_scale, weight)
    return novelty * (boards + prior * weight) / (cost + weight), untried


def shrunk_rate(evidence: Evidence, prior: float, view: int, colour_set: int, scale_percent: float) -> float:
    """Expected rate of an arm that does not exist yet.

    ``prior`` is its rate as a neighbouring arm suggests it. Observations of the same quota scale and colours from other
    views count as if they had been made in ``view``.
    """
    half_edges, scale = _half_edges_and_scale(evidence.arms)
    related = np.array([arm.view != view and arm.colour_set == colour_set for arm in evidence.arms])
    distance = np.abs(_extra_half_edges(half_edges, scale, scale_percent))
    same_scale = related & (scale > 0) & (distance < SAME_SCALE_HALF_EDGES)
    boards, cost = evidence.boards @ same_scale, evidence.cost @ same_scale
    return float(_shrunk(prior, boards, cost, evidence.prior_weight))


def _shrunk(prior: FloatArray | float, boards: FloatArray, cost: FloatArray, weight: float) -> FloatArray:
    """The rate ``boards`` / ``cost`` seen from another view, shrunk towards ``prior``; ``prior`` if there is none."""
    rate: FloatArray = (OTHER_VIEW_DISCOUNT * boards + prior * weight) / np.maximum(cost + weight, 1.0)
    return np.where(cost > 0, rate, prior)


def arms_by_colours(arms: Sequence[QuotaArm]) -> dict[int, list[int]]:
    """Indexes of the arms of each colour set; arms without a quota are left out."""
    members: dict[int, list[int]] = {}
    for i, arm in enumerate(arms):
        if arm.scale_percent:
            members.setdefault(arm.colour_set, []).append(i)
    return members


def arms_by_view(arms: Sequence[QuotaArm]) -> dict[tuple[int, int], list[int]]:
    """Indexes of the arms of each (view, colour set). Among them a lower scale searches all that a higher one does."""
    members: dict[tuple[int, int], list[int]] = {}
    for colour_set, indexes in arms_by_colours(arms).items():
        for i in indexes:
            members.setdefault((arms[i].view, colour_set), []).append(i)
    return members


def prior_rate_factor(arms: Sequence[QuotaArm], index: int, scale_percent: float) -> float:
    """Prior factor on the rate from the arm ``index`` to another quota scale of the same colours."""
    extra = _extra_half_edges(*_half_edges_and_scale([arms[index]]), scale_percent)
    cost_factor = _cost_factor([arms[index]], extra[:, None])
    return float(_rate_factor(extra)[0] * cost_factor[0, 0]) * surplus_factor(arms, index, scale_percent)


def surplus_factor(arms: Sequence[QuotaArm], index: int, scale_percent: float) -> float:
    """The part of `prior_rate_factor` that is below 1 if hardly any prefix of the arm would pass the other quota."""
    extra = _extra_half_edges(*_half_edges_and_scale([arms[index]]), scale_percent)
    return float(_surplus_factor(surplus_counts(arms)[index : index + 1], extra[:, None])[0, 0])


def surplus_counts(arms: Sequence[QuotaArm]) -> FloatArray:
    """Sampled prefixes by their surplus, of each arm and those of the same quota scale and colours from other views.

    Returns
    -------
    float64 (arms, SURPLUS_BINS)
    """
    half_edges, scale = _half_edges_and_scale(arms)
    colours = np.array([arm.colour_set for arm in arms])
    extra = _extra_half_edges(half_edges[:, None], scale[:, None], scale)
    same_scale = (colours[:, None] == colours) & (np.abs(extra) < SAME_SCALE_HALF_EDGES)
    counts: FloatArray = same_scale.T @ np.array([arm.surplus_counts for arm in arms])
    return counts


def _rate_factor(extra: FloatArray) -> FloatArray:
    """Prior factor on the rate for ``extra`` favoured half-edges, which may be negative."""
    return np.asarray(RATE_PER_HALF_EDGE ** np.minimum(MAX_EXTRA_HALF_EDGES, extra))


def _surplus_factor(surplus: FloatArray, extra: FloatArray) -> FloatArray:
    """Factor on the prior for ``extra`` half-edges more: below 1 if hardly any prefix has this surplus.

    Parameters
    ----------
    surplus : float64 (arms, SURPLUS_BINS)
        See `surplus_counts`.
    extra : float64 (arms, others)
        Half-edges that other arms need more than each arm.
    """
    more = np.clip(np.rint(extra), 0, SURPLUS_BINS - 1).astype(np.int64)
    with_surplus = surplus[:, ::-1].cumsum(axis=1)[:, ::-1]  # of at least 0, 1, ... half-edges
    share: FloatArray = (np.take_along_axis(with_surplus, more, axis=1) + 1) / (with_surplus[:, :1] + 1)
    return np.minimum(1.0, share / ENOUGH_SURPLUS)


def _cost_factor(arms: Sequence[QuotaArm], extra: FloatArray) -> FloatArray:
    """Factor on the prior for a lower scale, because it takes fewer nodes to get past its quota; 1 for a higher one.

    ``extra``: float64 (arms, others), half-edges that other arms need more than each arm.
    """
    before = np.array([arm.share_before_quota_end for arm in arms])[:, None]
    cheaper = PASSING_COST ** np.maximum(0.0, -extra)
    return np.asarray(1 / (1 - before + before * cheaper))


def _half_edges_and_scale(arms: Sequence[QuotaArm]) -> tuple[FloatArray, FloatArray]:
    """(half-edges that each arm needs where its quota ends, quota scale in percent), each float64 (arms,)."""
    half_edges, scale = (np.array([getattr(arm, name) for arm in arms]) for name in ("half_edges", "scale_percent"))
    return half_edges, scale


def _extra_half_edges(half_edges: FloatArray, scale: FloatArray, other: FloatArray | float) -> FloatArray:
    """Half-edges that the scale ``other`` needs more than the scale ``scale``, which needs ``half_edges``.

    More than no quota, a scale of 0, it needs as many as a prior counts.
    """
    extra: FloatArray = half_edges * (other / np.where(scale > 0, scale, 1.0) - 1)
    return np.where(scale > 0, extra, MAX_EXTRA_HALF_EDGES)
