"""One edge more in a window? `python -m exact.measurements.one_edge_more BOARDS --puzzle INSTANCE --windows 5x6,5x8`.

Windows are all rectangles of a shape with a given share of the mismatches of their board; a random sample of them is
searched for a refill with one matched edge more. The table has CPU seconds of the whole call and nodes.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

import numpy as np

from exact.measurements.boards import exit_status, measuring_parser, read_boards, timed, windows
from exact.region.options import ORDERS, PARTS, RegionOptions, options_without, parse_parts
from exact.region.warmup import warm_up
from instances.board import Board
from instances.formats import load_puzzle
from instances.puzzle import Puzzle
from instances.verify import verify

_HEADER = "| window | windows | decided | improved | nodes, median | s, median | s, mean | s, worst |"


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row of the table for each shape. Returns the exit status."""
    parser = measuring_parser("one_edge_more", __doc__)
    parser.add_argument("--windows", metavar="HxW,HxW", default="5x4,5x6,5x8", help="shapes (default 5x4,5x6,5x8)")
    parser.add_argument("--from-score", type=int, default=0, help="only boards of this score or more")
    parser.add_argument("--share", type=float, default=0.4, help="least share of the board's mismatches (default 0.4)")
    parser.add_argument("--sample", metavar="N", type=int, default=60, help="windows of each shape (default 60)")
    parser.add_argument("--nodes", type=float, default=1e8, help="budget of each window (default 1e8)")
    parser.add_argument("--order", choices=ORDERS, default="auto", help="in which cells are decided (auto)")
    parser.add_argument("--without", metavar="PART,PART", default="", help=f"switch off: {', '.join(PARTS)}")
    return exit_status(_print_table, parser.parse_args(argv))


def _print_table(args: Namespace) -> None:
    options = options_without(args.order, parse_parts(args.without))
    puzzle = load_puzzle(args.puzzle)
    boards = [board for score, board in read_boards(args.boards, puzzle) if score >= args.from_score]
    warm_up(args.order)
    print(_HEADER)
    print("|---" * (_HEADER.count("|") - 1) + "|")
    for shape in args.windows.split(","):
        damaged = damaged_windows(puzzle, boards, shape, args.share)
        sample = np.sort(np.random.default_rng(1).permutation(len(damaged))[: args.sample]).tolist()
        cells = _figures(puzzle, [damaged[number] for number in sample], int(args.nodes), options)
        print(f"| {shape} | {len(sample)} of {len(damaged)} |{cells}" if sample else f"| {shape} | 0 |" + " |" * 6)
        sys.stdout.flush()


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
    if not sample:
        return ""
    return (
        f" {decided} | {improved} | {np.median(all_nodes):.2g} | {np.median(seconds):.2g} | {np.mean(seconds):.2g} | "
        f"{max(seconds):.2g} |"
    )


if __name__ == "__main__":
    sys.exit(main())
