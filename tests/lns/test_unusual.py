"""Engines, tabu search and region re-solves of puzzles without frame, without turns and with holes."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lns.assignment import fill, matched_edges
from lns.engines import make_engine
from lns.exact.region.resolve import resolve
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.generate import family
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.neighbourhoods.move import Move
from lns.neighbourhoods.operators import register_operator, unregister_operator
from lns.node_equivalents import TABU_MOVE
from lns.params import Params
from lns.tabu.search import TabuSearch, random_board

TEXTS = ["tetravex:4x3:3", "unframed:3x4:4", "triangle:3:3", "diamond:3:3", "tetravex:1x5:2", "diamond:2:2"]


def random_state(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(1, 2**63, 4, dtype=np.uint64)


@settings(max_examples=60, deadline=None)
@given(text=st.sampled_from(TEXTS), seed=st.integers(0, 500))
def test_random_boards_keep_to_the_rules(text: str, seed: int) -> None:
    puzzle = family(text)(seed).puzzle
    board = random_board(puzzle, np.random.default_rng(seed))
    found = verify(puzzle, board)
    assert found.complete and matched_edges(puzzle, board.placements) == found.score


@pytest.mark.parametrize("text", TEXTS)
def test_a_tabu_walk_and_its_kicks_count_as_the_verifier_does(text: str) -> None:
    puzzle = family(text)(4).puzzle
    tabu = TabuSearch(puzzle, random_state(1))
    for _ in range(3):
        tabu.start()
        for _ in range(15):
            tabu.run(4)
            tabu.kick(2)
            found = verify(puzzle, tabu.board)
            assert found.complete and found.score == tabu.score
            assert verify(puzzle, tabu.best).score == tabu.best_score


@pytest.mark.parametrize("text", TEXTS)
def test_a_partial_board_is_filled_by_the_rules(text: str) -> None:
    planted = family(text)(2)
    puzzle = planted.puzzle
    assert verify(puzzle, fill(puzzle, Board.empty(puzzle))).complete
    cells = [cell for cell in range(puzzle.cells) if cell not in puzzle.holes]
    placements = planted.solution.placements.copy()
    placements[cells[0]] = -1
    assert verify(puzzle, fill(puzzle, Board(placements, puzzle.width, puzzle.height))).score == puzzle.max_score


def best_refill(puzzle: Puzzle, board: Board, cells: list[int]) -> int:
    """The highest score of a legal board that differs in ``cells`` only, by trying everything."""
    pieces = [int(board.placements[cell]) >> 2 for cell in cells]
    turns = range(4) if puzzle.turns else (0,)
    best = -1
    placed = board.placements.copy()
    for order in permutations(pieces):
        fitting = [[4 * p + t for t in turns if puzzle.fits(c)[4 * p + t]] for p, c in zip(order, cells, strict=True)]
        for oriented in product(*fitting):
            placed[cells] = oriented
            found = verify(puzzle, Board(placed, puzzle.width, puzzle.height))
            if found.complete:
                best = max(best, found.score)
    return best


@pytest.mark.parametrize("order", ["static", "dynamic"])
@pytest.mark.parametrize("text", TEXTS[:4])
def test_a_region_is_refilled_as_well_as_trying_everything_does(text: str, order: str) -> None:
    from lns.exact.region.options import RegionOptions

    for seed in range(4):
        puzzle, rng = family(text)(seed).puzzle, np.random.default_rng(seed)
        board = random_board(puzzle, rng)
        cells = [cell for cell in range(puzzle.cells) if cell not in puzzle.holes]
        region = sorted(rng.choice(cells, 4, replace=False).tolist())
        result = resolve(puzzle, board, region, options=RegionOptions(order=order))
        assert result.proven and result.score == best_refill(puzzle, board, region), (seed, region)
        assert verify(puzzle, result.board).score == result.score


@pytest.mark.parametrize("text", TEXTS[:4])
def test_a_region_with_holes_in_its_rectangle_is_the_region_without_them(text: str) -> None:
    planted = family(text)(1)
    puzzle = planted.puzzle
    result = resolve(puzzle, random_board(puzzle, np.random.default_rng(1)), range(puzzle.cells))
    assert result.proven and result.score == puzzle.max_score


@pytest.mark.parametrize("name", ["auto", "lns", "tabu"])
@pytest.mark.parametrize("text", TEXTS[:4])
def test_engines_solve_small_boards_and_continue_from_a_saved_state(text: str, name: str) -> None:
    puzzle = family(text)(5).puzzle
    engine, again = (make_engine(name, puzzle, Params(), 1, 0) for _ in range(2))
    for _ in range(3):
        engine.step()
    again.restore(engine.state())
    for _ in range(60):
        if engine.best_score == puzzle.max_score:
            break
        engine.step()
        again.step()
    assert engine.best_score == puzzle.max_score and engine.best is not None
    assert verify(puzzle, engine.best).complete
    assert again.best == engine.best


@pytest.mark.parametrize("name", ["construct", "beam"])
def test_construction_says_why_it_takes_no_such_puzzle(name: str) -> None:
    puzzle = family("tetravex:3x3:3")(1).puzzle
    with pytest.raises(
        InputError, match=f"^engine {name} fills rectangles with a frame .* has no frame and no turns; "
    ):
        make_engine(name, puzzle, Params(), 1, 0)


def test_auto_has_only_the_built_in_operators_and_counts_its_walks() -> None:
    """So a run can be continued where other packages are installed."""
    puzzle = family("tetravex:9x9:9")(5).puzzle
    register_operator("mine", lambda puzzle, board, rng, nodes: Move(board, matched_edges(puzzle, board.placements), 1))
    try:
        auto, lns = (make_engine(name, puzzle, Params(), 1, 0) for name in ("auto", "lns"))
    finally:
        unregister_operator("mine")
    while auto.statistics.moves == 0:
        auto.step()
    cost = auto.statistics.node_equivalents_by_part()["tabu"]
    assert cost == pytest.approx(auto.statistics.moves * TABU_MOVE, abs=1)
    assert lns.names == (*auto.names, "mine")
