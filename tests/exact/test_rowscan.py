"""The row scan against brute force, against the counts of the field, and against itself when paused."""

import pytest

from lns.exact.outcome import SolveStatus
from lns.exact.rowscan import RowScan
from lns.exact.solvers import corner_variants, count, counted_rotations
from lns.instances.errors import InputError
from lns.instances.formats import load_puzzle
from lns.instances.generate import family, uniform
from lns.instances.puzzle import Puzzle, canonical
from tests.exact.brute import all_boards, count_solutions, rotated_copies_once, rotations
from tests.shared_data import shared


# field.md: solutions with all rotations counted, nodes of a plain row scan
@pytest.mark.parametrize(
    ("size", "solutions", "nodes"), [(3, 16, 132), (4, 36, 4470), (5, 16, 113_211), (6, 260, 69_284_103)]
)
def test_published_counts_and_nodes(size: int, solutions: int, nodes: int) -> None:
    puzzle = load_puzzle(str(shared("instances", f"owen{size}.txt")))
    outcome = count(puzzle, solver="rowscan")
    assert (outcome.solutions, outcome.nodes, outcome.status) == (solutions, nodes, SolveStatus.SOLVED)


@pytest.mark.parametrize(
    ("width", "height", "colours"), [(4, 4, 4), (5, 3, 3), (3, 5, 3), (6, 1, 2), (3, 3, 1), (2, 2, 2), (3, 2, 1)]
)
def test_fixed_corner_leaves_out_the_rotated_copies(width: int, height: int, colours: int) -> None:
    for seed in range(6):
        puzzle = uniform(width, height, colours, seed).puzzle
        boards = all_boards(puzzle)
        variants, convention = corner_variants(puzzle)
        outcome = count(puzzle, solver="rowscan", fix_corner=True)
        assert outcome.convention == convention
        looks = list(map(canonical, puzzle.pieces.tolist()))
        corners = [piece for piece, quad in enumerate(looks) if quad.count(0) == max(q.count(0) for q in looks)]
        unique = [piece for piece in corners if looks.count(looks[piece]) == 1]
        if unique:
            assert f"piece {unique[0] + 1} fixed" in convention and variants[0].clues[0].piece == unique[0]
            assert outcome.solutions == rotated_copies_once(puzzle)
            assert outcome.solutions * (4 if width == height else 2) == len(boards)
        else:
            assert "all rotations" in convention and "duplicate" in convention and outcome.solutions == len(boards)
        assert outcome.board is not None
        placed = tuple(map(tuple, puzzle.oriented[outcome.board.placements].tolist()))
        same = 1 if unique else len(rotations(puzzle, placed))
        assert counted_rotations(puzzle, outcome.board) == same


def test_no_corner_is_fixed_where_all_have_duplicates_or_there_are_clues() -> None:
    ends, middle = [[0, 1, 0, 0]] * 2, [[0, 1, 0, 2], [0, 2, 0, 3], [0, 3, 0, 1]]
    outcome = count(Puzzle(ends + middle, 5, 1), solver="rowscan", fix_corner=True)
    assert (outcome.solutions, outcome.convention) == (2, "all rotations counted (every corner piece has a duplicate)")
    assert outcome.board is not None and counted_rotations(Puzzle(ends + middle, 5, 1), outcome.board) == 2

    diamond = family("diamond:2:2")(1).puzzle
    outcome = count(diamond, solver="rowscan", fix_corner=True)
    assert outcome.solutions == count_solutions(diamond) and outcome.convention.endswith("is fixed: holes)")
    planted = uniform(4, 4, 4, 1).with_clues([5])
    outcome = count(planted.puzzle, solver="rowscan", fix_corner=True)
    assert outcome.solutions == count_solutions(planted.puzzle)
    assert "clues" in outcome.convention


def test_one_cell_and_too_many_colours() -> None:
    assert count(Puzzle([[0, 0, 0, 0]], 1, 1), solver="rowscan", fix_corner=True).solutions == 1
    wide = uniform(64, 64, 4096, 1)
    clued = wide.with_clues(range(0, 4096, 97)).puzzle
    with pytest.raises(InputError, match="the row scan takes at most"):
        RowScan(clued)
