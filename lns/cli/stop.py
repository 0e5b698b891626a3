"""`lns stop`: ask a run to stop at its next step and save."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from lns.terminal.options import duration
from lns.terminal.output import command_name, print_text
from lns_support.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, metavar="DIR", help="the run directory")
    parser.add_argument(
        "--wait",
        type=duration,
        default=30.0,
        metavar="S",
        help="wait at most S seconds until the run has stopped (default 30)",
    )
    parser.epilog = (
        "Works from another machine too. Exit status: 0 the run has stopped, 1 it has not, or no run was going on."
    )


def run(args: argparse.Namespace) -> int:
    from lns.runs.files import STOP, open_regular
    from lns.runs.lock import is_free, is_held_elsewhere, read_holder
    from lns.runs.run_summary import load_summary
    from lns.terminal.output import ANSWER_IS_NO, DONE, print_error

    summary = load_summary(args.directory)
    ended = {"ended", "died"}
    if summary.state == "died" and (holder := read_holder(args.directory)) is not None and holder.is_elsewhere:
        print_error(
            f"lns: the lock names {holder}, which cannot be seen from here: looking whether its run still writes"
        )
        if is_held_elsewhere(args.directory):  # only that machine can tell whether its process ended
            ended = {"ended"}
    holder = read_holder(args.directory)
    if summary.state == "running" and holder is not None and holder.is_here and is_free(args.directory):
        print_text(f"no run is going on in {summary.path}: the lock names {holder}, which does not hold it")
        return ANSWER_IS_NO
    if summary.state in ended:
        print_text(f"no run is going on in {summary.path}; it {summary.state}")
        return ANSWER_IS_NO
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
            goes_on = f"; {command_name()} {summary.resumption} continues it" if summary.resumption else ""
            print_text(f"stopped with {best}{goes_on}")
            return DONE
    print_text(f"the run was asked to stop and has not stopped after {args.wait:g} s")
    return ANSWER_IS_NO
