"""The solver 'auto': its searches join one after the other, take turns, and the first to end answers."""

import pytest

from lns.exact import count
from lns.exact.execution import Request
from lns.exact.portfolio import ENTRANTS, Portfolio
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


@pytest.mark.parametrize("solver", [one.solver for one in ENTRANTS])
def test_each_search_can_be_the_one_that_answers(solver: str) -> None:
    search = Portfolio(small(), Request(True), tuple(one._replace(after=0) for one in ENTRANTS))
    for entrant, each in search.searches:
        each.advance(10**9 if entrant.solver == solver else 3, False)
    assert search.exhausted and search.answered_by == solver
    assert search.solutions == count(small(), solver="rowscan").solutions > 0
    board = search.first_board()
    assert board is not None and verify(small(), board).score == small().max_score


def test_counts_are_those_of_brute_force_whichever_search_ends_first() -> None:
    winners = set()
    for number, (puzzle, boards) in enumerate(small_puzzles(120)):
        share = [1, 1, 1]
        share[number % 3] = 1000  # this one goes fastest
        entrants = tuple(one._replace(after=0, share=part) for one, part in zip(ENTRANTS, share, strict=True))
        search = Portfolio(puzzle, Request(True), entrants)
        while not search.exhausted:
            before = search.nodes
            search.advance(50, False)
            assert search.exhausted or search.nodes == before + 50, "turns share the nodes of a budget"
        assert search.solutions == len(boards), puzzle
        winners.add(search.answered_by)
    assert {"rowscan", "colorpairs"} <= winners
