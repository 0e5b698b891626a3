"""`lns status`, `watch`, `stop`, `report` and `merge`: commands on run directories."""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import shlex
import shutil
import signal
import sys
import time
import webbrowser
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lns.instances.draw.terminal import capability, encodes
from lns.instances.errors import InputError
from lns.instances.eternity2 import name_of_set
from lns.instances.files import atomic_write, behind_links
from lns.instances.piece_set import set_sha256
from lns.instances.text import count_of, cut_middle, printable
from lns.runs.board_log import BestBoards
from lns.runs.directory import read_parameters, run_directories
from lns.runs.files import REPORT, STOP, format_duration, open_regular, time_ago, utc_now
from lns.runs.lock import is_free, is_held_elsewhere, read_holder
from lns.runs.run_summary import RunSummary, by_set, load_summary
from lns.terminal import options as opt
from lns.terminal import output as out
from lns.terminal.progress import live_line
from lns.terminal.signals import signal_handler
from lns.version import __version__

LEAST_NAME = 16  # columns that a name keeps on a narrow terminal
MAX_BEST_BOARDS = 6  # on the page of `lns report`
WATCHED_BOARDS = 8
LEAST_FRAME = 8  # lines that the view of one run needs below the table of several
EVERY_S = 60.0  # between two pages of --follow
_HEADS = ["run", "instance", "clues", "best", "found", "state", "boards", "search", "time", "speed", "workers"]
# What a narrow terminal does without first:
_LEAST_WANTED = ["search", "workers", "speed", "boards", "found", "time", "clues"]


@opt.command(
    opt.RUNS_HERE,
    opt.value("--min-score", "S", opt.whole_number, "count boards of at least this score (default: one below the best "
              "score of the run)"),
    opt.JSON.but("print one JSON object to stdout, with an object for each run"),
    epilog="Only reads files, so it works while a run goes on and after it ended. "
    "Exit status: 0 done, 2 a DIR is no run directory (the others are shown all the same).",
)  # fmt: skip
def status(args: argparse.Namespace) -> int:
    summaries, exit_status = [], out.DONE
    for path in run_directories(args.directories):
        try:
            summaries.append(load_summary(path))
        except InputError as error:
            out.print_error(f"lns: {printable(str(error), 2000)}")
            exit_status = out.BAD_INPUT
    summaries = by_set(summaries)
    if args.json:
        out.print_json({"runs": [facts(summary, args.min_score) for summary in summaries]})
        return exit_status
    head, *lines = table(summaries, args.min_score, out.terminal_width())
    out.print_text(head)
    for line, summary in zip(lines, summaries, strict=True):
        # what is proven of the best boards, and what could not be read or written
        certificate = summary.heartbeat.statistics.certificate_in_words(summary.score)
        unwritten = (f"{name} cannot be written" for name in summary.heartbeat.write_errors)
        notes = [*([certificate] if certificate else []), *summary.notes, *unwritten]
        out.print_text(line, *notes, sep="\n    ")
    return exit_status


