"""Islands: one search a worker, in rounds of seconds, through the ``concurrent.futures.Executor`` interface.

A round is a picklable task (where the island stands, how long) and a picklable report (where it stands now, its best).
The parent keeps the last report of every island; a worker that dies costs one round. Nothing mutable is shared.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from instances.board import Board
from instances.puzzle import Puzzle
from lns.engine import State, Statistics, make_engine
from lns.params import Params

log = logging.getLogger("lns")

FIRST_ROUND_S, ROUND_S = 0.5, 2.0
_stop_event: threading.Event | None = None  # set once in each worker process, by its initializer


@dataclass(frozen=True)
class Task:
    """One round of one island. ``incumbent``: the best board of all islands, which this one may take over."""

    puzzle: Puzzle
    params: Params
    engine: str
    seed: int
    island: int
    state: State | None
    incumbent: Board | None
    incumbent_score: int
    target: int
    seconds: float


@dataclass(frozen=True)
class Report:
    """What an island answers. ``finished``: nothing is left to search, or the target is met."""

    island: int
    state: State
    best: Board | None
    best_score: int
    origin: str
    statistics: Statistics
    finished: bool


def run_round(task: Task) -> Report:
    """Search for ``task.seconds``: whole steps, so that where a round ends changes nothing in the trajectory."""
    end = time.monotonic() + task.seconds
    engine = make_engine(task.engine, task.puzzle, task.params, task.seed, task.island)
    if task.state is not None:
        engine.restore(task.state)
    if task.incumbent is not None:
        engine.meet(task.incumbent, task.incumbent_score)
    finished = False
    while not finished:
        engine.step(task.target)
        finished = engine.exhausted or engine.best_score >= task.target
        if time.monotonic() >= end or (_stop_event is not None and _stop_event.is_set()):
            break
    return Report(
        task.island, engine.state(), engine.best, engine.best_score, engine.origin, engine.statistics, finished
    )


class Archipelago:
    """Runs ``workers`` islands until told to stop; calls ``on_report`` in the parent after each round."""

    def __init__(
        self,
        puzzle: Puzzle,
        params: Params,
        seed: int,
        workers: int,
        *,
        engine: str = "auto",
        start: Board | None = None,
        start_score: int = -1,
        executor: Executor | None = None,
    ) -> None:
        self.puzzle, self.params, self.seed, self.workers = puzzle, params, seed, workers
        self.engine = engine
        self.best, self.best_score, self.origin = start, start_score, "start"
        self.reports: dict[int, Report] = {}
        self._foreign = executor
        self._stop = False
        self._event: Any = None

    def stop(self) -> None:
        """End after the steps that are under way."""
        self._stop = True
        if self._event is not None:
            self._event.set()

    def run(self, seconds: float, target: int, on_report: Callable[[Archipelago], None]) -> None:
        """Search until ``seconds`` are over, ``target`` is reached, or every island is finished."""
        context = multiprocessing.get_context("spawn")
        self._event = context.Event()
        end = time.monotonic() + seconds
        executor = self._foreign or self._pool(context)
        waiting: dict[Future[Report], int] = {}
        finished: set[int] = set()
        try:
            while True:
                for island in range(self.workers):
                    if island not in waiting.values() and island not in finished:
                        waiting[executor.submit(run_round, self._task(island, end, target))] = island
                done, _ = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                try:
                    for future in done:
                        island = waiting.pop(future)
                        report = future.result()
                        self._take(report)
                        if report.finished:
                            finished.add(island)
                except BrokenExecutor:
                    log.warning("a worker died; its island goes on from its last round")
                    waiting.clear()
                    executor.shutdown(wait=False, cancel_futures=True)
                    executor = self._foreign or self._pool(context)
                on_report(self)
                over = self._stop or self.best_score >= target or time.monotonic() >= end
                if over or len(finished) == self.workers:
                    self._event.set()
                    for future in waiting:  # rounds under way end at their next step
                        self._take(future.result())
                    on_report(self)
                    return
        finally:
            if self._foreign is None:
                executor.shutdown(wait=False, cancel_futures=True)

    def _pool(self, context: multiprocessing.context.SpawnContext) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.workers, context, initializer=_enter_worker, initargs=(self._event,))

    def _task(self, island: int, end: float, target: int) -> Task:
        last = self.reports.get(island)
        seconds = min(ROUND_S if last else FIRST_ROUND_S, max(0.05, end - time.monotonic()))
        own = last.best_score if last else -1
        return Task(
            self.puzzle,
            self.params,
            self.engine,
            self.seed,
            island,
            last.state if last else None,
            self.best if self.best_score > own else None,
            self.best_score,
            target,
            seconds,
        )

    def _take(self, report: Report) -> None:
        self.reports[report.island] = report
        if report.best is not None and report.best_score > self.best_score:
            self.best, self.best_score, self.origin = report.best, report.best_score, report.origin

    @property
    def statistics(self) -> Statistics:
        """Sums over the islands."""
        total = Statistics()
        for report in self.reports.values():
            total = total + report.statistics
        return total


def _enter_worker(event: threading.Event) -> None:
    """In a worker process: leave Ctrl-C to the parent, and never outlive it."""
    global _stop_event
    _stop_event = event
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)
