"""Exact cover: the kernel, the codes of Jolivet 2008 and xcover, against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from lns.exact.cover.search import Cover, cover_by_library, run_xcover
from lns.exact.execution import Request
from lns.exact.piece_classes import assignments_per_board, distinct_count
from lns.instances.errors import InputError
from lns.instances.generate import uniform
from lns.instances.puzzle import Puzzle
from tests.exact.brute import count_solutions
from tests.exact.puzzles import last_message, small_puzzle


def finished(puzzle: Puzzle, code: str = "unary", step: int = 1000, *, all_four: bool = False) -> Cover:
    search = Cover(puzzle, code, all_four=all_four)
    while not search.exhausted:
        search.advance(step, step < 1000)
    return search


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
        assert search.nodes == 1 + 7 * len(shares) - 7 or search.exhausted, "a budget of nodes is exact"
    assert shares == sorted(shares) and len(set(shares)) > 10 and 0.5 < shares[-1] <= 1.0


def test_nodes_by_level_add_up_and_do_not_depend_on_steps() -> None:
    puzzle = uniform(4, 4, 3, seed=2).puzzle
    whole, steps = finished(puzzle), finished(puzzle, step=7)
    assert whole.nodes == steps.nodes == whole.state.per_level.sum()
    assert whole.solutions == steps.solutions == whole.state.per_level[-1] > 0
    assert whole.solutions % assignments_per_board(puzzle) == 0
    assert whole.state.per_level.tolist() == steps.state.per_level.tolist()


def test_all_four_rotations_of_symmetric_pieces_count() -> None:
    """Jolivet 2008 counts equal rotations of a symmetric piece separately."""
    corner, edge, centre = [0, 1, 1, 0], [0, 1, 1, 1], [1, 1, 1, 1]
    puzzle = Puzzle(np.array([corner] * 4 + [edge] * 4 + [centre], dtype=np.int32), 3, 3)
    assert finished(puzzle, all_four=True).solutions == 24 * 24 * 4
    assert distinct_count(finished(puzzle).solutions, puzzle) == 1


def test_xcover_counts_the_same() -> None:
    pytest.importorskip("xcover")
    for seed in range(40):
        puzzle = small_puzzle(seed, largest=12)
        message = last_message(cover_by_library, puzzle, True)
        assert message.exhausted and message.solutions == count_solutions(puzzle), seed
