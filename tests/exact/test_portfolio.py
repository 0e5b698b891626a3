"""The solver 'auto': its searches join one after the other, take turns, and the first to end answers."""

import pytest

from lns import generate
from lns.exact import count, solve
from lns.exact.execution import Request
from lns.exact.outcome import SolveStatus
from lns.exact.portfolio import ENTRANTS, Portfolio
from lns.instances.board import Board
from lns.instances.generate import uniform
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.exact.brute import count_solutions
from tests.exact.puzzles import small_puzzle


def small() -> Puzzle:
    return uniform(4, 4, 5, 1).puzzle  # no two pieces are equal


def of(*names: str, share: int = 1) -> Portfolio:
    """These searches in turn, from the first node on."""
    chosen = tuple(one._replace(after=0, share=share) for one in ENTRANTS if one.solver in names)
    return Portfolio(small(), Request(True), chosen)


def test_a_quick_search_is_the_only_one_that_begins() -> None:
    answer = count(small(), solver="auto")
    alone = count(small(), solver="rowscan")
    assert (answer.answered_by, answer.solutions, answer.nodes) == ("rowscan", alone.solutions, alone.nodes)
    assert alone.answered_by == ""


@pytest.mark.parametrize("solver", [one.solver for one in ENTRANTS])
def test_each_search_can_be_the_one_that_answers(solver: str) -> None:
    search = of(*(one.solver for one in ENTRANTS))
    for entrant, each in search.searches:
        each.advance(10**9 if entrant.solver == solver else 3, False)
    assert search.exhausted and search.answered_by == solver
    assert search.solutions == count(small(), solver="rowscan").solutions > 0
    board = search.first_board()
    assert board is not None and verify(small(), board).score == small().max_score


@pytest.mark.parametrize("block", range(4))
def test_counts_are_those_of_brute_force_whichever_search_ends_first(block: int) -> None:
    """Among the puzzles are clues, boards of one row, duplicate and symmetric pieces, and some without a solution."""
    winners = set()
    for seed in range(40 * block, 40 * block + 40):
        puzzle, share = small_puzzle(seed, largest=12), [1, 1, 1]
        share[seed % 3] = 1000  # this one goes fastest
        entrants = tuple(one._replace(after=0, share=part) for one, part in zip(ENTRANTS, share, strict=True))
        search = Portfolio(puzzle, Request(True), entrants)
        while not search.exhausted:
            search.advance(50, False)
        assert search.solutions == count_solutions(puzzle), seed
        winners.add(search.answered_by)
    assert {"rowscan", "colorpairs"} <= winners


def test_turns_share_the_nodes_of_a_budget() -> None:
    search = of("rowscan", "colorpairs")
    search.advance(11, False)
    assert [each.nodes for _, each in search.searches] == [6, 5] and search.nodes == 11
    assert not search.exhausted and search.explored < 1


def test_an_answer_does_not_depend_on_where_it_paused() -> None:
    one, many = of("rowscan", "colorpairs"), of("rowscan", "colorpairs")
    one.advance(10**9, False)
    while not many.exhausted:
        many.advance(100, False)
    assert one.solutions == many.solutions


def test_each_board_is_listed_once() -> None:
    boards: list[Board] = []
    listed = solve(small(), solver="auto", on_solution=boards.append)
    assert listed.status is SolveStatus.SOLVED
    assert len({board.placements.tobytes() for board in boards}) == len(boards) == count(small()).solutions


@pytest.mark.parametrize("kind", ["tetravex", "unframed", "triangle"])
def test_all_kinds_of_puzzles_are_taken(kind: str) -> None:
    puzzle = generate(kind, seed=2, **({"side": 3} if kind == "triangle" else {"width": 3})).puzzle
    search = Portfolio(puzzle, Request(True), tuple(one._replace(after=0) for one in ENTRANTS))
    for _, each in search.searches:
        each.advance(10**9, False)
        assert each.exhausted
    assert search.solutions == count(puzzle, solver="colorpairs").solutions > 0
