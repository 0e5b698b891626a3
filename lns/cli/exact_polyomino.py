"""`lns exact polyomino`: fill a grid with polyominoes, as in IQ Puzzler Pro, or cut a grid into polyominoes."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from lns.api.arguments import check_workers
from lns.cli.boards import colour_of
from lns.cli.exact import solutions_in_words
from lns.exact.driver import Progress
from lns.exact.polyominoes import draw
from lns.exact.polyominoes.grid import IQ_PUZZLER_PRO, RACE, Grid, check_weight, load, orientations, parse, render
from lns.instances.errors import InputError
from lns.instances.files import write_output
from lns.instances.text import count_of, format_seconds
from lns.terminal import options as opt
from lns.terminal import output as out
from lns.terminal.progress import live_line, screen_log

if TYPE_CHECKING:
    from lns.exact.polyominoes.search import FillResult

MOST_STEPS = 100_000  # most steps that --steps records, unless --nodes sets a limit
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


_SEARCH = (
    opt.flag("--count", "count all fillings, instead of finding the first"),
    opt.value("--weight", "NAME", None, "which pieces are tried first: descender (large ones), ascender, compactness, "
              "perimeter, holes, the last three also with -inverse; none: in the order in which they are drawn; race "
              "(default): all weights in turn"),
    opt.value("--workers", "N", opt.positive_number, "race the weights on N processes (default: in turn on one)"),
    opt.TIME.but("stop after S seconds, or 10m, 2h, 7d"),
    opt.value("--level", "NAME", None, "a shipped level of IQ Puzzler Pro instead of a FILE"),
    *opt.rare(
        opt.choice("--solver", ("own", "xcover"), "the search of this project (default), or the library xcover"),
        opt.NODES.but("stop after N placements tested"),
        opt.flag("--no-zones", "do not test whether the zones left free can be filled"),
        opt.flag("--no-dead-ends", "go on where a cell or a piece has no place left, as the search of the report does"),
        opt.value("--steps", "FILE", opt.nonempty_path, "write the tested placements one by one to FILE, as JSON: "
                  "level, piece, cells and outcome of each"),
    ),
)  # fmt: skip
_CUT = opt.grouped(
    "limits of --cut",
    opt.value("--pieces", "N", opt.positive_number, "most pieces (default 50)"),
    opt.value("--cells", "A-B", opt.span, "cells of a piece (default: as in the report, no limit)"),
    opt.value("--longest", "N", opt.positive_number, "no piece is longer than N (default any)"),
    opt.value("--thinnest", "N", opt.positive_number, "no piece is thinner than N (default 1)"),
    opt.flag("--distinct", "no two pieces are equal up to rotation and reflection"),
)


@opt.command(
    opt.value("file", "FILE", opt.nonempty_path, "a picture, see below (default: IQ Puzzler Pro)", nargs="?"),
    *_SEARCH,
    opt.flag("--levels", "no search: list the shipped levels"),
    opt.value("--make-level", "N", opt.positive_number, "no search: make a level of IQ Puzzler Pro with N pieces to "
              "place and exactly one filling"),
    opt.value("--cut", "WxH", opt.size, "no search: cut a grid into pieces, and show them"),
    opt.SEED.but("seed of --cut and --make-level (default 0)"),
    opt.OUTPUT.but("write the filled grid and its pieces there"),
    opt.value("--svg", "FILE", opt.nonempty_path, "draw the filled grid there, in colour"),
    opt.choice("--colour --color", ("auto", "always", "never"),
               "draw in colour (default auto: in a terminal that can)"),
    opt.FORCE, opt.JSON, opt.QUIET, *_CUT,
    epilog=_EPILOG,
)  # fmt: skip
def polyomino(args: argparse.Namespace) -> int:
    opt.check_files(args.force, args.output, args.steps, args.svg)
    asked, allowed, job = next(entry for entry in _JOBS if not entry[0] or _is_given(args, entry[0]))
    for name in dict.fromkeys(name for entry in _JOBS[::-1] for name in (*entry[1], entry[0]) if name):
        if name not in (asked, *allowed) and _is_given(args, name):
            jobs = " and ".join(entry[0] for entry in _JOBS if entry[0] and name in entry[1])
            named = {"--solver": "--solver xcover", "file": "FILE"}.get(name, name)
            raise InputError(f"{named} {f'does nothing with {asked}' if asked else f'is for {jobs}'}")
    return job(args)


def _is_given(args: argparse.Namespace, option: str) -> bool:
    """Return whether an option has another value than its default."""
    value = getattr(args, {"-o": "output"}.get(option, option.removeprefix("--").replace("-", "_")))
    return value not in (None, False, "own")


def _list_levels(args: argparse.Namespace) -> int:
    from lns.exact.polyominoes.levels import levels

    found = levels()
    lines = (f"{name:<12} {len(grid.loose)} pieces to place" for name, grid in found.items())
    out.print_answer(args, {"levels": {name: list(grid.rows) for name, grid in found.items()}}, lines)
    return out.DONE


def _make_level(args: argparse.Namespace) -> int:
    from lns.exact.polyominoes.levels import make_level

    return _write_grid(args, make_level(args.make_level, args.seed or 0))


def _cut(args: argparse.Namespace) -> int:
    from lns.exact.polyominoes.levels import MAX_PIECES, CutLimits, cut_grid

    limits = None
    if args.cells or args.longest or args.thinnest or args.distinct:
        smallest, largest = args.cells or (CutLimits.smallest, CutLimits.largest)
        limits = CutLimits(smallest, largest, args.longest, args.thinnest or CutLimits.thinnest, args.distinct)
    width, height = args.cut
    grid, planted = cut_grid(width, height, args.seed or 0, args.pieces or MAX_PIECES, limits)
    return _write_grid(args, grid, planted)


def _write_grid(args: argparse.Namespace, grid: Grid, planted: tuple[str, ...] | None = None) -> int:
    """Write or print a grid; ``planted`` is its filling if the grid was made by --cut."""
    text = render(grid)
    said = text.removesuffix("\n")
    if args.output is not None:
        write_output(args.output, text)
        kinds = count_of(len({orientations(shape)[0] for shape in grid.pieces.values()}), "kind")
        size = f"{len(grid.rows[0])} x {len(grid.rows)}"
        said = f"{args.output}: {size}, {count_of(len(grid.pieces), 'piece')} of {kinds}"
    if args.svg is not None:
        write_output(args.svg, draw.svg(grid, planted or grid.rows))
    output = None if args.output is None else str(args.output)
    out.print_answer(args, {"grid": text, "pieces": len(grid.pieces), "filling": planted, "output": output}, [said])
    return out.DONE


def _fill(args: argparse.Namespace) -> int:
    if args.file is not None and args.level is not None:
        raise InputError("a FILE and --level are given; expected one of them")
    if args.level is not None:
        from lns.exact.polyominoes.levels import find_level

        grid = find_level(args.level)
    else:
        grid = parse(IQ_PUZZLER_PRO) if args.file is None else load(args.file)
    if args.steps is not None:
        return _record(args, grid)
    result = _searched(args, grid)
    written = False
    try:
        if result.filling is not None:
            if args.svg is not None:
                write_output(args.svg, draw.svg(grid, result.filling))
            if args.output is not None:
                write_output(args.output, render(Grid(result.filling, grid.pieces)))
                written = True
    finally:  # the result is printed even if a file cannot be written
        _print_result(args, grid, result, written)
    return out.status_of(result.status)


def _searched(args: argparse.Namespace, grid: Grid) -> FillResult:
    """Search for fillings with the solver and weight that the options name."""
    from lns.exact.polyominoes import search

    if args.solver == "xcover":
        own = ("--nodes", "--weight", "--no-zones", "--no-dead-ends", "--workers")
        if any(_is_given(args, option) for option in own):
            raise InputError("xcover has no nodes, weights or zones; expected none of these options, or --solver own")
        with screen_log(quiet=args.quiet):  # the log tells if the library must be compiled first
            return search.fill_by_library(grid, count_all=args.count, seconds=args.time)
    if args.workers is not None and (args.count or args.weight not in (None, RACE) or args.no_dead_ends):
        raise InputError("--workers is for a race to the first filling; expected no --count, weight or --no-dead-ends")
    check_workers(args.workers)
    with live_line(args.time, quiet=args.quiet) as line:

        def show(now: Progress) -> None:
            line.show(f"{now.nodes / 1e6:,.1f} M placements, {count_of(now.solutions, 'filling')}", now.seconds)

        limits = {"nodes": args.nodes, "seconds": args.time, "on_progress": None if args.quiet else show}
        limits["zones"] = not args.no_zones
        if args.workers is not None:
            return search.race(grid, args.workers, **limits)
        return search.fill(grid, args.weight, dead_ends=not args.no_dead_ends, count_all=args.count, **limits)


def _record(args: argparse.Namespace, grid: Grid) -> int:
    """Search with one weight (order of the pieces), and write the steps of the search to the file of --steps."""
    from lns.exact.polyominoes.model import FillingSearch, StepOutcome, StepRecorder, build_model
    from lns.exact.polyominoes.search import COUNTING_WEIGHT

    if args.solver == "xcover" or args.weight == RACE or args.workers is not None or args.time is not None:
        raise InputError("--steps records one search; expected no race, --workers, --time or --solver xcover")
    if args.output is not None or args.svg is not None:
        raise InputError("--steps writes the steps, not the filling; expected no -o or --svg")
    weight = args.weight or COUNTING_WEIGHT
    check_weight(weight)
    model = build_model(grid, reduced=args.count)
    filling = FillingSearch(model, weight, zones=not args.no_zones, dead_ends=not args.no_dead_ends)
    recorder = StepRecorder(filling)
    recorder.record(args.nodes or MOST_STEPS, count_all=args.count)
    steps = [step._asdict() | {"outcome": step.outcome.name.lower()} for step in recorder.steps]
    counts = Counter(step["outcome"] for step in steps)
    statistics = out.picked(filling, "nodes branches deepest")
    statistics |= {name: counts[name] for name in (outcome.name.lower() for outcome in StepOutcome)}
    facts = {**statistics, "complete": filling.ended is not None}
    document = {"grid": render(grid), "weight": weight, **facts, "steps": steps}
    write_output(args.steps, json.dumps(document) + "\n")
    said = f"{args.steps}: {count_of(len(steps), 'step')}"
    lines = [f"{said}; {', '.join(f'{count:,} {name}' for name, count in statistics.items())}"]
    out.print_answer(args, facts | {"output": str(args.steps)}, lines)
    return out.DONE


def _print_result(args: argparse.Namespace, grid: Grid, result: FillResult, written: bool) -> None:
    from lns.exact.polyominoes.search import CONVENTION

    facts = out.picked(result, "status solutions nodes seconds options pruned weight branches deepest filling")
    if result.filling is not None and not args.json:
        sys.stdout.write(draw.terminal(grid, result.filling, colour_of(args.colour)) + "\n\n")
    facts |= {"convention": CONVENTION, "output": str(args.output) if written else None}
    out.print_answer(args, facts, _lines(args, result, CONVENTION))
    if args.output is not None and not args.json:
        nothing = "nothing: there is no filling to write" if result.filling is None else "nothing"
        out.print_text(f"written     {args.output if written else nothing}")


def _lines(args: argparse.Namespace, result: FillResult, convention: str) -> Iterator[str]:
    yield f"status      {result.status}"
    yield f"fillings    {solutions_in_words(result.status, result.solutions, counted=args.count)}"
    yield out.wrapped(f"convention  {convention}", sys.stdout, indent=12)
    if result.nodes is None:
        yield "nodes       - (xcover does not report them)"
    else:
        yield f"nodes       tested {result.nodes:,} placements; {result.pruned:,} of them left an unfillable zone"
        branches = count_of(result.branches, "branch", "branches")
        yield f"tree        {branches}, at most {count_of(result.deepest, 'piece')} placed"
    yield f"pieces      have {result.options:,} placements on the empty grid"
    yield f"time        {format_seconds(result.seconds)}"


# for each job: the option that asks for it ("": the default job), the options that it takes, and its function
_JOBS: Sequence[tuple[str, tuple[str, ...], Callable[[argparse.Namespace], int]]] = (
    ("--levels", (), _list_levels),
    ("--make-level", ("--seed", "-o", "--svg"), _make_level),
    ("--cut", ("--seed", "-o", "--svg", *(each.names[0] for each in _CUT)), _cut),
    ("", ("file", *(each.names[0] for each in _SEARCH), "-o", "--svg"), _fill),
)
