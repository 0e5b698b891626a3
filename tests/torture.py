"""Kills: the whole process group of a run gets SIGKILL at a random moment, or at a random system call of its writers
(write, fsync, rename), so also in the middle of a checkpoint; then the run is resumed. After each kill the best score
must not have fallen, every board seen in the log before must still be there, and the resume must have got to work.
"""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lns.instances.errors import InputError
from lns.instances.verify import verify
from lns.runs.board_log import BoardLogReader
from lns.runs.directory import read_best, read_run
from lns.runs.files import SETTINGS, STATUS, read_sealed
from lns.runs.history import read_status
from lns.runs.lock import process_is_alive, read_holder

KILLS_A_RUN = 5
ROOT = Path(__file__).resolve().parent.parent


def torture_kills(folder: Path, count: int, seed: int) -> Counter[str]:
    """Kill a run ``count`` times; the outcomes by kind. Raises AssertionError when anything is lost."""
    chance = random.Random(seed)
    outcome: Counter[str] = Counter()
    for number in range(count):
        if number % KILLS_A_RUN == 0:
            path, best, log = folder / f"run{number}", -1, set[bytes]()
        kind = chance.choice(["a moment", "a call"])
        calls = chance.randrange(1, 200) if kind == "a call" else 0
        pause = chance.uniform(0.0, 3.0) if kind == "a moment" else 30.0
        worked = kill_once(path, calls, pause, number)
        if not (path / SETTINGS).exists():
            outcome["before the directory was made"] += 1
            shutil.rmtree(path, ignore_errors=True)
            continue
        found_best, found_log = on_disk(path)
        assert found_best >= best, f"kill {number}: the best fell from {best} to {found_best}"
        assert found_log >= log, f"kill {number}: {len(log - found_log)} boards of the log are lost"
        best, log = found_best, found_log
        outcome[f"at {kind}, {'at work' if worked else 'while it started'}"] += 1
    return outcome


def kill_once(path: Path, calls: int, pause: float, number: int) -> bool:
    """Start or resume a run and kill its group; True when a worker had made a step."""
    arguments = ["resume", str(path)]
    if not path.exists():
        arguments = ["solve", "like-e2-10x10", "--run-dir", str(path), "--checkpoint", "0.1", "--min-score", "0"]
        arguments += ["--engine", random.Random(number).choice(["auto", "tabu"]), "--seed", str(number)]
    common = ["--time", "1h", "--workers", "2", "--quiet"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.torture", "--child", str(calls), *arguments, *common],
        cwd=ROOT, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        end = time.monotonic() + 120.0
        while not at_work(path, process.pid) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        worked = at_work(path, process.pid)
        try:
            process.wait(pause)
        except subprocess.TimeoutExpired:
            assert worked, "the run did not get to work in 120 s"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        output = process.communicate()[0].decode(errors="replace")
    assert process.returncode == -signal.SIGKILL, f"the run ended by itself ({process.returncode}): {output}"
    assert "Traceback" not in output, output
    return worked


def on_disk(path: Path) -> tuple[int, set[bytes]]:
    """Best score and boards of the log, verified; the best is what status.json announced, or better."""
    settings, puzzle = read_run(path)
    best = read_best(path, puzzle)
    score = -1 if best is None else best.score
    try:
        announced = read_status(path, settings.run)[0].best_score
    except InputError:  # not written yet
        announced = -1
    assert score >= announced, f"status.json announced {announced}, best.json holds {score}"
    boards, reader = set(), BoardLogReader(path, puzzle)
    for entry in reader.read():
        judged = verify(puzzle, entry.board)
        assert judged.valid and judged.full and judged.score == entry.score
        boards.add(entry.board.placements.tobytes())
    assert not reader.damaged
    return score, boards


def at_work(path: Path, pid: int) -> bool:
    """Whether the run of this process has heard of its workers."""
    holder = read_holder(path)
    try:
        return (
            holder is not None
            and holder.pid == pid
            and any(map(process_is_alive, read_sealed(path / STATUS).array("pids")))
        )
    except InputError:
        return False


def child(calls: int, arguments: list[str]) -> int:
    """Run the program; with ``calls`` the whole group is killed before the so-manieth system call of a writer."""
    from lns.cli.main import main

    left = [calls]

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def instead(*args: Any, **kwargs: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                if call is write and len(args[1]) > 1:
                    write(args[0], bytes(args[1])[: len(args[1]) // 2])  # half a line
                os.killpg(0, signal.SIGKILL)
            return call(*args, **kwargs)

        return instead

    write = os.write
    if calls:
        os.write, os.fsync, os.ftruncate = counted(os.write), counted(os.fsync), counted(os.ftruncate)
        os.replace, os.unlink = counted(os.replace), counted(os.unlink)
    return main(arguments)


if __name__ == "__main__":
    sys.exit(child(int(sys.argv[2]), sys.argv[3:]))
