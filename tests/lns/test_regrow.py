"""A half of a board without damage stays, and the construction fills the other half."""

import numpy as np
import pytest

from lns.engine import verified_board
from lns.instances.board import Board
from lns.instances.puzzle import Puzzle
from lns.instances.symmetry import rotate_board, rotate_puzzle
from lns.instances.verify import verify
from lns.loop.search_loop import SearchLoop
from lns.neighbourhoods.move import Regrow
from lns.neighbourhoods.operators import Island, make_operators, operators_of
from lns.orientation import Orientation
from lns.params import Params
from lns.rng import random_state
from tests.instances.small_puzzles import planted, with_mates
from tests.lns.loop_parts import RULES, interrupted, of_rules, pool_with, steps


def damaged(seed: int, first: int = 50, *, mates: bool = False, turns: int = 0, clues: int = 0) -> tuple[Puzzle, Board]:
    """A planted 10 x 9 board with the inner pieces from cell ``first`` on mixed, by default of its last rows."""
    puzzle, solution = planted(seed, 10, 9, 8, clues)
    puzzle = with_mates(puzzle, solution, seed) if mates else puzzle
    fixed = {clue.cell for clue in puzzle.clues}
    last = [cell for cell in range(first, 90) if not any(puzzle.rim_sides(cell)) and cell not in fixed]
    board = solution.with_pieces(last, solution.placements[np.random.default_rng(seed).permutation(last)])
    return rotate_puzzle(puzzle, turns), rotate_board(board, turns)


@pytest.mark.parametrize(("turns", "mates", "clues"), [(0, False, 0), (1, False, 3), (2, True, 0), (3, True, 4)])
def test_the_damaged_half_is_filled_anew_and_the_other_stays(turns: int, mates: bool, clues: int) -> None:
    puzzle, board = damaged(5 + turns, mates=mates, turns=turns, clues=clues)
    before, pool, rng = verify(puzzle, board), pool_with(puzzle, board), np.random.default_rng(1)
    pool.anchor = board
    operator, found = Regrow(puzzle, Params()), []
    while not found:
        freed = operator.free(pool, before.score + 1, rng)
        assert freed is not None
        found = operator.repair(freed, before.score + 1, rng).boards
    better = verified_board(puzzle, found[0].board, found[0].origin)
    assert better.score > before.score and better.origin == operator.name
    assert pool.admits(better.board)
    kept = np.rot90((better.board.placements == board.placements).reshape(board.height, board.width), turns)
    assert kept.ravel()[:45].all()
    assert operator.statistics.operators[operator.name] > 0


def test_a_board_that_is_damaged_everywhere_is_left_to_the_others() -> None:
    puzzle, board = damaged(1, first=0)
    assert Regrow(puzzle, Params()).free(pool_with(puzzle, board), 1, np.random.default_rng(1)) is None


def test_it_goes_on_bit_for_bit_from_its_state() -> None:
    puzzle, board = damaged(3)
    before = verify(puzzle, board).score

    def make(seed: int) -> SearchLoop:
        island = Island(puzzle, Orientation.of_island(puzzle), Params(), seed, 0, engine="polish")
        operators = make_operators(["fill", "regrow"], island)
        search = SearchLoop(puzzle, Params(), operators, random_state(seed, 0), keeps_half=True)
        if seed == 1:
            search.inject_incumbent(board, before)
        return search

    whole = interrupted(make, 4, lambda search: steps(search, 5))
    assert whole.best_score > before and whole.origin == "regrow" and not whole.statistics.failures
    assert "regrow" in operators_of("polish", puzzle, Params())
    assert "regrow" not in operators_of("polish", of_rules(RULES[0], 1)[0], Params()), "it constructs"
