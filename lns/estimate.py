"""What a score costs: full boards per core-hour, measured where they come, extrapolated beyond, for a person who plans.

The construction of the main engine runs for a while and its boards are counted by score. Boards come in families that
share nearly all their pieces, large ones at low scores; of a family only one counts. What an edge more costs beyond the
measured scores, nobody knows. At best it is what the last measured edges cost. At worst it is what the Markov forecast
says for the best schedule of each score, since that takes cells for independent, while the last pieces of a good board
fit better than that. Published rates rise by factors between the two; the middle of their logarithms is what is
expected, and both are shown.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from instances.puzzle import IntArray, Puzzle
from instances.symmetry import rotate_puzzle
from lns.construct.schedule_search import ChildMeans, ScheduleForecast, best_schedule
from lns.distinct_boards import DistinctBoards
from lns.engines import construction_only
from lns.main_engine import MainEngine
from lns.orientation import best_quarter_turns, island_views
from lns.params import Params
from lns_support.errors import InputError

RAISE_TARGET_COUNT = 20  # families of a score, after which the next score is looked for
RELIABLE_COUNT = 10  # families, from which a ratio is worth something; where fewer come, `low` and `high` are far apart
EDGES = 2  # over which the price of an edge is measured
SHOWN_BELOW = 3  # scores below the highest well measured one
HOPELESS_DAYS = 1e6


@dataclass
class Tally:
    """Boards of at least one score: ``boards`` in all, and their ``distinct_boards``, in the ``seconds`` that they
    counted."""

    seconds: float = 0.0
    boards: int = 0
    distinct_boards: DistinctBoards = field(default_factory=DistinctBoards)

    def add(self, placements: IntArray) -> None:
        """Count a board; as a family of its own, if it differs from all earlier ones in enough cells."""
        self.boards += 1
        if self.distinct_boards.find(placements) is None:
            self.distinct_boards.add(placements)

    @property
    def count(self) -> int:
        return self.distinct_boards.count

    @property
    def per_hour(self) -> float:
        """Families. The one that ended the counting is left out: with it the rate would be too high on average."""
        counted = self.count - 1 if self.count >= RAISE_TARGET_COUNT else self.count
        return 3600 * counted / self.seconds


@dataclass(frozen=True)
class EstimateRow:
    """One score. Rates are boards of at least ``score``, one a family, per core-hour.

    ``forecast``: the Markov model's word, families counted whole, for the best ``unlock`` depths; ``expected``:
    measured or extrapolated, between ``low`` and ``high``, which lie two standard deviations of the count it rests on
    beyond the two guesses; ``count``: families seen; ``measured``: their rate, or None.
    """

    score: int
    unlock: tuple[int, ...]
    forecast: float
    expected: float
    low: float
    high: float
    count: int
    measured: float | None

    @property
    def core_days(self) -> float:
        """For one board."""
        return 1 / (24 * self.expected) if self.expected else math.inf


@dataclass(frozen=True)
class Estimate:
    """``measured_score``: the highest score of which `RELIABLE_COUNT` families came, or as many as came at all.

    Expected rates above it are extrapolated. ``interrupted``: by Ctrl-C, before the time was over.
    """

    rows: tuple[EstimateRow, ...]
    seconds: float
    nodes: int
    measured_score: int
    interrupted: bool = False


class Measurement:
    """The main engine's construction, neither beams nor windows, watched: every board that it constructs is counted."""

    def __init__(self, puzzle: Puzzle, params: Params, seed: int) -> None:
        views = island_views(puzzle)
        self.puzzle = puzzle = rotate_puzzle(puzzle.renumbered(), best_quarter_turns(puzzle))
        self.params = construction_only(params)
        self.search = MainEngine(puzzle, self.params, seed, 0, views=views)
        self.target, self.seconds = 1, 0.0
        self.tallies = {score: Tally() for score in range(1, puzzle.max_score + 1)}
        while self.search.constructor is None:  # measures the pieces, and compiles, before the clock starts
            self.search.step(puzzle.max_score)
        self.search.pop_boards()
        self._nodes_before = self.search.statistics.placements

    def run(self, seconds: float, progress: Callable[[str], None]) -> None:
        """Search and count for so many seconds of this core; the sights are raised whenever a score is common."""
        most = self.puzzle.max_score
        while self.seconds < seconds:
            self.search.params = replace(
                self.params, engine=replace(self.params.engine, search_floor=min(self.target, most))
            )
            before = time.process_time()
            self.search.step(most)
            took = time.process_time() - before
            self.seconds += took
            for score in range(self.target, most + 1):
                self.tallies[score].seconds += took
            for find in self.search.pop_boards():
                if find.origin == "construct":
                    for score in range(self.target, find.score + 1):
                        self.tallies[score].add(find.board.placements)
            passed = self.target
            while self.target < most and self.tallies[self.target].count >= RAISE_TARGET_COUNT:
                self.target += 1
            if self.target > passed:
                progress(f"{self.seconds:6.1f} s: {RAISE_TARGET_COUNT} different boards of {self.target - 1} or more")

    @property
    def nodes(self) -> int:
        """Placements in ``seconds``."""
        return self.search.statistics.placements - self._nodes_before

    def best_arm(self, score: int) -> ChildMeans:
        """What the search has learned of the arm that promises most boards of ``score``, among those searched."""
        arms = self.search.bandit.arms
        fits = [arm.shrunk_estimate() for arm in arms if arm.restarts] or [arm.shrunk_estimate() for arm in arms]
        return max(fits, key=lambda fit: self.best_aim(fit, score).rate)

    def best_aim(self, fit: ChildMeans, score: int) -> ScheduleForecast:
        """The forecast of the best schedule for ``score``."""
        return best_schedule(fit, self.puzzle, self.params.construct, self.puzzle.max_score - score)


