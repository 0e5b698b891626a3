"""Windows of full rows on published boards: `python -m lns.exact.measurements.full_rows BOARDS.csv --puzzle INSTANCE`.

For every board and height it re-solves the window of full rows with the most mismatches, or every window, and prints a
table of how many were proven. A row of a CSV file is appended for each window, so that a stopped run can be continued.
A row is reused only for the same board and the same question (puzzle, order, parts switched off).
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from lns.exact import csv_records
from lns.exact.measurements.boards import FROM_SCORE, Flags, measure, options_of, read_boards, timed, windows
from lns.exact.region.options import parse_parts
from lns.exact.region.resolve import warm_up
from lns.instances.board import Board
from lns.instances.formats import viewer_url
from lns.instances.puzzle import Puzzle

_GROUPS = {"467 to 470": (467, 470), "461 to 464": (461, 464), "458 to 460": (458, 460), "all": (0, 1 << 20)}


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

    @property
    def proven(self) -> bool:
        return self.score == self.bound


def main(argv: Sequence[str] | None = None) -> int:
    """Re-solve the windows that are not in the results yet, then print the table. Returns the exit status."""
    options: Flags = {
        "--rows": {"metavar": "N,N", "default": "2,3,4", "help": "heights of the windows (default 2,3,4)"},
        "--all-windows": {"action": "store_true", "help": "every window of full rows, not only the worst"},
        "--seconds": {"type": float, "default": 60.0, "help": "limit of each window"},
        "--from-score": FROM_SCORE,
        "--results": {"metavar": "FILE", "type": Path, "default": Path("windows.csv")},
    }
    return measure(_run, __doc__, options, argv, order="static")


def _run(puzzle: Puzzle, args: Namespace) -> None:
    without = (f"without {part}" for part in sorted(parse_parts(args.without)))
    question = " ".join([puzzle.sha256[:16], args.order, *without])
    try:
        _measure(args, puzzle, [int(part) for part in args.rows.split(",")], question)
    finally:
        if args.results.exists():
            print(table(args.results, question))


def _measure(args: Namespace, puzzle: Puzzle, heights: list[int], question: str) -> None:
    """Re-solve every window that has no row yet, or one that was not proven within a smaller time limit."""
    published = read_boards(args.boards, puzzle)
    options = options_of(args)
    done = {row.key for row in _rows(args.results, question) if row.proven or row.limit >= args.seconds}
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
                row = WindowRow(
                    number, score, height, first, mismatches, str(result.status), result.score_before, result.score,
                    result.bound, result.nodes, round(result.seconds, 4), round(cpu, 4), args.seconds, url, question,
                    pieces,
                )  # fmt: skip
                csv_records.append(args.results, row)
                print(f"board {number} ({score}), rows {first}:{first + height}: {row.status}, "
                      f"{row.score_before} -> {row.score}, at most {row.bound}, {result.seconds:.2f} s",
                      flush=True)  # fmt: skip


def worst_rows(puzzle: Puzzle, board: Board, height: int) -> int:
    """The first row, from 0, of the window of full rows that contains or touches the most mismatches."""
    return int(np.argmax([held for held, _ in windows(puzzle, board, f"{height}x{puzzle.width}")]))


def table(results: Path, question: str) -> str:
    """The results of one question in a CSV file of `WindowRow` as a Markdown table, by height and published score."""
    latest = {row.key: row for row in _rows(results, question)}
    out = [
        "| full rows | boards of | windows | proven | improved | open | nodes, median | s, median | s, worst | gap |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for height in sorted({row.rows for row in latest.values()}):
        for name, (low, high) in _GROUPS.items():
            chosen = [row for row in latest.values() if row.rows == height and low <= row.published <= high]
            if not chosen:
                continue
            gaps = [row.bound - row.score for row in chosen if not row.proven]
            seconds = np.array([row.cpu_seconds for row in chosen])
            improved = sum(row.score > row.score_before for row in chosen)
            out.append(
                f"| {height} | {name} | {len(chosen)} | {len(chosen) - len(gaps)} | {improved} | {len(gaps)} | "
                f"{np.median([row.nodes for row in chosen]):.3g} | {np.median(seconds):.3g} | {seconds.max():.3g} | "
                f"{f'{min(gaps)} to {max(gaps)}' if gaps else ''} |"
            )
    return "\n".join(out)


def _rows(results: Path, question: str) -> list[WindowRow]:
    """The rows of the results for one question; none if there is no file."""
    return [row for row in csv_records.read(results, WindowRow) if row.question == question]


if __name__ == "__main__":
    sys.exit(main())
