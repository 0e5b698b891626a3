"""Paused searches, which `lns.exact.execution.run_search` advances step by step, and the sizes of these steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lns.instances.board import Board

STEP_SECONDS = 0.08
FIRST_STEP = 500  # nodes of the first step of most searches
TURN = 1000  # nodes of one time slice in `Turns`, for a search with share 1
NODES, SOLUTIONS, EXHAUSTED = range(3)
"""Indices of the three counters that come first in the array ``counters`` of every `CountedSearch`."""


class PausedSearch(ABC):
    """A search that is advanced by a number of nodes at a time (a step) and keeps its state between steps."""

    first_step = FIRST_STEP
    """Number of nodes of the first step, which is small so that a time limit holds even if each node takes long."""

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
        """Try ``budget`` more nodes; stop sooner if the search ends or, if ``stop_at_first``, at the next solution."""

    def reset_solutions(self) -> None:
        """Count solutions from 0 again, so that `first_board` returns the solution that is found next."""
        raise NotImplementedError

    def distinct(self, solutions: int) -> int:
        """Convert a number of solutions, as this search counts them, to the number of boards that look different."""
        return solutions

    def first_board(self) -> Board | None:
        """Return the first solution found; None if there is none yet, or if solutions are not boards."""
        return None

    @property
    def details(self) -> dict[str, float]:
        """Statistics of the search by name, such as its deepest level."""
        return {}

    @property
    def explored(self) -> float:
        """Share, 0 to 1, of the tree searched so far, as if sibling subtrees had equal sizes; 0 if there is no tree."""
        return 0.0

    @property
    def answered_by(self) -> str:
        """Of searches that take turns, the name of the one that ended or found most solutions; empty if none did."""
        return ""


class CountedSearch(PausedSearch):
    """A search whose kernel counts in the array ``counters``, at the indices `NODES`, `SOLUTIONS` and `EXHAUSTED`."""

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
    """Several searches for the same answer, by name, that take turns until one ends. ``nodes`` sums up their nodes.

    A turn lasts `TURN` nodes times the share of its search (1 by default), however many steps it takes, so that the
    result does not depend on the sizes of steps.
    """

    def __init__(self, searches: Mapping[str, PausedSearch], shares: Mapping[str, int] | None = None) -> None:
        self.searches, self._shares = dict(searches), shares or dict.fromkeys(searches, 1)
        self.first_step = min((search.first_step for search in searches.values()), default=FIRST_STEP)
        self._turn, self._turn_left = -1, 0  # index of the search whose turn it is, and nodes left of this turn

    @property
    def nodes(self) -> int:
        return sum(search.nodes for search in self.searches.values())

    @property
    def answered_by(self) -> str:
        known = (name for name, search in self.searches.items() if search is self._best)
        return next(known) if self.exhausted or self.solutions else ""

    @property
    def _best(self) -> PausedSearch:
        """The search that has ended or, while none has, the search with the most solutions."""
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
        """Try ``budget`` more nodes in all; stop sooner if a search ends or, with ``stop_at_first``, has a solution."""
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
    """What is known of a running search between two steps."""

    nodes: int  # the numbers of nodes, solutions and seconds are totals since the search began
    solutions: int
    seconds: float
    explored: float  # rough estimate: share of the tree searched, 0 to 1, as if sibling subtrees had equal sizes
    building: bool = False  # whether the solver is still building its model


ProgressCallback = Callable[[Progress], None]


class StepSizer:
    """Chooses ``step``, the number of nodes of a search's next step, so that this step takes about `STEP_SECONDS`.

    A step has at most four times the nodes of the step before. The result of a search does not depend on step sizes.
    """

    def __init__(self, first: int = FIRST_STEP) -> None:
        self.step = first
        self._least = min(first, 100)

    def update(self, nodes: int, seconds: float, remaining: float | None) -> None:
        """Choose ``step`` after a step of ``nodes`` nodes and ``seconds``; ``remaining``: seconds left, or None."""
        target = STEP_SECONDS if remaining is None else min(STEP_SECONDS, remaining)
        self.step = int(min(max(nodes / max(seconds, 1e-9) * target, self._least), 4.0 * self.step))


def explored_share(levels: Iterable[tuple[int, int]]) -> float:
    """Return the searched share, 0 to 1, of a tree, as if sibling subtrees had equal sizes.

    ``levels`` has, for each node on the current path from the root, how many of its children have been searched
    completely, and how many children it has.
    """
    share, weight = 0.0, 1.0
    for done, children in levels:
        if children < 1:
            break
        share += weight * done / children
        weight /= children
    return share
