"""How puzzles and boards show themselves: repr, and pictures for notebooks."""

from __future__ import annotations

import copy
import pickle
import re
import xml.etree.ElementTree as ET
from dataclasses import fields

import numpy as np
from hypothesis import given, settings

from lns.instances.board import Board
from lns.instances.generate import like_e2
from lns.instances.puzzle import Puzzle
from tests.instances.small_puzzles import boards, planted

NAMESPACE = {"s": "http://www.w3.org/2000/svg"}
HOSTILE = "<script>alert('1')</script> & \"x\"\x1b[31m\n"


def test_a_puzzle_has_a_repr_of_one_line() -> None:
    puzzle = like_e2(16, 16, seed=1, clues=1).puzzle
    assert repr(puzzle) == "Puzzle('like-e2-16x16-r5-i17-s1', 16x16, 22 colours, 1 clue)"
    assert repr(Puzzle(np.zeros((1, 4)), 1, 1)) == "Puzzle('puzzle', 1x1, 0 colours, 0 clues)"


def test_a_board_has_a_repr_of_one_line_with_its_score_when_its_puzzle_is_known() -> None:
    puzzle, board = planted(1, 4, 3, 3)
    assert repr(board) == "Board(4x3, 12 placed)"
    assert repr(board.of(puzzle)) == "Board(4x3, 12 placed, score 17 of 17, of 'planted-1')"
    assert repr(Board.empty(puzzle).of(puzzle)) == "Board(4x3, 0 placed, score 0 of 17, of 'planted-1')"
    for value in (Puzzle(puzzle.pieces, 4, 3, name=HOSTILE), board.of(Puzzle(puzzle.pieces, 4, 3, name=HOSTILE))):
        assert repr(value).isprintable()


def test_the_attached_puzzle_is_no_part_of_the_value() -> None:
    puzzle, board = planted(1, 4, 3, 3)
    attached = board.of(puzzle)
    assert attached.puzzle is puzzle and board.puzzle is None
    assert attached == board and hash(attached) == hash(board) and len({attached, board}) == 1
    assert [field.name for field in fields(attached)] == ["placements", "width", "height"]
    assert pickle.dumps(attached) == pickle.dumps(board)
    for again in (pickle.loads(pickle.dumps(attached)), copy.deepcopy(attached)):
        assert again == board and again.puzzle is None


@settings(deadline=None, max_examples=30)
@given(boards())
def test_every_puzzle_and_board_draws_itself(case: tuple[Puzzle, Board]) -> None:
    puzzle, board = case
    for value in (puzzle, board, board.of(puzzle)):
        ET.fromstring(value._repr_svg_())
        ET.fromstring(value._repr_html_())


def test_a_board_without_a_puzzle_shows_piece_numbers_and_rotations() -> None:
    board = Board(np.array([4 * 6 + 0, 4 * 2 + 1, -1, 4 * 0 + 2, 4 * 9 + 3, -1]), 3, 2)
    picture = board._repr_svg_()
    root = ET.fromstring(picture)
    assert [text.text for text in root.iterfind(".//s:text", NAMESPACE)] == ["7", "3", "1", "10"]
    # wedges on the upper, right, lower and left side of their cells, which lie 24 units apart from (8, 8) on
    wedges = re.findall(r"M(\d+) (\d+)([hv])8", picture)
    assert wedges == [("16", "8", "h"), ("56", "16", "v"), ("16", "56", "h"), ("32", "40", "v")]
    assert root.findtext("s:title", namespaces=NAMESPACE) == "board of 3 x 2, 4 of 6 pieces"


def test_a_board_with_its_puzzle_shows_colours_and_score() -> None:
    puzzle, board = planted(1, 4, 3, 3)
    root = ET.fromstring(board.of(puzzle)._repr_svg_())
    assert root.findtext("s:title", namespaces=NAMESPACE) == "planted-1: score 17 of 17"
    assert "<figcaption>planted-1: score 17 of 17</figcaption>" in board.of(puzzle)._repr_html_()


def test_html_escapes_names() -> None:
    puzzle, board = planted(1, 4, 3, 3)
    named = Puzzle(puzzle.pieces, 4, 3, name=HOSTILE)
    for html in (named._repr_html_(), board.of(named)._repr_html_()):
        assert "<script" not in html and "&lt;script&gt;" in html
        caption = ET.fromstring(html).findtext("figcaption")
        assert caption is not None and caption.startswith("<script>alert('1')</script> & \"x\"?[31m?: ")


def test_large_boards_are_drawn_small() -> None:
    sizes = [float(Board(np.full(n * n, -1), n, n)._repr_svg_().split('width="')[1].split('"')[0]) for n in (3, 16, 64)]
    assert sizes[0] < 150 and all(500 < size < 700 for size in sizes[1:])
