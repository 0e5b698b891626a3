"""Programs that measure the exact searches: `python -m lns.exact.measurements PROGRAM ...`.

- `regions`: search regions of published or found boards in several orders of the cells; report results and times
- `infeasible`: measure proofs, by SAT encodings and ColorPairs, that a puzzle has no solution
- `rowscan-speed`: measure placements per second of the row scan

With ``-o`` the first two programs append a row for each run to a CSV file; after a stop, the same command goes on with
the runs that the file lacks.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from lns.exact.compare import ComparisonRow, PlannedRun, describe, run_experiment
from lns.exact.outcome import SolveStatus
from lns.exact.paper.bailleux2025 import proofs_text
from lns.exact.region.options import ORDERS, RegionOptions
from lns.exact.region.resolve import RegionStatus, resolve, warm_up
from lns.exact.region.searches import DynamicSearch
from lns.exact.region.windows import around_mismatches, window
from lns.exact.rowscan import RowScan
from lns.exact.text_table import markdown
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.files import read_text
from lns.instances.formats import load_board, load_puzzle, viewer_url
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify

ALL_ORDERS = {
    "static": RegionOptions(),
    "static, no prices": RegionOptions(prices=False),
    "auto": RegionOptions(order="auto"),
    "dynamic": RegionOptions(order="dynamic"),
    "dynamic, no backjumping": RegionOptions(order="dynamic", backjumping=False),
    "dynamic, no pairs": RegionOptions(order="dynamic", pairs=False),
    "dynamic, no curves": RegionOptions(order="dynamic", curves=False),
    "dynamic, with preemption": RegionOptions(order="dynamic", preemption=True, instantiation=True),
    "dynamic, min-expected-gap": RegionOptions(order="dynamic", heuristic="min-expected-gap"),
}
GROUPS = {"467 to 470": (467, 470), "461 to 464": (461, 464), "458 to 460": (458, 460), "all": (0, 1 << 20)}
"""Group of boards -> its lowest and highest published score; each group has lines of its own in the table."""


def read_boards(path: Path, puzzle: Puzzle) -> list[tuple[int, Board]]:
    """Read a collection of boards; return the published score of each board, and the board.

    The file is a CSV file with the columns ``score`` and ``board_edges`` (the letters of a viewer URL), or the
    ``boards.jsonl`` of a run directory. Raises InputError if the file has no board, or a line without a score and a
    board of the puzzle.
    """
    text, boards, line = read_text(path), list[tuple[int, Board]](), 0
    url = f"#puzzle=published&board_w={puzzle.width}&board_h={puzzle.height}&board_edges="
    try:
        rows: Any = text.splitlines() if path.suffix == ".jsonl" else csv.DictReader(io.StringIO(text))
        for line, each in enumerate(rows, 1 + isinstance(rows, csv.DictReader)):  # noqa: B007
            row = json.loads(each) if isinstance(each, str) else each
            if "oriented" in row:
                board = Board(np.array(row["oriented"], dtype=np.int32), puzzle.width, puzzle.height)
            else:
                board = load_board(url + row["board_edges"], puzzle)[1]
            boards.append((int(row["score"]), board))
    except InputError as error:
        raise InputError(error.message, path, line) from None
    except (csv.Error, ValueError, KeyError, TypeError, OverflowError):
        raise InputError("no score and board; expected the columns score and board_edges", path, line) from None
    if not boards:
        raise InputError("the file has no row with a board; expected 1 or more", path)
    return boards


# -- measurements of regions ------------------------------------------------------------------------------------------


def regions_of(puzzle: Puzzle, board: Board, shape: str, share: float | None, number: int) -> list[list[int]]:
    """Return the regions of a shape on a board, as lists of cells.

    "touched": the cells that touch a mismatch; "around": these cells and, if that makes at most 64, their neighbours,
    as `lns improve --around-mismatches`; "scatteredN": N random cells, half of which touch a mismatch (fewer if fewer
    do), with random seed ``number``; "HxW": the window of H rows and W columns that touches the most mismatches or, if
    ``share`` is given, all windows of this size that touch at least this share (0 to 1) of the board's mismatches.
    Raises InputError for another shape, and for a window that does not fit on the board.
    """
    mismatches = verify(puzzle, board).mismatches
    touched = sorted({cell for pair in mismatches for cell in pair})
    if shape in ("touched", "around"):
        return [touched if shape == "touched" else around_mismatches(puzzle, board)] if touched else []
    if match := re.fullmatch(r"scattered([0-9]+)", shape):
        rng, count = np.random.default_rng(number), int(match[1])
        if not 0 < count <= puzzle.cells:
            raise InputError(f"{count} scattered cells; expected 1 to {puzzle.cells}")
        chosen = rng.permutation(touched)[: count // 2].tolist()
        rest = [cell for cell in range(puzzle.cells) if cell not in touched]
        return [[*chosen, *rng.permutation(rest)[: count - len(chosen)].tolist()]]
    match = re.fullmatch(r"([0-9]{1,3})x([0-9]{1,3})", shape)
    height, width = (int(match[1]), int(match[2])) if match else (0, 0)
    if not (0 < height <= puzzle.height and 0 < width <= puzzle.width):
        raise InputError(
            f"unknown shape '{shape}'; expected HxW on a board of {puzzle.height}x{puzzle.width}, touched, around or "
            "scatteredN"
        )
    places = product(range(puzzle.height - height + 1), range(puzzle.width - width + 1))
    windows = [window(puzzle, height, width, row, column) for row, column in places]
    pairs = np.array(mismatches, dtype=np.int64).reshape(-1, 2)
    held = [int(np.isin(pairs, cells).any(axis=1).sum()) for cells in windows]
    if share is None:
        return [windows[int(np.argmax(held))]]
    least = share * len(mismatches)
    return [cells for cells, inside in zip(windows, held, strict=True) if share == 0 or (least and inside >= least)]


_RegionRun = tuple[str, int, PlannedRun]  # shape of the region, score of its board, search in one order of the cells


def _region_runs(puzzle: Puzzle, args: Namespace) -> Iterator[_RegionRun]:
    """Yield the planned searches that the command-line options ``args`` ask for, by shape and then by region."""
    orders = {name: RegionOptions(order=name) for name in args.orders.split(",") if args.orders != "all"}
    boards = list(enumerate(read_boards(args.boards, puzzle)))[:: args.every]
    for shape in args.shapes.split(","):
        found = [
            (score, board, cells)
            for number, (score, board) in boards
            for cells in regions_of(puzzle, board, shape, args.share, number)
        ]
        chosen = np.sort(np.random.default_rng(1).permutation(len(found))[: args.sample]).tolist()
        for score, board, cells in (found[at] for at in chosen):
            for order, options in (orders or ALL_ORDERS).items():
                yield shape, score, _planned(puzzle, board, cells, shape, (order, options), args)


def _planned(
    puzzle: Puzzle, board: Board, cells: list[int], shape: str, order: tuple[str, RegionOptions], args: Namespace
) -> PlannedRun:
    digest = sha256(board.placements.tobytes() + np.array(cells).tobytes()).hexdigest()[:16]
    instance = f"{shape} from cell {cells[0]}, {digest}"
    limits: dict[str, Any] = {"seconds": args.seconds}
    if args.nodes is not None:
        limits = {"nodes": int(args.nodes) // (DynamicSearch.NODE_COST if order[1].order == "dynamic" else 1)}
    ((unit, limit),) = limits.items()
    target = verify(puzzle, board).score + 1 if args.edge_more else None

    def make() -> ComparisonRow:
        begun = time.process_time()
        result = resolve(puzzle, board, cells, options=order[1], target=target, **limits)
        seconds = time.process_time() - begun
        if result.status is RegionStatus.INTERRUPTED:
            raise KeyboardInterrupt
        decided = result.proven if target is None else result.improved or result.bound < target
        status = str(SolveStatus.SOLVED if decided else SolveStatus.BUDGET_SPENT)
        note = f"{result.score_before} -> {result.score}, at most {result.bound}; {result.status}"
        note += f"; {viewer_url(puzzle, result.board)}" if result.improved else ""
        return ComparisonRow(instance, order[0], status, -1, result.nodes, seconds, note=note)

    question = f"{'one edge more' if args.edge_more else 'the best refill'}; sha256 {puzzle.sha256[:12]}"
    return PlannedRun(instance, order[0], question, make, f"{limit:.12g} {unit}")


_HEAD = ("region", "boards of", "order", "regions", "decided", "improved", "nodes, median", "s, median", "s, mean",
         "s, worst", "s, sum", "gap")  # fmt: skip


def regions(args: Namespace) -> None:
    """Search regions of some shapes on the boards of a collection, for the best refill or for one more matched edge.

    Shapes: HxW, the window of H rows and W columns with the most mismatches, or with --share all windows with at least
    this share of the board's mismatches; touched, the cells that touch a mismatch; around, these and their neighbours,
    if at most 64 cells in all; scatteredN, N random cells, half of them at a mismatch. The table, printed after Ctrl-C
    too, has a line for each shape, group of boards and order of the cells, with the number of regions decided (optimum
    proven; with --edge-more: one more edge found or proven impossible) and the CPU seconds, preparation included.
    """
    puzzle = load_puzzle(args.puzzle)
    planned = list(_region_runs(puzzle, args))
    for order in {run.solver.split(",")[0] for _, _, run in planned}:
        warm_up(order)
    made: list[tuple[str, int, ComparisonRow]] = []
    try:
        rows = run_experiment((run for _, _, run in planned), args.output)
        for (shape, score, _), row in zip(planned, rows, strict=True):
            made.append((shape, score, row))
            print(f"{describe(row)}; {row.note.split('; http')[0]}", file=sys.stderr, flush=True)
    finally:
        if made:
            print(markdown(_HEAD, list(_lines(made))))


def _lines(made: list[tuple[str, int, ComparisonRow]]) -> Iterator[list[str]]:
    """Yield the table's lines. Raises AssertionError if two orders of cells proved different optima of one region."""
    best: dict[str, int] = {}
    found: dict[tuple[str, str, str], list[tuple[ComparisonRow, int, int, int]]] = {}
    for shape, published, row in made:
        before, score, bound = map(int, re.findall(r"\d+", row.note)[:3])
        if score == bound and best.setdefault(row.instance, score) != score:
            raise AssertionError(f"{row.instance}: {best[row.instance]} and {score} were proven")
        for group, (low, high) in GROUPS.items():
            if low <= published <= high:
                found.setdefault((shape, group, row.solver), []).append((row, before, score, bound))
    for key, rows in found.items():
        decided, seconds = sum(row.is_finished for row, *_ in rows), [row.seconds for row, *_ in rows]
        gaps = [bound - score for row, _, score, bound in rows if not row.is_finished]
        figures = (np.median([row.nodes for row, *_ in rows]), np.median(seconds), np.mean(seconds), max(seconds))
        counts = (len(rows), decided, sum(score > before for _, before, score, _ in rows))
        gap = f"{min(gaps)} to {max(gaps)}" if gaps else ""
        yield [*key, *map(str, counts), *(f"{figure:.3g}" for figure in (*figures, sum(seconds))), gap]


