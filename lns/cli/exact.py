"""`lns exact`: count or find perfect solutions with an exact solver; repeat the experiments of the papers."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lns.terminal.help import HelpFormatter
from lns.terminal.inputs import add_board_options, add_puzzle_options, check_start_options, print_notes, read_puzzle
from lns.terminal.options import board_lines, check_board_file, duration, megabytes, positive_number, whole_number
from lns.terminal.output import ANSWER_IS_NO, DONE, INTERRUPTED, print_error, print_json, print_text
from lns_support.text import count_of, format_seconds

if TYPE_CHECKING:
    from exact.colorpairs.options import Options
    from exact.driver import Progress
    from exact.outcome import Outcome, SolveStatus
    from instances.puzzle import Puzzle

# option of the command line -> (field of Options, value that it sets, help)
SWITCHES = {
    "--no-motifs": (
        "motifs",
        False,
        "do not branch on special motifs 3 and 4 first (section 5.1 of Benoist & Bourreau 2008)",
    ),
    "--no-instantiation": (
        "instantiation",
        False,
        "do not place a piece at once where a pair has one piece and one cell (3.1)",
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
}

# option of the command line -> the solvers that use it
OPTIONS_OF = {"sat_solver": ("sat:...",), "memory": ("sat:...", "cp", "xcc"), "seed": ("sls:...", "colorpairs")}

# further jobs: name -> (module, its function that adds the arguments, its function that runs, help)
JOBS = {
    "solvers": ("lns.cli.exact_solvers", "add_arguments", "run", "list the solvers, and what each needs installed"),
    "compare": (
        "lns.cli.exact_compare",
        "add_arguments",
        "run",
        "run several solvers on several instances and print a table",
    ),
    "cnf": ("lns.cli.exact_cnf", "add_cnf_arguments", "run_cnf", "write a puzzle as a formula for SAT solvers"),
    "decode": ("lns.cli.exact_cnf", "add_decode_arguments", "run_decode", "read a SAT solver's answer back as a board"),
    "isomorphic": (
        "lns.cli.exact_isomorphic",
        "add_arguments",
        "run",
        "test whether two sets of pieces are equal up to a renaming of colours",
    ),
    "graph": (
        "lns.cli.exact_reductions",
        "add_graph_arguments",
        "run_graph",
        "write a graph as pieces, read pieces as a graph, or test two graphs for isomorphism by their pieces",
    ),
    "triples": (
        "lns.cli.exact_reductions",
        "add_triples_arguments",
        "run_triples",
        "read the solution of a 3-partition problem off a perfect board of its puzzle",
    ),
    "design": (
        "lns.cli.exact_design",
        "add_arguments",
        "run",
        "search for a hard puzzle, or for one with a single solution",
    ),
    "polyomino": ("lns.cli.exact_polyomino", "add_arguments", "run", "fill a grid with polyominoes: IQ Puzzler Pro"),
    "trace": ("lns.cli.exact_trace", "add_arguments", "run", "record a search step by step, as a page that plays it"),
    "paper": (
        "lns.cli.exact_paper",
        "add_arguments",
        "run",
        "repeat the experiments of a paper on instances of its kind",
    ),
}

_EPILOG = """\
Boards that differ only by swapped identical pieces are one solution. The four rotations of a board are counted
separately unless --fix-corner is given; the answer states which convention it follows. The number of nodes is - (null
in JSON) for kissat and xcover, which do not report it.
Exit status: 0 done or a budget spent, 1 there is no solution, 2 bad input, 130 interrupted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    jobs = parser.add_subparsers(dest="job", required=True, metavar="count|solve|" + "|".join(JOBS))
    for job, line in (("count", "count all solutions"), ("solve", "find the first solution, or prove there is none")):
        _add_search(jobs.add_parser(job, help=line, description=_sentence(line), epilog=_EPILOG), job)
    for job, (module, add, run_job, line) in JOBS.items():
        parser = jobs.add_parser(job, help=line, description=_sentence(line))
        parser.formatter_class = HelpFormatter
        _function(module, add)(parser)
        parser.set_defaults(run_job=_function(module, run_job))
    retired = jobs.add_parser("tray", prefix_chars="\0", add_help=False)  # `run` refuses it, whatever follows
    retired.add_argument("ignored", nargs="*")


def _sentence(line: str) -> str:
    return line[0].upper() + line[1:] + "."


