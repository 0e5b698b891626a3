"""`lns solve`: the main job, from the command line."""

from __future__ import annotations

import argparse

from lns.engines import ENGINES
from lns.terminal.options import cell_list, duration, nonempty_path, positive_number, whole_number, worker_count


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "instance", metavar="INSTANCE", help="a puzzle file, a viewer URL, or a shipped instance's name"
    )
    parser.add_argument("--time", type=duration, default=60.0, metavar="S", help="seconds, or 10m, 2h, 7d (default 60)")
    parser.add_argument(
        "--workers", type=worker_count, default=1, metavar="N", help="islands, a process each (default 1)"
    )
    parser.add_argument(
        "--seed", type=whole_number, default=1, metavar="N", help="same seed, one worker: same search (default 1)"
    )
    parser.add_argument(
        "--run-dir", type=nonempty_path, metavar="DIR", help="new directory for the results (default runs/NAME-DATE)"
    )
    parser.add_argument(
        "--start", metavar="BOARD", help="a board to polish first: file or viewer URL; never made worse"
    )
    parser.add_argument(
        "--pin", type=cell_list, metavar="CELLS",
        help="cells of the start board that stay, and match each other: 3,4,10-20, rows: r3, r0-11 (all from 0)",
    )  # fmt: skip
    parser.add_argument("--params", type=nonempty_path, metavar="FILE", help="parameters as TOML")
    parser.add_argument(
        "--target", type=whole_number, metavar="SCORE", help="stop at this score; exit status 1 when not reached"
    )
    parser.add_argument(
        "--steps", type=positive_number, metavar="N", help="stop each island after N steps of its search"
    )
    parser.add_argument(
        "--engine", choices=ENGINES, default="auto",
        help="auto (default), or alone: construct (construction and exact tails), beam search, tabu search, "
        "lns (large neighbourhoods of one board at a time)",
    )  # fmt: skip
    parser.add_argument(
        "--min-score", type=whole_number, metavar="SCORE",
        help="boards of at least this score go into boards.jsonl, new bests always (default: search_floor of the "
        "parameters, or else the best so far less one)",
    )  # fmt: skip
    parser.add_argument(
        "--checkpoint", type=duration, default=60.0, metavar="S",
        help="save the state of the search so often, and at each new best (default 60)",
    )  # fmt: skip
    parser.add_argument(
        "--json", action="store_true", help="print the fields of best.json, and nothing else, to stdout"
    )
    parser.add_argument(
        "--stats",
        action="store_true",
        help="at the end, what each part took (in nodes of the construction, or what takes as long) and brought",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.epilog = (
        "Ctrl-C, SIGTERM, SIGHUP and `lns stop` save and leave; `lns resume` goes on. "
        "Exit status: 0 done, 1 --target not reached, 2 bad input, 129 SIGHUP, 130 Ctrl-C, 143 SIGTERM."
    )


def run(args: argparse.Namespace) -> int:
    from lns.cli.ending import ended, until_signal

    with until_signal(quiet=args.quiet) as signals:
        from lns.api.files import load_puzzle
        from lns.api.solving import solve
        from lns.runs.directory import new_run_directory

        puzzle = load_puzzle(args.instance)
        result = solve(
            puzzle,
            instance=args.instance,
            time=args.time,
            workers=args.workers,
            seed=args.seed,
            start=args.start,
            pins=args.pin,
            params=args.params,
            engine=args.engine,
            target=args.target,
            steps=args.steps,
            stop=signals,
            run_dir=args.run_dir or new_run_directory(puzzle),
            min_score=args.min_score,
            checkpoint_s=args.checkpoint,
            progress="none" if args.quiet else "terminal",
        )
    return ended(result, signals, target=args.target, as_json=args.json, stats=args.stats)
