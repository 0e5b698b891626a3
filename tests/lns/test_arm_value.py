"""The bandit's policy: on a simulated instance with known rates (`tests.lns.simulated_bandit`), and its invariants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from lns.construct.quota_arm import RATE_FACTOR_PER_EXTRA_BREAK
from lns.construct.quota_bandit import MIN_RESTART_SHARE, SCALE_STEP, QuotaBandit
from lns.construct.schedule import BreakSchedule
from lns.instances.formats import load_puzzle
from lns.instances.symmetry import IDENTITY_VIEW, View
from lns.loop.construction import Construction
from lns.loop.pool import WHOLE_BOARD
from lns.orientation import Orientation
from lns.params import ConstructParams, from_dict
from lns.rng import random_state
from tests.lns.simulated_bandit import (
    BOARDS,
    BREAKS,
    PARAMS,
    VIEWS,
    FirstArmOnly,
    NoveltyBlind,
    SurplusBlind,
    UniformlyRandom,
    World,
    bandit_of,
    simulate,
    use_simulated_instance,
)

SEEDS = range(4)
ENDLESS = 1e9  # frontier prefixes that never run out
simulated = pytest.mark.usefixtures("simulated_instance")


@pytest.fixture
def simulated_instance(monkeypatch: pytest.MonkeyPatch) -> None:
    use_simulated_instance(monkeypatch)


def finds_the_best_scale(policy: type[QuotaBandit], seed: int, limit: int = 37) -> bool:
    """Within 150 restarts, at the cost of at most 4 long ones; of the nodes behind them 95% are in the best arm."""
    world = World(seed, limit, ENDLESS, lambda view, colour_set: 1.0)
    simulate(bandit_of(policy, seed), world, 200)
    poor = sum(nodes for nodes, rate in zip(world.nodes, world.rates, strict=True) if rate < 0.4)
    return world.wasted(below=0.9, first=150) < 0.05 and poor <= 4 * PARAMS.restart_nodes


def leaves_exhausted_arms(policy: type[QuotaBandit], seed: int) -> bool:
    """The best arms have 100 frontier keys each: more than 60 new boards a long restart, few nodes where all is old."""
    world = World(seed, 37, 100, lambda view, colour_set: 1.0)
    simulate(bandit_of(policy, seed, VIEWS), world, 150)
    nodes, fresh = np.array(world.nodes), np.array(world.fresh)
    new_boards = world.new_boards / nodes.sum() * PARAMS.restart_nodes
    return bool(new_boards > 0.15 * BOARDS and nodes[fresh < 0.2].sum() < 0.25 * nodes.sum())


def wastes_little_on_poor_views(policy: type[QuotaBandit], seed: int) -> bool:
    """The best arm runs out, and other views have a fiftieth of its rate: they get less than 40% of the nodes."""
    world = World(seed, 37, 150, lambda view, colour_set: 0.02 if view else 1.0)
    simulate(bandit_of(policy, seed, VIEWS), world, 150)
    new_boards = world.new_boards / sum(world.nodes) * PARAMS.restart_nodes
    return new_boards > 0.12 * BOARDS and world.wasted(below=0.021) < 0.4


@simulated
@pytest.mark.parametrize("limit", [41, 37, 29])  # half-edges; a scale of 100% needs 40
def test_the_best_scale_is_found_and_kept(limit):
    """But if its first restart has no luck, a lower one may be kept."""
    assert sum(finds_the_best_scale(QuotaBandit, seed, limit) for seed in range(12)) >= 8


@simulated
@pytest.mark.parametrize("does", [leaves_exhausted_arms, wastes_little_on_poor_views])
def test_arms_whose_prefixes_are_exhausted_and_views_that_are_far_worse_get_few_nodes(does):
    assert all(does(QuotaBandit, seed) for seed in SEEDS)


@simulated
@pytest.mark.parametrize(
    ("does", "policies"),
    [
        (finds_the_best_scale, (FirstArmOnly, UniformlyRandom)),
        (leaves_exhausted_arms, (FirstArmOnly, UniformlyRandom, NoveltyBlind)),
        (wastes_little_on_poor_views, (FirstArmOnly, UniformlyRandom)),
    ],
)
def test_a_broken_policy_does_not(does, policies):
    assert not any(does(policy, seed) for policy in policies for seed in SEEDS)


def in_vain(policy: type[QuotaBandit], seed: int, limit: int) -> float:
    """Nodes in scales that leave no prefix, of 60 restarts, in restarts that are given up."""
    world = World(seed, limit, ENDLESS, lambda view, colour_set: 1.0, failures=0.0)
    simulate(bandit_of(policy, seed), world, 60)
    return float(np.array(world.nodes)[np.array(world.rates) == 0].sum() / PARAMS.restart_nodes_without_prefix)


@simulated
@pytest.mark.parametrize("limit", [40, 37])
def test_a_scale_that_no_prefix_would_pass_is_hardly_tried(limit):
    tried = [in_vain(QuotaBandit, seed, limit) for seed in SEEDS]
    blind = [in_vain(SurplusBlind, seed, limit) for seed in SEEDS]
    assert sum(tried) < 0.5 * sum(blind), (tried, blind)


def abandoned(bandit: QuotaBandit, world: World, arm: int, share: float = MIN_RESTART_SHARE) -> float:
    """Share of the restarts of ``arm`` that are abandoned after ``share`` of their nodes."""
    bandit.current = arm
    schedule = bandit.schedule()
    restarts = [world.restart(bandit.arms[arm], schedule, share) for _ in range(100)]
    return float(np.mean([bandit.should_abandon(restart, BREAKS) for restart in restarts]))  # type: ignore[arg-type]


@simulated
def test_a_restart_of_a_far_worse_scale_is_abandoned_and_one_of_the_best_is_not():
    for seed in SEEDS:
        world = World(seed, 37, ENDLESS, lambda view, colour_set: 1.0, failures=0.0)
        bandit = bandit_of(QuotaBandit, seed)
        simulate(bandit, world, 60)
        for wanted in (2.5 * 31, 2.5 * 37):
            if wanted not in [arm.scale_percent for arm in bandit.arms]:
                bandit.add_arm(wanted)
        scales = [arm.scale_percent for arm in bandit.arms]
        worse, best = scales.index(2.5 * 31), scales.index(2.5 * 37)
        for _ in range(4):  # the worse one is known by now
            bandit.current = worse
            bandit.learn(world.restart(bandit.arms[worse], bandit.schedule()))  # type: ignore[arg-type]
        assert abandoned(bandit, world, worse) > 0.9
        assert abandoned(bandit, world, best) < 0.1
        assert abandoned(bandit, world, worse, 0.9 * MIN_RESTART_SHARE) == 0, "it is too early to tell"
        for arm in bandit.arms:
            arm.view = int(arm is not bandit.arms[worse])
        assert abandoned(bandit, world, worse) > 0.9, "another view of the same colours counts"
        for arm in bandit.arms:
            arm.colour_set = int(arm is not bandit.arms[worse])
        assert abandoned(bandit, world, worse) == 0, "arms of other colours end no restart"


def known_arms(
    scales: tuple[float, ...], boards: tuple[int, ...], cost: float, views: Sequence[View] = (IDENTITY_VIEW,)
) -> QuotaBandit:
    """A bandit on a real instance whose arms have made ``boards`` boards each for ``cost`` nodes."""
    bandit = QuotaBandit(load_puzzle("like-e2-8x8"), PARAMS, random_state(1), views)
    bandit.tail_outcomes[0] = 10**6  # every tail ends without a mismatch
    for scale in scales:
        bandit.add_arm(scale)
    for arm, made in zip(bandit.arms, boards, strict=True):
        arm.prefixes_by_breaks[BREAKS], arm.child_counts[0, 0], arm.node_equivalents = made, made, cost
    return bandit


def rates_of(bandit: QuotaBandit) -> list[float]:
    """The expected rate of each arm."""
    rates: list[float] = bandit._evidence(BREAKS).rates()[0].tolist()
    return rates


def test_a_rate_is_shrunk_from_the_prior_to_what_is_observed():
    bandit = known_arms((101, 100), (0, 500), 1e7)
    unknown, best = bandit.arms
    observed = bandit.boards(BREAKS)[1] / best.node_equivalents
    assert rates_of(bandit)[1] == pytest.approx(observed, rel=0.1)
    rates = []
    for unknown.node_equivalents in (0.0, 1e5, 1e6, 1e9):
        rates.append(rates_of(bandit)[0])
    assert rates[0] > observed, "a higher scale is tried first"
    assert rates == sorted(rates, reverse=True) and 0 < rates[-1] < 0.01 * rates[0]


def test_a_higher_scale_is_worth_less_if_hardly_any_prefix_has_the_half_edges_for_it():
    bandit = known_arms((100, 98.5), (0, 500), 1e7, (IDENTITY_VIEW, View(0, True)))
    higher, best = bandit.arms
    missing = round(higher.half_edges - best.half_edges)
    higher.node_equivalents = 0.0
    unknown = rates_of(bandit)[0]
    best.surplus_counts[:] = 0
    best.surplus_counts[0], best.surplus_counts[missing] = 90, 10
    assert rates_of(bandit)[0] == unknown, "a tenth is enough"
    best.surplus_counts[0], best.surplus_counts[missing] = 999, 0
    poor = rates_of(bandit)[0]
    assert poor < 0.5 * unknown
    best.surplus_counts[missing - 1] = 10**6
    assert rates_of(bandit)[0] < poor, "one half-edge less does not count"
    best.surplus_counts[:] = 0
    bandit.add_arm(98.5, 0, 1)
    bandit.arms[-1].surplus_counts[0] = 999
    assert rates_of(bandit)[0] == pytest.approx(poor), "another view of the same scale counts"


def test_a_lower_scale_is_worth_more_the_more_of_the_cost_lies_before_the_end_of_the_quota():
    bandit = known_arms((100, 98.5), (500, 0), 1e7)
    best, lower = bandit.arms
    lower.node_equivalents = 0.0
    end = best.prior.quota.end(64)
    rates = []
    for share in (1.0, 0.5, 0.1):
        best.child_counts[0, end] = share * 1e7  # placements behind the quota
        best.child_counts[0, 0] = 1e7 - best.child_counts[0, end]
        assert best.share_before_quota_end == pytest.approx(1 - share)
        rates.append(rates_of(bandit)[1])
    assert rates == sorted(rates) and rates[0] < 0.5 * rates[2]
    bandit = known_arms((100, 98.5), (0, 500), 1e7)
    higher, best = bandit.arms
    higher.node_equivalents, unknown = 0.0, []
    for share in (1.0, 0.1):
        best.child_counts[0, end] = share * 1e7
        unknown.append(rates_of(bandit)[0])
    assert unknown[0] == unknown[1], "a higher scale is worth the same"


def test_scales_that_found_nothing_at_first_are_tried_again_where_only_no_quota_has_prefixes():
    bandit = known_arms((100, 95, 0), (0, 0, 5), PARAMS.restart_nodes_without_prefix)
    high, low, no_quota = bandit.arms
    no_quota.node_equivalents = PARAMS.restart_nodes
    high.child_counts[:] = low.child_counts[:] = 0
    for _ in range(3):  # the scales in turn
        assert bandit._choose_arm(BREAKS) == 0
        high.node_equivalents += PARAMS.restart_nodes_without_prefix
        assert bandit._choose_arm(BREAKS) == 1
        low.node_equivalents += PARAMS.restart_nodes_without_prefix
    high.node_equivalents = low.node_equivalents = 10 * PARAMS.restart_nodes
    assert bandit._choose_arm(BREAKS) == 2, "until it is not luck that is missing"


def test_an_arm_without_observations_is_worth_less_from_another_view_than_the_known_one():
    bandit = known_arms((100,), (500,), 1e7, (IDENTITY_VIEW, View(0, True)))
    other = bandit.add_arm(100, 0, 1)
    known_rate, other_rate = rates_of(bandit)
    assert other == 1 and 0.5 * known_rate < other_rate < known_rate
    bandit.arms[0].keys_seen, bandit.arms[0].keys_new = 99, 9  # old prefixes of one view are new in another
    assert rates_of(bandit)[0] < other_rate == rates_of(bandit)[1]
    bandit.arms[1].node_equivalents = 1e9
    assert rates_of(bandit)[1] < 0.01 * known_rate, "until it is found to lead nowhere"


def test_no_higher_scale_is_tried_than_that_of_an_exhausted_tree():
    bandit = known_arms((100,), (500,), 1e8)
    bandit.arms[0].extra_breaks = 1
    bandit._choose_arm(BREAKS)
    assert max(arm.scale_percent for arm in bandit.arms) == 100


def test_each_tree_that_was_searched_completely_lowers_the_rate_of_its_arm():
    bandit = known_arms((100, 95), (500, 80), 1e8)
    complete, other = bandit.arms
    complete.extra_breaks = 1
    assert complete.novelty_rate == RATE_FACTOR_PER_EXTRA_BREAK and other.novelty_rate == 1.0
    for extra_breaks, chosen in ((1, 0), (3, 1)):
        complete.extra_breaks = extra_breaks
        assert np.argmax(rates_of(bandit)) == chosen
    complete.extra_breaks = 600
    assert complete.novelty_rate == 0.0


def test_without_a_quota_all_colours_are_one_arm():
    bandit = known_arms((70, 0), (5, 500), 1e8)
    bandit.add_arm(70, 1)
    assert [(arm.colour_set, arm.scale_percent) for arm in bandit.arms] == [(0, 70), (0, 0), (1, 70)]
    assert [bandit._coarse_scale_below(i) for i in range(3)] == [None] * 3
    for arm in bandit.arms:
        arm.node_equivalents, arm.keys_seen, arm.keys_new = 1e8, 99, 10
    bandit.arms[0].prefixes_by_breaks[:] = bandit.arms[2].prefixes_by_breaks[:] = 0
    assert bandit._choose_arm(BREAKS) == 1, "no other arm has made a board"


@pytest.mark.parametrize("name", ["like-e2-8x8", "like-e2-12x20", "like-e2-16x16"])
def test_each_scale_needs_another_number_of_half_edges(name):
    """Half-edges are whole: on a small board a scale of 101% needs as many as 100%."""
    bandit = QuotaBandit(load_puzzle(name), ConstructParams(population=100), random_state(1))
    bandit.add_arm(100)
    for _ in range(4):
        for scale in (bandit._scale_above(0), bandit._scale_below(0), bandit._scale_below(len(bandit.arms) - 1)):
            if scale is not None and scale not in [arm.scale_percent for arm in bandit.arms]:
                bandit.add_arm(scale)
    floors = [arm.prior.quota.floor(bandit.puzzle.cells) for arm in bandit.arms]
    assert len({tuple(floor.tolist()) for floor in floors}) == len(bandit.arms) >= 9
    sums = [floor.sum() for floor in floors]
    assert sums == sorted(sums, reverse=True)
    assert all(arm.scale_percent % SCALE_STEP == 0 for arm in bandit.arms)


def test_a_restart_knows_the_nodes_of_earlier_restarts_with_its_colours_and_view(monkeypatch):
    bandit = known_arms((100, 95), (500, 400), 1e5, (IDENTITY_VIEW, View(0, True)))
    for nodes, other in ((7.0, (100, 3)), (8.0, (100, 0, 1))):
        added = bandit.add_arm(*other)
        bandit.arms[added].node_equivalents = nodes
    for bandit.current, nodes in ((0, 200_000), (1, 200_000), (2, 7), (3, 8)):
        assert bandit.nodes_before == nodes
    quick = from_dict(
        {"construct": {"restart_nodes": 100_000, "restart_nodes_without_prefix": 1000, "population": 100}}
    )
    engine, rng = Construction(Orientation.of_island(load_puzzle("like-e2-8x8")), quick, 1, 0), np.random.default_rng(1)
    engine.repair(WHOLE_BOARD, 80, rng)
    constructor = engine.constructor
    assert constructor is not None
    calls, restart = [], constructor.restart

    def recorded(schedule: BreakSchedule, nodes_before: int) -> None:
        calls.append((nodes_before, engine.bandit.nodes_before))
        restart(schedule, nodes_before)

    monkeypatch.setattr(constructor, "restart", recorded)
    while len(calls) < 5:
        engine.repair(WHOLE_BOARD, 80, rng)
    assert all(nodes == expected for nodes, expected in calls) and calls[0][0] > 0
