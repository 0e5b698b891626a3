"""`lns exact count`, `lns exact solve` and `lns exact solvers`: perfect solutions by an exact solver."""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lns.exact.optional_deps import EXTRAS, is_installed
from lns.instances.errors import InputError
from lns.instances.formats import atomic_write, render, url_if_any
from lns.instances.text import count_of, format_seconds
from lns.terminal import options as opt
from lns.terminal.inputs import check_board_file, check_start_options, is_new_or_empty, print_notes, read_puzzle
from lns.terminal.output import DONE, board_lines, print_answer, print_error, print_text, print_wrapped, status_of

if TYPE_CHECKING:
    from lns.exact.colorpairs.options import Options
    from lns.exact.driver import Progress
    from lns.exact.outcome import Outcome, SolveStatus
    from lns.instances.board import Board
    from lns.instances.puzzle import Puzzle

# option of the command line -> (field of Options, value that it sets, help)
SWITCHES = {
    "--no-motifs": (
        "motifs", False, "do not branch on special motifs 3 and 4 first (section 5.1 of Benoist & Bourreau 2008)"
    ),
    "--no-instantiation": (
        "instantiation", False, "do not place a piece at once where a pair has one piece and one cell (3.1)"
    ),
    "--no-opposite": ("opposite", False, "use pairs of consecutive colours only (3.2)"),
    "--no-preemption": ("preemption", False, "leave pieces that one pair needs in the offer of others (4.1)"),
    "--no-backjumping": ("backjumping", False, "backtrack one level at a time (5.2)"),
    "--shaving": ("shaving", True, "at each node try every piece of every surrounded cell, with all filters (5.1)"),
    "--quick-shaving": ("quick_shaving", True, "at each node try the cells where at most one piece seems possible"),
    "--random-cell": ("random_cell", True, "draw the cell of the chosen pair at random (5.1), from --seed"),
    "--values": ("values", True, "try probable pieces first (5.1)"),
    "--single-colours": ("single_colours", True, "also compare offer and demand of single colours (3.2)"),
    "--shared-edges": ("shared_edges", True, "use the bound 2 h(N) on edges between free pieces (4.2)"),
    "--cycles": ("cycles", True, "refuse chains of border pieces that close too early (4.2)"),
}  # fmt: skip

# option of the command line -> the solvers that use it
OPTIONS_OF = {"sat_solver": ("sat:...",), "memory": ("sat:...", "cp", "xcc"), "seed": ("sls:...", "colorpairs")}

_SEARCH = (
    opt.INSTANCE,
    opt.value("--solver", "NAME", None, "method (default colorpairs); `lns exact solvers` lists them",
              default="colorpairs"),
    opt.TIME.but("stop after S seconds, or like 10m, 2h, 7d"),
    opt.FIX_CORNER,
    *opt.START_OPTIONS,
    *opt.rare(opt.NODES.but("stop after N nodes; each solver counts its own kind"), opt.MEMORY, opt.SAT_SOLVER,
              opt.SEED.but("random seed of the local searches sls:... and of --random-cell (default 0)"),
              *opt.PUZZLE_OPTIONS),
    opt.JSON,
    opt.QUIET,
)  # fmt: skip
_PARTS = opt.rare(
    *opt.grouped(
        "parts of ColorPairs",
        opt.value("--heuristic", "NAME", None, "branching rule: min-expected-gap (default), min-offer, "
                  "min-expected-offer, min-expected-ratio, max-expected-filtering, row-major"),
        *(opt.flag(name, line) for name, (_, _, line) in SWITCHES.items()),
    )
)  # fmt: skip
_EPILOG = """\
Boards that differ only by swapped identical pieces are one solution. The four rotations of a board are counted
separately unless --fix-corner is given; the answer states which convention it follows. The number of nodes is - (null
in JSON) for kissat and xcover, which do not report it.
Exit status: 0 done or a budget spent, 1 there is no solution, 2 bad input, 130 interrupted."""


@opt.command(*_SEARCH, *_PARTS, epilog=_EPILOG, interruptible=True)
def count(args: argparse.Namespace) -> int:
    return _search(args, count_all=True)


@opt.command(
    *_SEARCH,
    opt.flag("--all", "find all solutions, not only the first"),
    opt.OUTPUT.but("write the board to FILE (.json, .url or .solution.txt); with --all a directory, one file a board"),
    opt.FORCE.but("overwrite FILE if it exists (not with --all)"), *_PARTS, epilog=_EPILOG, interruptible=True,
)  # fmt: skip
def solve(args: argparse.Namespace) -> int:
    return _search(args, count_all=False)