def _add_search(parser: argparse.ArgumentParser, job: str) -> None:
    parser.formatter_class = HelpFormatter
    parser.add_argument(
        "instance", metavar="INSTANCE", help="a puzzle file, a viewer URL, or the name of a shipped instance"
    )
    parser.add_argument(
        "--solver",
        default="colorpairs",
        metavar="NAME",
        help="method (default colorpairs); `lns exact solvers` lists them",
    )
    parser.add_argument(
        "--fix-corner",
        action="store_true",
        help="count rotated copies of a board once, by pinning a corner piece that has no identical one",
    )
    parser.add_argument(
        "--start",
        metavar="BOARD",
        help="keep the pieces on this board (a file or viewer URL) and search for completions",
    )
    parser.add_argument(
        "--nodes", type=positive_number, metavar="N", help="stop after N nodes; each solver counts its own kind"
    )
    parser.add_argument("--time", type=duration, metavar="S", help="stop after S seconds, or like 10m, 2h, 7d")
    parser.add_argument(
        "--memory",
        type=megabytes,
        metavar="MB",
        help="memory limit of the separate process in which sat:..., cp and xcc run",
    )
    parser.add_argument(
        "--sat-solver",
        metavar="NAME",
        help="SAT solver of the methods sat:..., such as kissat, cadical, glucose, minisat",
    )
    parser.add_argument(
        "--seed",
        type=whole_number,
        metavar="N",
        help="random seed of the local searches sls:... and of --random-cell (default 0)",
    )
    add_puzzle_options(parser)
    add_board_options(parser, board="the board of --start", prefix="start-")
    parser.add_argument("--json", action="store_true", help="print one JSON object to stdout")
    parser.add_argument("--quiet", action="store_true", help="do not show progress")
    parser.set_defaults(all=False, output=None, force=False)
    if job == "solve":
        parser.add_argument("--all", action="store_true", help="find all solutions, not only the first")
        parser.add_argument(
            "-o",
            "--output",
            type=Path,
            metavar="FILE",
            help="write the board to FILE (.json, .url or .solution.txt); with --all a directory, one file a board",
        )
        parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists (not with --all)")
    parts = parser.add_argument_group("parts of ColorPairs")
    parts.add_argument(
        "--heuristic",
        metavar="NAME",
        help="branching rule: min-expected-gap (default), min-offer, min-expected-offer, min-expected-ratio, "
        "max-expected-filtering, row-major",
    )
    for name, (_, _, line) in SWITCHES.items():
        parts.add_argument(name, action="store_true", help=line)


def run(args: argparse.Namespace) -> int:
    from lns.terminal.signals import interrupt_on_signal, signal_handler

    with signal_handler(interrupt_on_signal):
        if args.job in JOBS:
            return int(args.run_job(args))
        if args.job == "tray":
            from lns_support.errors import InputError

            raise InputError("unknown job 'tray': did you mean 'polyomino'?")
        return _run_search(args)


