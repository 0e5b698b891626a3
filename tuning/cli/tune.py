"""`lns tune`: parameters found automatically, and believed only after a test on pairs that the search has not seen."""

from __future__ import annotations

import argparse
import logging
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lns.engines import ENGINES
from lns.terminal.options import duration, positive_number, whole_number, worker_count
from lns.terminal.output import ANSWER_IS_NO, DONE, print_json
from lns_support.errors import InputError
from tuning import SAMPLERS

if TYPE_CHECKING:
    from tuning.plan import StudyRequest
    from tuning.session import StudyProgress, TuningSession
    from tuning.study import Study
    from tuning.validate import Conclusion

log = logging.getLogger("lns")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("instances", nargs="*", metavar="INSTANCE", help="puzzles to tune for: files or shipped names")
    parser.add_argument(
        "--family", metavar="SPEC", help="tune for a family instead, such as like-e2:12x12 or uniform:8x8:7"
    )
    parser.add_argument(
        "--study", type=Path, required=True, metavar="DIR", help="directory of the study: begun, or gone on with"
    )
    parser.add_argument(
        "--time", type=duration, metavar="S", help="for this session, validation included (default 1h without --trials)"
    )
    parser.add_argument("--trials", type=positive_number, metavar="N", help="search until the study has N trials")
    parser.add_argument("--workers", type=worker_count, metavar="N", help="processes (default 1)")
    parser.add_argument(
        "--run-seconds", type=duration, metavar="S", help="of a long run, turned into nodes (default 10)"
    )
    parser.add_argument(
        "--nodes", type=positive_number, metavar="N", help="nodes of a long run, instead of --run-seconds"
    )
    parser.add_argument(
        "--pairs", type=positive_number, metavar="N", help="(instance, seed) pairs of a trial (default 10)"
    )
    parser.add_argument("--held-out", type=positive_number, metavar="N", help="pairs of the validation (default 24)")
    parser.add_argument("--seed", type=whole_number, metavar="N", help="of the study (default 1)")
    parser.add_argument("--engine", choices=ENGINES, help="whose parameters (default auto)")
    parser.add_argument("--sampler", choices=SAMPLERS, help="what proposes the trials (default tpe)")
    parser.add_argument("--params", type=Path, metavar="FILE", help="to be beaten, instead of the defaults")
    parser.add_argument("--report", action="store_true", help="no runs: only write the report of what is there")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout: the outcome")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.epilog = (
        "The same command goes on where it was stopped; several may run at once on one study. "
        "Exit status: 0 better parameters are in DIR/best_params.toml, 1 none were found, 2 bad input, 130 Ctrl-C."
    )


def run(args: argparse.Namespace) -> int:
    if args.instances and args.family:
        raise InputError("both INSTANCE and --family; expected one of them")
    if args.nodes and args.run_seconds:
        raise InputError("both --nodes and --run-seconds; expected one of them")
    if not str(args.study).isprintable():
        raise InputError("the name of the directory has characters that no report can hold; expected printable ones")
    if args.report and (args.time or args.trials or args.workers):
        raise InputError("--report makes no runs; expected it without --time, --trials and --workers")
    if args.time is None and args.trials is None:
        args.time = 3600.0
    from lns.terminal.progress import logging_to
    from tuning.plan import STUDY_FILE
    from tuning.study import open_study

    if args.report and not (args.study / STUDY_FILE).exists():
        raise InputError("no study is here; expected one that `lns tune` began", args.study)
    with logging_to(None, quiet=args.quiet):
        study = open_study(args.study, _request(args), reading=args.report)
        if args.report:
            return _finish(study, args, None)
        log.info(
            "%s: %d parameters, %d pairs of %s nodes", study.plan.subject, len(study.space), study.plan.pairs,
            f"{study.plan.nodes:,}",
        )  # fmt: skip
        session, ended_by = _search(study, args)
        status = _finish(study, args, session)
    return 128 + ended_by if ended_by else status


def _search(study: Study, args: argparse.Namespace) -> tuple[TuningSession, int]:
    """Hold a session and show how it stands; the session, and the signal that ended it or 0."""
    from lns.terminal.progress import LiveLine
    from lns.terminal.signals import signal_handler
    from tuning.session import TuningSession

    ended_by, phase = 0, ""
    line = LiveLine(args.time, quiet=args.quiet)

    def show(status: StudyProgress) -> None:
        nonlocal phase
        line.show(str(status), status.elapsed_s, now=status.phase != phase)
        phase = status.phase

    def interrupt(number: int, frame: object) -> None:
        """The first signal ends the session in order, the second one at once."""
        nonlocal ended_by
        if ended_by:
            session.kill()
            raise KeyboardInterrupt
        ended_by = number
        session.stop()

    session = TuningSession(study, args.workers or 1, args.time, args.trials, show)
    session.check_time()
    with signal_handler(interrupt), line:
        session.run()
    return session, ended_by


def _request(args: argparse.Namespace) -> StudyRequest:
    from lns import params as parameters
    from tuning.plan import StudyRequest

    return StudyRequest(
        instances=tuple(args.instances),
        family=args.family,
        engine=args.engine,
        seed=args.seed,
        pairs=args.pairs,
        held_out=args.held_out,
        nodes=args.nodes,
        run_seconds=args.run_seconds,
        params=parameters.load(args.params) if args.params else None,
        sampler=args.sampler,
        command=_command(args),
    )


def _command(args: argparse.Namespace) -> str:
    typed = sys.argv[1:] if sys.argv[1:2] == ["tune"] else ["tune", "--study", str(args.study)]
    return f"lns {shlex.join(typed)}"


def _finish(study: Study, args: argparse.Namespace, session: TuningSession | None) -> int:
    """Conclude, write the report, say how it stands; the exit status. Without a session nothing else is written."""
    from lns.runs.files import utc_now
    from lns_support.files import atomic_write
    from lns_support.version import __version__
    from tuning import report, validate
    from tuning.study import REPORT_FILE

    found = validate.conclude(study)
    if session is not None:
        validate.write_best(study, found)
    atomic_write(study.path / REPORT_FILE, report.html_page(study, found, f"{utc_now()}, lns {__version__}"))
    overhead = None if session is None else session.overhead
    if args.json:
        print_json(_outcome(study, found, overhead))
    else:
        print("\n".join(report.summary(study, found, overhead)))
        print(f"report        {study.path / REPORT_FILE}")
    sys.stdout.flush()
    return DONE if validate.written_best(study, found) else ANSWER_IS_NO


def _outcome(study: Study, found: Conclusion, overhead: float | None) -> dict[str, Any]:
    from tuning import report, validate
    from tuning.study import FINISHED, REPORT_FILE

    agreed, best = report.agreement(study), validate.written_best(study, found)
    return {
        "study": str(study.path),
        "trials": len(study.trials(*FINISHED)),
        "better": found.winner is not None,
        "best_params": None if best is None else str(best),
        "held_out": [
            {"trial": one.trial, "pairs": len(one.differences), "mean": one.mean, "low": one.low, "high": one.high,
             "edges": one.edges, "p": one.p, "cost": one.cost, "better": one.better}
            for one in found.verdicts
        ],
        "rank_correlation": agreed.correlation if agreed.correlation == agreed.correlation else None,
        "importance": report.importance(study),
        "overhead": overhead,
        "report": str(study.path / REPORT_FILE),
    }  # fmt: skip
