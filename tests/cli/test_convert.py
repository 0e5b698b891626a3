"""`lns convert`: chains of formats, what it says, what it refuses to overwrite."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from instances.board import Board
from instances.formats import load_board, load_puzzle, render, viewer_url, write
from instances.formats.reading import parse
from instances.formats.registry import FORMATS
from lns.api.files import generate
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


def test_a_link_stays_and_the_file_behind_it_is_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path("folder")
    folder.mkdir()
    (folder / "old").write_text("old")
    for number, (to, command) in enumerate(
        [
            ("old", ["convert", "p.json", "LINK", "--to", "json"]),
            ("new", ["convert", "p.json", "LINK", "--to", "json"]),
            ("old", ["convert", "board.url", "LINK", "--puzzle", "p.json", "--to", "best"]),
            ("old", ["exact", "cnf", "p.json", "--encoding", "half-2", "-o", "LINK"]),
            ("old", ["generate", "uniform", "--width", "4", "--format", "json", "-o", "LINK"]),
            ("old", ["show", "p.json", "--svg", "LINK"]),
        ]
    ):
        link = Path(f"link{number}")
        link.symlink_to(folder / to)
        before = (folder / to).read_bytes() if (folder / to).exists() else b""
        assert main([link.name if word == "LINK" else word for word in command] + ["--force"]) == 0
        assert link.is_symlink() and (folder / to).read_bytes() != before
    assert sorted(path.name for path in folder.iterdir()) == ["new", "old"]
    os.mkfifo("pipe")
    Path("to-pipe").symlink_to("pipe")
    assert main(["convert", "p.json", "to-pipe", "--to", "json", "--force"]) == 2
    assert "to-pipe: this is a pipe or a device" in capsys.readouterr().err and Path("to-pipe").is_symlink()


def test_a_partial_url_needs_its_puzzle(capsys: pytest.CaptureFixture[str]) -> None:
    url = viewer_url(WIDE, WIDE_BOARD)
    edges = url.partition("board_edges=")[2][:4]
    partial = url.replace(f"board_edges={edges}", "board_edges=aaaa").partition("&board_pieces")[0]
    assert main(["convert", partial, "out.json"]) == 2
    assert "1 of 18 cells are empty" in capsys.readouterr().err
    assert main(["convert", partial, "out.json", "--puzzle", "wide.json"]) == 0
    assert load_board("out.json", WIDE)[1].placed == 17


def test_mirror_says_that_a_board_is_no_mirror_image(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "board.url", "own.url", "--puzzle", "p.json", "--mirror"]) == 2
    said = capsys.readouterr().err
    assert "the pieces of planted-31 itself; expected no --mirror" in said and "`lns convert --mirror`" not in said
    assert main(["convert", "board.url", "mirrored.url", "--mirror"]) == 0
    assert main(["convert", "mirrored.url", "own.url", "--puzzle", "p.json"]) == 2
    assert "`lns convert --mirror` makes the board of them" in capsys.readouterr().err
    assert main(["convert", "mirrored.url", "own.url", "--puzzle", "p.json", "--mirror"]) == 0
    assert load_board("own.url", PUZZLE)[1] == BOARD


@pytest.mark.parametrize("order", ["", ":urdl"])
def test_meta_files_and_back(order: str) -> None:
    """META pieces that were read like any others are turned twice, which ``meta-board:urdl`` takes into account."""
    assert main(["convert", "wide.json", "meta.txt", "--to", "meta"]) == 0
    assert Path("meta.txt").read_text().startswith("3 6\n")
    if order:  # the size must be named, as the header says rows columns
        assert main(["convert", "meta.txt", "read.json", "--from", "pieces:urdl,6x3"]) == 0
    else:
        assert main(["convert", "meta.txt", "read.json", "--from", "meta"]) == 0
        assert load_puzzle("read.json") == WIDE
    write("wide.url", None, WIDE, WIDE_BOARD)
    assert main(["convert", "wide.url", "board.txt", "--puzzle", "read.json", "--to", f"meta-board{order}"]) == 0
    first = f"{WIDE_BOARD.pairs()[0][0]} {WIDE_BOARD.pairs()[0][1]}"  # type: ignore[index]
    assert Path("board.txt").read_text().splitlines()[0] == first
    assert load_board("board.txt", WIDE, "meta-board") == (WIDE, WIDE_BOARD)


def test_tetravex_and_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(
            [
                "generate",
                "tetravex",
                "--width",
                "4",
                "--height",
                "3",
                "--seed",
                "3",
                "-o",
                "t.json",
                "--solution",
                "s.json",
            ]
        )
        == 0
    )
    for step in (
        ["t.json", "t.txt", "--to", "tetravex"],
        ["s.json", "s.txt", "--puzzle", "t.json", "--to", "tetravex-board"],
        ["s.json", "s.picture", "--puzzle", "t.json", "--to", "picture"],
    ):
        assert main(["convert", *step]) == 0
    puzzle = load_puzzle("t.json")
    assert load_puzzle("t.txt") == puzzle
    solution = load_board("s.json", puzzle)
    assert load_board("s.txt", puzzle) == load_board("s.picture", puzzle) == solution
    assert main(["verify", "s.txt"]) == 0  # a solved board in words defines its pieces
    assert "17 of 17" in capsys.readouterr().out
    assert main(["convert", "board.url", "x", "--puzzle", "p.json", "--to", "tetravex-board"]) == 2
    assert "carries only a Tetravex" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("format", "sentence"),
    [
        ("cells:nonsense", "expected base0 or base1"),
        ("clues:base0", "expected no option"),
        ("csv16:nonsense", "expected hxy"),
        ("meta-board:udlr", "expected a clockwise one"),
        ("pieces:5x5", "pieces:5x5 says how pieces are read; expected at most a side order"),
        ("pieces:udlr,border=2", "says how pieces are read"),
        ("pieces:unframed", "says how pieces are read"),
    ],
)
def test_writers_refuse_options_that_they_do_not_know(
    format: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", "board.url", "-", "--puzzle", "p.json", "--to", format]) == 2
    said = capsys.readouterr()
    assert sentence in said.err and not said.out


@pytest.mark.parametrize("board", ["board.url", "board.json", "board.cells", "board.picture"])
def test_a_number_above_those_of_the_boards_is_refused(board: str, capsys: pytest.CaptureFixture[str]) -> None:
    if not Path(board).exists():
        format = board.partition(".")[2].replace("json", "best")
        assert main(["convert", "board.url", board, "--puzzle", "p.json", "--to", format]) == 0
    question = ["convert", board, "-", "--to", "solution", "--puzzle", "p.json", "--number"]
    assert main([*question, "1"]) == 0
    capsys.readouterr()
    assert main([*question, "2"]) == 2
    assert re.search("there is no board 2; expected|expected a number from 1 to 1", capsys.readouterr().err)
    assert main(["convert", "p.json", "-", "--to", "benoist", "--number", "2"]) == 2
    assert "p.json: there is no board 2" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["diamond", "triangle"])
@pytest.mark.parametrize("format", ["cells", "cells:ccw,turn1", "picture"])
def test_boards_with_holes_are_read_back(kind: str, format: str) -> None:
    puzzle, board = generate(kind, side=4, seed=1)
    write("holes.json", None, puzzle, None)
    write("laid", format, puzzle, board)
    assert main(["convert", "laid", "back.json", "--puzzle", "holes.json", "--to", "best"]) == 0
    assert np.array_equal(load_board("back.json", puzzle)[1].colours(puzzle), board.colours(puzzle))


@pytest.mark.parametrize("convention", ["", ":base0", ":ccw,bottom,turn3"])
def test_a_board_without_frame_names_its_convention(convention: str) -> None:
    puzzle = generate("unframed", width=3, height=2, seed=1).puzzle
    chance = np.random.default_rng(1)
    for _ in range(10):
        board = Board.from_pairs([(int(piece), int(chance.integers(4))) for piece in chance.permutation(6)], 3, 2)
        text = render(f"cells{convention}", puzzle, board)[0]
        for named in (None, f"cells{convention}"):
            assert parse(text, puzzle=puzzle, format=named).board == board


def test_the_list_of_formats_is_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [form["name"] for form in listed["formats"]] == list(FORMATS)
    assert {"option", "holds", "about", "example"} < {*listed["formats"][0]} and listed["dialects"][0]["example"]
