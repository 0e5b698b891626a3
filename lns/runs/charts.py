"""Charts of a run as SVG text; all text in them is escaped."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from instances.draw.page import chart
from lns.runs.files import format_duration
from lns.runs.history import Improvement

_WIDTH, _HEIGHT = 720, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 16, 14, 34
_TIME_MARKS = (0.1, 1, 10, 60, 600, 3600, 6 * 3600, 86400, 7 * 86400, 30 * 86400, 365 * 86400)


def score_over_time(improvements: Sequence[Improvement], elapsed_s: float) -> str:
    """Best score over time.

    Parameters
    ----------
    improvements : sequence of Improvement
        New bests in their order.
    elapsed_s : float
        Seconds of search: the end of the time axis, which is logarithmic.

    Returns
    -------
    str
        SVG, "" without improvements.
    """
    if not improvements:
        return ""
    first = max(0.1, improvements[0].elapsed_s)
    end = max(elapsed_s, improvements[-1].elapsed_s, first * 2)
    high = improvements[-1].score
    low = min(improvements[0].score, high - 1)
    left, right = math.log(first), math.log(end)

    def x(seconds: float) -> float:
        return _LEFT + (math.log(max(seconds, first)) - left) / (right - left) * (_WIDTH - _LEFT - _RIGHT)

    def y(score: float) -> float:
        return _HEIGHT - _BOTTOM - (score - low) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)

    parts = []
    for score in _round_marks(low, high):
        parts.append(f'<path class="grid" d="M{_LEFT} {y(score):.1f}H{_WIDTH - _RIGHT}"/>')
        parts.append(f'<text class="right" x="{_LEFT - 8}" y="{y(score) + 4:.1f}">{score}</text>')
    for mark in _TIME_MARKS:
        if first <= mark <= end:
            parts.append(f'<path class="grid" d="M{x(mark):.1f} {_TOP}V{_HEIGHT - _BOTTOM}"/>')
            parts.append(f'<text class="middle" x="{x(mark):.1f}" y="{_HEIGHT - 12}">{_mark(mark)}</text>')
    path = f"M{x(first):.1f} {y(improvements[0].score):.1f}"
    for entry in improvements[1:]:
        path += f"H{x(entry.elapsed_s):.1f}V{y(entry.score):.1f}"
    parts.append(f'<path class="line" d="{path}H{_WIDTH - _RIGHT}"/>')
    for entry in improvements:
        label = escape(f"{entry.score} at {format_duration(entry.elapsed_s)} ({entry.origin}), {entry.at}")
        parts.append(
            f'<circle cx="{x(entry.elapsed_s):.1f}" cy="{y(entry.score):.1f}" r="4"><title>{label}</title></circle>'
        )
    return chart("score over time", _WIDTH, _HEIGHT, parts)


def histogram(counts: dict[int, int]) -> str:
    """Logged boards by score, with a logarithmic axis of counts.

    Parameters
    ----------
    counts : dict of int to int
        Number of boards by score; only the 40 highest scores are shown.

    Returns
    -------
    str
        SVG, "" without boards.
    """
    if not counts:
        return ""
    scores = list(range(min(counts), max(counts) + 1))[-40:]
    most = math.log1p(max(counts.values()))
    pitch = min(64.0, (_WIDTH - _LEFT - _RIGHT) / len(scores))
    parts = []
    for index, score in enumerate(scores):
        count = counts.get(score, 0)
        tall = math.log1p(count) / most * (_HEIGHT - 2 * _TOP - _BOTTOM)
        left, top = _LEFT + index * pitch, _HEIGHT - _BOTTOM - tall
        middle = left + pitch / 2
        if count:
            parts.append(
                f'<rect x="{left + 1:.1f}" y="{top:.1f}" width="{pitch - 2:.1f}" height="{tall:.1f}">'
                f"<title>{count:,} boards of {score}</title></rect>"
            )
            if pitch >= 24:
                parts.append(f'<text class="middle" x="{middle:.1f}" y="{top - 4:.1f}">{_short(count)}</text>')
        if pitch >= 24 or index % 5 == 0:
            parts.append(f'<text class="middle" x="{middle:.1f}" y="{_HEIGHT - 12}">{score}</text>')
    parts.append(f'<path class="axis" d="M{_LEFT} {_HEIGHT - _BOTTOM}H{_WIDTH - _RIGHT}"/>')
    return chart("boards by score", _WIDTH, _HEIGHT, parts)


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