def estimate(
    puzzle: Puzzle, params: Params, seed: int, seconds: float, progress: Callable[[str], None] = lambda line: None
) -> Estimate:
    """Measure for ``seconds`` of this core, then extrapolate.

    Raises InputError when no board came meanwhile, or when no board can score. Ctrl-C ends the measurement with the
    boards that came until then; KeyboardInterrupt goes on where none did.
    """
    if puzzle.max_score == 0:
        raise InputError(f"{puzzle.name} has no inner edge, so no score to estimate; expected two cells or more")
    progress(f"measuring {puzzle.name} for {seconds:g} s of one core")
    measured = Measurement(puzzle, params, seed)
    interrupted = False
    try:
        measured.run(seconds, progress)
    except KeyboardInterrupt:
        interrupted = True
    seen = [score for score, tally in measured.tallies.items() if tally.count]
    if interrupted and not seen:
        raise KeyboardInterrupt
    if not seen:
        raise InputError(f"no board of {puzzle.name} was constructed in {seconds:g} s; expected a longer --time")
    enough = min(RELIABLE_COUNT, max(measured.tallies[score].count for score in seen))
    measured_score = max(score for score in seen if measured.tallies[score].count >= enough)
    fit = measured.best_arm(measured_score)
    promised = measured.best_aim(fit, measured_score).rate
    rows: list[EstimateRow] = []
    for score in range(max(seen[0], measured_score - SHOWN_BELOW), puzzle.max_score + 1):
        rows.append(_row(score, measured_score, promised, fit, measured))
        if rows[-1].core_days > HOPELESS_DAYS:
            break
    return Estimate(tuple(rows), measured.seconds, measured.nodes, measured_score, interrupted)


def _row(score: int, measured_score: int, promised: float, fit: ChildMeans, measured: Measurement) -> EstimateRow:
    """``promised``: boards of at least ``measured_score`` a node by the forecast from ``fit``."""
    tally, aim = measured.tallies[score], measured.best_aim(fit, score)
    nearest = min(score, measured_score)
    edges = min(EDGES, nearest - min(measured.tallies))
    known, below = measured.tallies[nearest], measured.tallies[nearest - edges] if edges else None
    rate = known.per_hour
    noise = math.exp(2 * math.sqrt(1 / known.count))  # two standard deviations
    low = expected = high = rate
    if score > nearest:
        low = rate * min(1.0, aim.rate / max(promised, 1e-300))
        high = low
        if below is not None and below.boards:  # the price of the last edges, in boards or in families
            boards = below.boards / below.seconds / (known.boards / known.seconds)
            distinct_boards = below.per_hour / known.per_hour
            high = max(low, rate / max(1.0, boards, distinct_boards) ** ((score - nearest) / edges))
        expected = math.sqrt(low * high)
    return EstimateRow(
        score,
        tuple(aim.unlock.tolist()),
        aim.rate * measured.nodes / measured.seconds * 3600,
        expected,
        low / noise,
        high * noise,
        tally.count,
        tally.per_hour if tally.count else None,
    )
