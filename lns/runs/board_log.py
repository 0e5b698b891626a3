"""boards.jsonl: the boards that a run keeps, one line of JSON with a checksum for each. Complete lines never change."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np

from lns.instances.board import Board
from lns.instances.errors import named
from lns.instances.files import open_to_read
from lns.instances.puzzle import MAX_CELLS, Puzzle
from lns.instances.verify import verify
from lns.runs.files import BOARDS, from_json, open_regular, seal, unseal
from lns.runs.history import Improvement

log = logging.getLogger("lns")

MAX_LINE = 64 + 512 + 8 * MAX_CELLS  # most bytes of a line of the log
MAX_LOG_BYTES = 2**31  # once the log has this many bytes, only new best boards are added
MAX_PENDING = 10_000  # most boards kept in memory while the file cannot be written; the highest scores are kept
_SCORE = re.compile(rb'\{"score": ([0-9]{1,5}),')


@dataclass(frozen=True)
class LoggedBoard(Improvement):
    """A board of the log, with its score, origin and time of discovery."""

    island: int  # number of the island that found the board
    board: Board

    def line(self) -> str:
        """Return the board's line of the log, without newline; field ``oriented`` lists the oriented pieces by cell."""
        values = self.__dict__ | {"oriented": self.board.placements.tolist()}
        del values["board"]
        return seal(values)

    def is_verified(self, puzzle: Puzzle) -> bool:
        """Return whether the board is full and legal, and has the score that its line claims."""
        verdict = verify(puzzle, self.board)
        return verdict.complete and verdict.score == self.score


class BoardLog:
    """The log of a run directory, open for writing. The caller holds the lock of the directory.

    Raises InputError if the file is not a regular one, OSError if it cannot be opened.
    """

    def __init__(self, directory: Path) -> None:
        self._file = open_regular(directory / BOARDS, os.O_RDWR | os.O_APPEND)
        self._pending: list[LoggedBoard] = []
        descriptor, self.size = self._file.fileno(), 0  # ``size``: bytes of all complete lines
        if length := os.fstat(descriptor).st_size:
            with mmap(descriptor, length, access=ACCESS_READ) as content:
                self.size = content.rfind(b"\n", max(0, length - MAX_LOG_BYTES)) + 1
        self.torn = length - self.size  # bytes of an incomplete last line, which is dropped
        if self.torn:
            os.ftruncate(descriptor, self.size)

    @property
    def is_full(self) -> bool:
        """Whether the log has reached `MAX_LOG_BYTES`, so that only new bests should be appended."""
        return self.size >= MAX_LOG_BYTES

    @property
    def pending(self) -> int:
        """Number of boards that were added but are not written to the file yet."""
        return len(self._pending)

    def add(self, entries: list[LoggedBoard]) -> None:
        """Keep ``entries`` in memory until `flush` writes them; of more than `MAX_PENDING` boards keep the best."""
        self._pending += entries
        if len(self._pending) > MAX_PENDING:
            self._pending = sorted(self._pending, key=lambda entry: entry.score)[-MAX_PENDING:]

    def flush(self) -> None:
        """Write the boards that were added, and wait until they are on the disk.

        Raises OSError if they cannot be written: the file is then unchanged, and the boards wait for the next call.
        """
        if not self._pending:
            return
        data = "".join(f"{entry.line()}\n" for entry in self._pending).encode()
        descriptor = self._file.fileno()
        try:
            rest = memoryview(data)
            while rest:  # `os.write` may write only some of the bytes when the disk fills up
                rest = rest[os.write(descriptor, rest) :]
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, self.size)
            raise
        if self.size < MAX_LOG_BYTES <= self.size + len(data):
            log.warning("%s is full; from now on it takes new bests only", BOARDS)
        self.size += len(data)
        self._pending.clear()

    def close(self) -> None:
        self._file.close()


class BoardLogReader:
    """Reader of the log of a run directory, from the line at byte ``offset`` on; the log may grow meanwhile."""

    def __init__(self, directory: Path, puzzle: Puzzle, offset: int = 0) -> None:
        self.path, self.puzzle = directory / BOARDS, puzzle
        self.offset = offset  # position in bytes after the last complete line that was read
        self.damaged = 0  # number of lines that could not be read as boards of the puzzle

    def read(self, at_least: int = 0) -> Iterator[LoggedBoard]:
        """Yield the boards from ``offset`` on that have a score of ``at_least`` or more; damaged lines are skipped.

        The scores are not verified. A log that does not exist has no boards. Raises InputError if it cannot be opened.
        """
        with named(self.path, "cannot be read"):
            if not self.path.is_file():
                return
            log_file = open_to_read(self.path)
        with log_file as file:
            file.seek(self.offset)
            for line in iter(lambda: file.readline(MAX_LINE), b""):
                if not line.endswith(b"\n") and len(line) < MAX_LINE:
                    return  # the last line is incomplete: it is being written, or was cut off
                self.offset += len(line)
                score = _SCORE.match(line)
                if (score is None or int(score[1]) >= at_least) and (entry := self._entry(line)) is not None:
                    yield entry

    def _entry(self, line: bytes) -> LoggedBoard | None:
        puzzle = self.puzzle
        with suppress(ValueError, TypeError, KeyError, OverflowError):  # raised for a damaged line
            values = unseal(line.decode("ascii"))
            oriented = np.array(values["oriented"], dtype=np.int64)
            if oriented.shape == (puzzle.cells,) and oriented.min() >= 0 and oriented.max() < 4 * puzzle.cells:
                board = Board(oriented.astype(np.int32), puzzle.width, puzzle.height)
                entry: LoggedBoard = from_json(LoggedBoard, values | {"board": board}, "a line")
                return entry
        self.damaged += 1
        return None


class BestBoards:
    """The best distinct boards, at most ``size``, of the log of a run directory; `update` reads the log's new lines."""

    def __init__(self, directory: Path, puzzle: Puzzle, size: int) -> None:
        self.puzzle, self.size = puzzle, size
        self.top: list[LoggedBoard] = []  # verified boards, best first; those of equal score in the order of the log
        self._reader = BoardLogReader(directory, puzzle)

    def update(self) -> list[LoggedBoard]:
        """Read the lines added to the log since the last call; return ``top``."""
        for entry in self._reader.read(self._floor()):
            is_new = entry.score >= self._floor() and entry.board not in {logged.board for logged in self.top}
            if is_new and entry.is_verified(self.puzzle):
                self.top = sorted([*self.top, entry], key=lambda logged: -logged.score)[: self.size]
        return self.top

    def _floor(self) -> int:
        return self.top[-1].score + 1 if len(self.top) == self.size else 0
