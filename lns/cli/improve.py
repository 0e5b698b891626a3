"""`lns improve`: free a region of a board, re-solve it exactly, say what was found or proven."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any

from lns.cli.regions import recorder, tell_compiling, write_board
from lns.terminal.options import (
    board_lines,
    cell_list,
    check_board_file,
    check_files,
    duration,
    positive_number,
    whole_number,
)
from lns.terminal.output import print_error
from lns_support.errors import BoardError, InputError

if TYPE_CHECKING:
    from exact.region.resolve import RegionResult
    from instances.board import Board
    from instances.puzzle import Puzzle

_EXAMPLES = """\
examples:
  lns improve best.json --rows 13:16                free the last three rows of a 16x16
  lns improve "https://e2.bucas.name/#puzzle=..."   the cells around the mismatches, for a minute
  lns improve best.json --cells 200-215,231 -o better.json
  lns improve best.json --window 2x16 --everywhere --svg map.svg
  lns improve best.json --cells 17-20,33-36 --order urgent --no-backjumping

Rows and cells count from 0, ranges A:B leave B out, A-B name B too. A proof says that no refill is better.
With -o each better board is written as it is found; Ctrl-C, SIGTERM and SIGHUP end the search with what it has.
Exit status: 0 done, 1 --target not reached, 2 bad input, 130 interrupted.
"""
_MINUTE = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument("board", metavar="BOARD", help="a file with a board, or a viewer URL")
    parser.add_argument("--puzzle", metavar="INSTANCE", help="what it is a board of; a URL defines its own otherwise")
    parser.add_argument("--format", metavar="F", help="format of BOARD; guessed by its content otherwise")
    region = parser.add_argument_group("region")
    region.add_argument("--rows", metavar="A:B", type=_range, help="free the rows A to B-1")
    region.add_argument("--cells", metavar="LIST", type=cell_list, help="free these cells: 3,4,10-20, rows: r3")
    region.add_argument("--window", metavar="HxW", type=_shape, help="the shape of windows, for --everywhere")
    region.add_argument("--everywhere", action="store_true", help="all windows of the shape, one after the other")
    region.add_argument("--around-mismatches", action="store_true", help="the cells around the mismatches (default)")
    region.add_argument(
        "--donors", metavar="K", type=whole_number, default=0, help="K more cells whose pieces may help"
    )
    method = parser.add_argument_group("method")
    method.add_argument(
        "--order",
        choices=("auto", "static", "dynamic"),
        default="auto",
        help="decide cell after cell, or the most urgent cell first; auto: urgent in compact regions",
    )
    method.add_argument("--no-backjumping", action="store_true", help="with --order urgent: no conflict-directed jumps")
    budget = parser.add_argument_group("budget")
    budget.add_argument(
        "--nodes", metavar="N", type=positive_number,
        help="nodes of search, same on any machine; of each window (--everywhere: default 5 million)",
    )  # fmt: skip
    budget.add_argument(
        "--time", metavar="T", type=duration,
        help="seconds, or like 10m, in all (default: a minute, or none with --nodes or --everywhere)",
    )  # fmt: skip
    budget.add_argument("--target", metavar="S", type=positive_number, help="stop at a board of score S")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the board; its extension tells the format")
    parser.add_argument("--svg", metavar="FILE", help="write the map of --everywhere")
    parser.add_argument("--force", action="store_true", help="write over files that exist")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--quiet", action="store_true", help="no progress")


def run(args: argparse.Namespace) -> int:
    from lns.terminal.signals import interrupt_on_signal, signal_handler

    with signal_handler(interrupt_on_signal):
        return _improve(args)


def _improve(args: argparse.Namespace) -> int:
    from instances.formats import load_puzzle, read_board
    from instances.formats.reading import source_name

    if args.everywhere != (args.window is not None):
        raise InputError("--everywhere and --window HxW go together")
    if sum((args.rows is not None, args.cells is not None, args.everywhere, args.around_mismatches)) > 1:
        raise InputError("--rows, --cells, --around-mismatches and --everywhere exclude each other")
    if args.everywhere and (args.donors or args.target):
        raise InputError("--donors and --target are for one region, not for --everywhere")
    if args.svg and not args.everywhere:
        raise InputError("--svg draws the map of --everywhere; `lns show` draws a board")
    if args.no_backjumping and args.order != "dynamic":
        raise InputError("--no-backjumping is for --order urgent; the others never jump")
    known = None if args.puzzle is None else load_puzzle(args.puzzle)
    document = read_board(args.board, known, args.format)
    puzzle, board = document.puzzle, document.board
    assert puzzle is not None and board is not None
    check_board_file(args.output, puzzle, args.force)
    check_files(args.force, args.output, args.svg)
    if args.target is not None and args.target > puzzle.max_score:
        raise InputError(f"--target {args.target} is more than a board of {puzzle.name} can have: {puzzle.max_score}")
    if known is None and document.format == "best":  # where its puzzle comes from decides about clues
        for note in document.notes:
            print_error(f"lns: {note}")
    args.instance = args.puzzle or document.instance
    try:
        if args.everywhere:
            from lns.cli.improve_everywhere import run as run_everywhere

            return run_everywhere(args, puzzle, board)
        return _one(args, puzzle, board)
    except BoardError as error:
        raise error.at(source_name(args.board)) from None


def _one(args: argparse.Namespace, puzzle: Puzzle, board: Board) -> int:
    from exact.region.resolve import RegionStatus
    from lns.terminal.output import ANSWER_IS_NO, DONE, INTERRUPTED

    result = _improved(args, puzzle, board)
    try:
        write_board(args, puzzle, result.board)
    finally:  # a file that cannot be written is no reason to keep silent, nor a reader who is gone one not to write
        _tell(args, puzzle, board, result)
    if result.status == RegionStatus.INTERRUPTED:
        return INTERRUPTED
    return ANSWER_IS_NO if args.target is not None and result.score < args.target else DONE


def _improved(args: argparse.Namespace, puzzle: Puzzle, board: Board) -> RegionResult:
    from lns import cells
    from lns.api.improving import improve
    from lns.terminal.progress import live_line

    freed = None
    if args.rows is not None:
        freed = cells.rows(puzzle, *args.rows)
    elif args.cells is not None:
        freed = cells.parse(args.cells, puzzle)
    tell_compiling(args)
    limit = _MINUTE if args.time is None and args.nodes is None else args.time
    with live_line(limit, quiet=args.quiet or args.json) as line:
        return improve(
            puzzle,
            board,
            freed,
            donors=args.donors,
            target=args.target,
            time=limit,
            nodes=args.nodes,
            order=args.order,
            backjumping=not args.no_backjumping,
            on_improve=recorder(args, puzzle),
            on_progress=lambda score, bound, nodes, seconds: line.show(
                f"score {score}, at most {bound}, {nodes / 1e6:.1f}M nodes", seconds
            ),
        )


def _tell(args: argparse.Namespace, puzzle: Puzzle, given: Board, result: RegionResult) -> None:
    answer = _answer(puzzle, result)
    if args.json:
        from lns.terminal.output import print_json

        print_json(answer | {"placements": result.board.pairs()})
    else:
        donors = f", {args.donors} of them donors" if args.donors and result.cells else ""
        print(f"region      {len(result.cells)} cells{donors}")
        print(f"score       {result.score} of {puzzle.max_score}, before {result.score_before}")
        print(f"status      {result.status}: {_SENTENCES[result.status.name].format(bound=result.bound)}")
        print(f"search      {result.nodes} nodes, {result.seconds:.2f} s")
        if result.board != given:  # also one that is legal now, whatever its score
            print(*board_lines(puzzle, result.board), sep="\n")


_SENTENCES = {
    "OPTIMAL": "no refill of this region is better",
    "IMPROVED_OPTIMAL": "a better refill, and none is better than this",
    "TARGET_REFUTED": "no refill reaches the target",
    "TARGET_REACHED": "at most {bound} is possible",
    "IMPROVED": "a better refill; at most {bound} is possible",
    "BUDGET_SPENT": "nothing better found; at most {bound} is possible",
    "INTERRUPTED": "stopped; at most {bound} is possible",
}


def _answer(puzzle: Puzzle, result: RegionResult) -> dict[str, Any]:
    from instances.formats import url_if_any

    return {
        "status": "optimal" if result.proven else str(result.status),
        "improved": result.improved,
        "score": result.score,
        "score_before": result.score_before,
        "bound": result.bound,
        "nodes": result.nodes,
        "seconds": round(result.seconds, 4),
        "cells": len(result.cells),
        "url": url_if_any(puzzle, result.board),
    }


def _range(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,5}):([0-9]{1,5})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is no range of rows; expected A:B, rows from 0, B left out")
    return int(match[1]), int(match[2])


def _shape(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,4})[xX×]([0-9]{1,4})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is no shape; expected HEIGHTxWIDTH like 2x16")
    return int(match[1]), int(match[2])
