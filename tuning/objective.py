"""What is maximised: the score at a budget of nodes, plus a little for reaching a score early.

The score of one run is mostly luck. Where the engine can tell what score was to be expected of all that it searched
(`Engine.foretold`), trials are compared by that, `promised`; candidates are believed by the scores themselves,
`difference`.

Runs are counted in nodes, so that a busy machine or a slow one gives the same figures; what takes longer than a node of
construction counts for more (docs/tuning.md has the measurement), or candidates would hide time in it. A run is kept
as a `Trace`, from which the score at every smaller budget can be read: the long run of a pair holds its short one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from instances.puzzle import Puzzle
from lns import node_equivalents
from lns.engines import make_engine
from lns.params import Params

EARLY = 0.5  # edges that the time to the defaults' score is worth at most
FORMULA = f"score at the budget + {EARLY} x share of it left at the scores of both; of trials the score foretold"
CHANGE = 0.01  # edges; what is foretold is noted as often as it changes by that
LEAST_STEP = 150_000  # nodes that a step counts at least: one that places nothing takes its time too
STEPS = 20  # of the shortest budget at least


@dataclass(frozen=True)
class Pair:
    """An instance and a seed: what every candidate is run on. ``label``: for people."""

    puzzle: Puzzle
    seed: int
    label: str


@dataclass(frozen=True)
class Trace:
    """How the best score of a run rose. ``rises``: (score, work at which it was reached); ``work``: how far it went.

    ``ended``: nothing is left to do, at any budget. ``seconds``: of the processor; ``wall_s``: by the clock.
    ``hopes``: (score foretold, work at which it was), none where the engine foretells nothing.
    """

    rises: tuple[tuple[int, int], ...]
    work: int
    ended: bool
    seconds: float
    wall_s: float = 0.0
    hopes: tuple[tuple[float, int], ...] = ()

    def covers(self, budget: int) -> bool:
        return self.ended or self.work >= budget

    def score_at(self, budget: int) -> int:
        """Best score within ``budget``; a board counts when the step that found it was over by then. 0: none."""
        return max((score for score, at in self.rises if at <= budget), default=0)

    def value(self, budget: int, target: int) -> float:
        """The objective. ``target``: a score at this budget that the run is compared by."""
        return self.score_at(budget) + _early(self.rises, budget, target)

    def hope_at(self, budget: int) -> float:
        """The score foretold last within ``budget``; that of the best board where none was."""
        return max((at, score) for score, at in self._hopes(budget))[1]

    def promise(self, budget: int, target: float) -> float:
        """As `value`, of what was foretold."""
        return self.hope_at(budget) + _early(self._hopes(budget), budget, target)

    def _hopes(self, budget: int) -> Sequence[tuple[float, int]]:
        for told in (self.hopes, self.rises):
            if within := [one for one in told if one[1] <= budget]:
                return within
        return [(0, budget)]


def _early(told: Sequence[tuple[float, int]], budget: int, target: float) -> float:
    """For when ``target`` was reached, and kept to the end of the budget: what is foretold may fall again."""
    reached = budget
    for score, at in sorted((one for one in told if one[1] <= budget), key=lambda one: -one[1]):
        if score < target:
            break
        reached = at
    return EARLY * (1 - reached / budget)


def difference(candidate: Trace, default: Trace, budget: int) -> float:
    """By how much the candidate was better on a pair, in edges.

    How early is asked of both scores: asked of the defaults' alone, a candidate no different from them would look
    different.
    """
    targets = candidate.score_at(budget), default.score_at(budget)
    return sum(candidate.value(budget, one) - default.value(budget, one) for one in targets) / 2


def promised(candidate: Trace, default: Trace, budget: int) -> float:
    """By how much it was to be expected to be better."""
    targets = candidate.hope_at(budget), default.hope_at(budget)
    return sum(candidate.promise(budget, one) - default.promise(budget, one) for one in targets) / 2


class Stopped(Exception):
    """A run was asked to stop before its budget was used."""


class TrialRun:
    """One run under way: goes as far as it is asked to, and further when asked again."""

    def __init__(self, engine: str, params: Params, pair: Pair, shortest: int) -> None:
        step = min(params.engine.step_nodes, max(1000, shortest // STEPS))
        moves = max(1, step // max(1, pair.puzzle.cells**2 // 2))  # each step of a walk evaluates about so many
        params = replace(
            params,
            engine=replace(params.engine, step_nodes=step),
            tabu=replace(params.tabu, steps=min(params.tabu.steps, moves)),
        )
        self._best_possible = pair.puzzle.max_score
        self._engine = make_engine(engine, pair.puzzle, params, pair.seed, 0)
        self._least = min(LEAST_STEP, step)
        self._measuring = node_equivalents.population(params.construct.population, pair.puzzle.cells)
        self._census = node_equivalents.quota_profile(pair.puzzle.cells)
        self._work = 0
        self._rises: list[tuple[int, int]] = []
        self._hopes: list[tuple[float, int]] = []
        self.trace = Trace((), 0, False, 0.0)

    def advance(self, budget: int, stop: Callable[[], bool]) -> Trace:
        """Search on until ``budget`` is used or nothing is left. Raises Stopped when ``stop`` says so first."""
        began, wall = time.process_time() - self.trace.seconds, time.monotonic() - self.trace.wall_s
        engine, best_possible = self._engine, self._best_possible
        ended = self.trace.ended
        while not ended and self._work < budget:
            if stop():
                raise Stopped
            before = self._counted()
            engine.step(best_possible)
            self._work += max(round(self._counted() - before), self._least)
            engine.pop_boards()
            if engine.best_score > (self._rises[-1][0] if self._rises else -1):
                self._rises.append((engine.best_score, self._work))
            self._note_hope()
            ended = engine.exhausted or engine.best_score >= best_possible
        seconds, wall_s = round(time.process_time() - began, 3), round(time.monotonic() - wall, 3)
        self.trace = Trace(tuple(self._rises), self._work, ended, seconds, wall_s, tuple(self._hopes))
        return self.trace

    def _note_hope(self) -> None:
        """What the engine foretells: no less than the first board, which is no luck, and the best possible once met."""
        engine = self._engine
        hope = engine.expected_best_score
        if engine.best_score >= self._best_possible and (hope is not None or self._hopes):
            hope = engine.best_score
        if hope is None or not self._rises:
            return
        hope = max(hope, self._rises[0][0])
        if not self._hopes or abs(hope - self._hopes[-1][0]) >= CHANGE:
            self._hopes.append((round(hope, 3), self._work))

    def _counted(self) -> float:
        done = self._engine.statistics
        measured = done.arms * self._measuring + done.colour_sets * self._census
        return done.node_equivalents + measured  # where it measures it counts none
