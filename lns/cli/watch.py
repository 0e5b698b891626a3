"""`lns watch`: follow a run while it goes on."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from lns.terminal.options import duration
from lns.terminal.output import print_text

ELITES = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, metavar="DIR", help="the run directory")
    parser.add_argument(
        "--every", type=duration, metavar="S", help="seconds between two updates (default 2; without a terminal 30)"
    )
    parser.epilog = (
        "q or Ctrl-C ends the view; the run goes on. Without a terminal a line is printed for each update until the "
        "run ends. Exit status: 0 done, 2 DIR is no run directory, 129 SIGHUP, 143 SIGTERM."
    )


def run(args: argparse.Namespace) -> int:
    from lns.terminal.output import DONE
    from lns.terminal.signals import signal_handler

    with contextlib.suppress(KeyboardInterrupt), signal_handler(_leave):
        if sys.stdout.isatty() and sys.stdin.isatty():
            _live(args.directory, args.every or 2.0)
        else:
            _plain(args.directory, args.every or 30.0)
    return DONE


def _leave(number: int, frame: object) -> None:
    """Handler of signals that leaves through the exit of `_Terminal`, which restores the terminal."""
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


def _live(path: Path, every: float) -> None:
    from instances.draw.terminal import capability, encodes
    from lns.runs.elites import BestBoards
    from lns.runs.run_summary import load_summary
    from lns.runs.watch_view import frame

    elites = BestBoards(path, load_summary(path).puzzle, ELITES)
    with _Terminal() as screen:
        while True:
            width, height = shutil.get_terminal_size((80, 24))
            lines = frame(
                load_summary(path), elites.update(), width, height - 1, capability(sys.stdout), encodes(sys.stdout)
            )
            screen.draw([*lines, *[""] * (height - 1 - len(lines)), "q ends this view; the run goes on"[:width]])
            if b"q" in screen.keys(every).lower():
                return


def _plain(path: Path, every: float) -> None:
    from lns.runs.run_summary import load_summary
    from lns.runs.watch_view import headline

    while True:
        summary = load_summary(path)
        print_text("; ".join(headline(summary)), flush=True)
        if summary.state != "running":
            return
        time.sleep(every)


class _Terminal:
    """Context of the alternate screen and of unbuffered keys; restores the terminal on exit."""

    def __enter__(self) -> _Terminal:
        self._before: Any = None
        with contextlib.suppress(ImportError):
            import termios
            import tty

            self._before = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin)
        sys.stdout.write("\x1b[?1049h\x1b[?25l\x1b[?7l")  # alternate screen, no cursor, no wrapping
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        sys.stdout.write("\x1b[?7h\x1b[?25h\x1b[?1049l")
        sys.stdout.flush()
        if self._before is not None:
            import termios

            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._before)

    def draw(self, lines: list[str]) -> None:
        sys.stdout.write("\x1b[H" + "\n".join(f"\x1b[2K{line}\x1b[0m" for line in lines) + "\x1b[J")
        sys.stdout.flush()

    def keys(self, seconds: float) -> bytes:
        """Keys typed within ``seconds``, b"" if none. Bypasses Python's buffer, which ``select`` does not see."""
        import select

        ready, _, _ = select.select([sys.stdin], [], [], seconds)
        return os.read(sys.stdin.fileno(), 1024) if ready else b""
