"""Run directories that were damaged, mixed up, or sent by somebody else."""

import json
import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from numpy.random import default_rng

from lns.cli.main import main
from lns.engine import verified_board
from lns.instances.errors import InputError
from lns.runs import lock, run_summary
from lns.runs.board_log import BoardLog
from lns.runs.directory import RunDirectory, best_fields
from lns.runs.files import BEST, BOARDS, CHECKPOINT, LOCK, LOG, PICTURE, STATUS, STOP, utc_now
from lns.runs.lock import Holder, Lock
from lns.runs.recorder import recover
from lns.runs.run_summary import load_summary
from lns.tabu.search import random_board
from tests.lns.run_parts import best_of, finished_run, log_of, new_directory, resumed, small_puzzle


@pytest.mark.parametrize("name", [BEST, BOARDS, CHECKPOINT, PICTURE, STATUS, LOG, LOCK, "stop"])
def test_nothing_is_written_through_a_link(name: str, tmp_path: Path) -> None:
    path = finished_run(tmp_path / "run")
    outside = tmp_path / "outside"
    outside.write_text("precious")
    (path / name).unlink(missing_ok=True)
    (path / name).symlink_to(outside)
    try:
        resumed(path, 1)
    except InputError as error:
        assert "symbolic link" in str(error)
    assert outside.read_text() == "precious"


def wrong_score(path: Path) -> None:
    score = best_of(path)
    (path / BEST).write_text((path / BEST).read_text().replace(f'"score": {score}', f'"score": {score - 1}'))


def illegal_board(path: Path) -> None:
    (path / BEST).write_text((path / BEST).read_text().replace("[[", "[[0, 0], [", 1))


def lower_board(path: Path) -> None:
    with new_directory(path.with_name("weak"), small_puzzle()) as weak:
        board = random_board(weak.puzzle, default_rng(1))
        scored = verified_board(weak.puzzle, board, "tabu")
        weak.write_best(best_fields(weak.puzzle, weak.settings, scored, 0.0))
        shutil.copy(weak.path / BEST, path / BEST)


