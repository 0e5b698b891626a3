"""Studies that are refused or damaged, each with one sentence, and what is no reason to refuse one."""

import multiprocessing
from dataclasses import asdict, replace
from pathlib import Path

import optuna
import pytest

from lns.instances.errors import InputError
from lns.params import from_dict
from lns.runs.files import seal
from lns.tuning import study as studies
from lns.tuning.objective import Trace
from lns.tuning.storage import Journal, put_text
from lns.tuning.study import StudyRequest, open_study
from tests.fuzz_study import fuzz, recorded_study, state
from tests.tuning.made_up import REQUEST, searched

TRACE = Trace(((50, 100), (52, 400)), 1000, False, 0.5, 0.25, ((50.125, 150), (51.5, 700)))


# -- another study, or none -------------------------------------------------------------------------------------------


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
    study = open_study(tmp_path / "s", REQUEST)
    study.runs.add(study.key(study.base, study.pairs[0]), TRACE)
    open_study(tmp_path / "s", REQUEST)
    with pytest.raises(InputError, match=sentence):
        open_study(tmp_path / "s", requested)


def test_a_study_without_any_run_takes_new_settings_of_its_runs(tmp_path):
    first = open_study(tmp_path / "s", REQUEST).plan
    wider = replace(REQUEST, pairs=first.pairs + 3, held_out=first.held_out + 5, nodes=2 * first.nodes)
    study = open_study(tmp_path / "s", wider)
    assert (study.plan.pairs, study.plan.held_out) == (first.pairs + 3, first.held_out + 5)
    assert study.plan.nodes == 2 * first.nodes and len(study.pairs) == first.pairs + 3
    study.runs.add(study.key(study.base, study.pairs[0]), TRACE)
    with pytest.raises(InputError, match="--pairs asks for"):
        open_study(tmp_path / "s", REQUEST)
    assert open_study(tmp_path / "s", wider).plan == study.plan


def test_a_directory_of_something_else_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds no study, but notes\.txt"):
        open_study(tmp_path, REQUEST)
    with pytest.raises(InputError, match="is a file"):
        open_study(tmp_path / "notes.txt", REQUEST)
    (tmp_path / "old").mkdir()
    finish(trials_in(tmp_path / "old" / "journal.log"), 1.0)
    for reading in (False, True):
        with pytest.raises(InputError, match="a study without a plan, as earlier versions of lns began it"):
            open_study(tmp_path / "old", StudyRequest(), reading=reading)


def begin_elsewhere(path: Path) -> None:
    open_study(path, StudyRequest(instances=("like-e2-6x6",), nodes=4000))


def test_several_processes_may_begin_a_study_at_once_and_one_may_be_killed_then(tmp_path):
    storage = optuna.storages.JournalStorage(Journal(tmp_path / "journal.log", reading=False))
    optuna.create_study(storage=storage, study_name=studies.OPTUNA_NAME)  # as of one that was killed before it went on
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=begin_elsewhere, args=(tmp_path,)) for _ in range(6)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 6


def test_too_few_held_out_pairs_cause_a_warning_at_once(tmp_path, caplog):
    open_study(tmp_path / "s", replace(REQUEST, held_out=19))
    assert "19 held-out pairs prove nothing; at least 20" in caplog.text
    caplog.clear()
    open_study(tmp_path / "t", REQUEST)
    assert caplog.text == ""


def test_a_study_with_other_base_parameters_is_refused_even_for_a_report(made_up, monkeypatch, tmp_path):
    path = searched(tmp_path / "s", 3).path
    monkeypatch.setattr(studies, "params_digest", lambda params: "of more parameters")
    for reading in (False, True):
        with pytest.raises(InputError, match="not the parameters that the study began with"):
            open_study(path, StudyRequest(), reading=reading)


