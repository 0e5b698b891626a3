"""`lns exact paper` and `lns exact compare`: tables of solvers on the instances of a paper, or on given ones."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lns.exact.optional_deps import require
from lns.exact.registry import SOLVERS, all_solvers
from lns.exact.text_table import table_width
from lns.instances.errors import InputError
from lns.instances.files import atomic_write
from lns.instances.text import count_of, unknown
from lns.terminal import options as opt
from lns.terminal import output as out
from lns.terminal.inputs import read_puzzles
from lns.terminal.progress import live_line, log

if TYPE_CHECKING:
    from lns.exact.compare import ComparisonRow, PlannedRun
    from lns.exact.paper.runs import Plan
    from lns.terminal.progress import LiveLine

PAPERS = {
    "benoist2008": "Benoist & Bourreau 2008: ColorPairs, tables 1 to 3",
    "perrin_iq": "Perrin & Beaujard, IQ Puzzler Pro: weights of pieces, zones, boards",
    "bailleux2025": "Bailleux 2025: the four SAT encodings, tables 4 to 7",
    "jolivet2008": "Jolivet 2008: nodes, difficulty, tables 1 to 5, figures 3 and 6",
    "cuvillier2010": "Cuvillier & Szymkowiak 2010: tables 4.1 to 4.6",
    "outcome": "which method solves which puzzle, 5x5 to 10x10, 2 to 30 colours",
    "all": "with --show and a folder as CSV: how far the tables of these papers are measured there",
}


@opt.command(
    opt.value("instances", "INSTANCE", None, "puzzle files, or names of shipped instances", nargs="+"),
    *opt.PUZZLE_OPTIONS,
    opt.value("--solvers", "NAME", None, "solvers, as `lns exact solvers` lists them, or all (default colorpairs "
              "rowscan)", nargs="+", default=["colorpairs", "rowscan"]),
    opt.flag("--count", "count all solutions (default: the first one)"),
    opt.TIME.but("time limit of each search in seconds, without compilation (default 60)", default=60.0),
    opt.MEMORY.but("memory limit of each run"), opt.FIX_CORNER, opt.SAT_SOLVER,
    opt.SEED.but("random seed of the local searches (default 0)", default=0),
    opt.OUTPUT.but("append a row for each run; runs that the file has already are not repeated", metavar="CSV"),
    opt.JSON,
)  # fmt: skip
def compare(args: argparse.Namespace) -> int:
    from lns.api.exact import compare

    solvers = list(all_solvers()) if args.solvers == ["all"] else args.solvers
    puzzles = dict(zip(args.instances, read_puzzles(args, args.instances), strict=True))
    asked = out.picked(args, "count time memory fix_corner sat_solver seed output")
    with live_line(None, quiet=False) as line:
        tell = _progress(line, [f"{name} by {solver}" for name in puzzles for solver in solvers])
        found = compare(puzzles, solvers, on_row=tell, **asked)
    with table_width(out.terminal_width()):
        out.print_answer(args, {"rows": found.records()}, [found.summary()])
    return out.INTERRUPTED if found.interrupted else out.DONE


def _progress(line: LiveLine, planned: Sequence[str]) -> Callable[[ComparisonRow], None]:
    """Show the name of the first planned run; return a function that logs a finished run and shows the next name."""
    from lns.exact.compare import describe

    names = enumerate(planned, 1)

    def tell(row: ComparisonRow | None = None) -> None:
        if row is not None:
            log.info("%s", describe(row))
        for number, name in islice(names, 1):
            line.begin(f"run {number} of {len(planned)}: {name}")

    tell()
    return tell


@opt.command(
    opt.value("paper", "PAPER", None, "a name of the list below"),
    opt.flag("--full", "the scale of the paper: a night and more, cuvillier2010 months"),
    opt.value("--budget", "S", opt.duration, "seconds for each run; with jolivet2008 million nodes of a tree"),
    opt.value("--per-size", "N", opt.positive_number, "instances for each size or class"),
    opt.value("--sizes", "N", opt.positive_number, "only these sides (perrin_iq: widths)", nargs="+"),
    opt.value("--colours", "K", opt.positive_number, "only these numbers of colours (jolivet2008, cuvillier2010, "
              "outcome)", nargs="+"),
    opt.flag("--all-colours", "only puzzles that lack none of their colours (cuvillier2010)"),
    opt.value("--solvers", "NAME", None, "only these methods", nargs="+"),
    opt.value("--trees", "N", opt.positive_number, "boards that a search of jolivet2008's tables 3 and 4 tries"),
    opt.SEED.but("seed of the instances (default 1)", default=1),
    opt.OUTPUT.but("a row for each run; runs that it has are not repeated", metavar="CSV"),
    opt.flag("--show", "run nothing: print the tables of the rows in CSV, and what is missing"),
    epilog="papers:\n" + "\n".join(f"  {name:<14} {line}" for name, line in PAPERS.items()),
)  # fmt: skip
def paper(args: argparse.Namespace) -> int:
    from lns.exact import compare as comparison
    from lns.exact.paper.runs import class_of

    if args.paper not in PAPERS:
        raise InputError(unknown("paper", args.paper, PAPERS))
    if args.show and (args.output is None or not args.output.exists()):
        raise InputError("--show prints the tables of finished runs; expected -o with a file of them", args.output)
    if args.paper == "all":
        return _print_standing(args)
    paper: Any = import_module(f"lns.exact.paper.{args.paper}")
    plan = _plan(args, paper)
    planned: list[PlannedRun] = list(paper.runs(plan))
    if not planned:
        known = f"the sizes {', '.join(map(str, paper.FULL.sizes))}"
        if args.colours is not None:
            known += f" and the colours {', '.join(map(str, paper.FULL.colours))}"
        raise InputError(f"{args.paper} has no run with these options; expected some of {known}")

    if args.show:
        left: list[PlannedRun] = []
        rows = list(comparison.run_experiment(paper.runs(plan), args.output, missing=left))
        classes = Counter(f"{class_of(run.instance)} by {run.solver}" for run in left)
        most = ", ".join(f"{count} of {name}" for name, count in classes.most_common(8)) + ", ..." * (len(classes) > 8)
        missing = f"{len(left):,} runs are missing ({most}); without --show they are made"
        after, status = f"\n\n{missing if left else 'no run is missing'}", out.DONE
        if others := len(comparison.read_rows(args.output)) - len(rows):
            after += f"\n{count_of(others, 'row')} of {args.output} not shown: expected the options of their runs"
    else:
        rows, status = [], out.DONE
        try:
            with live_line(None, quiet=False) as line:
                tell = _progress(line, [f"{run.instance} by {run.solver}" for run in planned])
                for row in comparison.run_experiment(paper.runs(plan), args.output):
                    rows.append(row)
                    tell(row)
        except KeyboardInterrupt:
            status = out.INTERRUPTED
        after = _draw(paper, rows, args.output) if args.output is not None and rows else ""
    if rows or args.show:
        with table_width(out.terminal_width()):  # a table wider than the terminal is split into blocks of columns
            out.print_wrapped(paper.tables(rows, plan) + after)
    return status


def _print_standing(args: argparse.Namespace) -> int:
    from lns.exact.compare import read_rows
    from lns.exact.paper.standing import standing

    others = out.picked(args, "full budget per_size sizes colours all_colours solvers trees")
    if not args.show or not args.output.is_dir() or any(others.values()):
        raise InputError("all papers are shown whole; expected --show and -o with the folder of their rows, no more")
    with table_width(out.terminal_width()):
        out.print_text(standing({name: read_rows(args.output / f"{name}.csv").values() for name in PAPERS}))
    return out.DONE


def _plan(args: argparse.Namespace, paper: Any) -> Plan:
    """Return the plan of runs that the options name. Raises InputError for options that do not apply to the paper."""
    lacking = {
        "all_colours": dict.fromkeys(PAPERS.keys() - {"cuvillier2010"}, "has no such puzzles"),
        "colours": {
            "perrin_iq": "has no colours",
            "bailleux2025": "uses as many colours as its boards have rows",
            "benoist2008": "takes the colours from the size",
        },
        "trees": dict.fromkeys(PAPERS.keys() - {"jolivet2008"}, "searches for no puzzles"),
    }
    for name, reasons in lacking.items():
        if getattr(args, name) and args.paper in reasons:
            raise InputError(f"{args.paper} {reasons[args.paper]}; expected no --{name.replace('_', '-')}")
    plan: Plan = paper.FULL if args.full else paper.PLAN
    changes = out.picked(args, "per_size sizes colours all_colours trees solvers seed")
    if args.solvers is not None:
        changes["solvers"] = _checked_solvers(args, plan, paper)
    if args.paper == "benoist2008" and (unknown := set(args.sizes or ()) - set(paper.COLOURS)):
        known = ", ".join(map(str, paper.COLOURS))
        raise InputError(f"'{min(unknown)}' is none of the sizes of benoist2008; expected some of {known}")
    if args.budget is not None and args.paper == "jolivet2008":
        changes["nodes"] = int(args.budget * 1_000_000)  # --budget is in millions of nodes, of about a second each
    else:
        changes["seconds"] = args.budget
    given: dict[str, Any] = {}
    for name, value in changes.items():
        if value is not None and value is not False:
            given[name] = tuple(value) if isinstance(value, list) else value
    return replace(plan, **given)


def _checked_solvers(args: argparse.Namespace, plan: Plan, paper: Any) -> tuple[str, ...]:
    """Return the solvers of --solvers, for benoist2008 with two more; InputError for a solver not of the paper."""
    is_benoist = args.paper == "benoist2008"
    possible = SOLVERS if args.paper == "bailleux2025" else paper.METHODS if is_benoist else plan.solvers
    for solver in args.solvers:
        if solver not in possible:
            known = ", ".join(possible)
            raise InputError(f"'{solver}' is none of the solvers of {args.paper}; expected some of {known}")
    always = [paper.REFERENCE, paper.ROW_SCAN] if is_benoist else []
    return tuple(dict.fromkeys([*always, *args.solvers]))


def _draw(paper: Any, rows: list[ComparisonRow], csv: Path) -> str:
    """Write pictures beside the CSV file and return lines that name the files; without matplotlib print a warning."""
    pictures = {csv.with_name(f"{csv.stem}-{name}.svg"): draw for name, draw in getattr(paper, "PICTURES", {}).items()}
    try:
        if pictures:
            require("plot", "the pictures")
    except InputError as error:
        out.print_error(f"lns: {error}")
        return ""
    for path, draw in pictures.items():
        atomic_write(path, draw(rows))
    return "".join([f"\n\nrows   {csv}", *(f"\nplot   {path}" for path in pictures)]) if pictures else ""
