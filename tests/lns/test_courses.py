"""Courses: what a shuffle teaches, which course is searched next, and that a saved state is checked."""

from __future__ import annotations

import time
from itertools import combinations, product

import numpy as np
import pytest

from instances import InputError, verify
from instances.formats import load_puzzle
from instances.generate import uniform
from lns.construct.constructor import Constructor
from lns.construct.courses import COARSE, FEW, Course, Courses, chances
from lns.construct.derive import best_schedule
from lns.construct.kernel import ENDS, SAMPLE_NODES
from lns.construct.schedule import colour_classes, favoured_colours
from lns.construct.word import SLIPS
from lns.params import Construct
from lns.rng import random_state

QUICK = Construct(population=300, reshuffle_nodes=2_000_000, patience_nodes=1_000_000)


def searched(courses: Courses, target: int, shuffles: int) -> Constructor:
    """Search so many shuffles for boards of ``target``, learning from each but the last."""
    puzzle = courses.puzzle
    built = Constructor(puzzle, courses.params, courses.choose(puzzle.max_score - target), random_state(5))
    for _ in range(shuffles):
        while not built.over:
            board = built.run(500_000, target)
            assert board is None or verify(puzzle, board).score >= target
        courses.learn(built)
        built.begin(courses.choose(puzzle.max_score - target))
    return built


def test_the_census_counts_every_placement_once():
    puzzle = load_puzzle("like-e2-10x10")
    params = Construct(population=300, quota=0.0)
    courses = Courses(puzzle, params, random_state(1))
    built = Constructor(puzzle, params, courses.choose(20), random_state(2))
    built.run(3_000_000, puzzle.max_score)
    assert built.prefixes > 0 and not built.over
    counted = built.prefix.census.reshape(puzzle.cells, 2, SLIPS)
    assert counted.sum() == built.nodes_of_shuffle
    allowed = built.schedule.allowed
    for depth in range(puzzle.cells):
        assert not counted[depth, :, allowed[depth] + 1 :].any(), "no prefix spends more than its schedule allows"
        assert not counted[depth, 1, 0].any(), "a slipping placement has spent a slip"
    course = courses.courses[0]
    course.learn(built)
    first = int(built.schedule.unlock[0])
    assert course.census[2, :first].sum() == 0, "before the first unlock nothing slips"
    known = course.known()
    busy = int(course.census[1].argmax())
    met = course.census[0, busy] / course.census[1, busy]
    assert min(met, course.fit.exact[busy]) <= known.exact[busy] <= max(met, course.fit.exact[busy])
    assert abs(known.exact[busy] - met) < abs(known.exact[busy] - course.fit.exact[busy]), "what was met counts most"


def test_prefixes_are_counted_by_slips_and_some_are_finished_as_well_as_can_be():
    puzzle = load_puzzle("like-e2-10x10")
    courses = Courses(puzzle, Construct(population=300, quota=0.0), random_state(1))
    built = Constructor(puzzle, courses.params, courses.choose(puzzle.max_score - 165), random_state(2))
    for _ in range(40):
        built.run(1_000_000, puzzle.max_score)
        if built.over:
            break
    assert built.spent.sum() == built.prefixes > 0
    assert not built.spent[built.schedule.allowed[built.schedule.cut - 1] + 1 :].any()
    assert 0 < built.ends.sum() <= 1 + built.nodes // SAMPLE_NODES


def test_boards_that_are_expected_are_those_that_come():
    """Prefixes by slips and sampled ends foretell, about, how many boards of a score an exhaustive count finds."""
    puzzle = load_puzzle("like-e2-10x10")
    courses = Courses(puzzle, Construct(population=300, quota=0.0, reshuffle_nodes=10**9), random_state(1))
    target = 168
    built = Constructor(puzzle, courses.params, courses.choose(puzzle.max_score - target), random_state(2))
    boards = 0
    while built.nodes < 40_000_000:
        if built.over:
            courses.learn(built)
            built.begin(built.schedule)
        boards += built.run(1_000_000, target) is not None
    courses.learn(built)
    (expected,), _ = courses.boards(puzzle.max_score - target)
    assert boards > 20 and boards / 2 < expected < 2 * boards, (boards, expected)


def test_chances_too_small_to_be_met_fall_as_forecast():
    finish = np.array([0.001, 0.01, 0.2, 2.0, 10.0, 10.0, *[10.0] * (ENDS - 6)])
    ends = np.zeros(ENDS + 1)
    ends[2:6] = 1, 99, 900, 9000
    chance = chances(ends, finish)
    assert chance[3:6].tolist() == [0.01, 0.1, 1.0]
    assert ends[2] < FEW, "what was met by luck tells nothing"
    assert chance[:3].tolist() == pytest.approx([0.01 / 2000, 0.01 / 200, 0.01 / 10])
    assert chances(np.zeros(ENDS + 1), finish).tolist() == pytest.approx((finish / 10).tolist()), "nothing is known yet"
    assert not chances(ends[::-1], np.zeros(ENDS))[:11].any()


