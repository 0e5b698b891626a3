"""Operators: which regions they free, and that clues, rim and each piece are kept by whatever they make of a board."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lns.assignment import fill, matched_edges
from lns.construct import refused_rules
from lns.engine import verified_board
from lns.instances.board import Board
from lns.instances.formats import load_puzzle
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.loop.pool import Freed, Member, Operator, Pool, Repaired
from lns.neighbourhoods import OPERATORS
from lns.neighbourhoods.exact_repair import RegionOperator
from lns.neighbourhoods.move import Suffix, assign, exchange, mismatched_pairs, perturb
from lns.neighbourhoods.operators import Island, make_operators, operators_of
from lns.node_equivalents import REGION_NODE
from lns.orientation import Orientation
from lns.params import BeamParams, ConstructParams, NeighbourhoodsParams, Params, from_dict
from lns.tabu.search import MAX_CELLS as TABU_CELLS
from lns.tabu.search import random_board
from tests.instances.small_puzzles import planted
from tests.lns.loop_parts import RULES, damaged, good_board, of_rules, pool_with

SHAPES = [(1, 1), (1, 2), (7, 1), (2, 2), (2, 3), (3, 3), (4, 3), (5, 9), (9, 6)]
SIZES = NeighbourhoodsParams()
REGIONS = ("block", "block-32", "block-48", "band", "damage", "cluster", "comb", "path", "donors")


def some_board(puzzle: Puzzle, seed: int) -> Board:
    """Random, or filled by assignment."""
    return random_board(puzzle, np.random.default_rng(seed)) if seed % 2 else fill(puzzle, Board.empty(puzzle))


def puzzles() -> list[Puzzle]:
    """Of every shape, with clues and without, and of every rule."""
    framed = [planted(i, w, h, 3, min(clues, w * h))[0] for i, (w, h) in enumerate(SHAPES) for clues in (0, 1, 5)]
    return framed + [of_rules(text, 4)[0] for text in RULES]


def operator_for(name: str, puzzle: Puzzle, nodes: int, **sizes: Any) -> Operator:
    """The operator as the engine "lns" has it."""
    params = from_dict({"neighbourhoods": {"nodes": nodes, **sizes}})
    orientation = None if refused_rules(puzzle) else Orientation.of_island(puzzle)
    return make_operators([name], Island(puzzle, orientation, params, 1, 0, engine="lns"))[0]


def regions_of(name: str, puzzle: Puzzle, board: Board, order: Any = None, **sizes: Any) -> list[tuple[int, ...]]:
    """The regions that an operator frees, the first ones first."""
    operator = operator_for(name, puzzle, 1000, **sizes)
    assert isinstance(operator, RegionOperator)
    return list(operator.neighbourhood(puzzle, Member(board, 0, order)))


def call(operator: Operator, puzzle: Puzzle, pool: Pool, rng: np.random.Generator) -> tuple[Freed, Repaired] | None:
    """Free and repair once, check what comes of it, and let the pool have it; None if there is nothing to do."""
    freed = operator.free(pool, 1, rng)
    if freed is None:
        return None
    assert freed.member is not None
    before = Board(freed.member.board.placements.copy(), puzzle.width, puzzle.height)
    repaired = operator.repair(freed, 1, rng)
    assert freed.member.board == before and repaired.cost >= 0
    for found in repaired.boards:
        better = verified_board(puzzle, found.board, found.origin)
        assert better.score > freed.member.score
        pool.offer(better, 0, order=found.order, parent=freed.member)
    if repaired.moved is not None:
        other = verified_board(puzzle, repaired.moved.board, repaired.moved.origin)
        assert other.board != before and (other.score == freed.member.score or operator.name == "perturb")
        pool.move(freed.member, other, 0)
    return freed, repaired


# -- regions -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REGIONS)
def test_regions_hold_damage_and_lie_on_the_board(name: str) -> None:
    boards = [(puzzle, some_board(puzzle, seed)) for puzzle in puzzles() for seed in range(2)]
    large = load_puzzle("like-e2-16x16")
    found = 0
    for puzzle, board in [*boards, (large, good_board(large))]:
        judged = verify(puzzle, board)
        pairs = set(map(tuple, mismatched_pairs(puzzle, board).tolist()))
        assert pairs == {*judged.mismatches} and matched_edges(puzzle, board.placements) == judged.score
        regions = regions_of(name, puzzle, board)
        for cells in regions:
            inside = set(cells)
            assert len(inside) == len(cells) <= SIZES.most_cells and 0 <= min(cells) <= max(cells) < puzzle.cells
            assert any(inside & {*pair} for pair in pairs)
            assert len(cells) >= SIZES.least_cells or name in ("band", "damage"), "few lines of a narrow board"
        found += len(regions)
    assert found > 30
    assert regions_of(name, *planted(9, 9, 9, 7)) == [], "without a mismatch there are none"


@pytest.mark.parametrize("name", ["block", "block-32", "block-48", "comb"])
def test_the_window_with_the_most_damage_comes_first(name: str) -> None:
    puzzle = load_puzzle("like-e2-16x16")
    board = good_board(puzzle)
    pairs = mismatched_pairs(puzzle, board)
    regions = regions_of(name, puzzle, board)
    damage = [int(np.isin(pairs, cells).any(axis=1).sum()) for cells in regions]
    assert damage == sorted(damage, reverse=True) and damage[0] > damage[-1] > 0


def test_blocks_of_all_sizes_are_freed() -> None:
    puzzle, board = damaged(9, 8, 8)
    shapes: set[tuple[int, int]] = set()
    for name, least, most in [("block", 9, 20), ("block-32", 21, 32), ("block-48", 33, 48)]:
        regions = regions_of(name, puzzle, board)
        found = {(len({cell // 8 for cell in cells}), len({cell % 8 for cell in cells})) for cells in regions}
        assert all(least <= height * width <= most for height, width in found)
        shapes |= found
    assert shapes == {(h, w) for h in range(3, 9) for w in range(3, 9) if h * w <= 48}


def test_bands_are_whole_lines_the_thin_ones_first_and_damage_is_freed_whole() -> None:
    puzzle, board = damaged(9, 8, 6)
    lines = []
    for cells in regions_of("band", puzzle, board):
        rows, columns = {cell // 8 for cell in cells}, {cell % 8 for cell in cells}
        assert len(columns) == 8 or len(rows) == 6
        lines.append(len(cells) // (8 if len(columns) == 8 else 6))
    assert lines == sorted(lines) and set(lines) == {1, 2, 3}
    pairs = mismatched_pairs(puzzle, board)
    rows, columns = pairs // 8, pairs % 8
    found = [set(cells) for cells in regions_of("damage", puzzle, board, most_cells=64)]
    assert found[0] == {cell for cell in range(48) if rows.min() <= cell // 8 <= rows.max()}
    assert found[1] == {cell for cell in range(48) if columns.min() <= cell % 8 <= columns.max()}


def test_the_last_cells_are_those_that_the_construction_filled_last() -> None:
    puzzle, board = damaged(9)
    order = np.random.default_rng(1).permutation(36).astype(np.int32)
    assert regions_of("last-7", puzzle, board, order) == [tuple(order[-7:].tolist())]
    assert regions_of("last-7", puzzle, board) == []


def test_paths_connect_mismatches() -> None:
    puzzle = load_puzzle("like-e2-10x10")
    board = good_board(puzzle)
    pairs = mismatched_pairs(puzzle, board)
    for cells in regions_of("path", puzzle, board):
        assert np.isin(pairs, cells).any(axis=1).sum() >= 2
        around, seen = {cells[0]}, set(cells)
        while more := {near for cell in around for _, near in puzzle.neighbours(cell)} & seen - around:
            around |= more
        assert around == seen


# -- what operators make of boards -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OPERATORS)
def test_boards_stay_legal_on_every_shape_and_by_every_rule(name: str) -> None:
    called = 0
    for puzzle in puzzles():
        if refused_rules(puzzle) and name == "suffix":
            continue
        operator, rng = operator_for(name, puzzle, 3000), np.random.default_rng(1)
        for seed in range(2):
            pool = pool_with(puzzle, some_board(puzzle, seed))
            called += sum(call(operator, puzzle, pool, rng) is not None for _ in range(4))
    assert called > 20 or name == "comb", "few boards have room for a comb"


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("nodes", [3_000, 300_000])
def test_a_budget_is_kept_to_about(name: str, nodes: int) -> None:
    """A re-solve for each edge that is gained, and another for a refill as good; a beam at its narrowest, and its
    tails; the tables of a walk, and a walk that takes as long."""
    puzzle, room = load_puzzle("like-e2-16x16-clue5"), 120_000 if name == "perturb" else 60_000
    operator, pool = operator_for(name, puzzle, nodes), pool_with(puzzle, good_board(puzzle))
    rng = np.random.default_rng(4)
    for _ in range(4):
        done = call(operator, puzzle, pool, rng)
        assert done is None or done[1].cost <= (3 * nodes + room) * REGION_NODE


@pytest.mark.parametrize("name", OPERATORS)
def test_a_bad_board_gets_better(name: str) -> None:
    puzzle = load_puzzle("like-e2-10x10") if name == "comb" else planted(3, 6, 6, 3)[0]
    board = fill(puzzle, Board.empty(puzzle))
    pool, rng = pool_with(puzzle, board), np.random.default_rng(3)
    operator = operator_for(name, puzzle, 70_000)
    for _ in range(20):
        call(operator, puzzle, pool, rng)
    assert pool.members[0].score > matched_edges(puzzle, board.placements) + (0 if name in ("damage", "comb") else 5)


@pytest.mark.parametrize("name", ["block", "block-32", "band", "cluster", "path", "donors", "suffix", "damage"])
def test_a_spoilt_board_is_repaired(name: str) -> None:
    """A solved board with two pieces exchanged in its last rows."""
    puzzle, solution = planted(8, 8, 8, 6)
    placed = solution.placements.copy()
    placed[[50, 53]] = placed[53] ^ 1, placed[50] ^ 2
    operator = operator_for(name, puzzle, 200_000)
    pool, rng = pool_with(puzzle, Board(placed, 8, 8)), np.random.default_rng(1)
    for _ in range(60):
        if pool.members[0].score == puzzle.max_score:
            break
        call(operator, puzzle, pool, rng)
    assert pool.members[0].score == puzzle.max_score


@pytest.mark.parametrize("name", ["block", "cluster", "suffix", "assign", "exchange"])
def test_other_boards_as_good_are_found(name: str) -> None:
    puzzle, _ = planted(3, 7, 7, 6)
    operator, rng = operator_for(name, puzzle, 50_000), np.random.default_rng(3)
    pool = pool_with(puzzle, fill(puzzle, Board.empty(puzzle)))
    done = [call(operator, puzzle, pool, rng) for _ in range(40)]
    assert any(one and one[1].moved for one in done)


@pytest.mark.parametrize("name", [*OPERATORS, "certificate"])
def test_nothing_is_freed_for_a_score_that_no_board_has(name: str) -> None:
    puzzle, board = planted(4, 6, 5, 4, 2)
    operator, pool = operator_for(name, puzzle, 5000), pool_with(puzzle, board)
    assert operator.free(pool, puzzle.max_score + 1, np.random.default_rng(1)) is None
    assert operator.free(Pool(puzzle, 3, 100), 1, np.random.default_rng(1)) is None


@pytest.mark.parametrize("function", [assign, exchange, perturb, Suffix(ConstructParams(), BeamParams())])
def test_pinned_cells_stay_as_they_are(function: Callable[..., Any]) -> None:
    puzzle, board = planted(4, 4, 4, 3, 16)
    assert function(puzzle, board, np.random.default_rng(1), 5000).board == board


def test_boards_larger_than_tabu_takes() -> None:
    puzzle, _ = planted(1, 33, 32, 9)
    board, rng = fill(puzzle, Board.empty(puzzle)), np.random.default_rng(1)
    assert puzzle.cells > TABU_CELLS
    for function in (assign, exchange):
        move = function(puzzle, board, rng, 5000)
        assert verify(puzzle, move.board).complete and move.score == verify(puzzle, move.board).score
    assert perturb(puzzle, board, rng, 5000).board == board
    assert "tabu" not in operators_of("auto", puzzle, Params())


def test_the_suffix_is_searched_by_the_parameters_of_the_run() -> None:
    """An order that begins elsewhere keeps other cells."""
    puzzle = load_puzzle("like-e2-8x8")
    usual, other = ConstructParams(), ConstructParams(column_major_skip=3, column_major_fraction=0.5)
    moves = [
        Suffix(construct, BeamParams())(puzzle, good_board(puzzle), np.random.default_rng(5), 50_000)
        for construct in (usual, usual, other)
    ]
    assert moves[0] == moves[1]
    assert moves[0].nodes != moves[2].nodes


# -- the table ---------------------------------------------------------------------------------------------------------


def test_each_engine_has_its_operators() -> None:
    puzzle, other = load_puzzle("like-e2-8x8"), of_rules(RULES[0], 1)[0]
    auto = operators_of("auto", puzzle, Params())
    assert auto[:3] == ("beam", "construct", "certificate") and {"tabu", "last-20", *OPERATORS} < set(auto)
    assert operators_of("lns", puzzle, Params()) == ("beam", "certificate", *OPERATORS)
    assert operators_of("construct", puzzle, Params()) == ("fill", "construct")
    assert operators_of("tabu", puzzle, Params()) == ("tabu",) and operators_of("beam", puzzle, Params()) == ("beam",)
    assert operators_of("path", puzzle, Params()) == ("beam", "path")
    assert operators_of("auto", other, Params()) == operators_of("lns", other, Params())
    assert operators_of("auto", other, Params())[:2] == ("fill", "tabu")
    assert not {"beam", "construct", "suffix"} & set(operators_of("auto", other, Params()))


def test_neighbourhoods_are_switched_off_by_their_parameters() -> None:
    puzzle = load_puzzle("like-e2-8x8")
    kinds = ("blocks", "bands", "clusters", "combs", "paths", "donors", "last_sizes", "certificate")
    off = from_dict({"neighbourhoods": dict.fromkeys(kinds, 0), "engine": {"beams": 0}})
    expected = ("fill", "construct", "suffix", "assign", "exchange", "perturb", "tabu")
    assert operators_of("auto", puzzle, off) == expected
    assert operators_of("lns", puzzle, off) == ("beam", "suffix", "assign", "exchange", "perturb")
