"""`lns solve` and `lns resume` as their user meets them: results, refusals, signals, faults."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from instances.board import Board
from instances.formats import load_board, load_puzzle, viewer_url, write
from instances.puzzle import Clue, Puzzle
from instances.verify import verify
from lns.api.solving import resume
from lns.cli.main import main
from lns.engine import FoundBoard
from lns.runs import recorder
from lns.runs.files import seal, utc_now
from lns.runs.lock import Holder, Lock
from lns.runs.run_summary import load_summary
from lns.runs.settings import digest
from lns.terminal import notify
from lns_support.errors import InputError
from tests.cli.run_program import ONE_WORKER, ROOT, is_alive, program, wait_for
from tests.lns.run_parts import best_of, finished_run, log_of, new_directory
from tests.torture import torture_kills

QUICK = """
[construct]
tail = 8
tail_nodes = 2000
[tabu]
steps = 50
patience = 400
[engine]
step_nodes = 20000
"""
FIELDS = ["schema", "instance", "instance_sha256", "width", "height", "score", "max_score", "placements", "seed",
          "elapsed_s", "url"]  # fmt: skip


@pytest.fixture
def params(tmp_path: Path) -> str:
    path = tmp_path / "quick.toml"
    path.write_text(QUICK)
    return str(path)


def test_a_run_leaves_a_verified_board_and_goes_on(
    tmp_path: Path, params: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    common = ["--params", params, "--quiet", "--json", *ONE_WORKER]
    assert main(["solve", "like-e2-6x6", "--run-dir", str(run), "--steps", "4", *common]) == 0
    best = json.loads(capsys.readouterr().out)
    assert list(best) == FIELDS
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
    assert list(again) == FIELDS and again["score"] >= best["score"]
    one = load_summary(moved)
    assert one.state == "ended" and one.why == "steps made" and len(one.history.sessions) == 2


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
    assert output.count("best score") == 3 and "steps made after" in output and "1 worker, seed 11)" in output


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


@pytest.mark.slow
@pytest.mark.parametrize("search_floor", [300, 9000])
def test_a_min_score_above_every_score_keeps_a_run_readable(search_floor: int, tmp_path: Path) -> None:
    params, run = tmp_path / "high.toml", tmp_path / "run"
    params.write_text(f"{QUICK}search_floor = {search_floor}\n")
    files = ["--params", str(params), "--run-dir", str(run), *ONE_WORKER]
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
    saved = (path / "checkpoint.npz").read_bytes()
    for name in ("checkpoint.npz", "checkpoint.previous.npz"):
        (path / name).write_bytes(b"PK")
    for _ in range(2):
        caplog.clear()
        assert main(["resume", str(path), "--quiet"]) == 2
        assert "did not end in order" in caplog.text and load_summary(path).state == "died"
    (path / "checkpoint.npz").write_bytes(saved)
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


def started(run: Path) -> bool:
    """Whether a worker has reported."""
    try:
        return bool(load_summary(run).heartbeat.pids)
    except ValueError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_saves_and_leaves(number: signal.Signals, status: int, tmp_path: Path) -> None:
    run = tmp_path / "run"
    with program("solve", "like-e2-10x10", "--time", "1h", "--workers", "2", "--run-dir", str(run)) as process:
        wait_for(lambda: started(run), "the first report")
        pids = load_summary(run).heartbeat.pids
        os.killpg(process.pid, number)  # as a terminal does
        output, errors = process.communicate(timeout=20)
        assert process.returncode == status, errors
    assert "Traceback" not in errors and "exit code" not in errors and "best score" in output
    one = load_summary(run)
    assert one.state == "ended" and one.why == number.name and one.best is not None
    wait_for(lambda: not any(map(is_alive, pids)), "the end of the workers", 5.0)


@pytest.mark.slow
def test_workers_do_not_outlive_a_killed_parent_and_killed_workers_are_replaced(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with program("solve", "like-e2-10x10", "--time", "1h", "--workers", "2", "--run-dir", str(run)) as process:
        wait_for(lambda: len(load_summary(run).heartbeat.pids) == 2 if started(run) else False, "two workers")
        first = load_summary(run).heartbeat.pids
        os.kill(first[0], signal.SIGKILL)
        wait_for(
            lambda: "a new worker continues island" in (run / "run.log").read_text(), "the line about it in the log"
        )
        wait_for(
            lambda: first[0] not in load_summary(run).heartbeat.pids and len(load_summary(run).heartbeat.pids) == 2,
            "the new worker",
        )
        pids = load_summary(run).heartbeat.pids
        assert first[1] in pids and load_summary(run).workers == 2
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        wait_for(lambda: not any(map(is_alive, pids)), "the end of the workers", 10.0)
    one = load_summary(run)
    assert one.state == "died" and one.workers == 0 and one.best is not None


def test_a_second_interrupt_leaves_at_once(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with program("solve", "like-e2-10x10", "--time", "1h", *ONE_WORKER, "--run-dir", str(run)) as process:
        wait_for(lambda: started(run), "the first report")
        os.kill(load_summary(run).heartbeat.pids[0], signal.SIGSTOP)  # a worker that does not answer
        os.kill(process.pid, signal.SIGINT)
        time.sleep(0.3)
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(20) == 130
        assert load_summary(run).state == "died", "a search that ends in order is 'ended'"
    assert load_summary(run).best is not None


@pytest.mark.slow
def test_lns_stop_ends_a_run_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    endless = ["--time", "1h", "--steps", "1000000", *ONE_WORKER]
    with program("solve", "like-e2-10x10", *endless, "--run-dir", str(run)) as process:
        wait_for(lambda: started(run), "the first report")
        assert main(["stop", str(run)]) == 0
        assert process.wait(20) == 0
    assert "stopped with" in capsys.readouterr().out
    assert load_summary(run).why == "stopped" and not (run / "stop").exists()
    assert main(["stop", str(run)]) == 1


@pytest.mark.slow
def test_kills_at_random_moments_lose_nothing(tmp_path: Path) -> None:
    outcome = torture_kills(tmp_path, 8, 7)
    assert outcome["at a moment, at work"] + outcome["at a call, at work"] >= 4


def test_the_end_is_a_few_short_lines_with_the_next_commands(
    tmp_path: Path, params: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "my run"
    command = ["solve", "like-e2-8x8", "--engine", "tabu", "--params", params, "--quiet", *ONE_WORKER]
    assert main([*command, "--steps", "2", "--run-dir", str(run)]) == 0
    score = best_of(run)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"best score  {score} of 112, {112 - score} mismatches (steps made after ")
    assert lines[1:] == [f"saved in    {run}", f"see it      lns show '{run}'", f"go on       lns resume '{run}'"]
    assert main(["resume", str(run), "--steps", "1", "--quiet", "--url"]) == 0
    url = json.loads((run / "best.json").read_text())["url"]
    assert f"\nviewer      {url}\n" in capsys.readouterr().out
    start = ["--start", str(ROOT / "instances" / "data" / "like-e2-4x4.solution.txt")]
    assert main(["solve", "like-e2-4x4", *start, "--run-dir", str(tmp_path / "solved"), "--quiet", *ONE_WORKER]) == 0
    solved = capsys.readouterr().out
    assert solved.startswith("best score  24 of 24, solved") and "lns resume" not in solved


def test_the_seed_is_drawn_and_saved_and_workers_are_as_many_as_cores(
    tmp_path: Path, params: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["solve", "like-e2-4x4", "--engine", "tabu", "--params", params, "--steps", "1", "--json"]
    monkeypatch.setattr("lns.api.solving.available_cores", lambda: 2)
    seeds = []
    for name in ("one", "two"):
        assert main([*command, "--run-dir", str(tmp_path / name)]) == 0
        captured = capsys.readouterr()
        seeds.append(json.loads(captured.out)["seed"])
        assert f"2 workers (one for each core), seed {seeds[-1]} (drawn at random), no time limit" in captured.err
        assert load_summary(tmp_path / name).settings.seed == seeds[-1]
    assert seeds[0] != seeds[1]
    assert main([*command, "--run-dir", str(tmp_path / "three"), "--seed", "7", "--workers", "1"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["seed"] == 7 and "1 worker, seed 7, no time limit" in captured.err


def test_resume_says_what_the_plan_was_and_what_it_is_now(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = finished_run(tmp_path / "run", name="like-e2-8x8", engine="tabu")
    assert main(["resume", str(path), "--steps", "1"]) == 0
    assert re.search("going on at . s of search; (1:00|5. s) left", capsys.readouterr().err)
    assert main(["resume", str(path), "--steps", "1", "--time", "2h"]) == 0
    said = capsys.readouterr().err
    assert re.search(r"the plan was 1:00 of search, (1:00|5. s) left; now 2:00:00 of search more", said)
    assert 7190 < load_summary(path).history.remaining_s <= 7200
    with pytest.raises(InputError, match="expected time, the seconds more to search"):
        resume(finished_run(tmp_path / "used", name="like-e2-8x8", engine="tabu", seconds=1e-3))


def test_a_run_ends_when_the_score_no_longer_rises(tmp_path: Path, params: str) -> None:
    run = tmp_path / "run"
    command = ["solve", "like-e2-8x8", "--engine", "tabu", "--params", params, "--quiet", *ONE_WORKER]
    assert main([*command, "--stop-after-no-gain", "1", "--run-dir", str(run)]) == 0
    one = load_summary(run)
    assert one.why == "no improvement in 1 s" and not one.history.has_time_limit
    assert one.history.elapsed_s >= one.history.improvements[-1].elapsed_s + 1


def test_a_command_is_run_at_each_new_best_and_never_waited_for(
    tmp_path: Path, params: str, caplog: pytest.LogCaptureFixture
) -> None:
    run, told = tmp_path / "run", tmp_path / "told"
    command = ["solve", "like-e2-8x8", "--engine", "tabu", "--params", params, "--quiet", *ONE_WORKER]
    on_best = f'test -f "$LNS_BEST" && echo "$LNS_SCORE $LNS_MAX_SCORE $LNS_RUN_DIR" >> \'{told}\'; echo no; exit 3'
    assert main([*command, "--steps", "6", "--run-dir", str(run), "--on-best", on_best]) == 0
    assert told.read_text().splitlines()[-1] == f"{best_of(run)} 112 {run}"
    assert "the command of --on-best ended with status 3: no" in caplog.text


def test_a_notifier_tells_the_newest_best_after_a_slow_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    puzzle = load_puzzle("like-e2-4x4")
    board = Board(np.arange(16) * 4, 4, 4).of(puzzle)
    told, gate = tmp_path / "told", tmp_path / "gate"
    os.mkfifo(gate)
    with notify.Notifier(f"echo $LNS_SCORE >> '{told}'; read line < '{gate}'", tmp_path) as notifier:
        notifier(FoundBoard(board, 1, "tabu"))
        wait_for(told.exists, "the first call")
        for score in (2, 3, 4):
            notifier(FoundBoard(board, score, "tabu"))
        for _ in range(2):
            gate.write_text("go\n")
    assert told.read_text().split() == ["1", "4"]
    monkeypatch.setattr(notify, "LONGEST_S", 0.1)
    with notify.Notifier("sleep 100", tmp_path) as notifier:
        notifier(FoundBoard(board, 5, "tabu"))
    assert "took more than 0.1 s and was killed" in caplog.text
