"""Regions and counts under every rule, order and option against brute force, with fixed seeds.

See `tests.fuzz_region` and `tests.fuzz_exact`.
"""

from collections import Counter
from itertools import islice

import numpy as np
import pytest

from lns.exact.region.options import ORDERS, RegionOptions
from lns.exact.region.resolve import resolve
from lns.exact.region.windows import rows
from lns.instances.board import Board
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from tests import fuzz_exact, fuzz_region
from tests.fuzz_region import HEURISTICS, questions
from tests.instances.small_puzzles import planted, rules_of


@pytest.mark.parametrize(("seed", "unusual"), [(10_000, 0.0), (20_000, 0.6)])
def test_regions(seed: int, unusual: float) -> None:
    assert fuzz_region.main(800, seed, unusual) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "unusual"), [(110_000, 0.0), (120_000, 0.6)])
def test_regions_for_a_minute(seed: int, unusual: float) -> None:
    assert fuzz_region.main(12_000, seed, unusual) == 0


def test_counts() -> None:
    assert fuzz_exact.main(600, 10_000) == 0


@pytest.mark.slow
def test_counts_for_a_minute() -> None:
    assert fuzz_exact.main(4_000, 110_000) == 0


def test_the_questions_cover_every_rule_and_option() -> None:
    asked = list(questions(10_000, 300, 0.5))
    rules = Counter(rule for _, window, _ in asked for rule in rules_of(window.puzzle))
    share = {rule: number / len(asked) for rule, number in rules.items()}
    assert min(share["no turns"], share["holes"]) > 0.2, share
    assert len(share) >= 10 and min(share.values()) > 0.05, share
    drawn = Counter((name, value) for _, _, options in asked for name, value in options.items())
    assert all(drawn["order", order] > 600 for order in ORDERS)
    assert all(drawn["heuristic", heuristic] > 200 for heuristic in HEURISTICS)

    counts = [puzzle for puzzle, _, _, _ in islice(fuzz_exact.questions(10_000), 1000)]
    share = {rule: n / 1000 for rule, n in Counter(rule for puzzle in counts for rule in rules_of(puzzle)).items()}
    assert len(share) >= 8 and min(share.values()) > 0.05, share


def test_a_piece_that_may_not_be_turned_offers_the_pairs_of_all_its_sides() -> None:
    """The smallest false proof there was: one of three edges was called the best, and all three can match."""
    puzzle = Puzzle(np.array([[0, 0, 5, 0], [1, 0, 0, 0], [5, 0, 1, 0], [5, 0, 5, 0]]), 1, 4, turns=False)
    board = Board(np.array([0, 8, 12, 4]), 1, 4)
    assert verify(puzzle, board).score == 1
    for order in ORDERS:
        result = resolve(puzzle, board, range(4), options=RegionOptions(order, dynamic_after=0))
        assert result.proven and result.score == 3

    tetravex, solution = planted(2, 9, 9, 6, framed=False, turns=False)
    damaged, region = solution.with_pieces([0, 40], solution.placements[[40, 0]]), rows(tetravex, 0, 6)
    for order in ORDERS:
        options = RegionOptions(order, dynamic_after=100)
        result = resolve(tetravex, damaged, region, target=144, nodes=200_000, options=options)
        assert result.bound == 144, order
