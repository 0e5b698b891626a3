"""Operators of users: registered in this process, or entry points of installed packages."""

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lns
from lns.assignment import fill
from lns.engine import Statistics
from lns.engines import make_engine
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.generate import family
from lns.instances.puzzle import Puzzle
from lns.instances.verify import verify
from lns.islands import Archipelago
from lns.loop.search_loop import SearchLoop
from lns.neighbourhoods import OPERATORS, operators
from lns.neighbourhoods.move import Move, assign
from lns.neighbourhoods.operators import operator_names, register_operator
from lns.node_equivalents import TABU_MOVE
from lns.params import Params, from_dict
from lns.rounds import Search, Task, run_round
from lns.worker_pool import WorkerPool
from tests.lns.loop_parts import steps
from tests.lns.run_parts import best_of, copied, new_directory, resumed, run_for, small_puzzle

QUICK = from_dict({"beam": {"width": 50}, "neighbourhoods": {"nodes": 5000, "certificate": 0.0}})


def own(puzzle: Puzzle, board: Board, rng: np.random.Generator, nodes: int) -> Move:
    """An operator of a user: lays pieces anew, as one of the built-in ones does."""
    return assign(puzzle, board, rng, nodes)


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """No operators are registered before a test, by an example of the docs for instance, nor after it."""
    operators.REGISTERED.clear()
    yield
    operators.REGISTERED.clear()


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Entry points that a package would bring: name=value."""

    def install(**points: str) -> None:
        found = EntryPoints(EntryPoint(name, value, operators.ENTRY_POINTS) for name, value in points.items())
        monkeypatch.setattr(operators, "entry_points", lambda group: found.select(group=group))

    return install


def only(name: str) -> SearchLoop:
    """An engine with the one operator, and a poor board to improve."""
    puzzle = small_puzzle("like-e2-8x8")
    engine = make_engine("lns", puzzle, QUICK, 1, 0, operators=[name])
    start = fill(puzzle, Board.empty(puzzle))
    engine.inject_incumbent(start, verify(puzzle, start).score)
    return engine


def test_an_own_operator_is_used_and_its_gains_are_counted(tmp_path: Path) -> None:
    register_operator("own", own)
    assert operator_names() == (*OPERATORS, "own")
    path = tmp_path / "run"
    archipelago = run_for(new_directory(path, small_puzzle("like-e2-8x8"), engine="lns"), 30)
    assert archipelago.statistics.operators["own"] > 0
    assert set(archipelago.statistics.operators) > {"own", "suffix", "exchange"}
    assert archipelago.statistics.node_equivalents_by_part()["own"] > 0
    engine = only("own")
    assert engine.names == ("beam", "own"), "the one operator that is wanted"
    steps(engine, 30)
    assert engine.statistics.new_boards["own"] > 0
    assert engine.statistics.new_boards["own"] == sum(board.origin == "own" for board in engine.pop_boards())
    more, _ = resumed(copied(path, tmp_path / "moved"), 3)
    assert more.statistics.operators["own"] >= archipelago.statistics.operators["own"]


def test_a_run_is_not_resumed_without_its_operator(tmp_path: Path) -> None:
    register_operator("own", own)
    path = tmp_path / "run"
    run_for(new_directory(path, small_puzzle("like-e2-8x8"), engine="lns"), 5)
    del operators.REGISTERED["own"]
    with pytest.raises(InputError, match="operator 'own' is not registered in this process; a worker process"):
        resumed(path, 1)
    assert best_of(path) > 0


def test_later_operators_do_not_change_a_run(tmp_path: Path) -> None:
    """A run keeps the operators that it began with."""
    path = tmp_path / "run"
    run_for(new_directory(path, small_puzzle("like-e2-8x8"), engine="lns"), 5)
    register_operator("own", own)
    assert "own" not in resumed(path, 30)[0].statistics.operators


@pytest.mark.parametrize(
    ("name", "function", "message"),
    [
        ("band", own, "an operator 'band' exists already; expected another name"),
        ("tabu", own, "an operator 'tabu' exists already; expected another name"),
        ("mine", own, "an operator 'mine' exists already; expected another name"),
        ("greedy", own, "an operator 'greedy' exists already"),
        ("last-20", own, "an operator 'last-20' exists already"),
        ("mine-colorpairs", own, "an operator 'mine-colorpairs' exists already"),
        ("no spaces", own, "'no spaces' is no name of an operator; expected at most 40 letters"),
        ("x" * 41, own, "is no name of an operator"),
        ("other", 3, r"function is 3 \(int\); expected a function"),
    ],
)
def test_names_that_clash_are_refused(name: str, function: Any, message: str) -> None:
    register_operator("mine", own)
    with pytest.raises(InputError, match=message):
        register_operator(name, function)


def test_an_entry_point_is_an_operator(installed: Any) -> None:
    installed(plugin=f"{__name__}:own")
    assert operator_names() == (*OPERATORS, "plugin")
    assert steps(only("plugin"), 5).statistics.operators["plugin"] > 0


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("plugin", "no_such_module_:f", "operator 'plugin' cannot be loaded from no_such_module_:f"),
        ("plugin", f"{__name__}:nothing", "operator 'plugin' cannot be loaded from .*AttributeError"),
        ("plugin", f"{__name__}:QUICK", "operator 'plugin': .*QUICK is a Params; expected a function"),
        ("band", f"{__name__}:own", "an installed package: an operator 'band' exists already"),
    ],
)
def test_a_broken_entry_point_is_refused_in_a_sentence(name: str, value: str, message: str, installed: Any) -> None:
    installed(**{name: value})
    with pytest.raises(InputError, match=message) as error:
        make_engine("lns", small_puzzle(), QUICK, 1, 0)
    assert "\n" not in str(error.value)


def test_a_registered_operator_needs_one_worker() -> None:
    register_operator("mine", own)
    puzzle = small_puzzle()
    with pytest.raises(InputError, match="operator 'mine' is registered in this process only"):
        Archipelago(Search(puzzle, QUICK, 1, "lns"), 2)
    Archipelago(Search(puzzle, QUICK, 1, "tabu"), 2)
    archipelago = Archipelago(Search(puzzle, QUICK, 1, "lns"), 1)
    assert archipelago.run(60.0, puzzle.max_score, lambda _: None, steps=8) in ("steps made", "target reached")
    assert "mine" in archipelago.statistics.operators


@pytest.mark.usefixtures("worker_processes")
def test_an_operator_that_never_returns_is_switched_off_in_each_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry point of a package that the worker processes find; a registered one, in this process: `test_loop`."""
    (tmp_path / "endless_package.py").write_text(
        "def never(puzzle, board, rng, nodes):\n    while True:\n        pass\nnever.call_seconds = 0.3\n"
    )
    info = tmp_path / "endless_package-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: endless-package\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[{operators.ENTRY_POINTS}]\nnever = endless_package:never\n")
    monkeypatch.syspath_prepend(tmp_path)
    params = from_dict({"beam": {"width": 50}, "neighbourhoods": {"nodes": 5000, "floor": 0.1}})
    puzzle = small_puzzle("like-e2-8x8")
    archipelago = Archipelago(Search(puzzle, params, 1, "lns", operators=("band", "path", "never")), 2)
    assert archipelago.run(300.0, puzzle.max_score, lambda _: None, steps=12) == "steps made"
    assert archipelago.statistics.failures == {"never": 2} and archipelago.statistics.operators["band"] > 0