@pytest.mark.parametrize(
    "changed,sentence",
    [({"sources": "f00d"}, "begun with another engine"),
     ({"schema": 6}, "a study of schema 6, begun by lns .*; this is lns .*, which reads schema 5"),
     (None, "damaged, or changed by hand")],
)  # fmt: skip
def test_a_study_of_another_engine_and_one_that_was_changed_are_refused(tmp_path, changed, sentence):
    study = open_study(tmp_path / "s", REQUEST)
    text = seal(asdict(study.plan) | (changed or {}))
    put_text(study.optuna, studies.PLAN, text if changed else text.replace('"seed": 3', '"seed": 4'))
    with pytest.raises(InputError, match=sentence):
        open_study(tmp_path / "s", REQUEST)


# -- damage -----------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*out of( the)? range.*")  # as `lns.tuning.study` says outside of pytest
def test_damaged_studies_end_in_a_page_or_a_sentence(tmp_path):
    outcome = fuzz(tmp_path, 100, 1)
    assert outcome["shown"] > 5 and outcome["refused"] > 40


@pytest.mark.parametrize("name", ["journal.log", "best_params.toml", "study.lock"])
@pytest.mark.parametrize("reading", [False, True])
def test_links_are_refused_and_not_followed(tmp_path, name, reading):
    path, outside = recorded_study(tmp_path / "s"), tmp_path / "outside"
    outside.mkdir()
    (path / name).unlink(missing_ok=True)
    (path / name).symlink_to(outside / name)
    for content in (None, "no whole line"):
        if content is not None:
            (outside / name).write_text(content)
        before = state(outside)
        with pytest.raises(InputError, match=f"{name}: is no regular file"):
            open_study(path, StudyRequest(), reading=reading)
        assert state(outside) == before


def trials_in(path):
    storage = optuna.storages.JournalStorage(Journal(path, reading=False))
    return optuna.create_study(storage=storage, study_name="lns", direction="maximize", load_if_exists=True)


def finish(study, value):
    trial = study.ask()
    trial.set_user_attr("short", 0.0)
    study.tell(trial, value)


def values(study):
    return [trial.value for trial in study.trials]


def test_an_incomplete_last_line_is_dropped_with_a_message(tmp_path, caplog):
    path = tmp_path / "journal.log"
    study = trials_in(path)
    finish(study, 1.0)
    with path.open("ab") as file:
        file.write(b'{"op_code":6,"worker')
    finish(study, 2.0)  # a living sister writes behind it
    assert caplog.text.count("incomplete last line was dropped") == 1
    with path.open("ab") as file:
        file.write(b'{"op_code":6,"worker')
    before = state(tmp_path)
    assert not list(Journal(path, reading=True).read_logs(99)) and state(tmp_path) == before, "left where it is"
    assert values(trials_in(path)) == [1.0, 2.0]
    assert caplog.text.count("incomplete last line was dropped") == 2


def test_a_damaged_journal_is_refused_with_its_line(tmp_path):
    path = tmp_path / "s"
    open_study(path, REQUEST)
    lines = (path / "journal.log").read_bytes().splitlines(keepends=True)
    for wrong in (b"garbage\n", b"[1]\n", b"\0\0\0\n", b'{"no": "code"}\n'):
        (path / "journal.log").write_bytes(b"".join([*lines[:1], wrong, *lines[1:]]))
        with pytest.raises(InputError, match=r"journal\.log:2: damaged"):
            open_study(path, StudyRequest())
    (path / "journal.log").write_bytes(b"".join([*lines, b"garbage\n"]))
    with pytest.raises(InputError, match=rf"journal\.log:{len(lines) + 1}: damaged"):
        open_study(path, StudyRequest())


def test_optunas_own_tools_read_the_journal_and_may_write_into_it(tmp_path):
    path = tmp_path / "journal.log"
    finish(trials_in(path), 1.0)
    backend = optuna.storages.journal.JournalFileBackend(str(path))
    theirs = optuna.load_study(storage=optuna.storages.JournalStorage(backend), study_name="lns")
    assert values(theirs) == [1.0]
    theirs.set_user_attr("note", "as of the dashboard")
    finish(trials_in(path), 2.0)
    assert values(trials_in(path)) == [1.0, 2.0] and trials_in(path).user_attrs["note"]
