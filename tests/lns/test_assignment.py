"""The assignment neighbourhood: exact on cells that do not touch, legal always."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lns.assignment import fill, reassign
from lns.instances.board import Board
from lns.instances.verify import verify
from lns.tabu.search import random_board
from tests.instances.small_puzzles import planted


@pytest.mark.parametrize("seed", range(10))
def test_reassignment_of_cells_that_do_not_touch_is_optimal(seed):
    puzzle, _ = planted(seed, 5, 5, 3)
    board = random_board(puzzle, np.random.default_rng(seed))
    cells = np.array([6, 8, 12, 16, 18], dtype=np.int32)  # inner cells, none beside another
    after = reassign(puzzle, board.placements, cells, board.placements[cells] >> 2)
    score = verify(puzzle, Board(after, 5, 5)).score
    best = -1
    for pieces in permutations((board.placements[cells] >> 2).tolist()):
        trial = board.placements.copy()
        for cell, piece in zip(cells, pieces, strict=True):  # each cell on its own: the best rotation
            options = []
            for rotation in range(4):
                trial[cell] = piece * 4 + rotation
                options.append((verify(puzzle, Board(trial, 5, 5)).score, rotation))
            trial[cell] = piece * 4 + max(options)[1]
        best = max(best, verify(puzzle, Board(trial, 5, 5)).score)
    assert score == best


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6), st.integers(1, 5), st.integers(0, 2), st.data())
def test_fill_completes_any_part_of_a_board(seed, width, height, colours, clues, data):
    puzzle, board = planted(seed, width, height, colours, min(clues, width * height))
    placements = board.placements.copy()
    placements[data.draw(st.lists(st.integers(0, puzzle.cells - 1)))] = -1
    partial = Board(placements, width, height)
    full = fill(puzzle, partial)
    judged = verify(puzzle, full)
    assert judged.valid and judged.full
    kept = partial.placements >= 0
    assert (full.placements[kept] == partial.placements[kept]).all()
    assert judged.score >= verify(puzzle, partial).score
