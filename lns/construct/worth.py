"""What each course is worth: new boards a node, by what it met, and by what the other courses of its colours did.

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
SAME = 0.25  # heights from two sides that differ by fewer half-edges are taken for the same
ASIDE = 0.8  # as much of what was promised, or met, from one side is expected from another, where all is new
STALE = 0.25  # of what the best was worth while all it met was new: as much is expected of colours like it


class Evidence(NamedTuple):
    """What was met. ``boards``: to be expected of the prefixes of each course, (courses,), ``work``: that these took.

    What is told by others counts as ``trust`` nodes.
    """

    courses: Sequence[Course]
    boards: Floats
    work: Floats
    trust: float


def worth(evidence: Evidence) -> tuple[Floats, float]:
    """(what every course is worth, new boards a node; what is expected of colours that were not tried).

    Of these the mean of those that were tried is expected, each at its best height; the best of them counts STALE, as
    it is the best of several, or the first choice.
    """
    courses, boards, work, trust = evidence
    rate = boards / np.maximum(work, trust)
    richest = [float(rate[ours].max()) for ours in by_colours(courses).values()]
    others = (sum(richest) - (1 - STALE) * max(richest, default=0.0)) / max(1, len(richest))
    outlook = np.array([course.outlook for course in courses])
    view, colours = (np.array([getattr(course, name) for course in courses]) for name in ("view", "colour_set"))
    favours = np.array([course.percent > 0 for course in courses])

    # who tells, who is told
    tells = (colours[:, None] == colours) & favours[:, None] & favours
    np.fill_diagonal(tells, False)
    aside = view[:, None] != view
    more = _half_edges_more(courses)
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
    same = np.array(
        [
            course.view != view
            and course.colour_set == colour_set
            and course.percent > 0
            and abs(course.half_edges_more(percent)) < SAME
            for course in evidence.courses
        ]
    )
    return float(_tempered(promised, evidence.boards @ same, evidence.work @ same, evidence.trust))


def _tempered(promised: Floats | float, boards: Floats, work: Floats, trust: float) -> Floats:
    told: Floats = (ASIDE * boards + promised * trust) / np.maximum(work + trust, 1.0)
    return np.where(work > 0, told, promised)


def by_colours(courses: Sequence[Course]) -> dict[int, list[int]]:
    """The courses, by number, of each set of colours; without those that favour none."""
    found: dict[int, list[int]] = {}
    for i, course in enumerate(courses):
        if course.percent:
            found.setdefault(course.colour_set, []).append(i)
    return found


def by_side(courses: Sequence[Course]) -> dict[tuple[int, int], list[int]]:
    """The same of each (view, set of colours): there the lower ones search what the higher ones do, and more."""
    found: dict[tuple[int, int], list[int]] = {}
    for colour_set, ours in by_colours(courses).items():
        for i in ours:
            found.setdefault((courses[i].view, colour_set), []).append(i)
    return found


def change(course: Course, percent: float) -> float:
    """The factor by which boards a node may change from ``course`` to another height of its colours."""
    return float(_rise(course.half_edges_more(percent)))


def _rise(half_edges: Floats | float) -> Floats:
    return np.asarray(RISE ** np.minimum(HOPE, half_edges))


def _half_edges_more(courses: Sequence[Course]) -> Floats:
    """`Course.half_edges_more` from each course, (courses,), to the height of each."""
    asked, percent = (np.array([getattr(course, name) for course in courses]) for name in ("asked", "percent"))
    more: Floats = asked[:, None] * (percent / np.where(percent > 0, percent, 1.0)[:, None] - 1)
    return more
