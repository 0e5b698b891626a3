"""Rounds of islands: what travels between a session and its workers, and how a worker searches.

A round takes a picklable `Task` and returns a picklable `Report`. Each holds the state of the island, so that any
process can search the next round.
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
    """What all islands of a run search."""

    puzzle: Puzzle  # with pinned cells as clues
    params: Params
    seed: int  # every island derives its own random numbers from it
    engine: str = "auto"  # one of `lns.engines.ENGINES`
    operators: Sequence[str] | None = None  # of the engine 'lns'; None: all that the searching process knows


@dataclass(frozen=True)
class Island:
    """Where the search of one island is: enough to continue it in any process."""

    number: Annotated[int, 0, MAX_ISLANDS - 1]
    state: bytes  # of its engine, by `lns.engine.pack`
    best_score: Annotated[int, -1, 2 * MAX_CELLS]  # -1 before the first board
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
    run: str = ""  # on a cluster: name of the session, under which a worker receives what `Worker` describes


@dataclass(frozen=True)
class Report:
    """Result of one round."""

    island: Island
    found_boards: tuple[FoundBoard, ...]  # of this round, in the order of discovery; every new best is among them
    worker: int  # process id; 0 on a cluster
    seconds: float  # of search, without loading and compiling kernels


class Worker:
    """What this process knows of runs. `receive_incumbent` and `receive_stop` act on rounds under way.

    Rounds and calls may come in different threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._incumbents: dict[str, tuple[Board | None, int]] = {}  # by run the best board received, and its score
        self._stopped: set[str] = set()  # runs whose rounds are to end at their next step
        # by thread the engine of its last round, which serves if the same island goes on from the same state
        self._kept: dict[int, tuple[_Key, SearchLoop]] = {}

    def run_round(self, task: Task) -> Report:
        """Search one island for a round.

        A round is a number of whole steps, so its end does not influence the search. It ends early at a new best board
        of all islands, which is thus reported at once. Raises InputError where the state does not fit or an operator is
        not known in this process.
        """
        from lns.warmup import warm_up  # here: reading a run directory must not import the engines

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
        if (task.run or is_worker()) and task.run not in self._stopped:  # not in a process of the user's
            self._kept[threading.get_ident()] = _key(task, state), engine
        island = Island(task.number, state, engine.best_score, engine.statistics, steps)
        return Report(island, found, 0 if task.run else os.getpid(), seconds)

    def _engine(self, task: Task) -> SearchLoop:
        """The engine after the steps that the island has made: the one that is kept, or one with the same state."""
        from lns.engines import make_engine

        key, kept = self._kept.pop(threading.get_ident(), (None, None))  # a round that fails leaves no engine
        search, island = task.search, task.island
        if kept is not None and island is not None and key == _key(task, island.state):
            return kept
        engine = make_engine(
            search.engine, search.puzzle, search.params, search.seed, task.number, task.islands, search.operators
        )
        if island is not None:  # prefixes are partitioned anew where the number of islands has grown
            engine.restore(unpack(island.state))
        return engine

    def receive_incumbent(self, run: str, board: Board, score: int) -> None:
        """Inject a board into the islands of a run before their next step."""
        with self._lock:
            if score > self._incumbents.get(run, (None, -1))[1]:
                self._incumbents[run] = board, score

    def receive_stop(self, run: str) -> None:
        """End the rounds of a run at their next step, also later ones, and keep no engine of it."""
        with self._lock:
            self._stopped.add(run)
            self._kept = {thread: kept for thread, kept in self._kept.items() if kept[0][0] != run}


_Key = tuple[str, Search, int, int, bytes]


def _key(task: Task, state: bytes) -> _Key:
    """What an engine was made for, and where it is."""
    return task.run, task.search, task.number, task.islands, state


WORKER = Worker()  # of this process


def run_round(task: Task) -> Report:
    """`Worker.run_round` in this process."""
    return WORKER.run_round(task)
