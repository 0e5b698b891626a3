"""The files that survive being killed: torn last lines go, anything else that is wrong is refused."""

from __future__ import annotations

import optuna
import pytest

from lns_support.errors import InputError
from tuning.objective import Trace
from tuning.records import JournalFile
from tuning.run_store import RunStore

try:
    import resource
except ImportError:
    resource = None

KEY = ("params", "puzzle", 7)
TRACE = Trace(((50, 100), (52, 400)), 1000, False, 0.5, 0.25, ((50.125, 150), (51.5, 700)))


def test_runs_are_kept_and_seen_by_others(tmp_path):
    path = tmp_path / "runs.jsonl"
    first, second = RunStore(path), RunStore(path)
    first.add(KEY, TRACE)
    assert second.get(KEY) is None
    second.refresh()
    assert second.get(KEY) == RunStore(path).get(KEY) == TRACE


def test_the_longer_run_of_two_counts(tmp_path):
    path = tmp_path / "runs.jsonl"
    longer = Trace((*TRACE.best_scores, (53, 1500)), 2000, False, 1.0)
    for traces in ([TRACE, longer], [TRACE]):
        for trace in traces:
            RunStore(path).add(KEY, trace)
    assert RunStore(path).get(KEY) == longer
    assert len(path.read_text().splitlines()) == 2


def test_an_incomplete_last_line_is_dropped_with_a_message(tmp_path, caplog):
    path = tmp_path / "runs.jsonl"
    run_store = RunStore(path)
    run_store.add(KEY, TRACE)
    whole = path.read_bytes()
    for cut in (1, len(whole) // 2):
        path.write_bytes(whole + whole[:-cut])
        caplog.clear()
        again = RunStore(path)
        assert "incomplete last line was dropped" in caplog.text
        assert again.get(KEY) == TRACE
        assert path.read_bytes() == whole
    path.write_bytes(whole + b"half a li")  # while another process lives on
    run_store.add(("other", "puzzle", 7), TRACE)
    assert len(RunStore(path)._runs) == 2


@pytest.mark.skipif(resource is None, reason="needs limits of a process")
def test_a_run_that_a_full_disk_cut_off_is_not_stored(tmp_path):
    """A disk that fills up takes a part of a line first."""
    path = tmp_path / "runs.jsonl"
    run_store = RunStore(path)
    run_store.add(KEY, TRACE)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 10, before[1]))
    try:
        with pytest.raises(OSError):
            run_store.add(("other", "puzzle", 7), TRACE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    run_store.add(("other", "puzzle", 7), TRACE)
    assert RunStore(path).get(("other", "puzzle", 7)) == RunStore(path).get(KEY) == TRACE


def test_any_other_damage_is_refused_with_its_line(tmp_path):
    path = tmp_path / "runs.jsonl"
    run_store = RunStore(path)
    for seed in range(3):
        run_store.add(("params", "puzzle", seed), TRACE)
    path.write_bytes(path.read_bytes().replace(b'"seed": 1', b'"seed": 9'))
    with pytest.raises(InputError, match=r"runs\.jsonl:2: damaged"):
        RunStore(path)


def _study(path):
    storage = optuna.storages.JournalStorage(JournalFile(path))
    return optuna.create_study(storage=storage, study_name="lns", direction="maximize", load_if_exists=True)


def _finish(study, value):
    trial = study.ask()
    trial.set_user_attr("short", 0.0)
    study.tell(trial, value)


def test_the_journal_drops_an_incomplete_line_at_the_start_and_between_processes(tmp_path, caplog):
    path = tmp_path / "journal.log"
    study = _study(path)
    _finish(study, 1.0)
    with path.open("ab") as file:
        file.write(b'{"op_code":6,"worker')
    _finish(study, 2.0)  # a living sister writes behind it
    assert "incomplete last line was dropped" in caplog.text
    with path.open("ab") as file:
        file.write(b'{"op_code":6,"worker')
    assert [trial.value for trial in _study(path).trials] == [1.0, 2.0]


def test_a_damaged_journal_is_refused_with_its_line(tmp_path):
    path = tmp_path / "journal.log"
    study = _study(path)
    _finish(study, 1.0)
    lines = path.read_bytes().splitlines(keepends=True)
    for wrong in (b"garbage\n", b"[1]\n", b"\0\0\0\n", b'{"no": "code"}\n'):
        path.write_bytes(b"".join([*lines[:1], wrong, *lines[1:]]))
        with pytest.raises(InputError, match=r"journal\.log:2: damaged"):
            _study(path)


def test_optunas_own_tools_read_the_journal_and_may_write_into_it(tmp_path):
    path = tmp_path / "journal.log"
    _finish(_study(path), 1.0)
    backend = optuna.storages.journal.JournalFileBackend(str(path))
    theirs = optuna.load_study(storage=optuna.storages.JournalStorage(backend), study_name="lns")
    assert [trial.value for trial in theirs.trials] == [1.0]
    theirs.set_user_attr("note", "as of the dashboard")
    _finish(_study(path), 2.0)
    lines = path.read_bytes().splitlines(keepends=True)
    note = next(line for line in lines if b'"sum"' not in line)
    path.write_bytes(b"".join([*lines[:-1], note, lines[-1]]))  # it came while the last line was written
    assert [trial.value for trial in _study(path).trials] == [1.0, 2.0] and _study(path).user_attrs["note"]


@pytest.mark.parametrize("change", ["lost", "doubled", "moved"])
def test_a_line_out_of_place_is_refused(tmp_path, change):
    path = tmp_path / "runs.jsonl"
    run_store = RunStore(path)
    for seed in range(4):
        run_store.add(("params", "puzzle", seed), TRACE)
    first, second, third, last = path.read_bytes().splitlines(keepends=True)
    lines = {"lost": [first, third, last], "doubled": [first, first, second], "moved": [second, first, third, last]}
    path.write_bytes(b"".join(lines[change]))
    with pytest.raises(
        InputError, match=r"runs\.jsonl:[12]: damaged: lines before this one are missing, added or moved"
    ):
        RunStore(path)
