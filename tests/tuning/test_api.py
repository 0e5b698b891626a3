"""`tune` and `benchmark` as functions: results, progress, errors; and nothing on the terminal."""

from __future__ import annotations

import signal

import pytest

from instances.formats import load_puzzle
from lns.params import Params, from_dict
from lns_support.errors import InputError
from tests.tuning.made_up import Inline
from tuning import api, benchmark
from tuning import session as sessions
from tuning.plan import StudyRequest

pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
SETTINGS = {"nodes": 4000, "pairs": 6, "held_out": 20, "seed": 3}


def test_tune_returns_the_verdicts_and_the_best_parameters(made_up, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sessions, "WorkerPool", Inline)
    handler, progress = signal.getsignal(signal.SIGINT), []
    result = api.tune(family="like-e2:6x6", study=tmp_path, trials=40, on_progress=progress.append, **SETTINGS)
    assert result.better and result.verdict.better and result.verdict == result.verdicts[0]
    assert result.best_params != Params() and result.best_file == tmp_path / "best_params.toml"
    assert result.trials == len(result.table) == 40 and result.table[0]["short"] == 0.0
    assert result.summary().splitlines()[-1].split(maxsplit=1) == ["report", str(result.report)]
    assert result.report.exists()
    assert {one.phase for one in progress} == {"search", "validation", "report"} and not result.interrupted
    assert api.tune(study=tmp_path, report_only=True).best_params == result.best_params
    assert capsys.readouterr() == ("", "") and signal.getsignal(signal.SIGINT) == handler


def test_an_interrupt_ends_a_session_with_what_it_has(made_up, monkeypatch, tmp_path):
    monkeypatch.setattr(sessions, "WorkerPool", Inline)

    def interrupt(progress):
        raise KeyboardInterrupt

    result = api.tune(load_puzzle("like-e2-6x6"), study=tmp_path, trials=3, on_progress=interrupt, **SETTINGS)
    assert result.interrupted and result.trials == 3 and not result.better
    assert api.tune("like-e2-6x6", study=tmp_path, trials=3).trials == 3, "the puzzle and its name are the same"


@pytest.mark.parametrize(
    "arguments,sentence",
    [
        ({"instances": "like-e2-6x6", "family": "like-e2:6x6"}, "both instances and a family"),
        ({"family": "like-e2:6x6", "nodes": 5, "run_seconds": 5.0}, "both nodes and seconds"),
        ({"family": "like-e2:6x6", "sampler": "tpo"}, "'sampler': 'tpo'; expected one of"),
        ({"family": "like-e2:6x6", "node": 5}, "unknown setting 'node'; expected one of engine, seed"),
        ({"report_only": True, "trials": 5}, "a report makes no runs"),
        ({"report_only": True}, "no study is here"),
        ({"family": "like-e2:6x6", "workers": -1}, "-1 workers; expected 1 or more"),
        ({"family": "like-e2:6x6", "workers": 0}, "0 workers; expected 1 or more"),
        ({"family": "like-e2:6x6", "time": 0.0}, "a time of 0.0 s; expected more than 0"),
        ({"family": "like-e2:6x6", "trials": 0}, "0 trials; expected 1 or more"),
    ],
)
def test_wrong_settings_are_input_errors(tmp_path, arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        api.tune(study=tmp_path / "s", **{"nodes": 4000, **arguments} if "report_only" not in arguments else arguments)


def test_all_settings_can_be_given_as_one_request(made_up, monkeypatch, tmp_path):
    monkeypatch.setattr(sessions, "WorkerPool", Inline)
    request = StudyRequest(family="like-e2:6x6", **SETTINGS)
    assert api.tune(study=tmp_path, trials=2, request=request).trials == 2


def test_benchmark_returns_rows_and_calls_back(monkeypatch, tmp_path, capsys):
    made = []

    def run(puzzle, params, seed, options, on_best):
        made.append((puzzle.name, params, seed))
        return benchmark.BenchmarkRun(seed, 9, {9: 1.0}, {8: 2, 9: 1} if options.search_floor else {}, 1e6, 3600.0)

    monkeypatch.setattr(benchmark, "run_benchmark", run)
    params, runs, rows = from_dict({"construct": {"tail": 11}}), [], []
    result = benchmark.benchmark(
        ["like-e2-12x20"], seeds=2, first_seed=4, workers=1, search_floor=8, params=params, table=tmp_path / "t.csv",
        on_run=lambda *run: runs.append(run), on_row=rows.append,
    )  # fmt: skip
    assert made == [("like-e2-12x20", params, 4), ("like-e2-12x20", params, 5)] and len(runs) == 2
    assert list(result.rows) == rows and result.table[0]["scores"] == [9, 9]
    assert result.table[0]["boards_per_core_hour"] == {8: 3.0, 9: 1.0}
    assert "boards of at least 8 per core-hour: 3.0 (in 2 core-hours)" in result.summary()
    assert (tmp_path / "t.csv").read_text().count("\n") == 2 and capsys.readouterr() == ("", "")
    with pytest.raises(InputError, match="expected no engine 'beam' with them"):
        benchmark.benchmark(engine="beam", with_ablations=True)


@pytest.mark.parametrize("numbers", [{"seeds": 0}, {"time": 0.0}, {"time": float("nan")}, {"workers": 0}])
def test_a_benchmark_refuses_impossible_numbers(numbers):
    with pytest.raises(InputError, match="expected 1 or more"):
        benchmark.benchmark(["like-e2-6x6"], **numbers)


def test_a_row_is_in_the_table_before_it_is_shown(monkeypatch, tmp_path):
    """`lns benchmark | head` may close the pipe while a row is printed."""
    run = benchmark.BenchmarkRun(1, 9, {9: 1.0}, {}, 1e6, 60.0)
    monkeypatch.setattr(benchmark, "run_benchmark", lambda *_: run)

    def closed_pipe(row):
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        benchmark.benchmark(["like-e2-12x20"], seeds=1, workers=1, table=tmp_path / "t.csv", on_row=closed_pipe)
    assert (tmp_path / "t.csv").read_text().count("like-e2-12x20") == 1
