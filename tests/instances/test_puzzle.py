"""The puzzle: representation, identity, checks, and published counts of 2x2 blocks of the real pieces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from lns.instances.errors import InputError
from lns.instances.formats import load_puzzle
from lns.instances.puzzle import DOWN, LEFT, RIGHT, UP, Clue, Puzzle, rotate
from lns.instances.verify import verify
from tests.instances.small_puzzles import planted, puzzles
from tests.shared_data import shared


def test_rotation_is_clockwise() -> None:
    assert rotate((1, 2, 3, 4), 1) == (4, 1, 2, 3)  # what was on the left is now up
    assert rotate((1, 2, 3, 4), 4) == (1, 2, 3, 4)


@settings(deadline=None)  # the machine may be busy
@given(puzzles())
def test_oriented_table_is_the_rotations_of_the_pieces(case: tuple[Puzzle, object]) -> None:
    puzzle, _ = case
    for oriented in range(4 * puzzle.cells):
        piece, rotation = divmod(oriented, 4)
        assert tuple(puzzle.oriented[oriented]) == rotate(puzzle.pieces[piece].tolist(), rotation)


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


def test_two_by_two_blocks_of_eternity2() -> None:
    """The published numbers are 5,248 corner, 292,012 edge and 4,059,952 inner blocks.

    Blocks count in each of their four turns, of which one fits a given corner or side of the board.
    """
    puzzle = load_puzzle(str(shared("instances", "eternity2.txt")))
    assert 4 * _blocks(puzzle, rim=(True, True)) == 5_248
    assert 4 * _blocks(puzzle, rim=(True, False)) == 292_012
    assert _blocks(puzzle, rim=(False, False)) == 4_059_952


def _blocks(puzzle: Puzzle, rim: tuple[bool, bool]) -> int:
    """Number of 2x2 blocks without a mismatch; ``rim``: whether their upper and left sides lie on the rim."""
    quads, piece = puzzle.oriented, np.arange(4 * puzzle.cells) // 4

    def pairs(row: int) -> tuple[np.ndarray, np.ndarray]:
        wanted = np.array([[row == 0 and rim[0], False, False, column == 0 and rim[1]] for column in (0, 1)])
        left, right = (np.flatnonzero(((quads == 0) == sides).all(axis=1)) for sides in wanted)
        a, b = np.nonzero((quads[left, 1][:, None] == quads[right, 3]) & (piece[left][:, None] != piece[right]))
        return left[a], right[b]

    upper, lower = pairs(0), pairs(1)
    base = puzzle.colours + 1
    below, above = (quads[row[0], side] * base + quads[row[1], side] for row, side in ((upper, 2), (lower, 0)))
    count = 0
    for key in np.intersect1d(below, above):
        here, there = np.flatnonzero(below == key), np.flatnonzero(above == key)
        clash = np.zeros((len(here), len(there)), dtype=bool)
        for one in upper:
            for other in lower:
                clash |= piece[one[here]][:, None] == piece[other[there]]
        count += int((~clash).sum())
    return count


def test_colours_are_renumbered_without_gaps_and_boards_stay_what_they_are():
    puzzle, solution = planted(5, 5, 4, 5, 1)
    assert puzzle.renumbered() is puzzle
    shifted = Puzzle(np.where(puzzle.pieces > 0, puzzle.pieces * 7 + 600, 0), 5, 4, puzzle.clues, "far")
    dense = shifted.renumbered()
    assert np.array_equal(dense.pieces, puzzle.pieces) and dense.clues == shifted.clues and dense.name == "far"
    assert verify(shifted, solution) == verify(dense, solution)
