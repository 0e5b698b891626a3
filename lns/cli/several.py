"""`lns collect` and `lns compare`: the boards of several runs gathered, and the runs side by side."""

from __future__ import annotations

import argparse
import math
import string
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from lns import params as parameters
from lns.exact.text_table import aligned, table_width
from lns.instances.draw.page import page, table
from lns.instances.errors import InputError
from lns.instances.eternity2 import name_of_set
from lns.instances.files import write_output
from lns.instances.piece_set import set_sha256
from lns.instances.text import count_of, cut_middle, printable
from lns.runs.directory import run_directories
from lns.runs.files import PARAMETERS, format_duration, utc_now
from lns.runs.run_summary import RunSummary, check_same_set, load_summary, names_of
from lns.terminal import options as opt
from lns.terminal import output as out
from lns.version import __version__

if TYPE_CHECKING:
    from lns.runs.merge import Collection

MARKS = (("1 min", 60.0), ("10 min", 600.0), ("1 h", 3600.0), ("6 h", 21600.0), ("1 d", 86400.0), ("7 d", 604800.0))
LETTERS = string.ascii_uppercase + string.ascii_lowercase
CHART_LINES = 12


@opt.command(
    opt.RUNS,
    opt.value("--min-score", "S", opt.whole_number, "list boards of at least this score (default: all)", default=0),
    opt.value("--top", "N", opt.positive_number, "list at most N boards of each set of pieces, the best ones"),
    opt.OUTPUT.but("write each board to a file of its own in this new folder", metavar="DIR"),
    opt.flag("--url", "print the viewer URL of each board"),
    opt.JSON.but("print one JSON object to stdout, with an object for each board"),
    epilog="Prints a line for each board, the best first; boards of several sets of pieces are listed apart. Boards "
    "that differ only by the numbering of pieces and colours or by swapped identical pieces are listed once. "
    "Exit status: 0 done, 1 there is no such board, 2 a DIR is no run directory (the boards of the others are "
    "listed all the same).",
)
def collect(args: argparse.Namespace) -> int:
    from lns.runs import merge

    failed: list[InputError] = []
    asked = out.picked(args, "min_score top output")
    found = merge.collect(args.directories, on_error=failed.append, **asked)
    status = out.print_failures(failed)
    for note in found.notes:
        out.print_error(f"lns: {note}")
    listed = found.records()
    out.print_answer(args, {"boards": listed}, _lines(found, iter(listed), with_url=args.url))
    if not found.boards:
        least = f" of at least {args.min_score}" if args.min_score else ""
        out.print_error(f"lns: no board{least} in {', '.join(map(str, args.directories))}")
    return status if found.boards or status == out.BAD_INPUT else out.ANSWER_IS_NO


def _lines(found: Collection, listed: Iterator[dict[str, Any]], *, with_url: bool) -> Iterator[str]:
    """The boards, a line each; a headline for each set of pieces where there are several."""
    for group in found.groups:
        puzzle = group[0].puzzle
        if len(found.groups) > 1:
            name, count = printable(name_of_set(puzzle)), count_of(len(group), "board")
            yield f"{name} (sha256 {puzzle.sha256[:12]}…): {count}"
        for one, facts in zip(group, listed, strict=False):
            words = [f"{one.score} of {puzzle.max_score}", f"after {format_duration(one.elapsed_s)} of {one.run_dir}"]
            words += [f"clues: {facts['clues']}"] * bool(one.puzzle.clues)
            words += [facts["file"]] * (facts["file"] is not None)
            words += [facts["url"] or out.NO_URL] * with_url
            yield "  ".join(words)


@opt.command(
    opt.RUNS, opt.OUTPUT.but("also write an HTML page with the curves"), opt.FORCE, opt.JSON,
    epilog="The columns after `time` say which score a run had after so much time of search. The runs "
    "have the same pieces, in any numbering, and any clues; parameters in which they differ are listed. "
    "Exit status: 0 done, 2 a DIR is no run, or the runs are of several sets of pieces.",
)  # fmt: skip
def compare(args: argparse.Namespace) -> int:
    opt.check_files(args.force, args.output)
    summaries = [load_summary(path) for path in run_directories(args.directories)]
    for other in summaries[1:]:
        check_same_set(summaries[0], other)
    if args.output is not None:
        write_output(args.output, _page(summaries))
    heads, rows = _rows(summaries)
    lines = [["", *heads], *([_letter(number), *row] for number, row in enumerate(rows))]
    lines = [[cell if at != 1 else cut_middle(cell, 32) for at, cell in enumerate(line)] for line in lines]
    with table_width(out.terminal_width()):
        listed = aligned(lines, left=(0, 1, 2, 8), repeated=2)
    written = [] if args.output is None else [f"written  {args.output}"]
    differing = _differing_parameters(summaries)
    shown = [f"parameters  {'these differ:' if differing else 'the same in all runs'}"] if len(summaries) > 1 else []
    for name, values in differing.items():
        shown.append(f"  {name}  {', '.join(f'{_letter(number)} {value}' for number, value in enumerate(values))}")
    facts = [_run_facts(summary) for summary in summaries]
    for number, each in enumerate(facts):
        each["parameters"] = {name: values[number] for name, values in differing.items()}
    out.print_answer(args, {"runs": facts}, [listed, "", *_chart(summaries), *shown, *written])
    return out.DONE


