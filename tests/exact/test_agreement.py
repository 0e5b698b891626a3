"""Every solver counts what brute force and all others count, under every rule; local search solves what it can."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import lns.exact
from lns.exact.colorpairs.options import Heuristic, Options
from lns.exact.execution import Request
from lns.exact.piece_classes import assignments_per_board
from lns.exact.sat.search import search
from lns.instances.board import Board
from lns.instances.formats import load_puzzle
from lns.instances.generate import family, uniform
from lns.instances.puzzle import Clue, Puzzle
from lns.instances.verify import verify
from tests.exact.brute import count_solutions
from tests.exact.counting import counts_of, proven
from tests.exact.puzzles import last_message
from tests.fuzz_exact import others
from tests.instances.small_puzzles import planted, with_mates
from tests.shared_data import shared

# (side, colours, number of puzzles): few colours where there are few pieces, so that duplicates and symmetry occur
CLASSES = [(3, 2, 50), (3, 3, 50), (4, 4, 45), (4, 6, 35), (5, 8, 12), (6, 12, 8)]
TINY = 9  # cells; larger puzzles are left to fewer solvers
SMALL = 16  # cells; on larger puzzles the slow encodings search for one solution only
FAMILIES = [
    "tetravex:2x2:2", "tetravex:3x3:3", "tetravex:3x2:2", "tetravex:1x4:2", "tetravex:3x4:4",
    "unframed:2x2:2", "unframed:3x2:3", "unframed:3x3:8", "unframed:1x3:2",
    "triangle:2:2", "triangle:3:2", "triangle:3:3", "diamond:2:2", "diamond:3:2", "diamond:3:3", "triangle:1:1",
]  # fmt: skip
RIM = {"framed": False, "rim": 1}
OTHER_COLOURS: dict[str, dict[str, Any]] = {
    "mates": {}, "mates without frame": {"framed": False}, "mates without turns": {"turns": False},
    "mates and a hole": {"holes": (1,)}, "mates and border colours": {"border_colours": 1},
    "mates and a rim": RIM, "rim": RIM, "rim without turns": {**RIM, "turns": False},
    "rim and a hole": {**RIM, "holes": (2,)},
}  # fmt: skip
SHAPES = [(3, 3), (2, 4), (4, 2), (2, 2), (5, 1), (3, 2)]


def solved(kind: str, index: int) -> tuple[Puzzle, Board]:
    """A puzzle of `FAMILIES` or `OTHER_COLOURS`, and its solution."""
    if kind not in OTHER_COLOURS:
        return family(kind)(index).puzzle, family(kind)(index).solution
    puzzle, solution = planted(index, *SHAPES[index % len(SHAPES)], 3 + index % 4, **OTHER_COLOURS[kind])
    return with_mates(puzzle, solution, index) if kind.startswith("mates") else puzzle, solution


def varied(puzzle: Puzzle, solution: Board, index: int, seed: list[int]) -> Puzzle:
    """One in three has a side in another colour, so that there may be no solution, and one in three has clues."""
    random = np.random.default_rng(seed)
    if index % 3 == 1 and puzzle.colours:
        pieces = puzzle.pieces.copy()
        row, column = np.argwhere(pieces > 0)[int(random.integers((pieces > 0).sum()))]
        pieces[row, column] = int(random.integers(1, puzzle.colours + 1))
        return replace(puzzle, pieces=pieces)
    if index % 3 == 2:
        cells = [cell for cell in range(puzzle.cells) if cell not in puzzle.holes]
        chosen = random.choice(cells, 1 + (puzzle.cells > TINY), replace=False).tolist()
        return puzzle.with_clues([Clue(cell, *divmod(int(solution.placements[cell]), 4)) for cell in chosen])
    return puzzle


def puzzles(kind: str, count: int) -> list[Puzzle]:
    return [varied(*solved(kind, index), index, [index, len(kind)]) for index in range(count)]


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


@pytest.mark.parametrize("quads", [[[0, 0, 0, 0]], [[0, 1, 0, 0], [0, 2, 0, 1], [0, 0, 0, 2]]])
def test_one_cell_and_one_row(quads: list[list[int]]) -> None:
    puzzle = Puzzle(quads, len(quads), 1)
    assert set(solutions_by_solver(puzzle).values()) == {count_solutions(puzzle)}


@pytest.mark.parametrize(("name", "count"), [("owen3", 16), ("owen4", 36), ("owen5", 16)])
def test_ground_truth(name: str, count: int) -> None:
    puzzle = load_puzzle(str(shared("instances", f"{name}.txt")))
    assert set(solutions_by_solver(puzzle).values()) == {count}


EVERYTHING = Options(single_colours=True, shared_edges=True, cycles=True, values=True, shaving=True)


@pytest.mark.parametrize("text", [*FAMILIES, *OTHER_COLOURS])
def test_the_solvers_count_what_brute_force_counts(text: str) -> None:
    """The row scan and ColorPairs on nine puzzles, the others on three; all on twenty puzzles of `OTHER_COLOURS`."""
    for module in ("pysat", "ortools", "xcover"):
        pytest.importorskip(module)
    for number, puzzle in enumerate(puzzles(text, 20 if text in OTHER_COLOURS else 9)):
        wanted = count_solutions(puzzle)
        every = number < 3 or text in OTHER_COLOURS
        solvers = others(puzzle, wanted) if every else {"rowscan": partial(proven, puzzle, "rowscan")}
        assert all(count() == wanted for count in solvers.values()), {name: count() for name, count in solvers.items()}
        for options in (
            Options(), EVERYTHING, Options(heuristic=Heuristic.ROW_MAJOR), Options(backjumping=False, preemption=False),
            Options(opposite=False, motifs=False),
        ):  # fmt: skip
            assert proven(puzzle, "colorpairs", options) == wanted, (puzzle, options)


@pytest.mark.parametrize("text", [*FAMILIES, *OTHER_COLOURS])
def test_local_search_solves_what_has_a_solution(text: str) -> None:
    for puzzle in puzzles(text, 3):
        for solver in ("sls:adaptg2wsat", "sls:rsaps-raw"):
            outcome = lns.exact.solve(puzzle, solver, nodes=500_000)
            solved = outcome.board is not None and verify(puzzle, outcome.board).score == puzzle.max_score
            assert solved == (count_solutions(puzzle) > 0), (puzzle, solver)


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


def test_rotated_copies_are_counted_where_no_corner_can_be_fixed() -> None:
    puzzle = family("diamond:2:2")(1).puzzle
    outcome = lns.exact.count(puzzle, "rowscan", fix_corner=True)
    assert outcome.solutions == count_solutions(puzzle)
    assert outcome.convention == "all solutions counted (no corner piece is fixed: holes)"
