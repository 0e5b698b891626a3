"""Figures of runs: `python -m tests.run_figures [--week DIR]` prints what checkpoints, resumes and looks cost.

``--week``: a directory that `python -m tests.long_run DIR` wrote.
"""

from __future__ import annotations

import argparse
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from lns.engines import make_engine
from lns.instances.formats import load_puzzle
from lns.params import Params
from lns.rounds import Island, Search, Task, run_round
from lns.runs import checkpoint as checkpoints
from lns.runs.checkpoint import Checkpoint
from lns.runs.history import RunHistory
from lns.runs.run_summary import load_summary
from lns.worker_pool import ROUND_S
from tests.torture import ROOT, at_work

ISLANDS, INTERVAL_S, TIMES = 2, 60.0, 20


def timed(action: Callable[[], object]) -> tuple[float, float]:
    """(wall, processor) milliseconds of ``action``, the median of some calls."""
    walls, processors = [], []
    for _ in range(TIMES):
        wall, processor = time.perf_counter(), time.process_time()
        action()
        walls.append((time.perf_counter() - wall) * 1e3)
        processors.append((time.process_time() - processor) * 1e3)
    return statistics.median(walls), statistics.median(processors)


def checkpoint_cost(engine: str) -> None:
    """What a checkpoint takes of the parent, and a round's saving and restoring of a worker."""
    puzzle, params = load_puzzle("like-e2-16x16"), Params()
    report = run_round(Task(Search(puzzle, params, 1, engine), 0, 1, None, None, -1, puzzle.max_score, 0.0, 1))
    islands = {
        number: Island(number, report.island.state, report.island.best_score, report.island.statistics, 1)
        for number in range(ISLANDS)
    }
    with tempfile.TemporaryDirectory(dir=ROOT / "runs" if (ROOT / "runs").is_dir() else None) as folder:
        state = Checkpoint(RunHistory(60.0), islands, 0)
        wall, processor = timed(lambda: checkpoints.save(Path(folder), "0" * 32, puzzle, state))
        size = (Path(folder) / "checkpoint.npz").stat().st_size
    share = processor / 1e3 / (INTERVAL_S * ISLANDS)
    print(
        f"{engine:<5} checkpoint of {ISLANDS} islands: {size / 1024:,.0f} KiB, {wall:.1f} ms, {processor:.1f} ms of a "
        f"processor; every {INTERVAL_S:g} s: {share:.4%} of {ISLANDS} cores"
    )
    engine_again = make_engine(engine, puzzle, params, 1, 0)
    made, _ = timed(lambda: make_engine(engine, puzzle, params, 1, 0))
    restored, _ = timed(lambda: engine_again.restore(report.island.state))
    carried, _ = timed(lambda: pickle.loads(pickle.dumps(report)))
    total = made + restored + carried
    print(
        f"{engine:<5} between two rounds: make {made:.1f} ms, restore {restored:.1f} ms, carry {carried:.1f} ms; "
        f"every {ROUND_S:g} s: {total / 1e3 / ROUND_S:.2%}"
    )


def resume_time() -> None:
    """From the command to the first report of a worker (its first round lasts half a second)."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        lns = [sys.executable, "-m", "lns"]
        solve = [*lns, "solve", "like-e2-16x16", "--time", "3", "--quiet", "--run-dir", str(run)]
        subprocess.run(solve, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        began = time.perf_counter()
        resume = [*lns, "resume", str(run), "--time", "1h", "--quiet"]
        process = subprocess.Popen(resume, cwd=ROOT, stdout=subprocess.DEVNULL)
        try:
            while not at_work(run, process.pid):
                time.sleep(0.01)
            wall = time.perf_counter() - began
            used = [processor_seconds(pid) for pid in (process.pid, *load_summary(run).heartbeat.pids)]
        finally:
            process.terminate()
            process.wait()
    words = " and ".join(f"{seconds:.2f} s" for seconds in used)
    print(f"resume to the first report: {wall:.2f} s, 0.5 s of it the first round; parent and worker used {words}")


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def status_time(week: Path) -> None:
    """`lns status`, the whole process."""
    times = []
    for _ in range(5):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "lns", "status", str(week)], cwd=ROOT, check=True)
        times.append(time.perf_counter() - began)
    size = (week / "boards.jsonl").stat().st_size
    print(f"status on a log of {size / 2**20:,.0f} MiB: {min(times):.2f} to {max(times):.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description="figures of runs", prog="python -m tests.run_figures")
    parser.add_argument("--week", type=Path)
    args = parser.parse_args()
    load = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    print(f"load of the machine {load} on {os.cpu_count()} processors")
    for engine in ("auto", "tabu"):
        checkpoint_cost(engine)
    resume_time()
    if args.week is not None:
        status_time(args.week)


if __name__ == "__main__":
    main()
