"""Rounds of islands: what travels between a session and its workers, and how a worker searches.

A round takes a picklable `Task` and returns a picklable `Report`. Where the workers are on other machines, a worker
keeps the engine of an island from round to round. The state then travels only when a task asks for it, and
`receive_incumbent` and `receive_stop`, called from another thread of the worker, act on the round that is under way.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from instances.board import Board
from instances.puzzle import Puzzle
from lns.engine import Engine, FoundBoard, State, Statistics
from lns.packed_state import PackedState, unpacked
from lns.params import Params
from lns.worker_pool import is_worker, mark_begin, stop_requested

MAX_ISLANDS = 4096
FORGET_S = 3600.0  # after so long without a round a worker drops an island that it keeps
MAX_FORGOTTEN = 1000  # runs that a worker knows to be over; a round of an older one has long ended


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
    run: str = ""  # the worker keeps the island under this name of the run; "": it keeps nothing
    is_kept: bool = False  # the worker keeps `island`, which therefore comes without its state
    with_state: bool = True  # whether the report is to have the state
    release: bool = False  # the worker keeps the island no longer


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
    """An island that this worker keeps."""

    task: Task  # of its last round
    steps: int  # made so far
    engine: Engine
    used: float = field(default_factory=time.monotonic)


# In a worker process of `WorkerPool`, where one thread searches: its last round.
_last_round: list[tuple[Task, State, Engine]] = []

# In a worker of a cluster, where calls come in other threads than the rounds. All access is under `_lock`.
_lock = threading.Lock()
_kept: dict[tuple[str, int], _Kept] = {}  # by run and number of the island
_incumbents: dict[str, tuple[Board, int]] = {}  # of each run: the last board that was received, and its score
_stopped: set[str] = set()  # runs whose rounds are to end
_forgotten: dict[str, None] = {}  # runs that are over, in the order of their ends; at most MAX_FORGOTTEN


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
    NotKept
        The worker does not keep the island that it is expected to keep.
    """
    from lns.warmup import warm_up  # here: reading a run directory must not import the engines

    warm_up(task.engine, task.number)
    mark_begin()
    end = time.monotonic() + task.seconds
    engine = _engine_of(task)
    if task.incumbent is not None:
        engine.inject_incumbent(task.incumbent, task.incumbent_score)
    steps, best = 0, max(task.incumbent_score, engine.best_score)
    while engine.best_score < task.target and steps != task.steps:
        if _must_end(task.run):
            break
        best = max(best, _take_incumbent(task.run, engine))
        engine.step(task.target)
        steps += 1
        if engine.best_score > best or time.monotonic() >= end or stop_requested():
            break
    seconds = time.monotonic() - end + task.seconds
    found_boards = tuple(engine.pop_boards())
    before = task.island.steps if task.island is not None else 0
    has_state = task.with_state or _must_end(task.run)
    state = engine.state() if has_state else {}
    island = Island(
        number=task.number,
        state=PackedState.of(state) if task.run and has_state else state,
        best_score=engine.best_score,
        statistics=engine.statistics,
        steps=before + steps,
    )
    if task.run:
        _keep(task, island.steps, engine)
    elif is_worker():
        _last_round[:] = [(task, state, engine)]
    worker = 0 if task.run else os.getpid()
    return Report(island, engine.best, engine.origin, found_boards, worker, seconds, has_state)


def _must_end(run: str) -> bool:
    """Whether the rounds of a run are to end at their next step."""
    with _lock:
        return run in _stopped or run in _forgotten


def _take_incumbent(run: str, engine: Engine) -> int:
    """Inject the incumbent that came during the round; its score, -1 if there is none."""
    with _lock:
        board, score = _incumbents.get(run, (None, -1))
    if board is not None and score > engine.best_score:
        engine.inject_incumbent(board, score)
    return score


def _engine_of(task: Task) -> Engine:
    """The engine in the state of the task: the one that this worker keeps, or has from its last round, or a new one."""
    if task.is_kept:
        return _kept_engine(task)
    if task.island is not None:
        for last, state, engine in _last_round:
            if _engine_arguments(last) == _engine_arguments(task) and _equal(state, unpacked(task.island.state)):
                return engine
    return _made_engine(task, None if task.island is None else unpacked(task.island.state))


def _made_engine(task: Task, state: State | None) -> Engine:
    from lns.engines import make_engine

    engine = make_engine(*_engine_arguments(task))
    if state is not None:
        engine.restore(state)
    return engine


def _engine_arguments(task: Task) -> tuple[str, Puzzle, Params, int, int, int, Sequence[str] | None]:
    return task.engine, task.puzzle, task.params, task.seed, task.number, task.islands, task.operators


def _equal(a: State, b: State) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name], equal_nan=True) for name in a)


# -- what a worker keeps ---------------------------------------------------------------------------------------------


def _kept_engine(task: Task) -> Engine:
    """The engine that this worker keeps; made anew from its state if the prefixes are partitioned differently now."""
    with _lock:
        kept = _kept.get((task.run, task.number))
    if kept is None or task.island is None or kept.steps != task.island.steps:
        raise NotKept(f"island {task.number} of run {task.run}")
    if _engine_arguments(kept.task) == _engine_arguments(task):
        return kept.engine
    return _made_engine(task, kept.engine.state())


def _keep(task: Task, steps: int, engine: Engine) -> None:
    """Keep the engine for the next round, unless it is released or the run was forgotten during the round.

    Islands that nobody asked for in a long time are dropped.
    """
    now = time.monotonic()
    with _lock:
        for key in [key for key, kept in _kept.items() if now - kept.used > FORGET_S]:
            del _kept[key]
        if task.release or task.run in _forgotten:
            _kept.pop((task.run, task.number), None)
        else:
            _kept[task.run, task.number] = _Kept(task, steps, engine)


def receive_incumbent(run: str, board: Board, score: int) -> None:
    """In a worker: inject a board into the islands of a run before their next step."""
    with _lock:
        if run not in _forgotten and score > _incumbents.get(run, (board, -1))[1]:
            _incumbents[run] = board, score


def receive_stop(run: str) -> None:
    """In a worker: end the rounds of a run at their next step. Their reports have the states."""
    with _lock:
        if run not in _forgotten:
            _stopped.add(run)


def forget_run(run: str) -> None:
    """In a worker: drop the islands of a run and what was received for it.

    Rounds of the run that are under way end at their next step, and their islands are not kept. What is received for
    the run later is ignored.
    """
    with _lock:
        _forgotten[run] = None
        if len(_forgotten) > MAX_FORGOTTEN:
            del _forgotten[next(iter(_forgotten))]
        for key in [key for key in _kept if key[0] == run]:
            del _kept[key]
        _incumbents.pop(run, None)
        _stopped.discard(run)
