"""Islands: one search a worker, in rounds of seconds, through the ``concurrent.futures.Executor`` interface.

A round is a picklable task (where the island stands, how long) and a picklable report (where it stands now, what it
found). The parent keeps where every island stands; a worker that dies costs one round. Nothing mutable is shared.
"""

from __future__ import annotations

import logging
import os
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass

import numpy as np

from instances.board import Board
from instances.puzzle import Puzzle
from lns.engine import Engine, FoundBoard, State, Statistics
from lns.params import Params
from lns.worker_pool import WorkerLost, WorkerPool, is_worker, stop_requested
from lns_support.errors import InputError

log = logging.getLogger("lns")

FIRST_ROUND_S, ROUND_S = 0.5, 2.0
TICK_S = 0.2  # how long a signal or a stop may wait for the parent
GRACE_S = 1.0  # for rounds under way at the end; a worker that compiles or hangs is not waited for any longer
LOST_ROUNDS = 5  # in a row, and the island is given up

_kept: list[tuple[Task, State, Engine]] = []  # in a worker: the island of its last round, to go on without restoring


@dataclass(frozen=True)
class Island:
    """Where an island stands, enough to go on anywhere. ``exhausted``: nothing is left to search."""

    number: int
    state: State
    best_score: int
    statistics: Statistics
    steps: int
    exhausted: bool = False


@dataclass(frozen=True)
class Task:
    """One round of one island. ``incumbent``: the best board of all islands, which this one may take over.

    ``number``: of ``islands``, so many. ``steps``: at most so many in this round, None = as many as ``seconds`` hold.
    ``min_score``: boards below this score are not reported, unless they are new bests.
    """

    puzzle: Puzzle
    params: Params
    engine: str
    seed: int
    number: int
    islands: int
    island: Island | None
    incumbent: Board | None
    incumbent_score: int
    target: int
    seconds: float
    steps: int | None = None
    min_score: int = 0


@dataclass(frozen=True)
class Report:
    """What an island answers. ``worker``: the process that did it; ``seconds``: of search in this round."""

    island: Island
    best: Board | None
    origin: str
    found_boards: tuple[FoundBoard, ...]
    worker: int
    seconds: float


def run_round(task: Task) -> Report:
    """Search for ``task.seconds``: whole steps, so that where a round ends changes nothing in the trajectory.

    A new best of all islands ends the round: it is told before anything can happen to it. In a new process the seconds
    begin when the kernels are there.
    """
    from lns.warmup import warm_up  # not above: whoever only looks at a run needs no engine

    warm_up(task.engine)
    end = time.monotonic() + task.seconds
    engine = _engine(task)
    if task.incumbent is not None:
        engine.inject_incumbent(task.incumbent, task.incumbent_score)
    steps, best = 0, max(task.incumbent_score, engine.best_score)
    while not engine.exhausted and engine.best_score < task.target and steps != task.steps:
        engine.step(task.target)
        steps += 1
        if engine.best_score > best or time.monotonic() >= end or stop_requested():
            break
    found_boards = _worth_telling(engine.pop_boards(), task)
    before = task.island.steps if task.island is not None else 0
    island = Island(
        task.number, engine.state(), engine.best_score, engine.statistics, before + steps, bool(engine.exhausted)
    )
    if is_worker():
        _kept[:] = [(task, island.state, engine)]
    seconds = time.monotonic() - end + task.seconds
    return Report(island, engine.best, engine.origin, found_boards, os.getpid(), seconds)


def _worth_telling(found_boards: list[FoundBoard], task: Task) -> tuple[FoundBoard, ...]:
    """The boards of ``task.min_score`` or more, and every one that was a new best."""
    best = max(task.incumbent_score, -1 if task.island is None else task.island.best_score)
    wanted: list[FoundBoard] = []
    for find in found_boards:
        if find.score > best or find.score >= task.min_score:
            wanted.append(find)
        best = max(best, find.score)
    return tuple(wanted)


def _engine(task: Task) -> Engine:
    """The engine where the task says it stands: mostly the one that this worker has just used, else restored."""
    if task.island is not None:
        for last, state, engine in _kept:
            if _made_from(last) == _made_from(task) and _equal(state, task.island.state):
                return engine
    from lns.engines import make_engine

    engine = make_engine(*_made_from(task))
    if task.island is not None:
        engine.restore(task.island.state)
    return engine


def _made_from(task: Task) -> tuple[str, Puzzle, Params, int, int, int]:
    return task.engine, task.puzzle, task.params, task.seed, task.number, task.islands


def _equal(a: State, b: State) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name], equal_nan=True) for name in a)