def test_a_perfect_board_is_no_reason_to_stop_learning():
    puzzle = load_puzzle("like-e2-4x4")
    courses = Courses(puzzle, Construct(population=100, aim_below=0), random_state(1))
    assert courses.choose(-1).cut == courses.choose(0).cut


def test_a_dear_tail_is_sampled_more_rarely():
    puzzle = load_puzzle("like-e2-10x10")
    params = Construct(population=300, quota=0.0, tail=12)
    courses = Courses(puzzle, params, random_state(1))
    built = Constructor(puzzle, params, courses.choose(8), random_state(2))
    while built.nodes < 3_000_000:
        built.run(1_000_000, puzzle.max_score)
        if built.over:
            built.begin(built.schedule)
    assert 0 < built.tail_nodes < built.nodes / 20


@pytest.mark.parametrize("name", ["like-e2-8x8", "like-e2-12x20", "uniform-10x10"])
def test_some_course_makes_prefixes_on_any_instance(name):
    puzzle = load_puzzle(name)
    courses = Courses(puzzle, QUICK, random_state(1))
    built = searched(courses, puzzle.max_score - 3, 12)
    assert built.prefixes > 0
    assert 100 in [course.percent for course in courses.courses]


def test_a_course_that_flows_is_not_left_for_one_that_does_not():
    """By hand-made counts: the best course is searched on, one above it gets its chance first."""
    puzzle = load_puzzle("like-e2-8x8")
    courses = Courses(puzzle, Construct(population=100, reshuffle_nodes=1000), random_state(1))
    courses.ends[0] = 10**6  # every tail fits
    for percent in COARSE[:3]:
        courses._begin(percent)
    for course, boards, work in zip(courses.courses, (0, 500, 100), (500.0, 900.0, 900.0), strict=True):
        course.spent[10], course.census[0, 0], course.work = boards, boards, work
    assert courses._next(10) == 0, "little is known of the highest yet"
    for course in courses.courses:
        course.work = 1e5
    new = courses._next(10)
    assert courses.courses[new].percent == 98, "the best is known well: one between it and the barren one above it"
    courses.courses[new].work = 1e5
    assert courses._next(10) == 2 and courses.courses[2].percent == 97, "that one is barren too: one nearer to the best"
    courses.courses[2].work = 1e5
    courses._next(10)
    assert [course.percent for course in courses.courses] == [100, 98, 97, 96, 95, 90]
    courses.courses[3].work = 1e5
    new = courses._next(10)
    assert courses.courses[new].percent == 94, "nothing is left between them: one below it"
    courses.courses[new].work = 1e5
    assert courses._next(10) == 4
    courses.courses[-1].spent[10] = 100_000
    for percent in (92, 91):
        new = courses._next(10)
        assert courses.courses[new].percent == percent
        courses.courses[new].work = 1e5
    new = courses._next(10)
    assert courses.courses[new].percent == 85, "the lowest is best: one lower is tried"


def test_above_a_course_that_is_the_highest_and_the_best_one_is_tried():
    puzzle = load_puzzle("like-e2-8x8")
    courses = Courses(puzzle, Construct(population=100, reshuffle_nodes=1000), random_state(1))
    courses.ends[0] = 10**6
    for percent in COARSE[:2]:
        courses._begin(percent)
    for course, boards in zip(courses.courses, (500, 100), strict=True):
        course.spent[10], course.census[0, 0], course.work = boards, boards, 1e5
    assert courses._next(10) == 0 and courses.courses[0].percent == 101
    assert courses._next(10) == 0, "it is given time"
    courses.courses[0].work = 1e6
    assert courses._next(10) == 2
    assert [course.percent for course in courses.courses] == [101, 100, 99, 95]


def test_a_course_that_meets_the_same_prefixes_again_is_left():
    """By hand-made counts: for a lower height first, then, where that is worth half as much, for other colours."""
    puzzle = load_puzzle("like-e2-8x8")
    courses = Courses(puzzle, Construct(population=100, reshuffle_nodes=1000), random_state(1))
    courses.ends[0] = 10**6
    for percent in COARSE[:2]:
        courses._begin(percent)
    for course, boards in zip(courses.courses, (500, 400), strict=True):
        course.spent[10], course.census[0, 0], course.work = boards, boards, 1e5
    courses.courses[0].fresh = 0.7
    new = courses._next(10)
    assert courses.courses[new].percent == 98, "between both, as the lower one is worth more"
    courses.courses[0].fresh = courses.courses[1].fresh = courses.courses[2].fresh = 0.1
    courses.courses[2].work = 1e5
    new = courses._next(10)
    other = courses.courses[new]
    assert other.favour > 0 and other.percent == 100
    assert other.fit.quota.favoured != courses.courses[0].fit.quota.favoured
    other.work, other.spent[10] = 1e5, 450
    new = courses._next(10)
    assert courses.courses[new].favour == other.favour, "they are as good: heights around it are next"
    while courses._not_favoured():
        for course in courses.courses:
            course.work, course.fresh = 1e5, 0.1
        courses._next(10)
    for course in courses.courses:
        course.work, course.fresh = 1e5, 0.1
    courses.courses[0].fresh = 0.3
    courses._next(10)  # every set of colours is in use
    for course in courses.courses:
        course.work, course.fresh = 1e5, 0.0
    new = courses._next(10)
    assert courses.courses[new].percent == 90, "all trees were searched whole: a lower height for all"


