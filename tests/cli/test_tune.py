"""`lns tune`: what is typed, what is refused, and a process that is stopped or killed."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Any, NoReturn

import pytest

from lns.instances.errors import InputError
from lns.instances.puzzle import Clue
from lns.params import from_dict, load, to_toml
from lns.tuning.plan import StudyRequest
from lns.tuning.study import FINISHED, open_study
from tests.cli.conftest import Typed
from tests.cli.run_program import program, wait_for

pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")


TUNE = "tune --family like-e2:6x6 --nodes 4000000 --pairs 3 --held-out 2 --params base.toml --study s"


@pytest.fixture(autouse=True)
def base(here: Path) -> None:
    """Parameters that begin quickly."""
    Path("base.toml").write_text(to_toml(from_dict({"construct": {"population": 200}})))


def test_a_study_begins_goes_on_and_reports(typed: Typed) -> None:
    outcome = typed.facts(f"{TUNE} --trials 3", 1)
    assert (outcome["trials"], outcome["better"], outcome["best_params"]) == (3, False, None)
    assert 0 <= outcome["overhead"] < 1
    shown = typed("tune --study s --trials 3", 1).out
    assert re.search("trials +3 finished", shown) and "eep the defaults" in shown and shown.startswith("┌──")
    assert all(len(line) <= 80 for line in shown.splitlines())
    report = Path("s/report.html")
    assert "<h2>Trials by the value of each parameter" in report.read_text()
    report.unlink()
    typed("tune --study s --report --quiet", 1)
    assert report.exists()


@pytest.mark.slow
def test_ctrl_c_ends_in_order_and_a_kill_loses_no_finished_trial(here: Path) -> None:
    directory, params = here / "s", load("base.toml")
    open_study(directory, StudyRequest(family="like-e2:6x6", nodes=4_000_000, pairs=3, held_out=2, params=params))
    watcher = open_study(directory, StudyRequest())
    before = 0
    for sent, status in ((signal.SIGKILL, -9), (signal.SIGINT, 130)):
        wanted = before + 2
        with program("tune", "--study", str(directory), "--time", "10m", "--workers", "2") as process:
            wait_for(lambda wanted=wanted: len(watcher.trials(*FINISHED)) >= wanted, "two more trials", 300)  # type: ignore[misc]
            if sent == signal.SIGKILL:
                os.killpg(process.pid, sent)  # workers and all
            else:
                process.send_signal(sent)
            assert process.wait(30) == status
            if sent == signal.SIGINT:
                assert "finished" in (process.stdout.read() if process.stdout else "")
        before = len(open_study(directory, StudyRequest()).trials(*FINISHED))
        assert before >= wanted
    assert (directory / "report.html").exists()


def test_the_format_and_the_clues_of_an_instance_can_be_named(monkeypatch: pytest.MonkeyPatch, typed: Typed) -> None:
    asked: list[StudyRequest] = []

    def tuned(**arguments: Any) -> NoReturn:
        asked.append(arguments["request"])
        raise InputError("that is all")

    monkeypatch.setattr("lns.tuning.api.tune", tuned)
    Path("p.txt").write_text("1002 1120\n0030 2034\n")  # without an option, up left right down
    Path("clues.txt").write_text("# 1 clues: piece from 1, row column from 0, clockwise turns\n2 0 1 0\n")
    tune = "tune p.txt --study s --puzzle-format pieces:tetravex,urdl"
    assert "lns: p.txt: clues: 1 clue, read as" in typed(f"{tune} --clues clues.txt", 2).err
    [puzzle] = asked[0].instances
    assert puzzle.pieces[0].tolist() == [2, 1, 1, 3] and puzzle.clues == (Clue(1, 1, 0),)
    assert typed(f"{tune} --quiet", 2).err == "lns: that is all\n"


def test_too_little_time_is_refused_before_any_run(typed: Typed) -> None:
    tune = "tune like-e2-6x6 --run-seconds 10 --study s --time 20s"
    error = typed(tune, 2).err
    assert "--time 20 is too short: the defaults and one trial take about" in error
    assert re.search("and a verdict [0-9.]+ minutes", error)
    plan = open_study(Path("s"), StudyRequest()).plan
    assert plan.nodes_per_s * 10 == pytest.approx(plan.nodes, rel=0.06)
    typed(tune, 2)  # the rate is not measured again
    assert open_study(Path("s"), StudyRequest()).plan == plan


def test_the_runs_of_a_new_study_are_as_short_as_its_time_asks_for(
    typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lns.tuning.session.TuningSession.run", lambda session: None)
    tune = "tune like-e2-6x6 --study s --time"
    error = typed(f"{tune} 3m", 1).err
    assert "runs of 2.6 s instead of 10 s, so that the defaults and 6 trials fit into this session" in error
    assert re.search("a verdict: it takes about [89] minutes .*this session has 3 minutes, for about 6 trials;", error)
    plan = open_study(Path("s"), StudyRequest()).plan
    assert plan.nodes == pytest.approx(plan.nodes_per_s * 2.6, rel=0.06)
    typed(f"{tune} 1h", 1)
    typed(f"{tune} 3m --run-seconds 1", 1)
    assert open_study(Path("s"), StudyRequest()).plan.nodes == pytest.approx(plan.nodes_per_s, rel=0.06), "both go on"
