"""Puzzles without frame, without turns and with holes: every solver that takes them counts what brute force counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import lns.exact
from lns.exact.colorpairs.options import Heuristic, Options
from lns.exact.cover.search import cover_by_library
from lns.exact.cp import solve_by_cp_sat
from lns.exact.execution import Request
from lns.exact.registry import SOLVERS
from lns.exact.rowscan import run_rowscan
from lns.exact.sat.search import Job, search
from lns.exact.solvers import run_colorpairs
from lns.instances.errors import InputError
from lns.instances.generate import family
from lns.instances.puzzle import Clue, Puzzle
from lns.instances.verify import verify
from tests.exact.brute import count_solutions
from tests.exact.test_agreement import child_count, proven_count

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
            cells = [cell for cell in range(puzzle.cells) if cell not in puzzle.holes]
            cell = int(random.choice(cells))
            puzzle = puzzle.with_clues([Clue(cell, *divmod(int(planted.solution.placements[cell]), 4))])
        drawn.append(puzzle)
    return drawn


def unframed_with_a_hole(seed: int, *, turns: bool) -> Puzzle:
    """A ring of eight pieces around a hole, in two colours."""
    quads = np.random.default_rng(seed).integers(1, 3, (3, 3, 4))
    quads[1:, :, 0], quads[:, 1:, 3] = quads[:-1, :, 2], quads[:, :-1, 1]
    quads[0, 1, 2] = quads[1, 0, 1] = quads[1, 2, 3] = quads[2, 1, 0] = 0
    return Puzzle(np.delete(quads.reshape(-1, 4), 4, axis=0), 3, 3, holes=(4,), framed=False, turns=turns)


COVERS = ("dlx", "dlx:binary", "xcc:counted")
EVERYTHING = Options(single_colours=True, shared_edges=True, cycles=True, values=True, shaving=True)


@pytest.mark.parametrize("text", FAMILIES)
def test_the_tree_searches_count_what_brute_force_counts(text: str) -> None:
    for puzzle in puzzles(text, 9):
        wanted = count_solutions(puzzle)
        request = Request(count_all=True)
        assert proven_count(run_rowscan(puzzle, request)) == wanted, puzzle
        for options in (
            Options(), EVERYTHING, Options(heuristic=Heuristic.ROW_MAJOR), Options(backjumping=False, preemption=False),
            Options(opposite=False, motifs=False),
        ):  # fmt: skip
            assert proven_count(run_colorpairs(puzzle, replace(request, options=options))) == wanted, (puzzle, options)


@pytest.mark.parametrize("turns", [True, False])
def test_a_hole_in_a_board_without_frame(turns: bool) -> None:
    for seed in range(6):
        puzzle = unframed_with_a_hole(seed, turns=turns)
        wanted = count_solutions(puzzle)
        assert wanted > 0
        for solver in ("colorpairs", "rowscan", "dlx"):
            assert lns.exact.count(puzzle, solver).solutions == wanted, solver


@pytest.mark.parametrize("text", FAMILIES)
def test_cover_encodings_and_libraries_count_what_brute_force_counts(text: str) -> None:
    jobs = [Job(encoding, "glucose42", True) for encoding in ("triangles", "full-4", "full-2", "half-3", "half-2")]
    counted = {}
    for puzzle in puzzles(text, 3):
        counted[puzzle] = {code: proven_count(SOLVERS[code](puzzle, Request(count_all=True))) for code in COVERS}
        assert set(counted[puzzle].values()) == {count_solutions(puzzle)}, (puzzle, counted[puzzle])
    for module in ("pysat", "ortools", "xcover"):
        pytest.importorskip(module)
    for puzzle, found in counted.items():
        for job in [*jobs, Job("triangles", "cadical195", True, restricted=True)]:
            found[str(job)] = child_count(search, puzzle, job)
        found["xcc"] = child_count(cover_by_library, puzzle, True)
        found["cp"] = child_count(solve_by_cp_sat, puzzle, True, None)
        assert set(found.values()) == {count_solutions(puzzle)}, (puzzle, found)


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
        counts = {
            solver: lns.exact.count(puzzle, solver).solutions for solver in ("rowscan", "colorpairs", "xcc:counted")
        }
        assert len(set(counts.values())) == 1 and counts["rowscan"] > 0, counts
