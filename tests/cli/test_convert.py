"""`lns convert`: chains of formats, what it says, what it refuses to overwrite."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from instances.formats import load_board, load_puzzle, viewer_url, write
from instances.formats.registry import FORMATS
from lns.cli.main import main
from tests.instances.small_puzzles import planted

PUZZLE, BOARD = planted(31, 5, 5, 4, clues=2)
WIDE, WIDE_BOARD = planted(32, 6, 3, 4)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("p.json", None, PUZZLE, None)
    write("wide.json", None, WIDE, None)
    write("board.url", None, PUZZLE, BOARD)


def test_the_help_names_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["convert", "--help"])
    said = capsys.readouterr().out
    assert all(f"  {form.name}" in said and form.about in said for form in FORMATS.values())
    assert "e2pieces[:ORDER]" in said and "url[:MOTIFS_ORDER]" in said


def test_a_puzzle_through_all_formats_and_back(capsys: pytest.CaptureFixture[str]) -> None:
    for step in (["p.json", "a.txt"], ["a.txt", "b.csv"], ["b.csv", "c.json"]):
        assert main(["convert", *step]) == 0
    assert load_puzzle("a.txt") == PUZZLE
    assert len(load_puzzle("c.json").clues) == 2
    said = capsys.readouterr()
    assert said.out == "" and "lns: read benoist: a puzzle of 5 x 5" in said.err
    assert main(["convert", "p.json", "pieces", "--to", "e2pieces:udlr"]) == 0
    assert "carries no clues: 2 left out" in capsys.readouterr().err
    assert main(["convert", "pieces", "d.json", "--from", "e2pieces:udlr"]) == 0
    assert load_puzzle("d.json") == PUZZLE.with_clues([])
    assert "side order up down left right, as given" in capsys.readouterr().err


def test_a_rectangle_becomes_quads(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "wide.json", "wide.txt"]) == 0
    assert Path("wide.txt").read_text().startswith("6 3\n") and load_puzzle("wide.txt") == WIDE
    assert main(["convert", "wide.json", "wide.csv"]) == 2
    assert "wide.csv: a board of 6 x 3; csv16 carries only squares" in capsys.readouterr().err
    assert not Path("wide.csv").exists()


def test_a_board_through_all_formats_and_back() -> None:
    for step in (["board.url", "b.json"], ["b.json", "b.solution.txt"], ["b.solution.txt", "again.url"]):
        assert main(["convert", *step, "--puzzle", "p.json"]) == 0
    assert load_board("again.url", PUZZLE) == (PUZZLE, BOARD)
    assert json.loads(Path("b.json").read_text())["instance"] == "p.json"
    assert load_board("b.json") == (PUZZLE, BOARD)


def test_a_url_alone_becomes_a_puzzle_and_a_best_json(capsys: pytest.CaptureFixture[str]) -> None:
    url = viewer_url(WIDE, WIDE_BOARD)
    assert main(["convert", url, "own.json"]) == 0
    assert main(["convert", url, "own.txt"]) == 0
    said = capsys.readouterr().err
    assert "the board defines the puzzle" in said and "carries no board: only the puzzle is written" in said
    own, board = load_board("own.json", load_puzzle("own.txt"))
    assert own == load_puzzle("own.txt") and viewer_url(own, board) == url.replace("planted-32", "own")


def test_stdout_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "p.json", "-", "--to", "benoist"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[:3] == ["5", str(PUZZLE.colours), "2"] and "read json" in said.err
    assert main(["convert", "board.url", "out.json", "--puzzle", "p.json", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer == {
        "out": "out.json",
        "from": "url",
        "width": 5,
        "height": 5,
        "board": True,
        "notes": ["read url: a board of 5 x 5", "default letters"],
    }


def test_nothing_is_overwritten_without_force(capsys: pytest.CaptureFixture[str]) -> None:
    Path("old.txt").write_text("precious")
    Path("link.txt").symlink_to("nowhere")
    for name in ("old.txt", "link.txt"):
        assert main(["convert", "p.json", name]) == 2
        assert f"{name}: this exists already" in capsys.readouterr().err
    assert Path("old.txt").read_text() == "precious" and not Path("nowhere").exists()
    assert main(["convert", "p.json", "old.txt", "--force"]) == 0
    assert load_puzzle("old.txt") == PUZZLE


def test_a_partial_url_needs_its_puzzle(capsys: pytest.CaptureFixture[str]) -> None:
    url = viewer_url(WIDE, WIDE_BOARD)
    edges = url.partition("board_edges=")[2][:4]
    partial = url.replace(f"board_edges={edges}", "board_edges=aaaa").partition("&board_pieces")[0]
    assert main(["convert", partial, "out.json"]) == 2
    assert "1 of 18 cells are empty" in capsys.readouterr().err
    assert main(["convert", partial, "out.json", "--puzzle", "wide.json"]) == 0
    assert load_board("out.json", WIDE)[1].placed == 17
