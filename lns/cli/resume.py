"""`lns resume`: go on with a run where it was."""

from __future__ import annotations

import argparse

from lns.terminal.options import duration, nonempty_path, positive_number, worker_count


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "directory", type=nonempty_path, metavar="DIR", help="the run directory; it may have been moved"
    )
    parser.add_argument("--time", type=duration, metavar="S", help="so much longer (default: what is left of the time)")
    parser.add_argument(
        "--workers", type=worker_count, metavar="N", help="islands, a process each (default: as many as last time)"
    )
    parser.add_argument("--steps", type=positive_number, metavar="N", help="stop each island after N steps more")
    parser.add_argument(
        "--json", action="store_true", help="print the fields of best.json, and nothing else, to stdout"
    )
    parser.add_argument(
        "--stats", action="store_true", help="at the end, what each part of the search took and brought"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.epilog = (
        "Instance, seed, engine, target, pins and parameters are those of the run; they are kept in DIR. "
        "With fewer workers the islands without one wait for a later call."
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
