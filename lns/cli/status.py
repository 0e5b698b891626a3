"""`lns status`: one line a run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lns.terminal.options import whole_number
from lns_support.errors import InputError

if TYPE_CHECKING:
    from lns.runs.run_summary import RunSummary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directories", type=Path, nargs="+", metavar="DIR", help="run directories")
    parser.add_argument(
        "--at",
        type=whole_number,
        metavar="S",
        help="count boards of at least this score (default: from the best less one)",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout: runs, an object each")
    parser.epilog = (
        "Reads only; works while a run goes on and after it died. "
        "Exit status: 0, or 2 when a DIR is no run directory (the others are still shown)."
    )


def run(args: argparse.Namespace) -> int:
    from lns.runs.run_summary import load_summary
    from lns.terminal.output import BAD_INPUT, DONE, print_error, print_json
    from lns_support.text import printable

    found, status = [], DONE
    for path in args.directories:
        try:
            found.append(load_summary(path))
        except InputError as error:
            print_error(f"lns: {printable(str(error), 2000)}")
            status = BAD_INPUT
    if args.json:
        print_json({"runs": [facts(one, args.at) for one in found]})
        return status
    rows = [_row(one, args.at) for one in found]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    for row, one in zip(rows, found, strict=True):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        for note in (*one.notes, *(f"{name} cannot be written at present" for name in one.heartbeat.write_errors)):
            print(f"    {note}")
    return status


def facts(one: RunSummary, at: int | None) -> dict[str, Any]:
    """The object of a run."""
    history = one.history
    score = _level(one, at)
    return {
        "run_dir": str(one.path),
        "instance": one.settings.instance,
        "instance_sha256": one.settings.instance_sha256,
        "state": one.state,
        "ended": one.why,
        "score": one.score,
        "max_score": one.puzzle.max_score,
        "best_at": one.best_at,
        "search_floor": score,
        "boards": history.at_least(score),
        "boards_per_hour": round(one.boards_per_hour(score), 3),
        "unit": one.heartbeat.unit,
        "rate": one.heartbeat.rate if one.state == "running" else 0.0,
        "workers": one.workers,
        "sessions": len(history.sessions),
        "elapsed_s": history.elapsed_s,
        "left_s": history.remaining_s,
        "notes": list(one.notes),
        "write_errors": list(one.heartbeat.write_errors),
    }


def _level(one: RunSummary, at: int | None) -> int:
    return max(0, one.score - 1) if at is None else at


def _row(one: RunSummary, at: int | None) -> list[str]:
    from lns.runs.files import format_duration

    history, score = one.history, _level(one, at)
    running = one.state == "running"
    state = one.state if running or not one.why else f"{one.state}: {one.why}"
    workers = "? workers" if one.workers is None else f"{one.workers} workers"
    return [
        one.name,
        state,
        f"{one.score if one.best else '-'} of {one.puzzle.max_score}",
        f"since {one.best_at}" if one.best_at else "",
        f"{one.boards_per_hour(score):.1f} boards/h at {score}",
        f"{one.heartbeat.rate / 1e6:.1f} M {one.heartbeat.unit}/s" if running else "",
        workers if running else "",
        f"{format_duration(history.elapsed_s)} used, {format_duration(history.remaining_s)} left",
    ]
