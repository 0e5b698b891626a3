"""Keeps what a run finds: boards into the log, the best into best.json, the state into checkpoints.

The order at a new best is log, best.json, checkpoint, so that whatever moment ends the process, a later one finds the
board. A disk that refuses never ends the run: it goes on in memory, says so once, and saves as soon as it can.
"""

from __future__ import annotations

import logging
import platform
import socket
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from instances.board import Board
from instances.verify import verify
from lns.engine import FoundBoard
from lns.islands import Archipelago
from lns.runs import checkpoint as checkpoints
from lns.runs.board_log import BoardLog, LoggedBoard
from lns.runs.checkpoint import Checkpoint
from lns.runs.directory import RunDirectory
from lns.runs.files import BEST, BOARDS, PICTURE, STATUS, STATUS_SCHEMA, seal, utc_now
from lns.runs.history import RunHistory, SessionRecord
from lns_support.files import atomic_write

log = logging.getLogger("lns")

HEARTBEAT_S = 5.0  # between two status.json
RATE_S = 60.0  # the rate of work is that of the last so many seconds
RETRY_S = 5.0  # a full disk is tried again after
RECENT = 10_000  # boards remembered, so that none is logged twice after a crash


class Recorder:
    """Writes what an archipelago finds; `on_round` is called after each round.

    ``best``: the fields of best.json, {} before the first board.
    """

    def __init__(self, directory: RunDirectory, history: RunHistory, board_log: BoardLog, recent: list[Board]) -> None:
        self.directory, self.history, self.board_log = directory, history, board_log
        self.best: dict[str, Any] = {}
        self.on_best: Callable[[FoundBoard], None] = lambda find: None
        self._recent = dict.fromkeys(recent[-RECENT:])
        self._before = history.elapsed_s
        self._write_errors: dict[str, float] = {}
        self._best_board: tuple[Board, float] | None = None
        self._saved_at = self._beat_at = time.monotonic()
        self._pids: set[int] = set()
        self._work: deque[tuple[float, int]] = deque()

    def begin(self, archipelago: Archipelago, version: str) -> None:
        """A session begins: from now on the directory says that a search goes on in it."""
        machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
        self.directory.begin()
        self.history.begin(SessionRecord(utc_now(), socket.gethostname(), machine, version, archipelago.workers))
        self.save(archipelago)
        self.write_status(archipelago)

    def record_known_best(self, board: Board, score: int, origin: str) -> None:
        """A best board that is there before the search begins: given by the user, or found on disk."""
        find = FoundBoard(board, score, origin)
        if score > self.history.best_score:
            self._keep([(0, find)])
        else:
            self._best_board = board, self.history.improvements[-1].elapsed_s
            self.best = self.directory.best_fields(*self._best_board)
            self._write_best()

    def on_round(self, archipelago: Archipelago) -> None:
        """Take what was found, save what is due."""
        self.history.elapsed_s = self._before + archipelago.elapsed
        self.history.sessions[-1].seconds = archipelago.elapsed
        better = self._keep(archipelago.pop_boards())
        moment = time.monotonic()
        if better or moment - self._saved_at >= self.directory.settings.checkpoint_s:
            self.save(archipelago)
        if better or moment - self._beat_at >= HEARTBEAT_S or self._pids != set(archipelago.pids.values()):
            self.write_status(archipelago)
        if self._write_errors and min(self._write_errors.values()) <= moment - RETRY_S:
            self._retry(archipelago)

    @property
    def write_errors(self) -> list[str]:
        """What the disk has refused and not yet taken."""
        return sorted(self._write_errors)

    @property
    def min_score(self) -> int:
        """Boards of at least this score go into the log."""
        settings = self.directory.settings
        return settings.min_score if settings.min_score >= 0 else max(0, self.history.best_score - 1)

    def end(self, archipelago: Archipelago, why: str) -> None:
        """The session is over: everything is saved, what the disk refused before is tried once more."""
        self.on_round(archipelago)
        self.history.sessions[-1].ended = why
        self._try(BOARDS, lambda: self.board_log.append([]))
        if self._best_board is not None:
            self._write_best()
        self.save(archipelago)
        self.write_status(archipelago)
        self.board_log.close()

    def save(self, archipelago: Archipelago) -> None:
        """Write a checkpoint."""
        self._saved_at = time.monotonic()
        state = Checkpoint(self.history, archipelago.islands, self.board_log.size)
        self._try(
            "the checkpoint",
            lambda: checkpoints.save(self.directory.path, self.directory.settings.run, self.directory.puzzle, state),
        )

    def write_status(self, archipelago: Archipelago) -> None:
        """Write status.json."""
        self._beat_at, self._pids = time.monotonic(), set(archipelago.pids.values())
        done = archipelago.statistics
        status = {
            "schema": STATUS_SCHEMA,
            "run": self.directory.settings.run,
            "at": utc_now(),
            "history": self.history.to_json(),
            "statistics": done.__dict__,
            "node_equivalents_by_part": done.node_equivalents_by_part(),
            "unit": done.unit,
            "rate": round(self._rate(archipelago), 1),
            "pids": sorted(archipelago.pids.values()),
            "min_score": self.min_score,
            "write_errors": self.write_errors,
        }
        self._try(STATUS, lambda: atomic_write(self.directory.path / STATUS, seal(status) + "\n"))

    def _rate(self, archipelago: Archipelago) -> float:
        """Work a second, of all workers, lately."""
        self._work.append((archipelago.elapsed, archipelago.statistics.placements))
        while len(self._work) > 2 and self._work[-1][0] - self._work[1][0] >= RATE_S:
            self._work.popleft()
        (begin, before), (end, after) = self._work[0], self._work[-1]
        return (after - before) / (end - begin) if end > begin else 0.0

    def _keep(self, finds: list[tuple[int, FoundBoard]]) -> bool:
        """Log and count the boards; True when one of them is a new best."""
        at, best = utc_now(), self.history.best_score
        entries = []
        for island, find in finds:
            judged = verify(self.directory.puzzle, find.board)
            if not judged.complete or judged.score != find.score:
                raise AssertionError(f"{find.origin} returned an illegal board, or a wrong score: {judged.problems}")
            if find.score > self.history.best_score:
                self.history.improve(find, at)
                self._best_board = find.board, self.history.elapsed_s
            elif find.score < self.min_score or find.board in self._recent:
                continue
            self._recent[find.board] = None
            if len(self._recent) > RECENT:
                del self._recent[next(iter(self._recent))]
            self.history.log(find)
            entries.append(LoggedBoard(find.score, self.history.elapsed_s, at, island, find.origin, find.board))
        if entries:
            self._try(BOARDS, lambda: self.board_log.append(entries))
        if self.history.best_score == best or self._best_board is None:
            return False
        self.best = self.directory.best_fields(*self._best_board)
        self._write_best()
        last = self.history.improvements[-1]
        self.on_best(FoundBoard(self._best_board[0], last.score, last.origin))
        return True

    def _write_best(self) -> None:
        assert self._best_board is not None
        board, elapsed_s = self._best_board
        self._try(BEST, lambda: self.directory.save_best(board, elapsed_s))
        self._try(PICTURE, lambda: self.directory.draw(board))

    def _retry(self, archipelago: Archipelago) -> None:
        if BOARDS in self._write_errors:
            self._try(BOARDS, lambda: self.board_log.append([]))
        if self._best_board is not None and self._write_errors.keys() & {BEST, PICTURE}:
            self._write_best()
        if "the checkpoint" in self._write_errors:
            self.save(archipelago)
        if STATUS in self._write_errors:
            self.write_status(archipelago)

    def _try(self, what: str, write: Callable[[], object]) -> None:
        try:
            write()
        except OSError as error:
            if what not in self._write_errors:
                log.warning("%s could not be written (%s); it is kept in memory and tried again", what, error.strerror)
            self._write_errors[what] = time.monotonic()
        else:
            if self._write_errors.pop(what, None) is not None:
                log.info("%s is written again", what)
