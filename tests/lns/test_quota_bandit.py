"""Courses: what a shuffle teaches, and that a saved state is checked; which one is searched next: test_worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from instances import InputError, verify
from instances.formats import load_puzzle
from lns.construct.constructor import Constructor
from lns.construct.kernel import ENDS, RARE, SAMPLE_NODES
from lns.construct.packed_candidate import SLIPS
from lns.construct.quota_arm import ALL, FEW, LOOSER, NEW, Course, chances
from lns.construct.quota_bandit import COLOUR_SETS, Courses
from lns.construct.schedule_search import best_schedule, schedule_for
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
    course.learn(built, 0, 0)
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
    (expected,) = courses.boards(puzzle.max_score - target)
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


def one_shuffle() -> tuple[Courses, Constructor]:
    """Of a small board: it is over, and nothing was learned of it yet."""
    puzzle = load_puzzle("like-e2-8x8")
    courses = Courses(puzzle, Construct(population=300), random_state(1))
    built = Constructor(puzzle, courses.params, courses.choose(4), random_state(5))
    while not built.over:
        built.run(500_000, puzzle.max_score)
    return courses, built


def test_shuffles_teach_a_course_what_is_new():
    """Through a whole tree: all of it is new once; looser ones are other trees, and are expected to be worth less."""
    courses, built = one_shuffle()
    assert built.exhausted and built.prefixes
    course = courses.courses[courses.now]
    courses.learn(built)
    assert course.slack == 1 and course.outlook == LOOSER
    assert np.array_equal(course.spent[NEW], course.spent[ALL]) and course.spent[ALL].sum() == built.prefixes
    stems = np.arange(1, 9, dtype=np.uint64) * np.uint64(RARE)
    built.begin(built.schedule)
    built.exhausted = False
    for number, share in enumerate((1.0, 1 / 9)):  # the same stems twice
        built.prefix.stems[0], built.prefix.stems[1:9] = 8, stems
        built.spent[:] = 0
        built.spent[2] = 900
        before, foretold = course.spent[NEW, 2], courses.foretold(built)
        courses.learn(built)
        built.begin(built.schedule)
        assert courses.foretold(built) == pytest.approx(foretold), "what is learned is counted once"
        assert course.spent[NEW, 2] - before == pytest.approx(900 * share), number
    assert course.outlook == pytest.approx((8 / 2 + 1) / (8 / 2 + 8 + 1) * LOOSER)
    before_outlook = course.outlook
    built.prefix.stems[0] = 0
    courses.learn(built)
    assert course.outlook == before_outlook, "a shuffle that met nothing tells nothing"


def test_what_is_foretold_counts_new_prefixes_alone():
    puzzle = load_puzzle("like-e2-8x8")
    courses = Courses(puzzle, Construct(population=300), random_state(1))
    built = Constructor(puzzle, courses.params, courses.choose(4), random_state(5))
    assert courses.foretold(built) is None
    built.run(3_000_000, puzzle.max_score)
    built.prefix.stems[0], built.prefix.stems[1:9] = 8, np.arange(1, 9, dtype=np.uint64) * np.uint64(RARE)
    first = courses.foretold(built)
    courses.stems.add(built.stems)
    again = courses.foretold(built)
    assert first is not None and again is not None and puzzle.max_score - 15 < again < first < puzzle.max_score


def test_what_the_tail_finds_is_no_word_on_its_cells():
    """Their children are in no census: what populations say of them stands."""
    courses, built = one_shuffle()
    courses.learn(built)
    course, cut = courses.courses[0], built.schedule.cut
    assert built.prefixes > 1000 and course.census[:, cut - 1].any()
    for said, known in ((course.fit.exact, course.known().exact), (course.fit.slipping, course.known().slipping)):
        assert known[cut:].tolist() == pytest.approx(said[cut:].tolist())


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
        shifted = schedule_for(course.fit, courses.aim, puzzle, replace(courses.params, slip_shift=40))
        assert not (shifted.floor[shifted.allowed > 0] > 0).any()


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
    courses._begin(90, 3)
    courses.stems.add(np.arange(1, 9, dtype=np.uint64) * np.uint64(RARE))
    state = courses.state()
    again = Courses(puzzle, QUICK, random_state(9))
    again.restore(state)
    assert all(np.array_equal(value, again.state()[name]) for name, value in state.items())
    assert np.array_equal(again.schedule().need, courses.schedule().need)
    for one, other in zip(again.courses, courses.courses, strict=True):
        assert one.fit.quota == other.fit.quota and one.outlook == other.outlook
    for name, value in (
        ("fits", -state["fits"] - 1),
        ("fits", np.full_like(state["fits"], np.nan)),
        ("numbers", state["numbers"][:0]),
        ("numbers", np.full_like(state["numbers"], 1000.0)),
        ("numbers", state["numbers"] + 0.5),
        ("numbers", state["numbers"] + np.array([0, 0, 0, 0, 0, 0, 0, 2.0])),
        ("numbers", state["numbers"] + np.array([0, COLOUR_SETS, 0, 0, 0, 0, 0, 0])),
        ("numbers", state["numbers"] + np.array([1, 0, 0, 0, 0, 0, 0, 0])),
        ("numbers", state["numbers"] + np.array([0, 0, 51.0, 0, 0, 0, 0, 0])),
        ("numbers", state["numbers"][::-1]),
        ("stems", state["stems"][:0]),
        ("stems", state["stems"][::-1]),
        ("unlock", np.array([70, 63])),
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
    course.learn(built, 0, 0)
    assert course.barren and course.shuffles == 1 and course.work >= 1000
