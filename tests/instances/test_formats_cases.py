"""The public files of the field: each is read as what it is, or refused with what is missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from instances.board import Board
from instances.formats import FORMATS, load_puzzle, read, read_board, write
from instances.formats.registry import DIALECTS, examples
from instances.puzzle import Puzzle
from instances.verify import verify
from lns_support.errors import InputError
from tests.instances.small_puzzles import planted
from tests.shared_data import shared

STYLES = ["{0} {1} {2} {3}  # x", "{4}: {0}, {1}, {2}, {3}", "  [{0}, {1}, {2}, {3}],", "{4}={0}-{1}-{2}-{3}"]


def case(name: str) -> str:
    return str(shared("cases", name))


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_table_of_boards(number: int) -> None:
    document = read_board(case("40_boards_with_conflict_counts.tsv"), number=number)
    assert document.puzzle is not None and document.board is not None
    assert verify(document.puzzle, document.board).score == (467, 465, 466)[number - 1]


@pytest.mark.parametrize(
    ("clues", "pieces"),
    [
        ("10_hints_pieceid_row_col_cw.txt", "10_pieces_top_bottom_left_right_256.txt"),
        ("11_clues_pieceid_x_y_ccw.txt", "11_pieces_nesw_header16.txt"),
        ("27_editor_ini_border_is_2.fps", "27_editor_ini_border_is_2.fps"),
    ],
)
def test_clues_apart_from_the_pieces(clues: str, pieces: str) -> None:
    board = read_board(case(clues), load_puzzle(case(pieces)), "clues").board
    assert board is not None
    placed = {cell: int(oriented) // 4 + 1 for cell, oriented in enumerate(board.placements) if oriented >= 0}
    official = load_puzzle(str(shared("instances", "eternity2_clue5.txt"))).clues
    assert placed == {clue.cell: clue.piece + 1 for clue in official}


def test_sides_that_only_another_order_makes_legal(tmp_path: Path) -> None:
    path = tmp_path / "pieces.txt"
    path.write_text("3 3\n" + "0 1 0 1\n" * 4 + "0 1 1 1\n" * 4 + "1 1 1 1\n")
    document = read(str(path))
    assert document.puzzle is not None and any("side order up" in note for note in document.notes)


# -- small files of our own --------------------------------------------------------------------------------------------


def small() -> tuple[Puzzle, Board]:
    return planted(5, 6, 6, 9)


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("rows", ["top", "bottom"])
@pytest.mark.parametrize("offset", [0, 2])
def test_piece_and_turn_in_every_convention(base: int, sign: int, rows: str, offset: int, tmp_path: Path) -> None:
    puzzle, board = small()
    lines = [
        " ".join(f"{pair[0] + base}/{sign * (pair[1] - offset) % 4}" for pair in board.pairs()[at : at + 6] if pair)
        for at in range(0, 36, 6)
    ]
    path = tmp_path / "board.txt"
    path.write_text("\n".join(lines if rows == "top" else lines[::-1]))
    assert read_board(str(path), puzzle).board == board


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("border", [0, 3])
def test_piece_lists_of_our_own(style: str, border: int, tmp_path: Path) -> None:
    puzzle, _ = small()
    swap = {0: border, border: 0}
    lines = [
        style.format(*(swap.get(colour, colour) for colour in quad), number)
        for number, quad in enumerate(puzzle.pieces.tolist(), start=1)
    ]
    path = tmp_path / "pieces.txt"
    path.write_text("# a puzzle\n" + "\n".join(lines) + "\n", encoding="utf-16")
    assert load_puzzle(str(path)) == puzzle


def test_colours_in_place_define_the_puzzle(tmp_path: Path) -> None:
    puzzle, board = small()
    path = tmp_path / "board.txt"
    path.write_text("\n".join(" ".join(map(str, quad)) for quad in board.colours(puzzle).tolist()))
    document = read_board(str(path))
    assert document.puzzle is not None and document.board is not None
    assert verify(document.puzzle, document.board).score == puzzle.max_score
    assert read_board(str(path), puzzle).board == board


@pytest.mark.parametrize("turns", [True, False])
def test_puzzles_without_frame_as_text(turns: bool, tmp_path: Path) -> None:
    pieces = np.array([[8, 2, 3, 4], [1, 5, 6, 2], [3, 7, 7, 1], [6, 1, 2, 7]])
    puzzle = Puzzle(pieces, 2, 2, name="p", framed=False, turns=turns)
    write(tmp_path / "p.txt", "pieces", puzzle, None)
    assert load_puzzle(str(tmp_path / "p.txt")) == puzzle
    with pytest.raises(InputError, match="no side order"):
        write(tmp_path / "p.txt", "pieces:udlr", puzzle, None)


def test_words_of_four_digits_are_a_tetravex(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("7321 @0214\n1660 4616\n")  # up left right down
    puzzle = load_puzzle(str(path))
    assert (puzzle.width, puzzle.height, puzzle.framed, puzzle.turns) == (2, 2, False, False)
    assert puzzle.pieces[0].tolist() == [8, 3, 2, 4] and [clue.cell for clue in puzzle.clues] == [1]


def test_every_format_and_dialect_is_listed() -> None:
    listed = examples()
    assert all(f"{name}" in listed for name in FORMATS)
    assert {each.reader for each in DIALECTS} <= set(FORMATS)
    assert all(each.example in listed and each.about in listed for each in DIALECTS)


@pytest.mark.parametrize("order", ["urdl", "udlr", "lurd"])
def test_headers_take_a_side_order(order: str, tmp_path: Path) -> None:
    puzzle, _ = planted(5, 6, 6, 9, clues=2)
    for format in ("quads", "benoist"):
        path = str(tmp_path / f"p.{format}")
        write(path, f"{format}:{order}", puzzle, None)
        assert load_puzzle(path, f"{format}:{order}") == puzzle


def test_clues_are_written_and_read_as_they_lie(tmp_path: Path) -> None:
    puzzle, board = small()
    write(tmp_path / "clues.txt", "clues", puzzle, board)
    full = load_puzzle("like-e2-6x6")
    with pytest.raises(InputError):
        load_puzzle("like-e2-6x6", clues=str(tmp_path / "clues.txt"))
    assert not full.clues
    write(tmp_path / "p.json", None, puzzle, None)
    found = load_puzzle(str(tmp_path / "p.json"), clues=str(tmp_path / "clues.txt"))
    assert [4 * clue.piece + clue.rotation for clue in found.clues] == board.placements.tolist()


def test_labels_of_pieces_are_left_out(tmp_path: Path) -> None:
    puzzle, _ = planted(4, 3, 3, 3)
    rows = [f"{'AB'[i % 2]}{i},{','.join(map(str, quad))}" for i, quad in enumerate(puzzle.pieces.tolist())]
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(["id,top,right,bottom,left", *rows]))
    document = read(str(path))
    assert document.puzzle == puzzle and "the labels of the pieces are left out" in document.notes[0]
    assert "as the file names it" in document.notes[1]


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_a_picture_of_any_width_defines_its_puzzle(tmp_path: Path, width: int) -> None:
    puzzle, solution = planted(6, width, 4, 5)
    path = tmp_path / "board.txt"
    write(path, "picture", puzzle, solution)
    document = read_board(str(path))
    assert document.puzzle is not None and document.board is not None
    assert np.array_equal(document.board.colours(document.puzzle), solution.colours(puzzle))


def test_a_line_of_marks_alone_is_named_or_refused(tmp_path: Path) -> None:
    puzzle, board = small()
    lines = [f"{i + 1} {' '.join(map(str, quad))}" for i, quad in enumerate(puzzle.pieces.tolist())]
    path = tmp_path / "pieces.txt"
    path.write_text("\n".join(["?!", "------", *lines]))
    document = read(str(path))
    assert document.puzzle == puzzle and "left out: line 1 ('?!')" in document.notes
    rows = [" ".join(map(str, quad)) for quad in board.colours(puzzle).tolist()]
    path.write_text("\n".join([*rows[:7], ".", *rows[8:]]))
    with pytest.raises(InputError, match=r":8: '\.' among the numbers of a board"):
        read_board(str(path), puzzle, "cells")
