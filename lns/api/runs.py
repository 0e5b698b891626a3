"""`status` and `collect`: what run directories hold, read only, while their runs go on or after they ended."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from lns.instances import formats
from lns.instances.arguments import checked
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.eternity2 import name_of_clues, name_of_set
from lns.instances.files import atomic_write, read_text
from lns.instances.json_values import JsonFields, json_object
from lns.instances.piece_set import set_sha256, translate, translation
from lns.instances.puzzle import Puzzle
from lns.instances.records import Records
from lns.instances.text import count_of, cut_middle, printable
from lns.runs.board_log import BoardLogReader, is_verified
from lns.runs.directory import RunSources, read_best, read_run, run_directories, safe_name
from lns.runs.files import BEST, BOARDS, format_duration, time_ago
from lns.runs.run_summary import RunSummary, by_set, load_summary
from lns.terminal.inputs import is_new_or_empty

T = TypeVar("T")
OnError = Callable[[InputError], object]

LEAST_NAME = 16  # columns that a name keeps on a narrow terminal
_HEADS = ["run", "instance", "clues", "best", "found", "state", "boards", "search", "time", "speed", "workers"]
# What a narrow terminal does without first:
_LEAST_WANTED = ["search", "workers", "speed", "boards", "found", "time", "clues"]


def _read_each(runs: RunSources, read: Callable[[Path], T], on_error: OnError | None) -> Iterator[T]:
    """What is read of each run; ``on_error`` gets the error of one that cannot be read, else it is raised."""
    for path in run_directories(runs):
        try:
            yield read(path)
        except InputError as error:
            if on_error is None:
                raise
            on_error(error)


# -- status -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RunTable(Records):
    """The state of runs, those of one set of pieces together."""

    runs: tuple[RunSummary, ...]
    min_score: int | None = None  # of the boards that are counted; None: the best score of the run less one

    def records(self) -> list[dict[str, Any]]:
        """The fields of `lns status --json`, a dict for each run."""
        return [self._facts(run) for run in self.runs]

    def summary(self, width: int | None = None) -> str:
        """A headline and a line for each run, of at most ``width`` columns if possible, with notes below."""
        head, *lines = self.lines(width)
        for at, run in enumerate(self.runs):
            # what is proven of the best boards, and what could not be read or written
            certificate = run.heartbeat.statistics.certificate_in_words(run.score)
            unwritten = (f"{name} cannot be written" for name in run.heartbeat.write_errors)
            lines[at] = "\n    ".join([lines[at], *([certificate] if certificate else []), *run.notes, *unwritten])
        return "\n".join([head, *lines])

    def lines(self, width: int | None) -> list[str]:
        """A headline and a line for each run, without notes."""
        rows = [self._row(run) for run in self.runs]
        if all(run.clues == "none" for run in self.runs):
            rows = [["" if head == "clues" else cell for head, cell in zip(_HEADS, row, strict=True)] for row in rows]
        return _aligned([_HEADS, *rows], width)

    def _least(self, run: RunSummary) -> int:
        return max(0, run.score - 1) if self.min_score is None else self.min_score

    def _facts(self, run: RunSummary) -> dict[str, Any]:
        history, heartbeat, least = run.history, run.heartbeat, self._least(run)
        facts: dict[str, Any] = {"run_dir": str(run.path), "instance": run.settings.instance}
        facts |= {"instance_sha256": run.settings.instance_sha256, "set_sha256": set_sha256(run.puzzle)}
        facts |= {"clues": run.clues, "state": run.state, "ended": run.why, "score": run.score}
        facts |= {"max_score": run.puzzle.max_score, "best_at": run.best_at, "min_score": least}
        facts |= {"boards": history.at_least(least), "boards_per_hour": round(run.boards_per_hour(least), 3)}
        facts |= {"unit": heartbeat.unit, "rate": heartbeat.rate if run.state == "running" else 0.0}
        facts |= {"workers": run.workers, "sessions": len(history.sessions), "elapsed_s": history.elapsed_s}
        facts["left_s"] = history.remaining_s if history.has_time_limit else None
        facts["certificate"] = heartbeat.statistics.certificate_of(run.score)
        return facts | {"notes": list(run.notes), "write_errors": list(heartbeat.write_errors)}

    def _row(self, run: RunSummary) -> list[str]:
        history, searching = run.history, run.state == "running" and not run.starting
        workers = "?" if run.workers is None else str(run.workers)
        return [
            run.name,
            printable(name_of_set(run.puzzle), 60),
            run.clues,
            f"{run.score if run.best else '-'} of {run.puzzle.max_score}",
            time_ago(run.best_at),
            run.state_in_words,
            run.rate_in_words(self._least(run)) if run.best else "none yet",
            format_duration(history.elapsed_s),
            history.remaining_in_words,
            f"{run.heartbeat.rate / 1e6:.1f} M {run.heartbeat.unit}/s" if searching else "",
            workers if searching else "",
        ]


def _aligned(rows: list[list[str]], width: int | None) -> list[str]:
    """Aligned lines; columns without any entry are left out.

    Where ``width`` is too small, names are cut, and then the columns of `_LEAST_WANTED` are left out one by one.
    """
    kept = [column for column in range(len(rows[0])) if any(row[column] for row in rows[1:])]
    rows = [[row[column] for column in kept] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(kept))]
    if width is not None:
        over = sum(widths) + 2 * len(widths) - 2 - width
        for column in (0, 1):
            cut = max(0, min(over, widths[column] - LEAST_NAME))
            widths[column] -= cut
            over -= cut
        dropped = next((rows[0].index(name) for name in _LEAST_WANTED if name in rows[0]), None)
        if over > 0 and dropped is not None:
            return _aligned([[*row[:dropped], *row[dropped + 1 :]] for row in rows], width)
    cells = ((cut_middle(cell, width).ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return ["  ".join(row).rstrip() for row in cells]


@checked
def status(runs: RunSources = ".", *, min_score: int | None = None, on_error: OnError | None = None) -> RunTable:
    """Show the state of runs. Their files are only read, so it works while they go on.

    Parameters
    ----------
    runs : str, path-like, or iterable of them
        Run directories, or folders with runs in them; by default the runs below the current folder.
    min_score : int, optional
        Count boards of at least this score; by default one below the best score of each run.
    on_error : callable, optional
        Called with the error of a run that cannot be read, which is left out. By default the error is raised.

    Returns
    -------
    RunTable
        Its ``summary()`` is a line for each run.

    Raises
    ------
    InputError
        A path is no run directory, or holds no run.
    """
    return RunTable(tuple(by_set(_read_each(runs, load_summary, on_error))), min_score)


# -- collect ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CollectedBoard:
    """A verified board of a run."""

    puzzle: Puzzle  # as the run has it, with its clues
    board: Board
    score: int
    elapsed_s: float  # seconds of search before it
    run_dir: Path
    file: Path | None = None  # where it was written

    def to_dict(self) -> dict[str, Any]:
        """The fields of a board of `lns collect --json`."""
        puzzle = self.puzzle
        facts: dict[str, Any] = {"score": self.score, "max_score": puzzle.max_score, "instance": puzzle.name}
        facts |= {"instance_sha256": puzzle.sha256, "set_sha256": set_sha256(puzzle), "clues": name_of_clues(puzzle)}
        facts |= {"run_dir": str(self.run_dir), "elapsed_s": self.elapsed_s}
        facts |= {"placements": self.board.without_blanks(puzzle).pairs()}
        url = formats.url_if_any(puzzle, self.board)
        return facts | {"url": url, "file": None if self.file is None else str(self.file)}


@dataclass(frozen=True)
class Collection(Records):
    """Boards of runs: a tuple for each set of pieces, the best boards first. A notebook draws the first one."""

    groups: tuple[tuple[CollectedBoard, ...], ...]
    notes: tuple[str, ...] = ()  # how many lines of which log are damaged, which best board cannot be read

    @property
    def boards(self) -> list[CollectedBoard]:
        """All boards."""
        return [found for group in self.groups for found in group]

    @property
    def board(self) -> Board | None:
        """The first board; None without any."""
        return next((found.board.of(found.puzzle) for found in self.boards), None)

    def records(self) -> list[dict[str, Any]]:
        """A dict for each board."""
        return [found.to_dict() for found in self.boards]


@checked
def collect(
    runs: RunSources,
    *,
    min_score: int = 0,
    top: int | None = None,
    output: str | os.PathLike[str] | None = None,
    on_error: OnError | None = None,
) -> Collection:
    """Gather the boards of runs, verified again.

    Boards that differ only by the numbering of pieces and colours or by swapped identical pieces are listed once.

    Parameters
    ----------
    runs : str, path-like, or iterable of them
        Run directories, or folders with runs in them.
    min_score : int
        Least score of the boards.
    top : int, optional
        Most boards of each set of pieces, the best ones.
    output : str or path-like, optional
        New or empty folder, for a file of each board that `load_board` reads, beside its puzzle.
    on_error : callable, optional
        Called with the error of a run that cannot be read, which is left out. By default the error is raised.

    Returns
    -------
    Collection
        ``boards`` are the boards, ``to_frame()`` a table of them.

    Raises
    ------
    InputError
        A path is no run directory, or ``output`` is not empty.
    """
    if top is not None and top < 1:
        raise InputError(f"top is {top}; expected 1 or more")
    folder = None if output is None else Path(output)
    if folder is not None and not is_new_or_empty(folder):
        raise InputError(f"is {'not empty' if folder.is_dir() else 'a file'}; expected a new or empty folder", folder)
    sets: list[tuple[Puzzle, dict[bytes, CollectedBoard]]] = []  # first puzzle of each set, boards by their colours
    notes: list[str] = []

    def add(path: Path) -> None:
        for found in _boards(path, min_score, notes):
            same = next((each for each in sets if translation(found.puzzle, each[0]) is not None), None)
            if same is None:
                sets.append(same := (found.puzzle, {}))
            colours = translate(found.board, found.puzzle, same[0]).colours(same[0])
            same[1].setdefault(colours.tobytes(), found)

    for _ in _read_each(runs, add, on_error):
        pass
    ranked = (sorted(boards.values(), key=lambda found: -found.score)[:top] for _, boards in sets)
    groups = tuple(map(tuple, ranked))
    return Collection(groups if folder is None else tuple(_write(folder, groups)), tuple(notes))


def _write(folder: Path, groups: Iterable[Sequence[CollectedBoard]]) -> Iterator[tuple[CollectedBoard, ...]]:
    """Write each board to a file that `lns show` and the like read, beside its puzzle; the boards with their files."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers: Counter[str] = Counter()
    names: dict[str, str] = {}

    def written(found: CollectedBoard) -> CollectedBoard:
        puzzle = found.puzzle
        if puzzle.sha256 not in names:
            name = safe_name(puzzle.name)
            names[puzzle.sha256] = name if name not in names.values() else f"{name}-{puzzle.sha256[:8]}"
            formats.write(folder / f"{names[puzzle.sha256]}.instance.json", "json", puzzle, None)
        name = names[puzzle.sha256]
        base, instance = f"{name}-{found.score}", f"{name}.instance.json"
        numbers[base] += 1
        file = folder / f"{base}-{numbers[base]:04d}.json"
        fields = formats.best_json(puzzle, found.board, instance=instance, seed=0, elapsed_s=found.elapsed_s)
        atomic_write(file, json.dumps(fields) + "\n")
        return replace(found, file=file)

    for group in groups:
        yield tuple(map(written, group))


def _boards(path: Path, min_score: int, notes: list[str]) -> Iterator[CollectedBoard]:
    """The verified boards of one run; what cannot be read of them is added to ``notes``."""
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
        yield CollectedBoard(puzzle, entry.board, entry.score, entry.elapsed_s, path)
    if reader.damaged:
        notes.append(f"{path / BOARDS}: {count_of(reader.damaged, 'damaged line')} skipped")
    try:
        best = read_best(path, puzzle)
        if best is not None and best.score >= min_score:
            elapsed_s = JsonFields(json_object(read_text(path / BEST))).number("elapsed_s", 0, 1e10)
            yield CollectedBoard(puzzle, best.board, best.score, elapsed_s, path)
    except InputError as error:
        notes.append(str(error))
