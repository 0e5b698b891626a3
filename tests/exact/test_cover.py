"""Exact cover: the kernel, the codes of Jolivet 2008 and xcover, against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from lns.exact.cover.search import CODES, Cover, build, cover_by_library, matrix_nodes, run_xcover
from lns.exact.execution import Request, SolverMessage
from lns.exact.piece_classes import assignments_per_board, distinct_count
from lns.instances.errors import InputError
from lns.instances.generate import uniform
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.exact.brute import all_boards, count_solutions
from tests.exact.puzzles import small_puzzle


def finished(puzzle: Puzzle, code: str) -> Cover:
    search = Cover(puzzle, code)
    while not search.exhausted:
        search.advance(1000, False)
    return search


@pytest.mark.parametrize("code", CODES)
def test_counts_of_brute_force(code: str) -> None:
    for seed in range(60):
        puzzle = small_puzzle(seed, largest=12)
        search = finished(puzzle, code)
        assert distinct_count(search.solutions, puzzle) == count_solutions(puzzle), seed
        assert search.solutions % assignments_per_board(puzzle) == 0
        board = search.first_board()
        if board is not None:
            assert verify(puzzle, board).valid
            assert verify(puzzle, board).score == puzzle.max_score


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("all_four", [False, True])
def test_the_size_of_the_matrix_is_known_before_it_is_built(code: str, all_four: bool) -> None:
    """Among the puzzles are clues, boards of one row, duplicate and symmetric pieces."""
    for seed in range(60):
        puzzle = small_puzzle(seed, largest=12)
        built = build(puzzle, code, all_four=all_four)
        assert matrix_nodes(puzzle, code, all_four=all_four) == len(built.item) == built.begin[-1], seed


def test_a_matrix_too_large_for_the_memory_is_refused() -> None:
    with pytest.raises(InputError, match=r"1600 pieces and 20 colours takes a matrix of 35\d,\d{3},\d{3} nodes"):
        Cover(uniform(40, 40, 20, 1).puzzle)
    pytest.importorskip("xcover")
    with pytest.raises(InputError, match=r"takes a matrix of \d,\d{3},\d{3} nodes; expected at most 4,000,000"):
        run_xcover(uniform(24, 24, 5, 1).puzzle, Request())


def test_the_explored_share_grows_towards_one() -> None:
    search, shares = Cover(uniform(4, 4, 3, 2).puzzle, "unary"), [0.0]
    while not search.exhausted:
        shares.append(search.explored)
        search.advance(7, False)
    assert shares == sorted(shares) and len(set(shares)) > 10 and 0.5 < shares[-1] <= 1.0


def test_nodes_by_level_add_up_and_do_not_depend_on_steps() -> None:
    puzzle = uniform(4, 4, 3, seed=2).puzzle
    whole, steps = finished(puzzle, "unary"), Cover(puzzle, "unary")
    while not steps.exhausted:
        steps.advance(7, True)
    assert whole.nodes == steps.nodes == whole.state.per_level.sum()
    assert whole.solutions == steps.solutions == whole.state.per_level[-1]
    assert whole.state.per_level.tolist() == steps.state.per_level.tolist()


def test_a_node_budget_is_exact() -> None:
    search = Cover(uniform(5, 5, 3, seed=1).puzzle)
    search.advance(500, False)
    assert search.nodes == 501
    assert not search.exhausted


def test_all_four_rotations_of_symmetric_pieces_count() -> None:
    """Jolivet 2008 counts equal rotations of a symmetric piece separately."""
    corner, edge, centre = [0, 1, 1, 0], [0, 1, 1, 1], [1, 1, 1, 1]
    puzzle = Puzzle(np.array([corner] * 4 + [edge] * 4 + [centre], dtype=np.int32), 3, 3)
    distinct = Cover(puzzle, all_four=True)
    while not distinct.exhausted:
        distinct.advance(10_000, False)
    assert distinct.solutions == 24 * 24 * 4
    assert distinct_count(finished(puzzle, "unary").solutions, puzzle) == 1


def test_xcover_counts_the_same() -> None:
    pytest.importorskip("xcover")
    for seed in range(40):
        puzzle = small_puzzle(seed, largest=12)
        messages: list[SolverMessage] = []
        cover_by_library(messages.append, puzzle, True)
        boards = all_boards(puzzle)
        assert messages[-1].exhausted
        assert messages[-1].solutions == len(boards), seed
