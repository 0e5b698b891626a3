"""The best boards of a log, updated while the log grows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from instances.board import Board
from instances.puzzle import Puzzle
from lns.runs.board_log import BoardLogReader, LoggedBoard, is_verified


@dataclass
class BestBoards:
    """The best distinct boards of a run.

    Attributes
    ----------
    directory : Path
        Run directory.
    puzzle : Puzzle
        Puzzle of the run.
    size : int
        Boards at most.
    top : list of LoggedBoard
        The boards, verified, the best first; of equal scores the earlier first.
    """

    directory: Path
    puzzle: Puzzle
    size: int

    def __post_init__(self) -> None:
        self.top: list[LoggedBoard] = []
        self._reader = BoardLogReader(self.directory, self.puzzle)
        self._boards: set[Board] = set()

    def update(self) -> list[LoggedBoard]:
        """Read the new lines of the log; returns ``top``."""
        for entry in self._reader.read(self._floor()):
            if not isinstance(entry, LoggedBoard) or entry.score < self._floor() or entry.board in self._boards:
                continue
            if is_verified(entry, self.puzzle):
                self.top = sorted([*self.top, entry], key=lambda logged: -logged.score)[: self.size]
                self._boards = {logged.board for logged in self.top}
        return self.top

    def _floor(self) -> int:
        return self.top[-1].score + 1 if len(self.top) == self.size else 0
