"""The verifier against a second, independent count, and on boards that break one rule each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.instances.small_puzzles import boards, planted


@settings(deadline=None)  # the machine may be busy
@given(boards())
def test_verify_agrees_with_a_count_on_arrays(case: tuple[Puzzle, Board]) -> None:
    puzzle, board = case
    result = verify(puzzle, board)
    quads = board.colours(puzzle).reshape(puzzle.height, puzzle.width, 4)
    filled = quads[:, :, 0] >= 0
    joints = [
        (quads[:, :-1, 1], quads[:, 1:, 3], filled[:, :-1] & filled[:, 1:]),
        (quads[:-1, :, 2], quads[1:, :, 0], filled[:-1] & filled[1:]),
    ]
    score = sum(int(((a == b) & (a > 0) & both).sum()) for a, b, both in joints)
    assert result.score == score
    assert len(result.mismatches) == sum(int(both.sum()) for *_, both in joints) - score
    rim = np.zeros((puzzle.height, puzzle.width, 4), dtype=bool)
    rim[0, :, 0] = rim[:, -1, 1] = rim[-1, :, 2] = rim[:, 0, 3] = True
    pieces = [pair[0] for pair in board.pairs() if pair]
    clues = all(
        (quads.reshape(-1, 4)[clue.cell] == puzzle.oriented[4 * clue.piece + clue.rotation]).all()
        for clue in puzzle.clues
    )
    no_colour_on_rim_nor_grey_inside = bool((((quads == 0) == rim) | ~filled[:, :, None]).all())
    assert result.valid == (no_colour_on_rim_nor_grey_inside and clues and len(set(pieces)) == len(pieces))
    assert result.placed == len(pieces)


def test_a_repeated_piece_and_grey_inside_are_reported() -> None:
    puzzle, board = planted(3, 4, 4, 4)
    placements = board.placements.copy()
    placements[5] = placements[0]
    result = verify(puzzle, Board(placements, 4, 4))
    piece = int(placements[0]) // 4 + 1
    assert (
        f"piece {piece} is placed twice: row 0, column 0 (cell 0, from 0) and row 1, column 1 (cell 5, from 0)"
        in result.problems
    )
    assert sum("is grey inside the board" in problem for problem in result.problems) == 2
    assert not result.valid


def test_grey_against_grey_inside_never_counts() -> None:
    puzzle, board = planted(3, 2, 2, 4)
    turned = board.placements // 4 * 4 + (board.placements + 2) % 4  # every corner points inwards
    result = verify(puzzle, Board(turned, 2, 2))
    assert result.score == 0 and len(result.mismatches) == 4 and not result.valid


def test_a_missing_clue_is_a_problem_and_a_wrong_piece_a_violation() -> None:
    puzzle, board = planted(4, 4, 4, 4, clues=1)
    [clue] = puzzle.clues
    placements = board.placements.copy()
    placements[clue.cell] = -1
    missing = verify(puzzle, Board(placements, 4, 4))
    assert "is missing" in missing.problems[0] and len(missing.problems) == 1
    assert not missing.valid and not missing.violations, "an empty cell of a clue is a problem but no violation"
    other = (clue.cell + 1) % 16
    placements[[clue.cell, other]] = board.placements[[other, clue.cell]]
    moved = verify(puzzle, Board(placements, 4, 4))
    assert any("is not respected" in problem for problem in moved.violations) and moved.violations == moved.problems


def test_a_piece_that_does_not_exist_is_reported_and_another_shape_refused() -> None:
    puzzle, board = planted(5, 3, 3, 4)
    placements = board.placements.copy()
    placements[4] = 400
    assert "holds piece 101; the puzzle has 9" in verify(puzzle, Board(placements, 3, 3)).problems[0]
    with pytest.raises(InputError, match="the board is 9 x 1"):
        verify(puzzle, Board(board.placements, 9, 1))
