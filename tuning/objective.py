"""The objective of a study: what a run is worth, and by how much a candidate beats the defaults on a pair.

A run is worth its best score within a budget of nodes, plus a bonus of less than an edge for reaching that score early.
The best score of a single run is mostly luck. Trials are therefore compared by the *expected best score*, which an
engine may compute from all that it has searched (`lns.engine.Engine.expected_best_score`); the validation of a
candidate uses the scores themselves.

Budgets are nodes, not seconds, so a busy or a slow machine gives the same results. Work other than construction is
converted into nodes (`lns.node_equivalents`; docs/tuning.md has the measurements). A run is kept as a `Trace`, from
which the score at every smaller budget can be read, so a long run contains its short one.

A run that makes no board within its budget has no score, and a difference to it would be as large as a whole board.
Pairs on which the defaults make none are left out; a candidate that makes none where the defaults make one is given up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from instances.puzzle import Puzzle
from lns import node_equivalents
from lns.engines import make_engine
from lns.params import Params

EARLY_BONUS = 0.5  # edges, for a score that is reached at once
OBJECTIVE = (
    f"best score + {EARLY_BONUS} x unused share of the budget when it was reached; expected scores for trials; "
    "pairs without a board left out"
)
EXPECTED_SCORE_STEP = 0.01  # edges; smaller changes of the expected best score are not recorded
MIN_STEP_NODES = 150_000  # a step counts at least so many nodes: one that places nothing takes time too
MIN_STEPS = 20  # into which the shortest budget is divided


@dataclass(frozen=True)
class Pair:
    """An instance and a seed. Each candidate is run on the same pairs.

    Parameters
    ----------
    puzzle : Puzzle
        The instance.
    seed : int
        Random seed of the run.
    label : str
        Name of the pair in reports.
    """

    puzzle: Puzzle
    seed: int
    label: str


@dataclass(frozen=True)
class Trace:
    """What is kept of a run.

    Parameters
    ----------
    best_scores : tuple of (int, int)
        Each new best score, and the nodes used when it was reached.
    nodes : int
        Nodes used in all, in node equivalents.
    exhausted : bool
        The best possible score is reached, so more nodes would change nothing.
    seconds, wall_s : float
        Processor time and elapsed time, in seconds.
    expected_scores : tuple of (float, int)
        Each new expected best score, and the nodes used then; empty for engines that compute none.
    """

    best_scores: tuple[tuple[int, int], ...]
    nodes: int
    exhausted: bool
    seconds: float
    wall_s: float = 0.0
    expected_scores: tuple[tuple[float, int], ...] = ()

    def covers(self, budget: int) -> bool:
        """Whether the run is long enough to read the score at ``budget`` nodes."""
        return self.exhausted or self.nodes >= budget

    def score_at(self, budget: int) -> int:
        """Best score within ``budget`` nodes, 0 without a board.

        A board counts if the step that found it ended within the budget.
        """
        return max((score for score, at in self.best_scores if at <= budget), default=0)

    def has_board(self, budget: int) -> bool:
        """Whether a board was made within ``budget`` nodes."""
        return any(at <= budget for _, at in self.best_scores)

    def value(self, budget: int, target: int) -> float:
        """The objective: best score within ``budget``, plus the bonus for reaching the score ``target`` early."""
        return self.score_at(budget) + _early_bonus(self.best_scores, budget, target)

    def expected_at(self, budget: int) -> float:
        """The last expected best score within ``budget``; the best score where there is none."""
        return max((at, score) for score, at in self._expected_scores(budget))[1]

    def expected_value(self, budget: int, target: float) -> float:
        """The objective with the expected best score in place of the best score."""
        return self.expected_at(budget) + _early_bonus(self._expected_scores(budget), budget, target)

    def _expected_scores(self, budget: int) -> Sequence[tuple[float, int]]:
        for scores in (self.expected_scores, self.best_scores):
            if within := [entry for entry in scores if entry[1] <= budget]:
                return within
        return [(0, budget)]


def _early_bonus(scores: Sequence[tuple[float, int]], budget: int, target: float) -> float:
    """Bonus for the point from which the score stays at ``target`` or above until the budget ends.

    Best scores never fall, but expected ones may.
    """
    reached = budget
    for score, at in sorted((entry for entry in scores if entry[1] <= budget), key=lambda entry: -entry[1]):
        if score < target:
            break
        reached = at
    return EARLY_BONUS * (1 - reached / budget)


def difference(candidate: Trace, default: Trace, budget: int) -> float:
    """By how many edges the candidate was better than the defaults on one pair, bonus included.

    The bonus is the mean over two targets, the final scores of both. With the defaults' score alone as target, a
    candidate equal to the defaults would look different.
    """
    targets = candidate.score_at(budget), default.score_at(budget)
    return sum(candidate.value(budget, target) - default.value(budget, target) for target in targets) / 2


def expected_difference(candidate: Trace, default: Trace, budget: int) -> float:
    """As `difference`, from the expected best scores."""
    targets = candidate.expected_at(budget), default.expected_at(budget)
    values = (candidate.expected_value(budget, target) - default.expected_value(budget, target) for target in targets)
    return sum(values) / 2


class Stopped(Exception):
    """A run was asked to stop before it had used its budget."""


class TrialRun:
    """A run in progress, which can be continued to larger budgets.

    Parameters
    ----------
    engine : str
        One of `lns.engines.ENGINES`.
    params : Params
        Parameters of the engine. Steps are shortened so that the shortest budget has at least `MIN_STEPS`.
    pair : Pair
        Instance and seed.
    shortest : int
        Shortest budget that the trace is read at, in nodes.
    """

    def __init__(self, engine: str, params: Params, pair: Pair, shortest: int) -> None:
        step = min(params.engine.step_nodes, max(1000, shortest // MIN_STEPS))
        moves = max(1, step // max(1, pair.puzzle.cells**2 // 2))  # a step of tabu evaluates about cells^2 / 2 moves
        params = replace(
            params,
            engine=replace(params.engine, step_nodes=step),
            tabu=replace(params.tabu, steps=min(params.tabu.steps, moves)),
        )
        self._max_score = pair.puzzle.max_score
        self._engine = make_engine(engine, pair.puzzle, params, pair.seed, 0)
        self._min_step = min(MIN_STEP_NODES, step)
        self._measuring = node_equivalents.population(params.construct.population, pair.puzzle.cells)
        self._quota_profiles = node_equivalents.quota_profile(pair.puzzle.cells)
        self._nodes = 0
        self._best_scores: list[tuple[int, int]] = []
        self._expected_scores: list[tuple[float, int]] = []
        self.trace = Trace((), 0, False, 0.0)

    def advance(self, budget: int, stop: Callable[[], bool]) -> Trace:
        """Search until ``budget`` nodes are used in all, or nothing is left to search.

        Parameters
        ----------
        budget : int
            Nodes, those of earlier calls included.
        stop : callable
            Asked before each step whether to stop.

        Returns
        -------
        Trace
            The run so far.

        Raises
        ------
        Stopped
            ``stop`` returned True before the budget was used.
        """
        began, wall = time.process_time() - self.trace.seconds, time.monotonic() - self.trace.wall_s
        engine, max_score = self._engine, self._max_score
        exhausted = self.trace.exhausted
        while not exhausted and self._nodes < budget:
            if stop():
                raise Stopped
            before = self._counted()
            engine.step(max_score)
            self._nodes += max(round(self._counted() - before), self._min_step)
            engine.pop_boards()
            if engine.best_score > (self._best_scores[-1][0] if self._best_scores else -1):
                self._best_scores.append((engine.best_score, self._nodes))
            self._record_expected_score()
            exhausted = engine.best_score >= max_score
        seconds, wall_s = round(time.process_time() - began, 3), round(time.monotonic() - wall, 3)
        self.trace = Trace(
            best_scores=tuple(self._best_scores), nodes=self._nodes, exhausted=exhausted, seconds=seconds,
            wall_s=wall_s, expected_scores=tuple(self._expected_scores),
        )  # fmt: skip
        return self.trace

    def _record_expected_score(self) -> None:
        """Record the expected best score: at least that of the first board, and the best possible once it is found."""
        engine = self._engine
        expected = engine.expected_best_score
        if engine.best_score >= self._max_score and (expected is not None or self._expected_scores):
            expected = engine.best_score
        if expected is None or not self._best_scores:
            return
        expected = max(expected, self._best_scores[0][0])
        if not self._expected_scores or abs(expected - self._expected_scores[-1][0]) >= EXPECTED_SCORE_STEP:
            self._expected_scores.append((round(expected, 3), self._nodes))

    def _counted(self) -> float:
        """Node equivalents of the engine so far, with the measurements that the engine itself counts as none."""
        statistics = self._engine.statistics
        measured = statistics.arms * self._measuring + statistics.colour_sets * self._quota_profiles
        return statistics.node_equivalents + measured
