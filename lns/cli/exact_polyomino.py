"""`lns exact polyomino`: fill a grid with polyominoes, as in IQ Puzzler Pro, or cut a grid into polyominoes."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lns.terminal.options import check_files, duration, nonempty_path, positive_number, whole_number, worker_count
from lns.terminal.output import print_text, print_wrapped
from lns_support.text import count_of, format_seconds

if TYPE_CHECKING:
    from exact.driver import Progress
    from exact.polyominoes.grid import Grid
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
  lns exact polyomino --level hard-2                   one of the shipped levels; --levels lists them
  lns exact polyomino --make-level 7 --seed 5          a new level: 7 pieces to place, exactly one filling
  lns exact polyomino --cut 16x10 --seed 3 -o t.txt    cut a grid into random pieces
  lns exact polyomino --cut 12x12 --cells 3-5 --longest 3   the same within limits on size and shape
  lns exact polyomino t.txt --svg t.svg                the filling as a picture
  lns exact polyomino t.txt --weight ascender          small pieces first
  lns exact polyomino t.txt --workers 4                the eight weights on four processes, the first to end decides

Exit status: 0 done or a budget spent, 1 there is no filling, 2 bad input, 130 interrupted."""


def size(text: str) -> tuple[int, int]:
    """'16x10': width and height."""
    match = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is no size; expected width and height, like 16x10")
    return int(match[1]), int(match[2])


def cells(text: str) -> tuple[int, int]:
    """'3-5' or '5': the smallest and the largest number of cells of a piece."""
    match = re.fullmatch(r"([0-9]{1,4})(?:-([0-9]{1,4}))?", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is no range of numbers; expected one like 3-5, or one number")
    return int(match[1]), int(match[2] or match[1])


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
        "three also with -inverse; none: in the order in which they are drawn; race (default): all weights in turn",
    )
    parser.add_argument(
        "--workers", type=worker_count, metavar="N", help="race the weights on N processes (default: in turn on one)"
    )
    parser.add_argument("--no-zones", action="store_true", help="do not test whether the zones left free can be filled")
    parser.add_argument(
        "--no-dead-ends",
        action="store_true",
        help="go on where a cell or a piece has no place left, as the search of the report does",
    )
    parser.add_argument("--nodes", type=positive_number, metavar="N", help="stop after N placements tested")
    parser.add_argument("--time", type=duration, metavar="S", help="stop after S seconds, or 10m, 2h, 7d")
    parser.add_argument(
        "--steps",
        type=nonempty_path,
        metavar="FILE",
        help="write the tested placements one by one to FILE, as JSON: level, piece, cells and outcome of each",
    )
    parser.add_argument("--level", metavar="NAME", help="a shipped level of IQ Puzzler Pro instead of a FILE")
    parser.add_argument("--levels", action="store_true", help="no search: list the shipped levels")
    parser.add_argument(
        "--make-level",
        type=positive_number,
        metavar="N",
        help="no search: make a level of IQ Puzzler Pro with N pieces to place and exactly one filling",
    )
    parser.add_argument("--cut", type=size, metavar="WxH", help="no search: cut a grid into pieces, and show them")
    parser.add_argument("--seed", type=whole_number, metavar="N", help="seed of --cut and --make-level (default 0)")
    parser.add_argument("--pieces", type=positive_number, metavar="N", help="most pieces of --cut (default 50)")
    parser.add_argument(
        "--cells", type=cells, metavar="A-B", help="with --cut: cells of a piece (default: as in the report, no limit)"
    )
    parser.add_argument(
        "--longest", type=positive_number, metavar="N", help="with --cut: no piece is longer than N (default any)"
    )
    parser.add_argument(
        "--thinnest", type=positive_number, metavar="N", help="with --cut: no piece is thinner than N (default 1)"
    )
    parser.add_argument(
        "--distinct", action="store_true", help="with --cut: no two pieces are equal up to rotation and reflection"
    )
    parser.add_argument(
        "-o", "--output", type=nonempty_path, metavar="FILE", help="write the filled grid and its pieces there"
    )
    parser.add_argument("--svg", type=nonempty_path, metavar="FILE", help="draw the filled grid there, in colour")
    parser.add_argument(
        "--colour",
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="draw in colour (default auto: in a terminal that can)",
    )
    parser.add_argument("--force", action="store_true", help="write over FILE if it exists")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    from lns_support.errors import InputError

    check_files(args.force, args.output, args.steps, args.svg)
    job, allowed, work = next(entry for entry in _JOBS.values() if not entry[0] or _given(args, entry[0]))
    for name in _OPTIONS:
        if _given(args, name) and name not in (job, *allowed):
            jobs = [entry[0] for entry in _JOBS.values() if entry[0] and name in entry[1]]
            raise InputError(f"{name} {f'does nothing with {job}' if job else 'is for ' + ' and '.join(jobs)}")
    try:
        return work(args)
    except MemoryError:
        raise InputError("the grid needs more memory than there is; expected a smaller one", args.file) from None


def _given(args: argparse.Namespace, option: str) -> bool:
    if option == "--solver xcover":
        return bool(args.solver == "xcover")
    value = getattr(args, "output" if option == "-o" else option.lower().removeprefix("--").replace("-", "_"))
    return value is not None and value is not False


