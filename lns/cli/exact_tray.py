"""`lns exact tray`: a tray filled with polyominoes, as in IQ Puzzler Pro (seed 001); or cut into them."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from lns.terminal.options import check_files, duration, nonempty_path, positive_number, whole_number

if TYPE_CHECKING:
    from exact.polyominoes.search import Filled

_EPILOG = """\
A FILE is a picture of the tray, then one of each piece, with blank lines between:

  ....#        '.' is a free cell, '#' no part of the tray, any other sign a piece that lies there
  ..AAA

  AAA          a piece is drawn with its own sign; it may be turned and mirrored

  BB
  BB

  CC

Without pieces a tray has those of IQ Puzzler Pro; without a FILE it is that game's, 5 x 11 cells.

examples:
  lns exact tray                                  a filling of IQ Puzzler Pro
  lns exact tray --count                          all 4,331,140, in some minutes
  lns exact tray --cut 16x10 --seed 3 -o t.txt    a tray cut into pieces at random
  lns exact tray t.txt --weight ascender          small pieces first

Exit status: 0 done or a budget spent, 1 there is no filling, 2 bad input, 130 interrupted."""


def size(text: str) -> tuple[int, int]:
    """'16x10': width and height."""
    match = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is no size; expected width and height, like 16x10")
    return int(match[1]), int(match[2])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="?", type=nonempty_path, metavar="FILE", help="a picture, see below (default: the game)"
    )
    parser.add_argument("--count", action="store_true", help="count all fillings, instead of finding the first")
    parser.add_argument(
        "--solver", choices=("own", "xcover"), default="own", help="our search (default), or the library"
    )
    parser.add_argument(
        "--weight",
        metavar="NAME",
        help="which pieces are tried first: descender (large ones), ascender, compactness, perimeter, holes, the last "
        "three also with -inverse; race (default): all of them in turn",
    )
    parser.add_argument("--no-zones", action="store_true", help="do not test whether zones left free can be filled")
    parser.add_argument("--nodes", type=positive_number, metavar="N", help="stop after N placements tested")
    parser.add_argument("--time", type=duration, metavar="S", help="stop after S seconds, or 10m, 2h, 7d")
    parser.add_argument("--cut", type=size, metavar="WxH", help="no search: cut a tray into pieces, and show them")
    parser.add_argument("--seed", type=whole_number, metavar="N", help="of --cut (default 0)")
    parser.add_argument("--pieces", type=positive_number, metavar="N", help="of --cut: at most so many (default 50)")
    parser.add_argument(
        "-o", "--output", type=nonempty_path, metavar="FILE", help="write the picture there, with its pieces"
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
        raise InputError("this tray takes more memory than there is; expected a smaller one", args.file) from None


def _cut(args: argparse.Namespace) -> int:
    from exact.polyominoes.cut import MOST_PIECES, cut
    from exact.polyominoes.text import render
    from instances.formats import atomic_write
    from lns.terminal.output import DONE, print_json

    width, height = args.cut
    tray, planted = cut(width, height, args.seed or 0, args.pieces or MOST_PIECES)
    text = render(tray)
    if args.output is not None:
        atomic_write(args.output, text)
    if args.json:
        output = None if args.output is None else str(args.output)
        print_json({"tray": text, "pieces": len(tray.pieces), "filling": planted, "output": output})
    elif args.output is None:
        print(text, end="")
    else:
        print(f"{args.output}: {width} x {height}, {len(tray.pieces)} pieces")
    return DONE


def _search(args: argparse.Namespace) -> int:
    from exact.outcome import SolveStatus
    from exact.polyominoes.search import fill, fill_by_library
    from exact.polyominoes.text import IQ_PUZZLER_PRO, load, parse, render
    from exact.polyominoes.tray import Tray
    from instances.formats import atomic_write
    from lns.terminal.output import ANSWER_IS_NO, DONE, INTERRUPTED
    from lns.terminal.progress import live_line
    from lns_support.errors import InputError

    tray = parse(IQ_PUZZLER_PRO) if args.file is None else load(args.file)
    if args.solver == "xcover":
        if args.nodes is not None or args.weight is not None or args.no_zones:
            raise InputError("xcover has no nodes, weights or zones; expected none of their options, or --solver own")
        found = fill_by_library(tray, count_all=args.count, seconds=args.time)
    else:
        with live_line(args.time, quiet=args.quiet) as line:
            found = fill(
                tray,
                args.weight,
                zones=not args.no_zones,
                count_all=args.count,
                nodes=args.nodes,
                seconds=args.time,
                report=None if args.quiet else lambda now: line.show(
                    f"{now.nodes / 1e6:,.1f}M nodes, {now.solutions:,} fillings", now.seconds
                ),
            )  # fmt: skip
    written = False
    try:
        if args.output is not None and found.filling is not None:
            atomic_write(args.output, render(Tray(found.filling, tray.pieces)))
            written = True
    finally:  # a file that cannot be written is no reason to keep silent
        _tell(args, found, written)
    if found.status is SolveStatus.INTERRUPTED:
        return INTERRUPTED
    return ANSWER_IS_NO if found.status is SolveStatus.INFEASIBLE else DONE


def _tell(args: argparse.Namespace, found: Filled, written: bool) -> None:
    from exact.outcome import NODES_UNKNOWN
    from exact.polyominoes.search import CONVENTION
    from lns.terminal.output import print_json

    if args.json:
        print_json(
            {
                "status": str(found.status),
                "solutions": found.solutions,
                "nodes": None if found.nodes == NODES_UNKNOWN else found.nodes,
                "seconds": round(found.seconds, 6),
                "convention": CONVENTION,
                "options": found.options,
                "pruned": found.pruned,
                "weight": found.weight,
                "filling": found.filling,
                "output": str(args.output) if written else None,
            }
        )
    else:
        _print(found, args.count)
        if args.output is not None:
            nothing = "nothing: there is no filling to write" if found.filling is None else "nothing"
            print(f"written     {args.output if written else nothing}")


def _print(found: Filled, counted: bool) -> None:
    from exact.outcome import NODES_UNKNOWN, SolveStatus
    from exact.polyominoes.search import CONVENTION

    if found.filling is not None:
        print(*found.filling, "", sep="\n")
    whole_tree = found.status is SolveStatus.INFEASIBLE or (counted and found.status is SolveStatus.SOLVED)
    print(f"status      {found.status}")
    print(f"fillings    {'' if whole_tree else 'at least '}{found.solutions:,}")
    print(f"convention  {CONVENTION}")
    if found.nodes == NODES_UNKNOWN:
        print("nodes       - (xcover does not tell them)")
    else:
        print(
            f"nodes       {found.nodes:,} placements tested, of {found.options:,} that there are; "
            f"{found.pruned:,} given up for a zone that cannot be filled"
        )
    print(f"time        {found.seconds:.3f} s")
