"""`lns show` as its user meets it."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import instances
from instances.board import Board
from instances.formats import load_board, load_puzzle, viewer_url, write
from lns.cli.main import main


@pytest.fixture
def solution(tmp_path: Path) -> Path:
    """The planted solution of the shipped 4x4 with one piece turned, as best.json."""
    puzzle = load_puzzle("like-e2-4x4")
    shipped = Path(instances.__file__).parent / "data" / "like-e2-4x4.solution.txt"
    placements = load_board(str(shipped), puzzle)[1].placements.copy()
    placements[5] ^= 1
    target = tmp_path / "best.json"
    write(target, "best", puzzle, Board(placements, 4, 4), instance="like-e2-4x4")
    return target


def test_letters_and_score_where_there_is_no_terminal(solution: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(solution)]) == 0
    output = capsys.readouterr().out
    lines = output.splitlines()
    assert "\x1b" not in output
    wrong = output.count("!") - 1  # one is in the legend
    assert wrong > 0
    assert lines[-1] == f"like-e2-4x4: score {24 - wrong} of 24, {wrong} mismatched"


@pytest.mark.parametrize(("choice", "code"), [("truecolor", "38;2;"), ("256", "38;5;"), ("always", "38;5;")])
def test_colour_on_demand(
    choice: str, code: str, solution: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLORTERM", raising=False)
    assert main(["show", str(solution), "--colour", choice]) == 0
    output = capsys.readouterr().out
    assert code in output and "▀" in output


def test_the_width_of_the_terminal_is_respected(
    solution: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "8")
    assert main(["show", str(solution)]) == 0
    assert [len(line) for line in capsys.readouterr().out.splitlines()[:4]] == [4] * 4


def test_pictures_in_files(solution: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    svg, tikz = tmp_path / "b.svg", tmp_path / "b.tex"
    assert main(["show", str(solution), "--svg", str(svg), "--tikz", str(tikz), "--numbers"]) == 0
    assert capsys.readouterr().out == f"{svg}\n{tikz}\n"
    assert len(ET.parse(svg).getroot().findall(".//{http://www.w3.org/2000/svg}text")) == 16
    assert r"\begin{tikzpicture}" in tikz.read_text()
    before = svg.read_bytes()
    assert main(["show", str(solution), "--svg", str(svg)]) == 2
    assert "this exists already" in capsys.readouterr().err
    assert svg.read_bytes() == before
    assert main(["show", str(solution), "--svg", str(svg), "--force"]) == 0
    assert svg.read_bytes() != before


def test_url(solution: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(solution), "--url"]) == 0
    puzzle, board = load_board(str(solution))
    assert capsys.readouterr().out.strip() == viewer_url(puzzle, board)


def test_a_url_is_drawn_as_a_partial_board_of_its_puzzle(solution: Path, capsys: pytest.CaptureFixture[str]) -> None:
    puzzle, board = load_board(str(solution))
    partial = Board([*board.placements[:8], *[-1] * 8], 4, 4)  # type: ignore[arg-type]
    url = viewer_url(puzzle, partial)
    assert main(["show", url, "--puzzle", "like-e2-4x4"]) == 0
    output = capsys.readouterr().out
    assert output.count("+") == 8
    assert "8 of 16 pieces" in output


def test_json(solution: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(solution), "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert (value["width"], value["height"], value["placed"], value["valid"]) == (4, 4, 16, True)
    assert value["score"] + value["mismatches"] == value["max_score"] == 24
    assert value["pieces"] == {"corners": 4, "edges": 8, "inner": 4}
    assert (value["svg"], value["url"]) == (None, None)


def test_an_instance_shows_its_pieces_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "like-e2-16x16-clue5"]) == 0
    output = capsys.readouterr().out
    assert output.count("+") == 256
    assert "inside      17 colours, 48 to 50 half-edges each\n" in output
    assert len(re.findall(r"^  row \d+, column \d+ \(cell \d+, from 0\): piece", output, re.MULTILINE)) == 5


def test_problems_are_named(solution: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    puzzle, board = load_board(str(solution))
    bad = tmp_path / "bad.solution.txt"
    write(bad, "solution", puzzle, Board(np.roll(board.placements, 1), 4, 4))
    assert main(["show", str(bad), "--puzzle", "like-e2-4x4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("  and ")
    assert "not valid" in lines[-7]


def test_open_shows_the_picture_in_the_browser(
    solution: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: bool(opened.append(url)) or len(opened) == 1)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    svg = tmp_path / "b.svg"
    assert main(["show", str(solution), "--svg", str(svg), "--open"]) == 0
    assert opened == [svg.as_uri()]
    assert capsys.readouterr().err == ""
    assert main(["show", str(solution), "--open"]) == 0  # a temporary one; this time there is no browser
    output = capsys.readouterr()
    picture = Path(output.out.strip())
    assert picture.parent == tmp_path and picture.as_uri() == opened[1]
    ET.parse(picture)
    assert output.err == f"lns: no browser was found; the picture is {picture}\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothing-here"], "no such file"),
        (["like-e2-4x4", "--url"], "a viewer URL needs a board"),
        (["like-e2-4x4", "--puzzle", "nothing-here"], "no such file"),
        (["like-e2-4x4", "--svg", "/nowhere/b.svg"], "/nowhere: there is no such directory"),
        (["like-e2-4x4", "--colour", "pink"], "invalid choice: 'pink'"),
    ],
)
def test_what_cannot_be_shown(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == "" and sentence in output.err and output.err.count("\n") == 1


def test_numbers_need_a_picture_and_pictures_need_names_of_their_own(
    solution: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "x"
    for more, sentence in (
        (["--numbers"], "--numbers is for the SVG picture"),
        (["--svg", str(target), "--tikz", str(target)], "two outputs have the same file name"),
        (["--svg", str(target), "--tikz", str(tmp_path / "no" / "x")], "there is no such directory"),
    ):
        assert main(["show", str(solution), *more]) == 2
        assert sentence in capsys.readouterr().err and not target.exists()
