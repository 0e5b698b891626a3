"""The endgame: it meets the prefixes of the candidate lists, looks ahead without losing one, and stops anywhere."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from lns.construct import kernel
from lns.construct.candidates import comb_order
from lns.construct.constructor import Constructor
from lns.construct.endgame import BUDGET, EXHAUSTED, REACHED
from lns.construct.endgame_plan import MAX_ENDGAME_PIECES
from lns.construct.quota_profile import quota_profile
from lns.construct.schedule import BreakSchedule, Quota, favoured_colours
from lns.instances.errors import InputError
from lns.instances.formats import load_puzzle
from lns.instances.puzzle import Clue
from lns.instances.verify import verify
from lns.params import ConstructParams
from lns.rng import random_state
from tests.instances.small_puzzles import planted
from tests.lns.candidate_lists import list_of, standing
from tests.lns.rim_closings import closes


def small_search(
    width: int, height: int, clues: int, seed: int, by_lists: int, *, tail: int = 4, lead: int = 0
) -> Constructor:
    """A whole tree to search, with breaks, on a small board; the first ``by_lists`` cells by lists, the rest by
    sets."""
    puzzle, _ = planted(seed, width, height, 4, clues)
    order, cut = comb_order(width, height, 2, lead), puzzle.cells - tail
    floor = np.zeros(puzzle.cells, dtype=np.int32)
    if by_lists:
        floor[min(by_lists, puzzle.cells) - 1] = 1  # a quota of one half-edge: the endgame begins behind it
    schedule = BreakSchedule(order, np.array([2, 6, 9]), floor, (1,), cut)
    params = ConstructParams(restart_nodes_without_prefix=10**9, restart_nodes=10**9)
    search = Constructor(puzzle, params, schedule, random_state(seed))
    assert search.plan.prefix.endgame_start == min(by_lists, cut)
    return search


def prefixes_of(search: Constructor, nodes: int = 10**9) -> tuple[int, list[tuple[int, ...]]]:
    """(status, prefixes met) of so many more nodes."""
    limit = search.nodes + nodes
    found = []
    while True:
        status = kernel.next_prefix(search.plan, search.arrays, limit)
        if status != REACHED:
            return status, found
        found.append(standing(search))


SHAPES = [
    (4, 4, 0, 1),
    (5, 3, 3, 2),
    (3, 5, 2, 3),
    (5, 4, 4, 4),
    (2, 7, 1, 5),
    (7, 2, 1, 6),
    (1, 9, 2, 7),
    (9, 1, 0, 8),
]


@pytest.mark.slow
@pytest.mark.parametrize("by_lists", [0, 5, 11])
@pytest.mark.parametrize(("width", "height", "clues", "seed"), SHAPES)
@pytest.mark.parametrize(("tail", "lead"), [(4, 0), (1, 2)])
def test_prefixes_with_breaks_are_those_of_the_candidate_lists(width, height, clues, seed, by_lists, tail, lead):
    """By plain recursion over the lists, which say what fits and what breaks; in no more nodes."""
    search = small_search(width, height, clues, seed, by_lists, tail=tail, lead=lead)
    nodes: list[int] = []
    _, met = prefixes_of(search)
    assert len(met) == len(set(met))
    assert set(met) == {prefix for prefix in _prefixes(search, nodes) if closes(search, prefix)}
    assert search.nodes <= len(nodes)


def test_looking_ahead_saves_nodes():
    for by_lists in (0, 5, 16):
        search = small_search(5, 4, 4, 4, by_lists)
        nodes: list[int] = []
        assert prefixes_of(search)[1] and set(_prefixes(search, nodes))
        assert search.nodes < 0.9 * len(nodes), by_lists


@pytest.mark.parametrize("seed", range(4))
def test_prefixes_of_larger_boards(seed):
    """64 free pieces where the endgame begins, which reads colours laid before it."""
    width, height = [(9, 9), (3, 27), (27, 3), (13, 6)][seed]
    puzzle, board = planted(seed, width, height, 6, 2)
    order = comb_order(width, height, 2)
    every_other = order[::2].tolist()  # with fewer clues there would be too many prefixes
    laid = [Clue(cell, *divmod(int(board.placements[cell]), 4)) for cell in every_other]
    puzzle = puzzle.with_clues(sorted(laid))
    none = np.zeros(puzzle.cells, dtype=np.int32)
    schedule = BreakSchedule(order, np.array([puzzle.cells // 2, puzzle.cells - 12]), none, (), puzzle.cells - 3)
    search = Constructor(puzzle, ConstructParams(), schedule, random_state(seed))
    assert search.plan.prefix.endgame_start == puzzle.cells - 64 > 0
    _, met = prefixes_of(search)
    assert met and set(met) == {prefix for prefix in _prefixes(search, []) if closes(search, prefix)}


@pytest.mark.parametrize("by_lists", [0, 4, 7, 10])
@pytest.mark.parametrize("step", [1, 3, 50])
def test_a_search_that_is_saved_at_every_stop_meets_the_same_prefixes(by_lists, step):
    """Stops in the lists, in the endgame, where it begins, at the cut, and behind the end of the tree."""
    whole = small_search(4, 3, 1, 9, by_lists, tail=2)
    ended, met = prefixes_of(whole)
    part, again, stops, status = small_search(4, 3, 1, 9, by_lists, tail=2), [], set(), BUDGET
    while status != EXHAUSTED:
        other = small_search(4, 3, 1, 9, by_lists, tail=2)
        other.restore(part.state())
        part = other
        status, found = prefixes_of(part, step)
        again += found
        depth = int(part.prefix.scalars[0])
        stops.add((depth > part.plan.prefix.endgame_start) - (depth < part.plan.prefix.endgame_start))
    assert status == ended == EXHAUSTED
    assert again == met and len(met) > 5
    assert part.nodes == whole.nodes == whole.prefix.child_counts.sum()
    assert np.array_equal(part.prefix.child_counts, whole.prefix.child_counts)
    assert step > 1 or stops >= {0: {0, 1}, 10: {-1}}.get(by_lists, {-1, 1})


def test_pieces_keep_their_bits_from_prefix_to_prefix():
    """100 pieces, 64 bits: the sets hold those pieces that have one, and a saved search goes on with them."""
    puzzle, order = load_puzzle("like-e2-10x10"), comb_order(10, 10, 3)
    favoured = favoured_colours(puzzle, 1, 2)
    quota = Quota(favoured, quota_profile(puzzle, order, favoured, 62), 0.7)
    schedule = BreakSchedule(order, np.array([73, 78, 82, 85, 88, 91]), quota.floor(100), quota.favoured, 94)
    whole, part = (Constructor(puzzle, ConstructParams(), schedule, random_state(4)) for _ in range(2))
    _, met = prefixes_of(whole, 4_000_000)
    again, taken_over = [], 0
    while part.nodes < whole.nodes:
        other = Constructor(puzzle, ConstructParams(), schedule, random_state(4))
        other.restore(part.state())
        for name in ("left_sets", "up_sets", "class_sets"):
            assert np.array_equal(getattr(other.arrays.endgame, name), getattr(part.arrays.endgame, name)), name
        part, before = other, part.arrays.endgame.piece_of_bit
        again += prefixes_of(part, min(100_000, whole.nodes - part.nodes))[1]
        taken_over += int(((before >= 0) & (before != part.arrays.endgame.piece_of_bit)).any())
    assert again == met and len(met) > 10
    assert np.array_equal(part.prefix.child_counts, whole.prefix.child_counts)
    assert taken_over > 10 and len(set(part.arrays.endgame.piece_of_bit.tolist())) == MAX_ENDGAME_PIECES


@pytest.mark.parametrize("bits", [[0] * 64, [-2] * 64, [72, *[-1] * 63]])
def test_saved_piece_bits_that_no_search_assigns_are_refused(bits):
    search = small_search(9, 8, 2, 5, 20)
    with pytest.raises(InputError, match=r"does not fit|out of range"):
        search.restore(search.state() | {"piece_bits": np.array(bits)})


def test_a_clue_in_the_tail_is_paid_for_once():
    """The score of a find as counted on the way is the judge's, whatever the tail has to mismatch."""
    puzzle, _ = planted(1, 4, 4, 4)
    checked = 0
    for piece in np.flatnonzero(~(puzzle.pieces == 0).any(axis=1)).tolist():
        fixed = puzzle.with_clues([Clue(10, piece, 0)])
        none = np.zeros(16, dtype=np.int32)
        schedule = BreakSchedule(comb_order(4, 4, 1), np.array([4, 5, 6]), none, (), 10)
        search = Constructor(fixed, ConstructParams(), schedule, random_state(1))
        while not search.restart_due and checked < 200:
            found = search.run(10_000, 0)
            if found is not None:
                checked += 1
                assert fixed.max_score - verify(fixed, found).score == search.counters[kernel.FOUND_MISMATCHES]
    assert checked > 50


def _prefixes(search: Constructor, nodes: list[int]) -> Iterator[tuple[int, ...]]:
    """By plain recursion; ``nodes`` gets the depth of each placement."""
    puzzle, order, cut = search.puzzle, search.schedule.order, search.schedule.cut
    made, need = search.plan.prefix.tables, search.schedule.least_gain
    quads = puzzle.oriented.tolist()

    def go_on(laid: dict[int, int], gain: int) -> Iterator[tuple[int, ...]]:
        depth = len(laid)
        if depth == cut:
            yield tuple(laid.values())
            return
        cell = int(order[depth])
        left = quads[laid[cell - 1]][1] if cell % puzzle.width else 0
        up = quads[laid[cell - puzzle.width]][2] if cell >= puzzle.width else 0
        for oriented, more in list_of(puzzle, made, depth, left, up):
            if gain + more >= need[depth] and all(oriented >> 2 != other >> 2 for other in laid.values()):
                nodes.append(depth)
                yield from go_on({**laid, cell: oriented}, gain + more)

    return go_on({}, 0)
