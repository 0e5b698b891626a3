"""The pool: bounded, the best first; boards and questions are known again; its state is all of it."""

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lns.engine import FoundBoard
from lns.instances.board import Board
from lns.instances.puzzle import Puzzle
from lns.loop.chooser import Chooser
from lns.loop.pool import FAMILY_SHARE, Pool
from lns.tabu.search import random_board
from tests.instances.small_puzzles import planted

PUZZLE: Puzzle = planted(8, 4, 4, 5)[0]
OPERATORS = ("a", "b")
ORDER = np.arange(16, dtype=np.int32)


def board(seed: int) -> Board:
    return random_board(PUZZLE, np.random.default_rng(seed))


def pool_of(*scores: int, size: int = 64, patience: int = 100) -> Pool:
    """A pool to which one board of each score was offered."""
    pool = Pool(PUZZLE, size, patience)
    for seed, score in enumerate(scores):
        assert pool.offer(FoundBoard(board(seed), score, "a"), 0) == (None, True)
    return pool


def test_the_pool_is_bounded_the_best_first_and_the_latest_of_equal_ones() -> None:
    pool = pool_of(20, 22, 21, 22, size=3)
    assert [member.score for member in pool.members] == [22, 22, 21]
    assert [member.board for member in pool.members[:2]] == [board(3), board(1)]
    pool.offer(FoundBoard(board(9), 19, "a"), 0)
    assert [member.score for member in pool.members] == [22, 22, 19], "a new board has a place, the worst other has not"
    pool.keep(19)
    assert [member.score for member in pool.members] == [19]


def test_a_better_board_takes_the_place_of_the_one_it_was_made_from() -> None:
    pool = pool_of(15, 20)
    parent = pool.members[1]
    pool.offer(FoundBoard(board(5), 16, "b"), 1, order=ORDER, parent=parent)
    assert [member.score for member in pool.members] == [20, 16]
    assert pool.members[1].family == parent.family, "a line stays in its family"


def test_a_board_is_known_when_it_is_found_again() -> None:
    pool = pool_of(15, 18)
    parent = pool.members[0]
    assert pool.offer(FoundBoard(board(0), 15, "b"), 1, parent=parent) == (0, False)
    assert [member.score for member in pool.members] == [15], "the line that led to it ends there"
    assert pool.boards_by_score[15] == 1, "and it is no new board"
    pool.move(pool.members[0], FoundBoard(board(7), 15, "b"), 1)
    assert pool.offer(FoundBoard(board(0), 15, "b"), 1, parent=pool.members[0]) == (0, False)
    assert [member.board for member in pool.members] == [board(0)], "a line that has left a board may return to it"
    pool.give_to(board(0), 1)
    assert pool.offer(FoundBoard(board(0), 15, "a"), 0) == (1, False)


def test_boards_that_begin_alike_are_a_family() -> None:
    alike = int(FAMILY_SHARE * 16)
    first, other = board(1), board(1).placements.copy()
    other[[alike, alike + 1]] = other[[alike + 1, alike]]
    families = []
    for placements, order in [(first.placements, ORDER), (other, ORDER), (other, ORDER[::-1].copy()), (other, None)]:
        pool = Pool(PUZZLE, 64, 100)
        pool.offer(FoundBoard(Board(placements, 4, 4), 10, "a"), 0, order=order)
        families.append(pool.members[0].family)
    assert families[0] == families[1] and len(set(families)) == 3


def test_a_question_is_asked_once() -> None:
    """Whatever lies on the cells: what is around them is the same."""
    pool = pool_of(15, 16)
    one, other = pool.members
    assert pool.is_new_question(one, (5, 6), 17) and not pool.is_new_question(one, (5, 6), 17)
    assert pool.is_new_question(one, (5, 6), 18) and pool.is_new_question(one, (5, 7), 17)
    assert pool.is_new_question(other, (5, 6), 17)
    placed = one.board.placements.copy()
    placed[[5, 6]] = placed[[6, 5]]
    pool.move(one, FoundBoard(Board(placed, 4, 4), one.score, "a"), 0)
    assert not pool.is_new_question(one, (5, 6), 17)


def test_a_price_is_what_a_board_at_least_as_good_has_cost() -> None:
    pool = pool_of(15, 18, 18, 19)
    pool.spent = 600.0
    assert [pool.price(score) for score in (15, 16, 19, 20)] == [150.0, 200.0, 600.0, 600.0]


