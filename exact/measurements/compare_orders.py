"""Compare static and dynamic orders: `python -m lns.exact.measurements.compare_orders BOARDS.csv --puzzle INSTANCE`.

Shapes: HxW, the rectangle with the most mismatches; ``touched``, the cells that touch a mismatch; ``around``, these
and their neighbours (`lns improve --around-mismatches`); ``scatteredN``, N random cells, half of them at a mismatch.
"""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence

import numpy as np

from lns.exact.measurements.boards import Flags, measure, read_boards, timed, windows
from lns.exact.region.options import RegionOptions, options_without
from lns.exact.region.resolve import warm_up
from lns.exact.region.searches import DynamicSearch
from lns.exact.region.windows import around_mismatches
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify

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


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table by shape and order: windows proven, median nodes, median and total CPU seconds."""
    node_help = "limit in node equivalents instead, which no load of the machine bends"
    options: Flags = {
        "--shapes": {"metavar": "S,S", "default": _SHAPES, "help": f"default {_SHAPES}"},
        "--every": {"metavar": "K", "type": int, "default": 6, "help": "each K-th board (default 6)"},
        "--seconds": {"type": float, "default": 2.0, "help": "limit of each search (default 2)"},
        "--nodes": {"type": float, "help": node_help},
    }
    return measure(_print_table, __doc__, options, argv)


def _print_table(puzzle: Puzzle, args: Namespace) -> None:
    boards = [board for _, board in read_boards(args.boards, puzzle)][:: args.every]
    warm_up("static")
    warm_up("dynamic")
    print(f"| shape | windows | {' | '.join(_VARIANTS)} |")
    print("|---" * (2 + len(_VARIANTS)) + "|")
    for shape in args.shapes.split(","):
        print(f"| {shape} | {len(boards)} | {' | '.join(_compare(puzzle, boards, shape, args))} |", flush=True)


def _compare(puzzle: Puzzle, boards: list[Board], shape: str, args: Namespace) -> Iterator[str]:
    """For each variant, the entry of the table for a shape on all boards. Raises AssertionError if they disagree."""
    regions = [cells_of(puzzle, board, shape, number) for number, board in enumerate(boards)]
    best: dict[int, int] = {}
    for options in _VARIANTS.values():
        cost = DynamicSearch.NODE_COST if options.order == "dynamic" else 1
        nodes_limit = args.nodes and int(args.nodes) // cost
        proven, nodes, seconds = 0, [], []
        for number, (board, cells) in enumerate(zip(boards, regions, strict=True)):
            seconds_limit = None if args.nodes else args.seconds
            result, spent = timed(puzzle, board, cells, options, nodes=nodes_limit, seconds=seconds_limit)
            seconds.append(spent)
            nodes.append(result.nodes)
            proven += result.proven
            if result.proven and best.setdefault(number, result.score) != result.score:
                raise AssertionError(f"{shape} of board {number}: {best[number]} and {result.score} were proven")
        yield f"{proven}, {np.median(nodes):.2g}, {np.median(seconds):.2g}, {sum(seconds):.2g}"


def cells_of(puzzle: Puzzle, board: Board, shape: str, number: int) -> list[int]:
    """The cells of a shape on a board, see the module; ``number``: seed of ``scatteredN``.

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


if __name__ == "__main__":
    sys.exit(main())
