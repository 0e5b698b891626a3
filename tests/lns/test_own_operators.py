"""Operators of users: registered in this process, or entry points of installed packages."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from instances.board import Board
from instances.puzzle import Puzzle
from instances.verify import verify
from lns.assignment import fill
from lns.engine import MAX_OPERATORS, Statistics
from lns.islands import Archipelago
from lns.neighbourhoods import operators
from lns.neighbourhoods.destroy import destroy_and_repair
from lns.neighbourhoods.engine import LnsEngine
from lns.neighbourhoods.move import Move
from lns.neighbourhoods.operators import (
    BUILT_IN,
    make_operators,
    operator_names,
    register_operator,
    unregister_operator,
)
from lns.neighbourhoods.regions import block
from lns.params import BeamParams, ConstructParams, from_dict
from lns.rounds import Task, run_round
from lns.worker_pool import WorkerPool
from lns_support.errors import InputError
from tests.lns.run_parts import best_of, copied, new_directory, resumed, run_for, small_puzzle

_BLOCK = destroy_and_repair(block)
QUICK = from_dict({"beam": {"width": 50}, "neighbourhoods": {"nodes": 5000}})


def own_block(puzzle: Puzzle, board: Board, rng: np.random.Generator, nodes: int) -> Move:
    """An operator of a user: re-solves a block, as one of the built-in ones does."""
    return _BLOCK(puzzle, board, rng, nodes)


def no_operator(puzzle: Puzzle, board: Board, rng: np.random.Generator, nodes: int) -> Any:
    """Returns a board instead of a move."""
    return board


def wrong_score(puzzle: Puzzle, board: Board, rng: np.random.Generator, nodes: int) -> Move:
    return Move(board, verify(puzzle, board).score + 1, 1)


def half_empty(puzzle: Puzzle, board: Board, rng: np.random.Generator, nodes: int) -> Move:
    return Move(Board.empty(puzzle), 0, 1)


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """No operators are registered before a test, by an example of the docs for instance, nor after it."""
    for name in operators.process_only_operators():
        unregister_operator(name)
    yield
    for name in operators.process_only_operators():
        unregister_operator(name)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Entry points that a package would bring: name=value."""

    def install(**points: str) -> None:
        found = EntryPoints(EntryPoint(name, value, operators.ENTRY_POINTS) for name, value in points.items())
        monkeypatch.setattr(operators, "entry_points", lambda group: found.select(group=group))

    return install


def only(name: str) -> LnsEngine:
    """An engine with the one operator, and a poor board to improve."""
    puzzle = small_puzzle("like-e2-8x8")
    engine = LnsEngine(puzzle, QUICK, 1, 0, [name])
    start = fill(puzzle, Board.empty(puzzle))
    engine.inject_incumbent(start, verify(puzzle, start).score)
    return engine


def test_an_own_operator_is_used_and_its_gains_are_counted(tmp_path: Path) -> None:
    register_operator("own-block", own_block)
    assert operator_names() == (*BUILT_IN, "own-block")
    path = tmp_path / "run"
    archipelago = run_for(new_directory(path, small_puzzle("like-e2-8x8"), engine="lns"), 60)
    assert archipelago.statistics.operators["own-block"] > 0
    assert set(archipelago.statistics.operators) == {*BUILT_IN, "own-block"}
    assert archipelago.statistics.node_equivalents_by_part()["own-block"] > 0
    engine = only("own-block")
    for _ in range(30):
        engine.step(10**6)
    boards = engine.pop_boards()
    assert {board.origin for board in boards} == {"own-block"}, "the one operator that is wanted"
    assert engine.weights.gains[0] > 0
    more, _ = resumed(copied(path, tmp_path / "moved"), 3)
    assert more.statistics.operators["own-block"] >= archipelago.statistics.operators["own-block"]


def test_a_run_is_not_resumed_without_its_operator(tmp_path: Path) -> None:
    register_operator("own-block", own_block)
    path = tmp_path / "run"
    run_for(new_directory(path, small_puzzle("like-e2-8x8"), engine="lns"), 5)
    unregister_operator("own-block")
    with pytest.raises(InputError, match="operator 'own-block' is not registered in this process; a worker process"):
        resumed(path, 1)
    assert best_of(path) > 0


def test_later_operators_do_not_change_a_run(tmp_path: Path) -> None:
    """A run keeps the operators that it began with."""
    path = tmp_path / "run"
    run_for(new_directory(path, small_puzzle("like-e2-8x8"), engine="lns"), 5)
    register_operator("own-block", own_block)
    assert set(resumed(path, 3)[0].statistics.operators) == set(BUILT_IN)


