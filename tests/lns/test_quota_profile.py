"""What quotas ask for: the census against enumeration, the plan against all thresholds, clues, odd boards."""

from itertools import product

import numpy as np
import pytest

from lns.construct.candidates import FloatArray
from lns.construct.population import (
    PREFIXES_PER_STRATUM,
    SAMPLES,
    STRATA,
    backward_induction,
    count_children,
    quota_profile,
)
from lns.construct.schedule import Quota, cell_order, favoured_colours, quota_end
from lns.instances.generate import like_e2, uniform
from lns.instances.puzzle import DOWN, GREY, LEFT, RIGHT, UP, Clue, Puzzle
from lns.params import ConstructParams
from tests.instances.small_puzzles import planted


def prefixes(puzzle: Puzzle, depth: int) -> list[list[int]]:
    """All ways to fill the first ``depth`` cells row by row without a mismatch, equal rotations told apart."""
    found: list[list[int]] = [[]]
    for cell in range(depth):
        grey = puzzle.rim_sides(cell)
        after = []
        for placed in found:
            for oriented, quad in enumerate(puzzle.oriented.tolist()):
                fits = tuple(colour == GREY for colour in quad) == grey
                fits &= oriented >> 2 not in [one >> 2 for one in placed]
                fits &= not cell % puzzle.width or puzzle.oriented[placed[cell - 1]][RIGHT] == quad[LEFT]
                fits &= cell < puzzle.width or puzzle.oriented[placed[cell - puzzle.width]][DOWN] == quad[UP]
                after += [[*placed, oriented]] * bool(fits)
        found = after
    return found


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_child_counts_of_all_prefixes_are_exact(seed):
    """As long as no stratum is full, every prefix is looked at, once in each population."""
    puzzle, favoured, depths = planted(seed, 4, 4, 4)[0], (1, 3), 4
    order = np.arange(16, dtype=np.int32)
    census = count_children(puzzle, order, favoured, depths)
    has = np.isin(puzzle.pieces, favoured).sum(axis=1)
    met = 0
    for depth in range(depths):
        used = [sum(int(has[one >> 2]) for one in placed) for placed in prefixes(puzzle, depth)]
        assert max(used.count(number) for number in used) <= PREFIXES_PER_STRATUM and max(used) < STRATA
        parents = SAMPLES * np.bincount(used, minlength=census.parents.shape[1])
        assert np.array_equal(census.parents[depth], parents)
        pairs = np.zeros_like(census.children[depth])
        for placed in prefixes(puzzle, depth + 1):
            more = int(has[placed[-1] >> 2])
            pairs[sum(int(has[one >> 2]) for one in placed) - more, more] += SAMPLES
        assert np.array_equal(census.children[depth], pairs)
        met += len(used)
    assert census.reached == depths and met > 20


def worth_of(children: FloatArray, worth: FloatArray, asked: tuple[int, ...]) -> float:
    """Of the empty board, less the nodes, where a prefix of each depth must have used what is ``asked``: forwards."""
    at, total = {0: 1.0}, 0.0
    for depth, least in enumerate(asked):
        after: dict[int, float] = {}
        for used, many in at.items():
            for more, mean in enumerate(children[depth, used]):
                if used + more < len(worth) and used + more >= least:
                    after[used + more] = after.get(used + more, 0.0) + many * mean
        at = after
        total -= sum(at.values())
    return total + sum(many * worth[used] for used, many in at.items())


def test_the_thresholds_of_the_quota_profile_are_optimal():
    chance = np.random.default_rng(5)
    planned = 0
    for _ in range(30):
        numbers, depths = 8, 3  # more than can be used
        children = chance.random((depths, 1, 3)).repeat(numbers, axis=1) * [1.5, 0.8, 0.3]
        worth = np.maximum(0, np.sort(chance.random(numbers)) * 24 - 8)
        with np.errstate(divide="ignore"):
            asked, value = backward_induction(children, np.log(worth))
        value = np.exp(value)
        best = max(worth_of(children, worth, each) for each in product(range(numbers + 1), repeat=depths))
        if value > 0:
            assert worth_of(children, worth, tuple(asked.tolist())) == pytest.approx(value)
            planned += 1
        assert value == pytest.approx(max(best, 0.0))
    assert planned > 10


def test_a_quota_rises_until_its_end_and_some_prefixes_satisfy_it():
    puzzle = like_e2(16, 16, seed=5).puzzle
    favoured, order = favoured_colours(puzzle, 1, 2), cell_order(puzzle, ConstructParams())
    asked = quota_profile(puzzle, tuple(order.tolist()), favoured, 160)
    quota = Quota(favoured, asked, 0.95)
    floor, total = quota.floor(256), int(np.isin(puzzle.pieces, favoured).sum())
    assert list(asked) == sorted(asked)
    assert 0.9 * total <= floor[159] <= total and (floor[160:] == 0).all()
    census = count_children(puzzle, order, favoured, 160)
    kept = [census.parents[depth + 1, floor[depth] :].sum() for depth in range(159)]
    assert min(kept) > 0, "some prefixes of the census keep to a little less at every depth"
    assert (quota.scaled(0.0).floor(256) == 0).all() and quota.scaled(0.5).scale == pytest.approx(0.475)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("puzzle", [like_e2(24, 24, 5, 10, seed=2).puzzle, uniform(16, 16, 2, seed=3).puzzle])
def test_large_boards_and_those_of_few_colours_have_a_profile(puzzle):
    favoured, cut = favoured_colours(puzzle, 1, 2), quota_end(puzzle.cells)
    asked = quota_profile(puzzle, tuple(cell_order(puzzle, ConstructParams()).tolist()), favoured, cut)
    assert list(asked) == sorted(asked) and 0 < asked[-1] <= np.isin(puzzle.pieces, favoured).sum()


def test_clues_that_no_prefix_passes_are_left_out():
    """No piece fits between the two clues: it would cost a break, and none is made in the measurement."""
    puzzle = planted(3, 6, 6, 9)[0]
    favoured, order = favoured_colours(puzzle, 1, 2), np.arange(36, dtype=np.int32)
    quads = puzzle.oriented
    inner = [one for one in range(144) if (quads[one] != GREY).all()]
    left, right = next(
        (a, b)
        for a in inner
        for b in inner
        if a >> 2 != b >> 2
        and not any(quads[c][LEFT] == quads[a][RIGHT] and quads[c][RIGHT] == quads[b][LEFT] for c in inner)
    )
    clued = puzzle.with_clues((Clue(7, left >> 2, left & 3), Clue(9, right >> 2, right & 3)))
    assert (
        count_children(clued, order, favoured, 22).reached < 22 == count_children(puzzle, order, favoured, 22).reached
    )
    cells = tuple(order.tolist())
    assert quota_profile(clued, cells, favoured, 22) == quota_profile(puzzle, cells, favoured, 22)