def _function(module: str, name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def _run_search(args: argparse.Namespace) -> int:
    from exact.execution import Request
    from exact.outcome import SolveStatus
    from exact.solvers import solve_request
    from instances.formats import read_board, write
    from lns.api.starting import placed_as_clues
    from lns.cli.exact_boards import Boards
    from lns.terminal.progress import live_line
    from lns_support.errors import InputError

    options = _options(args)
    check_start_options(args)
    if args.all and args.force:
        raise InputError("--force is for a single board; with --all expected a new or empty directory, and no --force")
    document = read_puzzle(args, args.instance)
    puzzle, args.notes = document.puzzle, list(document.notes)
    assert puzzle is not None
    searched = puzzle  # boards are written for the puzzle itself, without the pieces of --start as clues
    if args.start is not None:
        start = read_board(args.start, puzzle, args.start_format, args.start_number)
        assert start.board is not None
        searched = placed_as_clues(puzzle, start.board, args.start)
        args.notes += [f"start board: {note}" for note in start.notes]
    if not args.all:
        check_board_file(args.output, puzzle, args.force)
    boards = Boards(puzzle, args.instance, args.output) if args.all else None
    if not args.quiet:
        announce_compilation(args.solver)
    try:
        with live_line(args.time, quiet=args.quiet) as line:
            request = Request(
                count_all=args.job == "count",
                nodes=args.nodes,
                seconds=args.time,
                options=options,
                on_progress=None
                if args.quiet
                else lambda progress: line.show(_progress_line(progress), progress.seconds),
                memory=None if args.memory is None else args.memory * 1_000_000,
                sat_solver=args.sat_solver,
                seed=args.seed or 0,
                on_solution=boards,
            )
            outcome = solve_request(searched, request, args.solver, fix_corner=args.fix_corner)
    except (InputError, KeyboardInterrupt):  # refused, or interrupted before the search began
        if boards is not None:
            boards.withdraw()
        raise
    written = boards is None and args.output is not None and outcome.board is not None
    try:
        if written:
            write(args.output, None, puzzle, outcome.board, instance=args.instance)
    finally:  # the answer is printed even if the file cannot be written, and the file written even if stdout is closed
        if not args.quiet:
            print_notes(args.notes)
        if args.json:
            print_json(_as_json(args, puzzle, outcome) | ({} if boards is None else boards.as_json()))
        else:
            _print(args, puzzle, outcome)
            print_text(*([] if boards is None else boards.lines()), sep="\n", end="\n" if boards is not None else "")
    if written and not args.json:
        print_text(f"written     {args.output}")
    if boards is not None and boards.failure is not None:
        raise boards.failure
    if outcome.status is SolveStatus.INTERRUPTED:
        return INTERRUPTED
    return ANSWER_IS_NO if outcome.status is SolveStatus.INFEASIBLE else DONE


def solutions_in_words(status: SolveStatus, solutions: int, *, counted: bool) -> str:
    """How many solutions there are, as far as a search tells; ``counted``: it was to find them all."""
    from exact.outcome import SolveStatus

    if status is SolveStatus.INFEASIBLE or (counted and status is SolveStatus.SOLVED):
        return f"{solutions:,}"
    if not solutions:
        return "none found yet; undecided"
    return f"at least {solutions:,}" if counted else f"{solutions:,} found; the search ended there"


def announce_compilation(solver: str) -> None:
    """Print a line on stderr if ``solver`` must be compiled first."""
    from exact.registry import SOLVERS
    from lns_support.kernel_cache import is_compiled

    entry = SOLVERS.get(solver)
    if entry is not None and entry.kernel_module is not None and not is_compiled(entry.kernel_module):
        print_error("compiling the search, once for this installation: about half a minute of an idle core ...")


def _options(args: argparse.Namespace) -> Options:
    from exact.colorpairs.options import Heuristic, Options
    from exact.registry import SOLVERS
    from lns_support.errors import InputError

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


def _progress_line(progress: Progress) -> str:
    if progress.building:
        return "building the model"
    share = f", about {progress.explored:.2%} of the tree" if progress.explored > 1e-5 else ""
    found = count_of(progress.solutions, "solution") if progress.solutions else "no solution yet"
    return f"{progress.nodes / 1e6:,.1f} M nodes, {found}{share}"


def _as_json(args: argparse.Namespace, puzzle: Puzzle, outcome: Outcome) -> dict[str, Any]:
    from exact.outcome import NODES_UNKNOWN
    from instances.formats import url_if_any

    answer: dict[str, Any] = {
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
        "notes": args.notes,
    }
    if args.job == "solve" and not args.all and outcome.board is not None:
        answer["placements"] = outcome.board.without_blanks(puzzle).pairs()
        answer["url"] = url_if_any(puzzle, outcome.board)
    return answer


def _print(args: argparse.Namespace, puzzle: Puzzle, outcome: Outcome) -> None:
    from exact.outcome import NODES_UNKNOWN

    counted = args.all or args.job == "count"
    if args.job == "solve" and not args.all and outcome.board is not None:
        print_text(*board_lines(puzzle, outcome.board), sep="\n")  # first: a URL may fill a terminal
    unbuilt = "; the time was over before the model was built" if "model_unfinished" in outcome.details else ""
    print_text(f"status      {outcome.status}{unbuilt}")
    print_text(f"solutions   {solutions_in_words(outcome.status, outcome.solutions, counted=counted)}")
    print_text(f"convention  {outcome.convention}; swapped identical pieces count once")
    if outcome.nodes == NODES_UNKNOWN:
        print_text(f"nodes       - ({args.solver}: the library does not report them)")
        print_text(f"time        {format_seconds(outcome.seconds)}")
    else:
        rate = outcome.nodes / outcome.seconds / 1e6 if outcome.seconds else 0.0
        print_text(f"nodes       {outcome.nodes:,} ({args.solver})")
        print_text(f"time        {format_seconds(outcome.seconds)}, {rate:#.3g} M nodes/s")
