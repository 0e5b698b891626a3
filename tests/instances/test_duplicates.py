"""Identical pieces and the clues that name one of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lns.instances.board import EMPTY, Board
from lns.instances.piece_set import normalise_clue_pieces
from lns.instances.puzzle import Clue, Puzzle
from lns.instances.verify import verify
from tests.fuzz_region import renamed
from tests.instances.small_puzzles import boards, planted

# five inner pieces in the middle of a 7x3 board: three identical ones, stored in different rotations, and two others
INNER = [(1, 2, 3, 4), (4, 1, 2, 3), (3, 4, 1, 2), (1, 1, 1, 2), (2, 2, 3, 3)]
MIDDLE = range(8, 13)


def puzzle_with(*clues: Clue) -> Puzzle:
    """The 7x3 board with these pieces as numbers 8 to 12."""
    framed, board = planted(3, 7, 3, 4)
    pieces = np.empty_like(framed.pieces)
    pieces[:8], pieces[13:] = framed.pieces[board.placements[:8] >> 2], framed.pieces[board.placements[13:] >> 2]
    pieces[8:13] = INNER
    return Puzzle(pieces, 7, 3, clues)


def middle(*oriented: int) -> Board:
    """A board with these oriented pieces in the middle row and nothing else."""
    placements = np.full(21, EMPTY)
    placements[list(MIDDLE)] = oriented
    return Board(placements, 7, 3)


def test_an_identical_piece_on_the_cell_of_a_clue_is_exchanged() -> None:
    puzzle = puzzle_with(Clue(9, 8, 1))
    given_, own = middle(32, 36, -1, 48, -1), middle(39, 33, -1, 48, -1)  # 9 unturned looks like 8 turned once
    assert verify(puzzle, given_).score == verify(puzzle, own).score and not verify(puzzle, given_).violations
    assert normalise_clue_pieces(puzzle, given_) == own == normalise_clue_pieces(puzzle, own)
    assert normalise_clue_pieces(puzzle, middle(-1, 36, -1, -1, -1)) == middle(-1, 33, -1, -1, -1)


def test_other_colours_on_the_cell_of_a_clue_stay() -> None:
    puzzle = puzzle_with(Clue(9, 8, 1))
    for lies in (37, 44, -1):
        assert normalise_clue_pieces(puzzle, middle(-1, lies, -1, -1, -1)) == middle(-1, lies, -1, -1, -1)


def test_identical_pieces_of_several_clues_are_exchanged_in_a_cycle() -> None:
    puzzle = puzzle_with(Clue(8, 8, 0), Clue(10, 9, 0), Clue(12, 10, 0))
    ring = middle(39, 44, 43, 48, 34)  # each cell shows its clue with the piece of the next clue
    assert not verify(puzzle, ring).violations
    assert normalise_clue_pieces(puzzle, ring) == middle(32, 44, 36, 48, 40)


def test_the_piece_of_a_clue_whose_cell_is_empty_becomes_free() -> None:
    puzzle = puzzle_with(Clue(9, 8, 1))
    assert normalise_clue_pieces(puzzle, middle(32, -1, -1, 48, -1)) == middle(39, -1, -1, 48, -1)
    full = middle(32, 44, 36, 40, 48)  # every identical piece is placed
    assert normalise_clue_pieces(puzzle, full) == full
    assert normalise_clue_pieces(puzzle, full, freed=[9, 11]) == middle(42, 44, 36, 34, 48)
    both = puzzle_with(Clue(9, 8, 1), Clue(11, 9, 0))  # one identical piece for two clues
    assert normalise_clue_pieces(both, middle(32, -1, -1, -1, 36)) == middle(42, -1, -1, -1, 36)


@settings(deadline=None)
@given(boards(), st.integers(0, 99), st.sets(st.integers(0, 24)))
def test_colours_and_repeated_pieces_stay(case: tuple[Puzzle, Board], seed: int, freed: set[int]) -> None:
    """Identical pieces are exchanged one for one, also on boards that break rules."""
    puzzle, board = case
    board = renamed(np.random.default_rng(seed), puzzle, board)
    named = normalise_clue_pieces(puzzle, board, freed)
    assert (named.colours(puzzle) == board.colours(puzzle)).all()
    before, after = (one.placements[one.placements >= 0] >> 2 for one in (board, named))
    assert len(set(zip(before.tolist(), after.tolist(), strict=True))) == len(set(before)) == len(set(after))
    if not verify(puzzle, board).violations:
        for clue in puzzle.clues:
            assert named.placements[clue.cell] >> 2 in (EMPTY, clue.piece)
    assert normalise_clue_pieces(puzzle, named, freed) == named
