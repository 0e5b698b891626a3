"""The arms of the bandit: what a restart teaches. Their values: test_arm_value; their states: test_loop."""

from dataclasses import replace

import numpy as np
import pytest

from lns.construct.candidates import comb_order
from lns.construct.constructor import Constructor
from lns.construct.kernel import KEY_SAMPLE_DIVISOR
from lns.construct.quota_arm import MAX_KEYS, Keys, PrefixNovelty
from lns.construct.quota_bandit import QuotaBandit
from lns.instances.formats import load_puzzle
from lns.instances.generate import uniform
from lns.instances.verify import verify
from lns.params import ConstructParams
from lns.rng import random_state
from tests.instances.small_puzzles import planted
from tests.lns.construct_parts import clues_of, schedule_of

QUICK = ConstructParams(population=300, restart_nodes=2_000_000, restart_nodes_without_prefix=1_000_000)


def searched(arms: QuotaBandit, target: int, restarts: int) -> int:
    """Search so many restarts for boards of ``target``, learning from each; how many prefixes they had."""
    puzzle = arms.puzzle
    random, prefixes = random_state(5), 0
    for _ in range(restarts):
        built = Constructor(puzzle, arms.params, arms.choose_schedule(puzzle.max_score - target), random)
        while not built.restart_due:
            board = built.run(500_000, target)
            assert board is None or verify(puzzle, board).score >= target
        arms.learn(built)
        prefixes += built.prefixes
    return prefixes


@pytest.mark.slow
def test_expected_numbers_of_boards_match_an_exhaustive_count():
    """Prefixes by breaks and sampled ends foretell, about, how many boards of a score an exhaustive count finds."""
    params = ConstructParams(population=300, quota_scale=0.0, restart_nodes=10**9)
    arms = QuotaBandit(load_puzzle("like-e2-10x10"), params, random_state(1))
    schedule, random, boards, nodes = arms.choose_schedule(12), random_state(2), 0, 0
    while nodes < 40_000_000:
        built = Constructor(arms.puzzle, arms.params, schedule, random)
        while not built.restart_due and nodes + built.nodes < 40_000_000:
            boards += built.run(1_000_000, 168) is not None
        arms.learn(built)
        nodes += built.nodes
    (expected,) = arms.boards(12)
    assert boards > 20 and boards / 2 < expected < 2 * boards, (boards, expected)


def test_a_schedule_is_chosen_after_a_perfect_board_too():
    puzzle = load_puzzle("like-e2-4x4")
    arms = QuotaBandit(puzzle, ConstructParams(population=100, schedule_slack=0), random_state(1))
    assert arms.choose_schedule(-1).cut == arms.choose_schedule(0).cut


@pytest.mark.parametrize("name", ["like-e2-8x8", "like-e2-12x20", "uniform-10x10"])
def test_some_arm_makes_prefixes_on_any_instance(name):
    puzzle = load_puzzle(name)
    arms = QuotaBandit(puzzle, QUICK, random_state(1))
    assert searched(arms, puzzle.max_score - 3, 12) > 0
    assert 100 in [arm.scale_percent for arm in arms.arms]


def test_exhausted_trees_are_not_searched_for_ever():
    puzzle = load_puzzle("like-e2-4x4")
    arms = QuotaBandit(puzzle, ConstructParams(population=100), random_state(1))
    searched(arms, puzzle.max_score, 30)
    assert all(arm.extra_breaks == arm.restarts for arm in arms.arms)
    assert sum(arm.restarts for arm in arms.arms) == 30


# -- frontier prefixes that were met before: a tree that was searched is told from a new one, in bounded memory --------

CHANCE = np.random.default_rng(7)


def some_keys(count: int) -> Keys:
    keys: Keys = CHANCE.integers(2**49, size=count, dtype=np.uint64) * np.uint64(KEY_SAMPLE_DIVISOR)
    return keys


def test_repeated_frontier_keys_are_not_counted_as_new():
    frontier_keys, keys = PrefixNovelty(), some_keys(99)
    assert frontier_keys.add(keys) == (99, 99)
    assert frontier_keys.add(keys) == (0, 99)
    assert frontier_keys.add(np.append(keys[:49], some_keys(50))) == (50, 99)
    assert frontier_keys.add(some_keys(0)) == (0, 0)
    assert frontier_keys.add(np.repeat(some_keys(1), 5)) == (1, 1), "a key counts once"


def test_the_novelty_rate_is_right_with_bounded_memory():
    frontier_keys, batches = PrefixNovelty(), [some_keys(9_000) for _ in range(20)]
    for batch in batches:
        frontier_keys.add(batch)
    assert MAX_KEYS / 4 < len(frontier_keys.keys) <= MAX_KEYS and frontier_keys.divisor == 4 * KEY_SAMPLE_DIVISOR
    assert (frontier_keys.keys % np.uint64(frontier_keys.divisor) == 0).all()
    for batch in batches[:5]:
        new, met = frontier_keys.add(np.append(batch, some_keys(9_000)))
        assert new / met == pytest.approx(0.5, abs=0.05) and met == pytest.approx(18_000 / 4, rel=0.1)


def test_the_parts_of_the_islands_are_disjoint_and_cover_the_tree():
    """Of a tree that is searched whole in ten million nodes, and has some hundred thousand stems."""
    puzzle = uniform(10, 10, 13, 2).puzzle
    schedule = schedule_of(comb_order(10, 10, 3, 0, 2))

    def searched_whole(part: int, parts: int, favoured: tuple[int, ...]) -> Constructor:
        dealt = replace(schedule, favoured=favoured)
        built = Constructor(puzzle, ConstructParams(), dealt, random_state(5), (part, parts))
        while not built.restart_due:
            built.run(10**7, puzzle.max_score)
        assert built.exhausted
        return built

    whole, *parts = (searched_whole(*lot, (1,)) for lot in ((0, 1), (0, 3), (1, 3), (2, 3)))
    assert sum(part.prefixes for part in parts) == whole.prefixes
    assert all(0.3 < part.nodes / whole.nodes < 0.37 for part in parts)
    keys = [key for part in parts for key in part.frontier_keys.tolist()]
    assert sorted(keys) == sorted(whole.frontier_keys.tolist()) and len(keys) > 10
    assert searched_whole(1, 3, ()).prefixes == whole.prefixes, "without a quota every island searches all"


def test_clue_cells_do_not_decide_the_island_of_a_prefix():
    """So that no island is left without any where the first rows are given."""
    plain, solution = planted(1, 10, 10, 9)
    schedule = schedule_of(comb_order(10, 10, 3, 0, 2), favoured=(1,))
    for puzzle, depth in ((plain, 16), (plain.with_clues(clues_of(solution, [*range(10), 13])), 27)):
        made = [Constructor(puzzle, ConstructParams(), schedule, random_state(5), (lot, 4)) for lot in range(4)]
        assert {built.plan.prefix.partition_depth for built in made} == {depth}
        for built in made:
            built.run(200_000, puzzle.max_score)
            assert built.nodes >= 200_000 and not built.exhausted
        firsts = [built.prefix.chosen[:depth].tobytes() for built in made]
        assert len(set(firsts)) == 4
    all_clued = plain.with_clues(clues_of(solution, range(25)))
    few_left = Constructor(all_clued, ConstructParams(), schedule, random_state(5), (1, 4))
    assert few_left.plan.prefix.partition_depth == 0
