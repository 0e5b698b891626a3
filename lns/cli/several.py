"""`lns collect` and `lns compare`: the boards of several runs gathered, and the runs side by side."""

from __future__ import annotations

import argparse
import json
import math
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lns.exact.text_table import aligned, table_width
from lns.instances.errors import InputError
from lns.instances.files import atomic_write, read_text, write_output
from lns.instances.json_values import JsonFields, json_object
from lns.instances.text import count_of, cut_middle, printable
from lns.terminal import options as opt
from lns.terminal.inputs import is_new_or_empty
from lns.terminal.output import ANSWER_IS_NO, BAD_INPUT, DONE, NO_URL, picked, print_answer, print_error, terminal_width
from lns.version import __version__

if TYPE_CHECKING:
    from lns.instances.board import Board
    from lns.instances.puzzle import Puzzle
    from lns.runs.history import RunHistory
    from lns.runs.run_summary import RunSummary

MARKS = (("1 min", 60.0), ("10 min", 600.0), ("1 h", 3600.0), ("6 h", 21600.0), ("1 d", 86400.0), ("7 d", 604800.0))
LETTERS = string.ascii_uppercase + string.ascii_lowercase
CHART_LINES = 12


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
    from lns.instances.piece_set import translate, translation
    from lns.runs.directory import run_directories

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
    listed = [_board_facts(entry, file) for entry, file in zip(boards, files, strict=True)]
    print_answer(args, {"boards": listed}, _lines(ranked, iter(listed), with_url=args.url))
    if not boards:
        least = f" of at least {args.min_score}" if args.min_score else ""
        print_error(f"lns: no board{least} in {', '.join(map(str, args.directories))}")
    return status if boards or status == BAD_INPUT else ANSWER_IS_NO


def _board_facts(entry: _CollectedBoard, file: Path | None) -> dict[str, Any]:
    from lns.instances.eternity2 import name_of_clues
    from lns.instances.formats import url_if_any
    from lns.instances.piece_set import set_sha256

    puzzle = entry.puzzle
    facts = {"score": entry.score, "max_score": puzzle.max_score, "instance": puzzle.name}
    facts |= {"instance_sha256": puzzle.sha256, "set_sha256": set_sha256(puzzle), "clues": name_of_clues(puzzle)}
    facts |= {"run_dir": str(entry.path), "elapsed_s": entry.elapsed_s}
    facts |= {"placements": entry.board.without_blanks(puzzle).pairs(), "url": url_if_any(puzzle, entry.board)}
    return facts | {"file": None if file is None else str(file)}


def _lines(groups: list[list[_CollectedBoard]], listed: Iterator[dict[str, Any]], *, with_url: bool) -> Iterator[str]:
    """The boards, a line each; a headline for each set of pieces where there are several."""
    from lns.instances.eternity2 import name_of_set
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
    from lns.instances.formats import best_json, write
    from lns.runs.directory import safe_name

    folder.mkdir(parents=True, exist_ok=True)
    numbers: Counter[str] = Counter()
    names: dict[str, str] = {}
    files: list[Path | None] = []
    for entry in boards:
        puzzle = entry.puzzle
        if puzzle.sha256 not in names:
            name = safe_name(puzzle.name)
            names[puzzle.sha256] = name if name not in names.values() else f"{name}-{puzzle.sha256[:8]}"
            write(folder / f"{names[puzzle.sha256]}.instance.json", "json", puzzle, None)
        name = names[puzzle.sha256]
        base = f"{name}-{entry.score}"
        numbers[base] += 1
        instance, file = f"{name}.instance.json", folder / f"{base}-{numbers[base]:04d}.json"
        fields = best_json(puzzle, entry.board, instance=instance, seed=0, elapsed_s=entry.elapsed_s)
        atomic_write(file, json.dumps(fields) + "\n")
        files.append(file)
    return files


