"""Charts of a run: the drawn lengths are those of the data, and text is escaped."""

import math
import re
from itertools import pairwise

import pytest

from lns.runs.history import Improvement, RunHistory
from lns.runs.page import histogram, scores_over_time


def improvements(*points: tuple[int, float]) -> list[Improvement]:
    return [Improvement(score, seconds, "2026-01-01T00:00:00Z", "construct") for score, seconds in points]


def score_over_time(found: list[Improvement], elapsed_s: float) -> str:
    return scores_over_time([("", RunHistory(elapsed_s, elapsed_s, found))])


def circles(svg: str) -> list[tuple[float, float]]:
    """Centres of the points of a chart."""
    return [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', svg)]


def test_charts_of_nothing_are_empty() -> None:
    assert score_over_time([], 10.0) == histogram({}) == ""


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
    histogram_marks = re.findall(r">(\d+)</text>", histogram({392: 1, 460: 2, 463: 1, 465: 1}))
    assert histogram_marks.count("460") == 1 and not {"426", "440", "459"} & set(histogram_marks)


@pytest.mark.parametrize("points", [[(5, 0.0)], [(0, 3.0)], [(7, 0.0), (8, 1e-9)], [(479, 0.01), (480, 31_536_000.0)]])
@pytest.mark.parametrize("elapsed", [0.0, 0.5, 1e8])
def test_odd_runs_have_finite_charts(points: list[tuple[int, float]], elapsed: float) -> None:
    svg = score_over_time(improvements(*points), elapsed)
    assert len(circles(svg)) == len(points) and "nan" not in svg and "inf" not in svg


def test_bars_are_logarithmic_and_stand_on_the_axis() -> None:
    svg = histogram({10: 1, 12: 9, 13: 99})
    bars = [
        (float(y), float(height), title)
        for y, height, title in re.findall(r' y="([\d.]+)" [^>]*height="([\d.]+)"><title>([^<]*)</title>', svg)
    ]
    assert [title for *_, title in bars] == ["1 board of 10", "9 boards of 12", "99 boards of 13"], "none for 11"
    assert ">boards, logarithmic</text>" in svg and ">score</text>" in svg
    assert len({round(y + height) for y, height, _ in bars}) == 1
    heights = [height for _, height, _ in bars]
    for height, count in zip(heights, (1, 9, 99), strict=True):
        assert height / heights[-1] == pytest.approx(math.log1p(count) / math.log1p(99), abs=0.01)


def test_only_the_forty_highest_scores_have_bars() -> None:
    svg = histogram(dict.fromkeys(range(100), 5))
    assert svg.count("<rect") == 40 and "boards of 99<" in svg and "boards of 60<" in svg and "boards of 59<" not in svg


@pytest.mark.parametrize(("low", "high"), [(0, 1), (459, 460), (446, 470), (456, 480), (1960, 1984), (458, 467)])
def test_marks_are_few_and_include_the_highest_score(low: int, high: int) -> None:
    svg = score_over_time(improvements((low, 1.0), (high, 2.0)), 3.0)
    marks = [int(mark) for mark in re.findall(r'<text class="right"[^>]*>(\d+)</text>', svg)]
    assert marks[-1] == high and marks[0] >= low and len(marks) <= 11 and marks == sorted(set(marks))