class _Found:
    """Callback that stores each solution: as a file 000001.json and so on in a new directory, or in a list.

    If a file cannot be written, KeyboardInterrupt ends the search with its result so far, and ``failure`` is the error.
    Raises InputError if the directory exists and is not empty, or its parent does not exist.
    """

    def __init__(self, puzzle: Puzzle, instance: str, directory: Path | None) -> None:
        self._puzzle, self._instance, self._directory = puzzle, instance, directory
        self._kept: list[Board] = []
        self._written = 0
        self.failure: OSError | None = None
        if directory is None:
            return
        if not directory.parent.is_dir():
            raise InputError("there is no such directory", directory.parent)
        if not is_new_or_empty(directory):
            raise InputError(
                "exists and is no empty directory; with --all expected a new directory, or an empty one", directory
            )
        self._made = not directory.exists()
        directory.mkdir(exist_ok=True)

    def __call__(self, board: Board) -> None:
        if self._directory is None:
            self._kept.append(board)
            return
        text, _ = render("best", self._puzzle, board, instance=self._instance)
        try:
            atomic_write(self._directory / f"{self._written + 1:06d}.json", text)
        except OSError as error:
            self.failure = error
            raise KeyboardInterrupt from error
        self._written += 1

    def withdraw(self) -> None:
        """Remove the directory after a search that did not begin; raise ``failure`` if there is one."""
        if self._directory is not None and self._made:
            with suppress(OSError):
                self._directory.rmdir()
        if self.failure is not None:
            raise self.failure

    def facts(self) -> dict[str, Any]:
        """For the JSON output: the placements of each board, or the directory with the files."""
        if self._directory is not None:
            return {"output": str(self._directory)}
        return {"boards": [board.without_blanks(self._puzzle).pairs() for board in self._kept]}

    def lines(self) -> list[str]:
        """Lines for the terminal: a URL for each board, or a line about the directory."""
        if self._directory is not None:
            return [f"written     {count_of(self._written, 'board')} in {self._directory}"]
        return [line for board in self._kept for line in board_lines(self._puzzle, board)]


def _search(args: argparse.Namespace, *, count_all: bool) -> int:
    from lns.exact.execution import Request
    from lns.exact.solvers import solve_request
    from lns.instances.formats import write
    from lns.terminal.progress import live_line

    every, output, force = (getattr(args, name, None) for name in ("all", "output", "force"))
    options = _options(args)
    if every and force:
        raise InputError("--force is for a single board; with --all expected a new or empty directory, and no --force")
    # boards are written for the puzzle itself, without the pieces of --start as clues
    puzzle, searched, notes = read_puzzle_and_start(args)
    if not every:
        check_board_file(output, puzzle, bool(force))
    found = _Found(puzzle, args.instance, output) if every else None
    if not args.quiet:
        announce_compilation(args.solver)
    try:
        with live_line(args.time, quiet=args.quiet) as line:
            request = Request(
                count_all=count_all,
                nodes=args.nodes,
                seconds=args.time,
                options=options,
                on_progress=None
                if args.quiet
                else lambda progress: line.show(_progress_line(progress), progress.seconds),
                memory=None if args.memory is None else args.memory * 1_000_000,
                sat_solver=args.sat_solver,
                seed=args.seed or 0,
                on_solution=found,
            )
            outcome = solve_request(searched, request, args.solver, fix_corner=args.fix_corner)
    except (InputError, KeyboardInterrupt):  # refused, or interrupted before the search began
        if found is not None:
            found.withdraw()
        raise
    shown = None if count_all or every else outcome.board
    try:
        if output is not None and shown is not None:
            write(output, None, puzzle, shown, instance=args.instance)
    finally:  # the answer is printed even if the file cannot be written, and the file written even if stdout is closed
        if not args.quiet:
            print_notes(notes)
        facts = _facts(args, puzzle, outcome, shown) | {"notes": notes} | ({} if found is None else found.facts())
        lines = _lines(args.solver, outcome, counted=count_all or bool(every))
        first = [] if shown is None else board_lines(puzzle, shown)  # first: a URL may fill a terminal
        print_answer(args, facts, [*first, *lines, *([] if found is None else found.lines())])
    if output is not None and shown is not None and not args.json:
        print_text(f"written     {output}")
    if found is not None and found.failure is not None:
        raise found.failure
    return status_of(outcome.status)


def read_puzzle_and_start(args: argparse.Namespace) -> tuple[Puzzle, Puzzle, list[str]]:
    """The puzzle of INSTANCE, the same with the pieces of --start as clues, and notes. Raises InputError."""
    from lns.api.files import placed_as_clues
    from lns.instances.formats import read_board

    check_start_options(args)
    document = read_puzzle(args, args.instance)
    puzzle, notes = document.puzzle, list(document.notes)
    assert puzzle is not None
    if args.start is None:
        return puzzle, puzzle, notes
    start = read_board(args.start, puzzle, args.start_format, args.start_number)
    assert start.board is not None
    notes += [f"start board: {note}" for note in start.notes]
    return puzzle, placed_as_clues(puzzle, start.board, args.start), notes


