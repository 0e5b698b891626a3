"""`lns exact trace`: record a search step by step, as a page that plays it or as JSON."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lns.cli.exact import read_puzzle_and_start
from lns.instances.errors import InputError
from lns.instances.files import write_output
from lns.instances.text import count_of
from lns.terminal import options as opt
from lns.terminal.inputs import check_start_options, print_notes
from lns.terminal.output import print_answer, status_of

if TYPE_CHECKING:
    from lns.exact.sat.steps import Painting
    from lns.exact.trace import Step
    from lns.instances.puzzle import Puzzle

_OUTCOMES = ("stays", "no place left for a cell or a piece", "a zone cannot be filled", "a filling")


@opt.command(
    opt.INSTANCE.but("a puzzle file, a viewer URL, or a shipped instance; for polyomino a grid or a level, as for "
                     "`lns exact polyomino`"),
    *opt.START_OPTIONS, *opt.PUZZLE_OPTIONS,
    opt.value("--solver", "NAME", None, "colorpairs (default), rowscan, dlx, or a SAT solver that paints triangles: "
              "sat:triangles, or sat:triangles-restricted, which decides on pieces only; polyomino: a grid of "
              "polyominoes is filled", default="colorpairs"),
    opt.value("--steps", "N", opt.positive_number, "most steps (default 5000)", default=5000),
    opt.OUTPUT.but("write a page that plays the steps in any browser"), opt.FORCE,
    opt.JSON.but("print the steps as one JSON object to stdout"),
    epilog="A step is a node: a piece tried on a cell, whether it stays, and why not. A SAT solver decides, or "
    "learns from a conflict: a step with the triangles that get their colour by it. Without -o and --json a line "
    "is printed for each. Exit status: 0 done, 1 the search ended without a solution, 2 bad input.",
    interruptible=True,
)  # fmt: skip
def trace(args: argparse.Namespace) -> int:
    from lns.exact.outcome import SolveStatus
    from lns.web.recording import page, trace_to_json

    check_start_options(args)
    opt.check_files(args.force, args.output)
    if args.solver == "polyomino":
        facts, text = _fill_grid(args)
        lines: Iterable[str] = (
            f"{level + 1:>4}  piece {name} on cells {', '.join(map(str, cells))}: {_OUTCOMES[outcome]}"
            for level, name, cells, outcome in facts["steps"]
        )
    else:
        from lns.exact.trace import trace

        _, puzzle, notes = read_puzzle_and_start(args)
        found = trace(puzzle, args.solver, steps=args.steps)
        print_notes(notes)
        facts, text = trace_to_json(found), page(puzzle, found) if args.output is not None else ""
        lines = (_line(puzzle, step).rstrip() for step in found.steps)
    output: Path | None = args.output
    status = SolveStatus(facts["status"])
    if output is None:
        print_answer(args, facts | {"output": None}, _with_status(lines, status))
    else:
        write_output(output, text)
        said = f"{output}: {count_of(len(facts['steps']), 'step')}, {status}"
        print_answer(args, facts | {"output": str(output)}, [said])
    return status_of(status)


def _with_status(lines: Iterable[str], status: object) -> Iterable[str]:
    yield from lines
    yield f"status  {status}"


def _fill_grid(args: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Record a search that fills a grid of polyominoes: its steps, and their page where one is asked for."""
    from lns.exact.polyominoes.grid import load
    from lns.exact.polyominoes.levels import levels
    from lns.exact.trace import MAX_STEPS
    from lns.web.recording import grid_page, record_grid

    if args.start is not None:
        raise InputError("--start is for boards; expected the placed pieces in the picture of the grid")
    if args.clues is not None or args.puzzle_format is not None:
        option = "--puzzle-format" if args.clues is None else "--clues"
        raise InputError(f"{option} is for puzzles; expected none with --solver polyomino")
    if args.steps > MAX_STEPS:
        raise InputError(f"{args.steps} steps; expected 1 to {MAX_STEPS:,}")
    shipped = levels()
    grid = shipped[args.instance] if args.instance in shipped else load(args.instance)
    found = record_grid(grid, args.steps)
    return found, grid_page(args.instance, grid, found) if args.output is not None else ""


def _line(puzzle: Puzzle, step: Step | Painting) -> str:
    """A step in words."""
    from lns.exact.trace import Step

    if isinstance(step, Step):
        where = puzzle.cell_label(step.cell)
        return f"{step.depth + 1:>4}  piece {step.oriented // 4 + 1} on {where}: {step.outcome}  {step.why}"
    depth = step.depth + (step.outcome == "decided")
    painted = count_of(len(step.triangles), "triangle")
    return f"{depth:>4}  {step.outcome} {step.decided}, {painted} painted  {step.why}"
