"""What `lns improve` does for one region and for all windows alike: it compiles before the clock starts, and writes."""

from __future__ import annotations

import argparse
import contextlib
from typing import TYPE_CHECKING

from lns.terminal.output import print_error

if TYPE_CHECKING:
    from exact.region.resolve import OnImprove
    from instances.board import Board
    from instances.puzzle import Puzzle


def tell_compiling(args: argparse.Namespace) -> None:
    """Say that the kernels are compiled before the clock starts, where that is not done yet."""
    from exact.region.warmup import is_ready

    if not args.quiet and not is_ready(args.order):
        print_error("lns: compiling the kernels, once for this installation: about half a minute of an idle core ...")


def recorder(args: argparse.Namespace, puzzle: Puzzle) -> OnImprove:
    """Writes each better board at once, whatever ends the program; a disk that is full is told of at the end."""

    def keep(board: Board) -> None:
        with contextlib.suppress(OSError):
            write_board(args, puzzle, board)

    return keep


def write_board(args: argparse.Namespace, puzzle: Puzzle, board: Board) -> None:
    if args.output:
        from instances.formats import write

        write(args.output, None, puzzle, board, instance=args.instance)
