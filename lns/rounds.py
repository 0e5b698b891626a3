"""Rounds of islands: what travels between a session and its workers, and how a worker searches.

A round takes a picklable `Task` and returns a picklable `Report`. A process keeps engines from round to round in its
`Worker`, so that they need not be made anew from a state.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lns.engine import FoundBoard, PackedState, State, Statistics, unpacked
from lns.instances.board import Board
from lns.instances.puzzle import Puzzle
from lns.params import Params
from lns.worker_pool import is_worker, mark_begin, stop_requested

if TYPE_CHECKING:
    from lns.loop.search_loop import SearchLoop

MAX_ISLANDS = 4096
FORGET_S = 3600.0  # after so long without a round a worker drops an island that it keeps
MAX_FORGOTTEN = 1000  # runs that a worker knows to be over; a round of an older one has long ended


@dataclass(frozen=True)
class Search:
    """What all islands of a run search."""

    puzzle: Puzzle  # with pinned cells as clues
    params: Params
    seed: int  # every island derives its own random numbers from it
    engine: str = "auto"  # one of `lns.engines.ENGINES`
    operators: Sequence[str] | None = None  # of the engine 'lns'; None: all that the searching process knows


@dataclass(frozen=True)
class Island:
    """Where the search of one island is: enough to continue it in any process."""

    number: int  # from 0
    state: State | PackedState  # of its engine; empty in a report without it
    best_score: int  # -1 before the first board
    statistics: Statistics
    steps: int  # made so far


@dataclass(frozen=True)
class Task:
    """One round of one island."""

    search: Search
    number: int  # of the island
    islands: int  # how many there are
    island: Island | None  # None: a new island
    incumbent: Board | None  # best board of all islands, if it is to be injected
    incumbent_score: int
    target: int  # the round ends at this score
    seconds: float  # length of the round
    steps: int | None = None  # steps of the round at most; None: no limit
    run: str = ""  # name of the session, under which a worker keeps the island
    with_state: bool = True  # whether the report is to have the state
    keeps: bool = False  # whether the worker keeps the island after the round, with those of other tasks
    is_kept: bool = False  # the worker keeps `island`, which therefore comes without its state


@dataclass(frozen=True)
class Report:
    """Result of one round."""

    island: Island
    best: Board | None  # best board of the island
    origin: str  # the part of the engine that made it
    found_boards: tuple[FoundBoard, ...]  # of this round, in the order of discovery
    worker: int  # process id; 0 on another machine
    seconds: float  # of search, without loading and compiling kernels
    has_state: bool = True


class NotKept(Exception):
    """The worker does not keep the island of the task, or another state of it."""


@dataclass
class _Kept:
    """The engine of an island, and what it was made for."""

    engine: SearchLoop
    made_for: tuple[Search, int]  # and how many islands there are
    steps: int  # made so far
    used: float = field(default_factory=time.monotonic)


@dataclass
class _Run:
    """What a worker knows of a run."""

    islands: dict[int, _Kept] = field(default_factory=dict)  # by their number
    incumbent: tuple[Board | None, int] = (None, -1)  # the last board that was received, and its score
    is_stopped: bool = False  # its rounds are to end at their next step
    is_over: bool = False  # nothing of it is kept any more


class Worker:
    """What this process keeps between rounds. `receive_incumbent` and `receive_stop` act on rounds under way.

    Rounds and calls may come in different threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[str, _Run] = {}

    def run_round(self, task: Task) -> Report:
        """Search one island for a round.

        A round is a number of whole steps, so its end does not influence the search. It ends early at a new best board
        of all islands, which is thus reported at once. Raises InputError where the state does not fit or an operator is
        not known in this process, NotKept where the worker does not keep the island that it is expected to keep.
        """
        from lns.warmup import warm_up  # here: reading a run directory must not import the engines

        warm_up(task.search.engine, task.number)
        mark_begin()
        end = time.monotonic() + task.seconds
        engine = self._engine(task)
        if task.incumbent is not None:
            engine.inject_incumbent(task.incumbent, task.incumbent_score)
        steps, best = 0, max(task.incumbent_score, engine.best_score)
        while engine.best_score < task.target and steps != task.steps and not (run := self._run(task)).is_stopped:
            board, score = run.incumbent
            if board is not None and score > engine.best_score:
                engine.inject_incumbent(board, score)
            best = max(best, score)
            engine.step()
            steps += 1
            if engine.best_score > best or time.monotonic() >= end or stop_requested():
                break
        seconds = time.monotonic() - end + task.seconds
        steps += 0 if task.island is None else task.island.steps
        has_state, found = task.with_state or self._run(task).is_stopped, tuple(engine.pop_boards())
        state = engine.state() if has_state else {}
        island = Island(task.number, state, engine.best_score, engine.statistics, steps)
        self._keep(task, _Kept(engine, (task.search, task.islands), steps))
        return Report(island, engine.best, engine.origin, found, os.getpid(), seconds, has_state)

    def _run(self, task: Task) -> _Run:
        with self._lock:
            return self._runs.get(task.run) or _Run()

    def _engine(self, task: Task) -> SearchLoop:
        """The engine after the steps that the island has made: the one that is kept, or one with the same state."""
        from lns.engines import make_engine

        kept = self._run(task).islands.pop(task.number, None)  # a round that fails leaves no engine
        search, island = task.search, task.island
        if kept is not None and (island is None or kept.steps != island.steps):
            kept = None
        if kept is not None and kept.made_for == (task.search, task.islands):
            return kept.engine
        if task.is_kept and kept is None:
            raise NotKept(f"island {task.number} of run {task.run}")
        engine = make_engine(
            search.engine, search.puzzle, search.params, search.seed, task.number, task.islands, search.operators
        )
        if island is not None:  # prefixes are partitioned anew where the number of islands has grown
            engine.restore(kept.engine.state() if task.is_kept and kept is not None else unpacked(island.state))
        return engine

    def _keep(self, task: Task, kept: _Kept) -> None:
        """Keep an engine for the next round, in a process of `WorkerPool` as the only one."""
        with self._lock:
            for run in self._runs.values():
                run.islands = {at: one for at, one in run.islands.items() if kept.used - one.used <= FORGET_S}
            if is_worker():
                self._runs = {}
            if (task.keeps or is_worker()) and not (run := self._runs.setdefault(task.run, _Run())).is_over:
                run.islands[task.number] = kept
            elif task.run in self._runs:
                self._runs[task.run].islands.pop(task.number, None)

    def receive_incumbent(self, run: str, board: Board, score: int) -> None:
        """Inject a board into the islands of a run before their next step."""
        with self._lock:
            known = self._runs.setdefault(run, _Run())
            if not known.is_over and score > known.incumbent[1]:
                known.incumbent = board, score

    def receive_stop(self, run: str) -> None:
        """End the rounds of a run at their next step. Their reports have the states."""
        with self._lock:
            self._runs.setdefault(run, _Run()).is_stopped = True

    def forget(self, run: str) -> None:
        """Drop the islands of a run and what was received for it, also what is received later.

        Rounds of the run that are under way end at their next step, and their islands are not kept.
        """
        with self._lock:
            self._runs.pop(run, None)
            self._runs[run] = _Run(is_stopped=True, is_over=True)
            over = [name for name, one in self._runs.items() if one.is_over]
            for name in over[:-MAX_FORGOTTEN]:
                del self._runs[name]


WORKER = Worker()  # of this process


def run_round(task: Task) -> Report:
    """`Worker.run_round` in this process."""
    return WORKER.run_round(task)
