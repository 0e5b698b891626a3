"""How `lns solve` and `lns resume` end: signals, rules, the closing lines, and the command of `--on-best`."""

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from lns.api.solving import solve
from lns.cli import search
from lns.cli.runs import footer
from lns.engine import FoundBoard
from lns.instances.board import Board
from lns.instances.formats import load_puzzle
from lns.runs.run_summary import load_summary
from lns.terminal.output import command_name
from tests.cli.conftest import Typed
from tests.cli.run_program import ONE_WORKER, ROOT, is_alive, program, wait_for
from tests.instances.small_puzzles import planted
from tests.lns.run_parts import best_of, finished_run
from tests.torture import torture_kills

pytestmark = pytest.mark.usefixtures("here")


def started(run: Path) -> bool:
    """Whether a worker has reported."""
    try:
        return bool(load_summary(run).heartbeat.pids)
    except ValueError:
        return False


@pytest.fixture
def tabu(params: str) -> str:
    """A search of one step after the other, without a name for its run."""
    return f"solve like-e2-8x8 --engine tabu --params {params} --quiet {' '.join(ONE_WORKER)}"


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_saves_and_leaves(number: signal.Signals, status: int, tmp_path: Path) -> None:
    run = tmp_path / "run"
    with program("solve", "like-e2-10x10", "--time", "1h", "--workers", "2", "--run-dir", str(run)) as process:
        wait_for(lambda: started(run), "the first report")
        pids = load_summary(run).heartbeat.pids
        os.killpg(process.pid, number)  # as a terminal does
        output, errors = process.communicate(timeout=20)
        assert process.returncode == status, errors
    assert "Traceback" not in errors and "exit code" not in errors and "best score" in output
    one = load_summary(run)
    assert one.state == "ended" and one.why == number.name and one.best is not None
    wait_for(lambda: not any(map(is_alive, pids)), "the end of the workers", 5.0)


@pytest.mark.slow
def test_workers_do_not_outlive_a_killed_parent_and_killed_workers_are_replaced(tmp_path: Path) -> None:
    run = tmp_path / "run"

    def pids() -> tuple[int, ...]:
        return tuple(load_summary(run).heartbeat.pids) if started(run) else ()

    with program("solve", "like-e2-10x10", "--time", "1h", "--workers", "2", "--run-dir", str(run)) as process:
        wait_for(lambda: len(pids()) == 2, "two workers")
        first = pids()
        os.kill(first[0], signal.SIGKILL)
        wait_for(lambda: "another one continues island" in (run / "run.log").read_text(), "the line in the log")
        wait_for(lambda: first[0] not in pids() and len(pids()) == 2, "the new worker")
        workers = pids()
        assert first[1] in workers and load_summary(run).workers == 2
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        wait_for(lambda: not any(map(is_alive, workers)), "the end of the workers", 10.0)
    one = load_summary(run)
    assert one.state == "died" and one.workers == 0 and one.best is not None


