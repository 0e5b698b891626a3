"""Run directories and checkpoints that were made to harm, and directories that change under a run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from lns.cli.main import main
from lns.instances.errors import InputError
from lns.instances.files import open_to_read
from lns.runs.directory import RunDirectory
from lns.runs.files import BOARDS, CHECKPOINT, LOCK, LOG, STATUS, STOP, seal
from lns.runs.lock import Holder, Lock, is_free
from lns.runs.recorder import Recorder, recover
from tests.fuzz_run import fuzz
from tests.lns.run_parts import copied, finished_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished_run(tmp_path_factory.mktemp("runs") / "run")


def test_a_directory_that_was_replaced_is_not_written(
    run: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever made a new run under the same name keeps it; the first run keeps its results in memory and says so."""
    path = copied(run, tmp_path / "run")
    with RunDirectory.open(path) as directory:
        recovered = recover(directory)
        recorder = Recorder(directory.puzzle, directory.settings, recovered.history, directory, recovered.recent)
        shutil.rmtree(path)
        copied(run, path)
        before = {file.name: file.read_bytes() for file in path.iterdir()}
        (path / STOP).touch()
        with closing(Lock(path)):
            assert recovered.best is not None
            recorder.record_known_best(recovered.best)
            assert recorder.write_errors
            assert "the run directory was removed or replaced" in caplog.text
            directory.close()
            assert (path / STOP).exists()
    (path / STOP).unlink()
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before


def test_a_directory_of_hard_links_is_continued_and_its_original_kept(run: Path, tmp_path: Path) -> None:
    """`cp -al` copies a run so; what is appended or written in place goes to copies of the files."""
    path, links = copied(run, tmp_path / "run"), tmp_path / "links"
    shutil.copytree(path, links, copy_function=os.link)
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    assert main(["resume", str(links), "--steps", "5", "--quiet"]) in (0, 1)
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before
    assert (links / BOARDS).read_bytes().startswith(before[BOARDS]) and (links / BOARDS).stat().st_nlink == 1


def test_a_run_directory_without_permission_is_refused_at_once(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copied(run, tmp_path / "run")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert main(["resume", str(path), "--steps", "1"]) == 2
    assert "no permission to write here" in capsys.readouterr().err


@pytest.mark.parametrize("pid", [1, os.getppid()])
def test_stop_tells_a_lock_that_nobody_holds(
    pid: int, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A lock may name any living process of this machine; only the system knows who holds it."""
    path = copied(run, tmp_path / "run")
    named = Holder.me().__dict__ | {"pid": pid, "started": ""}
    (path / LOCK).write_text(json.dumps(named))
    began = time.monotonic()
    assert main(["stop", str(path)]) == 1
    assert time.monotonic() - began < 2.0
    assert "does not hold it" in capsys.readouterr().out
    assert not (path / STOP).exists()


def test_damaged_runs_end_in_an_answer_or_a_sentence_and_lose_no_best_board(tmp_path: Path) -> None:
    outcome = fuzz(tmp_path, 150, 1)
    assert outcome["done"] > 75 and outcome["refused"] > 12


def test_nothing_is_waited_for_when_a_file_is_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(InputError, match="expected a"):
            open_to_read(path)


def test_a_name_of_control_characters_does_not_grow_from_resume_to_resume(run: Path, tmp_path: Path) -> None:
    """Escaped, it would be longer than what the next resume reads."""
    path = copied(run, tmp_path / "run")
    lines = (path / BOARDS).read_text().splitlines()
    record = json.loads(lines[-1]) | {"origin": 60 * "\x1b"}
    del record["sum"]
    (path / BOARDS).write_text("\n".join([*lines, seal(record)]) + "\n")
    (path / CHECKPOINT).unlink()
    for _ in range(4):
        assert main(["resume", str(path), "--time", "60", "--steps", "1", "--quiet"]) in (0, 1)
    assert "\\u001b" not in (path / STATUS).read_text() and 15 * "\\\\x1b" in (path / STATUS).read_text()


def test_no_copy_of_a_directory_by_hard_links_takes_the_lock_of_a_run(run: Path, tmp_path: Path) -> None:
    path, copy = copied(run, tmp_path / "run"), tmp_path / "copy"
    with closing(Lock(path)) as lock:
        assert not is_free(path)
        shutil.copytree(path, copy, copy_function=os.link)
        for directory in (path, copy):
            with pytest.raises(InputError, match="a run is under way here"):
                Lock(directory)
        assert lock.is_in_place()
    assert is_free(path) and (path / LOCK).read_text() == ""


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
