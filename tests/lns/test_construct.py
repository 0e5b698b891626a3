"""The constructor: its tables, its two rules (breaks, quotas), its exact tail, and its state."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lns.construct import candidates
from lns.construct.candidates import BREAK_COST, comb_order, is_from_right
from lns.construct.constructor import Constructor
from lns.construct.quota_bandit import QuotaBandit
from lns.construct.schedule import BreakSchedule, Quota, favoured_colours
from lns.construct.tail import plan_tail, solve_tail
from lns.exact.region.resolve import resolve
from lns.instances.board import Board
from lns.instances.formats import load_puzzle
from lns.instances.generate import like_e2
from lns.instances.puzzle import IntArray, Puzzle
from lns.instances.symmetry import View, board_from_view, puzzle_in_view
from lns.instances.verify import verify
from lns.params import ConstructParams
from lns.rng import random_state
from tests.instances.small_puzzles import planted, with_mates
from tests.lns.construct_parts import list_of, schedule_of, standing


@given(*(st.integers(*ends) for ends in ((1, 24), (1, 24), (1, 9), (0, 9), (1, 9), (0, 9))))
def test_the_comb_visits_every_cell_after_its_upper_and_left_neighbour(width, height, band, lead, corner, right):
    """Or the right one, in some columns of the band."""
    order = comb_order(width, height, band, lead, corner, right)
    assert sorted(order.tolist()) == list(range(width * height))
    seen: set[int] = set()
    for cell, from_right in zip(order.tolist(), is_from_right(order, width), strict=True):
        assert cell < width or cell - width in seen
        if from_right:
            assert cell // width >= height - band and cell % width >= width - right
            assert (cell + 1) % width == 0 or cell + 1 in seen
        else:
            assert cell % width == 0 or cell - 1 in seen
        seen.add(cell)


def row_scan(width: int, height: int) -> IntArray:
    return np.arange(width * height, dtype=np.int32)


def plain(puzzle: Puzzle, unlock: list[int], tail: int = 8) -> BreakSchedule:
    """A schedule without quotas: row scan, breaks unlocking at these depths."""
    return schedule_of(row_scan(puzzle.width, puzzle.height), unlock, tail)


def test_the_derived_schedule_of_a_16x16_board_is_like_the_record_holders():
    """Eternity II's own is 201 206 211 216 221 225 229 233 237 239; an instance like it gets one close to that."""
    puzzle = like_e2(16, 16, seed=5).puzzle
    arms = QuotaBandit(puzzle, ConstructParams(), random_state(1))
    schedule = arms.choose_schedule(puzzle.max_score)
    fit = arms.arms[0].prior
    before = schedule.unlock[schedule.unlock < 240]  # theirs is for 240 cells, the rest is luck
    assert 8 <= len(before) <= 12 and 185 <= before[0] <= 210 and before[-1] >= 230
    assert schedule.unlock[-1] < schedule.cut == 256 - ConstructParams().tail
    assert fit.quota.scale == ConstructParams().quota_scale and len(fit.quota.favoured) == 3
    assert not (schedule.quota_floor[schedule.allowed > 0] > 0).any(), "quotas and breaks never mix"
    assert arms.forecast is not None and 12 <= arms.forecast.mismatches <= 24


def test_a_board_with_more_favoured_half_edges_than_a_break_is_worth_has_no_quota():
    for size, has in ((8, True), (32, False)):
        puzzle = planted(1, size, size, 3)[0]
        arms = QuotaBandit(puzzle, ConstructParams(), random_state(1))
        assert (arms.quota(100) != Quota()) is has, np.isin(puzzle.pieces, favoured_colours(puzzle, 1, 2)).sum()
        assert arms.quota(0) == Quota()


@pytest.mark.parametrize("mates", [False, True])
@pytest.mark.parametrize("clues", [0, 3])
def test_candidate_lists_hold_exactly_the_pieces_that_fit(clues, mates):
    puzzle, board = planted(7, 5, 4, 4, clues)
    puzzle = with_mates(puzzle, board, 1) if mates else puzzle
    order = row_scan(5, 4)
    breaks = np.arange(20) >= 10
    favoured = (1, 2)
    made = candidates.build_tables(puzzle, order, breaks, favoured, np.random.default_rng(1), 20)
    laid, bound = {clue.cell: clue.oriented for clue in puzzle.clues}, {clue.piece for clue in puzzle.clues}
    favoured_sides = np.isin(puzzle.pieces, favoured).sum(axis=1).tolist()
    for (depth, cell), left, up in product(enumerate(order.tolist()), *[range(puzzle.colours + 1)] * 2):
        grey = puzzle.rim_sides(cell)
        if (left == 0, up == 0) != (grey[3], grey[0]):
            continue
        listed = list_of(puzzle, made, depth, left, up)
        if cell in laid:
            assert listed == [(laid[cell], favoured_sides[laid[cell] >> 2])]
            continue
        asked = {3: left, 0: up} | {
            side: puzzle.oriented[laid[other], (side + 2) % 4]
            for side, other in ((1, cell + 1), (2, cell + puzzle.width))
            if not grey[side] and other in laid
        }
        wanted = {}
        for oriented, quad in enumerate(puzzle.oriented.tolist()):
            spent = [side for side, colour in asked.items() if quad[side] != colour]
            fits = oriented >> 2 not in bound and tuple(colour == 0 for colour in quad) == grey
            # a symmetric piece is tried once
            fits &= all((puzzle.oriented[oriented - turn] != quad).any() for turn in range(1, oriented % 4 + 1))
            may_break = breaks[depth] and all(candidates.may_break(puzzle, cell, side) for side in spent)
            if fits and (not spent or (len(spent) == 1 and may_break)):
                wanted[oriented] = favoured_sides[oriented >> 2] - BREAK_COST * len(spent)
        assert dict(listed) == wanted
        gains = [gain for _, gain in listed]
        assert gains == sorted(gains, reverse=True), "exact ones first, then those with more favoured half-edges"


