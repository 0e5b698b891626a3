"""`lns benchmark`: run the optimizer on fixed instances, also with each of its parts switched off."""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lns.terminal.options import check_folder, duration, positive_number, whole_number, worker_count
from lns.terminal.output import DONE, print_error, print_json, print_text

if TYPE_CHECKING:
    from lns.tuning.benchmark import BenchmarkRow, BenchmarkRun


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from lns.engines import ENGINES

    parser.add_argument("--rows", nargs="+", default=[], metavar="NAME", help="rows to run, see below (default: all)")
    parser.add_argument("--time", type=duration, default=60.0, metavar="S", help="seconds of each run (default 60)")
    parser.add_argument(
        "--seeds", type=positive_number, default=5, metavar="N",
        help="number of runs of each row, one for each random seed (default 5)",
    )  # fmt: skip
    parser.add_argument(
        "--first-seed", type=whole_number, default=1, metavar="SEED",
        help="random seed of the first run; the others follow (default 1)",
    )  # fmt: skip
    parser.add_argument("--workers", type=worker_count, default=2, metavar="N", help="processes of a run (default 2)")
    parser.add_argument("--engine", choices=ENGINES, default="auto", help="engine to run (default auto, the main one)")
    parser.add_argument(
        "--ablate", dest="with_ablations", action="store_true",
        help="also run the main engine with each of its parts switched off, in turn",
    )  # fmt: skip
    parser.add_argument(
        "--search-floor", type=whole_number, default=0, metavar="SCORE",
        help="search for boards of SCORE or more, not only for better ones, and count the distinct boards found",
    )  # fmt: skip
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/instances"), metavar="DIR",
        help="directory of the public instances, NAME.txt each (default ../shared/instances, beside a checkout)",
    )  # fmt: skip
    parser.add_argument(
        "--fresh", type=whole_number, metavar="SEED",
        help="random seed of the rows that are generated for each call (default: drawn, and noted in the row)",
    )  # fmt: skip
    parser.add_argument("--params", type=Path, metavar="FILE", help="read parameters from this TOML file")
    parser.add_argument("--table", type=Path, metavar="CSV", help="append the rows to this table, as runs/ladder.csv")
    parser.add_argument(
        "--boards", type=Path, metavar="DIR",
        help="write the best board of each run into this directory, as ROW-SEED.json (default: boards are not kept)",
    )  # fmt: skip
    parser.add_argument("--note", default="", help="what is measured, for the note column of the table")
    parser.add_argument("--json", action="store_true", help="print one JSON object with the rows to stdout")
    parser.epilog = (
        "rows, in this order:\n"
        "  from --data  eternity2_clue1 eternity2 eternity2_clue5 meta16 meta14 meta12 meta10\n"
        "  shipped      like-e2-16x16 like-e2-20x20 like-e2-12x20\n"
        "  generated    fresh-16x16-1 fresh-16x16-2\n"
        "`lns ladder` is another name of this command."
    )


def run(args: argparse.Namespace) -> int:
    from lns import params as parameters
    from lns.terminal.progress import screen_log
    from lns.terminal.signals import exit_on_signal, signal_handler
    from lns.tuning.benchmark import BenchmarkOptions, benchmark

    if args.table:
        check_folder(args.table)
    rows: list[dict[str, Any]] = []

    def on_row(row: BenchmarkRow) -> None:
        rows.append(row.to_dict())
        if not args.json:
            print_text(row.summary(), flush=True)

    def on_run(name: str, variant: str, run: BenchmarkRun) -> None:
        label = f"{name}, {variant}," if args.with_ablations else name
        reached = ", ".join(f"{score} at {at:.1f} s" for score, at in list(run.reached.items())[-4:])
        print_error(f"{label} seed {run.seed}: {run.score} ({reached})")

    def on_ablation(name: str, lines: list[str]) -> None:
        if not args.json:
            print_text("\n".join(["", name, *lines, ""]))

    try:
        with signal_handler(exit_on_signal), screen_log(quiet=False):
            settings = {field.name: getattr(args, field.name) for field in fields(BenchmarkOptions)}
            settings["params"] = parameters.load(args.params) if args.params else None
            benchmark(args.rows, on_run=on_run, on_row=on_row, on_ablation=on_ablation, **settings)
    finally:  # complete rows are printed even if a later one fails or is interrupted
        if args.json:
            print_json({"rows": rows})
    return DONE
