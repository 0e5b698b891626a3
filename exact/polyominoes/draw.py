"""Draw grids of polyominoes, as text for terminals or as SVG; both name the piece on each covered cell."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from lns.exact.polyominoes.grid import BLOCKED, FREE, Grid
from lns.instances.draw.palette import BACKGROUND, EMPTY, Rgb, hex_code, ink, rgb
from lns.instances.draw.terminal import Colour, escape_code

_CELL, _MARGIN = 24, 4


def terminal(grid: Grid, rows: Sequence[str], colour: Colour) -> str:
    """Draw ``rows``, the grid's own or a filling, as text: a character per cell, and in colour a space after it."""
    if colour == "none":
        return "\n".join(rows)
    return "\n".join("".join(_cell(grid, sign, colour) for sign in row) + "\x1b[0m" for row in rows)


def svg(grid: Grid, rows: Sequence[str]) -> str:
    """Draw ``rows``, the grid's own or a filling, as SVG: cells as squares, if covered with their piece's name."""
    wide, high = (_CELL * cells + 2 * _MARGIN for cells in (len(rows[0]), len(rows)))
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" '
        'role="img">',
        f"<title>{len(rows[0])} x {len(rows)} cells, {len(grid.pieces)} pieces</title>",
        f'<rect width="{wide}" height="{high}" fill="#{hex_code(BACKGROUND)}"/>',
        '<g font-family="sans-serif" font-size="12" text-anchor="middle" stroke-width="0.6">',
    ]
    outline = ""
    around = [BLOCKED * (len(rows[0]) + 2), *(BLOCKED + row + BLOCKED for row in rows), BLOCKED * (len(rows[0]) + 2)]
    for row, line in enumerate(rows):
        for column, sign in enumerate(line):
            if sign == BLOCKED:
                continue
            x, y, fill = _MARGIN + _CELL * column, _MARGIN + _CELL * row, _ground(grid, sign)
            out.append(
                f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" fill="#{hex_code(fill)}" stroke="#000"/>'
            )
            if sign != FREE:
                out.append(f'<text x="{x + 12}" y="{y + 16.5}" fill="{ink(fill)}">{escape(sign)}</text>')
            above, here, below = (line[column : column + 3] for line in around[row : row + 3])
            # the outline below and right of a cell; above and left only next to blocked cells, which have no outline
            outline += f"M{x} {y + _CELL}h{_CELL}" if below[1] != sign else ""
            outline += f"M{x + _CELL} {y}v{_CELL}" if here[2] != sign else ""
            outline += f"M{x} {y}h{_CELL}" if above[1] == BLOCKED else ""
            outline += f"M{x} {y}v{_CELL}" if here[0] == BLOCKED else ""
    path = f'<path d="{outline}" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round"/>'
    return "\n".join([*out, "</g>", path, "</svg>"]) + "\n"


def _cell(grid: Grid, sign: str, colour: Colour) -> str:
    """Return a cell as two columns of a terminal, in the colour of its piece if it is covered."""
    if sign == BLOCKED:
        return "\x1b[0m  "
    ground = _ground(grid, sign)
    letters = (0, 0, 0) if ink(ground) == "#000" else (255, 255, 255)
    codes = f"{escape_code(48, ground, colour)};{escape_code(38, letters, colour)}"
    return f"\x1b[{codes}m{' ' if sign == FREE else sign} "


def _ground(grid: Grid, sign: str) -> Rgb:
    """Return the colour of a free cell, or of the piece named ``sign``; after 40 pieces the colours repeat."""
    return EMPTY if sign == FREE else rgb(1 + list(grid.pieces).index(sign) % 40)
