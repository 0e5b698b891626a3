"""What `lns exact solve --all` does with the solutions: a file each, or a list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from instances.board import Board
from instances.errors import InputError
from instances.formats import render, viewer_url
from instances.puzzle import Puzzle


class Boards:
    """Called with every solution: writes it to ``directory`` as 000001.json and so on, or keeps it where that is None.

    The directory is made. Raises InputError when it exists and is not empty, or its parent is not there.
    """

    def __init__(self, puzzle: Puzzle, directory: Path | None) -> None:
        self._puzzle, self._directory = puzzle, directory
        self._kept: list[Board] = []
        self._written = 0
        if directory is None:
            return
        if not directory.parent.is_dir():
            raise InputError("there is no such directory", directory.parent)
        if directory.exists() and not (directory.is_dir() and not any(directory.iterdir())):
            raise InputError("it exists; with --all expected a new directory, or an empty one", directory)
        directory.mkdir(exist_ok=True)

    def __call__(self, board: Board) -> None:
        if self._directory is None:
            self._kept.append(board)
            return
        self._written += 1
        text, _ = render("best", self._puzzle, board)
        (self._directory / f"{self._written:06d}.json").write_text(text, encoding="utf-8")

    def as_json(self) -> dict[str, Any]:
        """``boards``: [piece, rotation] by cell of each; or the directory where they are."""
        if self._directory is not None:
            return {"output": str(self._directory)}
        return {"boards": [board.pairs() for board in self._kept]}

    def lines(self) -> list[str]:
        """A line a board, or one about the directory."""
        if self._directory is not None:
            return [f"written     {self._written:,} boards in {self._directory}"]
        return [f"url         {viewer_url(self._puzzle, board)}" for board in self._kept]
