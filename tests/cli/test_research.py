"""`lns estimate` and `lns tune`: tables, objects, refusals, and a process that is stopped or killed."""

import json
import re
import signal
from pathlib import Path
from typing import NoReturn

import pytest

from lns.api.estimating import Estimate, EstimateRow
from lns.instances.formats import write
from lns.rates import RELIABLE_COUNT, Measurement
from lns.tuning.study import StudyRequest, open_study
from tests.cli.conftest import Typed
from tests.cli.run_program import program
from tests.instances.small_puzzles import planted

pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
QUICK = "[construct]\npopulation = 200\nrestart_nodes = 3_000_000\n[engine]\nstep_nodes = 300_000\n"
PUZZLE = planted(2, 2, 2, 1)[0]
QUESTION = "estimate like-e2-10x10 --time 1 --params quick.toml --quiet"


@pytest.fixture(autouse=True)
def files(here: Path) -> None:
    """Parameters that begin quickly."""
    Path("quick.toml").write_text(QUICK)


def test_json_says_what_is_measured(typed: Typed) -> None:
    said = typed(f"{QUESTION} --json")
    found = json.loads(said.out)
    assert said.err == "" and (found["instance"], found["max_score"]) == ("like-e2-10x10", 180)
    assert 0 < found["seconds"] <= 1.5 and found["seed"] >= 0 and not found["interrupted"]
    assert found["rows"][0]["score"] <= found["measured_score"] < found["rows"][-1]["score"]
    for row in found["rows"]:
        assert row.keys() == {
            "score", "unlock", "forecast_per_core_hour", "expected_per_core_hour", "low_per_core_hour",
            "high_per_core_hour", "seen", "measured_per_core_hour", "core_days_for_one",
        }  # fmt: skip
        assert (row["measured_per_core_hour"] is None) == (row["seen"] == 0)
    assert not Path("runs").exists(), "an estimate is no run"
    write("p.json", "json", planted(1, 1, 2, 1)[0], None)
    assert typed.facts("estimate p.json --time 0.1 --quiet")["rows"][0]["seen"] == 1, "without infinity"


def test_the_table_has_a_line_a_score(typed: Typed) -> None:
    out = typed(f"{QUESTION} --verbose --seed 5").out
    assert ", seed 5\n" in out and "Measured up to" in out and "extrapolated" in out
    table = [line.split() for line in out.splitlines() if line.split() and line.split()[0].isdigit()]
    scores = [int(line[0]) for line in table]
    assert scores == list(range(scores[0], scores[0] + len(scores)))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_the_measurement_with_its_result_so_far(number: signal.Signals) -> None:
    params = str(Path("quick.toml").resolve())
    with program("estimate", "like-e2-10x10", "--time", "1h", "--params", params, "--json") as process:
        assert process.stderr is not None and "measuring" in process.stderr.readline()
        assert any("different boards" in line for line in process.stderr), "before it, lines about compiling"
        process.send_signal(number)
        out, _ = process.communicate(timeout=20)
        assert process.returncode == 128 + number
    found = json.loads(out)
    assert found["interrupted"] and found["rows"][0]["seen"] >= RELIABLE_COUNT and 0 < found["seconds"] < 3600


@pytest.mark.parametrize("boards", [True, False])
def test_a_table_that_was_interrupted_says_so(boards: bool, monkeypatch: pytest.MonkeyPatch, typed: Typed) -> None:
    run = Measurement.run

    def interrupted(measured: Measurement, seconds: float) -> NoReturn:
        if boards:
            run(measured, seconds)
        raise KeyboardInterrupt

    monkeypatch.setattr(Measurement, "run", interrupted)
    out = typed(QUESTION, 130).out
    assert ("of one core, interrupted" in out) == boards and (out == "") == (not boards)


def test_without_verbose_there_is_a_sentence_a_score(typed: Typed) -> None:
    lines = typed(QUESTION).out.splitlines()
    rows = [line for line in lines if line.startswith("  ")]
    assert len(rows) > 3 and all(" about " in row or "less than a second" in row or "more than" in row for row in rows)
    assert any("seen)" in row for row in rows) and "--verbose" in lines[-1]


def test_what_is_said_of_several_scores_is_said_once_and_extrapolated_scores_are_no_measured_ones() -> None:
    rows = [EstimateRow(score, (), 0.0, 90000.0, 60000.0, 120000.0, 20, 90000.0) for score in (461, 462, 463)]
    rows += [EstimateRow(464, (), 0.0, 700.0, 300.0, 900.0, 5, 300.0), EstimateRow(465, (), 0.0, 0, 0, 0, 0, None)]
    said = Estimate(PUZZLE, 1, tuple(rows), 60.0, 10**9, 463).summary()
    measured, extrapolated = said.split("\nMeasured:\n")[1].split("\nExtrapolated from 463, ")
    assert measured == "    461-463: less than a second (20 boards seen)\n"
    assert extrapolated.startswith("the last score with 10 boards or more:\n        464: about 5 seconds")
    assert extrapolated.endswith("(5 boards seen)\n        465: more than 1,000 years")


@pytest.mark.parametrize(
    ("expected", "low", "high", "count", "said"),
    [
        (0.5, 0.15, 1.5, 0, "about 2 hours, between 40 minutes and 7 hours"),
        (20.0, 9.0, 30.0, 1, "about 3 minutes, between 2 minutes and 7 minutes (1 board seen)"),
        (1.7e-5, 7.8e-7, 3.9e-4, 0, "about 7 years, uncertain by a factor of 20"),
        (1e-9, 0.0, 1e-8, 0, "more than 1,000 years"),
        (0.0, 0.0, 0.0, 0, "more than 1,000 years"),
        (0.5, 0.0, 0.6, 0, "about 2 hours, uncertain by a factor of millions"),
    ],
)
def test_rows_in_words(expected: float, low: float, high: float, count: int, said: str) -> None:
    assert EstimateRow(467, (), 0.0, expected, low, high, count, None).in_words == said


TUNE = "tune --family like-e2:6x6 --nodes 4000000 --pairs 3 --held-out 2 --params quick.toml --study s"


def test_a_study_begins_goes_on_and_reports(typed: Typed) -> None:
    outcome = typed.facts(f"{TUNE} --trials 3", 1)
    assert (outcome["trials"], outcome["better"], outcome["best_params"]) == (3, False, None)
    assert 0 <= outcome["overhead"] < 1
    shown = typed("tune --study s --trials 3", 1).out
    assert re.search("trials +3 finished", shown) and "eep the defaults" in shown and shown.startswith("┌──")
    assert all(len(line) <= 80 for line in shown.splitlines())
    report = Path("s/report.html")
    assert "<h2>Best trials" in report.read_text()
    report.unlink()
    typed("tune --study s --report --quiet", 1)
    assert report.exists()


def test_too_little_time_is_refused_before_any_run(typed: Typed) -> None:
    tune = "tune like-e2-6x6 --run-seconds 10 --study s --time 20s"
    error = typed(tune, 2).err
    assert "--time 20 is too short: the defaults and one trial take about" in error
    assert re.search("and a verdict [0-9]+ min", error)
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
    assert re.search("a verdict: it takes about [89] min .*this session has 3 min, for about 6 trials;", error)
    plan = open_study(Path("s"), StudyRequest()).plan
    assert plan.nodes == pytest.approx(plan.nodes_per_s * 2.6, rel=0.06)
    typed(f"{tune} 1h", 1)
    typed(f"{tune} 3m --run-seconds 1", 1)
    assert open_study(Path("s"), StudyRequest()).plan.nodes == pytest.approx(plan.nodes_per_s, rel=0.06), "both go on"