def _list_levels(args: argparse.Namespace) -> int:
    from exact.polyominoes.levels import levels
    from lns.terminal.output import DONE, print_json

    found = levels()
    if args.json:
        print_json({"levels": {name: list(grid.rows) for name, grid in found.items()}})
    else:
        print_text(*(f"{name:<12} {len(grid.loose)} pieces to place" for name, grid in found.items()), sep="\n")
    return DONE


def _make_level(args: argparse.Namespace) -> int:
    from exact.polyominoes.levels import make_level

    return _write_grid(args, make_level(args.make_level, args.seed or 0))


def _cut(args: argparse.Namespace) -> int:
    from exact.polyominoes.cut import MAX_PIECES, CutLimits, cut_grid

    limits = None
    if args.cells or args.longest or args.thinnest or args.distinct:
        smallest, largest = args.cells or (CutLimits.smallest, CutLimits.largest)
        limits = CutLimits(smallest, largest, args.longest, args.thinnest or CutLimits.thinnest, args.distinct)
    width, height = args.cut
    grid, planted = cut_grid(width, height, args.seed or 0, args.pieces or MAX_PIECES, limits)
    return _write_grid(args, grid, planted)


def _write_grid(args: argparse.Namespace, grid: Grid, planted: tuple[str, ...] | None = None) -> int:
    """Write or print a grid; ``planted``: the filling that it was cut from."""
    from exact.polyominoes.grid import orientations, render
    from lns.terminal.output import DONE, print_json
    from lns_support.files import write_output

    text = render(grid)
    if args.output is not None:
        write_output(args.output, text)
    _draw(args, grid, planted or grid.rows)
    if args.json:
        filling = {} if planted is None else {"filling": planted}
        output = None if args.output is None else str(args.output)
        print_json({"grid": text, "pieces": len(grid.pieces), **filling, "output": output})
    elif args.output is None:
        print_text(text, end="")
    else:
        kinds = count_of(len({orientations(shape)[0] for shape in grid.pieces.values()}), "kind")
        width, height = len(grid.rows[0]), len(grid.rows)
        print_text(f"{args.output}: {width} x {height}, {count_of(len(grid.pieces), 'piece')} of {kinds}")
    return DONE


def _search(args: argparse.Namespace) -> int:
    from exact.outcome import SolveStatus
    from exact.polyominoes.grid import IQ_PUZZLER_PRO, Grid, load, parse, render
    from exact.polyominoes.levels import find_level
    from exact.polyominoes.search import RACE, fill, fill_by_library, race
    from lns.terminal.output import ANSWER_IS_NO, DONE, INTERRUPTED
    from lns.terminal.progress import live_line, screen_log
    from lns_support.errors import InputError
    from lns_support.files import write_output

    if args.file is not None and args.level is not None:
        raise InputError("a FILE and --level are given; expected one of them")
    if args.level is not None:
        grid = find_level(args.level)
    else:
        grid = parse(IQ_PUZZLER_PRO) if args.file is None else load(args.file)
    if args.steps is not None:
        return _record(args, grid)
    if args.solver == "xcover":
        own = ("--nodes", "--weight", "--no-zones", "--no-dead-ends", "--workers")
        if any(_given(args, option) for option in own):
            raise InputError("xcover has no nodes, weights or zones; expected none of these options, or --solver own")
        with screen_log(quiet=args.quiet):  # it says if the library is compiled first
            result = fill_by_library(grid, count_all=args.count, seconds=args.time)
    else:
        if args.workers is not None and (args.count or args.weight not in (None, RACE) or args.no_dead_ends):
            raise InputError(
                "--workers is for a race to the first filling; expected no --count, weight or --no-dead-ends"
            )
        with live_line(args.time, quiet=args.quiet) as line:

            def show(now: Progress) -> None:
                found = count_of(now.solutions, "filling")
                line.show(f"{now.nodes / 1e6:,.1f} M placements, {found}", now.seconds)

            limits = {"nodes": args.nodes, "seconds": args.time, "on_progress": None if args.quiet else show}
            if args.workers is not None:
                result = race(grid, args.workers, zones=not args.no_zones, **limits)
            else:
                searched = {"zones": not args.no_zones, "dead_ends": not args.no_dead_ends, "count_all": args.count}
                result = fill(grid, args.weight, **searched, **limits)
    written = False
    try:
        if result.filling is not None:
            _draw(args, grid, result.filling)
        if args.output is not None and result.filling is not None:
            write_output(args.output, render(Grid(result.filling, grid.pieces)))
            written = True
    finally:  # the result is printed even if the file cannot be written
        _print_result(args, grid, result, written)
    if result.status is SolveStatus.INTERRUPTED:
        return INTERRUPTED
    return ANSWER_IS_NO if result.status is SolveStatus.INFEASIBLE else DONE


