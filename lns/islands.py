"""Islands: independent searches by several workers, which share their best board.

An island is searched in rounds (`lns.rounds`). Checkpoints hold the state from the last report of each island; the
search also continues from this state if a worker is lost.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import replace

from lns.assignment import GREEDY, greedy_board
from lns.engine import FoundBoard, Statistics
from lns.instances.board import Board
from lns.instances.errors import InputError
from lns.rounds import MAX_ISLANDS, Island, Report, Search, Task, run_round
from lns.worker_pool import UNGUARDED, InProcessExecutor, UserExecutor, WorkerLost, WorkerPool, Workers

log = logging.getLogger("lns")

TICK_S = 0.2  # longest time, in seconds, until this process notices a signal or a call of `stop`
GROWTH_S = 15.0  # least seconds between two increases of the number of islands
BRIEF_GRACE_S = 1.0  # most seconds to wait at the end if no running island has reported: its worker still loads kernels
GAP_S = 5.0  # a longer time between two readings of the clock is a gap if the process worked for less than half of it
_WITH_SLEEP = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class RunningTime:
    """Measures durations by the monotonic clock, without the gaps in which this process did not run.

    In a gap the process was stopped (SIGSTOP), or the machine slept. Several threads may call `since`, and at
    least one of them must call it every few seconds, more often than every `GAP_S` seconds.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._gaps: list[tuple[float, float]] = []  # (monotonic time of the end, seconds) of each gap
        self._last = self._look()

    def since(self, began: float | None) -> float:
        """Return the seconds since the monotonic time ``began``, without gaps; 0 for None."""
        with self._lock:
            now, passed, used = look = self._look()
            seconds = passed - self._last[1]
            if seconds > GAP_S and used - self._last[2] < seconds / 2:
                self._gaps.append((now, now - self._last[0]))
                log.warning(
                    "the process did not run for %.0f s (it was stopped, or the machine slept); "
                    "they do not count as search",
                    seconds,
                )
            self._last = look
            if began is None:
                return 0.0
            return now - began - sum(min(gap, end - began) for end, gap in self._gaps if end > began)

    @staticmethod
    def _look() -> tuple[float, float, float]:
        """Return the monotonic time without and with the time asleep, and the processor time of this process."""
        return time.monotonic(), time.clock_gettime(_WITH_SLEEP), time.process_time()


