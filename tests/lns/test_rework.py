"""Re-solves of regions: which boards and regions, how often an operator is called, and that all of it can be saved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from exact.region.resolve import RegionOptions, resolve
from instances.board import Board
from instances.formats import load_puzzle
from instances.symmetry import IDENTITY_VIEW, View, board_from_view, cells_from_view, puzzle_in_view
from instances.verify import verify
from lns import node_equivalents
from lns.loop.candidates import Candidate, Candidates
from lns.loop.construction import Construction
from lns.loop.order_choice import ORDERS, TRY_OTHER, OrderChoice
from lns.loop.payoff import PRIOR_GAIN, PRIOR_PRICES, Payoffs
from lns.loop.rework import Rework
from lns.neighbourhoods.regions import SHAPES, regions_by_shape
from lns.params import Params, ReworkParams, from_dict
from lns_support.errors import InputError
from tests.instances.small_puzzles import planted

VIEWS = [View(turns, mirrored) for turns in range(4) for mirrored in (False, True)]


@pytest.mark.parametrize("view", VIEWS)
def test_cells_of_a_view_are_those_that_its_boards_fill(view):
    puzzle, _ = planted(1, 4, 3, 5)
    cells = cells_from_view(puzzle, view)
    seen = puzzle_in_view(puzzle, view)
    assert sorted(cells.tolist()) == list(range(12))
    for cell in range(12):
        placed = np.full(12, -1, dtype=np.int32)
        placed[cell] = 5 * 4 + 1
        board = board_from_view(Board(placed, seen.width, seen.height), view)
        assert np.flatnonzero(board.placements >= 0).tolist() == [cells[cell]]


@pytest.mark.parametrize("views", [(IDENTITY_VIEW,), (View(0, True),), (View(2, False),)])
def test_near_misses_of_the_construction_are_candidates_with_its_order(views):
    puzzle = load_puzzle("like-e2-10x10")
    params = from_dict({"construct": {"population": 300}, "engine": {"step_nodes": 300_000}})
    part = Construction(puzzle, params, 1, 0, views=views, near_misses=3)
    candidates: list[Candidate] = []
    for _ in range(400):
        wanted = part.best_score + 1
        part.step(puzzle.max_score)
        for candidate in part.pop_candidates():
            assert candidate.score >= wanted - 3
            assert candidate.score == verify(puzzle, candidate.board).score
            candidates.append(candidate)
    assert candidates
    for candidate in candidates:
        order = candidate.order
        assert order is not None and sorted(order.tolist()) == list(range(100))
        rows = {cell // 10 for cell in order[:10].tolist()}
        assert len(rows) == 1, "it begins with a whole row of the view"
        damage = {cell for pair in verify(puzzle, candidate.board).mismatches for cell in pair}
        assert damage <= set(order[30:].tolist()), "there are no breaks where the quota holds"


def damaged(seed: int, swaps: int = 1):
    """A planted puzzle, and its solution with the pieces of two inner cells exchanged."""
    puzzle, solution = planted(seed, 6, 6, 7)
    placed = solution.placements.copy()
    rng = np.random.default_rng(seed)
    inner = [7, 8, 9, 10, 13, 14, 15, 16, 19, 20, 21, 22, 25, 26, 27, 28]
    for _ in range(swaps):
        a, b = rng.choice(inner, 2, replace=False)
        placed[[a, b]] = placed[[b, a]]
    board = Board(placed, 6, 6)
    return puzzle, board, verify(puzzle, board).score


def rework_all(puzzle, candidate, wanted, params=None):
    """Search regions until the wanted score is reached: (the board found or None, the rework)."""
    rework = Rework(puzzle, params or Params().rework)
    rework.candidates.add(candidate)
    while (chosen := rework.next_region(wanted, 1e18)) is not None:
        found = rework.search(*chosen, 1e9)
        if found is not None:
            return found, rework
    return None, rework


@pytest.mark.parametrize("seed", range(6))
def test_a_region_that_can_be_repaired_is_repaired(seed):
    puzzle, board, score = damaged(seed)
    found, rework = rework_all(puzzle, Candidate(board, score), score + 1)
    assert found is not None and found.score > score
    assert verify(puzzle, found.board).complete
    assert found.origin in rework.operators and rework.payoffs.gains.sum() == 1


@pytest.mark.parametrize("seed", [6, 9, 11])
def test_a_board_two_edges_short_gains_one_edge_after_the_other(seed):
    """Each better board takes the place of the one it was made from."""
    puzzle, board, score = damaged(seed, swaps=2)
    damage = {cell for pair in verify(puzzle, board).mismatches for cell in pair}
    order = np.array(sorted(range(36), key=lambda cell: cell in damage), dtype=np.int32)
    rework = Rework(puzzle, ReworkParams(suffix=8, suffix_step=8))
    rework.candidates.add(Candidate(board, score, order))
    scores = [score]
    while (chosen := rework.next_region(scores[-1] + 2, 1e18)) is not None:
        candidate, _ = chosen
        assert candidate.score == scores[-1]
        found = rework.search(*chosen, 1e9)
        if found is not None:
            assert found.score == verify(puzzle, found.board).score > candidate.score
            assert rework.candidates.members == []
            rework.candidates.add(Candidate(found.board, found.score, order))
            scores.append(found.score)
    assert len(scores) > 2


def test_suffixes_come_first_from_short_to_long_and_only_with_an_order():
    puzzle, board, score = damaged(3)
    order = np.arange(36, dtype=np.int32)
    params = ReworkParams(suffix=4, suffix_step=3, suffixes=3, near_misses=3)
    rework = Rework(puzzle, params)
    own = ("suffix-4", "suffix-7", "suffix-10")
    assert rework.operators == (*own, *SHAPES, *(f"{name}-short-{short}" for short in (2, 3) for name in own))
    far = rework._regions_of(Candidate(board, score, order), score + 3)
    assert [region.cells for region in far] == [tuple(range(36 - size, 36)) for size in (4, 7, 10)]
    assert [rework.operators[region.operator] for region in far] == [f"{name}-short-3" for name in own]
    ordered = rework._regions_of(Candidate(board, score, order), score + 1)
    assert [rework.operators[region.operator] for region in ordered[:3]] == list(own)
    near = rework._regions_of(Candidate(Board(board.placements.copy(), 6, 6), score), score + 1)
    assert near and all(rework.operators[region.operator] in SHAPES for region in near)


def test_the_suffix_that_gains_most_comes_first_whatever_board_it_is_of():
    puzzle, board, score = damaged(3)
    other = board.placements.copy()
    other[[7, 8]] = other[[8, 7]]
    order = np.arange(36, dtype=np.int32)
    rework = Rework(puzzle, ReworkParams(suffix=4, suffix_step=3, suffixes=2))
    near, far = Candidate(board, score, order), Candidate(Board(other, 6, 6), score - 1, order)
    rework.candidates.members = [near, far]
    names = []
    for gained, paid in [("suffix-4", 0.5), ("suffix-4-short-2", 0.1), ("suffix-7-short-2", 1.0), ("suffix-7", 2.0)]:
        rework.payoffs.gained[rework.operators.index(gained)] = 5
        rework.payoffs.paid[rework.operators.index(gained)] = paid
    while (chosen := rework.next_region(score + 1, 1e18)) is not None:
        names.append(rework.operators[chosen[1].operator])
        chosen[0].done += 1
    assert names[:4] == ["suffix-4-short-2", "suffix-4", "suffix-7-short-2", "suffix-7"]
    assert len(names) > 4 and all(name in SHAPES for name in names[4:])


def test_a_region_is_not_searched_twice_for_the_same_score():
    puzzle, solution = planted(4, 6, 6, 7)
    wanted = puzzle.max_score + 1
    candidate = Candidate(solution, puzzle.max_score, np.arange(36, dtype=np.int32))
    none, rework = rework_all(puzzle, candidate, wanted)
    assert none is None and (tries := int(rework.payoffs.tries.sum())) == len(rework.suffixes)
    rework.candidates.add(replace(candidate, done=0))
    assert rework.next_region(wanted, 1e18) is None
    assert rework.payoffs.tries.sum() == tries


def test_boards_too_far_from_the_wanted_score_are_dropped():
    puzzle, board, score = damaged(5)
    rework = Rework(puzzle, ReworkParams(near_misses=2))
    rework.candidates.add(Candidate(board, score))
    assert rework.next_region(score + 3, 1e18) is None and rework.candidates.members == []


def test_a_rework_continues_from_its_state():
    puzzle, board, score = damaged(6, swaps=2)
    wanted = puzzle.max_score
    first, second = Rework(puzzle, ReworkParams()), Rework(puzzle, ReworkParams())
    first.candidates.add(Candidate(board, score, np.arange(36, dtype=np.int32)))
    for _ in range(4):
        chosen = first.next_region(score + 1, 1e18)
        assert chosen is not None
        if first.search(*chosen, 1e9):
            break
    second.restore(first.state())
    for rework in (first, second):
        while (chosen := rework.next_region(score + 1, 1e18)) is not None:
            rework.search(*chosen, 1e9)
    for name, value in first.state().items():
        assert np.array_equal(value, second.state()[name]), name
    assert wanted > score


@pytest.mark.parametrize(
    "name, value",
    [
        ("boards", np.zeros((1, 36), dtype=np.int32)),
        ("orders", np.zeros((1, 36), dtype=np.int32)),
        ("done", np.array([-1])),
        ("done", np.array([1, 2])),
        ("payoffs", np.full((5, 10), np.nan)),
        ("payoffs", np.zeros((4, 7))),
        ("order_choice", np.full((3, 10, 2), -1.0)),
        ("order_choice", np.zeros((3, 9, 2))),
    ],
)
def test_a_damaged_state_is_refused(name, value):
    puzzle, board, score = damaged(7)
    rework = Rework(puzzle, ReworkParams())
    rework.candidates.add(Candidate(board, score))
    with pytest.raises(InputError):
        Rework(puzzle, ReworkParams()).restore({**rework.state(), name: value})


def test_an_operator_uses_the_order_that_decides_regions_for_less_and_tries_the_other_now_and_then():
    choice = OrderChoice(2)
    cost, decides = {"static": 3.0, "dynamic": 2.0}, {"static": True, "dynamic": False}
    chosen = []
    for _ in range(2 + 3 * TRY_OTHER):
        order = choice.next_order(1)
        choice.record(1, order, cost[order], decides[order])
        chosen.append(order)
    assert chosen[:2] == ["static", "dynamic"]
    assert chosen.count("dynamic") == 1 + 3, "ColorPairs costs less a region, but decides none"
    decides["dynamic"] = True
    for _ in range(20 * TRY_OTHER):
        order = choice.next_order(1)
        choice.record(1, order, cost[order], decides[order])
        chosen.append(order)
    assert chosen[-TRY_OTHER:].count("dynamic") == TRY_OTHER - 1, "now it is the cheaper one"
    assert choice.next_order(0) == "static" and not choice.tries[0].any()


@pytest.mark.parametrize("seed", range(4))
def test_regions_are_searched_by_colorpairs_and_in_fixed_orders_with_the_same_answers(seed, monkeypatch):
    """Each answer, and each budget, is compared with those of the other order."""
    puzzle, board, _ = damaged(seed)
    asked: list[str] = []
    origins: set[str] = set()

    def both(puzzle, board, cells, *, target, nodes, options):
        asked.append(options.order)
        assert nodes == node_equivalents.region_nodes(ReworkParams().nodes, options.order)
        answers = [resolve(puzzle, board, cells, target=target, options=RegionOptions(order=order)) for order in ORDERS]
        assert len({answer.score >= target for answer in answers}) == 1
        return answers[ORDERS.index(options.order)]

    monkeypatch.setattr("lns.loop.rework.resolve", both)
    rework = Rework(puzzle, ReworkParams(suffix=6, suffix_step=4))
    rng = np.random.default_rng(seed)
    for _ in range(4):  # what is repaired on one board is not on another
        a, b = rng.choice([7, 8, 9, 10, 25, 26, 27, 28], 2, replace=False)
        placed = board.placements.copy()
        placed[[a, b]] = placed[[b, a]]
        score = verify(puzzle, Board(placed, 6, 6)).score
        rework.candidates.add(Candidate(Board(placed, 6, 6), score, np.arange(36, dtype=np.int32)))
        while (chosen := rework.next_region(score + 1, 1e18)) is not None:
            found = rework.search(*chosen, 1e9)
            if found is not None:
                assert found.origin.endswith("-colorpairs") == (asked[-1] == "dynamic")
                assert found.origin in rework.statistics.operators, "gains are shown beside their cost"
                origins.add(found.origin)
    assert set(asked) == set(ORDERS) and origins
    names = set(rework.statistics.operators)
    assert any(name.endswith("-colorpairs") for name in names) and names - {f"{n}-colorpairs" for n in rework.operators}
    assert rework.cost == pytest.approx(rework.orders.cost.sum(), rel=1e-6)


def test_candidates_are_bounded_the_best_first_and_the_latest_of_equal_ones():
    puzzle, solution = planted(8, 4, 4, 5)
    pool = Candidates(puzzle, 3)
    boards = []
    for number, score in enumerate([20, 22, 21, 22, 19]):
        placed = solution.placements.copy()
        placed[[5, 6]] = placed[[6, 5]] if number % 2 else placed[[5, 6]]
        placed[5] = placed[5] // 4 * 4 + number % 4
        boards.append(Board(placed, 4, 4))
        pool.add(Candidate(boards[-1], score))
    assert [member.score for member in pool.members] == [22, 22, 21]
    assert pool.members[0].board is boards[3]
    pool.keep(21, 21)
    assert [member.score for member in pool.members] == [21]


def test_an_operator_pays_as_long_as_it_gains_more_than_the_construction():
    payoffs = Payoffs(("a", "b"))
    assert payoffs.value(0) > 1.0 and payoffs.pays(0, 0.0, 1e9)
    payoffs.record(0, 1e8, 1e8, False)  # a price without a board
    assert payoffs.value(0) == PRIOR_GAIN / (1 + PRIOR_PRICES) and not payoffs.pays(0, 0.0, 1e9)
    assert payoffs.pays(0, 0.2, 1e9) and not payoffs.pays(0, 0.05, 1e9), "its share is left to it"
    payoffs.record(0, 1e6, 1e8, True)
    payoffs.record(0, 1e6, 1e8, True)
    assert payoffs.value(0) > 1.5 and payoffs.pays(0, 0.0, 1e9)
    assert (
        payoffs.value(1) == PRIOR_GAIN / PRIOR_PRICES
        and payoffs.tries.tolist() == [3, 0]
        and payoffs.gains.tolist() == [2, 0]
    )
    for _ in range(100):
        payoffs.record(0, 1e8, 1e8, False)
    assert payoffs.value(0) < 0.1, "old gains are forgotten"
    other = Payoffs(("a", "b"))
    other.restore(payoffs.state())
    assert np.array_equal(other.state(), payoffs.state())


def test_the_damage_is_freed_whole():
    puzzle, board, _ = damaged(9)
    rows = {cell // 6 for pair in verify(puzzle, board).mismatches for cell in pair}
    shapes = dict.fromkeys(shape for shape, _ in regions_by_shape(puzzle, board))
    assert list(shapes) == [shape for shape in SHAPES if shape in shapes]
    damage = [cells for shape, cells in regions_by_shape(puzzle, board) if shape == "damage"]
    assert tuple(range(min(rows) * 6, max(rows) * 6 + 6)) in damage
    assert regions_by_shape(puzzle, planted(9, 6, 6, 7)[1]) == []
