"""How the rim can still be closed: only prefixes whose rim cannot match before the tail are lost."""

from __future__ import annotations

import numpy as np
import pytest

from lns.construct import endgame, kernel
from lns.construct.candidates import comb_order
from lns.construct.constructor import Constructor
from lns.construct.endgame_plan import (
    ANCHOR,
    MAX_CLOSINGS,
    NO_RULE,
    RELEASE,
    RESERVE,
    ROW_WORDS,
    RULE,
    plan_closing,
)
from lns.construct.schedule import BreakSchedule
from lns.instances.formats import load_puzzle
from lns.instances.puzzle import Clue, Puzzle
from lns.params import ConstructParams
from lns.rng import random_state
from tests.instances.small_puzzles import planted
from tests.lns.candidate_lists import standing
from tests.lns.rim_closings import closes

SEEDS = (2, 3, 5, 6)  # of trees that are small enough


def rules_by_cell(puzzle: Puzzle, order: np.ndarray, begin: int, cut: int) -> dict[int, int]:
    plan, _ = plan_closing(puzzle, order, begin, cut)
    return {cell: rule for cell, rule in zip(order[begin:cut].tolist(), plan.rule.tolist(), strict=True) if rule}


def test_the_last_stretch_of_the_comb():
    puzzle = load_puzzle("like-e2-16x16")
    order = comb_order(16, 16, 4, corner_size=2)
    plan, _ = plan_closing(puzzle, order, 192, 250)
    assert plan.is_corner.tolist() == [0, 0, 0, 1, 0]  # right side of rows 12 to 14, corner, bottom of column 14
    assert plan.anchor_level == -1 and plan.anchor_position == (11 + 1) * 17 + 15 + 1
    kept = {12 * 16, 13 * 16, 14 * 16, *range(15 * 16, 15 * 16 + 14)}
    expected = dict.fromkeys(kept, RESERVE) | {15 * 16 + 13: RELEASE}
    assert rules_by_cell(puzzle, order, 192, 250) == expected
    begun_late = rules_by_cell(puzzle, order, 210, 250)
    assert begun_late == {cell: rule for cell, rule in expected.items() if order.tolist().index(cell) >= 210}
    plan, _ = plan_closing(puzzle, order, 180, 250)  # the anchor is laid in the endgame, at depth 191
    assert (plan.anchor_level, plan.anchor_position) == (11, -1)
    assert rules_by_cell(puzzle, order, 180, 250) == expected | {11 * 16 + 15: ANCHOR}


def test_the_stretch_of_the_rim_to_be_completed_ends_at_the_exact_tail():
    puzzle, _ = planted(1, 6, 7, 4)
    assert plan_closing(puzzle, comb_order(6, 7, 1), 0, 38)[0].is_corner.tolist() == [1]  # row by row: the corner
    assert plan_closing(puzzle, comb_order(6, 7, 3), 0, 38)[0].is_corner.tolist() == [0, 0, 1]
    assert plan_closing(puzzle, comb_order(6, 7, 3, corner_size=3), 0, 38)[0].is_corner.tolist() == [0, 0, 1, 0, 0]


@pytest.mark.parametrize("cell", [29, 35, 31])  # of the right side, the corner, of the bottom
def test_no_pieces_are_reserved_where_a_clue_lies_on_the_rest_of_the_rim(cell):
    puzzle, board = planted(1, 6, 6, 4)
    order = comb_order(6, 6, 2)
    assert len(rules_by_cell(puzzle, order, 0, 32)) > 2
    puzzle = puzzle.with_clues([Clue(cell, *divmod(int(board.placements[cell]), 4))])
    assert rules_by_cell(puzzle, order, 0, 32) == {}


def test_no_pieces_are_reserved_where_the_border_cannot_be_completed():
    puzzle, _ = planted(1, 6, 6, 4)
    pieces = puzzle.pieces.copy()
    piece = np.flatnonzero((pieces == 0).sum(axis=1) == 1)[0]
    side = (np.flatnonzero(pieces[piece] == 0)[0] + 1) % 4
    pieces[piece, side] = pieces[piece, side] % puzzle.colours + 1
    odd = Puzzle(pieces, 6, 6)
    assert rules_by_cell(odd, comb_order(6, 6, 2), 0, 32) == {}


@pytest.mark.parametrize("shape", [(1, 9), (9, 1), (2, 2), (2, 9), (9, 2), (3, 3), (4, 4)])
@pytest.mark.parametrize("band", [1, 2, 3, 9])
def test_narrow_boards_have_rules_for_cells_of_their_rim_only(shape, band):
    puzzle, _ = planted(3, *shape, 3)
    for cut in range(puzzle.cells + 1):
        for begin in range(cut + 1):
            rules = rules_by_cell(puzzle, comb_order(*shape, band), begin, cut)
            assert all(any(puzzle.rim_sides(cell)) for cell in rules)
            assert list(rules.values()).count(RELEASE) == (1 if rules else 0)


