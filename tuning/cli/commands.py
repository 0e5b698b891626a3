"""`lns tune` and `lns benchmark`: their options, and their output."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lns.engines import ENGINES
from lns.terminal import options as opt
from lns.terminal.inputs import read_puzzles
from lns.terminal.output import ANSWER_IS_NO, DONE, print_answer, print_error, print_json, print_text, terminal_width
from lns.tuning import SAMPLERS

if TYPE_CHECKING:
    from lns.tuning.benchmark import BenchmarkRow, BenchmarkRun
    from lns.tuning.session import StudyProgress, TuningSession
    from lns.tuning.study import StudyRequest


@opt.command(
    opt.value("instances", "INSTANCE", None, "puzzles to tune for: files or names of shipped instances", nargs="*"),
    *opt.PUZZLE_OPTIONS,
    opt.value("--family", "SPEC", None, "tune for a family of generated puzzles instead, such as like-e2:12x12 or "
              "uniform:8x8:7"),
    opt.value("--study", "DIR", Path, "directory of the study: a new one, or one to continue", required=True),
    opt.TIME.but("time limit of this session, validation included: seconds, or 10m, 8h (default 1h without --trials)"),
    opt.value("--trials", "N", opt.positive_number, "search until the study has N trials"),
    opt.value("--workers", "N", opt.positive_number, "worker processes (default 1)"),
    opt.value("--run-seconds", "S", opt.duration, "length of a long run, converted into nodes by one measurement "
              "(default 10)"),
    opt.NODES.but("length of a long run in nodes instead"),
    opt.value("--pairs", "N", opt.positive_number, "pairs of an instance and a random seed that each trial is run on "
              "(default 10)"),
    opt.value("--held-out", "N", opt.positive_number, "other such pairs, on which the best trials are validated "
              "(default 24; at least 20 can prove something)"),
    opt.SEED.but("random seed of the study; another one repeats nothing (default 1)"),
    opt.choice("--engine", ENGINES, "engine whose parameters are tuned (default auto)").but(default=None),
    opt.choice("--sampler", SAMPLERS, "method that proposes the trials after the first 20 (default tpe)").but(
        default=None),
    opt.value("--params", "FILE", Path, "TOML file of the parameters to be beaten, instead of the defaults"),
    opt.value("--storage", "URL", None, "keep the trials there instead of in DIR, for several machines on one study, "
              "each with a DIR of the same name: postgresql://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE, or "
              "grpc://HOST:PORT of optuna's proxy"),
    opt.flag("--report", "make no runs; only write the report of what is there"),
    opt.JSON.but("print one JSON object with the outcome to stdout"), opt.QUIET,
    epilog="The same command continues a study that was stopped; several may run on one study at the same time. "
    "Exit status: 0 better parameters are in DIR/best_params.toml, 1 none were found, 2 bad input, 130 Ctrl-C.",
)  # fmt: skip
def tune(args: argparse.Namespace) -> int:
    from lns.terminal.progress import LiveLine, screen_log
    from lns.terminal.signals import signal_handler
    from lns.tuning.api import DEFAULT_SECONDS, tune

    ended_by, phase = 0, ""
    sessions: list[TuningSession] = []
    seconds = DEFAULT_SECONDS if args.time is None and args.trials is None else args.time
    line = LiveLine(seconds, quiet=args.quiet or args.report)

    def on_progress(progress: StudyProgress) -> None:
        nonlocal phase
        if progress.phase == "report":  # the time of the report does not count towards the limit
            line.begin(str(progress))
        else:
            line.show(str(progress), progress.elapsed_s, now=progress.phase != phase)
        phase = progress.phase

    def interrupt(number: int, frame: object) -> None:
        """End the session in order at the first signal; exit at once at the second, or if no session has begun."""
        nonlocal ended_by
        if ended_by or not sessions:
            for session in sessions:
                session.kill()
            raise SystemExit(128 + number)
        ended_by = number
        sessions[0].stop()

    with screen_log(quiet=args.quiet), signal_handler(interrupt), line:
        result = tune(
            study=args.study, request=_request(args), time=args.time, trials=args.trials, workers=args.workers,
            report_only=args.report, on_start=sessions.append, on_progress=on_progress,
        )  # fmt: skip
    print_answer(args, result.to_dict(), [result.summary(max(40, min(100, terminal_width() or 80)))])
    if ended_by:
        return 128 + ended_by
    return ANSWER_IS_NO if result.best_file is None else DONE


def _request(args: argparse.Namespace) -> StudyRequest:
    from lns import params as parameters
    from lns.tuning.storage import redact_url
    from lns.tuning.study import StudyRequest

    typed = sys.argv[1:] if sys.argv[1:2] == ["tune"] else ["tune", "--study", str(args.study)]
    if args.storage is not None:
        typed = [word.replace(args.storage, redact_url(args.storage)) for word in typed]
    given = vars(args) | {
        "instances": tuple(read_puzzles(args, args.instances, quiet=args.quiet)),
        "params": parameters.load(args.params) if args.params else None,
        "command": f"lns {shlex.join(typed)}",
    }
    return StudyRequest(**{name: given[name] for name in StudyRequest.__dataclass_fields__})


@opt.command(
    opt.value("--rows", "NAME", None, "rows to run, see below (default: all)", nargs="+", default=[]),
    opt.TIME.but("seconds of each run (default 60)", default=60.0),
    opt.value("--seeds", "N", opt.positive_number, "number of runs of each row, one for each random seed (default 5)",
              default=5),
    opt.value("--first-seed", "SEED", opt.whole_number, "random seed of the first run; the others follow (default 1)",
              default=1),
    opt.value("--workers", "N", opt.positive_number, "processes of a run (default 2)", default=2),
    opt.choice("--engine", ENGINES, "engine to run (default auto, the main one)"),
    opt.flag("--ablate", "also run the main engine with each of its parts switched off, in turn").but(
        dest="with_ablations"),
    opt.value("--search-floor", "SCORE", opt.whole_number, "search for boards of SCORE or more, not only for better "
              "ones, and count the distinct boards found", default=0),
    opt.value("--data", "DIR", Path, "directory of the public instances, NAME.txt each (default ../shared/instances, "
              "beside a checkout)", default=Path("../shared/instances")),
    opt.value("--fresh", "SEED", opt.whole_number, "random seed of the rows that are generated for each call (default: "
              "drawn, and noted in the row)"),
    opt.value("--params", "FILE", Path, "read parameters from this TOML file"),
    opt.value("--table", "CSV", Path, "append the rows to this table, as runs/ladder.csv"),
    opt.value("--boards", "DIR", Path, "write the best board of each run into this directory, as ROW-SEED.json "
              "(default: boards are not kept)"),
    opt.value("--note", "NOTE", None, "what is measured, for the note column of the table", default=""),
    opt.value("--device", "N", opt.whole_number, "instead of all this: nodes and boards a second of graphics card N "
              "beside one core, on the first of the rows"),
    opt.JSON.but("print one JSON object with the rows to stdout"),
    epilog="rows, in this order:\n"
    "  from --data  eternity2_clue1 eternity2 eternity2_clue5 meta16 meta14 meta12 meta10\n"
    "  shipped      like-e2-16x16 like-e2-20x20 like-e2-12x20\n"
    "  generated    fresh-16x16-1 fresh-16x16-2\n"
    "`lns ladder` is another name of this command.",
)  # fmt: skip
def benchmark(args: argparse.Namespace) -> int:
    from lns import params as parameters
    from lns.terminal.progress import screen_log
    from lns.terminal.signals import exit_on_signal, signal_handler
    from lns.tuning.benchmark import BenchmarkOptions, benchmark

    if args.device is not None:
        return _card_beside_a_core(args)
    if args.table:
        opt.check_folder(args.table)
    rows: list[dict[str, Any]] = []

    def on_row(row: BenchmarkRow) -> None:
        rows.append(row.to_dict())
        if not args.json:
            print_text(row.summary(), flush=True)

    def on_run(name: str, variant: str, run: BenchmarkRun) -> None:
        label = f"{name}, {variant}," if args.with_ablations else name
        reached = ", ".join(f"{score} at {at:.1f} s" for score, at in list(run.reached.items())[-4:])
        print_error(f"{label} seed {run.seed}: {run.score} ({reached})")

    def on_ablation(name: str, lines: list[str]) -> None:
        if not args.json:
            print_text("\n".join(["", name, *lines, ""]))

    try:
        with signal_handler(exit_on_signal), screen_log(quiet=False):
            settings = {field.name: getattr(args, field.name) for field in fields(BenchmarkOptions)}
            settings["params"] = parameters.load(args.params) if args.params else None
            benchmark(args.rows, on_run=on_run, on_row=on_row, on_ablation=on_ablation, **settings)
    finally:  # complete rows are printed even if a later one fails or is interrupted
        if args.json:
            print_json({"rows": rows})
    return DONE


def _card_beside_a_core(args: argparse.Namespace) -> int:
    os.environ["CUDA_VISIBLE_DEVICES"] = str(args.device)
    from lns.gpu import check_card
    from lns.tuning.benchmark import BenchmarkOptions, selected_rows
    from lns.tuning.gpu_check import side_by_side, table

    ((_, puzzle),) = selected_rows(args.rows[:1] or ["like-e2-16x16"], BenchmarkOptions(data=args.data))
    check_card(puzzle)
    rows = side_by_side(puzzle, args.time)
    print_answer(args, {"rows": rows}, [f"{puzzle.name}\n{table(rows)}"])
    return DONE
