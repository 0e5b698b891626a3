"""Random grids that have a filling: a grid is cut into polyominoes (Perrin & Beaujard, IQ Puzzler Pro, VI)."""

from __future__ import annotations

import string
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from lns.exact.polyominoes.grid import (
    FREE,
    MAX_CELLS,
    Cell,
    Grid,
    Shape,
    bounding_box,
    neighbours,
    normal,
    orientations,
)
from lns.instances.errors import InputError
from lns.instances.generate.planted import PortableRandom

MAX_PIECES = 50  # as in the report
MIN_CELLS = 2  # of a piece
ATTEMPTS, REPAIRS = 20, 60  # cuts tried within limits, and pieces made for each cell in one of them, at most
GROWTHS = 6  # pieces grown at a place before one beside it is taken apart


@dataclass(frozen=True)
class CutLimits:
    """Limits on the pieces of a cut.

    Parameters
    ----------
    smallest, largest : int
        Cells of a piece.
    longest : int, optional
        The longer side of a piece's bounding box, at most. Default: any.
    thinnest : int
        The shorter side of the bounding box, at least; 2 excludes bars.
    distinct : bool
        No two pieces are equal up to rotation and reflection.
    """

    smallest: int = MIN_CELLS
    largest: int = 5
    longest: int | None = None
    thinnest: int = 1
    distinct: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.smallest <= self.largest:
            raise InputError(
                f"pieces of {self.smallest} to {self.largest} cells; expected the smaller number first, 1 or more"
            )
        if self.longest is not None and not 1 <= self.thinnest <= self.longest:
            raise InputError(
                f"pieces at least {self.thinnest} and at most {self.longest} cells long; expected the smaller number "
                "first, 1 or more"
            )

    def allow(self, piece: Sequence[Cell]) -> bool:
        """Whether a piece is within the limits, but for being distinct."""
        return self.smallest <= len(piece) and min(bounding_box(piece)) >= self.thinnest and self.may_grow_to(piece)

    def may_grow_to(self, piece: Sequence[Cell]) -> bool:
        """Whether a piece is not too large and not too long."""
        return len(piece) <= self.largest and (self.longest is None or max(bounding_box(piece)) <= self.longest)


def cut_grid(
    width: int, height: int, seed: int, max_pieces: int = MAX_PIECES, limits: CutLimits | None = None
) -> tuple[Grid, tuple[str, ...]]:
    """Cut a grid into random polyominoes.

    From each cell that is still free, row by row, a piece grows breadth first to a random size of 2 to
    min(width, height) cells; it is dropped if it cannot reach that size. Remaining cells are added to the smallest
    neighbouring piece. With limits, pieces grow to a random size within them, and where the remaining cells fit no
    piece, a neighbouring piece is taken apart and its cells are cut anew.

    Parameters
    ----------
    width, height : int
        Cells; 2 or more each.
    seed : int
    max_pieces : int
        At most this many pieces, 1 to 87 (there are no more names).
    limits : CutLimits, optional
        Limits on size and shape. Default: the algorithm of the report, which has none.

    Returns
    -------
    grid : Grid
        The empty grid with its pieces.
    filling : tuple of str
        The filling it was cut from.

    Raises
    ------
    InputError
        If the size or the number of pieces is out of range, or if no cut within the limits was found.

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
    pieces = _cut_freely(cells, min(width, height), max_pieces, draws) if limits is None else None
    for _ in range(ATTEMPTS):
        pieces = pieces or _cut_within(cells, max_pieces, limits or CutLimits(), draws)
    if pieces is None:
        raise InputError(
            f"no cut of {width} x {height} into at most {max_pieces} pieces within these limits was found; expected "
            "wider limits, more pieces or another seed"
        )
    named = dict(zip(_NAMES, pieces, strict=False))
    grid = Grid((FREE * width,) * height, {name: normal(piece) for name, piece in named.items()})
    return grid, grid.filled(named)


def _cut_freely(cells: Sequence[Cell], largest: int, max_pieces: int, draws: PortableRandom) -> list[list[Cell]]:
    """The pieces of the report's algorithm, which grow to at most ``largest`` cells before the rest is added."""
    free = dict.fromkeys(cells)
    pieces: list[list[Cell]] = []
    for cell in cells:
        if cell in free and len(pieces) < max_pieces:
            size = MIN_CELLS + draws.below(largest - MIN_CELLS + 1)
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
    return pieces


def _cut_within(
    cells: Sequence[Cell], max_pieces: int, limits: CutLimits, draws: PortableRandom
) -> list[list[Cell]] | None:
    """Pieces within ``limits``, in the order of their first cells; None if they were not found."""
    free, pieces, used = dict.fromkeys(cells), dict[int, list[Cell]](), dict[Shape, int]()
    owner: dict[Cell, int] = {}

    def keep(number: int, piece: list[Cell]) -> None:
        pieces[number] = piece
        if limits.distinct:
            used[orientations(normal(piece))[0]] = number
        for cell in piece:
            free.pop(cell, None)
            owner[cell] = number

    least = max(limits.smallest, min(limits.largest, len(cells) // max_pieces))
    for number in range(REPAIRS * len(cells)):
        if not free:
            found = sorted(sorted(piece) for piece in pieces.values())
            return found if len(found) <= max_pieces else None
        waiting = sorted(free)
        for _ in range(GROWTHS):
            first = waiting[0] if draws.below(2) else waiting[draws.below(len(waiting))]
            piece = _grow(first, least + draws.below(limits.largest - least + 1), free, draws, limits)
            if fits := _fits(piece, limits, used):
                break
        if fits:
            keep(number, piece)
            continue
        beside = sorted({owner[other] for cell in piece for other in neighbours(cell) if other in owner})
        draws.shuffle(beside)
        if not beside:
            return None
        host = next((other for other in beside if _fits(pieces[other] + piece, limits, used)), None)
        taken = beside[0] if host is None else host
        used = {shape: other for shape, other in used.items() if other != taken}
        freed = pieces.pop(taken)
        if host is not None:
            keep(number, freed + piece)
            continue
        for cell in freed:
            free[cell] = None
            del owner[cell]
    return None


def _fits(piece: Sequence[Cell], limits: CutLimits, used: dict[Shape, int]) -> bool:
    """Whether a piece is within the limits; ``used``: the shapes of the other pieces, if they are to be distinct."""
    return limits.allow(piece) and not (limits.distinct and orientations(normal(piece))[0] in used)


def _grow(
    first: Cell, size: int, free: dict[Cell, None], draws: PortableRandom, limits: CutLimits | None = None
) -> list[Cell]:
    """Up to ``size`` free cells around ``first``, breadth first in random directions, not longer than ``limits``."""
    waiting, piece = deque([first]), list[Cell]()
    while waiting and len(piece) < size:
        cell = waiting.popleft()
        if cell in free and cell not in piece and (limits is None or limits.may_grow_to([*piece, cell])):
            piece.append(cell)
            directions = list(neighbours(cell))
            draws.shuffle(directions)
            waiting.extend(directions)
    return piece


_NAMES = string.ascii_uppercase + string.ascii_lowercase + string.digits + "".join(map(chr, range(0x3B1, 0x3CA)))
