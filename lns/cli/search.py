"""`lns solve`, `lns resume` and `lns polish`: a search that leaves a run directory."""

from __future__ import annotations

import argparse

from lns.cli.ending import ENDING_OPTIONS, ended, search_end
from lns.engines import ENGINES
from lns.instances.errors import InputError
from lns.terminal import options as opt
from lns.terminal.inputs import check_start_options, read_board, read_puzzle
from lns.terminal.output import picked

RUN_DIR = opt.value("--run-dir", "DIR", opt.nonempty_path, "new directory for the results (default runs/NAME-DATE)")
STEPS = opt.value(
    "--steps", "N", opt.positive_number, "stop each island after N steps, a measure that does not depend on time"
)


@opt.command(
    opt.INSTANCE,
    *opt.PUZZLE_OPTIONS,
    opt.TIME.but(f"{opt.TIME.settings['help']} (default 60; none with --steps or --stop-after-no-gain)"),
    opt.WORKERS.but(
        "number of islands, each of which keeps one core busy (default: as many as this machine has cores, or the "
        "cluster has threads, also those that join later)"
    ),
    opt.SEED.but("random seed; with one worker the same seed repeats the search (default: drawn at random, and "
                 "printed)"),
    RUN_DIR,
    opt.START_OPTIONS[0].but("begin with this board, a file, run directory or viewer URL, and search for better ones"),
    *opt.START_OPTIONS[1:],
    opt.value("--pin", "CELLS", opt.cell_list, "keep these cells of the start board, which must match each other: "
              "3,4,10-20, or rows r3, r0-11, from 0"),
    opt.PARAMS,
    opt.value("--target", "SCORE", opt.whole_number, "stop at this score; exit status 1 if it is not reached"),
    STEPS,
    opt.choice("--engine", ENGINES, "auto (default), or one part alone: construct (construction and exact tails), beam "
               "(beam search), tabu (tabu search), lns (large-neighbourhood search on one board)"),
    opt.value("--min-score", "SCORE", opt.whole_number, "write boards of at least this score to boards.jsonl, besides "
              "new bests (default: search_floor of the parameters if it is set, else one below the best score so far)"),
    opt.value("--checkpoint", "S", opt.duration, "save a checkpoint every S seconds and at each new best (default 60)",
              default=60.0),
    *ENDING_OPTIONS,
    epilog="Ctrl-C, SIGTERM, SIGHUP and `lns stop` end the search and save it; `lns resume` continues it. "
    "Exit status: 0 done, 1 --target not reached, 2 bad input, 129 SIGHUP, 130 Ctrl-C, 143 SIGTERM.",
)  # fmt: skip
def solve(args: argparse.Namespace) -> int:
    check_start_options(args)
    with search_end(args) as end:
        from lns.api.arguments import DEFAULT_SECONDS
        from lns.api.solving import solve

        document = read_puzzle(args, args.instance)
        assert document.puzzle is not None
        unlimited = args.steps is not None or args.stop_after_no_gain is not None
        result = solve(
            document.puzzle,
            instance=args.instance,
            notes=document.notes,
            time=DEFAULT_SECONDS if args.time is None and not unlimited else args.time,
            pins=args.pin,
            checkpoint_s=args.checkpoint,
            **picked(args, "seed start start_format start_number params engine target steps min_score"),
            **end.settings(end.run_dir(document.puzzle)),
        )
    return ended(result, end, args, target=args.target)


@opt.command(
    opt.RUN.but("the run directory; it may have been moved"),
    opt.TIME.but("search for S more seconds, or like 10m, 2h, 1w; this replaces the run's plan (default: what is left "
                 "of the time that the run was given)"),
    opt.WORKERS.but("number of islands (default: as in the last session, or as many as the cluster has threads)"),
    STEPS.but("stop each island after N more steps"),
    *ENDING_OPTIONS,
    epilog="Instance, seed, engine, target, pins and parameters are those of the run, as saved in DIR; "
    "--stop-after-no-gain and --on-best are not saved. "
    "With fewer workers than islands, the islands without a worker stay as they are until a later call.",
)  # fmt: skip
def resume(args: argparse.Namespace) -> int:
    with search_end(args) as end:
        from lns.api.solving import NoTimeLeft, resume

        try:
            result = resume(time=args.time, steps=args.steps, **end.settings(args.directory))
        except NoTimeLeft as error:
            raise InputError(f"{error.reason}; say how much longer with --time", args.directory) from None
    return ended(result, end, args, target=result.target)


@opt.command(
    opt.BOARD, opt.PUZZLE, *opt.BOARD_OPTIONS, *opt.PUZZLE_OPTIONS,
    opt.TIME.but(f"{opt.TIME.settings['help']} (default 60)"),
    opt.value("--free", "CELLS", opt.cell_list, "only these cells may change: 3,4,10-20, or rows r3, r0-11, from 0 "
              "(default: any, but half of them stay)"),
    opt.WORKERS.but("islands (default: one for each core)"), opt.SEED, RUN_DIR,
    opt.PARAMS.but("read parameters from this TOML file"), *ENDING_OPTIONS,
    epilog="Regions around the mismatches are freed and re-solved exactly; where none is better, refills as good, "
    "exchanges and short tabu walks move the damage. It ends by time, or when all listed regions are proven. "
    "Exit status: 0 done, 2 bad input, 130 Ctrl-C (the best board is kept).",
)  # fmt: skip
def polish(args: argparse.Namespace) -> int:
    with search_end(args) as end:
        from lns.api.arguments import DEFAULT_SECONDS
        from lns.api.solving import polish

        puzzle, board, _, notes = read_board(args)
        result = polish(
            puzzle,
            board,
            time=DEFAULT_SECONDS if args.time is None else args.time,
            notes=notes,
            instance=args.puzzle or puzzle.name,
            **picked(args, "free seed params"),
            **end.settings(end.run_dir(puzzle)),
        )
    return ended(result, end, args, target=None)
