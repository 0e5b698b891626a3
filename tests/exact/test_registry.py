"""Solvers of one's own: registered in this process, or offered by an installed package."""

import inspect
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from typing import Any
from unittest import mock

import pytest

import lns.exact
from lns.exact.registry import ENTRY_POINTS, SOLVERS, all_solvers, find_solver
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.instances.generate import uniform
from lns.instances.puzzle import Puzzle
from tests.exact.brute import count_solutions
from tests.instances.small_puzzles import planted

PUZZLE = uniform(3, 2, 2, seed=1).puzzle


def own(puzzle: Puzzle, request: lns.exact.Request) -> lns.exact.Outcome:
    """A solver of one's own: the row scan by another name."""
    return SOLVERS["rowscan"](puzzle, request)


def not_an_answer(puzzle: Puzzle, request: lns.exact.Request) -> Any:
    return 3


def wrong_board(puzzle: Puzzle, request: lns.exact.Request) -> lns.exact.Outcome:
    return lns.exact.Outcome(lns.exact.SolveStatus.SOLVED, 1, 0, 0.0, Board.empty(puzzle))


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    with mock.patch.dict(SOLVERS):
        yield


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Pretend that packages with these entry points are installed; the result lists the groups that were read."""

    def install(**targets: str) -> list[str]:
        read: list[str] = []

        def entry_points(group: str) -> list[EntryPoint]:
            read.append(group)
            return [EntryPoint(name, f"tests.exact.{target}", group) for name, target in targets.items()]

        monkeypatch.setattr("lns.exact.registry.entry_points", entry_points)
        return read

    return install


def test_a_registered_solver_solves_and_counts() -> None:
    lns.exact.register_solver("own", own, description="my own", source="this test")
    assert lns.exact.count(PUZZLE, "own").solutions == count_solutions(PUZZLE) == lns.exact.count(PUZZLE).solutions > 0
    assert lns.exact.solve(PUZZLE, "own").solutions == 1
    assert all_solvers()["own"].description == "my own"


def test_a_solver_of_ones_own_takes_mates_and_a_rim_only_if_it_says_so(install: Callable[..., list[str]]) -> None:
    install(plugin="test_registry:own")
    lns.exact.register_solver("own", own)
    lns.exact.register_solver("knowing", own, refuses=())
    puzzle = planted(1, 2, 2, 3, framed=False, rim=1)[0]
    for name in ("own", "plugin"):
        with pytest.raises(InputError, match=f"^solver {name} takes no puzzle with rim; expected another solver"):
            lns.exact.solve(puzzle, name)
    assert lns.exact.count(puzzle, "knowing").solutions == count_solutions(puzzle)


def test_a_registered_solver_is_verified() -> None:
    lns.exact.register_solver("wrong", wrong_board)
    with pytest.raises(RuntimeError, match="wrong returned a board that is not a solution"):
        lns.exact.solve(PUZZLE, "wrong")


def test_a_name_that_exists_is_refused(install: Callable[..., list[str]]) -> None:
    install(plugin="test_registry:own")
    for name in ("rowscan", "plugin"):
        with pytest.raises(InputError, match=f"a solver '{name}' exists already"):
            lns.exact.register_solver(name, own)
    install(rowscan="test_registry:own")
    with pytest.raises(InputError, match="an installed package offers a solver 'rowscan', which exists already"):
        all_solvers()


def test_entry_points_are_read_only_for_other_names(install: Callable[..., list[str]]) -> None:
    read = install(plugin="test_registry:own")
    lns.exact.solve(PUZZLE, "rowscan")
    assert read == []
    assert lns.exact.count(PUZZLE, "plugin").solutions == count_solutions(PUZZLE)
    assert read == [ENTRY_POINTS]
    assert list(all_solvers()) == [*SOLVERS, "plugin"]
    with pytest.raises(InputError, match="unknown solver 'plugins': did you mean 'plugin'"):
        find_solver("plugins")
    with pytest.raises(InputError, match=r"unknown solver 'zzz': expected one of auto, colorpairs, rowscan, .*plugin"):
        find_solver("zzz")


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("absent:solver", r"solver 'plugin' cannot be loaded from tests\.exact\.absent:solver \(ModuleNotFoundError"),
        ("test_registry:absent", r"solver 'plugin' cannot be loaded from .* \(AttributeError"),
        ("test_registry:PUZZLE", r"solver 'plugin' returned Puzzle; expected lns\.exact\.Outcome"),
        ("test_registry:not_an_answer", r"solver 'plugin' returned int; expected lns\.exact\.Outcome"),
    ],
)
def test_a_broken_entry_point_is_one_sentence(install: Callable[..., list[str]], target: str, sentence: str) -> None:
    install(plugin=target)
    assert "plugin" in all_solvers(), "the list imports no solver"
    with pytest.raises(InputError, match=sentence) as caught:
        lns.exact.solve(PUZZLE, "plugin")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("budget", [{"nodes": -1}, {"seconds": float("nan")}, {"memory": -5}])
def test_a_negative_budget_is_refused(budget: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="expected 0 or more"):
        lns.exact.solve(PUZZLE, **budget)


def test_what_exact_exports_is_documented() -> None:
    assert sorted(lns.exact.__all__) == sorted(dir(lns.exact))
    for name in lns.exact.__all__:
        value = getattr(lns.exact, name)
        assert value.__doc__ and value.__doc__.strip().splitlines()[0].endswith("."), name
        for parameter in inspect.signature(value).parameters if inspect.isfunction(value) else ():
            assert parameter in value.__doc__, f"{name}: {parameter} not documented"
