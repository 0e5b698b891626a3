"""The exact repair: each region of each board is searched once, in the order of search that costs less."""

from __future__ import annotations

import numpy as np
import pytest

from lns import node_equivalents
from lns.engine import verified_board
from lns.exact.region.resolve import RegionResult, RegionStatus, resolve
from lns.instances.board import Board
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.loop.exact_repair import ORDERS, TRY_OTHER, RegionOperator
from lns.loop.operator import Freed, Neighbourhood, Repaired
from lns.loop.pool import Member, Pool
from lns.neighbourhoods.regions import windows
from tests.lns.loop_parts import damaged, exchanged, pool_with

RNG = np.random.default_rng(1)
SEVERAL = ((3, 3), (3, 4), (4, 3))


def around_damage(puzzle: Puzzle, member: Member) -> list[tuple[int, ...]]:
    return windows(puzzle, member.board, SEVERAL)


def operator_for(
    puzzle: Puzzle, neighbourhood: Neighbourhood = around_damage, *, nodes: int = 1_000_000, moves: bool = False
) -> RegionOperator:
    return RegionOperator("blocks", puzzle, neighbourhood, nodes, moves=moves)


def all_repairs(operator: RegionOperator, pool: Pool, rng: np.random.Generator = RNG) -> list[tuple[Freed, Repaired]]:
    """Each region of the boards of a pool, and what was found there; the pool stays as it is."""
    found = []
    while (freed := operator.free(pool, 1, rng)) is not None:
        found.append((freed, operator.repair(freed, 1, rng)))
    return found


def test_every_region_of_every_board_is_freed_once_the_best_board_first() -> None:
    puzzle, board = damaged(4)
    near, far = board, exchanged(puzzle, board, np.random.default_rng(5), 3)
    pool = pool_with(puzzle, far, near)
    freed = [(one.member, one.cells) for one, _ in all_repairs(operator_for(puzzle), pool)]
    assert freed == [(member, cells) for member in pool.ranked() for cells in around_damage(puzzle, member)]
    assert freed[0][0].board == near and all_repairs(operator_for(puzzle), pool) == []


def test_a_question_of_another_operator_is_not_asked_again() -> None:
    puzzle, board = damaged(4)
    pool = pool_with(puzzle, board)
    other = RegionOperator("others", puzzle, around_damage, 1000, moves=False)
    assert all_repairs(operator_for(puzzle), pool) and not all_repairs(other, pool)
    assert other.statistics.operators == {}


def test_nothing_is_freed_for_a_score_that_no_board_has() -> None:
    puzzle, board = damaged(4)
    assert operator_for(puzzle).free(pool_with(puzzle, board), puzzle.max_score + 1, RNG) is None
    assert operator_for(puzzle).free(Pool(puzzle, 3, 100), 1, RNG) is None


@pytest.mark.parametrize("seed", range(4))
def test_a_region_that_can_be_repaired_is_repaired_to_the_end(seed: int) -> None:
    """One edge after the other, until there is no better refill; the order of the construction is kept."""
    puzzle, board = damaged(seed)
    pool = pool_with(puzzle, board)
    cells = tuple(range(6, 30))
    freed, repaired = all_repairs(operator_for(puzzle, lambda puzzle, member: [cells]), pool)[0]
    (found,) = repaired.boards
    judged = verify(puzzle, found.board)
    assert judged.complete and judged.score == puzzle.max_score > verify(puzzle, board).score + 1
    assert found.order is freed.member.order and found.origin == "blocks" and repaired.cost > 0


def test_regions_that_are_not_improved_have_no_better_refill_unless_the_nodes_run_out() -> None:
    puzzle, board = damaged(6, swaps=3)
    for nodes in (1_000_000, 1):
        pool = pool_with(puzzle, board)
        for freed, repaired in all_repairs(operator_for(puzzle, nodes=nodes), pool):
            best = resolve(puzzle, board, freed.cells).score
            score = freed.member.score
            assert bool(repaired.boards) == (best > score) or nodes == 1


