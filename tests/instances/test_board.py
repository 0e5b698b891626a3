"""The board, which may break any rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from lns.instances.board import EMPTY, Board
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle
from tests.instances.small_puzzles import boards, planted


@settings(deadline=None)  # the machine may be busy
@given(boards())
def test_pairs_and_back(case: tuple[Puzzle, Board]) -> None:
    _, board = case
    again = Board.from_pairs(board.pairs(), board.width, board.height)
    assert again == board and hash(again) == hash(board)
    assert board.placed == sum(pair is not None for pair in board.pairs())


def test_empty_board_and_any_negative_number_is_empty() -> None:
    puzzle, _ = planted(1, 3, 2, 3)
    assert Board.empty(puzzle).placed == 0
    assert Board(np.full(6, -7), 3, 2) == Board.empty(puzzle)
    assert set(Board.empty(puzzle).placements.tolist()) == {EMPTY}


def test_a_board_has_the_cells_of_its_shape() -> None:
    with pytest.raises(InputError, match="5 placements for a board of 3 x 2; expected 6"):
        Board(np.zeros(5), 3, 2)
    flat = np.arange(6)
    assert Board(flat, 3, 2) != Board(flat, 2, 3)
