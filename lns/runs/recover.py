"""Restores a run: the newest usable checkpoint, the boards logged after it, and the best board of all files."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from pathlib import Path

from instances.board import Board
from instances.verify import verify
from lns.engine import Engine, FoundBoard, legal_score, saved_counters
from lns.engines import make_engine
from lns.packed_state import unpacked
from lns.rounds import Island
from lns.runs import checkpoint as checkpoints
from lns.runs.board_log import BoardLog, BoardLogReader, LoggedBoard, is_verified
from lns.runs.checkpoint import Checkpoint
from lns.runs.directory import RunDirectory, ScoredBoard, read_best
from lns.runs.files import BEST, BOARDS, CHECKPOINT, PREVIOUS, STATUS, read_sealed
from lns.runs.history import RunHistory, history_from_json
from lns.runs.recorder import MAX_RECENT
from lns_support.errors import InputError

log = logging.getLogger("lns")


@dataclass(frozen=True)
class Recovered:
    """What a session needs to continue a run."""

    history: RunHistory
    islands: dict[int, Island]  # by number
    board_log: BoardLog  # open for writing
    recent: list[Board]  # the last boards of the log
    best: ScoredBoard | None  # the best board on file
    origin: str  # name of the file that holds it


def recover(directory: RunDirectory) -> Recovered:
    """Read the files of the last session; what is lost goes to the log as warnings.

    Parameters
    ----------
    directory : RunDirectory
        Run directory, locked by this process.

    Returns
    -------
    Recovered

    Raises
    ------
    InputError
        There are checkpoints, but none can be used.
    """
    if directory.crashed_holder is not None:
        log.warning("the last session did not end in order (%s)", directory.crashed_holder)
    checkpoint, candidates = _checkpoint(directory)
    history = checkpoint.history
    board_log = BoardLog(directory.path)
    if board_log.torn:
        log.warning("%s: the last line is incomplete and is dropped (%d bytes)", BOARDS, board_log.torn)
    _read_log(directory, history, checkpoint.log_size, board_log.size, candidates)
    recent = _last_boards(directory, board_log.start_of_last(MAX_RECENT))
    try:
        on_file = read_best(directory.path, directory.puzzle)
        if on_file is not None and not verify(directory.pinned_puzzle, on_file.board).valid:
            raise InputError("not a board that keeps the pinned cells", directory.path / BEST)
        if on_file is not None:
            candidates[BEST] = on_file
    except InputError as error:
        log.warning("%s; kept as %s", error, directory.set_aside_best())
    origin = max(candidates, key=lambda name: candidates[name].score, default="")
    best = candidates.get(origin)
    _trim(history, best)
    history.raise_elapsed(_elapsed_in_status(directory))
    return Recovered(history, checkpoint.islands, board_log, recent, best, origin)


def _checkpoint(directory: RunDirectory) -> tuple[Checkpoint, dict[str, ScoredBoard]]:
    """The newest checkpoint that an engine accepts, and the best board of its islands by the name of the file."""
    settings = directory.settings
    engine = _engine(directory, 0)
    complaints = []
    for name in (CHECKPOINT, PREVIOUS):
        path = directory.path / name
        if not os.path.lexists(path):
            continue
        try:
            found = checkpoints.load(path, settings.run, directory.puzzle, engine.state())
            bests = _bests(directory, path, found)
        except InputError as error:
            complaints.append(str(error))
            continue
        if found.is_earlier:
            log.warning("%s is of an earlier version: the search begins anew from %s and %s", name, BEST, BOARDS)
        elif complaints:
            log.warning("%s; continuing from %s", complaints[0], name)
        elif name == PREVIOUS:
            log.warning("the last session ended while it wrote %s; continuing from %s", CHECKPOINT, PREVIOUS)
        return found, bests
    if complaints:
        raise InputError("; ".join(complaints) + f"; to keep the best board, begin a new run that starts from {BEST}")
    log.warning("there is no checkpoint; the search begins anew")
    return Checkpoint(RunHistory(0.0), {}, 0), {}


def _bests(directory: RunDirectory, path: Path, found: Checkpoint) -> dict[str, ScoredBoard]:
    """The best board of the islands, by the name of the file. Raises InputError for a state that no engine accepts."""
    bests: dict[str, ScoredBoard] = {}
    for island in found.islands.values():
        engine = _engine(directory, island.number)
        try:
            engine.restore(unpacked(island.state))
            saved_counters(list(engine.statistics.counts().values()))
            board, score = engine.best, -1
            if board is not None:
                score = legal_score(directory.pinned_puzzle, board)
        except (ValueError, IndexError, KeyError, TypeError, OverflowError, AssertionError) as error:
            why = error.message if isinstance(error, InputError) else str(error)
            raise InputError(f"island {island.number} cannot be restored: {why}"[:300], path) from None
        if not score == engine.best_score == island.best_score:
            raise InputError(f"the board of island {island.number} has another score than the island", path)
        if board is not None and (path.name not in bests or score > bests[path.name].score):
            bests[path.name] = ScoredBoard(board, score)
    return bests


def _engine(directory: RunDirectory, island: int) -> Engine:
    """A new engine of the run."""
    settings = directory.settings
    return make_engine(
        settings.engine,
        directory.pinned_puzzle,
        directory.params,
        settings.seed,
        island,
        operators=settings.operators,
    )


def _read_log(
    directory: RunDirectory, history: RunHistory, counted: int, size: int, candidates: dict[str, ScoredBoard]
) -> None:
    """Add the boards that were logged after the checkpoint to the history.

    ``counted``: bytes of the log that the history has counted; ``size``: whole bytes of the log. The best of these
    boards goes into ``candidates``.
    """
    if counted > size:
        log.warning("%s has only %d of %d bytes; its boards are counted again", BOARDS, size, counted)
        history.counts, counted = {}, 0
        for gains in history.gains_by_part.values():
            gains.boards = 0
    damaged = 0
    for entry in BoardLogReader(directory.path, directory.puzzle, counted).read():
        if not isinstance(entry, LoggedBoard) or not is_verified(entry, directory.pinned_puzzle):
            damaged += 1
            continue
        found_board = FoundBoard(entry.board, entry.score, entry.origin)
        history.raise_elapsed(entry.elapsed_s)
        if entry.score > history.best_score:
            history.improve(found_board, entry.at)
        history.log(found_board)
        if BOARDS not in candidates or entry.score > candidates[BOARDS].score:
            candidates[BOARDS] = ScoredBoard(entry.board, entry.score)
    if damaged:
        log.warning("%s: %d damaged lines are skipped", BOARDS, damaged)


def _last_boards(directory: RunDirectory, start: int) -> list[Board]:
    """The boards of the log from the byte ``start`` on. A session without interruption would remember them."""
    entries = BoardLogReader(directory.path, directory.puzzle, start).read()
    return [entry.board for entry in entries if isinstance(entry, LoggedBoard)]


def _trim(history: RunHistory, best: ScoredBoard | None) -> None:
    """Drop improvements above the score of the best board: their boards are lost."""
    score = -1 if best is None else best.score
    if history.best_score > score:
        log.warning("the best board (score %d) is in no file; the best board found has %d", history.best_score, score)
        history.improvements = [entry for entry in history.improvements if entry.score <= score]


def _elapsed_in_status(directory: RunDirectory) -> float:
    """Seconds of search in status.json, which may be newer than the checkpoint; 0 if it cannot be used."""
    try:
        fields = read_sealed(directory.path / STATUS)
        if fields.text("run", 64) != directory.settings.run:
            return 0.0
        return history_from_json(checkpoints.inner(fields, "history"), directory.puzzle).elapsed_s
    except InputError:
        return 0.0
