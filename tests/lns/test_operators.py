"""Neighbourhoods: every operator keeps clues, rim and each piece once, and says what its board is worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from exact.region.result import RegionResult, RegionStatus
from instances import Board, verify
from instances.formats import load_puzzle
from instances.symmetry import board_in_view, cells_from_view, puzzle_in_view
from lns.assignment import fill
from lns.construct.beam_engine import BeamEngine
from lns.construct.schedule_search import cell_order
from lns.neighbourhoods import destroy, reconstruct
from lns.neighbourhoods.elites import Elites
from lns.neighbourhoods.move import mismatched_pairs, score_of
from lns.neighbourhoods.operator_weights import OperatorWeights
from lns.neighbourhoods.operators import make_operators
from lns.neighbourhoods.reconstruct import KEPT
from lns.neighbourhoods.regions import MOST_DRAWN, MOST_OF_CLUSTER, _clusters, band, block, cluster, comb, donors, path
from lns.params import BeamParams, ConstructParams, from_dict
from lns.rng import random_state
from lns.tabu.search import MAX_CELLS as TABU_CELLS
from lns.tabu.search import random_board
from lns_support.errors import InputError
from tests.fuzz_region import renamed
from tests.instances.small_puzzles import planted

OPERATORS = make_operators(ConstructParams(), BeamParams())
MAY_GET_WORSE = {"perturb"}
SHAPES = [(1, 1), (1, 2), (7, 1), (2, 2), (2, 3), (3, 3), (4, 3), (5, 9), (9, 6)]


def some_board(puzzle, seed):
    """Random, or filled by assignment."""
    return random_board(puzzle, np.random.default_rng(seed)) if seed % 2 else fill(puzzle, Board.empty(puzzle))


def good_board(puzzle):
    """A beam's: damaged in a few places only."""
    beam = BeamEngine(puzzle, from_dict({"beam": {"width": 100}}), random_state(1))
    beam.complete()
    assert beam.best is not None
    return beam.best


def check(name, puzzle, board, chance, nodes):
    before = verify(puzzle, board)
    assert before.valid and before.full
    move = OPERATORS[name](puzzle, board, chance, nodes)
    judged = verify(puzzle, move.board)
    assert judged.valid and judged.full, judged.problems
    assert judged.score == move.score
    assert move.score >= before.score or name in MAY_GET_WORSE
    assert move.nodes >= 0
    return move


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("nodes", [3_000, 30_000, 300_000])
def test_a_budget_is_kept_to_about(name, nodes):
    """A re-solve, and another for a refill as good; a beam at its narrowest, and its tails; the tables of a walk, and a
    walk that takes as long."""
    puzzle, room = load_puzzle("like-e2-16x16"), 100_000 if name == "perturb" else 20_000
    board, chance = good_board(puzzle), np.random.default_rng(4)
    for _ in range(4):
        assert check(name, puzzle, board, chance, nodes).nodes <= 3 * nodes + room


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("clues", [0, 1, 5])
def test_operators_return_legal_boards_on_every_shape(name, clues):
    for number, (width, height) in enumerate(SHAPES):
        puzzle, _ = planted(number, width, height, 3, min(clues, width * height))
        chance = np.random.default_rng(number)
        for seed in range(3):
            board = some_board(puzzle, seed)
            for _ in range(3):
                board = check(name, puzzle, board, chance, 3000).board


@pytest.mark.parametrize("name", OPERATORS)
def test_five_clues_on_a_large_board(name):
    puzzle = load_puzzle("like-e2-16x16-clue5")
    board, chance = good_board(puzzle), np.random.default_rng(2)
    for _ in range(6):
        board = check(name, puzzle, board, chance, 50_000).board


@pytest.mark.parametrize("name", OPERATORS)
def test_the_same_random_state_makes_the_same_move(name):
    """Whatever was done before: operators have no memory."""
    puzzle = load_puzzle("like-e2-8x8")
    board = fill(puzzle, Board.empty(puzzle))
    first = OPERATORS[name](puzzle, board, np.random.default_rng(5), 20_000)
    OPERATORS[name](puzzle, some_board(puzzle, 3), np.random.default_rng(6), 20_000)
    second = OPERATORS[name](puzzle, board, np.random.default_rng(5), 20_000)
    assert first == second


@pytest.mark.parametrize("name", sorted(OPERATORS.keys() - MAY_GET_WORSE))
def test_a_perfect_board_stays_perfect(name):
    puzzle, board = planted(4, 6, 5, 4, 2)
    assert check(name, puzzle, board, np.random.default_rng(1), 5000).score == puzzle.max_score


@pytest.mark.parametrize("name", OPERATORS)
def test_a_pinned_board_stays_as_it_is(name):
    puzzle, board = planted(4, 4, 4, 3, 16)
    assert check(name, puzzle, board, np.random.default_rng(1), 5000).board == board


