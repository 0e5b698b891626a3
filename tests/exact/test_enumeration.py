"""All boards, one by one, from every complete solver: those of brute force, each once."""

from __future__ import annotations

from itertools import pairwise

import pytest

from lns.exact.driver import STEP_SECONDS, StepSizer
from lns.exact.outcome import SolveStatus
from lns.exact.solvers import count
from lns.instances.board import Board
from lns.instances.generate import uniform
from lns.instances.puzzle import Puzzle
from tests.exact.brute import all_boards
from tests.exact.puzzles import small_puzzle


def sorted_colours(puzzle: Puzzle, boards: list[Board]) -> list[tuple[tuple[int, ...], ...]]:
    """The boards as colours by cell, sorted."""
    return sorted(tuple(map(tuple, puzzle.oriented[board.placements].tolist())) for board in boards)


@pytest.mark.parametrize("solver", ["colorpairs", "rowscan", "dlx", "dlx:binary", "xcc:counted", "blocks"])
def test_boards_of_brute_force(solver: str) -> None:
    several = 0
    for seed in range(80):
        puzzle = small_puzzle(seed, largest=12)
        if solver == "blocks" and (puzzle.width % 2 or puzzle.height % 2):
            continue
        boards: list[Board] = []
        outcome = count(puzzle, solver=solver, on_solution=boards.append)
        assert sorted_colours(puzzle, boards) == sorted(all_boards(puzzle)), seed
        assert outcome.solutions == len(boards)
        assert outcome.status is (SolveStatus.SOLVED if boards else SolveStatus.INFEASIBLE)
        several += len(boards) > 1
    assert several >= 3


@pytest.mark.parametrize("solver", ["cp", "xcc", "sat:half-2"])
def test_boards_of_libraries(solver: str) -> None:
    for module in ("pysat", "ortools", "xcover"):
        pytest.importorskip(module)
    puzzle = uniform(4, 4, 3, seed=5).puzzle
    boards: list[Board] = []
    outcome = count(puzzle, solver=solver, on_solution=boards.append)
    assert sorted_colours(puzzle, boards) == sorted(all_boards(puzzle))
    assert outcome.solutions == len(boards) == 8


def test_a_spent_budget_keeps_the_solutions_found() -> None:
    puzzle = uniform(5, 5, 3, seed=1).puzzle
    boards: list[Board] = []
    whole = count(puzzle, solver="rowscan")
    cut = count(puzzle, solver="rowscan", on_solution=boards.append, nodes=whole.nodes // 2)
    assert cut.status is SolveStatus.BUDGET_SPENT
    assert cut.nodes == whole.nodes // 2
    assert 0 < cut.solutions == len(set(sorted_colours(puzzle, boards))) < whole.solutions


def test_steps_begin_small_and_adapt_to_the_time_of_a_node() -> None:
    sizer = StepSizer()
    steps = [sizer.step]
    assert steps[0] <= 500, (
        "where each node takes a millisecond, half a second passes before the first look at the clock"
    )
    for _ in range(8):
        sizer.update(sizer.step, sizer.step / 1e6, None)
        steps.append(sizer.step)
    assert steps[-1] == STEP_SECONDS * 1e6 and all(after <= 4 * before for before, after in pairwise(steps))
    sizer.update(sizer.step, sizer.step / 1e6, 0.001)
    assert sizer.step == 1000
