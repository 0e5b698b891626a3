"""Quarter turns and mirrors: the same pieces and scores, seen from another side."""

from __future__ import annotations

import numpy as np
import pytest

from instances import verify
from instances.board import Board
from instances.puzzle import Clue, Puzzle
from instances.symmetry import IDENTITY_VIEW, View, board_from_view, puzzle_in_view, rotate_board, rotate_puzzle
from tests.instances.small_puzzles import planted


@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize("shape", [(6, 5), (4, 4), (1, 3), (2, 7)])
def test_the_solution_of_a_puzzle_turned_solves_the_puzzle_turned(shape, turns):
    puzzle, solution = planted(6, *shape, 7, 2)
    turned, laid = rotate_puzzle(puzzle, turns), rotate_board(solution, turns)
    judged = verify(turned, laid)
    assert judged.valid and judged.full and judged.score == turned.max_score == puzzle.max_score
    assert (turned.width, turned.height) == (shape if turns % 2 == 0 else shape[::-1])
    assert rotate_board(laid, -turns) == solution
    assert rotate_puzzle(turned, -turns % 4) == puzzle


def test_one_turn_is_clockwise():
    puzzle, _ = planted(1, 3, 2, 3)
    row = Board(np.array([0, -1, -1, -1, -1, 9], dtype=np.int32), 3, 2)  # upper left corner, lower right corner
    assert rotate_board(row, 1).pairs() == [None, [0, 1], None, None, [2, 2], None]
    clues = rotate_puzzle(Puzzle(puzzle.pieces, 3, 2, _corner(puzzle)), 1).clues
    assert [clue.cell for clue in clues] == [1]


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize("shape", [(6, 5), (4, 4), (1, 3), (2, 7)])
def test_the_solution_of_a_puzzle_solves_it_from_every_side(shape, turns, mirrored):
    puzzle, solution = planted(6, *shape, 7, 2)
    view = View(turns, mirrored)
    seen, laid = puzzle_in_view(puzzle, view), seen_board(solution, view)
    judged = verify(seen, laid)
    assert judged.valid and judged.full and judged.score == seen.max_score == puzzle.max_score
    assert board_from_view(laid, view) == solution
    worse = solution.placements.copy()
    worse[0] ^= 1  # a piece that is turned,
    worse[-1] = -1  # and an empty cell
    partial = Board(worse, *shape)
    one, other = verify(puzzle, partial), verify(seen, seen_board(partial, view))
    assert (one.score, one.valid, len(one.problems)) == (other.score, other.valid, len(other.problems))
    assert not one.valid
    assert board_from_view(seen_board(partial, view), view) == partial


def test_a_mirror_exchanges_left_and_right():
    puzzle, _ = planted(1, 3, 2, 3)
    row = Board(np.array([0, 5, -1, -1, -1, 10], dtype=np.int32), 3, 2)
    assert seen_board(row, View(0, True)).pairs() == [None, [1, 3], [0, 0], [2, 2], None, None]
    mirrored = puzzle_in_view(puzzle, View(0, True))
    up, right, down, left = puzzle.pieces.T
    assert (mirrored.pieces == np.array([up, left, down, right]).T).all()
    assert puzzle_in_view(puzzle, IDENTITY_VIEW) == puzzle
    for view in (View(0, True), View(1, True)):  # a mirror undoes itself, turned before or not
        assert puzzle_in_view(puzzle_in_view(puzzle, view), view) == puzzle
    held = Puzzle(puzzle.pieces, 3, 2, _corner(puzzle))
    (clue,) = puzzle_in_view(held, View(0, True)).clues
    assert (clue.cell, clue.piece, clue.rotation) == (2, held.clues[0].piece, -held.clues[0].rotation % 4)


def seen_board(board: Board, view: View) -> Board:
    """A board as it is seen from ``view``: a mirror undoes itself, turned before or not."""
    return board_from_view(board, view if view.mirrored else View(-view.turns))


def _corner(puzzle: Puzzle) -> tuple[Clue, ...]:
    """The upper left corner, held by some piece."""
    for oriented, quad in enumerate(puzzle.oriented.tolist()):
        if quad[0] == quad[3] == 0:
            return (Clue(0, oriented >> 2, oriented & 3),)
    raise AssertionError("no corner piece")
