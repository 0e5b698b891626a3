"""The public files of the field: each is read as what it is, or refused with what is missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lns.instances.errors import InputError
from lns.instances.formats import FORMATS, load_puzzle, read_board, render, write
from lns.instances.formats.reading import parse
from lns.instances.formats.registry import DIALECTS, examples
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.instances.small_puzzles import planted
from tests.shared_data import shared

STYLES = ["{0} {1} {2} {3}  # x", "{4}: {0}, {1}, {2}, {3}", "  [{0}, {1}, {2}, {3}],", "{4}={0}-{1}-{2}-{3}"]
SMALL, LAID = planted(5, 6, 6, 9)


def case(name: str) -> str:
    return str(shared("cases", name))


def test_a_table_of_boards() -> None:
    for number, score in ((1, 467), (2, 465), (3, 466)):
        document = read_board(case("40_boards_with_conflict_counts.tsv"), number=number)
        assert document.puzzle is not None and document.board is not None
        assert verify(document.puzzle, document.board).score == score


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


def test_sides_that_only_another_order_makes_legal() -> None:
    document = parse("3 3\n" + "0 1 0 1\n" * 4 + "0 1 1 1\n" * 4 + "1 1 1 1\n")
    assert document.puzzle is not None and any("side order up" in note for note in document.notes)


# -- small files of our own --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("base", "sign"), [(0, 1), (0, -1), (1, 1), (1, -1)])
@pytest.mark.parametrize("rows", ["top", "bottom"])
@pytest.mark.parametrize("offset", [0, 2])
def test_piece_and_turn_in_every_convention(base: int, sign: int, rows: str, offset: int) -> None:
    entries = [f"{pair[0] + base}/{sign * (pair[1] - offset) % 4}" for pair in LAID.pairs() if pair]
    lines = [" ".join(entries[at : at + 6]) for at in range(0, 36, 6)]
    assert parse("\n".join(lines if rows == "top" else lines[::-1]), puzzle=SMALL).board == LAID


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("border", [0, 3])
def test_piece_lists_of_our_own(style: str, border: int, tmp_path: Path) -> None:
    swap = {0: border, border: 0}
    lines = [
        style.format(*(swap.get(colour, colour) for colour in quad), number)
        for number, quad in enumerate(SMALL.pieces.tolist(), start=1)
    ]
    path = tmp_path / "pieces.txt"
    path.write_text("# a puzzle\n" + "\n".join(lines) + "\n", encoding="utf-16")
    assert load_puzzle(str(path)) == SMALL


def test_colours_in_place_define_the_puzzle(tmp_path: Path) -> None:
    path = tmp_path / "board.txt"
    path.write_text("\n".join(" ".join(map(str, quad)) for quad in LAID.colours(SMALL).tolist()))
    document = read_board(str(path))
    assert document.puzzle is not None and document.board is not None
    assert verify(document.puzzle, document.board).score == SMALL.max_score
    assert read_board(str(path), SMALL).board == LAID


@pytest.mark.parametrize("turns", [True, False])
def test_puzzles_without_frame_as_text(turns: bool) -> None:
    pieces = np.array([[8, 2, 3, 4], [1, 5, 6, 2], [3, 7, 7, 1], [6, 1, 2, 7]])
    puzzle = Puzzle(pieces, 2, 2, name="p", framed=False, turns=turns)
    assert parse(render("pieces", puzzle, None)[0]).puzzle == puzzle
    with pytest.raises(InputError, match="no side order"):
        render("pieces:udlr", puzzle, None)


def test_words_of_four_digits_are_a_tetravex() -> None:
    puzzle = parse("7321 @0214\n1660 4616\n").puzzle  # up left right down
    assert puzzle is not None and (puzzle.width, puzzle.height, puzzle.rules) == (2, 2, ("no frame", "no turns"))
    assert puzzle.pieces[0].tolist() == [8, 3, 2, 4] and [clue.cell for clue in puzzle.clues] == [1]


def test_every_format_and_dialect_is_listed() -> None:
    listed = examples()
    assert all(f"{name}" in listed for name in FORMATS)
    assert all(example in listed and about in listed for example, about in DIALECTS.items())


@pytest.mark.parametrize("order", ["urdl", "udlr", "lurd"])
def test_headers_take_a_side_order(order: str) -> None:
    puzzle, _ = planted(5, 6, 6, 9, clues=2)
    for format in ("quads", "benoist"):
        assert parse(render(f"{format}:{order}", puzzle, None)[0], format=f"{format}:{order}").puzzle == puzzle


def test_clues_are_written_and_read_as_they_lie(tmp_path: Path) -> None:
    write(tmp_path / "clues.txt", "clues", SMALL, LAID)
    with pytest.raises(InputError):
        load_puzzle("like-e2-6x6", clues=str(tmp_path / "clues.txt"))
    write(tmp_path / "p.json", None, SMALL, None)
    found = load_puzzle(str(tmp_path / "p.json"), clues=str(tmp_path / "clues.txt"))
    assert [clue.oriented for clue in found.clues] == LAID.placements.tolist()


def test_labels_of_pieces_are_left_out() -> None:
    puzzle, _ = planted(4, 3, 3, 3)
    rows = [f"{'AB'[i % 2]}{i},{','.join(map(str, quad))}" for i, quad in enumerate(puzzle.pieces.tolist())]
    document = parse("\n".join(["id,top,right,bottom,left", *rows]))
    assert document.puzzle == puzzle and "the labels of the pieces are left out" in document.notes[0]
    assert "as the file names it" in document.notes[1]


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_a_picture_of_any_width_defines_its_puzzle(width: int) -> None:
    puzzle, solution = planted(6, width, 4, 5)
    document = parse(render("picture", puzzle, solution)[0], format="cells")
    assert document.puzzle is not None and document.board is not None
    assert np.array_equal(document.board.colours(document.puzzle), solution.colours(puzzle))


def test_a_line_of_marks_alone_is_named_or_refused() -> None:
    lines = [f"{i + 1} {' '.join(map(str, quad))}" for i, quad in enumerate(SMALL.pieces.tolist())]
    document = parse("\n".join(["?!", "------", *lines]))
    assert document.puzzle == SMALL and "left out: line 1 ('?!')" in document.notes
    rows = [" ".join(map(str, quad)) for quad in LAID.colours(SMALL).tolist()]
    with pytest.raises(InputError, match=r"'\.' among the numbers of a board") as refused:
        parse("\n".join([*rows[:7], ".", *rows[8:]]), puzzle=SMALL, format="cells")
    assert refused.value.line == 8
