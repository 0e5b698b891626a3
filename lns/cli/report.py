"""`lns report`: write an HTML page about a run."""

from __future__ import annotations

import argparse
from pathlib import Path

from lns.terminal.options import check_new_file, duration
from lns.terminal.output import print_text
from lns_support.errors import InputError

MAX_BEST_BOARDS = 6
EVERY_S = 60.0  # between two pages of --follow


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, metavar="DIR", help="the run directory")
    parser.add_argument(
        "--output", "-o", type=Path, metavar="FILE", help="write the page to FILE (default DIR/report.html)"
    )
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")
    parser.add_argument(
        "--follow", action="store_true",
        help="write the page anew until the run ends; a browser that shows it refreshes it",
    )  # fmt: skip
    parser.add_argument(
        "--every", type=duration, metavar="S", help="seconds between two pages of --follow (default 60)"
    )
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.epilog = "The page is one HTML file without external resources. DIR/report.html is overwritten by each call."


def run(args: argparse.Namespace) -> int:
    import time

    from lns.runs.files import REPORT
    from lns.terminal.output import DONE
    from lns_support.files import behind_links

    if args.every is not None and not args.follow:
        raise InputError("--every is the time between two pages of --follow; expected --follow with it")
    check_new_file(args.output, args.force)
    every = args.every or EVERY_S
    target = args.directory / REPORT if args.output is None else behind_links(args.output)
    running = _write(args, target, every)
    print_text(target, flush=True)
    if args.open:
        import webbrowser

        webbrowser.open(target.resolve().as_uri())
    while args.follow and running:
        time.sleep(every)
        running = _write(args, target, every)
    return DONE


def _write(args: argparse.Namespace, target: Path, every: float) -> bool:
    """Write the page; whether the run goes on."""
    from lns.runs.board_log import BestBoards
    from lns.runs.directory import read_parameters
    from lns.runs.files import utc_now
    from lns.runs.page import render
    from lns.runs.run_summary import load_summary
    from lns_support.files import atomic_write
    from lns_support.version import __version__

    summary = load_summary(args.directory)
    try:
        parameters = read_parameters(args.directory, summary.settings)
    except InputError as error:
        parameters = str(error)
    best_boards = BestBoards(args.directory, summary.puzzle, MAX_BEST_BOARDS).update()
    running = summary.state == "running"
    refresh_s = every if args.follow and running else None
    made = f"lns {__version__}, {utc_now()}"
    atomic_write(target, render(summary, best_boards, parameters, made, refresh_s=refresh_s))
    return running
