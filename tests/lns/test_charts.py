"""Charts of a run: the drawn lengths are those of the data, and text is escaped."""

import math
import re
from itertools import pairwise

import pytest

from lns.runs.history import Improvement, RunHistory
from lns.runs.page import bars, scores_over_time


def improvements(*points: tuple[int, float]) -> list[Improvement]:
    return [Improvement(score, seconds, "2026-01-01T00:00:00Z", "construct") for score, seconds in points]


def score_over_time(found: list[Improvement], elapsed_s: float) -> str:
    return scores_over_time([("", RunHistory(elapsed_s, elapsed_s, found))])


def circles(svg: str) -> list[tuple[float, float]]:
    """Centres of the points of a chart."""
    return [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', svg)]


def test_charts_of_nothing_are_empty() -> None:
    assert score_over_time([], 10.0) == "" and bars({}, 5, 40) == []


def test_each_improvement_is_a_point_and_a_step_of_the_line() -> None:
    svg = score_over_time(improvements((400, 1.0), (410, 10.0), (420, 100.0)), 1000.0)
    points = circles(svg)
    assert len(points) == 3
    assert all(a[0] < b[0] and a[1] > b[1] for a, b in pairwise(points)), "later is right, better is above"
    (x1, y1), (x2, y2), (x3, y3) = points
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.2), "time is logarithmic"
    assert y1 - y2 == pytest.approx(y2 - y3, abs=0.2), "score is not"
    line = re.search(r'<path class="line" d="([^"]*)"', svg)
    assert line is not None
    assert line[1].startswith(f"M{x1} {y1}H{x2}V{y2}H{x3}V{y3}H"), "a staircase that goes on to the end of the run"
    assert float(line[1].rpartition("H")[2]) > x3


def test_the_axes_cover_the_scores_and_times_that_are_drawn() -> None:
    svg = score_over_time(improvements((392, 0.1), (460, 1.0), (463, 5.0), (465, 12.0)), 38.0)
    assert len(circles(svg)) == 3, "a first board far below is left out"
    marks = re.findall(r">(\d+)</text>", svg)
    assert marks[0] == "460" and marks[-1] == "465"
    assert all(f">{mark}</text>" in svg for mark in ("1 s", "2 s", "5 s", "10 s", "20 s"))


@pytest.mark.parametrize("points", [[(5, 0.0)], [(0, 3.0)], [(7, 0.0), (8, 1e-9)], [(479, 0.01), (480, 31_536_000.0)]])
@pytest.mark.parametrize("elapsed", [0.0, 0.5, 1e8])
def test_odd_runs_have_finite_charts(points: list[tuple[int, float]], elapsed: float) -> None:
    svg = score_over_time(improvements(*points), elapsed)
    assert len(circles(svg)) == len(points) and "nan" not in svg and "inf" not in svg


def test_bars_are_logarithmic_and_those_of_the_highest_scores() -> None:
    lines = [line.split() for line in bars({10: 1, 12: 9, 13: 99} | dict.fromkeys(range(9), 5), 3, 40)]
    assert [(score, count) for score, _, count in lines] == [("13", "99"), ("12", "9"), ("10", "1")], "none for 11"
    for (_, bar, _), count in zip(lines, (99, 9, 1), strict=True):
        assert len(bar) == pytest.approx(40 * math.log1p(count) / math.log1p(99), abs=1)
    assert bars({10: 1}, 3, 8, signs=False) == ["  10 ######## 1"]


@pytest.mark.parametrize(("low", "high"), [(0, 1), (459, 460), (446, 470), (456, 480), (1960, 1984), (458, 467)])
def test_marks_are_few_and_include_the_highest_score(low: int, high: int) -> None:
    svg = score_over_time(improvements((low, 1.0), (high, 2.0)), 3.0)
    marks = [int(mark) for mark in re.findall(r'<text class="right"[^>]*>(\d+)</text>', svg)]
    assert marks[-1] == high and marks[0] >= low and len(marks) <= 11 and marks == sorted(set(marks))
