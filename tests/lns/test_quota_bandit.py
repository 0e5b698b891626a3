"""The arms of the bandit: what a restart teaches. Their values: test_arm_value; their states: test_loop."""

from dataclasses import replace

import numpy as np
import pytest

from lns.construct.candidates import MAX_BREAKS, PIECE_MASK, comb_order
from lns.construct.constructor import SURPLUS_BINS, Constructor
from lns.construct.kernel import KEY_SAMPLE_DIVISOR, MAX_FRONTIER_KEYS, TAIL_SAMPLE_NODES
from lns.construct.quota_arm import MAX_KEYS, RATE_FACTOR_PER_EXTRA_BREAK, Keys, PrefixNovelty
from lns.construct.quota_bandit import QuotaBandit
from lns.construct.schedule import BreakSchedule, best_schedule, break_schedule, quota_end
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


def test_child_counts_count_every_placement_once():
    arms, built = begun()
    puzzle = built.puzzle
    built.run(3_000_000, puzzle.max_score)
    assert built.prefixes > 0 and not built.restart_due
    counted = built.prefix.child_counts.reshape(puzzle.cells, 2, MAX_BREAKS)
    assert counted.sum() == built.nodes_since_restart
    allowed = built.schedule.allowed
    for depth in range(puzzle.cells):
        assert not counted[depth, :, allowed[depth] + 1 :].any(), "no prefix spends more than its schedule allows"
        assert not counted[depth, 1, 0].any(), "a breaking placement has spent a break"
    arm = arms.arms[0]
    arm.learn(built, 0, 0)
    first = int(built.schedule.unlock[0])
    assert arm.child_counts[2, :first].sum() == 0, "before the first unlock nothing breaks"
    known = arm.shrunk_estimate()
    busy = int(arm.child_counts[1].argmax())
    met = arm.child_counts[0, busy] / arm.child_counts[1, busy]
    assert min(met, arm.prior.exact[busy]) <= known.exact[busy] <= max(met, arm.prior.exact[busy])
    assert abs(known.exact[busy] - met) < abs(known.exact[busy] - arm.prior.exact[busy]), "what was met counts most"


def test_prefixes_are_counted_by_breaks_and_some_are_finished_as_well_as_can_be():
    _, built = begun(mismatches=15)
    for _ in range(40):
        built.run(1_000_000, built.puzzle.max_score)
        if built.restart_due:
            break
    assert built.prefixes_by_breaks.sum() == built.prefixes > 0
    assert not built.prefixes_by_breaks[built.schedule.allowed[built.schedule.cut - 1] + 1 :].any()
    assert 0 < built.tail_outcomes.sum() <= 1 + built.nodes // TAIL_SAMPLE_NODES


def test_the_surplus_of_prefixes_past_the_quota_is_sampled():
    puzzle = load_puzzle("like-e2-10x10")
    arms = QuotaBandit(puzzle, ConstructParams(population=300), random_state(1))
    arms.current = arms.add_arm(92)
    arm, end = arms.arms[arms.current], quota_end(puzzle.cells)
    arms.forecast = best_schedule(arm.shrunk_estimate(), puzzle, arms.params, 20)
    built = Constructor(puzzle, arms.params, arms.schedule(), random_state(2))
    half_edges = np.isin(puzzle.pieces, built.schedule.favoured).sum(axis=1)
    total = np.zeros(SURPLUS_BINS, dtype=np.int64)
    for _ in range(10):
        expected = np.zeros(SURPLUS_BINS, dtype=np.int64)
        for _ in range(50):
            built.run(10_000, puzzle.max_score)
            if built.prefix.scalars[0] >= end:
                placed = built.prefix.chosen[:end] & int(PIECE_MASK)
                surplus = half_edges[placed].sum() - built.schedule.quota_floor[end - 1]
                expected[min(surplus, SURPLUS_BINS - 1)] += 1
        assert built.surplus_counts.tolist() == expected.tolist()
        arm.learn(built, 0, 0)
        total += expected
        assert arm.surplus_counts.tolist() == total.tolist()
        built.restart(arms.schedule())
        assert not built.surplus_counts.any()
    assert total.sum() > 200 and (total > 0).sum() > 2


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


def test_an_expensive_exact_tail_is_sampled_more_rarely():
    _, built = begun(mismatches=8, tail=12)
    while built.nodes < 3_000_000:
        built.run(1_000_000, built.puzzle.max_score)
        if built.restart_due:
            built.restart(built.schedule)
    assert 0 < built.tail_nodes < built.nodes / 20


