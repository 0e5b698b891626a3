"""Checkpoints and the whole loop: what is saved is what goes on."""

import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lns.engine import unpack
from lns.instances.errors import InputError
from lns.runs import checkpoint as checkpoints
from lns.runs.board_log import BoardLogReader
from lns.runs.directory import RunDirectory, read_best, read_run
from lns.runs.files import BOARDS, CHECKPOINT, SETTINGS, seal
from lns.runs.history import read_status, write_status
from lns.runs.run_summary import load_summary
from lns.worker_pool import Workers
from tests.lns.run_parts import copied, finished_run, log_of, new_directory, resumed, run_for, small_puzzle
from tests.lns.test_islands import ENGINES


@pytest.mark.parametrize("engine", ENGINES)
def test_ten_steps_are_four_saved_loaded_and_six(engine: str, tmp_path: Path) -> None:
    puzzle = small_puzzle("like-e2-8x8")
    through = run_for(new_directory(tmp_path / "through", puzzle, engine=engine), 10)
    run_for(new_directory(tmp_path / "parts", puzzle, engine=engine), 4)
    parts, _ = resumed(copied(tmp_path / "parts", tmp_path / "moved"), 6)
    assert through.islands[0].state == parts.islands[0].state
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
    assert fewer.islands[2].state == first.islands[2].state  # waits
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
    old = checkpoints.load(early / CHECKPOINT, read_run(early)[0].run, puzzle)
    logged, counted = log_of(path), len(log_of(early))
    assert len(logged) > counted
    lines = (path / BOARDS).read_bytes().splitlines(keepends=True)[:counted]
    checkpoints.save(path, settings.run, puzzle, old)
    history, heartbeat = read_status(early, read_run(early)[0].run)
    write_status(path, settings.run, replace(history, log_size=sum(map(len, lines))), heartbeat)
    archipelago, found = resumed(path, steps - 1)
    assert sum(found.history.counts.values()) == len(log_of(path)), "each is counted once"
    assert found.best is not None and found.best.score == whole.best_score > old[0].best_score
    assert archipelago.best_score == whole.best_score
    one, other = (unpack(search.islands[0].state) for search in (whole, archipelago))
    assert all(np.array_equal(one[name], other[name]) for name in one)
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
        logs.append([(entry.score, entry.island, entry.board) for entry in BoardLogReader(path, puzzle).read()])
    everything, bests = logs
    assert bests == [one for at, one in enumerate(everything) if all(one[0] > other[0] for other in everything[:at])]
    assert len(bests) > 3 and {island for _, island, _ in bests} == {0, 1, 2}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    return finished_run(tmp_path_factory.mktemp("runs") / "made", engine="auto", steps=4)


Change = Callable[[bytes], bytes]


def changed(member: str, change: Change) -> Change:
    """The change of one member of a zip archive."""

    def rewrite(archive: bytes) -> bytes:
        result = BytesIO()
        with zipfile.ZipFile(BytesIO(archive)) as old, zipfile.ZipFile(result, "w") as new:
            for name in old.namelist():
                new.writestr(name, change(old.read(name)) if name == member else old.read(name))
        return result.getvalue()

    return rewrite


def meta(old: bytes, new: bytes) -> Change:
    return changed("meta.json", lambda data: data.replace(old, new))


DIGEST = "the digest of the state of island 0 is another one"
UNUSABLE: dict[str, tuple[Change, str]] = {
    **{
        str(content[:7]): (lambda _, content=content: content, "cannot be read: ")
        for content in (b"", b"PK", b"\x93NUMPY", b"PK\5\6" + bytes(18), b"x" * 500)
    },
    "schema": (
        meta(b'"schema": %d' % checkpoints.SCHEMA, b'"schema": 18'),
        rf"lns \(schema 18\); this version reads schema {checkpoints.SCHEMA}",
    ),
    "another run": (meta(b'"run": "', b'"run": "0'), "belongs to another run"),
    "steps": (meta(b'"steps": ', b'"steps": -'), "'steps': found"),
    "nested": (changed("meta.json", lambda _: b"[" * 100_000), "nested too deeply"),
    "digits": (changed("meta.json", lambda _: b'{"schema": ' + b"9" * 10_000 + b"}"), "thousands of digits"),
    "no zip": (changed("0.npz", lambda _: b"no zip"), DIGEST),
    "cut": (changed("0.npz", lambda data: data[:-30]), DIGEST),
    "a bit": (changed("0.npz", lambda data: data[:99] + bytes([data[99] ^ 1]) + data[100:]), DIGEST),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_what_does_not_fit_is_refused_whole_and_the_search_begins_from_the_boards(
    case: str, made: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    change, why = UNUSABLE[case]
    path = copied(made, tmp_path / "run")
    before, logged = load_summary(path), log_of(path)
    changed = change((path / CHECKPOINT).read_bytes())
    (path / CHECKPOINT).write_bytes(changed)
    search, found = resumed(path, 1)
    assert not found.islands and search.best_score >= before.score == found.history.best_score
    assert found.history.other_statistics == before.heartbeat.statistics, "what was done still counts"
    assert found.history.elapsed_s >= before.history.elapsed_s and log_of(path)[: len(logged)] == logged
    (said,) = (record.message for record in caplog.records if "begins anew" in record.message)
    assert re.search(why, said) and "\n" not in said and len(said) < 1500
    assert (path / "checkpoint.unusable.npz").read_bytes() == changed, "it is kept"


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


def test_a_checkpoint_is_due_after_the_seconds_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved: list[float] = []
    clock = count()  # each look at it takes a second
    monkeypatch.setattr("lns.runs.recorder.time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr("lns.runs.recorder.checkpoint.save", lambda *_: saved.append(next(clock)))
    counts = []
    for seconds in (1.0, 1e6):
        saved.clear()
        run_for(new_directory(tmp_path / str(seconds), small_puzzle(), engine="tabu", checkpoint_s=seconds), 20)
        counts.append(len(saved))
    assert counts[0] > counts[1] > 0
