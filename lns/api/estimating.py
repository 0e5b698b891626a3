"""`estimate`: how long one core takes for a board of each score, measured for low scores, extrapolated for higher."""

from __future__ import annotations

import contextlib
import logging
import math
import secrets
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from lns.api.arguments import ParamsSource, check_seed, choose_parameters, log_choice
from lns.api.files import PuzzleSource, load_puzzle
from lns.api.result import ProgressView, progress_view
from lns.api.solving import DRAWN_SEEDS
from lns.construct import refused_rules
from lns.construct.schedule import ChildMeans
from lns.engines import kernel_count
from lns.instances.arguments import checked
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle
from lns.instances.records import Records
from lns.instances.text import count_of
from lns.rates import CLOCK_S, RELIABLE_COUNT, Measurement
from lns.warmup import warm_up

log = logging.getLogger("lns")

COST_EDGES = 2  # edges below `Estimate.measured_score` over which the cost of one more edge is averaged
SHOWN_BELOW = 3  # most rows of the table for scores below `Estimate.measured_score`
LATE_S = 0.5  # seconds after the time limit at which a running step of the measurement is stopped
MAX_CORE_DAYS = 1e6  # the table ends at the first score whose boards take more core-days each
LONGEST_HOURS = 1000 * 8766.0  # hours in a thousand years; a longer time is shown as "more than 1,000 years"
CLOSE = 8.0  # if a bound differs from the expected time by a larger factor, the factor is shown, not the bounds
_UNITS = (("year", 31_557_600.0), ("day", 86_400.0), ("hour", 3600.0), ("minute", 60.0), ("second", 1.0))


@dataclass(frozen=True)
class EstimateRow:
    """Estimate for one score; rates are boards of at least ``score`` per core-hour, distinct but in ``forecast``."""

    score: int  # matched inner edges
    unlock: tuple[int, ...]  # unlock depths of the best break schedule for the score
    forecast: float  # rate that the Markov model of the search predicts, of boards distinct or not
    expected: float  # the measured rate, or the geometric mean of the lower and the higher extrapolation
    low: float  # lower bound: measured rate or lower extrapolation, lowered by two standard deviations of the count
    high: float  # upper bound: measured rate or higher extrapolation, raised by two standard deviations of the count
    count: int  # distinct boards of at least ``score`` seen in the measurement
    measured: float | None  # rate of the boards seen; None if none was seen

    @property
    def core_days(self) -> float:
        """Expected core-days for one board of at least ``score``."""
        return 1 / (24 * self.expected) if self.expected else math.inf

    @property
    def in_words(self) -> str:
        """The expected time for one board, with bounds or a factor of uncertainty, and the number of boards seen."""
        seen = f" ({count_of(self.count, 'board')} seen)" if self.count else ""
        if not self.expected or self.expected < 1 / LONGEST_HOURS:
            return f"more than {LONGEST_HOURS / 8766:,.0f} years{seen}"
        hours, shortest = 1 / self.expected, 1 / self.high
        longest = 1 / self.low if self.low else math.inf
        factor = max(hours / shortest, longest / hours)
        if factor > CLOSE:
            rounded = f"{float(f'{factor:.1g}'):,.0f}" if factor < 1e6 else "millions"
            return f"{time_in_words(hours)}, uncertain by a factor of {rounded}{seen}"
        if longest * 3600 < 1:
            return f"{time_in_words(hours)}{seen}"
        bounds = f"between {time_in_words(shortest, exact=True)} and {time_in_words(longest, exact=True)}"
        return f"{time_in_words(hours)}, {bounds}{seen}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of a row of `lns estimate --json`."""
        facts: dict[str, Any] = {"score": self.score, "unlock": list(self.unlock)}
        facts["forecast_per_core_hour"] = self.forecast if math.isfinite(self.forecast) else None
        facts |= {f"{name}_per_core_hour": getattr(self, name) for name in ("expected", "low", "high")}
        facts |= {"seen": self.count, "measured_per_core_hour": self.measured}
        return facts | {"core_days_for_one": self.core_days if self.expected else None}


def time_in_words(hours: float, *, exact: bool = False) -> str:
    """Return a time rounded to one or two digits of its largest unit: "about 2 hours", or "2 hours" if ``exact``."""
    seconds = hours * 3600
    for unit, size in _UNITS:
        if seconds >= 0.95 * size:
            number = f"{float(f'{seconds / size:.1g}' if seconds < 9.5 * size else f'{seconds / size:.2g}'):,.0f}"
            return f"{'' if exact else 'about '}{number} {unit}{'s' * (number != '1')}"
    return "less than a second"


@dataclass(frozen=True)
class Estimate(Records):
    """How often one core finds boards of each score.

    Rates for scores up to ``measured_score`` are measured, those for higher scores extrapolated. ``measured_score`` is
    the highest score with `RELIABLE_COUNT` distinct boards; if none has so many, the highest with the largest count.
    """

    puzzle: Puzzle
    seed: int
    rows: tuple[EstimateRow, ...]  # one row for each score, ascending
    seconds: float  # processor time that the measurement took
    nodes: int  # placements of pieces made in ``seconds``
    measured_score: int
    interrupted: bool = False  # whether Ctrl-C ended the measurement early

    def records(self) -> list[dict[str, Any]]:
        """Return the fields of each row as a dict."""
        return [row.to_dict() for row in self.rows]

    @property
    def headline(self) -> str:
        """Puzzle, duration, speed and seed of the measurement, in one line."""
        speed = f"{self.nodes / max(self.seconds, CLOCK_S) / 1e6:.1f} M placements/s"
        spent = f"{self.seconds:.0f} s of one core{', interrupted' if self.interrupted else ''}"
        return f"{self.puzzle.name}, best possible {self.puzzle.max_score}: {spent}, {speed}, seed {self.seed}"

    def summary(self) -> str:
        """Return a text with the time for a board of each score, or of each range of scores with equal times."""
        lines = [self.headline]
        lines += ["How long one core takes for a board of at least a score; four cores take a quarter of it."]
        measured = [row for row in self.rows if row.score <= self.measured_score]
        enough = count_of(min(RELIABLE_COUNT, measured[-1].count), "board")
        few = f"\nExtrapolated from {self.measured_score}, the last score with {enough} or more:"
        for title, rows in (("\nMeasured:", measured), (few, self.rows[len(measured) :])):
            lines += [title] * bool(rows)
            for said, same in groupby(rows, lambda row: row.in_words):
                scores = [row.score for row in same]
                span = f"{scores[0]}-{scores[-1]}" if len(scores) > 1 else str(scores[0])
                lines.append(f"  {span:>9}: {said}")
        return "\n".join(lines)


