"""The board: the oriented piece on each cell. `lns.instances.verify` counts the score of a board."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from lns.instances.arguments import checked_class
from lns.instances.errors import BoardError, InputError
from lns.instances.puzzle import IntArray, Puzzle, read_only
from lns.instances.records import RichDisplay

EMPTY = -1


@checked_class
@dataclass(frozen=True, eq=False, repr=False)
class Board(RichDisplay):
    """An immutable board, partial or full. It may break any rule: repeat a piece, for example, or miss a clue.

    Two boards are equal if they have the same shape and placements.

    Parameters
    ----------
    placements : array_like of int, shape (width * height,)
        The oriented piece ``piece * 4 + rotation`` on each cell, row by row; any negative number means an empty cell.
        Pieces count from 0, rotations are clockwise quarter turns. Stored as a read-only int32 array in which every
        empty cell is -1.
    width, height : int
        Number of columns and rows.

    Raises
    ------
    InputError
        If the placements are not ``width * height`` numbers of 32 bits.
    """

    placements: IntArray
    width: int
    height: int

    puzzle: ClassVar[Puzzle | None] = None
    """The puzzle that `of` attached to this board, or None; equality and hash ignore it."""

    def __post_init__(self) -> None:
        try:
            flat = np.asarray(self.placements, dtype=np.int32).reshape(-1)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"placements are no whole numbers of 32 bits: {error}") from None
        if len(flat) != (cells := self.width * self.height):
            raise InputError(f"{len(flat)} placements for a board of {self.width} x {self.height}; expected {cells}")
        object.__setattr__(self, "placements", read_only(np.where(flat < 0, EMPTY, flat).astype(np.int32)))

    @classmethod
    def empty(cls, puzzle: Puzzle) -> Board:
        """Make a board of the puzzle's shape that is empty except for the blanks of holes; clues are not placed."""
        return cls(np.full(puzzle.cells, EMPTY, dtype=np.int32), puzzle.width, puzzle.height).with_blanks(puzzle)

    @classmethod
    def from_pairs(cls, pairs: Iterable[Sequence[int] | None], width: int, height: int) -> Board:
        """Make a board from (piece, rotation), or None if empty, for each cell, row by row, as in ``best.json``."""
        placements = [EMPTY if pair is None else pair[0] * 4 + pair[1] for pair in pairs]
        return cls(np.array(placements, dtype=np.int32), width, height)

    def of(self, puzzle: Puzzle) -> Board:
        """Return a board with the same placements, with ``puzzle`` attached, and with the blanks on the holes.

        Such a board shows its score in its repr and its colours in a notebook. The puzzle is not compared, hashed or
        pickled: a board that was sent to another process has lost the puzzle.

        Parameters
        ----------
        puzzle : Puzzle
            The puzzle whose pieces lie on the board.

        Returns
        -------
        Board
            A new board, equal to this one apart from the holes.

        Raises
        ------
        BoardError
            If the board has another shape than the puzzle.
        """
        self.check_shape(puzzle)
        board = Board(self.with_blanks(puzzle).placements, self.width, self.height)
        object.__setattr__(board, "puzzle", puzzle)
        return board

    def with_blanks(self, puzzle: Puzzle) -> Board:
        """Return the same board with a blank on each hole of ``puzzle``, which searches need there."""
        return self._on_holes(puzzle, [piece * 4 for piece in range(puzzle.piece_count, puzzle.cells)])

    def without_blanks(self, puzzle: Puzzle) -> Board:
        """Return the same board with the holes of ``puzzle`` empty, as in files."""
        return self._on_holes(puzzle, [EMPTY] * len(puzzle.holes))

    def _on_holes(self, puzzle: Puzzle, oriented: list[int]) -> Board:
        if not puzzle.holes:
            return self
        self.check_shape(puzzle)
        return self.with_pieces(list(puzzle.holes), oriented)

    def with_pieces(self, cells: Any, oriented: Any) -> Board:
        """Return a copy of the board with ``oriented`` (``piece * 4 + rotation``, or -1 for empty) on ``cells``."""
        placements = self.placements.copy()
        placements[cells] = oriented
        return Board(placements, self.width, self.height)

    def filled(self, puzzle: Puzzle, cells: Iterable[int]) -> Board:
        """Return a copy with the empty cells of ``cells`` filled in turn, each with the best unused piece that fits.

        The best has the most matches (of equals the first). Some piece must fit. The pieces of clues count as used.
        """
        placements, unused = self.placements.copy(), np.ones(puzzle.cells, dtype=bool)
        unused[placements[placements >= 0] >> 2] = False
        unused[[clue.piece for clue in puzzle.fixed]] = False
        for cell in (cell for cell in cells if placements[cell] < 0):
            fits = np.repeat(unused, 4) & puzzle.fits(cell)
            matches = fits.astype(int)
            for side, other in puzzle.neighbours(cell):
                if placements[other] >= 0:
                    matches += fits & (puzzle.oriented[:, side] == puzzle.oriented[placements[other], side ^ 2])
            placements[cell] = matches.argmax()
            unused[placements[cell] >> 2] = False
        return Board(placements, self.width, self.height)

    def check_shape(self, puzzle: Puzzle) -> None:
        """Raise BoardError if the board has another width or height than ``puzzle``."""
        if (self.width, self.height) != (puzzle.width, puzzle.height):
            raise BoardError(
                f"the board is {self.width} x {self.height} (width x height); "
                f"expected {puzzle.width} x {puzzle.height} as in {puzzle.name}"
            )

    def pairs(self) -> list[list[int] | None]:
        """Return [piece, rotation] for each cell, row by row; None for an empty cell."""
        return [None if oriented < 0 else [oriented >> 2, oriented & 3] for oriented in self.placements.tolist()]

    def distance(self, other: Board) -> int:
        """Return the number of cells on which two boards of one shape differ (Hamming distance)."""
        return int((self.placements != other.placements).sum())

    @property
    def placed(self) -> int:
        """Number of cells with a piece, blanks included."""
        return int((self.placements >= 0).sum())

    def colours(self, puzzle: Puzzle) -> IntArray:
        """Return the colours that the cells of the board show with the pieces of ``puzzle``.

        Returns
        -------
        ndarray of int32, shape (cells, 4)
            Colours up, right, down, left of each cell; -1 on an empty cell, and where the puzzle has no such piece.
        """
        known = (self.placements >= 0) & (self.placements < len(puzzle.turned))
        return np.where(known[:, None], puzzle.turned[np.where(known, self.placements, 0)], np.int32(-1))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Board)
            and (self.width, self.height) == (other.width, other.height)
            and bool(np.array_equal(self.placements, other.placements))
        )

    def __hash__(self) -> int:
        return hash((self.width, self.height, self.placements.tobytes()))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "puzzle"}

    def __repr__(self) -> str:
        if self.puzzle is None:
            return f"Board({self.width}x{self.height}, {self.placed} placed)"
        placed = self.without_blanks(self.puzzle).placed
        found, name = import_module("lns.instances.verify").verify(self.puzzle, self), self.puzzle.printable_name
        return (
            f"Board({self.width}x{self.height}, {placed} placed, score {found.score} of {found.max_score}, of {name!r})"
        )
