"""The loop around a resumable kernel: time limits, node budgets, Ctrl-C and progress, between steps of about 80 ms."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from exact.outcome import SolveStatus

STEP_SECONDS = 0.08
FIRST_STEP = 500  # nodes: where each takes long, the first look at the clock is early too


class PausedSearch(Protocol):
    """A paused tree search."""

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
    """A search that keeps nodes, solutions and 'exhausted' in ``counters``, at the indices ``COUNTER_INDEXES``."""

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
        """Count solutions from 0 again: the next one becomes the first, whose board kernels keep."""
        self.counters[self.COUNTER_INDEXES[1]] = 0


@dataclass(frozen=True)
class Progress:
    """What a long search tells between two steps.

    ``explored``: the share of the tree that is done, as if sibling subtrees were equal: a rough guide.
    """

    nodes: int
    solutions: int
    seconds: float
    explored: float


ProgressCallback = Callable[[Progress], None]


class StepSizer:
    """``step``: how many nodes take about STEP_SECONDS, by the last step; at first few, then at most four times more
    from step to step. Searches end alike whatever their steps."""

    def __init__(self, first: int = FIRST_STEP) -> None:
        self.step = first
        self._least = min(first, 100)

    def update(self, nodes: int, seconds: float, left: float | None) -> None:
        """The last step took so long; ``left``: seconds of the budget, None = no limit."""
        aim = STEP_SECONDS if left is None else min(STEP_SECONDS, left)
        self.step = int(min(max(nodes / max(seconds, 1e-9) * aim, self._least), 4.0 * self.step))


def explored_share(done_and_all: Iterable[tuple[int, int]]) -> float:
    """Share of a tree that is done, from (children done, children) by level of the open path."""
    share, weight = 0.0, 1.0
    for done, children in done_and_all:
        if children < 1:
            break
        share += weight * done / children
        weight /= children
    return share


def explored_by_tries(next_try: npt.NDArray[np.int32], end_try: npt.NDArray[np.int32], levels: int) -> float:
    """`explored_share` of a search that keeps its tries level after level: ``next_try``, ``end_try`` into one list."""
    begin = np.append(0, end_try)
    return explored_share(
        (int(next_try[level] - begin[level] - 1), int(begin[level + 1] - begin[level])) for level in range(levels)
    )


def run_search(
    search: PausedSearch,
    *,
    count_all: bool,
    nodes: int | None,
    seconds: float | None,
    report: ProgressCallback | None = None,
    processor: bool = False,
    first_step: int = FIRST_STEP,
) -> tuple[SolveStatus, float]:
    """Run ``search`` to its end or to the end of a budget; (status, seconds spent).

    ``nodes`` and ``seconds`` are budgets for this call, None = no limit. With ``processor`` seconds are of processor
    time, limit and answer alike: fair on a busy machine. ``first_step``: nodes before the first look at the clock,
    fewer where each takes long. Ctrl-C between steps ends the search with Status.INTERRUPTED;
    what was counted so far stays in ``search``.
    """
    clock = time.process_time if processor else time.perf_counter
    search.advance(0, True)  # compiles, or loads machine code, before the clock starts
    began = clock()
    limit = None if nodes is None else search.nodes + nodes
    pace = StepSizer(first_step)
    spent = 0.0
    status = SolveStatus.BUDGET_SPENT
    try:
        while True:
            before, started = search.nodes, clock()
            search.advance(pace.step if limit is None else min(pace.step, limit - before), not count_all)
            now = clock()
            spent = now - began
            if search.exhausted or (search.solutions and not count_all):
                status = SolveStatus.SOLVED if search.solutions else SolveStatus.INFEASIBLE
                break
            if report is not None:
                report(Progress(search.nodes, search.solutions, spent, search.explored))
            if (limit is not None and search.nodes >= limit) or (seconds is not None and spent >= seconds):
                break
            pace.update(search.nodes - before, now - started, None if seconds is None else seconds - spent)
    except KeyboardInterrupt:
        status = SolveStatus.INTERRUPTED
        spent = clock() - began
    return status, spent
