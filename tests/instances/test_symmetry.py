"""Rotations and reflections keep pieces and scores."""

import numpy as np
import pytest

from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.generate import family
from lns.instances.symmetry import (
    IDENTITY_VIEW,
    View,
    board_from_view,
    board_in_view,
    puzzle_in_view,
    rotate_board,
    rotate_puzzle,
)
from lns.instances.verify import verify
from tests.instances.small_puzzles import planted

CORNER = planted(1, 3, 2, 3, 6)[0].clues[:1]  # a corner piece in the upper left corner


def test_pieces_that_may_not_be_turned_have_one_view():
    puzzle = family("tetravex:3x3:3")(1).puzzle
    assert puzzle_in_view(puzzle, IDENTITY_VIEW) == rotate_puzzle(puzzle, 0) == puzzle
    for view in (View(1), View(0, True)):
        with pytest.raises(InputError, match="its pieces may not be turned, so neither may its board"):
            puzzle_in_view(puzzle, view)


def test_a_turn_is_clockwise():
    puzzle, _ = planted(1, 3, 2, 3)
    row = Board(np.array([0, -1, -1, -1, -1, 9], dtype=np.int32), 3, 2)  # upper left corner, lower right corner
    assert rotate_board(row, 1).pairs() == [None, [0, 1], None, None, [2, 2], None]
    assert [clue.cell for clue in rotate_puzzle(puzzle.with_clues(CORNER), 1).clues] == [1]


@pytest.mark.parametrize("view", [View(turns, mirrored) for turns in range(4) for mirrored in (False, True)])
@pytest.mark.parametrize("of", [(6, 5), (4, 4), (1, 3), (2, 7), "triangle:3:2", "diamond:3:2", "unframed:4x3:3"])
def test_a_solution_in_a_view_solves_the_puzzle_in_that_view(of, view):
    puzzle, solution = family(of)(1) if isinstance(of, str) else planted(6, *of, 7, 2)
    seen, shown = puzzle_in_view(puzzle, view), board_in_view(solution, view)
    assert len(seen.holes) == len(puzzle.holes) and seen.rules == puzzle.rules
    assert verify(seen, shown).complete and verify(seen, shown).score == seen.max_score == puzzle.max_score
    assert board_from_view(shown, view) == solution
    if not view.mirrored:
        assert (seen, shown) == (rotate_puzzle(puzzle, view.turns), rotate_board(solution, view.turns))
        assert rotate_puzzle(seen, -view.turns % 4) == puzzle
    partial = solution.with_pieces([0, -1], [solution.placements[0] ^ 1, -1])  # a turned piece and an empty cell
    one, other = verify(puzzle, partial), verify(seen, board_in_view(partial, view))
    assert (one.score, one.valid, len(one.problems)) == (other.score, other.valid, len(other.problems))
    assert board_from_view(board_in_view(partial, view), view) == partial


def test_a_reflection_exchanges_left_and_right():
    puzzle, _ = planted(1, 3, 2, 3)
    row = Board(np.array([0, 5, -1, -1, -1, 10], dtype=np.int32), 3, 2)
    assert board_in_view(row, View(0, True)).pairs() == [None, [1, 3], [0, 0], [2, 2], None, None]
    mirrored = puzzle_in_view(puzzle, View(0, True))
    up, right, down, left = puzzle.pieces.T
    assert (mirrored.pieces == np.array([up, left, down, right]).T).all()
    assert puzzle_in_view(puzzle, IDENTITY_VIEW) == puzzle
    for view in (View(0, True), View(1, True)):  # a view with a reflection is its own inverse
        assert puzzle_in_view(puzzle_in_view(puzzle, view), view) == puzzle
    (clue,) = puzzle_in_view(puzzle.with_clues(CORNER), View(0, True)).clues
    assert (clue.cell, clue.piece, clue.rotation) == (2, CORNER[0].piece, -CORNER[0].rotation % 4)