@pytest.mark.parametrize("damage", [wrong_score, illegal_board, lower_board])
def test_a_best_file_is_not_believed(
    damage: Callable[[Path], None], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = finished_run(tmp_path / "run")
    score = best_of(path)
    damage(path)
    told = load_summary(path).score
    assert told == score if damage is wrong_score else told < score
    search, _ = resumed(path, 1)
    assert search.best_score == best_of(path) >= score
    assert (path / "best.unusable.json").exists() == (damage is illegal_board)
    assert ("kept as best.unusable.json" in caplog.text) == (damage is illegal_board)


def test_a_log_cut_at_any_byte_keeps_every_whole_line(tmp_path: Path) -> None:
    path = finished_run(tmp_path / "run", name="like-e2-8x8", engine="tabu")
    logged = log_of(path)
    data = (path / BOARDS).read_bytes()
    for length in range(data.rindex(b"\n", 0, -1) - 5, len(data)):
        (path / BOARDS).write_bytes(data[:length])
        whole = data[:length].count(b"\n")
        board_log = BoardLog(path)
        board_log.close()
        assert board_log.size == (path / BOARDS).stat().st_size == data[:length].rfind(b"\n") + 1
        assert log_of(path) == logged[:whole]


def test_boards_of_a_log_that_became_shorter_are_counted_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = finished_run(tmp_path / "run", name="like-e2-8x8", engine="tabu")
    assert sum(load_summary(path).history.counts.values()) == len(log_of(path)) > 1
    (path / BOARDS).write_bytes((path / BOARDS).read_bytes().partition(b"\n")[0] + b"\n")
    resumed(path, 1)
    assert sum(load_summary(path).history.counts.values()) == len(log_of(path)) >= 1
    assert "its boards are counted again" in caplog.text


def test_without_status_json_the_log_tells_the_time_and_the_boards(tmp_path: Path) -> None:
    path = finished_run(tmp_path / "run")
    before = load_summary(path).history
    (path / STATUS).unlink()
    assert "no such file" in load_summary(path).notes[0]
    with RunDirectory.open(path) as directory:
        history = recover(directory).history
    assert history.counts == before.counts and history.improvements == before.improvements
    assert history.elapsed_s >= history.improvements[-1].elapsed_s


def elsewhere(path: Path) -> None:
    """A lock left by, or held on, another machine."""
    (path / LOCK).write_text(
        json.dumps({"pid": 1, "host": "elsewhere", "boot": "b", "started": "1", "since": utc_now()})
    )


@pytest.mark.parametrize("container", [False, True])
def test_a_lock_of_another_machine_or_container_holds_while_its_run_shows_life(
    container: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = finished_run(tmp_path / "run")
    monkeypatch.setattr(lock, "OBSERVATION_S", 1.5)
    elsewhere(path)
    if container:  # of the same host and boot, but its pid says nothing here
        (path / LOCK).write_text(json.dumps(Holder.me().__dict__ | {"started": "1", "space": "pid:[1]"}))
    assert load_summary(path).state == "running" and load_summary(path).workers is None
    heartbeat = threading.Timer(0.5, lambda: (path / STATUS).write_text((path / STATUS).read_text()))
    heartbeat.start()
    with pytest.raises(InputError, match=r"process [0-9]+ on .*: status\.json still changes"):
        resumed(path, 1)
    assert "which cannot be seen from here" in caplog.text
    heartbeat.join()
    resumed(path, 1)  # no life: the machine is gone, or the directory was copied from it
    assert load_summary(path).state == "ended"


def test_a_lock_of_another_machine_whose_run_was_left_behind_is_known_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = finished_run(tmp_path / "run")
    elsewhere(path)
    hour_ago = time.time() - 3600
    os.utime(path / STATUS, (hour_ago, hour_ago))
    monkeypatch.setattr(lock, "OBSERVATION_S", 60.0)
    monkeypatch.setattr(run_summary, "HEARTBEAT_LATE_S", -1.0)
    began = time.monotonic()
    assert main(["stop", str(path)]) == 1
    said = capsys.readouterr()
    assert "process 1 on elsewhere" in said.err and "no run is" in said.out
    assert not list(path.glob(".lns-*"))
    resumed(path, 1)
    assert load_summary(path).state == "ended" and time.monotonic() - began < 60.0


def test_a_process_with_the_number_of_a_dead_one_is_no_holder(tmp_path: Path) -> None:
    path = finished_run(tmp_path / "run")
    assert Holder.me().is_alive
    (path / LOCK).write_text(json.dumps(Holder.me().__dict__ | {"started": "1"}))
    assert load_summary(path).state == "died"
    resumed(path, 1)
    assert load_summary(path).state == "ended"


def test_what_a_killed_process_was_writing_is_removed(tmp_path: Path) -> None:
    old, new = tmp_path / ".lns-7-deadbeef.tmp", tmp_path / ".lns-7-beefdead.tmp"
    old.touch()
    new.touch()
    os.utime(old, (0, 0))
    Lock(tmp_path).close()
    assert new.exists() and not old.exists()


@pytest.mark.slow
def test_a_run_whose_clock_is_not_ours_can_be_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = finished_run(tmp_path / "run")
    monkeypatch.setattr(lock, "OBSERVATION_S", 1.5)
    monkeypatch.setattr(run_summary, "HEARTBEAT_LATE_S", -1.0)
    elsewhere(path)
    assert load_summary(path).state == "died"
    assert main(["stop", str(path), "--wait", "1"]) == 1
    assert "no run is going on" in capsys.readouterr().out and not (path / STOP).exists()

    def run() -> None:
        (path / STATUS).write_text((path / STATUS).read_text())
        time.sleep(1.0)
        (path / LOCK).write_text("")  # it has seen the file

    heartbeat = threading.Timer(0.5, run)
    heartbeat.start()
    assert main(["stop", str(path), "--wait", "20"]) == 0
    heartbeat.join()
    assert (path / STOP).exists()
