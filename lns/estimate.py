"""Estimate what a score costs, in full boards per core-hour: measured where boards come, extrapolated above.

The construction of the main engine runs for a while, and its boards are counted by score. Boards come in groups that
share nearly all their pieces, large groups at low scores; each group counts as one board (`DistinctBoards`).

Above the measured scores the cost of one edge more is unknown, so there are two guesses. The optimistic one: each edge
costs what the last measured edges cost. The pessimistic one: the rates fall as the Markov model forecasts for the best
break schedule of each score; that is too fast, since the model takes cells for independent, while the last pieces of a
good board fit better than that. Published rates lie between the two. The geometric mean of the two is the expected
rate, and both are shown.
"""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from lns.construct import refused_rules
from lns.construct.schedule import ChildMeans, ScheduleForecast, best_schedule
from lns.engine import FoundBoard, verified_board
from lns.instances.errors import InputError
from lns.instances.puzzle import IntArray, Puzzle
from lns.loop.construction import Construction, Fill
from lns.loop.pool import WHOLE_BOARD, Repaired
from lns.orientation import Orientation
from lns.params import Params
from lns.rng import generator
from lns.warmup import warm_up

RAISE_TARGET_COUNT = 20  # distinct boards of a score after which only better ones are searched for
RELIABLE_COUNT = 10  # distinct boards that a rate needs; with fewer `low` and `high` are far apart
COST_EDGES = 2  # the last measured edges, over which the cost of an edge is averaged
SHOWN_BELOW = 3  # rows shown below the highest measured score
CLOCK_S = 0.01  # the steps in which the processor time of a process moves on some systems
LATE_S = 0.5  # after the end of the time; a step that is longer is then cut short
MAX_CORE_DAYS = 1e6  # the table ends at the first score that costs more
MIN_DISTANCE = 20  # cells in which boards of different families differ at least; a quarter of a small board
_RECENT = 64  # boards of one family are mostly found one after the other: of several families a recent one is taken


class _TimeOver(Exception):
    """Raised in a job under `_processor_limit`."""


