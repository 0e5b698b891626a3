"""A limit of time holds for every solver, building included, where building alone takes several seconds."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lns.cli.main import main
from lns.exact.driver import Progress
from lns.exact.execution import Request
from lns.exact.outcome import SolveStatus
from lns.exact.polyominoes.levels import cut_grid
from lns.exact.polyominoes.search import fill
from lns.exact.registry import all_solvers
from lns.exact.solvers import solve_request
from lns.instances.errors import InputError
from lns.instances.formats import write
from lns.instances.generate import like_e2
from lns.instances.puzzle import Puzzle

SECONDS = 0.2
LATE = 1.0  # seconds after the limit at which a search must have ended
FUNCTIONS = {(entry.function, name.endswith("-raw")): name for name, entry in all_solvers().items()}
QUICK = {name for name in FUNCTIONS.values() if not name.startswith(("cp:", "sat:"))}


def quickest(search: Callable[[], Any]) -> tuple[Any, float]:
    """What a search returns, and its least seconds of three tries: the machine may be busy."""
    best = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        outcome = search()
        best = min(best, time.perf_counter() - began)
        if best < SECONDS + LATE:
            break
    assert outcome.status is SolveStatus.BUDGET_SPENT
    return outcome, best


@pytest.fixture(scope="module")
def large() -> Puzzle:
    """Its matrix has 50 million nodes, whose list takes half a minute to build."""
    return like_e2(40, 40, seed=1).puzzle


@pytest.mark.parametrize(
    "solver", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in all_solvers()]
)
def test_the_time_of_a_solver_includes_building(solver: str) -> None:
    """The formula of the puzzle has 37 million literals, and it has 4 million blocks of 2x2 pieces."""
    try:
        solve_request(like_e2(4, 4, seed=1).puzzle, Request(seconds=0.01), solver)  # compiles
    except InputError as error:
        pytest.skip(str(error))  # an optional package is missing
    puzzle = like_e2(16, 16, seed=1).puzzle
    _, spent = quickest(lambda: solve_request(puzzle, Request(seconds=SECONDS), solver))
    start_of_child = 1.0 * (all_solvers()[solver].extra is not None)
    assert spent < SECONDS + LATE + start_of_child


@pytest.mark.parametrize("solver", ["xcc:counted", "dlx:binary", "blocks"])
def test_a_budget_of_time_ends_the_building(solver: str, large: Puzzle) -> None:
    puzzle = large if solver == "xcc:counted" else like_e2(24, 24, seed=1).puzzle
    shown: list[Progress] = []
    request = Request(True, seconds=0.0 if solver == "blocks" else 0.3, on_progress=shown.append)
    began = time.perf_counter()
    outcome = solve_request(puzzle, request, solver)
    assert time.perf_counter() - began < 10.0  # the machine may be busy
    assert outcome.status is SolveStatus.BUDGET_SPENT and outcome.nodes == 0 and outcome.seconds >= request.seconds
    assert outcome.details == {"model_unfinished": 1.0}
    assert bool(shown) == bool(request.seconds) and all(progress.building for progress in shown)


def test_ctrl_c_interrupts_the_building(large: Puzzle) -> None:
    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve_request(large, Request(count_all=True, on_progress=interrupt), "xcc:counted")


def test_the_command_tells_that_the_model_was_not_built(
    large: Puzzle, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write("puzzle.json", None, large, None)
    assert main(["exact", "count", "puzzle.json", "--solver", "xcc:counted", "--time", "0.3", "--quiet"]) == 0
    assert "budget spent; the time was over before the model was built" in capsys.readouterr().out


def test_the_time_of_a_grid_of_polyominoes_includes_building() -> None:
    grid, _ = cut_grid(30, 30, 1)
    result, spent = quickest(lambda: fill(grid, seconds=SECONDS))
    assert spent < SECONDS + LATE and result.seconds >= SECONDS
