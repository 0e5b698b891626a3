"""What a study proves is kept for `lns solve`, by the session that proves it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from instances.formats import load_puzzle
from instances.generate import like_e2
from lns.api.kept_params import find
from lns.cli.main import main
from lns.params import Params, load, to_toml
from tests.tuning.made_up import Flat, Inline
from tuning import session as sessions
from tuning import worker as workers

pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
RUNS = ["--nodes", "4000", "--pairs", "6", "--held-out", "20", "--seed", "3", "--trials", "30", "--quiet"]


@pytest.fixture(autouse=True)
def inline(made_up, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sessions, "WorkerPool", Inline)
    monkeypatch.chdir(tmp_path)


def test_what_a_study_of_a_family_proves_is_used_for_its_members(config_home: Path, capsys) -> None:
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


def test_what_a_study_of_puzzles_proves_is_used_for_each_of_them(config_home: Path, tmp_path: Path) -> None:
    assert main(["tune", "like-e2-6x6", "like-e2-8x8", "--study", str(tmp_path / "s"), *RUNS]) == 0
    assert len(list((config_home / "lns" / "params").iterdir())) == 2
    for name in ("like-e2-6x6", "like-e2-8x8"):
        kept, _ = find(load_puzzle(name), "auto")
        assert kept is not None and kept.subject == "like-e2-6x6, like-e2-8x8"
    assert find(like_e2(6, 6, seed=77).puzzle, "auto") == (None, "")


def test_nothing_is_kept_without_proof_over_the_defaults(monkeypatch, config_home: Path, tmp_path: Path) -> None:
    worse = tmp_path / "worse.toml"
    worse.write_text(to_toml(Params()).replace("tail = 6 ", "tail = 2 "))
    assert main(["tune", "like-e2-6x6", "--study", str(tmp_path / "s"), "--params", str(worse), *RUNS]) == 0
    assert Path("s/best_params.toml").exists(), "they beat what was given"
    monkeypatch.setattr(workers, "TrialRun", Flat)
    assert main(["tune", "like-e2-6x6", "--study", str(tmp_path / "t"), *RUNS]) == 1
    assert not config_home.exists()


def test_a_configuration_that_cannot_be_written_is_a_warning(config_home: Path, capsys, tmp_path: Path) -> None:
    config_home.write_text("a file")
    assert main(["tune", "like-e2-6x6", "--study", str(tmp_path / "s"), *RUNS, "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["kept"] == [] and "the parameters cannot be kept for `lns solve`: " in shown.err
