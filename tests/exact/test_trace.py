"""Recorded steps lead to what the solver finds: replayed, they give legal boards, and its nodes are counted."""

from __future__ import annotations

import pytest

import lns
from exact.outcome import SolveStatus
from exact.solvers import solve
from exact.trace import PLACED, REFUSED, SOLUTION, TRACED, trace
from instances.board import Board
from instances.verify import verify
from lns_support.errors import InputError


def standing(steps: tuple, at: int) -> dict[int, int]:  # type: ignore[type-arg]
    """The pieces that stand after ``at`` steps."""
    placed: dict[int, tuple[int, int]] = {}
    for step in steps[:at]:
        placed = {depth: entry for depth, entry in placed.items() if depth < step.depth}
        if step.outcome != REFUSED:
            placed[step.depth] = (step.cell, step.oriented)
        if step.outcome != SOLUTION:
            placed = {depth: entry for depth, entry in placed.items() if depth < step.depth_after}
    return dict(placed.values())


@pytest.mark.parametrize("solver", TRACED)
def test_a_trace_ends_at_the_first_solution(solver: str) -> None:
    puzzle = lns.generate("like-e2", width=4, seed=5).puzzle
    found = trace(puzzle, solver, steps=100_000)
    assert found.status is SolveStatus.SOLVED and found.steps[-1].outcome == SOLUTION
    placements = Board.empty(puzzle).placements.copy()
    for cell, oriented in standing(found.steps, len(found.steps)).items():
        placements[cell] = oriented
    checked = verify(puzzle, Board(placements, 4, 4))
    assert checked.complete and checked.score == puzzle.max_score


@pytest.mark.parametrize("solver", ["colorpairs", "rowscan"])
def test_there_is_a_step_for_each_node(solver: str) -> None:
    puzzle = lns.generate("like-e2", width=4, seed=5).puzzle
    assert len(trace(puzzle, solver, steps=100_000).steps) == solve(puzzle, solver).nodes


@pytest.mark.parametrize("solver", TRACED)
def test_what_stands_never_breaks_a_rule(solver: str) -> None:
    puzzle = lns.generate("like-e2", width=4, seed=7).puzzle
    steps = trace(puzzle, solver, steps=300).steps
    for at in range(0, len(steps) + 1, 7):
        placements = Board.empty(puzzle).placements.copy()
        for cell, oriented in standing(steps, at).items():
            placements[cell] = oriented
        checked = verify(puzzle, Board(placements, 4, 4))
        assert not checked.violations and not checked.mismatches, at


@pytest.mark.parametrize("solver", TRACED)
def test_a_puzzle_without_a_solution_ends_so(solver: str) -> None:
    made = lns.generate("like-e2", width=4, seed=5)
    one, other = made.solution.placements[5], made.solution.placements[6]
    clues = [lns.Clue(5, int(other) // 4, int(other) % 4)]
    assert one != other
    puzzle = made.puzzle.with_clues(clues)
    assert {solve(puzzle, name).status for name in TRACED} == {SolveStatus.INFEASIBLE}
    assert trace(puzzle, solver, steps=100_000).status is SolveStatus.INFEASIBLE


def test_refusals_have_a_reason() -> None:
    puzzle = lns.generate("like-e2", width=5, seed=2).puzzle
    steps = trace(puzzle, "colorpairs", steps=2000).steps
    refused = [step for step in steps if step.outcome == REFUSED]
    assert refused and all(step.why for step in refused)
    assert {step.outcome for step in steps} <= {PLACED, REFUSED, SOLUTION}


def test_other_solvers_are_refused_by_name() -> None:
    with pytest.raises(InputError, match="expected one of colorpairs, rowscan, dlx"):
        trace(lns.generate("like-e2", width=3, seed=1).puzzle, "cp")
