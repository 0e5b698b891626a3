"""What each arm is worth: new boards a node, by what it met, and by what the other arms of its colours did.

Luck has a large part in what a few shuffles show: a few stems in a hundred make most of the boards. So what the
shuffles of one height show counts for the other heights of its colours too, as much as some shuffles of their own
(``trust``): a height that asks for a half-edge more may be worth RISE times as much, as few of its shuffles lead
anywhere, and those lead far; one that asks for a half-edge less is worth as much less. Seen from another side the
board has other prefixes, or others are laid behind them, which are worth nearly as much (ASIDE): so what was met at one
height counts for the same height from the other sides. Of colours that were not tried as much is expected as of those
that were.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lns.construct.quota_arm import Floats, QuotaArm

RISE = 2.5  # a arm may be worth so many times as much as one that asks for a favoured half-edge less;
HOPE = 1.2  # half-edges: for more than what so many bring is not hoped
SAME = 0.25  # heights from two sides that differ by fewer half-edges are taken for the same
ASIDE = 0.8  # as much of what was promised, or met, from one side is expected from another, where all is new
STALE = 0.25  # of what the best was worth while all it met was new: as much is expected of colours like it


class Evidence(NamedTuple):
    """What was met. ``boards``: to be expected of the prefixes of each arm, (arms,), ``work``: that these took.

    What is told by others counts as ``trust`` nodes.
    """

    arms: Sequence[QuotaArm]
    boards: Floats
    work: Floats
    trust: float


def worth(evidence: Evidence) -> tuple[Floats, float]:
    """(what every arm is worth, new boards a node; what is expected of colours that were not tried).

    Of these the mean of those that were tried is expected, each at its best height; the best of them counts STALE, as
    it is the best of several, or the first choice.
    """
    arms, boards, work, trust = evidence
    rate = boards / np.maximum(work, trust)
    richest = [float(rate[ours].max()) for ours in by_colours(arms).values()]
    others = (sum(richest) - (1 - STALE) * max(richest, default=0.0)) / max(1, len(richest))
    outlook = np.array([arm.novelty_rate for arm in arms])
    view, colours = (np.array([getattr(arm, name) for arm in arms]) for name in ("view", "colour_set"))
    asked, percent = _heights(arms)

    # who tells, who is told: those that favour the same colours
    tells = (colours[:, None] == colours) & (percent[:, None] > 0) & (percent > 0)
    np.fill_diagonal(tells, False)
    aside = view[:, None] != view
    more = _half_edges_more(asked[:, None], percent[:, None], percent)
    # what a higher one leads to is a part of what a lower one does, and as old; from another side all is new
    share = np.where(aside, ASIDE, np.where(more > 0, outlook[:, None], 1.0))
    promised = np.where(tells, rate[:, None] * share * _rise(more), 0.0).max(axis=0)
    promised[promised == 0] = others
    same = tells & aside & (np.abs(more) < SAME)
    told = _tempered(promised, boards @ same, work @ same, trust)
    return outlook * (boards + told * trust) / (work + trust), others


def tempered(evidence: Evidence, promised: float, view: int, colour_set: int, percent: float) -> float:
    """What is to be expected of a height from one side, of which so much is ``promised``.

    What was met at that height from the other sides counts as if it had been met there.
    """
    asked, heights = _heights(evidence.arms)
    kin = [arm.view != view and arm.colour_set == colour_set for arm in evidence.arms]
    same = np.array(kin) & (heights > 0) & (np.abs(_half_edges_more(asked, heights, percent)) < SAME)
    return float(_tempered(promised, evidence.boards @ same, evidence.work @ same, evidence.trust))


def _tempered(promised: Floats | float, boards: Floats, work: Floats, trust: float) -> Floats:
    told: Floats = (ASIDE * boards + promised * trust) / np.maximum(work + trust, 1.0)
    return np.where(work > 0, told, promised)


def by_colours(arms: Sequence[QuotaArm]) -> dict[int, list[int]]:
    """The arms, by number, of each set of colours; without those that favour none."""
    found: dict[int, list[int]] = {}
    for i, arm in enumerate(arms):
        if arm.scale_percent:
            found.setdefault(arm.colour_set, []).append(i)
    return found


def by_side(arms: Sequence[QuotaArm]) -> dict[tuple[int, int], list[int]]:
    """The same of each (view, set of colours): there the lower ones search what the higher ones do, and more."""
    found: dict[tuple[int, int], list[int]] = {}
    for colour_set, ours in by_colours(arms).items():
        for i in ours:
            found.setdefault((arms[i].view, colour_set), []).append(i)
    return found


def change(arm: QuotaArm, percent: float) -> float:
    """The factor by which boards a node may change from ``arm`` to another height of its colours."""
    return float(_rise(_half_edges_more(*_heights([arm]), percent))[0])


def _rise(half_edges: Floats) -> Floats:
    return np.asarray(RISE ** np.minimum(HOPE, half_edges))


def _heights(arms: Sequence[QuotaArm]) -> tuple[Floats, Floats]:
    """(half-edges that each arm asks for where its quota ends, percent), (arms,)."""
    asked, percent = (np.array([getattr(arm, name) for arm in arms]) for name in ("half_edges", "scale_percent"))
    return asked, percent


def _half_edges_more(asked: Floats, percent: Floats, other: Floats | float) -> Floats:
    """What another height of the same colours asks for more than one that asks for ``asked`` at ``percent``."""
    more: Floats = asked * (other / np.where(percent > 0, percent, 1.0) - 1)
    return more
