"""Programs that measure the exact searches: `python -m lns.exact.measurements PROGRAM ...`.

- `full-rows`: windows of full rows on published boards, how many are proven; the file of results is continued
- `one-edge-more`: whether windows of found boards can gain one matched edge
- `compare-orders`: the static and the dynamic order of the region search on regions of some shapes
- `infeasible`: proofs of the SAT encodings that a puzzle has no solution
- `rowscan-speed`: placements per second of the row scan
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
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from lns.exact import csv_records
from lns.exact.paper.bailleux2025 import proofs_text
from lns.exact.region.options import ORDERS, PARTS, RegionOptions, options_without, parse_parts
from lns.exact.region.resolve import resolve
from lns.exact.region.result import RegionResult, RegionStatus
from lns.exact.region.searches import DynamicSearch
from lns.exact.region.warmup import warm_up
from lns.exact.region.windows import around_mismatches, window
from lns.exact.rowscan import RowScan
from lns.exact.text_table import markdown
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.files import read_text
from lns.instances.formats import load_board, load_puzzle, viewer_url
from lns.instances.puzzle import Puzzle
from lns.instances.text import quoted
from lns.instances.verify import verify


def read_boards(path: Path, puzzle: Puzzle) -> list[tuple[int, Board]]:
    """Read a collection of boards.

    Parameters
    ----------
    path : Path
        CSV file with the columns ``score`` and ``board_edges`` (the letters of a viewer URL), or the ``boards.jsonl``
        of a run directory.
    puzzle : Puzzle

    Returns
    -------
    list of (int, Board)
        Score, as published, and board.

    Raises
    ------
    InputError
        If a column is missing, there is no row, or a row has no board of the puzzle.
    """
    text, boards, line = read_text(path), [], 1
    try:
        if path.suffix == ".jsonl":
            for line, words in enumerate(text.splitlines(), 1):  # noqa: B007
                entry = json.loads(words)
                placements = np.array(entry["oriented"], dtype=np.int32)
                boards.append((int(entry["score"]), Board(placements, puzzle.width, puzzle.height)))
            return boards
        reader = csv.DictReader(io.StringIO(text), strict=True)
        missing = [column for column in ("score", "board_edges") if column not in (reader.fieldnames or ())]
        if missing:
            raise InputError(f"there is no column '{missing[0]}'; expected score, board_edges")
        for row in reader:
            line = reader.line_num
            if None in row.values():
                raise InputError("the line is too short; expected score, board_edges")
            if not row["score"].isdecimal():
                raise InputError(f"score is {quoted(row['score'])}; expected a number")
            url = f"#puzzle=published&board_w={puzzle.width}&board_h={puzzle.height}&board_edges={row['board_edges']}"
            boards.append((int(row["score"]), load_board(url, puzzle)[1]))
    except csv.Error as error:
        raise InputError(f"the file is not valid CSV: {error}", path) from None
    except InputError as error:
        raise InputError(error.message, path, error.line or line) from None
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise InputError(f"{error}; expected a board of a run", path, line) from None
    if not boards:
        raise InputError("the file has no row with a board; expected 1 or more", path)
    return boards


def windows(puzzle: Puzzle, board: Board, shape: str) -> Iterator[tuple[int, list[int]]]:
    """All windows of a shape, HxW, with the number of mismatches that each holds or touches.

    Raises InputError if the shape is not HxW or does not fit the board.
    """
    match = re.fullmatch(r"([0-9]{1,3})x([0-9]{1,3})", shape)
    height, width = (int(match[1]), int(match[2])) if match else (0, 0)
    if not (0 < height <= puzzle.height and 0 < width <= puzzle.width):
        raise InputError(f"unknown shape '{shape}'; expected HxW on a board of {puzzle.height}x{puzzle.width}")
    pairs = np.array(verify(puzzle, board).mismatches, dtype=np.int64).reshape(-1, 2)
    for row, column in product(range(puzzle.height - height + 1), range(puzzle.width - width + 1)):
        cells = window(puzzle, height, width, row, column)
        yield int(np.isin(pairs, cells).any(axis=1).sum()), cells


def timed(
    puzzle: Puzzle, board: Board, cells: list[int], options: RegionOptions, **limits: Any
) -> tuple[RegionResult, float]:
    """Re-solve a region; the result and CPU seconds. Raises KeyboardInterrupt if interrupted."""
    cpu = time.process_time()
    result = resolve(puzzle, board, cells, options=options, **limits)
    if result.status is RegionStatus.INTERRUPTED:
        raise KeyboardInterrupt
    return result, time.process_time() - cpu


_GROUPS = {"467 to 470": (467, 470), "461 to 464": (461, 464), "458 to 460": (458, 460), "all": (0, 1 << 20)}
_FULL_ROWS = ("full rows", "boards of", "windows", "proven", "improved", "open", "nodes, median", "s, median",
              "s, worst", "gap")  # fmt: skip


@dataclass(frozen=True)
class WindowRow:
    """A line of the results. ``limit`` and the seconds are of the search, ``cpu_seconds`` of the whole call."""

    board: int
    published: int
    rows: int
    first: int
    mismatches: int
    status: str
    score_before: int
    score: int
    bound: int
    nodes: int
    seconds: float
    cpu_seconds: float
    limit: float
    url: str
    question: str
    pieces: str

    @property
    def key(self) -> tuple[str, int, int]:
        """What the row is about: the board, by its pieces, the height and the first row."""
        return self.pieces, self.rows, self.first


def full_rows(puzzle: Puzzle, args: Namespace) -> None:
    """For every board and height, re-solve the window of full rows with the most mismatches, or every window.

    A row is appended to the results for each window. One is reused only for the same board and the same question
    (puzzle, order, parts switched off), if it is proven or its time limit was not smaller. The table of all results of
    the question is printed at the end, also after Ctrl-C.
    """
    question = " ".join([puzzle.sha256[:16], args.order, *(f"without {part}" for part in sorted(args.without))])

    def rows() -> list[WindowRow]:
        return [row for row in csv_records.read(args.results, WindowRow) if row.question == question]

    boards, options = read_boards(args.boards, puzzle), options_without(args.order, args.without)
    done = {row.key for row in rows() if row.score == row.bound or row.limit >= args.seconds}
    warm_up(args.order)
    try:
        for height, (number, (score, board)) in product(map(int, args.rows.split(",")), enumerate(boards)):
            pieces = sha256(board.placements.tobytes()).hexdigest()[:16]
            of_height = list(enumerate(windows(puzzle, board, f"{height}x{puzzle.width}")))
            worst = max(of_height, key=lambda numbered: numbered[1][0])
            for first, (mismatches, cells) in of_height if args.all_windows else [worst]:
                if score < args.from_score or (pieces, height, first) in done:
                    continue
                result, cpu = timed(puzzle, board, cells, options, seconds=args.seconds)
                url = viewer_url(puzzle, result.board) if result.improved else ""
                about = (number, score, height, first, mismatches, str(result.status))
                scores = (result.score_before, result.score, result.bound, result.nodes)
                seconds = (round(result.seconds, 4), round(cpu, 4), args.seconds)
                csv_records.append(args.results, WindowRow(*about, *scores, *seconds, url, question, pieces))
                print(
                    f"board {number} ({score}), rows {first}:{first + height}: {result.status}, {result.score_before} "
                    f"-> {result.score}, at most {result.bound}, {result.seconds:.2f} s", flush=True,
                )  # fmt: skip
    finally:
        if args.results.exists():
            print(markdown(_FULL_ROWS, list(_lines_of_rows(rows()))))


def _lines_of_rows(rows: list[WindowRow]) -> Iterator[list[str]]:
    """The latest results by height and published score."""
    latest = {row.key: row for row in rows}.values()
    for height, (name, (low, high)) in product(sorted({row.rows for row in latest}), _GROUPS.items()):
        chosen = [row for row in latest if row.rows == height and low <= row.published <= high]
        if chosen:
            gaps = [row.bound - row.score for row in chosen if row.bound > row.score]
            seconds = [row.cpu_seconds for row in chosen]
            counts = (
                len(chosen),
                len(chosen) - len(gaps),
                sum(row.score > row.score_before for row in chosen),
                len(gaps),
            )
            figures = (np.median([row.nodes for row in chosen]), np.median(seconds), max(seconds))
            gap = f"{min(gaps)} to {max(gaps)}" if gaps else ""
            yield [str(height), name, *map(str, counts), *(f"{figure:.3g}" for figure in figures), gap]


def one_edge_more(puzzle: Puzzle, args: Namespace) -> None:
    """Search a random sample of the windows of some shapes for a refill with one matched edge more.

    The windows are all those that hold or touch a given share of the mismatches of their board. The table has CPU
    seconds of the whole call, and nodes.
    """
    options = options_without(args.order, args.without)
    boards = [board for score, board in read_boards(args.boards, puzzle) if score >= args.from_score]
    warm_up(args.order)
    head = ["window", "windows", "decided", "improved", "nodes, median", "s, median", "s, mean", "s, worst"]
    print(markdown(head, []))
    for shape in args.windows.split(","):
        damaged = damaged_windows(puzzle, boards, shape, args.share)
        chosen = np.sort(np.random.default_rng(1).permutation(len(damaged))[: args.sample]).tolist()
        decided, improved, nodes, seconds = 0, 0, [], []
        for board, cells in (damaged[number] for number in chosen):
            target = verify(puzzle, board).score + 1
            result, spent = timed(puzzle, board, cells, options, nodes=int(args.nodes), target=target)
            seconds.append(spent)
            nodes.append(result.nodes)
            improved += result.improved
            decided += result.improved or result.bound < target
        text = " 0 |" + " |" * 6
        if chosen:
            figures = (np.median(nodes), np.median(seconds), np.mean(seconds), max(seconds))
            text = f" {len(chosen)} of {len(damaged)} | {decided} | {improved} |"
            text += "".join(f" {figure:.2g} |" for figure in figures)
        print(f"| {shape} |{text}", flush=True)


def damaged_windows(puzzle: Puzzle, boards: list[Board], shape: str, share: float) -> list[tuple[Board, list[int]]]:
    """All windows of a shape, like ``5x6``, that hold or touch at least a share of the mismatches of their board.

    Raises InputError if the shape is not HxW or does not fit the board.
    """
    found = []
    for board in boards:
        total, all_windows = len(verify(puzzle, board).mismatches), windows(puzzle, board, shape)
        found += [(board, cells) for held, cells in all_windows if total and held >= share * total]
    return found


_VARIANTS = {
    "static": RegionOptions(),
    "static, no prices": RegionOptions(prices=False),
    "auto": RegionOptions(order="auto"),
    "dynamic": RegionOptions(order="dynamic"),
    **{f"dynamic, no {part}": options_without("dynamic", {part}) for part in ("backjumping", "pairs", "curves")},
    "dynamic, with preemption": RegionOptions(order="dynamic", preemption=True, instantiation=True),
    "dynamic, min-expected-gap": RegionOptions(order="dynamic", heuristic="min-expected-gap"),
}
_SHAPES = "2x16,2x10,3x7,3x4,4x4,4x5,5x5,scattered24,scattered32,scattered48,touched,around"


def compare_orders(puzzle: Puzzle, args: Namespace) -> None:
    """Compare the orders by shape: windows proven, median nodes, median and total CPU seconds.

    Shapes: HxW, the rectangle with the most mismatches; ``touched``, the cells that touch a mismatch; ``around``, these
    and their neighbours (`lns improve --around-mismatches`); ``scatteredN``, N random cells, half at a mismatch.
    """
    boards = [board for _, board in read_boards(args.boards, puzzle)][:: args.every]
    warm_up("static")
    warm_up("dynamic")
    print(markdown(["shape", "windows", *_VARIANTS], []))
    for shape in args.shapes.split(","):
        regions = [(board, cells_of(puzzle, board, shape, number)) for number, board in enumerate(boards)]
        best: dict[int, int] = {}
        of_variants = [_of_variant(puzzle, regions, options, args, best) for options in _VARIANTS.values()]
        print(f"| {shape} | {len(boards)} | {' | '.join(of_variants)} |", flush=True)


def _of_variant(
    puzzle: Puzzle,
    regions: list[tuple[Board, list[int]]],
    options: RegionOptions,
    args: Namespace,
    best: dict[int, int],
) -> str:
    """The entry of a variant. Raises AssertionError if it proves other scores than ``best``, region -> proven score."""
    cost = DynamicSearch.NODE_COST if options.order == "dynamic" else 1
    limits = {"nodes": int(args.nodes) // cost} if args.nodes else {"seconds": args.seconds}
    results = [timed(puzzle, board, cells, options, **limits) for board, cells in regions]
    proven = [(number, result.score) for number, (result, _) in enumerate(results) if result.proven]
    for number, score in proven:
        if best.setdefault(number, score) != score:
            raise AssertionError(f"region {number}: {best[number]} and {score} were proven")
    nodes, seconds = [result.nodes for result, _ in results], [spent for _, spent in results]
    return f"{len(proven)}, {np.median(nodes):.2g}, {np.median(seconds):.2g}, {sum(seconds):.2g}"


def cells_of(puzzle: Puzzle, board: Board, shape: str, number: int) -> list[int]:
    """The cells of a shape on a board, see `compare_orders`; ``number``: seed of ``scatteredN``.

    Raises InputError if the shape is unknown or does not fit the board.
    """
    touched = sorted({cell for pair in verify(puzzle, board).mismatches for cell in pair})
    if shape == "touched":
        return touched
    if shape == "around":
        return around_mismatches(puzzle, board)
    if match := re.fullmatch(r"scattered([0-9]+)", shape):
        rng, count = np.random.default_rng(number), int(match[1])
        chosen = rng.permutation(touched)[: count // 2].tolist()
        rest = [cell for cell in range(puzzle.cells) if cell not in touched]
        return [*chosen, *rng.permutation(rest)[: count - len(chosen)].tolist()]
    if re.fullmatch(r"[0-9]+x[0-9]+", shape):
        return max(windows(puzzle, board, shape), key=lambda held_and_cells: held_and_cells[0])[1]
    raise InputError(f"unknown shape '{shape}'; expected HxW on the board, touched, around or scatteredN")


def infeasible(args: Namespace) -> None:
    """Mean processor time of proofs that a puzzle has no solution, and their number, by side and solver."""
    print(proofs_text(args.sides, args.per_size, args.seconds, args.output))


def rowscan_speed(args: Namespace) -> None:
    """Placements per second of the row scan on one core."""
    puzzle, nodes = load_puzzle(args.instance), int(args.nodes)
    print(f"{puzzle.name}: {placements_per_second(puzzle, nodes) / 1e6:.1f} M placements/s over {nodes:,} placements")


def placements_per_second(puzzle: Puzzle, nodes: int) -> float:
    """Placements per second of a row scan of ``nodes`` placements, or fewer if its tree ends; without compilation."""
    search = RowScan(puzzle)
    search.advance(0, True)  # compiles
    began = time.perf_counter()
    while search.nodes < nodes and not search.exhausted:
        search.advance(min(nodes - search.nodes, 50_000_000), False)
    return search.nodes / (time.perf_counter() - began)


def _positive(text: str) -> float:
    value = float(text)
    if not value > 0:
        raise ArgumentTypeError(f"{text} is not possible; expected more than 0")
    return value


def _counting(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ArgumentTypeError(f"{text} is not possible; expected 1 or more")
    return value


_Option = tuple[str, Callable[[str], Any], str, Any, str]
_ORDER = f"in which cells are decided: {', '.join(ORDERS)}"
_PROGRAMS: dict[Callable[..., None], tuple[_Option, ...]] = {
    full_rows: (
        ("--order", str, "NAME", "static", _ORDER),
        ("--rows", str, "N,N", "2,3,4", "heights of the windows"),
        ("--all-windows", bool, "", False, "every window of full rows, not only the worst"),
        ("--seconds", _positive, "S", 60.0, "limit of each window"),
        ("--from-score", int, "N", 0, "only boards of this score or more"),
        ("--results", Path, "FILE", Path("windows.csv"), "a row for each window; the file is continued"),
    ),
    one_edge_more: (
        ("--order", str, "NAME", "auto", _ORDER),
        ("--windows", str, "HxW,HxW", "5x4,5x6,5x8", "shapes"),
        ("--from-score", int, "N", 0, "only boards of this score or more"),
        ("--share", float, "PART", 0.4, "least share of the board's mismatches"),
        ("--sample", int, "N", 60, "windows of each shape"),
        ("--nodes", _positive, "N", 1e8, "budget of each window"),
    ),
    compare_orders: (
        ("--shapes", str, "S,S", _SHAPES, "see above"),
        ("--every", _counting, "K", 6, "each K-th board"),
        ("--seconds", _positive, "S", 2.0, "limit of each search"),
        ("--nodes", _positive, "N", None, "limit in node equivalents instead, which no load of the machine bends"),
    ),
    infeasible: (
        ("sides", int, "SIDE", None, "rows of the boards"),
        ("--per-size", _counting, "N", 10, "puzzles of each side"),
        ("--seconds", _positive, "S", 60.0, "limit of a run"),
        ("-o --output", Path, "CSV", None, "a row for each run; the file is continued"),
    ),
    rowscan_speed: (
        ("instance", str, "INSTANCE", None, "a puzzle"),
        ("--nodes", _positive, "N", 2e9, "placements"),
    ),
}
"""Program -> its options: flags, type, metavar, default and help. The first three take a collection of boards."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a program. Returns 0, 2 after bad input, which is printed in one sentence, or 130 after Ctrl-C."""
    parser = ArgumentParser(prog="python -m lns.exact.measurements", description=__doc__)
    programs = parser.add_subparsers(metavar="PROGRAM", required=True)
    for number, (program, options) in enumerate(_PROGRAMS.items()):
        own = programs.add_parser(program.__name__.replace("_", "-"), description=program.__doc__)
        own.set_defaults(program=program)
        if number < 3:
            boards = "CSV file with the columns score and board_edges, or a boards.jsonl"
            own.add_argument("boards", metavar="BOARDS", type=Path, help=boards)
            own.add_argument("--puzzle", metavar="INSTANCE", required=True)
        if options[0][0] == "--order":
            own.add_argument("--without", metavar="PART,PART", default="", help=f"switch off: {', '.join(PARTS)}")
        for flags, kind, metavar, default, text in options:
            shape: dict[str, Any] = {"type": kind, "metavar": metavar, "default": default}
            shape = {"action": "store_true"} if kind is bool else shape | ({"nargs": "+"} if flags == "sides" else {})
            own.add_argument(*flags.split(), help=f"{text} (default {default})" if default else text, **shape)
    args = parser.parse_args(argv)
    try:
        if "without" in args:
            args.without = parse_parts(args.without)
        args.program(*([load_puzzle(args.puzzle)] if "puzzle" in args else []), args)
    except (InputError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
