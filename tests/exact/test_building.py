"""Building a model counts towards the time of a request, ends with it, and is told."""

import time
from pathlib import Path

import pytest

from lns.cli.main import main
from lns.exact.driver import Progress
from lns.exact.execution import Request
from lns.exact.outcome import SolveStatus
from lns.exact.solvers import solve_request
from lns.instances.formats import write
from lns.instances.generate import like_e2
from lns.instances.puzzle import Puzzle


@pytest.fixture(scope="module")
def large() -> Puzzle:
    """Its matrix has 50 million nodes, whose list takes half a minute to build."""
    return like_e2(40, 40, seed=1).puzzle


@pytest.mark.parametrize("solver", ["xcc:counted", "dlx:binary"])
def test_a_budget_of_time_ends_the_building(solver: str, large: Puzzle) -> None:
    puzzle = large if solver == "xcc:counted" else like_e2(24, 24, seed=1).puzzle
    shown: list[Progress] = []
    began = time.perf_counter()
    outcome = solve_request(puzzle, Request(count_all=True, seconds=0.3, on_progress=shown.append), solver)
    assert time.perf_counter() - began < 10.0  # the machine may be busy
    assert outcome.status is SolveStatus.BUDGET_SPENT and outcome.nodes == 0 and outcome.seconds >= 0.3
    assert outcome.details == {"model_unfinished": 1.0}
    assert shown and all(progress.building for progress in shown)
    outcome = solve_request(like_e2(6, 6, seed=1).puzzle, Request(count_all=True, seconds=0.0), "blocks")
    assert outcome.status is SolveStatus.BUDGET_SPENT and outcome.details == {"model_unfinished": 1.0}


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
