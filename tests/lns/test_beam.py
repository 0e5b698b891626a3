"""The beam: every board legal, the best of a small board found, same seed same search, state is all of it."""

import numpy as np
import pytest

from lns.construct.beam import BeamSearch, beam_tables
from lns.construct.candidates import comb_order
from lns.construct.schedule import favoured_colours
from lns.engines import make_engine
from lns.instances.errors import InputError
from lns.instances.formats import load_puzzle
from lns.instances.generate import like_e2
from lns.instances.puzzle import Clue, Puzzle
from lns.instances.verify import verify
from lns.loop.pool import WHOLE_BOARD
from lns.loop.search_loop import SearchLoop
from lns.params import BeamParams, Params, from_dict
from lns.rng import random_state
from tests.instances.small_puzzles import planted
from tests.lns.loop_parts import interrupted
from tests.shared_data import shared


def engine_for(puzzle: Puzzle, width: int, seed: int = 1, **construct: int) -> SearchLoop:
    return make_engine("beam", puzzle, from_dict({"beam": {"width": width}, "construct": construct}), seed, 0)


def steps_to(engine: SearchLoop, score: int, most: int) -> int:
    """Steps until a board of ``score`` is there; every board judged on the way."""
    for step in range(1, most + 1):
        engine.step()
        for find in engine.pop_boards():
            judged = verify(engine.puzzle, find.board)
            assert judged.valid and judged.full and judged.score == find.score
        if engine.best_score >= score:
            return step
    raise AssertionError(f"best {engine.best_score} after {most} steps, expected {score}")


@pytest.mark.parametrize(
    "width,height,colours,clues",
    [(1, 1, 1, 0), (2, 1, 1, 0), (1, 6, 2, 0), (7, 1, 2, 1), (2, 2, 2, 1), (3, 3, 3, 0), (4, 3, 3, 2), (4, 4, 3, 1)],
)
def test_small_boards_of_any_shape_are_solved(width, height, colours, clues):
    puzzle, _ = planted(3, width, height, colours, clues)
    steps_to(engine_for(puzzle, 2000), puzzle.max_score, 40)


def test_duplicate_and_symmetric_pieces_are_no_trouble():
    pieces = np.array([[0, 1, 1, 0]] * 4 + [[0, 1, 1, 1]] * 8 + [[1, 1, 1, 1]] * 4, dtype=np.int32)
    puzzle = Puzzle(pieces, 4, 4, (Clue(5, 13, 0),))
    steps_to(engine_for(puzzle, 50), 24, 20)


@pytest.mark.parametrize(
    "name,score", [("like-e2-16x16", 450), ("like-e2-16x16-clue5", 440), ("like-e2-12x20", 420), ("like-e2-10x10", 166)]
)
def test_a_narrow_beam_makes_good_boards(name, score):
    steps_to(engine_for(load_puzzle(name), 512), score, 300)


def test_eternity2_at_4096_wide():
    """456 within 30 M nodes; about 10 M of them a second."""
    engine = engine_for(load_puzzle(shared("instances", "eternity2.txt")), 4096)
    steps_to(engine, 456, 40)
    assert engine.statistics.beam_nodes < 30_000_000


def test_the_best_children_are_kept_and_ties_are_broken_at_random():
    puzzle = like_e2(6, 6, seed=2).puzzle
    order = comb_order(6, 6, 5, 5, 4)

    def grown(width: int, seed: int) -> BeamSearch:
        random = random_state(seed)
        tables = beam_tables(puzzle, order, 2, (), random)
        beam = BeamSearch(puzzle, order, 2, tables, BeamParams(width=width, fan_out=64, break_cost=16), random)
        beam.run(10**6)
        return beam

    everything = grown(4000, 1)
    assert everything.depth == 2 and everything.prefix_count < 4000
    assert set(everything.values.tolist()) == {0}, "the rim never breaks"
    all_paths = {tuple(path) for path in everything.paths(everything.prefix_count).tolist()}
    assert len(all_paths) == everything.prefix_count
    few = [{tuple(path) for path in grown(3, seed).paths(3).tolist()} for seed in range(8)]
    assert all(len(paths) == 3 and paths <= all_paths for paths in few)
    assert len(set().union(*few)) > 3


