"""Parts of charts as SVG text: documents, labels, lines, rectangles, and a map of coloured cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape

INK = "#222222"
PALE = "#dddddd"


def document(width: float, height: float, parts: Iterable[str], title: str) -> str:
    """A whole SVG document on white ground."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img">'
        f'<title>{escape(title)}</title><rect width="100%" height="100%" fill="#ffffff"/>{"".join(parts)}</svg>'
    )


def label(x: float, y: float, text: str, *, size: float = 12, anchor: str = "start", colour: str = INK) -> str:
    """Text whose base line begins, ends or has its middle at a point, as ``anchor`` says."""
    return (
        f'<text x="{x:g}" y="{y:g}" font-family="sans-serif" font-size="{size:g}" text-anchor="{anchor}" '
        f'fill="{colour}">{escape(text)}</text>'
    )


def line(points: Sequence[tuple[float, float]], colour: str, width: float = 2, dashes: str = "") -> str:
    """A line through points."""
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    stroke = f'stroke="{colour}" stroke-width="{width}" stroke-dasharray="{dashes}"'
    return f'<polyline points="{joined}" fill="none" {stroke}/>'


def rectangle(x: float, y: float, width: float, height: float, fill: str) -> str:
    """A filled rectangle."""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}"/>'


def cell_map(
    x: float,
    y: float,
    rows: Sequence[str],
    columns: Sequence[str],
    cell: Callable[[int, int], tuple[str, str]],
    *,
    pitch: tuple[float, float] = (38, 22),
    size: float = 10,
) -> list[str]:
    """A table of coloured cells.

    Parameters
    ----------
    x, y : float
        Upper left corner of the first cell; the names of the rows are left of it, those of the columns above.
    rows, columns : sequence of str
        Names.
    cell : callable
        (row, column) -> (fill, text) of a cell.
    pitch : (float, float)
        Width and height of a cell.
    size : float
        Size of the text.

    Returns
    -------
    list of str
        Parts of a document.
    """
    wide, high = pitch
    parts = [
        label(x + wide * (at + 0.5), y - 4, name, size=size, anchor="middle", colour="#555555")
        for at, name in enumerate(columns)
    ]
    for at, name in enumerate(rows):
        parts.append(label(x - 5, y + high * (at + 0.5) + size / 3, name, size=size, anchor="end", colour="#555555"))
        for place in range(len(columns)):
            fill, text = cell(at, place)
            parts.append(rectangle(x + wide * place, y + high * at, wide - 1, high - 1, fill))
            if text:
                middle = x + wide * (place + 0.5)
                ink = "#ffffff" if _is_dark(fill) else INK
                parts.append(
                    label(middle, y + high * (at + 0.5) + size / 3, text, size=size, anchor="middle", colour=ink)
                )
    return parts


def _is_dark(fill: str) -> bool:
    """Whether white text is easier to read on a colour #rrggbb than black text."""
    red, green, blue = (int(fill[at : at + 2], 16) for at in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue < 140
