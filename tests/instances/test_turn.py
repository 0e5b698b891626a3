"""Quarter turns: the same pieces and scores, seen from another side."""

from __future__ import annotations

import numpy as np
import pytest

from instances import verify
from instances.board import Board
from instances.puzzle import Clue, Puzzle
from instances.turn import turned_board, turned_puzzle
from tests.instances.small_puzzles import planted


@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize("shape", [(6, 5), (4, 4), (1, 3), (2, 7)])
def test_the_solution_of_a_puzzle_turned_solves_the_puzzle_turned(shape, turns):
    puzzle, solution = planted(6, *shape, 7, 2)
    turned, laid = turned_puzzle(puzzle, turns), turned_board(solution, turns)
    judged = verify(turned, laid)
    assert judged.valid and judged.full and judged.score == turned.max_score == puzzle.max_score
    assert (turned.width, turned.height) == (shape if turns % 2 == 0 else shape[::-1])
    assert turned_board(laid, -turns) == solution
    assert turned_puzzle(turned, -turns % 4) == puzzle


def test_one_turn_is_clockwise():
    puzzle, _ = planted(1, 3, 2, 3)
    row = Board(np.array([0, -1, -1, -1, -1, 9], dtype=np.int32), 3, 2)  # upper left corner, lower right corner
    assert turned_board(row, 1).pairs() == [None, [0, 1], None, None, [2, 2], None]
    clues = turned_puzzle(Puzzle(puzzle.pieces, 3, 2, _corner(puzzle)), 1).clues
    assert [clue.cell for clue in clues] == [1]


def _corner(puzzle: Puzzle) -> tuple[Clue, ...]:
    """The upper left corner, held by some piece."""
    for oriented, quad in enumerate(puzzle.oriented.tolist()):
        if quad[0] == quad[3] == 0:
            return (Clue(0, oriented >> 2, oriented & 3),)
    raise AssertionError("no corner piece")
