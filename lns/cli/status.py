"""`lns status`: the state of runs, one line a run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lns.terminal.options import whole_number
from lns.terminal.output import print_text
from lns_support.errors import InputError

if TYPE_CHECKING:
    from lns.runs.run_summary import RunSummary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directories", type=Path, nargs="+", metavar="DIR", help="run directories")
    parser.add_argument(
        "--min-score",
        type=whole_number,
        metavar="S",
        help="count boards of at least this score (default: one below the best score of the run)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object to stdout, with an object for each run"
    )
    parser.epilog = (
        "Only reads files, so it works while a run goes on and after it ended. "
        "Exit status: 0 done, 2 a DIR is no run directory (the others are shown all the same)."
    )


def run(args: argparse.Namespace) -> int:
    from lns.runs.run_summary import load_summary
    from lns.terminal.output import BAD_INPUT, DONE, print_error, print_json
    from lns_support.text import printable

    summaries, status = [], DONE
    for path in args.directories:
        try:
            summaries.append(load_summary(path))
        except InputError as error:
            print_error(f"lns: {printable(str(error), 2000)}")
            status = BAD_INPUT
    if args.json:
        print_json({"runs": [facts(summary, args.min_score) for summary in summaries]})
        return status
    rows = [_row(summary, args.min_score) for summary in summaries]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    for row, summary in zip(rows, summaries, strict=True):
        print_text("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        for note in (*summary.notes, *(f"{name} cannot be written" for name in summary.heartbeat.write_errors)):
            print_text(f"    {note}")
    return status


def facts(summary: RunSummary, min_score: int | None) -> dict[str, Any]:
    """The object of a run in the JSON output."""
    history = summary.history
    score = _min_score(summary, min_score)
    return {
        "run_dir": str(summary.path),
        "instance": summary.settings.instance,
        "instance_sha256": summary.settings.instance_sha256,
        "state": summary.state,
        "ended": summary.why,
        "score": summary.score,
        "max_score": summary.puzzle.max_score,
        "best_at": summary.best_at,
        "min_score": score,
        "boards": history.at_least(score),
        "boards_per_hour": round(summary.boards_per_hour(score), 3),
        "unit": summary.heartbeat.unit,
        "rate": summary.heartbeat.rate if summary.state == "running" else 0.0,
        "workers": summary.workers,
        "sessions": len(history.sessions),
        "elapsed_s": history.elapsed_s,
        "left_s": history.remaining_s,
        "notes": list(summary.notes),
        "write_errors": list(summary.heartbeat.write_errors),
    }


def _min_score(summary: RunSummary, min_score: int | None) -> int:
    return max(0, summary.score - 1) if min_score is None else min_score


def _row(summary: RunSummary, min_score: int | None) -> list[str]:
    from lns.runs.files import format_duration

    history, score = summary.history, _min_score(summary, min_score)
    running = summary.state == "running"
    state = summary.state if running or not summary.why else f"{summary.state}: {summary.why}"
    workers = "? workers" if summary.workers is None else f"{summary.workers} workers"
    return [
        summary.name,
        state,
        f"{summary.score if summary.best else '-'} of {summary.puzzle.max_score}",
        f"since {summary.best_at}" if summary.best_at else "",
        f"{summary.boards_per_hour(score):.1f} boards/h at {score}",
        f"{summary.heartbeat.rate / 1e6:.1f} M {summary.heartbeat.unit}/s" if running else "",
        workers if running else "",
        f"{format_duration(history.elapsed_s)} used, {format_duration(history.remaining_s)} left",
    ]