def small_search(
    seed: int, begin: int, *, width: int = 5, height: int = 5, band: int = 2, tail: int = 5
) -> Constructor:
    """A whole tree with breaks and few colours; the first ``begin`` cells are laid by lists."""
    puzzle, board = planted(seed, width, height, 3)
    order = comb_order(width, height, band, corner_size=2)
    laid = [cell for cell in order[: len(order) // 2].tolist() if cell % 2 == 0]
    puzzle = puzzle.with_clues(sorted(Clue(cell, *divmod(int(board.placements[cell]), 4)) for cell in laid))
    floor = np.zeros(puzzle.cells, dtype=np.int32)
    schedule = BreakSchedule(order, np.array([8, 12, 15]), floor, (), puzzle.cells - tail, begin)
    search = Constructor(puzzle, ConstructParams(), schedule, random_state(seed))
    assert search.plan.prefix.endgame_start == begin
    return search


def prefixes_of(search: Constructor) -> set[tuple[int, ...]]:
    met = set()
    while kernel.next_prefix(search.plan, search.arrays, 10**9) == endgame.REACHED:
        met.add(standing(search))
    return met


def without_rules(search: Constructor) -> Constructor:
    search.plan.endgame.levels.reshape(-1, int(ROW_WORDS))[:, RULE] = NO_RULE
    return search


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("begin", [13, 15, 17])  # before the anchor of the band, on it, behind it
@pytest.mark.parametrize("tail", [3, 5])  # without and with rim cells before the stretch
def test_exactly_the_prefixes_whose_border_can_be_completed_are_visited(seed, begin, tail):
    everything = prefixes_of(without_rules(small_search(seed, begin, tail=tail)))
    search = small_search(seed, begin, tail=tail)
    assert len(search.plan.endgame.closing.rim_colours) == (3 if tail == 3 else 0)
    met = prefixes_of(search)
    assert met == {prefix for prefix in everything if closes(search, prefix)}


@pytest.mark.slow
def test_the_rim_cannot_be_closed_behind_most_prefixes():
    """Those tests are of something."""
    all_met = [len(prefixes_of(without_rules(small_search(seed, 13)))) for seed in SEEDS]
    met = [len(prefixes_of(small_search(seed, 13))) for seed in SEEDS]
    assert 100 < sum(met) < 0.6 * sum(all_met)


def test_fewer_nodes_for_the_same_prefixes_that_can_be_closed():
    spared, usual = small_search(2, 13), without_rules(small_search(2, 13))
    prefixes_of(spared), prefixes_of(usual)
    assert spared.nodes < 0.9 * usual.nodes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "height", "band", "saves"), [(5, 5, 2, True), (5, 5, 3, False), (6, 4, 2, False), (4, 6, 3, False)]
)
def test_a_prefix_whose_rim_cannot_be_connected_is_refused_at_once(width, height, band, saves):
    """Nothing else is; on some boards it never falls apart."""
    met, nodes = [], []
    for whole in (True, False):
        searches = [small_search(seed, 13, width=width, height=height, band=band, tail=3) for seed in SEEDS]
        for search in searches:
            assert len(search.plan.endgame.closing.rim_colours) == 3
            if not whole:
                none = search.plan.endgame.closing._replace(rim_colours=np.zeros(0, dtype=np.int64))
                endgame_plan = search.plan.endgame._replace(closing=none)
                search.plan = search.plan._replace(endgame=endgame_plan)
        met.append([prefixes_of(search) for search in searches])
        nodes.append(sum(search.nodes for search in searches))
    assert met[0] == met[1]
    assert nodes[0] < nodes[1] if saves else nodes[0] == nodes[1]


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
        closing_bit = np.uint64(1) << np.uint64(bit)
        state.near_sets[plan.near_index[piece]] ^= closing_bit
    endgame.set_anchor_colour(state, 1)
    free = (np.uint64(1) << np.uint64(len(bits))) - np.uint64(1)
    endgame.list_closings(plan, state, free)
    count, _, first = state.scalars.tolist()
    edges = int((plan.near_index[bits] < puzzle.colours + 1).sum())
    assert count == edges * (edges - 1) <= MAX_CLOSINGS < edges * (edges - 1) * (edges - 2)
    found = state.closings[first : first + count]
    assert all(int(one).bit_count() == 2 for one in found)
