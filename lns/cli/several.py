"""`lns collect` and `lns compare`: the boards of several runs gathered, and the runs side by side."""

from __future__ import annotations

import argparse
import json
import math
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from lns.exact.text_table import aligned, table_width
from lns.instances import formats
from lns.instances.board import Board
from lns.instances.draw.page import page, table
from lns.instances.errors import InputError
from lns.instances.eternity2 import name_of_clues, name_of_set
from lns.instances.files import atomic_write, read_text, write_output
from lns.instances.json_values import JsonFields, json_object
from lns.instances.piece_set import set_sha256, translate, translation
from lns.instances.puzzle import Puzzle
from lns.instances.text import count_of, cut_middle, printable
from lns.runs.board_log import BoardLogReader, is_verified
from lns.runs.directory import read_best, read_run, run_directories, safe_name
from lns.runs.files import BEST, BOARDS, format_duration, utc_now
from lns.runs.history import RunHistory
from lns.runs.run_summary import RunSummary, check_same_set, load_summary
from lns.terminal import options as opt
from lns.terminal import output as out
from lns.terminal.inputs import is_new_or_empty
from lns.version import __version__

MARKS = (("1 min", 60.0), ("10 min", 600.0), ("1 h", 3600.0), ("6 h", 21600.0), ("1 d", 86400.0), ("7 d", 604800.0))
LETTERS = string.ascii_uppercase + string.ascii_lowercase
CHART_LINES = 12


class _Found(NamedTuple):
    """A verified board of a run."""

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
    unique: dict[str, dict[bytes, _Found]] = {}  # by set of pieces, then by the colours of the board
    sets: list[Puzzle] = []  # the first puzzle of each set of pieces
    status = out.DONE
    if args.output is not None and not is_new_or_empty(args.output):
        what = "is not empty" if args.output.is_dir() else "is a file"
        raise InputError(f"{what}; expected a new or empty folder", args.output)
    for path in run_directories(args.directories):
        try:
            for found in _boards(path, args.min_score):
                known = next((each for each in sets if translation(found.puzzle, each) is not None), None)
                if known is None:
                    sets.append(known := found.puzzle)
                board = translate(found.board, found.puzzle, known)
                unique.setdefault(known.sha256, {}).setdefault(board.colours(known).tobytes(), found)
        except InputError as error:
            out.print_error(f"lns: {printable(str(error), 2000)}")
            status = out.BAD_INPUT
    ranked = [sorted(group.values(), key=lambda found: -found.score)[: args.top] for group in unique.values()]
    boards = [found for group in ranked for found in group]
    files = [None] * len(boards) if args.output is None else _write(args.output, boards)
    listed = [_board_facts(found, file) for found, file in zip(boards, files, strict=True)]
    out.print_answer(args, {"boards": listed}, _lines(ranked, iter(listed), with_url=args.url))
    if not boards:
        least = f" of at least {args.min_score}" if args.min_score else ""
        out.print_error(f"lns: no board{least} in {', '.join(map(str, args.directories))}")
    return status if boards or status == out.BAD_INPUT else out.ANSWER_IS_NO


def _board_facts(found: _Found, file: Path | None) -> dict[str, Any]:
    puzzle = found.puzzle
    facts = {"score": found.score, "max_score": puzzle.max_score, "instance": puzzle.name}
    facts |= {"instance_sha256": puzzle.sha256, "set_sha256": set_sha256(puzzle), "clues": name_of_clues(puzzle)}
    facts |= {"run_dir": str(found.path), "elapsed_s": found.elapsed_s}
    facts |= {"placements": found.board.without_blanks(puzzle).pairs()}
    return facts | {"url": formats.url_if_any(puzzle, found.board), "file": None if file is None else str(file)}


