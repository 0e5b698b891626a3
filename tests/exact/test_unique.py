"""Constructions of seed 003: single solutions (5.2) and 3-partition (section 3), judged by tree search."""

import itertools
from collections.abc import Callable

import pytest

from lns.exact.outcome import SolveStatus
from lns.exact.solvers import count, counted_rotations, solve
from lns.instances.errors import InputError
from lns.instances.generate import three_partition, triples_of, unique

SHAPES = [(w, h) for w in range(2, 11) for h in range(2, w + 1)]


def solutions(width: int, height: int, construction: str, attempt: int) -> int:
    planted = unique(width, height, construction, seed=1, attempt=attempt)
    outcome = count(planted.puzzle, solver="rowscan", fix_corner=True, seconds=20)
    assert outcome.status is SolveStatus.SOLVED
    return outcome.solutions // counted_rotations(planted.puzzle, planted.solution)  # a 2x2 board has duplicate corners


def test_lines_of_own_colours_are_unique_unless_both_sides_are_even() -> None:
    """The induction in Jolivet 2008 misses that a middle line is its own mirror image."""
    for width, height in SHAPES:
        both_even = width % 2 == 0 and height % 2 == 0 and width > 2
        assert solutions(width, height, "m+n-2", 0) == (2 if both_even else 1), (width, height)


def test_the_main_diagonal_leaves_one_solution_and_the_other_may_leave_two() -> None:
    """Jolivet 2008, 5.2: "en coloriant la diagonale d'une certaine manière", up to 10x10."""
    shapes = [shape for shape in SHAPES if min(shape) > 2]
    assert [shape for shape in shapes if solutions(*shape, "max", 0) != 1] == []
    two = [(5, 4), (6, 5), (7, 5), (7, 6), (8, 5), (8, 7), (9, 5), (9, 7), (9, 8), (10, 5), (10, 7), (10, 9)]
    assert {shape: solutions(*shape, "max", 1) for shape in shapes} == {shape: 1 + (shape in two) for shape in shapes}


@pytest.mark.parametrize("numbers", [[1, 1, 1], [2, 2, 3], [3, 3, 4, 3, 4, 3], [4, 5, 4, 4, 6, 5], [4, 4, 4, 6, 6, 6]])
def test_three_partition_is_solved_through_the_puzzle(numbers: list[int]) -> None:
    puzzle = three_partition(numbers, seed=2)
    size = sum(numbers) * 3 // len(numbers)
    splits = any(
        all(sum(order[at : at + 3]) == size for at in range(0, len(numbers), 3))
        for order in itertools.permutations(numbers)
    )
    outcome = solve(puzzle, solver="rowscan", seconds=60)
    assert outcome.status is (SolveStatus.SOLVED if splits else SolveStatus.INFEASIBLE)
    assert puzzle.colours <= len(numbers) + 6
    if splits:
        assert outcome.board is not None
        triples = triples_of(puzzle, outcome.board, numbers)
        assert all(sum(triple) == size for triple in triples)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [(lambda: three_partition([1, 2]), "multiple of m"), (lambda: three_partition([1, 5, 6]), "strictly between"),
     (lambda: unique(4, 4, "min"), "unknown construction"), (lambda: unique(4, 1, "max"), "two rows")],
)  # fmt: skip
def test_impossible_constructions_are_refused(make: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make()
