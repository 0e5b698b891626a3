"""Figures of the cluster: `python -m tests.cluster_figures traffic|parent|overhead [SECONDS]`, all on this machine.

`traffic` searches a 16x16 board on two workers and counts what tasks, reports and calls take as pickles.
`parent` is a session of 1,000 islands whose engines only sleep; states, boards, rounds and checkpoints are of the usual
size, and every ten seconds one island finds a new best.
`overhead` alternates between one local worker and one Dask worker and compares nodes a second.
"""

from __future__ import annotations

import argparse
import pickle
import resource
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client

import lns
from lns.cluster import DaskWorkers
from lns.engine import FoundBoard, State, Statistics
from lns.exact.child_process import peak_bytes
from lns.instances.board import Board
from lns.instances.formats import load_puzzle
from lns.instances.puzzle import Puzzle
from lns.islands import Archipelago
from lns.params import Params
from lns.rounds import Search, Task
from lns.runs import checkpoint as checkpoints
from lns.runs.checkpoint import Checkpoint
from lns.runs.files import CHECKPOINT
from lns.runs.history import RunHistory
from tests.dask_processes import dask_cluster

PUZZLE = "like-e2-16x16"
ISLANDS, PROCESSES = 1000, 4  # of `parent`
BEST_S, STEP_S = 10.0, 1.0  # between two new bests, and between two looks of an island
PRELOAD = """
import lns.engines, lns.warmup
from tests.cluster_figures import Simulated
lns.engines.make_engine = Simulated
lns.warmup.warm_up = lambda *_: None
"""


class Simulated:
    """An engine that searches nothing. A score is the time in milliseconds at which island 0 'found' the board.

    ``statistics.tail_nodes`` is the longest time that a new best took to this island, ``beam_nodes`` how many came.
    """

    origin = "simulated"

    def __init__(self, name: str, puzzle: Puzzle, params: Params, seed: int, number: int, *_: object) -> None:
        self._number, self._made_at, self._next = number, _now(), time.monotonic() + BEST_S
        self._board = Board(np.arange(puzzle.cells, dtype=np.int32) * 4, puzzle.width, puzzle.height)
        self._noise = np.random.default_rng(number).integers(0, 2**40, 5000)
        self._found: list[FoundBoard] = []
        self.best: Board | None = None
        self.best_score = -1
        self.statistics = Statistics(nodes=1)

    def step(self, *, wanted: int = 0) -> None:
        time.sleep(STEP_S)
        if self._number == 0 and time.monotonic() >= self._next:
            self._next += BEST_S
            self.best, self.best_score = self._board, _now()
            self._found.append(FoundBoard(self._board, self.best_score, self.origin))

    def inject_incumbent(self, board: Board, score: int) -> None:
        if score > max(self.best_score, self._made_at):
            self.statistics.tail_nodes = max(self.statistics.tail_nodes, _now() - score)
            self.statistics.beam_nodes += 1
        self.best, self.best_score = board, max(score, self.best_score)

    def pop_boards(self) -> list[FoundBoard]:
        found, self._found = self._found, []
        return found

    def state(self) -> State:
        return {"noise": self._noise, "tables": np.zeros(200_000, dtype=np.int64)}

    def restore(self, state: State) -> None:
        """Nothing is searched."""


def _now() -> int:
    return time.time_ns() // 10**6


class Counted(DaskWorkers):
    """Workers that count what travels."""

    def __init__(self, client: Client, **options: Any) -> None:
        super().__init__(client, **options)
        self.bytes: Counter[str] = Counter()

    def _send(self, future: Future[Any], function: Callable[..., Any], task: Task, address: str) -> None:
        self._count("tasks", task)
        future.add_done_callback(lambda done: self._count("reports", None if done.exception() else done.result()))
        super()._send(future, function, task, address)

    def _tell(self, what: str, *arguments: object) -> None:
        for _ in self._hosts:
            self._count("calls", arguments)
        super()._tell(what, *arguments)

    def _count(self, what: str, sent: object) -> None:
        self.bytes[what] += len(pickle.dumps(sent, protocol=5))
        self.bytes[f"number of {what}"] += 1