def _lines(groups: list[list[_Found]], listed: Iterator[dict[str, Any]], *, with_url: bool) -> Iterator[str]:
    """The boards, a line each; a headline for each set of pieces where there are several."""
    for group in groups:
        puzzle = group[0].puzzle
        if len(groups) > 1:
            name, count = printable(name_of_set(puzzle)), count_of(len(group), "board")
            yield f"{name} (sha256 {puzzle.sha256[:12]}…): {count}"
        for found, facts in zip(group, listed, strict=False):
            words = [f"{found.score} of {puzzle.max_score}"]
            words += [f"after {format_duration(found.elapsed_s)} of {found.path}"]
            words += [f"clues: {facts['clues']}"] * bool(found.puzzle.clues)
            words += [facts["file"]] * (facts["file"] is not None)
            words += [facts["url"] or out.NO_URL] * with_url
            yield "  ".join(words)


def _write(folder: Path, boards: Iterable[_Found]) -> list[Path]:
    """Write each board to a file that `lns show`, `lns solve --start` and the like read; the names of the files."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers: Counter[str] = Counter()
    names: dict[str, str] = {}
    files = []
    for found in boards:
        puzzle = found.puzzle
        if puzzle.sha256 not in names:
            name = safe_name(puzzle.name)
            names[puzzle.sha256] = name if name not in names.values() else f"{name}-{puzzle.sha256[:8]}"
            formats.write(folder / f"{names[puzzle.sha256]}.instance.json", "json", puzzle, None)
        name = names[puzzle.sha256]
        base = f"{name}-{found.score}"
        numbers[base] += 1
        files.append(folder / f"{base}-{numbers[base]:04d}.json")
        instance = f"{name}.instance.json"
        fields = formats.best_json(puzzle, found.board, instance=instance, seed=0, elapsed_s=found.elapsed_s)
        atomic_write(files[-1], json.dumps(fields) + "\n")
    return files


def _boards(path: Path, min_score: int) -> Iterator[_Found]:
    """The verified boards of one run; how many lines are damaged is printed on stderr."""
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
        yield _Found(puzzle, entry.board, entry.score, entry.elapsed_s, path)
    if reader.damaged:
        out.print_error(f"lns: {path / BOARDS}: {count_of(reader.damaged, 'damaged line')} skipped")
    try:
        best = read_best(path, puzzle)
        if best is not None and best.score >= min_score:
            elapsed_s = JsonFields(json_object(read_text(path / BEST))).number("elapsed_s", 0, 1e10)
            yield _Found(puzzle, best.board, best.score, elapsed_s, path)
    except InputError as error:
        out.print_error(f"lns: {error}")


@opt.command(
    opt.RUNS, opt.OUTPUT.but("also write an HTML page with the curves"), opt.FORCE, opt.JSON,
    epilog="The columns after `time` say which score a run had after so much time of search. The runs "
    "have the same pieces, in any numbering, and any clues. Exit status: 0 done, 2 a DIR is no run, or the runs "
    "are of several sets of pieces.",
)  # fmt: skip
def compare(args: argparse.Namespace) -> int:
    opt.check_files(args.force, args.output)
    runs = [load_summary(path) for path in run_directories(args.directories)]
    for other in runs[1:]:
        check_same_set(runs[0], other)
    if args.output is not None:
        write_output(args.output, _page(runs))
    heads, rows = _rows(runs)
    lines = [["", *heads], *([_letter(number), *row] for number, row in enumerate(rows))]
    lines = [[cell if at != 1 else cut_middle(cell, 32) for at, cell in enumerate(line)] for line in lines]
    with table_width(out.terminal_width()):
        listed = aligned(lines, left=(0, 1, 2, 8), repeated=2)
    written = [] if args.output is None else [f"written  {args.output}"]
    out.print_answer(args, {"runs": [_run_facts(summary) for summary in runs]}, [listed, "", *_chart(runs), *written])
    return out.DONE


def score_after(history: RunHistory, seconds: float) -> int | None:
    """Best score of a run after so much search; None before its first board, and where it did not search as long."""
    if history.elapsed_s < seconds:
        return None
    return max((entry.score for entry in history.improvements if entry.elapsed_s <= seconds), default=None)


def _rows(runs: Sequence[RunSummary]) -> tuple[list[str], list[list[str]]]:
    """Titles and cells of the table; only marks that a run has reached are columns."""
    marks = [(name, at) for name, at in MARKS if any(summary.history.elapsed_s >= at for summary in runs)]
    heads = ["run", "engine", "seed", "workers", "best", "after", "time", "clues", *(name for name, _ in marks)]
    rows = []
    for summary in runs:
        history, settings = summary.history, summary.settings
        workers = str(history.sessions[-1].workers) if history.sessions else "-"
        after = format_duration(history.improvements[-1].elapsed_s) if history.improvements else "-"
        row = [summary.name, settings.engine, str(settings.seed), workers, str(summary.score) if summary.best else "-"]
        row += [after, format_duration(history.elapsed_s), summary.clues]
        scores = [score_after(history, at) for _, at in marks]
        rows.append([*row, *("-" if score is None else str(score) for score in scores)])
    return heads, rows


def _letter(number: int) -> str:
    return LETTERS[number % len(LETTERS)]


def _chart(runs: Sequence[RunSummary]) -> list[str]:
    """Best scores over time: each run by its letter, ``*`` where several have the same score."""
    histories = [summary.history for summary in runs]
    improvements = [entry for history in histories for entry in history.improvements]
    if not improvements:
        return []
    columns = min(100, out.terminal_width() or 80) - 6
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
                cells = grid[high - score]
                cells[column] = _letter(number) if cells[column] == " " else "*"
    lines = [f"{high - row:>5} {''.join(cells)}".rstrip() for row, cells in enumerate(grid)]
    begins, ends = format_duration(first) if first >= 1 else f"{first:.2g} s", format_duration(end)
    ruler = f"{'':>5} {begins}{'time of search, logarithmic':^{max(1, columns - len(begins) - len(ends))}}{ends}"
    legend = [f"{'':>6}* several runs"] if any("*" in cells for cells in grid) else []
    return [*lines, ruler, *legend]


def _page(runs: Sequence[RunSummary]) -> str:
    from lns.runs.page import Curve, curve_colour, scores_over_time

    curves = [Curve(summary.name, summary.history.improvements, summary.history.elapsed_s) for summary in runs]
    puzzle, name = runs[0].puzzle, name_of_set(runs[0].puzzle)
    drawn = [curve.name for curve in curves if curve.improvements]
    legend = "".join(
        f'<span style="color:{curve_colour(number)}">●</span> {escape(name)} &nbsp; '
        for number, name in enumerate(drawn)
    )
    title = f"{name}: {count_of(len(runs), 'run')}"
    about = f"{puzzle.max_score} inner edges, set {set_sha256(puzzle)[:16]}…"
    head = f'<h1>{escape(title)}</h1>\n<p class="soft">{about}</p>'
    scores = ("Scores over time", f"{scores_over_time(curves)}<p>{legend}</p>")
    return page(title, head, [scores, ("Runs", table(*_rows(runs)))], f"lns {__version__}, {utc_now()}")


def _run_facts(summary: RunSummary) -> dict[str, Any]:
    """The object of a run in the JSON output."""
    puzzle, history = summary.puzzle, summary.history
    facts: dict[str, Any] = {"run_dir": str(summary.path), "instance": puzzle.name, "instance_sha256": puzzle.sha256}
    facts |= {"set_sha256": set_sha256(puzzle), "clues": summary.clues} | out.picked(summary.settings, "engine seed")
    facts["workers"] = history.sessions[-1].workers if history.sessions else None
    facts |= {"score": summary.score, "max_score": puzzle.max_score, "elapsed_s": history.elapsed_s}
    facts["improvements"] = [[entry.score, entry.elapsed_s, entry.origin] for entry in history.improvements]
    return facts | {"scores_after": {name: score_after(history, at) for name, at in MARKS}}
