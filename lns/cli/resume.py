"""`lns resume`: continue a run where it stopped."""

from __future__ import annotations

import argparse

from lns.terminal.options import duration, nonempty_path, positive_number, worker_count


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "directory", type=nonempty_path, metavar="DIR", help="the run directory; it may have been moved"
    )
    parser.add_argument(
        "--time",
        type=duration,
        metavar="S",
        help="search for S more seconds, or like 10m, 2h (default: the time that is left)",
    )
    parser.add_argument(
        "--workers",
        type=worker_count,
        metavar="N",
        help="number of islands, each in a process (default: as in the last session)",
    )
    parser.add_argument("--steps", type=positive_number, metavar="N", help="stop each island after N more steps")
    parser.add_argument(
        "--json", action="store_true", help="print the fields of best.json as one JSON object to stdout"
    )
    parser.add_argument(
        "--stats",
        action="store_true",
        help="print at the end how many nodes each part of the engine used, and what it found",
    )
    parser.add_argument("--quiet", action="store_true", help="do not show progress")
    parser.epilog = (
        "Instance, seed, engine, target, pins and parameters are those of the run, as saved in DIR. "
        "With fewer workers than islands, the islands without a worker stay as they are until a later call."
    )


def run(args: argparse.Namespace) -> int:
    from lns.cli.ending import ended, until_signal

    with until_signal(quiet=args.quiet) as signals:
        from lns.api.solving import resume

        result = resume(
            args.directory,
            time=args.time,
            workers=args.workers,
            steps=args.steps,
            stop=signals,
            progress="none" if args.quiet else "terminal",
        )
    return ended(result, signals, target=result.target, as_json=args.json, stats=args.stats)
