"""What `lns improve` does for one region and for all windows: announce the compilation, write boards."""

from __future__ import annotations

import argparse
import contextlib
from typing import TYPE_CHECKING

from lns.terminal.output import print_error

if TYPE_CHECKING:
    from exact.region.options import RegionOptions
    from exact.region.resolve import OnImprove
    from instances.board import Board
    from instances.puzzle import Puzzle


def region_options(args: argparse.Namespace) -> RegionOptions:
    """The options of the region search that the command line asks for. Raises InputError for an unknown heuristic."""
    from exact.region.options import RegionOptions

    return RegionOptions(
        args.order,
        backjumping=not args.no_backjumping,
        heuristic=args.heuristic,
        preemption=args.preemption,
        instantiation=args.instantiation,
    )


def announce_compilation(args: argparse.Namespace) -> None:
    """Print a line on stderr if the kernels must be compiled first."""
    from exact.region.warmup import is_ready

    if not args.quiet and not is_ready(args.order):
        print_error("compiling the kernels, once for this installation: about a minute of an idle core ...")


def board_writer(args: argparse.Namespace, puzzle: Puzzle) -> OnImprove:
    """Callback that writes each better board at once. Errors are ignored: the final board is written again."""

    def on_improve(board: Board) -> None:
        with contextlib.suppress(OSError):
            write_board(args, puzzle, board)

    return on_improve


def write_board(args: argparse.Namespace, puzzle: Puzzle, board: Board) -> None:
    """Write ``board`` to the file of --output, if there is one."""
    if args.output:
        from instances.formats import write

        write(args.output, None, puzzle, board, instance=args.instance)
