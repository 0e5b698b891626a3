"""Boards and puzzles of any format come in and go out as files do, and what is said of them is the verifier's word."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lns
from lns.instances import formats
from lns.instances.board import Board
from lns.instances.json_values import JsonFields
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.web.wire import board_to_json, puzzle_to_json, read_board, read_puzzle
from tests.web.browsing import swapped
from tests.web.page import Page, fields


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return Page(tmp_path)


@pytest.fixture(scope="module")
def small() -> tuple[Puzzle, Board]:
    return lns.generate("like-e2", width=5, seed=3, clues=1)


@pytest.mark.parametrize("kind", ["like-e2", "triangle", "diamond", "tetravex", "unframed"])
def test_puzzles_and_boards_survive_the_way_to_the_page_and_back(page: Page, kind: str) -> None:
    size = "side" if kind in ("triangle", "diamond") else "width"
    puzzle, board = lns.generate(kind, seed=2, **{size: 3})  # type: ignore[arg-type]
    sent = JsonFields(json.loads(json.dumps(fields(puzzle, board))))
    again = read_puzzle(sent)
    assert again == puzzle and again.name == puzzle.name and read_board(sent, again) == board
    assert page.answer("/api/check", fields(puzzle, board))["valid"]


def test_a_puzzle_of_any_format_is_read(page: Page, small: tuple[Puzzle, Board]) -> None:
    puzzle, board = small
    for form in ("json", "benoist", "quads", "csv16"):
        found = page.answer("/api/document", {"text": formats.render(form, puzzle, None)[0]})
        assert found["puzzle"]["pieces"] == puzzle.pieces.tolist() and found["board"] is None, form
    found = page.answer("/api/document", {"text": formats.viewer_url(puzzle, board)})
    assert (found["score"], found["placed"]) == (verify(puzzle, board).score, 25)


def test_a_list_in_a_dialect_is_read_as_from_a_file(page: Page, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text(text := "id,top,right,bottom,left\n1,0,1,2,0\n2,0,0,3,1\n3,2,3,0,0\n4,3,0,0,3\n")
    found = page.answer("/api/document", {"text": text, "name": "list"})
    assert (found["format"], read_puzzle(JsonFields(found))) == ("pieces", lns.load_puzzle(tmp_path / "list.txt"))


@pytest.mark.parametrize("text", ['{"schema": 1, "width": 5}', '{"pieces": 3}', "3 3\n1 2 3\n", "["])
def test_a_damaged_puzzle_is_refused_also_while_one_is_open(page: Page, small: tuple[Puzzle, Board], text: str) -> None:
    alone = page.sentence("/api/document", {"text": text})
    assert page.sentence("/api/document", {"text": text, "known": "yes", **fields(*small)}) == alone


def test_a_solution_list_needs_its_puzzle(page: Page, small: tuple[Puzzle, Board]) -> None:
    puzzle, board = small
    text, _ = formats.render("solution", puzzle, board)
    assert "expected" in page.sentence("/api/document", {"text": text})
    found = page.answer("/api/document", {"text": text, "known": "yes", "puzzle": puzzle_to_json(puzzle)})
    assert found["board"] == board_to_json(puzzle, board)


def test_a_best_json_finds_a_shipped_instance_and_opens_no_file(
    page: Page, small: tuple[Puzzle, Board], tmp_path: Path
) -> None:
    """Its field 'instance' may name any path."""
    puzzle = lns.load_puzzle("like-e2-16x16")
    text, _ = formats.render("best", puzzle, Board.empty(puzzle), instance="like-e2-16x16")
    assert page.answer("/api/document", {"text": text})["puzzle"]["name"] == "like-e2-16x16"
    puzzle, board = small
    formats.write(tmp_path / "p.json", "json", puzzle, None)
    best = formats.best_json(puzzle, board, instance=str(tmp_path / "p.json"), seed=0, elapsed_s=0.0) | {"url": ""}
    assert "not found" in page.sentence("/api/document", {"text": json.dumps(best)})


def test_a_name_with_markup_stays_text(page: Page, small: tuple[Puzzle, Board]) -> None:
    puzzle, _ = small
    text = json.dumps(puzzle_to_json(puzzle) | {"name": "<img src=x onerror=alert(1)>\u202e\0"})
    answer = page.post("/api/document", {"text": text})
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["puzzle"]["name"] == "<img src=x onerror=alert(1)>\\u202e\\x00"


@pytest.mark.parametrize(
    ("asked", "change", "expected"),
    [
        ("check", {"board": [0]}, "expected 25"),
        *(("check", {"board": [cell] * 25}, "entry 0 of 'board'") for cell in (100, "<b>", True)),
        ("check", {"puzzle": 7}, "expected a puzzle"),
        ("check", {"puzzle": {"schema": 1, "width": 10**9, "height": 10**9, "pieces": []}}, "'width'"),
        ("document", {"text": "nonsense"}, "expected a puzzle or a board"),
        ("document", {"text": ""}, "empty"),
        ("game", {"shape": "circle", "colours": 4}, "expected"),
        ("game", {"shape": "square", "colours": 1, "width": 4, "height": 4}, "expected"),
        ("game", {"shape": "square", "colours": 4, "width": 17, "height": 17}, "expected"),
        ("game", {"shape": "square", "colours": 4}, "expected"),
        ("game", {"shape": "diamond", "colours": 4, "side": 60}, "expected"),
    ],
)
def test_what_cannot_be_gets_a_sentence(
    page: Page, small: tuple[Puzzle, Board], asked: str, change: dict[str, object], expected: str
) -> None:
    assert expected in page.sentence(f"/api/{asked}", (fields(*small) if asked == "check" else {}) | change)


def test_the_verifier_judges(page: Page, small: tuple[Puzzle, Board]) -> None:
    puzzle, board = small
    wrong = swapped(board, 6, 7)
    found = page.answer("/api/check", fields(puzzle, wrong))
    assert found["score"] == verify(puzzle, wrong).score < puzzle.max_score


def test_a_board_goes_out_in_any_format(page: Page, small: tuple[Puzzle, Board]) -> None:
    texts = {
        form: page.answer("/api/render", fields(*small) | {"format": form})["text"]
        for form in ("url", "svg", "best", "solution", "json")
    }
    assert texts["svg"].startswith("<svg") and lns.load_puzzle(texts["json"]) == small[0]
    assert all(lns.load_board(texts[form].strip(), small[0]) == small[1] for form in ("url", "best", "solution"))


@pytest.mark.parametrize(
    ("asked", "pieces"),
    [
        ({"shape": "square", "width": 2, "height": 2}, 4),
        ({"shape": "square", "width": 16, "height": 16}, 256),
        ({"shape": "rectangle", "width": 5, "height": 3}, 15),
        ({"shape": "triangle", "side": 2}, 4),
        ({"shape": "triangle", "side": 16}, 256),
        ({"shape": "diamond", "side": 2}, 5),
        ({"shape": "diamond", "side": 11}, 221),
        ({"shape": "scramble squares", "width": 3, "height": 3}, 9),
        *(({"shape": kind, "width": 3, "height": 3}, 9) for kind in ("unframed", "tetravex", "macmahon")),
    ],
)
def test_games_have_a_solution(page: Page, asked: dict[str, object], pieces: int) -> None:
    for colours in (2, 21) if pieces > 100 else (4,):
        made = page.answer("/api/game", asked | {"colours": colours})
        assert len(made["puzzle"]["pieces"]) == pieces
        checked = page.answer("/api/check", {"puzzle": made["puzzle"], "board": made["solution"]})
        assert checked["valid"] and checked["score"] == checked["max_score"]
