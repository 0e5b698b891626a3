"""A run directory: best.json, best.svg, the log and what is needed to understand them later.

Everything is written to a temporary file in the same directory and renamed, so that a reader never sees half a file.
"""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any

from instances.board import Board
from instances.errors import InputError
from instances.formats import best_json, write
from instances.formats.files import atomic_write
from instances.puzzle import Puzzle
from instances.verify import verify

log = logging.getLogger("lns")

BEST, PICTURE, LOG, INSTANCE, PARAMETERS = "best.json", "best.svg", "run.log", "instance.json", "params.toml"


class RunDirectory:
    """One run's files in ``path``. A full disk never ends a run: what could not be written is said and tried again."""

    def __init__(self, path: Path, puzzle: Puzzle, instance: str, seed: int) -> None:
        self.path = path
        self.puzzle = puzzle
        self.instance = instance
        self.seed = seed
        self._unsaved: tuple[Board, float] | None = None

    @classmethod
    def create(cls, path: Path | None, puzzle: Puzzle, instance: str, seed: int, params_toml: str) -> RunDirectory:
        """Make the directory (default: runs/NAME-DATE-TIME) and its first files.

        Raises InputError when it holds something already or cannot be written, before any search.
        """
        if path is None:
            path = Path("runs") / f"{Path(puzzle.name).stem}-{time.strftime('%Y%m%d-%H%M%S')}"
            path = _unused(path)
        if path.exists() and not path.is_dir():
            raise InputError("is a file; expected the name of a new run directory", path)
        if path.is_dir() and any(path.iterdir()):
            raise InputError("is not empty; a run needs a new directory (or go on there with `lns resume`)", path)
        try:
            path.mkdir(parents=True, exist_ok=True)
            atomic_write(path / PARAMETERS, params_toml)
            write(path / INSTANCE, "json", puzzle, None)
        except OSError as error:
            raise InputError(f"cannot write a run directory here: {error.strerror}", path) from None
        return cls(path, puzzle, instance, seed)

    def save(self, board: Board, elapsed_s: float) -> dict[str, Any]:
        """Verify ``board`` and write it as the best; returns the fields of best.json.

        Raises AssertionError when the board breaks a rule: nothing wrong is ever written.
        """
        judged = verify(self.puzzle, board)
        if not judged.valid or not judged.full:
            raise AssertionError("the search returned an illegal board: " + "; ".join(judged.problems or ["not full"]))
        best = best_json(self.puzzle, board, instance=self.instance, seed=self.seed, elapsed_s=round(elapsed_s, 3))
        try:
            atomic_write(self.path / BEST, json.dumps(best, indent=None) + "\n")
            self._unsaved = None
        except OSError as error:
            self._unsaved = (board, elapsed_s)
            log.warning("%s could not be written (%s); the board is kept and tried again", BEST, error.strerror)
        return best

    def retry(self) -> None:
        """Write again what the disk refused before."""
        if self._unsaved is not None:
            self.save(*self._unsaved)

    def draw(self, board: Board) -> None:
        """best.svg; a picture is never worth losing a run."""
        from instances.draw import svg

        try:
            atomic_write(self.path / PICTURE, svg.render(self.puzzle, board))
        except OSError as error:
            log.warning("%s could not be written: %s", PICTURE, error.strerror)


def _unused(path: Path) -> Path:
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}-{number}")
    return candidate