def traffic(seconds: float) -> None:
    puzzle = load_puzzle(PUZZLE)
    with (
        tempfile.TemporaryDirectory() as folder,
        dask_cluster(Path(folder), workers=2) as cluster,
        Client(cluster.address, set_as_default=False) as client,
    ):
        _await_workers(client, 2)
        workers = Counted(client)
        archipelago = Archipelago(Search(puzzle, Params(), 1), 2, executor=workers)
        archipelago.run(seconds, puzzle.max_score, lambda _: None)
        peaks = [peak_bytes(worker.pid) / 1e6 for worker in cluster.workers]
    total = sum(size for what, size in workers.bytes.items() if not what.startswith("number"))
    packed = [len(island.state.data) for island in archipelago.islands.values() if hasattr(island.state, "data")]
    print(f"{archipelago.elapsed:.0f} s, best {archipelago.best_score}: {dict(workers.bytes)}")
    print(f"{total / 2 / archipelago.elapsed / 1e3:.2f} kB/s and island; states of {packed} bytes, packed")
    print(f"memory of the workers at most {max(peaks):.0f} MB")


def parent(seconds: float) -> None:
    puzzle = load_puzzle(PUZZLE)
    history, saved = RunHistory(seconds), {"at": time.monotonic(), "score": -1, "seconds": 0.0, "times": 0}
    began: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, dask_cluster(Path(folder)) as cluster:
        for _ in range(PROCESSES):
            cluster.add(threads=ISLANDS // PROCESSES, preload=PRELOAD)
        with Client(cluster.address, set_as_default=False) as client:
            _await_workers(client, PROCESSES)
            workers = Counted(client)
            archipelago = Archipelago(Search(puzzle, Params(), 1), ISLANDS, executor=workers)

            def observe(archipelago: Archipelago) -> None:
                archipelago.pop_boards()
                now = time.monotonic()
                if not began and len(archipelago.islands) == ISLANDS:
                    began.update(cpu=_cpu(), at=now, scheduler=_cpu_of(cluster.scheduler.pid))
                if archipelago.best_score > saved["score"] or now - saved["at"] >= 60:
                    checkpoints.save(Path(folder), "figures", puzzle, Checkpoint(history, archipelago.islands, 0))
                    saved.update(at=now, score=archipelago.best_score, times=saved["times"] + 1)
                    saved["seconds"] += time.monotonic() - now

            archipelago.run(seconds, 10**15, observe)
            wall = time.monotonic() - began["at"]
            mine, scheduler = _cpu() - began["cpu"], _cpu_of(cluster.scheduler.pid) - began["scheduler"]
            size = (Path(folder) / CHECKPOINT).stat().st_size
    late = [island.statistics.tail_nodes / 1e3 for island in archipelago.islands.values()]
    came = [island.statistics.beam_nodes for number, island in archipelago.islands.items() if number]
    total = sum(size for what, size in workers.bytes.items() if not what.startswith("number"))
    print(f"{len(archipelago.islands)} islands in {PROCESSES} workers, {wall:.0f} s after all had reported")
    print(
        f"parent: {100 * mine / wall:.0f}% of a core, {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB"
    )
    print(f"scheduler: {100 * scheduler / wall:.0f}% of a core")
    print(
        f"{saved['times']} checkpoints of {size / 1e6:.1f} MB, {saved['seconds'] / max(1, saved['times']):.2f} s each"
    )
    print(f"new bests at each island: {min(came)} to {max(came)}; latest after {max(late):.2f} s, "
          f"median of the islands {statistics.median(late):.2f} s")  # fmt: skip
    print(f"{total / ISLANDS / wall / 1e3:.2f} kB/s and island: {dict(workers.bytes)}")


def overhead(seconds: float) -> None:
    options: dict[str, Any] = {"time": seconds, "workers": 1, "seed": 1, "progress": None}
    rates: dict[str, list[float]] = {"local": [], "cluster": []}
    with (
        tempfile.TemporaryDirectory() as folder,
        dask_cluster(Path(folder), workers=1) as cluster,
        Client(cluster.address, set_as_default=False) as client,
    ):
        _await_workers(client, 1)
        for name, executor in [("cluster", client), *[("local", None), ("cluster", client)] * 5]:
            result = lns.solve(PUZZLE, executor=executor, **options)
            rates[name].append(result.statistics.node_equivalents / result.elapsed_s / 1e6)
            print(f"{name:8} {rates[name][-1]:.3f} M node equivalents/s", flush=True)
    local, there = statistics.median(rates["local"]), statistics.median(rates["cluster"][1:])
    print(f"medians: local {local:.3f}, cluster {there:.3f}: overhead {100 * (1 - there / local):+.1f}%")


def _await_workers(client: Client, count: int) -> None:
    client.wait_for_workers(count, timeout=120)


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figure", choices=("traffic", "parent", "overhead"))
    parser.add_argument("seconds", type=float, nargs="?", default=120.0)
    arguments = parser.parse_args()
    {"traffic": traffic, "parent": parent, "overhead": overhead}[arguments.figure](arguments.seconds)
