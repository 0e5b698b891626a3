"""All complete solvers on the same random puzzles: the same answer and, as all of them count, the same count."""

from __future__ import annotations

import numpy as np
import pytest

from exact.cover.search import cover_by_library
from exact.cp.model import solve_by_cp_sat
from exact.outcome import Answer, SolveStatus
from exact.registry import SOLVERS
from exact.request import Request
from exact.sat.search import Job, search
from exact.solver_protocol import SolverMessage
from exact.tree_searches import run_colorpairs, run_rowscan
from instances.formats import load_puzzle
from instances.generate import uniform
from instances.puzzle import Clue, Puzzle
from lns_support.errors import InputError
from tests.shared_data import shared

# (side, colours, how many puzzles): few colours where there are few pieces, so that twins and symmetry occur
CLASSES = [(3, 2, 50), (3, 3, 50), (4, 4, 45), (4, 6, 35), (5, 8, 12), (6, 12, 8)]
SMALL = 16  # cells: beyond, the slow encodings are asked for one solution where there is one


def puzzles() -> list[Puzzle]:
    """200 of them: a third with a side repainted, a third with clues, some not square."""
    made = []
    for side, colours, count in CLASSES:
        for index in range(count):
            random = np.random.default_rng([side, colours, index])
            planted = uniform(side, side - index % 2, colours, index)
            puzzle = planted.puzzle
            if index % 3 == 1:
                pieces = puzzle.pieces.copy()
                row, column = np.argwhere(pieces > 0)[int(random.integers((pieces > 0).sum()))]
                pieces[row, column] = int(random.integers(1, colours + 1))
                puzzle = Puzzle(pieces, puzzle.width, puzzle.height)
            elif index % 3 == 2:
                cells = random.choice(puzzle.cells, 2, replace=False).tolist()
                clues = [Clue(cell, *divmod(int(planted.solution.placements[cell]), 4)) for cell in cells]
                puzzle = puzzle.with_clues(clues)
            made.append(puzzle)
    return made


def child_answer(task: object, puzzle: Puzzle, *arguments: object) -> int:
    """A child's task called here, because two thousand processes would take ten minutes."""
    told: list[SolverMessage] = []
    task(told.append, puzzle, *arguments)  # type: ignore[operator]
    assert told[-1].exhausted
    return told[-1].solutions


def own_answer(answer: Answer) -> int:
    assert answer.status in (SolveStatus.SOLVED, SolveStatus.INFEASIBLE)
    return answer.solutions


def counts(puzzle: Puzzle, *, slow: bool = True) -> dict[str, int]:
    request = Request(count_all=True)
    found = {
        "rowscan": own_answer(run_rowscan(puzzle, request)),
        "colorpairs": own_answer(run_colorpairs(puzzle, request)),
    }
    for name in ("dlx", "dlx:binary", "xcc:counted"):
        found[name] = own_answer(SOLVERS[name](puzzle, request))
    if puzzle.width % 2 == 0 and puzzle.height % 2 == 0:
        found["blocks"] = own_answer(SOLVERS["blocks"](puzzle, request))
    found["xcc"] = child_answer(cover_by_library, puzzle, True)
    found["cp"] = child_answer(solve_by_cp_sat, puzzle, True, None)
    for encoding in ("full-2", "half-3", "half-2", *(("full-4", "triangles") if slow else ())):
        found[f"sat:{encoding}"] = child_answer(search, puzzle, Job(encoding, "glucose42", True))
    if puzzle.cells <= SMALL:
        job = Job("triangles", "cadical195", True, restricted=True)
        found["sat:triangles-restricted"] = child_answer(search, puzzle, job)
    return found


@pytest.mark.slow
def test_all_complete_solvers_agree() -> None:
    for module in ("pysat", "ortools", "xcover"):
        pytest.importorskip(module)
    solvable, several, tried = 0, 0, puzzles()
    for puzzle in tried:
        found = counts(puzzle, slow=puzzle.cells <= SMALL)
        if puzzle.cells > SMALL and found["rowscan"]:
            for encoding in ("full-4", "triangles"):
                told: list[SolverMessage] = []
                search(told.append, puzzle, Job(encoding, "cadical195"))
                assert told[-1].solutions == 1
        assert len(set(found.values())) == 1, (puzzle.name, found)
        solvable += found["rowscan"] > 0
        several += found["rowscan"] > 4
    assert len(tried) == 200
    assert 100 < solvable < 200
    assert several >= 10


@pytest.mark.parametrize(("name", "count"), [("owen3", 16), ("owen4", 36), ("owen5", 16)])
def test_ground_truth(name: str, count: int) -> None:
    try:
        puzzle = load_puzzle(str(shared("instances", f"{name}.txt")))
    except InputError:
        pytest.fail("an instance of the field does not load")
    found = counts(puzzle, slow=puzzle.cells <= SMALL)
    assert set(found.values()) == {count}