def _record(args: argparse.Namespace, grid: Grid) -> int:
    """Search with one weight and write its steps."""
    from exact.polyominoes.grid import render
    from exact.polyominoes.model import build_model
    from exact.polyominoes.search import COUNTING_WEIGHT, RACE, FillingSearch, check_weight
    from exact.polyominoes.steps import StepOutcome, StepRecorder
    from lns.terminal.output import DONE, print_json
    from lns_support.errors import InputError
    from lns_support.files import write_output

    if args.solver == "xcover" or args.weight == RACE or args.workers is not None or args.time is not None:
        raise InputError("--steps records one search; expected no race, --workers, --time or --solver xcover")
    if args.output is not None or args.svg is not None:
        raise InputError("--steps writes the steps, not the filling; expected no -o or --svg")
    weight = args.weight or COUNTING_WEIGHT
    check_weight(weight)
    model = build_model(grid, reduced=args.count)
    search = FillingSearch(model, weight, zones=not args.no_zones, dead_ends=not args.no_dead_ends)
    recorder = StepRecorder(search)
    recorder.record(args.nodes or MOST_STEPS, count_all=args.count)
    counts = {outcome.name.lower(): 0 for outcome in StepOutcome}
    for step in recorder.steps:
        counts[step.outcome.name.lower()] += 1
    statistics = {"nodes": search.nodes, "branches": search.branches, "deepest": search.deepest, **counts}
    steps = [
        {"level": step.level, "piece": step.piece, "cells": step.cells, "outcome": step.outcome.name.lower()}
        for step in recorder.steps
    ]
    document = {
        "grid": render(grid),
        "weight": weight,
        **statistics,
        "complete": search.ended is not None,
        "steps": steps,
    }
    write_output(args.steps, json.dumps(document) + "\n")
    if args.json:
        print_json({**statistics, "complete": search.ended is not None, "output": str(args.steps)})
    else:
        print_text(
            f"{args.steps}: {count_of(len(steps), 'step')}; " + ", ".join(f"{v:,} {k}" for k, v in statistics.items())
        )
    return DONE


def _draw(args: argparse.Namespace, grid: Grid, rows: Sequence[str]) -> None:
    """Write the picture that --svg asks for."""
    from exact.polyominoes import draw
    from lns_support.files import write_output

    if args.svg is not None:
        write_output(args.svg, draw.svg(grid, rows))


def _picture(args: argparse.Namespace, grid: Grid, rows: Sequence[str]) -> str:
    """The grid as --colour and the terminal have it."""
    from exact.polyominoes import draw
    from instances.draw import terminal

    choices = {"auto": terminal.capability(sys.stdout), "always": terminal.richest(), "never": "none"}
    return draw.terminal(grid, rows, choices[args.colour])


def _print_result(args: argparse.Namespace, grid: Grid, result: FillResult, written: bool) -> None:
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
                "branches": result.branches,
                "deepest": result.deepest,
                "filling": result.filling,
                "output": str(args.output) if written else None,
            }
        )
    else:
        _print_text(args, grid, result)
        if args.output is not None:
            nothing = "nothing: there is no filling to write" if result.filling is None else "nothing"
            print_text(f"written     {args.output if written else nothing}")


def _print_text(args: argparse.Namespace, grid: Grid, result: FillResult) -> None:
    from exact.outcome import NODES_UNKNOWN
    from exact.polyominoes.search import CONVENTION
    from lns.cli.exact import solutions_in_words

    if result.filling is not None:
        sys.stdout.write(_picture(args, grid, result.filling) + "\n\n")
    print_text(f"status      {result.status}")
    print_text(f"fillings    {solutions_in_words(result.status, result.solutions, counted=args.count)}")
    print_wrapped(f"convention  {CONVENTION}", indent=12)
    if result.nodes == NODES_UNKNOWN:
        print_text("nodes       - (xcover does not report them)")
    else:
        print_text(f"nodes       tested {result.nodes:,} placements; {result.pruned:,} of them left an unfillable zone")
        branches = count_of(result.branches, "branch", "branches")
        print_text(f"tree        {branches}, at most {count_of(result.deepest, 'piece')} placed")
    print_text(f"pieces      have {result.options:,} placements on the empty grid")
    print_text(f"time        {format_seconds(result.seconds)}")


MOST_STEPS = 100_000
"""Steps that are recorded where --nodes does not say how many."""

_SEARCH = ("FILE", "--level", "--count", "--weight", "--no-zones", "--no-dead-ends", "--nodes", "--time", "--workers")
_LIMITS = ("--pieces", "--cells", "--longest", "--thinnest", "--distinct")
_JOBS: dict[str, tuple[str, tuple[str, ...], Callable[[argparse.Namespace], int]]] = {
    "list": ("--levels", (), _list_levels),
    "level": ("--make-level", ("--seed", "-o", "--svg"), _make_level),
    "cut": ("--cut", ("--seed", "-o", "--svg", *_LIMITS), _cut),
    "search": ("", (*_SEARCH, "--steps", "-o", "--svg", "--solver xcover"), _search),
}
"""Job -> the option that asks for it, the options that it takes, and its function."""
_OPTIONS = (
    *_SEARCH, "--steps", "-o", "--svg", "--solver xcover", "--cut", "--levels", "--make-level", "--seed", *_LIMITS,
)  # fmt: skip
