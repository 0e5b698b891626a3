"""`lns collect`: list the best boards of several runs, each once, verified again."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lns.terminal.options import nonempty_path, positive_number, whole_number
from lns.terminal.output import print_error, print_text
from lns_support.errors import InputError

if TYPE_CHECKING:
    from instances.board import Board
    from instances.puzzle import Puzzle


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directories", type=nonempty_path, nargs="+", metavar="DIR", help="run directories")
    parser.add_argument(
        "--min-score",
        type=whole_number,
        default=0,
        metavar="S",
        help="list boards of at least this score (default: all)",
    )
    parser.add_argument("--top", type=positive_number, metavar="N", help="list at most N boards, the best ones")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object to stdout, with an object for each board"
    )
    parser.epilog = (
        "Prints a line for each board: score and viewer URL, best first. Boards that differ only by swapped identical "
        "pieces are listed once. Exit status: 0 done, 1 there is no such board, 2 a DIR is no run directory (the "
        "boards of the others are listed all the same)."
    )


@dataclass(frozen=True)
class _CollectedBoard:
    puzzle: Puzzle
    board: Board
    score: int
    elapsed_s: float
    path: Path


def run(args: argparse.Namespace) -> int:
    from instances.formats import url_if_any
    from lns.terminal.output import ANSWER_IS_NO, BAD_INPUT, DONE, print_json
    from lns_support.text import printable

    unique: dict[tuple[str, bytes], _CollectedBoard] = {}
    status = DONE
    for path in args.directories:
        try:
            for entry in _boards(path, args.min_score):
                key = entry.puzzle.sha256, entry.board.colours(entry.puzzle).tobytes()
                unique.setdefault(key, entry)
        except InputError as error:
            print_error(f"lns: {printable(str(error), 2000)}")
            status = BAD_INPUT
    boards = sorted(unique.values(), key=lambda entry: -entry.score)[: args.top]
    rows: list[dict[str, Any]] = []
    for entry in boards:
        url = url_if_any(entry.puzzle, entry.board)
        rows.append(
            {
                "score": entry.score,
                "max_score": entry.puzzle.max_score,
                "instance_sha256": entry.puzzle.sha256,
                "run_dir": str(entry.path),
                "elapsed_s": entry.elapsed_s,
                "placements": entry.board.pairs(),
                "url": url,
            }
        )
    if args.json:
        print_json({"boards": rows})
    else:
        for row in rows:
            print_text(
                row["score"],
                row["url"] or "(no viewer URL: too many colours for its letters; --json prints the placements)",
            )
        if not rows:
            least = f" of at least {args.min_score}" if args.min_score else ""
            print_error(f"lns: no board{least} in {', '.join(map(str, args.directories))}")
    return status if rows or status == BAD_INPUT else ANSWER_IS_NO


def _boards(path: Path, min_score: int) -> Iterator[_CollectedBoard]:
    """The verified boards of one run; how many lines are damaged is printed on stderr."""
    from lns.runs.board_log import BoardLogReader, LoggedBoard, is_verified
    from lns.runs.directory import read_best, read_run
    from lns.runs.files import BEST, BOARDS
    from lns_support.files import read_text
    from lns_support.json_values import JsonFields, json_object

    _, puzzle = read_run(path)
    damaged = 0
    seen: set[tuple[int, Board]] = set()  # verification takes longer than reading
    for entry in BoardLogReader(path, puzzle).read(min_score):
        if isinstance(entry, LoggedBoard) and (entry.score, entry.board) in seen:
            continue
        if not isinstance(entry, LoggedBoard) or not is_verified(entry, puzzle):
            damaged += 1
            continue
        seen.add((entry.score, entry.board))
        yield _CollectedBoard(puzzle, entry.board, entry.score, entry.elapsed_s, path)
    if damaged:
        print_error(f"lns: {path / BOARDS}: {damaged} damaged lines are skipped")
    try:
        best = read_best(path, puzzle)
        if best is not None and best.score >= min_score:
            elapsed_s = JsonFields(json_object(read_text(path / BEST))).number("elapsed_s", 0, 1e10)
            yield _CollectedBoard(puzzle, best.board, best.score, elapsed_s, path)
    except InputError as error:
        print_error(f"lns: {error}")
