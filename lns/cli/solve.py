"""`lns solve`: the main job, from the command line."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from lns.names import ENGINES
from lns.terminal.options import cell_list, duration, nonempty_path, positive_number, whole_number, worker_count
from lns_support.errors import InputError

if TYPE_CHECKING:
    from instances.board import Board
    from instances.puzzle import Clue, Puzzle


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
    from lns.terminal.signals import exit_on_signal, signal_handler

    with signal_handler(exit_on_signal):
        return _solve(args)


def _solve(args: argparse.Namespace) -> int:
    from instances.formats import load_board, load_puzzle
    from lns import params as parameters
    from lns.cli.job import Job
    from lns.cli.pins import pinned
    from lns.runs.directory import RunDirectory
    from lns.runs.history import RunHistory
    from lns.runs.settings import LEAST_CHECKPOINT_S
    from lns.terminal.progress import logging_to

    puzzle = load_puzzle(args.instance)
    params = parameters.load(args.params) if args.params else parameters.Params()
    if args.target is not None and args.target > puzzle.max_score:
        raise InputError(f"--target {args.target} cannot be reached: {puzzle.name} has {puzzle.max_score} inner edges")
    if args.checkpoint < LEAST_CHECKPOINT_S:
        raise InputError(
            f"--checkpoint {args.checkpoint:g} is too often; expected {LEAST_CHECKPOINT_S:g} seconds or more"
        )
    min_score = (params.engine.search_floor or -1) if args.min_score is None else args.min_score
    start, start_score = None, -1
    pins: tuple[Clue, ...] = ()
    if args.start is not None:
        given = load_board(args.start, puzzle)[1]
        start, start_score = _checked_start(puzzle, given, args.start)
        pins = pinned(puzzle, given, start, args.pin) if args.pin else ()
    elif args.pin:
        raise InputError("--pin keeps cells of a start board; expected --start BOARD beside it")
    directory = RunDirectory.create(
        args.run_dir,
        puzzle,
        params,
        instance=args.instance,
        seed=args.seed,
        engine=args.engine,
        target=-1 if args.target is None else args.target,
        min_score=min(min_score, puzzle.max_score),
        checkpoint_s=args.checkpoint,
        pins=pins,
    )
    with directory, logging_to(directory.path, quiet=args.quiet):
        from lns.islands import Archipelago
        from lns.runs.board_log import BoardLog
        from lns.runs.recorder import Recorder

        archipelago = Archipelago(
            directory.pinned_puzzle, params, args.seed, args.workers, engine=args.engine, start=start,
            start_score=start_score, min_score=directory.settings.min_score,
        )  # fmt: skip
        recorder = Recorder(directory, RunHistory(args.time), BoardLog(directory.path), [])
        job = Job(archipelago, recorder, quiet=args.quiet, seconds=args.time)
        if start is not None:
            recorder.record_known_best(start, start_score, "start")
        job.run(steps=args.steps)
    return job.finish(as_json=args.json, stats=args.stats)


def _checked_start(puzzle: Puzzle, board: Board, source: str) -> tuple[Board, int]:
    """The start board, filled where it has holes, and its score; InputError when it breaks a rule."""
    from instances.verify import verify
    from lns.assignment import fill
    from lns.cli.pins import legal_start

    full = fill(puzzle, legal_start(puzzle, board, source))
    return full, verify(puzzle, full).score