def _boards(path: Path, min_score: int) -> Iterator[_CollectedBoard]:
    """The verified boards of one run; how many lines are damaged is printed on stderr."""
    from lns.runs.board_log import BoardLogReader, is_verified
    from lns.runs.directory import read_best, read_run
    from lns.runs.files import BEST, BOARDS

    _, puzzle = read_run(path)
    reader = BoardLogReader(path, puzzle)
    seen: set[tuple[int, Board]] = set()  # verification takes longer than reading
    for entry in reader.read(min_score):
        if (entry.score, entry.board) in seen:
            continue
        if not is_verified(entry, puzzle):
            reader.damaged += 1
            continue
        seen.add((entry.score, entry.board))
        yield _CollectedBoard(puzzle, entry.board, entry.score, entry.elapsed_s, path)
    if reader.damaged:
        print_error(f"lns: {path / BOARDS}: {count_of(reader.damaged, 'damaged line')} skipped")
    try:
        best = read_best(path, puzzle)
        if best is not None and best.score >= min_score:
            elapsed_s = JsonFields(json_object(read_text(path / BEST))).number("elapsed_s", 0, 1e10)
            yield _CollectedBoard(puzzle, best.board, best.score, elapsed_s, path)
    except InputError as error:
        print_error(f"lns: {error}")


@opt.command(
    opt.RUNS, opt.OUTPUT.but("also write an HTML page with the curves"), opt.FORCE, opt.JSON,
    epilog="The columns after `time` say which score a run had after so much time of search. The runs "
    "have the same pieces, in any numbering, and any clues. Exit status: 0 done, 2 a DIR is no run, or the runs "
    "are of several sets of pieces.",
)  # fmt: skip
def compare(args: argparse.Namespace) -> int:
    from lns.runs.directory import run_directories
    from lns.runs.run_summary import check_same_set, load_summary

    opt.check_files(args.force, args.output)
    runs = [load_summary(path) for path in run_directories(args.directories)]
    for other in runs[1:]:
        check_same_set(runs[0], other)
    if args.output is not None:
        write_output(args.output, _page(runs))
    with table_width(terminal_width()):
        lines = [*_table(runs), "", *_chart(runs)]
    written = [] if args.output is None else [f"written  {args.output}"]
    print_answer(args, {"runs": [_run_facts(summary) for summary in runs]}, [*lines, *written])
    return DONE


def score_after(history: RunHistory, seconds: float) -> int | None:
    """Best score of a run after so much search; None before its first board, and where it did not search as long."""
    if history.elapsed_s < seconds:
        return None
    return max((entry.score for entry in history.improvements if entry.elapsed_s <= seconds), default=None)


def _rows(runs: Sequence[RunSummary]) -> tuple[list[str], list[list[str]]]:
    """Titles and cells of the table; only marks that a run has reached are columns."""
    from lns.runs.files import format_duration

    marks = [(name, at) for name, at in MARKS if any(summary.history.elapsed_s >= at for summary in runs)]
    heads = ["run", "engine", "seed", "workers", "best", "after", "time", "clues", *(name for name, _ in marks)]
    rows = []
    for summary in runs:
        history = summary.history
        after = format_duration(history.improvements[-1].elapsed_s) if history.improvements else "-"
        scores = [score_after(history, at) for _, at in marks]
        rows.append(
            [
                summary.name, summary.settings.engine, str(summary.settings.seed),
                str(history.sessions[-1].workers) if history.sessions else "-",
                str(summary.score) if summary.best else "-", after, format_duration(history.elapsed_s),
                summary.clues, *("-" if score is None else str(score) for score in scores),
            ]
        )  # fmt: skip
    return heads, rows


def _table(runs: Sequence[RunSummary]) -> list[str]:
    heads, rows = _rows(runs)
    lines = [["", *heads], *([_letter(number), *row] for number, row in enumerate(rows))]
    lines = [[cell if at != 1 else cut_middle(cell, 32) for at, cell in enumerate(line)] for line in lines]
    return aligned(lines, left=(0, 1, 2, 8), repeated=2).split("\n")


