"""Islands: independent searches in worker processes that share their best board.

An island is searched in rounds of about two seconds. A round takes a picklable `Task` (state of the island, time limit)
and returns a picklable `Report` (new state, boards found), through the ``concurrent.futures.Executor`` interface. The
parent holds the state of every island, so a lost worker costs one round.
"""

from __future__ import annotations

import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass

import numpy as np

from instances.board import Board
from instances.puzzle import Puzzle
from lns.engine import Engine, FoundBoard, State, Statistics
from lns.greedy import ORIGIN as GREEDY
from lns.greedy import greedy_board
from lns.params import Params
from lns.worker_pool import InProcessExecutor, WorkerLost, WorkerPool, is_worker, mark_begin, stop_requested
from lns_support.errors import InputError

log = logging.getLogger("lns")

FIRST_ROUND_S, ROUND_S = 0.5, 2.0
TICK_S = 0.2  # longest delay before the parent sees a signal or a stop
GRACE_S = 1.0  # for rounds that are running at the end; a worker that compiles or hangs is then killed
MAX_LOST_ROUNDS = 5  # in a row; the island is then abandoned

_last_round: list[tuple[Task, State, Engine]] = []  # in a worker: its last round, whose engine need not be restored


@dataclass(frozen=True)
class Island:
    """Where the search of one island is: enough to continue it in any process."""

    number: int  # from 0
    state: State  # of its engine
    best_score: int  # -1 before the first board
    statistics: Statistics
    steps: int  # made so far
    exhausted: bool = False  # whether nothing is left to search


@dataclass(frozen=True)
class Task:
    """One round of one island."""

    puzzle: Puzzle
    params: Params
    engine: str  # one of lns.engines.ENGINES
    seed: int
    number: int  # of the island
    islands: int  # how many there are
    island: Island | None  # None: a new island
    incumbent: Board | None  # best board of all islands, if it is to be injected
    incumbent_score: int
    target: int  # the round ends at this score
    seconds: float  # length of the round
    steps: int | None = None  # steps of the round at most; None: no limit
    operators: Sequence[str] | None = None  # of the engine 'lns'; None: all that the worker knows


@dataclass(frozen=True)
class Report:
    """Result of one round."""

    island: Island
    best: Board | None  # best board of the island
    origin: str  # the part of the engine that made it
    found_boards: tuple[FoundBoard, ...]  # of this round, in the order of discovery
    worker: int  # process id
    seconds: float  # of search, without loading and compiling kernels


def run_round(task: Task) -> Report:
    """Search one island for a round.

    A round is a number of whole steps, so its end does not influence the search. It ends early at a new best board of
    all islands, which is thus reported at once.

    Parameters
    ----------
    task : Task
        Island and limits.

    Returns
    -------
    Report

    Raises
    ------
    InputError
        The state does not fit, or an operator is not known in this process.
    """
    from lns.warmup import warm_up  # here, because reading a run directory must not import the engines

    warm_up(task.engine)
    mark_begin()
    end = time.monotonic() + task.seconds
    engine = _engine_of(task)
    if task.incumbent is not None:
        engine.inject_incumbent(task.incumbent, task.incumbent_score)
    steps, best = 0, max(task.incumbent_score, engine.best_score)
    while not engine.exhausted and engine.best_score < task.target and steps != task.steps:
        engine.step(task.target)
        steps += 1
        if engine.best_score > best or time.monotonic() >= end or stop_requested():
            break
    found_boards = tuple(engine.pop_boards())
    before = task.island.steps if task.island is not None else 0
    island = Island(
        number=task.number,
        state=engine.state(),
        best_score=engine.best_score,
        statistics=engine.statistics,
        steps=before + steps,
        exhausted=bool(engine.exhausted),
    )
    if is_worker():
        _last_round[:] = [(task, island.state, engine)]
    seconds = time.monotonic() - end + task.seconds
    return Report(island, engine.best, engine.origin, found_boards, os.getpid(), seconds)


def _engine_of(task: Task) -> Engine:
    """The engine in the state of the task: that of this worker's last round if it is in this state, else a new one."""
    if task.island is not None:
        for last, state, engine in _last_round:
            if _engine_arguments(last) == _engine_arguments(task) and _equal(state, task.island.state):
                return engine
    from lns.engines import make_engine

    engine = make_engine(*_engine_arguments(task))
    if task.island is not None:
        engine.restore(task.island.state)
    return engine


