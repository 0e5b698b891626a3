"""2x2 grouping, and the zig-zag with blocks of one piece, against brute force and published counts."""

from __future__ import annotations

import pytest

from lns.exact.blocks import Blocks
from lns.exact.piece_classes import distinct_count
from lns.instances.errors import InputError
from lns.instances.formats import load_puzzle
from lns.instances.generate import uniform
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests.exact.brute import count_solutions
from tests.exact.puzzles import small_puzzle
from tests.shared_data import shared


def finished(puzzle: Puzzle, size: int, step: int = 1 << 20) -> Blocks:
    search = Blocks(puzzle, size)
    while not search.exhausted:
        search.advance(step, False)
    return search


def test_counts_of_brute_force() -> None:
    grouped = 0
    for seed in range(150):
        puzzle = small_puzzle(seed, largest=16 if seed < 60 else 12)
        expected = count_solutions(puzzle)
        for size in (1, 2):
            if puzzle.width % size or puzzle.height % size:
                continue
            grouped += size - 1
            search = finished(puzzle, size)
            assert distinct_count(search.solutions, puzzle) == expected, (seed, size)
            board = search.first_board()
            assert (board is not None) == (expected > 0)
            assert board is None or verify(puzzle, board).score == puzzle.max_score
    assert grouped > 20


def test_steps_do_not_change_the_tree() -> None:
    puzzle = uniform(4, 4, 3, seed=4).puzzle
    whole, steps = finished(puzzle, 2), finished(puzzle, 2, step=3)
    assert whole.state.per_level.tolist() == steps.state.per_level.tolist()
    assert whole.nodes == whole.state.per_level.sum()
    assert whole.state.per_level[-1] == whole.solutions


def test_odd_sides_and_too_many_blocks_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """uniform(16, 16, 2) has 1.1e10 blocks on one inner place; counting them would take hours in one kernel call."""
    with pytest.raises(InputError, match="even width and height"):
        Blocks(uniform(5, 4, 4).puzzle)
    monkeypatch.setattr("lns.exact.blocks.MAX_BLOCKS", 1500)
    with pytest.raises(InputError, match="more than 1,500 blocks of 2x2 pieces"):
        Blocks(uniform(6, 6, 2, 1).puzzle)


def test_blocks_of_eternity_2() -> None:
    """Published counts: 5,248 at corners, 292,012 on edges, 4,059,952 inside."""
    puzzle = load_puzzle(str(shared("instances", "eternity2.txt")))
    search = Blocks(puzzle)
    by_grey: dict[int, int] = {}
    for grey, count in search.by_class.items():
        rim = sum(side for cell in grey for side in cell)
        by_grey[rim] = by_grey.get(rim, 0) + count
    assert by_grey == {4: 5_248, 2: 292_012, 0: 4_059_952}
