"""`lns improve`: free a region of a board and re-solve it exactly, with a proof."""

from __future__ import annotations

import argparse
import re

from lns.cli.improve_region import Question, improve_region, region_options
from lns.instances.errors import BoardError, InputError
from lns.terminal import options as opt
from lns.terminal.inputs import check_board_file, read_board

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


def _row_range(text: str) -> tuple[int, int]:
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


@opt.command(
    opt.BOARD, opt.PUZZLE, *opt.BOARD_OPTIONS, *opt.PUZZLE_OPTIONS,
    *opt.grouped(
        "region",
        opt.value("--rows", "A-B", _row_range, "free the rows A to B, from 0, both included; 8 is row 8 alone"),
        opt.value("--cells", "LIST", opt.cell_list, "free these cells, such as 3,4,10-20; r3 is the whole row 3"),
        opt.value("--window", "HxW", _shape, "shape of the windows of --everywhere: 2x16 is 2 rows, 16 columns"),
        opt.flag("--everywhere", "re-solve all windows of the shape of --window, one after the other"),
        opt.flag("--around-mismatches", "free the cells around the mismatches (default)"),
        opt.value("--donors", "K", opt.whole_number, "also free K cells elsewhere whose pieces fit the region "
                  "(default 0)",
                  default=0),
    ),
    *opt.grouped(
        "method",
        opt.choice("--order", ("auto", "static", "dynamic"), "static: fill the cells in fixed orders; dynamic: the "
                   "most constrained cell first; auto (default): static, in long searches both in turns"),
        opt.flag("--no-backjumping", "with --order dynamic: backtrack one level at a time, without conflict-directed "
                 "jumps"),
        opt.value("--heuristic", "NAME", None, "with --order dynamic or auto: the criterion for the most constrained "
                  "cell, dom-deg (default) or a name of `lns exact count --heuristic`", default="dom-deg"),
        opt.flag("--preemption", "with --order dynamic or auto: keep the pieces that one cell needs from the others"),
        opt.flag("--instantiation", "with --order dynamic or auto: decide a cell with one candidate at once"),
        opt.flag("--check", "then ask a second, independent solver (python-sat) if any refill scores more, for as "
                 "long as --time"),
    ),
    *opt.grouped(
        "budget",
        opt.NODES.but("limit of search nodes, of each window with --everywhere (default 5 million there, else none)"),
        opt.TIME.but("time limit in seconds, or like 10m (default 60 s; none with --nodes or --everywhere)"),
        opt.value("--target", "S", opt.positive_number, "stop at a board of score S; exit status 1 if it is not "
                  "reached"),
    ),
    opt.OUTPUT.but(type=None),
    opt.value("--svg", "FILE", None, "write the map of --everywhere as SVG"), opt.FORCE, opt.JSON, opt.QUIET,
    epilog=_EXAMPLES,
    interruptible=True,
)  # fmt: skip
def improve(args: argparse.Namespace) -> int:
    from lns.instances.formats.sources import source_name
    from lns.runs.directory import board_source

    _check_options(args)
    puzzle, board, document, notes = read_board(args)
    check_board_file(args.output, puzzle, args.force)
    opt.check_files(args.force, args.output, args.svg)
    if args.target is not None and args.target > puzzle.max_score:
        raise InputError(f"--target {args.target} is more than a board of {puzzle.name} can have: {puzzle.max_score}")
    asked = Question(args, puzzle, board, args.puzzle or document.instance, notes)
    try:
        if not args.everywhere:
            return improve_region(asked)
        from lns.cli.improve_everywhere import improve_everywhere

        return improve_everywhere(asked)
    except BoardError as error:
        raise error.at(source_name(board_source(args.board))) from None


def _check_options(args: argparse.Namespace) -> None:
    """Raise InputError for options that do not go together."""
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
