"""Which search to make next: quotas in play, what is known of each, and the slips that knowledge asks for.

A course is one height of the quota of some favoured colours. The higher it is the better the prefixes, up to a height
where hardly any is left; where that is depends on the instance, and no population of prefixes tells it well. So each
shuffle that is searched is also measured:

- children by depth, as met by the search itself; they take the place of the population's (``derive.measure``), and the
  slip schedule is derived again from them;
- how many slips its prefixes have spent, and with how many mismatches the exact tails of a sample of them end: how many
  boards of the score asked for are to be expected of the course in a node, long before it has made one.

The next shuffle goes to the course with most such boards; one above it is given time to show what it is worth, as few
shuffles of a high course flow, and those flow well. Heights are tried from the top down in coarse steps until
boards come, then between the best and the one above it, down to a percent, for the best course lies close below one
that is barren; and below the best.

On a small board a high quota leaves so few prefixes that shuffles meet the same ones again. So a course counts by those
that its last shuffle met for the first time (`met`), and where they get few, other colours are favoured.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from instances.errors import InputError
from instances.puzzle import Puzzle
from lns.construct.constructor import Constructor
from lns.construct.derive import Aim, Fit, best_schedule, cut_of, highest_aim, measure, order_of, schedule_for
from lns.construct.forecast import finishing
from lns.construct.kernel import ENDS
from lns.construct.met import Met
from lns.construct.profile import profile
from lns.construct.schedule import Quota, Schedule, favoured_sets, quota_end
from lns.construct.word import SLIP, SLIPS
from lns.engine import MOST_SAVED, State
from lns.params import Construct
from lns.rng import RandomState, generator

Floats = npt.NDArray[np.float64]

COARSE = (100, 95, 90, 85, 80, 70, 0)  # heights that are tried one below the other, in percent of `Construct.quota`
MOST_PERCENT = 150
SETS = 32  # of favoured colours, from which others are drawn
STALE = 0.5  # what other colours are expected to be worth, in what the best course was worth when all it met was new
WIDE = 10  # percent; in wider gaps no height is tried
HOPE = 3.0  # what a course above the best one may turn out to be worth, in the best one's rate
TRUST = 0.4  # shuffles of a course, after which that hope is half forgotten
TRUST_SHARE = 1 / 400  # of all work; as much more
SHY = 0.9  # exact children in the eighth of the board behind the quota, of those of a population, which met it by luck
FEW = 10  # ends that tell a chance
LEAST = 1e-300  # to divide by
PRIOR = 100_000.0  # nodes that the population's word is worth
_EXACT, _PARENTS, _SLIPPING, _ROOM = range(4)


@dataclass(eq=False)
class Course:
    """``favour``: which set of favoured colours. ``percent``: its height. ``fit``: what the populations say.
    ``census``: float64 (4, cells) by depth: exact children met, nodes that could have them, slipping children, nodes
    that had a slip left. ``spent``: float64 (SLIPS,) prefixes by slips spent. ``work``: nodes. ``slack``: trees that
    were searched whole, each a reason to allow one mismatch more. ``fresh``: share of the last shuffle's prefixes that
    no shuffle had met before, 0 after a whole tree.
    """

    favour: int
    percent: int
    fit: Fit
    census: Floats
    spent: Floats
    work: float = 0.0
    shuffles: int = 0
    slack: int = 0
    fresh: float = 1.0

    def learn(self, built: Constructor, fresh: float = 1.0) -> None:
        """Add the shuffle that ``built`` has just searched; ``fresh``: share of its prefixes that are new."""
        schedule, cells = built.schedule, len(built.schedule.order)
        self.shuffles += 1
        self.spent += built.spent
        # a tree that is soon searched whole is no reason to search it again and again
        self.work += max(built.work_of_shuffle, built.params.patience_nodes)
        self.slack += built.exhausted
        self.fresh = 0.0 if built.exhausted else fresh
        if built.barren:
            return  # a subtree that dies early says little of those that live
        counted = built.prefix.census.reshape(cells, 2, SLIPS).astype(np.float64)
        exact, slipping = counted[:, 0], counted[:, 1]
        parents = np.zeros((cells, SLIPS))  # nodes that stood before each depth, by slips spent
        parents[0, 0] = 1.0
        parents[1:] = (exact + slipping)[:-1]
        room = np.arange(SLIPS) < schedule.allowed[:, None]
        self.census += [exact.sum(1), parents.sum(1), slipping.sum(1), np.where(room, parents, 0.0).sum(1)]

    @property
    def barren(self) -> bool:
        """Whether no prefix came of it yet."""
        return not self.census.any()

    def boards(self, mismatches: int, chance: Floats) -> float:
        """Boards of at most ``mismatches`` to be expected of its prefixes; ``chance``: see `chances`."""
        left = mismatches - np.arange(SLIPS)
        return float((self.spent * np.where(left < 0, 0.0, chance[np.clip(left, 0, ENDS - 1)])).sum())

    def known(self) -> Fit:
        """The fit with everything that was met since."""
        exact, quota, cells = self.fit.exact.copy(), self.fit.quota, len(self.fit.exact)
        if quota != Quota():
            exact[quota.end(cells) : quota.end(cells) + cells // 8] *= SHY
        exact = (self.census[_EXACT] + PRIOR * exact) / (self.census[_PARENTS] + PRIOR)
        slipping = (self.census[_SLIPPING] + PRIOR * self.fit.slipping) / (self.census[_ROOM] + PRIOR)
        return Fit(exact, slipping, quota)


def chances(ends: Floats, finish: Floats) -> Floats:
    """Chance that an exact tail ends with at most k mismatches, (ENDS,), by sampled ``ends``.

    Where fewer than FEW ended so well they fall as ``finish`` does, the forecast of the same (`forecast.finishing`):
    its level is far too high, as it takes cells for independent, but it falls as those chances do that can be measured.
    """
    met = np.cumsum(ends)
    chance: Floats = met / max(1.0, met[-1])
    chance[ENDS] = 1.0
    falls = finish[:ENDS] / np.maximum(np.append(finish[1:ENDS], finish[ENDS - 1]), LEAST)
    for k in range(ENDS - 1, -1, -1):
        if met[k] < FEW:
            chance[k] = chance[k + 1] * falls[k]
    return chance[:ENDS]


class Courses:
    """All courses of a run; ``now``: the one being searched, by ``aim``."""

    def __init__(self, puzzle: Puzzle, params: Construct, random: RandomState) -> None:
        self.puzzle, self.params, self.random = puzzle, params, random
        sets = favoured_sets(puzzle, params.quota_rim, params.quota_inner, SETS) if params.quota > 0 else []
        # more favoured half-edges would look like slips
        self._sets = [favoured for favoured in sets if 0 < np.isin(puzzle.pieces, favoured).sum() < SLIP]
        self._whole: dict[int, Quota] = {}
        self.courses: list[Course] = []  # those tried, set by set, from the highest down
        self.now = 0
        self.ends = np.zeros(ENDS + 1)  # of the sampled prefixes of all courses: `kernel.construct`
        self.met = Met()
        self.aim: Aim | None = None

    def choose(self, mismatches: int) -> Schedule:
        """The schedule to search next for boards of at most ``mismatches``.

        Schedules that are too strict make no boards at all, those that are too loose only waste some work; hence the
        parameter ``aim_below``.
        """
        mismatches = max(0, mismatches)  # a run that goes on after a perfect board looks for more of them
        self.now = self._next(mismatches)
        course = self.courses[self.now]
        known = course.known()
        if all(course.barren for course in self.courses):  # no word yet of what can be reached
            mismatches = highest_aim(known, self.puzzle, self.params).mismatches
        wanted = min(mismatches + self.params.aim_below + course.slack, self.puzzle.max_score)
        chance = self._chances() if self.ends.any() else None
        self.aim = best_schedule(known, self.puzzle, self.params, wanted, chance)
        return self.schedule()

    def schedule(self) -> Schedule:
        """That of the present course and aim."""
        assert self.aim is not None
        return schedule_for(self.courses[self.now].fit, self.aim, self.puzzle, self.params)

    def learn(self, built: Constructor) -> None:
        """The present course was searched by ``built``."""
        self.courses[self.now].learn(built, self.met.add(built.keys))
        self.ends += built.ends

    def quota(self, percent: int, favour: int = 0) -> Quota:
        """That of a height for a set of favoured colours; none at all at 0."""
        if not percent or favour >= len(self._sets):
            return Quota()
        if favour not in self._whole:
            puzzle, favoured = self.puzzle, self._sets[favour]
            used = profile(puzzle, order_of(puzzle, self.params), favoured, quota_end(puzzle.cells))
            self._whole[favour] = Quota(favoured, used, self.params.quota)
        return self._whole[favour].times(percent / 100)

    def _next(self, mismatches: int) -> int:
        """The course that promises most new boards in a node, or a new one: until boards come, and around the best."""
        if not self.courses:
            return self._begin(COARSE[0] if self._sets else 0)
        boards, rates = self.boards(mismatches)
        worth = [course.fresh * rate for course, rate in zip(self.courses, rates, strict=True)]
        most, lowest = max(worth), min(course.percent for course in self.courses)
        if most == 0:
            work, lower = [course.work for course in self.courses], _lower(lowest)
            return work.index(min(work)) if lower is None else self._begin(lower)
        if most < STALE * max(rates) and (others := self._not_favoured()):
            which = int(generator(self.random).integers(len(others)))
            return self._begin(self.courses[rates.index(max(rates))].percent, others[which])
        top, done = worth.index(most), sum(course.work for course in self.courses)
        trust = TRUST * self.params.reshuffle_nodes + TRUST_SHARE * done
        hopes = [
            course.fresh * (found + (HOPE if course.barren or self._is_above(i, top) else 1.0) * most * trust)
            / (course.work + trust)
            for i, (found, course) in enumerate(zip(boards, self.courses, strict=True))
        ]  # fmt: skip
        best = hopes.index(max(hopes))
        if best != top or self.courses[best].work <= trust:
            return best
        new = next((percent for percent in (self._above(best), self._below(best)) if percent is not None), None)
        return best if new is None else self._begin(new, self.courses[best].favour)

    def _not_favoured(self) -> list[int]:
        """Sets of colours that no course favours yet."""
        return sorted(set(range(len(self._sets))) - {course.favour for course in self.courses})

    def _is_above(self, i: int, other: int) -> bool:
        return i < other and self.courses[i].favour == self.courses[other].favour

    def _above(self, i: int) -> int | None:
        """A height that was not tried between that of course ``i`` and the one above it, if they are not far apart.

        Above the highest the next one.
        """
        here = self.courses[i].percent
        if i == 0 or not self._is_above(i - 1, i):
            return here + 1 if 0 < here < MOST_PERCENT else None
        gap = self.courses[i - 1].percent - here
        return here + (gap + 1) // 2 if 1 < gap <= WIDE else None

    def _below(self, i: int) -> int | None:
        """A coarse height below that of course ``i``, if it is the lowest; else a percent below it, if that is new."""
        here = self.courses[i].percent
        if i == len(self.courses) - 1 or not self._is_above(i, i + 1):
            return _lower(here)
        return here - 1 if 1 < here - self.courses[i + 1].percent <= WIDE else None

    def boards(self, mismatches: int) -> tuple[list[float], list[float]]:
        """(boards of at most so many mismatches to be expected, the same a node) of every course.

        The ends of all courses are taken together, though those of high ones are a little better: most have too few.
        """
        chance = self._chances()
        boards = [course.boards(mismatches, chance) for course in self.courses]
        return boards, [found / max(course.work, 1.0) for found, course in zip(boards, self.courses, strict=True)]

    def _chances(self) -> Floats:
        """Of the tails of all courses; what is not met by those of the course with most prefixes."""
        known, cut = max(self.courses, key=lambda course: course.spent.sum()).known(), cut_of(self.puzzle, self.params)
        return chances(self.ends, finishing(known.exact[cut:], known.slipping[cut:], ENDS - 1))

    def _begin(self, percent: int, favour: int = 0) -> int:
        """A new course; where no population lives under its quota, one that does under a lower one speaks for it."""
        quota = self.quota(percent, favour)
        for share in (1.0, 0.95, 0.9, 0.8, 0.0):
            fit = measure(self.puzzle, self.params, quota.times(share), self.random)
            if fit is not None:
                break
        assert fit is not None, "without a quota some population always lives"
        fit = Fit(fit.exact, fit.slipping, quota)
        course = Course(favour, percent, fit, np.zeros((4, self.puzzle.cells)), np.zeros(SLIPS))
        self.courses = sorted([*self.courses, course], key=lambda one: (one.favour, -one.percent))
        return self.courses.index(course)

    # -- state -------------------------------------------------------------------------------------------------------

    def state(self) -> State:
        state = empty_state(self.puzzle)
        if self.courses and self.aim is not None:
            state["fits"] = np.array([[one.fit.exact, one.fit.slipping, *one.census] for one in self.courses])
            state["spent"] = np.array([one.spent for one in self.courses])
            state["ends"] = self.ends.copy()
            state["numbers"] = np.array(
                [[one.work, one.fresh, one.shuffles, one.slack, one.favour, one.percent] for one in self.courses]
            )
            state["unlock"] = self.aim.unlock
            state["aim"] = np.array([self.now, self.aim.mismatches, self.aim.rate])
            state["met"] = self.met.saved
        return state

    def restore(self, state: State) -> None:
        """Go on from ``state``; raises InputError for numbers that no search of this puzzle can have."""
        fits, spent, ends, numbers, aim = (
            np.asarray(state[name], dtype=np.float64) for name in ("fits", "spent", "ends", "numbers", "aim")
        )
        unlock = np.asarray(state["unlock"], dtype=np.int64)
        if not len(fits) == len(spent) == len(numbers) or len(aim) != 3 or len(ends) != ENDS + 1:
            raise InputError("the saved courses are of other parameters")
        for values in (fits, spent, ends, numbers, aim):
            if not ((values >= 0) & (values <= MOST_SAVED)).all():
                raise InputError("the saved courses have numbers out of range")
        if len(unlock) >= SLIPS or (unlock < 0).any() or (unlock > self.puzzle.cells).any():
            raise InputError("the saved slip schedule is of another puzzle")
        now, mismatches, rate = aim.tolist()
        if not (now < len(fits) and now == int(now) and mismatches <= self.puzzle.max_score):
            raise InputError("the saved aim is out of range")
        quotas = [(favour, -percent) for favour, percent in numbers[:, 4:].tolist()]
        if quotas != sorted({(round(favour), round(percent)) for favour, percent in quotas}) or not quotas:
            raise InputError("the saved courses have no heights in whole percent that go down")
        if quotas[-1][0] >= max(1, len(self._sets)) or min(height for _, height in quotas) < -MOST_PERCENT:
            raise InputError("the saved courses favour colours, or have heights, that no search has")
        if (numbers[:, 1] > 1).any():
            raise InputError("the saved courses met more that is new than they met")
        self.courses = []
        for row, made, (work, fresh, *counts) in zip(fits, spent, numbers.tolist(), strict=True):
            shuffles, slack, favour, percent = (int(count) for count in counts)
            fit = Fit(row[0], row[1], self.quota(percent, favour))
            course = Course(favour, percent, fit, row[2:].copy(), made.copy(), work, shuffles, slack, fresh)
            self.courses.append(course)
        self.ends = ends.copy()
        self.met = Met.of(np.asarray(state["met"]))
        self.now, self.aim = int(now), Aim(int(mismatches), unlock, rate)


def _lower(percent: int) -> int | None:
    """The coarse height below a height."""
    return next((coarse for coarse in COARSE if coarse < percent), None)


def empty_state(puzzle: Puzzle) -> State:
    """What stands in a state before there are courses."""
    return {
        "fits": np.zeros((0, 6, puzzle.cells)),
        "spent": np.zeros((0, SLIPS)),
        "ends": np.zeros(0),
        "numbers": np.zeros((0, 6)),
        "unlock": np.zeros(0, dtype=np.int64),
        "aim": np.zeros(0),
        "met": np.zeros(0, dtype=np.uint64),
    }
