"""`lns exact paper`: the experiments of the five documents."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lns.terminal.output import print_error

if TYPE_CHECKING:
    from exact.compare import ComparisonRow


def run(args: argparse.Namespace) -> int:
    from lns_support.errors import InputError

    if args.output is not None and args.output.suffix.lower() == ".png":
        raise InputError("the plot goes beside the rows, as .png; expected another name, like .csv", args.output)
    return _run_benoist2008(args) if args.paper == "benoist2008" else _run(args.paper, args)


def _run_benoist2008(args: argparse.Namespace) -> int:
    from exact.paper.benoist2008 import COLOURS, FULL, METHODS, REFERENCE, ROW_SCAN, SMALL, run_experiment
    from exact.paper.benoist2008_tables import tables
    from lns.terminal.output import DONE, INTERRUPTED
    from lns_support.errors import InputError

    if args.colours is not None:
        raise InputError("benoist2008 takes the colours from the size; expected no --colours")
    for name, asked, known in (("sizes", args.sizes, COLOURS), ("solvers", args.solvers, METHODS)):
        for value in asked or ():
            if value not in known:
                raise InputError(
                    f"'{value}' is none of the {name} of benoist2008; expected some of {', '.join(map(str, known))}"
                )
    given = {"sizes": args.sizes and tuple(args.sizes), "per_size": args.per_size, "budget": args.budget}
    if args.solvers is not None:
        given["methods"] = tuple(dict.fromkeys([REFERENCE, ROW_SCAN, *args.solvers]))
    given = {name: value for name, value in given.items() if value is not None}
    plan = replace(FULL if args.full else SMALL, seed=args.seed, **given)
    done = []
    status = DONE
    try:
        for made in run_experiment(plan, args.output):
            done.append(made)
            print_error(f"lns: {made.told()}")
    except KeyboardInterrupt:
        status = INTERRUPTED
    print(tables(done, plan))
    return status


def _run(which: str, args: argparse.Namespace) -> int:
    from exact.paper import bailleux2025, cuvillier2010, jolivet2008, perrin_iq, runs
    from lns.terminal.output import DONE, INTERRUPTED
    from lns_support.errors import InputError

    modules: dict[str, Any] = {
        "perrin_iq": perrin_iq, "bailleux2025": bailleux2025, "jolivet2008": jolivet2008, "cuvillier2010": cuvillier2010
    }  # fmt: skip
    seed = modules[which]
    plan = replace(seed.FULL if args.full else seed.Plan(), seed=args.seed)
    if args.per_size is not None:
        plan = replace(plan, per_size=args.per_size)
    if args.sizes is not None:
        plan = replace(plan, sizes=tuple(args.sizes))
    if args.colours is not None:
        if which in ("perrin_iq", "bailleux2025"):
            why = "trays have no colours" if which == "perrin_iq" else "as many colours as its boards have rows"
            raise InputError(f"{which}: {why}; expected no --colours")
        plan = replace(plan, colours=tuple(args.colours))
    if args.solvers is not None:
        plan = replace(plan, solvers=_known(args.solvers, seed, plan))
    if args.budget is not None:
        nodes = {"nodes": int(args.budget * 1_000_000)}  # about a second's
        plan = replace(plan, **(nodes if which == "jolivet2008" else {"seconds": args.budget}))
    rows: list[ComparisonRow] = []
    status = DONE
    try:
        for row in runs.run_experiment(seed.runs(plan), args.output):
            rows.append(row)
            spent = f", {row.seconds:.2f} s" if row.seconds >= 0 else f", {row.nodes:,} nodes"
            print_error(f"lns: {row.instance} {row.solver}: {row.status}{spent}")
    except KeyboardInterrupt:
        status = INTERRUPTED
    plotted = _plot(seed, rows, args) if args.output is not None and rows else ""
    if rows:
        print(seed.tables(rows, plan) + plotted)
    return status


def _known(solvers: list[str], seed: Any, plan: Any) -> tuple[str, ...]:
    """Seed 002 compares any solvers; the tables of the others are about their own."""
    from exact.paper import bailleux2025
    from exact.registry import SOLVERS
    from lns_support.errors import InputError

    possible = SOLVERS if seed is bailleux2025 else plan.solvers
    for solver in solvers:
        if solver not in possible:
            raise InputError(f"'{solver}' is no solver of this experiment; expected some of {', '.join(possible)}")
    return tuple(solvers)


def _plot(seed: Any, rows: list[ComparisonRow], args: argparse.Namespace) -> str:
    """The picture goes beside the CSV, which is said; without matplotlib a sentence says what is missing."""
    from lns_support.errors import InputError
    from lns_support.optional_deps import require

    path = args.output.with_suffix(".png")
    try:
        require("plot", "the plot")
    except InputError as error:
        print_error(f"lns: {error}")
        return ""
    seed.plot(rows, path)
    return f"\n\nrows   {args.output}\nplot   {path}"
