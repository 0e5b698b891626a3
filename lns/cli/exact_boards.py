"""The solutions of `lns exact solve --all`: written to a file each, or kept in a list."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from instances.board import Board
from instances.formats import atomic_write, render
from instances.puzzle import Puzzle
from lns.terminal.options import board_lines
from lns_support.errors import InputError
from lns_support.text import count_of


class Boards:
    """Callback that stores each solution.

    If a file cannot be written, KeyboardInterrupt ends the search with its result so far, and ``failure`` is the error.

    Parameters
    ----------
    puzzle : Puzzle
        The puzzle.
    instance : str
        Name of the puzzle in the files.
    directory : Path or None
        Directory for the files 000001.json and so on, which is created; None keeps the boards in a list.

    Raises
    ------
    InputError
        The directory exists and is not empty, or its parent does not exist.
    """

    def __init__(self, puzzle: Puzzle, instance: str, directory: Path | None) -> None:
        self._puzzle, self._instance, self._directory = puzzle, instance, directory
        self._kept: list[Board] = []
        self._written = 0
        self.failure: OSError | None = None
        if directory is None:
            return
        if not directory.parent.is_dir():
            raise InputError("there is no such directory", directory.parent)
        if directory.exists() and not (directory.is_dir() and not any(directory.iterdir())):
            raise InputError(
                "exists and is no empty directory; with --all expected a new directory, or an empty one", directory
            )
        self._made = not directory.exists()
        directory.mkdir(exist_ok=True)

    def __call__(self, board: Board) -> None:
        if self._directory is None:
            self._kept.append(board)
            return
        text, _ = render("best", self._puzzle, board, instance=self._instance)
        try:
            atomic_write(self._directory / f"{self._written + 1:06d}.json", text)
        except OSError as error:
            self.failure = error
            raise KeyboardInterrupt from error
        self._written += 1

    def withdraw(self) -> None:
        """Remove the directory after a search that did not begin; raise ``failure`` if there is one."""
        if self._directory is not None and self._made:
            with suppress(OSError):
                self._directory.rmdir()
        if self.failure is not None:
            raise self.failure

    def as_json(self) -> dict[str, Any]:
        """For the JSON output: the placements of each board, or the directory with the files."""
        if self._directory is not None:
            return {"output": str(self._directory)}
        return {"boards": [board.without_blanks(self._puzzle).pairs() for board in self._kept]}

    def lines(self) -> list[str]:
        """Lines for the terminal: a URL for each board, or a line about the directory."""
        if self._directory is not None:
            return [f"written     {count_of(self._written, 'board')} in {self._directory}"]
        return [line for board in self._kept for line in board_lines(self._puzzle, board)]