def test_the_value_of_a_beam_prefix_is_favoured_half_edges_less_the_cost_of_breaks():
    puzzle = like_e2(10, 10, seed=4).puzzle
    order, favoured = comb_order(10, 10, 5, 5, 4), (1, 6)
    random = random_state(1)
    tables = beam_tables(puzzle, order, 80, favoured, random)
    beam = BeamSearch(puzzle, order, 80, tables, BeamParams(width=300), random)
    beam.run(10**9)
    most = 0
    assert beam.depth == 80 and (np.diff(beam.values) <= 0).all()
    for path, values in zip(beam.paths(beam.prefix_count).tolist(), beam.values.tolist(), strict=True):
        cells = dict(zip(order[:80].tolist(), path, strict=True))
        breaks = sum(
            puzzle.oriented[cells[cell], side] != puzzle.oriented[cells[cell + step], (side + 2) % 4]
            for cell in cells
            for side, step in ((1, 1), (2, 10))
            if cell + step in cells and not puzzle.rim_sides(cell)[side]
        )
        assert values == np.isin(puzzle.pieces[[laid >> 2 for laid in path]], favoured).sum() - 16 * breaks
        most = max(most, breaks)
    assert most >= 3, "breaks were spent"


def test_the_engine_resumes_bit_for_bit():
    """At every step of two beams: between two, while one grows, while tails are searched."""
    puzzle, seen = load_puzzle("like-e2-8x8"), set()
    params = from_dict({"beam": {"width": 200}, "engine": {"step_nodes": 4000}})

    def step(engine: SearchLoop) -> None:
        engine.step()
        state = engine.state()
        seen.add((len(state["beam.paths"]) > 0, len(state["beam.values"]) > 0))

    interrupted(lambda seed: make_engine("beam", puzzle, params, seed, 0), 60, step)
    assert seen == {(False, False), (True, False), (True, True)}


def test_a_beam_that_dies_out_still_gives_a_board():
    """A corner that no rim piece fits: nothing gets past it, with or without favoured colours."""
    pieces = [[0, 1, 1, 0]] * 4 + [[0, 2, 3, 2]] * 8 + [[3, 3, 3, 3]] * 4
    puzzle = Puzzle(np.array(pieces, dtype=np.int32), 4, 4)
    engine = engine_for(puzzle, 20)
    for _ in range(4):
        engine.step()
    assert engine.state()["beam.counters"][1] >= 3, "beams that failed"
    assert engine.origin == "fill"
    assert engine.best is not None and verify(puzzle, engine.best).full


@pytest.mark.parametrize("name", ["auto", "lns"])
def test_after_a_beam_that_died_the_next_one_favours_less_also_over_an_interruption(name, monkeypatch):
    asked = []

    def noted(puzzle, rim, inner):
        asked.append((rim, inner))
        return favoured_colours(puzzle, rim, inner)

    monkeypatch.setattr("lns.loop.construction.favoured_colours", noted)
    pieces = [[0, 1, 1, 0]] * 4 + [[0, 2, 3, 2]] * 8 + [[3, 3, 3, 3]] * 4
    puzzle = Puzzle(np.array(pieces, dtype=np.int32), 4, 4)
    params = from_dict({"beam": {"width": 20}})
    engine = make_engine(name, puzzle, params, 1, 0)
    while len(asked) < 4:
        beam = next(operator for operator in engine.operators if operator.name == "beam")
        beam.repair(WHOLE_BOARD, 0, np.random.default_rng(1))
        state, engine = engine.state(), make_engine(name, puzzle, params, 1, 0)
        engine.restore(state)
    assert asked[:4] == [(1, 2), (0, 2), (0, 0), (0, 0)]


def test_a_width_that_no_checkpoint_holds_is_refused():
    with pytest.raises(InputError, match=r"beam\.width is 1048576; expected at most 131072"):
        engine_for(load_puzzle("like-e2-16x16"), 2**20)
    assert Params().beam.width == 4096
