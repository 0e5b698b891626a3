"""The bandit's policy: on a simulated instance with known rates (`tests.lns.simulated_bandit`), and its invariants."""

from collections.abc import Sequence

import numpy as np
import pytest

from lns.construct.quota_bandit import MIN_RESTART_SHARE, QuotaBandit
from lns.construct.schedule import BreakSchedule
from lns.instances.formats import load_puzzle
from lns.instances.symmetry import IDENTITY_VIEW, View
from lns.loop.construction import Construction
from lns.loop.pool import WHOLE_BOARD
from lns.orientation import Orientation
from lns.params import from_dict
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
@pytest.mark.parametrize(
    "limit", [41, 37, pytest.param(29, marks=pytest.mark.slow)]
)  # half-edges; a scale of 100% needs 40
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
