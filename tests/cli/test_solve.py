"""`lns solve` and `lns resume` as their user meets them: results, refusals, faults."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lns
from instances.board import Board
from instances.formats import load_board, load_puzzle, viewer_url, write
from instances.puzzle import Clue, Puzzle
from instances.verify import verify
from lns.cli.main import main
from lns.runs import recorder
from lns.runs.directory import digest, take_run_directory
from lns.runs.files import seal, utc_now
from lns.runs.lock import Holder, Lock
from lns.runs.run_summary import load_summary
from tests.cli.run_program import ONE_WORKER, ROOT
from tests.lns.run_parts import best_of, finished_run, log_of, new_directory

FIELDS = ["schema", "instance", "instance_sha256", "width", "height", "score", "max_score", "placements", "seed",
          "elapsed_s", "url", "set_sha256", "numbering"]  # fmt: skip


def test_a_run_leaves_a_verified_board_and_goes_on(
    tmp_path: Path, params: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    common = ["--params", params, "--quiet", "--json", *ONE_WORKER]
    assert main(["solve", "like-e2-6x6", "--run-dir", str(run), "--steps", "4", *common]) == 0
    best = json.loads(capsys.readouterr().out)
    assert list(best)[: len(FIELDS)] == FIELDS and set(best) - set(FIELDS) <= {"certificate"}
    assert best == json.loads((run / "best.json").read_text())
    puzzle, board = load_board(str(run / "best.json"))
    assert verify(puzzle, board).score == best["score"] > 30
    assert {path.name for path in run.iterdir()} == {
        "best.json", "best.svg", "boards.jsonl", "checkpoint.npz", "checkpoint.previous.npz", "instance.json", "lock",
        "params.toml", "run.json", "run.log", "status.json",
    }  # fmt: skip
    moved = tmp_path / "elsewhere"
    shutil.move(run, moved)
    assert main(["resume", str(moved), "--steps", "3", "--quiet", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert list(again)[: len(FIELDS)] == FIELDS and again["score"] >= best["score"]
    one = load_summary(moved)
    assert one.state == "ended" and one.why in ("steps made", "target reached") and len(one.history.sessions) == 2


def test_steps_in_parts_are_the_same_run(tmp_path: Path, params: str, capsys: pytest.CaptureFixture[str]) -> None:
    common = [
        "solve",
        "like-e2-8x8",
        "--engine",
        "tabu",
        "--params",
        params,
        "--seed",
        "11",
        "--workers",
        "1",
        "--quiet",
    ]
    assert main([*common, "--run-dir", str(tmp_path / "whole"), "--steps", "10"]) == 0
    assert main([*common, "--run-dir", str(tmp_path / "parts"), "--steps", "4"]) == 0
    assert main(["resume", str(tmp_path / "parts"), "--steps", "6", "--quiet"]) == 0
    assert log_of(tmp_path / "whole") == log_of(tmp_path / "parts")
    whole, parts = (json.loads((tmp_path / name / "best.json").read_text()) for name in ("whole", "parts"))
    assert whole["placements"] == parts["placements"] and whole["score"] == parts["score"]
    assert (
        load_summary(tmp_path / "whole").heartbeat.statistics == load_summary(tmp_path / "parts").heartbeat.statistics
    )
    output = capsys.readouterr().out
    assert output.count("best score") == 3 and ": steps made" in output and "1 worker, seed 11\n" in output


def test_a_start_board_is_never_made_worse(tmp_path: Path, params: str, capsys: pytest.CaptureFixture[str]) -> None:
    puzzle = load_puzzle("like-e2-6x6")
    path = next(iter(Path(ROOT / "instances" / "data").glob("like-e2-6x6.solution.txt")))
    board = load_board(str(path), puzzle)[1]
    arguments = [
        "solve",
        "like-e2-6x6",
        "--start",
        viewer_url(puzzle, board),
        "--params",
        params,
        "--json",
        "--quiet",
        *ONE_WORKER,
    ]
    assert main([*arguments, "--run-dir", str(tmp_path / "run")]) == 0
    assert json.loads(capsys.readouterr().out)["score"] == puzzle.max_score
    assert log_of(tmp_path / "run") == [(puzzle.max_score, board.placements.tobytes())]


@pytest.mark.slow
@pytest.mark.parametrize("pieces", [[0, 2, 1, 4, 3, 5, 6], [0, -1, 1, 4, 3, 5, 6], [0, 2, -1, 3, 4, 5, 6]])
def test_a_start_board_may_have_an_identical_piece_on_the_cell_of_a_clue(
    pieces: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row of seven with a clue for a piece that looks like the next one."""
    chain = [(0, 1), (1, 1), (1, 1), (1, 2), (2, 3), (3, 4), (4, 0)]
    puzzle = Puzzle(np.array([(0, right, 0, left) for left, right in chain], dtype=np.int32), 7, 1, (Clue(1, 1, 0),))
    write(tmp_path / "p.json", None, puzzle, None)
    board = Board(np.array([4 * piece if piece >= 0 else -1 for piece in pieces]), 7, 1)
    write(tmp_path / "b.json", None, puzzle, board, instance="p.json")
    arguments = [
        "solve",
        str(tmp_path / "p.json"),
        "--start",
        str(tmp_path / "b.json"),
        "--json",
        "--quiet",
        *ONE_WORKER,
    ]
    assert main([*arguments, "--run-dir", str(tmp_path / "run"), "--steps", "20"]) == 0
    assert json.loads(capsys.readouterr().out)["score"] == 6


