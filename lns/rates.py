"""Estimate full boards of each score per core-hour: measured for scores that are found, extrapolated above them.

The construction of the main engine runs for a while, and its boards are counted by score. Boards come in groups that
share nearly all their pieces, large groups at low scores; each group counts as one board (`DistinctBoards`).

Above the measured scores the cost of one more edge is unknown, so there are two estimates. The optimistic estimate
assumes that each edge costs as much as the last measured edges. The pessimistic estimate assumes that the rates fall as
the Markov model forecasts for the best break schedule of each score. This model treats cells as independent, while the
last pieces of a good board fit better, so its rates fall too fast. Published rates lie between the two estimates.
The expected rate is the geometric mean of both; all three are shown.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from lns.construct.schedule import ChildMeans, ScheduleForecast, best_schedule
from lns.engine import FoundBoard, verified_board
from lns.instances.puzzle import IntArray, Puzzle
from lns.loop.construction import Construction, Fill
from lns.loop.pool import WHOLE_BOARD, Repaired
from lns.orientation import Orientation
from lns.params import Params
from lns.rng import generator
from lns.warmup import warm_up

log = logging.getLogger("lns")

RAISE_TARGET_COUNT = 20  # after this number of distinct boards of a score only better boards are searched for
RELIABLE_COUNT = 10  # least number of distinct boards of a score for which a measured rate is reliable
CLOCK_S = 0.01  # resolution, in seconds, of the clock for processor time on some systems
MIN_DISTANCE = 20  # boards of different families differ in at least this many cells, or fewer (`min_distance`)
_RECENT = 64  # of several families near a board, one of the latest 64 is preferred: boards of one family come in a row


def min_distance(cells: int) -> int:
    """Return the least number of cells in which boards of different families differ, on a board of ``cells`` cells."""
    return max(1, min(MIN_DISTANCE, cells // 4))


class DistinctBoards:
    """Keeps one board of each family. Boards that differ in few cells come from one prefix and form a family.

    The families are numbered from 0 in the order of discovery; ``count`` is how many there are.
    """

    def __init__(self) -> None:
        self._boards: npt.NDArray[np.uint16] = np.zeros((0, 0), dtype=np.uint16)
        self.count = 0

    def find(self, placements: IntArray) -> int | None:
        """Return the number of the family of ``placements``, int (cells,) oriented pieces; None for a new family."""
        if not self.count:
            return None
        placed = placements.astype(np.uint16)
        distance = np.count_nonzero(self._boards[: self.count] != placed, axis=1)
        near = np.flatnonzero(distance < min_distance(len(placed)))
        recent = near[near >= self.count - _RECENT]
        return int((recent if len(recent) else near)[0]) if len(near) else None

    def add(self, placements: IntArray) -> None:
        """Begin a family with the board of ``placements``."""
        if self.count == len(self._boards):
            spare = np.zeros((max(_RECENT, self.count), len(placements)), dtype=np.uint16)
            self._boards = np.vstack([self._boards.reshape(-1, len(placements)), spare])
        self.replace(self.count, placements)
        self.count += 1

    def replace(self, family: int, placements: IntArray) -> None:
        """Make ``placements`` the board of ``family``, with which later boards are compared."""
        self._boards[family] = placements


@dataclass
class Tally:
    """Count of the boards of at least a given score."""

    seconds: float = 0.0  # processor seconds during which these boards were counted
    boards: int = 0  # number of all boards, distinct or not
    distinct_boards: DistinctBoards = field(default_factory=DistinctBoards)

    def add(self, placements: IntArray) -> None:
        """Count a board with ``placements``, int32 (cells,) oriented pieces by cell."""
        self.boards += 1
        if self.distinct_boards.find(placements) is None:
            self.distinct_boards.add(placements)

    @property
    def count(self) -> int:
        """Number of distinct boards counted."""
        return self.distinct_boards.count

    @property
    def per_hour(self) -> float:
        """Distinct boards per processor hour, without the board that ended the count, which would bias the rate."""
        counted = self.count - 1 if self.count >= RAISE_TARGET_COUNT else self.count
        return 3600 * counted / max(self.seconds, CLOCK_S)

    @property
    def all_per_hour(self) -> float:
        """Boards per processor hour, distinct or not."""
        return 3600 * self.boards / max(self.seconds, CLOCK_S)


class Measurement:
    """Runs the construction of the main engine, without beams and regions, and counts each board it makes.

    Before the count the engine makes a first board and, unless this has taken ``seconds`` of processor time, begins the
    construction, which measures how many children prefixes have. `preparation_s` is the processor time of both.
    """

    def __init__(self, puzzle: Puzzle, params: Params, seed: int, seconds: float = math.inf) -> None:
        orientation = Orientation.of_island(puzzle)
        self.given, self.puzzle, self.params = puzzle, orientation.puzzle, params
        self.construction = Construction(orientation, params, seed, 0)
        self.best = -1
        self.target, self.seconds = 1, 0.0
        self.on_step: Callable[[Measurement], None] = lambda measured: None
        self.tallies = {score: Tally() for score in range(1, puzzle.max_score + 1)}
        warm_up("construct")
        start = time.process_time()
        rng = generator(self.construction.random.copy())
        self._verify(Fill(puzzle, orientation).repair(WHOLE_BOARD, 0, rng))
        if time.process_time() < start + seconds:
            self._verify(self.construction.repair(WHOLE_BOARD, self.best + 1, rng))
        self._rng = rng
        self.preparation_s = time.process_time() - start
        self._nodes_before = self.construction.statistics.placements

    def _verify(self, repaired: Repaired) -> list[FoundBoard]:
        """Verify the boards of ``repaired``; return them with their scores; update `best`, the highest score so far."""
        found = [verified_board(self.given, one.board, one.origin) for one in repaired.boards]
        self.best = max([self.best, *(board.score for board in found)])
        return found

    def run(self, seconds: float) -> None:
        """Search and count boards until ``seconds`` of processor time are used, earlier calls included.

        The lowest score that is counted rises once `RAISE_TARGET_COUNT` distinct boards of this score or more exist.
        """
        max_score = self.puzzle.max_score
        end = time.process_time() + seconds - self.seconds  # work between the steps uses up this time, too
        while time.process_time() < end:
            start = time.process_time()
            self.construction.floor = min(self.target, max_score)
            boards = self._verify(self.construction.repair(WHOLE_BOARD, self.best + 1, self._rng))
            step_seconds = time.process_time() - start
            self.seconds += step_seconds
            for score in range(self.target, max_score + 1):
                self.tallies[score].seconds += step_seconds
            for found in boards:
                for score in range(self.target, found.score + 1):
                    self.tallies[score].add(found.board.placements)
            before = self.target
            while self.target < max_score and self.tallies[self.target].count >= RAISE_TARGET_COUNT:
                self.target += 1
            self.on_step(self)
            if self.target > before:
                raised = self.seconds, RAISE_TARGET_COUNT, self.target - 1
                log.info("%6.1f s: %d different boards of %d or more", *raised)

    @property
    def in_words(self) -> str:
        """In words: the number of distinct boards of at least `target`, the lowest score that is still counted."""
        return f"boards of {self.target} or more: {self.tallies[self.target].count}"

    @property
    def nodes(self) -> int:
        """Number of placements since the end of the preparation."""
        return self.construction.statistics.placements - self._nodes_before

    def best_children(self, score: int) -> ChildMeans:
        """Return the child counts of the arm, a searched one if any, that forecasts most boards of ``score``."""
        arms = self.construction.bandit.arms
        estimates = [arm.shrunk_estimate() for arm in arms if arm.restarts] or [arm.shrunk_estimate() for arm in arms]
        return max(estimates, key=lambda children: self.forecast(children, score).rate)

    def forecast(self, children: ChildMeans, score: int) -> ScheduleForecast:
        """Return the forecast rate of boards of ``score``, with the best break schedule for this score."""
        return best_schedule(children, self.puzzle, self.params.construct, self.puzzle.max_score - score)
