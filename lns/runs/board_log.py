"""boards.jsonl: every board worth keeping, one sealed JSON line each, only ever appended to."""

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
from lns.runs.files import BOARDS, is_sealed, open_regular, seal, whole_lines, write_all
from lns_support.errors import InputError
from lns_support.json_values import JsonFields, json_object

MAX_LINE = 64 + 512 + 8 * MAX_CELLS  # bytes
MAX_PENDING = 10_000  # boards kept in memory while the disk is full; the best of them
_START = b'{"score": '
_SCORE = re.compile(rb'\{"score": ([0-9]{1,5}),')


@dataclass(frozen=True)
class LoggedBoard:
    """One board. ``elapsed_s``: seconds of search before it, over all sessions; ``origin``: the part that made it."""

    score: int
    elapsed_s: float
    at: str
    island: int
    origin: str
    board: Board

    def line(self) -> str:
        """``oriented``: piece*4 + rotation by cell, row-major."""
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
    """The board of a line; its score is what the line says. Raises InputError for a damaged line or a foreign one."""
    if not is_sealed(line):
        raise InputError("its checksum does not fit")
    fields = JsonFields(json_object(line))
    oriented = fields.array("oriented", puzzle.cells)
    if not all(type(value) is int and 0 <= value < 4 * puzzle.cells for value in oriented):
        raise InputError(f"'oriented' holds other things than whole numbers from 0 to {4 * puzzle.cells - 1}")
    return LoggedBoard(
        fields.integer("score", 0, puzzle.max_score),
        fields.number("elapsed_s", 0, 1e10),
        fields.text("at", 40),
        fields.integer("island", 0, 10**6),
        fields.text("origin", 60),
        Board(np.array(oriented, dtype=np.int32), puzzle.width, puzzle.height),
    )


def is_verified(entry: LoggedBoard, puzzle: Puzzle) -> bool:
    """Whether the board is whole and legal, and scores what its line says."""
    judged = verify(puzzle, entry.board)
    return judged.complete and judged.score == entry.score


class BoardLog:
    """The log of a run that is under way; one writer (`lns.runs.lock`).

    ``size``: bytes that are whole. ``torn``: bytes of a last line that was cut short and is dropped.
    """

    def __init__(self, directory: Path) -> None:
        self._file = open_regular(directory / BOARDS, os.O_RDWR | os.O_APPEND)
        self._pending: list[LoggedBoard] = []
        length = os.fstat(self._file.fileno()).st_size
        self.size = whole_lines(self._file.fileno())
        self.torn = length - self.size
        if self.torn:
            if os.pread(self._file.fileno(), len(_START), self.size) == _START[: self.torn]:
                os.ftruncate(self._file.fileno(), self.size)
            else:  # no line of ours: nobody's data is cut off
                self.size += self.torn + os.write(self._file.fileno(), b"\n")
                self.torn = 0

    @property
    def pending(self) -> int:
        """Boards that the disk has refused so far."""
        return len(self._pending)

    def append(self, entries: list[LoggedBoard]) -> None:
        """Write the lines and wait until they are on the disk, those refused earlier first.

        Raises OSError when the disk refuses: the file is then as before, and the boards wait for the next call.
        """
        self._pending += entries
        if not self._pending:
            return
        if len(self._pending) > MAX_PENDING:
            self._pending = sorted(self._pending, key=lambda entry: entry.score)[-MAX_PENDING:]
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


class BoardLogReader:
    """Reads a log that may grow meanwhile; ``offset``: byte behind the last whole line read."""

    def __init__(self, directory: Path, puzzle: Puzzle, offset: int = 0) -> None:
        self.path, self.puzzle, self.offset = directory / BOARDS, puzzle, offset

    def read(self, at_least: int = 0) -> Iterator[LoggedBoard | InputError]:
        """The boards whose lines say at least this score, from ``offset`` on; an InputError for a damaged line.

        Raises InputError for a log that cannot be opened.
        """
        try:
            if not self.path.is_file():
                return
            opened = self.path.open("rb")
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", self.path) from None
        with opened as file:
            file.seek(self.offset)
            for line in iter(lambda: file.readline(MAX_LINE), b""):
                whole = line.endswith(b"\n")
                if not whole and len(line) < MAX_LINE:
                    return  # cut short, or just being written
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
