"""Record boards and history of a run, in memory and in the files of its directory, and restore them from the files.

A new best board is written to the log first, then to best.json, then to a checkpoint, so that it is found
again if the process is killed at any moment. A failed write does not end the run: the data stay in memory and are
written later.
"""

from __future__ import annotations

import json
import logging
import math
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from lns.engine import FoundBoard, verified_board
from lns.instances.board import Board
from lns.instances.draw import svg
from lns.instances.errors import InputError
from lns.instances.files import atomic_write
from lns.instances.formats import best_json
from lns.instances.puzzle import Puzzle
from lns.islands import Archipelago
from lns.runs import checkpoint
from lns.runs.board_log import BoardLogReader, LoggedBoard
from lns.runs.checkpoint import Islands
from lns.runs.directory import RunDirectory, RunSettings, read_best
from lns.runs.files import BEST, BOARDS, CHECKPOINT, MAX_TEXT, PICTURE, STATUS, utc_now
from lns.runs.history import Heartbeat, Improvement, RunHistory, SessionRecord, write_status
from lns.version import __version__

log = logging.getLogger("lns")

HEARTBEAT_S = 5.0  # seconds after which status.json is written again; a new best or a new worker causes a write at once
RATE_S = 60.0  # seconds over which the speed in status.json is measured
RETRY_S = 5.0  # seconds until a failed write is tried again
MAX_RECENT = 10_000  # most boards remembered, so that a board that is found again is not logged twice
RECENT_BYTES = 2**24  # bytes at the log's end that `recover` reads to know recent boards; one of 16 x 16 has 1.3 kB
_STATE = "the checkpoint"  # name of the checkpoint in messages and `Recorder.write_errors`


