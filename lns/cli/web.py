"""`lns web` and `lns exact trace`: runs, boards, games and the single steps of a search, shown in the browser."""

from __future__ import annotations

import argparse
import contextlib
import getpass
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from lns.exact.optional_deps import require
from lns.exact.outcome import SolveStatus
from lns.instances.errors import InputError
from lns.instances.files import write_output
from lns.instances.text import count_of
from lns.terminal import options as opt
from lns.terminal import output as out
from lns.terminal.inputs import check_start_options, print_notes

if TYPE_CHECKING:
    from lns.exact.sat.steps import Painting
    from lns.exact.trace import Step
    from lns.instances.puzzle import Puzzle

PASSWORD_VARIABLE = "LNS_WEB_PASSWORD"
_LEAST_PASSWORD = 8
_OUTCOMES = ("stays", "no place left for a cell or a piece", "a zone cannot be filled", "a filling")


@opt.command(
    opt.value("what", "RUN_DIR|BOARD|INSTANCE", None, "what to show first: a run directory, a directory with runs, or "
              "a board or puzzle (default: the runs below the working directory)", nargs="?"),
    opt.value("--port", "N", opt.whole_number, "port (default 8040, or the next free one)"),
    opt.flag("--open", "open the page in the browser"),
    opt.value("--host", "ADDRESS", None, "listen on this address instead of 127.0.0.1; asks for a password, as others "
              "can then reach the page", default="127.0.0.1"),
    epilog="Prints the address and serves until Ctrl-C, which ends all jobs in order; runs are saved and can be "
    f"resumed. Needs the extra 'web'. With --host the password is asked for, or taken from {PASSWORD_VARIABLE}.",
)  # fmt: skip
def web(args: argparse.Namespace) -> int:
    require("web", "lns web")
    from lns.web.guard import Access, is_loopback
    from lns.web.server import listen, prepare, serve

    if args.port is not None and args.port > 65535:
        raise InputError(f"--port {args.port} is no port; expected 0 to 65535")
    password = None if is_loopback(args.host) else _password(args.host)
    opened = listen(args.host, args.port)
    with opened:
        access = Access(args.host, opened.getsockname()[1], password)
        server = prepare(args.what, access)
        with contextlib.suppress(KeyboardInterrupt):
            serve(server, opened, browse=args.open, announce=_announce)
    return out.DONE


def _announce(address: str) -> None:
    out.print_text(f"lns web: {address}", flush=True)
    out.print_error("Ctrl-C ends it")


def _password(host: str) -> str:
    """Return the password for a server that other people can reach; warn first of what the password lets them do."""
    out.print_error(
        f"lns: on {host} everybody who can reach this machine can open the page. With the password they can read the "
        "runs below this directory and start searches on this machine. The connection is not encrypted: whoever "
        "listens on the way learns the password. `ssh -L 8040:127.0.0.1:8040 MACHINE` (with your --port) is safer and "
        "needs no --host."
    )
    given = os.environ.get(PASSWORD_VARIABLE)
    if given is None:
        if not sys.stdin.isatty():
            raise InputError(f"--host {host} needs a password; expected it in {PASSWORD_VARIABLE}, or a terminal")
        given = getpass.getpass("password for the page: ")
    if len(given) < _LEAST_PASSWORD:
        raise InputError(f"the password has {len(given)} characters; expected {_LEAST_PASSWORD} or more")
    return given


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
)  # fmt: skip
def trace(args: argparse.Namespace) -> int:
    check_start_options(args)
    opt.check_files(args.force, args.output)
    facts, page, lines = _grid_steps(args) if args.solver == "polyomino" else _board_steps(args)
    status = SolveStatus(facts["status"])
    if args.output is None:
        out.print_answer(args, facts | {"output": None}, (*lines, f"status  {status}"))
    else:
        write_output(args.output, page)
        said = f"{args.output}: {count_of(len(facts['steps']), 'step')}, {status}"
        out.print_answer(args, facts | {"output": str(args.output)}, [said])
    return out.status_of(status)


def _board_steps(args: argparse.Namespace) -> tuple[dict[str, Any], str, Iterable[str]]:
    """Return the steps of a search for a board in three forms: JSON, a page ("" without --output), lines of text."""
    from lns.cli.exact import read_puzzle_and_start
    from lns.exact.trace import trace
    from lns.web.wire import page, trace_to_json

    _, puzzle, notes = read_puzzle_and_start(args)
    found = trace(puzzle, args.solver, steps=args.steps)
    print_notes(notes)
    lines = (_in_words(puzzle, step).rstrip() for step in found.steps)
    return trace_to_json(found), page(puzzle, found) if args.output is not None else "", lines


def _in_words(puzzle: Puzzle, step: Step | Painting) -> str:
    from lns.exact.trace import Step

    if isinstance(step, Step):
        where = puzzle.cell_label(step.cell)
        return f"{step.depth + 1:>4}  piece {step.oriented // 4 + 1} on {where}: {step.outcome}  {step.why}"
    depth, painted = step.depth + (step.outcome == "decided"), count_of(len(step.triangles), "triangle")
    return f"{depth:>4}  {step.outcome} {step.decided}, {painted} painted  {step.why}"


def _grid_steps(args: argparse.Namespace) -> tuple[dict[str, Any], str, Iterable[str]]:
    """Return the steps of a search that fills a grid of polyominoes, in the three forms of `_board_steps`."""
    from lns.exact.polyominoes.grid import load
    from lns.exact.polyominoes.levels import levels
    from lns.exact.trace import MAX_STEPS
    from lns.web.wire import grid_page, record_grid

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
    lines = (
        f"{level + 1:>4}  piece {name} on cells {', '.join(map(str, cells))}: {_OUTCOMES[outcome]}"
        for level, name, cells, outcome in found["steps"]
    )
    return found, grid_page(args.instance, grid, found) if args.output is not None else "", lines
