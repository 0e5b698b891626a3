"""What each course is worth: new boards a node, by what it met, and by what the other heights of its colours did.

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

from lns.construct.course import Course, Floats

RISE = 2.5  # a course may be worth so many times as much as one that asks for a favoured half-edge less;
HOPE = 1.2  # half-edges: for more than what so many bring is not hoped
ALIKE = 0.5  # percent between heights from two sides that are taken for the same
ASIDE = 0.8  # of what a course is worth while all it meets is new: as much is expected from another side
STALE = 0.25  # of what the best was worth while all it met was new: as much is expected of colours like it


class Met(NamedTuple):
    """What was met: the ``boards`` to be expected of the prefixes of each course, and the ``work`` that these took;
    what is told by others counts as ``trust`` nodes."""

    courses: Sequence[Course]
    boards: Sequence[float]
    work: Floats
    trust: float


def worth(met: Met) -> tuple[Floats, float]:
    """(what every course is worth, new boards a node; what is expected of colours that were not tried).

    Of these the mean of those that were tried is expected, each at its best height; the best of them counts STALE, as
    it is the best of several, or the first choice.
    """
    courses, boards, work, trust = met
    rate = np.array(boards) / np.maximum(work, trust)
    sets = by_colours(courses)
    richest = [max(rate[i] for i in ours) for ours in sets.values()]
    others = (sum(richest) - (1 - STALE) * max(richest, default=0.0)) / max(1, len(richest))
    outlook = np.array([course.outlook for course in courses])
    told = np.full(len(rate), others)
    for colour_set, ours in sets.items():
        for i in ours:
            one = courses[i]
            promised = max((rate[j] * promise(courses[j], one) for j in ours if j != i), default=0.0) or others
            told[i] = told_aside(met, promised, one.view, colour_set, one.percent)
    return outlook * (boards + told * trust) / (work + trust), others


def told_aside(met: Met, promised: float, view: int, colour_set: int, percent: float) -> float:
    """What is ``promised`` of a height from one side, tempered by what was met at that height from the others."""
    made = spent = 0.0
    for course, boards, work in zip(met.courses, met.boards, met.work.tolist(), strict=True):
        if course.colour_set == colour_set and course.view != view and abs(course.percent - percent) <= ALIKE:
            made += boards
            spent += work
    return (ASIDE * made + promised * met.trust) / (spent + met.trust) if spent else promised


def by_colours(courses: Sequence[Course]) -> dict[int, list[int]]:
    """The courses, by number, of each set of colours; without those that favour none."""
    found: dict[int, list[int]] = {}
    for i, course in enumerate(courses):
        if course.percent:
            found.setdefault(course.colour_set, []).append(i)
    return found


def by_trees(courses: Sequence[Course]) -> dict[tuple[int, int], list[int]]:
    """The courses, by number, of each (view, set of colours): the lower ones search what the higher do, and more."""
    found: dict[tuple[int, int], list[int]] = {}
    for colour_set, ours in by_colours(courses).items():
        for i in ours:
            found.setdefault((courses[i].view, colour_set), []).append(i)
    return found


def promise(course: Course, other: Course) -> float:
    """What another course of its colours may turn out to be worth, of what ``course`` met.

    What a higher one leads to is a part of what a lower one does, and as old; from another side all is new.
    """
    if other.view != course.view:
        return ASIDE * change(course, other.percent)
    return change(course, other.percent) * (course.outlook if other.percent > course.percent else 1.0)


def change(course: Course, percent: float) -> float:
    """The factor by which boards a node may change from ``course`` to another height of its colours."""
    quota = course.fit.quota
    more = max(quota.profile, default=0.0) * quota.height * (percent / course.percent - 1)  # half-edges, at the end
    return float(RISE ** min(HOPE, more))
