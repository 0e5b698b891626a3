"""`lns resume`: continue a run where it stopped."""

from __future__ import annotations

import argparse

from lns.cli.ending import add_ending_options
from lns.terminal.options import duration, nonempty_path, positive_number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "directory", type=nonempty_path, metavar="DIR", help="the run directory; it may have been moved"
    )
    parser.add_argument(
        "--time",
        type=duration,
        metavar="S",
        help="search for S more seconds, or like 10m, 2h, 1w; this replaces the run's plan "
        "(default: what is left of the time that the run was given)",
    )
    parser.add_argument(
        "--workers",
        type=positive_number,
        metavar="N",
        help="number of islands (default: as in the last session, or as many as the cluster has threads)",
    )
    parser.add_argument("--steps", type=positive_number, metavar="N", help="stop each island after N more steps")
    add_ending_options(parser)
    parser.epilog = (
        "Instance, seed, engine, target, pins and parameters are those of the run, as saved in DIR; "
        "--stop-after-no-gain and --on-best are not saved. "
        "With fewer workers than islands, the islands without a worker stay as they are until a later call."
    )


def run(args: argparse.Namespace) -> int:
    from lns.cli.ending import ended, search_end, search_executor
    from lns_support.errors import InputError

    with search_end(args) as end, search_executor(args.cluster, args.workers) as executor:
        from lns.api.solving import NoTimeLeft, resume

        try:
            result = resume(
                args.directory,
                time=args.time,
                workers=args.workers,
                steps=args.steps,
                stop=end.rule,
                on_improve=end.on_improve(args.directory),
                progress="none" if args.quiet else "terminal",
                executor=executor,
            )
        except NoTimeLeft as error:
            raise InputError(f"{error.reason}; say how much longer with --time", args.directory) from None
    return ended(result, end, args, target=result.target)
