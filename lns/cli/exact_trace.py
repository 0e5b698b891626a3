"""`lns exact trace`: record a search step by step, as a page that plays it or as JSON."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from lns.terminal.inputs import add_board_options, add_puzzle_options, check_start_options, print_notes, read_puzzle
from lns.terminal.options import check_files, nonempty_path, positive_number
from lns.terminal.output import print_text
from lns_support.text import count_of

if TYPE_CHECKING:
    from exact.sat.steps import Painting
    from exact.trace import Step
    from instances.puzzle import Puzzle


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "instance",
        metavar="INSTANCE",
        help="a puzzle file, a viewer URL, or a shipped instance; for polyomino a grid or a level, as for "
        "`lns exact polyomino`",
    )
    parser.add_argument("--start", metavar="BOARD", help="keep the pieces on this board (a file or viewer URL)")
    add_puzzle_options(parser)
    add_board_options(parser, board="the board of --start", prefix="start-")
    parser.add_argument(
        "--solver",
        default="colorpairs",
        metavar="NAME",
        help="colorpairs (default), rowscan, dlx, or a SAT solver that paints triangles: sat:triangles, or "
        "sat:triangles-restricted, which decides on pieces only; polyomino: a grid of polyominoes is filled",
    )
    parser.add_argument("--steps", type=positive_number, default=5000, metavar="N", help="most steps (default 5000)")
    parser.add_argument(
        "-o", "--output", type=nonempty_path, metavar="FILE", help="write a page that plays the steps in any browser"
    )
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")
    parser.add_argument("--json", action="store_true", help="print the steps as one JSON object to stdout")
    parser.epilog = (
        "A step is a node: a piece tried on a cell, whether it stays, and why not. A SAT solver decides, or "
        "learns from a conflict: a step with the triangles that get their colour by it. Without -o and --json a line "
        "is printed for each. Exit status: 0 done, 1 the search ended without a solution, 2 bad input."
    )


def run(args: argparse.Namespace) -> int:
    from exact.outcome import SolveStatus
    from exact.trace import trace
    from instances.formats import read_board
    from lns.api.starting import placed_as_clues
    from lns.terminal.output import ANSWER_IS_NO, DONE, print_json
    from lns.web.recording import page, trace_to_json
    from lns_support.files import write_output

    check_start_options(args)
    check_files(args.force, args.output)
    if args.solver == "polyomino":
        return _trace_grid(args)
    document = read_puzzle(args, args.instance)
    puzzle, notes = document.puzzle, document.notes
    assert puzzle is not None
    if args.start is not None:
        start = read_board(args.start, puzzle, args.start_format, args.start_number)
        assert start.board is not None
        puzzle = placed_as_clues(puzzle, start.board, args.start)
        notes += tuple(f"start board: {note}" for note in start.notes)
    found = trace(puzzle, args.solver, steps=args.steps)
    print_notes(notes)
    if args.output is not None:
        write_output(args.output, page(puzzle, found))
    if args.json:
        print_json(trace_to_json(found) | {"output": None if args.output is None else str(args.output)})
    elif args.output is not None:
        print_text(f"{args.output}: {count_of(len(found.steps), 'step')}, {found.status}")
    else:
        for step in found.steps:
            print_text(_line(puzzle, step).rstrip())
        print_text(f"status  {found.status}")
    return ANSWER_IS_NO if found.status is SolveStatus.INFEASIBLE else DONE


def _trace_grid(args: argparse.Namespace) -> int:
    """Record a search that fills a grid of polyominoes."""
    from exact.outcome import SolveStatus
    from exact.polyominoes.grid import load
    from exact.polyominoes.levels import levels
    from exact.trace import MAX_STEPS
    from lns.terminal.output import ANSWER_IS_NO, DONE, print_json
    from lns.web.recording import grid_page, record_grid
    from lns_support.errors import InputError
    from lns_support.files import write_output

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
    if args.output is not None:
        write_output(args.output, grid_page(args.instance, grid, found))
    if args.json:
        print_json(found | {"output": None if args.output is None else str(args.output)})
    elif args.output is not None:
        print_text(f"{args.output}: {count_of(len(found['steps']), 'step')}, {found['status']}")
    else:
        for level, name, cells, outcome in found["steps"]:
            words = ("stays", "no place left for a cell or a piece", "a zone cannot be filled", "a filling")
            print_text(f"{level + 1:>4}  piece {name} on cells {', '.join(map(str, cells))}: {words[outcome]}")
        print_text(f"status  {found['status']}")
    return ANSWER_IS_NO if found["status"] == SolveStatus.INFEASIBLE else DONE


def _line(puzzle: Puzzle, step: Step | Painting) -> str:
    """A step in words."""
    from exact.trace import Step

    if isinstance(step, Step):
        where = puzzle.cell_label(step.cell)
        return f"{step.depth + 1:>4}  piece {step.oriented // 4 + 1} on {where}: {step.outcome}  {step.why}"
    depth = step.depth + (step.outcome == "decided")
    painted = count_of(len(step.triangles), "triangle")
    return f"{depth:>4}  {step.outcome} {step.decided}, {painted} painted  {step.why}"
