"""`lns polish`: a board becomes better, its clues and half of its cells stay, and it ends when all is proven."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lns
from lns.instances.board import Board
from lns.instances.formats import load_board, write
from lns.instances.verify import verify
from tests.cli.conftest import Typed
from tests.instances.small_puzzles import planted

PUZZLE, SOLUTION = planted(3, 8, 8, 6, clues=2)


def damaged(swaps: int, seed: int = 1) -> Board:
    """The solution with some inner pieces exchanged, none of them a clue."""
    rng, clues = np.random.default_rng(seed), {clue.cell for clue in PUZZLE.clues}
    inner = [8 * row + column for row in range(1, 7) for column in range(1, 7) if 8 * row + column not in clues]
    placed = SOLUTION.placements.copy()
    for first, second in rng.choice(inner, (swaps, 2), replace=False):
        placed[[first, second]] = placed[[second, first]]
    return Board(placed, 8, 8)


@pytest.fixture(autouse=True)
def files(here: Path) -> None:
    write("given.json", None, PUZZLE, damaged(3))
    write("p.json", None, PUZZLE, None)


def test_a_damaged_board_is_mended_and_saved(typed: Typed) -> None:
    best = typed.facts("polish given.json --puzzle p.json --time 60 --run-dir run --quiet --workers 1 --seed 1")
    puzzle, board = load_board("run/best.json", PUZZLE)
    assert best["score"] == verify(puzzle, board).score == PUZZLE.max_score
    assert verify(PUZZLE, board).valid, "with its clues"


def test_half_of_the_cells_stay_and_only_those_that_are_free_change() -> None:
    board = damaged(6)
    before = verify(PUZZLE, board).score
    result = lns.polish(PUZZLE, board, steps=60, time=600, workers=1, seed=1, progress=None)
    assert result.board is not None and result.score > before
    assert 2 * result.board.distance(board) <= PUZZLE.cells
    few = damaged(1, seed=4)
    free = sorted({cell for pair in verify(PUZZLE, few).mismatches for cell in pair})
    result = lns.polish(PUZZLE, few, free=free, steps=30, time=600, workers=1, seed=1, progress=None)
    assert result.board is not None and result.score == PUZZLE.max_score
    assert set(np.flatnonzero(result.board.placements != few.placements).tolist()) <= set(free)


def test_it_ends_when_all_windows_are_proven_and_says_so() -> None:
    """No refill is better, as nothing is: each piece has one colour, so that only the pieces' own kind matters."""
    puzzle = lns.generate("like-e2", width=5, height=5, seed=3)[0]
    start = lns.solve(puzzle, engine="beam", steps=3, workers=1, seed=1, progress=None).board
    assert start is not None
    params = {"neighbourhoods": {"certificate": 0.5}}
    result = lns.polish(puzzle, start, time=600, workers=1, seed=1, params=params, progress=None)
    if result.score < puzzle.max_score:
        assert result.why == "all listed regions are proven: nothing better within them"
        certificate = result.statistics.certificate_of(result.score)
        assert certificate and all(shape["proven"] == shape["windows"] for shape in certificate.values())
    else:
        assert result.why == "target reached"


def test_an_empty_board_is_refused() -> None:
    with pytest.raises(lns.InputError, match="the board is empty"):
        lns.polish(PUZZLE, Board.empty(PUZZLE))
