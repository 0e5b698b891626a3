"""`lns exact paper --seed-002|--seed-003|--seed-004`: the experiments of three papers."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exact.compare import Row


def run(which: str, args: argparse.Namespace) -> int:
    from exact.paper import runs, seed002, seed003, seed004
    from instances.errors import InputError
    from lns.cli.main import DONE, INTERRUPTED

    seed: Any = {"seed_002": seed002, "seed_003": seed003, "seed_004": seed004}[which]
    plan = replace(seed.FULL if args.full else seed.Plan(), seed=args.seed)
    if args.per_size is not None:
        plan = replace(plan, per_size=args.per_size)
    if args.sizes is not None:
        plan = replace(plan, sizes=tuple(args.sizes))
    if args.colours is not None:
        if which == "seed_002":
            raise InputError("seed 002 has as many colours as its boards have rows; expected no --colours")
        plan = replace(plan, colours=tuple(args.colours))
    if args.solvers is not None:
        plan = replace(plan, solvers=_known(args.solvers, seed, plan))
    if args.budget is not None:
        nodes = {"nodes": int(args.budget * 1_000_000)}  # about a second's
        plan = replace(plan, **(nodes if which == "seed_003" else {"seconds": args.budget}))
    rows: list[Row] = []
    status = DONE
    try:
        for row in runs.made(seed.runs(plan), args.output):
            rows.append(row)
            spent = f", {row.seconds:.2f} s" if row.seconds >= 0 else f", {row.nodes:,} nodes"
            print(f"lns: {row.instance} {row.solver}: {row.status}{spent}", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        status = INTERRUPTED
    if rows:
        print(seed.tables(rows, plan))
    if args.output is not None and rows:
        _plot(seed, rows, args)
    return status


def _known(solvers: list[str], seed: Any, plan: Any) -> tuple[str, ...]:
    """Seed 002 compares any solvers; the tables of the others are about their own."""
    from exact.paper import seed002
    from exact.solvers import SOLVERS
    from instances.errors import InputError

    possible = SOLVERS if seed is seed002 else plan.solvers
    for solver in solvers:
        if solver not in possible:
            raise InputError(f"'{solver}' is no solver of this experiment; expected some of {', '.join(possible)}")
    return tuple(solvers)


def _plot(seed: Any, rows: list[Row], args: argparse.Namespace) -> None:
    """The picture goes beside the CSV; without matplotlib a sentence says what is missing."""
    from exact.extras import need
    from instances.errors import InputError

    path = args.output.with_suffix(".png")
    try:
        need("plot", "the plot")
    except InputError as error:
        print(f"lns: {error}", file=sys.stderr)
        return
    seed.plot(rows, path)
    print(f"\nrows   {args.output}\nplot   {path}")
