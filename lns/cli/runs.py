"""`lns status`, `watch`, `stop`, `report`, `collect`, `compare` and `merge`: commands on run directories."""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import shlex
import shutil
import signal
import string
import sys
import time
import webbrowser
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lns import params as parameters
from lns.exact.text_table import aligned, table_width
from lns.instances.draw.page import page, table
from lns.instances.draw.terminal import capability, encodes
from lns.instances.errors import InputError, named
from lns.instances.eternity2 import name_of_set
from lns.instances.files import atomic_write, behind_links, write_output
from lns.instances.piece_set import set_sha256
from lns.instances.text import count_of, cut_middle, printable
from lns.runs import run_summary
from lns.runs.board_log import BestBoards
from lns.runs.directory import run_directories
from lns.runs.files import REPORT, STOP, format_duration, open_regular, utc_now
from lns.runs.lock import is_free, is_held_elsewhere, read_holder
from lns.runs.run_summary import RunSummary, RunTable, check_same_set, load_summary, names_of
from lns.terminal import options as opt
from lns.terminal import output as out
from lns.terminal.progress import live_line
from lns.terminal.signals import signal_handler
from lns.version import __version__

if TYPE_CHECKING:
    from lns.runs.merge import Collection

MAX_BEST_BOARDS = 6  # most boards on the page of `lns report`
WATCHED_BOARDS = 8
LEAST_FRAME = 8  # fewest lines for the view of one run below the table of several runs
EVERY_S = 60.0  # default seconds between two writes of the page by --follow
MARKS = (("1 min", 60.0), ("10 min", 600.0), ("1 h", 3600.0), ("6 h", 21600.0), ("1 d", 86400.0), ("7 d", 604800.0))
LETTERS = string.ascii_uppercase + string.ascii_lowercase
CHART_LINES = 12


@opt.command(
    opt.RUNS_HERE,
    opt.value("--min-score", "S", opt.whole_number, "count boards of at least this score (default: one below the best "
              "score of the run)"),
    opt.JSON.but("print one JSON object to stdout, with an object for each run"),
    epilog="Only reads files, so it works while a run goes on and after it ended. "
    "Exit status: 0 done, 2 a DIR is no run directory (the others are shown all the same).",
)  # fmt: skip
def status(args: argparse.Namespace) -> int:
    failed: list[InputError] = []
    found = run_summary.status(args.directories, min_score=args.min_score, on_error=failed.append)
    exit_status = out.print_failures(failed)
    out.print_answer(args, {"runs": found.records()}, [found.summary(out.terminal_width())])
    return exit_status


@opt.command(
    opt.RUNS_HERE,
    opt.value("--every", "S", opt.duration, "seconds between two updates (default 2; without a terminal 30)"),
    epilog="One run is shown with its best board and charts, several as a table with the best of them below. q or "
    "Ctrl-C ends the view; the runs go on. Without a terminal a line a run is printed for each update until all have "
    "ended. Exit status: 0 done, 2 DIR is no run directory, 129 SIGHUP, 143 SIGTERM.",
)
def watch(args: argparse.Namespace) -> int:
    paths = run_directories(args.directories)
    with contextlib.suppress(KeyboardInterrupt), signal_handler(_leave):
        if sys.stdout.isatty() and sys.stdin.isatty():
            _live(paths, args.every or 2.0)
        else:
            _plain(paths, args.every or 30.0)
    return out.DONE


def _leave(number: int, frame: object) -> None:
    """Handle a signal by raising an exception, so that `_alternate_screen` restores the terminal."""
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


def _live(paths: list[Path], every: float) -> None:
    from lns.runs.page import frame

    best_boards = {path: BestBoards(path, load_summary(path).puzzle, WATCHED_BOARDS) for path in paths}
    with _alternate_screen():
        while True:
            width, height = shutil.get_terminal_size((80, 24))
            summaries = [load_summary(path) for path in paths]
            lines: list[str] = []
            if len(summaries) > 1:
                lines = [*RunTable(tuple(summaries)).lines(width), ""][: height - 1]
            shown = max(summaries, key=lambda run: (run.state == "running", run.score))
            rest = height - 1 - len(lines)
            if rest >= LEAST_FRAME:
                top = best_boards[shown.path].update()
                lines += frame(shown, top, width, rest, capability(sys.stdout), encodes(sys.stdout))
            lines = [*lines, *[""] * (height - 1 - len(lines)), footer(summaries)[:width]]
            sys.stdout.write("\x1b[H" + "\n".join(f"\x1b[2K{line}\x1b[0m" for line in lines) + "\x1b[J")
            sys.stdout.flush()
            ready, _, _ = select.select([sys.stdin], [], [], every)
            # read from the file descriptor, as `select` does not see what is in the buffer of ``sys.stdin``
            if ready and b"q" in os.read(sys.stdin.fileno(), 1024).lower():
                return


