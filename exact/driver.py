"""The loop around a paused search: time limits, node budgets, Ctrl-C and progress, in steps of about 80 ms."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from lns.exact.outcome import SolveStatus

STEP_SECONDS = 0.08
FIRST_STEP = 500
"""Nodes of the first step. It is short, so that a budget of time holds where each node takes long."""


class PausedSearch(Protocol):
    """A tree search that goes on for a number of nodes at a time."""

    @property
    def nodes(self) -> int: ...

    @property
    def solutions(self) -> int: ...

    @property
    def exhausted(self) -> bool: ...

    @property
    def explored(self) -> float: ...

    def advance(self, budget: int, stop_at_first: bool) -> None:
        """Go on for ``budget`` nodes, or to the end, or to the next solution when ``stop_at_first``."""


class CountedSearch:
    """A search that keeps its nodes, solutions and 'exhausted' in ``counters``, at the indices ``COUNTER_INDEXES``."""

    COUNTER_INDEXES: ClassVar[tuple[int, int, int]]
    counters: npt.NDArray[np.int64]

    @property
    def nodes(self) -> int:
        return int(self.counters[self.COUNTER_INDEXES[0]])

    @property
    def solutions(self) -> int:
        return int(self.counters[self.COUNTER_INDEXES[1]])

    @property
    def exhausted(self) -> bool:
        return bool(self.counters[self.COUNTER_INDEXES[2]])

    def reset_solutions(self) -> None:
        """Count solutions from 0 again, so that the kernel keeps the board of the next one."""
        self.counters[self.COUNTER_INDEXES[1]] = 0


@dataclass(frozen=True)
class Progress:
    """The state of a search between two steps.

    Parameters
    ----------
    nodes, solutions : int
        Counts so far.
    seconds : float
        Time so far.
    explored : float
        Share of the tree that is searched, 0 to 1, as if sibling subtrees had equal sizes: a rough estimate.
    building : bool
        The model is still being built.
    """

    nodes: int
    solutions: int
    seconds: float
    explored: float
    building: bool = False


ProgressCallback = Callable[[Progress], None]


class StepSizer:
    """Chooses how many nodes the next ``step`` has, so that it takes about `STEP_SECONDS`.

    Each is at most four times as long as the one before. The result of a search does not depend on its steps.
    """

    def __init__(self, first: int = FIRST_STEP) -> None:
        self.step = first
        self._least = min(first, 100)

    def update(self, nodes: int, seconds: float, remaining: float | None) -> None:
        """Choose the next step after one of ``nodes`` nodes and ``seconds``; ``remaining``: seconds of the budget."""
        target = STEP_SECONDS if remaining is None else min(STEP_SECONDS, remaining)
        self.step = int(min(max(nodes / max(seconds, 1e-9) * target, self._least), 4.0 * self.step))


def explored_share(levels: Iterable[tuple[int, int]]) -> float:
    """Share of a tree that is searched, 0 to 1, as if sibling subtrees had equal sizes.

    ``levels`` has for each level of the open path, from the root, how many children are searched, and of how many.
    """
    share, weight = 0.0, 1.0
    for done, children in levels:
        if children < 1:
            break
        share += weight * done / children
        weight /= children
    return share


def run_search(
    search: PausedSearch,
    *,
    count_all: bool,
    nodes: int | None,
    seconds: float | None,
    on_progress: ProgressCallback | None = None,
    processor_time: bool = False,
    first_step: int = FIRST_STEP,
) -> tuple[SolveStatus, float]:
    """Run a paused search to its end or to the end of a budget. What it found stays in ``search``.

    Parameters
    ----------
    search : PausedSearch
        The search; it may have been advanced before.
    count_all : bool
        Search for all solutions, not only to the first.
    nodes, seconds : optional
        Budgets of this call. None is no limit.
    on_progress : callable, optional
        Called between two steps.
    processor_time : bool
        Seconds are of processor time, both as a limit and in the result.
    first_step : int
        Nodes of the first step.

    Returns
    -------
    status : SolveStatus
        INTERRUPTED after Ctrl-C.
    seconds : float
        Time of this call, without compilation.
    """
    clock = time.process_time if processor_time else time.perf_counter
    search.advance(0, True)  # compiles, or loads machine code, before the clock starts
    began = clock()
    limit = None if nodes is None else search.nodes + nodes
    sizer = StepSizer(first_step)
    spent = 0.0
    status = SolveStatus.BUDGET_SPENT
    try:
        while True:
            before, started = search.nodes, clock()
            search.advance(sizer.step if limit is None else min(sizer.step, limit - before), not count_all)
            now = clock()
            spent = now - began
            if search.exhausted or (search.solutions and not count_all):
                status = SolveStatus.SOLVED if search.solutions else SolveStatus.INFEASIBLE
                break
            if on_progress is not None:
                on_progress(Progress(search.nodes, search.solutions, spent, search.explored))
            if (limit is not None and search.nodes >= limit) or (seconds is not None and spent >= seconds):
                break
            sizer.update(search.nodes - before, now - started, None if seconds is None else seconds - spent)
    except KeyboardInterrupt:
        status = SolveStatus.INTERRUPTED
        spent = clock() - began
    return status, spent
