"""Find or count the fillings of a grid, by a search of this project or by the library xcover; fillings are verified.

References
----------
A. Perrin and T. Beaujard, "Rapport IA41 : IQ Puzzler Pro", sections III (weights, empty zones) and VI (large grids).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, pairwise
from math import factorial, prod
from typing import Any

import numpy as np

from exact.cover.kernel import (
    BRANCHES,
    DEEPEST,
    DESCENDING,
    EXHAUSTED,
    LEVEL,
    NODES,
    PRUNED,
    SOLUTIONS,
    advance,
    initial_state,
)
from exact.cover.search import import_xcover
from exact.driver import CountedSearch, explored_by_tries, run_search
from exact.execution import BuildingClock, BuildingEnded, each_after
from exact.outcome import NODES_UNKNOWN, SolveStatus
from exact.polyominoes.grid import Grid, filling_errors
from exact.polyominoes.model import IntArray, Model, build_model
from exact.polyominoes.shapes import NO_WEIGHT, WEIGHTS, weight_named
from exact.request import Request
from lns_support.child_process import Emit, ExitReason, run_in_process
from lns_support.errors import InputError
from lns_support.optional_deps import require

RACE = "race"  # the weight that means: all weights in turn, until one of them ends
COUNTING_WEIGHT = "descender"  # for counting, where the order hardly matters
SLICE = 1000  # nodes of a turn of the race
FIRST_STEP = 5  # nodes; on large grids a node takes 10 ms
CONVENTION = "rotated and mirrored fillings counted; equal pieces swapped count once"


@dataclass(frozen=True)
class FillResult:
    """The result of `fill` and `fill_by_library`.

    Parameters
    ----------
    status : SolveStatus
    solutions : int
        Fillings found so far; rotated and mirrored ones count, equal pieces swapped do not.
    nodes : int
        Placements tested, or `NODES_UNKNOWN`.
    seconds : float
    filling : tuple of str or None
        The first filling found, verified, as rows of piece names.
    options : int
        Positions of all pieces on the grid.
    pruned : int
        Placements rejected because they leave a zone that cannot be filled.
    weight : str
        The weight of the search that ended; empty if none did.
    branches : int
        Placements after which a search went on, and the starts of the searches.
    deepest : int
        Most pieces placed at one time.
    """

    status: SolveStatus
    solutions: int
    nodes: int
    seconds: float
    filling: tuple[str, ...] | None
    options: int
    pruned: int = 0
    weight: str = ""
    branches: int = 0
    deepest: int = 0


class FillingSearch(CountedSearch):
    """A search that can be paused, for `exact.driver.run_search`.

    Parameters
    ----------
    model : Model
    weight : str
        A key of WEIGHTS: pieces of the largest weight are tried first. `NO_WEIGHT`: in the order of the grid's pieces.
    zones : bool
        Reject placements that leave a zone which no pieces can fill.
    dead_ends : bool
        Reject placements that leave a cell or a piece without a place. The search of the report does not.
    """

    COUNTER_INDEXES = NODES, SOLUTIONS, EXHAUSTED

    def __init__(self, model: Model, weight: str, *, zones: bool = True, dead_ends: bool = True) -> None:
        self.model, self.weight = model, weight
        self.problem = model.problem(zones=zones, dead_ends=dead_ends)
        kind = model.item[model.begin[1:] - 1] - model.cells
        weights = np.array([weight_named(weight)(shape) for shape in model.shapes], dtype=np.float64)
        rank = np.empty(model.options, dtype=np.int32)
        rank[np.argsort(-weights[kind], kind="stable")] = np.arange(model.options, dtype=np.int32)
        need = np.append(np.ones(model.cells, dtype=np.int32), model.copies)
        pieces = int(model.copies.sum())
        self.state = initial_state(model.lists, pieces, need=need, rank=rank, cells=model.cells, root=0)
        self.counters = self.state.counters

    @property
    def explored(self) -> float:
        """The searched share of the tree, 0 to 1, estimated as if sibling subtrees had equal sizes."""
        levels = int(self.counters[LEVEL]) + 1 - int(self.counters[DESCENDING])  # without a level not entered yet
        return explored_by_tries(self.state.next_try, self.state.end_try, levels)

    @property
    def pruned(self) -> int:
        """Placements rejected by the test of zones."""
        return int(self.counters[PRUNED])

    @property
    def branches(self) -> int:
        """Placements after which the search went on, and its start."""
        return int(self.counters[BRANCHES])

    @property
    def deepest(self) -> int:
        """Most pieces placed at one time."""
        return int(self.counters[DEEPEST])

    @property
    def ended(self) -> FillingSearch | None:
        """This search once it has a filling or is exhausted; None before."""
        return self if self.solutions or self.exhausted else None

    def advance(self, budget: int, stop_at_first: bool) -> None:
        """Continue for ``budget`` placements, to the end, or to the next solution if ``stop_at_first``."""
        advance(self.state, self.problem, budget, stop_at_first)

    def first_filling(self) -> tuple[str, ...] | None:
        """The first filling, None before it is found. Raises RuntimeError if it does not verify."""
        return _verified(self.model, self.state.first) if self.solutions else None


class WeightRace:
    """Searches by several weights, SLICE nodes in turn, until one of them ends. No weight is fast on every grid.

    Attributes
    ----------
    ended : FillingSearch or None
        The search that has a filling or is exhausted.
    """

    def __init__(self, searches: Sequence[FillingSearch]) -> None:
        self.searches = searches
        self.ended: FillingSearch | None = None
        self._turns = cycle(searches)
        self._current, self._turn_left = next(self._turns), SLICE

    @property
    def nodes(self) -> int:
        """Placements tested by all searches."""
        return sum(search.nodes for search in self.searches)

    @property
    def solutions(self) -> int:
        """1 once a search has a filling, else 0."""
        return 0 if self.ended is None else self.ended.solutions

    @property
    def exhausted(self) -> bool:
        """Whether the search that ended has searched its whole tree."""
        return self.ended is not None and self.ended.exhausted

    @property
    def explored(self) -> float:
        """The largest share of its tree that one of the searches has done."""
        return max(search.explored for search in self.searches)

    def advance(self, budget: int, stop_at_first: bool) -> None:
        """Continue for ``budget`` placements in total, or to the first solution, where a race always stops."""
        limit = self.nodes + budget
        while self.ended is None:
            if self._turn_left <= 0:
                self._current, self._turn_left = next(self._turns), SLICE
            current, before = self._current, self._current.nodes
            current.advance(min(self._turn_left, limit - self.nodes), True)
            self._turn_left -= current.nodes - before
            self.ended = current.ended
            if self.nodes >= limit:
                return


def fill(
    grid: Grid,
    weight: str | Sequence[str] | None = None,
    *,
    zones: bool = True,
    dead_ends: bool = True,
    **fields: Any,
) -> FillResult:
    """Find the first filling of a grid, or count all.

    Parameters
    ----------
    grid : Grid
    weight : str or sequence of str, optional
        A key of WEIGHTS (which pieces are tried first), "none" for the order in which they are drawn, or "race" for all
        weights in turn; a sequence of weights races them. Default: the race, or "descender" when counting.
    zones : bool
        Reject placements that leave a zone which no pieces can fill.
    dead_ends : bool
        Reject placements that leave a cell or a piece without a place. The search of the report does not, and tests
        more placements.
    **fields
        ``count_all``, ``nodes`` (placements tested), ``seconds``, ``on_progress`` and ``processor_time`` of
        `exact.request.Request`. Symmetric images of a filling are searched once and counted each.

    Returns
    -------
    FillResult

    Raises
    ------
    InputError
        If the weight is unknown, if a race is to count all, or if the grid is too large.

    References
    ----------
    A. Perrin and T. Beaujard, "Rapport IA41 : IQ Puzzler Pro", section III.
    """
    request = Request(**fields)
    count_all = request.count_all
    if weight is None:
        weight = COUNTING_WEIGHT if count_all else RACE
    weights = tuple(WEIGHTS) if weight == RACE else (weight,) if isinstance(weight, str) else tuple(weight)
    for name in weights:
        check_weight(name)
    racing = weight == RACE or not isinstance(weight, str)
    if count_all and racing:
        raise InputError("a race ends at the first filling; expected one weight to count all")
    clock = BuildingClock(request)
    options = 0
    try:
        model = build_model(grid, reduced=count_all, check=clock.check)
        options = model.options
        searches = [
            FillingSearch(model, name, zones=zones, dead_ends=dead_ends) for name in each_after(clock.check, weights)
        ]
    except BuildingEnded as over:
        return FillResult(SolveStatus.BUDGET_SPENT, 0, 0, over.seconds, None, options)
    built = clock.seconds
    search = WeightRace(searches) if racing else searches[0]
    status, spent = run_search(
        search,
        count_all=count_all,
        nodes=request.nodes,
        seconds=clock.left().seconds,
        on_progress=request.on_progress,
        processor_time=request.processor_time,
        first_step=FIRST_STEP,
    )
    ended = search.ended
    return FillResult(
        status,
        search.solutions,
        search.nodes,
        built + spent,
        filling=None if ended is None else ended.first_filling(),
        options=options,
        pruned=sum(each.pruned for each in searches),
        weight="" if ended is None else ended.weight,
        branches=sum(each.branches for each in searches),
        deepest=max(each.deepest for each in searches),
    )


def check_weight(name: str) -> None:
    """Raise InputError if ``name`` is no weight."""
    if name not in (NO_WEIGHT, *WEIGHTS):
        raise InputError(f"unknown weight '{name}'; expected {RACE}, {', '.join(WEIGHTS)} or {NO_WEIGHT}")


def fill_by_library(grid: Grid, *, count_all: bool = False, seconds: float | None = None) -> FillResult:
    """Find or count fillings with the library xcover, in a child process; it reports no number of nodes.

    Parameters
    ----------
    grid : Grid
    count_all : bool
        Count all fillings instead of finding the first.
    seconds : float, optional
        Limit of elapsed time, without compilation.

    Returns
    -------
    FillResult

    Raises
    ------
    InputError
        If xcover is not installed.
    ChildProcessError
        If it crashes.
    """
    require("cover", "the solver xcover")
    model = build_model(grid)
    answers: list[tuple[int, list[int], bool, float]] = []
    ended = run_in_process(
        _cover_by_library, grid, count_all, receive=answers.append, seconds=seconds, prepare=import_xcover
    )
    count, first, exhausted, spent = answers[-1] if answers else (0, [], False, 0.0)
    filling = _verified(model, np.array(first, dtype=np.int32)) if count else None
    if ended.reason is ExitReason.INTERRUPTED:
        status, spent = SolveStatus.INTERRUPTED, ended.seconds
    elif exhausted or (count and not count_all):
        status = SolveStatus.SOLVED if count else SolveStatus.INFEASIBLE
    else:
        status, spent = SolveStatus.BUDGET_SPENT, ended.seconds
    swapped = prod(map(factorial, model.copies.tolist()))
    return FillResult(status, -(-count // swapped), NODES_UNKNOWN, spent, filling, model.options)


def _cover_by_library(emit: Emit, grid: Grid, count_all: bool) -> None:
    """Task of the child process. Emits (fillings, options of the first one, ended, seconds); equal pieces differ."""
    from xcover import covers

    began = time.perf_counter()
    model = build_model(grid)
    options, numbers = [], []
    for number, (first, last) in enumerate(pairwise(model.begin.tolist())):
        *cells, kind = model.item[first:last].tolist()
        for name in model.names[kind - model.cells]:
            options.append([*map(str, cells), f"piece {name}"])
            numbers.append(number)
    items = [*map(str, range(model.cells)), *(f"piece {name}" for names in model.names for name in names)]
    if not items:  # no free cell
        emit((1, [], True, time.perf_counter() - began))
        return
    count, first_options = 0, list[int]()
    reachable = {item for option in options for item in option}
    for chosen in covers(options, primary=items) if reachable.issuperset(items) else ():
        count += 1
        if count == 1:
            first_options = [numbers[int(option)] for option in chosen]
        if count.bit_count() == 1:  # at powers of two
            emit((count, first_options, False, time.perf_counter() - began))
        if not count_all:
            break
    emit((count, first_options, count_all or not count, time.perf_counter() - began))


def _verified(model: Model, options: IntArray) -> tuple[str, ...]:
    filling = model.filling(options)
    if errors := filling_errors(model.grid, filling):
        raise RuntimeError(f"the search returned an invalid filling: {'; '.join(errors)}")
    return filling
