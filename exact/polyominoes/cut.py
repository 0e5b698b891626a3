"""Random grids that have a filling: a grid is cut into polyominoes (Perrin & Beaujard, IQ Puzzler Pro, VI)."""

from __future__ import annotations

import string
from collections import deque

from exact.polyominoes.grid import FREE, MAX_CELLS, Grid
from exact.polyominoes.shapes import Cell, neighbours, normal
from instances.generate.portable_random import PortableRandom
from lns_support.errors import InputError

MAX_PIECES = 50  # as in the report
MIN_CELLS = 2  # of a piece


def cut_grid(width: int, height: int, seed: int, max_pieces: int = MAX_PIECES) -> tuple[Grid, tuple[str, ...]]:
    """Cut a grid into random polyominoes.

    From each cell that is still free, row by row, a piece grows breadth first to a random size of 2 to
    min(width, height) cells; it is dropped if it cannot reach that size. Remaining cells are added to the smallest
    neighbouring piece.

    Parameters
    ----------
    width, height : int
        Cells; 2 or more each.
    seed : int
    max_pieces : int
        At most this many pieces, 1 to 87 (there are no more names).

    Returns
    -------
    grid : Grid
        The empty grid with its pieces.
    filling : tuple of str
        The filling it was cut from.

    Raises
    ------
    InputError
        If the size or the number of pieces is out of range.

    References
    ----------
    A. Perrin and T. Beaujard, "Rapport IA41 : IQ Puzzler Pro", section VI.
    """
    if min(width, height) < MIN_CELLS or width * height > MAX_CELLS:
        raise InputError(
            f"{width} x {height} cannot be cut; expected sides of {MIN_CELLS} or more, and {MAX_CELLS:,} cells at most"
        )
    if not 1 <= max_pieces <= len(_NAMES):
        raise InputError(f"{max_pieces} pieces; expected 1 to {len(_NAMES)}, the number of names")
    draws = PortableRandom(seed)
    cells = [(row, column) for row in range(height) for column in range(width)]
    free = dict.fromkeys(cells)
    pieces: list[list[Cell]] = []
    for cell in cells:
        if cell in free and len(pieces) < max_pieces:
            size = MIN_CELLS + draws.below(min(width, height) - MIN_CELLS + 1)
            piece = _grow(cell, size, free, draws)
            if len(piece) == size:
                pieces.append(piece)
                for covered in piece:
                    del free[covered]
    owner = {cell: number for number, piece in enumerate(pieces) for cell in piece}
    for cell in free:  # row by row, so the cell above or to the left has an owner
        adjacent = {owner[other] for other in neighbours(cell) if other in owner}
        smallest = min(adjacent, key=lambda number: (len(pieces[number]), number))
        pieces[smallest].append(cell)
        owner[cell] = smallest
    named = dict(zip(_NAMES, pieces, strict=False))
    grid = Grid((FREE * width,) * height, {name: normal(piece) for name, piece in named.items()})
    return grid, grid.filled(named)


def _grow(first: Cell, size: int, free: dict[Cell, None], draws: PortableRandom) -> list[Cell]:
    """Up to ``size`` free cells around ``first``, breadth first in random directions."""
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
