"""Writes what a run finds: boards into the log, the best board into best.json, the state into checkpoints.

A new best is written to the log first, then to best.json, then to a checkpoint, so a run that is killed at any moment
finds the board again. A failed write does not end the run: the data stay in memory and are written later.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from instances.board import Board
from lns.engine import FoundBoard, Statistics, check_found
from lns.islands import Archipelago
from lns.runs import checkpoint as checkpoints
from lns.runs.board_log import BoardLog, LoggedBoard
from lns.runs.checkpoint import Checkpoint
from lns.runs.directory import RunDirectory
from lns.runs.files import BEST, BOARDS, PICTURE, STATUS, STATUS_SCHEMA, seal, utc_now
from lns.runs.history import RunHistory, SessionRecord
from lns_support.files import atomic_write

log = logging.getLogger("lns")

HEARTBEAT_S = 5.0  # between two writes of status.json
RATE_S = 60.0  # the rate in status.json is that of the last minute
RETRY_S = 5.0  # after a failed write
MAX_RECENT = 10_000  # boards remembered, so that a board found again is not logged twice
_CHECKPOINT = "the checkpoint"  # in messages and `Recorder.write_errors`


def write_status(directory: RunDirectory, history: RunHistory, statistics: Statistics, figures: dict[str, Any]) -> None:
    """Write status.json; ``figures``: of the processes, see `lns.runs.run_summary.Heartbeat`."""
    status = {
        "schema": STATUS_SCHEMA,
        "run": directory.settings.run,
        "at": utc_now(),
        "history": history.to_json(),
        "statistics": statistics.to_json(),
        "node_equivalents_by_part": statistics.node_equivalents_by_part(),
        "unit": statistics.unit,
    }
    atomic_write(directory.path / STATUS, seal(status | figures) + "\n")


class Recorder:
    """Records one session of a run. It observes the archipelago and never changes its search.

    The session calls `begin`, then `on_round` after each round, then `end`.

    Parameters
    ----------
    directory : RunDirectory
        Run directory, held by this process.
    history : RunHistory
        What earlier sessions did; this session is added to it.
    board_log : BoardLog
        The log of the run, open for writing.
    recent : list of Board
        The last boards of the log; they are not logged again.

    Attributes
    ----------
    best : dict
        Fields of best.json; empty before the first board.
    on_best : callable
        Called with each new best `FoundBoard` after it is recorded.
    """

    def __init__(self, directory: RunDirectory, history: RunHistory, board_log: BoardLog, recent: list[Board]) -> None:
        self.directory, self.history, self.board_log = directory, history, board_log
        self.best: dict[str, Any] = {}
        self.on_best: Callable[[FoundBoard], None] = lambda found_board: None
        self._recent = dict.fromkeys(recent[-MAX_RECENT:])
        self._elapsed_before = history.elapsed_s
        self._write_errors: dict[str, float] = {}
        self._best_board: Board | None = None
        self._saved_at = self._heartbeat_at = time.monotonic()
        self._pids: set[int] = set()
        self._said_full = False
        self._rates: deque[tuple[float, int]] = deque()

    def begin(self, archipelago: Archipelago, version: str) -> None:
        """Add this session to the history and write the first checkpoint and status.json.

        Parameters
        ----------
        archipelago : Archipelago
            The search, which has not begun.
        version : str
            Version of lns.
        """
        self.directory.begin()
        self.history.begin(SessionRecord.new(version, archipelago.workers))
        self.save(archipelago)
        self.write_status(archipelago)

    def record_known_best(self, board: Board, score: int, origin: str) -> None:
        """Record the best board that exists before the search: given by the user, or found in the run directory.

        Parameters
        ----------
        board : Board
            Full legal board.
        score : int
            Its score.
        origin : str
            Where it comes from: "start", or the name of a file.
        """
        found_board = FoundBoard(board, score, origin)
        if score > self.history.best_score:
            self._record([(0, found_board)])
        else:
            check_found(self.directory.puzzle, found_board)
            self._set_best(board, self.history.improvements[-1].elapsed_s)

    def on_round(self, archipelago: Archipelago) -> None:
        """Record the boards found since the last call; write the checkpoint and status.json when they are due."""
        self.history.elapsed_s = self._elapsed_before + archipelago.elapsed
        session = self.history.sessions[-1]
        session.seconds, session.workers = archipelago.elapsed, archipelago.workers
        improved = self._record(archipelago.pop_boards())
        now = time.monotonic()
        if improved or now - self._saved_at >= self.directory.settings.checkpoint_s:
            self.save(archipelago)
        if improved or now - self._heartbeat_at >= HEARTBEAT_S or self._pids != set(archipelago.pids.values()):
            self.write_status(archipelago)
        if self._write_errors and min(self._write_errors.values()) <= now - RETRY_S:
            self._retry(archipelago)

    @property
    def write_errors(self) -> list[str]:
        """Files whose last write failed."""
        return sorted(self._write_errors)

    def end(self, archipelago: Archipelago, why: str) -> None:
        """End the session: write everything, also what could not be written before.

        Parameters
        ----------
        archipelago : Archipelago
            The search, which has ended.
        why : str
            Why it ended, for the history.
        """
        self.on_round(archipelago)
        self.history.sessions[-1].ended = why
        self._try(BOARDS, self.board_log.flush)
        self._write_best()
        self.save(archipelago)
        self.write_status(archipelago)
        self.board_log.close()

    def save(self, archipelago: Archipelago) -> None:
        """Write a checkpoint."""
        self._saved_at = time.monotonic()
        state = Checkpoint(self.history, archipelago.islands, self.board_log.size)
        run = self.directory.settings.run
        self._try(_CHECKPOINT, lambda: checkpoints.save(self.directory.path, run, self.directory.puzzle, state))

    def write_status(self, archipelago: Archipelago) -> None:
        """Write status.json, the heartbeat of the run."""
        self._heartbeat_at, self._pids = time.monotonic(), set(archipelago.pids.values())
        statistics = archipelago.statistics
        figures = {
            "rate": round(self._rate(archipelago), 1),
            "pids": sorted(archipelago.pids.values()),
            "cluster_workers": min(archipelago.capacity, archipelago.workers),
            "min_score": archipelago.min_score,
            "write_errors": self.write_errors,
        }
        self._try(STATUS, lambda: write_status(self.directory, self.history, statistics, figures))
        certificate = statistics.certificate_of(self.best.get("score", -1))
        if certificate != self.best.get("certificate", {}):
            self.best["certificate"] = certificate
            self._try(BEST, lambda: self.directory.write_best(self.best))

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
        for island, found_board in found_boards:
            improves = found_board.score > self.history.best_score
            if not improves and (found_board.board in self._recent or self._log_is_full()):
                continue
            check_found(self.directory.puzzle, found_board)  # nothing wrong is written
            if improves:
                self.history.improve(found_board, at)
                new_best = found_board
            self._recent[found_board.board] = None
            if len(self._recent) > MAX_RECENT:
                del self._recent[next(iter(self._recent))]
            self.history.log(found_board)
            logged.append(LoggedBoard(elapsed_s=self.history.elapsed_s, at=at, island=island, **found_board._asdict()))
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
        self._best_board, self.best = board, self.directory.best_fields(board, elapsed_s)
        self._write_best()

    def _write_best(self) -> None:
        board = self._best_board
        if board is not None:
            self._try(BEST, lambda: self.directory.write_best(self.best))
            self._try(PICTURE, lambda: self.directory.draw(board))

    def _retry(self, archipelago: Archipelago) -> None:
        if BOARDS in self._write_errors:
            self._try(BOARDS, self.board_log.flush)
        if self._write_errors.keys() & {BEST, PICTURE}:
            self._write_best()
        if _CHECKPOINT in self._write_errors:
            self.save(archipelago)
        if STATUS in self._write_errors:
            self.write_status(archipelago)

    def _try(self, what: str, write: Callable[[], object]) -> None:
        try:
            self.directory.check_lock()
            write()
        except OSError as error:
            if what not in self._write_errors:
                log.warning("%s could not be written (%s); it is kept in memory and tried again", what, error.strerror)
            self._write_errors[what] = time.monotonic()
        else:
            if self._write_errors.pop(what, None) is not None:
                log.info("%s is written again", what)
