"""Restores a run: the newest usable checkpoint, the boards logged after it, and the best board of all files."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lns.engine import FoundBoard, check_numbers, legal_score, unpacked
from lns.engines import make_engine
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.params import Params
from lns.rounds import Island
from lns.runs import checkpoint as checkpoints
from lns.runs.board_log import BoardLogReader, is_verified
from lns.runs.checkpoint import Checkpoint
from lns.runs.directory import RunDirectory, RunSettings, ScoredBoard, read_best, with_pins
from lns.runs.files import BEST, BOARDS, CHECKPOINT, PREVIOUS
from lns.runs.history import Heartbeat, RunHistory, read_status
from lns.runs.recorder import MAX_RECENT

if TYPE_CHECKING:
    from lns.loop.search_loop import SearchLoop

log = logging.getLogger("lns")


class UsableCheckpoint(NamedTuple):
    """A checkpoint that engines have accepted, the best board of its islands, and the name of the file."""

    checkpoint: Checkpoint
    best: ScoredBoard | None
    name: str


@dataclass(frozen=True)
class Recovered:
    """What a session needs to continue a run."""

    history: RunHistory
    islands: dict[int, Island]  # by number
    recent: list[Board]  # the last boards of the log
    best: ScoredBoard | None  # the best board on file
    origin: str  # name of the file that holds it


def recover(directory: RunDirectory) -> Recovered:
    """Read the files of the last session; what is lost goes to the log as warnings.

    Without a usable checkpoint the search begins anew, from the best board and the log; checkpoints that cannot be used
    are kept as ``*.unusable.npz``. This process has locked the
    directory. Raises InputError if the log of boards cannot be read.
    """
    path, puzzle, candidates = directory.path, directory.puzzle, dict[str, ScoredBoard]()
    if directory.crashed_holder is not None:
        log.warning("the last session did not end in order (%s)", directory.crashed_holder)
    try:
        told, heartbeat = read_status(path, directory.settings.run, puzzle)
    except InputError:
        told, heartbeat = RunHistory(0.0), Heartbeat()
    usable = newest_checkpoint(path, directory.settings, puzzle, directory.params)
    checkpoint = Checkpoint(told, {}, 0) if usable is None else usable.checkpoint
    if usable is None:
        for name in (CHECKPOINT, PREVIOUS):  # another version, or another machine, may be able to read them
            with suppress(FileNotFoundError):
                (path / name).replace(path / name.replace(".npz", ".unusable.npz"))
        told.forget_log()
        told.other_statistics = heartbeat.statistics
    elif usable.best is not None:
        candidates[usable.name] = usable.best
    history = checkpoint.history
    board_log = directory.board_log
    if board_log.torn:
        log.warning("%s: the last line is incomplete and is dropped (%d bytes)", BOARDS, board_log.torn)
    _count_boards(directory, history, checkpoint.log_size, board_log.size, candidates)
    recent = [entry.board for entry in BoardLogReader(path, puzzle).last(MAX_RECENT)]
    try:
        on_file = read_best(path, puzzle)
        if on_file is not None and not verify(directory.pinned_puzzle, on_file.board).valid:
            raise InputError("not a board that keeps the pinned cells", path / BEST)
        if on_file is not None:
            candidates[BEST] = on_file
    except InputError as error:
        log.warning("%s; kept as %s", error, directory.set_aside_best())
    origin = max(candidates, key=lambda name: candidates[name].score, default="")
    best = candidates.get(origin)
    score = -1 if best is None else best.score
    if history.best_score > score:
        log.warning("the best board (score %d) is in no file; the best board found has %d", history.best_score, score)
        history.improvements = [entry for entry in history.improvements if entry.score <= score]
    history.elapsed_s = max(history.elapsed_s, told.elapsed_s)
    return Recovered(history, checkpoint.islands, recent, best, origin)


def newest_checkpoint(path: Path, settings: RunSettings, puzzle: Puzzle, params: Params) -> UsableCheckpoint | None:
    """The newest checkpoint in a run directory whose islands can be continued; None without one.

    Why the last checkpoint is not used goes to the log. ``puzzle`` has no pins.
    """
    pinned = with_pins(puzzle, settings)

    def engine(number: int) -> SearchLoop:
        return make_engine(settings.engine, pinned, params, settings.seed, number, operators=settings.operators)

    template, complaints = engine(0).state(), []
    for name in (CHECKPOINT, PREVIOUS):
        file = path / name
        if not os.path.lexists(file):
            continue
        try:
            found = checkpoints.load(file, settings.run, puzzle, template)
            best = None
            for island in found.islands.values():
                board = _board_of(engine(island.number), island, pinned, file)
                if board is not None and (best is None or board.score > best.score):
                    best = board
        except InputError as error:
            complaints.append(str(error))
            continue
        if complaints:
            log.warning("%s; continuing from %s", complaints[0], name)
        elif name == PREVIOUS:
            log.warning("the last session ended while it wrote %s; continuing from %s", CHECKPOINT, PREVIOUS)
        return UsableCheckpoint(found, best, name)
    why = f" ({'; '.join(complaints)})" if complaints else ""
    log.warning("%s has no usable checkpoint%s; the search begins anew from %s and %s", path, why, BEST, BOARDS)
    return None


def _board_of(engine: SearchLoop, island: Island, puzzle: Puzzle, file: Path) -> ScoredBoard | None:
    """The best board of an island. Raises InputError for a state that the engine does not accept."""
    try:
        engine.restore(unpacked(island.state))
        check_numbers({"statistics": np.array(list(engine.statistics.counts().values()))}, least=0)
        score = -1 if engine.best is None else legal_score(puzzle, engine.best)
    except (ValueError, IndexError, KeyError, TypeError, OverflowError, AssertionError) as error:
        why = error.message if isinstance(error, InputError) else str(error)
        raise InputError(f"island {island.number} cannot be restored: {why}"[:300], file) from None
    if not score == engine.best_score == island.best_score:
        raise InputError(f"the board of island {island.number} has another score than the island", file)
    return None if engine.best is None else ScoredBoard(engine.best, score)


def _count_boards(
    directory: RunDirectory, history: RunHistory, counted: int, size: int, candidates: dict[str, ScoredBoard]
) -> None:
    """Add the boards that were logged after the checkpoint to the history.

    ``counted``: bytes of the log that the history has counted; ``size``: whole bytes of the log. The best of these
    boards goes into ``candidates``.
    """
    if counted > size:
        log.warning("%s has only %d of %d bytes; its boards are counted again", BOARDS, size, counted)
        history.forget_log()
        counted = 0
    reader = BoardLogReader(directory.path, directory.puzzle, counted)
    for entry in reader.read():
        if not is_verified(entry, directory.pinned_puzzle):
            reader.damaged += 1
            continue
        found_board = FoundBoard(entry.board, entry.score, entry.origin)
        history.elapsed_s = max(history.elapsed_s, entry.elapsed_s)
        if entry.score > history.best_score:
            history.improve(found_board, entry.at)
        history.log(found_board)
        if BOARDS not in candidates or entry.score > candidates[BOARDS].score:
            candidates[BOARDS] = ScoredBoard(entry.board, entry.score)
    if reader.damaged:
        log.warning("%s: %d damaged lines are skipped", BOARDS, reader.damaged)