@pytest.mark.parametrize(
    ("name", "function", "message"),
    [
        ("block", own_block, "an operator 'block' exists already; expected another name"),
        ("tabu", own_block, "an operator 'tabu' exists already; expected another name"),
        ("mine", own_block, "an operator 'mine' exists already; expected another name"),
        ("greedy", own_block, "an operator 'greedy' exists already"),
        ("suffix-20-short-2", own_block, "an operator 'suffix-20-short-2' exists already"),
        ("mine-colorpairs", own_block, "an operator 'mine-colorpairs' exists already"),
        ("no spaces", own_block, "'no spaces' is no name of an operator; expected at most 40 letters"),
        ("x" * 41, own_block, "is no name of an operator"),
        ("other", 3, r"function is 3 \(int\); expected a function"),
    ],
)
def test_names_that_clash_are_refused(name: str, function: Any, message: str) -> None:
    register_operator("mine", own_block)
    with pytest.raises(InputError, match=message):
        register_operator(name, function)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (no_operator, r"operator 'mine' returned Board; expected Move\(board, score, nodes\)"),
        (wrong_score, r"operator 'mine' returned a board of \d+ as one of \d+"),
        (half_empty, "operator 'mine' returned a board that is not full and legal"),
    ],
)
def test_what_a_broken_operator_returns_is_refused_in_a_sentence(function: Any, message: str) -> None:
    register_operator("mine", function)
    engine = only("mine")
    with pytest.raises(InputError, match=message):
        engine.step(10**6)


def test_an_entry_point_is_an_operator(installed: Any) -> None:
    installed(plugin=f"{__name__}:own_block")
    assert operator_names() == (*BUILT_IN, "plugin")
    engine = only("plugin")
    for _ in range(5):
        engine.step(10**6)
    assert engine.statistics.operators["plugin"] > 0


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("plugin", "no_such_module_:f", "operator 'plugin' cannot be loaded from no_such_module_:f"),
        ("plugin", f"{__name__}:nothing", "operator 'plugin' cannot be loaded from .*AttributeError"),
        ("plugin", f"{__name__}:QUICK", "operator 'plugin': .*QUICK is a Params; expected a function"),
        ("block", f"{__name__}:own_block", "an installed package: an operator 'block' exists already"),
    ],
)
def test_a_broken_entry_point_is_refused_in_a_sentence(name: str, value: str, message: str, installed: Any) -> None:
    installed(**{name: value})
    with pytest.raises(InputError, match=message) as error:
        make_operators(ConstructParams(), BeamParams())
    assert "\n" not in str(error.value)


def test_a_registered_operator_needs_one_worker() -> None:
    register_operator("mine", own_block)
    puzzle = small_puzzle()
    with pytest.raises(InputError, match="operator 'mine' is registered in this process only"):
        Archipelago(puzzle, QUICK, 1, 2, engine="lns")
    Archipelago(puzzle, QUICK, 1, 2, engine="tabu")
    archipelago = Archipelago(puzzle, QUICK, 1, 1, engine="lns")
    assert archipelago.run(60.0, puzzle.max_score, lambda _: None, steps=8) in ("steps made", "target reached")
    assert "mine" in archipelago.statistics.operators


def test_a_worker_without_the_operator_names_it() -> None:
    puzzle = small_puzzle()
    task = Task(puzzle, QUICK, "lns", 1, 0, 1, None, None, -1, puzzle.max_score, 5.0, 1, operators=("block", "mine"))
    executor = WorkerPool(1)
    with pytest.raises(InputError, match="operator 'mine' is not registered in this process; a worker process knows"):
        executor.submit(run_round, task).result(60)
    executor.shutdown()


def test_statistics_of_operators_add_up_and_are_bounded_when_read() -> None:
    one, other = Statistics(nodes=1, operators={"a": 1, "b": 2}), Statistics(moves=3, operators={"b": 5, "c": 7})
    total = one + other
    assert total == Statistics(nodes=1, moves=3, operators={"a": 1, "b": 7, "c": 7})
    assert one.operators == {"a": 1, "b": 2}, "the terms stay as they are"
    assert Statistics.from_json(total.to_json()) == total
    assert total.counts()["operator b"] == 7
    for bad in (
        [],
        {"nodes": -1},
        {"nodes": 2**63},
        {"operators": []},
        {"operators": {"a": -1}},
        {"operators": {"a": 1.5}},
        {"operators": {"x" * 100: 1}},
        {"operators": {str(number): 1 for number in range(MAX_OPERATORS + 1)}},
    ):
        with pytest.raises(InputError):
            Statistics.from_json(bad)
