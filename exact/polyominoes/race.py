"""The race of weights on several processes (Perrin & Beaujard, IQ Puzzler Pro, VI)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from threading import Event

from exact.driver import Progress, ProgressCallback
from exact.outcome import SolveStatus
from exact.polyominoes.grid import Grid
from exact.polyominoes.model import build_model
from exact.polyominoes.search import FillResult, fill
from exact.polyominoes.shapes import WEIGHTS
from lns_support.child_process import Emit, run_in_process
from lns_support.errors import InputError

_LOOK_SECONDS = 0.1


class _RaceOverError(Exception):
    """Another process has ended the race."""


def race(
    grid: Grid,
    workers: int,
    weights: Sequence[str] = tuple(WEIGHTS),
    *,
    zones: bool = True,
    nodes: int | None = None,
    seconds: float | None = None,
    on_progress: ProgressCallback | None = None,
) -> FillResult:
    """Find the first filling of a grid by several weights on several processes. The first search that ends decides.

    Parameters
    ----------
    grid : Grid
    workers : int
        Processes. Each has its share of the weights and searches with them in turn, as by
        `exact.polyominoes.search.fill`.
    weights : sequence of str
        Keys of WEIGHTS.
    zones : bool
        Reject placements that leave a zone which no pieces can fill.
    nodes : int, optional
        Stop after about this many placements tested by all processes.
    seconds : float, optional
        Limit of elapsed time.
    on_progress : callable, optional
        Receives the sum of the processes' progress.

    Returns
    -------
    FillResult
        Of the first search that ended; its nodes are those of all processes, as each last reported them.

    Raises
    ------
    InputError
        If there is no worker, or as by `exact.polyominoes.search.fill`.
    ChildProcessError
        If a process crashes.
    """
    if workers < 1:
        raise InputError(f"{workers} workers; expected 1 or more")
    shares = [weights[at::workers] for at in range(min(workers, len(weights)))]
    own_nodes = None if nodes is None else -(-nodes // len(shares))
    ended: list[FillResult] = []
    progress: dict[int, Progress] = {}
    over = Event()

    def search_share(at: int) -> None:
        def receive(message: Progress | FillResult) -> None:
            if isinstance(message, FillResult):
                ended.append(message)
                progress.pop(at, None)
                return
            progress[at] = message
            if over.is_set():
                raise _RaceOverError

        with suppress(_RaceOverError):
            run_in_process(_search_share, grid, shares[at], zones, own_nodes, seconds, receive=receive)

    began = time.perf_counter()
    interrupted = False
    with ThreadPoolExecutor(len(shares)) as pool:
        waiting = {pool.submit(search_share, at) for at in range(len(shares))}
        try:
            while waiting and not any(map(_decides, ended)):
                done, waiting = wait(waiting, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
                if on_progress is not None:
                    tested = _tested(ended, progress.values())
                    explored = max((now.explored for now in progress.values()), default=0.0)
                    on_progress(Progress(tested, 0, time.perf_counter() - began, explored))
        except KeyboardInterrupt:
            interrupted = True
        finally:
            over.set()
    return _result(grid, ended, list(progress.values()), time.perf_counter() - began, interrupted)


def _search_share(
    emit: Emit, grid: Grid, weights: Sequence[str], zones: bool, nodes: int | None, seconds: float | None
) -> None:
    """The task of a process: sends its progress now and then, and its result."""
    emit(fill(grid, weights, zones=zones, nodes=nodes, seconds=seconds, on_progress=emit))


def _decides(result: FillResult) -> bool:
    return result.status in (SolveStatus.SOLVED, SolveStatus.INFEASIBLE)


def _result(
    grid: Grid, ended: Sequence[FillResult], running: Sequence[Progress], seconds: float, interrupted: bool
) -> FillResult:
    """The result of the first search that decided, with the placements that all have tested."""
    spent = FillResult(SolveStatus.BUDGET_SPENT, 0, 0, 0.0, None, build_model(grid).options)
    best = next(filter(_decides, ended), max(ended, key=lambda result: result.deepest, default=spent))
    status = SolveStatus.INTERRUPTED if interrupted and not _decides(best) else best.status
    return replace(best, status=status, nodes=_tested(ended, running), seconds=seconds)


def _tested(ended: Iterable[FillResult], running: Iterable[Progress]) -> int:
    """Placements tested by all processes."""
    return sum(result.nodes for result in ended) + sum(now.nodes for now in running)
