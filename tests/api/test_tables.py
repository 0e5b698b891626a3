"""Results as tables: records, DataFrames where pandas is installed, and what notebooks show."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import lns
from lns.instances.records import Records
from lns.runs.history import Improvement

PUZZLE, SOLUTION = lns.generate("like-e2", width=4, seed=1)
HISTORY = lns.RunHistory(600.0, 100.0, [Improvement(score, 2.0 * score, "", "construct") for score in range(20, 25)])


class Table(Records):
    def records(self) -> list[dict[str, Any]]:
        return [{"solver": "<a>", "nodes": 5, "seconds": 0.5}, {"solver": "b", "nodes": None, "seconds": 2.0}]


def test_without_pandas_a_frame_is_its_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert Table().to_frame() == Table().records()


def test_a_frame_keeps_none_and_whole_numbers() -> None:
    pytest.importorskip("pandas")
    frame = Table().to_frame()
    assert frame["nodes"].tolist() == [5, None] and frame["seconds"].dtype == float
    assert HISTORY.to_frame()["score"].dtype == int


def test_a_notebook_shows_a_table_with_escaped_texts() -> None:
    html = Table()._repr_html_()
    assert "<th>nodes</th>" in html and "&lt;a&gt;" in html and "<td></td>" in html and "None" not in html


def test_a_slice_of_a_history_is_a_history() -> None:
    first = HISTORY[:4]
    assert isinstance(first, lns.RunHistory) and (len(first), first.best_score) == (4, 23)
    assert HISTORY[-1].score == 24 and [one.score for one in HISTORY[1:3]] == [21, 22] and len(HISTORY) == 5
    assert [each["score"] for each in first.records()] == [20, 21, 22, 23]
    assert [HISTORY.score_after(seconds) for seconds in (1, 43, 1000)] == [None, 21, None]


def test_each_search_is_a_row() -> None:
    proof = lns.improve(PUZZLE, SOLUTION, [0, 1])
    (row,) = proof.records()
    assert (row["score"], row["bound"], row["proven"]) == (24, 24, True)
    assert "<svg" in proof._repr_html_() and "<th>bound</th>" in proof._repr_html_()
    counted = lns.count(PUZZLE)
    assert counted.records()[0]["solutions"] == counted.solutions and counted.board.puzzle is PUZZLE
