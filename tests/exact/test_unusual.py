"""Puzzles without frame, without turns and with holes: every solver that takes them counts what brute force counts."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import lns.exact
from lns.exact.colorpairs.options import Heuristic, Options
from lns.instances.errors import InputError
from lns.instances.generate import family
from lns.instances.puzzle import Clue, Puzzle
from lns.instances.verify import verify
from tests.exact.brute import count_solutions
from tests.fuzz_exact import others, proven

FAMILIES = [
    "tetravex:2x2:2", "tetravex:3x3:3", "tetravex:3x2:2", "tetravex:1x4:2", "tetravex:3x4:4",
    "unframed:2x2:2", "unframed:3x2:3", "unframed:3x3:8", "unframed:1x3:2",
    "triangle:2:2", "triangle:3:2", "triangle:3:3", "diamond:2:2", "diamond:3:2", "diamond:3:3", "triangle:1:1",
]  # fmt: skip


def puzzles(family_text: str, count: int) -> list[Puzzle]:
    """A third with one side in another colour, so that there may be no solution, and a third with clues."""
    drawn = []
    for index in range(count):
        planted = family(family_text)(index)
        puzzle, random = planted.puzzle, np.random.default_rng([index, len(family_text)])
        if index % 3 == 1 and puzzle.colours:
            pieces = puzzle.pieces.copy()
            row, column = np.argwhere(pieces > 0)[int(random.integers((pieces > 0).sum()))]
            pieces[row, column] = int(random.integers(1, puzzle.colours + 1))
            puzzle = replace(puzzle, pieces=pieces)
        elif index % 3 == 2:
            cell = int(random.choice([cell for cell in range(puzzle.cells) if cell not in puzzle.holes]))
            puzzle = puzzle.with_clues([Clue(cell, *divmod(int(planted.solution.placements[cell]), 4))])
        drawn.append(puzzle)
    return drawn


def unframed_with_a_hole(seed: int, *, turns: bool) -> Puzzle:
    """A ring of eight pieces around a hole, in two colours."""
    quads = np.random.default_rng(seed).integers(1, 3, (3, 3, 4))
    quads[1:, :, 0], quads[:, 1:, 3] = quads[:-1, :, 2], quads[:, :-1, 1]
    quads[0, 1, 2] = quads[1, 0, 1] = quads[1, 2, 3] = quads[2, 1, 0] = 0
    return Puzzle(np.delete(quads.reshape(-1, 4), 4, axis=0), 3, 3, holes=(4,), framed=False, turns=turns)


EVERYTHING = Options(single_colours=True, shared_edges=True, cycles=True, values=True, shaving=True)


@pytest.mark.parametrize("text", FAMILIES)
def test_the_solvers_count_what_brute_force_counts(text: str) -> None:
    """The row scan and ColorPairs on nine puzzles, the others on three of them."""
    for module in ("pysat", "ortools", "xcover"):
        pytest.importorskip(module)
    for number, puzzle in enumerate(puzzles(text, 9)):
        wanted = count_solutions(puzzle)
        solvers = others(puzzle, wanted) if number < 3 else {"rowscan": partial(proven, puzzle, "rowscan")}
        assert all(count() == wanted for count in solvers.values()), {name: count() for name, count in solvers.items()}
        for options in (
            Options(), EVERYTHING, Options(heuristic=Heuristic.ROW_MAJOR), Options(backjumping=False, preemption=False),
            Options(opposite=False, motifs=False),
        ):  # fmt: skip
            assert proven(puzzle, "colorpairs", options) == wanted, (puzzle, options)


@pytest.mark.parametrize("turns", [True, False])
def test_a_hole_in_a_board_without_frame(turns: bool) -> None:
    for puzzle in (unframed_with_a_hole(seed, turns=turns) for seed in range(6)):
        counts = {lns.exact.count(puzzle, solver).solutions for solver in ("colorpairs", "rowscan", "dlx")}
        assert counts == {count_solutions(puzzle)} and counts != {0}


@pytest.mark.parametrize("text", FAMILIES)
def test_local_search_solves_what_has_a_solution(text: str) -> None:
    for puzzle in puzzles(text, 3):
        for solver in ("sls:adaptg2wsat", "sls:rsaps-raw"):
            outcome = lns.exact.solve(puzzle, solver, nodes=500_000)
            solved = outcome.board is not None and verify(puzzle, outcome.board).score == puzzle.max_score
            assert solved == (count_solutions(puzzle) > 0), (puzzle, solver)


@pytest.mark.parametrize("text, rules", [("tetravex:2x2:2", "no frame and no turns"), ("diamond:2:2", "holes")])
@pytest.mark.parametrize("solver", ["blocks", "cp:table"])
def test_other_solvers_refuse_them(text: str, rules: str, solver: str) -> None:
    with pytest.raises(InputError, match=f"^solver {solver} takes no puzzle with {rules}; expected another solver"):
        lns.exact.solve(family(text)(1).puzzle, solver)


def test_rotated_copies_are_counted_where_no_corner_can_be_fixed() -> None:
    puzzle = family("diamond:2:2")(1).puzzle
    outcome = lns.exact.count(puzzle, "rowscan", fix_corner=True)
    assert outcome.solutions == count_solutions(puzzle)
    assert outcome.convention == "all solutions counted (no corner piece is fixed: holes)"


@pytest.mark.parametrize("text", ["tetravex:4x4", "tetravex:5x5:5", "tetravex:6x6:10", "triangle:4", "diamond:4"])
def test_larger_boards_have_the_same_count_by_three_methods(text: str) -> None:
    for seed in range(2):
        puzzle = family(text)(seed).puzzle
        counts = [lns.exact.count(puzzle, solver).solutions for solver in ("rowscan", "colorpairs", "xcc:counted")]
        assert len(set(counts)) == 1 and counts[0] > 0, counts
