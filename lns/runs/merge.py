"""Merge several runs of the same pieces and clues into one run directory, or collect the boards of any runs."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lns.instances import formats
from lns.instances.arguments import checked
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.eternity2 import name_of_clues
from lns.instances.files import atomic_write, is_new_or_empty, read_text
from lns.instances.json_values import JsonFields, json_object
from lns.instances.piece_set import normalise_clue_pieces, set_sha256, translate, translated_clues, translation
from lns.instances.puzzle import Puzzle
from lns.instances.records import Records
from lns.instances.text import count_of
from lns.runs import checkpoint
from lns.runs.board_log import BoardLogReader
from lns.runs.directory import RunDirectory, RunSources, read_best, read_run, run_directories, safe_name, with_pins
from lns.runs.files import BEST, BOARDS, format_duration, utc_now
from lns.runs.history import Heartbeat, RunHistory, write_status
from lns.runs.recorder import Recorder
from lns.runs.run_summary import OnError, RunSummary, check_same_set, load_summary, read_each

log = logging.getLogger("lns")

BATCH = 1000  # number of boards that are written to the new log at once


@dataclass(frozen=True)
class Merged(Records):
    """Result of `merge`: the new run directory, and what was merged."""

    columns = "runs boards repeated damaged score elapsed_s run_dir"
    runs: int
    boards: int  # number of boards in the new log
    repeated: int  # number of boards left out, each the same as an earlier board
    damaged: int  # number of lines left out, as they hold no full legal board of the score that they claim
    score: int  # score of the best board; -1 without a board
    elapsed_s: float  # seconds of search of all runs together
    run_dir: str  # path of the new run directory

    def summary(self) -> str:
        """Return the number of runs, the time, the best score and the counts of boards in one line."""
        best = "no board" if self.score < 0 else f"best score {self.score}"
        repeated = f", {self.repeated:,} more were repeated" if self.repeated else ""
        damaged = f", {count_of(self.damaged, 'damaged line')} left out" if self.damaged else ""
        searched = f"{count_of(self.runs, 'run')}, {format_duration(self.elapsed_s)} of search"
        return f"{searched}, {best}, {count_of(self.boards, 'board')}{repeated}{damaged}"


@checked
def merge(runs: RunSources, output: str | os.PathLike[str]) -> Merged:
    """Make a run directory with the boards of several runs that have the same clues and pieces, numbered in any way.

    Every board is translated to the numbering of the first run and then verified. Boards that differ only by swapped
    duplicate pieces are kept once. Times of search and statistics are added. `lns.resume` continues the islands of the
    first run only. The given runs are only read, and may still be running.

    Parameters
    ----------
    runs : str, path-like, or iterable of them
        Run directories, or folders with run directories: two or more runs; ``output`` is not counted.
    output : str or path-like
        The new run directory.

    Returns
    -------
    Merged
        The number of boards and the best score of the new run directory, and other counts.

    Raises
    ------
    InputError
        A path is no run directory, the runs differ in pieces, clues or pinned cells, or ``output`` is not empty.
    """
    target = Path(output)
    paths = [path for path in run_directories(runs) if path.resolve() != target.resolve()]
    if len(paths) < 2:
        raise InputError(f"{count_of(len(paths), 'run')} named; expected two or more to merge")
    summaries = [load_summary(path) for path in paths]
    first = summaries[0]
    for run in summaries[1:]:
        check_same_set(first, run)
        _check_same_clues(first, run)
    others = [run for run in summaries[1:] if run.settings.parameters != first.settings.parameters]
    if others:
        log.warning("%s has other parameters than %s; those of %s are kept", others[0].path, first.path, first.path)
    with RunDirectory.create(target, first.puzzle, first.settings) as directory:
        history = _merged_history(summaries)
        counts = _copy_boards(directory, summaries, history)
        best_run = max(summaries, key=lambda run: run.score)
        if best_run.best is not None:
            board = _in_numbering_of(directory.pinned_puzzle, best_run, best_run.best.board)
            recorder = Recorder(directory.puzzle, directory.settings, history, directory)
            recorder.record_known_best(best_run.best._replace(board=board))
        usable = checkpoint.usable(first.path, first.settings, first.puzzle)
        islands = {} if usable is None else usable[0]
        others_made = [run.heartbeat.statistics for run in summaries[1:]]
        before = first.history.other_statistics if islands else first.heartbeat.statistics
        history.other_statistics = sum(others_made, before)
        history.log_size, run_id = directory.board_log.size, directory.settings.run
        checkpoint.save(directory.path, run_id, directory.puzzle, islands)
        made = sum(others_made, first.heartbeat.statistics)
        heartbeat = Heartbeat(at=utc_now(), min_score=first.heartbeat.min_score, statistics=made)
        write_status(directory.path, run_id, history, heartbeat)
        directory.begin()
    return Merged(len(summaries), *counts, best_run.score, history.elapsed_s, str(target))


def _check_same_clues(first: RunSummary, other: RunSummary) -> None:
    """Raise InputError unless two runs have clues and pinned pieces on the same cells with the same colours."""

    def lying(run: RunSummary) -> set[tuple[int, ...]]:
        clues = translated_clues(run.puzzle, first.puzzle, with_pins(run.puzzle, run.settings.pins).clues)
        return {(clue.cell, *first.puzzle.oriented[clue.oriented]) for clue in clues}

    if lying(other) != lying(first):
        raise InputError(
            f"has other clues than {first.path} (clues: {other.clues}, not {first.clues}); expected the same",
            other.path,
        )


def _in_numbering_of(puzzle: Puzzle, run: RunSummary, board: Board) -> Board:
    """Return a board of ``run`` in the numbering of ``puzzle``; a clue's cell has the clue's piece, not a duplicate."""
    carried = translate(board, run.puzzle, puzzle)
    return carried if carried is board else normalise_clue_pieces(puzzle, carried)


def _merged_history(runs: Sequence[RunSummary]) -> RunHistory:
    """Return a history with the sum of the times, the joint improvements, and the sessions of all runs.

    Improvements are the new bests that the runs would have found together if all had started at the same moment.
    """
    elapsed_s = sum(run.history.elapsed_s for run in runs)
    history = RunHistory(budget_s=elapsed_s, elapsed_s=elapsed_s)
    improvements = [entry for run in runs for entry in run.history]
    for entry in sorted(improvements, key=lambda entry: (entry.elapsed_s, -entry.score)):
        if entry.score > history.best_score:
            history.improvements.append(entry)
    others = [session for run in runs[1:] for session in run.history.sessions]
    sessions = sorted(others, key=lambda session: session.started_at)
    for session in [*sessions, *runs[0].history.sessions]:  # the first run's sessions last: its islands are continued
        history.begin(session)
    return history


def _copy_boards(directory: RunDirectory, runs: Sequence[RunSummary], history: RunHistory) -> tuple[int, int, int]:
    """Copy each verified board of the logs once; return the counts of boards, repeated boards and damaged lines."""
    puzzle, seen, board_log = directory.pinned_puzzle, set[bytes](), directory.board_log
    repeated = damaged = 0
    for run in runs:
        reader = BoardLogReader(run.path, run.puzzle)
        for found in reader.read():
            entry = replace(found, board=_in_numbering_of(puzzle, run, found.board))
            if not entry.is_verified(puzzle):
                damaged += 1
                continue
            key = hashlib.blake2b(entry.board.colours(puzzle).tobytes(), digest_size=16).digest()
            if key in seen:
                repeated += 1
                continue
            seen.add(key)
            history.log(entry.score, entry.origin)
            board_log.add([entry])
            if board_log.pending == BATCH:
                board_log.flush()
        damaged += reader.damaged
    board_log.flush()
    return len(seen), repeated, damaged


# -- collecting boards -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CollectedBoard:
    """A verified board of a run, as `collect` finds it."""

    puzzle: Puzzle  # the puzzle of the run, with its clues
    board: Board
    score: int
    elapsed_s: float  # seconds of search until the board was found
    run_dir: Path
    file: Path | None = None  # file to which `collect` wrote the board

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of a board in `lns collect --json`."""
        puzzle = self.puzzle
        facts: dict[str, Any] = {"score": self.score, "max_score": puzzle.max_score, "instance": puzzle.name}
        facts |= {"instance_sha256": puzzle.sha256, "set_sha256": set_sha256(puzzle), "clues": name_of_clues(puzzle)}
        facts |= {"run_dir": str(self.run_dir), "elapsed_s": self.elapsed_s}
        facts |= {"placements": self.board.without_blanks(puzzle).pairs()}
        url = formats.url_if_any(puzzle, self.board)
        return facts | {"url": url, "file": None if self.file is None else str(self.file)}


