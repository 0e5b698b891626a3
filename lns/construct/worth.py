"""What each course is worth: new boards a node, by what it met, and by what the other heights of its colours did.

Luck has a large part in what a few shuffles show: a few stems in a hundred make most of the boards. So what the
shuffles of one height show counts for the other heights of its colours too, as much as some shuffles of their own
(``trust``): a height that asks for a half-edge more may be worth RISE times as much, as few of its shuffles lead
anywhere, and those lead far; one that asks for a half-edge less is worth as much less. Of colours that were not tried
as much is expected as of those that were.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lns.construct.course import Course, Floats

RISE = 2.5  # a course may be worth so many times as much as one that asks for a favoured half-edge less;
HOPE = 1.2  # half-edges: for more than what so many bring is not hoped
STALE = 0.25  # of what the best was worth while all it met was new: as much is expected of colours like it


def worth(courses: Sequence[Course], boards: Sequence[float], work: Floats, trust: float) -> tuple[Floats, float]:
    """(what every course is worth, new boards a node; what is expected of colours that were not tried).

    By the ``boards`` to be expected of the prefixes of each, and the ``work`` that these took; what is told by others
    counts as ``trust`` nodes. Of colours that were not tried the mean of those that were is expected, each at its best
    height; the best of them counts STALE, as it is the best of several, or the first choice.
    """
    met = np.array(boards) / np.maximum(work, trust)
    sets = by_colours(courses)
    richest = [max(met[i] for i in ours) for ours in sets.values()]
    others = (sum(richest) - (1 - STALE) * max(richest, default=0.0)) / max(1, len(richest))
    outlook = np.array([course.outlook for course in courses])
    told = np.full(len(met), others)
    for ours in sets.values():
        for i in ours:
            told[i] = max((met[j] * promise(courses[j], courses[i]) for j in ours if j != i), default=0.0) or others
    return outlook * (boards + told * trust) / (work + trust), others


def by_colours(courses: Sequence[Course]) -> dict[int, list[int]]:
    """The courses, by number, of each set of colours; without those that favour none."""
    found: dict[int, list[int]] = {}
    for i, course in enumerate(courses):
        if course.percent:
            found.setdefault(course.colour_set, []).append(i)
    return found


def promise(course: Course, other: Course) -> float:
    """What another height of its colours may turn out to be worth, of what ``course`` met.

    What a higher one leads to is a part of what a lower one does, and as old.
    """
    return change(course, other.percent) * (course.outlook if other.percent > course.percent else 1.0)


def change(course: Course, percent: float) -> float:
    """The factor by which boards a node may change from ``course`` to another height of its colours."""
    quota = course.fit.quota
    more = max(quota.profile, default=0.0) * quota.height * (percent / course.percent - 1)  # half-edges, at the end
    return float(RISE ** min(HOPE, more))