# -- measurements of whole puzzles ------------------------------------------------------------------------------------


def infeasible(args: Namespace) -> None:
    """Print the number and mean processor time of proofs that puzzles have no solution, by board side and solver."""
    print(proofs_text(args.sides, args.per_size, args.seconds, args.output))


def rowscan_speed(args: Namespace) -> None:
    """Print the placements per second of the row scan on one core."""
    puzzle, nodes = load_puzzle(args.instance), int(args.nodes)
    print(f"{puzzle.name}: {placements_per_second(puzzle, nodes) / 1e6:.1f} M placements/s over {nodes:,} placements")


def placements_per_second(puzzle: Puzzle, nodes: int) -> float:
    """Return the placements per second of a row scan that ends after ``nodes`` placements or with its whole tree."""
    search = RowScan(puzzle)
    search.advance(0, True)  # compiles the kernel
    began = time.perf_counter()
    while search.nodes < nodes and not search.exhausted:
        search.advance(min(nodes - search.nodes, 50_000_000), False)
    return search.nodes / (time.perf_counter() - began)


# -- the command line -------------------------------------------------------------------------------------------------


def _positive(text: str, kind: Callable[[str], float] = float) -> float:
    value = kind(text)
    if not value > 0:
        raise ArgumentTypeError(f"{text} is not possible; expected more than 0")
    return value