def test_a_second_interrupt_leaves_at_once(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with program("solve", "like-e2-10x10", "--time", "1h", *ONE_WORKER, "--run-dir", str(run)) as process:
        wait_for(lambda: started(run), "the first report")
        os.kill(load_summary(run).heartbeat.pids[0], signal.SIGSTOP)  # a worker that does not answer
        os.kill(process.pid, signal.SIGINT)
        time.sleep(0.3)
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(20) == 130
        assert load_summary(run).state == "died", "a search that ends in order is 'ended'"
    assert load_summary(run).best is not None


@pytest.mark.slow
def test_lns_stop_ends_a_run_in_order(tmp_path: Path, typed: Typed) -> None:
    run = tmp_path / "run"
    endless = ["--time", "1h", "--steps", "1000000", *ONE_WORKER]
    with program("solve", "like-e2-10x10", *endless, "--run-dir", str(run)) as process:
        wait_for(lambda: started(run), "the first report")
        assert "stopped with" in typed("stop run").out
        assert process.wait(20) == 0
    assert load_summary(run).why == "stopped" and not (run / "stop").exists()
    typed("stop run", 1)


@pytest.mark.slow
def test_kills_at_random_moments_lose_nothing(tmp_path: Path) -> None:
    outcome = torture_kills(tmp_path, 8, 7)
    assert outcome["at a moment, at work"] + outcome["at a call, at work"] >= 4


@pytest.mark.parametrize("number", [0, signal.SIGINT])
def test_a_board_that_could_not_be_written_is_printed(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    """The run directory was removed, and no viewer has letters for the colours; also after Ctrl-C."""
    found = solve(planted(3, 6, 5, 40)[0], engine="tabu", steps=1, seed=1, workers=1, run_dir="run", progress=None)
    assert found.board is not None and not found.url
    lost = replace(found, write_errors=["best.json"])
    shutil.rmtree("run")
    options = argparse.Namespace(stats=False, json=False, url=False)
    status = search.print_result(lost, int(number), options)
    assert status == (130 if number else 2)
    said = capsys.readouterr()
    (line,) = (line for line in said.out.splitlines() if line.startswith("placements"))
    assert json.loads(line.removeprefix("placements")) == found.record["placements"]
    assert "not written: best.json; the board is above" in said.err
    assert "saved in" not in said.out and "resume" not in said.out, "there is no run"


def test_a_signal_that_an_import_swallows_ends_the_search_when_it_begins() -> None:
    end = search.SearchEnd(argparse.Namespace())
    with contextlib.suppress(SystemExit):  # as some imports do
        end.handle(signal.SIGINT, None)
    assert end.number == signal.SIGINT
    assert end(mock.Mock()) == "SIGINT"


def test_the_end_is_a_few_short_lines_with_the_next_commands(tabu: str, typed: Typed) -> None:
    run = Path("my run")
    lines = typed(f"{tabu} --steps 2 --run-dir 'my run'").out.splitlines()
    score = best_of(run)
    assert lines[0] == f"best score  {score} of 112, {112 - score} mismatches"
    assert re.match(r"search      ended after \d+ s: steps made; 1 worker, seed ", lines[1])
    assert lines[2:] == ["saved in    my run", "see it      lns show 'my run'", "go on       lns resume 'my run'"]
    said = typed("resume 'my run' --steps 1 --quiet --url").out
    assert f"\nviewer      {json.loads((run / 'best.json').read_text())['url']}\n" in said
    missed = typed(f"{tabu} --steps 1 --target 112 --run-dir missed", 1).out
    assert "; the target 112 was not reached\n" in missed
    said = typed(f"{tabu} --steps 1 --target 50 --run-dir reached").out
    assert "target reached" in said and "not reached" not in said
    assert "go on       lns solve reached/instance.json --start reached\n" in said, "its resumption ends at once"
    start = ROOT / "instances" / "data" / "like-e2-4x4.solution.txt"
    solved = typed(f"solve like-e2-4x4 --start {start} --run-dir solved --quiet {' '.join(ONE_WORKER)}").out
    assert solved.startswith("best score  24 of 24, solved") and "lns resume" not in solved
    assert "no better board is possible" in solved, "no target was given"
    runs = {name: load_summary(Path(name)) for name in ("my run", "reached", "solved")}
    assert runs["reached"].state_in_words == "ended: target reached"
    assert runs["solved"].state_in_words == "ended: no better board is possible"
    assert [one.resumption for one in runs.values()] == ["resume 'my run'", "", ""]
    used = finished_run(Path("used"), name="like-e2-8x8", engine="tabu", seconds=1e-3)
    assert footer([load_summary(used)]).endswith(", lns resume used --time 1h goes on")
    assert footer([runs["reached"]]) == "this run is over; q ends this view"


def test_the_next_commands_can_be_typed_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/a b/python")
    for found, called, named in (
        (None, ".venv/bin/lns", ".venv/bin/lns"), (None, "/a b/lns", "'/a b/lns'"), (None, "/x/pytest", "lns"),
        (None, "/x/lns/__main__.py", "'/a b/python' -m lns"), ("/usr/bin/lns", "/x/lns/__main__.py", "lns"),
        ("/usr/bin/lns", ".venv/bin/lns", "lns"),
    ):  # fmt: skip
        monkeypatch.setattr("shutil.which", mock.Mock(return_value=found))
        monkeypatch.setattr("sys.argv", [called])
        assert command_name() == named


def test_the_seed_is_drawn_and_saved_and_workers_are_as_many_as_cores(
    params: str, monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    command = f"solve like-e2-4x4 --engine tabu --params {params} --steps 1 --json --run-dir"
    monkeypatch.setattr("lns.api.solving.available_cores", lambda: 2)
    seeds = []
    for name in ("one", "two"):
        said = typed(f"{command} {name}")
        seeds.append(json.loads(said.out)["seed"])
        assert f"2 workers (one for each core), seed {seeds[-1]} (drawn at random), no time limit" in said.err
        assert load_summary(Path(name)).settings.seed == seeds[-1]
    assert seeds[0] != seeds[1]
    said = typed(f"{command} three --seed 7 --workers 1")
    assert json.loads(said.out)["seed"] == 7 and "1 worker, seed 7, no time limit" in said.err


def test_resume_says_what_the_plan_was_and_what_it_is_now(typed: Typed) -> None:
    path = finished_run(Path("run"), name="like-e2-8x8", engine="tabu")
    assert re.search("going on at . s of search; (1 min|5. s) left", typed("resume run --steps 1").err)
    said = typed("resume run --steps 1 --time 2h").err
    assert re.search(r"the plan was 1 min of search, (1 min|5. s) left; now 2 h of search more", said)
    assert 7190 < load_summary(path).history.remaining_s <= 7200


def test_a_run_ends_when_the_score_no_longer_rises(tabu: str, typed: Typed) -> None:
    typed(f"{tabu} --stop-after-no-gain 0.4 --run-dir run")
    one, log = load_summary(Path("run")), Path("run/run.log").read_text()
    assert "no time limit; it ends after 0.4 s without a better board\n" in log
    assert one.why == "no improvement in 0.4 s" and not one.history.has_time_limit
    assert one.history.elapsed_s >= one.history.improvements[-1].elapsed_s + 0.4


def test_a_command_is_run_at_each_new_best_and_never_waited_for(
    tabu: str, here: Path, typed: Typed, caplog: pytest.LogCaptureFixture
) -> None:
    on_best = 'test -f "$LNS_BEST" && echo "$LNS_SCORE $LNS_MAX_SCORE $LNS_RUN_DIR" >> told; echo no; exit 3'
    typed([*tabu.split(), "--steps", "6", "--run-dir", "run", "--on-best", on_best])
    assert Path("told").read_text().splitlines()[-1] == f"{best_of(Path('run'))} 112 {here / 'run'}"
    assert "the command of --on-best ended with status 3: no" in caplog.text


def test_a_notifier_tells_the_newest_best_after_a_slow_command(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    board = Board(np.arange(16) * 4, 4, 4).of(load_puzzle("like-e2-4x4"))
    monkeypatch.setattr(search, "LAST_S", 60.0)  # of waiting for a slow machine
    with search.Notifier("echo $LNS_SCORE >> told; sleep 0.5", Path()) as notifier:
        for score in (1, 2, 3, 4):
            notifier(FoundBoard(board, score, "tabu"))
            assert notifier.poll()
    assert Path("told").read_text().split() == ["1", "4"]
    monkeypatch.setattr(search, "LONGEST_S", 0.1)
    with search.Notifier("sleep 100", Path()) as notifier:
        notifier(FoundBoard(board, 5, "tabu"))
    assert "took more than 0.1 s and was killed" in caplog.text


def test_a_signal_ends_the_command_of_the_last_best(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(search, "LAST_S", 100.0)
    monkeypatch.setattr(search, "LONGEST_S", 100.0)
    board = Board(np.arange(16) * 4, 4, 4).of(load_puzzle("like-e2-4x4"))
    signalled, told, began = threading.Event(), Path("told"), time.monotonic()
    with search.Notifier("echo $LNS_SCORE >> told; sleep 90", Path(), signalled.is_set) as notifier:
        notifier(FoundBoard(board, 1, "tabu"))
        wait_for(lambda: notifier.poll() and told.exists(), "the call")
        notifier(FoundBoard(board, 2, "tabu"))
        threading.Timer(0.2, signalled.set).start()
    assert time.monotonic() - began < 30.0 and told.read_text() == "1\n"
    assert "the command of --on-best still ran and was ended" in caplog.text
