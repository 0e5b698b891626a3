"""The large-neighbourhood engine: legal boards on any shape, never worse than one met, state is all of it."""

from __future__ import annotations

import numpy as np
import pytest

from instances import Board, verify
from instances.formats import load_puzzle
from instances.symmetry import rotate_puzzle
from lns.assignment import fill
from lns.engines import make_engine
from lns.neighbourhoods.engine import accepts
from lns.orientation import best_quarter_turns
from lns.params import from_dict
from lns_support.errors import InputError
from tests.instances.small_puzzles import planted

QUICK = {"beam": {"width": 50}, "neighbourhoods": {"nodes": 5000, "patience": 600_000, "elites": 3, "half_life": 1e6}}


def engine_for(puzzle, seed=1, **changes):
    values = {**QUICK, "neighbourhoods": {**QUICK["neighbourhoods"], **changes}}
    return make_engine("lns", puzzle, from_dict(values), seed, 0)


@pytest.mark.parametrize("width,height", [(1, 1), (1, 2), (7, 1), (2, 2), (3, 2), (3, 3), (2, 9), (5, 4)])
@pytest.mark.parametrize("clues", [0, 1])
def test_small_boards_are_solved(width, height, clues):
    puzzle, _ = planted(width * 10 + height, width, height, 3, clues)
    engine = engine_for(puzzle)
    for _ in range(300):
        engine.step(puzzle.max_score)
        if engine.best_score == puzzle.max_score:
            break
    assert engine.best is not None
    judged = verify(puzzle, engine.best)
    assert judged.valid and judged.full and judged.score == engine.best_score == puzzle.max_score
    engine.step(puzzle.max_score)
    assert engine.best_score == puzzle.max_score


@pytest.mark.parametrize("name", ["like-e2-12x20", "like-e2-16x16-clue5", "uniform-10x10"])
def test_finds_are_legal_and_better_than_their_line(name):
    puzzle = load_puzzle(name)
    engine = engine_for(puzzle, nodes=20_000)
    for _ in range(60):
        engine.step(puzzle.max_score)
    finds = engine.pop_boards()
    assert len(finds) > 1 and finds[0].origin in ("beam", "fill")
    for find in finds:
        judged = verify(puzzle, find.board)
        assert judged.valid and judged.full and judged.score == find.score
    assert max(find.score for find in finds) == engine.best_score
    statistics = engine.statistics
    assert statistics.boards == len(finds)
    assert {find.origin for find in finds} - {"fill"} <= statistics.node_equivalents_by_part().keys()
    assert statistics.placements == statistics.beam_nodes + sum(statistics.operators.values())
    assert "M nodes in regions" in statistics.summary(1.0)


def test_an_injected_board_is_improved_and_never_lost():
    puzzle = load_puzzle("like-e2-10x10")
    start = fill(puzzle, Board.empty(puzzle))
    score = verify(puzzle, start).score
    engine = engine_for(puzzle, slack=3, patience=10**9)
    engine.inject_incumbent(start, score)
    assert engine.pop_boards() == [] and engine.best == start
    last = score
    for _ in range(80):
        engine.step(puzzle.max_score)
        assert engine.best is not None and engine.best_score == verify(puzzle, engine.best).score >= last
        last = engine.best_score
    assert last > score and engine.statistics.beam_nodes == 0, "no beam: the met board alone"
    engine.inject_incumbent(start, score)
    assert engine.best_score == last, "a worse board changes nothing"


def test_without_improvement_the_search_moves_to_new_beams_and_then_to_elites():
    puzzle = load_puzzle("like-e2-8x8")
    engine = engine_for(puzzle, patience=1000)
    begun = []
    for _ in range(40):
        before = engine.statistics.beam_nodes, engine.main.idle_nodes
        engine.step(puzzle.max_score)
        if engine.main.idle_nodes == 0 and before[1] > 1000:
            begun.append(engine.statistics.beam_nodes > before[0])
    assert begun[:2] == [True, True], "while the pool has room"
    assert True in begun[2:] and False in begun[2:]


def test_acceptance_of_equal_and_worse_boards():
    assert accepts(10, 10, 12, 0) and accepts(11, 10, 12, 0)
    assert not accepts(9, 10, 12, 0) and not accepts(9, 10, 12, 2)
    assert accepts(10, 12, 12, 2)


@pytest.mark.parametrize("split", [0, 1, 7, 25])
def test_the_engine_resumes_bit_for_bit(split):
    puzzle = load_puzzle("like-e2-8x8")
    whole, first = engine_for(puzzle, 4, slack=1), engine_for(puzzle, 4, slack=1)
    second = engine_for(puzzle, 77, slack=1)
    for _ in range(50):
        whole.step(10**6)
    for _ in range(split):
        first.step(10**6)
    second.restore({name: value.copy() for name, value in first.state().items()})
    assert second.statistics == first.statistics
    for _ in range(50 - split):
        second.step(10**6)
    assert second.best == whole.best and second.best_score == whole.best_score
    for name, value in whole.state().items():
        assert np.array_equal(value, second.state()[name]), name


def test_the_state_of_a_new_engine_has_the_same_names_types_and_shapes():
    puzzle = load_puzzle("like-e2-8x8")
    template, engine = engine_for(puzzle).state(), engine_for(puzzle)
    for _ in range(10):
        engine.step(10**6)
    state = engine.state()
    assert state.keys() == template.keys()
    for name, value in state.items():
        like = template[name]
        assert value.dtype == like.dtype and value.shape[1:] == like.shape[1:]
        assert value.shape == like.shape or like.size == 0


def test_a_state_that_no_search_would_have_is_refused():
    puzzle, _ = planted(2, 6, 6, 4, 2)
    engine = engine_for(puzzle)
    for _ in range(10):
        engine.step(10**6)
    good = engine.state()
    clue = rotate_puzzle(puzzle, best_quarter_turns(puzzle)).clues[0].cell
    for name in ("best", "main.best", "main.current", "main.elites"):
        spoilt = good[name].copy()
        spoilt.reshape(-1)[clue] ^= 1
        with pytest.raises(InputError):
            engine_for(puzzle).restore({**good, name: spoilt})
    counters = good["main.counters"].copy()
    counters[0] = puzzle.max_score + 1
    with pytest.raises(InputError):
        engine_for(puzzle).restore({**good, "main.counters": counters})
    with pytest.raises(InputError):
        engine_for(puzzle).restore({**good, "main.weights": -good["main.weights"] - 1})
