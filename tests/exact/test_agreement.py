"""Every solver counts what brute force and all others count, under every rule; local search solves what it can."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import lns.exact
from lns.exact.execution import Request
from lns.exact.piece_classes import assignments_per_board
from lns.exact.sat.search import search
from lns.instances.board import Board
from lns.instances.formats import load_puzzle
from lns.instances.generate import uniform
from lns.instances.puzzle import Clue, Puzzle
from lns.instances.verify import verify
from tests.exact.counting import counts_of, proven
from tests.exact.puzzles import last_message, small_puzzles
from tests.fuzz_exact import others
from tests.shared_data import shared

# (side, colours, number of puzzles): few colours where there are few pieces, so that duplicates and symmetry occur
CLASSES = [(3, 2, 50), (3, 3, 50), (4, 4, 45), (4, 6, 35), (5, 8, 12), (6, 12, 8)]
TINY = 9  # cells; larger puzzles are left to fewer solvers
SMALL = 16  # cells; on larger puzzles the slow encodings search for one solution only


def varied(puzzle: Puzzle, solution: Board, index: int, seed: list[int]) -> Puzzle:
    """One in three has a side in another colour, so that there may be no solution, and one in three has clues."""
    random = np.random.default_rng(seed)
    if index % 3 == 1 and puzzle.colours:
        pieces = puzzle.pieces.copy()
        row, column = np.argwhere(pieces > 0)[int(random.integers((pieces > 0).sum()))]
        pieces[row, column] = int(random.integers(1, puzzle.colours + 1))
        return replace(puzzle, pieces=pieces)
    if index % 3 == 2:
        chosen = random.choice(puzzle.cells, 1 + (puzzle.cells > TINY), replace=False).tolist()
        return puzzle.with_clues([Clue(cell, *divmod(int(solution.placements[cell]), 4)) for cell in chosen])
    return puzzle


def uniform_puzzles() -> list[Puzzle]:
    """200 puzzles, some of them not square."""
    drawn = []
    for side, colours, count in CLASSES:
        for index in range(count):
            made = uniform(side, side - index % 2, colours, index)
            drawn.append(varied(made.puzzle, made.solution, index, [side, colours, index]))
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
    solvable, several, tried = 0, 0, uniform_puzzles()[::every]
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


@pytest.mark.parametrize(("name", "count"), [("owen3", 16), ("owen4", 36), ("owen5", 16)])
def test_ground_truth(name: str, count: int) -> None:
    puzzle = load_puzzle(str(shared("instances", f"{name}.txt")))
    assert set(solutions_by_solver(puzzle).values()) == {count}


def test_local_search_solves_what_has_a_solution() -> None:
    for puzzle, boards in small_puzzles(40):
        for solver in ("sls:adaptg2wsat", "sls:rsaps-raw"):
            outcome = lns.exact.solve(puzzle, solver, nodes=500_000 if boards else 5_000)
            solved = outcome.board is not None and verify(puzzle, outcome.board).score == puzzle.max_score
            assert solved == bool(boards), (puzzle, solver)


def test_public_puzzles_with_halves_and_with_a_rim() -> None:
    """Scramble Squares, whose halves match, and MacMahon's squares with each colour as the rim."""
    for module in ("pysat", "ortools", "xcover"):
        pytest.importorskip(module)
    letters = shared("cases", "48_scramble_halves_upper_lower.txt").read_text().split()
    pieces = [[" rRgGbBwW".index(side) for side in piece] for piece in letters]
    scramble = Puzzle(pieces, 3, 3, framed=False, mates=((1, 2), (3, 4), (5, 6), (7, 8)))
    assert {count() for count in [*others(scramble, 4).values(), partial(proven, scramble, "colorpairs")]} == {4}
    assert proven(replace(scramble, mates=()), "colorpairs") == 0
    squares = shared("cases", "49_macmahon_letters_no_turns_4x4.txt").read_text().split()[2:]
    quads = np.array(["-RGB".index(side) for side in squares]).reshape(-1, 4)
    for rim, wanted in ((1, 0), (2, 0), (3, 1)):
        puzzle = Puzzle(quads, 4, 4, framed=False, turns=False, rim=rim)
        assert assignments_per_board(puzzle) == 8, "the eight placements are one board"
        for solver in ("rowscan", "colorpairs", "dlx", "xcc:counted", "blocks", "sat:half-2", "sat:triangles", "cp"):
            assert lns.exact.count(puzzle, solver).solutions == wanted, (rim, solver)