def test_an_operator_of_this_process_that_never_returns_is_switched_off(caplog: pytest.LogCaptureFixture) -> None:
    """`lns.solve` searches in another thread than that of its caller."""

    def never(puzzle: Puzzle, board: Board, rng: np.random.Generator, nodes: int) -> Move:
        while True:
            with suppress(Exception):  # whatever happens, it goes on
                time.sleep(0.001)

    never.call_seconds = 0.2  # type: ignore[attr-defined]
    puzzle = small_puzzle("like-e2-8x8")
    params = from_dict({"beam": {"width": 50}, "neighbourhoods": {"nodes": 5000, "floor": 0.1}})
    lns.register_operator("never", never)
    result = lns.solve(puzzle, engine="lns", seed=1, steps=12, params=params, progress=None)
    assert result.statistics.failures == {"never": 1} and result.why == "steps made"
    assert "a call did not end within 0.2 s (its call_seconds)" in caplog.text
    for thread in threading.enumerate():
        if thread.name == "lns-operator-watch":
            thread.join(10)
            assert not thread.is_alive()


def test_a_worker_without_the_operator_names_it() -> None:
    puzzle = small_puzzle()
    search = Search(puzzle, QUICK, 1, "lns", operators=("band", "mine"))
    task = Task(search, 0, 1, None, None, -1, puzzle.max_score, 5.0, 1)
    sentence = "operator 'mine' is not registered in this process; a worker process knows"
    with WorkerPool(1) as pool, pytest.raises(InputError, match=sentence):
        pool.submit(run_round, task).result(300)  # it may compile kernels first


def test_auto_has_only_the_built_in_operators_and_counts_its_walks() -> None:
    """So a run can be continued where other packages are installed."""
    puzzle = family("tetravex:9x9:9")(5).puzzle
    register_operator("mine", own)
    auto, lns = (make_engine(name, puzzle, Params(), 1, 0) for name in ("auto", "lns"))
    while auto.statistics.moves == 0:
        auto.step()
    cost = auto.statistics.node_equivalents_by_part()["tabu"]
    assert cost == pytest.approx(auto.statistics.moves * TABU_MOVE, abs=1)
    assert lns.names == (*auto.names, "mine")


def test_statistics_of_operators_add_up() -> None:
    one, other = Statistics(nodes=1, operators={"a": 1, "b": 2}), Statistics(moves=3, operators={"b": 5, "c": 7})
    total = one + other
    assert total == Statistics(nodes=1, moves=3, operators={"a": 1, "b": 7, "c": 7})
    assert one.operators == {"a": 1, "b": 2}, "the terms stay as they are"
    assert total.counts()["operator b"] == 7