@pytest.mark.parametrize("name", ["block", "band", "cluster", "comb", "path", "donors"])
def test_swapped_duplicates_on_clue_cells_are_legal(name):
    """Identical pieces are taken anyhow, so the names of some lie on the clue cells of others."""
    held = 0
    for seed in range(12):
        puzzle, solution = planted(seed, 5, 4, 2, 4)
        placed, rng = solution.placements.copy(), np.random.default_rng(seed)
        free = [cell for cell in (6, 7, 8, 11, 12, 13) if cell not in {clue.cell for clue in puzzle.clues}]
        placed[free] = rng.permutation(placed[free])
        board = renamed(rng, puzzle, Board(placed, 5, 4))
        held += any(board.placements[clue.cell] >> 2 != clue.piece for clue in puzzle.clues)
        for chance in range(4):
            check(name, puzzle, board, np.random.default_rng(chance), 20_000)
    assert held >= 6


@pytest.mark.parametrize("name", ["assign", "exchange"])
def test_boards_larger_than_tabu_takes(name):
    puzzle, _ = planted(1, 33, 32, 9)
    assert puzzle.cells > TABU_CELLS
    board = fill(puzzle, Board.empty(puzzle))
    check(name, puzzle, board, np.random.default_rng(1), 5000)
    assert check("perturb", puzzle, board, np.random.default_rng(1), 5000).board == board


@pytest.mark.parametrize("name", ["block", "band", "cluster", "path", "donors", "suffix"])
def test_a_spoilt_board_is_repaired(name):
    """A solved board with two pieces exchanged in its last rows."""
    puzzle, solution = planted(8, 8, 8, 6)
    placed = solution.placements.copy()
    placed[[50, 53]] = placed[53] ^ 1, placed[50] ^ 2
    board = Board(placed, 8, 8)
    assert verify(puzzle, board).valid and score_of(puzzle, board) < puzzle.max_score
    chance, best = np.random.default_rng(1), 0
    for _ in range(30):
        best = max(best, check(name, puzzle, board, chance, 200_000).score)
        if best == puzzle.max_score:
            break
    assert best == puzzle.max_score


@pytest.mark.parametrize("name", OPERATORS)
def test_a_bad_board_gets_better(name):
    puzzle, _ = planted(3, 6, 6, 3)
    board = fill(puzzle, Board.empty(puzzle))
    before, chance = score_of(puzzle, board), np.random.default_rng(3)
    for _ in range(20):
        board = check(name, puzzle, board, chance, 70_000).board
    assert score_of(puzzle, board) > before + 5


@pytest.mark.parametrize("name", ["block", "cluster", "suffix", "assign", "exchange"])
def test_other_boards_as_good_are_found(name):
    puzzle, _ = planted(3, 7, 7, 6)
    board = fill(puzzle, Board.empty(puzzle))
    chance, sideways = np.random.default_rng(3), 0
    for _ in range(40):
        move = check(name, puzzle, board, chance, 50_000)
        sideways += move.board != board and move.score == score_of(puzzle, board)
        board = move.board
    assert sideways > 0


def test_a_better_board_found_inside_a_longer_move_is_returned(monkeypatch):
    puzzle, solution = planted(8, 8, 8, 6)
    placed = solution.placements.copy()
    placed[[18, 45]] = placed[[45, 18]]
    board, cells = Board(placed, 8, 8), [18, 19, 45]
    score = score_of(puzzle, board)
    better = RegionResult(
        RegionStatus.TARGET_REACHED, solution, puzzle.max_score, 0, puzzle.max_score, 7, 0.0, (), work=42
    )
    monkeypatch.setattr(destroy, "resolve", lambda *_, **__: better)
    assert destroy._another(puzzle, board, cells, score, 100) == (solution, puzzle.max_score, 42)
    monkeypatch.setattr(destroy, "resolve", lambda _, given, *__, **___: replace(better, board=given, score=score))
    assert destroy._another(puzzle, board, cells, score, 100) == (board, score, 42), "with empty cells it is no board"


@pytest.mark.parametrize(("width", "height"), [(16, 16), (5, 30), (1, 9)])
def test_clusters_are_those_of_all_pairs_of_mismatches(width, height):
    puzzle, _ = planted(1, width, height, 6)
    mismatches = list(verify(puzzle, random_board(puzzle, np.random.default_rng(1))).mismatches)
    expected = {}
    for i, first in enumerate(mismatches):
        for second in mismatches[i + 1 :]:
            down, across = np.divmod([*first, *second], width)
            if (np.ptp(down) + 3) * (np.ptp(across) + 3) <= MOST_OF_CLUSTER:
                rows = range(max(0, down.min() - 1), min(height, down.max() + 2))
                columns = range(max(0, across.min() - 1), min(width, across.max() + 2))
                expected.setdefault(tuple(row * width + column for row in rows for column in columns))
    assert list(_clusters(puzzle, mismatches)) == list(expected)


