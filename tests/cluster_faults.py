"""Kill workers of a cluster at random moments: `python -m tests.cluster_faults [KILLS] [SEED]`, 20 kills by default.

Four workers search a board. Every three seconds or so one is killed, and another one joins. At the end all islands have
to go on, and every board in the log, and the best one, has to be what it says. Then the scheduler is killed; the run
has to end saved, with one sentence, and to go on here.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from lns.instances.verify import verify
from lns.runs import checkpoint as checkpoints
from lns.runs.board_log import BoardLogReader
from lns.runs.directory import read_best, read_run
from lns.runs.files import CHECKPOINT
from lns.runs.run_summary import load_summary
from tests.dask_processes import ROOT, dask_cluster

WORKERS, PAUSE_S = 4, 3.0


def main(kills: int, seed: int) -> int:
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder, dask_cluster(Path(folder), workers=WORKERS) as cluster:
        run = Path(folder) / "run"
        search = _search(
            "solve", "like-e2-12x12", "--engine", "tabu", "--time", "1d", "--cluster", cluster.address, "--workers",
            str(WORKERS), "--run-dir", str(run), "--checkpoint", "2",
        )  # fmt: skip
        _await(lambda: len(_steps(run)) == WORKERS, search, "the first checkpoint of all islands")
        logged: list[bytes] = []
        for kill in range(1, kills + 1):
            time.sleep(chance.uniform(0.0, 2 * PAUSE_S))
            alive = [worker for worker in cluster.workers if worker.poll() is None]
            victim = chance.choice(alive)
            os.killpg(victim.pid, signal.SIGKILL)
            victim.wait()
            cluster.add()
            before, logged = logged, _log(run)
            if logged[: len(before)] != before or search.poll() is not None:
                print(f"kill {kill}: the log lost boards, or the run ended: {search.communicate()[1]}")
                return 1
            print(f"kill {kill}: best {load_summary(run).score}, {len(logged)} boards in the log", flush=True)
        _await(lambda: len(_steps(run)) == WORKERS, search, "a checkpoint")
        before_steps = _steps(run)
        _await(
            lambda: min((_steps(run).get(n, 0) - made for n, made in before_steps.items())) > 0,
            search,
            "steps of all islands",
        )
        print(f"{kills} kills: all {len(before_steps)} islands go on")
        cluster.scheduler.kill()
        _, said = search.communicate(timeout=120)
        print(f"the scheduler killed: exit status {search.returncode}: {said.splitlines()[-1]}")
        again = _search("resume", str(run), "--time", "600", "--steps", "1", "--workers", "2")
        again.communicate(timeout=600)
        _, puzzle = read_run(run)
        best = read_best(run, puzzle)
        boards = list(BoardLogReader(run, puzzle).read())
        wrong = [entry for entry in boards if verify(puzzle, entry.board).score != entry.score]
        top = max((entry.score for entry in boards), default=-1)
        kept = best is not None and best.score == top and _log(run)[: len(logged)] == logged and not wrong
        print(f"resumed here: exit status {again.returncode}, best {top}, {len(boards)} boards, {len(wrong)} wrong")
        return int(search.returncode != 2 or again.returncode != 0 or not kept)


def _search(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "lns", *arguments, "--quiet"]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _steps(run: Path) -> dict[int, int]:
    """Steps of each island in the last checkpoint."""
    try:
        settings, puzzle = read_run(run)
        islands = checkpoints.load(run / CHECKPOINT, settings.run, puzzle, {}).islands
    except ValueError:
        return {}
    return {number: island.steps for number, island in islands.items() if island.steps}


def _log(run: Path) -> list[bytes]:
    """The whole lines of the log of boards."""
    return [line for line in (run / "boards.jsonl").read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


def _await(condition: Callable[[], bool], search: subprocess.Popen[str], what: str, seconds: float = 180.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert search.poll() is None, search.communicate()[1]
        assert time.monotonic() < end, f"{what} did not come in {seconds:g} s"
        time.sleep(0.2)


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    sys.exit(main(*numbers, *[20, 1][len(numbers) :]))