def table(summaries: Sequence[RunSummary], min_score: int | None, width: int | None) -> list[str]:
    """A headline and a line for each run, if possible of at most ``width`` columns."""
    rows = [_row(summary, min_score) for summary in summaries]
    if all(summary.clues == "none" for summary in summaries):
        rows = [["" if head == "clues" else cell for head, cell in zip(_HEADS, row, strict=True)] for row in rows]
    return _aligned([_HEADS, *rows], width)


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
        dropped = next((rows[0].index(name) for name in _LEAST_WANTED if name in rows[0]), None)
        if over > 0 and dropped is not None:
            return _aligned([[*row[:dropped], *row[dropped + 1 :]] for row in rows], width)
    cells = ((cut_middle(cell, width).ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return ["  ".join(row).rstrip() for row in cells]


def facts(summary: RunSummary, min_score: int | None) -> dict[str, Any]:
    """The object of a run in the JSON output."""
    history, heartbeat = summary.history, summary.heartbeat
    score = _min_score(summary, min_score)
    facts = {"run_dir": str(summary.path)} | out.picked(summary.settings, "instance instance_sha256")
    facts |= {"set_sha256": set_sha256(summary.puzzle)} | out.picked(summary, "clues state") | {"ended": summary.why}
    facts |= {"score": summary.score, "max_score": summary.puzzle.max_score, "best_at": summary.best_at}
    facts |= {"min_score": score, "boards": history.at_least(score)}
    facts |= {"boards_per_hour": round(summary.boards_per_hour(score), 3), "unit": heartbeat.unit}
    facts |= {"rate": heartbeat.rate if summary.state == "running" else 0.0, "workers": summary.workers}
    facts |= {"sessions": len(history.sessions), "elapsed_s": history.elapsed_s}
    facts["left_s"] = history.remaining_s if history.has_time_limit else None
    facts["certificate"] = heartbeat.statistics.certificate_of(summary.score)
    return facts | {"notes": list(summary.notes), "write_errors": list(heartbeat.write_errors)}


def _min_score(summary: RunSummary, min_score: int | None) -> int:
    return max(0, summary.score - 1) if min_score is None else min_score


def _row(summary: RunSummary, min_score: int | None) -> list[str]:
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
    """Handler of signals that leaves through the exit of `_alternate_screen`, which restores the terminal."""
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


def _live(paths: list[Path], every: float) -> None:
    from lns.runs.page import frame

    best_boards = {path: BestBoards(path, load_summary(path).puzzle, WATCHED_BOARDS) for path in paths}
    with _alternate_screen():
        while True:
            width, height = shutil.get_terminal_size((80, 24))
            runs = [load_summary(path) for path in paths]
            lines: list[str] = []
            if len(runs) > 1:
                lines = [*table(runs, None, width), ""][: height - 1]
            shown = max(runs, key=lambda run: (run.state == "running", run.score))
            rest = height - 1 - len(lines)
            if rest >= LEAST_FRAME:
                top = best_boards[shown.path].update()
                lines += frame(shown, top, width, rest, capability(sys.stdout), encodes(sys.stdout))
            _draw([*lines, *[""] * (height - 1 - len(lines)), footer(runs)[:width]])
            if b"q" in _keys(every).lower():
                return


def footer(runs: Sequence[RunSummary]) -> str:
    """The last line of the view: what the keys do, and whether anything still runs."""
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
    """The alternate screen and unbuffered keys; the terminal is restored at the end."""
    import termios
    import tty

    before, quit_handler = termios.tcgetattr(sys.stdin), signal.signal(signal.SIGQUIT, _leave)
    tty.setcbreak(sys.stdin)
    sys.stdout.write("\x1b[?1049h\x1b[?25l\x1b[?7l")  # alternate screen, no cursor, no wrapping
    try:
        yield
    finally:
        sys.stdout.write("\x1b[?7h\x1b[?25h\x1b[?1049l")
        sys.stdout.flush()
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
        signal.signal(signal.SIGQUIT, quit_handler)


def _draw(lines: list[str]) -> None:
    sys.stdout.write("\x1b[H" + "\n".join(f"\x1b[2K{line}\x1b[0m" for line in lines) + "\x1b[J")
    sys.stdout.flush()


def _keys(seconds: float) -> bytes:
    """Keys typed within ``seconds``, b"" if none. Bypasses Python's buffer, which ``select`` does not see."""
    ready, _, _ = select.select([sys.stdin], [], [], seconds)
    return os.read(sys.stdin.fileno(), 1024) if ready else b""


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
        if is_held_elsewhere(args.directory):  # only that machine can tell whether its process ended
            ended = {"ended"}
        holder = read_holder(args.directory)
    if summary.state == "running" and holder is not None and holder.is_here and is_free(args.directory):
        out.print_text(f"no run is going on in {summary.path}: the lock names {holder}, which does not hold it")
        return out.ANSWER_IS_NO
    if summary.state in ended:
        out.print_text(f"no run is going on in {summary.path}; it {summary.state}")
        return out.ANSWER_IS_NO
    try:
        open_regular(args.directory / STOP, os.O_WRONLY | os.O_APPEND).close()
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", args.directory / STOP) from None
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
    """Write the page, which a browser loads again ``every`` so many seconds; whether the run goes on."""
    from lns.runs.page import render

    summary = load_summary(directory)
    try:
        parameters = read_parameters(directory, summary.settings)
    except InputError as error:
        parameters = str(error)
    best_boards = BestBoards(directory, summary.puzzle, MAX_BEST_BOARDS).update()
    running = summary.state == "running"
    made = f"lns {__version__}, {utc_now()}"
    atomic_write(target, render(summary, best_boards, parameters, made, refresh_s=every if running else None))
    return running


@opt.command(
    opt.RUNS, opt.OUTPUT.but("the new run directory", metavar="DIR", required=True), opt.JSON,
    epilog="The runs are only read; they may be running, or copies from other machines. Their boards are verified and "
    "kept once, times and statistics are added. `lns resume` goes on with the islands of the first run. "
    "Exit status: 0 done, 2 a DIR is no run, or the runs differ in pieces or clues.",
)  # fmt: skip
def merge(args: argparse.Namespace) -> int:
    from lns.runs.merge import merge_runs

    output: Path = args.output
    paths = [path for path in run_directories(args.directories) if path.resolve() != output.resolve()]
    if len(paths) < 2:
        raise InputError(f"{count_of(len(paths), 'run')} named; expected two or more to merge")
    with live_line(None, quiet=args.json) as line:
        line.begin(f"merging {count_of(len(paths), 'run')}")
        merged = merge_runs(paths, output)
    best = "no board" if merged.score < 0 else f"best score {merged.score}"
    repeated = f", {merged.repeated:,} more were repeated" if merged.repeated else ""
    damaged = f", {count_of(merged.damaged, 'damaged line')} left out" if merged.damaged else ""
    searched = f"{count_of(merged.runs, 'run')}, {format_duration(merged.elapsed_s)} of search"
    lines = [
        f"{searched}, {best}, {count_of(merged.boards, 'board')}{repeated}{damaged}",
        f"saved in    {output}",
        f"go on       {out.command_name()} resume {shlex.quote(str(output))} --time 1h",
    ]
    out.print_answer(args, asdict(merged) | {"run_dir": str(output)}, lines)
    return out.DONE
