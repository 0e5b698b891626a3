"""`lns tune`: what is typed, what is refused, and a process that is stopped or killed."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal

import pytest

from instances.puzzle import Clue
from lns.cli.main import main
from lns.params import from_dict, load, to_toml
from tests.cli.run_program import program, wait_for
from tuning.cli.tune import _request, add_arguments
from tuning.plan import StudyRequest
from tuning.study import FINISHED, open_study

pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")


@pytest.fixture
def base(tmp_path):
    """Parameters that begin quickly."""
    path = tmp_path / "base.toml"
    path.write_text(to_toml(from_dict({"construct": {"population": 200}})))
    return str(path)


def _arguments(directory, base, *more):
    return ["tune", "--family", "like-e2:6x6", "--nodes", "4000000", "--pairs", "3", "--held-out", "2",
            "--params", base, "--study", str(directory), *more]  # fmt: skip


def _finished(directory):
    return len(open_study(directory, StudyRequest()).trials(*FINISHED))


def test_a_study_begins_goes_on_and_reports(tmp_path, base, capsys):
    directory = tmp_path / "s"
    assert main(_arguments(directory, base, "--trials", "3", "--json")) == 1
    outcome = json.loads(capsys.readouterr().out)
    assert (outcome["trials"], outcome["better"], outcome["best_params"]) == (3, False, None)
    assert 0 <= outcome["overhead"] < 1
    assert main(["tune", "--study", str(directory), "--trials", "3"]) == 1
    shown = capsys.readouterr()
    assert re.search("trials +3 finished", shown.out) and "eep the defaults" in shown.out
    assert shown.out.startswith("┌──")
    assert all(len(line) <= 80 for line in shown.out.splitlines() if str(directory) not in line)
    assert "<h2>Trials by the value of each parameter" in (directory / "report.html").read_text()
    (directory / "report.html").unlink()
    assert main(["tune", "--study", str(directory), "--report", "--quiet"]) == 1
    assert (directory / "report.html").exists()


@pytest.mark.slow
def test_ctrl_c_ends_in_order_and_a_kill_loses_no_finished_trial(tmp_path, base):
    directory = tmp_path / "s"
    open_study(directory, StudyRequest(family="like-e2:6x6", nodes=4_000_000, pairs=3, held_out=2, params=load(base)))
    command = ["tune", "--study", str(directory), "--time", "10m", "--workers", "2"]
    watcher = open_study(directory, StudyRequest())
    before = 0
    for sent, status in ((signal.SIGKILL, -9), (signal.SIGINT, 130)):
        with program(*command) as process:
            wait_for(lambda wanted=before + 2: len(watcher.trials(*FINISHED)) >= wanted, "two more trials", 300)
            if sent == signal.SIGKILL:
                os.killpg(process.pid, sent)  # workers and all
            else:
                process.send_signal(sent)
            assert process.wait(30) == status
            if sent == signal.SIGINT:
                assert "finished" in (process.stdout.read() if process.stdout else "")
        after = _finished(directory)
        assert after >= before + 2
        before = after
    assert (directory / "report.html").exists()


@pytest.mark.parametrize(
    "arguments,sentence",
    [
        (["--family", "like-e3:6x6"], "unknown kind of puzzle 'like-e3'"),
        (["--family", "nonsense"], "names no family"),
        ([], "expected INSTANCE or --family"),
        (["like-e2-6x6", "--family", "like-e2:6x6"], "expected one of them"),
        (["like-e2-6x6", "--nodes", "5", "--run-seconds", "5"], "expected one of them"),
        (["like-e2-6x6", "--trials", "0"], "0 is too few"),
        (["like-e2-6x6", "--time", "0"], "no duration"),
        (["like-e2-6x6", "--workers", "0"], "0 is too few"),
        (["no-such-file"], "no such file"),
        (["--report"], "no study is here"),
        (["--report", "--time", "1h"], "without a time, a number of trials or workers"),
        (["--report", "--trials", "5"], "without a time, a number of trials or workers"),
        (["--report", "--workers", "1"], "without a time, a number of trials or workers"),
        (["--family", "like-e2:6x6", "--nodes", "5", "--pairs", "2000000"], "'pairs': found '2000000'; expected"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path, capsys, arguments, sentence):
    directory = tmp_path / "s"
    assert main(["tune", "--study", str(directory), *arguments]) == 2
    error = capsys.readouterr().err
    assert sentence in error and error.count("\n") == 1
    assert not directory.exists()


def test_the_format_and_the_clues_of_an_instance_can_be_named(tmp_path, capsys):
    (tmp_path / "p.txt").write_text("1002 1120\n0030 2034\n")  # without an option, up left right down
    (tmp_path / "clues.txt").write_text("# 1 clues: piece from 1, row column from 0, clockwise turns\n2 0 1 0\n")
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    words = [str(tmp_path / "p.txt"), "--study", "s", "--puzzle-format", "pieces:tetravex,urdl"]
    [puzzle] = _request(parser.parse_args([*words, "--clues", str(tmp_path / "clues.txt")])).instances
    assert puzzle.pieces[0].tolist() == [2, 1, 1, 3] and puzzle.clues == (Clue(1, 1, 0),)
    assert f"lns: {tmp_path / 'p.txt'}: clues: 1 clue, read as" in capsys.readouterr().err
    _request(parser.parse_args([*words, "--quiet"]))
    assert not capsys.readouterr().err


def test_too_little_time_is_refused_before_any_run(tmp_path, capsys):
    directory = tmp_path / "s"
    arguments = ["tune", "like-e2-6x6", "--run-seconds", "10", "--study", str(directory)]
    assert main([*arguments, "--time", "20s"]) == 2
    error = capsys.readouterr().err
    assert "--time 20 is too short: the defaults and one trial take about" in error
    assert re.search("and a verdict [0-9.]+ minutes", error)
    plan = open_study(directory, StudyRequest()).plan
    assert plan.nodes_per_s * 10 == pytest.approx(plan.nodes, rel=0.06)
    assert main([*arguments, "--time", "20s"]) == 2  # the rate is not measured again
    assert open_study(directory, StudyRequest()).plan == plan


def test_the_runs_of_a_new_study_are_as_short_as_its_time_asks_for(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tuning.session.TuningSession.run", lambda session: None)
    arguments = ["tune", "like-e2-6x6", "--study", str(tmp_path / "s"), "--time", "3m"]
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert "runs of 2.6 s instead of 10 s, so that the defaults and 6 trials fit into this session" in error
    assert re.search("a verdict: it takes about [89] minutes .*this session has 3 minutes, for about 6 trials;", error)
    plan = open_study(tmp_path / "s", StudyRequest()).plan
    assert plan.nodes == pytest.approx(plan.nodes_per_s * 2.6, rel=0.06)
    assert main([*arguments[:-1], "1h"]) == 1 and main([*arguments, "--run-seconds", "1"]) == 1, "both go on with it"
    assert open_study(tmp_path / "s", StudyRequest()).plan.nodes == pytest.approx(plan.nodes_per_s, rel=0.06)


def test_a_wrong_parameter_file_is_refused(tmp_path, capsys):
    path = tmp_path / "p.toml"
    path.write_text("[construct]\ntial = 13\n")
    assert main(["tune", "like-e2-6x6", "--study", str(tmp_path / "s"), "--params", str(path)]) == 2
    assert "did you mean 'tail'" in capsys.readouterr().err
