"""`lns stop`: ask a run to stop at its next step and save."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from lns.terminal.options import duration
from lns_support.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, metavar="DIR", help="the run directory")
    parser.add_argument(
        "--wait", type=duration, default=30.0, metavar="S", help="wait so long for it to have stopped (default 30)"
    )
    parser.epilog = "Works from another machine too. Exit status: 0 it has stopped, 1 it has not, or no run was there."


def run(args: argparse.Namespace) -> int:
    from lns.runs.files import STOP, open_regular
    from lns.runs.lock import is_held_elsewhere
    from lns.runs.run_summary import load_summary
    from lns.terminal.output import ANSWER_IS_NO, DONE

    one = load_summary(args.directory)
    over = {"ended", "died"}
    if one.state == "died" and is_held_elsewhere(args.directory):  # by a clock that is not ours
        over = {"ended"}
    if one.state in over:
        print(f"no run is under way in {one.path}; it {one.state}")
        return ANSWER_IS_NO
    try:
        open_regular(args.directory / STOP, os.O_WRONLY | os.O_APPEND).close()
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", args.directory / STOP) from None
    end = time.monotonic() + args.wait
    while time.monotonic() < end:
        time.sleep(0.1)
        one = load_summary(args.directory)
        if one.state in over:
            best = f"{one.score} of {one.puzzle.max_score}" if one.best else "no board"
            print(f"stopped with {best}; lns resume {one.path} goes on")
            return DONE
    print(f"asked to stop, and not yet stopped after {args.wait:g} s")
    return ANSWER_IS_NO
