"""All complete solvers on the same random puzzles: the same answer and, as all of them count, the same count."""

import numpy as np
import pytest

from lns.exact.execution import Request
from lns.exact.sat.search import search
from lns.instances.formats import load_puzzle
from lns.instances.generate import uniform
from lns.instances.puzzle import Clue, Puzzle
from tests.exact.brute import count_solutions
from tests.exact.counting import counts_of
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


def solutions_by_solver(puzzle: Puzzle) -> dict[str, int]:
    return {
        name: count() for name, count in counts_of(puzzle, 1 + (puzzle.cells <= SMALL) + (puzzle.cells <= TINY)).items()
    }


@pytest.mark.parametrize(
    "every", [pytest.param(1, id="all 200 puzzles", marks=pytest.mark.slow), pytest.param(10, id="20 puzzles")]
)
def test_all_complete_solvers_agree(every: int) -> None:
    for module in ("pysat", "ortools", "xcover"):
        pytest.importorskip(module)
    solvable, several, tried = 0, 0, puzzles()[::every]
    for puzzle in tried:
        solutions = solutions_by_solver(puzzle)
        if puzzle.cells > SMALL and solutions["rowscan"]:
            for encoding in ("full-4", "triangles"):
                assert last_message(search, puzzle, Request(sat_solver="cadical195"), encoding).solutions == 1
        assert len(set(solutions.values())) == 1, (puzzle.name, solutions)
        solvable += solutions["rowscan"] > 0
        several += solutions["rowscan"] > 4
    assert len(tried) == 200 // every
    assert 100 // every < solvable < len(tried)
    assert several >= 10 // every


@pytest.mark.parametrize("quads", [[[0, 0, 0, 0]], [[0, 1, 0, 0], [0, 2, 0, 1], [0, 0, 0, 2]]])
def test_one_cell_and_one_row(quads: list[list[int]]) -> None:
    puzzle = Puzzle(quads, len(quads), 1)
    assert set(solutions_by_solver(puzzle).values()) == {count_solutions(puzzle)}


@pytest.mark.parametrize(("name", "count"), [("owen3", 16), ("owen4", 36), ("owen5", 16)])
def test_ground_truth(name: str, count: int) -> None:
    puzzle = load_puzzle(str(shared("instances", f"{name}.txt")))
    assert set(solutions_by_solver(puzzle).values()) == {count}
