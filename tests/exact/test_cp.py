"""The CP model against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from exact.outcome import SolveStatus
from exact.solver_protocol import SolverMessage
from exact.solvers import count
from instances.generate import uniform
from instances.puzzle import Puzzle
from tests.exact.brute import count_solutions
from tests.exact.puzzles import small_puzzle

pytest.importorskip("ortools")
from exact.cp import solve_by_cp_sat


def last_message(puzzle: Puzzle, count_all: bool, conflicts: int | None = None) -> SolverMessage:
    messages: list[SolverMessage] = []
    solve_by_cp_sat(messages.append, puzzle, count_all, conflicts)
    return messages[-1]


def test_counts_of_brute_force() -> None:
    for seed in range(25):
        puzzle = small_puzzle(seed, largest=9)
        message = last_message(puzzle, True)
        assert message.exhausted
        assert message.solutions == count_solutions(puzzle), seed


def test_a_single_cell() -> None:
    assert last_message(Puzzle(np.zeros((1, 4), dtype=np.int32), 1, 1), True).solutions == 1


def test_a_budget_of_conflicts_counts_conflicts_not_branches() -> None:
    outcome = count(uniform(5, 4, 4, 0).puzzle, solver="cp", fix_corner=True, nodes=100)
    assert outcome.nodes > 100 > outcome.details["conflicts"]
    assert (outcome.status, outcome.solutions) == (SolveStatus.SOLVED, 5)  # one corner, then the other


def test_spent_conflicts_prove_nothing() -> None:
    message = last_message(uniform(7, 7, 5, seed=3).puzzle, True, conflicts=5)
    assert not message.exhausted
