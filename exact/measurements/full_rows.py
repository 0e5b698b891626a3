"""Windows of full rows on published boards: `python -m exact.measurements.full_rows BOARDS.csv --puzzle INSTANCE`.

For every board and height it re-solves the window of full rows with the most mismatches, or every window, and prints a
table of how many were proven. A row of a CSV file is appended for each window, so that a stopped run can be continued.
A row is reused only for the same board and the same question (puzzle, order, parts switched off).
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from exact.measurements.boards import exit_status, measuring_parser, numbered_rows, read_boards, timed, windows
from exact.region.options import ORDERS, PARTS, options_without, parse_parts
from exact.region.warmup import warm_up
from instances.board import Board
from instances.formats import load_puzzle, viewer_url
from instances.puzzle import Puzzle
from lns_support.csv_records import append_row

_FIELDS = (
    "board", "published", "rows", "first", "mismatches", "status", "score_before", "score", "bound", "nodes", "seconds",
    "cpu_seconds", "limit", "url", "question", "pieces",
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Re-solve the windows that are not in the results yet, then print the table. Returns the exit status."""
    parser = measuring_parser("full_rows", __doc__)
    parser.add_argument("--rows", metavar="N,N", default="2,3,4", help="heights of the windows (default 2,3,4)")
    parser.add_argument("--all-windows", action="store_true", help="every window of full rows, not only the worst")
    parser.add_argument("--seconds", type=float, default=60.0, help="limit of each window")
    parser.add_argument("--from-score", type=int, default=0, help="only boards published with this score or more")
    parser.add_argument("--without", metavar="PART,PART", default="", help=f"switch off: {', '.join(PARTS)}")
    parser.add_argument("--order", choices=ORDERS, default="static", help="in which cells are decided (static)")
    parser.add_argument("--results", metavar="FILE", type=Path, default=Path("windows.csv"))
    return exit_status(_run, parser.parse_args(argv))


def _run(args: Namespace) -> None:
    heights = [int(part) for part in args.rows.split(",")]
    without = parse_parts(args.without)
    puzzle = load_puzzle(args.puzzle)
    question = " ".join([puzzle.sha256[:16], args.order, *(f"without {part}" for part in sorted(without))])
    try:
        _measure(args, puzzle, heights, question)
    finally:
        if args.results.exists():
            print(table(args.results, question))


def _measure(args: Namespace, puzzle: Puzzle, heights: list[int], question: str) -> None:
    """Re-solve every window that has no row yet, or one that was not proven within a smaller time limit."""
    published = read_boards(args.boards, puzzle)
    options = options_without(args.order, parse_parts(args.without))
    settled = [row for row in _rows(args.results, question) if _proven(row) or float(row["limit"]) >= args.seconds]
    done = set(map(_key, settled))
    warm_up(args.order)
    chosen = [(number, *pair) for number, pair in enumerate(published) if pair[0] >= args.from_score]
    for height in heights:
        for number, score, board in chosen:
            pieces = sha256(board.placements.tobytes()).hexdigest()[:16]
            of_height = list(windows(puzzle, board, f"{height}x{puzzle.width}"))
            for first in range(len(of_height)) if args.all_windows else [worst_rows(puzzle, board, height)]:
                if (pieces, height, first) in done:
                    continue
                mismatches, cells = of_height[first]
                result, cpu = timed(puzzle, board, cells, options, seconds=args.seconds)
                url = viewer_url(puzzle, result.board) if result.improved else ""
                row = (number, score, height, first, mismatches, str(result.status), result.score_before, result.score,
                       result.bound, result.nodes, round(result.seconds, 4), round(cpu, 4), args.seconds, url, question,
                       pieces)  # fmt: skip
                append_row(args.results, _FIELDS, dict(zip(_FIELDS, row, strict=True)))
                print(f"board {number} ({score}), rows {first}:{first + height}: {result.status}, "
                      f"{result.score_before} -> {result.score}, at most {result.bound}, {result.seconds:.2f} s",
                      flush=True)  # fmt: skip


def worst_rows(puzzle: Puzzle, board: Board, height: int) -> int:
    """The first row, from 0, of the window of full rows that contains or touches the most mismatches."""
    return int(np.argmax([held for held, _ in windows(puzzle, board, f"{height}x{puzzle.width}")]))


def table(results: Path, question: str) -> str:
    """The results of one question as a Markdown table, by height and published score.

    Parameters
    ----------
    results : Path
        CSV file of this module.
    question : str
        The value of its column ``question``.

    Returns
    -------
    str
    """
    latest = {_key(row): row for row in _rows(results, question)}
    groups = (("467 to 470", 467, 470), ("461 to 464", 461, 464), ("458 to 460", 458, 460), ("all", 0, 1 << 20))
    out = [
        "| full rows | boards of | windows | proven | improved | open | nodes, median | s, median | s, worst | gap |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for height in sorted({key[1] for key in latest}):
        for name, low, high in groups:
            chosen = [row for key, row in latest.items() if key[1] == height and low <= int(row["published"]) <= high]
            if not chosen:
                continue
            proven = [row for row in chosen if _proven(row)]
            gaps = [int(row["bound"]) - int(row["score"]) for row in chosen if not _proven(row)]
            seconds = np.array([float(row["cpu_seconds"]) for row in chosen])
            nodes = float(np.median([int(row["nodes"]) for row in chosen]))
            improved = sum(int(row["score"]) > int(row["score_before"]) for row in chosen)
            out.append(
                f"| {height} | {name} | {len(chosen)} | {len(proven)} | {improved} | {len(gaps)} | {nodes:.3g} | "
                f"{np.median(seconds):.3g} | {seconds.max():.3g} | {f'{min(gaps)} to {max(gaps)}' if gaps else ''} |"
            )
    return "\n".join(out)


def _key(row: dict[str, str]) -> tuple[str, int, int]:
    return row["pieces"], int(row["rows"]), int(row["first"])


def _proven(row: dict[str, str]) -> bool:
    return row["score"] == row["bound"]


def _rows(results: Path, question: str) -> list[dict[str, str]]:
    """The rows of the results for one question; none if there is no file."""
    numbered = numbered_rows(results, _FIELDS) if results.exists() else []
    return [row for _, row in numbered if row["question"] == question]


if __name__ == "__main__":
    sys.exit(main())
