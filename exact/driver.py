"""Paused searches: what `lns.exact.execution.run_search` asks of them, and how it sizes its steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from lns.instances.board import Board

STEP_SECONDS = 0.08
FIRST_STEP = 500  # nodes


class PausedSearch(ABC):
    """A search that goes on for a number of nodes at a time."""

    first_step = FIRST_STEP
    """Nodes of the first step. It is short, so that a budget of time holds where each node takes long."""

    @property
    @abstractmethod
    def nodes(self) -> int: ...

    @property
    @abstractmethod
    def solutions(self) -> int: ...

    @property
    @abstractmethod
    def exhausted(self) -> bool: ...

    @abstractmethod
    def advance(self, budget: int, stop_at_first: bool) -> None:
        """Go on for ``budget`` nodes, or to the end, or to the next solution when ``stop_at_first``."""

    def reset_solutions(self) -> None:
        """Count solutions from 0 again, so that the board of the next one is kept."""
        raise NotImplementedError

    def distinct(self, solutions: int) -> int:
        """How many boards that differ in their colours so many solutions of this search stand for."""
        return solutions

    def first_board(self) -> Board | None:
        """The first solution found; None before there is one, and where solutions are no boards."""
        return None

    @property
    def details(self) -> dict[str, float]:
        """Figures of the method by name."""
        return {}

    @property
    def explored(self) -> float:
        """Share of the tree that is searched, 0 to 1, as if sibling subtrees had equal sizes; 0 without a tree."""
        return 0.0

    @property
    def answered_by(self) -> str:
        """The solver that has ended or found most, where several take turns."""
        return ""


class CountedSearch(PausedSearch):
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
        self.counters[self.COUNTER_INDEXES[1]] = 0


@dataclass(frozen=True)
class Progress:
    """The state of a search between two steps."""

    nodes: int  # so far, as the solutions and seconds
    solutions: int
    seconds: float
    explored: float  # share of the tree, 0 to 1, as if sibling subtrees had equal sizes: a rough estimate
    building: bool = False  # the model is still being built


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
