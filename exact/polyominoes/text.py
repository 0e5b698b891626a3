"""Grids as text: a picture of the grid, then one of each piece, separated by blank lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from exact.polyominoes.grid import BLOCKED, FREE, MAX_CELLS, Grid, cells_of
from exact.polyominoes.shapes import Shape, is_connected, normal, orientations
from lns_support.errors import InputError
from lns_support.files import read_text

IQ_PUZZLER_PRO = """\
...........
...........
...........
...........
...........

NN..
.NNN

PPP
PP.

F..
FFF
.F.

WW.
.WW
..W

YYYY
.Y..

SS.
.SS

TTT
.T.

VVV
V..
V..

LLLL
L...

UUU
U.U

JJJ
J..

CC
C.
"""


def load(path: str | Path) -> Grid:
    """Read a grid from a text file in the format of `parse`. Raises InputError with file and line."""
    if not Path(path).is_file():
        raise InputError("no such file; expected the picture of a grid", path)
    try:
        return parse(read_text(path))
    except InputError as error:
        raise error.at(path) from None


def parse(text: str) -> Grid:
    """Read a grid from text.

    Parameters
    ----------
    text : str
        The picture of the grid (``.`` free, ``#`` outside the grid, any other character a piece already placed), then
        the picture of each piece, drawn with its own character; blank lines between. Without pieces the grid has those
        of IQ Puzzler Pro.

    Returns
    -------
    Grid

    Raises
    ------
    InputError
        With the line, if the text is no such picture or the pieces do not cover the free cells exactly.
    """
    blocks = _blocks(text)
    if not blocks:
        raise InputError("nothing is drawn here; expected a grid of '.', '#' and pieces")
    (first, rows), *piece_blocks = blocks
    if sum(map(len, rows)) > MAX_CELLS:
        raise InputError(f"the grid has {sum(map(len, rows)):,} cells; expected at most {MAX_CELLS:,}")
    for number, row in enumerate(rows, first):
        if len(row) != len(rows[0]):
            raise InputError(f"a row of {len(row)} cells; expected {len(rows[0])}, as in the first", line=number)
    pieces: dict[str, Shape] = {}
    for line, piece in piece_blocks:
        name, shape = _piece(line, piece)
        if name in pieces:
            raise InputError(f"piece {name} is drawn twice; expected another character for another piece", line=line)
        pieces[name] = shape
    grid = Grid(tuple(rows), pieces or parse(IQ_PUZZLER_PRO).pieces)
    _check(grid, first)
    return grid


def render(grid: Grid) -> str:
    """A grid as text that `parse` reads."""
    pictures = ["\n".join(grid.rows)]
    for name, shape in grid.pieces.items():
        height, width = (max(end) + 1 for end in zip(*shape, strict=True))
        rows = ("".join(name if (row, column) in shape else FREE for column in range(width)) for row in range(height))
        pictures.append("\n".join(rows))
    return "\n\n".join(pictures) + "\n"


def _blocks(text: str) -> list[tuple[int, list[str]]]:
    """(number of the first line, lines) of each block of lines without a blank line; trailing blanks are dropped."""
    blocks: list[tuple[int, list[str]]] = []
    open_block = False
    for number, line in enumerate(text.split("\n"), 1):
        row = line.rstrip()
        if not row:
            open_block = False
            continue
        for sign in row:
            if sign.isspace() or not sign.isprintable():
                raise InputError(f"{sign!r} inside a picture; expected '.' for an empty cell", line=number)
        if not open_block:
            blocks.append((number, []))
        blocks[-1][1].append(row)
        open_block = True
    return blocks


def _piece(line: int, rows: Sequence[str]) -> tuple[str, Shape]:
    """Name and shape of a drawn piece."""
    cells = cells_of(rows)
    cells.pop(FREE, None)
    if len(cells) != 1 or BLOCKED in cells:
        raise InputError(
            f"a piece is drawn with {' '.join(sorted(cells)) or FREE}; expected one character besides '.'", line=line
        )
    [(name, own_cells)] = cells.items()
    if not is_connected(own_cells):
        raise InputError(f"piece {name} has separate parts; expected cells connected by their sides", line=line)
    return name, normal(own_cells)


def _check(grid: Grid, first: int) -> None:
    """Raise InputError if a placed piece has a wrong shape, or the other pieces do not fit the number of free cells."""
    for name, cells in cells_of(grid.rows).items():
        if name in (FREE, BLOCKED):
            continue
        line = first + cells[0][0]
        if name not in grid.pieces:
            raise InputError(f"there is no piece {name}; expected one of {' '.join(grid.pieces)}", line=line)
        if normal(cells) not in orientations(grid.pieces[name]):
            raise InputError(f"piece {name} is placed here with another shape than it has", line=line)
    loose = sum(map(len, grid.loose.values()))
    if loose != len(grid.free):
        raise InputError(
            f"the pieces not placed yet cover {loose} cells; expected {len(grid.free)}, the number of free cells"
        )
