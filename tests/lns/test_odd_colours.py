"""Colours with an odd number of half-edges left: the endgame knows them, and leaves out no prefix of a wanted board."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest

from instances import Board, verify
from instances.puzzle import Puzzle
from lns.construct import kernel
from lns.construct.constructor import Constructor
from lns.construct.endgame import REACHED
from lns.construct.endgame_plan import colour_bit
from lns.construct.order import comb_order
from lns.construct.schedule import BreakSchedule
from lns.params import ConstructParams
from lns.rng import random_state
from tests.instances.small_puzzles import planted
from tests.lns.candidate_lists import standing

TAIL = 3
CASES = [
    # width, height, clues, seed, first cells by lists, colours
    (4, 4, 0, 1, 0, 4),
    (4, 4, 2, 2, 5, 4),
    (5, 3, 3, 3, 7, 4),
    (3, 5, 2, 4, 4, 5),
    (5, 4, 3, 5, 11, 5),
]


def search_of(puzzle: Puzzle, seed: int, by_lists: int) -> Constructor:
    """A search with breaks in the lists and in the endgame."""
    order = comb_order(puzzle.width, puzzle.height, 2)
    none = np.zeros(puzzle.cells, dtype=np.int32)
    schedule = BreakSchedule(order, np.array([2, 4, 6, 8]), none, (), puzzle.cells - TAIL, by_lists)
    params = ConstructParams(restart_nodes_without_prefix=10**9, restart_nodes=10**9)
    search = Constructor(puzzle, params, schedule, random_state(seed))
    assert search.plan.prefix.endgame_start == by_lists
    return search


def prefixes_of(search: Constructor, max_mismatches: int) -> set[tuple[int, ...]]:
    met = set()
    while kernel.next_prefix(search.plan, search.arrays, max_mismatches, 10**8) == REACHED:
        met.add(standing(search))
    assert search.nodes < 10**8
    return met


def odd_colours(search: Constructor, prefix: tuple[int, ...]) -> int:
    """By the mismatches of ``prefix``, those with a clue beside it included: each changes two colours."""
    puzzle, order = search.puzzle, search.schedule.order.tolist()
    halves = Counter(colour for quad in puzzle.pieces.tolist() for colour in quad if colour)
    lying = dict(zip(order, prefix, strict=False))
    for clue in puzzle.clues:
        if clue.cell in order[: search.schedule.cut]:
            lying.setdefault(clue.cell, clue.piece * 4 + clue.rotation)
    placed = set(order[: len(prefix)])
    for cell in lying:
        for neighbour, side in ((cell + 1, 1), (cell + puzzle.width, 2)):
            if puzzle.rim_sides(cell)[side] or neighbour not in lying or not {cell, neighbour} & placed:
                continue
            shown = int(puzzle.oriented[lying[cell], side])
            beside = int(puzzle.oriented[lying[neighbour], (side + 2) % 4])
            if shown != beside:
                halves.update((shown, beside))
    odd = 0
    for colour, count in halves.items():
        odd ^= colour_bit(colour) * (count % 2)
    return odd


def fewest_mismatches(search: Constructor, prefix: tuple[int, ...]) -> int:
    """Of all full boards behind ``prefix``, by trying every way to lay the free pieces."""
    puzzle = search.puzzle
    free = sorted({*range(puzzle.cells)} - {oriented >> 2 for oriented in prefix})
    fewest = puzzle.max_score + 1
    for pieces in permutations(free):
        for turns in product(range(4), repeat=TAIL):
            placed = np.empty(puzzle.cells, dtype=np.int32)
            tail = [4 * piece + turn for piece, turn in zip(pieces, turns, strict=True)]
            placed[search.schedule.order] = [*prefix, *tail]
            judged = verify(puzzle, Board(placed, puzzle.width, puzzle.height))
            if judged.valid:
                fewest = min(fewest, puzzle.max_score - judged.score)
    return fewest


@pytest.mark.parametrize(("width", "height", "clues", "seed", "by_lists", "colours"), CASES)
@pytest.mark.parametrize("many_colours", [False, True])
def test_the_endgame_knows_the_odd_colours(width, height, clues, seed, by_lists, colours, many_colours):
    """At each of its levels; also behind breaks in the lists, beside clues, and where two colours share a bit."""
    puzzle, _ = planted(seed, width, height, colours, clues)
    if many_colours:
        puzzle = replace(puzzle, pieces=np.where(puzzle.pieces > 2, puzzle.pieces + 62, puzzle.pieces))
    search = search_of(puzzle, seed, by_lists)
    start, levels = search.plan.prefix.endgame_start, search.schedule.cut - search.plan.prefix.endgame_start
    checked, seen = 0, set()
    while checked < 200 and kernel.next_prefix(search.plan, search.arrays, puzzle.max_score, 10**8) == REACHED:
        prefix, known = standing(search), search.arrays.endgame.odd_colours.tolist()
        assert known[: levels + 1] == [odd_colours(search, prefix[: start + level]) for level in range(levels + 1)]
        seen |= {odd.bit_count() for odd in known}
        checked += 1
    assert checked >= 10 and len(seen) > 1


@pytest.mark.parametrize("seed", range(3))
def test_a_restored_search_knows_the_odd_colours(seed):
    puzzle, _ = planted(seed, 5, 4, 5, 3)
    search, other = (search_of(puzzle, seed, 4) for _ in range(2))
    assert kernel.next_prefix(search.plan, search.arrays, puzzle.max_score, 10**8) == REACHED
    other.restore(search.state())
    assert search.arrays.endgame.odd_colours.any()
    assert np.array_equal(other.arrays.endgame.odd_colours, search.arrays.endgame.odd_colours)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height", "clues", "seed", "by_lists", "colours"), CASES)
def test_no_prefix_of_a_wanted_board_is_left_out(width, height, clues, seed, by_lists, colours):
    """All others are met; of those left out a sample is completed in every way."""
    puzzle, _ = planted(seed, width, height, colours, clues)
    everything = prefixes_of(search_of(puzzle, seed, by_lists), puzzle.max_score)
    before = everything
    lost = 0
    for wanted in (6, 4, 3, 2):
        search = search_of(puzzle, seed, by_lists)
        met = prefixes_of(search, wanted)
        assert met <= before
        left_out = sorted(before - met)
        for i in np.random.default_rng(seed).permutation(len(left_out))[:8].tolist():
            assert fewest_mismatches(search, left_out[i]) > wanted
        lost += len(left_out)
        before = met
    assert lost > len(everything) / 10


@pytest.mark.slow
def test_leaving_prefixes_out_saves_nodes():
    puzzle, _ = planted(1, 4, 4, 4)
    nodes = []
    for wanted in (puzzle.max_score, 2):
        search = search_of(puzzle, 1, 0)
        prefixes_of(search, wanted)
        nodes.append(search.nodes)
    assert nodes[1] < 0.8 * nodes[0]
