"""Run directories that were damaged, mixed up, made to harm, sent by somebody else, or that change under a run."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from numpy.random import default_rng

from lns.cli.main import main
from lns.instances.errors import InputError
from lns.instances.files import open_to_read
from lns.instances.formats import best_json
from lns.runs import lock, run_summary
from lns.runs.board_log import BoardLog
from lns.runs.directory import RunDirectory
from lns.runs.files import BEST, BOARDS, CHECKPOINT, LOCK, LOG, PICTURE, STATUS, STOP, seal, utc_now
from lns.runs.lock import Holder, Lock, is_free
from lns.runs.recorder import Recorder, recover
from lns.runs.run_summary import load_summary
from lns.tabu.search import random_board
from tests.fuzz_run import fuzz
from tests.lns.run_parts import best_of, copied, finished_run, log_of, resumed, small_puzzle


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished_run(tmp_path_factory.mktemp("runs") / "made")


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    """A finished run."""
    return copied(made, tmp_path / "run")


def contents(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir()}


def test_damaged_runs_end_in_an_answer_or_a_sentence_and_lose_no_best_board(tmp_path: Path) -> None:
    outcome = fuzz(tmp_path, 150, 1)
    assert outcome["done"] > 75 and outcome["refused"] > 12


# -- links and copies -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [BEST, BOARDS, CHECKPOINT, PICTURE, STATUS, LOG, LOCK, STOP])
def test_nothing_is_written_through_a_link(name: str, run: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("precious")
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(outside)
    try:
        resumed(run, 1)
    except InputError as error:
        assert "symbolic link" in str(error)
    assert outside.read_text() == "precious"


def test_nothing_is_waited_for_when_a_file_is_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(InputError, match="expected a"):
            open_to_read(path)


def test_a_directory_of_hard_links_is_continued_and_its_original_kept(run: Path, tmp_path: Path) -> None:
    """`cp -al` copies a run so; what is appended or written in place goes to copies of the files."""
    links, before = shutil.copytree(run, tmp_path / "links", copy_function=os.link), contents(run)
    assert main(["resume", str(links), "--steps", "5", "--quiet"]) in (0, 1)
    assert contents(run) == before
    assert (links / BOARDS).read_bytes().startswith(before[BOARDS]) and (links / BOARDS).stat().st_nlink == 1


def test_no_copy_of_a_directory_by_hard_links_takes_the_lock_of_a_run(run: Path, tmp_path: Path) -> None:
    with closing(Lock(run)) as held:
        assert not is_free(run)
        copy = shutil.copytree(run, tmp_path / "copy", copy_function=os.link)
        for directory in (run, copy):
            with pytest.raises(InputError, match="a run is under way here"):
                Lock(directory)
        assert held.is_in_place()
    assert is_free(run) and (run / LOCK).read_text() == ""


def test_a_directory_that_was_replaced_is_not_written(made: Path, run: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Whoever made a new run under the same name keeps it; the first run keeps its results in memory and says so."""
    with RunDirectory.open(run) as directory:
        recovered = recover(directory)
        recorder = Recorder(directory.puzzle, directory.settings, recovered.history, directory, recovered.recent)
        shutil.rmtree(run)
        before = contents(copied(made, run))
        (run / STOP).touch()
        with closing(Lock(run)):
            assert recovered.best is not None
            recorder.record_known_best(recovered.best)
            assert recorder.write_errors
            assert "the run directory was removed or replaced" in caplog.text
            directory.close()
            assert (run / STOP).exists()
    (run / STOP).unlink()
    assert contents(run) == before


