"""Boards in a moment: the assignment is exact on cells that do not touch; fills are legal by any rules."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lns
from lns.assignment import GREEDY, fill, greedy_board, reassign
from lns.instances.board import Board
from lns.instances.generate import like_e2
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.tabu.search import random_board
from tests.instances.small_puzzles import planted
from tests.lns.loop_parts import RULES, of_rules


@pytest.mark.parametrize("seed", range(10))
def test_reassignment_of_cells_that_do_not_touch_is_optimal(seed):
    puzzle, _ = planted(seed, 5, 5, 3)
    board = random_board(puzzle, np.random.default_rng(seed))
    cells = np.array([6, 8, 12, 16, 18], dtype=np.int32)  # inner cells, none beside another
    after = reassign(puzzle, board.placements, cells, board.placements[cells] >> 2)
    score = verify(puzzle, Board(after, 5, 5)).score
    best = -1
    for pieces in permutations((board.placements[cells] >> 2).tolist()):
        trial = board.placements.copy()
        for cell, piece in zip(cells, pieces, strict=True):  # each cell on its own: the best rotation
            options = []
            for rotation in range(4):
                trial[cell] = piece * 4 + rotation
                options.append((verify(puzzle, Board(trial, 5, 5)).score, rotation))
            trial[cell] = piece * 4 + max(options)[1]
        best = max(best, verify(puzzle, Board(trial, 5, 5)).score)
    assert score == best


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6), st.integers(1, 5), st.integers(0, 2), st.data())
def test_fill_completes_any_part_of_a_board(seed, width, height, colours, clues, data):
    puzzle, board = planted(seed, width, height, colours, min(clues, width * height))
    partial = board.with_pieces(data.draw(st.lists(st.integers(0, puzzle.cells - 1))), -1)
    full = fill(puzzle, partial)
    judged = verify(puzzle, full)
    assert judged.valid and judged.full
    kept = partial.placements >= 0
    assert (full.placements[kept] == partial.placements[kept]).all()
    assert judged.score >= verify(puzzle, partial).score


@pytest.mark.parametrize("text", RULES)
def test_a_partial_board_is_filled_by_the_rules(text: str) -> None:
    puzzle, solution = of_rules(text, 2)
    assert verify(puzzle, fill(puzzle, Board.empty(puzzle))).complete
    first = next(cell for cell in range(puzzle.cells) if cell not in puzzle.holes)
    assert verify(puzzle, fill(puzzle, solution.with_pieces(first, -1))).score == puzzle.max_score


@pytest.mark.parametrize("puzzle", [*(of_rules(name, 1)[0] for name in RULES), like_e2(10, 8, seed=2, clues=5).puzzle])
def test_a_greedy_board_keeps_rules_and_clues_and_matches_more_than_a_random_one(puzzle: Puzzle) -> None:
    found = greedy_board(puzzle)
    verdict = verify(puzzle, found.board)
    assert verdict.valid and verdict.complete and verdict.score == found.score and found == greedy_board(puzzle)
    assert found.score >= verify(puzzle, random_board(puzzle, np.random.default_rng(1))).score


@pytest.mark.usefixtures("worker_processes")
def test_a_search_that_ends_within_its_first_step_keeps_a_board(tmp_path: Path) -> None:
    """Its step takes a minute. The clock starts with the step, not with the report on it."""
    puzzle = like_e2(64, 64, seed=1).puzzle
    result = lns.solve(puzzle, time=1.0, workers=1, seed=1, run_dir=tmp_path / "run", progress=None)
    assert 1.0 <= result.elapsed_s < 10.0 and result.why == "time over"
    assert result.board is not None and verify(puzzle, result.board).score == result.score > 0.7 * puzzle.max_score
    assert [step.origin for step in result.improvements] == [GREEDY] and result.islands == {}
    assert lns.load_board(tmp_path / "run" / "best.json", puzzle) == result.board