@checked
def estimate(
    puzzle: PuzzleSource,
    *,
    time: float = 60.0,
    seed: int | None = None,
    params: ParamsSource | None = None,
    progress: str | bool | ProgressView | None = "auto",
) -> Estimate:
    """Measure how often one core finds boards of each score, and extrapolate how long higher scores would take.

    Only the construction of the main engine runs, in this process, without beam search and region search.

    Parameters
    ----------
    puzzle : Puzzle, str or path-like
        Puzzle, or what `load_puzzle` reads.
    time : float
        Seconds of processor time in all; compiling or loading kernels does not count. Minutes give useful bounds.
    seed : int, optional
        Random seed; drawn by default.
    params : Params, dict, str or path-like, optional
        Parameters, as for `lns.solve`.
    progress : {"auto", "terminal", "notebook", "none"}, bool or ProgressView
        As for `lns.solve`.

    Returns
    -------
    Estimate
        Its ``summary()`` has a line for each score, ``to_frame()`` the rates.

    Raises
    ------
    InputError
        The puzzle has no inner edge, the construction cannot search it, or no board was made in the time.
    KeyboardInterrupt
        Ctrl-C came before the first board. A later Ctrl-C ends the measurement, and the boards so far are used.
    """
    known = load_puzzle(puzzle)
    if not time > 0:
        raise InputError(f"a time of {time} s; expected more than 0")
    check_seed(seed)
    if known.max_score == 0:
        raise InputError(f"{known.name} has no inner edge, so no score to estimate; expected two cells or more")
    if refused := refused_rules(known):
        raise InputError(
            f"an estimate is one of the construction, which takes no puzzle with {' and '.join(refused)}; "
            "expected a rectangle with a frame, of pieces that may be turned"
        )
    chosen, source, note = choose_parameters(params, known, "auto")
    log_choice(source, note)
    seed = secrets.randbelow(DRAWN_SEEDS) if seed is None else seed
    interrupted, measurement = False, None
    with progress_view(progress, time, kernels=kernel_count("construct")) as view:
        log.info("measuring %s for %g s of one core", known.name, time)
        warm_up("construct")
        try:
            with _processor_limit(time + LATE_S):  # a single step may take minutes on a board of 64 x 64
                measurement = Measurement(known, chosen, seed, time)
                measurement.on_step = lambda measured: view.show(measured.in_words, measured.seconds)
                measurement.run(time - measurement.preparation_s)
        except _TimeOver:
            pass
        except KeyboardInterrupt:
            interrupted = True
    counts = {} if measurement is None else {score: it.count for score, it in measurement.tallies.items() if it.count}
    if interrupted and not counts:
        raise KeyboardInterrupt
    if measurement is None or not counts:
        raise InputError(f"no board of {known.name} was constructed in {time:g} s; expected a longer time")
    enough = min(RELIABLE_COUNT, max(counts.values()))
    measured_score = max(score for score, count in counts.items() if count >= enough)
    children = measurement.best_children(measured_score)
    rows: list[EstimateRow] = []
    for score in range(max(min(counts), measured_score - SHOWN_BELOW), known.max_score + 1):
        rows.append(_row(score, measured_score, children, measurement))
        if rows[-1].core_days > MAX_CORE_DAYS:
            break
    return Estimate(known, seed, tuple(rows), measurement.seconds, measurement.nodes, measured_score, interrupted)


def _row(score: int, measured_score: int, children: ChildMeans, measurement: Measurement) -> EstimateRow:
    """Return the row of ``score``, which is extrapolated if it is above ``measured_score``."""
    tallies, forecast = measurement.tallies, measurement.forecast(children, score)
    base_score = min(score, measured_score)
    edges = min(COST_EDGES, base_score - min(tallies))
    base, below = tallies[base_score], tallies[base_score - edges] if edges else None
    rate = base.per_hour
    noise = math.exp(2 * math.sqrt(1 / base.count))  # two standard deviations of the count, as a factor of the rate
    low = expected = high = rate
    if score > base_score:
        base_forecast = measurement.forecast(children, base_score).rate
        low = high = rate * min(1.0, forecast.rate / max(base_forecast, 1e-300))
        if below is not None and below.boards:  # ``cost``: factor by which ``edges`` more edges made boards rarer
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


class _TimeOver(Exception):
    """Raised by `_processor_limit` when the time is over."""


@contextlib.contextmanager
def _processor_limit(seconds: float) -> Iterator[None]:
    """Raise `_TimeOver` in the body of this context after ``seconds`` of processor time of this process.

    Compiled code is not interrupted: the exception is raised when the code returns. There is no limit outside the main
    thread, or on systems without timers of processor time.
    """

    def end(number: int, frame: object) -> None:
        raise _TimeOver

    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, max(seconds, 1e-3), 0.2)  # repeats, as a callback may drop the error
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
