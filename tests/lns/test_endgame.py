"""The endgame: it meets the prefixes of the candidate lists, but those whose rim cannot match before the tail; it looks
ahead without losing one, and stops anywhere."""

from collections.abc import Iterator

import numpy as np
import pytest

from lns.construct import endgame, kernel
from lns.construct.candidates import comb_order, is_from_right
from lns.construct.constructor import Constructor
from lns.construct.endgame import BUDGET, EXHAUSTED
from lns.construct.endgame_plan import MAX_CLOSINGS, NO_RULE, ROW_WORDS, RULE, plan_closing
from lns.instances.puzzle import Clue, Puzzle
from lns.instances.verify import verify
from lns.params import ConstructParams
from lns.rng import random_state
from tests.instances.small_puzzles import planted, with_mates
from tests.lns.construct_parts import WHOLE_TREE, closes, clues_of, list_of, prefixes_of, schedule_of


def constructor(puzzle: Puzzle, schedule, seed: int, params: ConstructParams = WHOLE_TREE) -> Constructor:  # type: ignore[no-untyped-def]
    return Constructor(puzzle, params, schedule, random_state(seed))


def small_search(shape, seed, by_lists, *, tail=4, lead=0, mates=False, right=0) -> Constructor:
    """A whole tree to search, with breaks, on a small board; the first ``by_lists`` cells by lists, others by sets."""
    width, height, clues = shape
    puzzle, board = planted(seed, width, height, 3 if mates else 4, clues)
    puzzle = with_mates(puzzle, board, seed, 0.4) if mates else puzzle
    floor = np.zeros(puzzle.cells, dtype=np.int32)
    if by_lists:
        floor[min(by_lists, puzzle.cells) - 1] = 1  # a quota of one half-edge: the endgame begins behind it
    order = comb_order(width, height, 2, lead, columns_from_right=right)
    schedule = schedule_of(order, [2, 6, 9], tail, favoured=(1,), floor=floor)
    search = constructor(puzzle, schedule, seed)
    assert search.plan.prefix.endgame_start == min(by_lists, schedule.cut)
    return search


def _prefixes(search: Constructor, nodes: list[int]) -> Iterator[tuple[int, ...]]:
    """By plain recursion over the lists; ``nodes`` gets the depth of each placement."""
    puzzle, order, cut = search.puzzle, search.schedule.order, search.schedule.cut
    made, need = search.plan.prefix.tables, search.schedule.least_gain
    quads, from_right = puzzle.oriented.tolist(), is_from_right(order, puzzle.width)

    def go_on(laid: dict[int, int], gain: int) -> Iterator[tuple[int, ...]]:
        depth = len(laid)
        if depth == cut:
            yield tuple(laid.values())
            return
        cell = int(order[depth])
        known, shown = (cell + 1, 3) if from_right[depth] else (cell - 1, 1)
        beside = quads[laid[known]][shown] if known // puzzle.width == cell // puzzle.width and known >= 0 else 0
        up = quads[laid[cell - puzzle.width]][2] if cell >= puzzle.width else 0
        for oriented, more in list_of(puzzle, made, depth, beside, up, shown):
            if gain + more >= need[depth] and all(oriented >> 2 != other >> 2 for other in laid.values()):
                nodes.append(depth)
                yield from go_on({**laid, cell: oriented}, gain + more)

    return go_on({}, 0)


def check_prefixes(search: Constructor) -> int:
    """How many there are."""
    nodes: list[int] = []
    _, met = prefixes_of(search)
    assert len(met) == len(set(met))
    assert set(met) == {prefix for prefix in _prefixes(search, nodes) if closes(search, prefix)}
    assert search.nodes <= len(nodes)
    return len(met)


# width, height, clues
SHAPES = [(4, 4, 0), (5, 3, 3), (3, 5, 2), (5, 4, 4), (2, 7, 1), (7, 2, 1), (1, 9, 2), (9, 1, 0)]


@pytest.mark.slow
@pytest.mark.parametrize("by_lists", [0, 5, 11])
@pytest.mark.parametrize(("seed", "shape"), list(enumerate(SHAPES, start=1)))
@pytest.mark.parametrize(("tail", "lead", "mates"), [(4, 0, False), (1, 2, False), (4, 0, True)])
def test_prefixes_with_breaks_are_those_of_the_candidate_lists(seed, shape, by_lists, tail, lead, mates):
    """By plain recursion over the lists, which say what fits and what breaks; in no more nodes."""
    check_prefixes(small_search(shape, seed, by_lists, tail=tail, lead=lead, mates=mates))


@pytest.mark.parametrize(
    ("shape", "by_lists", "right"),
    [((4, 4, 2), 5, 1), ((5, 3, 3), 0, 2), ((5, 4, 4), 10, 2), ((6, 3, 4), 6, 3), ((7, 2, 2), 0, 2)],
)
def test_prefixes_of_a_band_that_is_filled_from_both_ends(shape, by_lists, right) -> None:
    seeds = [seed for seed in range(4) if check_prefixes(small_search(shape, seed, by_lists, right=right))]
    assert seeds, "some have prefixes"


def test_prefixes_of_pieces_with_mates() -> None:
    assert sum(check_prefixes(small_search(*how, mates=True)) for how in (((5, 3, 3), 2, 5), ((4, 3, 1), 9, 4)))


