"""Which course is searched next and which shuffle is cut short, by what the courses are worth; counts are made up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from instances.formats import load_puzzle
from instances.symmetry import UPRIGHT, View
from lns.construct.arm_value import ASIDE, HOPE, RISE, STALE, change, worth
from lns.construct.constructor import Constructor
from lns.construct.packed_candidate import SLIPS
from lns.construct.quota_arm import ALL, LOOSER, expected_boards
from lns.construct.quota_bandit import COARSE, COLOUR_SETS, FINE, OUTDONE, Courses
from lns.construct.schedule import Schedule
from lns.main_engine import Search
from lns.params import Construct, from_dict
from lns.rng import random_state


def test_a_course_that_flows_is_not_left_for_one_that_does_not():
    """By hand-made counts: the best course is searched on, one above it gets its chance first."""
    puzzle = load_puzzle("like-e2-8x8")
    courses = Courses(puzzle, Construct(population=100, reshuffle_nodes=1000), random_state(1))
    courses.ends[0] = 10**6  # every tail fits
    for percent in COARSE[:3]:
        courses._begin(percent)
    for course, boards, work in zip(courses.courses, (0, 500, 100), (500.0, 900.0, 900.0), strict=True):
        course.spent[ALL, 10], course.census[0, 0], course.work = boards, boards, work
    assert courses._next(10) == 0, "little is known of the highest yet"
    for course in courses.courses:
        course.work = 1e5
    new = courses._next(10)
    assert courses.courses[new].percent == 97.5, "the best is known well: one between it and the barren one above it"
    courses.courses[new].work = 1e5
    assert courses._next(10) == 2, "that one is barren too, and nothing else is left between them"
    courses.courses[2].met, courses.courses[2].new = 99, 29
    new = courses._next(10)
    assert courses.courses[new].percent == 94.5, "the best meets little that is new; below it is more"
    courses.courses[new].work = 1e5
    courses.courses[2].met = courses.courses[2].new = 0
    assert courses._next(10) == 2
    courses.courses[-1].spent[ALL, 10] = 100_000
    new = courses._next(10)
    assert courses.courses[new].percent == 92.5
    courses.courses[new].work = 1e5
    new = courses._next(10)
    assert courses.courses[new].percent == 85, "the lowest is best: one lower is tried"


def test_a_shuffle_ends_where_another_height_is_worth_far_more(monkeypatch):
    """By hand-made counts: a height ends soon if it is known to be far worse, and no other colours end it."""
    puzzle = load_puzzle("like-e2-10x10")
    courses = Courses(puzzle, Construct(population=300, quota=0.5), random_state(1))
    built = Constructor(puzzle, courses.params, courses.choose(20), random_state(2))
    while built.barren or built.nodes_of_shuffle < 1_000_000:
        built.run(200_000, puzzle.max_score)
        if built.over:
            built.begin(built.schedule)
    courses.params = replace(courses.params, reshuffle_nodes=int(8 * built.nodes_of_shuffle))
    now = courses.courses[courses.now]
    assert not courses.outdone(built, 20), "there is no other one"
    other = courses._begin(90)
    rival = courses.courses[other]
    courses.now = courses.courses.index(now)
    mine = expected_boards(built.spent, courses._chances(built.ends), 20)[-1] / built.work_of_shuffle
    rival.work = float(10**9)
    monkeypatch.setattr("lns.construct.quota_bandit.TRUST", 0.0)
    monkeypatch.setattr("lns.construct.quota_bandit.TRUST_SHARE", 0.0)
    for share, ends in ((0.9 * OUTDONE, True), (1.1 * OUTDONE, False)):
        worth = rival.outlook * mine / share * rival.work
        rival.spent[ALL] = (
            worth / expected_boards(np.eye(SLIPS)[0], courses._chances(built.ends), 20)[-1] * np.eye(SLIPS)[0]
        )
        assert courses.outdone(built, 20) is ends
    rival.spent[ALL] *= 100
    assert courses.outdone(built, 20)
    courses.params = replace(courses.params, reshuffle_nodes=8 * built.nodes_of_shuffle + 8)
    assert not courses.outdone(built, 20), "it is too early to tell"
    courses.params = replace(courses.params, reshuffle_nodes=1000)
    rival.view = 1
    assert courses.outdone(built, 20), "from whatever side"
    rival.colour_set = 1
    assert not courses.outdone(built, 20), "other colours are for `_something_new`"


def test_shuffles_are_told_what_their_colours_were_searched(monkeypatch):
    courses = made_up((100, 95), (500, 400), 1e5, (UPRIGHT, View(0, True)))
    for work, other in ((7.0, (100, 3)), (8.0, (100, 0, 1))):
        new = courses._begin(*other)
        courses.courses[new].work = work
    for courses.now, work in ((0, 200_000), (1, 200_000), (2, 7), (3, 8)):
        assert courses.work == work
    quick = from_dict({"construct": {"reshuffle_nodes": 100_000, "patience_nodes": 1000, "population": 100}})
    search = Search(load_puzzle("like-e2-8x8"), quick, 1, 0)
    while (built := search.constructor) is None:
        search.step(112)
    told, begin = [], built.begin

    def noted(schedule: Schedule, before: int) -> None:
        told.append((before, search.courses.work))
        begin(schedule, before)

    monkeypatch.setattr(built, "begin", noted)
    while len(told) < 5:
        search.step(112)
    assert all(before == work for before, work in told) and told[0][0] > 0


def test_above_a_course_that_is_the_highest_and_the_best_one_is_tried():
    puzzle = load_puzzle("like-e2-8x8")
    courses = Courses(puzzle, Construct(population=100, reshuffle_nodes=1000), random_state(1))
    courses.ends[0] = 10**6
    for percent in COARSE[:2]:
        courses._begin(percent)
    for course, boards in zip(courses.courses, (500, 100), strict=True):
        course.spent[ALL, 10], course.census[0, 0], course.work = boards, boards, 1e5
    assert courses._next(10) == 0 and courses.courses[0].percent == 102, "101% is no half-edge more"
    assert courses._next(10) == 0, "it is given time"
    courses.courses[0].work = 1e6
    assert courses._next(10) == 1
    assert [course.percent for course in courses.courses] == [102, 100, 95]


def made_up(
    percents: tuple[float, ...], boards: tuple[int, ...], work: float, views: Sequence[View] = (UPRIGHT,)
) -> Courses:
    """Courses whose shuffles made so many boards each in so much work."""
    puzzle, params = load_puzzle("like-e2-8x8"), Construct(population=100, reshuffle_nodes=1000)
    courses = Courses(puzzle, params, random_state(1), views)
    courses.ends[0] = 10**6  # every tail fits
    for percent in percents:
        courses._begin(percent)
    for course, found in zip(courses.courses, boards, strict=True):
        course.spent[ALL, 10], course.census[0, 0], course.work = found, found, work
    return courses


@pytest.mark.parametrize("name", ["like-e2-8x8", "like-e2-12x20", "like-e2-16x16"])
def test_every_height_asks_for_something_else(name):
    """Half-edges are whole: on a small board 101% asks for what 100% does."""
    courses = Courses(load_puzzle(name), Construct(population=100), random_state(1))
    courses._begin(100)
    for _ in range(4):
        for tried in (courses._above(0), courses._below(0), courses._below(len(courses.courses) - 1)):
            if tried is not None and tried not in [course.percent for course in courses.courses]:
                courses._begin(tried)
    floors = {tuple(course.fit.quota.floor(courses.puzzle.cells).tolist()) for course in courses.courses}
    assert len(floors) == len(courses.courses) >= 9
    sums = [course.fit.quota.floor(courses.puzzle.cells).sum() for course in courses.courses]
    assert sums == sorted(sums, reverse=True)
    assert all(course.percent % FINE == 0 for course in courses.courses)


def stale(courses: Courses, share: float) -> None:
    """All that they meet is old, but for a share."""
    for course in courses.courses:
        course.work = 1e5
        course.met, course.new = 99, 100 * share


def test_a_course_that_meets_the_same_stems_again_is_left_for_a_lower_one():
    courses = made_up((100, 95), (500, 400), 1e5)
    courses.courses[0].met, courses.courses[0].new = 100, 69
    new = courses._next(10)
    assert courses.courses[new].percent == 97.5, "between both, as the lower one is worth more"


def test_where_little_is_new_less_is_asked_for_or_other_colours_are_favoured(monkeypatch):
    courses = made_up((101, 100, 95), (0, 500, 400), 1e5)
    stale(courses, 0.1)
    new = courses._next(10)
    assert (courses.courses[new].colour_set, courses.courses[new].percent) == (0, 99.5)
    monkeypatch.setattr("lns.construct.arm_value.RISE", 1e30)  # what asks for less is worth nothing,
    monkeypatch.setattr("lns.construct.arm_value.HOPE", 0)  # and of what asks for more nothing is hoped
    courses = made_up((101, 100, 95), (0, 500, 400), 1e5)
    stale(courses, 0.1)
    new = courses._next(10)
    other = courses.courses[new]
    assert other.colour_set > 0 and other.percent == 100
    assert other.fit.quota.favoured != courses.courses[0].fit.quota.favoured
    assert other.fit.quota == courses.quota(100, other.colour_set) != courses.quota(100)
    assert courses._next(10) == new, "it is given time"
    other.work, other.spent[ALL, 10], other.census[0, 0] = 1e5, 450, 450
    new = courses._next(10)
    assert courses.courses[new].colour_set == other.colour_set, "it is as good: heights around it are next"
    for _ in range(3 * COLOUR_SETS):
        stale(courses, 0.1)
        new = courses._next(10)
        courses.courses[new].spent[ALL, 10] = 450
    assert not courses._unused_sets()
    stale(courses, 0.1)
    assert 0 <= courses._next(10) < len(courses.courses), "there is always something left to do"


def test_where_little_is_new_the_board_is_seen_from_another_side_first(monkeypatch):
    """All is new there, and nearly as good, where a half-edge less is worth far less."""
    monkeypatch.setattr("lns.construct.arm_value.RISE", 1e30)
    monkeypatch.setattr("lns.construct.arm_value.HOPE", 0)
    monkeypatch.setattr("lns.construct.arm_value.SAME", 1e-3)
    views = (UPRIGHT, View(0, True), View(2, False))
    courses = made_up((102, 100, 95), (0, 500, 100), 1e5, views)
    stale(courses, 0.9 * ASIDE)
    for view in (1, 2):
        number = courses._next(10)
        new = courses.courses[number]
        assert (new.view, new.colour_set, new.percent) == (view, 0, 100)
        assert courses._next(10) == number, "it is given time"
        new.work, new.spent[ALL, 10], new.census[0, 0] = 1e5, 450, 450
        courses._begin(102, 0, view)  # barren from there, too
        stale(courses, 0.9 * ASIDE)
    stale(courses, 0.01)
    before, number = len(courses.courses), courses._next(10)
    new = courses.courses[number]
    assert len(courses.courses) == before + 1 and new.colour_set > 0 and new.view == 0, "there is no fourth side"
    places = [(one.view, one.colour_set, -one.percent) for one in courses.courses]
    assert places == sorted(places)


def test_a_side_is_not_tried_where_the_others_are_worth_far_less_than_the_first(monkeypatch):
    monkeypatch.setattr("lns.construct.arm_value.RISE", 1e30)
    monkeypatch.setattr("lns.construct.arm_value.HOPE", 0)
    for made, tried in ((500, True), (0, False)):
        courses = made_up((102, 100), (0, 500), 1e5, (UPRIGHT, View(0, True), View(2, False)))
        stale(courses, 0.5)
        for percent in (102, 100):
            number = courses._begin(percent, 0, 1)
            course = courses.courses[number]
            course.work, course.met, course.new = 1e6, 99, 49
            course.spent[ALL, 10] = course.census[0, 0] = 10 * made if percent == 100 else 0
        courses._next(10)
        assert (2 in {one.view for one in courses.courses}) == tried


def test_what_is_known_of_one_side_is_expected_of_another():
    courses = made_up((100,), (500,), 1e5, (UPRIGHT, View(0, True)))
    courses.courses[0].met, courses.courses[0].new = 99, 9  # what is old from one side is new from the other
    aside = courses._begin(100, 0, 1)
    rate = courses.boards(10)[0] / 1e5
    values, _ = worth(courses._evidence(courses.boards(10), courses._works()))
    assert values[aside] == pytest.approx(ASIDE * rate) and values[0] == pytest.approx(0.1 * rate, rel=0.02)
    courses.courses[aside].work = 1e6
    assert worth(courses._evidence(courses.boards(10), courses._works()))[0][aside] < 0.02 * rate, (
        "until it shows otherwise"
    )


def test_a_height_that_was_barren_from_one_side_is_hardly_tried_from_another():
    """As it is above the best one, three times as much would be hoped of it otherwise."""
    views = (UPRIGHT, View(0, True))
    for barren, tried in ((1e3, True), (1e8, False)):
        courses = made_up((102, 100), (0, 500), 1e5, views)
        courses.courses[0].work = barren
        aside = courses._begin(100, 0, 1)
        course = courses.courses[aside]
        course.work, course.spent[ALL, 10], course.census[0, 0] = 1e5, 500, 500
        for one in courses.courses[:2]:
            one.met, one.new = 99, 0
        courses._next(10)
        assert ([one.percent for one in courses.courses if one.view] == [102, 100]) == tried


def test_other_colours_are_left_alone_where_those_tried_were_worth_less_than_what_is_left_of_the_best(monkeypatch):
    monkeypatch.setattr("lns.construct.arm_value.RISE", 1e30)
    monkeypatch.setattr("lns.construct.arm_value.HOPE", 0)
    courses = made_up((101, 100, 95), (0, 500, 400), 1e5)
    for colours, made in ((1, 10), (2, 20)):
        for percent, found in ((101, 0), (100, made)):
            new = courses._begin(percent, colours)
            course = courses.courses[new]
            course.work, course.spent[ALL, 10], course.census[0, 0] = 1e5, found, found
    for share, others in ((0.15, False), (0.08, True)):  # (10 + 20 + 500 / 4) / 3 is between both
        stale(courses, share)
        tried = {course.colour_set for course in courses.courses}
        courses._next(10)
        assert ({course.colour_set for course in courses.courses} != tried) == others


def test_what_few_nodes_show_is_believed_only_in_part():
    """The other heights of its colours count as much as `TRUST` of a shuffle."""
    courses = made_up((101, 100, 99), (0, 500, 0), 1e5)
    high, best, low = courses.courses
    boards = courses.boards(10)
    rate = boards[1] / best.work
    for barren in (high, low):
        barren.work = 1.0
    (above, as_met, below), others = worth(courses._evidence(boards, courses._works()))
    asked = max(best.fit.quota.profile) * courses.params.quota
    assert above == pytest.approx(RISE ** (asked / 100) * rate, rel=0.01)
    assert below == pytest.approx(RISE ** (-asked / 100) * rate, rel=0.01)
    assert change(best, 150) == RISE**HOPE, "more is not hoped for, however much is asked for"
    assert rate * 0.97 < as_met < rate and others == pytest.approx(STALE * rate)
    best.met, best.new = 99, 49
    staler = worth(courses._evidence(boards, courses._works()))[0]
    assert staler[0] == pytest.approx(above / 2), "what is above is as old,"
    assert staler[2] == pytest.approx(below), "what is below is not"
    best.met = best.new = 0
    for barren in (high, low):
        barren.work = 1e6
    assert max(worth(courses._evidence(boards, courses._works()))[0][[0, 2]]) < 0.02 * rate
    alone = courses._begin(100, 1)
    values, others = worth(courses._evidence(courses.boards(10), courses._works()))
    assert values[alone] == pytest.approx(others), "nothing else is known of its colours"


def test_above_a_tree_that_was_searched_whole_is_nothing_new():
    courses = made_up((100,), (500,), 1e5)
    courses.courses[0].slack = 1
    courses._next(10)
    assert max(course.percent for course in courses.courses) == 100


def test_a_tree_that_was_searched_whole_comes_again_looser():
    courses = made_up((100, 95), (500, 100), 1e5)
    whole, other = courses.courses
    whole.slack = 1
    assert whole.outlook == LOOSER and other.outlook == 1.0
    boards = courses.boards(10)
    for slack, chosen in ((1, 0), (3, 1)):
        whole.slack = slack
        assert np.argmax(worth(courses._evidence(boards, courses._works()))[0]) == chosen
    whole.slack = 600
    assert whole.outlook == 0.0


def test_without_a_quota_all_colours_are_one():
    courses = made_up((70, 0), (5, 500), 1e5)
    courses._begin(70, 1)
    assert [(course.colour_set, course.percent) for course in courses.courses] == [(0, 70), (0, 0), (1, 70)]
    assert [courses._lower(i) for i in range(3)] == [None] * 3
    stale(courses, 0.1)
    courses.courses[0].spent[:] = courses.courses[2].spent[:] = 0
    assert courses._next(10) == 1, "nothing else is to be had"
