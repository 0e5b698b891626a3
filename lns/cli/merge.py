"""`lns merge`: make one run of several runs of the same pieces and clues."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from lns.terminal.options import add_run_directories, nonempty_path
from lns.terminal.output import command_name, print_text
from lns_support.errors import InputError
from lns_support.text import count_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_directories(parser)
    parser.add_argument(
        "-o", "--output", type=nonempty_path, required=True, metavar="DIR", help="the new run directory"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object to stdout")
    parser.epilog = (
        "The runs are only read; they may be running, or copies from other machines. Their boards are verified and "
        "kept once, times and statistics are added. `lns resume` goes on with the islands of the first run. "
        "Exit status: 0 done, 2 a DIR is no run, or the runs differ in pieces or clues."
    )


def run(args: argparse.Namespace) -> int:
    from dataclasses import asdict

    from lns.runs.files import format_duration
    from lns.runs.find import run_directories
    from lns.runs.merge import merge_runs
    from lns.terminal.output import DONE, print_json
    from lns.terminal.progress import live_line

    output: Path = args.output
    paths = [path for path in run_directories(args.directories) if path.resolve() != output.resolve()]
    if len(paths) < 2:
        raise InputError(f"{count_of(len(paths), 'run')} named; expected two or more to merge")
    with live_line(None, quiet=args.json) as line:
        line.begin(f"merging {count_of(len(paths), 'run')}")
        merged = merge_runs(paths, output)
    if args.json:
        print_json(asdict(merged) | {"run_dir": str(output)})
        return DONE
    best = "no board" if merged.score < 0 else f"best score {merged.score}"
    repeated = f", {merged.repeated:,} more were repeated" if merged.repeated else ""
    damaged = f", {count_of(merged.damaged, 'damaged line')} left out" if merged.damaged else ""
    print_text(
        f"{count_of(merged.runs, 'run')}, {format_duration(merged.elapsed_s)} of search, {best}, "
        f"{count_of(merged.boards, 'board')}{repeated}{damaged}"
    )
    print_text(f"saved in    {output}")
    print_text(f"go on       {command_name()} resume {shlex.quote(str(output))} --time 1h")
    return DONE