class Recorder:
    """Recorder of one session of a run. It observes the archipelago and never changes the search.

    The session calls `begin`, then `on_round` after each round, then `end`. The clues of ``puzzle`` do not
    include pinned cells. The session is added to ``history``. Boards, checkpoint and status.json are written to
    ``directory``, if there is one. ``recent`` has the last boards of the log, which are not logged again.
    """

    def __init__(
        self,
        puzzle: Puzzle,
        settings: RunSettings,
        history: RunHistory,
        directory: RunDirectory | None = None,
        recent: Iterable[Board] = (),
    ) -> None:
        self.puzzle, self.settings, self.history, self.directory = puzzle, settings, history, directory
        self._archipelago: Archipelago  # set by `begin`
        self.best: dict[str, Any] = {}  # fields of best.json; empty before the first board
        # called with each new best board recorded; with a directory, only with the last new best board of a round
        self.on_best: Callable[[FoundBoard], None] = lambda found: None
        self._best_board: Board  # set when the first board is recorded
        self._elapsed_before = history.elapsed_s
        self._recent = dict.fromkeys(recent)
        self._failed: set[str] = set()  # files whose last write failed, to be written again at `_retry_at`
        self._saved_at = self._heartbeat_at = self._retry_at = time.monotonic()
        self._pids: set[int] = set()
        self._rates: deque[tuple[float, int]] = deque()

    @property
    def write_errors(self) -> list[str]:
        """Sorted names of the files whose last write failed."""
        return sorted(self._failed)

    def begin(self, archipelago: Archipelago) -> None:
        """Add this session to the history, and write a checkpoint and status.json, before the search begins."""
        if self.directory is not None:
            self.directory.begin()
        self._archipelago = archipelago
        self.history.begin(SessionRecord.new(__version__, archipelago.workers))
        self._write(_STATE, STATUS)

    def record_known_best(self, found: FoundBoard) -> None:
        """Record the best board known before the search, which came from the user ("start") or a file of the run."""
        if found.score > self.history.best_score:
            self._record([(0, found)])
        else:
            verified_board(self.puzzle, found.board, found.origin, found.score)
            self._set_best(found, self.history.improvements[-1].elapsed_s)

    def on_round(self, archipelago: Archipelago) -> None:
        """Record the boards found since the last call; write those files that are due, such as a checkpoint."""
        self.history.elapsed_s = round(self._elapsed_before + archipelago.elapsed, 3)
        session = self.history.sessions[-1]
        session.seconds, session.workers = archipelago.elapsed, archipelago.workers
        improved = self._record(archipelago.pop_boards())
        now, pids = time.monotonic(), set(archipelago.pids.values())
        due = set(self._failed) if now >= self._retry_at else set()
        if improved or now - self._saved_at >= self.settings.checkpoint_s:
            self._saved_at = now
            due.add(_STATE)
        if improved or now - self._heartbeat_at >= HEARTBEAT_S or self._pids != pids:
            self._heartbeat_at, self._pids = now, pids
            due.add(STATUS)
            certificate = archipelago.statistics.certificate_of(self.best.get("score", -1))
            if certificate != self.best.get("certificate", {}):  # more is proven about the best board
                self.best["certificate"] = certificate
                due.add(BEST)
        self._write(*due)

    def end(self, archipelago: Archipelago, why: str) -> None:
        """End the session after its search: write checkpoint, status.json and the files whose last write failed."""
        self.history.sessions[-1].ended = why[:MAX_TEXT]  # a stop rule of the user may return a longer text
        self._saved_at = self._heartbeat_at = self._retry_at = -math.inf
        self.on_round(archipelago)

    def _record(self, found_boards: list[tuple[int, FoundBoard]]) -> bool:
        """Verify, log and count those (island, board) that were not logged lately; return whether one is a new best."""
        at, elapsed_s, logged, bests = utc_now(), self.history.elapsed_s, [], []
        board_log = None if self.directory is None else self.directory.board_log
        for island, found in found_boards:
            improves = found.score > self.history.best_score
            if not improves and (found.board in self._recent or (board_log is not None and board_log.is_full)):
                continue
            verified_board(self.puzzle, found.board, found.origin, found.score)  # raises if the board is wrong
            if improves:
                self.history.improvements.append(Improvement(found.score, elapsed_s, at, found.origin))
                bests.append(found)
            self._recent[found.board] = None
            if len(self._recent) > MAX_RECENT:
                del self._recent[next(iter(self._recent))]
            self.history.log(found.score, found.origin)
            logged.append(LoggedBoard(elapsed_s=elapsed_s, at=at, island=island, **found._asdict()))
        if logged and board_log is not None:
            board_log.add(logged)
            self._write(BOARDS)
        if bests:
            self._set_best(bests[-1], elapsed_s)
        for found in bests if self.directory is None else bests[-1:]:
            self.on_best(found)
        return bool(bests)

    def _set_best(self, found: FoundBoard, elapsed_s: float) -> None:
        settings, self._best_board = self.settings, found.board
        self.best = best_json(
            self.puzzle, found.board, instance=settings.instance, seed=settings.seed, elapsed_s=elapsed_s,
            score=found.score,
        )  # fmt: skip
        self._write(BEST, PICTURE)

    # -- writing of files --------------------------------------------------------------------------------------------

    def _write(self, *names: str) -> None:
        """Write the named files with the current state of the run; failed writes are tried again later."""
        directory = self.directory
        if directory is None:
            return
        for name, write in self._writers(directory).items():
            if name not in names:
                continue
            try:
                directory.check_lock()
                write()
            except OSError as error:
                if name not in self._failed:
                    log.warning(
                        "%s could not be written (%s); it is kept in memory and tried again", name, error.strerror
                    )
                self._failed.add(name)
                self._retry_at = time.monotonic() + RETRY_S
            else:
                if name in self._failed:
                    self._failed.remove(name)
                    log.info("%s is written again", name)

    def _writers(self, directory: RunDirectory) -> dict[str, Callable[[], object]]:
        """Return, by name of the file, the functions that write the files, in the order in which they are called."""
        path, run = directory.path, self.settings.run
        return {
            BOARDS: directory.board_log.flush,
            BEST: lambda: atomic_write(path / BEST, json.dumps(self.best) + "\n"),
            PICTURE: lambda: atomic_write(path / PICTURE, svg.render(self.puzzle, self._best_board)),
            _STATE: lambda: checkpoint.save(path, run, self.puzzle, self._archipelago.islands),
            STATUS: lambda: write_status(path, run, self.history, self._heartbeat(directory)),
        }

    def _heartbeat(self, directory: RunDirectory) -> Heartbeat:
        archipelago, self.history.log_size = self._archipelago, directory.board_log.size
        return Heartbeat(
            at=utc_now(),
            rate=round(self._rate(), 1),
            pids=tuple(sorted(archipelago.pids.values())),
            cluster_workers=min(archipelago.capacity, archipelago.workers),
            min_score=archipelago.min_score,
            statistics=archipelago.statistics,
            write_errors=tuple(self.write_errors),
        )

    def _rate(self) -> float:
        """Return the placements (tabu search: moves) per second of all workers, over about `RATE_S` seconds."""
        archipelago = self._archipelago
        self._rates.append((archipelago.elapsed, archipelago.statistics.placements))
        while len(self._rates) > 2 and self._rates[-1][0] - self._rates[1][0] >= RATE_S:
            self._rates.popleft()
        (begin, before), (end, after) = self._rates[0], self._rates[-1]
        return (after - before) / (end - begin) if end > begin else 0.0


