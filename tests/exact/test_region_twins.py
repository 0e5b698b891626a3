"""Identical pieces and clues: the result does not depend on which of them is on the cell of a clue."""

from typing import Any

import numpy as np
import pytest

from lns.exact.region.options import RegionOptions
from lns.exact.region.resolve import RegionStatus, resolve
from lns.instances.board import EMPTY, Board
from lns.instances.errors import BoardError
from lns.instances.puzzle import Clue, Puzzle
from lns.instances.verify import verify
from tests.fuzz_region import Window, best_score, check, random_window, renamed

VARIANTS: list[dict[str, Any]] = [
    {},
    {"prices": True},
    {"order": "dynamic"},
    {"order": "dynamic", "backjumping": False},
]
# pieces that match in this order: end, two identical pieces (the second stored rotated), three others, end
CHAIN = [(0, 1, 0, 0), (0, 1, 0, 1), (1, 0, 1, 0), (0, 2, 0, 1), (0, 3, 0, 2), (0, 4, 0, 3), (0, 0, 0, 4)]


def row(clue: int = 1) -> Puzzle:
    """The row with a clue for the first of the identical pieces."""
    return Puzzle(np.array(CHAIN, dtype=np.int32), 7, 1, (Clue(clue, 1, 0),))


def placed(*pieces: int) -> Board:
    """A board of the row from piece numbers by cell, -1 = empty."""
    return Board(np.array([EMPTY if piece < 0 else 4 * piece + (piece == 2) for piece in pieces]), 7, 1)


@pytest.mark.parametrize("options", VARIANTS)
@pytest.mark.parametrize("cells", [[2, 3, 4, 5], [1, 2, 3, 4, 5], [1, 3, 4], [3, 4]])
def test_an_identical_piece_on_the_cell_of_a_clue_changes_no_result(cells: list[int], options: dict[str, Any]) -> None:
    own, twin = placed(0, 1, 2, 4, 3, 5, 6), placed(0, 2, 1, 4, 3, 5, 6)
    for board in (own, twin):
        assert verify(row(), board).valid
        result = resolve(row(), board, cells, options=RegionOptions(**options))
        assert result.status == RegionStatus.IMPROVED_OPTIMAL and result.score == 6, board
        assert verify(row(), result.board).complete
    for board in (own, twin):
        result = resolve(row(), board, [2, 3], options=RegionOptions(**options))
        assert result.status == RegionStatus.OPTIMAL and result.score == 3 and result.board == board


@pytest.mark.parametrize("options", VARIANTS)
def test_partial_boards_with_an_identical_piece_on_the_cell_of_a_clue(options: dict[str, Any]) -> None:
    for board in (placed(0, 2, -1, 4, 3, 5, 6), placed(0, 2, 1, -1, -1, 5, 6), placed(0, -1, 1, 4, 3, 5, 6)):
        result = resolve(row(), board, [1, 2, 3, 4], options=RegionOptions(**options))
        assert result.proven and result.score == 6 and verify(row(), result.board).complete
    result = resolve(
        row(), placed(0, -1, 1, 4, 3, 5, 6), [1, 3, 4], options=RegionOptions(**options)
    )  # the piece on cell 2 is one of the identical pieces
    assert result.proven and result.score == 6 and verify(row(), result.board).complete


def test_the_clue_is_placed_although_its_piece_number_is_elsewhere() -> None:
    for board, gain in ((placed(0, 2, 1, 3, 4, 5, 6), 0), (placed(0, -1, 1, 3, 4, 5, 6), 2)):
        result = resolve(row(), board, [1])
        assert result.proven and result.score - result.score_before == gain and verify(row(), result.board).complete
    twice = Puzzle(row().pieces, 7, 1, (Clue(1, 1, 0), Clue(2, 2, 1)))
    with pytest.raises(BoardError, match="piece 2 is placed twice"):  # both identical pieces have clues
        resolve(twice, placed(0, -1, -1, 1, 4, 5, 6), [1])


@pytest.mark.parametrize("block", range(4))
def test_results_do_not_depend_on_the_numbers_of_identical_pieces(block: int) -> None:
    """Several clues and several twins, full boards and partial ones, regions with and without the cells of clues."""
    exchanged = 0
    for seed in range(5000 + 80 * block, 5080 + 80 * block):
        window = random_window(seed)
        clues = window.puzzle.clues
        if not clues:
            continue
        rng = np.random.default_rng(seed)
        expected = best_score(window)
        for options in VARIANTS:
            board = renamed(rng, window.puzzle, window.board)
            exchanged += any(board.placements[clue.cell] >> 2 not in (EMPTY, clue.piece) for clue in clues)
            check(Window(window.puzzle, board, window.cells), expected, **options)
    assert exchanged > 30
