"""The judge against a second, differently written count, and each rule broken once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from instances.board import Board
from instances.puzzle import Puzzle
from instances.verify import verify
from lns_support.errors import InputError
from tests.instances.small_puzzles import boards, planted, puzzles


@settings(deadline=None)  # the machine may be busy
@given(puzzles())
def test_planted_boards_have_the_full_score(case: tuple[Puzzle, Board]) -> None:
    judged = verify(*case)
    assert judged.valid and judged.full and judged.score == judged.max_score == case[0].max_score
    assert not judged.mismatches and not judged.problems


@settings(deadline=None)  # the machine may be busy
@given(boards())
def test_against_a_count_by_arrays(case: tuple[Puzzle, Board]) -> None:
    puzzle, board = case
    judged = verify(puzzle, board)
    quads = board.colours(puzzle).reshape(puzzle.height, puzzle.width, 4)
    filled = quads[:, :, 0] >= 0
    joints = [
        (quads[:, :-1, 1], quads[:, 1:, 3], filled[:, :-1] & filled[:, 1:]),
        (quads[:-1, :, 2], quads[1:, :, 0], filled[:-1] & filled[1:]),
    ]
    score = sum(int(((a == b) & (a > 0) & both).sum()) for a, b, both in joints)
    assert judged.score == score
    assert len(judged.mismatches) == sum(int(both.sum()) for *_, both in joints) - score
    rim = np.zeros((puzzle.height, puzzle.width, 4), dtype=bool)
    rim[0, :, 0] = rim[:, -1, 1] = rim[-1, :, 2] = rim[:, 0, 3] = True
    lying = [pair[0] for pair in board.pairs() if pair]
    clues = all(
        (quads.reshape(-1, 4)[clue.cell] == puzzle.oriented[4 * clue.piece + clue.rotation]).all()
        for clue in puzzle.clues
    )
    legal = bool((((quads == 0) == rim) | ~filled[:, :, None]).all())
    assert judged.valid == (legal and clues and len(set(lying)) == len(lying))
    assert judged.placed == len(lying)


def test_a_piece_twice_and_grey_inside_are_named() -> None:
    puzzle, board = planted(3, 4, 4, 4)
    placements = board.placements.copy()
    placements[5] = placements[0]
    judged = verify(puzzle, Board(placements, 4, 4))
    piece = int(placements[0]) // 4 + 1
    assert f"piece {piece} is placed twice: row 1, column 1 (cell 0) and row 2, column 2 (cell 5)" in judged.problems
    assert sum("is grey inside the board" in problem for problem in judged.problems) == 2
    assert not judged.valid


def test_grey_against_grey_inside_never_counts() -> None:
    puzzle, board = planted(3, 2, 2, 4)
    turned = board.placements // 4 * 4 + (board.placements + 2) % 4  # every corner points inwards
    judged = verify(puzzle, Board(turned, 2, 2))
    assert judged.score == 0 and len(judged.mismatches) == 4 and not judged.valid


def test_clue_moved_or_missing() -> None:
    puzzle, board = planted(4, 4, 4, 4, clues=1)
    [clue] = puzzle.clues
    placements = board.placements.copy()
    placements[clue.cell] = -1
    missing = verify(puzzle, Board(placements, 4, 4))
    assert "is missing" in missing.problems[0] and len(missing.problems) == 1
    assert not missing.valid and not missing.violations, "a clue that is missing is apart from rules that are broken"
    other = (clue.cell + 1) % 16
    placements[[clue.cell, other]] = board.placements[[other, clue.cell]]
    moved = verify(puzzle, Board(placements, 4, 4))
    assert any("is not respected" in problem for problem in moved.violations) and moved.violations == moved.problems


def test_partial_boards_can_be_valid() -> None:
    puzzle, board = planted(5, 5, 3, 4)
    placements = board.placements.copy()
    placements[3:9] = -1
    judged = verify(puzzle, Board(placements, 5, 3))
    assert judged.valid and not judged.full and judged.placed == 9


def test_a_number_that_is_no_piece_and_another_shape() -> None:
    puzzle, board = planted(5, 3, 3, 4)
    placements = board.placements.copy()
    placements[4] = 400
    assert "holds piece 101; the puzzle has 9" in verify(puzzle, Board(placements, 3, 3)).problems[0]
    with pytest.raises(InputError, match="the board is 9 x 1"):
        verify(puzzle, Board(board.placements, 9, 1))