def test_the_suffix_is_searched_by_the_parameters_of_the_run():
    """An order that begins elsewhere keeps other cells."""
    puzzle = load_puzzle("like-e2-8x8")
    board = good_board(puzzle)
    usual, other = ConstructParams(), ConstructParams(column_major_skip=3, column_major_fraction=0.5)
    moves = [
        make_operators(construct, BeamParams())["suffix"](puzzle, board, np.random.default_rng(5), 50_000)
        for construct in (usual, usual, other)
    ]
    assert moves[0] == moves[1]
    assert moves[0].nodes != moves[2].nodes


def test_the_suffix_is_searched_from_both_ends_below_the_same_upper_rows(monkeypatch):
    puzzle = load_puzzle("like-e2-8x8")
    board = good_board(puzzle)
    views = []

    def seen(given, view):
        views.append(view)
        return board_in_view(given, view)

    monkeypatch.setattr(reconstruct, "board_in_view", seen)
    suffix, found = make_operators(ConstructParams(), BeamParams())["suffix"], set()
    for seed in range(12):
        views.clear()
        move = suffix(puzzle, board, np.random.default_rng(seed), 50_000)
        chosen = views[-1]
        order = cell_order(puzzle_in_view(puzzle, chosen), ConstructParams())
        kept = cells_from_view(puzzle, chosen)[order[: round(KEPT[0] * puzzle.cells)]]
        assert (move.board.placements[kept] == board.placements[kept]).all()
        assert verify(puzzle, move.board).valid
        found.add(chosen.mirrored)
    assert found == {False, True}


def test_the_counted_mismatches_are_those_of_the_verifier():
    for seed in range(6):
        puzzle, _ = planted(seed, 3 + seed, 7 - seed, 3)
        board = some_board(puzzle, seed)
        judged = verify(puzzle, board)
        assert sorted(map(tuple, mismatched_pairs(puzzle, board).tolist())) == sorted(judged.mismatches)
        assert score_of(puzzle, board) == judged.score


@pytest.mark.parametrize("choose", [block, band, cluster, comb, path, donors])
def test_regions_hold_damage_and_stay_small(choose):
    puzzle = load_puzzle("like-e2-16x16")
    chance = np.random.default_rng(1)
    board = good_board(puzzle)
    damaged = set(mismatched_pairs(puzzle, board).reshape(-1).tolist())
    drawn = set()
    for _ in range(30):
        cells = choose(puzzle, board, chance)
        assert len(set(cells)) == len(cells) <= MOST_DRAWN
        assert set(cells) <= set(range(puzzle.cells))
        assert damaged & set(cells)
        drawn.add(tuple(cells))
    assert len(drawn) > 15


def test_work_goes_to_the_operator_that_gains():
    choice, chance = OperatorWeights(3, 1e7), np.random.default_rng(1)
    spent = np.zeros(3)
    for _ in range(2000):
        number = choice.draw(chance)
        nodes = [500_000, 500_000, 5_000][number]
        spent[number] += nodes
        choice.update(number, int(number == 1 and chance.random() < 0.2), nodes)
    assert spent[1] > 4 * spent[0] and spent[0] > 0
    assert spent[2] < 4 * spent[0], "what is cheap gets no more work than others"
    again = OperatorWeights(3, 1e7)
    again.restore(choice.state())
    assert (again.weights == choice.weights).all()
    for bad in (np.nan, -1.0, np.inf):
        with pytest.raises(InputError):
            again.restore(np.full((2, 3), bad))


def test_elites_differ_and_the_best_stay():
    puzzle = load_puzzle("like-e2-8x8")
    pool = Elites(puzzle, 3, 10)
    boards = [random_board(puzzle, np.random.default_rng(seed)) for seed in range(6)]
    for board in boards:
        pool.add(board, score_of(puzzle, board))
    assert pool.full and [score for _, score in pool.members] == sorted(score_of(puzzle, b) for b in boards)[:-4:-1]
    best, score = pool.members[0]
    near = OPERATORS["exchange"](puzzle, best, np.random.default_rng(1), 10_000)
    assert 0 < near.board.distance(best) < 10
    pool.add(near.board, score - 1)
    assert pool.members[0][0] == best, "a worse board takes no place of one like it"
    pool.add(near.board, near.score)
    assert pool.members[0][0] == near.board and len(pool.members) == 3
    again = Elites(puzzle, 3, 10)
    again.restore(pool.state())
    assert again.members == pool.members
    with pytest.raises(InputError):
        again.restore(np.zeros((1, 64), dtype=np.int32))
    with pytest.raises(InputError):
        again.restore(np.array([board.placements for board in boards]))
