"""`lns collect`: gather the best boards of several runs, each once, verified again."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lns.terminal import options as opt
from lns.terminal.inputs import is_new_or_empty
from lns.terminal.output import ANSWER_IS_NO, BAD_INPUT, DONE, NO_URL, print_answer, print_error
from lns_support.errors import InputError
from lns_support.text import count_of, printable

if TYPE_CHECKING:
    from instances.board import Board
    from instances.puzzle import Puzzle


@dataclass(frozen=True)
class _CollectedBoard:
    puzzle: Puzzle
    board: Board
    score: int
    elapsed_s: float
    path: Path


@opt.command(
    opt.RUNS,
    opt.value("--min-score", "S", opt.whole_number, "list boards of at least this score (default: all)", default=0),
    opt.value("--top", "N", opt.positive_number, "list at most N boards of each set of pieces, the best ones"),
    opt.OUTPUT.but("write each board to a file of its own in this new folder", metavar="DIR"),
    opt.flag("--url", "print the viewer URL of each board"),
    opt.JSON.but("print one JSON object to stdout, with an object for each board"),
    epilog="Prints a line for each board, the best first; boards of several sets of pieces are listed apart. Boards "
    "that differ only by the numbering of pieces and colours or by swapped identical pieces are listed once. "
    "Exit status: 0 done, 1 there is no such board, 2 a DIR is no run directory (the boards of the others are "
    "listed all the same).",
)
def collect(args: argparse.Namespace) -> int:
    from instances.piece_set import translate, translation
    from lns.runs.find import run_directories

    unique: dict[tuple[str, bytes], _CollectedBoard] = {}
    sets: list[Puzzle] = []  # the first puzzle of each set of pieces
    status = DONE
    if args.output is not None and not is_new_or_empty(args.output):
        what = "is not empty" if args.output.is_dir() else "is a file"
        raise InputError(f"{what}; expected a new or empty folder", args.output)
    for path in run_directories(args.directories):
        try:
            for entry in _boards(path, args.min_score):
                known = next((each for each in sets if translation(entry.puzzle, each) is not None), None)
                if known is None:
                    sets.append(known := entry.puzzle)
                board = translate(entry.board, entry.puzzle, known)
                unique.setdefault((known.sha256, board.colours(known).tobytes()), entry)
        except InputError as error:
            print_error(f"lns: {printable(str(error), 2000)}")
            status = BAD_INPUT
    groups: dict[str, list[_CollectedBoard]] = {}
    for (known_sha256, _), entry in unique.items():
        groups.setdefault(known_sha256, []).append(entry)
    ranked = [sorted(group, key=lambda entry: -entry.score)[: args.top] for group in groups.values()]
    boards = [entry for group in ranked for entry in group]
    files: list[Path | None] = _write(args.output, boards) if args.output is not None else [None] * len(boards)
    listed = [_fields(entry, file) for entry, file in zip(boards, files, strict=True)]
    print_answer(args, {"boards": listed}, _lines(ranked, iter(listed), with_url=args.url))
    if not boards:
        least = f" of at least {args.min_score}" if args.min_score else ""
        print_error(f"lns: no board{least} in {', '.join(map(str, args.directories))}")
    return status if boards or status == BAD_INPUT else ANSWER_IS_NO


def _fields(entry: _CollectedBoard, file: Path | None) -> dict[str, Any]:
    from instances.eternity2 import name_of_clues
    from instances.formats import url_if_any
    from instances.piece_set import set_sha256

    return {
        "score": entry.score,
        "max_score": entry.puzzle.max_score,
        "instance": entry.puzzle.name,
        "instance_sha256": entry.puzzle.sha256,
        "set_sha256": set_sha256(entry.puzzle),
        "clues": name_of_clues(entry.puzzle),
        "run_dir": str(entry.path),
        "elapsed_s": entry.elapsed_s,
        "placements": entry.board.without_blanks(entry.puzzle).pairs(),
        "url": url_if_any(entry.puzzle, entry.board),
        "file": None if file is None else str(file),
    }


def _lines(groups: list[list[_CollectedBoard]], listed: Iterator[dict[str, Any]], *, with_url: bool) -> Iterator[str]:
    """The boards, a line each; a headline for each set of pieces where there are several."""
    from instances.eternity2 import name_of_set
    from lns.runs.files import format_duration

    for group in groups:
        puzzle = group[0].puzzle
        if len(groups) > 1:
            name, count = printable(name_of_set(puzzle)), count_of(len(group), "board")
            yield f"{name} (sha256 {puzzle.sha256[:12]}…): {count}"
        for entry, facts in zip(group, listed, strict=False):
            words = [f"{entry.score} of {puzzle.max_score}"]
            words += [f"after {format_duration(entry.elapsed_s)} of {entry.path}"]
            words += [f"clues: {facts['clues']}"] * bool(entry.puzzle.clues)
            words += [facts["file"]] * (facts["file"] is not None)
            words += [facts["url"] or NO_URL] * with_url
            yield "  ".join(words)


def _write(folder: Path, boards: list[_CollectedBoard]) -> list[Path | None]:
    """Write each board to a file that `lns show`, `lns solve --start` and the like read; the names of the files."""
    import json

    from instances.formats import best_json, write
    from lns.runs.directory import safe_name
    from lns_support.files import atomic_write

    folder.mkdir(parents=True, exist_ok=True)
    instances = {entry.puzzle.sha256: entry for entry in boards}
    numbers: Counter[str] = Counter()
    names: dict[str, str] = {}
    for sha256, entry in instances.items():
        name = safe_name(entry.puzzle.name)
        names[sha256] = name if name not in names.values() else f"{name}-{sha256[:8]}"
        write(folder / f"{names[sha256]}.instance.json", "json", entry.puzzle, None)
    files: list[Path | None] = []
    for entry in boards:
        base = f"{names[entry.puzzle.sha256]}-{entry.score}"
        numbers[base] += 1
        file = folder / f"{base}-{numbers[base]:04d}.json"
        fields = best_json(
            entry.puzzle, entry.board, instance=f"{names[entry.puzzle.sha256]}.instance.json", seed=0,
            elapsed_s=entry.elapsed_s,
        )  # fmt: skip
        atomic_write(file, json.dumps(fields) + "\n")
        files.append(file)
    return files


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
        print_error(f"lns: {path / BOARDS}: {count_of(damaged, 'damaged line')} skipped")
    try:
        best = read_best(path, puzzle)
        if best is not None and best.score >= min_score:
            elapsed_s = JsonFields(json_object(read_text(path / BEST))).number("elapsed_s", 0, 1e10)
            yield _CollectedBoard(puzzle, best.board, best.score, elapsed_s, path)
    except InputError as error:
        print_error(f"lns: {error}")