def _counting(text: str) -> int:
    return int(_positive(text, int))


_PUZZLE = {"--puzzle": {"metavar": "INSTANCE", "required": True, "help": "the puzzle of the boards"}}
_CSV = {"-o --output": {"type": Path, "metavar": "CSV", "help": "a row for each run; the file is continued"}}
_SECONDS = {"--seconds": {"type": _positive, "metavar": "S", "default": 60.0, "help": "limit of each search (60)"}}
_PROGRAMS: dict[Callable[[Namespace], None], dict[str, dict[str, Any]]] = {
    regions: {
        "boards": {"type": Path, "help": "CSV file with the columns score and board_edges, or a boards.jsonl"},
        **_PUZZLE,
        "--shapes": {"metavar": "S,S", "default": "2x16,3x16,4x16", "help": "see above (2x16,3x16,4x16)"},
        "--share": {"type": float, "metavar": "PART",
                    "help": "all windows HxW with this share of their board's mismatches, not the worst"},
        "--sample": {"type": _counting, "metavar": "N", "help": "a random sample of the regions of each shape"},
        "--every": {"type": _counting, "metavar": "K", "default": 1, "help": "each K-th board"},
        "--orders": {"metavar": "NAME,NAME", "default": "static",
                     "help": f"in which cells are decided (static): {', '.join(ORDERS)}; or all, with parts off"},
        "--edge-more": {"action": "store_true", "help": "ask for a refill with one matched edge more, not the best"},
        **_SECONDS,
        "--nodes": {"type": _positive, "metavar": "N",
                    "help": "limit in node equivalents instead, which no load of the machine bends"},
        **_CSV,
    },
    infeasible: {
        "sides": {"type": int, "nargs": "+", "metavar": "SIDE", "help": "rows of the boards"},
        "--per-size": {"type": _counting, "metavar": "N", "default": 10, "help": "puzzles of each side (10)"},
        **_SECONDS,
        **_CSV,
    },
    rowscan_speed: {
        "instance": {"metavar": "INSTANCE", "help": "a puzzle"},
        "--nodes": {"type": _positive, "metavar": "N", "default": 2e9, "help": "placements (2e9)"},
    },
}  # fmt: skip
"""By program (the function that runs it), its command-line options: flags -> arguments of ``add_argument``."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program that the command line names. Returns the exit status: 0, 2 after bad input, 130 after Ctrl-C."""
    parser = ArgumentParser(prog="python -m lns.exact.measurements", description=__doc__)
    programs = parser.add_subparsers(metavar="PROGRAM", required=True)
    for program, options in _PROGRAMS.items():
        own = programs.add_parser(program.__name__.replace("_", "-"), description=program.__doc__)
        own.set_defaults(program=program)
        for flags, fields in options.items():
            own.add_argument(*flags.split(), **fields)
    args = parser.parse_args(argv)
    try:
        args.program(args)
    except (InputError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
