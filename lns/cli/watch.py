"""`lns watch`: follow one run or several while they go on."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lns.terminal.options import RUNS, command, duration, value
from lns.terminal.output import DONE, command_name, print_text

if TYPE_CHECKING:
    from lns.runs.run_summary import RunSummary

MAX_BEST_BOARDS = 8
LEAST_FRAME = 8  # lines that the view of one run needs below the table of several


@command(
    RUNS,
    value("--every", "S", duration, "seconds between two updates (default 2; without a terminal 30)"),
    epilog="One run is shown with its best board and charts, several as a table with the best of them below. q or "
    "Ctrl-C ends the view; the runs go on. Without a terminal a line a run is printed for each update until all have "
    "ended. Exit status: 0 done, 2 DIR is no run directory, 129 SIGHUP, 143 SIGTERM.",
)
def watch(args: argparse.Namespace) -> int:
    from lns.runs.directory import run_directories
    from lns.terminal.signals import signal_handler

    paths = run_directories(args.directories)
    with contextlib.suppress(KeyboardInterrupt), signal_handler(_leave):
        if sys.stdout.isatty() and sys.stdin.isatty():
            _live(paths, args.every or 2.0)
        else:
            _plain(paths, args.every or 30.0)
    return DONE


def _leave(number: int, frame: object) -> None:
    """Handler of signals that leaves through the exit of `_alternate_screen`, which restores the terminal."""
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


def _live(paths: list[Path], every: float) -> None:
    from lns.cli.runs import table
    from lns.instances.draw.terminal import capability, encodes
    from lns.runs.board_log import BestBoards
    from lns.runs.page import frame
    from lns.runs.run_summary import load_summary

    best_boards = {path: BestBoards(path, load_summary(path).puzzle, MAX_BEST_BOARDS) for path in paths}
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
        goes_on = f", {command_name()} {runs[0].resumption} goes on" if runs[0].resumption else ""
        return f"this run is over; q ends this view{goes_on}"
    return "all runs are over; q ends this view"


def _plain(paths: list[Path], every: float) -> None:
    from lns.runs.page import headline
    from lns.runs.run_summary import load_summary

    while True:
        runs = [load_summary(path) for path in paths]
        for run in runs:
            print_text("; ".join(headline(run)), flush=True)
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
    import select

    ready, _, _ = select.select([sys.stdin], [], [], seconds)
    return os.read(sys.stdin.fileno(), 1024) if ready else b""
