"""Records what a run finds: in memory, or also in the files of its directory.

A new best is written to the log first, then to best.json, then to a checkpoint, so a run that is killed at any moment
finds the board again. A failed write does not end the run: the data stay in memory and are written later.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from lns.engine import FoundBoard, check_found
from lns.instances.board import Board
from lns.instances.formats import best_json
from lns.instances.puzzle import Puzzle
from lns.islands import Archipelago
from lns.runs import checkpoint as checkpoints
from lns.runs.board_log import BoardLog, LoggedBoard
from lns.runs.checkpoint import Checkpoint
from lns.runs.directory import RunDirectory
from lns.runs.files import BEST, BOARDS, MAX_TEXT, PICTURE, STATUS, utc_now
from lns.runs.history import Heartbeat, RunHistory, SessionRecord, write_status

log = logging.getLogger("lns")

HEARTBEAT_S = 5.0  # between two writes of status.json
RATE_S = 60.0  # the rate in status.json is that of the last minute
RETRY_S = 5.0  # after a failed write
MAX_RECENT = 10_000  # boards remembered, so that a board found again is not logged twice
_CHECKPOINT = "the checkpoint"  # in messages and `Recorder.write_errors`


class MemoryRecorder:
    """Records one session of a run in memory. It observes the archipelago and never changes its search.

    The session calls `begin`, then `on_round` after each round, then `end`.

    Attributes
    ----------
    history : RunHistory
        What earlier sessions did; this session is added to it.
    best : dict
        Fields of best.json; empty before the first board.
    on_best : callable
        Called with each new best `FoundBoard` after it is recorded.
    """

    def __init__(self, puzzle: Puzzle, history: RunHistory, *, instance: str, seed: int) -> None:
        self.puzzle, self.history, self.instance, self.seed = puzzle, history, instance, seed
        self.best: dict[str, Any] = {}
        self.on_best: Callable[[FoundBoard], None] = lambda found: None
        self._elapsed_before = history.elapsed_s

    @property
    def write_errors(self) -> list[str]:
        """Files whose last write failed."""
        return []

    def begin(self, archipelago: Archipelago, version: str) -> None:
        """Add this session, of this version of lns, to the history. The search has not begun."""
        self.history.begin(SessionRecord.new(version, archipelago.workers))

    def record_known_best(self, board: Board, score: int, origin: str) -> None:
        """Record the best board that exists before the search; ``origin``: "start", or the file where it was found."""
        self._record([(0, FoundBoard(board, score, origin))])

    def on_round(self, archipelago: Archipelago) -> None:
        """Record the boards found since the last call."""
        self._after_round(archipelago)

    def end(self, archipelago: Archipelago, why: str) -> None:
        """End the session; ``why`` is kept in the history. The search has ended."""
        self.on_round(archipelago)
        self.history.sessions[-1].ended = why[:MAX_TEXT]  # a rule of the user's may say more than is read again

    def _after_round(self, archipelago: Archipelago) -> bool:
        """Record times and boards; True if one of these is a new best."""
        self.history.elapsed_s = self._elapsed_before + archipelago.elapsed
        session = self.history.sessions[-1]
        session.seconds, session.workers = archipelago.elapsed, archipelago.workers
        return self._record(archipelago.pop_boards())

    def _record(self, found_boards: list[tuple[int, FoundBoard]]) -> bool:
        improved = False
        for _, found in found_boards:
            if found.score > self.history.best_score:
                improved = True
                check_found(self.puzzle, found)
                self.history.improve(found, utc_now())
                self._set_best(found.board, self.history.elapsed_s)
                self.on_best(found)
            self.history.log(found)
        return improved

    def _set_best(self, board: Board, elapsed_s: float) -> None:
        self.best = best_json(self.puzzle, board, instance=self.instance, seed=self.seed, elapsed_s=round(elapsed_s, 3))


class Recorder(MemoryRecorder):
    """Records one session of a run in its directory: log, best.json, checkpoint and status.json.

    The boards in ``recent``, the last ones of the log, are not logged again.
    """

    def __init__(self, directory: RunDirectory, history: RunHistory, board_log: BoardLog, recent: list[Board]) -> None:
        settings = directory.settings
        super().__init__(directory.puzzle, history, instance=settings.instance, seed=settings.seed)
        self.directory, self.board_log = directory, board_log
        self._recent = dict.fromkeys(recent[-MAX_RECENT:])
        self._failed: dict[str, Callable[[], object]] = {}  # writes that failed, by file; tried again at _retry_at
        self._best_board: Board | None = None
        self._saved_at = self._heartbeat_at = self._retry_at = time.monotonic()
        self._pids: set[int] = set()
        self._said_full = False
        self._rates: deque[tuple[float, int]] = deque()

    @property
    def write_errors(self) -> list[str]:
        return sorted(self._failed)

    def begin(self, archipelago: Archipelago, version: str) -> None:
        self.directory.begin()
        super().begin(archipelago, version)
        self._save(archipelago)
        self._write_status(archipelago)

    def record_known_best(self, board: Board, score: int, origin: str) -> None:
        if score > self.history.best_score:
            super().record_known_best(board, score, origin)
        else:
            check_found(self.puzzle, FoundBoard(board, score, origin))
            self._set_best(board, self.history.improvements[-1].elapsed_s)

    def on_round(self, archipelago: Archipelago) -> None:
        """Record the boards found since the last call; write the checkpoint and status.json when they are due."""
        improved = self._after_round(archipelago)
        now = time.monotonic()
        if improved or now - self._saved_at >= self.directory.settings.checkpoint_s:
            self._save(archipelago)
        if improved or now - self._heartbeat_at >= HEARTBEAT_S or self._pids != set(archipelago.pids.values()):
            self._write_status(archipelago)
        if self._failed and now >= self._retry_at:
            self._retry_at = now + RETRY_S
            for what, write in list(self._failed.items()):
                self._try(what, write)

    def end(self, archipelago: Archipelago, why: str) -> None:
        """End the session: write everything, also what could not be written before."""
        super().end(archipelago, why)
        self._try(BOARDS, self.board_log.flush)
        self._write_best()
        self._save(archipelago)
        self._write_status(archipelago)
        self.board_log.close()

    def _save(self, archipelago: Archipelago) -> None:
        self._saved_at = time.monotonic()

        def save() -> None:  # the state of the moment, also when it is tried again
            state = Checkpoint(self.history, archipelago.islands, self.board_log.size)
            checkpoints.save(self.directory.path, self.directory.settings.run, self.puzzle, state)

        self._try(_CHECKPOINT, save)

    def _write_status(self, archipelago: Archipelago) -> None:
        """Write status.json, and best.json if more is proven of the best board than it says."""
        self._heartbeat_at, self._pids = time.monotonic(), set(archipelago.pids.values())
        statistics = archipelago.statistics
        directory, rate = self.directory, round(self._rate(archipelago), 1)

        def write() -> None:  # the state of the moment, also when it is tried again
            heartbeat = Heartbeat(
                at=utc_now(),
                rate=rate,
                pids=tuple(sorted(archipelago.pids.values())),
                cluster_workers=min(archipelago.capacity, archipelago.workers),
                min_score=archipelago.min_score,
                statistics=archipelago.statistics,
                write_errors=tuple(self.write_errors),
            )
            write_status(directory.path, directory.settings.run, self.history, heartbeat)

        self._try(STATUS, write)
        certificate = statistics.certificate_of(self.best.get("score", -1))
        if certificate != self.best.get("certificate", {}):
            self.best["certificate"] = certificate
            self._try(BEST, lambda: directory.write_best(self.best))

    def _rate(self, archipelago: Archipelago) -> float:
        """Placements a second of all workers, over the last RATE_S seconds."""
        self._rates.append((archipelago.elapsed, archipelago.statistics.placements))
        while len(self._rates) > 2 and self._rates[-1][0] - self._rates[1][0] >= RATE_S:
            self._rates.popleft()
        (begin, before), (end, after) = self._rates[0], self._rates[-1]
        return (after - before) / (end - begin) if end > begin else 0.0

    def _record(self, found_boards: list[tuple[int, FoundBoard]]) -> bool:
        """Verify, log and count boards; True if one of them is a new best."""
        at, new_best = utc_now(), None
        logged = []
        for island, found in found_boards:
            improves = found.score > self.history.best_score
            if not improves and (found.board in self._recent or self._log_is_full()):
                continue
            check_found(self.puzzle, found)  # nothing wrong is written
            if improves:
                self.history.improve(found, at)
                new_best = found
            self._recent[found.board] = None
            if len(self._recent) > MAX_RECENT:
                del self._recent[next(iter(self._recent))]
            self.history.log(found)
            logged.append(LoggedBoard(elapsed_s=self.history.elapsed_s, at=at, island=island, **found._asdict()))
        if logged:
            self.board_log.add(logged)
            self._try(BOARDS, self.board_log.flush)
        if new_best is None:
            return False
        self._set_best(new_best.board, self.history.elapsed_s)
        self.on_best(new_best)
        return True

    def _log_is_full(self) -> bool:
        """Whether boards that are no new bests are left out; said once a session."""
        if self.board_log.is_full and not self._said_full:
            self._said_full = True
            log.warning("%s has %d MiB; from now on it takes new bests only", BOARDS, self.board_log.size >> 20)
        return self.board_log.is_full

    def _set_best(self, board: Board, elapsed_s: float) -> None:
        super()._set_best(board, elapsed_s)
        self._best_board = board
        self._write_best()

    def _write_best(self) -> None:
        board = self._best_board
        if board is not None:
            self._try(BEST, lambda: self.directory.write_best(self.best))
            self._try(PICTURE, lambda: self.directory.draw(board))

    def _try(self, what: str, write: Callable[[], object]) -> None:
        try:
            self.directory.check_lock()
            write()
        except OSError as error:
            if what not in self._failed:
                log.warning("%s could not be written (%s); it is kept in memory and tried again", what, error.strerror)
            self._failed[what] = write
        else:
            if self._failed.pop(what, None) is not None:
                log.info("%s is written again", what)
