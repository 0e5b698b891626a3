"""`tune` as a function: results, progress, errors, nothing on the terminal; and what is kept for `lns solve`."""

import json
import signal
from pathlib import Path

import pytest

from lns.api.kept_params import find
from lns.cli.main import main
from lns.instances.errors import InputError
from lns.instances.formats import load_puzzle
from lns.instances.generate import like_e2
from lns.params import Params, load, to_toml
from lns.tuning import api
from lns.tuning import session as workers
from tests.tuning.made_up import Flat

RUNS = ["--nodes", "4000", "--pairs", "6", "--held-out", "20", "--seed", "3", "--trials", "30", "--quiet"]
SETTINGS = {"nodes": 4000, "pairs": 6, "held_out": 20, "seed": 3}


def test_tune_returns_the_verdicts_and_the_best_parameters(inline, tmp_path, capsys):
    handler, progress = signal.getsignal(signal.SIGINT), []
    result = api.tune(family="like-e2:6x6", study=tmp_path, trials=40, on_progress=progress.append, **SETTINGS)
    assert result.better and result.verdict.better and result.verdict == result.verdicts[0]
    assert result.best_params != Params() and result.best_file == tmp_path / "best_params.toml"
    assert result.trials == len(result.table) == 40 and result.table[0]["short"] == 0.0
    assert result.records() == result.table and len(result.to_frame()) == 40
    assert result.summary().splitlines()[-1].split(maxsplit=1) == ["report", str(result.report)]
    assert result.report.exists()
    assert {one.phase for one in progress} == {"search", "validation", "report"} and not result.interrupted
    assert "; 40 of 40 trials, " in [str(one) for one in progress if one.phase == "search"][-1]
    assert api.tune(study=tmp_path, report_only=True).best_params == result.best_params
    assert capsys.readouterr() == ("", "") and signal.getsignal(signal.SIGINT) == handler


def test_an_interrupt_ends_a_session_with_what_it_has(inline, tmp_path):

    def interrupt(progress):
        raise KeyboardInterrupt

    result = api.tune(load_puzzle("like-e2-6x6"), study=tmp_path, trials=3, on_progress=interrupt, **SETTINGS)
    assert result.interrupted and result.trials == 3 and not result.better
    assert api.tune("like-e2-6x6", study=tmp_path, trials=3).trials == 3, "the puzzle and its name are the same"


@pytest.mark.parametrize(
    "arguments,sentence",
    [
        ({"family": "like-e2:6x6", "sampler": "tpo"}, "'sampler': 'tpo'; expected one of"),
        ({"family": "like-e2:6x6", "node": 5}, "unknown setting 'node'; expected one of family, engine, seed"),
        ({"family": "like-e2:6x6", "workers": 0}, "0 workers; expected 1 or more"),
        ({"family": "like-e2:6x6", "time": 0.0}, "a time of 0.0 s; expected more than 0"),
        ({"family": "like-e2:6x6", "trials": 0}, "0 trials; expected 1 or more"),
        ({"family": "like-e2:6x6", "seed": 10**13}, "'seed': found"),
        ({"study": "a\nb", "family": "like-e2:6x6"}, "expected printable ones"),
        ({"study": "u\udcff", "family": "like-e2:6x6"}, "expected printable ones"),
    ],
)
def test_wrong_settings_are_input_errors(tmp_path, arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        api.tune(**{"study": "s", "nodes": 4000} | arguments)
    assert not list(tmp_path.iterdir())


# -- what is kept -----------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_what_a_study_of_a_family_proves_is_used_for_its_members(inline, config_home: Path, capsys) -> None:
    words = ["tune", "--study", "runs/tune-small"]
    assert main([*words, "--family", "like-e2:6x6", *RUNS]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "`lns solve` takes them for puzzles like like-e2:6x6 from now on; --params default does not" in said
    [file] = (config_home / "lns" / "params").iterdir()
    kept, _ = find(like_e2(6, 6, seed=77).puzzle, "auto")
    assert kept is not None and kept.params == load("runs/tune-small/best_params.toml") != Params()
    assert main(["solve", "like-e2-6x6", "--steps", "1", "--workers", "1", "--run-dir", "run"]) == 0
    assert f"parameters of runs/tune-small: {kept.gain} (use --params default" in capsys.readouterr().err
    assert json.loads(Path("run/run.json").read_text())["params_source"].endswith(kept.gain)
    file.unlink()
    assert main([*words, "--report", "--quiet"]) == 0 and not file.exists(), "a report keeps nothing"
    capsys.readouterr()
    assert main([*words, "--trials", "30", "--quiet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kept"] == [str(file)] and file.exists()


def test_what_a_study_of_puzzles_proves_is_used_for_each_of_them(inline, config_home: Path, tmp_path: Path) -> None:
    assert main(["tune", "like-e2-6x6", "like-e2-8x8", "--study", str(tmp_path / "s"), *RUNS]) == 0
    assert len(list((config_home / "lns" / "params").iterdir())) == 2
    for name in ("like-e2-6x6", "like-e2-8x8"):
        kept, _ = find(load_puzzle(name), "auto")
        assert kept is not None and kept.subject == "like-e2-6x6, like-e2-8x8"
    assert find(like_e2(6, 6, seed=77).puzzle, "auto") == (None, "")


def test_nothing_is_kept_without_proof_over_the_defaults(
    inline, monkeypatch, config_home: Path, tmp_path: Path
) -> None:
    worse = tmp_path / "worse.toml"
    worse.write_text(to_toml(Params()).replace("tail = 6 ", "tail = 2 "))
    assert main(["tune", "like-e2-6x6", "--study", str(tmp_path / "s"), "--params", str(worse), *RUNS]) == 0
    assert Path("s/best_params.toml").exists(), "they beat what was given"
    monkeypatch.setattr(workers, "TrialRun", Flat)
    assert main(["tune", "like-e2-6x6", "--study", str(tmp_path / "t"), *RUNS]) == 1
    assert not config_home.exists() and not Path("t/best_params.toml").exists()


def test_a_configuration_that_cannot_be_written_is_a_warning(inline, config_home: Path, capsys, tmp_path: Path) -> None:
    config_home.write_text("a file")
    assert main(["tune", "like-e2-6x6", "--study", str(tmp_path / "s"), *RUNS, "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["kept"] == [] and "the parameters cannot be kept for `lns solve`: " in shown.err
