"""`lns exact polyomino`: fill a grid with polyominoes, as in IQ Puzzler Pro, or cut a grid into polyominoes."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from lns.terminal.options import check_files, duration, nonempty_path, positive_number, whole_number
from lns.terminal.output import print_text
from lns_support.text import count_of, format_seconds

if TYPE_CHECKING:
    from exact.polyominoes.search import FillResult

_EPILOG = """\
A FILE is a picture of the grid, then one of each piece, separated by blank lines:

  ....#        '.' is a free cell, '#' is outside the grid, any other character is a piece placed there
  ..AAA

  AAA          a piece is drawn with its own character; it may be rotated and mirrored

  BB
  BB

  CC

Without pieces a grid has those of IQ Puzzler Pro. Without a FILE it is the grid of that game, 5 x 11 cells.

examples:
  lns exact polyomino                                  a filling of IQ Puzzler Pro
  lns exact polyomino --count                          all 4,331,140, in some minutes
  lns exact polyomino --cut 16x10 --seed 3 -o t.txt    cut a grid into random pieces
  lns exact polyomino t.txt --weight ascender          small pieces first

Exit status: 0 done or a budget spent, 1 there is no filling, 2 bad input, 130 interrupted."""


def size(text: str) -> tuple[int, int]:
    """'16x10': width and height."""
    match = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is no size; expected width and height, like 16x10")
    return int(match[1]), int(match[2])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="?", type=nonempty_path, metavar="FILE", help="a picture, see below (default: IQ Puzzler Pro)"
    )
    parser.add_argument("--count", action="store_true", help="count all fillings, instead of finding the first")
    parser.add_argument(
        "--solver",
        choices=("own", "xcover"),
        default="own",
        help="the search of this project (default), or the library xcover",
    )
    parser.add_argument(
        "--weight",
        metavar="NAME",
        help="which pieces are tried first: descender (large ones), ascender, compactness, perimeter, holes, the last "
        "three also with -inverse; race (default): all of them in turn",
    )
    parser.add_argument("--no-zones", action="store_true", help="do not test whether the zones left free can be filled")
    parser.add_argument("--nodes", type=positive_number, metavar="N", help="stop after N placements tested")
    parser.add_argument("--time", type=duration, metavar="S", help="stop after S seconds, or 10m, 2h, 7d")
    parser.add_argument("--cut", type=size, metavar="WxH", help="no search: cut a grid into pieces, and show them")
    parser.add_argument("--seed", type=whole_number, metavar="N", help="seed of --cut (default 0)")
    parser.add_argument("--pieces", type=positive_number, metavar="N", help="most pieces of --cut (default 50)")
    parser.add_argument(
        "-o", "--output", type=nonempty_path, metavar="FILE", help="write the filled grid and its pieces there"
    )
    parser.add_argument("--force", action="store_true", help="write over FILE if it exists")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    from lns_support.errors import InputError

    check_files(args.force, args.output)
    given = {"--seed": args.seed, "--pieces": args.pieces}
    searching = {
        "FILE": args.file,
        "--count": args.count or None,
        "--weight": args.weight,
        "--no-zones": args.no_zones or None,
        "--nodes": args.nodes,
        "--time": args.time,
        "--solver xcover": args.solver == "xcover" or None,
    }
    for name, value in (given if args.cut is None else searching).items():
        if value is not None:
            raise InputError(f"{name} {'is for' if args.cut is None else 'does nothing with'} --cut")
    try:
        return _search(args) if args.cut is None else _cut(args)
    except MemoryError:
        raise InputError("the grid needs more memory than there is; expected a smaller one", args.file) from None


def _cut(args: argparse.Namespace) -> int:
    from exact.polyominoes.cut import MAX_PIECES, cut_grid
    from exact.polyominoes.text import render
    from instances.formats import atomic_write
    from lns.terminal.output import DONE, print_json

    width, height = args.cut
    grid, planted = cut_grid(width, height, args.seed or 0, args.pieces or MAX_PIECES)
    text = render(grid)
    if args.output is not None:
        atomic_write(args.output, text)
    if args.json:
        output = None if args.output is None else str(args.output)
        print_json({"grid": text, "pieces": len(grid.pieces), "filling": planted, "output": output})
    elif args.output is None:
        print_text(text, end="")
    else:
        print_text(f"{args.output}: {width} x {height}, {len(grid.pieces)} pieces")
    return DONE


def _search(args: argparse.Namespace) -> int:
    from exact.outcome import SolveStatus
    from exact.polyominoes.grid import Grid
    from exact.polyominoes.search import fill, fill_by_library
    from exact.polyominoes.text import IQ_PUZZLER_PRO, load, parse, render
    from instances.formats import atomic_write
    from lns.terminal.output import ANSWER_IS_NO, DONE, INTERRUPTED
    from lns.terminal.progress import live_line
    from lns_support.errors import InputError

    grid = parse(IQ_PUZZLER_PRO) if args.file is None else load(args.file)
    if args.solver == "xcover":
        if args.nodes is not None or args.weight is not None or args.no_zones:
            raise InputError("xcover has no nodes, weights or zones; expected none of these options, or --solver own")
        result = fill_by_library(grid, count_all=args.count, seconds=args.time)
    else:
        with live_line(args.time, quiet=args.quiet) as line:
            result = fill(
                grid,
                args.weight,
                zones=not args.no_zones,
                count_all=args.count,
                nodes=args.nodes,
                seconds=args.time,
                report=None if args.quiet else lambda now: line.show(
                    f"{now.nodes / 1e6:,.1f} M placements, {count_of(now.solutions, 'filling')}", now.seconds
                ),
            )  # fmt: skip
    written = False
    try:
        if args.output is not None and result.filling is not None:
            atomic_write(args.output, render(Grid(result.filling, grid.pieces)))
            written = True
    finally:  # the result is printed even if the file cannot be written
        _print_result(args, result, written)
    if result.status is SolveStatus.INTERRUPTED:
        return INTERRUPTED
    return ANSWER_IS_NO if result.status is SolveStatus.INFEASIBLE else DONE


def _print_result(args: argparse.Namespace, result: FillResult, written: bool) -> None:
    from exact.outcome import NODES_UNKNOWN
    from exact.polyominoes.search import CONVENTION
    from lns.terminal.output import print_json

    if args.json:
        print_json(
            {
                "status": str(result.status),
                "solutions": result.solutions,
                "nodes": None if result.nodes == NODES_UNKNOWN else result.nodes,
                "seconds": round(result.seconds, 6),
                "convention": CONVENTION,
                "options": result.options,
                "pruned": result.pruned,
                "weight": result.weight,
                "filling": result.filling,
                "output": str(args.output) if written else None,
            }
        )
    else:
        _print_text(result, args.count)
        if args.output is not None:
            nothing = "nothing: there is no filling to write" if result.filling is None else "nothing"
            print_text(f"written     {args.output if written else nothing}")


def _print_text(result: FillResult, counted: bool) -> None:
    from exact.outcome import NODES_UNKNOWN
    from exact.polyominoes.search import CONVENTION
    from lns.cli.exact import solutions_in_words

    if result.filling is not None:
        print_text(*result.filling, "", sep="\n")
    print_text(f"status      {result.status}")
    print_text(f"fillings    {solutions_in_words(result.status, result.solutions, counted=counted)}")
    print_text(f"convention  {CONVENTION}")
    if result.nodes == NODES_UNKNOWN:
        print_text("nodes       - (xcover does not report them)")
    else:
        print_text(f"nodes       tested {result.nodes:,} placements; {result.pruned:,} of them left an unfillable zone")
    print_text(f"pieces      have {result.options:,} placements on the empty grid")
    print_text(f"time        {format_seconds(result.seconds)}")
