"""Time in which the process did not run is no time of search."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from lns.islands import RunningTime
from lns.runs.run_summary import load_summary
from tests.cli.run_program import ONE_WORKER, program, wait_for


class Clocks:
    """The clocks of `RunningTime`, moved by the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monotonic, self.passed, self.used = 100.0, 900.0, 1.0
        monkeypatch.setattr(RunningTime, "_look", staticmethod(lambda: (self.monotonic, self.passed, self.used)))

    def move(self, seconds: float, *, asleep: float = 0.0, used: float = 0.0) -> None:
        self.monotonic += seconds
        self.passed += seconds + asleep
        self.used += used


def test_gaps_are_taken_out_and_said(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    clocks = Clocks(monkeypatch)
    running = RunningTime()
    assert running.since(None) == 0.0
    clocks.move(1.0)
    began = clocks.monotonic
    for _ in range(20):
        clocks.move(0.5)
        running.since(began)
    assert running.since(began) == 10.0 and not caplog.text
    clocks.move(20.0)
    assert running.since(began) == 10.0, "the first that looks finds the gap"
    assert "the process did not run for 20 s" in caplog.text
    clocks.move(3.0)
    assert running.since(began) == 13.0
    clocks.move(0.2, asleep=3600.0)
    assert running.since(began) == pytest.approx(13.0, abs=0.3), "sleep is no part of the monotonic clock"
    assert "the process did not run for 3600 s" in caplog.text
    caplog.clear()
    clocks.move(8.0, used=7.5)
    assert running.since(began) == pytest.approx(21.0, abs=0.3), "a long step in this process is search"
    assert not caplog.text


def test_a_gap_before_the_search_is_not_taken_out_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = Clocks(monkeypatch)
    running = RunningTime()
    clocks.move(30.0)
    running.since(None)
    assert running.since(clocks.monotonic) == 0.0
    began = clocks.monotonic
    clocks.move(2.0)
    assert running.since(began) == 2.0
    clocks.move(12.0)  # the search began in a worker, 4 s before the end of the gap
    assert running.since(clocks.monotonic - 4.0) == pytest.approx(0.0)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no SIGSTOP")
def test_a_stopped_search_searches_as_long_as_it_was_told(tmp_path: Path) -> None:
    """2.5 s of search with 3 s stopped in their middle; before, less than a second was searched after the stop."""
    run = tmp_path / "run"
    command = ["solve", "like-e2-8x8", "--time", "2.5", "--engine", "tabu", "--quiet", "--run-dir"]
    with program(*command, str(run), *ONE_WORKER, constants={"lns.islands.GAP_S": 0.7}) as process:
        wait_for(lambda: (run / "status.json").exists() and bool(load_summary(run).heartbeat.pids), "the start", 120)
        began = time.monotonic()
        os.killpg(process.pid, signal.SIGSTOP)
        time.sleep(3.0)
        os.killpg(process.pid, signal.SIGCONT)
        assert process.wait(60) == 0
        wall = time.monotonic() - began
    summary = load_summary(run)
    assert 2.4 < summary.history.elapsed_s < 3.5 and wall > 3.0 + 1.5
    assert summary.history.sessions[-1].seconds == pytest.approx(summary.history.elapsed_s, abs=0.01)
    log = (run / "run.log").read_text()
    assert "the process did not run for 3 s" in log and json.loads((run / "best.json").read_text())["elapsed_s"] < 3.5
