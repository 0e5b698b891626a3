"""`lns tune`: search for better parameters, and test them on instances and seeds that the search has not seen."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lns.terminal.inputs import read_puzzles
from lns.terminal.options import PUZZLE_OPTIONS, add_options, duration, positive_number, whole_number, worker_count
from lns.terminal.output import ANSWER_IS_NO, DONE, print_json, print_text, terminal_width

if TYPE_CHECKING:
    from lns.tuning.plan import StudyRequest
    from lns.tuning.session import StudyProgress, TuningSession


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from lns.engines import ENGINES
    from lns.tuning import SAMPLERS

    parser.add_argument(
        "instances", nargs="*", metavar="INSTANCE", help="puzzles to tune for: files or names of shipped instances"
    )
    add_options(parser, PUZZLE_OPTIONS)
    parser.add_argument(
        "--family", metavar="SPEC",
        help="tune for a family of generated puzzles instead, such as like-e2:12x12 or uniform:8x8:7",
    )  # fmt: skip
    parser.add_argument(
        "--study", type=Path, required=True, metavar="DIR", help="directory of the study: a new one, or one to continue"
    )
    parser.add_argument(
        "--time", type=duration, metavar="S",
        help="time limit of this session, validation included: seconds, or 10m, 8h (default 1h without --trials)",
    )  # fmt: skip
    parser.add_argument("--trials", type=positive_number, metavar="N", help="search until the study has N trials")
    parser.add_argument("--workers", type=worker_count, metavar="N", help="worker processes (default 1)")
    parser.add_argument(
        "--run-seconds", type=duration, metavar="S",
        help="length of a long run, converted into nodes by one measurement (default 10)",
    )  # fmt: skip
    parser.add_argument("--nodes", type=positive_number, metavar="N", help="length of a long run in nodes instead")
    parser.add_argument(
        "--pairs", type=positive_number, metavar="N",
        help="pairs of an instance and a random seed that each trial is run on (default 10)",
    )  # fmt: skip
    parser.add_argument(
        "--held-out", type=positive_number, metavar="N",
        help="other such pairs, on which the best trials are validated (default 24; at least 20 can prove something)",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=whole_number, metavar="N",
        help="random seed of the study; another one repeats nothing (default 1)",
    )  # fmt: skip
    parser.add_argument("--engine", choices=ENGINES, help="engine whose parameters are tuned (default auto)")
    parser.add_argument(
        "--sampler", choices=SAMPLERS, help="method that proposes the trials after the first 20 (default tpe)"
    )
    parser.add_argument(
        "--params", type=Path, metavar="FILE", help="TOML file of the parameters to be beaten, instead of the defaults"
    )
    parser.add_argument(
        "--storage", metavar="URL",
        help="keep the trials there instead of in DIR, for several machines on one study, each with a DIR of the same "
        "name: postgresql://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE, or grpc://HOST:PORT of optuna's proxy",
    )  # fmt: skip
    parser.add_argument("--report", action="store_true", help="make no runs; only write the report of what is there")
    parser.add_argument("--json", action="store_true", help="print one JSON object with the outcome to stdout")
    parser.add_argument("--quiet", action="store_true", help="do not show progress")
    parser.epilog = (
        "The same command continues a study that was stopped; several may run on one study at the same time. "
        "Exit status: 0 better parameters are in DIR/best_params.toml, 1 none were found, 2 bad input, 130 Ctrl-C."
    )


def run(args: argparse.Namespace) -> int:
    from lns.terminal.progress import LiveLine, screen_log
    from lns.terminal.signals import signal_handler
    from lns.tuning.api import DEFAULT_SECONDS, tune

    ended_by, phase = 0, ""
    session: TuningSession | None = None
    seconds = DEFAULT_SECONDS if args.time is None and args.trials is None else args.time
    line = LiveLine(seconds, quiet=args.quiet or args.report)

    def on_start(started: TuningSession) -> None:
        nonlocal session
        session = started

    def on_progress(progress: StudyProgress) -> None:
        nonlocal phase
        if progress.phase == "report":  # no part of the time limit
            line.begin(str(progress))
        else:
            line.show(str(progress), progress.elapsed_s, now=progress.phase != phase)
        phase = progress.phase

    def interrupt(number: int, frame: object) -> None:
        """The first signal ends the session in order, the second one at once."""
        nonlocal ended_by
        if session is None or ended_by:
            if session is not None:
                session.kill()
            raise SystemExit(128 + number)
        ended_by = number
        session.stop()

    with screen_log(quiet=args.quiet), signal_handler(interrupt), line:
        result = tune(
            study=args.study, request=_request(args), time=args.time, trials=args.trials, workers=args.workers,
            report_only=args.report, on_start=on_start, on_progress=on_progress,
        )  # fmt: skip
    if args.json:
        print_json(result.to_dict())
    else:
        print_text(result.summary(max(40, min(100, terminal_width() or 80))), flush=True)
    if ended_by:
        return 128 + ended_by
    return ANSWER_IS_NO if result.best_file is None else DONE


def _request(args: argparse.Namespace) -> StudyRequest:
    from lns import params as parameters
    from lns.tuning.plan import StudyRequest

    given = vars(args) | {
        "instances": tuple(read_puzzles(args, args.instances, quiet=args.quiet)),
        "params": parameters.load(args.params) if args.params else None,
        "command": _command(args),
    }
    return StudyRequest(**{name: given[name] for name in StudyRequest.__dataclass_fields__})


def _command(args: argparse.Namespace) -> str:
    """The command as it was typed, for the report; without the password of a storage."""
    typed = sys.argv[1:] if sys.argv[1:2] == ["tune"] else ["tune", "--study", str(args.study)]
    if args.storage is not None:
        from lns.tuning.storage import shown

        typed = [word.replace(args.storage, shown(args.storage)) for word in typed]
    return f"lns {shlex.join(typed)}"