@pytest.mark.parametrize("mates", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_the_exact_tail_is_optimal(seed, mates):
    """Against the search of regions, with and without clues, from prefixes that do not fit at all."""
    chance = np.random.default_rng(seed)
    width, height = [(4, 4), (5, 3), (3, 5), (6, 2)][seed % 4]
    puzzle, board = planted(seed, width, height, 2 + seed % 4, seed % 3)
    puzzle = with_mates(puzzle, board, seed) if mates else puzzle
    tail = 5
    order = row_scan(width, height)
    if not mates and seed % 2:  # the tail has a column between two that are filled before
        order = comb_order(width, height, 2, columns_from_right=2)
    cut = puzzle.cells - tail
    placements = board.placements.copy()
    free_cells = [cell for cell in range(puzzle.cells) if cell not in {clue.cell for clue in puzzle.clues}]
    for _ in range(6):  # exchange pieces of the same rim class, so that the tail has mismatches to find
        a, b = chance.choice(free_cells, 2, replace=False)
        swapped = placements.copy()
        swapped[a], swapped[b] = placements[b], placements[a]
        if verify(puzzle, Board(swapped, width, height)).valid:
            placements = swapped
    plan, work = plan_tail(puzzle, order, cut)
    used = np.zeros(puzzle.cells + 1, dtype=np.uint8)
    right = np.zeros((height + 1) * (width + 1), dtype=np.int64)
    down = np.zeros_like(right)
    placed, behind = placements[order[:cut]], order[cut:].tolist()
    used[placed >> 2], used[[clue.piece for clue in puzzle.clues]] = 1, 0
    quads, position = puzzle.oriented[placed], candidates.padded_positions(order[:cut], width)
    shown = np.where(is_from_right(order, width)[:cut], quads[:, 3], quads[:, 1])
    right[position], down[position] = shown * (puzzle.colours + 1), quads[:, 2]
    got, nodes = solve_tail(plan, work, used, right, down, 2 * tail, 10**7)

    refill = resolve(puzzle, Board(placements, width, height), sorted(behind))
    others = [pair for pair in verify(puzzle, refill.board).mismatches if not {*pair} & {*behind}]
    best = puzzle.max_score - refill.score - len(others)
    assert refill.proven and nodes < 10**7 and got == best
    refilled = placements.copy()
    refilled[behind] = work.found
    judged = verify(puzzle, Board(refilled, width, height))
    assert judged.complete and sum(bool({*pair} & {*behind}) for pair in judged.mismatches) == best
    tighter, _ = solve_tail(plan, work, used, right, down, best - 1, 10**7)
    assert tighter == -1


@pytest.mark.parametrize("name", ["like-e2-8x5", "like-e2-10x10", "like-e2-16x16-clue5", "like-e2-12x20"])
def test_boards_of_the_constructor_are_legal_and_as_good_as_asked(name):
    puzzle = load_puzzle(name)
    params = ConstructParams(population=300, quota_scale=0.0)
    schedule = QuotaBandit(puzzle, params, random_state(1)).choose_schedule(puzzle.max_score)
    target, random = puzzle.max_score * 85 // 100, random_state(2)
    restarts = (Constructor(puzzle, params, schedule, random) for _ in range(200))
    board = next(board for restart in restarts if (board := restart.run(100_000_000, target)) is not None)
    judged = verify(puzzle, board)
    assert judged.valid and judged.full and judged.score >= target


def _next_board(search: Constructor) -> tuple[Constructor, Board]:
    """Of this restart or a later one."""
    while (board := search.run(1_000_000, 1)) is None:
        search = Constructor(search.puzzle, search.params, search.schedule, search.random)
    return search, board


@pytest.mark.parametrize("view", [View(0, True), View(1, False), View(3, True), View(2, True)])
def test_a_view_makes_the_boards_of_the_puzzle_turned_by_that_view(view):
    """Clues and all; in later restarts too."""
    puzzle, _ = planted(4, 9, 9, 5, 1)
    schedule = plain(puzzle, list(range(10, 72, 3)))
    aside = replace(schedule, view=view)
    one = Constructor(puzzle, ConstructParams(), aside, random_state(3))
    other = Constructor(puzzle_in_view(puzzle, view), ConstructParams(), schedule, random_state(3))
    for _ in range(3):
        (one, board), (other, seen) = _next_board(one), _next_board(other)
        assert board == board_from_view(seen, view)
        judged = verify(puzzle, board)
        assert judged.valid and judged.full and judged.score == verify(other.puzzle, seen).score > 90
        one, other = (Constructor(of.puzzle, of.params, of.schedule, of.random) for of in (one, other))
    again = Constructor(puzzle, ConstructParams(), aside, random_state(4))
    one.run(1000, puzzle.max_score)
    again.restore(one.state())
    assert standing(again) == standing(one) != ()
    assert _next_board(again)[1] == _next_board(one)[1]