@pytest.mark.slow
def test_a_target_out_of_reach_is_a_no(tmp_path: Path, params: str) -> None:
    arguments = ["solve", "like-e2-8x8", "--engine", "tabu", "--params", params, "--quiet", "--steps", "1", *ONE_WORKER]
    assert main([*arguments, "--target", "112", "--run-dir", str(tmp_path / "no")]) == 1
    assert main([*arguments, "--target", "20", "--run-dir", str(tmp_path / "yes")]) == 0
    assert main([*arguments, "--run-dir", str(tmp_path / "none")]) == 0
    for run, status in (("no", 1), ("yes", 0), ("none", 0)):
        assert main(["resume", str(tmp_path / run), "--time", "60", "--steps", "1", "--quiet"]) == status


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--time", "0"], "'0' is no duration"),
        (["--time", "1e400"], "is no duration"),
        (["--workers", "0"], "0 is too few"),
        (["--workers", "100000"], "100000 workers are too many for"),
        (["--workers", "-1"], "expected"),
        (["--target", "481"], "a target of 481 cannot be reached: like-e2-16x16 has 480 inner edges"),
        (["--seed", "x"], "'x' is no whole number"),
        (["--steps", "0"], "0 is too few"),
        (["--engine", "magic"], "invalid choice"),
        (["--checkpoint", "0.05"], "a checkpoint every 0.05 s is too often; expected 0.1 seconds or more"),
        (["--params", "/does/not/exist.toml"], "/does/not/exist.toml: no such file; expected parameters"),
        (["--params", "/tmp"], "/tmp: this is a directory"),
        (["--params", ""], "argument --params: the name is empty"),
        (["--run-dir", ""], "argument --run-dir: the name is empty"),
        (["--start", "like-e2-4x4"], "expected"),
        (["--stop-after-no-gain", "6x"], "'6x' is no duration; expected seconds above 0, or like 10m, 5m30s, 2h"),
    ],
)
def test_bad_options_are_one_sentence_and_leave_nothing(
    options: list[str], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["solve", "like-e2-16x16", "--run-dir", str(tmp_path / "run"), *options]) == 2
    captured = capsys.readouterr()
    assert expected in captured.err and captured.err.count("\n") == 1 and captured.out == ""
    assert not (tmp_path / "run").exists()


