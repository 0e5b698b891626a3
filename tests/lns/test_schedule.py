"""Which colours a construction favours."""

from __future__ import annotations

import time
from itertools import combinations, product

import numpy as np
import pytest

from lns.construct.candidates import BREAK_COST
from lns.construct.schedule import colour_classes, favoured_colours
from lns.instances.formats import load_puzzle
from lns.instances.generate import like_e2, uniform


def test_favoured_colours_are_those_of_the_fewest_pieces():
    puzzle = load_puzzle("like-e2-8x8")
    outer, inner = colour_classes(puzzle)
    for sizes in ((0, 0), (1, 2), (2, 1), (9, 2)):
        sets = product(combinations(outer, min(sizes[0], len(outer))), combinations(inner, sizes[1]))
        carried = {a + b: int(np.isin(puzzle.pieces, a + b).any(axis=1).sum()) for a, b in sets}
        assert favoured_colours(puzzle, *sizes) == min(carried, key=lambda colours: (carried[colours], colours))


@pytest.mark.parametrize(
    "size, colours, wanted, favoured",
    [
        ((8, 8), 8, 2, 2), ((16, 16), 17, 1, 1), ((16, 16), 17, 2, 2), ((16, 16), 17, 8, 8), ((12, 20), 17, 2, 2),
        ((18, 18), 18, 2, 3), ((20, 20), 20, 2, 3), ((20, 20), 20, 0, 0), ((18, 20), 20, 2, 3), ((24, 24), 24, 2, 5),
        ((24, 24), 12, 2, 3), ((24, 24), 8, 2, 2), ((24, 24), 8, 3, 3), ((40, 40), 51, 2, 7),
    ],
)  # fmt: skip
def test_boards_larger_than_16x16_favour_more_inner_colours_in_proportion(size, colours, wanted, favoured):
    puzzle = like_e2(*size, inner_colours=colours, seed=1).puzzle
    inner = set(colour_classes(puzzle)[1])
    chosen = favoured_colours(puzzle, 1, wanted)
    assert len(inner & set(chosen)) == favoured and len(chosen) == favoured + 1
    if favoured > wanted:  # more than it was asked for: they have a quota
        assert np.isin(puzzle.pieces, chosen).sum() < BREAK_COST


def test_hundreds_of_colours_are_no_reason_to_wait():
    puzzle = uniform(16, 16, 400, 1).puzzle
    began = time.process_time()
    for sizes in ((1, 2), (5, 8)):
        assert len(favoured_colours(puzzle, *sizes)) in (sum(sizes), sizes[1])
    assert time.process_time() - began < 3
