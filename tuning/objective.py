"""The objective of a study: the worth of a run, and by how much a candidate beats the defaults on a pair.

Trials are compared by all the good boards that they find, not by the best one, which is mostly luck. The *worth* of a
run is the score of a single board that would count as much as its distinct boards together: a board counts as much as
`EDGE_WORTH` boards with one edge less, since finding one more edge takes about that many times as long. Boards count
from a floor on, `BELOW_BEST` under the score of a short run of the defaults on the pair; boards that differ in few
cells count as one (`lns.rates`). One board of score 460 is worth 460, eight boards of score 460 are worth 461, and
together with eight boards of score 459 they are worth 461.06.

The validation of a candidate uses scores instead: the best score within the budget, plus a bonus of less than an edge
for reaching it early.

Budgets are nodes, not seconds, so a busy or a slow machine gives the same results. Work other than construction is
converted into nodes (`lns.node_equivalents`; docs/tuning.md has the measurements). A run is kept as a `Trace`, from
which score and worth at every smaller budget can be read, so a long run contains its short one.

A run that makes no board within its budget has no score, and a difference to it would be as large as a whole score.
Pairs on which the defaults make no board are left out; a candidate that makes no board on another pair is given up.
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

EARLY_BONUS = 0.5  # bonus, in edges, for a score that is reached at once
EDGE_WORTH = 8  # number of boards that count as much as one board with one edge more
BELOW_BEST = 1  # edges from the floor of a pair up to the best score of the defaults' short run on it
OBJECTIVE = (
    f"trials: worth of the distinct boards, an edge as {EDGE_WORTH} boards; validation: best score + {EARLY_BONUS} x "
    "unused share of the budget when it was reached; pairs without a board left out"
)
WORTH_STEP = 0.01  # least increase of the worth, in edges, that a trace records
MIN_STEP_NODES = 150_000  # nodes that a step without boards counts at least: steps without placements take time, too
BOARD_NODES = 5_000  # nodes that a step with boards counts at least; few, as such steps end early
MIN_STEPS = 20  # number of steps for which the shortest budget should suffice


@dataclass(frozen=True)
class Pair:
    """An instance and a seed. Each candidate is run on the same pairs."""

    puzzle: Puzzle
    seed: int  # random seed of the run
    label: str  # name of the pair in reports
    floor: int = 0  # score from which boards count for the worth of a run; 0: the worth is the best score


@dataclass(frozen=True)
class Trace:
    """The record of a run: its best scores and worths over the nodes used, and its times."""

    best_scores: tuple[tuple[int, int], ...]  # (new best score, nodes used when it was reached)
    nodes: int  # node equivalents used in all
    exhausted: bool  # whether the best possible score was reached, so that more nodes would change nothing
    seconds: float  # processor seconds
    wall_s: float = 0.0  # elapsed seconds
    worths: tuple[tuple[float, int], ...] = ()  # (new worth of the distinct boards, nodes used then)

    def covers(self, budget: int) -> bool:
        """Return whether the run is long enough to read its score at ``budget`` nodes."""
        return self.exhausted or self.nodes >= budget

    def score_at(self, budget: int) -> int:
        """Return the best score found in steps that ended within ``budget`` nodes; 0 without a board."""
        return max((score for score, at in self.best_scores if at <= budget), default=0)

    def worth_at(self, budget: int) -> float:
        """Return the worth of the boards found within ``budget`` nodes; at least the best score."""
        return max([self.score_at(budget), *(worth for worth, at in self.worths if at <= budget)])

    def has_board(self, budget: int) -> bool:
        """Return whether a board was made within ``budget`` nodes."""
        return any(at <= budget for _, at in self.best_scores)

    def value(self, budget: int, target: int) -> float:
        """Return the best score within ``budget``, plus a bonus for the budget left when ``target`` was reached."""
        reached = min((at for score, at in self.best_scores if score >= target and at <= budget), default=budget)
        return self.score_at(budget) + EARLY_BONUS * (1 - reached / budget)


def difference(candidate: Trace, default: Trace, budget: int) -> float:
    """Return by how many edges the candidate was better than the defaults on one pair, the bonus included.

    The bonus is averaged over two targets, the final scores of candidate and defaults, so that the difference changes
    only its sign if the two are exchanged.
    """
    targets = candidate.score_at(budget), default.score_at(budget)
    return sum(candidate.value(budget, target) - default.value(budget, target) for target in targets) / 2


def worth_difference(candidate: Trace, default: Trace, budget: int) -> float:
    """Return by how many edges the candidate's boards are worth more; between perfect boards the earlier one wins."""
    worths = candidate.worth_at(budget) - default.worth_at(budget)
    if candidate.exhausted and default.exhausted and not worths:
        return difference(candidate, default, budget)
    return worths


