"""The layout of a board: its cells, holes and frame, and what lies beyond each side of a cell."""

from __future__ import annotations

from functools import cached_property

import numpy as np

Sides = tuple[bool, ...]  # true or false for each side of a cell: up, right, down, left
_HOLE, _OUTSIDE = -1, -2  # stand for a hole and for the outside in `Layout.beyond`


def cell_label(cell: int, width: int) -> str:
    """Return the name of a cell in messages: 'row 2, column 5 (cell 37, from 0)'; all three count from 0."""
    row, column = divmod(cell, width)
    return f"row {row}, column {column} (cell {cell}, from 0)"


class Layout:
    """A rectangular board that may have holes. Sides towards a hole are grey; with a frame, so is the outer edge."""

    def __init__(self, width: int, height: int, holes: tuple[int, ...] = (), *, framed: bool = True) -> None:
        self.width, self.height, self.holes, self.framed = width, height, holes, framed

    @property
    def cells(self) -> int:
        """Number of cells, holes included. A puzzle without `copies` has as many pieces, blanks included."""
        return self.width * self.height

    def cell_label(self, cell: int) -> str:
        """Return the name of ``cell`` in messages: 'row 2, column 5 (cell 37, from 0)'; all three count from 0."""
        return cell_label(cell, self.width)

    @cached_property
    def max_score(self) -> int:
        """Number of inner edges, which is the score of a full board without a mismatch."""
        return sum(len(self.neighbours(cell)) for cell in range(self.cells)) // 2

    def rim_sides(self, cell: int) -> Sides:
        """Return for each side (up, right, down, left) of ``cell`` whether no cell of the board lies beyond that side.

        Beyond such a side is a hole or the outside of the board. All four sides of a hole are such sides.
        """
        return tuple(other < 0 for other in self.beyond[cell])

    def grey_sides(self, cell: int) -> Sides:
        """Return for each side (up, right, down, left) of ``cell`` whether it must be grey; other sides must not be.

        With a frame all `rim_sides` must be grey; without a frame, only sides towards a hole and all sides of a hole.
        """
        return tuple(other == _HOLE or (other == _OUTSIDE and self.framed) for other in self.beyond[cell])

    def neighbours(self, cell: int) -> list[tuple[int, int]]:
        """Return (side, cell beyond the side) for each side of ``cell`` beyond which a cell of the board lies."""
        return [(side, other) for side, other in enumerate(self.beyond[cell]) if other >= 0]

    @cached_property
    def beyond(self) -> list[list[int]]:
        """The cell beyond each side (up, right, down, left) of each cell; -1 stands for a hole, -2 for the outside.

        For all sides of a hole the entry is -1.
        """
        board = np.arange(self.cells)
        board[list(self.holes)] = _HOLE
        around = np.pad(board.reshape(self.height, self.width), 1, constant_values=_OUTSIDE)
        sides = around[:-2, 1:-1], around[1:-1, 2:], around[2:, 1:-1], around[1:-1, :-2]
        beyond = np.stack(sides, axis=2).reshape(-1, 4)
        beyond[list(self.holes)] = _HOLE
        found: list[list[int]] = beyond.tolist()
        return found