# -- what earlier sessions have left ----------------------------------------------------------------------------------


class Recovered(NamedTuple):
    """The history, islands and boards with which a session begins, read from the files of earlier sessions."""

    history: RunHistory
    islands: Islands
    recent: list[Board]  # the last boards of the log
    best: FoundBoard | None  # best board of all files, with the name of its file as origin


def recover(directory: RunDirectory) -> Recovered:
    """Return what the files of earlier sessions hold; log a warning about anything lost.

    Without a usable checkpoint the search begins anew from the best board known; an unusable checkpoint is
    renamed to ``checkpoint.unusable.npz``. Raises InputError if the log of boards cannot be read.
    """
    path, puzzle = directory.path, directory.puzzle
    if directory.crashed_holder is not None:
        log.warning("the last session did not end in order (%s)", directory.crashed_holder)
    history, heartbeat = directory.last_status
    usable = checkpoint.usable(path, directory.settings, puzzle)
    if usable is None:
        with suppress(FileNotFoundError):  # renamed, as another version may be able to read the file
            (path / CHECKPOINT).replace(path / "checkpoint.unusable.npz")
        history.other_statistics = heartbeat.statistics
    islands, best = usable or ({}, None)
    try:
        best = _better(best, read_best(path, puzzle, directory.pinned_puzzle))
    except InputError as error:
        (path / BEST).replace(path / "best.unusable.json")
        log.warning("%s; kept as best.unusable.json", error)
    if best is None or best.score < history.best_score:
        history.forget_log()  # so that all of the log is read, which may hold the best board
    logged, recent = _read_log(directory, history)
    best = _better(best, logged)
    score = -1 if best is None else best.score
    if history.best_score > score:
        log.warning("the best board (score %d) is in no file; the best board found has %d", history.best_score, score)
        history.improvements = [entry for entry in history.improvements if entry.score <= score]
    return Recovered(history, islands, recent, best)


def _better(one: FoundBoard | None, other: FoundBoard | None) -> FoundBoard | None:
    return other if one is None or (other is not None and other.score > one.score) else one


def _read_log(directory: RunDirectory, history: RunHistory) -> tuple[FoundBoard | None, list[Board]]:
    """Count the logged boards that ``history`` has not counted; return the best of these, and the log's last boards."""
    best: FoundBoard | None = None
    board_log, puzzle = directory.board_log, directory.puzzle
    if board_log.torn:
        log.warning("%s: the last line is incomplete and is dropped (%d bytes)", BOARDS, board_log.torn)
    if not (history.boards_by_part and 0 < history.log_size <= board_log.size):  # old versions wrote no counts
        if history.log_size > board_log.size:
            log.warning(
                "%s has only %d of %d bytes; its boards are counted again", BOARDS, board_log.size, history.log_size
            )
        history.forget_log()
    recent: deque[Board] = deque(maxlen=MAX_RECENT)
    reader = BoardLogReader(directory.path, puzzle, min(history.log_size, max(0, board_log.size - RECENT_BYTES)))
    for entry in reader.read():
        recent.append(entry.board)
        if reader.offset <= history.log_size:
            reader.damaged = 0  # earlier sessions have reported the damaged lines up to this entry
        elif not entry.is_verified(directory.pinned_puzzle):
            reader.damaged += 1
        else:
            history.elapsed_s = max(history.elapsed_s, entry.elapsed_s)
            if entry.score > history.best_score:
                history.improvements.append(Improvement(entry.score, history.elapsed_s, entry.at, entry.origin))
            history.log(entry.score, entry.origin)
            best = _better(best, FoundBoard(entry.board, entry.score, BOARDS))
    if reader.damaged:
        log.warning("%s: %d damaged lines are skipped", BOARDS, reader.damaged)
    return best, [*recent]
