"""Which clues a search has: those of the puzzle, those that a board holds, or those that the user names."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

import lns
from lns.instances.errors import InputError
from lns.instances.formats import best_json, load_board, load_puzzle, read_puzzle, viewer_url
from lns.instances.symmetry import rotate_board
from lns.instances.verify import verify
from tests.cli.conftest import Typed
from tests.shared_data import published_boards, shared

ONE_STEP = ["--engine", "tabu", "--steps", "1", "--workers", "1", "--seed", "1", "--quiet"]
pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture
def url() -> str:
    """A board of 465 with all five clues."""
    text = shared("cases", "08_bucas_465_five_clues_default_alphabet.txt").read_text()
    return next(word for word in text.split() if word.startswith("http"))


def searched(typed: Typed, source: str, *options: str) -> tuple[list[int], str, int]:
    """(the cells of the clues of a run, its log, its score)."""
    score = typed.facts(["solve", source, "--run-dir", "run", *ONE_STEP, *options])["score"]
    cells = [clue.cell for clue in load_puzzle("run/instance.json").clues]
    return cells, Path("run/run.log").read_text(), score


def test_the_clues_that_a_board_holds_are_kept_and_what_is_not_used_is_said(url: str, typed: Typed) -> None:
    cells, log, score = searched(typed, url)
    assert cells == [34, 45, 135, 210, 221] and score < 465
    first = "\n".join(log.splitlines()[:5])
    assert "clues: the 5 official ones that the board holds (--clues official, starter, none or a file" in first
    assert "only the pieces and clues are taken from this board (465 of 480); `lns solve --start` begins" in first
    puzzle, board = load_board("run/best.json")
    assert verify(puzzle, board).complete, "the clues lie on the board that was found"


def test_the_board_is_the_start_and_other_clues_are_taken_where_options_say_so(url: str, typed: Typed) -> None:
    cells, log, score = searched(typed, url, "--start", url, "--clues", "starter")
    assert cells == [135] and "clues: the starter clue\n" in log and score >= 465


@pytest.mark.parametrize(("word", "said"), [("official", "the 5 official ones"), ("none", "none"), ("held", "the 5")])
def test_other_clues_are_named_by_a_word(url: str, word: str, said: str) -> None:
    document = read_puzzle(url, clues=word)
    assert document.puzzle is not None and document.board is None and f"clues: {said}" in document.notes[-2]
    assert len(document.puzzle.clues) == (0 if word == "none" else 5)
    assert lns.load_puzzle(url, clues=word) == document.puzzle


def test_a_turned_board_holds_no_clue_and_the_notes_say_so() -> None:
    usual = lns.load_puzzle(shared("instances", "eternity2.txt"))
    edges = next(edges for _, starter, edges in published_boards() if starter)
    board = lns.load_board(f"https://e2.bucas.name/#puzzle=x&board_w=16&board_h=16&board_edges={edges}", usual)
    document = read_puzzle(viewer_url(usual, rotate_board(board, 1)), clues="held")
    assert document.puzzle is not None and document.puzzle.clues == ()
    notes = "\n".join(document.notes)
    assert "clues: none (--clues official" in notes and "after a turn of 270 degrees" in notes


def test_python_says_in_the_log_what_was_taken(url: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "lns"):
        puzzle = lns.load_puzzle(url)
    assert len(puzzle.clues) == 5
    assert "the 5 official ones that the board holds" in caplog.text and "taken from this board (465" in caplog.text
    assert lns.load_puzzle(shared("instances", "eternity2.txt"), clues="starter").clues[0].piece == 138
    with pytest.raises(InputError, match="like-e2-6x6 is not known to be Eternity II, which alone has starter clues"):
        lns.load_puzzle("like-e2-6x6", clues="starter")


def test_a_puzzle_keeps_its_own_clues_and_none_drops_them(tmp_path: Path) -> None:
    puzzle, solution = lns.generate("like-e2", width=5, seed=1, clues=2)
    lns.save(puzzle, tmp_path / "p.json")
    lns.save(solution, tmp_path / "best.json")
    assert lns.load_puzzle(tmp_path / "p.json") == puzzle
    assert lns.load_puzzle(tmp_path / "p.json", clues="none") == puzzle.with_clues([])
    assert lns.load_puzzle(viewer_url(puzzle, solution)).clues == (), "no clues of this board are known"


@pytest.mark.parametrize("name", ["eternity2", "Eternity-II", "eternity2_clue5", "e2.txt"])
def test_the_pieces_of_eternity_ii_are_not_shipped(name: str, typed: Typed) -> None:
    error = typed.refused(f"solve {name}")
    assert error.startswith(f"lns: {name}: no such file, and the pieces of Eternity II are not shipped; ")
    assert "`lns convert URL eternity2.txt` makes the file" in error


def test_the_file_is_made_as_the_sentence_says(url: str, typed: Typed) -> None:
    typed(["convert", url, "eternity2.txt"])
    assert len(lns.load_puzzle("eternity2.txt", clues="official").clues) == 5


@pytest.mark.parametrize("word", ["held", "official", "starter", "none"])
def test_a_best_json_finds_its_instance_with_the_clues_of_its_run(url: str, word: str, tmp_path: Path) -> None:
    board = lns.load_board(url)
    puzzle = lns.load_puzzle(url, clues=word)
    fields = best_json(puzzle, board, instance=url, seed=1, elapsed_s=1.0)
    (tmp_path / "best.json").write_text(json.dumps(fields))
    found, again = load_board(str(tmp_path / "best.json"))
    assert found == puzzle and again == board and len(found.clues) == {"starter": 1, "none": 0}.get(word, 5)