def test_shuffles_of_a_small_board_do_not_repeat_each_other():
    """A tree that was searched whole is not begun again while others promise boards."""
    puzzle = load_puzzle("like-e2-8x8")
    courses = Courses(puzzle, Construct(population=300), random_state(1))
    built = Constructor(puzzle, courses.params, courses.choose(4), random_state(5))
    done: set[tuple[int, int]] = set()
    for _ in range(12):
        course = courses.courses[courses.now]
        assert (course.favour, course.percent) not in done or all(one.fresh == 0 for one in courses.courses)
        while not built.over:
            built.run(500_000, puzzle.max_score)
        courses.learn(built)
        if built.exhausted:
            assert course.fresh == 0
            done.add((course.favour, course.percent))
        built.begin(courses.choose(4))
    assert done


def test_no_slip_is_spent_while_a_quota_asks_for_anything():
    """The forecast sees no slips there, so that an unlock is worth as much too early as in time."""
    puzzle = load_puzzle("like-e2-10x10")
    courses = Courses(puzzle, Construct(population=300), random_state(1))
    for percent in (107, 105, 103):
        courses.now = courses._begin(percent)
        course = courses.courses[courses.now]
        courses.aim = best_schedule(course.known(), puzzle, courses.params, 7)
        schedule = courses.schedule()
        assert (schedule.floor > 0).any() and not (schedule.floor[schedule.allowed > 0] > 0).any()


def test_trees_searched_whole_are_not_searched_for_ever():
    puzzle = load_puzzle("like-e2-4x4")
    courses = Courses(puzzle, Construct(population=100), random_state(1))
    searched(courses, puzzle.max_score, 30)
    assert all(course.slack == course.shuffles for course in courses.courses)
    assert sum(course.shuffles for course in courses.courses) == 30


def test_a_state_of_courses_comes_back_or_is_refused():
    puzzle = load_puzzle("like-e2-10x10")
    courses = Courses(puzzle, QUICK, random_state(1))
    searched(courses, 178, 3)
    state = courses.state()
    again = Courses(puzzle, QUICK, random_state(9))
    again.restore(state)
    assert all(np.array_equal(value, again.state()[name]) for name, value in state.items())
    assert np.array_equal(again.schedule().need, courses.schedule().need)
    for name, value in (
        ("fits", -state["fits"] - 1),
        ("fits", np.full_like(state["fits"], np.nan)),
        ("numbers", state["numbers"][:0]),
        ("numbers", np.full_like(state["numbers"], 1000.0)),
        ("numbers", state["numbers"] + 0.5),
        ("numbers", state["numbers"] + np.array([0, 2.0, 0, 0, 0, 0])),
        ("numbers", state["numbers"] + np.array([0, 0, 0, 0, 32.0, 0])),
        ("met", state["met"][:0]),
        ("met", state["met"][::-1]),
        ("spent", np.full_like(state["spent"], 1e300)),
        ("unlock", np.array([puzzle.cells + 1])),
        ("unlock", np.full(SLIPS, 3)),
        ("aim", np.array([99.0, 5.0, 0.0])),
        ("aim", np.array([0.0, 1e6, 0.0])),
        ("spent", np.zeros((20, SLIPS))),
        ("spent", np.full_like(state["spent"], -1.0)),
        ("ends", np.zeros(3)),
    ):
        with pytest.raises(InputError):
            Courses(puzzle, QUICK, random_state(1)).restore({**state, name: value})


def test_a_barren_shuffle_teaches_only_that_it_was_barren():
    puzzle = load_puzzle("like-e2-16x16")
    params = Construct(population=100, patience_nodes=1000)
    courses = Courses(puzzle, params, random_state(1))
    built = Constructor(puzzle, params, courses.choose(15), random_state(2))
    built.run(10_000, puzzle.max_score)
    assert built.over and built.barren
    course: Course = courses.courses[0]
    course.learn(built)
    assert course.barren and course.shuffles == 1 and course.work >= 1000


def test_favoured_colours_are_those_of_the_fewest_pieces():
    puzzle = load_puzzle("like-e2-8x8")
    outer, inner = colour_classes(puzzle)
    for sizes in ((0, 0), (1, 2), (2, 1), (9, 2)):
        sets = product(combinations(outer, min(sizes[0], len(outer))), combinations(inner, sizes[1]))
        carried = {a + b: int(np.isin(puzzle.pieces, a + b).any(axis=1).sum()) for a, b in sets}
        assert favoured_colours(puzzle, *sizes) == min(carried, key=lambda colours: (carried[colours], colours))


def test_hundreds_of_colours_are_no_reason_to_wait():
    puzzle = uniform(16, 16, 400, 1).puzzle
    began = time.process_time()
    for sizes in ((1, 2), (5, 8)):
        assert len(favoured_colours(puzzle, *sizes)) in (sum(sizes), sizes[1])
    assert time.process_time() - began < 3
