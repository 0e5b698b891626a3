"""`lns benchmark`: the benchmark of the engines on fixed instances, and of the main engine without its parts."""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lns.engines import ENGINES
from lns.terminal.options import check_folder, duration, positive_number, whole_number, worker_count
from lns.terminal.output import DONE, print_error, print_json
from lns_support.errors import InputError

if TYPE_CHECKING:
    from instances.puzzle import Puzzle
    from lns.params import Params
    from tuning.benchmark import BenchmarkRun

FRESH_SEEDS = (1_001, 99_999)  # two rows each: neither those of the shipped instances nor those that `lns tune` uses


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", nargs="+", default=[], metavar="NAME", help="rows to run (default: all, see below)")
    parser.add_argument("--time", type=duration, default=60.0, metavar="S", help="seconds a run (default 60)")
    parser.add_argument(
        "--seeds", type=positive_number, default=5, metavar="N", help="runs a row, a seed each (default 5)"
    )
    parser.add_argument(
        "--first-seed",
        type=whole_number,
        default=1,
        metavar="SEED",
        help="the seed of the first run; the others follow (default 1)",
    )
    parser.add_argument("--workers", type=worker_count, default=2, metavar="N", help="processes a run (default 2)")
    parser.add_argument("--engine", choices=ENGINES, default="auto", help="which engine (default auto, the main one)")
    parser.add_argument(
        "--ablate", action="store_true", help="run the main engine also with each of its parts off, in turn"
    )
    parser.add_argument(
        "--min-score", type=whole_number, default=0, metavar="SCORE", help="count boards of at least SCORE"
    )
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/instances"), metavar="DIR",
        help="directory of the public instances, NAME.txt each (default: ../shared/instances, beside a checkout)",
    )  # fmt: skip
    parser.add_argument(
        "--fresh",
        type=whole_number,
        metavar="SEED",
        help="of the rows made anew for each call (default: by chance, and said)",
    )
    parser.add_argument("--params", type=Path, metavar="FILE", help="parameters as TOML")
    parser.add_argument("--table", type=Path, metavar="CSV", help="append the rows there, as in runs/ladder.csv")
    parser.add_argument("--note", default="", help="what is being measured, for the table")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout: the rows")
    parser.epilog = (
        "rows, in this order:\n"
        "  of --data   eternity2_clue1 eternity2 eternity2_clue5 meta16 meta14 meta12 meta10\n"
        "  shipped     like-e2-16x16 like-e2-20x20 like-e2-12x20\n"
        "  made anew   fresh-16x16-1 fresh-16x16-2"
    )


def run(args: argparse.Namespace) -> int:
    from lns import params as parameters
    from lns.terminal.signals import exit_on_signal, signal_handler
    from tuning import benchmark

    if args.ablate and args.engine != "auto":
        raise InputError(f"--ablate is about the parts of the main engine; expected no --engine {args.engine}")
    if args.table:
        check_folder(args.table)
        benchmark.check_table(args.table)
    params = parameters.load(args.params) if args.params else parameters.Params()
    fresh = random.randint(*FRESH_SEEDS) if args.fresh is None else args.fresh
    rows: list[dict[str, Any]] = []
    selected = benchmark.select_rows(args.rows, args.data, fresh)
    try:
        with signal_handler(exit_on_signal):
            for name, puzzle_of in selected:
                if puzzle_of is None:
                    print_error(f"{name}: skipped, no public data at {args.data}")
                else:
                    note = f"fresh seed {fresh}" if name in benchmark.FRESH else ""
                    rows += _rows(name, puzzle_of(), params, note, args)
    finally:  # a later row that fails, or Ctrl-C, takes nothing from those that are done
        if args.json:
            print_json({"rows": rows})
    return DONE


def _rows(name: str, puzzle: Puzzle, params: Params, note: str, args: argparse.Namespace) -> list[dict[str, Any]]:
    """A row for each variant, told and in the table."""
    from tuning import ablate, benchmark

    rows = []
    runs = _measure(name, puzzle, ablate.variants(params) if args.ablate else {ablate.BASELINE: params}, args)
    for variant, made in runs.items():
        notes = (
            f"engine {args.engine}" if args.engine != "auto" else "",
            variant if variant != ablate.BASELINE else "",
            f"seeds from {args.first_seed} on" if args.first_seed != 1 else "",
            note,
            args.note,
        )
        row = benchmark.table_row(name, puzzle, made, args.time, args.workers, "; ".join(filter(None, notes)))
        rates = benchmark.boards_by_score(made, args.workers)
        rows.append({**row, "scores": [one.score for one in made], "boards_per_core_hour": rates})
        if not args.json:
            print(_line(row, args.engine))
            hours = benchmark.core_hours(made, args.workers)
            for score, rate in rates.items():
                print(f"  boards of at least {score} per core-hour: {rate:,} (in {hours:.3g} core-hours)")
        if args.table:
            benchmark.append_to_table(args.table, row)
    if args.ablate and not args.json:
        print("\n".join(["", name, *ablate.table(runs, args.workers, args.min_score), ""]))
    return rows


def _measure(
    name: str, puzzle: Puzzle, variants: dict[str, Params], args: argparse.Namespace
) -> dict[str, list[BenchmarkRun]]:
    """The runs of each variant; seed by seed, so that all variants share what else the machine does."""
    from tuning import benchmark

    runs: dict[str, list[BenchmarkRun]] = {variant: [] for variant in variants}
    for seed in range(args.first_seed, args.first_seed + args.seeds):
        for variant, params in variants.items():
            one = benchmark.run_benchmark(puzzle, params, seed, args.time, args.workers, args.min_score, args.engine)
            runs[variant].append(one)
            label = f"{name}, {variant}," if args.ablate else name
            reached = ", ".join(f"{score} at {at:.1f} s" for score, at in list(one.reached.items())[-4:])
            print_error(f"{label} seed {seed}: {one.score} of {puzzle.max_score} ({reached})")
    return runs


def _line(row: dict[str, object], engine: str) -> str:
    memory = f", {row['peak_mb']} MB" if row["peak_mb"] else ""
    note = f" ({row['note']})" if row["note"] else ""
    work = "moves" if engine == "tabu" else "nodes"
    return (
        f"{row['instance']:<20} {row['seconds']:>5} s x {row['workers']} workers, {row['seeds']} seeds: "
        f"best {row['best']}, median {row['median']}, worst {row['worst']} of {row['of']}; "
        f"{int(str(row['nodes_per_s'])) / 1e6:.1f} M {work}/s{memory}{note}"
    )
