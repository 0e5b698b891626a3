"""`lns solve` and `lns resume` as their user meets them, `lns params`, and `--stats`."""

import errno
import json
import os
import re
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import lns
from lns.cli.main import main
from lns.instances.formats import load_board, load_puzzle, viewer_url
from lns.instances.verify import verify
from lns.params import Params, load, to_dict
from lns.runs import recorder
from lns.runs.directory import take_run_directory
from lns.runs.files import seal, utc_now
from lns.runs.lock import Lock
from lns.runs.run_summary import load_summary
from tests.cli.conftest import Typed
from tests.cli.run_program import ROOT
from tests.lns.run_parts import best_of, finished_run, log_of, new_directory

DATA = ROOT / "instances" / "data"
FIELDS = ["schema", "instance", "instance_sha256", "width", "height", "score", "max_score", "placements", "seed",
          "elapsed_s", "url", "set_sha256", "numbering"]  # fmt: skip
ONE = "--workers 1 --seed 1 --quiet"

pytestmark = pytest.mark.usefixtures("here")


def test_a_run_leaves_a_verified_board_and_goes_on(params: str, typed: Typed) -> None:
    run, moved = Path("run"), Path("elsewhere")
    best = typed.facts(f"solve like-e2-6x6 --run-dir run --steps 4 --params {params} {ONE}")
    assert list(best)[: len(FIELDS)] == FIELDS and set(best) - set(FIELDS) <= {"certificate"}
    assert best == json.loads((run / "best.json").read_text())
    puzzle, board = load_board(str(run / "best.json"))
    assert verify(puzzle, board).score == best["score"] > 30
    assert {path.name for path in run.iterdir()} == {
        "best.json", "best.svg", "boards.jsonl", "checkpoint.npz", "instance.json", "lock",
        "params.toml", "run.json", "run.log", "status.json",
    }  # fmt: skip
    shutil.move(run, moved)
    again = typed.facts("resume elsewhere --steps 3 --quiet")
    assert list(again)[: len(FIELDS)] == FIELDS and again["score"] >= best["score"]
    one = load_summary(moved)
    assert one.state == "ended" and one.why in ("steps made", "target reached") and len(one.history.sessions) == 2


def test_a_start_board_is_never_made_worse(params: str, typed: Typed) -> None:
    puzzle = load_puzzle("like-e2-6x6")
    board = load_board(str(DATA / "like-e2-6x6.solution.txt"), puzzle)[1]
    solve = f"solve like-e2-6x6 --params {params} --run-dir run {ONE} --start".split()
    assert typed.facts([*solve, viewer_url(puzzle, board)])["score"] == puzzle.max_score
    assert log_of(Path("run")) == [(puzzle.max_score, board.placements.tobytes())]


@pytest.mark.slow
def test_a_target_out_of_reach_is_a_no(params: str, typed: Typed) -> None:
    solve = f"solve like-e2-8x8 --engine tabu --params {params} --steps 1 {ONE}"
    for run, target, status in (("no", "--target 112", 1), ("yes", "--target 20", 0), ("none", "", 0)):
        typed(f"{solve} {target} --run-dir {run}", status)
        typed(f"resume {run} --time 60 --steps 1 --quiet", status)


def test_runs_begun_at_once_without_a_name_get_one_each(monkeypatch: pytest.MonkeyPatch, typed: Typed) -> None:
    puzzle, _ = lns.generate("like-e2", width=3)
    with ThreadPoolExecutor(10) as pool:
        taken = list(pool.map(lambda _: take_run_directory(puzzle, Path("runs")), range(40)))
    assert len(set(taken)) == 40 and all(path.is_dir() for path in taken)
    refused = "solve like-e2-4x4 --params /does/not/exist.toml"
    typed.refused(refused)
    assert len(list(Path("runs").iterdir())) == 40, "without a run its directory is removed"
    Path("new").mkdir()
    monkeypatch.chdir("new")
    typed.refused(refused)
    assert not list(Path().iterdir())
    Path("runs").write_text("a file")
    typed("solve like-e2-4x4 --quiet", 2)


