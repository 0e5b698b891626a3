"""What `lns exact solve --all` does with the solutions: a file each, or a list."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from instances.board import Board
from instances.formats import atomic_write, render
from instances.puzzle import Puzzle
from lns.terminal.options import board_lines
from lns_support.errors import InputError


class Boards:
    """Called with every solution: writes it to ``directory`` as 000001.json and so on, or keeps it where that is None.

    ``instance``: how the files name the puzzle. The directory is made. Raises InputError when it exists and is not
    empty, or its parent is not there.
    A file that cannot be written ends the search as Ctrl-C does, with what is known; ``failure`` says why.
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
            raise InputError("it exists; with --all expected a new directory, or an empty one", directory)
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
        """The search came to nothing: a directory that was made for it goes again. Raises ``failure`` if it is why."""
        if self._directory is not None and self._made:
            with suppress(OSError):
                self._directory.rmdir()
        if self.failure is not None:
            raise self.failure

    def as_json(self) -> dict[str, Any]:
        """``boards``: [piece, rotation] by cell of each; or the directory where they are."""
        if self._directory is not None:
            return {"output": str(self._directory)}
        return {"boards": [board.pairs() for board in self._kept]}

    def lines(self) -> list[str]:
        """What tells each board, or a line about the directory."""
        if self._directory is not None:
            return [f"written     {self._written:,} boards in {self._directory}"]
        return [line for board in self._kept for line in board_lines(self._puzzle, board)]
