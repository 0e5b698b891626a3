"""`lns improve`: free a region of a board and re-solve it exactly, with a proof."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any

from lns.cli.regions import announce_compilation, board_writer, region_options, write_board
from lns.terminal.inputs import add_board_options, add_puzzle_options, print_notes, puzzle_of_board
from lns.terminal.options import (
    board_lines,
    cell_list,
    check_board_file,
    check_files,
    duration,
    positive_number,
    whole_number,
)
from lns.terminal.output import print_text
from lns_support.errors import BoardError, InputError
from lns_support.text import count_of, format_seconds

if TYPE_CHECKING:
    from exact.region.resolve import RegionResult
    from instances.board import Board
    from instances.puzzle import Puzzle
    from instances.verify import Verification

_EXAMPLES = """\
examples:
  lns improve best.json --rows 13-15                free the last three rows of a 16x16 board
  lns improve "https://e2.bucas.name/#puzzle=..."   free the cells around the mismatches, for a minute
  lns improve best.json --cells 200-215,231 -o better.json
  lns improve best.json --window 2x16 --everywhere --svg map.svg
  lns improve best.json --cells 17-20,33-36 --order dynamic --no-backjumping
  lns improve best.json --rows 13-15 --check        ask a second solver whether the answer is true

Rows and cells count from 0. A range A-B includes both ends; A:B, for rows, leaves out B. A proof means that no other
way to fill the region gives a better score. With -o each better board is written as soon as it is found. Ctrl-C,
SIGTERM and SIGHUP end the search with the best board so far.
Exit status: 0 done, 1 --target not reached, 2 bad input, 70 --check contradicts the answer, 130 interrupted.
"""
_MINUTE = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument("board", metavar="BOARD", help="a file with a board, a run directory, or a viewer URL")
    parser.add_argument(
        "--puzzle",
        metavar="INSTANCE",
        help="the puzzle of BOARD: a file or a shipped instance (default: that of the URL)",
    )
    add_board_options(parser)
    add_puzzle_options(parser)
    region = parser.add_argument_group("region")
    region.add_argument(
        "--rows", metavar="A-B", type=_range, help="free the rows A to B, from 0, both included; 8 is row 8 alone"
    )
    region.add_argument(
        "--cells", metavar="LIST", type=cell_list, help="free these cells, such as 3,4,10-20; r3 is the whole row 3"
    )
    region.add_argument(
        "--window", metavar="HxW", type=_shape, help="shape of the windows of --everywhere: 2x16 is 2 rows, 16 columns"
    )
    region.add_argument(
        "--everywhere", action="store_true", help="re-solve all windows of the shape of --window, one after the other"
    )
    region.add_argument(
        "--around-mismatches", action="store_true", help="free the cells around the mismatches (default)"
    )
    region.add_argument(
        "--donors",
        metavar="K",
        type=whole_number,
        default=0,
        help="also free K cells elsewhere whose pieces fit the region (default 0)",
    )
    method = parser.add_argument_group("method")
    method.add_argument(
        "--order",
        choices=("auto", "static", "dynamic"),
        default="auto",
        help="static: fill the cells in fixed orders; dynamic: the most constrained cell first; auto (default): "
        "static, in long searches both in turns",
    )
    method.add_argument(
        "--no-backjumping",
        action="store_true",
        help="with --order dynamic: backtrack one level at a time, without conflict-directed jumps",
    )
    method.add_argument(
        "--heuristic",
        metavar="NAME",
        default="dom-deg",
        help="with --order dynamic or auto: the criterion for the most constrained cell, dom-deg (default) or a name "
        "of `lns exact count --heuristic`",
    )
    method.add_argument(
        "--preemption",
        action="store_true",
        help="with --order dynamic or auto: keep the pieces that one cell needs from the others",
    )
    method.add_argument(
        "--instantiation",
        action="store_true",
        help="with --order dynamic or auto: decide a cell with one candidate at once",
    )
    method.add_argument(
        "--check",
        action="store_true",
        help="then ask a second, independent solver (python-sat) if any refill scores more, for as long as --time",
    )
    budget = parser.add_argument_group("budget")
    budget.add_argument(
        "--nodes", metavar="N", type=positive_number,
        help="limit of search nodes, of each window with --everywhere (default 5 million there, else none)",
    )  # fmt: skip
    budget.add_argument(
        "--time", metavar="T", type=duration,
        help="time limit in seconds, or like 10m (default 60 s; none with --nodes or --everywhere)",
    )  # fmt: skip
    budget.add_argument(
        "--target",
        metavar="S",
        type=positive_number,
        help="stop at a board of score S; exit status 1 if it is not reached",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the board to FILE (.json, .url or .solution.txt)")
    parser.add_argument("--svg", metavar="FILE", help="write the map of --everywhere as SVG")
    parser.add_argument("--force", action="store_true", help="overwrite files that exist")
    parser.add_argument("--json", action="store_true", help="print one JSON object to stdout")
    parser.add_argument("--quiet", action="store_true", help="do not show progress")


def run(args: argparse.Namespace) -> int:
    from lns.terminal.signals import interrupt_on_signal, signal_handler

    with signal_handler(interrupt_on_signal):
        return _improve(args)


def _improve(args: argparse.Namespace) -> int:
    from instances.formats import read_board
    from instances.formats.sources import source_name
    from lns.runs.find import board_source

    args.board = board_source(args.board)
    if args.everywhere != (args.window is not None):
        raise InputError("--everywhere needs --window HxW, and --window needs --everywhere; expected both or neither")
    if sum((args.rows is not None, args.cells is not None, args.everywhere, args.around_mismatches)) > 1:
        raise InputError("--rows, --cells, --around-mismatches and --everywhere exclude each other")
    if args.everywhere and (args.donors or args.target or args.check):
        raise InputError("--donors, --target and --check are for one region, not for --everywhere")
    if args.svg and not args.everywhere:
        raise InputError("--svg draws the map of --everywhere; `lns show` draws a board")
    if args.no_backjumping and args.order != "dynamic":
        raise InputError("--no-backjumping is for --order dynamic; expected that with it")
    if args.order == "static" and (args.heuristic != "dom-deg" or args.preemption or args.instantiation):
        raise InputError("--heuristic, --preemption and --instantiation are for --order dynamic or auto")
    region_options(args)  # raises InputError if the heuristic is unknown
    known, notes = puzzle_of_board(args)
    document = read_board(args.board, known, args.format, args.number)
    puzzle, board = document.puzzle, document.board
    assert puzzle is not None and board is not None
    check_board_file(args.output, puzzle, args.force)
    check_files(args.force, args.output, args.svg)
    if args.target is not None and args.target > puzzle.max_score:
        raise InputError(f"--target {args.target} is more than a board of {puzzle.name} can have: {puzzle.max_score}")
    args.notes = [*notes, *document.notes]
    args.instance = args.puzzle or document.instance
    try:
        if args.everywhere:
            from lns.cli.improve_everywhere import run as run_everywhere

            return run_everywhere(args, puzzle, board)
        return _improve_region(args, puzzle, board)
    except BoardError as error:
        raise error.at(source_name(args.board)) from None


def _improve_region(args: argparse.Namespace, puzzle: Puzzle, board: Board) -> int:
    from exact.region.resolve import RegionStatus
    from lns.terminal.output import ANSWER_IS_NO, DONE, FAULT, INTERRUPTED, print_error

    result = _improved(args, puzzle, board)
    try:
        write_board(args, puzzle, result.board)
    finally:  # the answer is printed even if the file cannot be written, and the file written even if stdout is closed
        _print_result(args, puzzle, board, result)
    if args.output and not args.json:
        print_text(f"written     {args.output}")
    if result.check == "contradicted":
        print_error(
            f"lns: the search said that no refill scores as much as {result.score}, but {result.check_solver} found "
            "this one, which is verified: a fault of lns; please report it with the files of board and puzzle"
        )
        return FAULT
    if result.status == RegionStatus.INTERRUPTED:
        return INTERRUPTED
    return ANSWER_IS_NO if args.target is not None and result.score < args.target else DONE


def _improved(args: argparse.Namespace, puzzle: Puzzle, board: Board) -> RegionResult:
    from lns import cells
    from lns.api.improving import improve
    from lns.terminal.progress import live_line

    region = None
    if args.rows is not None:
        region = cells.rows(puzzle, *args.rows)
    elif args.cells is not None:
        region = cells.parse(args.cells, puzzle)
    announce_compilation(args)
    limit = _MINUTE if args.time is None and args.nodes is None else args.time
    with live_line(limit, quiet=args.quiet or args.json) as line:
        return improve(
            puzzle,
            board,
            region,
            donors=args.donors,
            target=args.target,
            time=limit,
            nodes=args.nodes,
            order=args.order,
            backjumping=not args.no_backjumping,
            heuristic=args.heuristic,
            preemption=args.preemption,
            instantiation=args.instantiation,
            check=args.check,
            on_improve=board_writer(args, puzzle),
            on_progress=lambda score, bound, nodes, seconds: line.show(
                f"score {score}, at most {bound}, {nodes / 1e6:.1f} M nodes", seconds
            ),
        )


def _print_result(args: argparse.Namespace, puzzle: Puzzle, given: Board, result: RegionResult) -> None:
    from instances.verify import verify

    if not args.quiet:
        print_notes(args.notes)
    before = verify(puzzle, given)
    answer = _answer(puzzle, result, before)
    if args.json:
        from lns.terminal.output import print_json

        print_json(answer | {"placements": result.board.without_blanks(puzzle).pairs(), "notes": args.notes})
    else:
        if result.board != given:  # it may have the same score, for example if the given board broke a rule
            print_text(*board_lines(puzzle, result.board), sep="\n")  # first: a URL may fill a terminal
        donors = f", {args.donors} of them donors" if args.donors and result.cells else ""
        nothing = "" if result.cells or before.mismatches else ": the board has no mismatch"
        print_text(f"region      {count_of(len(result.cells), 'cell')}{donors}{nothing}")
        print_text(f"score       {_score(puzzle, result, before)}")
        print_text(f"status      {_status(result, before)}")
        print_text(f"search      {count_of(result.nodes, 'node')}, {format_seconds(result.seconds)}")
        if result.check:
            sentence = f"{_CHECKS[result.check].format(bound=result.bound)}, by {result.check_solver}"
            print_text(f"check       {result.check}: {sentence} in {format_seconds(result.check_seconds)}")


def _score(puzzle: Puzzle, result: RegionResult, before: Verification) -> str:
    """The score, and that of the given board; a board that broke a rule has none, only matched seams."""
    if not before.violations:
        return f"{result.score} of {puzzle.max_score}, before {result.score_before}"
    broke = f"the given board broke {count_of(len(before.violations), 'rule')} ({before.seams} by seams)"
    if not result.legal:
        return f"none, no legal refill found; {broke}"
    return f"{result.score} of {puzzle.max_score}, the best legal refill found; {broke}"


def _status(result: RegionResult, before: Verification) -> str:
    if not before.violations:
        name = result.status.name
        if name == "INTERRUPTED":
            name = "IMPROVED" if result.improved else "BUDGET_SPENT"
        return f"{result.status}: {_SENTENCES[name].format(bound=result.bound)}"
    if result.proven:
        return "optimal: no other legal refill of this region has a higher score"
    return f"{_status_name(result, before)}: a legal refill has at most {result.bound}"


def _status_name(result: RegionResult, before: Verification) -> str:
    """The status in one word or two: 'legal' for a board that is that now, where nothing else can be said of it."""
    if result.proven:
        return "optimal"
    legal_only = before.violations and result.legal and result.status.name == "BUDGET_SPENT"
    return "legal" if legal_only else str(result.status)


_SENTENCES = {
    "OPTIMAL": "no other way to fill this region is better",
    "IMPROVED_OPTIMAL": "a better way to fill the region, and none is better than this",
    "TARGET_REFUTED": "no way to fill the region reaches the target",
    "TARGET_REACHED": "at most {bound} is possible",
    "IMPROVED": "a better way to fill the region; at most {bound} is possible",
    "BUDGET_SPENT": "nothing better found; at most {bound} is possible",
}


_CHECKS = {
    "proved": "no refill scores more than {bound}",
    "open": "not decided",
    "contradicted": "this board was found",
}


def _answer(puzzle: Puzzle, result: RegionResult, before: Verification) -> dict[str, Any]:
    from instances.formats import url_if_any

    return {
        "status": _status_name(result, before),
        "improved": result.improved and result.legal,
        "score": result.score,
        "score_before": result.score_before,
        "legal": result.legal,
        "legal_before": not before.violations,
        "problems_before": list(before.violations),
        "rim_faults_before": before.rim_faults,
        "bound": result.bound,
        "nodes": result.nodes,
        "seconds": round(result.seconds, 4),
        "check": result.check,
        "check_solver": result.check_solver,
        "check_seconds": round(result.check_seconds, 4),
        "cells": len(result.cells),
        "url": url_if_any(puzzle, result.board),
    }


def _range(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,5})(?:([:-])([0-9]{1,5}))?", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is no range of rows; expected A-B, rows from 0, both included")
    if match[2] is None:
        return int(match[1]), int(match[1]) + 1
    return int(match[1]), int(match[3]) + (match[2] == "-")


def _shape(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,4})[xX×]([0-9]{1,4})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is no shape; expected rows x columns, like 2x16")
    return int(match[1]), int(match[2])
