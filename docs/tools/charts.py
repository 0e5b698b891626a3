"""Parts of charts as SVG text: documents, labels, lines, rectangles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
