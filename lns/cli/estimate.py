"""`lns estimate`: how long each score takes, in words, as a table or as JSON."""

from __future__ import annotations

import argparse
import math
import secrets
import signal
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from lns.instances.text import count_of
from lns.terminal import options as opt
from lns.terminal import output as out
from lns.terminal.inputs import print_notes, read_puzzle
from lns.terminal.progress import live_line, log
from lns.terminal.signals import interrupt_on_signal, signal_handler

if TYPE_CHECKING:
    from lns.estimate import Estimate, EstimateRow
    from lns.instances.puzzle import Puzzle

LONGEST_HOURS = 1000 * 8766.0  # a thousand years: longer times are not told apart
CLOSE = 8.0  # bounds that are further from the expected time are given as a factor
_UNITS = (("year", 31_557_600.0), ("day", 86_400.0), ("hour", 3600.0), ("minute", 60.0), ("second", 1.0))


@opt.command(
    opt.INSTANCE,
    opt.TIME.but("how long to measure on one core: seconds, or like 10m, 2h (default 60; minutes give useful bounds)",
                 default=60.0),
    opt.SEED, opt.PARAMS.but("read parameters from this TOML file, or 'default' for the defaults (default: as `lns "
                             "solve` takes them)"),
    opt.flag("--verbose", "print the table of rates: measured, forecast, and how they were combined"),
    *opt.PUZZLE_OPTIONS, opt.JSON, opt.QUIET,
    epilog="The main engine constructs boards on one core for --time; its boards are counted by score. Printed is, for "
    "each score, how long one core takes for a board; above the scores that were measured this is extrapolated. No "
    "run directory is made. Ctrl-C prints what was measured until then. "
    "Exit status: 0 done, 2 bad input, 129 SIGHUP, 130 Ctrl-C, 143 SIGTERM.",
)  # fmt: skip
def estimate(args: argparse.Namespace) -> int:
    from lns.api.arguments import choose_parameters
    from lns.api.solving import DRAWN_SEEDS
    from lns.engines import kernel_count
    from lns.estimate import estimate

    document = read_puzzle(args, args.instance)
    puzzle = document.puzzle
    assert puzzle is not None
    params, _, note = choose_parameters(args.params, puzzle, "auto")
    if not args.quiet:
        print_notes((*document.notes, *filter(None, [note])))
    seed, kernels = secrets.randbelow(DRAWN_SEEDS) if args.seed is None else args.seed, kernel_count("construct")
    signals: list[int] = []
    try:
        with (
            signal_handler(interrupt_on_signal) as signals,
            live_line(args.time, quiet=args.quiet, kernels=kernels) as line,
        ):
            result = estimate(
                puzzle, params, seed, args.time, lambda text: log.info("%s", text),
                lambda measured: line.show(measured.in_words, measured.seconds),
            )  # fmt: skip
    except KeyboardInterrupt:
        return 128 + (signals or [signal.SIGINT])[-1]
    facts = {"instance": puzzle.name, "max_score": puzzle.max_score, "seed": seed, "seconds": round(result.seconds, 3)}
    facts |= out.picked(result, "nodes measured_score interrupted") | {"rows": [_row(row) for row in result.rows]}
    headline = _headline(puzzle, result, seed)
    if not args.json and not args.verbose:
        out.print_wrapped(headline)
        out.print_wrapped("How long one core takes for a board of at least a score; four cores take a quarter of it.")
    out.print_answer(args, facts, _table(headline, puzzle, result) if args.verbose else words(result))
    return 128 + (signals or [signal.SIGINT])[-1] if result.interrupted else out.DONE


def _headline(puzzle: Puzzle, result: Estimate, seed: int) -> str:
    speed = f"{result.nodes / result.seconds / 1e6:.1f} M placements/s"
    spent = f"{result.seconds:.0f} s of one core{', interrupted' if result.interrupted else ''}"
    return f"{puzzle.name}, best possible {puzzle.max_score}: {spent}, {speed}, seed {seed}"


