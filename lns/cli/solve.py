"""`lns solve`: search for the best full board of a puzzle."""

from __future__ import annotations

import argparse
from contextlib import ExitStack

from lns.cli.ending import add_ending_options
from lns.engines import ENGINES
from lns.terminal.inputs import add_board_options, add_puzzle_options, check_start_options, read_puzzle
from lns.terminal.options import cell_list, duration, nonempty_path, positive_number, whole_number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "instance", metavar="INSTANCE", help="a puzzle file, a viewer URL, or the name of a shipped instance"
    )
    add_puzzle_options(parser)
    parser.add_argument(
        "--time",
        type=duration,
        metavar="S",
        help="time limit in seconds, or like 5m30s, 2h, 7d, 1w (default 60; none with --steps or --stop-after-no-gain)",
    )
    parser.add_argument(
        "--workers",
        type=positive_number,
        metavar="N",
        help="number of islands, each of which keeps one core busy (default: as many as this machine has cores, or the "
        "cluster has threads, also those that join later)",
    )
    parser.add_argument(
        "--seed",
        type=whole_number,
        metavar="N",
        help="random seed; with one worker the same seed repeats the search (default: drawn at random, and printed)",
    )
    parser.add_argument(
        "--run-dir", type=nonempty_path, metavar="DIR", help="new directory for the results (default runs/NAME-DATE)"
    )
    parser.add_argument(
        "--start",
        metavar="BOARD",
        help="begin with this board, a file, run directory or viewer URL, and search for better ones",
    )
    add_board_options(parser, board="the start board", prefix="start-")
    parser.add_argument(
        "--pin", type=cell_list, metavar="CELLS",
        help="keep these cells of the start board, which must match each other: 3,4,10-20, or rows r3, r0-11, from 0",
    )  # fmt: skip
    parser.add_argument(
        "--params", type=nonempty_path, metavar="FILE",
        help="read parameters from this TOML file, or 'default' for the defaults (default: those that `lns tune` has "
        "proved better for this puzzle or its family, else the defaults)",
    )  # fmt: skip
    parser.add_argument(
        "--target", type=whole_number, metavar="SCORE", help="stop at this score; exit status 1 if it is not reached"
    )
    parser.add_argument(
        "--steps",
        type=positive_number,
        metavar="N",
        help="stop each island after N steps, a measure that does not depend on time",
    )
    parser.add_argument(
        "--engine", choices=ENGINES, default="auto",
        help="auto (default), or one part alone: construct (construction and exact tails), beam (beam search), tabu "
        "(tabu search), lns (large-neighbourhood search on one board)",
    )  # fmt: skip
    parser.add_argument(
        "--min-score", type=whole_number, metavar="SCORE",
        help="write boards of at least this score to boards.jsonl, besides new bests (default: search_floor of the "
        "parameters if it is set, else one below the best score so far)",
    )  # fmt: skip
    parser.add_argument(
        "--checkpoint", type=duration, default=60.0, metavar="S",
        help="save a checkpoint every S seconds and at each new best (default 60)",
    )  # fmt: skip
    add_ending_options(parser)
    parser.epilog = (
        "Ctrl-C, SIGTERM, SIGHUP and `lns stop` end the search and save it; `lns resume` continues it. "
        "Exit status: 0 done, 1 --target not reached, 2 bad input, 129 SIGHUP, 130 Ctrl-C, 143 SIGTERM."
    )


def run(args: argparse.Namespace) -> int:
    from lns.cli.ending import ended, search_end, search_executor

    check_start_options(args)
    with search_end(args) as end, search_executor(args.cluster, args.workers) as executor, ExitStack() as stack:
        from lns.api.arguments import DEFAULT_SECONDS
        from lns.api.solving import solve
        from lns.runs.directory import new_run_directory

        document = read_puzzle(args, args.instance)
        puzzle = document.puzzle
        assert puzzle is not None
        run_dir = args.run_dir or stack.enter_context(new_run_directory(puzzle))
        unlimited = args.steps is not None or args.stop_after_no_gain is not None
        result = solve(
            puzzle,
            instance=args.instance,
            time=DEFAULT_SECONDS if args.time is None and not unlimited else args.time,
            workers=args.workers,
            seed=args.seed,
            start=args.start,
            start_format=args.start_format,
            start_number=args.start_number,
            notes=document.notes,
            pins=args.pin,
            params=args.params,
            engine=args.engine,
            target=args.target,
            steps=args.steps,
            stop=end.rule,
            run_dir=run_dir,
            min_score=args.min_score,
            checkpoint_s=args.checkpoint,
            on_improve=end.on_improve(run_dir),
            progress="none" if args.quiet else "terminal",
            executor=executor,
        )
    return ended(result, end, args, target=args.target)
