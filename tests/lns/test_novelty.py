"""Stems met before: sampled keys tell a tree that was searched from a new one, in bounded memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lns.construct.candidates import comb_order
from lns.construct.constructor import Constructor
from lns.construct.kernel import KEY_SAMPLE_DIVISOR, MAX_FRONTIER_KEYS
from lns.construct.quota_arm import MAX_KEYS, Keys, PrefixNovelty
from lns.construct.schedule import BreakSchedule
from lns.instances.generate import uniform
from lns.instances.puzzle import Clue, Puzzle
from lns.params import ConstructParams
from lns.rng import random_state
from tests.instances.small_puzzles import planted

CHANCE = np.random.default_rng(7)


def some_keys(count: int) -> Keys:
    keys: Keys = CHANCE.integers(2**49, size=count, dtype=np.uint64) * np.uint64(KEY_SAMPLE_DIVISOR)
    return keys


def full(count: int = 10) -> PrefixNovelty:
    frontier_keys = PrefixNovelty()
    for _ in range(count):
        frontier_keys.add(some_keys(9_000))
    return frontier_keys


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


def test_a_saved_memory_comes_back():
    frontier_keys, again = full(), PrefixNovelty()
    again.restore(frontier_keys.state())
    assert again.divisor == frontier_keys.divisor == 2 * KEY_SAMPLE_DIVISOR and np.array_equal(
        again.keys, frontier_keys.keys
    )
    again.add(some_keys(100))
    assert len(again.keys) > len(frontier_keys.keys)


def small_tree() -> tuple[Puzzle, BreakSchedule]:
    """One that is searched whole in ten million nodes, and has some hundred thousand stems."""
    puzzle = uniform(10, 10, 13, 2).puzzle
    none = np.zeros(puzzle.cells, dtype=np.int32)
    return puzzle, BreakSchedule(comb_order(10, 10, 3, 0, 2), np.zeros(0, dtype=np.int64), none, (), puzzle.cells - 6)


def search(built: Constructor, nodes: int = 10**7) -> None:
    while not built.restart_due:
        built.run(nodes, built.puzzle.max_score)
    assert built.exhausted


def test_two_restarts_of_an_exhausted_tree_give_the_same_frontier_keys():
    """In another order: the search of a whole tree meets each of its stems, whatever comes first."""
    puzzle, schedule = small_tree()
    built, left = Constructor(puzzle, ConstructParams(), schedule, random_state(5)), []
    for _ in range(2):
        search(built)
        left.append(built.frontier_keys.tolist())
        built.restart(schedule)
        assert not len(built.frontier_keys)
    assert len(set(left[0])) > 10 and sorted(left[0]) == sorted(left[1]) and left[0] != left[1]
    assert all(key % KEY_SAMPLE_DIVISOR == 0 for key in left[0])


def test_keys_are_the_same_whether_a_search_is_interrupted_or_not():
    puzzle, schedule = small_tree()
    whole, part = (Constructor(puzzle, ConstructParams(), schedule, random_state(5)) for _ in range(2))
    search(whole)
    while not part.restart_due:
        part.run(500_001, puzzle.max_score)
        state, part = part.state(), Constructor(puzzle, ConstructParams(), schedule, random_state(6))
        part.restore(state)
    assert np.array_equal(part.frontier_keys, whole.frontier_keys) and len(whole.frontier_keys)


def test_the_parts_of_the_islands_are_disjoint_and_cover_the_tree():
    puzzle, schedule = small_tree()
    dealt = replace(schedule, favoured=(1,))
    whole, *parts = (
        Constructor(puzzle, ConstructParams(), dealt, random_state(5), lot) for lot in ((0, 1), (0, 3), (1, 3), (2, 3))
    )
    for built in (whole, *parts):
        search(built)
    assert sum(part.prefixes for part in parts) == whole.prefixes
    assert all(0.3 < part.nodes / whole.nodes < 0.37 for part in parts)
    keys = [key for part in parts for key in part.frontier_keys.tolist()]
    assert sorted(keys) == sorted(whole.frontier_keys.tolist()) and len(keys) > 10
    again = Constructor(puzzle, ConstructParams(), dealt, random_state(6), (1, 3))
    middle = Constructor(puzzle, ConstructParams(), dealt, random_state(5), (1, 3))
    middle.run(500_001, puzzle.max_score)
    again.restore(middle.state())
    search(again)
    assert again.prefixes == parts[1].prefixes, "a state goes on in its lot"
    without = Constructor(puzzle, ConstructParams(), schedule, random_state(5), (1, 3))
    search(without)
    assert without.prefixes == whole.prefixes, "without a quota every island searches all"


def test_clue_cells_do_not_decide_the_island_of_a_prefix():
    """So that no island is left without any where the first rows are given."""
    plain, solution = planted(1, 10, 10, 9)
    clues = [Clue(cell, *divmod(int(solution.placements[cell]), 4)) for cell in (*range(10), 13)]
    none = np.zeros(plain.cells, dtype=np.int32)
    schedule = BreakSchedule(comb_order(10, 10, 3, 0, 2), np.zeros(0, dtype=np.int64), none, (1,), plain.cells - 6)
    for puzzle, depth in ((plain, 16), (plain.with_clues(clues), 27)):
        made = [Constructor(puzzle, ConstructParams(), schedule, random_state(5), (lot, 4)) for lot in range(4)]
        assert {built.plan.prefix.partition_depth for built in made} == {depth}
        for built in made:
            built.run(200_000, puzzle.max_score)
            assert built.nodes >= 200_000 and not built.exhausted
        firsts = [built.prefix.chosen[:depth].tobytes() for built in made]
        assert len(set(firsts)) == 4
    all_clued = plain.with_clues([Clue(cell, *divmod(int(solution.placements[cell]), 4)) for cell in range(25)])
    few_left = Constructor(all_clued, ConstructParams(), schedule, random_state(5), (1, 4))
    assert few_left.plan.prefix.partition_depth == 0


def test_no_more_keys_are_left_than_there_is_room_for():
    puzzle, schedule = small_tree()
    built = Constructor(puzzle, ConstructParams(), schedule, random_state(5))
    built.prefix.frontier_keys[0] = MAX_FRONTIER_KEYS - 2
    search(built)
    assert built.prefix.frontier_keys[0] == MAX_FRONTIER_KEYS == len(built.frontier_keys)
    assert built.prefix.frontier_keys[-2:].all()


def test_the_empty_board_is_no_frontier_prefix():
    puzzle = uniform(5, 5, 6, 1).puzzle
    none = np.zeros(puzzle.cells, dtype=np.int32)
    schedule = BreakSchedule(comb_order(5, 5, 2), np.arange(5, 15, 2), none, (), puzzle.cells - 6)
    built = Constructor(puzzle, ConstructParams(), schedule, random_state(5))
    assert schedule.endgame_depth == 0
    built.run(100_000, puzzle.max_score)
    assert built.prefixes and not len(built.frontier_keys)
