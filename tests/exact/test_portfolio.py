"""The solver 'auto': its searches join one after the other, take turns, and the first to end answers."""

import pytest

from lns.exact import count
from lns.exact.execution import Request
from lns.exact.portfolio import AFTER, Portfolio
from lns.instances.generate import uniform
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.exact.puzzles import small_puzzles


def small() -> Puzzle:
    return uniform(4, 4, 5, 1).puzzle  # no two pieces are equal


def test_a_quick_search_is_the_only_one_that_begins() -> None:
    answer = count(small(), solver="auto")
    alone = count(small(), solver="rowscan")
    assert (answer.answered_by, answer.solutions, answer.nodes) == ("rowscan", alone.solutions, alone.nodes)
    assert alone.answered_by == ""


@pytest.mark.parametrize("solver", AFTER)
def test_each_search_can_be_the_one_that_answers(solver: str) -> None:
    search = Portfolio(small(), Request(True), dict.fromkeys(AFTER, 0))
    for name, each in search.searches.items():
        each.advance(10**9 if name == solver else 3, False)
    assert search.exhausted and search.answered_by == solver
    assert search.solutions == count(small(), solver="rowscan").solutions > 0
    board = search.first_board()
    assert board is not None and verify(small(), board).score == small().max_score


def test_counts_are_those_of_brute_force_whichever_search_ends_first() -> None:
    winners = set()
    for number, (puzzle, boards) in enumerate(small_puzzles(120)):
        first = [*AFTER][number % 3]
        search = Portfolio(puzzle, Request(True), {first: 0} | dict.fromkeys(AFTER, 0))
        while not search.exhausted:
            before = search.nodes
            search.advance(50, False)
            assert search.exhausted or search.nodes == before + 50, "turns share the nodes of a budget"
        assert search.solutions == len(boards), puzzle
        winners.add(search.answered_by)
    assert winners == AFTER.keys()
