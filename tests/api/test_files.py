"""Puzzles and boards through the front door: names, files, URLs, texts."""

from pathlib import Path

import pytest

import lns
from lns.instances.formats import render


def test_a_puzzle_comes_from_a_name_a_file_a_url_or_its_text(tmp_path: Path) -> None:
    puzzle = lns.load_puzzle("like-e2-4x4")
    path = tmp_path / "copy.txt"
    lns.save(puzzle, path)
    solution = lns.generate("like-e2", width=4, seed=1)
    for source in (path, str(path), path.read_text(), render("json", puzzle, None)[0], puzzle):
        assert lns.load_puzzle(source).sha256 == puzzle.sha256
    url = lns.viewer_url(solution.puzzle, solution.solution)
    assert lns.load_puzzle(url).cells == 16


def test_a_board_is_saved_and_read_back_in_every_form(tmp_path: Path) -> None:
    puzzle, board = lns.generate("like-e2", width=5, seed=2)
    lns.save(puzzle, tmp_path / "puzzle.json")
    for name in ("board.json", "board.url", "board.solution.txt"):
        lns.save(board, tmp_path / name)
        again = lns.load_board(tmp_path / name, puzzle)
        assert again == board and again.puzzle is puzzle
        assert lns.load_board((tmp_path / name).read_text(), puzzle) == board
    assert lns.verify(puzzle, lns.load_board(lns.viewer_url(puzzle, board), puzzle)).score == puzzle.max_score


def test_a_board_with_holes_knows_its_puzzle() -> None:
    puzzle, board = lns.generate("diamond", side=3)
    assert lns.load_board(board).puzzle == lns.load_board(lns.Board(board.placements, 5, 5), puzzle).puzzle == puzzle
    assert lns.improve(None, board).proven and lns.polish(None, board, steps=1, workers=1, progress=None).solved


def test_cells_are_named_by_rows_columns_rectangles_and_texts() -> None:
    puzzle, board = lns.generate("like-e2", width=4, height=3, seed=1)
    assert lns.cells.rows(puzzle, 1, 3) == [4, 5, 6, 7, 8, 9, 10, 11]
    assert lns.cells.columns(puzzle, 3, 4) == [3, 7, 11]
    assert lns.cells.rectangle(puzzle, 1, 1, 2, 2) == [5, 6, 9, 10]
    assert lns.cells.parse("0,r2,3-5,5", puzzle) == [0, 8, 9, 10, 11, 3, 4, 5, 5]
    assert lns.cells.around_mismatches(puzzle, board) == []
    for wrong in (lambda: lns.cells.rows(puzzle, 2, 2), lambda: lns.cells.columns(puzzle, 0, 5),
                  lambda: lns.cells.rectangle(puzzle, 2, 0, 2, 1), lambda: lns.cells.parse("r3", puzzle),
                  lambda: lns.cells.parse("12", puzzle), lambda: lns.cells.parse("a", puzzle)):  # fmt: skip
        with pytest.raises(lns.InputError):
            wrong()