class Families:
    """Families of the boards with a score of ``floor`` or more; ``scores`` has the best score of each family."""

    def __init__(self, floor: float = 0) -> None:
        self._floor, self._boards, self.scores = floor, DistinctBoards(), list[int]()

    def add(self, found: FoundBoard) -> None:
        """Add a board to its family, or begin a new family; ignore a board below the floor."""
        placements = found.board.placements
        if found.score < self._floor:
            return
        if (number := self._boards.find(placements)) is None:
            self._boards.add(placements)
            self.scores.append(found.score)
        elif found.score > self.scores[number]:
            self._boards.replace(number, placements)
            self.scores[number] = found.score

    @property
    def worth(self) -> float:
        """The worth of the boards; 0 without any."""
        best = max(self.scores, default=0)
        together = sum(float(EDGE_WORTH) ** (score - best) for score in self.scores)
        return best + math.log(together, EDGE_WORTH) if together else 0.0


class Stopped(Exception):
    """Raised if a run was asked to stop before it had used its budget."""


class TrialRun:
    """A run of one of `lns.engines.ENGINES` in progress, which can be continued to larger budgets.

    ``shortest`` is the shortest budget at which the trace is read, in nodes; steps are shortened so that this budget
    has about `MIN_STEPS` steps or more.
    """

    def __init__(self, engine: str, params: Params, pair: Pair, shortest: int) -> None:
        step = min(params.engine.step_nodes, max(1000, shortest // MIN_STEPS))
        moves = max(1, step // max(1, pair.puzzle.cells**2 // 2))  # a tabu step evaluates about cells^2 / 2 moves
        self._params = replace(
            params,
            engine=replace(params.engine, step_nodes=step),
            tabu=replace(params.tabu, steps=min(params.tabu.steps, moves)),
        )
        self._name, self._pair = engine, pair
        self._engine = make_engine(engine, pair.puzzle, self._params, pair.seed, 0)
        self._floor = 0  # score from which the engine reports boards; after the first board it becomes the pair's floor
        self._min_step = min(MIN_STEP_NODES, step)
        self._families = Families(pair.floor or math.inf)
        self.trace = Trace((), 0, False, 0.0)

    def advance(self, budget: int, stop: Callable[[], bool]) -> Trace:
        """Search until ``budget`` nodes are used in all or the score is the best possible; return the run so far.

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
        """Make the engine report boards from the pair's floor on; before the first board this would delay a beam."""
        self._floor = self._pair.floor
        params = replace(self._params, engine=replace(self._params.engine, search_floor=self._floor))
        state = self._engine.state()
        self._engine = make_engine(self._name, self._pair.puzzle, params, self._pair.seed, 0)
        self._engine.restore(state)

    def _counted(self) -> float:
        """Return the engine's node equivalents so far, plus those of measuring children, which it leaves out."""
        statistics, cells = self._engine.statistics, self._pair.puzzle.cells
        arms = statistics.arms * node_equivalents.population(self._params.construct.population, cells)
        return statistics.node_equivalents + arms + statistics.colour_sets * node_equivalents.quota_profile(cells)
