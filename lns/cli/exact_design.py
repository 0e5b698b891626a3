"""`lns exact design`: search for a hard puzzle, or for one with a single solution (Jolivet 2008, tables 3 and 4)."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from lns.terminal.options import check_files, positive_number, whole_number
from lns.terminal.output import print_text
from lns_support.text import count_of

if TYPE_CHECKING:
    from exact.paper.design import Design

TREES, NODES = 1000, 100_000_000  # boards to try, and nodes of a tree, where no option says how many

_EPILOG = """\
The search recolours a few joints of a board at random and keeps what is not worse. Trees are those of the zig-zag, as
in the paper: one corner fixed, identical pieces told apart, the empty board a node. Each better puzzle is printed, with
the colours of its joints as digits; --joints goes on from them, and with --trees 1 only looks at their puzzle.

  lns exact design hard --width 8 --colours 10 --trees 1000 -o hard.json
  lns exact design single --width 5 --colours 4 --trees 5000 -o single.json
  lns exact design single --width 3 --colours 2 --every          all colourings: is there any?

Exit status: 0 found, 1 the goal 'single' was not reached, 2 bad input, 130 interrupted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("goal", metavar="GOAL", help="hard (most nodes for each solution) or single (one solution)")
    parser.add_argument("--width", type=positive_number, required=True, metavar="W", help="number of columns")
    parser.add_argument("--height", type=positive_number, metavar="H", help="number of rows (default: --width)")
    parser.add_argument("--colours", type=positive_number, required=True, metavar="K", help="number of colours")
    parser.add_argument("--trees", type=positive_number, metavar="N", help=f"boards to try (default {TREES})")
    parser.add_argument(
        "--nodes", type=positive_number, metavar="N", help=f"drop larger trees (default {NODES // 10**6} million)"
    )
    parser.add_argument("--seed", type=whole_number, metavar="S", help="random seed (default 0)")
    parser.add_argument("--joints", metavar="TEXT", help="start from this board, as printed by an earlier search")
    parser.add_argument("--every", action="store_true", help="try all colourings of a small board (goal single)")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the best puzzle to FILE, as json")
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    from exact.paper.design import GOALS, improve, joints_of
    from lns.terminal.output import ANSWER_IS_NO, DONE, INTERRUPTED
    from lns_support.errors import InputError

    if args.goal not in GOALS:
        raise InputError(f"unknown goal '{args.goal}'; expected {' or '.join(GOALS)}")
    check_files(args.force, args.output)
    height = args.width if args.height is None else args.height
    if args.every:
        return _try_every(args, height)
    trees, nodes = args.trees or TREES, args.nodes or NODES
    best: Design | None = None
    status = DONE
    try:
        for best in improve(
            args.width,
            height,
            args.colours,
            args.goal,
            trees=trees,
            nodes=nodes,
            seed=args.seed or 0,
            start=None if args.joints is None else joints_of(args.joints),
        ):
            print_text(_line(best))
    except KeyboardInterrupt:
        status = INTERRUPTED
    if best is None:
        print_text(f"no tree of {count_of(trees, 'board')} ended within {count_of(nodes, 'node')}")
        return INTERRUPTED if status == INTERRUPTED else ANSWER_IS_NO
    _write(args, best)
    if status == DONE and args.goal == "single" and best.solutions > 1:
        return ANSWER_IS_NO
    return status


def _try_every(args: argparse.Namespace, height: int) -> int:
    from exact.paper.design import every_single, joint_count
    from lns.terminal.output import ANSWER_IS_NO, DONE
    from lns_support.errors import InputError

    total = args.colours ** joint_count(args.width, height)
    if args.goal != "single":
        raise InputError("--every proves what has a single solution; expected the goal single")
    if any(value is not None for value in (args.joints, args.trees, args.nodes, args.seed)):
        raise InputError("--every tries all colourings; expected no --joints, --trees, --nodes or --seed")
    if total > 1 << 24:
        raise InputError(f"{total:,} colourings of a board of {args.width} x {height}; expected at most {1 << 24:,}")
    number, first = every_single(args.width, height, args.colours)
    print_text(f"{number:,} of {total:,} colourings of {args.width} x {height} have a single solution up to rotation")
    if first is None:
        return ANSWER_IS_NO
    print_text(_line(first))
    _write(args, first)
    return DONE


def _line(design: Design) -> str:
    tree = f"{count_of(design.nodes, 'node')}, {count_of(design.solutions, 'solution')}"
    return f"{tree}, difficulty {design.difficulty:,.0f}: {design.text}"


def _write(args: argparse.Namespace, best: Design) -> None:
    from exact.paper.design import planted
    from instances.formats import render
    from lns_support.files import write_output

    if args.output is not None:
        puzzle = planted(best.width, best.height, best.joints).puzzle
        write_output(args.output, render("json", puzzle, None, path=args.output)[0])
        print_text(f"written     {args.output}")