@dataclass(frozen=True)
class Collection(Records):
    """Boards of runs: ``groups`` has a tuple for each set of pieces, best board first. A notebook draws `board`."""

    groups: tuple[tuple[CollectedBoard, ...], ...]
    notes: tuple[str, ...] = ()  # sentences on logs with damaged lines, and on best boards that cannot be read

    @property
    def boards(self) -> list[CollectedBoard]:
        """The boards of all sets of pieces, in one list."""
        return [found for group in self.groups for found in group]

    @property
    def board(self) -> Board | None:
        """The first board of all; None if there is no board."""
        return next((found.board.of(found.puzzle) for found in self.boards), None)

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each board."""
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
    """Collect the boards of runs, and verify them again.

    Boards that differ only by the numbering of pieces and colours or by swapped duplicate pieces are listed once.

    Parameters
    ----------
    runs : str, path-like, or iterable of them
        Run directories, or folders with runs in them.
    min_score : int
        Lowest score of a collected board.
    top : int, optional
        Number of boards to keep for each set of pieces, the best ones; by default all boards.
    output : str or path-like, optional
        New or empty folder; each board is written there to a file for `load_board`, and each puzzle to another file.
    on_error : callable, optional
        Called with the error if a run cannot be read; the run is left out. By default the error is raised.

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
    # for each set of pieces: the first puzzle with this set, and the boards by the colours on their cells
    sets: list[tuple[Puzzle, dict[bytes, CollectedBoard]]] = []
    notes: list[str] = []

    for boards in read_each(runs, lambda path: list(_boards(path, min_score, notes)), on_error):
        for found in boards:
            same = next((each for each in sets if translation(found.puzzle, each[0]) is not None), None)
            if same is None:
                sets.append(same := (found.puzzle, {}))
            colours = translate(found.board, found.puzzle, same[0]).colours(same[0])
            same[1].setdefault(colours.tobytes(), found)
    ranked = (sorted(distinct.values(), key=lambda found: -found.score)[:top] for _, distinct in sets)
    groups = tuple(map(tuple, ranked))
    return Collection(groups if folder is None else tuple(_write(folder, groups)), tuple(notes))


def _write(folder: Path, groups: Iterable[Sequence[CollectedBoard]]) -> Iterator[tuple[CollectedBoard, ...]]:
    """Write each board and its puzzle to files that `lns show` reads; yield the groups of boards with their files."""
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
    """Yield the verified boards of ``min_score`` or more of the run in ``path``; add notes on unreadable boards."""
    _, puzzle = read_run(path)
    reader = BoardLogReader(path, puzzle)
    for entry in reader.read(min_score):
        if entry.is_verified(puzzle):
            yield CollectedBoard(puzzle, entry.board, entry.score, entry.elapsed_s, path)
        else:
            reader.damaged += 1
    if reader.damaged:
        notes.append(f"{path / BOARDS}: {count_of(reader.damaged, 'damaged line')} skipped")
    try:
        best = read_best(path, puzzle)
        if best is not None and best.score >= min_score:
            elapsed_s = JsonFields(json_object(read_text(path / BEST))).number("elapsed_s", 0, 1e10)
            yield CollectedBoard(puzzle, best.board, best.score, elapsed_s, path)
    except InputError as error:
        notes.append(str(error))
