"""The best different boards of a log, kept up to date while it grows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from instances.board import Board
from instances.puzzle import Puzzle
from lns.runs.board_log import BoardLogReader, LoggedBoard, is_verified


@dataclass
class BestBoards:
    """``top``: the ``size`` best boards, verified, the best first, the earlier first among equals."""

    directory: Path
    puzzle: Puzzle
    size: int

    def __post_init__(self) -> None:
        self.top: list[LoggedBoard] = []
        self._reader = BoardLogReader(self.directory, self.puzzle)
        self._boards: set[Board] = set()

    def update(self) -> list[LoggedBoard]:
        """Read what is new in the log."""
        for entry in self._reader.read(self._floor()):
            if not isinstance(entry, LoggedBoard) or entry.score < self._floor() or entry.board in self._boards:
                continue
            if is_verified(entry, self.puzzle):
                self.top = sorted([*self.top, entry], key=lambda one: -one.score)[: self.size]
                self._boards = {one.board for one in self.top}
        return self.top

    def _floor(self) -> int:
        return self.top[-1].score + 1 if len(self.top) == self.size else 0
