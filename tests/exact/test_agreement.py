"""All complete solvers on the same random puzzles: the same answer and, as all of them count, the same count."""

from collections.abc import Callable

import numpy as np
import pytest

from lns.exact.cover.search import cover_by_library
from lns.exact.cp import MODELS, solve_by_cp_sat, solve_classic
from lns.exact.execution import Request
from lns.exact.outcome import Outcome, SolveStatus
from lns.exact.registry import SOLVERS
from lns.exact.rowscan import run_rowscan
from lns.exact.sat.search import Job, search
from lns.exact.solvers import run_colorpairs
from lns.instances.errors import InputError
from lns.instances.formats import load_puzzle
from lns.instances.generate import uniform
from lns.instances.puzzle import Clue, Puzzle
from tests.exact.brute import count_solutions
from tests.exact.puzzles import last_message
from tests.shared_data import shared

# (side, colours, number of puzzles): few colours where there are few pieces, so that duplicates and symmetry occur
CLASSES = [(3, 2, 50), (3, 3, 50), (4, 4, 45), (4, 6, 35), (5, 8, 12), (6, 12, 8)]
TINY = 9  # cells; larger puzzles are left to fewer solvers
SMALL = 16  # cells; on larger puzzles the slow encodings search for one solution only


def puzzles() -> list[Puzzle]:
    """200 puzzles: a third with one side in another colour, a third with clues, some not square."""
    drawn = []
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
            drawn.append(puzzle)
    return drawn


def child_count(task: Callable[..., None], puzzle: Puzzle, *arguments: object) -> int:
    """The task of a child process, called in this process: two thousand processes would take ten minutes."""
    message = last_message(task, puzzle, *arguments)
    assert message.exhausted
    return message.solutions


def proven_count(answer: Outcome) -> int:
    assert answer.status in (SolveStatus.SOLVED, SolveStatus.INFEASIBLE)
    return answer.solutions


def counts(puzzle: Puzzle, *, slow: bool = True) -> dict[str, int]:
    """The number of solutions by solver. ``slow``: by the slow encodings too."""
    request = Request(count_all=True)
    solutions = {
        "rowscan": proven_count(run_rowscan(puzzle, request)),
        "colorpairs": proven_count(run_colorpairs(puzzle, request)),
    }
    for name in ("dlx", "dlx:binary", "xcc:counted"):
        solutions[name] = proven_count(SOLVERS[name](puzzle, request))
    if puzzle.width % 2 == 0 and puzzle.height % 2 == 0:
        solutions["blocks"] = proven_count(SOLVERS["blocks"](puzzle, request))
    solutions["xcc"] = child_count(cover_by_library, puzzle, True)
    solutions["cp"] = child_count(solve_by_cp_sat, puzzle, True, None)
    for encoding in ("full-2", "half-3", "half-2", *(("full-4", "triangles") if slow else ())):
        solutions[f"sat:{encoding}"] = child_count(search, puzzle, Job(encoding, "glucose42", True))
    if puzzle.cells <= SMALL:
        job = Job("triangles", "cadical195", True, restricted=True)
        solutions["sat:triangles-restricted"] = child_count(search, puzzle, job)
    if puzzle.cells <= TINY:
        for restricted in (False, True):
            job = Job("triangles", "cdcl", True, restricted=restricted)
            solutions[f"cdcl, restricted {restricted}"] = child_count(search, puzzle, job)
        for encoding in ("full-4-pairs", "full-2-pairs", "half-3-pairs", "half-2-pairs"):
            solutions[f"sat:{encoding}"] = child_count(search, puzzle, Job(encoding, "glucose42", True))
        for model in MODELS:
            solutions[f"cp:{model}"] = child_count(solve_classic, puzzle, model, True, None)
    return solutions


@pytest.mark.parametrize(
    "every", [pytest.param(1, id="all 200 puzzles", marks=pytest.mark.slow), pytest.param(10, id="20 puzzles")]
)
def test_all_complete_solvers_agree(every: int) -> None:
    for module in ("pysat", "ortools", "xcover"):
        pytest.importorskip(module)
    solvable, several, tried = 0, 0, puzzles()[::every]
    for puzzle in tried:
        solutions = counts(puzzle, slow=puzzle.cells <= SMALL)
        if puzzle.cells > SMALL and solutions["rowscan"]:
            for encoding in ("full-4", "triangles"):
                assert last_message(search, puzzle, Job(encoding, "cadical195")).solutions == 1
        assert len(set(solutions.values())) == 1, (puzzle.name, solutions)
        solvable += solutions["rowscan"] > 0
        several += solutions["rowscan"] > 4
    assert len(tried) == 200 // every
    assert 100 // every < solvable < len(tried)
    assert several >= 10 // every


@pytest.mark.parametrize("quads", [[[0, 0, 0, 0]], [[0, 1, 0, 0], [0, 2, 0, 1], [0, 0, 0, 2]]])
def test_one_cell_and_one_row(quads: list[list[int]]) -> None:
    puzzle = Puzzle(quads, len(quads), 1)
    assert set(counts(puzzle).values()) == {count_solutions(puzzle)}


@pytest.mark.parametrize(("name", "count"), [("owen3", 16), ("owen4", 36), ("owen5", 16)])
def test_ground_truth(name: str, count: int) -> None:
    try:
        puzzle = load_puzzle(str(shared("instances", f"{name}.txt")))
    except InputError:
        pytest.fail("an instance of the field does not load")
    solutions = counts(puzzle, slow=puzzle.cells <= SMALL)
    assert set(solutions.values()) == {count}
