"""The public files of the field: each is read as what it is, or refused with what is missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from instances.board import Board
from instances.formats import FORMATS, load_puzzle, read, read_board, write
from instances.formats.clues import clue_board
from instances.formats.dialects import DIALECTS
from instances.formats.registry import examples
from instances.puzzle import Puzzle
from instances.verify import verify
from lns_support.errors import InputError
from lns_support.files import read_text
from tests.instances.small_puzzles import planted
from tests.shared_data import shared

PIECES = {
    "10_pieces_top_bottom_left_right_256.txt": (16, 16, 480, "112 and 113 are swapped"),
    "11_pieces_nesw_header16.txt": (16, 16, 480, "the usual numbering"),
    "12_pieces_nswe_padded.txt": (16, 16, 480, "112 and 113 are swapped"),
    "13_puzzle_6x12_no_size_header0.txt": (12, 6, 126, "no size stated"),
    "14_puzzle_7x7_header0_no_size.txt": (7, 7, 84, "detected"),
    "15_puzzle_bounded_unsigned_10x10.txt": (10, 10, 180, "framed"),
    "16_puzzle_unbounded_2x2.txt": (2, 2, 4, "without frame"),
    "17_eii_4x4_duplicate_placed.json": (4, 4, 24, ""),
    "18_eii_real_16x16_five_placed.json": (16, 16, 480, "pieces of Eternity II"),
    "19_meta2010_10x10.txt": (10, 10, 180, ""),
    "22_ntiles_cw_256.csv": (16, 16, 480, "mirror image of Eternity II"),
    "23_csv_french_headers_3x3.txt": (3, 3, 12, "as the file names it"),
    "26_comments_inline_6x12.txt": (6, 12, 126, ""),
    "27_editor_ini_border_is_2.fps": (16, 16, 480, "colour 2 is the rim"),
    "32_pieces_4x3_width_height.txt": (4, 3, 17, ""),
    "34_pieces_id_type_trbl_6x6.txt": (6, 6, 60, "the type of the piece"),
    "38_letters_numbered_list_256.md": (16, 16, 480, "the usual numbering"),
}
BOARDS = {
    "10_board_465_pieceid_rot.txt": ("10_pieces_top_bottom_left_right_256.txt", 465, 256),
    "10_board_465_rot90_pieceid_rot.txt": ("10_pieces_top_bottom_left_right_256.txt", 465, 256),
    "15_solution_ascii_art_10x10.txt": ("15_puzzle_bounded_unsigned_10x10.txt", 180, 100),
    "19_meta2010_10x10_solution.txt": ("19_meta2010_10x10.txt", 100, 100),
    "28_tetravex_left_top_right_bottom_3x3_solution_utf16.txt": (None, 12, 9),
    "30_tetravex_picture_3x3.txt": (None, 12, 9),
    "32_solution_4x3.txt": ("32_pieces_4x3_width_height.txt", 17, 12),
    "37_letters_underscore_solution_6x6.txt": (None, 60, 36),
    "39_log_board_176_bracketed.txt": ("11_pieces_nesw_header16.txt", 327, 177),
}


STYLES = ["{0} {1} {2} {3}  # x", "{4}: {0}, {1}, {2}, {3}", "  [{0}, {1}, {2}, {3}],", "{4}={0}-{1}-{2}-{3}"]


def case(name: str) -> str:
    return str(shared("cases", name))


@pytest.mark.parametrize("name", PIECES)
def test_piece_lists(name: str) -> None:
    width, height, most, says = PIECES[name]
    document = read(case(name))
    assert document.puzzle is not None
    assert (document.puzzle.width, document.puzzle.height, document.puzzle.max_score) == (width, height, most)
    assert says in "; ".join(document.notes)


@pytest.mark.parametrize("name", BOARDS)
def test_boards(name: str) -> None:
    pieces, score, placed = BOARDS[name]
    document = read_board(case(name), None if pieces is None else load_puzzle(case(pieces)))
    assert document.puzzle is not None and document.board is not None
    result = verify(document.puzzle, document.board)
    assert result.placed == placed and not result.violations
    assert score is None or result.score == score


def test_a_turned_board_is_said() -> None:
    pieces = load_puzzle(case("10_pieces_top_bottom_left_right_256.txt"))
    notes = read_board(case("10_board_465_rot90_pieceid_rot.txt"), pieces).notes
    assert any("5 of 5 after a turn of 270 degrees" in note for note in notes)


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
    board, _ = clue_board(read_text(case(clues)), load_puzzle(case(pieces)))
    placed = {cell: int(oriented) // 4 + 1 for cell, oriented in enumerate(board.placements) if oriented >= 0}
    official = load_puzzle(str(shared("instances", "eternity2_clue5.txt"))).clues
    assert placed == {clue.cell: clue.piece + 1 for clue in official}


def test_eight_hints_of_words() -> None:
    puzzle = load_puzzle(case("31_puzzle_16bit_binary_csv.csv"))
    assert len(puzzle.clues) == 8


@pytest.mark.parametrize(
    ("name", "clues", "says"),
    [
        ("17_eii_4x4_duplicate_placed.json", 4, "4 clues"),
        ("18_eii_real_16x16_five_placed.json", 5, "4 of 5 official clues"),
    ],
)
def test_placed_tiles_are_clues(name: str, clues: int, says: str) -> None:
    document = read(case(name))
    assert document.puzzle is not None and len(document.puzzle.clues) == clues
    assert says in "; ".join(document.notes)


def test_sides_that_only_another_order_makes_legal(tmp_path: Path) -> None:
    path = tmp_path / "pieces.txt"
    path.write_text("3 3\n" + "0 1 0 1\n" * 4 + "0 1 1 1\n" * 4 + "1 1 1 1\n")
    document = read(str(path))
    assert document.puzzle is not None and any("side order up" in note for note in document.notes)


def test_a_missing_piece_is_named() -> None:
    with pytest.raises(InputError, match="15 of 16 pieces; missing: id 4; 3 corner pieces"):
        read(case("25_missing_piece_15_of_16.txt"))


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


def test_an_id_twice_is_named_where_the_columns_have_names(tmp_path: Path) -> None:
    path = tmp_path / "ids.csv"
    path.write_text("id,top,right,bottom,left\n" + "1,0,0,1,2\n" * 4)
    with pytest.raises(InputError, match="two pieces have the id 1"):
        read(str(path))


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_a_picture_of_any_width_defines_its_puzzle(tmp_path: Path, width: int) -> None:
    puzzle, solution = planted(6, width, 4, 5)
    path = tmp_path / "board.txt"
    write(path, "picture", puzzle, solution)
    document = read_board(str(path))
    assert document.puzzle is not None and document.board is not None
    assert np.array_equal(document.board.colours(document.puzzle), solution.colours(puzzle))
