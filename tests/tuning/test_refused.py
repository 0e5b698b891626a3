"""Studies that are refused, each with one sentence, and what is no reason to refuse one."""

from __future__ import annotations

import json
import multiprocessing
import os
from dataclasses import replace
from pathlib import Path

import pytest

from lns.cli.main import main
from lns.params import from_dict
from lns.runs.files import seal
from lns_support.errors import InputError
from tests.tuning.made_up import REQUEST
from tuning.objective import Trace
from tuning.plan import StudyRequest
from tuning.study import open_study

pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")


@pytest.mark.parametrize(
    "requested,sentence",
    [
        (StudyRequest(family="like-e2:6x7"), "asks for like-e2:6x7, but this study is of like-e2:6x6"),
        (StudyRequest(instances=("like-e2-6x6",)), "INSTANCE asks for like-e2-6x6, but this study is of like-e2:6x6"),
        (StudyRequest(nodes=5000), "--nodes asks for 5000, but this study has 4000"),
        (StudyRequest(run_seconds=3.0), "--run-seconds asks for 3 s, but this study has 4000"),
        (StudyRequest(pairs=7), "--pairs asks for 7"),
        (StudyRequest(held_out=30), "--held-out asks for 30"),
        (StudyRequest(seed=4), "--seed asks for 4"),
        (StudyRequest(engine="tabu"), "--engine asks for tabu"),
        (StudyRequest(sampler="random"), "--sampler asks for random, but this study has tpe"),
        (StudyRequest(params=from_dict({"construct": {"tail": 10}})), "--params asks for"),
    ],
)
def test_a_study_of_something_else_is_refused(tmp_path, requested, sentence):
    path = tmp_path / "s"
    study = open_study(path, REQUEST)
    study.run_store.add(study.key(study.base, study.pairs[0]), Trace(((40, 1),), 4000, False, 10.0, 10.0))
    open_study(path, REQUEST)
    with pytest.raises(InputError, match=sentence):
        open_study(path, requested)


def test_a_directory_of_something_else_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds no study, but notes\.txt"):
        open_study(tmp_path, REQUEST)
    with pytest.raises(InputError, match="is a file"):
        open_study(tmp_path / "notes.txt", REQUEST)
    with pytest.raises(InputError, match="expected INSTANCE or --family"):
        open_study(tmp_path / "new", StudyRequest())


def test_temporary_files_of_killed_processes_do_not_prevent_a_new_study(tmp_path):
    """And that of a living one is none either: several may begin a study at once."""
    old, new = tmp_path / ".lns-99999-deadbeef.tmp", tmp_path / ".lns-99999-beefdead.tmp"
    old.touch()
    new.touch()
    os.utime(old, (0, 0))
    open_study(tmp_path, REQUEST)
    assert new.exists() and not old.exists()


def _begin_elsewhere(path: Path) -> None:
    open_study(path, StudyRequest(instances=("like-e2-6x6",), nodes=4000))


def test_several_processes_may_begin_a_study_at_once(tmp_path):
    processes = [
        multiprocessing.get_context("fork").Process(target=_begin_elsewhere, args=(tmp_path,)) for _ in "12345678"
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 8


@pytest.mark.parametrize("changes", [{"pairs": 2001}, {"held_out": 2 * 10**6}, {"nodes": 10**15 + 1}, {"seed": 10**13}])
def test_a_study_that_could_not_be_read_again_is_not_written(tmp_path, changes):
    with pytest.raises(InputError, match=f"'{next(iter(changes))}': found"):
        open_study(tmp_path / "s", replace(REQUEST, **changes))
    assert not (tmp_path / "s").exists()


def test_too_few_held_out_pairs_cause_a_warning_at_once(tmp_path, caplog):
    open_study(tmp_path / "s", replace(REQUEST, held_out=19))
    assert "19 held-out pairs prove nothing; at least 20" in caplog.text
    caplog.clear()
    open_study(tmp_path / "t", REQUEST)
    assert caplog.text == ""


@pytest.mark.parametrize("left", ["journal.log", "runs.jsonl"])
def test_files_of_another_study_are_not_taken_over(tmp_path, left):
    """Its journal and its runs may be of another engine or another objective; only study.json would say so."""
    open_study(tmp_path, REQUEST)
    for name in ("journal.log", "runs.jsonl", "study.json"):
        (tmp_path / name).unlink(missing_ok=True)
    (tmp_path / left).touch()
    with pytest.raises(InputError, match=f"holds no study, but {left}"):
        open_study(tmp_path, REQUEST)


@pytest.mark.parametrize(
    "name,old,new,sentence",
    [
        ("study.json", '"seed": 3', '"seed": 4', "damaged, or changed by hand"),
        ("base.toml", "tail = 13", "tail = 12", "not the parameters that the study began with"),
    ],
)
def test_a_study_that_was_changed_is_refused(tmp_path, name, old, new, sentence):
    open_study(tmp_path / "s", REQUEST)
    file = tmp_path / "s" / name
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(InputError, match=sentence):
        open_study(tmp_path / "s", REQUEST)


def test_an_unprintable_directory_name_is_refused_before_the_runs(tmp_path, capsys):
    for name in ("a\nb", "u\udcff"):
        assert main(["tune", "--family", "like-e2:6x6", "--study", str(tmp_path / name)]) == 2
        assert "expected printable ones" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "changed,sentence",
    [({"sources": "f00d"}, "begun with another engine"), ({"objective": "luck"}, "its objective is 'luck'"),
     ({"schema": 2}, "a study of schema 2, begun by lns .*; this is lns .*, which reads schema 4")],
)  # fmt: skip
def test_a_study_of_another_engine_is_refused(tmp_path, changed, sentence):
    open_study(tmp_path / "s", REQUEST)
    _reseal(tmp_path / "s", changed)
    with pytest.raises(InputError, match=sentence):
        open_study(tmp_path / "s", REQUEST)


def _reseal(path, changes):
    """study.json with other values."""
    values = json.loads((path / "study.json").read_text()) | changes
    values.pop("sum")
    (path / "study.json").write_text(seal(values) + "\n")
