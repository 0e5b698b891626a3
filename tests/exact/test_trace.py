"""Recorded steps lead to what the solver finds: replayed, they give legal boards, and its nodes are counted."""

import pytest

import lns
from lns.exact.outcome import SolveStatus
from lns.exact.sat.steps import Painting
from lns.exact.solvers import solve
from lns.exact.trace import PLACED, REFUSED, SOLUTION, TRACED, TREE_SEARCHES, Step, trace
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.verify import Verification, verify
from tests.instances.small_puzzles import with_mates

SAT = tuple(name for name in TRACED if name not in TREE_SEARCHES)


def board_after(puzzle: lns.Puzzle, steps: tuple, at: int) -> Verification:  # type: ignore[type-arg]
    """The pieces that stand after ``at`` steps, as a board that is verified."""
    placed: dict[int, tuple[int, int]] = {}
    for step in steps[:at]:
        placed = {depth: entry for depth, entry in placed.items() if depth < step.depth}
        if step.outcome != REFUSED:
            placed[step.depth] = (step.cell, step.oriented)
        if step.outcome != SOLUTION:
            placed = {depth: entry for depth, entry in placed.items() if depth < step.depth_after}
    laid = dict(placed.values())
    return verify(puzzle, Board.empty(puzzle).with_pieces([*laid], [*laid.values()]))


@pytest.mark.parametrize("solver", TREE_SEARCHES)
def test_there_is_a_step_for_each_node(solver: str) -> None:
    """Up to the first solution. Only a refusal of ColorPairs and exact cover has a reason."""
    puzzle = lns.generate("like-e2", width=4, seed=5).puzzle
    found = trace(puzzle, solver, steps=100_000)
    assert found.status is SolveStatus.SOLVED and found.steps[-1].outcome == SOLUTION
    checked = board_after(puzzle, found.steps, len(found.steps))
    assert checked.complete and checked.score == puzzle.max_score
    nodes = solve(puzzle, solver).nodes
    assert nodes is not None and len(found.steps) == nodes - (solver == "dlx"), "the root is a node of exact cover"
    steps = [step for step in found.steps if isinstance(step, Step)]
    assert {step.outcome for step in steps} <= {PLACED, REFUSED, SOLUTION}
    assert all(step.why for step in steps if step.outcome == REFUSED)


@pytest.mark.parametrize("solver", TREE_SEARCHES)
def test_what_stands_never_breaks_a_rule(solver: str) -> None:
    puzzle = with_mates(*lns.generate("like-e2", width=4, seed=7), seed=3)
    steps = trace(puzzle, solver, steps=300).steps
    for at in range(0, len(steps) + 1, 7):
        checked = board_after(puzzle, steps, at)
        assert not checked.violations and not checked.mismatches, at


@pytest.mark.parametrize("solver", TRACED)
def test_a_puzzle_without_a_solution_ends_so(solver: str) -> None:
    made = lns.generate("like-e2", width=4, seed=5)
    other = int(made.solution.placements[6])
    puzzle = made.puzzle.with_clues([lns.Clue(5, other // 4, other % 4)])
    assert solve(puzzle, solver).status is trace(puzzle, solver, steps=100_000).status is SolveStatus.INFEASIBLE


def painted(steps: tuple[Painting, ...], at: int) -> tuple[dict[tuple[int, int], int], dict[int, int]]:
    """Colour by cell and side, and piece by cell, after ``at`` steps."""
    triangles, pieces = dict[tuple[int, int], tuple[int, int]](), dict[int, tuple[int, int]]()
    for step in steps[:at]:
        triangles = {where: entry for where, entry in triangles.items() if entry[1] <= step.depth}
        pieces = {cell: entry for cell, entry in pieces.items() if entry[1] <= step.depth}
        triangles |= {(cell, side): (colour, depth) for cell, side, colour, depth in step.triangles}
        pieces |= {cell: (piece, depth) for cell, piece, depth in step.pieces}
    return {where: entry[0] for where, entry in triangles.items()}, {cell: entry[0] for cell, entry in pieces.items()}


@pytest.mark.parametrize("solver", SAT)
@pytest.mark.parametrize("kind", ["like-e2", "diamond", "mates"])
def test_a_sat_solver_paints_the_triangles_of_a_solution(solver: str, kind: str) -> None:
    pytest.importorskip("pysat")
    made = lns.generate("diamond", side=3, seed=2) if kind == "diamond" else lns.generate("like-e2", width=4, seed=5)
    puzzle = made.puzzle if kind != "mates" else with_mates(made.puzzle, made.solution, seed=1)
    found = trace(puzzle, solver, steps=100_000)
    assert found.status is SolveStatus.SOLVED
    steps = tuple(step for step in found.steps if isinstance(step, Painting))
    triangles, pieces = painted(steps, len(steps))
    cells = [cell for cell in range(puzzle.cells) if cell not in puzzle.holes]
    assert sorted(pieces) == cells and len(set(pieces.values())) == len(cells)
    for cell in cells:
        colours = [triangles[cell, side] for side in range(4)]
        assert any(puzzle.turned[4 * pieces[cell] + turn].tolist() == colours for turn in range(4)), cell
        for side, other in puzzle.neighbours(cell):
            assert triangles[cell, side] == puzzle.mate[triangles[other, (side + 2) % 4]] != 0


@pytest.mark.parametrize("solver", SAT)
def test_what_a_sat_solver_paints_never_breaks_a_rule(solver: str) -> None:
    pytest.importorskip("pysat")
    puzzle = lns.generate("like-e2", width=4, seed=7).puzzle
    steps = tuple(step for step in trace(puzzle, solver, steps=400).steps if isinstance(step, Painting))
    decided = [step for step in steps if step.outcome == "decided"]
    assert decided and any(step.why for step in steps), "decisions, and some taken back"
    assert not solver.endswith("restricted") or all(step.decided.startswith("piece") for step in decided)
    for at in range(0, len(steps) + 1, 11):
        _, pieces = painted(steps, at)
        assert len(set(pieces.values())) == len(pieces), "each piece on one cell"


def test_what_cannot_be_watched_is_refused_and_the_steps_of_sat_are_limited() -> None:
    pytest.importorskip("pysat")
    puzzle = lns.generate("like-e2", width=5, seed=1).puzzle
    found = trace(puzzle, "sat:triangles", steps=7)
    assert (len(found.steps), found.status) == (7, SolveStatus.BUDGET_SPENT)
    with pytest.raises(InputError, match="169 cells; expected at most 144"):
        trace(lns.generate("like-e2", width=13, seed=1).puzzle, "sat:triangles")
    with pytest.raises(InputError, match="expected one of colorpairs, rowscan, dlx, sat:triangles"):
        trace(puzzle, "cp")
