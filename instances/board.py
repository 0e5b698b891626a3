"""The board: where each piece lies. A value, partial or full; what it is worth is said by `instances.verify`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from instances.puzzle import IntArray, Puzzle
from lns_support.errors import InputError

EMPTY = -1


@dataclass(frozen=True, eq=False)
class Board:
    """Oriented pieces by cell: int32 array of shape (width*height,), ``piece*4 + rotation``, -1 = empty; read-only.

    Nothing is promised about rim, clues or repeated pieces: a board found elsewhere may break every rule.
    """

    placements: IntArray
    width: int
    height: int

    def __post_init__(self) -> None:
        flat = np.asarray(self.placements, dtype=np.int32).reshape(-1)
        if len(flat) != self.width * self.height:
            raise InputError(
                f"{len(flat)} placements for a board of {self.width} x {self.height}; "
                f"expected {self.width * self.height}"
            )
        frozen = np.where(flat < 0, EMPTY, flat).astype(np.int32)
        frozen.flags.writeable = False
        object.__setattr__(self, "placements", frozen)

    @classmethod
    def empty(cls, puzzle: Puzzle) -> Board:
        """A board of the puzzle's shape without a piece (clues neither)."""
        return cls(np.full(puzzle.cells, EMPTY, dtype=np.int32), puzzle.width, puzzle.height)

    @classmethod
    def from_pairs(cls, pairs: Iterable[Sequence[int] | None], width: int, height: int) -> Board:
        """From (piece, rotation) by cell, row-major, None = empty: the form of ``best.json``."""
        return cls(
            np.array([EMPTY if pair is None else pair[0] * 4 + pair[1] for pair in pairs], dtype=np.int32),
            width,
            height,
        )

    def pairs(self) -> list[list[int] | None]:
        """[piece, rotation] by cell, row-major, None where empty."""
        return [None if oriented < 0 else [oriented >> 2, oriented & 3] for oriented in self.placements.tolist()]

    def distance(self, other: Board) -> int:
        """Cells that hold different pieces in the other board, or the same piece turned."""
        return int((self.placements != other.placements).sum())

    @property
    def puzzle(self) -> Puzzle | None:
        return self.__dict__.get("_puzzle")

    def of(self, puzzle: Puzzle) -> Board:
        """The same placements with the puzzle attached."""
        known = Board(self.placements, self.width, self.height)
        known.__dict__["_puzzle"] = puzzle
        return known

    def _repr_html_(self) -> str:
        return "<svg>"

    @property
    def placed(self) -> int:
        """Number of cells with a piece."""
        return int((self.placements >= 0).sum())

    def colours(self, puzzle: Puzzle) -> IntArray:
        """Colours by cell and side, shape (cells, 4), -1 where the cell is empty."""
        quads = puzzle.oriented[np.maximum(self.placements, 0)].copy()
        quads[self.placements < 0] = -1
        return quads

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Board)
            and (self.width, self.height) == (other.width, other.height)
            and bool(np.array_equal(self.placements, other.placements))
        )

    def __hash__(self) -> int:
        return hash((self.width, self.height, self.placements.tobytes()))
