"""One edge more in a window? `python -m lns.exact.measurements.one_edge_more BOARDS --puzzle FILE --windows 5x6,5x8`.

Windows are all rectangles of a shape with a given share of the mismatches of their board; a random sample of them is
searched for a refill with one matched edge more. The table has CPU seconds of the whole call and nodes.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

import numpy as np

from lns.exact.measurements.boards import FROM_SCORE, Flags, measure, options_of, read_boards, timed, windows
from lns.exact.region.options import RegionOptions
from lns.exact.region.resolve import warm_up
from lns.instances.board import Board
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify

_HEADER = "| window | windows | decided | improved | nodes, median | s, median | s, mean | s, worst |"


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row of the table for each shape. Returns the exit status."""
    options: Flags = {
        "--windows": {"metavar": "HxW,HxW", "default": "5x4,5x6,5x8", "help": "shapes (default 5x4,5x6,5x8)"},
        "--from-score": FROM_SCORE,
        "--share": {"type": float, "default": 0.4, "help": "least share of the board's mismatches (default 0.4)"},
        "--sample": {"metavar": "N", "type": int, "default": 60, "help": "windows of each shape (default 60)"},
        "--nodes": {"type": float, "default": 1e8, "help": "budget of each window (default 1e8)"},
    }
    return measure(_print_table, __doc__, options, argv, order="auto")


def _print_table(puzzle: Puzzle, args: Namespace) -> None:
    options = options_of(args)
    boards = [board for score, board in read_boards(args.boards, puzzle) if score >= args.from_score]
    warm_up(args.order)
    print(_HEADER)
    print("|---" * (_HEADER.count("|") - 1) + "|")
    for shape in args.windows.split(","):
        damaged = damaged_windows(puzzle, boards, shape, args.share)
        sample = np.sort(np.random.default_rng(1).permutation(len(damaged))[: args.sample]).tolist()
        text = f"| {shape} | 0 |" + " |" * 6
        if sample:
            figures = _figures(puzzle, [damaged[number] for number in sample], int(args.nodes), options)
            text = f"| {shape} | {len(sample)} of {len(damaged)} |{figures}"
        print(text, flush=True)


def damaged_windows(puzzle: Puzzle, boards: list[Board], shape: str, share: float) -> list[tuple[Board, list[int]]]:
    """All windows of a shape, like ``5x6``, that hold or touch at least a share of the mismatches of their board.

    Raises
    ------
    InputError
        If the shape is not HxW or does not fit the board.
    """
    found = []
    for board in boards:
        total = len(verify(puzzle, board).mismatches)
        all_windows = windows(puzzle, board, shape)
        found += [(board, cells) for held, cells in all_windows if total and held >= share * total]
    return found


def _figures(puzzle: Puzzle, sample: list[tuple[Board, list[int]]], nodes: int, options: RegionOptions) -> str:
    """The figures of a sample of windows."""
    decided, improved, all_nodes, seconds = 0, 0, [], []
    for board, cells in sample:
        target = verify(puzzle, board).score + 1
        result, spent = timed(puzzle, board, cells, options, nodes=nodes, target=target)
        seconds.append(spent)
        all_nodes.append(result.nodes)
        improved += result.improved
        decided += result.improved or result.bound < target
    return (
        f" {decided} | {improved} | {np.median(all_nodes):.2g} | {np.median(seconds):.2g} | {np.mean(seconds):.2g} | "
        f"{max(seconds):.2g} |"
    )


if __name__ == "__main__":
    sys.exit(main())
