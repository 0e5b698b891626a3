"""`lns.improve` on boards that break a rule: repaired where the region covers it, else refused in a sentence."""

import numpy as np
import pytest

import lns
from lns.instances.board import EMPTY, Board
from lns.instances.errors import BoardError
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.exact.small_regions import FAULTS, KINDS, best_refill, break_rule, breaks_a_rule_outside, small_board

NO_TURNS = Puzzle([[0, 0, 5, 0], [1, 0, 0, 0], [5, 0, 1, 0], [5, 0, 5, 0]], 1, 4, turns=False)


def broken(seed: int, kind: str, fault: str, inside: bool) -> tuple[Puzzle, Board, list[int]]:
    """A board that breaks a rule inside or outside the region, or not; some have empty cells too."""
    rng = np.random.default_rng([seed, KINDS.index(kind), FAULTS.index(fault), inside])
    puzzle, board = small_board(rng, kind)
    region = rng.permutation(puzzle.cells)[: int(rng.integers(1, min(5, puzzle.cells) + 1))].tolist()
    placements = board.placements.copy()
    if rng.random() < 0.3:
        placements[rng.random(puzzle.cells) < 0.3] = EMPTY
    elsewhere = [cell for cell in range(puzzle.cells) if cell not in region]
    break_rule(rng, puzzle, placements, fault, region if inside else elsewhere)
    return puzzle, Board(placements, puzzle.width, puzzle.height), region


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_every_rule_broken_in_every_way(kind: str, inside: bool) -> None:
    repaired = refused = 0
    for seed in range(8):
        for fault in FAULTS:
            puzzle, board, region = broken(seed, kind, fault, inside)
            where = seed, fault, board.pairs(), region, puzzle.clues
            try:
                result = lns.improve(puzzle, board, region, donors=int(seed % 4 == 3), time=60)
            except lns.InputError as error:
                refused += 1
                if "donors" in str(error):
                    continue
                broke_outside = breaks_a_rule_outside(puzzle, board, region)
                assert broke_outside or best_refill(puzzle, board, region) is None, (where, error)
                continue
            given, judged = verify(puzzle, board), verify(puzzle, result.board)
            best = best_refill(puzzle, board, result.cells)
            if fault == "a clue's piece elsewhere" and not given.violations and best is not None:
                best = max(best, given.score)  # the board keeps what no refill may have, the only copy of that piece
            assert not judged.violations and judged.score == result.score == result.bound, (where, result)
            assert result.proven and result.score == best, (where, result)
            repaired += bool(given.violations)
    assert repaired if inside else refused


def test_a_piece_that_looks_the_same_turned_respects_a_clue() -> None:
    """Legal, as it looks unturned: so the clue's piece is free for the region."""
    puzzle = Puzzle([[1, 1, 1, 1]] * 3, 3, 1, framed=False, turns=False).with_clues([lns.Clue(0, 0, 0)])
    board = Board(np.array([7, 0, 8]), 3, 1)
    assert not verify(puzzle, board).violations
    assert lns.improve(puzzle, board, [1, 2]).score == 2


def test_pieces_that_the_puzzle_does_not_have() -> None:
    board = Board(np.array([0, 12, 8, 99]), 1, 4)
    result = lns.improve(NO_TURNS, board, [1, 3], donors=0)
    assert result.legal and result.score == 3
    assert lns.improve(NO_TURNS, board).score == 3
    for donors in (0, 1):
        with pytest.raises(BoardError, match="holds piece 25; the puzzle has 4"):
            lns.improve(NO_TURNS, board, [0], donors=donors)
    assert board.colours(NO_TURNS)[3].tolist() == [-1] * 4