class Archipelago:
    """Several islands, searched at the same time.

    Parameters
    ----------
    search : Search
        Puzzle, parameters, seed and engine. Operators of the engine 'lns' that are registered only in this process
        need ``workers=1`` or an executor.
    workers : int
        Number of islands to search, one by each worker.
    start : FoundBoard, optional
        Full legal board to improve; no worse board becomes the best.
    min_score : int
        `pop_boards` returns the boards of at least this score, and every new best. -1: at least the best score so far
        minus one. ``min_score`` does not change the search.
    executor : concurrent.futures.Executor, optional
        Executor of the rounds, such as `lns.worker_pool.Workers`, which stays open. By default new worker processes.
    grows : bool
        Whether islands are added when the workers can search more islands at the same time.
    islands : dict of int to Island, optional
        Islands of earlier sessions by number. Those numbered ``workers`` or higher wait until the archipelago grows.
    other_statistics : Statistics, optional
        Work of other runs that were merged into this one; `statistics` includes it.
    """

    def __init__(
        self,
        search: Search,
        workers: int,
        *,
        start: FoundBoard | None = None,
        min_score: int = 0,
        executor: Executor | None = None,
        grows: bool = False,
        islands: Mapping[int, Island] | None = None,
        other_statistics: Statistics | None = None,
    ) -> None:
        self.search, self._executor = _with_operators(search, executor, workers)
        self.workers = workers
        self.best: Board | None  # best board so far
        self.best_score: int  # score of ``best``; -1 before the first board
        self.origin: str  # the part of the engine that made ``best``, or the origin of ``start``
        self.best, self.best_score, self.origin = start or (None, -1, "start")
        self.islands = dict(islands or {})  # number of an island -> its state as of its last report, for checkpoints
        self.pids: dict[int, int] = {}  # island -> id of the process on this machine that last reported on it
        self.capacity = 0  # number of islands that the workers can search at the same time now; 0 if unknown
        self.has_begun = False  # whether a worker has made a step in this session
        self._fixed_min_score, self._grows = min_score, grows
        self._other_statistics = other_statistics or Statistics()
        self._found_boards: list[tuple[int, FoundBoard]] = []
        self._lost: Counter[int] = Counter()  # number of an island -> its rounds lost in a row
        self._idle: set[int] = set(range(workers))
        self._reported: set[int] = set()  # numbers of the islands that have reported in this session
        self._workers: Workers = InProcessExecutor()  # the executor that `run` uses
        self._stop = False
        self._began: float | None = None
        self._running: RunningTime | None = None  # the clock of `run`; None while `run` does not run
        self._elapsed = 0.0
        self._grown_at = 0.0

    @property
    def min_score(self) -> int:
        """Lowest score of a board that `pop_boards` returns although it is no new best."""
        return self._fixed_min_score if self._fixed_min_score >= 0 else max(0, self.best_score - 1)

    def stop(self) -> None:
        """End the search after the running steps. May be called from a signal handler or another thread."""
        self._stop = True
        self._workers.ask_to_stop()

    def kill(self) -> None:
        """End the running rounds at once; their work is lost."""
        self._workers.kill()

    @property
    def elapsed(self) -> float:
        """Seconds of search in this session, by the monotonic clock, from the first step of a worker.

        Time for starting the workers and for compiling or loading kernels does not count, nor does time in which this
        process did not run.
        """
        running, began = self._running, self._began  # read once, as another thread may end the session meanwhile
        seconds = 0.0 if running is None else running.since(began)
        return self._elapsed if began is None else seconds

    def steps_of(self, number: int) -> int:
        """Return the number of steps that an island has made, over all sessions."""
        return self.islands[number].steps if number in self.islands else 0

    @property
    def statistics(self) -> Statistics:
        """Sum of the statistics of all islands over all sessions, and of merged runs."""
        return sum((island.statistics for island in list(self.islands.values())), self._other_statistics)

    def pop_boards(self) -> list[tuple[int, FoundBoard]]:
        """Return the boards found since the last call, each with the number of its island, in the order of discovery.

        These are all new best boards, and all boards of at least `min_score`.
        """
        found_boards, self._found_boards = self._found_boards, []
        return found_boards

    def run(
        self, seconds: float, target: int, on_report: Callable[[Archipelago], None], *, steps: int | None = None
    ) -> str:
        """Search for ``seconds`` (see `elapsed`), until a board scores ``target``, or for ``steps`` steps an island.

        ``on_report`` is called with this object, in the calling thread, after rounds and about every 0.2 seconds.
        Returns why the search ended: 'target reached', 'stopped', 'time over', 'steps made' or, if all islands with
        steps left were abandoned, 'workers lost'. Raises InputError if no worker stays alive or an engine refuses its
        input, and any other error of an engine.
        """
        executor = self._executor or WorkerPool(self.workers)
        self._workers = workers = executor if isinstance(executor, Workers) else UserExecutor(executor)
        last_step = {number: self.steps_of(number) + steps for number in range(self.workers)} if steps else {}
        waiting: dict[Future[Report], int] = {}
        self._running = RunningTime()
        try:
            while not (why := self._over(seconds, target)):
                workers.check()
                self._grow(workers)
                for number in sorted(self._idle):
                    self._idle.discard(number)
                    remaining_steps = last_step[number] - self.steps_of(number) if steps else None
                    if remaining_steps != 0:
                        task = self._task(number, seconds, target, remaining_steps)
                        waiting[workers.submit(run_round, task)] = number
                if not waiting:
                    is_done = last_step and all(self.steps_of(number) >= last for number, last in last_step.items())
                    why = "steps made" if is_done else "workers lost"
                    break
                self._collect(waiting)
                if self._began is None:
                    self._began = workers.began
                on_report(self)
            workers.ask_to_stop()
            if self.best is None and not all(future.done() for future in waiting):
                self._take_board(0, greedy_board(self.search.puzzle))  # no board was reported in time
            self._finish(waiting, workers.grace_s)  # running rounds end at their next step
            if waiting:
                workers.kill()
            on_report(self)
            return "target reached" if self.best_score >= target else why  # the last rounds may have reached the target
        finally:
            self._elapsed, self._began, self._running = self.elapsed, None, None
            if self._executor is None:
                executor.shutdown()

    def _over(self, seconds: float, target: int) -> str:
        """Return why the search ends now; "" if it continues."""
        if self.best_score >= target:
            return "target reached"
        if self._stop:
            return "stopped"
        return "time over" if self.elapsed >= seconds else ""

    def _grow(self, workers: Workers) -> None:
        """Add islands, if the archipelago grows and the workers can search more; at most once in `GROWTH_S` seconds."""
        self.capacity, now = workers.capacity, time.monotonic()
        wanted = min(self.capacity, MAX_ISLANDS)
        if not self._grows or wanted <= self.workers or now - self._grown_at < GROWTH_S:
            return
        self._idle |= set(range(self.workers, wanted))
        self.workers, self._grown_at = wanted, now
        log.info("%d islands now, as workers joined", self.workers)

    def _task(self, number: int, seconds: float, target: int, steps: int | None) -> Task:
        workers, last = self._workers, self.islands.get(number)
        brief = number not in self._reported or self._lost[number] > 0
        # After a killed session a single island repeats the steps since its checkpoint. The best board on file may come
        # from these steps; injecting the board would change the steps.
        repeats = self.workers == 1 and list(self.islands) == [number]
        known = -1 if self.origin == GREEDY else self.best_score
        is_better = known > (last.best_score if last else -1)
        return Task(
            search=self.search,
            number=number,
            islands=self.workers,
            island=last,
            incumbent=self.best if is_better and not repeats else None,
            incumbent_score=known,
            target=target,
            seconds=min(workers.first_round_s if brief else workers.round_s, max(0.05, seconds - self.elapsed)),
            steps=steps if last else 1,  # one step at first, to report a board before the engine's long measurements
        )

    def _finish(self, waiting: dict[Future[Report], int], grace_s: float) -> None:
        """Collect last reports for up to ``grace_s`` seconds, or `BRIEF_GRACE_S` if no running island reported yet."""
        began = time.monotonic()
        while waiting and time.monotonic() - began < (
            grace_s if self._reported & set(waiting.values()) else min(grace_s, BRIEF_GRACE_S)
        ):
            self._collect(waiting)

    def _collect(self, waiting: dict[Future[Report], int]) -> None:
        """Collect the reports of finished rounds; wait for the first one for up to `TICK_S` seconds."""
        done, _ = wait(waiting, timeout=TICK_S, return_when=FIRST_COMPLETED)
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
        if failed is not None:  # raised only after the reports of all finished rounds are taken
            raise failed

    def _handle_lost_worker(self, number: int, error: Exception) -> None:
        if isinstance(error, WorkerLost) and error.exitcode == UNGUARDED:
            raise InputError(
                "the script calls lns.solve or lns.resume where each worker, which imports the script, would call it "
                "again; expected the call under if __name__ == '__main__':"
            )
        most = self._workers.max_lost
        self._lost[number] += 1
        if self._lost[number] < most:
            log.warning("%s; another one continues island %d from its last round", error, number)
            self._idle.add(number)
            return
        log.warning("%s, %d rounds in a row; island %d is abandoned", error, most, number)
        if sum(lost >= most for lost in self._lost.values()) == self.workers:
            raise InputError(
                f"no worker stays alive ({error}); expected memory and permission for {self.workers} worker processes"
            )

    def _take(self, report: Report) -> None:
        number = report.island.number
        if self._began is None:
            self._began = time.monotonic() - report.seconds
        self.has_begun = True
        self.islands[number] = report.island
        self._reported.add(number)
        if report.worker:
            self.pids[number] = report.worker
        best_before = self.best_score
        for found_board in report.found_boards:
            self._take_board(number, found_board)
        if self.best_score > best_before and self.best is not None and self.workers > 1:
            self._workers.announce(self.best, self.best_score)

    def _take_board(self, number: int, found_board: FoundBoard) -> None:
        if found_board.score > self.best_score:
            self.best, self.best_score, self.origin = found_board
        elif found_board.score < self.min_score:
            return
        self._found_boards.append((number, found_board))


def _with_operators(search: Search, executor: Executor | None, workers: int) -> tuple[Search, Executor | None]:
    """Return search (operators only for engine 'lns') and executor (this process if other workers lack an operator)."""
    if search.engine != "lns":
        return replace(search, operators=None), executor
    from lns.neighbourhoods.operators import ENTRY_POINTS, REGISTERED, operator_names

    chosen = operator_names() if search.operators is None else tuple(search.operators)
    process_only = sorted(REGISTERED.keys() & set(chosen)) if executor is None else []
    if process_only and workers > 1:
        raise InputError(
            f"operator '{process_only[0]}' is registered in this process only, and worker processes cannot use it; "
            f"expected one worker, or an entry point of the group '{ENTRY_POINTS}'"
        )
    return replace(search, operators=chosen), InProcessExecutor() if process_only else executor