def test_a_run_directory_without_permission_is_refused_at_once(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert main(["resume", str(run), "--steps", "1"]) == 2
    assert "no permission to write here" in capsys.readouterr().err


# -- what the files say -----------------------------------------------------------------------------------------------


def wrong_score(path: Path) -> None:
    score = best_of(path)
    (path / BEST).write_text((path / BEST).read_text().replace(f'"score": {score}', f'"score": {score - 1}'))


def illegal_board(path: Path) -> None:
    (path / BEST).write_text((path / BEST).read_text().replace("[[", "[[0, 0], [", 1))


def lower_board(path: Path) -> None:
    puzzle = small_puzzle()
    fields = best_json(puzzle, random_board(puzzle, default_rng(1)), instance=puzzle.name, seed=3, elapsed_s=0.0)
    (path / BEST).write_text(json.dumps(fields))


@pytest.mark.parametrize("damage", [wrong_score, illegal_board, lower_board])
def test_a_best_file_is_not_believed(
    damage: Callable[[Path], None], run: Path, caplog: pytest.LogCaptureFixture
) -> None:
    score = best_of(run)
    damage(run)
    told = load_summary(run).score
    assert told == score if damage is wrong_score else told < score
    search, _ = resumed(run, 1)
    assert search.best_score == best_of(run) >= score
    assert (run / "best.unusable.json").exists() == (damage is illegal_board)
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


def test_boards_that_no_part_is_known_of_are_counted_again_without_a_word(
    run: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As in a status.json of earlier versions."""
    before, status = load_summary(run).history, json.loads((run / STATUS).read_text())
    del status["sum"], status["history"]["boards_by_part"]
    (run / STATUS).write_text(seal(status) + "\n")
    with RunDirectory.open(run) as directory:
        history = recover(directory).history
    assert history.boards_by_part == before.boards_by_part and history.counts == before.counts
    assert history.improvements == before.improvements and not caplog.text


def test_without_status_json_the_log_tells_the_time_and_the_boards(run: Path) -> None:
    before = load_summary(run).history
    (run / STATUS).unlink()
    assert "no such file" in load_summary(run).notes[0]
    with RunDirectory.open(run) as directory:
        history = recover(directory).history
    assert history.counts == before.counts and history.improvements == before.improvements
    assert history.elapsed_s >= history.improvements[-1].elapsed_s


def test_a_name_of_control_characters_does_not_grow_from_resume_to_resume(run: Path) -> None:
    """Escaped, it would be longer than what the next resume reads."""
    lines = (run / BOARDS).read_text().splitlines()
    record = json.loads(lines[-1]) | {"origin": 60 * "\x1b"}
    del record["sum"]
    (run / BOARDS).write_text("\n".join([*lines, seal(record)]) + "\n")
    (run / CHECKPOINT).unlink()
    for _ in range(4):
        assert main(["resume", str(run), "--time", "60", "--steps", "1", "--quiet"]) in (0, 1)
    assert "\\u001b" not in (run / STATUS).read_text() and 15 * "\\\\x1b" in (run / STATUS).read_text()


# -- locks ------------------------------------------------------------------------------------------------------------


def elsewhere(path: Path) -> None:
    """A lock left by, or held on, another machine."""
    (path / LOCK).write_text(
        json.dumps({"pid": 1, "host": "elsewhere", "boot": "b", "started": "1", "since": utc_now()})
    )


def me(path: Path, **other: object) -> None:
    """A lock that names this process, but for some facts."""
    (path / LOCK).write_text(json.dumps(Holder.me().__dict__ | other))


@pytest.mark.parametrize("pid", [1, os.getppid()])
def test_stop_tells_a_lock_that_nobody_holds(pid: int, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A lock may name any living process of this machine; only the system knows who holds it."""
    me(run, pid=pid, started="")
    began = time.monotonic()
    assert main(["stop", str(run)]) == 1
    assert time.monotonic() - began < 2.0
    assert "does not hold it" in capsys.readouterr().out
    assert not (run / STOP).exists()


@pytest.mark.parametrize("container", [False, True])
def test_a_lock_of_another_machine_or_container_holds_while_its_run_shows_life(
    container: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run = finished_run(tmp_path / "run")  # a moment ago
    monkeypatch.setattr(lock, "OBSERVATION_S", 1.5)
    if container:  # of the same host and boot, but its pid says nothing here
        me(run, started="1", space="pid:[1]")
    else:
        elsewhere(run)
    assert load_summary(run).state == "running" and load_summary(run).workers is None
    heartbeat = threading.Timer(0.5, lambda: (run / STATUS).write_text((run / STATUS).read_text()))
    heartbeat.start()
    with pytest.raises(InputError, match=r"process [0-9]+ on .*: status\.json still changes"):
        resumed(run, 1)
    assert "which cannot be seen from here" in caplog.text
    heartbeat.join()
    resumed(run, 1)  # no life: the machine is gone, or the directory was copied from it
    assert load_summary(run).state == "ended"


def test_a_lock_of_another_machine_whose_run_was_left_behind_is_known_at_once(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere(run)
    hour_ago = time.time() - 3600
    os.utime(run / STATUS, (hour_ago, hour_ago))
    monkeypatch.setattr(lock, "OBSERVATION_S", 60.0)
    monkeypatch.setattr(run_summary, "HEARTBEAT_LATE_S", -1.0)
    began = time.monotonic()
    assert main(["stop", str(run)]) == 1
    said = capsys.readouterr()
    assert "process 1 on elsewhere" in said.err and "no run is" in said.out
    assert not list(run.glob(".lns-*"))
    resumed(run, 1)
    assert load_summary(run).state == "ended" and time.monotonic() - began < 60.0


def test_a_process_with_the_number_of_a_dead_one_is_no_holder(run: Path) -> None:
    assert Holder.me().is_alive
    me(run, started="1")
    assert load_summary(run).state == "died"
    resumed(run, 1)
    assert load_summary(run).state == "ended"


def test_what_a_killed_process_was_writing_is_removed(tmp_path: Path) -> None:
    old, new = tmp_path / ".lns-7-deadbeef.tmp", tmp_path / ".lns-7-beefdead.tmp"
    old.touch()
    new.touch()
    os.utime(old, (0, 0))
    Lock(tmp_path).close()
    assert new.exists() and not old.exists()


@pytest.mark.slow
def test_a_run_whose_clock_is_not_ours_can_be_stopped(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lock, "OBSERVATION_S", 1.5)
    monkeypatch.setattr(run_summary, "HEARTBEAT_LATE_S", -1.0)
    elsewhere(run)
    assert load_summary(run).state == "died"
    assert main(["stop", str(run), "--wait", "1"]) == 1
    assert "no run is going on" in capsys.readouterr().out and not (run / STOP).exists()

    def search() -> None:
        (run / STATUS).write_text((run / STATUS).read_text())
        time.sleep(1.0)
        (run / LOCK).write_text("")  # it has seen the file

    heartbeat = threading.Timer(0.5, search)
    heartbeat.start()
    assert main(["stop", str(run), "--wait", "20"]) == 0
    heartbeat.join()
    assert (run / STOP).exists()


# -- the disk ---------------------------------------------------------------------------------------------------------

FULL = """
import logging, resource, signal, sys
from pathlib import Path
from lns.runs.files import RunLog
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
handler = RunLog(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
for _ in range(9):
    handler.handle(logging.makeLogRecord({"msg": "a line of the log", "levelno": logging.INFO}))
handler.close()
print("goes on")
"""


def test_a_full_disk_loses_lines_of_the_log_and_ends_nothing(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == "goes on\n" and (tmp_path / LOG).stat().st_size == 64
