"""Maps of values over a grid of positions, as text and as SVG: for example which windows are proven optimal."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from lns.instances.draw.palette import BACKGROUND, EMPTY, Rgb, hex_code

# value -> (letter in the text, colour in the SVG, meaning)
Legend = dict[str, tuple[str, Rgb, str]]

_CELL = 24
_MARGIN = 40
_LINE = 22


def terminal_map(grid: Sequence[Sequence[str]], legend: Legend) -> str:
    """A map as text: a letter for each position, rows and columns numbered from 0, then the legend with counts.

    ``grid`` has a value for each position, by row and column; "" for a position without a value.
    """
    width = max((len(row) for row in grid), default=0)
    lines = ["     " + "".join(f"{column % 10} " for column in range(width))]
    for number, row in enumerate(grid):
        lines.append(f"{number:>4} " + "".join(f"{legend[value][0] if value else ' '} " for value in row))
    return "\n".join(line.rstrip() for line in [*lines, *_counts(grid, legend)])


def svg_map(grid: Sequence[Sequence[str]], legend: Legend, title: str) -> str:
    """A map as a whole SVG document under a title, plain text; grid and legend are those of `terminal_map`."""
    rows, columns = len(grid), max((len(row) for row in grid), default=0)
    counts = _counts(grid, legend)
    width = max(_MARGIN + columns * _CELL + 12, 420)
    height = _MARGIN + rows * _CELL + 12 + _LINE * (len(counts) + 1)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        f'<rect width="{width}" height="{height}" fill="#{hex_code(BACKGROUND)}"/>',
        '<g font-family="sans-serif" font-size="12" fill="#FFFFFF">',
        f'<text x="8" y="16">{escape(title)}</text>',
    ]
    out += [_label(_MARGIN + (column + 0.5) * _CELL, _MARGIN - 6, str(column)) for column in range(columns)]
    for number, row in enumerate(grid):
        top = _MARGIN + number * _CELL
        out.append(_label(_MARGIN - 14, top + 0.7 * _CELL, str(number)))
        for column, value in enumerate(row):
            fill = hex_code(legend[value][1] if value else EMPTY)
            left = _MARGIN + column * _CELL
            out.append(f'<rect x="{left}" y="{top}" width="{_CELL - 1}" height="{_CELL - 1}" fill="#{fill}"/>')
    below = _MARGIN + rows * _CELL + _LINE
    for i, (text, (_, colour, _)) in enumerate(zip(counts, legend.values(), strict=True)):
        y = below + i * _LINE
        out.append(f'<rect x="8" y="{y - 11}" width="14" height="14" fill="#{hex_code(colour)}"/>')
        out.append(f'<text x="28" y="{y}">{escape(text.strip())}</text>')
    return "\n".join([*out, "</g>", "</svg>", ""])


def _label(x: float, y: float, text: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="middle">{text}</text>'


def _counts(grid: Sequence[Sequence[str]], legend: Legend) -> list[str]:
    """One line for each value of the legend: letter, meaning, number of positions."""
    values = [value for row in grid for value in row]
    return [f"  {letter}  {text}: {values.count(value)}" for value, (letter, _, text) in legend.items()]
