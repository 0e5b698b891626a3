"""`lns exact count`, `solve`, `solvers`, `cnf` and `decode`: perfect solutions by an exact solver."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from lns.exact.colorpairs.options import Heuristic, Options
from lns.exact.driver import Progress
from lns.exact.execution import Request
from lns.exact.optional_deps import EXTRAS, is_installed
from lns.exact.outcome import Outcome, SolveStatus
from lns.exact.registry import SOLVERS, all_solvers, solver_for
from lns.exact.solvers import solve_request
from lns.instances import formats
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.files import atomic_write, is_new_or_empty
from lns.instances.puzzle import Puzzle
from lns.instances.text import count_of, format_seconds
from lns.terminal import options as opt
from lns.terminal import output as out
from lns.terminal.inputs import check_board_file, check_start_options, print_notes, read_puzzle
from lns.terminal.progress import live_line

SWITCHES = {  # option -> its help. --NAME sets the field NAME of `Options` to True, --no-NAME to False
    "--no-motifs": "do not branch on special motifs 3 and 4 first (section 5.1 of Benoist & Bourreau 2008)",
    "--no-instantiation": "do not place a piece at once where a pair has one piece and one cell (3.1)",
    "--no-opposite": "use pairs of consecutive colours only (3.2)",
    "--no-preemption": "leave pieces that one pair needs in the offer of others (4.1)",
    "--no-backjumping": "backtrack one level at a time (5.2)",
    "--shaving": "at each node try every piece of every surrounded cell, with all filters (5.1)",
    "--quick-shaving": "at each node try the cells where at most one piece seems possible",
    "--random-cell": "draw the cell of the chosen pair at random (5.1), from --seed",
    "--values": "try probable pieces first (5.1)",
    "--single-colours": "also compare offer and demand of single colours (3.2)",
    "--shared-edges": "use the bound 2 h(N) on edges between free pieces (4.2)",
    "--cycles": "refuse chains of border pieces that close too early (4.2)",
}

# name of an option in ``args`` -> the solvers that the option has an effect on
OPTIONS_OF = {"sat_solver": ("sat:...",), "memory": ("sat:...", "cp", "xcc"), "seed": ("sls:...", "colorpairs")}

_ENCODING = opt.value(
    "--encoding", "NAME", None,
    "encoding: full-4, full-2, half-3, half-2 (each also with -pairs: at most one pair by pair) or triangles",
    required=True,
)  # fmt: skip
_SEARCH = (
    opt.INSTANCE,
    opt.value("--solver", "NAME", None, "method (default auto: some take turns, or colorpairs where parts of it are "
              "named); `lns exact solvers` lists them"),
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
        *(opt.flag(name, line) for name, line in SWITCHES.items()),
    )
)  # fmt: skip
_EPILOG = """\
Boards that differ only by swapped identical pieces are one solution. The four rotations of a board are counted
separately unless --fix-corner is given; the answer states which convention it follows. The number of nodes is - (null
in JSON) for kissat and xcover, which do not report it.
Exit status: 0 done or a budget spent, 1 there is no solution, 2 bad input, 130 interrupted."""


@opt.command(*_SEARCH, *_PARTS, epilog=_EPILOG)
def count(args: argparse.Namespace) -> int:
    return _search(args, count_all=True)


@opt.command(
    *_SEARCH,
    opt.flag("--all", "find all solutions, not only the first"),
    opt.OUTPUT.but("write the board to FILE (.json, .url or .solution.txt); with --all a directory, one file a board"),
    opt.FORCE.but("overwrite FILE if it exists (not with --all)"), *_PARTS, epilog=_EPILOG,
)  # fmt: skip
def solve(args: argparse.Namespace) -> int:
    return _search(args, count_all=False)


class _Found:
    """Callback that stores each solution: as 000001.json, 000002.json, ... in a folder, or without a folder in a list.

    If a file cannot be written, a KeyboardInterrupt is raised to end the search, and ``failure`` holds the error.
    """

    def __init__(self, puzzle: Puzzle, instance: str, folder: Path | None) -> None:
        self._puzzle, self._instance, self._folder = puzzle, instance, folder
        self._kept: list[Board] = []
        self._written = 0
        self.failure: OSError | None = None
        opt.check_folder(folder)
        if folder is not None and not is_new_or_empty(folder):
            raise InputError(
                "exists and is no empty directory; with --all expected a new directory, or an empty one", folder
            )

    def __call__(self, board: Board) -> None:
        if self._folder is None:
            self._kept.append(board)
            return
        text, _ = formats.render("best", self._puzzle, board, instance=self._instance)
        try:
            self._folder.mkdir(exist_ok=True)
            atomic_write(self._folder / f"{self._written + 1:06d}.json", text)
        except OSError as error:
            self.failure = error
            raise KeyboardInterrupt from error
        self._written += 1

    def told(self) -> tuple[dict[str, Any], list[str]]:
        """Return the folder of the solutions, else each solution, as fields of the JSON answer and as lines of text."""
        if self._folder is not None:
            said = f"written     {count_of(self._written, 'board')} in {self._folder}"
            return {"output": str(self._folder)}, [said]
        lines = [line for board in self._kept for line in out.board_lines(self._puzzle, board)]
        return {"boards": [board.without_blanks(self._puzzle).pairs() for board in self._kept]}, lines


def _search(args: argparse.Namespace, *, count_all: bool) -> int:
    every, output, force = (getattr(args, name, None) for name in ("all", "output", "force"))
    options = _options(args)
    if every and force:
        raise InputError("--force is for a single board; with --all expected a new or empty directory, and no --force")
    # boards are written as boards of ``puzzle``; only ``searched`` has the pieces of --start as clues
    puzzle, searched, notes = read_puzzle_and_start(args)
    if not every:
        check_board_file(output, puzzle, bool(force))
    solver_for(args.solver, searched, count_all=bool(count_all or every))  # raises InputError before any compilation
    found = _Found(puzzle, args.instance, output) if every else None
    try:
        with live_line(args.time, quiet=args.quiet) as line:
            request = Request(
                count_all, args.nodes, args.time, options,
                None if args.quiet else lambda progress: line.show(_progress_line(progress), progress.seconds),
                memory=args.memory, sat_solver=args.sat_solver, seed=args.seed or 0, on_solution=found,
                fix_corner=args.fix_corner,
            )  # fmt: skip
            outcome = solve_request(searched, request, args.solver)
    except KeyboardInterrupt:  # raised by Ctrl-C or `_Found`, and not handled by the search
        if found is not None and found.failure is not None:
            raise found.failure from None
        raise
    shown = None if count_all or every else outcome.board
    try:
        if output is not None and shown is not None:
            formats.write(output, None, puzzle, shown, instance=args.instance)
    finally:  # the answer is printed even if writing failed, and only after writing, as stdout may be closed
        if not args.quiet:
            print_notes(notes)
        facts = out.picked(outcome, "status solutions nodes seconds convention details")
        facts |= {"solver": args.solver, "answered_by": outcome.answered_by or args.solver}
        facts |= {"instance": args.instance, "instance_sha256": puzzle.sha256, "start": args.start}
        lines = _lines(args.solver, outcome, counted=count_all or bool(every))
        if shown is not None:
            facts["placements"] = shown.without_blanks(puzzle).pairs()
            facts["url"] = formats.url_if_any(puzzle, shown)
            lines = [*out.board_lines(puzzle, shown), *lines]  # the board's URL comes first, as it may fill a terminal
        more, more_lines = ({}, []) if found is None else found.told()
        out.print_answer(args, facts | {"notes": notes} | more, [*lines, *more_lines])
    if output is not None and shown is not None and not args.json:
        out.print_text(f"written     {output}")
    if found is not None and found.failure is not None:
        raise found.failure
    return out.status_of(outcome.status)


def read_puzzle_and_start(args: argparse.Namespace) -> tuple[Puzzle, Puzzle, list[str]]:
    """Return the puzzle of INSTANCE, the same puzzle with the pieces of --start as clues, and notes on both files."""
    check_start_options(args)
    puzzle, notes = read_puzzle(args, args.instance)
    if args.start is None:
        return puzzle, puzzle, [*notes]
    from lns.api.files import placed_as_clues

    start = formats.read_board(args.start, puzzle, args.start_format, args.start_number)
    assert start.board is not None
    searched = placed_as_clues(puzzle, start.board, args.start)
    return puzzle, searched, [*notes, *(f"start board: {note}" for note in start.notes)]


def _options(args: argparse.Namespace) -> Options:
    """Return the options of ColorPairs, and set --solver if it is missing. Raises InputError for an unused option."""
    typed = [name for name in (switch[2:].replace("-", "_") for switch in SWITCHES) if getattr(args, name)]
    given: dict[str, Any] = {name.removeprefix("no_"): not name.startswith("no_") for name in typed}
    if args.heuristic is not None:
        given["heuristic"] = Heuristic.of(args.heuristic)
    if args.solver is None:
        args.solver = "colorpairs" if given else "auto"
    if given and args.solver != "colorpairs":
        raise InputError(
            f"solver '{args.solver}' has none of these options; --heuristic and the like are for colorpairs"
        )
    family = args.solver.partition(":")[0] + ":..."
    for name, solvers in OPTIONS_OF.items():
        if getattr(args, name) is not None and args.solver in SOLVERS and not {args.solver, family} & {*solvers}:
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} has no effect on solver '{args.solver}'; it is for {', '.join(solvers)}")
    if args.solver == "colorpairs" and args.seed is not None and not args.random_cell:
        raise InputError("--seed has no effect on solver 'colorpairs' without --random-cell")
    return Options(**given)


def _progress_line(progress: Progress) -> str:
    if progress.building:
        return "building the model"
    share = f", about {progress.explored:.2%} of the tree" if progress.explored > 1e-5 else ""
    found = count_of(progress.solutions, "solution") if progress.solutions else "no solution yet"
    return f"{progress.nodes / 1e6:,.1f} M nodes, {found}{share}"


def _lines(solver: str, outcome: Outcome, *, counted: bool) -> list[str]:
    """Return the lines of text that report the outcome of a search."""
    unbuilt = "; the time was over before the model was built" if "model_unfinished" in outcome.details else ""
    told, rate = f"- ({solver}: the library does not report them)", ""
    if (nodes := outcome.nodes) is not None:
        told = f"{nodes:,} ({solver}{', answered by ' * bool(outcome.answered_by)}{outcome.answered_by})"
        rate = f", {nodes / outcome.seconds / 1e6 if outcome.seconds else 0.0:#.3g} M nodes/s"
    return [
        f"status      {outcome.status}{unbuilt}",
        f"solutions   {solutions_in_words(outcome.status, outcome.solutions, counted=counted)}",
        f"convention  {outcome.convention}; swapped identical pieces count once",
        f"nodes       {told}",
        f"time        {format_seconds(outcome.seconds)}{rate}",
    ]


def solutions_in_words(status: SolveStatus, solutions: int, *, counted: bool) -> str:
    """Return in words how many solutions a search has found; ``counted`` says whether it was to find all."""
    if status is SolveStatus.INFEASIBLE or (counted and status is SolveStatus.SOLVED):
        return f"{solutions:,}"
    if not solutions:
        return "none found yet; undecided"
    return f"at least {solutions:,}" if counted else f"{solutions:,} found; the search ended there"


@opt.command(opt.JSON)
def solvers(args: argparse.Namespace) -> int:
    known = all_solvers()
    width, rows, lines = max(map(len, known)), [], []
    for name, entry in known.items():
        installed = entry.extra is None or is_installed(entry.extra)
        about = {"name": name, "what": entry.description, "source": entry.source, "counts": entry.can_count}
        rows.append(about | {"extra": entry.extra, "installed": installed})
        needs = "" if entry.extra is None else f"; needs {EXTRAS[entry.extra][1]}"
        missing = "" if installed else ", which is not installed"
        line = f"{name:<{width}}  {entry.description} ({entry.source}{needs}{missing})"
        lines.append(out.wrapped(line, sys.stdout, indent=width + 2))
    out.print_answer(args, {"solvers": rows}, lines)
    return out.DONE


@opt.command(
    opt.INSTANCE, *opt.PUZZLE_OPTIONS, _ENCODING, opt.OUTPUT.but("write the formula to FILE (default: to stdout)"),
    opt.flag("--sizes", "print only the number of variables and of clauses by family"), opt.FORCE,
    opt.JSON.but("print one JSON object about the formula to stdout (with -o or --sizes)"),
    epilog="Comments at the head of the file explain the variables.",
)  # fmt: skip
def cnf(args: argparse.Namespace) -> int:
    from lns.api.exact import cnf

    if args.json and args.output is None and not args.sizes:
        raise InputError("--json and the formula both go to stdout; expected -o FILE or --sizes")
    opt.check_files(args.force, args.output)
    puzzle, notes = read_puzzle(args, args.instance)
    print_notes(notes)
    formula = cnf(puzzle, args.encoding, None if args.sizes else args.output)
    if args.output is None and not args.sizes:
        formula.write(sys.stdout)
        return out.DONE
    facts = {"encoding": formula.encoding, "instance": args.instance, "instance_sha256": puzzle.sha256}
    facts |= out.picked(formula, "variables clauses families")
    facts["output"] = None if args.sizes else os.fspath(args.output)
    out.print_answer(args, facts, [formula.summary()])
    return out.DONE


@opt.command(
    opt.value("answer", "ANSWER", None, "a file with the output of the solver, or the result file of minisat; - is "
              "stdin"),
    opt.INSTANCE.but("the puzzle of the formula"), *opt.PUZZLE_OPTIONS,
    _ENCODING.but("the encoding of the formula"), opt.OUTPUT,
    opt.FORCE, opt.JSON,
    epilog="Exit status: 0 the board is perfect, 1 it is not or there is none, 2 bad input.",
)  # fmt: skip
def decode(args: argparse.Namespace) -> int:
    from lns.api.exact import decode

    puzzle, notes = read_puzzle(args, args.instance)
    print_notes(notes)
    check_board_file(args.output, puzzle, args.force)
    answer = sys.stdin.buffer.read().decode("latin-1") + "\n" if args.answer == "-" else args.answer
    found = decode(answer, puzzle, args.encoding)
    perfect, verdict = found.status == "solved", found.verification
    lines = ["the solver says that there is no solution"]
    if verdict is not None and found.board is not None:
        score = f"{verdict.score} of {verdict.max_score}"
        lines = [f"not a solution of {puzzle.name}: {count_of(verdict.placed, 'piece')}, score {score}"]
        lines += [f"  {problem}" for problem in verdict.problems[:5]]
        if perfect:
            lines = [f"a perfect board: {score}", *out.board_lines(puzzle, found.board)]
            if args.output is not None:
                formats.write(args.output, None, puzzle, found.board, instance=args.instance)
    out.print_answer(args, found.records()[0], lines)
    return out.DONE if perfect else out.ANSWER_IS_NO
