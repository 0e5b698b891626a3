"""Prefixes met before: sampled keys tell a tree that was searched from a new one, in bounded memory."""

from __future__ import annotations

import numpy as np
import pytest

from instances import InputError
from instances.generate import uniform
from lns.construct.constructor import Constructor
from lns.construct.met import MOST, Met
from lns.construct.order import comb
from lns.construct.schedule import Schedule
from lns.params import Construct
from lns.rng import random_state

CHANCE = np.random.default_rng(7)


def some_keys(count: int) -> np.ndarray:
    return CHANCE.integers(2**63, size=count, dtype=np.uint64)


def test_what_comes_again_is_not_new():
    met, keys = Met(), some_keys(99)
    assert met.add(keys) == 1.0
    assert met.add(keys) == 1 / 100
    assert met.add(np.append(keys[:49], some_keys(50))) == 51 / 100
    assert met.add(some_keys(0)) == 1.0, "nothing was sampled: nothing speaks against it"
    assert met.add(np.repeat(some_keys(1), 5)) == 1.0, "a key counts once"


def test_memory_is_bounded_and_the_share_stays_right():
    met, batches = Met(), [some_keys(9_000) for _ in range(20)]
    for batch in batches:
        assert met.add(batch) == 1.0
    assert MOST / 4 < len(met.keys) <= MOST and met.rare == 4
    assert (met.keys % np.uint64(4) == 0).all()
    for batch in batches:
        assert met.add(np.append(batch, some_keys(9_000))) == pytest.approx(0.5, abs=0.05)


def test_a_saved_memory_comes_back_or_is_refused():
    met = Met()
    for _ in range(10):
        met.add(some_keys(9_000))
    again = Met.of(met.saved)
    assert again.rare == met.rare == 2 and np.array_equal(again.keys, met.keys)
    again.add(some_keys(10))
    assert len(again.keys) > len(met.keys)
    for saved in (met.saved[:0], met.saved[1:], met.saved[::-1], np.append(met.saved, met.saved[-1:]), met.saved + 1):
        with pytest.raises(InputError):
            Met.of(saved.astype(np.uint64))


def test_two_shuffles_of_one_tree_leave_the_same_keys():
    """In another order: the search of a whole tree meets each of its prefixes, whatever comes first."""
    puzzle = uniform(9, 9, 12, 1).puzzle
    none = np.zeros(puzzle.cells, dtype=np.int32)
    schedule = Schedule(comb(9, 9, 3, 0, 2), np.zeros(0, dtype=np.int64), none, (), puzzle.cells - 6)
    built = Constructor(puzzle, Construct(), schedule, random_state(5))
    met, left = Met(), []
    for fresh in (1.0, 0.2):
        while not built.over:
            built.run(10**7, puzzle.max_score)
        assert built.exhausted
        left.append(built.keys.tolist())
        assert met.add(built.keys) <= fresh
        built.begin(schedule)
        assert not len(built.keys)
    assert len(set(left[0])) >= 5 and sorted(left[0]) == sorted(left[1]) and left[0] != left[1]
