"""The comparison of all methods: its plan, its tables and its pictures."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from lns.exact.compare import ComparisonRow
from lns.exact.paper import outcome
from lns.exact.paper.outcome import METHODS, PICTURES, best_of, printed, runs, scores, shade, tables
from lns.exact.paper.runs import Plan
from lns.exact.registry import SOLVERS

SVG = "{http://www.w3.org/2000/svg}"


def a_row(instance: str, solver: str, seconds: float, *, solved: bool = True) -> ComparisonRow:
    return ComparisonRow(instance, solver, "solved" if solved else "budget spent", int(solved), 1_000, seconds)


ROWS = [
    a_row("5x5-c2-s1", "rowscan", 0.25),
    a_row("5x5-c2-s2", "rowscan", 2.0, solved=False),
    a_row("5x5-c2-s1", "colorpairs", 0.5),
    a_row("5x5-c2-s2", "colorpairs", 0.75),
    a_row("5x5-c2-s1", "row-major", 2.0, solved=False),
    a_row("5x5-c2-s2", "row-major", 2.0, solved=False),
    a_row("6x6-c20-s1", "rowscan", 2.0, solved=False),
    a_row("6x6-c20-s1", "colorpairs", 2.0, solved=False),
    a_row("6x6-c20-s1", "half-2", 0.125),
    a_row("6x6-c30-s1", "rowscan", 2.0, solved=False),
]


def test_the_plan_leaves_out_impossible_classes_and_odd_boards_of_the_grouping() -> None:
    planned = list(runs(Plan(sizes=(3, 4), colours=(12, 13), solvers=("rowscan", "blocks"))))
    assert [(run.instance, run.solver) for run in planned] == [
        ("3x3-c12-s1", "rowscan"),
        ("4x4-c12-s1", "rowscan"),
        ("4x4-c12-s1", "blocks"),
        ("4x4-c13-s1", "rowscan"),
        ("4x4-c13-s1", "blocks"),
    ]


def test_methods_are_solvers_with_letters_and_colours_of_their_own() -> None:
    assert {method.solver for method in METHODS.values()} <= set(SOLVERS)
    assert {method.group for method in METHODS.values()} == set(outcome.GROUPS)
    for field in ("letter", "colour"):
        assert len({getattr(method, field) for method in METHODS.values()}) == len(METHODS)


def test_the_best_solves_most_and_then_is_fastest() -> None:
    ranked = scores(ROWS)[5, 2]
    assert [(score.method, score.solved, score.tried) for score in ranked] == [
        ("colorpairs", 2, 2),
        ("rowscan", 1, 2),
        ("row-major", 0, 2),
    ]
    assert ranked[0].seconds == pytest.approx(0.625)
    here = best_of(ranked, outcome.HERE)
    assert here is not None and here.method == "row-major"
    assert best_of(ranked, outcome.BAILLEUX) is None


def test_tables() -> None:
    text = tables(ROWS, replace(outcome.PLAN, sizes=(5, 6), colours=(2, 20, 30), per_size=2))
    lines = [line.split() for line in text.splitlines()]
    assert ["2", "colorpairs", "0.625"] in lines
    assert ["20", "half-2", "0.125"] in lines
    assert ["30", "-"] in lines
    assert ["rowscan", "R", "plain", "1", "of", "4", "0", "0"] in [line[:8] for line in lines]
    assert ["half-2", "2", "here", "1", "of", "1", "1", "1"] in [line[:8] for line in lines]
    assert ["5x5", "2", "0.250", "50%", "0.625", "-", "0.01", "(100%)"] in lines


def test_published_figures_are_those_of_the_best_table() -> None:
    assert printed(5, 2) == "0.01 (100%)"  # RSAPS: 1.16 s for all 100
    assert printed(8, 4) == "129 (36%)"  # minisat: 4661.40 s for 36
    assert printed(8, 9) == "-"  # nothing solved
    assert printed(9, 4) == "-"  # not tried


@pytest.mark.parametrize(
    ("name", "words", "fills"),
    [
        ("fastest", {"0.625", "0.125", "none", "half-2"}, {METHODS["half-2"].colour: 2}),  # the class and the legend
        ("methods", {"half-2: HALF-2 with CaDiCaL"}, {shade(0.125): 4}),  # three methods of 0.1 to 1 s, and the legend
        ("solved", {"rowscan 1", "colorpairs 2", "row-major 0", "half-2 1"}, {}),
    ],
)
def test_pictures_are_documents_with_the_rows(name: str, words: set[str], fills: dict[str, int]) -> None:
    pytest.importorskip("matplotlib")
    text = PICTURES[name](ROWS)
    root = ElementTree.fromstring(text)
    assert words <= {element.text for element in root.iter(SVG + "text")}
    assert all(text.count(f"fill: {colour}") == count for colour, count in fills.items())
    assert text == PICTURES[name](ROWS), "the same rows are the same file"
