"""The loop of the engines: any instance gets a legal full board, quickly a good one; its state is all of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from instances import Board, InputError, verify
from instances.formats import load_puzzle
from instances.puzzle import Clue, Puzzle
from instances.symmetry import IDENTITY_VIEW, View
from lns.construct.quota_bandit import QuotaBandit
from lns.engine import FoundBoard
from lns.engines import ENGINES, island_engine, make_engine
from lns.loop.candidates import Candidate
from lns.loop.construction import Construction
from lns.loop.search_loop import SearchLoop
from lns.orientation import Orientation
from lns.params import Params, from_dict
from tests.instances.small_puzzles import planted
from tests.shared_data import shared


def main_engine(puzzle, params, seed, island, *, views=(IDENTITY_VIEW,), name="auto") -> SearchLoop:
    """An island that fills the puzzle as it is."""
    return island_engine(name, Orientation(puzzle, 0, views, (0, 1)), params, seed, island)


QUICK = from_dict({"construct": {"population": 300}, "engine": {"step_nodes": 200_000}})


SHAPES = [(1, 1), (1, 2), (1, 7), (6, 1), (2, 2), (3, 2), (3, 3), (2, 9), (4, 4), (5, 4)]


@pytest.mark.parametrize("width,height", SHAPES)
@pytest.mark.parametrize("clues", [0, 1])
def test_small_boards_are_solved(width, height, clues):
    puzzle, _ = planted(width * 10 + height, width, height, 3, clues)
    search = main_engine(puzzle, QUICK, 1, 0)
    for _ in range(200):
        search.step(puzzle.max_score)
        if search.best_score == puzzle.max_score:
            break
    assert search.best is not None
    judged = verify(puzzle, search.best)
    assert judged.valid and judged.full and judged.score == search.best_score == puzzle.max_score


@pytest.mark.parametrize("name", ["like-e2-20x20", "like-e2-12x20", "like-e2-16x16-clue5", "uniform-10x10"])
def test_there_is_a_full_legal_board_after_one_step(name):
    puzzle = load_puzzle(name)
    search = main_engine(puzzle, QUICK, 1, 0)
    search.step(puzzle.max_score)
    assert search.best is not None
    judged = verify(puzzle, search.best)
    assert judged.valid and judged.full and judged.score == search.best_score


def test_the_real_puzzle_reaches_460_quickly():
    """The heart: 460 of 480 on Eternity II with the starter clue, within half a billion nodes."""
    puzzle = load_puzzle(str(shared("instances", "eternity2_clue1.txt")))
    search = main_engine(puzzle, Params(), 3, 0)
    while search.best_score < 460 and search.statistics.nodes < 500_000_000:
        search.step(460)
    assert search.best is not None
    assert verify(puzzle, search.best).score >= 460
    assert verify(puzzle, search.best).valid


@pytest.mark.parametrize("split", [0, 1, 7])
def test_the_engine_resumes_bit_for_bit(split):
    puzzle = load_puzzle("like-e2-10x10")
    whole, first, second = (make_engine("auto", puzzle, QUICK, seed, 0) for seed in (1, 1, 2))
    for _ in range(12):
        whole.step(180)
    for _ in range(split):
        first.step(180)
    second.restore(first.state())
    for _ in range(12 - split):
        second.step(180)
    assert second.best_score == whole.best_score > 130
    assert second.best == whole.best
    for name, value in whole.state().items():
        if name != "main.constructor.cursor":
            assert np.array_equal(value, second.state()[name]), name


def test_an_island_keeps_its_part_with_whatever_workers_it_goes_on():
    puzzle = load_puzzle("like-e2-10x10")
    whole = make_engine("auto", puzzle, QUICK, 1, 2, 3)
    for _ in range(4):
        whole.step(180)
    state = whole.state()
    for islands in (3, 5, 64):
        again = make_engine("auto", puzzle, QUICK, 1, 2, islands)
        again.restore(state)
        assert (
            again.main.partition == (2, 3) == again.main.constructor.partition
            and again.main.constructor.plan.prefix.partition_depth == 16
        )
    parts = []
    for island in (2, 5):  # of twice as many islands two have what was its part
        again = make_engine("auto", puzzle, QUICK, 1, island, 6)
        if island == 2:
            again.restore(state)
        parts.append(again.main.partition)
    assert parts == [(2, 6), (5, 6)]
    for wrong in ([3, 3], [0, 0], [-1, 3]):
        with pytest.raises(InputError):
            again.restore({**state, "main.partition": np.array(wrong)})


@pytest.mark.slow
def test_a_restart_far_worse_than_another_ends_early_also_after_a_resume(monkeypatch):
    monkeypatch.setattr("lns.construct.quota_bandit.ABANDON_RATIO", 2.0)  # each of them is, as soon as that can be told
    puzzle = load_puzzle("like-e2-10x10")
    params = replace(
        QUICK,
        construct=replace(QUICK.construct, restart_nodes=4_000_000, restart_nodes_without_prefix=1_000_000),
        engine=replace(QUICK.engine, step_nodes=200_000),
    )
    left_soon = []
    learn = QuotaBandit.learn

    def noted(arms, built):
        if not built.no_prefix_found and not built.restart_due:
            left_soon.append(built.nodes_since_restart)
        learn(arms, built)

    monkeypatch.setattr(QuotaBandit, "learn", noted)
    whole, part = main_engine(puzzle, params, 1, 0), main_engine(puzzle, params, 1, 0)
    for number in range(250):
        for search in (whole, part):
            search.step(puzzle.max_score)
        if number % 10 == 0:
            state, part = part.state(), main_engine(puzzle, params, 2 + number, 0)
            part.restore(state)
    assert left_soon and all(500_000 <= nodes < 4_000_000 for nodes in left_soon)
    for name, value in whole.state().items():
        if name != "main.constructor.cursor":
            assert np.array_equal(value, part.state()[name]), name


def test_known_frontier_keys_are_kept_over_an_interruption():
    """Other sides and colours are begun, as all that is met is made to be old: both searches go on alike."""
    puzzle = load_puzzle("like-e2-10x10")
    params = replace(
        QUICK,
        construct=replace(QUICK.construct, restart_nodes=2_000_000, restart_nodes_without_prefix=1_000_000),
        engine=replace(QUICK.engine, step_nodes=1_000_000, side_share=0.0),
        rework=replace(QUICK.rework, nodes=0),
    )
    views = (IDENTITY_VIEW, View(0, True))
    whole, part = main_engine(puzzle, params, 1, 0, views=views), main_engine(puzzle, params, 1, 0, views=views)
    for number in range(30):
        for search in (whole, part):
            search.step(puzzle.max_score)
            for arm in search.main.bandit.arms:
                arm.keys_seen, arm.keys_new = 99, 9
        state, part = part.state(), main_engine(puzzle, params, 2 + number, 0, views=views)
        part.restore(state)
    assert {arm.view for arm in whole.main.bandit.arms} == {0, 1}
    assert len({arm.colour_set for arm in whole.main.bandit.arms}) > 1
    assert len(whole.main.bandit.frontier_keys.keys) and whole.best == part.best
    for name, value in whole.state().items():
        if name != "main.constructor.cursor":
            assert np.array_equal(value, part.state()[name]), name


@pytest.mark.parametrize("engine", ENGINES)
def test_colour_numbers_may_be_large(engine):
    puzzle, _ = planted(4, 4, 5, 4)
    far = Puzzle(np.where(puzzle.pieces > 0, puzzle.pieces * 9 + 1000, 0), 4, 5, name="far")
    search = make_engine(engine, far, QUICK, 1, 0)
    for _ in range(500):
        search.step(far.max_score)
        if search.best_score == far.max_score:
            break
    assert search.best is not None and verify(far, search.best).score == far.max_score


def test_edges_added_by_other_operators_raise_the_expected_best_score():
    puzzle = load_puzzle("like-e2-10x10")
    search = main_engine(puzzle, QUICK, 1, 0)
    while search.expected_best_score is None:
        search.step(puzzle.max_score)
    assert search.best is not None and isinstance(search.main, Construction)
    search._inject_into_parts(search.best, search.best_score, "main")
    state, before, board, score = search.state(), search.expected_best_score, search.best, search.best_score
    search._offer(FoundBoard(board, score + 1, "blocks"), "rework")
    search._offer(FoundBoard(board, score + 2, "perturb"), "lns")
    assert search.expected_best_score == before + 2
    search.main._candidates.append(Candidate(board, score + 1))  # as good as the board that was reworked first
    search._collect("main", search.main)
    assert search.expected_best_score == before + 1
    better = Candidate(board, score + 3)  # found while a higher score was wanted, and not reported
    search.main._candidates.append(better)
    search._collect("main", search.main)
    assert search.edges_by_others == 0 and search.expected_best_score == before
    search._offer(FoundBoard(board, score + 3, "construct"), "main")
    assert search.expected_best_score == before
    again = main_engine(puzzle, QUICK, 2, 0)
    counters = state["counters"].copy()
    counters[2] = 2
    again.restore({**state, "counters": counters})
    assert again.edges_by_others == 2 and again.expected_best_score == before + 2
    for wrong in (score + 1, -(2**31)):
        counters[0] = wrong
        with pytest.raises(InputError, match=r"saved score .*, but the saved board scores"):
            again.restore({**state, "counters": counters})


def test_a_board_that_is_all_tail_resumes_too():
    puzzle, solution = planted(3, 3, 3, 9)
    corner, middle = (divmod(int(solution.placements[cell]), 4) for cell in (0, 4))
    clues = [Clue(0, *corner), Clue(4, middle[0], (middle[1] + 1) % 4)]  # one of them turned: no solution any more
    puzzle = puzzle.with_clues(clues)
    one, other = (make_engine("auto", puzzle, QUICK, 1, 0) for _ in range(2))
    for _ in range(5):
        one.step(puzzle.max_score)
    assert one.best_score < puzzle.max_score
    other.restore(one.state())
    assert other.best == one.best


def test_beams_continue_where_the_construction_finds_no_prefix():
    """Pieces that have next to nothing in common: more mismatches than any schedule can spend."""
    chance = np.random.default_rng(1)
    quads = chance.integers(3, 400, (81, 4)).astype(np.int32)
    for cell in range(81):
        row, column = divmod(cell, 9)
        grey = np.array([row == 0, column == 8, row == 8, column == 0])
        quads[cell, np.roll(grey, 1) | np.roll(grey, -1)] = 1
        quads[cell, grey] = 0
    puzzle = Puzzle(quads, 9, 9)
    params = replace(
        QUICK,
        construct=replace(QUICK.construct, quota_scale=0.0, restart_nodes_without_prefix=20_000),
        beam=replace(QUICK.beam, width=64),
    )
    one, other = (main_engine(puzzle, params, seed, 0) for seed in (1, 2))
    one.step(puzzle.max_score)
    opening = one.statistics.beam_nodes
    while not one.main.bandit.no_prefix_found:
        assert one.statistics.beam_nodes == opening
        one.step(puzzle.max_score)
    assert one.main.bandit.arms[-1].scale_percent == 0 and one.main.constructor is not None
    for _ in range(8):
        one.step(puzzle.max_score)
    assert 2 * opening < one.statistics.beam_nodes <= one.main.constructor.nodes + 2 * opening
    assert one.best is not None and verify(puzzle, one.best).score == one.best_score
    other.restore(one.state())
    for search in (one, other):
        for _ in range(2):
            search.step(puzzle.max_score)
    assert one.best == other.best and one.statistics.beam_nodes == other.statistics.beam_nodes
    assert np.array_equal(one.main.random, other.main.random)
    alone = main_engine(puzzle, params, 1, 0, name="construct")
    for _ in range(4):
        alone.step(puzzle.max_score)
    assert alone.statistics.beam_nodes == 0


def test_two_islands_search_differently():
    puzzle = load_puzzle("like-e2-10x10")
    islands = [main_engine(puzzle, QUICK, 1, island) for island in (0, 1)]
    for island in islands:
        for _ in range(3):
            island.step(180)
    assert not np.array_equal(*(island.state()["main.constructor.cursor"] for island in islands))


def test_an_injected_incumbent_raises_the_score_that_is_searched():
    puzzle, solution = planted(3, 5, 5, 4)
    search = main_engine(puzzle, QUICK, 1, 0)
    search.inject_incumbent(solution, puzzle.max_score)
    search.step(puzzle.max_score)
    assert search.best == solution and search.pop_boards() == []


def test_only_the_first_island_reworks_a_start_board_and_none_that_of_another_island():
    puzzle = load_puzzle("like-e2-10x10")
    params = replace(QUICK, rework=replace(QUICK.rework, nodes=2_000, share=0.0, near_misses=0))
    elsewhere = main_engine(puzzle, params, 9, 0)
    while elsewhere.best_score < 150:
        elsewhere.step(puzzle.max_score)
    assert elsewhere.best is not None

    def regions(island: int, steps_before: int) -> int:
        search = main_engine(puzzle, params, 1, island)
        for _ in range(steps_before):
            search.step(puzzle.max_score)
        search.best_score = min(search.best_score, 100)  # whatever its own beam made
        search.rework.candidates.members.clear()
        search.inject_incumbent(elsewhere.best, elsewhere.best_score)
        for _ in range(5):
            search.step(puzzle.max_score)
        return int(search.rework.payoffs.tries.sum())

    assert regions(island=0, steps_before=0) == 5
    assert regions(island=1, steps_before=0) == regions(island=0, steps_before=1) == 0


@pytest.mark.parametrize("floor", [0, 1])
def test_a_board_that_gains_an_edge_below_the_wanted_score_is_a_candidate(monkeypatch, floor):
    """It is reported only where boards of its score are searched for."""
    puzzle = load_puzzle("like-e2-8x8")
    search = main_engine(puzzle, replace(QUICK, engine=replace(QUICK.engine, search_floor=floor)), 1, 0)
    search.step(puzzle.max_score)
    search.pop_boards()
    assert search.best is not None and search.rework is not None
    candidate = Candidate(search.best, search.best_score - 1, np.arange(64, dtype=np.int32))
    placed = search.best.placements.copy()
    placed[[9, 10]] = placed[[10, 9]]
    better = FoundBoard(Board(placed, 8, 8), search.best_score, "suffix-20")
    search.rework.candidates.members = [candidate]
    monkeypatch.setattr(search, "_price", lambda score: 1e9)
    monkeypatch.setattr(search.rework, "next_region", lambda wanted, total, all_regions: (candidate, None))
    monkeypatch.setattr(search.rework, "search", lambda candidate, region, price: better)
    assert search._rework_a_region(search.best_score + 1)
    assert search.pop_boards() == ([better] if floor else [])
    first = search.rework.candidates.members[0]
    assert first.board is better.board and first.score == better.score and first.order is candidate.order


def test_operators_that_do_not_pay_cost_their_share_and_no_more():
    puzzle = load_puzzle("like-e2-10x10")
    params = replace(
        QUICK,
        rework=replace(QUICK.rework, nodes=2_000, share=0.01),
        engine=replace(QUICK.engine, step_nodes=2_000_000, side_share=0.02),
        neighbourhoods=replace(QUICK.neighbourhoods, nodes=10_000),
    )
    search = main_engine(puzzle, params, 1, 0)
    search.step(puzzle.max_score)
    for _ in range(250):
        search.rework.payoffs.gained[:] = search.payoffs.gained[:] = 0  # whatever they gain
        search.rework.payoffs.paid[:] = search.payoffs.paid[:] = 9
        search.step(puzzle.max_score)
        total = search.statistics.node_equivalents
        assert (search.rework.payoffs.cost <= 0.01 * total + 500_000).all(), "one region over it, at most"
        assert search.payoffs.cost[0] <= 0.02 * total + 1_000_000
    assert search.rework.payoffs.tries.sum() > 10 and search.payoffs.tries[0] > 10
    parts = search.statistics.node_equivalents_by_part()
    assert parts["construct"] > 0.7 * sum(parts.values())


def test_the_search_wants_one_edge_more_from_every_part():
    """Boards near the best are reworked until they reach it, and every board that is reported is better."""
    puzzle = load_puzzle("like-e2-10x10")
    search = main_engine(puzzle, QUICK, 3, 0)
    scores = []
    for _ in range(120):
        search.step(puzzle.max_score)
        for found in search.pop_boards():
            verdict = verify(puzzle, found.board)
            assert verdict.complete and verdict.score == found.score
            scores.append(found.score)
        low = search.best_score + 1 - max(1, QUICK.rework.near_misses)
        search.rework.next_region(search.best_score + 1, 1e18)
        assert all(low <= member.score <= search.best_score for member in search.rework.candidates.members)
    assert max(scores) == search.best_score
