"""`lns exact compare`: any solvers on any instances, one table."""

from __future__ import annotations

import argparse
from pathlib import Path

from lns.terminal.options import duration, positive_number, whole_number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("instances", nargs="+", metavar="INSTANCE", help="puzzle files, or names of shipped instances")
    parser.add_argument(
        "--solvers",
        nargs="+",
        default=["colorpairs", "rowscan"],
        metavar="NAME",
        help="see `lns exact solvers`; or all",
    )
    parser.add_argument("--count", action="store_true", help="count all solutions (default: the first one)")
    parser.add_argument("--time", type=duration, default=60.0, metavar="S", help="for each run (default 60 s)")
    parser.add_argument(
        "--memory", type=positive_number, metavar="MB", help="limit on the address space of each process"
    )
    parser.add_argument("--fix-corner", action="store_true", help="leave out rotated copies, by pinning a corner piece")
    parser.add_argument("--sat-solver", metavar="NAME", help="a solver of python-sat: kissat, cadical, glucose, ...")
    parser.add_argument("--seed", type=whole_number, default=0, metavar="N", help="of the local searches")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="CSV", help="one line a run; those already there are not made again"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def run(args: argparse.Namespace) -> int:
    from dataclasses import asdict

    from exact.compare import ComparisonRow, Question, compare, table
    from exact.outcome import NODES_UNKNOWN
    from exact.registry import all_solvers, find_solver
    from instances.formats import load_puzzle
    from lns.terminal.output import DONE, INTERRUPTED, print_error, print_json

    solvers = list(all_solvers()) if args.solvers == ["all"] else args.solvers
    for solver in solvers:
        find_solver(solver)
    puzzles = [(name, load_puzzle(name)) for name in args.instances]
    memory = None if args.memory is None else args.memory * 1_000_000
    question = Question(args.count, args.time, memory, args.fix_corner, args.sat_solver, args.seed)
    rows: list[ComparisonRow] = []
    status = DONE
    try:
        for row in compare(puzzles, solvers, question, args.output):
            rows.append(row)
            spent = f", {row.seconds:.2f} s" if row.seconds >= 0 else ""
            print_error(f"lns: {row.instance} {row.solver}: {row.status}{spent}")
    except KeyboardInterrupt:
        status = INTERRUPTED
    if args.json:
        told = [
            {name: None if value == NODES_UNKNOWN else value for name, value in asdict(row).items()} for row in rows
        ]
        print_json({"rows": told})
    else:
        print(table(rows))
    return status