@contextlib.contextmanager
def _processor_limit(seconds: float) -> Iterator[None]:
    """Raise `_TimeOver` in what runs under this context after ``seconds`` of processor time of this process.

    It is raised between two calls of compiled code. Without effect outside the main thread, and on systems without
    such timers.
    """

    def end(number: int, frame: object) -> None:
        raise _TimeOver

    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, max(seconds, 1e-3), 0.2)  # again, as an exception in a callback is dropped
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def min_distance(cells: int) -> int:
    """Cells in which boards of different families differ at least, on a board of ``cells`` cells."""
    return max(1, min(MIN_DISTANCE, cells // 4))


class DistinctBoards:
    """One board of each family: boards that differ in few cells come from one prefix.

    The families are numbered in the order of discovery; ``count`` is their number.
    """

    def __init__(self) -> None:
        self._boards: npt.NDArray[np.uint16] = np.zeros((0, 0), dtype=np.uint16)
        self.count = 0

    def find(self, placements: IntArray) -> int | None:
        """Number of the family of a board, int (cells,) oriented pieces; None if it differs from all families."""
        if not self.count:
            return None
        placed = placements.astype(np.uint16)
        distance = np.count_nonzero(self._boards[: self.count] != placed, axis=1)
        near = np.flatnonzero(distance < min_distance(len(placed)))
        recent = near[near >= self.count - _RECENT]
        return int((recent if len(recent) else near)[0]) if len(near) else None

    def add(self, placements: IntArray) -> int:
        """Begin a family with this board; returns its number."""
        if self.count == len(self._boards):
            spare = np.zeros((max(_RECENT, self.count), len(placements)), dtype=np.uint16)
            self._boards = np.vstack([self._boards.reshape(-1, len(placements)), spare])
        self.replace(self.count, placements)
        self.count += 1
        return self.count - 1

    def replace(self, family: int, placements: IntArray) -> None:
        """Compare later boards with this board of ``family``."""
        self._boards[family] = placements


@dataclass
class Tally:
    """Count of the boards of at least one score."""

    seconds: float = 0.0  # of the processor, during which boards of this score were counted
    boards: int = 0  # all boards
    distinct_boards: DistinctBoards = field(default_factory=DistinctBoards)

    def add(self, placements: IntArray) -> None:
        """Count the board with these ``placements``, int32 (cells,) oriented pieces by cell."""
        self.boards += 1
        if self.distinct_boards.find(placements) is None:
            self.distinct_boards.add(placements)

    @property
    def count(self) -> int:
        """Number of distinct boards."""
        return self.distinct_boards.count

    @property
    def per_hour(self) -> float:
        """Distinct boards per hour. A board that ended the count is left out, since it would bias the rate upwards."""
        counted = self.count - 1 if self.count >= RAISE_TARGET_COUNT else self.count
        return 3600 * counted / max(self.seconds, CLOCK_S)

    @property
    def all_per_hour(self) -> float:
        """Boards per hour, equal or not."""
        return 3600 * self.boards / max(self.seconds, CLOCK_S)


@dataclass(frozen=True)
class EstimateRow:
    """Estimate for one score; all rates are distinct boards of at least ``score`` per core-hour."""

    score: int  # matched inner edges
    unlock: tuple[int, ...]  # unlock depths of the best break schedule for the score
    forecast: float  # rate by the Markov model, which counts all boards and is not corrected
    expected: float  # the measured rate, or the geometric mean of both extrapolations
    low: float  # the two extrapolations, each moved outwards by two standard deviations of the count it rests on
    high: float
    count: int  # distinct boards seen
    measured: float | None  # their rate; None if there was none

    @property
    def core_days(self) -> float:
        """Expected core-days for one board."""
        return 1 / (24 * self.expected) if self.expected else math.inf


@dataclass(frozen=True)
class Estimate:
    """Result of `estimate`.

    Rates up to ``measured_score`` are measured, those above are extrapolated. It is the highest score with
    `RELIABLE_COUNT` distinct boards; if no score has as many, the highest with the most that any score has.
    """

    rows: tuple[EstimateRow, ...]  # one for each score, ascending
    seconds: float  # of the processor, for the measurement
    nodes: int  # placements made meanwhile
    measured_score: int
    interrupted: bool = False  # whether Ctrl-C ended the measurement early


class Measurement:
    """Runs the construction of the main engine, without beams and regions, and counts each board it makes.

    Before it can begin, the engine measures the pieces, for at most ``seconds`` of this core; `preparation_s` is how
    long that took.
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
        """The boards with their scores; `best` is the highest score so far."""
        found = [verified_board(self.given, one.board, one.origin) for one in repaired.boards]
        self.best = max([self.best, *(board.score for board in found)])
        return found

    def run(self, seconds: float, progress: Callable[[str], None]) -> None:
        """Search and count until ``seconds`` of this core are used, those of earlier calls included.

        The lowest score that is still counted rises when there are `RAISE_TARGET_COUNT` distinct boards of it;
        ``progress`` gets a line of text then.
        """
        max_score = self.puzzle.max_score
        end = time.process_time() + seconds - self.seconds  # what is done between the steps counts too
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
                progress(f"{self.seconds:6.1f} s: {RAISE_TARGET_COUNT} different boards of {self.target - 1} or more")

    @property
    def in_words(self) -> str:
        """What is counted at present."""
        return f"boards of {self.target} or more: {self.tallies[self.target].count}"

    @property
    def nodes(self) -> int:
        """Placements since the clock started."""
        return self.construction.statistics.placements - self._nodes_before

    def best_children(self, score: int) -> ChildMeans:
        """Mean children of the searched arm with the highest forecast of boards of ``score``."""
        arms = self.construction.bandit.arms
        estimates = [arm.shrunk_estimate() for arm in arms if arm.restarts] or [arm.shrunk_estimate() for arm in arms]
        return max(estimates, key=lambda children: self.forecast(children, score).rate)

    def forecast(self, children: ChildMeans, score: int) -> ScheduleForecast:
        """The best break schedule for ``score``, and its forecast."""
        return best_schedule(children, self.puzzle, self.params.construct, self.puzzle.max_score - score)


def estimate(
    puzzle: Puzzle,
    params: Params,
    seed: int,
    seconds: float,
    progress: Callable[[str], None] = lambda line: None,
    on_step: Callable[[Measurement], None] = lambda measured: None,
) -> Estimate:
    """Measure the rates of boards by score, then extrapolate; beams and regions are switched off.

    ``seconds`` are those of the processor in all, with the preparation but without compiling or loading kernels.
    ``progress`` receives lines of text, ``on_step`` the measurement several times a second. Raises InputError if the
    puzzle has no inner edge, construction does not take it, or no board was made; KeyboardInterrupt on Ctrl-C before
    the first board. Later, Ctrl-C ends the measurement with the boards so far.
    """
    if puzzle.max_score == 0:
        raise InputError(f"{puzzle.name} has no inner edge, so no score to estimate; expected two cells or more")
    if refused := refused_rules(puzzle):
        raise InputError(
            f"an estimate is one of the construction, which takes no puzzle with {' and '.join(refused)}; "
            "expected a rectangle with a frame, of pieces that may be turned"
        )
    progress(f"measuring {puzzle.name} for {seconds:g} s of one core")
    warm_up("construct")
    interrupted = False
    measurement: Measurement | None = None
    try:
        with _processor_limit(seconds + LATE_S):  # a step may take longer than all the time: minutes on 64 x 64
            measurement = Measurement(puzzle, params, seed, seconds)
            measurement.on_step = on_step
            measurement.run(seconds - measurement.preparation_s, progress)
    except _TimeOver:
        pass
    except KeyboardInterrupt:
        interrupted = True
    counts = {} if measurement is None else {score: it.count for score, it in measurement.tallies.items() if it.count}
    if interrupted and not counts:
        raise KeyboardInterrupt
    if measurement is None or not counts:
        raise InputError(f"no board of {puzzle.name} was constructed in {seconds:g} s; expected a longer --time")
    enough = min(RELIABLE_COUNT, max(counts.values()))
    measured_score = max(score for score, count in counts.items() if count >= enough)
    children = measurement.best_children(measured_score)
    rows: list[EstimateRow] = []
    for score in range(max(min(counts), measured_score - SHOWN_BELOW), puzzle.max_score + 1):
        rows.append(_row(score, measured_score, children, measurement))
        if rows[-1].core_days > MAX_CORE_DAYS:
            break
    return Estimate(tuple(rows), measurement.seconds, measurement.nodes, measured_score, interrupted)


def _row(score: int, measured_score: int, children: ChildMeans, measurement: Measurement) -> EstimateRow:
    """The row of ``score``: measured up to ``measured_score``, else extrapolated from there."""
    tallies, forecast = measurement.tallies, measurement.forecast(children, score)
    base_score = min(score, measured_score)
    edges = min(COST_EDGES, base_score - min(tallies))
    base, below = tallies[base_score], tallies[base_score - edges] if edges else None
    rate = base.per_hour
    noise = math.exp(2 * math.sqrt(1 / base.count))  # two standard deviations
    low = expected = high = rate
    if score > base_score:
        base_forecast = measurement.forecast(children, base_score).rate
        low = high = rate * min(1.0, forecast.rate / max(base_forecast, 1e-300))
        if below is not None and below.boards:  # cost of the last edges, in all boards or in distinct ones
            cost = max(1.0, below.all_per_hour / base.all_per_hour, below.per_hour / base.per_hour)
            high = max(low, rate / cost ** ((score - base_score) / edges))
        expected = math.sqrt(low * high)
    return EstimateRow(
        score=score,
        unlock=tuple(forecast.unlock.tolist()),
        forecast=forecast.rate * measurement.nodes / max(measurement.seconds, CLOCK_S) * 3600,
        expected=expected,
        low=low / noise,
        high=high * noise,
        count=tallies[score].count,
        measured=tallies[score].per_hour if tallies[score].count else None,
    )