@pytest.mark.parametrize(("seed", "width", "height"), [(0, 9, 9), (1, 3, 27), (2, 27, 3), (3, 13, 6)])
def test_prefixes_of_larger_boards(seed, width, height):
    """64 free pieces where the endgame begins, which reads colours laid before it."""
    puzzle, board = planted(seed, width, height, 6, 2)
    order = comb_order(width, height, 2)
    puzzle = puzzle.with_clues(clues_of(board, order[::2].tolist()))  # with fewer there would be too many prefixes
    search = constructor(puzzle, schedule_of(order, [puzzle.cells // 2, puzzle.cells - 12], 3), seed, ConstructParams())
    assert search.plan.prefix.endgame_start == puzzle.cells - 64 > 0
    assert check_prefixes(search)


@pytest.mark.parametrize("by_lists", [0, 4, 7, 10])
@pytest.mark.parametrize("step", [1, 3, 50])
def test_a_search_that_is_saved_at_every_stop_meets_the_same_prefixes(by_lists, step):
    """Stops in the lists, in the endgame, where it begins, at the cut, and behind the end of the tree."""
    whole = small_search((4, 3, 1), 9, by_lists, tail=2)
    ended, met = prefixes_of(whole)
    part, again, stops, status = small_search((4, 3, 1), 9, by_lists, tail=2), [], set(), BUDGET
    while status != EXHAUSTED:
        other = small_search((4, 3, 1), 9, by_lists, tail=2)
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


def test_a_clue_in_the_tail_is_paid_for_once():
    """The score of a find as counted on the way is the judge's, whatever the tail has to mismatch."""
    puzzle, _ = planted(1, 4, 4, 4)
    checked = 0
    for piece in np.flatnonzero(~(puzzle.pieces == 0).any(axis=1)).tolist():
        fixed = puzzle.with_clues([Clue(10, piece, 0)])
        search = constructor(fixed, schedule_of(comb_order(4, 4, 1), [4, 5, 6]), 1, ConstructParams())
        while not search.restart_due and checked < 200:
            found = search.run(10_000, 0)
            if found is not None:
                checked += 1
                assert fixed.max_score - verify(fixed, found).score == search.arrays.counters[kernel.FOUND_MISMATCHES]
    assert checked > 50


# -- how the rim can still be closed -----------------------------------------------------------------------------------

SEEDS = (2, 3, 5, 6)  # of trees that are small enough


def rim_search(seed: int, begin: int, tail: int, *, rules: bool = True, mates: bool = False) -> Constructor:
    """A whole tree with breaks and few colours; the first ``begin`` cells are laid by lists."""
    puzzle, board = planted(seed, 5, 5, 3)
    puzzle = with_mates(puzzle, board, seed) if mates else puzzle
    order = comb_order(5, 5, 2, corner_size=2)
    puzzle = puzzle.with_clues(clues_of(board, [cell for cell in order[: len(order) // 2].tolist() if cell % 2 == 0]))
    search = constructor(puzzle, schedule_of(order, [8, 12, 15], tail, begin=begin), seed, ConstructParams())
    assert search.plan.prefix.endgame_start == begin
    if not rules:
        search.plan.endgame.levels.reshape(-1, int(ROW_WORDS))[:, RULE] = NO_RULE
    return search


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("begin", [13, 15, 17])  # before the anchor of the band, on it, behind it
@pytest.mark.parametrize("tail", [3, 5])  # without and with rim cells before the stretch
@pytest.mark.parametrize("mates", [False, True])
def test_exactly_the_prefixes_whose_border_can_be_completed_are_visited(seed, begin, tail, mates):
    everything = set(prefixes_of(rim_search(seed, begin, tail, rules=False, mates=mates))[1])
    search = rim_search(seed, begin, tail, mates=mates)
    assert (len(search.plan.endgame.closing.rim_colours) >= 3) == (tail == 3)
    assert set(prefixes_of(search)[1]) == {prefix for prefix in everything if closes(search, prefix)}


def test_with_too_many_completions_a_shorter_stretch_of_the_rim_is_planned():
    """One rim colour: all orders of all pieces match, far more than there is room for."""
    puzzle, _ = planted(1, 12, 12, 3)
    pieces = puzzle.pieces.copy()
    rim = (pieces == 0).any(axis=1)
    pieces[rim] = np.where(pieces[rim] == 0, 0, 1)
    puzzle = Puzzle(pieces, 12, 12)
    plan, state = plan_closing(puzzle, comb_order(12, 12, 4, corner_size=2), 96, 138)
    bits = np.flatnonzero(rim)[:12]
    for bit, piece in enumerate(bits.tolist()):
        state.far_colour[bit] = plan.far_colour[piece]
        state.near_sets[plan.near_index[piece]] ^= np.uint64(1) << np.uint64(bit)
    endgame.set_anchor_colour(state, 1)
    endgame.list_closings(plan, state, (np.uint64(1) << np.uint64(len(bits))) - np.uint64(1))
    count, _, first = state.scalars.tolist()
    edges = int((plan.near_index[bits] < puzzle.colours + 1).sum())
    assert count == edges * (edges - 1) <= MAX_CLOSINGS < edges * (edges - 1) * (edges - 2)
    assert all(int(one).bit_count() == 2 for one in state.closings[first : first + count])