def footer(runs: Sequence[RunSummary]) -> str:
    """Return the last line of the view of `lns watch`: what the key q does, and whether any run goes on."""
    if any(run.state == "running" for run in runs):
        return f"q ends this view; the {'run goes' if len(runs) == 1 else 'runs go'} on"
    if len(runs) == 1:
        goes_on = f", {out.command_name()} {runs[0].resumption} goes on" if runs[0].resumption else ""
        return f"this run is over; q ends this view{goes_on}"
    return "all runs are over; q ends this view"


def _plain(paths: list[Path], every: float) -> None:
    from lns.runs.page import headline

    while True:
        runs = [load_summary(path) for path in paths]
        for run in runs:
            out.print_text("; ".join(headline(run)), flush=True)
        if all(run.state != "running" for run in runs):
            return
        time.sleep(every)


@contextlib.contextmanager
def _alternate_screen() -> Iterator[None]:
    """Show the alternate screen, with unbuffered keys, inside this context; restore the terminal at its end."""
    import termios
    import tty

    before, quit_handler = termios.tcgetattr(sys.stdin), signal.signal(signal.SIGQUIT, _leave)
    tty.setcbreak(sys.stdin)
    sys.stdout.write("\x1b[?1049h\x1b[?25l\x1b[?7l")  # alternate screen on, cursor and line wrapping off
    try:
        yield
    finally:
        sys.stdout.write("\x1b[?7h\x1b[?25h\x1b[?1049l")
        sys.stdout.flush()
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
        signal.signal(signal.SIGQUIT, quit_handler)


@opt.command(
    opt.RUN, opt.value("--wait", "S", opt.duration, "wait at most S seconds until the run has stopped (default "
                       "30)", default=30.0),
    epilog="Works from another machine too. Exit status: 0 the run has stopped, 1 it has not, or no run was going on.",
)  # fmt: skip
def stop(args: argparse.Namespace) -> int:
    summary, holder = load_summary(args.directory), read_holder(args.directory)
    ended = {"ended", "died"}
    if summary.state == "died" and holder is not None and holder.is_elsewhere:
        out.print_error(
            f"lns: the lock names {holder}, which cannot be seen from here: looking whether its run still writes"
        )
        if is_held_elsewhere(args.directory):  # only the other machine can tell whether the process has died
            ended = {"ended"}
        holder = read_holder(args.directory)
    if summary.state == "running" and holder is not None and holder.is_here and is_free(args.directory):
        out.print_text(f"no run is going on in {summary.path}: the lock names {holder}, which does not hold it")
        return out.ANSWER_IS_NO
    if summary.state in ended:
        out.print_text(f"no run is going on in {summary.path}; it {summary.state}")
        return out.ANSWER_IS_NO
    with named(args.directory / STOP, "cannot be written"):
        open_regular(args.directory / STOP, os.O_WRONLY | os.O_APPEND).close()
    end = time.monotonic() + args.wait
    while time.monotonic() < end:
        time.sleep(0.1)
        summary = load_summary(args.directory)
        if summary.state in ended:
            best = f"{summary.score} of {summary.puzzle.max_score}" if summary.best else "no board"
            goes_on = f"; {out.command_name()} {summary.resumption} continues it" if summary.resumption else ""
            out.print_text(f"stopped with {best}{goes_on}")
            return out.DONE
    out.print_text(f"the run was asked to stop and has not stopped after {args.wait:g} s")
    return out.ANSWER_IS_NO


@opt.command(
    opt.RUN, opt.OUTPUT.but("write the page to FILE (default DIR/report.html)"), opt.FORCE,
    opt.flag("--follow", "write the page anew until the run ends; a browser that shows it refreshes it"),
    opt.value("--every", "S", opt.duration, "seconds between two pages of --follow (default 60)"),
    opt.flag("--open", "open the page in the browser"),
    epilog="The page is one HTML file without external resources. DIR/report.html is overwritten by each call.",
)  # fmt: skip
def report(args: argparse.Namespace) -> int:
    if args.every is not None and not args.follow:
        raise InputError("--every is the time between two pages of --follow; expected --follow with it")
    opt.check_files(args.force, args.output)
    every = args.every or EVERY_S
    target = args.directory / REPORT if args.output is None else behind_links(args.output)
    running = _write_page(args.directory, target, every if args.follow else None)
    out.print_text(target, flush=True)
    if args.open:
        webbrowser.open(target.resolve().as_uri())
    while args.follow and running:
        time.sleep(every)
        running = _write_page(args.directory, target, every)
    return out.DONE


