"""A simulated instance for the bandit over quotas: arms with known rates, whose prefixes run out.

It stands in for the constructor. Each arm needs some favoured half-edges where its quota ends, and its view and colours
have a quality. Above a limit of half-edges no prefix is left. Below it each half-edge less halves the boards behind a
frontier prefix, and trebles the number of frontier prefixes: a third of these has each surplus half-edge more, up to
the limit. So the arm at the limit is best while its frontier prefixes are new.
"""

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

from lns.construct import quota_bandit
from lns.construct.candidates import MAX_BREAKS
from lns.construct.constructor import SURPLUS_BINS
from lns.construct.kernel import KEY_SAMPLE_DIVISOR, MISMATCH_BINS
from lns.construct.quota_arm import QuotaArm
from lns.construct.quota_bandit import QuotaBandit
from lns.construct.schedule import BreakSchedule, ChildMeans, ScheduleForecast, quota_end
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
            no_prefix_found=not found,
            nodes_since_restart=nodes,
            node_equivalents_since_restart=nodes,
            prefixes_by_breaks=prefixes,
            tail_outcomes=tails,
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


def use_simulated_instance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every quota profile rise to `HALF_EDGES`, and every population show the same children."""
    profile = tuple(np.minimum(np.arange(PUZZLE.cells) * 1.0, HALF_EDGES).tolist())
    ones = np.ones(PUZZLE.cells)
    monkeypatch.setattr(quota_bandit, "quota_profile", lambda *_: profile)
    forecast = ScheduleForecast(mismatches=BREAKS, unlock=np.zeros(0, dtype=np.int64), rate=1e-6)
    monkeypatch.setattr(quota_bandit, "measure_children", lambda *given: ChildMeans(ones, ones / 5, given[2]))
    monkeypatch.setattr(quota_bandit, "best_schedule", lambda *_: forecast)
    monkeypatch.setattr(quota_bandit, "initial_forecast", lambda *_: forecast)


def bandit_of(policy: type[QuotaBandit], seed: int, views: tuple[View, ...] = (IDENTITY_VIEW,)) -> QuotaBandit:
    return policy(PUZZLE, PARAMS, random_state(seed), views)


class FirstArmOnly(QuotaBandit):
    """A broken policy: it never leaves the first arm that reached an exact tail."""

    def _choose_arm(self, mismatches: int) -> int:
        works = [i for i, arm in enumerate(self.arms) if not arm.no_prefix_found]
        return works[0] if works else super()._choose_arm(mismatches)


class UniformlyRandom(QuotaBandit):
    """A broken policy: any scale, colours and view."""

    def _choose_arm(self, mismatches: int) -> int:
        draw = np.random.default_rng(sum(arm.restarts for arm in self.arms))
        scale = 2.5 * int(draw.integers(20, 41))
        view, colours = int(draw.integers(len(self.views))), int(draw.integers(len(self._colour_sets)))
        for i, arm in enumerate(self.arms):
            if (arm.scale_percent, arm.view, arm.colour_set) == (scale, view, colours):
                return i
        return self.add_arm(scale, colours, view)


class NoveltyBlind(QuotaBandit):
    """A broken policy: what has been searched before counts as new."""

    def learn(self, constructor) -> None:  # type: ignore[no-untyped-def]
        super().learn(constructor)
        for arm in self.arms:
            arm.keys_seen = arm.keys_new = 0.0


class SurplusBlind(QuotaBandit):
    """A broken policy: it does not see how many prefixes would have passed a higher quota."""

    def learn(self, constructor) -> None:  # type: ignore[no-untyped-def]
        super().learn(constructor)
        for arm in self.arms:
            arm.surplus_counts[:] = 0
