"""Records a run in memory only: its history and its best board, no file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from instances.board import Board
from instances.formats import best_json
from instances.puzzle import Puzzle
from lns.engine import FoundBoard, check_found
from lns.islands import Archipelago
from lns.runs.files import utc_now
from lns.runs.history import RunHistory, SessionRecord


class MemoryRecorder:
    """Observes a search as `lns.runs.recorder.Recorder` does, and writes nothing.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle whose boards are recorded.
    history : RunHistory
        Filled with improvements, boards by score, and the session.
    instance : str
        How ``best`` names the puzzle.
    seed : int
        Random seed of the run, for ``best``.
    """

    def __init__(self, puzzle: Puzzle, history: RunHistory, *, instance: str, seed: int) -> None:
        self.puzzle, self.history = puzzle, history
        self.best: dict[str, Any] = {}
        self.on_best: Callable[[FoundBoard], None] = lambda found: None
        self.write_errors: list[str] = []
        self._instance, self._seed = instance, seed

    def begin(self, archipelago: Archipelago, version: str) -> None:
        """The search begins."""
        self.history.begin(SessionRecord.new(version, archipelago.workers))

    def record_known_best(self, board: Board, score: int, origin: str) -> None:
        """Take a board that is there before the search begins for the best."""
        self._keep(FoundBoard(board, score, origin))

    def on_round(self, archipelago: Archipelago) -> None:
        """Take what the islands found since the last call."""
        self.history.elapsed_s = archipelago.elapsed
        session = self.history.sessions[-1]
        session.seconds, session.workers = archipelago.elapsed, archipelago.workers
        for _, found in archipelago.pop_boards():
            self._keep(found)

    def end(self, archipelago: Archipelago, why: str) -> None:
        """The search is over."""
        self.on_round(archipelago)
        self.history.sessions[-1].ended = why

    def _keep(self, found: FoundBoard) -> None:
        """Count a board, and verify one that is a new best."""
        if found.score > self.history.best_score:
            check_found(self.puzzle, found)
            self.history.improve(found, utc_now())
            self.best = best_json(
                self.puzzle, found.board, instance=self._instance, seed=self._seed,
                elapsed_s=round(self.history.elapsed_s, 3),
            )  # fmt: skip
            self.on_best(found)
        self.history.log(found)
