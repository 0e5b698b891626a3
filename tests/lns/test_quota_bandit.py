"""The arms of the bandit: what a restart teaches. Their values: test_arm_value; their states: test_loop."""

from dataclasses import replace

import numpy as np
import pytest

from lns.construct.candidates import comb_order
from lns.construct.constructor import Constructor
from lns.construct.kernel import KEY_SAMPLE_DIVISOR
from lns.construct.quota_arm import MAX_KEYS, Keys, PrefixNovelty
from lns.construct.quota_bandit import QuotaBandit
from lns.construct.schedule import BreakSchedule
from lns.instances.formats import load_puzzle
from lns.instances.generate import uniform
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.params import ConstructParams
from lns.rng import random_state
from tests.instances.small_puzzles import planted
from tests.lns.construct_parts import clues_of, schedule_of

QUICK = ConstructParams(population=300, restart_nodes=2_000_000, restart_nodes_without_prefix=1_000_000)


def begun(name: str = "like-e2-10x10", mismatches: int = 20, **params: float) -> tuple[QuotaBandit, Constructor]:
    """A bandit without quotas, unless ``params`` say otherwise, and the constructor of its first restart."""
    puzzle, defaults = load_puzzle(name), {"population": 300, "quota_scale": 0.0}
    arms = QuotaBandit(puzzle, ConstructParams(**{**defaults, **params}), random_state(1))  # type: ignore[arg-type]
    return arms, Constructor(puzzle, arms.params, arms.choose_schedule(mismatches), random_state(2))


def searched(arms: QuotaBandit, target: int, restarts: int) -> Constructor:
    """Search so many restarts for boards of ``target``, learning from each."""
    puzzle = arms.puzzle
    built = Constructor(puzzle, arms.params, arms.choose_schedule(puzzle.max_score - target), random_state(5))
    for _ in range(restarts):
        while not built.restart_due:
            board = built.run(500_000, target)
            assert board is None or verify(puzzle, board).score >= target
        arms.learn(built)
        built.restart(arms.choose_schedule(puzzle.max_score - target))
    return built


@pytest.mark.slow
def test_expected_numbers_of_boards_match_an_exhaustive_count():
    """Prefixes by breaks and sampled ends foretell, about, how many boards of a score an exhaustive count finds."""
    (arms, built), boards = begun(mismatches=12, restart_nodes=10**9), 0
    while built.nodes < 40_000_000:
        if built.restart_due:
            arms.learn(built)
            built.restart(built.schedule)
        boards += built.run(1_000_000, 168) is not None
    arms.learn(built)
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
    built = searched(arms, puzzle.max_score - 3, 12)
    assert built.prefixes > 0
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


def small_tree() -> tuple[Puzzle, BreakSchedule]:
    """One that is searched whole in ten million nodes, and has some hundred thousand stems."""
    puzzle = uniform(10, 10, 13, 2).puzzle
    return puzzle, schedule_of(comb_order(10, 10, 3, 0, 2))


def search_all(built: Constructor, nodes: int = 10**7) -> None:
    while not built.restart_due:
        built.run(nodes, built.puzzle.max_score)
    assert built.exhausted


def test_the_parts_of_the_islands_are_disjoint_and_cover_the_tree():
    puzzle, schedule = small_tree()
    dealt = replace(schedule, favoured=(1,))
    whole, *parts = (
        Constructor(puzzle, ConstructParams(), dealt, random_state(5), lot) for lot in ((0, 1), (0, 3), (1, 3), (2, 3))
    )
    for built in (whole, *parts):
        search_all(built)
    assert sum(part.prefixes for part in parts) == whole.prefixes
    assert all(0.3 < part.nodes / whole.nodes < 0.37 for part in parts)
    keys = [key for part in parts for key in part.frontier_keys.tolist()]
    assert sorted(keys) == sorted(whole.frontier_keys.tolist()) and len(keys) > 10
    without = Constructor(puzzle, ConstructParams(), schedule, random_state(5), (1, 3))
    search_all(without)
    assert without.prefixes == whole.prefixes, "without a quota every island searches all"


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
