"""The puzzle: representation, identity, checks, and published counts of 2x2 blocks of the real pieces."""

import numpy as np
import pytest
from hypothesis import given, settings

from lns.instances.board import EMPTY, Board
from lns.instances.errors import InputError
from lns.instances.puzzle import DOWN, LEFT, RIGHT, UP, Clue, Puzzle, rotate
from lns.instances.verify import verify
from tests.instances.small_puzzles import boards, planted


def test_rotation_is_clockwise() -> None:
    assert rotate((1, 2, 3, 4), 1) == (4, 1, 2, 3)  # what was on the left is now up
    assert rotate((1, 2, 3, 4), 4) == (1, 2, 3, 4)


def test_neighbours_lie_on_the_board_and_see_each_other() -> None:
    puzzle, _ = planted(1, 3, 4, 3)
    assert puzzle.neighbours(0) == [(RIGHT, 1), (DOWN, 3)] and puzzle.neighbours(11) == [(UP, 8), (LEFT, 10)]
    assert puzzle.neighbours(4) == [(UP, 1), (RIGHT, 5), (DOWN, 7), (LEFT, 3)]
    column, _ = planted(1, 1, 4, 3)
    assert column.neighbours(1) == [(UP, 0), (DOWN, 2)]


def test_identity_is_pieces_shape_and_clues_not_the_name() -> None:
    puzzle, board = planted(1, 3, 4, 3)
    named = Puzzle(puzzle.pieces, 3, 4, name="another")
    piece, rotation = divmod(int(board.placements[5]), 4)
    clued = puzzle.with_clues([Clue(5, piece, rotation)])
    assert puzzle == named and hash(puzzle) == hash(named) and puzzle.sha256 == named.sha256
    assert clued != puzzle and clued.with_clues([]) == puzzle
    turned = np.roll(puzzle.pieces, 1, axis=1)
    assert Puzzle(turned, 3, 4) != puzzle


def test_a_puzzle_cannot_be_changed() -> None:
    puzzle, board = planted(1, 3, 3, 3)
    for array in (puzzle.pieces, puzzle.oriented, board.placements):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("width", "height", "says"),
    [(0, 0, "no cells"), (300, 300, "at most 4096"), (3, 2, "9 pieces"), (9, 1, "do not fit a board of 9 x 1")],
)
def test_impossible_shapes_are_refused(width: int, height: int, says: str) -> None:
    puzzle, _ = planted(1, 3, 3, 3)
    with pytest.raises(InputError, match=says):
        Puzzle(puzzle.pieces, width, height)


def test_wrong_pieces_and_clues_are_refused() -> None:
    puzzle, board = planted(2, 4, 4, 3)
    pieces = puzzle.pieces.copy()
    pieces[next(piece for piece, quad in enumerate(pieces) if 0 not in quad), 2] = 0
    with pytest.raises(InputError, match=r"3 inner pieces where the board needs 4, 9 edge pieces .* needs 8"):
        Puzzle(pieces, 4, 4)
    pairs = [divmod(oriented, 4) for oriented in board.placements.tolist()]
    good = [Clue(cell, *pairs[cell]) for cell in range(16)]
    assert puzzle.with_clues(good).clues == tuple(good)
    piece, turns = pairs[0]
    for clues, says in [
        ([Clue(16, piece, turns)], "cell 16"),
        ([Clue(0, 16, 0)], "piece 17"),
        ([Clue(0, 0, 4)], "rotation 5"),
        ([good[5], Clue(5, *pairs[6])], "two clues for row 1, column 1"),
        ([good[5], Clue(6, *pairs[5])], "two clues place piece"),
        ([Clue(5, piece, turns)], "expected grey"),
        ([Clue(0, piece, (turns + 1) % 4)], "expected grey"),
    ]:
        with pytest.raises(InputError, match=says):
            puzzle.with_clues(clues)


def test_colours_are_renumbered_without_gaps_and_boards_stay_what_they_are():
    puzzle, solution = planted(5, 5, 4, 5, 1)
    assert puzzle.renumbered() is puzzle
    shifted = Puzzle(np.where(puzzle.pieces > 0, puzzle.pieces * 7 + 600, 0), 5, 4, puzzle.clues, "far")
    dense = shifted.renumbered()
    assert np.array_equal(dense.pieces, puzzle.pieces) and dense.clues == shifted.clues and dense.name == "far"
    assert verify(shifted, solution) == verify(dense, solution)
    squares = Puzzle([[1, 2, 1, 2]] * 4, 2, 2, framed=False, mates=((5, 6),), rim=5).renumbered()
    assert (squares.rim, squares.mates) == (3, ((3, 4),))  # colours of no piece


@settings(deadline=None)  # the machine may be busy
@given(boards())
def test_pairs_and_back(case: tuple[Puzzle, Board]) -> None:
    _, board = case
    again = Board.from_pairs(board.pairs(), board.width, board.height)
    assert again == board and hash(again) == hash(board)
    assert board.placed == sum(pair is not None for pair in board.pairs())


def test_a_board_has_the_cells_of_its_shape_and_any_negative_number_is_empty() -> None:
    puzzle, _ = planted(1, 3, 2, 3)
    assert Board(np.full(6, -7), 3, 2) == Board.empty(puzzle) and Board.empty(puzzle).placed == 0
    assert set(Board.empty(puzzle).placements.tolist()) == {EMPTY}
    with pytest.raises(InputError, match="5 placements for a board of 3 x 2; expected 6"):
        Board(np.zeros(5), 3, 2)
    assert Board(np.arange(6), 3, 2) != Board(np.arange(6), 2, 3)


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
