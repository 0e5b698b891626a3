"""`lns estimate`: how long each score takes, in words, as a table or as JSON."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lns.terminal import options as opt
from lns.terminal import output as out
from lns.terminal.inputs import print_notes, read_puzzle
from lns.terminal.progress import screen_log
from lns.terminal.signals import interrupt_on_signal, signal_handler

if TYPE_CHECKING:
    from lns.api.estimating import Estimate


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
    from lns.api.estimating import estimate

    puzzle, notes = read_puzzle(args, args.instance)
    if not args.quiet:
        print_notes(notes)
    signals: list[int] = []
    try:
        with signal_handler(interrupt_on_signal) as signals, screen_log(quiet=args.quiet):
            shown = "none" if args.quiet else "terminal"
            result = estimate(puzzle, progress=shown, **out.picked(args, "time seed params"))
    except KeyboardInterrupt:
        return 128 + (signals or [signal.SIGINT])[-1]
    facts = {"instance": result.puzzle.name, "max_score": result.puzzle.max_score, "seed": result.seed}
    facts |= {"seconds": round(result.seconds, 3)} | out.picked(result, "nodes measured_score interrupted")
    advice = "\nA longer --time narrows it down; --verbose prints the rates behind it."
    lines = _table(result) if args.verbose else [out.wrapped(f"{result.summary()}\n{advice}", sys.stdout)]
    out.print_answer(args, facts | {"rows": result.records()}, lines)
    return 128 + (signals or [signal.SIGINT])[-1] if result.interrupted else out.DONE


def _table(result: Estimate) -> Iterator[str]:
    """The rates, and how they were combined."""
    from lns.rates import min_distance

    yield result.headline
    yield f"Boards of at least a score per core-hour, different in {min_distance(result.puzzle.cells)} cells or more."
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
