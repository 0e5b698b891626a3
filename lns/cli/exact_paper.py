"""`lns exact paper`: repeats the experiments of a paper and prints its tables beside the published figures."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lns.cli.exact_compare import announce
from lns.terminal.options import duration, positive_number, whole_number
from lns.terminal.output import DONE, INTERRUPTED, print_error, print_wrapped, terminal_width
from lns_support.text import count_of
from lns_support.text_table import table_width

if TYPE_CHECKING:
    from exact.compare import ComparisonRow
    from exact.paper.runs import Plan, PlannedRun

PAPERS = {
    "benoist2008": "Benoist & Bourreau 2008: ColorPairs, tables 1 to 3",
    "perrin_iq": "Perrin & Beaujard, IQ Puzzler Pro: weights of pieces, zones, boards",
    "bailleux2025": "Bailleux 2025: the four SAT encodings, tables 4 to 7",
    "jolivet2008": "Jolivet 2008: nodes, difficulty, tables 1 to 5, figures 3 and 6",
    "cuvillier2010": "Cuvillier & Szymkowiak 2010: tables 4.1 to 4.6",
    "outcome": "which method solves which puzzle, 5x5 to 10x10, 2 to 30 colours",
}


def paper_name(text: str) -> str:
    """A key of `PAPERS`. Raises ArgumentTypeError with the nearest name otherwise."""
    if text not in PAPERS:
        near = get_close_matches(text, PAPERS, n=1)
        hint = f"did you mean '{near[0]}'?" if near else "expected one of " + ", ".join(PAPERS)
        raise argparse.ArgumentTypeError(f"unknown paper '{text}': {hint}")
    return text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paper", metavar="PAPER", type=paper_name, help="a name of the list below")
    parser.add_argument(
        "--full", action="store_true", help="the scale of the paper: a night and more, cuvillier2010 months"
    )
    parser.add_argument(
        "--budget", type=duration, metavar="S", help="seconds for each run; with jolivet2008 million nodes of a tree"
    )
    parser.add_argument("--per-size", type=positive_number, metavar="N", help="instances for each size or class")
    parser.add_argument(
        "--sizes", type=positive_number, nargs="+", metavar="N", help="only these sides (perrin_iq: widths)"
    )
    parser.add_argument(
        "--colours",
        type=positive_number,
        nargs="+",
        metavar="K",
        help="only these numbers of colours (jolivet2008, cuvillier2010, outcome)",
    )
    parser.add_argument(
        "--all-colours", action="store_true", help="only puzzles that lack none of their colours (cuvillier2010)"
    )
    parser.add_argument("--solvers", nargs="+", metavar="NAME", help="only these methods")
    parser.add_argument(
        "--trees", type=positive_number, metavar="N", help="boards that a search of jolivet2008's tables 3 and 4 tries"
    )
    parser.add_argument("--seed", type=whole_number, default=1, metavar="N", help="seed of the instances (default 1)")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="CSV", help="a row for each run; runs that it has are not repeated"
    )
    parser.add_argument(
        "--show",
        action="store_true",
        help="run nothing: print the tables of the rows in CSV, and what is missing",
    )
    parser.epilog = "papers:\n" + "\n".join(f"  {name:<14} {line}" for name, line in PAPERS.items())


def run(args: argparse.Namespace) -> int:
    from lns_support.errors import InputError

    if args.output is not None and args.output.suffix.lower() == ".png":
        raise InputError(
            "the plot is written beside the rows, as .png; expected another extension, like .csv", args.output
        )
    if args.all_colours and args.paper != "cuvillier2010":
        raise InputError(f"{args.paper} has no such puzzles; expected no --all-colours")
    if args.show and (args.output is None or not args.output.exists()):
        raise InputError("--show prints the tables of finished runs; expected -o with a file of them", args.output)
    return _run(args)


def _run(args: argparse.Namespace) -> int:
    from exact.compare import read_rows
    from exact.paper import runs
    from lns.terminal.progress import live_line, log

    paper: Any = import_module(f"exact.paper.{args.paper}")
    plan = _plan(args, paper)
    rows: list[ComparisonRow] = []
    if args.show:
        planned = _planned(args, paper, plan)
        rows, left = runs.finished_rows(planned, args.output)
        missing = _missing([(run.instance, run.solver) for run in left])
        if others := len(read_rows(args.output)) - len(rows):
            missing += f"\n{count_of(others, 'row')} of {args.output} not shown: expected the options of their runs"
        _print_tables(paper.tables, rows, plan, "\n")
        print_wrapped(missing)
        return DONE
    status = DONE
    try:
        with live_line(None, quiet=False) as line:
            planned = _planned(args, paper, plan)
            names = [f"{one.instance} by {one.solver}" for one in planned]
            announce(line, names, 0)
            for row in runs.run_experiment(planned, args.output):
                rows.append(row)
                log.info("%s", runs.describe(row))
                announce(line, names, len(rows))
    except KeyboardInterrupt:
        status = INTERRUPTED
    plotted = _plot(paper, rows, args.output) if args.output is not None and rows else ""
    if rows:
        _print_tables(paper.tables, rows, plan, plotted)
    return status


def _plan(args: argparse.Namespace, paper: Any) -> Plan:
    """The plan of the options. Raises InputError for those that a paper does not have."""
    from lns_support.errors import InputError

    own_colours = {
        "perrin_iq": "has no colours",
        "bailleux2025": "uses as many colours as its boards have rows",
        "benoist2008": "takes the colours from the size",
    }
    if args.colours is not None and args.paper in own_colours:
        raise InputError(f"{args.paper} {own_colours[args.paper]}; expected no --colours")
    if args.trees is not None and args.paper != "jolivet2008":
        raise InputError(f"{args.paper} searches for no puzzles; expected no --trees")
    plan: Plan = paper.FULL if args.full else paper.PLAN
    if args.solvers is not None:
        args.solvers = _checked_solvers(args, plan, paper)
    if args.paper == "benoist2008" and (unknown := set(args.sizes or ()) - set(paper.COLOURS)):
        known = ", ".join(map(str, paper.COLOURS))
        raise InputError(f"'{min(unknown)}' is none of the sizes of benoist2008; expected some of {known}")
    changes: dict[str, Any] = {
        "per_size": args.per_size,
        "sizes": args.sizes and tuple(args.sizes),
        "colours": args.colours and tuple(args.colours),
        "all_colours": args.all_colours or None,
        "trees": args.trees,
        "solvers": args.solvers,
    }
    if args.budget is not None and args.paper == "jolivet2008":
        changes["nodes"] = int(args.budget * 1_000_000)  # about as many as a second takes
    elif args.budget is not None:
        changes["seconds"] = args.budget
    return replace(plan, seed=args.seed, **{name: value for name, value in changes.items() if value is not None})


def _planned(args: argparse.Namespace, paper: Any, plan: Plan) -> list[PlannedRun]:
    """All runs of a plan. Raises InputError if there are none."""
    from lns_support.errors import InputError

    if planned := list(paper.runs(plan)):
        return planned
    known = f"the sizes {', '.join(map(str, paper.FULL.sizes))}"
    if args.colours is not None:
        known += f" and the colours {', '.join(map(str, paper.FULL.colours))}"
    raise InputError(f"{args.paper} has no run with these options; expected some of {known}")


def _print_tables(tables: Callable[[Any, Any], str], rows: Sequence[Any], plan: Any, after: str = "") -> None:
    """Print the tables of an experiment, on a narrow terminal in blocks of columns, and a text ``after`` them."""
    with table_width(terminal_width()):
        print_wrapped(tables(rows, plan) + after)


def _missing(left: list[tuple[str, str]]) -> str:
    """The runs that a file of rows lacks, by class and method; the most frequent classes first."""
    if not left:
        return "no run is missing"
    classes = Counter(f"{re.sub(r'[- ]s[0-9]+$', '', instance)} by {method}" for instance, method in left)
    most = ", ".join(f"{count} of {name}" for name, count in classes.most_common(8))
    return f"{len(left):,} runs are missing ({most}{', ...' if len(classes) > 8 else ''}); without --show they are made"


def _checked_solvers(args: argparse.Namespace, plan: Plan, paper: Any) -> tuple[str, ...]:
    """The solvers of the command line; bailleux2025 compares any of them, the other papers only their own."""
    from exact.registry import SOLVERS
    from lns_support.errors import InputError

    is_benoist = args.paper == "benoist2008"
    possible = SOLVERS if args.paper == "bailleux2025" else paper.METHODS if is_benoist else plan.solvers
    for solver in args.solvers:
        if solver not in possible:
            what = "none of the solvers of benoist2008" if is_benoist else "no solver of this experiment"
            raise InputError(f"'{solver}' is {what}; expected some of {', '.join(possible)}")
    always = [paper.REFERENCE, paper.ROW_SCAN] if is_benoist else []
    return tuple(dict.fromkeys([*always, *args.solvers])) if is_benoist else tuple(args.solvers)


def _plot(paper: Any, rows: list[ComparisonRow], csv: Path) -> str:
    """Write the plots beside the CSV file. Returns lines that name the files; without matplotlib prints a warning."""
    from lns_support.errors import InputError
    from lns_support.files import atomic_write
    from lns_support.optional_deps import require

    if not hasattr(paper, "plot") and not hasattr(paper, "PICTURES"):
        return ""
    try:
        require("plot", "the plot")
    except InputError as error:
        print_error(f"lns: {error}")
        return ""
    if pictures := getattr(paper, "PICTURES", None):
        made = {csv.with_name(f"{csv.stem}-{name}.svg"): draw(rows) for name, draw in pictures.items()}
        for path, text in made.items():
            atomic_write(path, text)
        return "".join([f"\n\nrows   {csv}", *(f"\nplot   {path}" for path in made)])
    path = csv.with_suffix(".png")
    paper.plot(rows, path)
    return f"\n\nrows   {csv}\nplot   {path}"