@pytest.mark.parametrize("name", ["like-e2-8x8", "like-e2-12x20", "uniform-10x10"])
def test_some_arm_makes_prefixes_on_any_instance(name):
    puzzle = load_puzzle(name)
    arms = QuotaBandit(puzzle, QUICK, random_state(1))
    built = searched(arms, puzzle.max_score - 3, 12)
    assert built.prefixes > 0
    assert 100 in [arm.scale_percent for arm in arms.arms]


def one_shuffle() -> tuple[QuotaBandit, Constructor]:
    """Of a small board: it is over, and nothing was learned of it yet."""
    arms, built = begun("like-e2-8x8", 4, quota_scale=ConstructParams().quota_scale)
    while not built.restart_due:
        built.run(500_000, built.puzzle.max_score)
    return arms, built


@pytest.mark.slow
def test_an_arm_learns_the_novelty_rate_from_a_restart():
    """Through a whole tree: all of it is new once; looser ones are other trees, and are expected to be worth less."""
    arms, built = one_shuffle()
    assert built.exhausted and built.prefixes
    arm = arms.arms[arms.current]
    arms.learn(built)
    assert arm.extra_breaks == 1 and arm.novelty_rate == RATE_FACTOR_PER_EXTRA_BREAK
    assert arm.prefixes_by_breaks.sum() == built.prefixes
    frontier_keys = np.arange(1, 9, dtype=np.uint64) * np.uint64(KEY_SAMPLE_DIVISOR)
    built.restart(built.schedule)
    built.exhausted = False
    for _ in range(2):  # the same stems twice
        built.prefix.frontier_keys[0], built.prefix.frontier_keys[1:9] = 8, frontier_keys
        arms.learn(built)
        built.restart(built.schedule)
    assert arm.novelty_rate == pytest.approx((8 / 2 + 1) / (8 / 2 + 8 + 1) * RATE_FACTOR_PER_EXTRA_BREAK)
    before_outlook = arm.novelty_rate
    built.prefix.frontier_keys[0] = 0
    arms.learn(built)
    assert arm.novelty_rate == before_outlook, "a shuffle that met nothing tells nothing"


@pytest.mark.slow
def test_child_counts_of_tail_cells_come_from_populations_only():
    """Their children are in no census: what populations say of them stands."""
    arms, built = one_shuffle()
    arms.learn(built)
    arm, cut = arms.arms[0], built.schedule.cut
    assert built.prefixes > 1000 and arm.child_counts[:, cut - 1].any()
    for said, known in (
        (arm.prior.exact, arm.shrunk_estimate().exact),
        (arm.prior.breaking, arm.shrunk_estimate().breaking),
    ):
        assert known[cut:].tolist() == pytest.approx(said[cut:].tolist())


def test_no_break_unlocks_before_the_end_of_the_quota():
    """The forecast sees no breaks there, so that an unlock is worth as much too early as in time."""
    puzzle = load_puzzle("like-e2-10x10")
    arms = QuotaBandit(puzzle, ConstructParams(population=300), random_state(1))
    for percent in (107, 105, 103):
        arms.current = arms.add_arm(percent)
        arm = arms.arms[arms.current]
        arms.forecast = best_schedule(arm.shrunk_estimate(), puzzle, arms.params, 7)
        schedule = arms.schedule()
        assert (schedule.quota_floor > 0).any() and not (schedule.quota_floor[schedule.allowed > 0] > 0).any()
        shifted = break_schedule(arm.prior, arms.forecast, puzzle, replace(arms.params, break_shift=40))
        assert not (shifted.quota_floor[shifted.allowed > 0] > 0).any()


def test_exhausted_trees_are_not_searched_for_ever():
    puzzle = load_puzzle("like-e2-4x4")
    arms = QuotaBandit(puzzle, ConstructParams(population=100), random_state(1))
    searched(arms, puzzle.max_score, 30)
    assert all(arm.extra_breaks == arm.restarts for arm in arms.arms)
    assert sum(arm.restarts for arm in arms.arms) == 30


