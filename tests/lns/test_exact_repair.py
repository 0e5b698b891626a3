"""The exact repair: each region is searched once, in the order that costs less; what the certificate says is true."""

import numpy as np
import pytest

from lns import node_equivalents
from lns.engine import verified_board
from lns.exact.region.resolve import RegionResult, RegionStatus, resolve
from lns.instances.board import Board
from lns.instances.formats import load_puzzle
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.loop.pool import Freed, Member, Neighbourhood, Pool, Repaired
from lns.neighbourhoods.exact_repair import ORDERS, TRY_OTHER, Certificate, RegionOperator
from lns.neighbourhoods.regions import windows
from lns.params import NeighbourhoodsParams
from tests.instances.small_puzzles import planted
from tests.lns.loop_parts import damaged, exchanged, good_board, pool_with

RNG = np.random.default_rng(1)
SEVERAL = ((3, 3), (3, 4), (4, 3))


def around_damage(puzzle: Puzzle, member: Member) -> list[tuple[int, ...]]:
    return windows(puzzle, member.board, SEVERAL)


def operator_for(puzzle: Puzzle, regions: Neighbourhood = around_damage, *, moves: bool = False) -> RegionOperator:
    return RegionOperator("blocks", puzzle, regions, 1_000_000, moves=moves)


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


def test_the_order_that_decides_regions_for_less_is_used_and_the_other_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    puzzle, board = damaged(4)
    operator, member, score = operator_for(puzzle), pool_with(puzzle, board).members[0], verify(puzzle, board).score
    static, dynamic = ORDERS
    costs, decides = {static: 60_000, dynamic: 1000}, {static: True, dynamic: False}
    asked: list[str] = []

    def search(puzzle, board, cells, *, target, nodes, options) -> RegionResult:  # type: ignore[no-untyped-def]
        assert nodes == node_equivalents.region_nodes(1_000_000, options.order), "the same cost for both at most"
        asked.append(options.order)
        status, spent = RegionStatus.BUDGET_SPENT, costs[options.order]
        return RegionResult(status, board, score, 0, score + (not decides[options.order]), spent, 0.0, (), work=spent)

    monkeypatch.setattr("lns.neighbourhoods.exact_repair.resolve", search)
    for _ in range(5 * TRY_OTHER + 1):
        operator.repair(Freed(member, (7, 8)), 1, RNG)
    assert set(asked[:2]) == {static, dynamic}
    assert asked.count(dynamic) == 1 + 5, "ColorPairs costs less a region, but decides none"
    decides[dynamic] = True
    for _ in range(20 * TRY_OTHER):
        operator.repair(Freed(member, (7, 8)), 1, RNG)
    assert asked[-TRY_OTHER:].count(dynamic) == TRY_OTHER - 1, "now it is the cheaper one"


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


# -- the certificate ---------------------------------------------------------------------------------------------------


def certificate_for(puzzle: Puzzle, nodes: int = 1_000_000, share: float = 0.1) -> Certificate:
    return Certificate(puzzle, NeighbourhoodsParams(nodes=nodes, certificate=share))


def windows_of(certificate: Certificate, pool: Pool, most: int = 10**6) -> list[tuple[Freed, Repaired]]:
    """The windows that are freed while time is no matter, and what was found; the pool gets the better boards."""
    done = []
    while len(done) < most and (freed := certificate.free(pool, 1, RNG)) is not None:
        repaired = certificate.repair(freed, 1, RNG)
        for found in repaired.boards:
            pool.offer(verified_board(certificate.puzzle, found.board, found.origin), 1, parent=freed.member)
        pool.spent = pool.spent * 2 + 1e6 + 100 * repaired.cost
        done.append((freed, repaired))
    return done


def counts(certificate: Certificate) -> tuple[set[int], int, int]:
    """Scores of the boards, proven windows and all windows."""
    shapes = certificate.statistics.certificate.values()
    return {score for score, _, _ in shapes}, sum(proven for _, proven, _ in shapes), sum(all_ for _, _, all_ in shapes)


@pytest.mark.parametrize(("seed", "swaps", "colours"), [(6, 3, 9), (0, 5, 7)])
def test_all_windows_around_the_damage_are_proven_and_really_have_no_better_refill(
    seed: int, swaps: int, colours: int
) -> None:
    puzzle, board = damaged(seed, 7, 6, swaps=swaps, colours=colours)
    certificate, pool = certificate_for(puzzle), pool_with(puzzle, board)
    done = windows_of(certificate, pool)
    best = max(member.score for member in pool.members)
    assert puzzle.max_score >= best > verify(puzzle, board).score and counts(certificate)[0] == {best}
    assert counts(certificate)[1] == counts(certificate)[2]
    last = {freed.cells: (freed, repaired) for freed, repaired in done if freed.member.score == best}
    assert len(last) == counts(certificate)[2]
    for freed, repaired in last.values():
        assert not repaired.boards
        result = resolve(puzzle, freed.member.board, freed.cells, target=best + 1)
        assert result.status in (RegionStatus.TARGET_REFUTED, RegionStatus.OPTIMAL) and result.score == best
    assert "certificate" in certificate.statistics.operators


