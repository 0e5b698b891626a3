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
from lns.runs.board_log import BoardLog, Entry
from lns.runs.checkpoint import Checkpoint
from lns.runs.directory import RunDirectory
from lns.runs.files import BEST, BOARDS, PICTURE, STATUS, now, seal
from lns.runs.history import RunHistory, SessionRecord
from lns_support.files import atomic_write

log = logging.getLogger("lns")

BEAT_S = 5.0  # between two status.json
RATE_S = 60.0  # the rate of work is that of the last so many seconds
RETRY_S = 5.0  # a full disk is tried again after
RECENT = 10_000  # boards remembered, so that none is logged twice after a crash


class Recorder:
    """Called by the archipelago after each round (`note`); ``best``: the fields of best.json, {} before the first."""

    def __init__(self, directory: RunDirectory, history: RunHistory, journal: BoardLog, recent: list[Board]) -> None:
        self.directory, self.history, self.journal = directory, history, journal
        self.best: dict[str, Any] = {}
        self.on_best: Callable[[FoundBoard], None] = lambda find: None
        self._recent = dict.fromkeys(recent[-RECENT:])
        self._before = history.elapsed_s
        self._write_errors: dict[str, float] = {}
        self._best_board: tuple[Board, float] | None = None
        self._saved_at = self._beat_at = time.monotonic()
        self._pids: set[int] = set()
        self._work: deque[tuple[float, int]] = deque()

    def begin(self, workers: int, version: str) -> None:
        """A session begins."""
        machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
        self.directory.begin()
        self.history.begin(SessionRecord(now(), socket.gethostname(), machine, version, workers))

    def adopt(self, board: Board, score: int, origin: str) -> None:
        """A best board that is there before the search begins: given by the user, or found on disk."""
        find = FoundBoard(board, score, origin)
        if score > self.history.best_score:
            self._keep([(0, find)])
        else:
            self._best_board = board, self.history.improvements[-1].elapsed_s
            self.best = self.directory.describe(*self._best_board)
            self._write_best()

    def note(self, search: Archipelago) -> None:
        """Take what was found, save what is due."""
        self.history.elapsed_s = self._before + search.elapsed
        self.history.sessions[-1].seconds = search.elapsed
        better = self._keep(search.pop_boards())
        search.min_score = self.threshold
        if self.directory.stop_wanted:
            search.stop()
        moment = time.monotonic()
        if better or moment - self._saved_at >= self.directory.settings.checkpoint_s:
            self.save(search)
        if better or moment - self._beat_at >= BEAT_S or self._pids != set(search.pids.values()):
            self.beat(search)
        if self._write_errors and min(self._write_errors.values()) <= moment - RETRY_S:
            self._retry(search)

    @property
    def write_errors(self) -> list[str]:
        """What the disk has refused and not yet taken."""
        return sorted(self._write_errors)

    @property
    def threshold(self) -> int:
        """Boards of at least this score go into the log."""
        settings = self.directory.settings
        return settings.min_score if settings.min_score >= 0 else max(0, self.history.best_score - 1)

    def end(self, search: Archipelago, why: str) -> None:
        """The session is over: everything is saved, what the disk refused before is tried once more."""
        self.note(search)
        self.history.sessions[-1].ended = why
        self._try(BOARDS, lambda: self.journal.append([]))
        if self._best_board is not None:
            self._write_best()
        self.save(search)
        self.beat(search)
        self.journal.close()

    def save(self, search: Archipelago) -> None:
        """Write a checkpoint."""
        self._saved_at = time.monotonic()
        state = Checkpoint(self.history, search.islands, self.journal.size)
        self._try(
            "the checkpoint",
            lambda: checkpoints.save(self.directory.path, self.directory.settings.run, self.directory.puzzle, state),
        )

    def beat(self, search: Archipelago) -> None:
        """Write status.json."""
        self._beat_at, self._pids = time.monotonic(), set(search.pids.values())
        done = search.statistics
        status = {
            "schema": 1,
            "run": self.directory.settings.run,
            "at": now(),
            "history": self.history.to_json(),
            "statistics": done.__dict__,
            "efforts": done.efforts(),
            "unit": done.unit,
            "rate": round(self._rate(search), 1),
            "pids": sorted(search.pids.values()),
            "threshold": self.threshold,
            "write_errors": self.write_errors,
        }
        self._try(STATUS, lambda: atomic_write(self.directory.path / STATUS, seal(status) + "\n"))

    def _rate(self, search: Archipelago) -> float:
        """Work a second, of all workers, lately."""
        self._work.append((search.elapsed, search.statistics.work))
        while len(self._work) > 2 and self._work[-1][0] - self._work[1][0] >= RATE_S:
            self._work.popleft()
        (begin, before), (end, after) = self._work[0], self._work[-1]
        return (after - before) / (end - begin) if end > begin else 0.0

    def _keep(self, finds: list[tuple[int, FoundBoard]]) -> bool:
        """Log and count the boards; True when one of them is a new best."""
        at, best = now(), self.history.best_score
        entries = []
        for island, find in finds:
            judged = verify(self.directory.puzzle, find.board)
            if not judged.complete or judged.score != find.score:
                raise AssertionError(f"{find.origin} returned an illegal board, or a wrong score: {judged.problems}")
            if find.score > self.history.best_score:
                self.history.improve(find, at)
                self._best_board = find.board, self.history.elapsed_s
            elif find.score < self.threshold or find.board in self._recent:
                continue
            self._recent[find.board] = None
            if len(self._recent) > RECENT:
                del self._recent[next(iter(self._recent))]
            self.history.log(find)
            entries.append(Entry(find.score, self.history.elapsed_s, at, island, find.origin, find.board))
        if entries:
            self._try(BOARDS, lambda: self.journal.append(entries))
        if self.history.best_score == best or self._best_board is None:
            return False
        self.best = self.directory.describe(*self._best_board)
        self._write_best()
        last = self.history.improvements[-1]
        self.on_best(FoundBoard(self._best_board[0], last.score, last.origin))
        return True

    def _write_best(self) -> None:
        assert self._best_board is not None
        board, elapsed_s = self._best_board
        self._try(BEST, lambda: self.directory.save_best(board, elapsed_s))
        self._try(PICTURE, lambda: self.directory.draw(board))

    def _retry(self, search: Archipelago) -> None:
        if BOARDS in self._write_errors:
            self._try(BOARDS, lambda: self.journal.append([]))
        if self._best_board is not None and self._write_errors.keys() & {BEST, PICTURE}:
            self._write_best()
        if "the checkpoint" in self._write_errors:
            self.save(search)
        if STATUS in self._write_errors:
            self.beat(search)

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
