"""`lns polish`: make a board better that was found elsewhere."""

from __future__ import annotations

import argparse
from contextlib import ExitStack

from lns.cli.ending import add_ending_options
from lns.terminal.inputs import add_board_options, add_puzzle_options, puzzle_of_board
from lns.terminal.options import cell_list, duration, nonempty_path, positive_number, whole_number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("board", metavar="BOARD", help="a file with a board, a run directory, or a viewer URL")
    parser.add_argument(
        "--puzzle",
        metavar="INSTANCE",
        help="the puzzle of BOARD: a file or a shipped instance (default: that of the URL)",
    )
    add_board_options(parser)
    add_puzzle_options(parser)
    parser.add_argument("--time", type=duration, metavar="S", help="time limit in seconds, or like 5m30s (default 60)")
    parser.add_argument(
        "--free", type=cell_list, metavar="CELLS",
        help="only these cells may change: 3,4,10-20, or rows r3, r0-11, from 0 (default: any, but half of them stay)",
    )  # fmt: skip
    parser.add_argument("--workers", type=positive_number, metavar="N", help="islands (default: one for each core)")
    parser.add_argument("--seed", type=whole_number, metavar="N", help="random seed (default: drawn, and printed)")
    parser.add_argument(
        "--run-dir", type=nonempty_path, metavar="DIR", help="new directory for the results (default runs/NAME-DATE)"
    )
    parser.add_argument("--params", type=nonempty_path, metavar="FILE", help="read parameters from this TOML file")
    add_ending_options(parser)
    parser.epilog = (
        "Regions around the mismatches are freed and re-solved exactly; where none is better, refills as good, "
        "exchanges and short tabu walks move the damage. It ends by time, or when all listed regions are proven. "
        "Exit status: 0 done, 2 bad input, 130 Ctrl-C (the best board is kept)."
    )


def run(args: argparse.Namespace) -> int:
    from lns.cli.ending import ended, search_end, search_executor

    with search_end(args) as end, search_executor(args.cluster, args.workers) as executor, ExitStack() as stack:
        from instances.formats import read_board
        from lns.api.arguments import DEFAULT_SECONDS
        from lns.api.solving import polish
        from lns.runs.directory import new_run_directory

        known, notes = puzzle_of_board(args)
        document = read_board(args.board, known, args.format, args.number)
        puzzle, board = document.puzzle, document.board
        assert puzzle is not None and board is not None
        run_dir = args.run_dir or stack.enter_context(new_run_directory(puzzle))
        result = polish(
            puzzle,
            board,
            free=args.free,
            stop=end.rule,
            time=DEFAULT_SECONDS if args.time is None else args.time,
            workers=args.workers,
            seed=args.seed,
            params=args.params,
            run_dir=run_dir,
            notes=(*notes, *document.notes),
            instance=args.puzzle or puzzle.name,
            on_improve=end.on_improve(run_dir),
            progress="none" if args.quiet else "terminal",
            executor=executor,
        )
    return ended(result, end, args, target=None)
