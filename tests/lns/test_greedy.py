"""The board of a search that ends within its first step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lns
from lns.assignment import GREEDY, greedy_board
from lns.instances.generate import family, like_e2
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.tabu.search import random_board

FAMILIES = ["tetravex:4x3:3", "unframed:3x4:4", "triangle:3:3", "diamond:3:3"]


@pytest.mark.parametrize("name", FAMILIES)
def test_a_greedy_board_keeps_any_rules(name: str) -> None:
    puzzle = family(name)(1).puzzle
    found = greedy_board(puzzle)
    assert verify(puzzle, found.board).complete and verify(puzzle, found.board).score == found.score


def test_a_greedy_board_keeps_clues_and_matches_more_than_a_random_one() -> None:
    puzzle: Puzzle = like_e2(10, 8, seed=2, clues=5).puzzle
    found = greedy_board(puzzle)
    verdict = verify(puzzle, found.board)
    assert len(puzzle.clues) == 5 and verdict.valid and verdict.complete and found == greedy_board(puzzle)
    drawn = [verify(puzzle, random_board(puzzle, np.random.default_rng(seed))).score for seed in range(20)]
    assert found.score > 2 * max(drawn)


def test_a_search_that_ends_within_its_first_step_keeps_a_board(tmp_path: Path) -> None:
    """Its step takes a minute. The clock starts with the step, not with the report on it."""
    puzzle = like_e2(64, 64, seed=1).puzzle
    result = lns.solve(puzzle, time=1.0, workers=1, seed=1, run_dir=tmp_path / "run", progress=None)
    assert 1.0 <= result.elapsed_s < 10.0 and result.why == "time over"
    assert result.board is not None and verify(puzzle, result.board).score == result.score > 0.7 * puzzle.max_score
    assert [step.origin for step in result.improvements] == [GREEDY] and result.islands == {}
    assert lns.load_board(tmp_path / "run" / "best.json", puzzle) == result.board
