"""`lns show` and `lns verify` as their user meets them."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import lns.instances
from lns.instances.board import Board
from lns.instances.formats import best_json, load_board, load_puzzle, viewer_url, write
from tests.cli.conftest import Typed
from tests.instances.small_puzzles import planted

PUZZLE, BOARD = planted(21, 6, 4, 5, clues=2)
URL = viewer_url(PUZZLE, BOARD)


@pytest.fixture(autouse=True)
def files(here: Path) -> None:
    """p.json: `PUZZLE`; best.json: the planted solution of the shipped 4x4 with one piece turned."""
    write("p.json", None, PUZZLE, None)
    puzzle = load_puzzle("like-e2-4x4")
    shipped = Path(lns.instances.__file__).parent / "data" / "like-e2-4x4.solution.txt"
    placements = load_board(str(shipped), puzzle)[1].placements.copy()
    placements[5] ^= 1
    write("best.json", "best", puzzle, Board(placements, 4, 4), instance="like-e2-4x4")


def test_letters_and_score_where_there_is_no_terminal(typed: Typed) -> None:
    output = typed("show best.json").out
    wrong = output.count("!") - 1  # one is in the legend
    assert "\x1b" not in output and wrong > 0
    assert output.splitlines()[-1] == f"like-e2-4x4: score {24 - wrong} of 24, {wrong} mismatched"


@pytest.mark.parametrize(("choice", "code"), [("truecolor", "38;2;"), ("256", "38;5;"), ("always", "38;5;")])
def test_colour_on_demand(choice: str, code: str, monkeypatch: pytest.MonkeyPatch, typed: Typed) -> None:
    monkeypatch.delenv("COLORTERM", raising=False)
    output = typed(f"show best.json --colour {choice}").out
    assert code in output and "▀" in output


def test_pictures_in_files(typed: Typed) -> None:
    svg = Path("b.svg")
    assert typed("show best.json --svg b.svg --tikz b.tex --numbers").out == "b.svg\nb.tex\n"
    texts = ET.parse(svg).getroot().findall(".//{http://www.w3.org/2000/svg}text")
    assert len(texts) == 16 + 4 + 4  # pieces, columns, rows
    assert ET.parse(svg).getroot().get("width") == "336"  # 288 for the cells, the rest for the rim
    assert r"\begin{tikzpicture}" in Path("b.tex").read_text()
    before = svg.read_bytes()
    typed("show best.json --svg b.svg --force")
    drawn = svg.read_text()
    assert drawn.encode() != before
    typed("show best.json --svg b.svg --force --flat")
    assert drawn.count("<path") - svg.read_text().count("<path") == load_board("best.json")[0].colours
    assert "--flat is for the SVG picture" in typed.refused("show best.json --flat")


def test_json_and_url(typed: Typed) -> None:
    facts = typed.facts("show best.json")
    assert (facts["width"], facts["height"], facts["placed"], facts["valid"]) == (4, 4, 16, True)
    assert facts["score"] + facts["mismatches"] == facts["max_score"] == 24
    assert facts["pieces"] == {"corners": 4, "edges": 8, "inner": 4}
    assert (facts["svg"], facts["url"]) == (None, None)
    assert typed("show best.json --url").out.strip() == viewer_url(*load_board("best.json"))


def test_an_instance_shows_its_pieces_and_counts(typed: Typed) -> None:
    output = typed("show like-e2-16x16-clue5").out
    assert output.count("+") == 256 and "inside      17 colours, 48 to 50 half-edges each\n" in output
    assert len(re.findall(r"^  row \d+, column \d+ \(cell \d+, from 0\): piece", output, re.MULTILINE)) == 5


def test_open_shows_the_picture_in_the_browser(here: Path, monkeypatch: pytest.MonkeyPatch, typed: Typed) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: bool(opened.append(url)) or len(opened) == 1)
    monkeypatch.setattr("tempfile.tempdir", str(here))
    assert typed("show best.json --svg b.svg --open").err == ""
    assert opened == [(here / "b.svg").as_uri()]
    said = typed("show best.json --open")  # a temporary one; this time there is no browser
    picture = Path(said.out.strip())
    assert picture.parent == here and picture.as_uri() == opened[1]
    ET.parse(picture)
    assert said.err == f"lns: no browser was found; the picture is {picture}\n"


def verify(url: str) -> list[str]:
    return ["verify", url, "--puzzle", "p.json"]


def test_a_perfect_board(typed: Typed) -> None:
    expected = {"valid": True, "score": 38, "max_score": 38, "problems": [], "placed": 24, "cells": 24, "full": True}
    expected |= {"mismatches": 0, "seams": 38, "rim_faults": 0, "name": "planted-21", "sha256": PUZZLE.sha256}
    expected |= {"mismatches_by_row": {}, "format": "url", "notes": ["default letters"]}
    assert typed.facts(verify(URL)) == expected
    said = typed(verify(URL))
    assert "38 of 38 matched inner edges" in said.out and "planted-21, 6 x 4, 2 clues" in said.out
    assert "yes\n" in said.out and "by row" not in said.out and said.err == ""


def test_the_rows_of_the_mismatches_are_told(typed: Typed) -> None:
    found = typed.facts("verify best.json")  # one piece turned in row 1: its upper edge is in row 0
    assert found["mismatches_by_row"] == {"0": 1, "1": 2} and found["mismatches"] == 3
    assert "\nmismatches by row: 0: 1, 1: 2\n" in typed("verify best.json").out


def test_broken_rules_are_named_and_answered_with_1(typed: Typed) -> None:
    placements = BOARD.placements.copy()
    placements[7] = placements[0]  # a corner inside: twice, and grey on two sides
    broken = verify(viewer_url(PUZZLE, Board(placements, 6, 4)))
    answer = typed.facts(broken, 1)
    assert not answer["valid"] and answer["mismatches"] == 38 - answer["score"] > 0
    assert sum("grey inside" in problem for problem in answer["problems"]) == 2
    assert any("is placed twice" in problem for problem in answer["problems"])
    assert "NO: " in typed(broken, 1).out


def test_best_json_finds_its_instance_and_a_false_score_is_noted(typed: Typed) -> None:
    fields = best_json(PUZZLE, BOARD, instance="p.json", seed=0, elapsed_s=1.0)
    Path("best.json").write_text(json.dumps(fields | {"score": 36}))
    answer = typed.facts("verify best.json")
    assert answer["sha256"] == PUZZLE.sha256 and answer["score"] == 38
    assert answer["notes"] == ["the file says score 36; the board has 38"]