def test_members_that_have_cost_their_patience_come_last_until_they_have_rested() -> None:
    pool = pool_of(20, 19, 18, patience=100)
    best, middle, last = pool.ranked()
    best.idle = 150
    assert pool.ranked() == [middle, last, best] and not pool.is_tired
    middle.idle = last.idle = 100
    assert pool.is_tired
    rested = []
    for seed in range(300):
        best.idle = middle.idle = last.idle = 150
        pool.rest(np.random.default_rng(seed))
        assert sorted(member.idle for member in pool.members) == [0, 150, 150]
        rested.append(pool.ranked()[0])
    counts = [rested.count(member) for member in (best, middle, last)]
    assert all(more > fewer > 0 for more, fewer in pairwise(counts)), "better boards more often"
    assert Pool(PUZZLE, 3, 100).is_tired


@pytest.mark.parametrize(("slack", "scores"), [(0, [20, 20, 20]), (2, [19, 18, 18])])
def test_a_line_moves_to_boards_hardly_worse_than_its_best(slack: int, scores: list[int]) -> None:
    pool = pool_of(20)
    member = pool.members[0]
    for seed, (offered, score) in enumerate(zip([19, 18, 17], scores, strict=True), start=20):
        member.done = {"a": 3}
        pool.move(member, FoundBoard(board(seed), offered, "a"), slack)
        assert member.score == score and (member.done == {}) == (member.board == board(seed))


def test_of_a_family_only_the_first_board_of_a_score_is_a_gain() -> None:
    pool = Pool(PUZZLE, 8, 10**9)
    pool.offer(FoundBoard(board(1), 15, "a"), 0, order=ORDER)
    (parent,) = pool.members
    gains = []
    for seed, score in [(2, 16), (3, 16), (4, 15), (5, 17)]:
        gains.append(pool.offer(FoundBoard(board(seed), score, "b"), 1, order=ORDER, parent=parent)[1])
    assert gains == [True, False, False, True]
    again = Pool(PUZZLE, 8, 10**9)
    for other in (pool, again):
        assert other.offer(FoundBoard(board(6), 9, "a"), 0, order=ORDER[::-1].copy())[1], "another prefix"


# -- the chooser: time goes to what gains, and every operator has its floor --------------------------------------------

PRICE = 1e7


def chooser_of(count: int, floor: float = 0.0, proves: tuple[int, ...] = ()) -> Chooser:
    operators: list[Any] = [
        SimpleNamespace(name=f"operator-{i}", proves=i in proves, makes_boards=False) for i in range(count)
    ]
    return Chooser(operators, floor)


def simulate(
    chooser: Chooser, costs: list[float], chances: list[float], calls: int, main: int | None = None
) -> np.ndarray:
    """The share of the cost that each operator has, if a call costs so much and gains a board with such a chance."""
    rng = np.random.default_rng(1)
    for _ in range(calls):
        number = chooser.by_value(rng, main)[0]
        chooser.record(number, costs[number], PRICE, int(rng.random() < chances[number]))
    return chooser.cost / chooser.cost.sum()


def test_time_goes_to_the_operator_that_gains() -> None:
    shares = simulate(chooser_of(3), [5e5, 5e5, 5e5], [0.0, 0.2, 0.0], 1000)
    assert shares[1] > 4 * shares[0] and shares[0] > 0


def test_equal_gains_for_the_same_cost_have_equal_time_however_long_a_call_is() -> None:
    shares = simulate(chooser_of(2), [1e6, 1e4], [0.1, 0.001], 20_000)
    assert 0.35 < shares[0] < 0.65


def test_old_gains_are_forgotten() -> None:
    chooser = chooser_of(2)
    for _ in range(20):
        chooser.record(0, PRICE / 10, PRICE, 1)
    assert chooser.values(None)[0] > 3.0
    for _ in range(100):
        chooser.record(0, PRICE, PRICE, 0)
    assert chooser.values(None)[0] < 0.1
    assert chooser.new.tolist() == [20, 0] and chooser.calls.tolist() == [120, 0], "but counted"


def test_without_a_floor_what_is_worth_nothing_costs_nothing() -> None:
    chooser = chooser_of(2)
    chooser.record(1, 10 * PRICE, PRICE, 0)
    assert chooser.by_value(np.random.default_rng(1), 0) == [0]
    chooser.on[0] = False
    assert chooser.by_value(np.random.default_rng(1), None) == [1], "nor what was switched off"
