"""`lns estimate`: how long each score takes, as a table or as JSON."""

from __future__ import annotations

import argparse
import math
import signal
from typing import TYPE_CHECKING, Any

from lns.terminal.options import duration, nonempty_path, whole_number
from lns.terminal.output import DONE, print_error, print_json, print_text

if TYPE_CHECKING:
    from instances.puzzle import Puzzle
    from lns.estimate import Estimate, EstimateRow


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "instance", metavar="INSTANCE", help="a puzzle file, a viewer URL, or the name of a shipped instance"
    )
    parser.add_argument(
        "--time", type=duration, default=60.0, metavar="S",
        help="how long to measure on one core: seconds, or like 10m, 2h (default 60; minutes give useful bounds)",
    )  # fmt: skip
    parser.add_argument("--seed", type=whole_number, default=1, metavar="N", help="random seed (default 1)")
    parser.add_argument("--params", type=nonempty_path, metavar="FILE", help="read parameters from this TOML file")
    parser.add_argument("--json", action="store_true", help="print one JSON object to stdout")
    parser.add_argument("--quiet", action="store_true", help="do not show progress")
    parser.epilog = (
        "The main engine constructs boards on one core for --time; its boards are counted by score. Printed are, for "
        "each score, how many boards a core-hour brings and how many core-days one board takes; above the scores that "
        "were measured these are extrapolated. No run directory is made. Ctrl-C prints what was measured until then. "
        "Exit status: 0 done, 2 bad input, 129 SIGHUP, 130 Ctrl-C, 143 SIGTERM."
    )


def run(args: argparse.Namespace) -> int:
    from instances.formats import load_puzzle
    from lns import params as parameters
    from lns.estimate import estimate
    from lns.terminal.signals import signal_handler

    puzzle = load_puzzle(args.instance)
    params = parameters.load(args.params) if args.params else parameters.Params()
    ended_by = signal.SIGINT

    def interrupt(number: int, frame: object) -> None:
        nonlocal ended_by
        ended_by = signal.Signals(number)
        raise KeyboardInterrupt

    try:
        with signal_handler(interrupt):
            result = estimate(puzzle, params, args.seed, args.time, (lambda line: None) if args.quiet else print_error)
    except KeyboardInterrupt:
        return 128 + ended_by
    if args.json:
        print_json(_json(puzzle, result))
    else:
        _print_table(puzzle, result)
    return 128 + ended_by if result.interrupted else DONE


def _print_table(puzzle: Puzzle, result: Estimate) -> None:
    from lns.distinct_boards import min_distance

    speed = f"{result.nodes / result.seconds / 1e6:.1f} M placements/s"
    early = ", interrupted" if result.interrupted else ""
    print_text(f"{puzzle.name}, best possible {puzzle.max_score}: {result.seconds:.0f} s of one core{early}, {speed}")
    print_text(f"Boards of at least a score per core-hour, different in {min_distance(puzzle.cells)} cells or more.")
    print_text(
        f"Measured up to {result.measured_score}. Above it `expected` is extrapolated: half-way (in logarithms) between"
    )
    print_text(
        "two extremes: each further edge costs as much as the last two measured ones did, or as much more as the"
    )
    print_text(
        "model says in `forecast`, which rises too fast. `between` has both, widened by two standard deviations."
    )
    print_text()
    titles = f"{'score':>5} {'seen':>5} {'measured':>9} {'forecast':>9} {'expected':>9}"
    print_text(f"{titles} {'between':>19}  {'core-days for one':>17}")
    for row in result.rows:
        measured = f"{_number(row.measured):>9}" if row.measured is not None else f"{'-':>9}"
        spread = f"{_number(row.low):>8} - {_number(row.high):>8}"
        numbers = f"{measured} {_number(row.forecast):>9} {_number(row.expected):>9} {spread:>19}"
        print_text(f"{row.score:>5} {row.count or '-':>5} {numbers}  {_number(row.core_days):>17}")


def _number(value: float) -> str:
    """``value`` with two significant digits."""
    return f"{value:.2g}" if value < 100 or value >= 1e6 else f"{float(f'{value:.2g}'):,.0f}"


def _json(puzzle: Puzzle, result: Estimate) -> dict[str, Any]:
    return {
        "instance": puzzle.name,
        "max_score": puzzle.max_score,
        "seconds": round(result.seconds, 3),
        "nodes": result.nodes,
        "measured_score": result.measured_score,
        "interrupted": result.interrupted,
        "rows": [_row(row) for row in result.rows],
    }


def _row(row: EstimateRow) -> dict[str, Any]:
    return {
        "score": row.score,
        "unlock": list(row.unlock),
        "forecast_per_core_hour": row.forecast if math.isfinite(row.forecast) else None,
        "expected_per_core_hour": row.expected,
        "low_per_core_hour": row.low,
        "high_per_core_hour": row.high,
        "seen": row.count,
        "measured_per_core_hour": row.measured,
        "core_days_for_one": row.core_days if row.expected else None,
    }