def _letter(number: int) -> str:
    return LETTERS[number % len(LETTERS)]


def _chart(runs: Sequence[RunSummary]) -> list[str]:
    """Best scores over time: each run by its letter, ``*`` where several have the same score."""
    from lns.runs.files import format_duration

    histories = [summary.history for summary in runs]
    improvements = [entry for history in histories for entry in history.improvements]
    if not improvements:
        return []
    width = min(100, terminal_width() or 80)
    columns = width - 6
    high = max(entry.score for entry in improvements)
    low = max(min(history.best_score for history in histories if history.improvements) - 4, high - CHART_LINES + 1)
    end = max(1.0, *(history.elapsed_s for history in histories))
    first = max(0.01, min(end / 10, *(entry.elapsed_s for entry in improvements)))
    grid = [[" "] * columns for _ in range(high - low + 1)]
    for number, history in enumerate(histories):
        for column in range(columns):
            left, right = (first * math.exp(math.log(end / first) * at / columns) for at in (column, column + 1))
            reached = history.elapsed_s >= left or not column
            score = score_after(history, min(right, history.elapsed_s)) if reached else None
            if score is not None and score >= low:
                cell = grid[high - score][column]
                grid[high - score][column] = _letter(number) if cell == " " else "*"
    lines = [f"{high - row:>5} {''.join(cells)}".rstrip() for row, cells in enumerate(grid)]
    ends = format_duration(first) if first >= 1 else f"{first:.2g} s"
    ruler = f"{'':>5} {ends}{'time of search, logarithmic':^{max(1, columns - len(ends) - len(format_duration(end)))}}"
    legend = [f"{'':>6}* several runs"] if any("*" in cells for cells in grid) else []
    return [*lines, f"{ruler}{format_duration(end)}", *legend]


def _page(runs: Sequence[RunSummary]) -> str:
    from html import escape

    from lns.instances.draw.page import page, table
    from lns.instances.eternity2 import name_of_set
    from lns.instances.piece_set import set_sha256
    from lns.runs.files import utc_now
    from lns.runs.page import Curve, curve_colour, scores_over_time

    curves = [Curve(summary.name, summary.history.improvements, summary.history.elapsed_s) for summary in runs]
    puzzle, name = runs[0].puzzle, name_of_set(runs[0].puzzle)
    drawn = [curve.name for curve in curves if curve.improvements]
    legend = "".join(
        f'<span style="color:{curve_colour(number)}">●</span> {escape(name)} &nbsp; '
        for number, name in enumerate(drawn)
    )
    heads, rows = _rows(runs)
    title = f"{name}: {count_of(len(runs), 'run')}"
    key = f"set {set_sha256(puzzle)[:16]}…"
    head = f'<h1>{escape(title)}</h1>\n<p class="soft">{puzzle.max_score} inner edges, {key}</p>'
    return page(
        title,
        head,
        [("Scores over time", f"{scores_over_time(curves)}<p>{legend}</p>"), ("Runs", table(heads, rows))],
        f"lns {__version__}, {utc_now()}",
    )


def _run_facts(summary: RunSummary) -> dict[str, Any]:
    """The object of a run in the JSON output."""
    from lns.instances.piece_set import set_sha256

    puzzle, history = summary.puzzle, summary.history
    facts: dict[str, Any] = {"run_dir": str(summary.path), "instance": puzzle.name, "instance_sha256": puzzle.sha256}
    facts |= {"set_sha256": set_sha256(puzzle), "clues": summary.clues} | picked(summary.settings, "engine seed")
    facts["workers"] = history.sessions[-1].workers if history.sessions else None
    facts |= {"score": summary.score, "max_score": puzzle.max_score, "elapsed_s": history.elapsed_s}
    facts["improvements"] = [[entry.score, entry.elapsed_s, entry.origin] for entry in history.improvements]
    return facts | {"scores_after": {name: score_after(history, at) for name, at in MARKS}}
