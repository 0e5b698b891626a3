"""boards.jsonl: the boards that a run keeps, each a line of JSON with a checksum. The file only grows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from instances.board import Board
from instances.puzzle import MAX_CELLS, Puzzle
from instances.verify import verify
from lns.runs.files import BOARDS, is_sealed, open_regular, seal, start_of_last_lines, whole_lines, write_all
from lns_support.errors import InputError
from lns_support.files import open_to_read
from lns_support.json_values import JsonFields, json_object

MAX_LINE = 64 + 512 + 8 * MAX_CELLS  # bytes of a line
MAX_LOG_BYTES = 2**31  # of the log; it then takes new bests only
MAX_FILE_BYTES = MAX_LOG_BYTES + 2**26  # of a log that is read: new bests are few
MAX_PENDING = 10_000  # boards kept in memory while the disk is full; of more the best are kept
_START = b'{"score": '
_SCORE = re.compile(rb'\{"score": ([0-9]{1,5}),')


@dataclass(frozen=True)
class LoggedBoard:
    """A board of the log."""

    score: int  # matched inner edges
    elapsed_s: float  # seconds of search before it, over all sessions
    at: str  # time of day, UTC
    island: int  # number of the island that found it
    origin: str  # the part of the engine that made it
    board: Board

    def line(self) -> str:
        """The line, without its end; ``oriented`` holds piece*4 + rotation of each cell, row-major."""
        return seal(
            {
                "score": self.score,
                "elapsed_s": round(self.elapsed_s, 3),
                "at": self.at,
                "island": self.island,
                "origin": self.origin,
                "oriented": self.board.placements.tolist(),
            }
        )


def parse_line(line: str, puzzle: Puzzle) -> LoggedBoard:
    """Read a line; its score is not verified.

    Parameters
    ----------
    line : str
        Line without its end.
    puzzle : Puzzle
        Puzzle of the run.

    Returns
    -------
    LoggedBoard

    Raises
    ------
    InputError
        The line is damaged or does not fit the puzzle.
    """
    if not is_sealed(line):
        raise InputError("wrong checksum")
    fields = JsonFields(json_object(line))
    oriented = fields.array("oriented", puzzle.cells)
    if not all(type(value) is int and 0 <= value < 4 * puzzle.cells for value in oriented):
        raise InputError(f"'oriented': expected whole numbers from 0 to {4 * puzzle.cells - 1}")
    return LoggedBoard(
        score=fields.integer("score", 0, puzzle.max_score),
        elapsed_s=fields.number("elapsed_s", 0, 1e10),
        at=fields.printable("at", 40),
        island=fields.integer("island", 0, 10**6),
        origin=fields.printable("origin", 60),
        board=Board(np.array(oriented, dtype=np.int32), puzzle.width, puzzle.height),
    )


def is_verified(entry: LoggedBoard, puzzle: Puzzle) -> bool:
    """Whether the board is full and legal and has the score of its line."""
    verdict = verify(puzzle, entry.board)
    return verdict.complete and verdict.score == entry.score


class BoardLog:
    """The log, open for writing. The caller holds the lock of the run directory.

    Parameters
    ----------
    directory : Path
        Run directory.

    Attributes
    ----------
    size : int
        Bytes of the log.
    torn : int
        Bytes of an incomplete last line that was dropped at opening.

    Raises
    ------
    InputError
        The name belongs to something else than a regular file.
    OSError
        The file cannot be opened.
    """

    def __init__(self, directory: Path) -> None:
        self._file = open_regular(directory / BOARDS, os.O_RDWR | os.O_APPEND)
        self._pending: list[LoggedBoard] = []
        length = os.fstat(self._file.fileno()).st_size
        if length > MAX_FILE_BYTES:
            self._file.close()
            raise _too_long(directory / BOARDS, length)
        self.size = whole_lines(self._file.fileno())
        self.torn = length - self.size
        if self.torn:
            if os.pread(self._file.fileno(), len(_START), self.size) == _START[: self.torn]:
                os.ftruncate(self._file.fileno(), self.size)
            else:  # not the beginning of a board: keep it, as it may be data of the user
                self.size += self.torn + os.write(self._file.fileno(), b"\n")
                self.torn = 0

    def start_of_last(self, boards: int) -> int:
        """Byte of the log at which its last ``boards`` lines begin."""
        return start_of_last_lines(self._file.fileno(), self.size, boards)

    @property
    def is_full(self) -> bool:
        """Whether the log has reached `MAX_LOG_BYTES`, so that only new bests should be appended."""
        return self.size >= MAX_LOG_BYTES

    @property
    def pending(self) -> int:
        """Number of boards that are not written yet."""
        return len(self._pending)

    def add(self, entries: list[LoggedBoard]) -> None:
        """Keep boards in memory, at most `MAX_PENDING`, until `flush` has written them."""
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
            write_all(descriptor, data)
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, self.size)
            raise
        self.size += len(data)
        self._pending.clear()

    def close(self) -> None:
        self._file.close()


def _too_long(path: Path, length: int) -> InputError:
    return InputError(f"the log has {length} bytes; expected at most {MAX_FILE_BYTES}", path)


class BoardLogReader:
    """Reads a log that may grow meanwhile.

    Parameters
    ----------
    directory : Path
        Run directory.
    puzzle : Puzzle
        Puzzle of the run.
    offset : int
        Byte to begin at: the start of a line. `read` moves it behind the last complete line.
    """

    def __init__(self, directory: Path, puzzle: Puzzle, offset: int = 0) -> None:
        self.path, self.puzzle, self.offset = directory / BOARDS, puzzle, offset

    def read(self, at_least: int = 0) -> Iterator[LoggedBoard | InputError]:
        """Read the boards from ``offset`` on.

        Parameters
        ----------
        at_least : int
            Lines with a lower score are skipped.

        Yields
        ------
        LoggedBoard or InputError
            A board, whose score is not verified, or the error of a damaged line.

        Raises
        ------
        InputError
            The log cannot be opened, or is longer than `MAX_FILE_BYTES`.
        """
        try:
            if not self.path.is_file():
                return
            log_file = open_to_read(self.path)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", self.path) from None
        with log_file as file:
            length = os.fstat(file.fileno()).st_size
            if length > MAX_FILE_BYTES:
                raise _too_long(self.path, length)
            file.seek(self.offset)
            for line in iter(lambda: file.readline(MAX_LINE), b""):
                whole = line.endswith(b"\n")
                if not whole and len(line) < MAX_LINE:
                    return  # incomplete: being written, or cut off
                self.offset += len(line)
                score = _SCORE.match(line)
                if score is not None and int(score[1]) < at_least:
                    continue
                try:
                    yield parse_line(line.rstrip(b"\n").decode("ascii"), self.puzzle)
                except UnicodeDecodeError:
                    yield InputError("a damaged line: bytes that are not ASCII", self.path)
                except InputError as error:
                    yield InputError(f"a damaged line: {error.message}", self.path)
