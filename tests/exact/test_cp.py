"""The constraint models against brute force: CP-SAT, and those of Benoist & Bourreau 2008, 2.2, by OR-tools."""

import pytest

from lns.exact.execution import Request
from lns.exact.outcome import SolveStatus
from lns.exact.solvers import count, solve
from lns.instances.generate import corner_cells, uniform
from lns.instances.verify import verify
from tests.exact.puzzles import last_message

pytest.importorskip("ortools")
from lns.exact.cp import MODELS, solve_by_cp_sat


def test_a_budget_of_conflicts_counts_conflicts_not_branches() -> None:
    outcome = count(uniform(5, 4, 4, 0).puzzle, solver="cp", fix_corner=True, nodes=100)
    assert outcome.nodes > 100 > outcome.details["conflicts"]
    assert (outcome.status, outcome.solutions) == (SolveStatus.SOLVED, 5)  # one corner, then the other


def test_spent_conflicts_prove_nothing() -> None:
    found = last_message(solve_by_cp_sat, uniform(7, 7, 5, seed=3).puzzle, Request(True, 5))
    assert found.status is SolveStatus.BUDGET_SPENT


def test_tables_and_alldifferent_need_fewer_nodes() -> None:
    puzzle = uniform(5, 5, 4, 2).with_clues(corner_cells(5, 5)).puzzle
    outcomes = {model: count(puzzle, solver=f"cp:{model}", seconds=60) for model in MODELS}
    assert len({outcome.solutions for outcome in outcomes.values()}) == 1
    assert outcomes["table"].nodes < outcomes["element"].nodes
    assert outcomes["table-alldifferent"].nodes <= outcomes["table"].nodes


def test_the_first_solution_is_perfect_and_a_budget_is_kept() -> None:
    puzzle = uniform(4, 4, 4, 1).puzzle
    outcome = solve(puzzle, solver="cp:table-alldifferent", seconds=60)
    assert outcome.board is not None and verify(puzzle, outcome.board).score == puzzle.max_score
    assert count(puzzle, solver="cp:element", nodes=3).status is SolveStatus.BUDGET_SPENT