def _options(args: argparse.Namespace) -> Options:
    """The parts of ColorPairs. Raises InputError for options that the solver does not have."""
    from lns.exact.colorpairs.options import Heuristic, Options
    from lns.exact.registry import SOLVERS

    given: dict[str, Any] = {
        field: value for name, (field, value, _) in SWITCHES.items() if getattr(args, name[2:].replace("-", "_"))
    }
    if args.heuristic is not None:
        given["heuristic"] = Heuristic.of(args.heuristic)
    if given and args.solver != "colorpairs":
        raise InputError(
            f"solver '{args.solver}' has none of these options; --heuristic and the like are for colorpairs"
        )
    for name, solvers in OPTIONS_OF.items():
        family = args.solver.partition(":")[0] + ":..."
        if getattr(args, name) is not None and args.solver in SOLVERS and not {args.solver, family} & {*solvers}:
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} has no effect on solver '{args.solver}'; it is for {', '.join(solvers)}")
    if args.solver == "colorpairs" and args.seed is not None and not args.random_cell:
        raise InputError("--seed has no effect on solver 'colorpairs' without --random-cell")
    return Options(**given)


def announce_compilation(solver: str) -> None:
    """Print a line on stderr if ``solver`` must be compiled first."""
    from lns.exact.kernels.cache import is_compiled
    from lns.exact.registry import SOLVERS

    entry = SOLVERS.get(solver)
    if entry is not None and entry.kernel_module is not None and not is_compiled(entry.kernel_module):
        print_error("compiling the search, once for this installation: about half a minute of an idle core ...")


def _progress_line(progress: Progress) -> str:
    if progress.building:
        return "building the model"
    share = f", about {progress.explored:.2%} of the tree" if progress.explored > 1e-5 else ""
    found = count_of(progress.solutions, "solution") if progress.solutions else "no solution yet"
    return f"{progress.nodes / 1e6:,.1f} M nodes, {found}{share}"


def _facts(args: argparse.Namespace, puzzle: Puzzle, outcome: Outcome, board: Board | None) -> dict[str, Any]:
    from lns.exact.outcome import NODES_UNKNOWN

    facts = {
        "status": str(outcome.status),
        "solutions": outcome.solutions,
        "nodes": None if outcome.nodes == NODES_UNKNOWN else outcome.nodes,
        "seconds": round(outcome.seconds, 6),
        "solver": args.solver,
        "convention": outcome.convention,
        "instance": args.instance,
        "instance_sha256": puzzle.sha256,
        "start": args.start,
        "details": outcome.details,
    }
    if board is None:
        return facts
    return facts | {"placements": board.without_blanks(puzzle).pairs(), "url": url_if_any(puzzle, board)}


def _lines(solver: str, outcome: Outcome, *, counted: bool) -> list[str]:
    from lns.exact.outcome import NODES_UNKNOWN

    unbuilt = "; the time was over before the model was built" if "model_unfinished" in outcome.details else ""
    nodes, rate = f"- ({solver}: the library does not report them)", ""
    if outcome.nodes != NODES_UNKNOWN:
        per_second = outcome.nodes / outcome.seconds / 1e6 if outcome.seconds else 0.0
        nodes, rate = f"{outcome.nodes:,} ({solver})", f", {per_second:#.3g} M nodes/s"
    return [
        f"status      {outcome.status}{unbuilt}",
        f"solutions   {solutions_in_words(outcome.status, outcome.solutions, counted=counted)}",
        f"convention  {outcome.convention}; swapped identical pieces count once",
        f"nodes       {nodes}",
        f"time        {format_seconds(outcome.seconds)}{rate}",
    ]


def solutions_in_words(status: SolveStatus, solutions: int, *, counted: bool) -> str:
    """How many solutions there are, as far as a search tells; ``counted``: it was to find them all."""
    from lns.exact.outcome import SolveStatus

    if status is SolveStatus.INFEASIBLE or (counted and status is SolveStatus.SOLVED):
        return f"{solutions:,}"
    if not solutions:
        return "none found yet; undecided"
    return f"at least {solutions:,}" if counted else f"{solutions:,} found; the search ended there"


@opt.command(opt.JSON)
def solvers(args: argparse.Namespace) -> int:
    from lns.exact.registry import all_solvers
    from lns.terminal.output import print_json

    known = all_solvers()
    width, rows = max(map(len, known)), []
    for name, entry in known.items():
        installed = entry.extra is None or is_installed(entry.extra)
        about = {"name": name, "what": entry.description, "source": entry.source, "counts": entry.can_count}
        rows.append(about | {"extra": entry.extra, "installed": installed})
        if not args.json:
            needs = "" if entry.extra is None else f"; needs {EXTRAS[entry.extra][1]}"
            missing = "" if installed else ", which is not installed"
            print_wrapped(f"{name:<{width}}  {entry.description} ({entry.source}{needs}{missing})", indent=width + 2)
    if args.json:
        print_json({"solvers": rows})
    return DONE