def _engine_arguments(task: Task) -> tuple[str, Puzzle, Params, int, int, int, Sequence[str] | None]:
    return task.engine, task.puzzle, task.params, task.seed, task.number, task.islands, task.operators


def _equal(a: State, b: State) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name], equal_nan=True) for name in a)


class Archipelago:
    """Several islands, searched side by side.

    Parameters
    ----------
    puzzle : Puzzle
        Puzzle to search, with pinned cells as clues.
    params : Params
        Parameters of the search.
    seed : int
        Random seed; every island derives its own random numbers from it.
    workers : int
        Number of islands that are searched, each by one worker.
    engine : str
        One of `lns.engines.ENGINES`.
    start : Board, optional
        Full legal board to improve; no worse board becomes the best.
    start_score : int
        Its score; -1 without a board.
    start_origin : str
        What made it.
    min_score : int
        `pop_boards` returns the boards of at least this score, and every new best. -1: at least the best score so far
        less one. It changes no search.
    executor : concurrent.futures.Executor, optional
        Where rounds are run; new worker processes by default.
    islands : dict of int to Island, optional
        Islands of earlier sessions by number. Those without a worker keep their state.
    operators : sequence of str, optional
        Operators of the engine 'lns'; by default all that are known in this process. A worker that does not know one
        of them raises InputError. One that was registered in this process only needs ``workers=1`` or an executor.
    other_statistics : Statistics, optional
        What other runs did that were merged into this one; `statistics` includes it.

    Attributes
    ----------
    best : Board or None
        Best board so far.
    best_score : int
        Its score; -1 before the first board.
    origin : str
        The part of the engine that made it; "start" for the given board.
    islands : dict of int to Island
        State of every island after its last round.
    pids : dict of int to int
        Process id of the worker that last reported on an island.
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
        start_origin: str = "start",
        min_score: int = 0,
        executor: Executor | None = None,
        islands: dict[int, Island] | None = None,
        operators: Sequence[str] | None = None,
        other_statistics: Statistics | None = None,
    ) -> None:
        self.puzzle, self.params, self.seed, self.workers = puzzle, params, seed, workers
        self.engine = engine
        self.best, self.best_score, self.origin = start, start_score, start_origin
        self.islands: dict[int, Island] = dict(islands or {})
        self.pids: dict[int, int] = {}
        self._operators, in_process = _choose_operators(engine, operators, executor, workers)
        self._fixed_min_score = min_score
        self._other_statistics = other_statistics or Statistics()
        self._found_boards: list[tuple[int, FoundBoard]] = []
        self._lost: Counter[int] = Counter()
        self._idle: set[int] = set(range(workers))
        self._executor = InProcessExecutor() if in_process else executor
        self._pool: WorkerPool | None = None
        self._stop = False
        self._began: float | None = None
        self._elapsed = 0.0

    @property
    def min_score(self) -> int:
        """Score from which `pop_boards` returns boards at present."""
        return self._fixed_min_score if self._fixed_min_score >= 0 else max(0, self.best_score - 1)

    def stop(self) -> None:
        """End the search after the running steps. May be called from a signal handler or another thread."""
        self._stop = True
        if self._pool is not None:
            self._pool.ask_to_stop()

    def kill(self) -> None:
        """Kill the worker processes at once; their running rounds are lost."""
        if self._pool is not None:
            self._pool.kill()

    @property
    def elapsed(self) -> float:
        """Seconds of search in this session, by the monotonic clock, from the first step of a worker.

        Starting the workers and compiling or loading the kernels is not counted.
        """
        return self._elapsed if self._began is None else time.monotonic() - self._began

    @property
    def has_begun(self) -> bool:
        """Whether a worker has made a step in this session."""
        return bool(self.pids)

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to search on any island that has a worker."""
        return all(self._is_exhausted(number) for number in range(self.workers))

    def _is_exhausted(self, number: int) -> bool:
        return number in self.islands and self.islands[number].exhausted

    @property
    def statistics(self) -> Statistics:
        """Sum over all islands, including earlier sessions."""
        return sum((island.statistics for island in self.islands.values()), self._other_statistics)

    def pop_boards(self) -> list[tuple[int, FoundBoard]]:
        """The boards found since the last call, in the order of discovery.

        Returns
        -------
        list of (int, FoundBoard)
            Number of the island and board: every new best, and the boards of at least `min_score`.
        """
        found_boards, self._found_boards = self._found_boards, []
        return found_boards

    def run(
        self,
        seconds: float,
        target: int,
        on_report: Callable[[Archipelago], None],
        *,
        steps: int | None = None,
    ) -> str:
        """Search until a limit is reached.

        Parameters
        ----------
        seconds : float
            Seconds of search (see `elapsed`).
        target : int
            The search ends at this score.
        on_report : callable
            Called with this object, in the calling thread, after rounds and at least every 0.2 seconds.
        steps : int, optional
            Steps of each island in this call.

        Returns
        -------
        str
            Why it ended: 'target reached', 'nothing left to search', 'stopped', 'time over', 'steps made' or, if the
            islands that are not exhausted were abandoned, 'workers lost'.

        Raises
        ------
        InputError
            No worker stays alive, or an engine refuses its input. Other exceptions of an engine are raised as well.
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
                if self._began is None and pool is not None:
                    self._began = pool.began
                on_report(self)
            if pool is not None:
                pool.ask_to_stop()
            grace = time.monotonic() + (GRACE_S if pool is not None else 2 * ROUND_S)
            if pool is not None and self.best is None:  # the first step takes longer than the search may
                self._take_board(0, greedy_board(self.puzzle))
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
        """Why the search ends now; "" if it continues."""
        if self.best_score >= target:
            return "target reached"
        if self._stop:
            return "stopped"
        return "time over" if self.elapsed >= seconds else ""

    def _collect(self, waiting: dict[Future[Report], int], seconds: float) -> None:
        """Take finished reports, waiting at most ``seconds`` for the first."""
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
        if failed is not None:  # after the reports of the other islands
            raise failed

    def _handle_lost_worker(self, number: int, error: Exception) -> None:
        self._lost[number] += 1
        if self._lost[number] < MAX_LOST_ROUNDS:
            log.warning("%s; a new worker continues island %d from its last round", error, number)
            self._idle.add(number)
            return
        log.warning("%s, %d rounds in a row; island %d is abandoned", error, MAX_LOST_ROUNDS, number)
        if sum(lost >= MAX_LOST_ROUNDS for lost in self._lost.values()) == self.workers:
            raise InputError(
                f"no worker stays alive ({error}); expected memory and permission for {self.workers} worker processes"
            )

    def _steps_of(self, number: int) -> int:
        return self.islands[number].steps if number in self.islands else 0

    def _task(self, number: int, seconds: float, target: int, steps: int | None) -> Task:
        last = self.islands.get(number)
        own = last.best_score if last else -1
        new = number not in self.pids
        # After a killed session a lone island repeats the steps since its checkpoint. The best board on file may come
        # from those steps; injected, it would change them.
        repeats = self.workers == 1 and list(self.islands) == [number]
        known = -1 if self.origin == GREEDY else self.best_score
        return Task(
            puzzle=self.puzzle,
            params=self.params,
            engine=self.engine,
            seed=self.seed,
            number=number,
            islands=self.workers,
            island=last,
            incumbent=self.best if known > own and not repeats else None,
            incumbent_score=known,
            target=target,
            seconds=min(FIRST_ROUND_S if new else ROUND_S, max(0.05, seconds - self.elapsed)),
            steps=steps if last else 1,  # the first board is reported before the engine measures anything
            operators=self._operators,
        )

    def _take(self, report: Report) -> None:
        number = report.island.number
        if self._began is None:
            self._began = time.monotonic() - report.seconds
        self.islands[number] = report.island
        self.pids[number] = report.worker
        for found_board in report.found_boards:
            self._take_board(number, found_board)
        if report.best is not None and report.island.best_score > self.best_score:
            self.best, self.best_score, self.origin = report.best, report.island.best_score, report.origin

    def _take_board(self, number: int, found_board: FoundBoard) -> None:
        if found_board.score > self.best_score:
            self.best, self.best_score, self.origin = found_board
        elif found_board.score < self.min_score:
            return
        self._found_boards.append((number, found_board))


def _choose_operators(
    engine: str, operators: Sequence[str] | None, executor: Executor | None, workers: int
) -> tuple[Sequence[str] | None, bool]:
    """The operators of the engine, and whether the search must run in this process, which alone knows one of them."""
    if engine != "lns":
        return None, False
    from lns.neighbourhoods.operators import ENTRY_POINTS, operator_names, process_only_operators

    chosen = operator_names() if operators is None else tuple(operators)
    process_only = sorted(process_only_operators() & set(chosen)) if executor is None else []
    if process_only and workers > 1:
        raise InputError(
            f"operator '{process_only[0]}' is registered in this process only, and worker processes cannot use it; "
            f"expected one worker, or an entry point of the group '{ENTRY_POINTS}'"
        )
    return chosen, bool(process_only)
