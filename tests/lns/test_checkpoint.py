"""Checkpoints and the whole loop: what is saved is what goes on."""

from __future__ import annotations

import errno
import json
import os
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from instances.verify import verify
from lns.construct.kernel import MAX_FRONTIER_KEYS
from lns.engine import State
from lns.engines import make_engine
from lns.islands import Archipelago
from lns.runs import checkpoint as checkpoints
from lns.runs import recorder
from lns.runs.board_log import BoardLogReader, LoggedBoard
from lns.runs.directory import RunDirectory, read_best, read_run
from lns.runs.files import BEST, BOARDS, CHECKPOINT, PREVIOUS, SETTINGS, STATUS, seal
from lns.runs.history import MAX_PARTS, OTHER_PARTS
from lns.runs.run_summary import load_summary
from lns.worker_pool import Workers
from lns_support.errors import InputError
from tests.lns.run_parts import (
    QUICK,
    best_of,
    copied,
    finished_run,
    log_of,
    new_directory,
    resumed,
    run_for,
    small_puzzle,
)
from tests.lns.test_islands import ENGINES, same


@pytest.mark.parametrize("engine", ENGINES)
def test_ten_steps_are_four_saved_loaded_and_six(engine: str, tmp_path: Path) -> None:
    puzzle = small_puzzle("like-e2-8x8")
    through = run_for(new_directory(tmp_path / "through", puzzle, engine=engine), 10)
    run_for(new_directory(tmp_path / "parts", puzzle, engine=engine), 4)
    parts, _ = resumed(copied(tmp_path / "parts", tmp_path / "moved"), 6)
    assert same(through.islands[0].state, parts.islands[0].state)
    assert through.statistics == parts.statistics
    assert (through.best, through.best_score) == (parts.best, parts.best_score)
    assert log_of(tmp_path / "through") == log_of(tmp_path / "moved")
    one, other = (read_best(tmp_path / name, puzzle) for name in ("through", "moved"))
    assert one is not None and other is not None and one.board == other.board == through.best


def test_fewer_and_more_workers(tmp_path: Path) -> None:
    puzzle = small_puzzle()
    first = run_for(new_directory(tmp_path / "run", puzzle), 3, workers=3)
    fewer, _ = resumed(tmp_path / "run", 2, workers=1)
    assert fewer.islands.keys() == {0, 1, 2}
    assert same(fewer.islands[2].state, first.islands[2].state)  # waits
    assert fewer.best_score >= first.best_score
    assert fewer.statistics.placements > first.statistics.placements
    more, found = resumed(tmp_path / "run", 2, workers=5)
    assert more.islands.keys() == {0, 1, 2, 3, 4}
    assert [session.workers for session in found.history.sessions] == [3, 1, 5]
    assert found.history.elapsed_s >= sum(session.seconds for session in found.history.sessions[:2])


@pytest.mark.parametrize("engine", ["auto", "tabu"])
def test_a_crash_after_the_checkpoint_loses_no_board_logs_none_twice_and_changes_nothing(
    engine: str, tmp_path: Path
) -> None:
    path, steps = tmp_path / "run", 60 if engine == "auto" else 12
    whole = run_for(new_directory(path, small_puzzle("like-e2-8x8"), engine=engine), steps)
    early = tmp_path / "early"
    run_for(new_directory(early, small_puzzle("like-e2-8x8"), engine=engine), 1)
    # the state of an earlier moment, the log and best.json of a later one: as after kill -9 between two checkpoints
    settings, puzzle = read_run(path)
    template = make_engine(engine, puzzle, QUICK, 3, 0).state()
    settings_of_early, _ = read_run(early)
    old = checkpoints.load(early / CHECKPOINT, settings_of_early.run, puzzle, template)
    logged, counted = log_of(path), len(log_of(early))
    assert len(logged) > counted
    lines = (path / BOARDS).read_bytes().splitlines(keepends=True)[:counted]
    checkpoints.save(path, settings.run, puzzle, replace(old, log_size=sum(map(len, lines))))
    archipelago, found = resumed(path, steps - 1)
    assert found.best is not None and found.best.score == whole.best_score > old.islands[0].best_score
    assert archipelago.best_score == whole.best_score
    for name, array in whole.islands[0].state.items():
        assert name == "construct.constructor.cursor" or np.array_equal(array, archipelago.islands[0].state[name]), name
    assert log_of(path)[: len(logged)] == logged
    assert len(set(log_of(path))) == len(log_of(path))


def test_a_torn_last_line_is_dropped_and_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = finished_run(tmp_path / "run")
    logged = log_of(path)
    with (path / BOARDS).open("ab") as file:
        file.write(b'{"score": 61, "elapsed_s": 0.')
    resumed(path, 1)
    assert "the last line is incomplete and is dropped (29 bytes)" in caplog.text
    assert log_of(path)[: len(logged)] == logged


