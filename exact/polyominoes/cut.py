"""A tray cut into polyominoes at random (seed 001, VI): so it has a filling."""

from __future__ import annotations

import string
from collections import deque

from exact.polyominoes.shapes import Cell, neighbours, normal
from exact.polyominoes.tray import FREE, MOST_CELLS, Tray
from instances.generate.portable_random import PortableRandom
from lns_support.errors import InputError

MOST_PIECES = 50  # the report's
SMALLEST = 2  # cells of a piece


def cut(width: int, height: int, seed: int, most_pieces: int = MOST_PIECES) -> tuple[Tray, tuple[str, ...]]:
    """An empty tray and its pieces, and the filling that they were cut from.

    Row by row a piece of 2 to min(width, height) cells, drawn at random, grows from each cell that is still free,
    breadth first, and is left out where it cannot reach its size. Cells that are left go to the smallest piece beside
    them.
    Raises InputError for a size that cannot be cut.
    """
    if min(width, height) < SMALLEST or width * height > MOST_CELLS:
        raise InputError(
            f"{width} x {height} cannot be cut; expected sides of {SMALLEST} or more, and {MOST_CELLS:,} cells at most"
        )
    if not 1 <= most_pieces <= len(_NAMES):
        raise InputError(f"{most_pieces} pieces; expected 1 to {len(_NAMES)}, as there are signs to draw them")
    draws = PortableRandom(seed)
    cells = [(row, column) for row in range(height) for column in range(width)]
    free = dict.fromkeys(cells)
    pieces: list[list[Cell]] = []
    for cell in cells:
        if cell in free and len(pieces) < most_pieces:
            size = SMALLEST + draws.below(min(width, height) - SMALLEST + 1)
            piece = _grown(cell, size, free, draws)
            if len(piece) == size:
                pieces.append(piece)
                for one in piece:
                    del free[one]
    owner = {cell: number for number, piece in enumerate(pieces) for cell in piece}
    for cell in free:  # row by row, so that one above it, or before it, has an owner
        beside = {owner[one] for one in neighbours(cell) if one in owner}
        smallest = min(beside, key=lambda number: (len(pieces[number]), number))
        pieces[smallest].append(cell)
        owner[cell] = smallest
    named = dict(zip(_NAMES, pieces, strict=False))
    tray = Tray((FREE * width,) * height, {name: normal(piece) for name, piece in named.items()})
    return tray, tray.filled(named)


def _grown(first: Cell, size: int, free: dict[Cell, None], draws: PortableRandom) -> list[Cell]:
    """Up to ``size`` free cells, breadth first, directions shuffled."""
    waiting, piece = deque([first]), list[Cell]()
    while waiting and len(piece) < size:
        cell = waiting.popleft()
        if cell in free and cell not in piece:
            piece.append(cell)
            directions = list(neighbours(cell))
            draws.shuffle(directions)
            waiting.extend(directions)
    return piece


_NAMES = string.ascii_uppercase + string.ascii_lowercase + string.digits + "".join(map(chr, range(0x3B1, 0x3CA)))