def words(result: Estimate) -> Iterator[str]:
    """A line for each score, or for several of which the same is to be said, and how far to trust it."""
    from lns.estimate import RELIABLE_COUNT

    measured = [row for row in result.rows if row.score <= result.measured_score]
    enough = count_of(min(RELIABLE_COUNT, measured[-1].count), "board")
    few = f"\nExtrapolated from {result.measured_score}, the last score with {enough} or more:"
    for title, rows in (("\nMeasured:", measured), (few, result.rows[len(measured) :])):
        if rows:
            yield title
        for said, same in groupby(rows, row_in_words):
            scores = [row.score for row in same]
            span = f"{scores[0]}-{scores[-1]}" if len(scores) > 1 else str(scores[0])
            yield f"  {span:>9}: {said}"
    yield "\nA longer --time narrows it down; --verbose prints the rates behind it."


def row_in_words(row: EstimateRow) -> str:
    """How long a score takes, between which bounds or by which factor uncertain, and whether it was seen."""
    seen = f" ({count_of(row.count, 'board')} seen)" if row.count else ""
    if not row.expected or row.expected < 1 / LONGEST_HOURS:
        return f"more than {LONGEST_HOURS / 8766:,.0f} years{seen}"
    hours, shortest = 1 / row.expected, 1 / row.high
    longest = 1 / row.low if row.low else math.inf
    factor = max(hours / shortest, longest / hours)
    if factor > CLOSE:
        return f"{time_in_words(hours)}, uncertain by a factor of {_rounded(factor)}{seen}"
    if longest * 3600 < 1:
        return f"{time_in_words(hours)}{seen}"
    bounds = f"between {time_in_words(shortest, exact=True)} and {time_in_words(longest, exact=True)}"
    return f"{time_in_words(hours)}, {bounds}{seen}"


def time_in_words(hours: float, *, exact: bool = False) -> str:
    """A time of one or two digits in its largest unit, such as "about 2 hours"; without "about" if ``exact``."""
    seconds = hours * 3600
    for unit, size in _UNITS:
        if seconds >= 0.95 * size:
            number = f"{float(f'{seconds / size:.1g}' if seconds < 9.5 * size else f'{seconds / size:.2g}'):,.0f}"
            return f"{'' if exact else 'about '}{number} {unit}{'s' * (number != '1')}"
    return "less than a second"


def _rounded(factor: float) -> str:
    """A factor with one digit: 20, 300, 4,000."""
    return f"{float(f'{factor:.1g}'):,.0f}" if factor < 1e6 else "millions"


def _table(headline: str, puzzle: Puzzle, result: Estimate) -> Iterator[str]:
    """The rates, and how they were combined."""
    from lns.estimate import min_distance

    yield headline
    yield f"Boards of at least a score per core-hour, different in {min_distance(puzzle.cells)} cells or more."
    yield (
        f"Measured up to {result.measured_score}. Above it `expected` is extrapolated: half-way (in logarithms) between"
    )
    yield "two extremes: each further edge costs as much as the last two measured ones did, or as much more as the"
    yield "model says in `forecast`, which rises too fast. `between` has both, widened by two standard deviations."
    layout = "{:>5} {:>5} {:>9} {:>9} {:>9} {:>19}  {:>17}"
    titles = ("score", "seen", "measured", "forecast", "expected", "between", "core-days for one")
    yield f"\n{layout.format(*titles)}"
    for row in result.rows:
        measured = "-" if row.measured is None else _number(row.measured)
        spread = f"{_number(row.low):>8} - {_number(row.high):>8}"
        rates = (measured, _number(row.forecast), _number(row.expected), spread, _number(row.core_days))
        yield layout.format(row.score, row.count or "-", *rates)


def _number(value: float) -> str:
    """``value`` with two significant digits."""
    return f"{value:.2g}" if value < 100 or value >= 1e6 else f"{float(f'{value:.2g}'):,.0f}"


def _row(row: EstimateRow) -> dict[str, Any]:
    facts = {"score": row.score, "unlock": list(row.unlock)}
    facts["forecast_per_core_hour"] = row.forecast if math.isfinite(row.forecast) else None
    facts |= {f"{name}_per_core_hour": getattr(row, name) for name in ("expected", "low", "high")}
    facts |= {"seen": row.count, "measured_per_core_hour": row.measured}
    return facts | {"core_days_for_one": row.core_days if row.expected else None}
