"""The bandit's policy on a simulated instance with known rates, whose prefixes run out; and what a restart tells it.

The instance stands in for the constructor. Each arm needs some favoured half-edges where its quota ends, and its view
and colours have a quality. Above a limit of half-edges no prefix is left. Below it each half-edge less halves the
boards behind a frontier prefix, and trebles the number of frontier prefixes: a third of these has each surplus
half-edge more, up to the limit. So the arm at the limit is best while its frontier prefixes are new.
"""

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

from lns.construct import quota_bandit
from lns.construct.candidates import MAX_BREAKS
from lns.construct.constructor import SURPLUS_BINS, Constructor
from lns.construct.kernel import KEY_SAMPLE_DIVISOR, MISMATCH_BINS
from lns.construct.quota_arm import QuotaArm
from lns.construct.quota_bandit import MIN_RESTART_SHARE, QuotaBandit
from lns.construct.schedule import BreakSchedule, ChildMeans, ScheduleForecast, quota_end
from lns.engine import Statistics
from lns.instances.formats import load_puzzle
from lns.instances.symmetry import IDENTITY_VIEW, View
from lns.params import ConstructParams
from lns.rng import random_state

PUZZLE = load_puzzle("like-e2-8x8")
PARAMS = ConstructParams(restart_nodes=1_000_000, restart_nodes_without_prefix=100_000)
HALF_EDGES = 40  # that a quota scale of 100% needs
BREAKS, BOARDS = 10, 200.0  # mismatches of a board; boards of a usual restart of the best arm
KEYS = 30  # frontier keys that a restart samples
SURPLUS_SAMPLES = 75  # prefixes whose surplus half-edges a restart samples
VIEWS = (IDENTITY_VIEW, View(0, True), View(2, False))
SEEDS, ENDLESS = range(4), 1e9  # frontier prefixes that never run out
Quality = Callable[[int, int], float]


class World:
    """The simulated instance, and what was searched in it.

    ``limit``: half-edges of the best arm. ``pool``: frontier keys of the best arm. ``quality(view, colour_set)``:
    factor on all boards. ``failures``: share of the restarts that reach no exact tail.
    """

    def __init__(self, seed: int, limit: int, pool: float, quality: Quality, failures: float = 0.5) -> None:
        self.rng = np.random.default_rng(seed)
        self.limit, self.pool, self.quality, self.failures = limit, pool, quality, failures
        self.searched: dict[tuple[int, int], set[int]] = {}  # frontier keys by (view, colour set)
        self.nodes: list[float] = []  # of each restart
        self.rates: list[float] = []  # `rate` of the arm of each restart
        self.fresh: list[float] = []  # share of the frontier keys of each restart that were new
        self.new_boards = 0.0

    def rate(self, arm: QuotaArm) -> float:
        """Boards per node of an arm while all its frontier prefixes are new; 1 for the best."""
        half_edges = int(arm.half_edges + 1e-6)
        if half_edges > self.limit:
            return 0.0
        return self.quality(arm.view, arm.colour_set) * 2.0 ** (half_edges - self.limit)

    def restart(self, arm: QuotaArm, schedule: BreakSchedule, share: float = 1.0) -> SimpleNamespace:
        """What the constructor shows after ``share`` of a restart of ``arm``."""
        rate = self.rate(arm)
        found = rate > 0 and self.rng.random() > self.failures
        nodes = share * (PARAMS.restart_nodes if found else PARAMS.restart_nodes_without_prefix)
        boards = self.rng.poisson(share * rate * BOARDS * self.rng.gamma(1.0)) if found else 0
        pool = int(self.pool * 3.0 ** (self.limit - int(arm.half_edges + 1e-6))) if found else 1
        keys = self.rng.integers(min(pool, 2**40), size=int(share * KEYS)) if found else np.zeros(0, dtype=np.int64)
        view_and_colours = arm.view, arm.colour_set
        seen = self.searched.setdefault(view_and_colours, set())
        new = len(set(keys.tolist()) - seen) / max(1, len(keys))
        self.nodes.append(nodes)
        self.rates.append(rate)
        self.fresh.append(new if found else 1.0)
        self.new_boards += boards * new
        seen.update(keys.tolist())
        prefixes, tails = np.zeros(MAX_BREAKS, dtype=np.int64), np.zeros(MISMATCH_BINS + 1, dtype=np.int64)
        prefixes[BREAKS], tails[0] = boards, boards  # every tail ends without a mismatch
        counts = np.zeros(PUZZLE.cells * 2 * MAX_BREAKS, dtype=np.int64)
        counts[0] = found
        counts[quota_end(PUZZLE.cells) * 2 * MAX_BREAKS] = found * nodes  # all lie behind the quota
        largest = min(max(0, self.limit - int(arm.half_edges + 1e-6)), SURPLUS_BINS - 1)
        shares = np.zeros(SURPLUS_BINS)
        shares[: largest + 1] = 3.0 ** -np.arange(largest + 1) * np.where(np.arange(largest + 1) < largest, 2 / 3, 1.0)
        surplus = self.rng.multinomial(int(found * share * SURPLUS_SAMPLES), shares)
        place = np.uint64(2**40) * np.uint64(1 + arm.view + len(VIEWS) * arm.colour_set)
        return SimpleNamespace(
            schedule=schedule,
            params=PARAMS,
            exhausted=False,
            restart_due=share >= 1 or not found,
            no_prefix_found=not found,
            nodes=nodes,
            recent=np.append(prefixes, nodes).astype(float),
            statistics=Statistics(nodes=int(nodes)),
            arrays=SimpleNamespace(prefixes_by_breaks=prefixes, tail_outcomes=tails),
            surplus_counts=surplus,
            frontier_keys=(keys.astype(np.uint64) + place) * np.uint64(KEY_SAMPLE_DIVISOR),
            prefix=SimpleNamespace(child_counts=counts),
        )

    def wasted(self, below: float, first: int = 0) -> float:
        """Share of the nodes, from restart ``first`` on, in arms of a lower rate than ``below``."""
        nodes, rates = np.array(self.nodes[first:]), np.array(self.rates[first:])
        return float(nodes[rates < below].sum() / nodes.sum())