def test_a_restart_without_a_prefix_changes_no_estimate_but_is_counted():
    usual = ConstructParams().quota_scale
    arms, built = begun("like-e2-16x16", 15, population=100, restart_nodes_without_prefix=1000, quota_scale=usual)
    built.run(10_000, built.puzzle.max_score)
    assert built.restart_due and built.no_prefix_found
    arm = arms.arms[0]
    arm.learn(built, 0, 0)
    assert arm.no_prefix_found and arm.restarts == 1 and arm.node_equivalents >= 1000


# -- frontier prefixes that were met before: a tree that was searched is told from a new one, in bounded memory --------

CHANCE = np.random.default_rng(7)


def some_keys(count: int) -> Keys:
    keys: Keys = CHANCE.integers(2**49, size=count, dtype=np.uint64) * np.uint64(KEY_SAMPLE_DIVISOR)
    return keys


def test_repeated_frontier_keys_are_not_counted_as_new():
    frontier_keys, keys = PrefixNovelty(), some_keys(99)
    assert frontier_keys.count(keys) == (99, 99)
    frontier_keys.add(keys)
    assert frontier_keys.count(keys) == (0, 99)
    assert frontier_keys.count(np.append(keys[:49], some_keys(50))) == (50, 99)
    assert frontier_keys.count(some_keys(0)) == (0, 0)
    assert frontier_keys.count(np.repeat(some_keys(1), 5)) == (1, 1), "a key counts once"


def test_the_novelty_rate_is_right_with_bounded_memory():
    frontier_keys, batches = PrefixNovelty(), [some_keys(9_000) for _ in range(20)]
    for batch in batches:
        frontier_keys.add(batch)
    assert MAX_KEYS / 4 < len(frontier_keys.keys) <= MAX_KEYS and frontier_keys.divisor == 4 * KEY_SAMPLE_DIVISOR
    assert (frontier_keys.keys % np.uint64(frontier_keys.divisor) == 0).all()
    for batch in batches:
        new, met = frontier_keys.count(np.append(batch, some_keys(9_000)))
        assert new / met == pytest.approx(0.5, abs=0.05) and met == pytest.approx(18_000 / 4, rel=0.1)


def small_tree() -> tuple[Puzzle, BreakSchedule]:
    """One that is searched whole in ten million nodes, and has some hundred thousand stems."""
    puzzle = uniform(10, 10, 13, 2).puzzle
    return puzzle, schedule_of(comb_order(10, 10, 3, 0, 2))


def search_all(built: Constructor, nodes: int = 10**7) -> None:
    while not built.restart_due:
        built.run(nodes, built.puzzle.max_score)
    assert built.exhausted


def test_two_restarts_of_an_exhausted_tree_give_the_same_frontier_keys():
    """In another order: the search of a whole tree meets each of its stems, whatever comes first."""
    puzzle, schedule = small_tree()
    built, left = Constructor(puzzle, ConstructParams(), schedule, random_state(5)), []
    for _ in range(2):
        search_all(built)
        left.append(built.frontier_keys.tolist())
        built.restart(schedule)
        assert not len(built.frontier_keys)
    assert len(set(left[0])) > 10 and sorted(left[0]) == sorted(left[1]) and left[0] != left[1]
    assert all(key % KEY_SAMPLE_DIVISOR == 0 for key in left[0])


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
    again = Constructor(puzzle, ConstructParams(), dealt, random_state(6), (1, 3))
    middle = Constructor(puzzle, ConstructParams(), dealt, random_state(5), (1, 3))
    middle.run(500_001, puzzle.max_score)
    again.restore(middle.state())
    search_all(again)
    assert again.prefixes == parts[1].prefixes, "a state goes on in its lot"
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


def test_no_more_keys_are_left_than_there_is_room_for():
    puzzle, schedule = small_tree()
    built = Constructor(puzzle, ConstructParams(), schedule, random_state(5))
    built.prefix.frontier_keys[0] = MAX_FRONTIER_KEYS - 2
    search_all(built)
    assert built.prefix.frontier_keys[0] == MAX_FRONTIER_KEYS == len(built.frontier_keys)
    assert built.prefix.frontier_keys[-2:].all()


def test_the_empty_board_is_no_frontier_prefix():
    puzzle = uniform(5, 5, 6, 1).puzzle
    schedule = schedule_of(comb_order(5, 5, 2), range(5, 15, 2))
    built = Constructor(puzzle, ConstructParams(), schedule, random_state(5))
    assert schedule.endgame_depth == 0
    built.run(100_000, puzzle.max_score)
    assert built.prefixes and not len(built.frontier_keys)
