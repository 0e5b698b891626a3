"""The objective of a study: what a run is worth, and by how much a candidate beats the defaults on a pair.

Trials are compared by all the good boards that they find, not by the best one, which is mostly luck. The *worth* of a
run is the score at which a single board would be worth as much as its distinct boards together, where one edge more is
worth `EDGE_WORTH` boards, about what an edge costs. Boards count from a floor on, `BELOW_BEST` under what the defaults
reach in a short run on the pair; those that differ in few cells are one (`lns.rates`). So a run whose only
board has a score of 460 is worth 460, one with eight of them 461, and one with eight of 459 besides these 461.06.

The validation of a candidate uses the scores themselves: the best score within the budget, plus a bonus of less than an
edge for reaching it early.

Budgets are nodes, not seconds, so a busy or a slow machine gives the same results. Work other than construction is
converted into nodes (`lns.node_equivalents`; docs/tuning.md has the measurements). A run is kept as a `Trace`, from
which score and worth at every smaller budget can be read, so a long run contains its short one.

A run that makes no board within its budget has no score, and a difference to it would be as large as a whole board.
Pairs on which the defaults make none are left out; a candidate that makes none where the defaults make one is given up.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from lns import node_equivalents
from lns.engine import FoundBoard
from lns.engines import make_engine
from lns.instances.puzzle import Puzzle
from lns.params import Params
from lns.rates import DistinctBoards

EARLY_BONUS = 0.5  # edges, for a score that is reached at once
EDGE_WORTH = 8  # boards that are worth as much as one of an edge more
BELOW_BEST = 1  # edges; boards of a pair count from so far below the best score of the defaults' short run on
OBJECTIVE = (
    f"trials: worth of the distinct boards, an edge as {EDGE_WORTH} boards; validation: best score + {EARLY_BONUS} x "
    "unused share of the budget when it was reached; pairs without a board left out"
)
WORTH_STEP = 0.01  # edges; smaller changes of the worth are not recorded
MIN_STEP_NODES = 150_000  # a step counts at least so many nodes: one that places nothing takes time too
BOARD_NODES = 5_000  # the same for a step that a board has ended, or more boards would leave fewer nodes
MIN_STEPS = 20  # into which the shortest budget is divided


@dataclass(frozen=True)
class Pair:
    """An instance and a seed. Each candidate is run on the same pairs."""

    puzzle: Puzzle
    seed: int  # random seed of the run
    label: str  # name in reports
    floor: int = 0  # score from which boards count for the worth of a run; 0: none does, it is worth its best score


@dataclass(frozen=True)
class Trace:
    """What is kept of a run."""

    best_scores: tuple[tuple[int, int], ...]  # each new best score, and the nodes used when it was reached
    nodes: int  # used in all, in node equivalents
    exhausted: bool  # the best possible score is reached, so more nodes would change nothing
    seconds: float  # of the processor
    wall_s: float = 0.0  # elapsed seconds
    worths: tuple[tuple[float, int], ...] = ()  # each new worth of the distinct boards, and the nodes used then

    def covers(self, budget: int) -> bool:
        """Whether the run is long enough to read the score at ``budget`` nodes."""
        return self.exhausted or self.nodes >= budget

    def score_at(self, budget: int) -> int:
        """Best score within ``budget`` nodes, 0 without a board.

        A board counts if the step that found it ended within the budget.
        """
        return max((score for score, at in self.best_scores if at <= budget), default=0)

    def worth_at(self, budget: int) -> float:
        """Worth of the boards found within ``budget`` nodes; at least the best score."""
        return max([self.score_at(budget), *(worth for worth, at in self.worths if at <= budget)])

    def has_board(self, budget: int) -> bool:
        """Whether a board was made within ``budget`` nodes."""
        return any(at <= budget for _, at in self.best_scores)

    def value(self, budget: int, target: int) -> float:
        """The objective: best score within ``budget``, plus a bonus for the share left when ``target`` was reached."""
        reached = min((at for score, at in self.best_scores if score >= target and at <= budget), default=budget)
        return self.score_at(budget) + EARLY_BONUS * (1 - reached / budget)


def difference(candidate: Trace, default: Trace, budget: int) -> float:
    """By how many edges the candidate was better than the defaults on one pair, bonus included.

    The bonus is the mean over two targets, the final scores of both. With the defaults' score alone as target, a
    candidate equal to the defaults would look different.
    """
    targets = candidate.score_at(budget), default.score_at(budget)
    return sum(candidate.value(budget, target) - default.value(budget, target) for target in targets) / 2


def worth_difference(candidate: Trace, default: Trace, budget: int) -> float:
    """By how many edges the boards of the candidate are worth more. Of two perfect boards the earlier one is."""
    worths = candidate.worth_at(budget) - default.worth_at(budget)
    if candidate.exhausted and default.exhausted and not worths:
        return difference(candidate, default, budget)
    return worths


class Families:
    """The distinct boards of ``floor`` or more: the best one of each family found so far, ``best``."""

    def __init__(self, floor: float = 0) -> None:
        self._floor, self._boards, self.best = floor, DistinctBoards(), list[FoundBoard]()

    def add(self, found: FoundBoard) -> bool:
        """Count a board under its family; whether it is a new one or its best board."""
        placements = found.board.placements
        if found.score < self._floor:
            return False
        if (number := self._boards.find(placements)) is None:
            self._boards.add(placements)
            self.best.append(found)
        elif found.score > self.best[number].score:
            self._boards.replace(number, placements)
            self.best[number] = found
        else:
            return False
        return True

    @property
    def worth(self) -> float:
        """The worth of the boards; 0 without any."""
        best = max((found.score for found in self.best), default=0)
        together = sum(float(EDGE_WORTH) ** (found.score - best) for found in self.best)
        return best + math.log(together, EDGE_WORTH) if together else 0.0


class Stopped(Exception):
    """A run was asked to stop before it had used its budget."""


class TrialRun:
    """A run in progress, which can be continued to larger budgets, by one of `lns.engines.ENGINES`.

    ``shortest`` is the shortest budget that the trace is read at, in nodes; steps are shortened so that it has at least
    `MIN_STEPS`.
    """

    def __init__(self, engine: str, params: Params, pair: Pair, shortest: int) -> None:
        step = min(params.engine.step_nodes, max(1000, shortest // MIN_STEPS))
        moves = max(1, step // max(1, pair.puzzle.cells**2 // 2))  # a step of tabu evaluates about cells^2 / 2 moves
        self._params = replace(
            params,
            engine=replace(params.engine, step_nodes=step),
            tabu=replace(params.tabu, steps=min(params.tabu.steps, moves)),
        )
        self._name, self._pair = engine, pair
        self._engine = make_engine(engine, pair.puzzle, self._params, pair.seed, 0)
        self._floor = 0  # from which the engine reports boards: that of the pair, once it has a board
        self._min_step = min(MIN_STEP_NODES, step)
        self._families = Families(pair.floor or math.inf)
        self.trace = Trace((), 0, False, 0.0)

    def advance(self, budget: int, stop: Callable[[], bool]) -> Trace:
        """Search until ``budget`` nodes are used in all, or nothing is left to search; the run so far.

        ``stop`` is asked before each step; when it returns True, Stopped is raised, and the run cannot go on.
        """
        trace, max_score = self.trace, self._pair.puzzle.max_score
        began, wall = time.process_time() - trace.seconds, time.monotonic() - trace.wall_s
        best_scores, worths, nodes, exhausted = [*trace.best_scores], [*trace.worths], trace.nodes, trace.exhausted
        while not exhausted and nodes < budget:
            if stop():
                raise Stopped
            if self._floor != self._pair.floor and self._engine.best is not None:
                self._report_from_floor()
            engine, before = self._engine, self._counted()
            engine.step()
            found = engine.pop_boards()
            nodes += max(round(self._counted() - before), BOARD_NODES if found else self._min_step)
            for board in found:
                self._families.add(board)
            if engine.best_score > (best_scores[-1][0] if best_scores else -1):
                best_scores.append((engine.best_score, nodes))
            worth = round(min(self._families.worth, max_score), 3)
            if worth - (worths[-1][0] if worths else 0.0) >= WORTH_STEP:
                worths.append((worth, nodes))
            exhausted = engine.best_score >= max_score
        self.trace = Trace(
            best_scores=tuple(best_scores), nodes=nodes, exhausted=exhausted, worths=tuple(worths),
            seconds=round(time.process_time() - began, 3), wall_s=round(time.monotonic() - wall, 3),
        )  # fmt: skip
        return self.trace

    def _report_from_floor(self) -> None:
        """Go on with an engine that reports boards from the floor on. A first beam would search far more for them."""
        self._floor = self._pair.floor
        params = replace(self._params, engine=replace(self._params.engine, search_floor=self._floor))
        state = self._engine.state()
        self._engine = make_engine(self._name, self._pair.puzzle, params, self._pair.seed, 0)
        self._engine.restore(state)

    def _counted(self) -> float:
        """Node equivalents of the engine so far, with the measurements that the engine itself counts as none."""
        statistics, cells = self._engine.statistics, self._pair.puzzle.cells
        arms = statistics.arms * node_equivalents.population(self._params.construct.population, cells)
        return statistics.node_equivalents + arms + statistics.colour_sets * node_equivalents.quota_profile(cells)
