"""The puzzle: pieces, board shape, clues. An immutable value, checked once when it is made.

Representation everywhere in the project: colours are in the order up, right, down, left; a rotation is a number of
clockwise quarter turns; an oriented piece is ``piece * 4 + rotation``; a cell is ``row * width + column``; all numbers
count from 0. Colour 0 is the grey rim of the board.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from instances.rich_display import RichDisplay
from lns_support.errors import InputError

UP, RIGHT, DOWN, LEFT = range(4)
GREY = 0
MAX_CELLS = 4096
MAX_COLOUR = 4096

IntArray = npt.NDArray[np.int32]


@dataclass(frozen=True, order=True)
class Clue:
    """A piece that must lie on a given cell.

    Parameters
    ----------
    cell : int
        Where the piece must lie, ``row * width + column``.
    piece : int
        The piece, counted from 0.
    rotation : int
        Clockwise quarter turns of the piece, 0 to 3.
    """

    cell: int
    piece: int
    rotation: int


def rotate(quad: Sequence[int], rotation: int) -> tuple[int, int, int, int]:
    """Turn the colours of a piece.

    Parameters
    ----------
    quad : sequence of 4 int
        Colours up, right, down, left.
    rotation : int
        Clockwise quarter turns; negative numbers turn counterclockwise.

    Returns
    -------
    tuple of 4 int
        Colours up, right, down, left after the turn.
    """
    up, right, down, left = (int(quad[(side - rotation) % 4]) for side in range(4))
    return up, right, down, left


def canonical(quad: Sequence[int]) -> tuple[int, int, int, int]:
    """The smallest of the four rotations of a piece.

    Two pieces, or two patterns of grey sides, have the same canonical form just when one is a rotation of the other.

    Parameters
    ----------
    quad : sequence of 4 int
        Colours up, right, down, left.

    Returns
    -------
    tuple of 4 int
    """
    return min(rotate(quad, rotation) for rotation in range(4))


@dataclass(frozen=True, eq=False, repr=False)
class Puzzle(RichDisplay):
    """An immutable edge-matching puzzle on a rectangular board.

    Two puzzles are equal if they have the same shape, pieces and clues; the name does not count.

    Parameters
    ----------
    pieces : array_like of int, shape (width * height, 4)
        Colours up, right, down, left of each piece; 0 is grey. Stored as a read-only int32 array.
    width, height : int
        Number of columns and rows.
    clues : tuple of Clue, optional
        Pieces that must lie on given cells. Stored in order of cells.
    name : str, optional
        What messages and pictures call the puzzle.

    Raises
    ------
    InputError
        If the shape is not from 1 to 4096 cells, the number of pieces is not the number of cells, a colour is out of
        range, the grey sides of the pieces do not fit the rim of the board, or the clues contradict each other or the
        rim.
    """

    pieces: IntArray
    width: int
    height: int
    clues: tuple[Clue, ...] = ()
    name: str = "puzzle"

    def __post_init__(self) -> None:
        if self.width < 1 or self.height < 1:
            raise InputError(
                f"a board of {self.width} x {self.height} (width x height) has no cells; expected 1 or more"
            )
        if self.width * self.height > MAX_CELLS:
            raise InputError(
                f"a board of {self.width} x {self.height} has {self.width * self.height} cells; "
                f"expected at most {MAX_CELLS}"
            )
        pieces = np.asarray(self.pieces)
        if pieces.ndim != 2 or pieces.shape[1] != 4:
            raise InputError(f"pieces have shape {pieces.shape}; expected (cells, 4)")
        if len(pieces) != self.cells:
            raise InputError(f"{len(pieces)} pieces for a board of {self.width} x {self.height}; expected {self.cells}")
        if pieces.min() < 0 or pieces.max() > MAX_COLOUR:
            bad = int(np.argwhere((pieces < 0) | (pieces > MAX_COLOUR))[0][0])
            raise InputError(
                f"piece {bad + 1} has the colours {' '.join(map(str, pieces[bad].tolist()))}; "
                f"expected numbers from 0 to {MAX_COLOUR}"
            )
        frozen = np.ascontiguousarray(pieces, dtype=np.int32).copy()
        frozen.flags.writeable = False
        object.__setattr__(self, "pieces", frozen)
        object.__setattr__(self, "clues", tuple(sorted(self.clues)))
        self._check_rim()
        self._check_clues()

    # -- shape ---------------------------------------------------------------------------------------------------

    @property
    def cells(self) -> int:
        """Number of cells, which is the number of pieces."""
        return self.width * self.height

    @property
    def max_score(self) -> int:
        """Number of inner edges, which is the score of a board without a mismatch."""
        return self.height * (self.width - 1) + self.width * (self.height - 1)

    @cached_property
    def colours(self) -> int:
        """Largest colour number in use; 0 if every side is grey."""
        return int(self.pieces.max())

    @cached_property
    def oriented(self) -> IntArray:
        """Colours of each oriented piece: read-only int32 array (cells * 4, 4), row ``piece * 4 + rotation``."""
        table = np.stack([np.roll(self.pieces, rotation, axis=1) for rotation in range(4)], axis=1).reshape(-1, 4)
        table = np.ascontiguousarray(table)
        table.flags.writeable = False
        return table

    def rim_sides(self, cell: int) -> tuple[bool, bool, bool, bool]:
        """For each side (up, right, down, left) of ``cell`` whether it lies on the rim of the board."""
        row, column = divmod(cell, self.width)
        return row == 0, column == self.width - 1, row == self.height - 1, column == 0

    def neighbours(self, cell: int) -> list[tuple[int, int]]:
        """(side, cell beyond that side) for each side of ``cell`` that does not lie on the rim."""
        steps = (-self.width, 1, self.width, -1)
        return [(side, cell + steps[side]) for side, rim in enumerate(self.rim_sides(cell)) if not rim]

    def cell_label(self, cell: int) -> str:
        """``cell`` as messages name it: 'row 3, column 5 (cell 37)'; rows and columns count from 1, cells from 0."""
        row, column = divmod(cell, self.width)
        return f"row {row + 1}, column {column + 1} (cell {cell})"

    # -- identity ------------------------------------------------------------------------------------------------

    @cached_property
    def sha256(self) -> str:
        """Hash of shape, pieces in file order and clues in order of cells, as 64 hexadecimal digits."""
        form: dict[str, Any] = {
            "width": self.width,
            "height": self.height,
            "pieces": self.pieces.tolist(),
            "clues": [[clue.cell, clue.piece, clue.rotation] for clue in self.clues],
        }
        return hashlib.sha256(json.dumps(form, separators=(",", ":"), sort_keys=True).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Puzzle) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def with_clues(self, clues: Iterable[Clue]) -> Puzzle:
        """The same puzzle with ``clues`` in place of its own. Raises InputError for clues that cannot be."""
        return Puzzle(self.pieces, self.width, self.height, tuple(clues), self.name)

    def renumbered(self) -> Puzzle:
        """The same puzzle with its colours numbered from 1 without gaps, in the same order.

        Solvers use it so that their tables by colour have no empty rows. Boards of one are boards of the other.
        """
        numbers, renumbered = np.unique(np.append(self.pieces, GREY), return_inverse=True)
        if numbers[-1] == len(numbers) - 1:
            return self
        pieces = renumbered[:-1].reshape(self.pieces.shape).astype(np.int32)
        return Puzzle(pieces, self.width, self.height, self.clues, self.name)

    def __repr__(self) -> str:
        clues = f"{len(self.clues)} clue{'' if len(self.clues) == 1 else 's'}"
        colours = f"{self.colours} colour{'' if self.colours == 1 else 's'}"
        return f"Puzzle({self.name!r}, {self.width}x{self.height}, {colours}, {clues})"

    # -- checks --------------------------------------------------------------------------------------------------

    def _check_rim(self) -> None:
        """Raise InputError unless there are as many pieces of each pattern of grey sides as cells that need one."""
        needed = Counter(canonical(self.rim_sides(cell)) for cell in range(self.cells))
        present = Counter(canonical([colour == GREY for colour in quad]) for quad in self.pieces.tolist())
        if needed != present:
            parts = [
                f"{present[pattern]} {_GREY_NAMES[pattern]} where the board needs {needed[pattern]}"
                for pattern in sorted(needed.keys() | present.keys())
                if needed[pattern] != present[pattern]
            ]
            raise InputError(f"the pieces do not fit a board of {self.width} x {self.height}: " + ", ".join(parts))

    def _check_clues(self) -> None:
        """Raise InputError for a clue out of range, a cell or piece with two clues, or sides that cannot match."""
        cells: dict[int, Clue] = {}
        used: dict[int, Clue] = {}
        for clue in self.clues:
            if not 0 <= clue.cell < self.cells:
                raise InputError(f"a clue names cell {clue.cell}; expected 0 to {self.cells - 1}")
            if not 0 <= clue.piece < self.cells:
                raise InputError(f"a clue names piece {clue.piece + 1}; expected 1 to {self.cells}")
            if not 0 <= clue.rotation < 4:
                raise InputError(f"a clue has rotation {clue.rotation + 1}; expected 1 to 4")
            if clue.cell in cells:
                raise InputError(f"two clues for {self.cell_label(clue.cell)}; expected one clue a cell")
            if clue.piece in used:
                raise InputError(f"two clues place piece {clue.piece + 1}; expected each piece once")
            cells[clue.cell] = used[clue.piece] = clue
            quad = rotate(self.pieces[clue.piece].tolist(), clue.rotation)
            if tuple(colour == GREY for colour in quad) != self.rim_sides(clue.cell):
                raise InputError(
                    f"the clue on {self.cell_label(clue.cell)} places piece {clue.piece + 1} with the sides "
                    f"{' '.join(map(str, quad))} (up right down left); expected grey (0) exactly on the rim"
                )
        for clue in self.clues:  # two clues side by side must match
            for side, other_cell in self.neighbours(clue.cell):
                other = cells.get(other_cell)
                if other is None or other_cell < clue.cell:
                    continue
                colour = rotate(self.pieces[clue.piece].tolist(), clue.rotation)[side]
                other_colour = rotate(self.pieces[other.piece].tolist(), other.rotation)[(side + 2) % 4]
                if colour != other_colour:
                    raise InputError(
                        f"the clues on {self.cell_label(clue.cell)} and {self.cell_label(other_cell)} do not match: "
                        f"colour {colour} is next to colour {other_colour}"
                    )


_GREY_NAMES: dict[tuple[int, int, int, int], str] = {
    (False, False, False, False): "inner pieces",
    (False, False, False, True): "edge pieces (one grey side)",
    (False, False, True, True): "corner pieces (two adjacent grey sides)",
    (False, True, False, True): "pieces with two opposite grey sides",
    (False, True, True, True): "pieces with three grey sides",
    (True, True, True, True): "pieces with four grey sides",
}
