"""`lns compare`: several runs of one set of pieces side by side: a table, and their scores over time on one chart."""

from __future__ import annotations

import argparse
import math
import string
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lns.terminal.options import FORCE, JSON, OUTPUT, RUNS, check_files, command
from lns.terminal.output import DONE, print_answer, terminal_width
from lns_support.text import count_of, cut_middle
from lns_support.text_table import aligned, table_width

if TYPE_CHECKING:
    from lns.runs.history import RunHistory
    from lns.runs.run_summary import RunSummary

MARKS = (("1 min", 60.0), ("10 min", 600.0), ("1 h", 3600.0), ("6 h", 21600.0), ("1 d", 86400.0), ("7 d", 604800.0))
LETTERS = string.ascii_uppercase + string.ascii_lowercase
CHART_LINES = 12


@command(
    RUNS, OUTPUT.but("also write an HTML page with the curves"), FORCE, JSON,
    epilog="The columns after `time` say which score a run had after so much time of search. The runs "
    "have the same pieces, in any numbering, and any clues. Exit status: 0 done, 2 a DIR is no run, or the runs "
    "are of several sets of pieces.",
)  # fmt: skip
def compare(args: argparse.Namespace) -> int:
    from lns.runs.find import run_directories
    from lns.runs.run_summary import check_same_set, load_summary
    from lns_support.files import write_output

    check_files(args.force, args.output)
    runs = [load_summary(path) for path in run_directories(args.directories)]
    for other in runs[1:]:
        check_same_set(runs[0], other)
    if args.output is not None:
        write_output(args.output, _page(runs))
    with table_width(terminal_width()):
        lines = [*_table(runs), "", *_chart(runs)]
    written = [] if args.output is None else [f"written  {args.output}"]
    print_answer(args, {"runs": [_fields(summary) for summary in runs]}, [*lines, *written])
    return DONE


def score_after(history: RunHistory, seconds: float) -> int | None:
    """Best score of a run after so much search; None before its first board, and where it did not search as long."""
    if history.elapsed_s < seconds:
        return None
    return max((entry.score for entry in history.improvements if entry.elapsed_s <= seconds), default=None)


def _rows(runs: Sequence[RunSummary]) -> tuple[list[str], list[list[str]]]:
    """Titles and cells of the table; only marks that a run has reached are columns."""
    from lns.runs.files import format_duration

    marks = [(name, at) for name, at in MARKS if any(summary.history.elapsed_s >= at for summary in runs)]
    heads = ["run", "engine", "seed", "workers", "best", "after", "time", "clues", *(name for name, _ in marks)]
    rows = []
    for summary in runs:
        history = summary.history
        after = format_duration(history.improvements[-1].elapsed_s) if history.improvements else "-"
        scores = [score_after(history, at) for _, at in marks]
        rows.append(
            [
                summary.name, summary.settings.engine, str(summary.settings.seed),
                str(history.sessions[-1].workers) if history.sessions else "-",
                str(summary.score) if summary.best else "-", after, format_duration(history.elapsed_s),
                summary.clues, *("-" if score is None else str(score) for score in scores),
            ]
        )  # fmt: skip
    return heads, rows


def _table(runs: Sequence[RunSummary]) -> list[str]:
    heads, rows = _rows(runs)
    lines = [["", *heads], *([_letter(number), *row] for number, row in enumerate(rows))]
    lines = [[cell if at != 1 else cut_middle(cell, 32) for at, cell in enumerate(line)] for line in lines]
    return aligned(lines, left=(0, 1, 2, 8), repeated=2).split("\n")


def _letter(number: int) -> str:
    return LETTERS[number % len(LETTERS)]


def _chart(runs: Sequence[RunSummary]) -> list[str]:
    """Best scores over time: each run by its letter, ``*`` where several have the same score."""
    from lns.runs.files import format_duration

    histories = [summary.history for summary in runs]
    improvements = [entry for history in histories for entry in history.improvements]
    if not improvements:
        return []
    width = min(100, terminal_width() or 80)
    columns = width - 6
    high = max(entry.score for entry in improvements)
    low = max(min(history.best_score for history in histories if history.improvements) - 4, high - CHART_LINES + 1)
    end = max(1.0, *(history.elapsed_s for history in histories))
    first = max(0.01, min(end / 10, *(entry.elapsed_s for entry in improvements)))
    grid = [[" "] * columns for _ in range(high - low + 1)]
    for number, history in enumerate(histories):
        for column in range(columns):
            left, right = (first * math.exp(math.log(end / first) * at / columns) for at in (column, column + 1))
            reached = history.elapsed_s >= left or not column
            score = score_after(history, min(right, history.elapsed_s)) if reached else None
            if score is not None and score >= low:
                cell = grid[high - score][column]
                grid[high - score][column] = _letter(number) if cell == " " else "*"
    lines = [f"{high - row:>5} {''.join(cells)}".rstrip() for row, cells in enumerate(grid)]
    ends = format_duration(first) if first >= 1 else f"{first:.2g} s"
    ruler = f"{'':>5} {ends}{'time of search, logarithmic':^{max(1, columns - len(ends) - len(format_duration(end)))}}"
    legend = [f"{'':>6}* several runs"] if any("*" in cells for cells in grid) else []
    return [*lines, f"{ruler}{format_duration(end)}", *legend]


def _page(runs: Sequence[RunSummary]) -> str:
    from html import escape

    from instances.draw.page import page, table
    from instances.eternity2 import name_of_set
    from instances.piece_set import set_sha256
    from lns.runs.charts import Curve, curve_colour, scores_over_time
    from lns.runs.files import utc_now
    from lns_support.version import __version__

    curves = [Curve(summary.name, summary.history.improvements, summary.history.elapsed_s) for summary in runs]
    puzzle, name = runs[0].puzzle, name_of_set(runs[0].puzzle)
    drawn = [curve.name for curve in curves if curve.improvements]
    legend = "".join(
        f'<span style="color:{curve_colour(number)}">●</span> {escape(name)} &nbsp; '
        for number, name in enumerate(drawn)
    )
    heads, rows = _rows(runs)
    title = f"{name}: {count_of(len(runs), 'run')}"
    key = f"set {set_sha256(puzzle)[:16]}…"
    head = f'<h1>{escape(title)}</h1>\n<p class="soft">{puzzle.max_score} inner edges, {key}</p>'
    return page(
        title,
        head,
        [("Scores over time", f"{scores_over_time(curves)}<p>{legend}</p>"), ("Runs", table(heads, rows))],
        f"lns {__version__}, {utc_now()}",
    )


def _fields(summary: RunSummary) -> dict[str, Any]:
    """The object of a run in the JSON output."""
    from instances.piece_set import set_sha256

    history = summary.history
    return {
        "run_dir": str(summary.path),
        "instance": summary.puzzle.name,
        "instance_sha256": summary.puzzle.sha256,
        "set_sha256": set_sha256(summary.puzzle),
        "clues": summary.clues,
        "engine": summary.settings.engine,
        "seed": summary.settings.seed,
        "workers": history.sessions[-1].workers if history.sessions else None,
        "score": summary.score,
        "max_score": summary.puzzle.max_score,
        "elapsed_s": history.elapsed_s,
        "improvements": [[entry.score, entry.elapsed_s, entry.origin] for entry in history.improvements],
        "scores_after": {name: score_after(history, at) for name, at in MARKS},
    }
