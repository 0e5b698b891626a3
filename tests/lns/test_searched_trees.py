"""Restarts that remember the trees they searched: nothing is lost, and nothing is searched twice."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from lns.construct import constructor as constructors
from lns.construct import kernel
from lns.construct.candidates import comb_order
from lns.construct.constructor import Constructor
from lns.construct.endgame import EXHAUSTED
from lns.construct.schedule import BreakSchedule
from lns.instances.formats import load_puzzle
from lns.instances.puzzle import Puzzle
from lns.instances.symmetry import View
from lns.loop.construction import Construction
from lns.loop.pool import WHOLE_BOARD
from lns.orientation import Orientation
from lns.params import ConstructParams, Params
from lns.rng import random_state
from tests.instances.small_puzzles import planted, with_mates
from tests.lns.construct_parts import WHOLE_TREE, clues_of, prefixes_of, schedule_of

CASES = [number for number in range(24) if number not in (2, 10, 17, 18)]  # these have large trees


@pytest.fixture(autouse=True)
def all_trees_are_remembered(monkeypatch):
    """However small they are."""
    monkeypatch.setattr(constructors, "LEAST_TREE", 1)


def case(number: int) -> tuple[Puzzle, list[BreakSchedule]]:
    """A small board and schedules of it: a high quota, a low one, none, a break more, another view."""
    rng = np.random.default_rng(number)
    width, height = int(rng.integers(3, 5)), int(rng.integers(5, 7))
    puzzle, board = planted(number, width, height, int(rng.integers(3, 5)))
    puzzle = with_mates(puzzle, board, number) if number % 5 == 4 else puzzle
    if number % 3:
        puzzle = puzzle.with_clues(clues_of(board, sorted(rng.choice(puzzle.cells, 2, replace=False).tolist())))
    tail = int(rng.integers(1, 4))
    order, cut = comb_order(width, height, 1 + number % 2), puzzle.cells - tail
    unlock, begin = [cut * 2 // 3], cut if number % 2 else 2 * width + 1
    floor = np.zeros(puzzle.cells, dtype=np.int32)
    end = cut * 3 // 4
    floor[2:end] = np.linspace(1, 3 + number % 3, end - 2)
    quota = schedule_of(order, unlock, tail, favoured=(1,), floor=floor, begin=begin)
    plain = schedule_of(order, unlock, tail, begin=begin)
    more = schedule_of(order, [cut // 3, *unlock], tail, begin=begin)
    schedules = [
        replace(quota, quota_floor=floor + (floor > 2)),
        quota,
        plain,
        more,
        replace(plain, view=View(2, True)),
    ]
    return puzzle, [replace(schedule, mismatches=len(schedule.unlock)) for schedule in schedules]


def restarts(puzzle: Puzzle, schedule: BreakSchedule, searched: np.ndarray, nodes: list[int]) -> Iterator[tuple]:
    """(search, its prefixes at the cut) of restarts of so many nodes, up to one whose tree is searched whole."""
    for seed, limit in enumerate([*nodes, 10**9]):
        search = Constructor(puzzle, WHOLE_TREE, schedule, random_state(seed), searched=searched)
        status, found = prefixes_of(search, limit)
        yield search, found
        if status == EXHAUSTED:
            return


def lengths_of(search: Constructor) -> list[int]:
    """The lengths at which prefixes are remembered."""
    rows = search.plan.prefix.depths.reshape(search.puzzle.cells, -1)
    return (np.flatnonzero(rows[:, int(kernel.LEVEL_FROM)] >= 0) + 1).tolist()


def parts_of(view: View, prefix: tuple[int, ...], length: int) -> tuple:
    """Of the first ``length`` cells only the set of pieces, of the others what lies where."""
    return view, frozenset(one >> 2 for one in prefix[:length]), prefix[length:]


@pytest.mark.parametrize("number", CASES)
def test_short_restarts_meet_all_that_one_long_search_meets(number):
    """Under one schedule after another, with what was searched under the schedules before."""
    puzzle, schedules = case(number)
    searched, met, length = np.zeros(kernel.SEARCHED_SIZE, dtype=np.uint64), set(), 0
    for schedule in schedules:
        ((whole, all_prefixes),) = restarts(puzzle, schedule, np.zeros(0, dtype=np.uint64), [])
        assert lengths_of(whole) == []
        for search, found in restarts(puzzle, schedule, searched, [whole.nodes // 3] * 12):
            met |= {(schedule.view, prefix) for prefix in found}
            length = max(length, *lengths_of(search), 0)
        known = {parts_of(view, prefix, length) for view, prefix in met}
        assert {parts_of(schedule.view, prefix, length) for prefix in all_prefixes} <= known


def test_only_large_trees_are_remembered(monkeypatch):
    """Small ones cost less than their places; the size of a tree is in its entry."""
    puzzle, (*_, schedule) = case(5)
    for least, smallest in ((1, 1), (2**9, 10)):
        monkeypatch.setattr(constructors, "LEAST_TREE", least)
        searched = np.zeros(kernel.SEARCHED_SIZE, dtype=np.uint64)
        list(restarts(puzzle, schedule, searched, []))
        assert (searched[searched > 0] & np.uint64(63)).min() == smallest


def test_what_was_searched_is_saved_with_the_search():
    puzzle, (*_, schedule) = case(15)
    memories = np.zeros((2, kernel.SEARCHED_SIZE), dtype=np.uint64)
    begun, restored = (Constructor(puzzle, WHOLE_TREE, schedule, random_state(1), searched=each) for each in memories)
    prefixes_of(begun, 20_000)
    assert memories[0].any()
    restored.restore(begun.state())
    assert prefixes_of(restored) == prefixes_of(begun) and restored.nodes == begun.nodes
    assert (memories[0] == memories[1]).all()


def test_all_restarts_of_an_island_have_one_memory():
    puzzle = load_puzzle("like-e2-10x10")
    params = replace(ConstructParams(), restart_nodes=300_000, restart_nodes_without_prefix=300_000)
    construct = Construction(Orientation.of_island(puzzle), Params(construct=params), 1, 0)
    rng, seen = np.random.default_rng(1), []
    while sum(arm.restarts for arm in construct.bandit.arms) < 3:
        construct.repair(WHOLE_BOARD, puzzle.max_score, rng)
        assert construct.constructor.prefix.searched is construct.searched
        seen.append(np.count_nonzero(construct.searched))
    assert seen == sorted(seen) and seen[-1] > seen[0]
