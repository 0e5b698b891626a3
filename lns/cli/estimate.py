"""`lns solve --estimate`: what each score costs, as a table or as JSON."""

from __future__ import annotations

import argparse
import math
import signal
from typing import TYPE_CHECKING, Any

from lns.terminal.output import DONE, print_error, print_json
from lns.terminal.signals import signal_handler

if TYPE_CHECKING:
    from instances.puzzle import Puzzle
    from lns.estimate import Estimate, EstimateRow
    from lns.params import Params


def show(puzzle: Puzzle, params: Params, args: argparse.Namespace) -> int:
    """Measure, extrapolate, print; the exit status."""
    from lns.estimate import estimate

    def progress(line: str) -> None:
        if not args.quiet:
            print_error(line)

    ended_by = signal.SIGINT

    def interrupt(number: int, frame: object) -> None:
        nonlocal ended_by
        ended_by = signal.Signals(number)
        raise KeyboardInterrupt

    try:
        with signal_handler(interrupt):
            found = estimate(puzzle, params, args.seed, args.time, progress)
    except KeyboardInterrupt:
        return 128 + ended_by
    if args.json:
        print_json(_json(puzzle, found))
    else:
        _print_table(puzzle, found)
    return 128 + ended_by if found.interrupted else DONE


def _print_table(puzzle: Puzzle, found: Estimate) -> None:
    from lns.distinct_boards import min_distance

    speed = f"{found.nodes / found.seconds / 1e6:.1f} M placements/s"
    early = ", interrupted" if found.interrupted else ""
    print(f"{puzzle.name}, best possible {puzzle.max_score}: {found.seconds:.0f} s of one core{early}, {speed}")
    print(f"Boards of at least a score per core-hour, different in {min_distance(puzzle.cells)} cells or more.")
    print(
        f"Measured up to {found.trusted}. Above it `expected` is extrapolated: half-way (of their logarithms) between"
    )
    print("two guesses, that an edge costs what the last two did, and the model's `forecast`, whose slope is too")
    print("steep. `between` has both, and beyond them the chance in the counts: two standard deviations.")
    print()
    titles = f"{'score':>5} {'seen':>5} {'measured':>9} {'forecast':>9} {'expected':>9}"
    print(f"{titles} {'between':>19}  {'core-days for one':>17}")
    for row in found.rows:
        measured = f"{_number(row.measured):>9}" if row.measured is not None else f"{'-':>9}"
        spread = f"{_number(row.low):>8} - {_number(row.high):>8}"
        numbers = f"{measured} {_number(row.forecast):>9} {_number(row.expected):>9} {spread:>19}"
        print(f"{row.score:>5} {row.count or '-':>5} {numbers}  {_number(row.core_days):>17}")


def _number(value: float) -> str:
    """Two digits that mean something."""
    return f"{value:.2g}" if value < 100 or value >= 1e6 else f"{float(f'{value:.2g}'):,.0f}"


def _json(puzzle: Puzzle, found: Estimate) -> dict[str, Any]:
    return {
        "instance": puzzle.name,
        "max_score": puzzle.max_score,
        "seconds": round(found.seconds, 3),
        "nodes": found.nodes,
        "trusted": found.trusted,
        "interrupted": found.interrupted,
        "rows": [_row(row) for row in found.rows],
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
