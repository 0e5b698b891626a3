"""`lns exact compare`: run several solvers on several instances and print a table."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lns.terminal.inputs import add_puzzle_options, read_puzzles
from lns.terminal.options import duration, megabytes, whole_number
from lns.terminal.output import print_text, terminal_width
from lns_support.text_table import table_width

if TYPE_CHECKING:
    from lns.terminal.progress import LiveLine


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("instances", nargs="+", metavar="INSTANCE", help="puzzle files, or names of shipped instances")
    add_puzzle_options(parser)
    parser.add_argument(
        "--solvers",
        nargs="+",
        default=["colorpairs", "rowscan"],
        metavar="NAME",
        help="solvers, as `lns exact solvers` lists them, or all (default colorpairs rowscan)",
    )
    parser.add_argument("--count", action="store_true", help="count all solutions (default: the first one)")
    parser.add_argument(
        "--time",
        type=duration,
        default=60.0,
        metavar="S",
        help="time limit of each search in seconds, without compilation (default 60)",
    )
    parser.add_argument("--memory", type=megabytes, metavar="MB", help="memory limit of each run")
    parser.add_argument(
        "--fix-corner", action="store_true", help="count rotated copies of a board once, by pinning a corner piece"
    )
    parser.add_argument(
        "--sat-solver", metavar="NAME", help="SAT solver of the methods sat:..., such as kissat, cadical, glucose"
    )
    parser.add_argument(
        "--seed", type=whole_number, default=0, metavar="N", help="random seed of the local searches (default 0)"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="CSV",
        help="append a row for each run; runs that the file has already are not repeated",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object to stdout")


def announce(line: LiveLine, planned: Sequence[str], done: int) -> None:
    """Say which of the planned runs begins."""
    if done < len(planned):
        line.begin(f"run {done + 1} of {len(planned)}: {planned[done]}")


def run(args: argparse.Namespace) -> int:
    from dataclasses import asdict

    from exact.compare import ComparisonRow, Question, compare, table
    from exact.outcome import NODES_UNKNOWN
    from exact.registry import all_solvers, find_solver
    from lns.terminal.output import DONE, INTERRUPTED, print_json
    from lns.terminal.progress import live_line, log
    from lns_support.text import format_seconds

    solvers = list(all_solvers()) if args.solvers == ["all"] else args.solvers
    for solver in solvers:
        find_solver(solver)
    puzzles = list(zip(args.instances, read_puzzles(args, args.instances), strict=True))
    memory = None if args.memory is None else args.memory * 1_000_000
    question = Question(
        count_all=args.count,
        seconds=args.time,
        memory=memory,
        fix_corner=args.fix_corner,
        sat_solver=args.sat_solver,
        seed=args.seed,
    )
    rows: list[ComparisonRow] = []
    status = DONE
    planned = [f"{name} by {solver}" for name, _ in puzzles for solver in solvers]
    try:
        with live_line(None, quiet=False) as line:
            announce(line, planned, 0)
            for row in compare(puzzles, solvers, question, args.output):
                rows.append(row)
                spent = f", {format_seconds(row.seconds)}" if row.seconds >= 0 else ""
                log.info("%s by %s: %s%s", row.instance, row.solver, row.status, spent)
                announce(line, planned, len(rows))
    except KeyboardInterrupt:
        status = INTERRUPTED
    if args.json:
        values = [
            {name: None if value == NODES_UNKNOWN else value for name, value in asdict(row).items()} for row in rows
        ]
        print_json({"rows": values})
    else:
        with table_width(terminal_width()):
            print_text(table(rows))
    return status
