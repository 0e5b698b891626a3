"""`lns resume`: go on with a run where it was."""

from __future__ import annotations

import argparse
import logging

from lns.terminal.options import duration, max_workers, nonempty_path, positive_number, worker_count
from lns_support.errors import InputError

log = logging.getLogger("lns")


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
    from lns.terminal.signals import exit_on_signal, signal_handler

    with signal_handler(exit_on_signal):
        return _resume(args)


def _resume(args: argparse.Namespace) -> int:
    from lns import params as parameters
    from lns.cli.job import Job
    from lns.islands import Archipelago
    from lns.runs.directory import RunDirectory
    from lns.runs.files import PARAMETERS, format_duration
    from lns.runs.recorder import Recorder
    from lns.runs.recover import recover
    from lns.terminal.progress import logging_to
    from lns_support.files import read_text

    with RunDirectory.open(args.directory) as directory, logging_to(directory.path, quiet=args.quiet):
        found = recover(directory)
        history, settings = found.history, directory.settings
        seconds = history.remaining_s if args.time is None else args.time
        if seconds <= 0 and not history.budget_s:
            raise InputError("nothing of it was saved, nor how long it was to last; say so with --time", args.directory)
        if seconds <= 0:
            used = format_duration(history.elapsed_s)
            raise InputError(f"its time is used up ({used}); say how much longer with --time", args.directory)
        history.budget_s = history.elapsed_s + seconds
        last = history.sessions[-1].workers if history.sessions else 1
        count = args.workers or min(last, max_workers())
        if new := parameters.unnamed(read_text(directory.path / PARAMETERS)):
            log.warning("%s is of another version, without %s: its defaults are taken", PARAMETERS, ", ".join(new))
        log.info("going on at %s of search", format_duration(history.elapsed_s))
        archipelago = Archipelago(
            directory.pinned_puzzle,
            directory.params,
            settings.seed,
            count,
            engine=settings.engine,
            start=found.best.board if found.best else None,
            start_score=found.best.score if found.best else -1,
            min_score=settings.min_score,
            islands=found.islands,
            operators=settings.operators or None,
        )
        recorder = Recorder(directory, history, found.board_log, found.recent)
        job = Job(archipelago, recorder, quiet=args.quiet, seconds=seconds)
        if found.best is not None:
            recorder.record_known_best(found.best.board, found.best.score, found.origin)
        job.run(steps=args.steps)
    return job.finish(as_json=args.json, stats=args.stats)