def test_directories_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch, typed: Typed) -> None:
    full, kept, solve = Path("full"), Path("kept"), "solve like-e2-4x4 --run-dir"
    full.mkdir()
    kept.mkdir()
    (full / "thesis.tex").write_text("precious")
    for command, sentence in (
        (f"{solve} full", "is not empty"),
        (f"{solve} full/thesis.tex", "is a file"),
        ("resume full", "no run directory"),
        ("resume nowhere", "no such directory"),
        (f"{solve} /proc/run", "cannot write a run directory here"),
        (f"{solve} {'x' * 300}", "cannot write a run directory here"),
    ):
        assert sentence in typed.refused(command)
    assert [path.name for path in full.iterdir()] == ["thesis.tex"]
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(1, 1, 20_000))
    for run in ("new/deep/small", "kept"):
        assert "the disk has 19 KiB free" in typed.refused(f"{solve} {run}")
    assert not Path("new").exists() and not list(kept.iterdir())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_the_search_leaves_no_new_directory_and_an_old_one_as_it_was(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, run = Path("given"), Path("run")
    given.mkdir()
    new_directory(run, load_puzzle("like-e2-4x4")).close()
    before = [(run / name).read_bytes() for name in ("instance.json", "params.toml", "run.json")]
    was = signal.signal(number, lambda *_: None)  # where nobody else takes it
    monkeypatch.setattr("lns.api.solving.Archipelago", lambda *_, **__: os.kill(os.getpid(), number))
    try:
        for command in ("solve like-e2-4x4 --run-dir new", "solve like-e2-4x4 --run-dir given", "resume run --time 1h"):
            with pytest.raises(SystemExit) as left:
                main([*command.split(), "--quiet"])
            assert left.value.code == 128 + number
    finally:
        signal.signal(number, was)
    assert not Path("new").exists() and not list(given.iterdir())
    assert [(run / name).read_bytes() for name in ("instance.json", "params.toml", "run.json")] == before
    assert (run / "lock").read_text() == ""


def test_what_a_worker_refuses_leaves_no_directory(typed: Typed) -> None:
    Path("wide.toml").write_text("[beam]\nwidth = 1048576\n")
    said = typed(f"solve like-e2-16x16 --engine beam --params wide.toml --run-dir made/run {ONE}", 2)
    assert "beam.width is 1048576; expected at most 131072" in said.err and not Path("made").exists()


def test_a_second_run_is_refused_and_a_stale_lock_is_not(typed: Typed, caplog: pytest.LogCaptureFixture) -> None:
    path = finished_run(Path("run"))
    holder = {"pid": os.getpid(), "host": os.uname().nodename, "boot": "old", "started": "1", "since": utc_now()}
    (path / "lock").write_text(json.dumps(holder))
    typed("resume run --time 1h --steps 1 --quiet")
    assert "did not end in order" in caplog.text
    with closing(Lock(path)):
        assert load_summary(path).state == "running"
        refused = typed.refused("resume run --time 1h")
        assert f"a run is under way here (process {os.getpid()} on" in refused
    assert load_summary(path).state == "ended"


def test_a_run_of_an_earlier_version_goes_on_and_says_what_is_new(
    typed: Typed, caplog: pytest.LogCaptureFixture
) -> None:
    path = finished_run(Path("run"), name="like-e2-8x8", engine="tabu")
    typed("resume run --time 60 --steps 1 --quiet")
    assert "of another version" not in caplog.text
    settings = json.loads((path / "run.json").read_text())
    del settings["params"]["tabu"]["kicks"]
    settings.pop("sum")
    (path / "run.json").write_text(seal(settings))
    typed("resume run --time 60 --steps 1 --quiet")
    assert "the run is of another version, without tabu.kicks: its defaults" in caplog.text


def test_a_resume_without_time_left_or_saved_is_refused(typed: Typed) -> None:
    path = finished_run(Path("run"), name="like-e2-8x8", engine="tabu")
    typed("resume run --time 0.3 --quiet")
    assert re.search("its time is used up .* say how much longer with --time", typed("resume run --quiet", 2).err)
    for name in ("checkpoint.npz", "status.json"):
        (path / name).unlink(missing_ok=True)
    said = typed("resume run --quiet", 2).err
    assert "how long it was to last is not known, as status.json cannot be read; say how much longer" in said
    typed("resume run --time 60 --steps 1 --quiet")


def test_a_full_disk_does_not_end_a_run(
    params: str, monkeypatch: pytest.MonkeyPatch, typed: Typed, caplog: pytest.LogCaptureFixture
) -> None:
    """The disk is full while the first boards are found, and has room again at the end."""
    fsync, run = os.fsync, Path("run")
    refuse = mock.Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    begin, end = recorder.Recorder.begin, recorder.Recorder.end

    def begin_full(self: recorder.Recorder, *args: Any) -> None:
        begin(self, *args)
        monkeypatch.setattr(os, "fsync", refuse)

    def end_with_room(self: recorder.Recorder, *args: Any) -> None:
        assert self.best and not (run / "best.json").exists() and self.directory.board_log.pending > 0
        monkeypatch.setattr(os, "fsync", fsync)
        end(self, *args)

    monkeypatch.setattr(recorder.Recorder, "begin", begin_full)
    monkeypatch.setattr(recorder.Recorder, "end", end_with_room)
    typed(f"solve like-e2-6x6 --params {params} --steps 3 --run-dir run {ONE}")
    for name in ("boards.jsonl", "best.json", "the checkpoint"):
        assert f"{name} could not be written (No space left on device)" in caplog.text
        assert f"{name} is written again" in caplog.text
    assert max(score for score, _ in log_of(run)) == best_of(run)
    assert not list(run.glob(".*tmp"))


def test_the_printed_parameters_can_be_read_again(typed: Typed) -> None:
    Path("p.toml").write_text(typed("params").out)
    assert load("p.toml") == Params()
    assert typed.facts("params --params p.toml") == to_dict(Params())


@pytest.mark.slow
def test_the_sums_are_those_of_the_run_and_resume_adds_to_them(params: str, typed: Typed) -> None:
    common = "--steps 4 --quiet --stats"
    solve = f"solve like-e2-8x8 --seed 1 --target 112 --params {params} --workers 2 --run-dir run {common}"
    first, second = typed.facts(solve, 1), typed.facts(f"resume run {common}", 1)
    for told in (first, second):
        stats = told["stats"]
        assert sum(part["work"] for part in stats["parts"]) == stats["work"] > 0
        assert sum(part["share"] for part in stats["parts"]) == pytest.approx(1.0, abs=1e-3)
        assert sum(island["work"] for island in stats["islands"]) == pytest.approx(stats["work"], rel=1e-3)
        assert max(island["score"] for island in stats["islands"]) == told["score"]
        assert sum(part["bests"] for part in stats["parts"]) >= 1
    assert [island["steps"] for island in second["stats"]["islands"]] == [8, 8]
    assert second["stats"]["work"] > first["stats"]["work"]


def test_without_json_there_is_a_table(params: str, typed: Typed) -> None:
    options = f"--params {params} --engine tabu --steps 2 --quiet --stats --workers 1 --seed 1 --run-dir run"
    lines = typed(f"solve like-e2-6x6 {options}").out.splitlines()
    head = next(number for number, line in enumerate(lines) if line.startswith("part"))
    assert "~M nodes" in lines[head] and lines[head + 1].startswith("tabu") and "100.0%" in lines[head + 1]
    (islands,) = (line for line in lines if line.startswith("islands"))
    assert islands.endswith("at best") and lines[-1].startswith("go on")
    assert "islands" not in typed("resume run --steps 1 --quiet").out
