"""Which arm is searched next and which shuffle is cut short, by what the arms are worth; counts are made up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from instances.formats import load_puzzle
from instances.symmetry import IDENTITY_VIEW, View
from lns.construct.arm_value import (
    BEST_COLOURS_WEIGHT,
    MAX_EXTRA_HALF_EDGES,
    OTHER_VIEW_DISCOUNT,
    RATE_PER_HALF_EDGE,
    arm_rates,
    prior_rate_factor,
)
from lns.construct.constructor import Constructor
from lns.construct.packed_candidate import MAX_BREAKS
from lns.construct.quota_arm import ALL, RATE_FACTOR_PER_EXTRA_BREAK, expected_boards
from lns.construct.quota_bandit import ABANDON_RATIO, COARSE_SCALES, COLOUR_SETS, SCALE_STEP, QuotaBandit
from lns.construct.schedule import BreakSchedule
from lns.main_engine import MainEngine
from lns.params import ConstructParams, from_dict
from lns.rng import random_state


def test_a_arm_that_flows_is_not_left_for_one_that_does_not():
    """By hand-made counts: the best arm is searched on, one above it gets its chance first."""
    puzzle = load_puzzle("like-e2-8x8")
    arms = QuotaBandit(puzzle, ConstructParams(population=100, restart_nodes=1000), random_state(1))
    arms.tail_outcomes[0] = 10**6  # every tail fits
    for percent in COARSE_SCALES[:3]:
        arms.add_arm(percent)
    for arm, boards, work in zip(arms.arms, (0, 500, 100), (500.0, 900.0, 900.0), strict=True):
        arm.prefixes_by_breaks[ALL, 10], arm.child_counts[0, 0], arm.node_equivalents = boards, boards, work
    assert arms._choose_arm(10) == 0, "little is known of the highest yet"
    for arm in arms.arms:
        arm.node_equivalents = 1e5
    new = arms._choose_arm(10)
    assert arms.arms[new].scale_percent == 97.5, "the best is known well: one between it and the barren one above it"
    arms.arms[new].node_equivalents = 1e5
    assert arms._choose_arm(10) == 2, "that one is barren too, and nothing else is left between them"
    arms.arms[2].keys_seen, arms.arms[2].keys_new = 99, 29
    new = arms._choose_arm(10)
    assert arms.arms[new].scale_percent == 94.5, "the best meets little that is new; below it is more"
    arms.arms[new].node_equivalents = 1e5
    arms.arms[2].keys_seen = arms.arms[2].keys_new = 0
    assert arms._choose_arm(10) == 2
    arms.arms[-1].prefixes_by_breaks[ALL, 10] = 100_000
    new = arms._choose_arm(10)
    assert arms.arms[new].scale_percent == 92.5
    arms.arms[new].node_equivalents = 1e5
    new = arms._choose_arm(10)
    assert arms.arms[new].scale_percent == 85, "the lowest is best: one lower is tried"


def test_a_shuffle_ends_where_another_height_is_worth_far_more(monkeypatch):
    """By hand-made counts: a height ends soon if it is known to be far worse, and no other colours end it."""
    puzzle = load_puzzle("like-e2-10x10")
    arms = QuotaBandit(puzzle, ConstructParams(population=300, quota_scale=0.5), random_state(1))
    built = Constructor(puzzle, arms.params, arms.choose_schedule(20), random_state(2))
    while built.no_prefix_found or built.nodes_since_restart < 1_000_000:
        built.run(200_000, puzzle.max_score)
        if built.restart_due:
            built.restart(built.schedule)
    arms.params = replace(arms.params, restart_nodes=int(8 * built.nodes_since_restart))
    now = arms.arms[arms.current]
    assert not arms.should_abandon(built, 20), "there is no other one"
    other = arms.add_arm(90)
    rival = arms.arms[other]
    arms.current = arms.arms.index(now)
    mine = (
        expected_boards(built.prefixes_by_breaks, arms._tail_probabilities(built.tail_outcomes), 20)[-1]
        / built.node_equivalents_since_restart
    )
    rival.node_equivalents = float(10**9)
    monkeypatch.setattr("lns.construct.quota_bandit.PRIOR_RESTARTS", 0.0)
    monkeypatch.setattr("lns.construct.quota_bandit.PRIOR_SHARE", 0.0)
    for share, ends in ((0.9 * ABANDON_RATIO, True), (1.1 * ABANDON_RATIO, False)):
        boards = rival.novelty_rate * mine / share * rival.node_equivalents
        rival.prefixes_by_breaks[ALL] = (
            boards
            / expected_boards(np.eye(MAX_BREAKS)[0], arms._tail_probabilities(built.tail_outcomes), 20)[-1]
            * np.eye(MAX_BREAKS)[0]
        )
        assert arms.should_abandon(built, 20) is ends
    rival.prefixes_by_breaks[ALL] *= 100
    assert arms.should_abandon(built, 20)
    arms.params = replace(arms.params, restart_nodes=8 * built.nodes_since_restart + 8)
    assert not arms.should_abandon(built, 20), "it is too early to tell"
    arms.params = replace(arms.params, restart_nodes=1000)
    rival.view = 1
    assert arms.should_abandon(built, 20), "from whatever side"
    rival.colour_set = 1
    assert not arms.should_abandon(built, 20), "other colours are for `_best_or_new`"


def test_shuffles_are_told_what_their_colours_were_searched(monkeypatch):
    arms = made_up((100, 95), (500, 400), 1e5, (IDENTITY_VIEW, View(0, True)))
    for work, other in ((7.0, (100, 3)), (8.0, (100, 0, 1))):
        new = arms.add_arm(*other)
        arms.arms[new].node_equivalents = work
    for arms.current, work in ((0, 200_000), (1, 200_000), (2, 7), (3, 8)):
        assert arms.nodes_before == work
    quick = from_dict(
        {"construct": {"restart_nodes": 100_000, "restart_nodes_without_prefix": 1000, "population": 100}}
    )
    search = MainEngine(load_puzzle("like-e2-8x8"), quick, 1, 0)
    while (built := search.constructor) is None:
        search.step(112)
    told, begin = [], built.restart

    def noted(schedule: BreakSchedule, before: int) -> None:
        told.append((before, search.bandit.nodes_before))
        begin(schedule, before)

    monkeypatch.setattr(built, "restart", noted)
    while len(told) < 5:
        search.step(112)
    assert all(before == work for before, work in told) and told[0][0] > 0


def test_above_a_arm_that_is_the_highest_and_the_best_one_is_tried():
    puzzle = load_puzzle("like-e2-8x8")
    arms = QuotaBandit(puzzle, ConstructParams(population=100, restart_nodes=1000), random_state(1))
    arms.tail_outcomes[0] = 10**6
    for percent in COARSE_SCALES[:2]:
        arms.add_arm(percent)
    for arm, boards in zip(arms.arms, (500, 100), strict=True):
        arm.prefixes_by_breaks[ALL, 10], arm.child_counts[0, 0], arm.node_equivalents = boards, boards, 1e5
    assert arms._choose_arm(10) == 0 and arms.arms[0].scale_percent == 102, "101% is no half-edge more"
    assert arms._choose_arm(10) == 0, "it is given time"
    arms.arms[0].node_equivalents = 1e6
    assert arms._choose_arm(10) == 1
    assert [arm.scale_percent for arm in arms.arms] == [102, 100, 95]


def made_up(
    percents: tuple[float, ...], boards: tuple[int, ...], work: float, views: Sequence[View] = (IDENTITY_VIEW,)
) -> QuotaBandit:
    """Courses whose shuffles made so many boards each in so much work."""
    puzzle, params = load_puzzle("like-e2-8x8"), ConstructParams(population=100, restart_nodes=1000)
    arms = QuotaBandit(puzzle, params, random_state(1), views)
    arms.tail_outcomes[0] = 10**6  # every tail fits
    for percent in percents:
        arms.add_arm(percent)
    for arm, found in zip(arms.arms, boards, strict=True):
        arm.prefixes_by_breaks[ALL, 10], arm.child_counts[0, 0], arm.node_equivalents = found, found, work
    return arms


@pytest.mark.parametrize("name", ["like-e2-8x8", "like-e2-12x20", "like-e2-16x16"])
def test_every_height_asks_for_something_else(name):
    """Half-edges are whole: on a small board 101% asks for what 100% does."""
    arms = QuotaBandit(load_puzzle(name), ConstructParams(population=100), random_state(1))
    arms.add_arm(100)
    for _ in range(4):
        for tried in (arms._scale_above(0), arms._scale_below(0), arms._scale_below(len(arms.arms) - 1)):
            if tried is not None and tried not in [arm.scale_percent for arm in arms.arms]:
                arms.add_arm(tried)
    floors = {tuple(arm.prior.quota.floor(arms.puzzle.cells).tolist()) for arm in arms.arms}
    assert len(floors) == len(arms.arms) >= 9
    sums = [arm.prior.quota.floor(arms.puzzle.cells).sum() for arm in arms.arms]
    assert sums == sorted(sums, reverse=True)
    assert all(arm.scale_percent % SCALE_STEP == 0 for arm in arms.arms)


def stale(arms: QuotaBandit, share: float) -> None:
    """All that they meet is old, but for a share."""
    for arm in arms.arms:
        arm.node_equivalents = 1e5
        arm.keys_seen, arm.keys_new = 99, 100 * share


def test_a_arm_that_meets_the_same_stems_again_is_left_for_a_lower_one():
    arms = made_up((100, 95), (500, 400), 1e5)
    arms.arms[0].keys_seen, arms.arms[0].keys_new = 100, 69
    new = arms._choose_arm(10)
    assert arms.arms[new].scale_percent == 97.5, "between both, as the lower one is worth more"


@pytest.mark.slow
def test_where_little_is_new_less_is_asked_for_or_other_colours_are_favoured(monkeypatch):
    arms = made_up((101, 100, 95), (0, 500, 400), 1e5)
    stale(arms, 0.1)
    new = arms._choose_arm(10)
    assert (arms.arms[new].colour_set, arms.arms[new].scale_percent) == (0, 99.5)
    monkeypatch.setattr("lns.construct.arm_value.RATE_PER_HALF_EDGE", 1e30)  # what asks for less is worth nothing,
    monkeypatch.setattr("lns.construct.arm_value.MAX_EXTRA_HALF_EDGES", 0)  # and of what asks for more nothing is hoped
    arms = made_up((101, 100, 95), (0, 500, 400), 1e5)
    stale(arms, 0.1)
    new = arms._choose_arm(10)
    other = arms.arms[new]
    assert other.colour_set > 0 and other.scale_percent == 100
    assert other.prior.quota.favoured != arms.arms[0].prior.quota.favoured
    assert other.prior.quota == arms.quota(100, other.colour_set) != arms.quota(100)
    assert arms._choose_arm(10) == new, "it is given time"
    other.node_equivalents, other.prefixes_by_breaks[ALL, 10], other.child_counts[0, 0] = 1e5, 450, 450
    new = arms._choose_arm(10)
    assert arms.arms[new].colour_set == other.colour_set, "it is as good: heights around it are next"
    for _ in range(3 * COLOUR_SETS):
        stale(arms, 0.1)
        new = arms._choose_arm(10)
        arms.arms[new].prefixes_by_breaks[ALL, 10] = 450
    assert not arms._unused_sets()
    stale(arms, 0.1)
    assert 0 <= arms._choose_arm(10) < len(arms.arms), "there is always something left to do"


def test_where_little_is_new_the_board_is_seen_from_another_side_first(monkeypatch):
    """All is new there, and nearly as good, where a half-edge less is worth far less."""
    monkeypatch.setattr("lns.construct.arm_value.RATE_PER_HALF_EDGE", 1e30)
    monkeypatch.setattr("lns.construct.arm_value.MAX_EXTRA_HALF_EDGES", 0)
    monkeypatch.setattr("lns.construct.arm_value.SAME_SCALE_HALF_EDGES", 1e-3)
    views = (IDENTITY_VIEW, View(0, True), View(2, False))
    arms = made_up((102, 100, 95), (0, 500, 100), 1e5, views)
    stale(arms, 0.9 * OTHER_VIEW_DISCOUNT)
    for view in (1, 2):
        number = arms._choose_arm(10)
        new = arms.arms[number]
        assert (new.view, new.colour_set, new.scale_percent) == (view, 0, 100)
        assert arms._choose_arm(10) == number, "it is given time"
        new.node_equivalents, new.prefixes_by_breaks[ALL, 10], new.child_counts[0, 0] = 1e5, 450, 450
        arms.add_arm(102, 0, view)  # barren from there, too
        stale(arms, 0.9 * OTHER_VIEW_DISCOUNT)
    stale(arms, 0.01)
    before, number = len(arms.arms), arms._choose_arm(10)
    new = arms.arms[number]
    assert len(arms.arms) == before + 1 and new.colour_set > 0 and new.view == 0, "there is no fourth side"
    places = [(one.view, one.colour_set, -one.scale_percent) for one in arms.arms]
    assert places == sorted(places)


def test_a_side_is_not_tried_where_the_others_are_worth_far_less_than_the_first(monkeypatch):
    monkeypatch.setattr("lns.construct.arm_value.RATE_PER_HALF_EDGE", 1e30)
    monkeypatch.setattr("lns.construct.arm_value.MAX_EXTRA_HALF_EDGES", 0)
    for made, tried in ((500, True), (0, False)):
        arms = made_up((102, 100), (0, 500), 1e5, (IDENTITY_VIEW, View(0, True), View(2, False)))
        stale(arms, 0.5)
        for percent in (102, 100):
            number = arms.add_arm(percent, 0, 1)
            arm = arms.arms[number]
            arm.node_equivalents, arm.keys_seen, arm.keys_new = 1e6, 99, 49
            arm.prefixes_by_breaks[ALL, 10] = arm.child_counts[0, 0] = 10 * made if percent == 100 else 0
        arms._choose_arm(10)
        assert (2 in {one.view for one in arms.arms}) == tried


def test_what_is_known_of_one_side_is_expected_of_another():
    arms = made_up((100,), (500,), 1e5, (IDENTITY_VIEW, View(0, True)))
    arms.arms[0].keys_seen, arms.arms[0].keys_new = 99, 9  # what is old from one side is new from the other
    aside = arms.add_arm(100, 0, 1)
    rate = arms.boards(10)[0] / 1e5
    values, _ = arm_rates(arms._evidence(arms.boards(10), arms._costs()))
    assert values[aside] == pytest.approx(OTHER_VIEW_DISCOUNT * rate) and values[0] == pytest.approx(
        0.1 * rate, rel=0.02
    )
    arms.arms[aside].node_equivalents = 1e6
    assert arm_rates(arms._evidence(arms.boards(10), arms._costs()))[0][aside] < 0.02 * rate, "until it shows otherwise"


def test_a_height_that_was_barren_from_one_side_is_hardly_tried_from_another():
    """As it is above the best one, three times as much would be hoped of it otherwise."""
    views = (IDENTITY_VIEW, View(0, True))
    for barren, tried in ((1e3, True), (1e8, False)):
        arms = made_up((102, 100), (0, 500), 1e5, views)
        arms.arms[0].node_equivalents = barren
        aside = arms.add_arm(100, 0, 1)
        arm = arms.arms[aside]
        arm.node_equivalents, arm.prefixes_by_breaks[ALL, 10], arm.child_counts[0, 0] = 1e5, 500, 500
        for one in arms.arms[:2]:
            one.keys_seen, one.keys_new = 99, 0
        arms._choose_arm(10)
        assert ([one.scale_percent for one in arms.arms if one.view] == [102, 100]) == tried


def test_other_colours_are_left_alone_where_those_tried_were_worth_less_than_what_is_left_of_the_best(monkeypatch):
    monkeypatch.setattr("lns.construct.arm_value.RATE_PER_HALF_EDGE", 1e30)
    monkeypatch.setattr("lns.construct.arm_value.MAX_EXTRA_HALF_EDGES", 0)
    arms = made_up((101, 100, 95), (0, 500, 400), 1e5)
    for colours, made in ((1, 10), (2, 20)):
        for percent, found in ((101, 0), (100, made)):
            new = arms.add_arm(percent, colours)
            arm = arms.arms[new]
            arm.node_equivalents, arm.prefixes_by_breaks[ALL, 10], arm.child_counts[0, 0] = 1e5, found, found
    for share, others in ((0.15, False), (0.08, True)):  # (10 + 20 + 500 / 4) / 3 is between both
        stale(arms, share)
        tried = {arm.colour_set for arm in arms.arms}
        arms._choose_arm(10)
        assert ({arm.colour_set for arm in arms.arms} != tried) == others


def test_what_few_nodes_show_is_believed_only_in_part():
    """The other heights of its colours count as much as `TRUST` of a shuffle."""
    arms = made_up((101, 100, 99), (0, 500, 0), 1e5)
    high, best, low = arms.arms
    boards = arms.boards(10)
    rate = boards[1] / best.node_equivalents
    for barren in (high, low):
        barren.node_equivalents = 1.0
    (above, as_met, below), others = arm_rates(arms._evidence(boards, arms._costs()))
    asked = max(best.prior.quota.profile) * arms.params.quota_scale
    assert above == pytest.approx(RATE_PER_HALF_EDGE ** (asked / 100) * rate, rel=0.01)
    assert below == pytest.approx(RATE_PER_HALF_EDGE ** (-asked / 100) * rate, rel=0.01)
    assert prior_rate_factor(best, 150) == RATE_PER_HALF_EDGE**MAX_EXTRA_HALF_EDGES, (
        "more is not hoped for, however much is asked for"
    )
    assert rate * 0.97 < as_met < rate and others == pytest.approx(BEST_COLOURS_WEIGHT * rate)
    best.keys_seen, best.keys_new = 99, 49
    staler = arm_rates(arms._evidence(boards, arms._costs()))[0]
    assert staler[0] == pytest.approx(above / 2), "what is above is as old,"
    assert staler[2] == pytest.approx(below), "what is below is not"
    best.keys_seen = best.keys_new = 0
    for barren in (high, low):
        barren.node_equivalents = 1e6
    assert max(arm_rates(arms._evidence(boards, arms._costs()))[0][[0, 2]]) < 0.02 * rate
    alone = arms.add_arm(100, 1)
    values, others = arm_rates(arms._evidence(arms.boards(10), arms._costs()))
    assert values[alone] == pytest.approx(others), "nothing else is known of its colours"


def test_above_a_tree_that_was_searched_whole_is_nothing_new():
    arms = made_up((100,), (500,), 1e5)
    arms.arms[0].extra_breaks = 1
    arms._choose_arm(10)
    assert max(arm.scale_percent for arm in arms.arms) == 100


def test_a_tree_that_was_searched_whole_comes_again_looser():
    arms = made_up((100, 95), (500, 100), 1e5)
    whole, other = arms.arms
    whole.extra_breaks = 1
    assert whole.novelty_rate == RATE_FACTOR_PER_EXTRA_BREAK and other.novelty_rate == 1.0
    boards = arms.boards(10)
    for slack, chosen in ((1, 0), (3, 1)):
        whole.extra_breaks = slack
        assert np.argmax(arm_rates(arms._evidence(boards, arms._costs()))[0]) == chosen
    whole.extra_breaks = 600
    assert whole.novelty_rate == 0.0


def test_without_a_quota_all_colours_are_one():
    arms = made_up((70, 0), (5, 500), 1e5)
    arms.add_arm(70, 1)
    assert [(arm.colour_set, arm.scale_percent) for arm in arms.arms] == [(0, 70), (0, 0), (1, 70)]
    assert [arms._coarse_scale_below(i) for i in range(3)] == [None] * 3
    stale(arms, 0.1)
    arms.arms[0].prefixes_by_breaks[:] = arms.arms[2].prefixes_by_breaks[:] = 0
    assert arms._choose_arm(10) == 1, "nothing else is to be had"
