"""Rounds of islands: the messages between a session and its workers, and the search in a worker.

A round takes a picklable `Task` and returns a picklable `Report`. Each holds the state of the island, so that any
process can search the next round; for a new island the task holds none.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from lns.engine import FoundBoard, Statistics, pack, unpack
from lns.instances.board import Board
from lns.instances.puzzle import MAX_CELLS, Puzzle
from lns.params import Params
from lns.worker_pool import is_worker, mark_begin, stop_requested

if TYPE_CHECKING:
    from lns.loop.search_loop import SearchLoop

MAX_ISLANDS = 4096


@dataclass(frozen=True)
class Search:
    """Settings that all islands of a run share."""

    puzzle: Puzzle  # the puzzle with pinned cells as clues
    params: Params
    seed: int  # random seed, from which each island derives its own random numbers
    engine: str = "auto"  # one of `lns.engines.ENGINES`
    operators: Sequence[str] | None = None  # operators of the engine 'lns'; None: all known in the searching process


@dataclass(frozen=True)
class Island:
    """State of the search of one island, which any process can continue."""

    number: Annotated[int, 0, MAX_ISLANDS - 1]
    state: bytes  # state of the island's engine, packed by `lns.engine.pack`
    best_score: Annotated[int, -1, 2 * MAX_CELLS]  # score of its best board, -1 before the first board
    statistics: Statistics
    steps: int  # number of steps made so far, in all rounds


@dataclass(frozen=True)
class Task:
    """What a worker needs to search one island for a round."""

    search: Search
    number: int  # number of the island, from 0
    islands: int  # how many islands the run has
    island: Island | None  # state of the island; None for a new island
    incumbent: Board | None  # best board of all islands, for the engine to take over; None for no board
    incumbent_score: int
    target: int  # the round ends when the best score is at least this
    seconds: float  # seconds after which the round ends, once the step in progress is made
    steps: int | None = None  # most steps of the round; None for no limit
    run: str = ""  # on a cluster, the identifier of the session, as in `Worker.receive_incumbent`; else ""


@dataclass(frozen=True)
class Report:
    """What a worker returns from a round."""

    island: Island
    found_boards: tuple[FoundBoard, ...]  # boards of this round in the order of discovery; includes every new best
    worker: int  # process id of the worker; 0 on a cluster
    seconds: float  # seconds of search, without loading and compiling kernels


class Worker:
    """Searches rounds in this process and keeps their engines; the `receive_*` methods act on the rounds of a run.

    Rounds and calls of `receive_*` may run in different threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._incumbents: dict[str, tuple[Board | None, int]] = {}  # run -> (best board received, its score)
        self._stopped: set[str] = set()  # runs whose rounds must end at their next step
        # thread -> (key, engine) of its last round; the engine is reused if the key of the thread's next round is equal
        self._kept: dict[int, tuple[_Key, SearchLoop]] = {}

    def run_round(self, task: Task) -> Report:
        """Search one island for a round.

        A round has only whole steps, so its length does not influence the search. It ends early at a new best board of
        all islands, so that the board is reported at once. Raises InputError if the engine cannot take the puzzle or
        an operator is not known in this process.
        """
        from lns.warmup import warm_up  # imported here, as programs that only read runs need no engine

        warm_up(task.search.engine, task.number)
        mark_begin()
        end = time.monotonic() + task.seconds
        engine = self._engine(task)
        if task.incumbent is not None:
            engine.inject_incumbent(task.incumbent, task.incumbent_score)
        steps, best = 0, max(task.incumbent_score, engine.best_score)
        while engine.best_score < task.target and steps != task.steps and task.run not in self._stopped:
            board, score = self._incumbents.get(task.run, (None, -1))
            if board is not None and score > engine.best_score:
                engine.inject_incumbent(board, score)
            best = max(best, score)
            engine.step()
            steps += 1
            if engine.best_score > best or time.monotonic() >= end or stop_requested():
                break
        seconds = time.monotonic() - end + task.seconds
        steps += 0 if task.island is None else task.island.steps
        state, found = pack(engine.state()), tuple(engine.pop_boards())
        if (task.run or is_worker()) and task.run not in self._stopped:  # the user's own process keeps no engine
            self._kept[threading.get_ident()] = _key(task, state), engine
        island = Island(task.number, state, engine.best_score, engine.statistics, steps)
        return Report(island, found, 0 if task.run else os.getpid(), seconds)

    def _engine(self, task: Task) -> SearchLoop:
        """Return the engine of the task's island in its present state: the kept engine, or a new, restored one."""
        from lns.engines import make_engine

        key, kept = self._kept.pop(threading.get_ident(), (None, None))  # a failed round leaves no engine
        search, island = task.search, task.island
        if kept is not None and island is not None and key == _key(task, island.state):
            return kept
        engine = make_engine(
            search.engine, search.puzzle, search.params, search.seed, task.number, task.islands, search.operators
        )
        if island is not None:  # `restore` allows for a run with more islands than before
            engine.restore(unpack(island.state))
        return engine

    def receive_incumbent(self, run: str, board: Board, score: int) -> None:
        """Store a board; rounds of ``run`` whose best board is worse take it over before their next step."""
        with self._lock:
            if score > self._incumbents.get(run, (None, -1))[1]:
                self._incumbents[run] = board, score

    def receive_stop(self, run: str) -> None:
        """End the present and later rounds of a run at their next step, and keep no engine of the run."""
        with self._lock:
            self._stopped.add(run)
            self._kept = {thread: kept for thread, kept in self._kept.items() if kept[0][0] != run}


_Key = tuple[str, Search, int, int, bytes]


def _key(task: Task, state: bytes) -> _Key:
    """Return what identifies the engine of a task with the packed ``state``."""
    return task.run, task.search, task.number, task.islands, state


WORKER = Worker()  # the worker of this process


def run_round(task: Task) -> Report:
    """Run `Worker.run_round` in this process."""
    return WORKER.run_round(task)
