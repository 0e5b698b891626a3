"""`lns ladder`: the benchmark of the engine on fixed instances."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lns.cli.main import DONE, print_json
from lns.cli.options import duration, positive, whole, workers


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", nargs="+", default=[], metavar="NAME", help="rows to run (default: all)")
    parser.add_argument("--time", type=duration, default=60.0, metavar="S", help="seconds a run (default 60)")
    parser.add_argument("--seeds", type=positive, default=5, metavar="N", help="runs a row, seeds 1 to N (default 5)")
    parser.add_argument("--workers", type=workers, default=2, metavar="N", help="processes a run (default 2)")
    parser.add_argument("--boards-from", type=whole, default=0, metavar="SCORE", help="count boards of SCORE or more")
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/instances"), metavar="DIR", help="public instances"
    )
    parser.add_argument("--params", type=Path, metavar="FILE", help="parameters as TOML")
    parser.add_argument("--table", type=Path, metavar="CSV", help="append the rows to this table (runs/ladder.csv)")
    parser.add_argument("--note", default="", help="what is being measured, for the table")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout: the rows")


def run(args: argparse.Namespace) -> int:
    from lns import params as parameters
    from tuning import ladder

    params = parameters.load(args.params) if args.params else parameters.Params()
    rows = []
    for name, puzzle_of in ladder.select(args.rows, args.data):
        if puzzle_of is None:
            print(f"{name}: skipped, no public data at {args.data}", file=sys.stderr)
            continue
        runs = []
        for seed in range(1, args.seeds + 1):
            puzzle = puzzle_of(seed)
            one = ladder.run(puzzle, params, seed, args.time, args.workers, args.boards_from)
            runs.append(one)
            reached = ", ".join(f"{score} at {at:.1f} s" for score, at in list(one.reached.items())[-4:])
            print(f"{name} seed {seed}: {one.score} of {puzzle.max_score} ({reached})", file=sys.stderr, flush=True)
        row = ladder.summary(name, puzzle, runs, args.time, args.workers, args.note)
        rates = ladder.rates(runs, args.workers)
        rows.append({**row, "scores": [one.score for one in runs], "boards_per_core_hour": rates})
        if args.table:
            ladder.append(args.table, row)
        if not args.json:
            print(_line(row))
            for score, rate in rates.items():
                print(f"  boards of at least {score} per core-hour: {rate:,}")
    if args.json:
        print_json({"rows": rows})
    return DONE


def _line(row: dict[str, object]) -> str:
    return (
        f"{row['instance']:<20} {row['seconds']:>5} s x {row['workers']} workers, {row['seeds']} seeds: "
        f"best {row['best']}, median {row['median']}, worst {row['worst']} of {row['of']}; "
        f"{int(str(row['nodes_per_s'])) / 1e6:.1f} M nodes/s, {row['peak_mb']} MB"
    )
