"""Scatter and bar charts as SVG text; all labels are escaped."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from instances.draw.page import chart

_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 16, 30, 42


class Point(NamedTuple):
    """A point of a scatter chart."""

    x: float
    y: float
    label: str  # shown when the mouse is over the point
    kind: str = "dot"  # 'dot', 'faint' or 'mark': classes of the page's style sheet


def scatter(
    title: str,
    points: Sequence[Point],
    *,
    log: bool = False,
    stairs: Sequence[tuple[float, float]] = (),
    size: tuple[int, int] = (520, 260),
    axes: tuple[str, str] = ("", ""),
) -> str:
    """A scatter chart with a line at y = 0, as SVG; "" without points.

    Parameters
    ----------
    title : str
        Title for screen readers.
    points : sequence of Point
        The points.
    log : bool
        Logarithmic x axis; points with x <= 0 are left out.
    stairs : sequence of (float, float)
        Corners (x, y) of a step line, such as the best value so far.
    size : (int, int)
        Width and height in pixels; small, so that a phone shows legible text.
    axes : (str, str)
        What the horizontal and the vertical axis show, with the unit.
    """
    points = [p for p in points if p.x > 0 or not log]
    if not points:
        return ""
    wide, high = size
    left, right = min(p.x for p in points), max(p.x for p in points)
    if log:
        left, right = math.log(left), math.log(right)
    left, right = (left - 0.5, right + 0.5) if right == left else (left, right)
    ticks = _round_ticks(min(-0.5, *(p.y for p in points)), max(0.5, *(p.y for p in points)))
    low, top = ticks[0], ticks[-1]

    def x(value: float) -> float:
        at = math.log(value) if log else value
        return _LEFT + (at - left) / (right - left) * (wide - _LEFT - _RIGHT)

    def y(value: float) -> float:
        return high - _BOTTOM - (value - low) / (top - low) * (high - _TOP - _BOTTOM)

    parts = []
    for tick in ticks:
        parts.append(f'<path class="{"grid" if tick else "axis"}" d="M{_LEFT} {y(tick):.1f}H{wide - _RIGHT}"/>')
        parts.append(f'<text class="right" x="{_LEFT - 8}" y="{y(tick) + 4:.1f}">{tick:g}</text>')
    for value, text in _x_marks(left, right, log):
        parts.append(f'<text class="middle" x="{x(value):.1f}" y="{high - 24}">{escape(text)}</text>')
    parts.append(f'<text x="2" y="14">{escape(axes[1])}</text>')
    parts.append(f'<text class="middle" x="{(_LEFT + wide - _RIGHT) / 2}" y="{high - 6}">{escape(axes[0])}</text>')
    if stairs:
        path = f"M{x(stairs[0][0]):.1f} {y(stairs[0][1]):.1f}" + "".join(
            f"H{x(at):.1f}V{y(value):.1f}" for at, value in stairs[1:]
        )
        parts.append(f'<path class="line" d="{path}H{wide - _RIGHT}"/>')
    for p in sorted(points, key=lambda p: ("faint", "dot", "mark").index(p.kind)):
        parts.append(
            f'<circle class="{p.kind}" cx="{x(p.x):.1f}" cy="{y(p.y):.1f}" r="{5 if p.kind == "mark" else 3}">'
            f"<title>{escape(p.label)}</title></circle>"
        )
    return chart(title, wide, high, parts)


def bars(title: str, values: dict[str, float]) -> str:
    """Shares by name as horizontal bars, as SVG."""
    row, wide, begin = 22, 520, 210
    most = max(values.values(), default=0.0) or 1.0
    parts = []
    for i, (name, value) in enumerate(values.items()):
        long = value / most * (wide - begin - 60)
        parts.append(f'<text class="right" x="{begin - 8}" y="{row * i + 15}">{escape(name)}</text>')
        parts.append(f'<rect x="{begin}" y="{row * i + 4}" width="{long:.1f}" height="{row - 8}"/>')
        parts.append(f'<text x="{begin + long + 6:.1f}" y="{row * i + 15}">{value:.0%}</text>')
    return chart(title, wide, row * len(values) + 6, parts)


def _round_ticks(low: float, high: float) -> list[float]:
    """About five round numbers that cover the range from ``low`` to ``high``."""
    span = max(high - low, 1e-9)
    unit = 10.0 ** math.floor(math.log10(span))
    step = next(step for step in (unit / 5, unit / 2, unit, unit * 2, unit * 5) if span / step <= 6)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [round(i * step, 10) for i in range(first, max(last, first + 1) + 1)]


def _x_marks(left: float, right: float, log: bool) -> list[tuple[float, str]]:
    if not log:
        return [(tick, f"{tick:g}") for tick in _round_ticks(left, right) if left <= tick <= right]
    return [(math.exp(at), _short(math.exp(at))) for at in (left + (right - left) * i / 3 for i in (0, 1, 2, 3))]


def _short(number: float) -> str:
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.2g}{unit}" if number < 100 * size else f"{number / size:.0f}{unit}"
    return f"{number:.3g}"
