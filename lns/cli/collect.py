"""`lns collect`: the good boards of several runs, each once, verified again."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lns.terminal.options import nonempty_path, positive_number, whole_number
from lns.terminal.output import print_error
from lns_support.errors import InputError

if TYPE_CHECKING:
    from instances.board import Board
    from instances.puzzle import Puzzle


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directories", type=nonempty_path, nargs="+", metavar="DIR", help="run directories")
    parser.add_argument(
        "--min", type=whole_number, default=0, metavar="S", help="boards of at least this score (default all)"
    )
    parser.add_argument("--top", type=positive_number, metavar="N", help="at most so many, the best")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout: boards, an object each")
    parser.epilog = (
        "Prints a line a board: score and viewer URL, the best first. Boards that look the same (equal pieces "
        "exchanged) count once. Exit status: 0, 1 when there is no such board, 2 when a DIR is no run directory "
        "(the boards of the others are still shown)."
    )


@dataclass(frozen=True)
class _Found:
    puzzle: Puzzle
    board: Board
    score: int
    elapsed_s: float
    path: Path


def run(args: argparse.Namespace) -> int:
    from instances.formats import url_if_any
    from lns.terminal.output import ANSWER_IS_NO, BAD_INPUT, DONE, print_json
    from lns_support.text import printable

    unique: dict[tuple[str, bytes], _Found] = {}
    status = DONE
    for path in args.directories:
        try:
            for found in _boards(path, args.min):
                key = found.puzzle.sha256, found.board.colours(found.puzzle).tobytes()
                unique.setdefault(key, found)
        except InputError as error:
            print_error(f"lns: {printable(str(error), 2000)}")
            status = BAD_INPUT
    boards = sorted(unique.values(), key=lambda found: -found.score)[: args.top]
    rows: list[dict[str, Any]] = []
    for found in boards:
        url = url_if_any(found.puzzle, found.board)
        rows.append(
            {
                "score": found.score,
                "max_score": found.puzzle.max_score,
                "instance_sha256": found.puzzle.sha256,
                "run_dir": str(found.path),
                "elapsed_s": found.elapsed_s,
                "placements": found.board.pairs(),
                "url": url,
            }
        )
    if args.json:
        print_json({"boards": rows})
    else:
        for row in rows:
            print(
                row["score"], row["url"] or "(no viewer URL: not a letter for every colour; --json has the placements)"
            )
        if not rows:
            least = f" of at least {args.min}" if args.min else ""
            print_error(f"lns: no board{least} in {', '.join(map(str, args.directories))}")
    return status if rows or status == BAD_INPUT else ANSWER_IS_NO


def _boards(path: Path, at_least: int) -> Iterator[_Found]:
    """Boards of one run that are what they claim; what is damaged is counted on stderr."""
    from lns.runs.board_log import BoardLogReader, LoggedBoard, is_verified
    from lns.runs.directory import read_best, read_run
    from lns.runs.files import BEST, BOARDS
    from lns_support.files import read_text
    from lns_support.json_values import JsonFields, json_object

    _, puzzle = read_run(path)
    wrong = 0
    seen: set[tuple[int, Board]] = set()  # judging takes longer than reading
    for entry in BoardLogReader(path, puzzle).read(at_least):
        if isinstance(entry, LoggedBoard) and (entry.score, entry.board) in seen:
            continue
        if not isinstance(entry, LoggedBoard) or not is_verified(entry, puzzle):
            wrong += 1
            continue
        seen.add((entry.score, entry.board))
        yield _Found(puzzle, entry.board, entry.score, entry.elapsed_s, path)
    if wrong:
        print_error(f"lns: {path / BOARDS}: {wrong} damaged lines are passed over")
    try:
        best = read_best(path, puzzle)
        if best is not None and best.score >= at_least:
            elapsed_s = JsonFields(json_object(read_text(path / BEST))).number("elapsed_s", 0, 1e10)
            yield _Found(puzzle, best.board, best.score, elapsed_s, path)
    except InputError as error:
        print_error(f"lns: {error}")