def test_the_previous_checkpoint_serves_when_the_last_is_damaged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = finished_run(tmp_path / "run")
    score = best_of(path)
    content = (path / CHECKPOINT).read_bytes()
    (path / CHECKPOINT).write_bytes(content[: len(content) // 2])
    archipelago, _ = resumed(path, 1)
    assert f"continuing from {PREVIOUS}" in caplog.text
    assert archipelago.best_score >= score


def test_a_checkpoint_that_cannot_be_put_in_place_leaves_the_last_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = finished_run(tmp_path / "run")
    settings, puzzle = read_run(path)
    last = (path / CHECKPOINT).read_bytes()
    state = checkpoints.load(path / CHECKPOINT, settings.run, puzzle, make_engine("auto", puzzle, QUICK, 3, 0).state())
    replace = Path.replace

    def refused(self: Path, target: Path) -> Path:
        if self.suffix == ".tmp":
            raise OSError(5, "Input/output error")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(OSError, match="Input/output"):
        checkpoints.save(path, settings.run, puzzle, state)
    assert (path / CHECKPOINT).read_bytes() == last and not list(path.glob(".*tmp"))


def test_a_checkpoint_that_could_not_be_loaded_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = finished_run(tmp_path / "run")
    settings, puzzle = read_run(path)
    last = (path / CHECKPOINT).read_bytes()
    state = checkpoints.load(path / CHECKPOINT, settings.run, puzzle, make_engine("auto", puzzle, QUICK, 3, 0).state())
    monkeypatch.setattr(checkpoints, "MAX_STATE_BYTES", 2**10)
    with pytest.raises(OSError, match="more than"):
        checkpoints.save(path, settings.run, puzzle, state)
    assert (path / CHECKPOINT).read_bytes() == last


def test_a_checkpoint_that_is_a_directory_is_said_to_be_none(tmp_path: Path) -> None:
    path = finished_run(tmp_path / "run")
    settings, puzzle = read_run(path)
    (path / CHECKPOINT).replace(path / PREVIOUS)
    last = checkpoints.load(path / PREVIOUS, settings.run, puzzle, {})
    (path / CHECKPOINT).mkdir()
    with pytest.raises(InputError, match=f"{CHECKPOINT}: is not a regular file; expected a checkpoint"):
        checkpoints.load(path / CHECKPOINT, settings.run, puzzle, {})
    with pytest.raises(IsADirectoryError, match=CHECKPOINT):
        checkpoints.save(path, settings.run, puzzle, last)
    assert checkpoints.load(path / PREVIOUS, settings.run, puzzle, {}) == last


def test_bests_below_the_threshold_are_logged_by_the_island_that_found_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first_round_s", "round_s"):  # a round is a step
        monkeypatch.setattr(Workers, name, 0.0)
    puzzle = small_puzzle("like-e2-8x8")
    logs = []
    for min_score in (0, puzzle.max_score):
        path = tmp_path / str(min_score)
        run_for(new_directory(path, puzzle, engine="tabu", min_score=min_score), 3, workers=3)
        entries = [entry for entry in BoardLogReader(path, puzzle).read() if isinstance(entry, LoggedBoard)]
        logs.append([(entry.score, entry.island, entry.board) for entry in entries])
    everything, bests = logs
    assert bests == [one for at, one in enumerate(everything) if all(one[0] > other[0] for other in everything[:at])]
    assert len(bests) > 3 and {island for _, island, _ in bests} == {0, 1, 2}


def test_no_checkpoint_that_can_be_used_is_one_sentence(tmp_path: Path) -> None:
    path = finished_run(tmp_path / "run")
    (path / CHECKPOINT).write_bytes(b"")
    (path / PREVIOUS).write_bytes(b"PK")
    with pytest.raises(InputError, match="begin a new run that starts from"):
        resumed(path, 1)
    RunDirectory.open(path).close()  # the lock is free again


def test_the_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    mine, other = finished_run(tmp_path / "mine"), finished_run(tmp_path / "other")
    for name in (CHECKPOINT, PREVIOUS):
        (mine / name).write_bytes((other / name).read_bytes())
    with pytest.raises(InputError, match="belongs to another run"):
        resumed(mine, 1)


def rewritten(path: Path, change: Any) -> None:
    """The checkpoint with its members changed by ``change``: (name, bytes) -> bytes."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, change(name, data))


def npy(array: Any) -> bytes:
    data = BytesIO()
    np.lib.format.write_array(data, np.asarray(array), version=(1, 0), allow_pickle=True)
    return data.getvalue()


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("executed",)


HEADERS = {
    "empty type": b"{'descr': (), 'fortran_order': False, 'shape': (1,)}",
    "open bracket": b"{'descr': (",
    "list as a key": b"{[]: 1}",
}


def hostile(kind: str, name: str, data: bytes) -> bytes:
    if kind in HEADERS:
        header = HEADERS[kind].ljust(117) + b"\n"
        return np.lib.format.magic(1, 0) + len(header).to_bytes(2, "little") + header
    if name == "meta.npy":
        meta = bytes(np.lib.format.read_array(BytesIO(data)))
        changed = {
            "schema": meta.replace(b'"schema": ', b'"schema": 9'),
            "steps": meta.replace(b'"steps": ', b'"steps": -'),
            "nested": b"[" * 100_000,
            "digits": b'{"schema": ' + b"9" * 10_000 + b"}",
        }.get(kind, meta)
        return npy(np.frombuffer(changed, dtype=np.uint8))
    if kind == "pickle" and name == "0/best.npy":
        return npy(np.array([Bomb()], dtype=object))
    if kind == "huge" and name == "0/best.npy":
        return data.replace(b"(36,)", b"(9999999999999,)")[: len(data)]
    if kind == "negative" and name == "0/best.npy":
        return npy(-np.ones(36, dtype=np.int32))
    if kind == "pieces" and name == "0/best.npy":
        return npy(np.full(36, 2**30, dtype=np.int32))
    if kind == "cursor" and name.endswith("cursor.npy"):
        return npy(np.full(37, 2**40, dtype=np.int64))
    return data


@pytest.mark.parametrize(
    "kind", ["schema", "steps", "nested", "digits", "pickle", "huge", "negative", "pieces", "cursor", *HEADERS]
)
def test_a_hostile_checkpoint_executes_nothing(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = finished_run(tmp_path / "run")
    monkeypatch.chdir(tmp_path)
    for name in (CHECKPOINT, PREVIOUS):
        rewritten(path / name, lambda member, data: hostile(kind, member, data))
    with pytest.raises(InputError) as error:
        resumed(path, 1)
    assert "\n" not in str(error.value) and len(str(error.value)) < 1500
    (path / STATUS).unlink()
    assert load_summary(path).score == best_of(path)  # the account is that of a checkpoint, or none
    assert not (tmp_path / "executed").exists()


def test_compressed_members_are_refused_before_they_are_unpacked(tmp_path: Path) -> None:
    path = finished_run(tmp_path / "run")
    with zipfile.ZipFile(path / CHECKPOINT, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("meta.npy", b"\0" * 50_000_000)
    settings, puzzle = read_run(path)
    with pytest.raises(InputError, match="not compressed"):
        checkpoints.load(path / CHECKPOINT, settings.run, puzzle, {})


def test_a_run_directory_of_another_version_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = finished_run(tmp_path / "run")
    fields = json.loads((path / SETTINGS).read_text())
    del fields["sum"]
    (path / SETTINGS).write_text(seal(fields | {"schema": 1}))
    for read in (load_summary, RunDirectory.open):
        with pytest.raises(InputError) as error:
            read(path)
        expected = "written by another version of lns (schema 1); this version reads schema 2"
        assert str(error.value) == f"{path / SETTINGS}: {expected}"


def test_a_checkpoint_of_another_version_is_refused_with_both_versions(tmp_path: Path) -> None:
    path = finished_run(tmp_path / "run")
    for name in (CHECKPOINT, PREVIOUS):
        with_schema_15 = f'"schema": {checkpoints.SCHEMA}'.encode(), b'"schema": 15'
        rewritten(path / name, lambda member, data: data.replace(*with_schema_15))  # noqa: B023
    with pytest.raises(InputError, match=r"another version of lns \(schema 15\); this version reads schema 18"):
        resumed(path, 1)


def test_arrays_of_another_version_are_said(tmp_path: Path) -> None:
    path = finished_run(tmp_path / "run")
    for name in (CHECKPOINT, PREVIOUS):
        with zipfile.ZipFile(path / name, "a") as archive:
            archive.writestr("0/elites.npy", npy(np.zeros(3)))
    with pytest.raises(InputError, match="written by another version: the arrays differ in 'elites'"):
        resumed(path, 1)


@pytest.mark.parametrize(
    ("engine", "name", "at", "value"),
    [
        *((engine, "counters", 0, 60) for engine in ("auto", "beam", "tabu")),
        ("auto", "counters", 1, -5),
        ("auto", "counters", 2, 2**63 - 1),
        ("auto", "pool.lines", 0, -10),
        ("auto", "chooser.records", 2, -10),
        ("auto", "construct.constructor.scalars", 1, 2**63 - 1),
        ("auto", "construct.constructor.counters", 1, 2**63 - 1),
        ("auto", "construct.constructor.counters", 3, 10**9),
        ("auto", "construct.constructor.restart", 1, 10**15),
        ("auto", "construct.constructor.prefixes_by_breaks", 0, -7),
        ("auto", "construct.constructor.surplus_counts", 0, -7),
        ("auto", "construct.constructor.frontier_keys", 0, MAX_FRONTIER_KEYS + 1),
        ("auto", "construct.constructor.child_counts", 0, -7),
        ("beam", "beam.counters", 3, -1),
        ("tabu", "tabu.counters", 3, -1),
        ("tabu", "tabu.tabu.scalars", 1, 10**6),
        ("lns", "block.orders", 0, -5),
        ("lns", "assign.nodes", 0, -1),
    ],
)
def test_a_score_without_its_board_and_counters_out_of_range_are_refused(
    engine: str, name: str, at: int, value: int, tmp_path: Path
) -> None:
    path = finished_run(tmp_path / "run", engine=engine, steps=4)

    def change(member: str, data: bytes) -> bytes:
        if member != f"0/{name}.npy":
            return data
        array = np.lib.format.read_array(BytesIO(data)).copy()
        array[at] = value
        return npy(array)

    for file in (CHECKPOINT, PREVIOUS):
        rewritten(path / file, change)
    refused = (
        r"(board of island 0 has another score|island 0 cannot be restored: (saved state|checkpoint|a saved|the saved))"
    )
    with pytest.raises(InputError, match=refused):
        resumed(path, 1)


@pytest.mark.parametrize("engine", ENGINES)
def test_random_values_in_a_whole_checkpoint_never_reach_a_kernel(engine: str, tmp_path: Path) -> None:
    """Well-formed arrays with values that no engine wrote: refused, or they lead to legal boards all the same."""
    puzzle = small_puzzle()
    through = make_engine(engine, puzzle, QUICK, 3, 0)
    for _ in range(4):
        through.step(puzzle.max_score)
    state = through.state()
    chance = np.random.default_rng(1)
    refused = 0
    for round_number in range(60):
        changed: State = {name: array.copy() for name, array in state.items()}
        names = sorted(name for name in changed if changed[name].size)
        name = names[round_number % len(names)]
        array = changed[name].reshape(-1)
        at = chance.integers(array.size)
        kind = np.iinfo(array.dtype if array.dtype.itemsize < 4 else np.int32)
        array[at] = chance.integers(kind.min, kind.max, endpoint=True)
        engine_again = make_engine(engine, puzzle, QUICK, 3, 0)
        try:
            engine_again.restore(changed)
        except (InputError, OverflowError):
            refused += 1
            continue
        for _ in range(2):
            engine_again.step(puzzle.max_score)
        assert all(verify(puzzle, find.board).valid for find in engine_again.pop_boards())
    assert refused > 5


def test_a_log_that_names_anything_can_be_resumed_again_and_again(tmp_path: Path) -> None:
    """More origins, and more seconds, than a checkpoint may hold."""
    path = finished_run(tmp_path / "run")
    _, puzzle = read_run(path)
    entry = next(one for one in BoardLogReader(path, puzzle).read() if isinstance(one, LoggedBoard))
    with (path / BOARDS).open("a") as file:
        for number in range(MAX_PARTS + 20):
            file.write(replace(entry, origin=f"part {number}", elapsed_s=1e10).line() + "\n")
    for _ in range(3):
        _, found = resumed(path, 1)
        assert len(found.history.gains_by_part) == MAX_PARTS and found.history.gains_by_part[OTHER_PARTS].boards >= 20
    assert not load_summary(path).notes


@pytest.mark.parametrize("owner,name", [(os, "fsync"), (RunDirectory, "check_lock")], ids=["full", "moved away"])
def test_a_disk_with_room_again_is_written_to_before_the_end(
    owner: object, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    works = getattr(owner, name)
    saved: list[list[str]] = []
    on_round, end = recorder.Recorder.on_round, recorder.Recorder.end

    def refuse(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def on_round_with_room(self: recorder.Recorder, archipelago: Archipelago) -> None:
        on_round(self, archipelago)
        if self.best and self.write_errors:
            assert BOARDS in self.write_errors and BEST in self.write_errors and self.board_log.pending
            monkeypatch.setattr(owner, name, works)

    def at_the_end(self: recorder.Recorder, archipelago: Archipelago, why: str) -> None:
        saved.append(self.write_errors)
        assert read_best(path, small_puzzle()) is not None and len(log_of(path)) and not self.board_log.pending
        end(self, archipelago, why)

    path = tmp_path / "run"
    directory = new_directory(path, small_puzzle())
    monkeypatch.setattr(recorder, "RETRY_S", 0.0)
    monkeypatch.setattr(recorder.Recorder, "on_round", on_round_with_room)
    monkeypatch.setattr(recorder.Recorder, "end", at_the_end)
    monkeypatch.setattr(owner, name, refuse)
    run_for(directory, 4)
    assert saved == [[]]