class Archipelago:
    """Runs ``workers`` islands until told to stop; calls ``on_report`` in the parent after each round, and every tick.

    ``islands``: where every island stands by number, those of earlier sessions without a worker too.
    """

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
        islands: dict[int, Island] | None = None,
    ) -> None:
        self.puzzle, self.params, self.seed, self.workers = puzzle, params, seed, workers
        self.engine = engine
        self.best, self.best_score, self.origin = start, start_score, "start"
        self.islands: dict[int, Island] = dict(islands or {})
        self.pids: dict[int, int] = {}  # island -> the worker that reported last
        self.min_score = 0
        self._finds: list[tuple[int, FoundBoard]] = []
        self._lost: Counter[int] = Counter()
        self._idle: set[int] = set(range(workers))
        self._executor = executor
        self._pool: WorkerPool | None = None
        self._stop = False
        self._began: float | None = None
        self._elapsed = 0.0

    def stop(self) -> None:
        """End after the steps that are under way."""
        self._stop = True
        if self._pool is not None:
            self._pool.ask_to_stop()

    def kill(self) -> None:
        """End the workers at once, whatever they do."""
        if self._pool is not None:
            self._pool.kill()

    @property
    def elapsed(self) -> float:
        """Seconds of search in this session, by the monotonic clock, from the first step on that a worker made.

        Starting the workers is not counted, nor is `warm_up`, in which they compile or load the kernels.
        """
        return self._elapsed if self._began is None else time.monotonic() - self._began

    @property
    def exhausted(self) -> bool:
        """Whether every island with a worker has searched all there is."""
        return all(self._is_exhausted(number) for number in range(self.workers))

    def _is_exhausted(self, number: int) -> bool:
        return number in self.islands and self.islands[number].exhausted

    @property
    def statistics(self) -> Statistics:
        """Sums over the islands, earlier sessions included."""
        return sum((island.statistics for island in self.islands.values()), Statistics())

    def pop_boards(self) -> list[tuple[int, FoundBoard]]:
        """(island, board) of what was found since the last call."""
        found_boards, self._finds = self._finds, []
        return found_boards

    def run(
        self,
        seconds: float,
        target: int,
        on_report: Callable[[Archipelago], None],
        *,
        steps: int | None = None,
    ) -> str:
        """Search until ``seconds`` are over, ``target`` is reached, or every island has made ``steps`` or is exhausted.

        Returns why it ended: 'target reached', 'nothing left to search', 'stopped', 'time over', 'steps made' or, where
        some islands are exhausted and the others given up, 'workers lost'.
        Raises InputError when no worker can be kept alive, and whatever the engine raises in a worker.
        """
        pool = None if self._executor is not None else WorkerPool(self.workers)
        self._pool, executor = pool, self._executor or pool
        assert executor is not None
        last_step = {number: self._steps_of(number) + steps for number in range(self.workers)} if steps else {}
        waiting: dict[Future[Report], int] = {}
        try:
            while not (why := self._over(seconds, target)):
                for number in sorted(self._idle):
                    left = last_step[number] - self._steps_of(number) if steps else None
                    if left == 0 or self._is_exhausted(number):
                        self._idle.discard(number)
                        continue
                    waiting[executor.submit(run_round, self._task(number, seconds, target, left))] = number
                    self._idle.discard(number)
                if not waiting:
                    why = "steps made" if steps else "workers lost"
                    break
                self._collect(waiting, TICK_S)
                on_report(self)
            if pool is not None:
                pool.ask_to_stop()
            grace = time.monotonic() + (GRACE_S if pool is not None else 2 * ROUND_S)
            while waiting and time.monotonic() < grace:  # rounds under way end at their next step
                self._collect(waiting, TICK_S)
            if pool is not None and waiting:
                pool.kill()
            on_report(self)
            if self.best_score >= target:  # by a round that was under way
                return "target reached"
            return "nothing left to search" if self.exhausted else why
        finally:
            self._elapsed, self._began = self.elapsed, None
            if pool is not None:
                pool.shutdown()

    def _over(self, seconds: float, target: int) -> str:
        """Why the search ends now; "" when it goes on."""
        if self.best_score >= target:
            return "target reached"
        if self._stop:
            return "stopped"
        return "time over" if self.elapsed >= seconds else ""

    def _collect(self, waiting: dict[Future[Report], int], seconds: float) -> None:
        """Take the reports that are in, waiting at most ``seconds`` for the first."""
        done, _ = wait(waiting, timeout=seconds, return_when=FIRST_COMPLETED)
        failed: BaseException | None = None
        for future in sorted(done, key=waiting.__getitem__):
            number, error = waiting.pop(future), future.exception()
            if error is None:
                self._take(future.result())
                self._lost[number] = 0
                self._idle.add(number)
            elif isinstance(error, (WorkerLost, BrokenExecutor)):
                self._handle_lost_worker(number, error)
            else:
                failed = error
        if failed is not None:  # what the others found is taken first
            raise failed

    def _handle_lost_worker(self, number: int, error: Exception) -> None:
        self._lost[number] += 1
        if self._lost[number] < LOST_ROUNDS:
            log.warning("%s; a new one takes island %d over from its last round", error, number)
            self._idle.add(number)
            return
        log.warning("%s, the %dth in a row: island %d is given up", error, LOST_ROUNDS, number)
        if sum(lost >= LOST_ROUNDS for lost in self._lost.values()) == self.workers:
            raise InputError(
                f"no worker stays alive ({error}); expected memory and rights to run {self.workers} of them"
            )

    def _steps_of(self, number: int) -> int:
        return self.islands[number].steps if number in self.islands else 0

    def _task(self, number: int, seconds: float, target: int, steps: int | None) -> Task:
        last = self.islands.get(number)
        own = last.best_score if last else -1
        new = number not in self.pids
        # after a killed session a lone island makes again what is on file; told of it, it would go another way
        again = self.workers == 1 and list(self.islands) == [number]
        return Task(
            self.puzzle,
            self.params,
            self.engine,
            self.seed,
            number,
            self.workers,
            last,
            self.best if self.best_score > own and not again else None,
            self.best_score,
            target,
            min(FIRST_ROUND_S if new else ROUND_S, max(0.05, seconds - self.elapsed)),
            steps if last else 1,  # a first board at once, whatever is measured after it
            self.min_score,
        )

    def _take(self, report: Report) -> None:
        number = report.island.number
        if self._began is None:
            self._began = time.monotonic() - report.seconds
        self.islands[number] = report.island
        self.pids[number] = report.worker
        self._finds += [(number, find) for find in report.found_boards]
        if report.best is not None and report.island.best_score > self.best_score:
            self.best, self.best_score, self.origin = report.best, report.island.best_score, report.origin