def simulate(bandit: QuotaBandit, world: World, restarts: int) -> None:
    """Let ``bandit`` choose the arms of ``restarts`` restarts in ``world``."""
    for _ in range(restarts):
        schedule = bandit.choose_schedule(BREAKS)
        bandit.learn(world.restart(bandit.arms[bandit.current], schedule))  # type: ignore[arg-type]


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every quota profile rise to `HALF_EDGES`, and every population show the same children."""
    profile = tuple(np.minimum(np.arange(PUZZLE.cells) * 1.0, HALF_EDGES).tolist())
    ones = np.ones(PUZZLE.cells)
    monkeypatch.setattr(quota_bandit, "quota_profile", lambda *_: profile)
    forecast = ScheduleForecast(mismatches=BREAKS, unlock=np.zeros(0, dtype=np.int64), rate=1e-6)
    monkeypatch.setattr(quota_bandit.schedules, "measure_children", lambda *given: ChildMeans(ones, ones / 5, given[2]))
    monkeypatch.setattr(quota_bandit.schedules, "best_schedule", lambda *_: forecast)
    monkeypatch.setattr(quota_bandit.schedules, "initial_forecast", lambda *_: forecast)


def finds_the_best_scale(seed: int, limit: int = 37) -> bool:
    """Within 150 restarts, at the cost of at most 4 long ones; of the nodes behind them 95% are in the best arm."""
    world = World(seed, limit, ENDLESS, lambda view, colour_set: 1.0)
    simulate(QuotaBandit(PUZZLE, PARAMS, random_state(seed)), world, 200)
    poor = sum(nodes for nodes, rate in zip(world.nodes, world.rates, strict=True) if rate < 0.4)
    return world.wasted(below=0.9, first=150) < 0.05 and poor <= 4 * PARAMS.restart_nodes


def leaves_exhausted_arms(seed: int) -> bool:
    """The best arms have 100 frontier keys each: more than 60 new boards a long restart, few nodes where all is old."""
    world = World(seed, 37, 100, lambda view, colour_set: 1.0)
    simulate(QuotaBandit(PUZZLE, PARAMS, random_state(seed), VIEWS), world, 150)
    nodes, fresh = np.array(world.nodes), np.array(world.fresh)
    new_boards = world.new_boards / nodes.sum() * PARAMS.restart_nodes
    return bool(new_boards > 0.15 * BOARDS and nodes[fresh < 0.2].sum() < 0.25 * nodes.sum())


def wastes_little_on_poor_views(seed: int) -> bool:
    """The best arm runs out, and other views have a fiftieth of its rate: they get less than 40% of the nodes."""
    world = World(seed, 37, 150, lambda view, colour_set: 0.02 if view else 1.0)
    simulate(QuotaBandit(PUZZLE, PARAMS, random_state(seed), VIEWS), world, 150)
    new_boards = world.new_boards / sum(world.nodes) * PARAMS.restart_nodes
    return new_boards > 0.12 * BOARDS and world.wasted(below=0.021) < 0.4


@pytest.mark.parametrize(
    "limit", [41, 37, pytest.param(29, marks=pytest.mark.slow)]
)  # half-edges; a scale of 100% needs 40
def test_the_best_scale_is_found_and_kept(simulated, limit):
    """But if its first restart has no luck, a lower one may be kept."""
    assert sum(finds_the_best_scale(seed, limit) for seed in range(12)) >= 8


@pytest.mark.parametrize("does", [leaves_exhausted_arms, wastes_little_on_poor_views])
def test_arms_whose_prefixes_are_exhausted_and_views_that_are_far_worse_get_few_nodes(simulated, does):
    assert all(does(seed) for seed in SEEDS)


def abandoned(bandit: QuotaBandit, world: World, arm: int, share: float = MIN_RESTART_SHARE) -> float:
    """Share of the restarts of ``arm`` that are abandoned after ``share`` of their nodes."""
    bandit.current = arm
    schedule = bandit.schedule()
    restarts = [world.restart(bandit.arms[arm], schedule, share) for _ in range(100)]
    return float(np.mean([bandit.should_end(restart, BREAKS) for restart in restarts]))  # type: ignore[arg-type]


def test_a_restart_of_a_far_worse_scale_is_abandoned_and_one_of_the_best_is_not(simulated):
    for seed in SEEDS:
        world = World(seed, 37, ENDLESS, lambda view, colour_set: 1.0, failures=0.0)
        bandit = QuotaBandit(PUZZLE, PARAMS, random_state(seed))
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
        bandit.current = best
        again = world.restart(bandit.arms[best], bandit.schedule(), MIN_RESTART_SHARE)
        again.frontier_keys = bandit.frontier_keys.keys[:KEYS]
        assert bandit.should_end(again, BREAKS), "it searches what was searched before"


def test_a_due_restart_goes_on_while_its_rate_of_late_beats_every_arm_and_its_prefixes_are_new(simulated):
    for seed in SEEDS:
        world = World(seed, 37, ENDLESS, lambda view, colour_set: 1.0, failures=0.0)
        bandit = QuotaBandit(PUZZLE, PARAMS, random_state(seed))
        simulate(bandit, world, 60)
        best = max(range(len(bandit.arms)), key=lambda i: world.rate(bandit.arms[i]))

        def ends(factor: float, share: float = 1.0, bandit=bandit, world=world, best=best, **given: object) -> bool:
            """Whether a restart of the best arm ends whose rate of late is ``factor`` of a usual one's."""
            bandit.current = best
            restart = world.restart(bandit.arms[best], bandit.schedule(), share)
            restart.recent = np.zeros(MAX_BREAKS + 1)
            restart.recent[[BREAKS, -1]] = factor * BOARDS, PARAMS.restart_nodes
            vars(restart).update(given)
            return bandit.should_end(restart, BREAKS)  # type: ignore[arg-type]

        assert not ends(2.0) and ends(0.5) and ends(0.0)
        assert not ends(0.0, share=0.9), "it is too early to tell"
        assert ends(2.0, exhausted=True)
        keys = bandit.frontier_keys.keys[:KEYS]
        assert ends(2.0, frontier_keys=keys), "the same prefixes were searched before"
        assert not ends(2.5, frontier_keys=np.append(keys, keys + np.uint64(KEY_SAMPLE_DIVISOR * 2**50)))


def test_what_a_restart_found_of_late_fades_with_the_nodes_and_is_saved():
    params = ConstructParams(restart_nodes=300_000, population=100)
    schedule = QuotaBandit(PUZZLE, params, random_state(1)).choose_schedule(8)
    restart = Constructor(PUZZLE, params, schedule, random_state(2))
    expected, before = np.zeros(MAX_BREAKS + 1), np.zeros(MAX_BREAKS + 1)
    for _ in range(12):
        restart.run(50_000, PUZZLE.max_score)
        now = np.append(restart.arrays.prefixes_by_breaks, restart.statistics.node_equivalents)
        expected = expected * np.exp((before[-1] - now[-1]) / 100_000) + now - before
        before = now
        assert np.allclose(restart.recent, expected)
    assert restart.nodes > params.restart_nodes and restart.restart_due, "it goes on as long as it is asked to"
    assert 0 < expected[:-1].sum() < 0.5 * now[:-1].sum()
    other = Constructor(PUZZLE, params, schedule, random_state(2))
    other.restore(restart.state())
    assert (other.recent == restart.recent).all()
