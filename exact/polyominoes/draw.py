"""Grids of polyominoes in colour: as text for terminals, and as SVG. Letters name the pieces in both."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from lns.exact.polyominoes.grid import BLOCKED, FREE, Grid
from lns.instances.draw.palette import BACKGROUND, EMPTY, Rgb, hex_code, rgb, xterm
from lns.instances.draw.terminal import Colour

_CELL, _MARGIN = 24, 4
_BLACK: Rgb = (0, 0, 0)
_WHITE: Rgb = (255, 255, 255)
_DARK = 120.0  # luminance, 0 to 255, below which letters are white


def colour_of(grid: Grid, name: str) -> Rgb:
    """Colour of a piece: by its place among the pieces of the grid, repeated after 40."""
    return rgb(1 + list(grid.pieces).index(name) % 40)


def terminal(grid: Grid, rows: Sequence[str], colour: Colour) -> str:
    """Draw a grid as text.

    Parameters
    ----------
    grid : Grid
        The pieces, whose order decides their colours.
    rows : sequence of str
        The picture, as ``grid.rows`` or a filling.
    colour : {'truecolor', '256', 'none'}
        What the terminal can show; without colours a letter a cell, else two columns a cell.

    Returns
    -------
    str
    """
    if colour == "none":
        return "\n".join(rows)
    return "\n".join("".join(_cell(grid, sign, colour) for sign in row) + "\x1b[0m" for row in rows)


def svg(grid: Grid, rows: Sequence[str]) -> str:
    """Draw a grid as SVG.

    Parameters
    ----------
    grid, rows
        As for `terminal`.

    Returns
    -------
    str
        A whole document: a square for each cell with the letter of its piece, and an outline around each piece.
    """
    width, height = len(rows[0]), len(rows)
    size = f"{_CELL * width + 2 * _MARGIN} {_CELL * height + 2 * _MARGIN}"
    wide, high = size.split()
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {size}" role="img">',
        f"<title>{width} x {height} cells, {len(grid.pieces)} pieces</title>",
        f'<rect width="{wide}" height="{high}" fill="#{hex_code(BACKGROUND)}"/>',
        '<g font-family="sans-serif" font-size="12" text-anchor="middle" stroke-width="0.6">',
    ]
    outline = []
    for row, line in enumerate(rows):
        for column, sign in enumerate(line):
            if sign == BLOCKED:
                continue
            x, y = _MARGIN + _CELL * column, _MARGIN + _CELL * row
            fill = EMPTY if sign == FREE else colour_of(grid, sign)
            out.append(
                f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" fill="#{hex_code(fill)}" stroke="#000"/>'
            )
            if sign != FREE:
                ink = hex_code(_ink(fill))
                out.append(f'<text x="{x + 12}" y="{y + 16.5}" fill="#{ink}">{escape(sign)}</text>')
            outline += _borders(rows, row, column, x, y)
    path = f'<path d="{"".join(outline)}" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round"/>'
    return "\n".join([*out, "</g>", path, "</svg>"]) + "\n"


def _borders(rows: Sequence[str], row: int, column: int, x: int, y: int) -> list[str]:
    """The sides of a cell that face another piece; a side between two cells is drawn by the upper or left one."""
    sign = rows[row][column]

    def other(down: int, right: int) -> str:
        inside = 0 <= row + down < len(rows) and 0 <= column + right < len(rows[0])
        return rows[row + down][column + right] if inside else BLOCKED

    sides = []
    if other(1, 0) != sign:
        sides.append(f"M{x} {y + _CELL}h{_CELL}")
    if other(0, 1) != sign:
        sides.append(f"M{x + _CELL} {y}v{_CELL}")
    if other(-1, 0) == BLOCKED:
        sides.append(f"M{x} {y}h{_CELL}")
    if other(0, -1) == BLOCKED:
        sides.append(f"M{x} {y}v{_CELL}")
    return sides


def _cell(grid: Grid, sign: str, colour: Colour) -> str:
    """A cell as two columns on the colour of its piece."""
    if sign == BLOCKED:
        return "\x1b[0m  "
    ground = EMPTY if sign == FREE else colour_of(grid, sign)
    letter = " " if sign == FREE else sign
    return f"\x1b[{_code(48, ground, colour)};{_code(38, _ink(ground), colour)}m{letter} "


def _ink(ground: Rgb) -> Rgb:
    """Black or white, whichever can be read on a colour."""
    red, green, blue = ground
    return _WHITE if 0.299 * red + 0.587 * green + 0.114 * blue < _DARK else _BLACK


def _code(where: int, value: Rgb, colour: Colour) -> str:
    """Parameters of the escape sequence for a foreground (38) or background (48) colour."""
    return f"{where};5;{xterm(value)}" if colour == "256" else "{};2;{};{};{}".format(where, *value)
