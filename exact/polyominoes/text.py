"""Trays as text: a picture of the tray, then one of each piece, blank lines between."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from exact.polyominoes.shapes import Shape, is_connected, normal, orientations
from exact.polyominoes.tray import BLOCKED, FREE, MOST_CELLS, Tray, cells_of
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


def load(path: str | Path) -> Tray:
    """The tray of a file; raises InputError naming file and line."""
    if not Path(path).is_file():
        raise InputError("no such file; expected the picture of a tray", path)
    try:
        return parse(read_text(path))
    except InputError as error:
        raise error.at(path) from None


def parse(text: str) -> Tray:
    """The tray that ``text`` shows. Raises InputError naming the line.

    In the tray '.' is free, '#' no part of it, and any other sign the piece that lies there; a piece is drawn with its
    own sign. A tray alone has the pieces of IQ Puzzler Pro.
    """
    blocks = _blocks(text)
    if not blocks:
        raise InputError("nothing is drawn here; expected a tray of '.', '#' and pieces")
    (first, rows), *drawn = blocks
    if sum(map(len, rows)) > MOST_CELLS:
        raise InputError(f"a tray of more than {MOST_CELLS:,} cells")
    for number, row in enumerate(rows, first):
        if len(row) != len(rows[0]):
            raise InputError(f"a row of {len(row)} cells; expected {len(rows[0])}, as in the first", line=number)
    pieces: dict[str, Shape] = {}
    for line, piece in drawn:
        name, shape = _piece(line, piece)
        if name in pieces:
            raise InputError(f"piece {name} is drawn twice; expected another sign for another piece", line=line)
        pieces[name] = shape
    tray = Tray(tuple(rows), pieces or parse(IQ_PUZZLER_PRO).pieces)
    _check(tray, first)
    return tray


def render(tray: Tray) -> str:
    """The text that `parse` reads."""
    pictures = ["\n".join(tray.rows)]
    for name, shape in tray.pieces.items():
        height, width = (max(end) + 1 for end in zip(*shape, strict=True))
        rows = ("".join(name if (row, column) in shape else FREE for column in range(width)) for row in range(height))
        pictures.append("\n".join(rows))
    return "\n\n".join(pictures) + "\n"


def _blocks(text: str) -> list[tuple[int, list[str]]]:
    """Lines between blank ones, without blanks at their ends, and the number of each block's first line."""
    blocks: list[tuple[int, list[str]]] = []
    open_block = False
    for number, line in enumerate(text.split("\n"), 1):
        row = line.rstrip()
        if not row:
            open_block = False
            continue
        for sign in row:
            if sign.isspace() or not sign.isprintable():
                raise InputError(
                    f"{sign!r} between the signs of a picture; expected '.' for an empty cell", line=number
                )
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
            f"a piece of the signs {' '.join(sorted(cells)) or FREE}; expected one sign beside '.'", line=line
        )
    [(name, found)] = cells.items()
    if not is_connected(found):
        raise InputError(f"piece {name} is in several parts; expected cells side by side", line=line)
    return name, normal(found)


def _check(tray: Tray, first: int) -> None:
    """Raises InputError where pieces that lie there are not whole, or the others cannot just cover the free cells."""
    for name, cells in cells_of(tray.rows).items():
        if name in (FREE, BLOCKED):
            continue
        line = first + cells[0][0]
        if name not in tray.pieces:
            raise InputError(f"there is no piece {name}; expected one of {' '.join(tray.pieces)}", line=line)
        if normal(cells) not in orientations(tray.pieces[name]):
            raise InputError(f"piece {name} lies here in another shape than it has", line=line)
    loose = sum(map(len, tray.loose.values()))
    if loose != len(tray.free):
        raise InputError(f"the pieces that do not lie yet cover {loose} cells; expected {len(tray.free)}, as are free")
