"""`lns report`: write an HTML page about a run."""

from __future__ import annotations

import argparse
from pathlib import Path

from lns.terminal.options import check_new_file
from lns.terminal.output import print_text
from lns_support.errors import InputError

ELITES = 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, metavar="DIR", help="the run directory")
    parser.add_argument(
        "--output", "-o", type=Path, metavar="FILE", help="write the page to FILE (default DIR/report.html)"
    )
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.epilog = "The page is one HTML file without external resources. DIR/report.html is overwritten by each call."


def run(args: argparse.Namespace) -> int:
    from lns.runs.elites import BestBoards
    from lns.runs.files import PARAMETERS, REPORT, utc_now
    from lns.runs.page import render
    from lns.runs.run_summary import load_summary
    from lns.terminal.output import DONE
    from lns_support.files import atomic_write, read_text
    from lns_support.version import __version__

    check_new_file(args.output, args.force)
    summary = load_summary(args.directory)
    try:
        parameters = read_text(args.directory / PARAMETERS)
    except InputError as error:
        parameters = str(error)
    elites = BestBoards(args.directory, summary.puzzle, ELITES).update()
    target = args.output or args.directory / REPORT
    atomic_write(target, render(summary, elites, parameters, f"lns {__version__}, {utc_now()}"))
    print_text(target)
    if args.open:
        import webbrowser

        webbrowser.open(target.resolve().as_uri())
    return DONE
