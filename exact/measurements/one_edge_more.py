"""One edge more in a window? `python -m exact.measurements.one_edge_more BOARDS --puzzle INSTANCE --windows 5x6,5x8`.

BOARDS is a CSV file with the columns score and board_edges, or the ``boards.jsonl`` of a run directory. Windows are all
rectangles of a shape with a given share of the mismatches of their board; a random sample of them is searched for a
refill with one matched edge more. The table has CPU seconds of the whole call and nodes.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from exact.measurements.published_boards import read_boards
from exact.region.options import ORDERS, PARTS, RegionOptions, options_without, parse_parts
from exact.region.resolve import resolve
from exact.region.result import RegionStatus
from exact.region.warmup import warm_up
from exact.region.windows import window
from instances.board import Board
from instances.formats import load_puzzle
from instances.puzzle import Puzzle
from instances.verify import verify
from lns_support.errors import InputError
from lns_support.files import read_text
from lns_support.text import quoted

_HEADER = "| window | windows | decided | improved | nodes, median | s, median | s, mean | s, worst |"


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row of the table for each shape. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m exact.measurements.one_edge_more", description=__doc__)
    parser.add_argument("boards", metavar="BOARDS", type=Path, help="CSV file or boards.jsonl")
    parser.add_argument("--puzzle", metavar="INSTANCE", required=True)
    parser.add_argument("--windows", metavar="HxW,HxW", default="5x4,5x6,5x8", help="shapes (default 5x4,5x6,5x8)")
    parser.add_argument("--from-score", type=int, default=0, help="only boards of this score or more")
    parser.add_argument("--share", type=float, default=0.4, help="least share of the board's mismatches (default 0.4)")
    parser.add_argument("--sample", metavar="N", type=int, default=60, help="windows of each shape (default 60)")
    parser.add_argument("--nodes", type=float, default=1e8, help="budget of each window (default 1e8)")
    parser.add_argument("--order", choices=ORDERS, default="auto", help="in which cells are decided (auto)")
    parser.add_argument("--without", metavar="PART,PART", default="", help=f"switch off: {', '.join(PARTS)}")
    args = parser.parse_args(argv)
    try:
        options = options_without(args.order, parse_parts(args.without))
        puzzle = load_puzzle(args.puzzle)
        boards = [board for score, board in _boards(args.boards, puzzle) if score >= args.from_score]
        warm_up(args.order)
        print(_HEADER)
        print("|---" * (_HEADER.count("|") - 1) + "|")
        for shape in args.windows.split(","):
            print(_row(puzzle, damaged_windows(puzzle, boards, shape, args.share), shape, args, options), flush=True)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def _boards(path: Path, puzzle: Puzzle) -> list[tuple[int, Board]]:
    """The boards of a CSV file or of a ``boards.jsonl``, with their scores."""
    if path.suffix != ".jsonl":
        return read_boards(path, puzzle)
    boards = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        try:
            entry = json.loads(line)
            oriented = np.array(entry["oriented"], dtype=np.int32)
            score = int(entry["score"])
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise InputError(f"{quoted(str(path))}: line {number}: {error}; expected a board of a run") from None
        boards.append((score, Board(oriented, puzzle.width, puzzle.height)))
    return boards


def damaged_windows(puzzle: Puzzle, boards: list[Board], shape: str, share: float) -> list[tuple[Board, list[int]]]:
    """All windows of a shape, like ``5x6``, that hold or touch at least a share of the mismatches of their board.

    Raises
    ------
    InputError
        If the shape is not HxW or does not fit the board.
    """
    match = re.fullmatch(r"([0-9]{1,3})x([0-9]{1,3})", shape)
    height, width = (int(match[1]), int(match[2])) if match else (0, 0)
    if not (0 < height <= puzzle.height and 0 < width <= puzzle.width):
        raise InputError(f"unknown shape '{shape}'; expected HxW on a board of {puzzle.height}x{puzzle.width}")
    found = []
    for board in boards:
        pairs = np.array(verify(puzzle, board).mismatches, dtype=np.int64).reshape(-1, 2)
        rows, columns = np.divmod(pairs, puzzle.width)
        for row in range(puzzle.height - height + 1):
            for column in range(puzzle.width - width + 1):
                inside = (rows >= row) & (rows < row + height) & (columns >= column) & (columns < column + width)
                if len(pairs) and inside.any(axis=1).sum() >= share * len(pairs):
                    found.append((board, window(puzzle, height, width, row, column)))
    return found


def _row(
    puzzle: Puzzle,
    windows: list[tuple[Board, list[int]]],
    shape: str,
    args: argparse.Namespace,
    options: RegionOptions,
) -> str:
    """The row of the table for one shape."""
    sample = np.sort(np.random.default_rng(1).permutation(len(windows))[: args.sample]).tolist()
    if not sample:
        return f"| {shape} | 0 |" + " |" * 6
    decided, improved, nodes, seconds = 0, 0, [], []
    for number in sample:
        board, cells = windows[number]
        target = verify(puzzle, board).score + 1
        cpu = time.process_time()
        result = resolve(puzzle, board, cells, target=target, nodes=int(args.nodes), options=options)
        seconds.append(time.process_time() - cpu)
        if result.status is RegionStatus.INTERRUPTED:
            raise KeyboardInterrupt
        nodes.append(result.nodes)
        improved += result.improved
        decided += result.improved or result.bound < target
    return (
        f"| {shape} | {len(sample)} of {len(windows)} | {decided} | {improved} | {np.median(nodes):.2g} | "
        f"{np.median(seconds):.2g} | {np.mean(seconds):.2g} | {max(seconds):.2g} |"
    )


if __name__ == "__main__":
    sys.exit(main())
