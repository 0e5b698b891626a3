"""A limit of time holds for every solver, building included, where building alone takes several seconds."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from lns.exact.cover.search import CoverModel, build
from lns.exact.execution import Request
from lns.exact.outcome import Outcome, SolveStatus
from lns.exact.polyominoes.levels import cut_grid
from lns.exact.polyominoes.search import FillResult, fill
from lns.exact.registry import all_solvers
from lns.exact.solvers import solve_request
from lns.instances.errors import InputError
from lns.instances.generate import like_e2
from lns.instances.puzzle import Puzzle

SECONDS = 0.2
LATE = 1.0  # seconds after the limit at which a search must have ended
FUNCTIONS = {(entry.function or entry.search, name.endswith("-raw")): name for name, entry in all_solvers().items()}
QUICK = {name for name in FUNCTIONS.values() if not name.startswith(("cp:", "sat:"))}


def least_seconds(search: Callable[[], Any]) -> float:
    """Seconds that a search takes, the best of three tries: the machine may be busy."""
    best = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        search()
        best = min(best, time.perf_counter() - began)
        if best < SECONDS + LATE:
            break
    return best


@pytest.fixture(scope="module")
def puzzles() -> tuple[Puzzle, Puzzle]:
    """One to compile by, and one whose formula has 37 million literals and which has 4 million blocks of 2x2 pieces."""
    return like_e2(4, 4, seed=1).puzzle, like_e2(16, 16, seed=1).puzzle


@pytest.mark.parametrize(
    "solver", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in all_solvers()]
)
def test_the_time_of_a_solver_includes_building(solver: str, puzzles: tuple[Puzzle, Puzzle]) -> None:
    small, large = puzzles
    try:
        solve_request(small, Request(seconds=0.01), solver)
    except InputError as error:
        pytest.skip(str(error))  # an optional package is missing
    outcomes: list[Outcome] = []
    spent = least_seconds(lambda: outcomes.append(solve_request(large, Request(seconds=SECONDS), solver)))
    assert spent < SECONDS + LATE + 1.0 * (all_solvers()[solver].extra is not None), (
        "a child process starts before the limit begins"
    )
    assert outcomes[-1].status is SolveStatus.BUDGET_SPENT


def test_building_counts_for_each_pinned_corner(monkeypatch: pytest.MonkeyPatch) -> None:
    """A board that is not square is searched twice with a pinned corner, both times within one limit."""

    def slowly(*arguments: Any, **options: Any) -> CoverModel:
        time.sleep(0.3)
        return build(*arguments, **options)

    monkeypatch.setattr("lns.exact.cover.search.build", slowly)
    request = Request(count_all=True, seconds=60.0, fix_corner=True)
    outcome = solve_request(like_e2(4, 3, seed=1).puzzle, request, "xcc:counted")
    assert outcome.seconds >= 0.6


def test_the_time_of_a_grid_of_polyominoes_includes_building() -> None:
    grid, _ = cut_grid(30, 30, 1)
    results: list[FillResult] = []
    assert least_seconds(lambda: results.append(fill(grid, seconds=SECONDS))) < SECONDS + LATE
    assert results[-1].status is SolveStatus.BUDGET_SPENT and results[-1].seconds >= SECONDS