def _differing_parameters(runs: Sequence[RunSummary]) -> dict[str, list[Any]]:
    """By name, the values that the runs have of each parameter in which they differ."""
    each = [parameters.to_dict(parameters.load(run.path / PARAMETERS, earlier=True)) for run in runs]
    values = {
        f"{section}.{name}": [one[section][name] for one in each]
        for section, names in each[0].items()
        for name in names
    }
    return {name: found for name, found in values.items() if any(value != found[0] for value in found)}


def _rows(runs: Sequence[RunSummary]) -> tuple[list[str], list[list[str]]]:
    """Titles and cells of the table; only marks that a run has reached are columns."""
    marks = [(name, at) for name, at in MARKS if any(summary.history.elapsed_s >= at for summary in runs)]
    heads = ["run", "engine", "seed", "workers", "best", "after", "time", "clues", *(name for name, _ in marks)]
    rows = []
    for name, summary in zip(names_of(runs), runs, strict=True):
        history, settings = summary.history, summary.settings
        workers = str(history.sessions[-1].workers) if history.sessions else "-"
        after = format_duration(history.improvements[-1].elapsed_s) if history.improvements else "-"
        row = [name, settings.engine, str(settings.seed), workers, str(summary.score) if summary.best else "-"]
        row += [after, format_duration(history.elapsed_s), summary.clues]
        scores = [history.score_after(at) for _, at in marks]
        rows.append([*row, *("-" if score is None else str(score) for score in scores)])
    return heads, rows


def _letter(number: int) -> str:
    return LETTERS[number % len(LETTERS)]


def _chart(runs: Sequence[RunSummary]) -> list[str]:
    """Best scores over time: each run by its letter, ``*`` where several have the same score."""
    histories = [summary.history for summary in runs]
    improvements = [entry for history in histories for entry in history.improvements]
    if not improvements:
        return []
    columns = min(100, out.terminal_width() or 80) - 6
    high = max(entry.score for entry in improvements)
    low = max(min(history.best_score for history in histories if history.improvements) - 4, high - CHART_LINES + 1)
    end = max(1.0, *(history.elapsed_s for history in histories))
    first = max(0.01, min(end / 10, *(entry.elapsed_s for entry in improvements)))
    grid = [[" "] * columns for _ in range(high - low + 1)]
    for number, history in enumerate(histories):
        for column in range(columns):
            left, right = (first * math.exp(math.log(end / first) * at / columns) for at in (column, column + 1))
            reached = history.elapsed_s >= left or not column
            score = history.score_after(min(right, history.elapsed_s)) if reached else None
            if score is not None and score >= low:
                cells = grid[high - score]
                cells[column] = _letter(number) if cells[column] == " " else "*"
    lines = [f"{high - row:>5} {''.join(cells)}".rstrip() for row, cells in enumerate(grid)]
    begins, ends = format_duration(first) if first >= 1 else f"{first:.2g} s", format_duration(end)
    ruler = f"{'':>5} {begins}{'time of search, logarithmic':^{max(1, columns - len(begins) - len(ends))}}{ends}"
    legend = [f"{'':>6}* several runs"] if any("*" in cells for cells in grid) else []
    return [*lines, ruler, *legend]


def _page(runs: Sequence[RunSummary]) -> str:
    from lns.runs.page import curve_colour, scores_over_time

    curves = [(name, summary.history) for name, summary in zip(names_of(runs), runs, strict=True)]
    puzzle, name = runs[0].puzzle, name_of_set(runs[0].puzzle)
    drawn = [name for name, history in curves if history.improvements]
    legend = "".join(
        f'<span style="color:{curve_colour(number)}">●</span> {escape(name)} &nbsp; '
        for number, name in enumerate(drawn)
    )
    title = f"{name}: {count_of(len(runs), 'run')}"
    about = f"{puzzle.max_score} inner edges, set {set_sha256(puzzle)[:16]}…"
    head = f'<h1>{escape(title)}</h1>\n<p class="soft">{about}</p>'
    scores = ("Scores over time", f"{scores_over_time(curves)}<p>{legend}</p>")
    return page(title, head, [scores, ("Runs", table(*_rows(runs)))], f"lns {__version__}, {utc_now()}")


def _run_facts(summary: RunSummary) -> dict[str, Any]:
    """The object of a run in the JSON output."""
    puzzle, history = summary.puzzle, summary.history
    facts: dict[str, Any] = {"run_dir": str(summary.path), "instance": puzzle.name, "instance_sha256": puzzle.sha256}
    facts |= {"set_sha256": set_sha256(puzzle), "clues": summary.clues} | out.picked(summary.settings, "engine seed")
    facts["workers"] = history.sessions[-1].workers if history.sessions else None
    facts |= {"score": summary.score, "max_score": puzzle.max_score, "elapsed_s": history.elapsed_s}
    facts["improvements"] = [[entry.score, entry.elapsed_s, entry.origin] for entry in history.improvements]
    return facts | {"scores_after": {name: history.score_after(at) for name, at in MARKS}}
