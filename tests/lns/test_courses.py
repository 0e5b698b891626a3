"""Courses: what a shuffle teaches, which course is searched next, and that a saved state is checked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from instances import InputError, verify
from instances.formats import load_puzzle
from lns.construct.constructor import Constructor
from lns.construct.course import ALL, FEW, LOOSER, NEW, Course, chances, expected_boards
from lns.construct.courses import COARSE, COLOUR_SETS, FINE, OUTDONE, Courses
from lns.construct.derive import best_schedule, schedule_for
from lns.construct.kernel import ENDS, RARE, SAMPLE_NODES
from lns.construct.schedule import Schedule
from lns.construct.word import SLIPS
from lns.construct.worth import HOPE, RISE, STALE, change
from lns.params import Construct, from_dict
from lns.rng import random_state
from lns.search import Search

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
    monkeypatch.setattr("lns.construct.courses.TRUST", 0.0)
    monkeypatch.setattr("lns.construct.courses.TRUST_SHARE", 0.0)
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
    rival.colour_set = 1
    assert not courses.outdone(built, 20), "other colours are for `_something_new`"


def test_shuffles_are_told_what_their_colours_were_searched(monkeypatch):
    courses = made_up((100, 95), (500, 400), 1e5)
    other = courses._begin(100, 3)
    courses.courses[other].work = 7.0
    for courses.now, work in ((0, 200_000), (1, 200_000), (2, 7)):
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


def made_up(percents: tuple[float, ...], boards: tuple[int, ...], work: float) -> Courses:
    """Courses whose shuffles made so many boards each in so much work."""
    courses = Courses(load_puzzle("like-e2-8x8"), Construct(population=100, reshuffle_nodes=1000), random_state(1))
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
    monkeypatch.setattr("lns.construct.worth.RISE", 1e30)  # what asks for less is worth nothing,
    monkeypatch.setattr("lns.construct.worth.HOPE", 0)  # and of what asks for more nothing is hoped
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


def test_other_colours_are_left_alone_where_those_tried_were_worth_less_than_what_is_left_of_the_best(monkeypatch):
    monkeypatch.setattr("lns.construct.worth.RISE", 1e30)
    monkeypatch.setattr("lns.construct.worth.HOPE", 0)
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
    (above, as_met, below), others = courses._worth(boards, courses._works())
    asked = max(best.fit.quota.profile) * courses.params.quota
    assert above == pytest.approx(RISE ** (asked / 100) * rate, rel=0.01)
    assert below == pytest.approx(RISE ** (-asked / 100) * rate, rel=0.01)
    assert change(best, 150) == RISE**HOPE, "more is not hoped for, however much is asked for"
    assert rate * 0.97 < as_met < rate and others == pytest.approx(STALE * rate)
    best.met, best.new = 99, 49
    staler = courses._worth(boards, courses._works())[0]
    assert staler[0] == pytest.approx(above / 2), "what is above is as old,"
    assert staler[2] == pytest.approx(below), "what is below is not"
    best.met = best.new = 0
    for barren in (high, low):
        barren.work = 1e6
    assert max(courses._worth(boards, courses._works())[0][[0, 2]]) < 0.02 * rate
    alone = courses._begin(100, 1)
    worth, others = courses._worth(courses.boards(10), courses._works())
    assert worth[alone] == pytest.approx(others), "nothing else is known of its colours"


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
        assert np.argmax(courses._worth(boards, courses._works())[0]) == chosen
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
        ("numbers", state["numbers"] + np.array([0, 0, 0, 0, 0, 0, 2.0])),
        ("numbers", state["numbers"] + np.array([COLOUR_SETS, 0, 0, 0, 0, 0, 0])),
        ("numbers", state["numbers"] + np.array([0, 51.0, 0, 0, 0, 0, 0])),
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
