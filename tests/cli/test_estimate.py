"""`lns estimate`: a table for people, an object for programs, one sentence for what cannot be."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from lns.cli.estimate import row_in_words, time_in_words, words
from lns.estimate import RELIABLE_COUNT, Estimate, EstimateRow, Measurement
from lns.instances.formats import write
from tests.cli.conftest import Typed
from tests.cli.run_program import program
from tests.instances.small_puzzles import planted

QUICK = "[construct]\npopulation = 200\nrestart_nodes = 3_000_000\n[engine]\nstep_nodes = 300_000\n"
QUESTION = "estimate like-e2-10x10 --time 2 --params quick.toml --quiet"


@pytest.fixture(autouse=True)
def files(here: Path) -> None:
    Path("quick.toml").write_text(QUICK)


def test_json_says_what_is_measured(typed: Typed) -> None:
    said = typed(f"{QUESTION} --json")
    found = json.loads(said.out)
    assert said.err == "" and (found["instance"], found["max_score"]) == ("like-e2-10x10", 180)
    assert 0 < found["seconds"] <= 2.5 and found["seed"] >= 0 and not found["interrupted"]
    assert found["rows"][0]["score"] <= found["measured_score"] < found["rows"][-1]["score"]
    for row in found["rows"]:
        assert row.keys() == {
            "score", "unlock", "forecast_per_core_hour", "expected_per_core_hour", "low_per_core_hour",
            "high_per_core_hour", "seen", "measured_per_core_hour", "core_days_for_one",
        }  # fmt: skip
        assert (row["measured_per_core_hour"] is None) == (row["seen"] == 0)
    assert not Path("runs").exists(), "an estimate is no run"


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

    def interrupted(measured: Measurement, seconds: float, progress: Callable[[Measurement], object]) -> NoReturn:
        if boards:
            run(measured, seconds, progress)
        raise KeyboardInterrupt

    monkeypatch.setattr(Measurement, "run", interrupted)
    out = typed(QUESTION, 130).out
    assert ("of one core, interrupted" in out) == boards and (out == "") == (not boards)


def test_json_of_a_board_that_is_certain_has_no_infinity(typed: Typed) -> None:
    write("p.json", "json", planted(1, 1, 2, 1)[0], None)

    def refuse(constant: str) -> NoReturn:
        raise AssertionError(constant)

    said = typed("estimate p.json --time 0.1 --quiet --json").out
    assert json.loads(said, parse_constant=refuse)["rows"][0]["seen"] == 1


def test_a_board_without_inner_edges_has_no_score_to_estimate(typed: Typed) -> None:
    write("p.json", "json", planted(1, 1, 1, 1)[0], None)
    assert "no inner edge" in typed.refused("estimate p.json --time 0.1 --quiet")


@pytest.mark.parametrize("option", ["--run-dir", "--target", "--min-score", "--engine", "--workers", "--checkpoint"])
def test_options_of_a_run_are_refused(option: str, typed: Typed) -> None:
    assert f"unrecognized arguments: {option} 5" in typed.refused(f"{QUESTION} {option} 5")


def test_without_verbose_there_is_a_sentence_a_score(typed: Typed) -> None:
    lines = typed(QUESTION).out.splitlines()
    rows = [line for line in lines if line.startswith("  ")]
    assert len(rows) > 3 and all(" about " in row or "less than a second" in row or "more than" in row for row in rows)
    assert any("seen)" in row for row in rows) and "--verbose" in lines[-1]


def test_what_is_said_of_several_scores_is_said_once_and_extrapolated_scores_are_no_measured_ones() -> None:
    rows = [EstimateRow(score, (), 0.0, 90000.0, 60000.0, 120000.0, 20, 90000.0) for score in (461, 462, 463)]
    rows += [EstimateRow(464, (), 0.0, 700.0, 300.0, 900.0, 5, 300.0), EstimateRow(465, (), 0.0, 0, 0, 0, 0, None)]
    said = "\n".join(words(Estimate(tuple(rows), 60.0, 10**9, 463)))
    measured, extrapolated = said.split("\nMeasured:\n")[1].split("\nExtrapolated from 463, ")
    assert measured == "    461-463: less than a second (20 boards seen)\n"
    assert extrapolated.startswith("the last score with 10 boards or more:\n        464: about 5 seconds")
    assert "(5 boards seen)\n        465: more than 1,000 years\n" in extrapolated


@pytest.mark.parametrize(
    ("hours", "said"),
    [(2.2, "about 2 hours"), (0.99, "about 1 hour"), (0.66, "about 40 minutes"), (13.4 / 3600, "about 13 seconds"),
     (1e-5, "less than a second"), (50, "about 2 days"), (8766 * 7.4, "about 7 years"), (8766 * 240, "about 240 years"),
     (23.6, "about 1 day"), (22, "about 22 hours")],
)  # fmt: skip
def test_times_in_words(hours: float, said: str) -> None:
    assert time_in_words(hours) == said


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
    assert row_in_words(EstimateRow(467, (), 0.0, expected, low, high, count, None)) == said
