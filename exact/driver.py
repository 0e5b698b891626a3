"""Paused searches: what `lns.exact.execution.run_search` asks of them, and how it sizes its steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lns.instances.board import Board

STEP_SECONDS = 0.08
FIRST_STEP = 500  # nodes
TURN = 1000  # nodes of a turn, times the share of the search
NODES, SOLUTIONS, EXHAUSTED = range(3)
"""The first counters of every kernel."""


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
    """A search whose kernel keeps `NODES`, `SOLUTIONS` and `EXHAUSTED` in ``counters``."""

    counters: npt.NDArray[np.int64]

    @property
    def nodes(self) -> int:
        return int(self.counters[NODES])

    @property
    def solutions(self) -> int:
        return int(self.counters[SOLUTIONS])

    @property
    def exhausted(self) -> bool:
        return bool(self.counters[EXHAUSTED])

    def reset_solutions(self) -> None:
        self.counters[SOLUTIONS] = 0


class Turns(PausedSearch):
    """Searches of one question, by name, that take turns until one of them ends. Nodes are those of all.

    A turn has `TURN` nodes times the share of its search, so that the result does not depend on the steps.
    """

    def __init__(self, searches: Mapping[str, PausedSearch], shares: Mapping[str, int] | None = None) -> None:
        self.searches, self._shares = dict(searches), shares or dict.fromkeys(searches, 1)
        self.first_step = min((search.first_step for search in searches.values()), default=FIRST_STEP)
        self._turn, self._turn_left = -1, 0  # which search has the turn, and its nodes

    @property
    def nodes(self) -> int:
        return sum(search.nodes for search in self.searches.values())

    @property
    def answered_by(self) -> str:
        known = (name for name, search in self.searches.items() if search is self._best)
        return next(known) if self.exhausted or self.solutions else ""

    @property
    def _best(self) -> PausedSearch:
        """The search that has ended; before that, the one that has found most."""
        ended = (search for search in self.searches.values() if search.exhausted)
        return next(ended, None) or max(self.searches.values(), key=lambda search: search.solutions)

    @property
    def solutions(self) -> int:
        return self._best.solutions

    @property
    def exhausted(self) -> bool:
        return self._best.exhausted

    @property
    def explored(self) -> float:
        return max(search.explored for search in self.searches.values())

    @property
    def details(self) -> dict[str, float]:
        return self._best.details

    def first_board(self) -> Board | None:
        return self._best.first_board()

    def advance(self, budget: int, stop_at_first: bool) -> None:
        """Go on for ``budget`` nodes in all, or until one ends, or finds a solution when ``stop_at_first``."""
        while True:
            if self._turn_left <= 0:
                self._begin_turn()
            search = [*self.searches.values()][self._turn]
            before = search.nodes
            search.advance(min(self._turn_left, budget), stop_at_first)
            spent = search.nodes - before
            self._turn_left, budget = self._turn_left - spent, budget - spent
            if budget <= 0 or search.exhausted or (stop_at_first and search.solutions):
                return

    def _begin_turn(self) -> None:
        self._turn = (self._turn + 1) % len(self.searches)
        self._turn_left = TURN * self._shares[[*self.searches][self._turn]]


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
