"""`lns.improve` and `lns.count`: what they prove agrees with brute force and with the planted solution."""

import pytest

import lns
from tests.exact.brute import count_solutions
from tests.instances.small_puzzles import exchanged


def test_a_damaged_region_is_refilled_and_proven() -> None:
    puzzle, solution = lns.generate("like-e2", width=6, seed=3)
    damaged = exchanged(solution, 14, 21)
    before = lns.verify(puzzle, damaged).score
    assert before < puzzle.max_score
    seen: list[int] = []
    rows, saw = lns.cells.rows(puzzle, 2, 4), lambda board: seen.append(lns.verify(puzzle, board).score)
    better = lns.improve(puzzle, damaged, rows, on_improve=saw)
    assert better.proven and better.score == better.bound == puzzle.max_score and better.score_before == before
    assert lns.verify(puzzle, better.board).score == puzzle.max_score == seen[-1] and seen == sorted(seen)
    assert better.board.puzzle is puzzle and better.nodes >= 0
    assert lns.improve(None, damaged.of(puzzle)).score == puzzle.max_score, "around the mismatches by default"
    assert lns.improve(puzzle, solution).status is lns.RegionStatus.OPTIMAL


@pytest.mark.parametrize("solver", ["colorpairs", "rowscan", "dlx"])
def test_counts_are_those_of_brute_force(solver: str) -> None:
    puzzle, _ = lns.generate("uniform", width=3, seed=5, colours=3)
    outcome = lns.count(puzzle, solver=solver)
    assert outcome.solutions == count_solutions(puzzle) and outcome.status is lns.SolveStatus.SOLVED
    assert lns.count("like-e2-4x4", solver=solver).solutions == 4
    assert lns.count("like-e2-6x6", solver, nodes=100).status is lns.SolveStatus.BUDGET_SPENT
    with pytest.raises(lns.InputError, match="unknown solver"):
        lns.count(puzzle, solver=solver + "x")
