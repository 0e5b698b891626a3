"""The loop of the engines: any instance gets a legal full board, quickly a good one; its state is all of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lns.assignment import fill
from lns.engines import ENGINES, make_engine
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.formats import load_puzzle
from lns.instances.generate import family
from lns.instances.puzzle import Puzzle
from lns.instances.symmetry import IDENTITY_VIEW, View, rotate_puzzle
from lns.instances.verify import verify
from lns.loop.construction import Construction, Fill
from lns.loop.pool import WHOLE_BOARD, Found, Freed, Operator, Pool, Repaired
from lns.loop.search_loop import SearchLoop
from lns.neighbourhoods.move import Move, MoveOperator, OperatorFunction, guarded
from lns.neighbourhoods.operators import Island, make_operators, operators_of
from lns.orientation import Orientation
from lns.params import Params, from_dict
from lns.rng import random_state
from tests.instances.small_puzzles import planted
from tests.lns.loop_parts import RULES, assert_same_state, exchanged, interrupted, of_rules, steps
from tests.shared_data import shared

VALUES: dict[str, dict[str, Any]] = {
    "construct": {"population": 300},
    "beam": {"width": 50},
    "neighbourhoods": {"nodes": 5000, "patience": 600_000},
    "tabu": {"steps": 50, "patience": 2},
    "engine": {"step_nodes": 200_000},
}
SHAPES = [(1, 1), (1, 2), (1, 7), (6, 1), (2, 2), (3, 2), (3, 3), (2, 9), (4, 4), (5, 4)]


def params_with(**sections: dict[str, Any]) -> Params:
    return from_dict({name: {**VALUES[name], **sections.get(name, {})} for name in VALUES})


QUICK = params_with()


def loop_with(
    puzzle: Puzzle,
    operators: Sequence[Operator] = (),
    *,
    params: Params = QUICK,
    seed: int = 1,
    views: tuple[View, ...] = (IDENTITY_VIEW,),
    own_construction: bool = False,
) -> SearchLoop:
    """An island of the engine "auto" that fills the puzzle as it is, with further operators."""
    island = Island(puzzle, Orientation(puzzle, 0, views, (0, 1)), params, seed, 0, engine="auto")
    names = [name for name in operators_of("auto", puzzle, params) if not (own_construction and name == "construct")]
    return SearchLoop(puzzle, params, [*make_operators(names, island), *operators], random_state(seed, 7))


class Told(Fill):
    """An operator whose repair is a function of the wanted score."""

    def __init__(self, puzzle: Puzzle, told: Callable[[int], Repaired], makes_boards: bool = False) -> None:
        super().__init__(puzzle, None)
        self.name, self.told, self.makes_boards = "told", told, makes_boards

    def free(self, pool: Pool, wanted: int, rng: np.random.Generator) -> Freed | None:
        return WHOLE_BOARD

    def repair(self, freed: Freed, wanted: int, rng: np.random.Generator) -> Repaired:
        self.calls += 1
        return self.told(wanted)


# -- boards ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["auto", "lns"])
@pytest.mark.parametrize("clues", [0, 1])
@pytest.mark.parametrize("width,height", SHAPES)
def test_small_boards_are_solved(width: int, height: int, clues: int, engine: str) -> None:
    puzzle, _ = planted(width * 10 + height, width, height, 3, clues)
    search = make_engine(engine, puzzle, QUICK, 1, 0)
    for _ in range(1500):
        if search.best_score == puzzle.max_score:
            break
        search.step()
    assert search.best is not None
    judged = verify(puzzle, search.best)
    assert judged.complete and judged.score == search.best_score == puzzle.max_score
    assert steps(search, 1).best_score == puzzle.max_score


LARGE = ["like-e2-20x20", "like-e2-12x20", "like-e2-16x16-clue5", "uniform-10x10"]
OTHER_RULES = [
    "tetravex:8x7:5", "unframed:7x8:4", "triangle:6:3", "diamond:5:3", "tetravex:1x9:2", "rim:8x7:4", "mates rim:7x8:5",
    "mates uniform:8x8:5",
]  # fmt: skip


@pytest.mark.parametrize("name", [*LARGE, *OTHER_RULES])
def test_there_is_a_full_legal_board_after_one_step(name: str) -> None:
    puzzle = load_puzzle(name) if name in LARGE else of_rules(name, 1)[0]
    search = steps(make_engine("auto", puzzle, QUICK, 1, 0), 1)
    assert search.best is not None and verify(puzzle, search.best).complete
    assert verify(puzzle, search.best).score == search.best_score


def test_the_real_puzzle_reaches_460_quickly() -> None:
    """The heart: 460 of 480 on Eternity II with the starter clue, within half a billion nodes."""
    puzzle = load_puzzle(str(shared("instances", "eternity2_clue1.txt")))
    search = loop_with(puzzle, params=Params(), seed=3)
    while search.best_score < 460 and search.statistics.nodes < 500_000_000:
        search.step()
    assert search.best is not None
    assert verify(puzzle, search.best).valid and verify(puzzle, search.best).score >= 460


@pytest.mark.parametrize("engine", ENGINES)
def test_colour_numbers_may_be_large(engine: str) -> None:
    puzzle, _ = planted(4, 4, 5, 4)
    far = Puzzle(np.where(puzzle.pieces > 0, puzzle.pieces * 9 + 1000, 0), 4, 5, name="far")
    search = steps(make_engine(engine, far, QUICK, 1, 0), 50)
    assert search.best is not None and verify(far, search.best).complete
    assert search.best_score == verify(far, search.best).score > far.max_score - 6


@pytest.mark.parametrize(("engine", "floor"), [("auto", 0), ("auto", 140), ("lns", 0), ("lns", 150)])
def test_reported_boards_are_wanted_searched_for_or_a_new_best(engine: str, floor: int) -> None:
    puzzle = load_puzzle("like-e2-10x10")
    search = make_engine(engine, puzzle, params_with(engine={"search_floor": floor}), 3, 0)
    best, boards, below_best, origins = -1, 0, 0, set()
    for _ in range(120):
        search.step()
        for found in search.pop_boards():
            judged = verify(puzzle, found.board)
            assert judged.complete and judged.score == found.score
            assert found.score > best or (floor and found.score >= floor)
            below_best += found.score <= best
            best, boards, origins = max(best, found.score), boards + 1, origins | {found.origin}
    done = search.statistics
    assert best == search.best_score and boards == done.boards > 1 and bool(below_best) == bool(floor)
    assert origins <= done.node_equivalents_by_part().keys(), "every origin has a cost"
    nodes = done.nodes + done.tail_nodes + done.beam_nodes + sum(done.operators.values())
    assert done.placements == nodes and "M nodes in regions" in done.summary(1.0)
    assert sum(done.new_boards.values()) > 0 and not done.failures


def test_boards_of_a_lower_wanted_score_are_reported_too() -> None:
    search = make_engine("construct", load_puzzle("like-e2-8x8"), QUICK, 1, 0)
    first, *found = steps(search, 30, wanted=98).pop_boards()
    scores = [one.score for one in found]
    assert first.origin == "fill" and min(scores) >= 98 and scores != sorted(scores)


def test_a_bad_board_from_elsewhere_is_improved_and_never_lost() -> None:
    puzzle = load_puzzle("like-e2-10x10")
    start = fill(puzzle, Board.empty(puzzle))
    score = verify(puzzle, start).score
    search = make_engine("lns", puzzle, params_with(neighbourhoods={"slack": 3, "patience": 10**9}), 1, 0)
    search.inject_incumbent(start, score)
    assert search.pop_boards() == [] and search.best == start and search.origin == "elsewhere"
    last = score
    for _ in range(80):
        search.step()
        assert search.best is not None and search.best_score == verify(puzzle, search.best).score >= last
        last = search.best_score
    assert last > score
    search.inject_incumbent(start, score)
    assert search.best_score == last, "a worse board changes nothing"


@pytest.mark.parametrize("name", ["auto", "lns", "tabu"])
@pytest.mark.parametrize("text", [*RULES[:4], *RULES[6:]])
def test_engines_solve_small_boards_and_continue_from_a_saved_state(text: str, name: str) -> None:
    puzzle, _ = of_rules(text, 5)
    engine, again = (make_engine(name, puzzle, QUICK, 1, 0) for _ in range(2))
    again.restore(steps(engine, 3).state())
    for _ in range(60):
        if engine.best_score == puzzle.max_score:
            break
        engine.step()
        again.step()
    assert engine.best_score == puzzle.max_score and engine.best is not None
    assert verify(puzzle, engine.best).complete
    assert again.best == engine.best


@pytest.mark.parametrize("name", ["construct", "beam"])
def test_construction_says_why_it_takes_no_such_puzzle(name: str) -> None:
    for text, why in (("tetravex:3x3:3", "no frame and no turns"), ("mates rim:4x4:3", "no frame")):
        with pytest.raises(InputError, match=f"^engine {name} fills rectangles with a frame .* has {why}; "):
            make_engine(name, of_rules(text, 1)[0], QUICK, 1, 0)


@pytest.mark.parametrize("name", ["auto", "lns", "tabu"])
def test_a_rim_that_no_board_fills_is_told_in_a_sentence(name: str) -> None:
    puzzle, _ = of_rules("rim:4x4:3", 1)
    with pytest.raises(InputError, match=r"^the rim of planted-1 cannot be filled with the pieces left: "):
        steps(make_engine(name, replace(puzzle, rim=3), QUICK, 1, 0), 1)


# -- state -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_continues_bit_for_bit_from_its_state(engine: str) -> None:
    def make(seed: int) -> SearchLoop:
        return make_engine(engine, load_puzzle("like-e2-8x8"), QUICK, seed, 0)

    state, like = interrupted(make, 4, lambda search: steps(search, 15)).state(), make(1).state()
    assert state.keys() == like.keys()
    for name, value in state.items():
        assert value.dtype == like[name].dtype and value.shape[1:] == like[name].shape[1:], name
        assert value.shape == like[name].shape or like[name].size == 0, name


@pytest.mark.parametrize("from_board", [False, True])
def test_a_start_board_and_the_view_are_kept_over_an_interruption(from_board: bool) -> None:
    puzzle = rotate_puzzle(load_puzzle("like-e2-12x20"), 1)
    start = fill(puzzle, Board.empty(puzzle))

    def make(seed: int) -> SearchLoop:
        search = make_engine("auto", puzzle, QUICK, seed, 0)
        if from_board:
            search.inject_incumbent(start, verify(puzzle, start).score)
        return search

    assert interrupted(make, 3, lambda search: steps(search, 3)).starts_from_board == from_board


def test_an_island_keeps_its_part_with_whatever_workers_it_goes_on() -> None:
    puzzle = load_puzzle("like-e2-10x10")
    state = steps(make_engine("auto", puzzle, QUICK, 1, 2, 3), 4).state()
    for islands in (3, 5, 64):
        again = make_engine("auto", puzzle, QUICK, 1, 2, islands)
        again.restore(state)
        assert again.construction.partition == (2, 3) == again.construction.constructor.partition
        assert again.construction.constructor.plan.prefix.partition_depth == 16
    parts = []
    for island in (2, 5):  # of twice as many islands two have what was its part
        again = make_engine("auto", puzzle, QUICK, 1, island, 6)
        if island == 2:
            again.restore(state)
        parts.append(again.construction.partition)
    assert parts == [(2, 6), (5, 6)]


def made_old(search: SearchLoop) -> SearchLoop:
    """So that other sides and colours are begun: all that is met is said to be known."""
    assert search.construction is not None
    for arm in search.construction.bandit.arms:
        arm.keys_seen, arm.keys_new = 99, 9
    return search


def test_known_frontier_keys_are_kept_over_an_interruption() -> None:
    puzzle, views = load_puzzle("like-e2-10x10"), (IDENTITY_VIEW, View(0, True))
    params = params_with(
        construct={"restart_nodes": 1_000_000, "restart_nodes_without_prefix": 500_000},
        engine={"step_nodes": 500_000},
        neighbourhoods={"floor": 0.0},
    )
    whole = interrupted(
        lambda seed: loop_with(puzzle, params=params, seed=seed, views=views),
        30,
        lambda search: made_old(steps(search, 12)),
    )
    bandit = whole.construction.bandit
    assert {arm.view for arm in bandit.arms} == {0, 1} and len({arm.colour_set for arm in bandit.arms}) > 1
    assert len(bandit.frontier_keys.keys) and sum(arm.restarts for arm in bandit.arms) > 3


# -- who has the time --------------------------------------------------------------------------------------------------


def test_no_operator_has_more_than_its_floor_while_it_is_worth_less_than_the_construction() -> None:
    puzzle = load_puzzle("like-e2-10x10")
    params = params_with(neighbourhoods={"floor": 0.01}, engine={"step_nodes": 2_000_000})
    search = steps(loop_with(puzzle, params=params), 2)
    most = search.chooser.cost.copy()
    for _ in range(150):
        search.chooser.gained[:] = 0  # whatever they gain
        before = search.chooser.cost.copy()
        search.step()
        most = np.maximum(most, search.chooser.cost - before)
        others = ~np.isin(search.names, ["construct", "certificate"])  # which has a share of its own
        assert (search.chooser.cost <= 0.01 * search.chooser.cost.sum() + most)[others].all(), "one call over it"
    called = {name for name, calls in zip(search.names, search.chooser.calls, strict=True) if calls}
    assert called >= {"beam", "certificate", "block", "path", "suffix", "exchange", "tabu"}
    parts = search.statistics.node_equivalents_by_part()
    assert parts["construct"] > 0.7 * sum(parts.values())


def test_an_operator_that_gains_more_than_the_construction_has_more_time_than_its_floor() -> None:
    puzzle, solution = family("like-e2:10")(1)
    rng = np.random.default_rng(1)

    def just_good_enough(wanted: int) -> Repaired:
        board = other = solution
        while verify(puzzle, other).score >= max(wanted, 120):
            board, other = other, exchanged(puzzle, other, rng)
        return Repaired([Found(board, "told")], 1_000.0)

    told = Told(puzzle, just_good_enough)
    search = steps(
        loop_with(puzzle, [told], params=params_with(engine={"search_floor": 150}, neighbourhoods={"floor": 0.1})),
        150,
        wanted=150,
    )
    assert search.statistics.new_boards["told"] > 0.9 * told.calls > 100


class Finds(Construction):
    """A construction that finds given boards."""

    def find(self, boards: list[Board]) -> Finds:
        self.boards = boards
        return self

    def repair(self, freed: Freed, wanted: int, rng: np.random.Generator) -> Repaired:
        done = super().repair(freed, wanted, rng)
        return Repaired([Found(self.boards.pop(0), self.name)] if self.boards else [], done.cost)


def test_boards_that_the_construction_finds_later_are_taken_off_an_operators_record() -> None:
    puzzle, solution = family("like-e2:8")(1)
    rng = np.random.default_rng(1)
    boards = [exchanged(puzzle, solution, rng) for _ in range(2)]
    told = Told(puzzle, lambda wanted: Repaired([Found(boards[0], "told")], 1e5))
    construction = Finds(Orientation.of_island(puzzle), QUICK, 1, 0).find([])
    params = params_with(neighbourhoods={"floor": 0.1})
    search = steps(loop_with(puzzle, [construction, told], own_construction=True, params=params), 1, wanted=106)
    while not search.statistics.new_boards.get("told"):
        steps(search, 1, wanted=106)
    number = search.names.index("told")
    assert search.statistics.new_boards["told"] == 1 and search.statistics.found_later == {}
    known = search.chooser.gained[number]
    construction.find([boards[0], boards[1], boards[0]])
    steps(search, 30, wanted=106)
    assert search.statistics.found_later == {"told": 1}, "only once"
    assert search.statistics.new_boards["told"] == 1 and search.chooser.gained[number] < known
    total = search.statistics + search.statistics
    assert total.found_later == {"told": 2}


def test_where_the_construction_finds_no_prefix_others_have_a_quarter_of_the_time() -> None:
    """Pieces that have next to nothing in common: more mismatches than any schedule can spend."""
    chance = np.random.default_rng(1)
    quads = chance.integers(3, 400, (36, 4)).astype(np.int32)
    for cell in range(36):
        row, column = divmod(cell, 6)
        grey = np.array([row == 0, column == 5, row == 5, column == 0])
        quads[cell, np.roll(grey, 1) | np.roll(grey, -1)] = 1
        quads[cell, grey] = 0
    puzzle = Puzzle(quads, 6, 6)
    params = params_with(construct={"quota_scale": 0.0, "restart_nodes_without_prefix": 20_000})
    one, other = (loop_with(puzzle, params=params, seed=seed) for seed in (1, 2))
    while not one.construction.no_prefix_found:
        one.step()
        costs = dict(zip(one.names, one.chooser.cost, strict=True))
        assert costs["beam"] <= 0.01 * sum(costs.values()) or one.chooser.calls.sum() < 30
    assert one.construction.bandit.arms[-1].scale_percent == 0
    before = one.chooser.cost.copy()
    steps(one, 100)
    spent = dict(zip(one.names, one.chooser.cost - before, strict=True))
    assert 0.6 * sum(spent.values()) < spent["construct"] < 0.9 * sum(spent.values()), "three quarters"
    assert one.best is not None and verify(puzzle, one.best).score == one.best_score
    other.restore(one.state())
    assert_same_state(steps(one, 2), steps(other, 2))
    alone = steps(make_engine("construct", puzzle, params, 1, 0), 4)
    assert alone.statistics.beam_nodes == 0


def test_without_a_gain_the_search_goes_on_from_new_boards_and_from_others_of_the_pool() -> None:
    puzzle = load_puzzle("like-e2-8x8")
    search = make_engine("lns", puzzle, params_with(neighbourhoods={"patience": 1000, "new_board_share": 0.3}), 1, 0)
    made, changed = [], []
    for _ in range(150):
        tired, before = search.pool.is_tired and search.best is not None, search.chooser.calls.copy()
        search.step()
        if tired:
            (called,) = np.flatnonzero(search.chooser.calls > before).tolist()
            (made if search.names[called] == "beam" else changed).append(called)
    assert len(made) > 10 and len(changed) > 10


@pytest.mark.parametrize("engine", ["auto", "construct", "lns", "tabu"])
def test_a_solution_from_elsewhere_is_kept_and_nothing_worse_is_reported(engine: str) -> None:
    puzzle, solution = planted(3, 5, 5, 4)
    search = make_engine(engine, puzzle, QUICK, 1, 0)
    search.inject_incumbent(solution, puzzle.max_score)
    assert steps(search, 5).best == solution and search.pop_boards() == []


def test_only_the_first_island_frees_regions_of_a_start_board_and_none_those_of_another_island() -> None:
    puzzle = load_puzzle("like-e2-10x10")
    sizes = {"nodes": 2000, "most_cells": 20, "floor": 0.0, "certificate": 0.0}
    params = params_with(neighbourhoods=sizes)
    elsewhere = loop_with(puzzle, params=params, seed=9)
    while elsewhere.best_score < 150:
        elsewhere.step()
    assert elsewhere.best is not None

    def freed_at_once(island: int, steps_before: int) -> bool:
        search = steps(make_engine("auto", puzzle, params, 1, island), steps_before)
        search.best_score = min(search.best_score, 100)  # whatever its own beam made
        search.inject_incumbent(elsewhere.best, elsewhere.best_score)
        nodes = search.statistics.nodes, sum(search.statistics.operators.values())
        steps(search, 5)
        assert (search.statistics.nodes > nodes[0]) != (sum(search.statistics.operators.values()) > nodes[1])
        return sum(search.statistics.operators.values()) > nodes[1]

    assert freed_at_once(island=0, steps_before=0)
    assert not freed_at_once(island=1, steps_before=0) and not freed_at_once(island=0, steps_before=1)
    search = make_engine("auto", puzzle, params, 1, 0)
    search.inject_incumbent(elsewhere.best, elsewhere.best_score)
    while search.statistics.nodes == 0:
        search.step()
    assert all(search.statistics.operators[name] for name in ("band", "path")), "all before the construction begins"
    assert search.chooser.paid.max() < 10, "they are no worse off later, though the price of a board was unknown"


# -- operators that fail -----------------------------------------------------------------------------------------------


FAILURES: list[tuple[OperatorFunction, str]] = [
    (lambda puzzle, board, rng, nodes: board.no_such_thing, "AttributeError: 'Board' object has no attribute"),  # type: ignore
    (lambda puzzle, board, rng, nodes: Move(Board.empty(puzzle), 0, 1), "mine returned an illegal board: not full"),
    (lambda puzzle, board, rng, nodes: Move(board, verify(puzzle, board).score + 1, 1), "mine returned score "),
    (lambda puzzle, board, rng, nodes: Move(board, 0, 101 * nodes), "it took 505000 nodes; expected about 5000"),
    (lambda puzzle, board, rng, nodes: board, "it returned Board; expected Move(board, score, nodes)"),  # type: ignore
]


@pytest.mark.parametrize(("function", "message"), FAILURES)
def test_an_operator_that_fails_is_named_and_switched_off_and_the_run_goes_on(
    function: OperatorFunction, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    puzzle = load_puzzle("like-e2-8x8")
    params = params_with(neighbourhoods={"floor": 0.1})
    nodes = params.neighbourhoods.nodes
    mine = [MoveOperator("mine", puzzle, guarded(function, nodes), nodes) for _ in range(2)]
    search = loop_with(puzzle, mine[:1], params=params)
    with caplog.at_level(logging.WARNING, logger="lns"):
        steps(search, 40)
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith("operator 'mine' is switched off for this run: ") and message in said
    assert search.statistics.failures == {"mine": 1} and search.statistics.nodes > 0
    again = loop_with(puzzle, mine[1:], seed=2, params=params)
    again.restore(search.state())
    assert_same_state(steps(search, 20), steps(again, 20))
    assert len(caplog.records) == 1, "not asked again, also not after a resume"


def test_a_fault_of_an_operator_that_makes_whole_boards_ends_the_run() -> None:
    puzzle, _ = planted(1, 4, 4, 3)
    told = Told(puzzle, lambda wanted: Repaired([Found(Board.empty(puzzle), "told")], 1.0), makes_boards=True)
    with pytest.raises(AssertionError, match="told returned an illegal board"):
        SearchLoop(puzzle, QUICK, [told], random_state(1)).step()
