"""Charts of a run as SVG text; all text in them is escaped."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from instances.draw.page import chart
from lns.runs.files import format_duration
from lns.runs.history import Improvement
from lns_support.text import count_of

_WIDTH, _HEIGHT = 520, 230  # small, so that text can be read where a phone shows the chart at 400 pixels
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 16, 14, 40
_TIME_MARKS = (  # the later rows only where there is room
    (0.1, 1, 10, 60, 600, 3600, 6 * 3600, 86400, 7 * 86400, 30 * 86400, 365 * 86400),
    (0.2, 2, 30, 120, 1800, 2 * 3600, 12 * 3600, 2 * 86400, 14 * 86400, 90 * 86400),
    (0.5, 5, 20, 300, 1200, 4 * 3600, 4 * 86400, 180 * 86400),
)
SHOWN_EDGES = 24  # the axis of scores begins at most so far below the best one
CURVE_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")  # Okabe & Ito, and a grey


@dataclass(frozen=True)
class Curve:
    """Best score of one run over time.

    Attributes
    ----------
    name : str
        Of the run.
    improvements : sequence of Improvement
        New bests in their order.
    elapsed_s : float
        Seconds of search: where the curve ends.
    """

    name: str
    improvements: Sequence[Improvement]
    elapsed_s: float

    @property
    def end(self) -> float:
        """Seconds at which the curve ends."""
        return max(self.elapsed_s, self.improvements[-1].elapsed_s if self.improvements else 0.0)


def score_over_time(improvements: Sequence[Improvement], elapsed_s: float) -> str:
    """Best score over time, as `scores_over_time` of one run."""
    return scores_over_time([Curve("", improvements, elapsed_s)])


def scores_over_time(curves: Sequence[Curve]) -> str:
    """Best scores of runs over time, on one pair of axes.

    Parameters
    ----------
    curves : sequence of Curve
        The runs. The axis of time is logarithmic; that of scores begins at most `SHOWN_EDGES` below the best score.

    Returns
    -------
    str
        SVG, "" without improvements.
    """
    curves = [curve for curve in curves if curve.improvements]
    if not curves:
        return ""
    high = max(curve.improvements[-1].score for curve in curves)
    shown = [[entry for entry in curve.improvements if entry.score >= high - SHOWN_EDGES] for curve in curves]
    low = min(*(entry.score for entries in shown for entry in entries), high - 1)
    first = max(0.1, min((entries[0].elapsed_s for entries in shown if entries), default=0.1))
    end = max(*(curve.end for curve in curves), first * 2)
    left, right = math.log(first), math.log(end)

    def x(seconds: float) -> float:
        return _LEFT + (math.log(max(seconds, first)) - left) / (right - left) * (_WIDTH - _LEFT - _RIGHT)

    def y(score: float) -> float:
        return _HEIGHT - _BOTTOM - (score - low) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)

    parts = []
    for score in _round_marks(low, high):
        parts.append(f'<path class="grid" d="M{_LEFT} {y(score):.1f}H{_WIDTH - _RIGHT}"/>')
        parts.append(f'<text class="right" x="{_LEFT - 8}" y="{y(score) + 4:.1f}">{score}</text>')
    for mark in _time_marks(first, end, x):
        parts.append(f'<path class="grid" d="M{x(mark):.1f} {_TOP}V{_HEIGHT - _BOTTOM}"/>')
        parts.append(f'<text class="middle" x="{x(mark):.1f}" y="{_HEIGHT - 24}">{_mark(mark)}</text>')
    parts.append(
        f'<text class="middle" x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{_HEIGHT - 6}">time of search, logarithmic</text>'
    )
    for number, (curve, entries) in enumerate(zip(curves, shown, strict=True)):
        colour = "" if len(curves) == 1 else curve_colour(number)
        parts += _staircase(curve, entries, x, y, colour)
    return chart("score over time", _WIDTH, _HEIGHT, parts)


def curve_colour(number: int) -> str:
    """Colour of a curve, which tells it from six others."""
    return CURVE_COLOURS[number % len(CURVE_COLOURS)]


def _staircase(
    curve: Curve,
    entries: Sequence[Improvement],
    x: Callable[[float], float],
    y: Callable[[float], float],
    colour: str,
) -> list[str]:
    """Line and points of one run; ``colour``: "" for that of the page."""
    if not entries:
        return []
    path = f"M{x(entries[0].elapsed_s):.1f} {y(entries[0].score):.1f}"
    for entry in entries[1:]:
        path += f"H{x(entry.elapsed_s):.1f}V{y(entry.score):.1f}"
    stroke, fill = (f' style="stroke:{colour}"', f' style="fill:{colour}"') if colour else ("", "")
    parts = [f'<path class="line" d="{path}H{x(curve.end):.1f}"{stroke}/>']
    name = f"{curve.name}: " if curve.name else ""
    for entry in entries:
        label = escape(f"{name}{entry.score} at {format_duration(entry.elapsed_s)} ({entry.origin}), {entry.at}")
        parts.append(
            f'<circle cx="{x(entry.elapsed_s):.1f}" cy="{y(entry.score):.1f}" r="4"{fill}>'
            f"<title>{label}</title></circle>"
        )
    return parts


def histogram(counts: dict[int, int]) -> str:
    """Logged boards by score, with a logarithmic axis of counts.

    Parameters
    ----------
    counts : dict of int to int
        Number of boards by score; only the 40 highest scores are shown, from the lowest one with a board on.

    Returns
    -------
    str
        SVG, "" without boards.
    """
    if not counts:
        return ""
    highest = max(counts)
    scores = list(range(min(score for score in counts if score > highest - 40), highest + 1))
    largest = max(counts.values())
    pitch = min(64.0, (_WIDTH - _LEFT - _RIGHT) / len(scores))

    def tall(count: float) -> float:
        return math.log1p(count) / math.log1p(largest) * (_HEIGHT - 2 * _TOP - _BOTTOM)

    base = _HEIGHT - _BOTTOM
    parts = []
    for mark in (10**power for power in range(len(str(largest)))):
        parts.append(f'<path class="grid" d="M{_LEFT} {base - tall(mark):.1f}H{_WIDTH - _RIGHT}"/>')
        parts.append(f'<text class="right" x="{_LEFT - 6}" y="{base - tall(mark) + 4:.1f}">{_short(mark)}</text>')
    for index, score in enumerate(scores):
        count = counts.get(score, 0)
        left = _LEFT + index * pitch
        middle = left + pitch / 2
        if count:
            parts.append(
                f'<rect x="{left + 1:.1f}" y="{base - tall(count):.1f}" width="{pitch - 2:.1f}" '
                f'height="{tall(count):.1f}"><title>{count_of(count, "board")} of {score}</title></rect>'
            )
            if pitch >= 30:
                parts.append(
                    f'<text class="middle" x="{middle:.1f}" y="{base - tall(count) - 4:.1f}">{_short(count)}</text>'
                )
        if pitch >= 30 or (scores[-1] - score) % 5 == 0:
            parts.append(f'<text class="middle" x="{middle:.1f}" y="{_HEIGHT - 24}">{score}</text>')
    parts.append(f'<path class="axis" d="M{_LEFT} {base}H{_WIDTH - _RIGHT}"/>')
    parts.append(f'<text class="middle" x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{_HEIGHT - 6}">score</text>')
    parts.append(f'<text x="4" y="{_TOP - 2}">boards, logarithmic</text>')
    return chart("boards by score", _WIDTH, _HEIGHT, parts)


def _time_marks(first: float, end: float, x: Callable[[float], float]) -> list[float]:
    """The marks of the axis of time whose texts do not touch; the roundest ones come first."""
    kept: list[float] = []
    for row in _TIME_MARKS:
        for mark in row:
            if first <= mark <= end and all(abs(x(mark) - x(other)) >= 44 for other in kept):
                kept.append(mark)
    return kept


def _round_marks(low: int, high: int) -> list[int]:
    """At most ten round numbers from low to high; the ends are among them if they are not too close to others."""
    step = next(step for base in (1, 10, 100, 1000) for step in (base, 2 * base, 5 * base) if (high - low) / step <= 9)
    marks = {score for score in range(low - low % step, high + 1, step) if score >= low}
    return sorted({score for score in marks if high - score >= step / 2} | {high})


def _mark(seconds: float) -> str:
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"


def _short(count: int) -> str:
    for unit, size in (("M", 10**6), ("k", 10**3)):
        if count >= size:
            return f"{count / size:.3g}{unit}"
    return str(count)
