"""The arms of the bandit: what a restart teaches, and that a saved state is checked. Their values: test_arm_value."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lns.construct.candidates import MAX_BREAKS, PIECE_MASK
from lns.construct.constructor import SURPLUS_BINS, Constructor
from lns.construct.kernel import KEY_SAMPLE_DIVISOR, MISMATCH_BINS, TAIL_SAMPLE_NODES
from lns.construct.quota_arm import MIN_TAILS, RATE_FACTOR_PER_EXTRA_BREAK, QuotaArm, tail_probabilities
from lns.construct.quota_bandit import QuotaBandit
from lns.construct.schedule import best_schedule, break_schedule, quota_end
from lns.instances.formats import load_puzzle
from lns.instances.verify import verify
from lns.params import ConstructParams
from lns.rng import random_state

QUICK = ConstructParams(population=300, restart_nodes=2_000_000, restart_nodes_without_prefix=1_000_000)


def searched(arms: QuotaBandit, target: int, restarts: int) -> Constructor:
    """Search so many restarts for boards of ``target``, learning from each."""
    puzzle = arms.puzzle
    built = Constructor(puzzle, arms.params, arms.choose_schedule(puzzle.max_score - target), random_state(5))
    for _ in range(restarts):
        while not built.restart_due:
            board = built.run(500_000, target)
            assert board is None or verify(puzzle, board).score >= target
        arms.learn(built)
        built.restart(arms.choose_schedule(puzzle.max_score - target))
    return built


def test_child_counts_count_every_placement_once():
    puzzle = load_puzzle("like-e2-10x10")
    params = ConstructParams(population=300, quota_scale=0.0)
    arms = QuotaBandit(puzzle, params, random_state(1))
    built = Constructor(puzzle, params, arms.choose_schedule(20), random_state(2))
    built.run(3_000_000, puzzle.max_score)
    assert built.prefixes > 0 and not built.restart_due
    counted = built.prefix.child_counts.reshape(puzzle.cells, 2, MAX_BREAKS)
    assert counted.sum() == built.nodes_since_restart
    allowed = built.schedule.allowed
    for depth in range(puzzle.cells):
        assert not counted[depth, :, allowed[depth] + 1 :].any(), "no prefix spends more than its schedule allows"
        assert not counted[depth, 1, 0].any(), "a breaking placement has spent a break"
    arm = arms.arms[0]
    arm.learn(built, 0, 0)
    first = int(built.schedule.unlock[0])
    assert arm.child_counts[2, :first].sum() == 0, "before the first unlock nothing breaks"
    known = arm.shrunk_estimate()
    busy = int(arm.child_counts[1].argmax())
    met = arm.child_counts[0, busy] / arm.child_counts[1, busy]
    assert min(met, arm.prior.exact[busy]) <= known.exact[busy] <= max(met, arm.prior.exact[busy])
    assert abs(known.exact[busy] - met) < abs(known.exact[busy] - arm.prior.exact[busy]), "what was met counts most"


def test_prefixes_are_counted_by_breaks_and_some_are_finished_as_well_as_can_be():
    puzzle = load_puzzle("like-e2-10x10")
    arms = QuotaBandit(puzzle, ConstructParams(population=300, quota_scale=0.0), random_state(1))
    built = Constructor(puzzle, arms.params, arms.choose_schedule(puzzle.max_score - 165), random_state(2))
    for _ in range(40):
        built.run(1_000_000, puzzle.max_score)
        if built.restart_due:
            break
    assert built.prefixes_by_breaks.sum() == built.prefixes > 0
    assert not built.prefixes_by_breaks[built.schedule.allowed[built.schedule.cut - 1] + 1 :].any()
    assert 0 < built.tail_outcomes.sum() <= 1 + built.nodes // TAIL_SAMPLE_NODES


def test_the_surplus_of_prefixes_past_the_quota_is_sampled():
    puzzle = load_puzzle("like-e2-10x10")
    arms = QuotaBandit(puzzle, ConstructParams(population=300), random_state(1))
    arms.current = arms.add_arm(92)
    arm, end = arms.arms[arms.current], quota_end(puzzle.cells)
    arms.forecast = best_schedule(arm.shrunk_estimate(), puzzle, arms.params, 20)
    built = Constructor(puzzle, arms.params, arms.schedule(), random_state(2))
    half_edges = np.isin(puzzle.pieces, built.schedule.favoured).sum(axis=1)
    total = np.zeros(SURPLUS_BINS, dtype=np.int64)
    for _ in range(10):
        expected = np.zeros(SURPLUS_BINS, dtype=np.int64)
        for _ in range(50):
            built.run(10_000, puzzle.max_score)
            if built.prefix.scalars[0] >= end:
                placed = built.prefix.chosen[:end] & int(PIECE_MASK)
                surplus = half_edges[placed].sum() - built.schedule.quota_floor[end - 1]
                expected[min(surplus, SURPLUS_BINS - 1)] += 1
        assert built.surplus_counts.tolist() == expected.tolist()
        arm.learn(built, 0, 0)
        total += expected
        assert arm.surplus_counts.tolist() == total.tolist()
        built.restart(arms.schedule())
        assert not built.surplus_counts.any()
    assert total.sum() > 200 and (total > 0).sum() > 2


@pytest.mark.slow
def test_expected_numbers_of_boards_match_an_exhaustive_count():
    """Prefixes by breaks and sampled ends foretell, about, how many boards of a score an exhaustive count finds."""
    puzzle = load_puzzle("like-e2-10x10")
    arms = QuotaBandit(puzzle, ConstructParams(population=300, quota_scale=0.0, restart_nodes=10**9), random_state(1))
    target = 168
    built = Constructor(puzzle, arms.params, arms.choose_schedule(puzzle.max_score - target), random_state(2))
    boards = 0
    while built.nodes < 40_000_000:
        if built.restart_due:
            arms.learn(built)
            built.restart(built.schedule)
        boards += built.run(1_000_000, target) is not None
    arms.learn(built)
    (expected,) = arms.boards(puzzle.max_score - target)
    assert boards > 20 and boards / 2 < expected < 2 * boards, (boards, expected)


def test_probabilities_too_small_to_be_measured_follow_the_forecast():
    finish = np.array([0.001, 0.01, 0.2, 2.0, 10.0, 10.0, *[10.0] * (MISMATCH_BINS - 6)])
    ends = np.zeros(MISMATCH_BINS + 1)
    ends[2:6] = 1, 99, 900, 9000
    chance = tail_probabilities(ends, finish)
    assert chance[3:6].tolist() == [0.01, 0.1, 1.0]
    assert ends[2] < MIN_TAILS, "what was met by luck tells nothing"
    assert chance[:3].tolist() == pytest.approx([0.01 / 2000, 0.01 / 200, 0.01 / 10])
    assert tail_probabilities(np.zeros(MISMATCH_BINS + 1), finish).tolist() == pytest.approx((finish / 10).tolist()), (
        "nothing is known yet"
    )
    assert not tail_probabilities(ends[::-1], np.zeros(MISMATCH_BINS))[:11].any()


def test_a_schedule_is_chosen_after_a_perfect_board_too():
    puzzle = load_puzzle("like-e2-4x4")
    arms = QuotaBandit(puzzle, ConstructParams(population=100, schedule_slack=0), random_state(1))
    assert arms.choose_schedule(-1).cut == arms.choose_schedule(0).cut


def test_an_expensive_exact_tail_is_sampled_more_rarely():
    puzzle = load_puzzle("like-e2-10x10")
    params = ConstructParams(population=300, quota_scale=0.0, tail=12)
    arms = QuotaBandit(puzzle, params, random_state(1))
    built = Constructor(puzzle, params, arms.choose_schedule(8), random_state(2))
    while built.nodes < 3_000_000:
        built.run(1_000_000, puzzle.max_score)
        if built.restart_due:
            built.restart(built.schedule)
    assert 0 < built.tail_nodes < built.nodes / 20


@pytest.mark.parametrize("name", ["like-e2-8x8", "like-e2-12x20", "uniform-10x10"])
def test_some_arm_makes_prefixes_on_any_instance(name):
    puzzle = load_puzzle(name)
    arms = QuotaBandit(puzzle, QUICK, random_state(1))
    built = searched(arms, puzzle.max_score - 3, 12)
    assert built.prefixes > 0
    assert 100 in [arm.scale_percent for arm in arms.arms]


def one_shuffle() -> tuple[QuotaBandit, Constructor]:
    """Of a small board: it is over, and nothing was learned of it yet."""
    puzzle = load_puzzle("like-e2-8x8")
    arms = QuotaBandit(puzzle, ConstructParams(population=300), random_state(1))
    built = Constructor(puzzle, arms.params, arms.choose_schedule(4), random_state(5))
    while not built.restart_due:
        built.run(500_000, puzzle.max_score)
    return arms, built


@pytest.mark.slow
def test_an_arm_learns_the_novelty_rate_from_a_restart():
    """Through a whole tree: all of it is new once; looser ones are other trees, and are expected to be worth less."""
    arms, built = one_shuffle()
    assert built.exhausted and built.prefixes
    arm = arms.arms[arms.current]
    arms.learn(built)
    assert arm.extra_breaks == 1 and arm.novelty_rate == RATE_FACTOR_PER_EXTRA_BREAK
    assert arm.prefixes_by_breaks.sum() == built.prefixes
    frontier_keys = np.arange(1, 9, dtype=np.uint64) * np.uint64(KEY_SAMPLE_DIVISOR)
    built.restart(built.schedule)
    built.exhausted = False
    for _ in range(2):  # the same stems twice
        built.prefix.frontier_keys[0], built.prefix.frontier_keys[1:9] = 8, frontier_keys
        arms.learn(built)
        built.restart(built.schedule)
    assert arm.novelty_rate == pytest.approx((8 / 2 + 1) / (8 / 2 + 8 + 1) * RATE_FACTOR_PER_EXTRA_BREAK)
    before_outlook = arm.novelty_rate
    built.prefix.frontier_keys[0] = 0
    arms.learn(built)
    assert arm.novelty_rate == before_outlook, "a shuffle that met nothing tells nothing"


@pytest.mark.slow
def test_child_counts_of_tail_cells_come_from_populations_only():
    """Their children are in no census: what populations say of them stands."""
    arms, built = one_shuffle()
    arms.learn(built)
    arm, cut = arms.arms[0], built.schedule.cut
    assert built.prefixes > 1000 and arm.child_counts[:, cut - 1].any()
    for said, known in (
        (arm.prior.exact, arm.shrunk_estimate().exact),
        (arm.prior.breaking, arm.shrunk_estimate().breaking),
    ):
        assert known[cut:].tolist() == pytest.approx(said[cut:].tolist())


def test_no_break_unlocks_before_the_end_of_the_quota():
    """The forecast sees no breaks there, so that an unlock is worth as much too early as in time."""
    puzzle = load_puzzle("like-e2-10x10")
    arms = QuotaBandit(puzzle, ConstructParams(population=300), random_state(1))
    for percent in (107, 105, 103):
        arms.current = arms.add_arm(percent)
        arm = arms.arms[arms.current]
        arms.forecast = best_schedule(arm.shrunk_estimate(), puzzle, arms.params, 7)
        schedule = arms.schedule()
        assert (schedule.quota_floor > 0).any() and not (schedule.quota_floor[schedule.allowed > 0] > 0).any()
        shifted = break_schedule(arm.prior, arms.forecast, puzzle, replace(arms.params, break_shift=40))
        assert not (shifted.quota_floor[shifted.allowed > 0] > 0).any()


def test_exhausted_trees_are_not_searched_for_ever():
    puzzle = load_puzzle("like-e2-4x4")
    arms = QuotaBandit(puzzle, ConstructParams(population=100), random_state(1))
    searched(arms, puzzle.max_score, 30)
    assert all(arm.extra_breaks == arm.restarts for arm in arms.arms)
    assert sum(arm.restarts for arm in arms.arms) == 30


def test_a_state_of_arms_comes_back():
    puzzle = load_puzzle("like-e2-10x10")
    arms = QuotaBandit(puzzle, QUICK, random_state(1))
    searched(arms, 178, 3)
    arms.add_arm(90, 3)
    arms.frontier_keys.add(~np.arange(8, dtype=np.uint64) * np.uint64(KEY_SAMPLE_DIVISOR))
    state = arms.state()
    again = QuotaBandit(puzzle, QUICK, random_state(9))
    again.restore(state)
    assert all(np.array_equal(value, again.state()[name]) for name, value in state.items())
    assert np.array_equal(again.schedule().least_gain, arms.schedule().least_gain)
    for one, other in zip(again.arms, arms.arms, strict=True):
        assert one.prior.quota == other.prior.quota and one.novelty_rate == other.novelty_rate


def test_a_restart_without_a_prefix_changes_no_estimate_but_is_counted():
    puzzle = load_puzzle("like-e2-16x16")
    params = ConstructParams(population=100, restart_nodes_without_prefix=1000)
    arms = QuotaBandit(puzzle, params, random_state(1))
    built = Constructor(puzzle, params, arms.choose_schedule(15), random_state(2))
    built.run(10_000, puzzle.max_score)
    assert built.restart_due and built.no_prefix_found
    arm: QuotaArm = arms.arms[0]
    arm.learn(built, 0, 0)
    assert arm.no_prefix_found and arm.restarts == 1 and arm.node_equivalents >= 1000