@pytest.mark.parametrize("seed", range(3))
def test_both_orders_of_search_give_the_same_answers(seed: int) -> None:
    puzzle, board = damaged(seed, swaps=2)
    rng, operator, answers = np.random.default_rng(seed), operator_for(puzzle), []
    pool = pool_with(puzzle, *(exchanged(puzzle, board, rng) for _ in range(3)))
    for freed, repaired in all_repairs(operator, pool):
        best = resolve(puzzle, freed.member.board, freed.cells).score
        found = verify(puzzle, repaired.boards[-1].board).score if repaired.boards else freed.member.score
        assert found == best
        answers += [board.origin for board in repaired.boards]
    assert set(answers) == {"blocks", "blocks-colorpairs"}
    assert operator.statistics.operators.keys() == set(answers), "gains are shown beside their cost"


class Searches:
    """Stands for the region search: says what each order costs, and what it decides."""

    def __init__(self, nodes: dict[str, int], decides: dict[str, bool]) -> None:
        self.nodes, self.decides = nodes, decides
        self.asked: list[str] = []

    def __call__(self, puzzle, board, cells, *, target, nodes, options) -> RegionResult:  # type: ignore[no-untyped-def]
        assert nodes == node_equivalents.region_nodes(1_000_000, options.order), "the same cost for both at most"
        self.asked.append(options.order)
        status = RegionStatus.OPTIMAL if self.decides[options.order] else RegionStatus.BUDGET_SPENT
        spent, score = self.nodes[options.order], verify(puzzle, board).score
        bound = score if self.decides[options.order] else score + 1
        return RegionResult(status, board, score, 0, bound, spent, 0.0, (), work=spent)


def test_the_order_that_decides_regions_for_less_is_used_and_the_other_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    puzzle, board = damaged(4)
    operator = operator_for(puzzle)
    member = pool_with(puzzle, board).members[0]
    static, dynamic = ORDERS
    search = Searches({static: 60_000, dynamic: 1000}, {static: True, dynamic: False})
    monkeypatch.setattr("lns.loop.exact_repair.resolve", search)
    for _ in range(5 * TRY_OTHER + 1):
        operator.repair(Freed(member, (7, 8)), 1, RNG)
    assert set(search.asked[:2]) == {static, dynamic}
    assert search.asked.count(dynamic) == 1 + 5, "ColorPairs costs less a region, but decides none"
    search.decides[dynamic] = True
    for _ in range(20 * TRY_OTHER):
        operator.repair(Freed(member, (7, 8)), 1, RNG)
    assert search.asked[-TRY_OTHER:].count(dynamic) == TRY_OTHER - 1, "now it is the cheaper one"
    again = operator_for(puzzle)
    again.restore(operator.state())
    assert again.statistics == operator.statistics
    search.asked.clear()
    for one in (operator, again):
        for _ in range(TRY_OTHER):
            one.repair(Freed(member, (7, 8)), 1, RNG)
    assert search.asked[:TRY_OTHER] == search.asked[TRY_OTHER:], "what was learnt is saved"


def test_boards_as_good_take_the_place_of_the_freed_one_only_where_that_is_wanted() -> None:
    puzzle, board = damaged(2, swaps=4, colours=3)
    for moves in (False, True):
        others: list[Board] = []
        pool = pool_with(puzzle, board)
        for freed, repaired in all_repairs(operator_for(puzzle, moves=moves), pool, np.random.default_rng(2)):
            if repaired.moved is not None:
                after = verified_board(puzzle, repaired.moved.board, "moved")
                changed = np.flatnonzero(after.board.placements != board.placements).tolist()
                assert after.score == freed.member.score and changed and set(changed) <= set(freed.cells)
                others.append(after.board)
        assert bool(others) == moves