def test_runs_begun_at_once_without_a_name_get_one_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle, _ = lns.generate("like-e2", width=3)
    with ThreadPoolExecutor(10) as pool:
        taken = list(pool.map(lambda _: take_run_directory(puzzle, tmp_path / "runs"), range(40)))
    assert len(set(taken)) == 40 and all(path.is_dir() for path in taken)
    monkeypatch.chdir(tmp_path)
    assert main(["solve", "like-e2-4x4", "--params", "/does/not/exist.toml"]) == 2
    assert len(list((tmp_path / "runs").iterdir())) == 40, "without a run its directory is removed"
    (tmp_path / "new").mkdir()
    monkeypatch.chdir(tmp_path / "new")
    assert main(["solve", "like-e2-4x4", "--params", "/does/not/exist.toml"]) == 2
    assert not list(Path().iterdir())
    Path("runs").write_text("a file")
    assert main(["solve", "like-e2-4x4", "--quiet"]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("search_floor", [300, 9000])
def test_a_min_score_above_every_score_keeps_a_run_readable(search_floor: int, tmp_path: Path, params: str) -> None:
    high, run = tmp_path / "high.toml", tmp_path / "run"
    high.write_text(f"{Path(params).read_text()}search_floor = {search_floor}\n")
    files = ["--params", str(high), "--run-dir", str(run), *ONE_WORKER]
    assert main(["solve", "like-e2-4x4", *files, "--steps", "1", "--quiet"]) == 0
    one = load_summary(run)
    assert not one.notes and one.settings.min_score == one.heartbeat.min_score == one.puzzle.max_score


def test_directories_that_cannot_be_used(
    tmp_path: Path, params: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(path: Path, *command: str) -> str:
        assert main([*(command or ("solve", "like-e2-4x4", "--run-dir")), str(path)]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        return error

    full = tmp_path / "full"
    full.mkdir()
    (full / "thesis.tex").write_text("precious")
    assert "is not empty" in refused(full)
    assert [path.name for path in full.iterdir()] == ["thesis.tex"]
    assert "is a file" in refused(full / "thesis.tex")
    assert "no run directory" in refused(full, "resume")
    assert "no such directory" in refused(tmp_path / "nowhere", "resume")
    assert "cannot write a run directory here" in refused(Path("/proc/run"))
    assert "cannot write a run directory here" in refused(tmp_path / ("x" * 300))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(1, 1, 20_000))
    assert "the disk has 19 KiB free" in refused(tmp_path / "new" / "deep" / "small")
    assert not (tmp_path / "new").exists()
    kept = tmp_path / "kept"
    kept.mkdir()
    assert "the disk has 19 KiB free" in refused(kept)
    assert not list(kept.iterdir())


def test_a_lock_that_the_disk_refuses_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(Lock, "_write", refuse)
    assert main(["solve", "like-e2-4x4", "--run-dir", str(tmp_path / "new" / "run")]) == 2
    assert "cannot write a run directory here: Disk quota exceeded" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_of_two_runs_that_create_one_directory_the_later_one_deletes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run, usage = tmp_path / "run", shutil.disk_usage
    faster: list[Lock] = []

    def too_late(path: Path) -> Any:
        faster.append(Lock(path))
        return usage(path)

    monkeypatch.setattr(shutil, "disk_usage", too_late)
    assert main(["solve", "like-e2-4x4", "--run-dir", str(run)]) == 2
    assert f"a run is under way here (process {os.getpid()} on" in capsys.readouterr().err
    assert (run / "lock").exists()
    faster[0].release()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("params.toml", "no such file; expected the parameters of the run"),
        ("instance.json", "no such file; expected the copy of the puzzle"),
    ],
)
def test_the_message_about_a_missing_file_of_a_run_says_what_the_file_is(
    name: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new_directory(tmp_path / "run", load_puzzle("like-e2-4x4")).close()
    (tmp_path / "run" / name).unlink()
    assert main(["resume", str(tmp_path / "run")]) == 2
    assert capsys.readouterr().err == f"lns: {tmp_path / 'run' / name}: {expected}\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_the_search_leaves_no_new_directory_and_an_old_one_as_it_was(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leaves(*command: str) -> None:
        with pytest.raises(SystemExit) as left:
            main([*command, "--quiet"])
        assert left.value.code == 128 + number

    given = tmp_path / "given"
    given.mkdir()
    new_directory(tmp_path / "run", load_puzzle("like-e2-4x4")).close()
    files = ("instance.json", "params.toml", "run.json")
    before = [(tmp_path / "run" / name).read_bytes() for name in files]
    was = signal.signal(number, lambda *_: None)  # where nobody else takes it
    monkeypatch.setattr("lns.api.solving.Archipelago", lambda *_, **__: os.kill(os.getpid(), number))
    try:
        leaves("solve", "like-e2-4x4", "--run-dir", str(tmp_path / "new"))
        leaves("solve", "like-e2-4x4", "--run-dir", str(given))
        leaves("resume", str(tmp_path / "run"), "--time", "1h")
    finally:
        signal.signal(number, was)
    assert not (tmp_path / "new").exists() and not list(given.iterdir())
    assert [(tmp_path / "run" / name).read_bytes() for name in files] == before
    assert (tmp_path / "run" / "lock").read_text() == ""


def test_what_a_worker_refuses_leaves_no_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wide = tmp_path / "wide.toml"
    wide.write_text("[beam]\nwidth = 1048576\n")
    run = tmp_path / "made" / "run"
    command = ["solve", "like-e2-16x16", "--engine", "beam", "--params", str(wide), "--run-dir", str(run), "--quiet"]
    command += ONE_WORKER
    assert main(command) == 2
    assert "beam.width is 1048576; expected at most 131072" in capsys.readouterr().err
    assert not run.parent.exists()


def test_boards_found_before_a_failure_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise MemoryError

    start = str(ROOT / "instances" / "data" / "like-e2-4x4.solution.txt")
    monkeypatch.setattr("lns.api.session.SearchSession.run", fail)
    assert main(["solve", "like-e2-4x4", "--start", start, "--run-dir", str(tmp_path / "run"), "--quiet"]) == 2
    assert len(log_of(tmp_path / "run")) == 1


def test_a_second_run_is_refused_and_a_stale_lock_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    path = finished_run(tmp_path / "run")
    (path / "lock").write_text(
        json.dumps({"pid": os.getpid(), "host": os.uname().nodename, "boot": "old", "started": "1", "since": utc_now()})
    )
    assert main(["resume", str(path), "--time", "1h", "--steps", "1", "--quiet"]) == 0
    assert "did not end in order" in caplog.text
    capsys.readouterr()
    with Lock(path):
        assert load_summary(path).state == "running"
        assert main(["resume", str(path), "--time", "1h"]) == 2
        assert f"a run is under way here (process {os.getpid()} on" in capsys.readouterr().err
    assert load_summary(path).state == "ended"


@pytest.mark.slow
def test_a_refused_resume_leaves_a_died_run_a_died_one(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = finished_run(tmp_path / "run")
    (path / "lock").write_text(json.dumps(Holder.me().__dict__ | {"started": "1"}))
    saved = (path / "boards.jsonl").read_bytes()
    os.truncate(path / "boards.jsonl", 20 * 2**30)  # longer than any log
    for _ in range(2):
        caplog.clear()
        assert main(["resume", str(path), "--quiet"]) == 2
        assert "did not end in order" in caplog.text and load_summary(path).state == "died"
    (path / "boards.jsonl").write_bytes(saved)
    for _ in range(2):
        caplog.clear()
        assert main(["resume", str(path), "--time", "1h", "--steps", "1", "--quiet"]) == 0
        assert load_summary(path).state == "ended"
    assert "did not end in order" not in caplog.text


def test_a_run_of_an_earlier_version_goes_on_and_says_what_is_new(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = finished_run(tmp_path / "run", name="like-e2-8x8", engine="tabu")
    assert main(["resume", str(path), "--time", "60", "--steps", "1", "--quiet"]) == 0
    assert "of another version" not in caplog.text
    kept = path / "params.toml"
    kept.write_text("".join(line for line in kept.read_text().splitlines(True) if not line.startswith("kicks")))
    settings = json.loads((path / "run.json").read_text())
    settings["params_sha256"] = digest(kept.read_text())
    settings.pop("sum")
    (path / "run.json").write_text(seal(settings))
    assert main(["resume", str(path), "--time", "60", "--steps", "1", "--quiet"]) == 0
    assert "params.toml is of another version, without tabu.kicks: its defaults" in caplog.text


def test_a_resume_without_time_left_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = finished_run(tmp_path / "run", name="like-e2-8x8", engine="tabu")
    assert main(["resume", str(path), "--time", "0.3", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["resume", str(path), "--quiet"]) == 2
    assert "its time is used up" in capsys.readouterr().err


def test_a_run_that_saved_nothing_does_not_know_its_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = finished_run(tmp_path / "run", name="like-e2-8x8", engine="tabu")
    for name in ("checkpoint.npz", "checkpoint.previous.npz", "status.json"):
        (path / name).unlink(missing_ok=True)
    assert main(["resume", str(path), "--quiet"]) == 2
    assert "nothing of it was saved, nor how long it was to last; say how much longer" in capsys.readouterr().err
    assert main(["resume", str(path), "--time", "60", "--steps", "1", "--quiet"]) == 0


def test_a_full_disk_does_not_end_a_run(
    tmp_path: Path, params: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The disk is full while the first boards are found, and has room again at the end."""
    fsync, run = os.fsync, tmp_path / "run"
    began: list[float] = []

    def refuse(*_: Any) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    begin, end = recorder.Recorder.begin, recorder.Recorder.end

    def begin_full(self: recorder.Recorder, *args: Any) -> None:
        begin(self, *args)
        began.append(time.monotonic())
        monkeypatch.setattr(os, "fsync", refuse)

    def end_with_room(self: recorder.Recorder, *args: Any) -> None:
        assert self.best and not (run / "best.json").exists() and self.board_log.pending > 0
        monkeypatch.setattr(os, "fsync", fsync)
        end(self, *args)

    monkeypatch.setattr(recorder.Recorder, "begin", begin_full)
    monkeypatch.setattr(recorder.Recorder, "end", end_with_room)
    assert (
        main(
            ["solve", "like-e2-6x6", "--params", params, "--steps", "3", "--quiet", "--run-dir", str(run), *ONE_WORKER]
        )
        == 0
    )
    assert began
    for name in ("boards.jsonl", "best.json", "the checkpoint"):
        assert f"{name} could not be written (No space left on device)" in caplog.text
        assert f"{name} is written again" in caplog.text
    assert max(score for score, _ in log_of(run)) == best_of(run)
    assert not list(run.glob(".*tmp"))
