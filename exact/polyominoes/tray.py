"""A tray and its pieces, and what is a filling of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from exact.polyominoes.shapes import Cell, Shape, normal, orientations

FREE, BLOCKED = ".", "#"
MOST_CELLS = 10_000


@dataclass(frozen=True)
class Tray:
    """``rows``: the picture, where FREE cells are to be filled, BLOCKED ones are none, and all others are covered
    by the piece of that name. ``pieces``: all of them by name, those that lie there too.
    """

    rows: tuple[str, ...]
    pieces: Mapping[str, Shape]

    @cached_property
    def free(self) -> tuple[Cell, ...]:
        """The cells that are to be filled, row by row."""
        return tuple(cells_of(self.rows).get(FREE, ()))

    @cached_property
    def loose(self) -> dict[str, Shape]:
        """The pieces that do not lie there yet."""
        lying = cells_of(self.rows)
        return {name: shape for name, shape in self.pieces.items() if name not in lying}

    def filled(self, laid: Mapping[str, Sequence[Cell]]) -> tuple[str, ...]:
        """The picture with more pieces on it."""
        canvas = [list(row) for row in self.rows]
        for name, cells in laid.items():
            for row, column in cells:
                canvas[row][column] = name
        return tuple(map("".join, canvas))


def problems(tray: Tray, filling: Sequence[str]) -> list[str]:
    """What keeps ``filling`` from being one of ``tray``; [] where nothing does. Knows nothing of any search."""
    if [len(row) for row in filling] != [len(row) for row in tray.rows]:
        return ["another shape than the tray's"]
    pairs = [pair for ours, theirs in zip(tray.rows, filling, strict=True) for pair in zip(ours, theirs, strict=True)]
    found = []
    if any(before not in (FREE, after) for before, after in pairs):
        found.append("what lies there, or is blocked, was changed")
    cells = cells_of(filling)
    if FREE in cells:
        found.append(f"{len(cells[FREE])} cells are free")
    for name, shape in tray.pieces.items():
        if name not in cells:
            found.append(f"piece {name} is missing")
        elif normal(cells[name]) not in orientations(shape):
            found.append(f"piece {name} has another shape")
    strange = cells.keys() - tray.pieces.keys() - {FREE, BLOCKED}
    return found + [f"there is no piece {name}" for name in sorted(strange)]


def cells_of(rows: Sequence[str]) -> dict[str, list[Cell]]:
    """The cells of each sign, row by row."""
    found: dict[str, list[Cell]] = {}
    for row, line in enumerate(rows):
        for column, sign in enumerate(line):
            found.setdefault(sign, []).append((row, column))
    return found