def test_windows_that_are_too_large_to_search_are_not_listed() -> None:
    puzzle, board = planted(1, 90, 3, 20)
    pool = pool_with(puzzle, exchanged(puzzle, board, np.random.default_rng(1), 3))
    certificate = certificate_for(puzzle, nodes=100)
    assert all(len(freed.cells) == 9 for freed, _ in windows_of(certificate, pool))
    assert list(certificate.statistics.certificate) == ["3 full columns"]


def test_the_windows_of_a_column_touch_its_mismatches() -> None:
    puzzle, solution = planted(3, 1, 8, 9)
    oriented = solution.placements.copy()
    oriented[[2, 5]] = oriented[[5, 2]]
    board = Board(oriented, 1, 8)
    pairs = verify(puzzle, board).mismatches
    touched = {cells for top in range(6) if any(set(pair) & {*(cells := (top, top + 1, top + 2))} for pair in pairs)}
    assert pairs and {*windows(puzzle, board, [(3, 1)])} == touched


def test_the_windows_have_the_shapes_that_are_told_and_hold_damage() -> None:
    puzzle = load_puzzle("like-e2-10x10")
    board, certificate = good_board(puzzle), certificate_for(puzzle, nodes=100)
    freed = [freed.cells for freed, _ in windows_of(certificate, pool_with(puzzle, board), 110)]
    rows = [(len({cell // 10 for cell in cells}), len({cell % 10 for cell in cells})) for cells in freed]
    assert set(rows) == {(5, 6), (6, 5), (4, 8), (8, 4), (3, 10), (10, 3)}
    assert all(len(cells) == height * width for cells, (height, width) in zip(freed, rows, strict=True))
    pairs = verify(puzzle, board).mismatches
    assert all(any(set(pair) & set(cells) for pair in pairs) for cells in freed)
    told = certificate.statistics.certificate
    assert list(told) == ["5x6", "4x8", "3 full rows or columns"]
    assert len(set(freed)) == sum(windows for _, _, windows in told.values()) < len(freed), "then open ones again"


def test_a_new_best_begins_anew() -> None:
    puzzle, board = damaged(2, 5, 6, swaps=1)
    worse = exchanged(puzzle, board, np.random.default_rng(9), 2)
    certificate, pool = certificate_for(puzzle), pool_with(puzzle, worse)
    low = pool.members[0].score
    windows_of(certificate, pool, 2)
    pool.offer(verified_board(puzzle, board, "elsewhere"), 0)
    assert verify(puzzle, board).score > low
    freed = certificate.free(pool, 1, RNG)
    assert freed is not None and freed.member.board == board
    (score,), proven, _ = counts(certificate)
    assert score == verify(puzzle, board).score and proven == 0
    pool.keep(low)
    assert certificate.free(pool, 1, RNG).member.board == board, "also once the pool has lost it"


def test_it_costs_its_share_of_what_was_searched_since_the_best_board() -> None:
    puzzle, board = damaged(1, 8, 8, swaps=3)
    certificate, pool = certificate_for(puzzle, nodes=1000, share=0.1), pool_with(puzzle, board)
    pool.spent = begun = 1e9
    cost, most = 0.0, 0.0
    for _ in range(300):
        freed = certificate.free(pool, 1, RNG)
        if freed is not None:
            repaired = certificate.repair(freed, 1, RNG)
            cost, most = cost + repaired.cost, max(most, repaired.cost)
        pool.spent += 1e5
        assert cost <= 0.1 * (pool.spent - begun) + most
    assert cost > 0.08 * (pool.spent - begun)


def test_one_board_of_each_family_and_eight_of_them_are_certified() -> None:
    puzzle, solution = planted(3, 6, 6, 7)
    rng, boards = np.random.default_rng(3), []
    while len(boards) < 12:
        board = exchanged(puzzle, solution, rng)
        if verify(puzzle, board).score == puzzle.max_score - 8 and board not in boards:
            boards.append(board)
    pool = Pool(puzzle, 64, 10**9)
    for board in boards:
        pool.offer(verified_board(puzzle, board, "start"), 0)
    certificate = certificate_for(puzzle, nodes=100)
    assert certificate.free(pool, 1, RNG) is not None
    all_windows = counts(certificate)[2]
    same_family = pool_with(puzzle, boards[0])
    for board in boards[1:]:
        same_family.offer(verified_board(puzzle, board, "start"), 0)
        same_family.members[0].family = same_family.members[-1].family
    alone = certificate_for(puzzle, nodes=100)
    assert alone.free(same_family, 1, RNG) is not None
    assert 6 * counts(alone)[2] < all_windows < 10 * counts(alone)[2]
