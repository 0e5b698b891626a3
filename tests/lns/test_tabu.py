"""Tabu: what is kept incrementally is what a recount says; clues and rim hold; state is all of it."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from lns.engines import make_engine
from lns.instances.board import Board
from lns.instances.formats import load_puzzle
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.params import Params, from_dict
from lns.rng import random_state
from lns.tabu import kernel
from lns.tabu.search import TabuSearch, random_board
from tests.instances.small_puzzles import planted
from tests.lns.loop_parts import RULES, of_rules, steps

CASES = [(4, 4, 3, 0), (6, 3, 2, 2), (1, 5, 2, 0), (2, 2, 3, 0), (5, 5, 4, 3), *RULES]


def puzzle_of(case: tuple[int, ...] | str, seed: int) -> Puzzle:
    """A planted puzzle of (width, height, colours, clues), or one of a family with other rules."""
    return (of_rules(case, seed) if isinstance(case, str) else planted(seed, *case))[0]


@pytest.mark.parametrize("case", CASES)
def test_random_boards_keep_the_rules_and_clues(case):
    for seed in range(20):
        puzzle = puzzle_of(case, seed)
        assert verify(puzzle, random_board(puzzle, np.random.default_rng(seed))).complete


@pytest.mark.parametrize("case", CASES)
def test_what_is_kept_up_to_date_equals_a_recount(case):
    puzzle = puzzle_of(case, 2)
    tabu = TabuSearch(puzzle, random_state(4), tenure=2)
    tabu.start()
    for _ in range(30):
        tabu.run(3)
        tabu.kick(1)
        now = tabu.board
        judged = verify(puzzle, now)
        assert judged.complete and judged.score == tabu.score
        assert verify(puzzle, tabu.best).score == tabu.best_score >= tabu.score
        fresh = TabuSearch(puzzle, random_state(4))
        fresh.start(now)
        for name in ("matches", "best_matches", "piece_position", "current_matches", "swap_matches"):
            assert np.array_equal(getattr(fresh.state, name), getattr(tabu.state, name)), name
        assert fresh.state.scalars[kernel.HASH] == tabu.state.scalars[kernel.HASH]


def test_each_step_takes_the_best_move_there_is():
    """Without any tabu yet, the first step reaches the best score that one swap or rotation can."""
    puzzle, _ = planted(5, 4, 4, 3)
    for seed in range(15):
        tabu = TabuSearch(puzzle, random_state(seed))
        tabu.start()
        before = tabu.board
        tabu.run(1, target=10**6)
        best = max(
            verify(puzzle, trial).score for trial in _one_move_away(puzzle, before) if verify(puzzle, trial).valid
        )
        assert tabu.score == best


def _one_move_away(puzzle, board):
    for a, b in combinations_with_replacement(range(puzzle.cells), 2):  # a turn is an exchange with itself
        beside = [other for _, other in puzzle.neighbours(a)]
        for turns in product(range(4), repeat=2) if b not in beside else ():
            trial = board.placements.copy()
            trial[[a, b]] = board.placements[[b, a]] // 4 * 4 + turns
            if (trial != board.placements).any():
                yield Board(trial, puzzle.width, puzzle.height)


def test_tabu_alone_solves_a_small_board_and_climbs_on_a_large_one():
    for seed in range(8):  # 4x4: without exchanges of neighbours most pieces inside would never meet
        assert steps(make_engine("tabu", planted(1, 4, 4, 3)[0], Params(), seed, 0), 30).best_score == 24
    puzzle = load_puzzle("like-e2-16x16-clue5")
    large = steps(make_engine("tabu", puzzle, Params(), 1, 0), 1)
    judged = verify(puzzle, large.best)
    assert judged.valid and judged.score == large.best_score > 350


def test_an_injected_board_becomes_the_start_of_the_next_tabu_walk():
    puzzle, solution = planted(7, 6, 6, 5)
    near = solution.with_pieces([7, 21], solution.placements[[21, 7]])
    engine = steps(make_engine("tabu", puzzle, from_dict({"tabu": {"steps": 5, "patience": 1, "kicks": 20}}), 1, 0), 3)
    assert engine.statistics.boards == len(engine.pop_boards()) > 0
    assert engine.best_score < verify(puzzle, near).score
    engine.inject_incumbent(near, verify(puzzle, near).score)
    assert engine.origin == "elsewhere"
    engine.step()
    assert engine.best == solution and engine.origin == "tabu", "one exchange away"