def _write_page(directory: Path, target: Path, every: float | None) -> bool:
    """Write the page of a run; browsers reload it every ``every`` seconds, if given. Return whether the run goes on."""
    from lns.runs.page import render

    summary = load_summary(directory)
    best_boards = BestBoards(directory, summary.puzzle, MAX_BEST_BOARDS).update()
    running = summary.state == "running"
    made = f"lns {__version__}, {utc_now()}"
    atomic_write(target, render(summary, best_boards, made, refresh_s=every if running else None))
    return running


@opt.command(
    opt.RUNS, opt.OUTPUT.but("the new run directory", metavar="DIR", required=True), opt.JSON,
    epilog="The runs are only read; they may be running, or copies from other machines. Their boards are verified and "
    "kept once, times and statistics are added. `lns resume` goes on with the islands of the first run. "
    "Exit status: 0 done, 2 a DIR is no run, or the runs differ in pieces or clues.",
)  # fmt: skip
def merge(args: argparse.Namespace) -> int:
    from lns.runs.merge import merge

    with live_line(None, quiet=args.json) as line:
        line.begin("merging the runs")
        merged = merge(args.directories, args.output)
    goes_on = f"{out.command_name()} resume {shlex.quote(merged.run_dir)} --time 1h"
    lines = [merged.summary(), f"saved in    {merged.run_dir}", f"go on       {goes_on}"]
    out.print_answer(args, merged.records()[0], lines)
    return out.DONE


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
    out.print_answer(args, {"boards": listed}, _board_lines(found, iter(listed), with_url=args.url))
    if not found.boards:
        least = f" of at least {args.min_score}" if args.min_score else ""
        out.print_error(f"lns: no board{least} in {', '.join(map(str, args.directories))}")
    return status if found.boards or status == out.BAD_INPUT else out.ANSWER_IS_NO


def _board_lines(found: Collection, listed: Iterator[dict[str, Any]], *, with_url: bool) -> Iterator[str]:
    """Yield a line for each board; if there are several sets of pieces, a headline precedes the boards of each."""
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
    from lns.runs.page import chart_lines

    opt.check_files(args.force, args.output)
    summaries = [load_summary(path) for path in run_directories(args.directories)]
    for other in summaries[1:]:
        check_same_set(summaries[0], other)
    if args.output is not None:
        write_output(args.output, _comparison_page(summaries))
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
    curves = [(_letter(number), summary.history) for number, summary in enumerate(summaries)]
    drawn = chart_lines(curves, min(100, out.terminal_width() or 80), CHART_LINES)
    facts = [_run_facts(summary) for summary in summaries]
    for number, each in enumerate(facts):
        each["parameters"] = {name: values[number] for name, values in differing.items()}
    out.print_answer(args, {"runs": facts}, [listed, "", *drawn, *shown, *written])
    return out.DONE


def _differing_parameters(runs: Sequence[RunSummary]) -> dict[str, list[Any]]:
    """Return the parameters in which the runs differ: name of the parameter -> its value in each run."""
    each = [parameters.to_dict(run.settings.parameters) for run in runs]
    values = {
        f"{section}.{name}": [one[section][name] for one in each]
        for section, names in each[0].items()
        for name in names
    }
    return {name: found for name, found in values.items() if any(value != found[0] for value in found)}


def _rows(runs: Sequence[RunSummary]) -> tuple[list[str], list[list[str]]]:
    """Return column titles and rows of a table of runs; a time of `MARKS` has a column if some run lasted so long."""
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


def _comparison_page(runs: Sequence[RunSummary]) -> str:
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
    """Return the object that describes a run in the JSON output of `lns compare`."""
    puzzle, history = summary.puzzle, summary.history
    facts: dict[str, Any] = {"run_dir": str(summary.path), "instance": puzzle.name, "instance_sha256": puzzle.sha256}
    facts |= {"set_sha256": set_sha256(puzzle), "max_score": puzzle.max_score, "elapsed_s": history.elapsed_s}
    facts |= out.picked(summary, "clues score") | out.picked(summary.settings, "engine seed")
    facts["workers"] = history.sessions[-1].workers if history.sessions else None
    facts["improvements"] = [[entry.score, entry.elapsed_s, entry.origin] for entry in history.improvements]
    return facts | {"scores_after": {name: history.score_after(at) for name, at in MARKS}}
