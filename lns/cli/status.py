"""`lns status`: the state of runs, a table with a line for each."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lns.terminal.options import add_run_directories, whole_number
from lns.terminal.output import print_text, terminal_width
from lns_support.errors import InputError
from lns_support.text import cut_middle, printable

if TYPE_CHECKING:
    from lns.runs.run_summary import RunSummary


LEAST_NAME = 16  # columns that a name keeps on a narrow terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_directories(parser)
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
    from lns.runs.find import run_directories
    from lns.runs.run_summary import by_set, load_summary
    from lns.terminal.output import BAD_INPUT, DONE, print_error, print_json

    summaries, status = [], DONE
    for path in run_directories(args.directories):
        try:
            summaries.append(load_summary(path))
        except InputError as error:
            print_error(f"lns: {printable(str(error), 2000)}")
            status = BAD_INPUT
    summaries = by_set(summaries)
    if args.json:
        print_json({"runs": [facts(summary, args.min_score) for summary in summaries]})
        return status
    for line, summary in zip(table(summaries, args.min_score, terminal_width()), [None, *summaries], strict=True):
        print_text(line)
        for note in () if summary is None else notes(summary):
            print_text(f"    {note}")
    return status


def table(summaries: Sequence[RunSummary], min_score: int | None, width: int | None) -> list[str]:
    """A headline and a line for each run, if possible of at most ``width`` columns."""
    rows = [_row(summary, min_score) for summary in summaries]
    if all(summary.clues == "none" for summary in summaries):
        rows = [["" if head == "clues" else cell for head, cell in zip(_HEADS, row, strict=True)] for row in rows]
    return _aligned([_HEADS, *rows], width)


def notes(summary: RunSummary) -> list[str]:
    """What is proven of the best boards, and what could not be read or written of a run, a line each."""
    certificate = summary.heartbeat.statistics.certificate_in_words(summary.score)
    unwritten = (f"{name} cannot be written" for name in summary.heartbeat.write_errors)
    return [*([certificate] if certificate else []), *summary.notes, *unwritten]


def _aligned(rows: list[list[str]], width: int | None) -> list[str]:
    """Aligned lines; columns without any entry are left out.

    Where ``width`` is too small, names are cut, and then the columns of `_LEAST_WANTED` are left out one by one.
    """
    kept = [column for column in range(len(rows[0])) if any(row[column] for row in rows[1:])]
    rows = [[row[column] for column in kept] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(kept))]
    if width is not None:
        over = sum(widths) + 2 * len(widths) - 2 - width
        for column in (0, 1):
            cut = max(0, min(over, widths[column] - LEAST_NAME))
            widths[column] -= cut
            over -= cut
        if over > 0:
            heads = rows[0]
            dropped = next((heads.index(name) for name in _LEAST_WANTED if name in heads), None)
            if dropped is not None:
                return _aligned([[*row[:dropped], *row[dropped + 1 :]] for row in rows], width)
    cells = ((cut_middle(cell, width).ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return ["  ".join(row).rstrip() for row in cells]


def facts(summary: RunSummary, min_score: int | None) -> dict[str, Any]:
    """The object of a run in the JSON output."""
    from instances.piece_set import set_sha256

    history = summary.history
    score = _min_score(summary, min_score)
    return {
        "run_dir": str(summary.path),
        "instance": summary.settings.instance,
        "instance_sha256": summary.settings.instance_sha256,
        "set_sha256": set_sha256(summary.puzzle),
        "clues": summary.clues,
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
        "left_s": history.remaining_s if history.has_time_limit else None,
        "certificate": summary.heartbeat.statistics.certificate_of(summary.score),
        "notes": list(summary.notes),
        "write_errors": list(summary.heartbeat.write_errors),
    }


def _min_score(summary: RunSummary, min_score: int | None) -> int:
    return max(0, summary.score - 1) if min_score is None else min_score


_HEADS = ["run", "instance", "clues", "best", "found", "state", "boards", "search", "time", "speed", "workers"]
# What a narrow terminal does without first:
_LEAST_WANTED = ["search", "workers", "speed", "boards", "found", "time", "clues"]


def _row(summary: RunSummary, min_score: int | None) -> list[str]:
    from instances.eternity2 import name_of_set
    from lns.runs.files import format_duration, time_ago

    history, searching = summary.history, summary.state == "running" and not summary.starting
    workers = "?" if summary.workers is None else str(summary.workers)
    return [
        summary.name,
        printable(name_of_set(summary.puzzle), 60),
        summary.clues,
        f"{summary.score if summary.best else '-'} of {summary.puzzle.max_score}",
        time_ago(summary.best_at),
        summary.state_in_words,
        summary.rate_in_words(_min_score(summary, min_score)) if summary.best else "none yet",
        format_duration(history.elapsed_s),
        history.remaining_in_words,
        f"{summary.heartbeat.rate / 1e6:.1f} M {summary.heartbeat.unit}/s" if searching else "",
        workers if searching else "",
    ]
