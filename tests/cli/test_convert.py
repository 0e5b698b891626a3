"""`lns convert` and `lns generate`: chains of formats, what is made, and what is refused."""

import json
import time
from pathlib import Path

import pytest

from lns.cli.main import main
from lns.instances.formats import FORMATS, load_board, load_puzzle, viewer_url, write
from lns.instances.verify import verify
from tests.cli.conftest import Typed
from tests.instances.small_puzzles import planted

PUZZLE, BOARD = planted(31, 5, 5, 4, clues=2)
WIDE, WIDE_BOARD = planted(32, 6, 3, 4)


@pytest.fixture(autouse=True)
def files(here: Path) -> None:
    write("p.json", None, PUZZLE, None)
    write("wide.json", None, WIDE, None)
    write("board.url", None, PUZZLE, BOARD)


def test_the_help_names_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["convert", "--help"])
    said = capsys.readouterr().out
    assert all(f"  {form.name}" in said and form.about in said for form in FORMATS.values())
    assert "e2pieces[:ORDER]" in said and "url[:MOTIFS_ORDER]" in said


def test_a_puzzle_through_all_formats_and_back(typed: Typed) -> None:
    said = [typed(f"convert {step}") for step in ("p.json a.txt", "a.txt b.csv", "b.csv c.json")]
    assert load_puzzle("a.txt") == PUZZLE and len(load_puzzle("c.json").clues) == 2
    assert said[1].out == "" and "lns: read benoist: a puzzle of 5 x 5" in said[1].err
    assert "carries no clues: 2 left out" in typed("convert p.json pieces --to e2pieces:udlr").err
    back = typed("convert pieces d.json --from e2pieces:udlr").err
    assert load_puzzle("d.json") == PUZZLE.with_clues([]) and "side order up down left right, as given" in back


def test_a_board_through_all_formats_and_back(typed: Typed) -> None:
    for step in ("board.url b.json", "b.json b.solution.txt", "b.solution.txt again.url"):
        typed(f"convert {step} --puzzle p.json")
    assert load_board("again.url", PUZZLE) == (PUZZLE, BOARD)
    assert json.loads(Path("b.json").read_text())["instance"] == "p.json"
    assert load_board("b.json") == (PUZZLE, BOARD)


def test_a_url_alone_becomes_a_puzzle_and_a_best_json(typed: Typed) -> None:
    url = viewer_url(WIDE, WIDE_BOARD)
    assert "the board defines the puzzle" in typed(["convert", url, "own.json"]).err
    assert "carries no board: only the puzzle is written" in typed(["convert", url, "own.txt"]).err
    own, board = load_board("own.json", load_puzzle("own.txt"))
    assert own == load_puzzle("own.txt") and viewer_url(own, board) == url.replace("planted-32", "own")


def test_stdout_and_json(typed: Typed) -> None:
    said = typed("convert p.json - --to benoist")
    assert said.out.splitlines()[:3] == ["5", str(PUZZLE.colours), "2"] and "read json" in said.err
    notes = ["read url: a board of 5 x 5", "default letters"]
    expected = {"out": "out.json", "from": "url", "width": 5, "height": 5, "board": True, "notes": notes}
    assert typed.facts("convert board.url out.json --puzzle p.json") == expected


def test_a_partial_url_needs_its_puzzle(typed: Typed) -> None:
    url = viewer_url(WIDE, WIDE_BOARD)
    edges = url.partition("board_edges=")[2][:4]
    partial = url.replace(f"board_edges={edges}", "board_edges=aaaa").partition("&board_pieces")[0]
    assert "1 of 18 cells are empty" in typed.refused(["convert", partial, "out.json"])
    typed(["convert", partial, "out.json", "--puzzle", "wide.json"])
    assert load_board("out.json", WIDE)[1].placed == 17


@pytest.mark.parametrize("order", ["", ":urdl"])
def test_meta_files_and_back(order: str, typed: Typed) -> None:
    """META pieces that were read like any others are turned twice, which ``meta-board:urdl`` takes into account."""
    typed("convert wide.json meta.txt --to meta")
    assert Path("meta.txt").read_text().startswith("3 6\n")
    # the size must be named with an order, as the header says rows columns
    typed(f"convert meta.txt read.json --from {'pieces:urdl,6x3' if order else 'meta'}")
    assert order or load_puzzle("read.json") == WIDE
    write("wide.url", None, WIDE, WIDE_BOARD)
    typed(f"convert wide.url board.txt --puzzle read.json --to meta-board{order}")
    first = f"{WIDE_BOARD.pairs()[0][0]} {WIDE_BOARD.pairs()[0][1]}"  # type: ignore[index]
    assert Path("board.txt").read_text().splitlines()[0] == first
    assert load_board("board.txt", WIDE, "meta-board") == (WIDE, WIDE_BOARD)


def test_the_list_of_formats_is_one_json_object(typed: Typed) -> None:
    listed = typed.facts("convert --list")
    assert [form["name"] for form in listed["formats"]] == list(FORMATS)
    assert {"option", "holds", "about", "example"} < {*listed["formats"][0]} and listed["dialects"][0]["example"]


def test_a_puzzle_on_the_screen_and_puzzle_and_solution_in_files(typed: Typed) -> None:
    lines = typed("generate like-e2 --width 4 --seed 3").out.splitlines()
    assert lines[:3] == ["4", "6", "0"] and len(lines) == 3 + 16
    assert json.loads(typed("generate triangle --side 3").out)["schema"] == 1, "which benoist cannot say"
    said = typed("generate uniform --width 7 --colours 5 --fix-corners --clues 1 -o p.txt --solution p.solution.txt")
    assert said.out == "p.txt: uniform-7x7-c5-s0, 49 pieces, 5 colours, 5 clues\n"
    puzzle, board = load_board("p.solution.txt", load_puzzle("p.txt"))
    assert {clue.cell for clue in puzzle.clues} == {0, 6, 24, 42, 48}
    judged = verify(puzzle, board)
    assert judged.valid and judged.score == judged.max_score == 84


def test_json(typed: Typed) -> None:
    facts = typed.facts("generate balanced-torus --width 5 --seed 8 -o torus.json")
    expected = {"name": "balanced-torus-5x5-c3-s8", "width": 5, "height": 5, "colours": 3, "clues": [], "seed": 8}
    expected |= {"max_score": 40, "sha256": load_puzzle("torus.json").sha256, "output": "torus.json"}
    assert facts == expected | {"solution": None, "text": None}


def test_the_proofs_of_the_largest_board_end_with_their_time(typed: Typed) -> None:
    began = time.monotonic()
    assert "was proven unique in" in typed("generate --unique max --width 64 -o p.txt --time 1", 2).err
    assert not Path("p.txt").exists() and time.monotonic() - began < 20.0, "the machine may be busy"
